#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test (tests/judge/selftest.sh) on the device that is there.
cd "$(dirname "$0")/../.." || exit 1
if [ -z "${HONE_CUDA_LIB:-}" ] && [ ! -e /dev/nvidiactl ]; then
    echo "1..0 # SKIP no GPU"
    exit 77
fi
exec tests/judge/tap.sh cuda

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test, the quick part on the emulated GPU: the blatant cheats that need no clock, with their clean twins, and
# the honest kernels.
# runs first: it is the longest but judge_test.sh.
# sanitizers: no; the same programs, and nearly every time is too noisy to tell anything from it.
cd "$(dirname "$0")/../.." || exit 1
tests/judge/tap.sh cuda 2 untimed

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A short run of the kill test: what was paid for is not paid for again, and caps hold.
exec "$(dirname "$0")/../crash/kill_paid_search.sh" "${HONE_BUILD:-build}" 10

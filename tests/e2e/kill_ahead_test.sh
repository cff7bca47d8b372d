#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kill test with four answers of the model under way at a time.
CODERS=4 exec "$(dirname "$0")/../crash/kill_paid_search.sh" "${HONE_BUILD:-build}" 10

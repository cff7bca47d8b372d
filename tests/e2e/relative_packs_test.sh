#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The packs of other families under tests/relatives/packs: files and formulas of each, and one of them run by the lint with its
# bad kernels. `tests/relatives/lint.sh` runs all of them (minutes).
# sanitizers: no; the lint's kernels are judged by their error.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1

for pack in tests/relatives/packs/*; do
    name=$(basename "$pack")
    said=$("$HONE" task lint "./$pack" --static --workspace "$WS" 2>/dev/null)
    echo "$said" | grep -q "^$name: admitted"
    ok $? "$name: files and formulas are admitted" "$said"
done
said=$("$HONE" task lint ./tests/relatives/packs/int8_product --workspace "$WS" 2>/dev/null)
echo "$said" | grep -q '^int8_product: admitted$'
ok $? "int8_product is admitted" "$said"
finish

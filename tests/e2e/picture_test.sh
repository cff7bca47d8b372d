#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The picture of README.md is what this version draws of the recorded search (make picture).
. "$(dirname "$0")/lib.sh"
HONE_BUILD=$(dirname "$HONE") tests/page/picture.sh "$ROOT/search.svg" >/dev/null 2>"$ROOT/err"
ok $? "the recorded search is drawn" "$(cat "$ROOT/err")"
cmp "$ROOT/search.svg" docs/pictures/search.svg >"$ROOT/differs" 2>&1
ok $? "docs/pictures/search.svg is that (make picture)" "$(cat "$ROOT/differs")"
finish

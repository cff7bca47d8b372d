#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The way up of the recorded search as a picture, for README.md: tests/page/picture.sh FILE.svg
# search.jsonl holds the search's own records, as its ledger had them; what they were made by stands in docs/guides/page.md.
set -eu
hone=$(realpath "${HONE_BUILD:-build}/hone")
dir=$(mktemp -d "${TMPDIR:-/tmp}/hone-picture.XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$hone" init "$dir/ws" >/dev/null 2>&1
cat "$(dirname "$0")/search.jsonl" >"$dir/ws/.hone/ledger/000001.jsonl"
"$hone" report --workspace "$dir/ws" --svg "$1"

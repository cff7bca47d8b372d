#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pages that come from the program's tables are as committed (make docs writes them).
. "$(dirname "$0")/lib.sh"
made=$(mktemp -d)
build=${HONE_BUILD:-build}
if [ -x "$build/hone" ]; then
    docs/generate.sh "$build" "$made"
    # "HONE_EMULATOR_" is for tests.
    verdict "hone(1) has every variable that the program reads" "$(files 'server/*.c' 'agents/*.c' 'tools/*.c' 'workspace/*.c' |
        xargs grep -ohE 'getenv\("(HONE|XDG)_[A-Z_]*"|\.env = "[A-Z_]*"' | grep -oE '[A-Z]+_[A-Z_]+' | sort -u | while read -r name; do
            grep -q "^  $name " "$made/man/hone.1" || echo "$name is not in server/help_topics.c"
        done)"
    verdict "docs/reference/report.md has every member of report.json" "$(sed -n '/^const struct hone_field hone_report_fields/,/^};/p' tools/format/report.c |
        grep -oE 'struct hone_report, [a-z_]+' | cut -d' ' -f3 | while read -r name; do
            grep -q "^| .$name. |" docs/reference/report.md || echo "$name is missing"
        done)"
    for page in man/hone.1 man/hone-runner.1 reference/tools.md reference/strategies.md; do
        verdict "docs/$page is in step with the tables" "$(diff "docs/$page" "$made/$page" 2>&1 | head -n 10)"
    done
else
    verdict "docs can be compared" "no $build/hone"
fi
rm -rf "$made"
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pages that come from the program's tables are as committed (make docs writes them).
. "$(dirname "$0")/lib.sh"
made=$(mktemp -d)
build=${HONE_BUILD:-build}
if [ -x "$build/hone" ]; then
    docs/generate.sh "$build" "$made"
    for page in man/hone.1 man/hone-runner.1 reference/tools.md; do
        verdict "docs/$page is in step with the tables" "$(diff "docs/$page" "$made/$page" 2>&1 | head -n 10)"
    done
else
    verdict "docs can be compared" "no $build/hone"
fi
rm -rf "$made"
finish

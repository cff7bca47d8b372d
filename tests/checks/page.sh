#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page's TypeScript holds its types. Needs what .ci/page fetched.
. "$(dirname "$0")/lib.sh"
[ -x build/page/node_modules/.bin/tsc ] || skip_all "no TypeScript (npm)"
verdict "the page's types hold" "$(build/page/node_modules/.bin/tsc -p build/page 2>&1 | head -20)"
finish

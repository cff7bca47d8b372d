#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page's TypeScript holds its types (needs what .ci/page fetched), and has plain words for every counter.
. "$(dirname "$0")/lib.sh"
# Every counter and feature that a step's reason may name.
names=$(sed -nE 's/^ *(\[HONE_[A-Z0-9_]+\] =) *\{?"([a-z0-9_]+(\.[a-z0-9_]+)*)".*/\2/p' agents/planner/features.c tools/runner/cuda/driver/gpu_metrics.c
    sed -nE 's/^ +"([a-z0-9_]+\.[a-z0-9_.]+)",?$/\1/p' agents/planner/features.c
    sed -nE 's/.*STALL\("([a-z_]+)"\).*/smsp__warp_issue_stalled_\1_per_warp_active.pct/p' tools/runner/cuda/driver/gpu_metrics.c
    grep -ohE '"(hone|launch)__[a-z_]+"' tools/runner/cuda/device/gpu_bottleneck.c tools/runner/cuda/judge/gpu_profile.c | tr -d '"')
unnamed=$(for name in $names; do
    grep -qE "[ ,{]\"?$name\"?: \"" server/page/web/counters.ts || echo "$name has no words in counters.ts"
done)
[ "$(printf '%s\n' "$names" | wc -l)" -gt 100 ] || unnamed="only these names were found: $names"
verdict "counters and features have plain words" "$unnamed"
[ -x build/page/node_modules/.bin/tsc ] || { finish; exit; }
verdict "the page's types hold" "$(build/page/node_modules/.bin/tsc -p build/page 2>&1 | head -20)"
finish

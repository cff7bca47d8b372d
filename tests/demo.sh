#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's first command, second half: search a shipped task and show what it left behind.
#   tests/demo.sh BUILD_DIR [TASK] [SECONDS]
set -eu
build=${1:-build}
task=${2:-softmax}
seconds=${3:-90}
hone=$build/hone
dir=${HONE_DEMO_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/hone-demo.XXXXXX")}/workspace

"$hone" init "$dir"
echo "== hone search $task --workspace $dir --target cpu --budget-wall ${seconds}s"
"$hone" search "$task" --workspace "$dir" --target cpu --budget-wall "${seconds}s"
echo
echo "== every version that was tried, newest first, with the best founded measurement: hone log --workspace $dir"
"$hone" log --workspace "$dir" | head -n 20
branch=$(git -C "$dir" for-each-ref --format='%(refname:short)' 'refs/heads/search/' | head -n 1)
echo
echo "== how the best one came about, in plain git: git -C $dir log --oneline $branch"
git -C "$dir" --no-pager log --oneline "$branch" | head -n 12
echo
echo "== and its source: git -C $dir show $branch:$task.c"
git -C "$dir" --no-pager show "$branch:$task.c" | head -n 40
echo
echo "workspace: $dir"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of hone, judge or arena at random moments of a search: nothing acknowledged may be lost, the search goes on.
#   tests/crash/kill_search.sh BUILD_DIR [KILLS] [TASK]
# "Acknowledged" is every ledger record evaluation.end that was on disk before the kill. After each kill the same command is started again;
# at the end every acknowledged evaluation must still be in the ledger, its commit in git, and git fsck --strict clean.
set -u
build=$(realpath "${1:-build}")
kills=${2:-100}
task=${3:-sum}
root=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/hone-kill.XXXXXX")")
ws=$root/ws
"$build/hone" init "$ws" >/dev/null || exit 1

acknowledged() { # ids of whole evaluation.end lines that carry a version or evidence (infra answers carry neither)
    cat "$ws"/.hone/ledger/*.jsonl 2>/dev/null | grep -a '"type":"evaluation.end"' | grep -a '}$' |
        grep -aE '"reason":"[a-z_]*","(version|evidence)":' | sed -n 's/.*"data":{"evaluation":"\([^"]*\)".*/\1/p' | sort -u
}
start() {
    "$build/hone" search "$task" --workspace "$ws" --target cpu --budget-wall 600s --budget-evaluations 100000 \
        --seed 7 >>"$root/search.log" 2>&1 &
    search=$!
}
# Runners that work in this workspace. Others may run the same binary beside this script: the path of the binary says nothing.
runners_here() {
    for runner in $(pgrep -x hone-runner); do
        case $(readlink "/proc/$runner/cwd") in "$ws"/*) echo "$runner" ;; esac
    done
}

declare -A done_kills=([hone]=0 [judge]=0 [arena]=0)
acknowledged >"$root/before"
lost=0 restarts=0 stopped=0
start
n=0
while [ "$n" -lt "$kills" ]; do
    sleep "$((RANDOM % 3)).$(printf '%03d' $((RANDOM % 1000)))"
    if ! kill -0 "$search" 2>/dev/null; then
        wait "$search"
        stopped=$((stopped + 1))
        [ "$stopped" -gt 20 ] && { echo "search ends by itself too often"; break; }
        start
        continue
    fi
    case $((RANDOM % 3)) in
    0) kind=hone pid=$search ;;
    1) kind=judge pid=$(pgrep -P "$search" -x hone-runner | shuf -n 1) ;;
    2) judge=$(pgrep -P "$search" -x hone-runner | head -n 1)
       kind=arena pid=$([ -n "$judge" ] && pgrep -P "$judge" | shuf -n 1) ;;
    esac
    [ -n "${pid:-}" ] || continue
    acknowledged >"$root/now"
    kill -KILL "$pid" 2>/dev/null || continue
    n=$((n + 1))
    done_kills[$kind]=$((done_kills[$kind] + 1))
    if [ "$kind" = hone ]; then
        wait "$search" 2>/dev/null
        restarts=$((restarts + 1))
        start
    fi
    sleep 0.05
    acknowledged >"$root/after"
    missing=$(comm -23 "$root/now" "$root/after" | wc -l)
    lost=$((lost + missing))
done
kill -INT "$search" 2>/dev/null
for _ in $(seq 600); do kill -0 "$search" 2>/dev/null || break; sleep 0.1; done
kill -KILL "$search" 2>/dev/null
wait "$search" 2>/dev/null
"$build/hone" log --workspace "$ws" --all --json >"$root/log.json" 2>>"$root/search.log"

acknowledged >"$root/end"
ids=$(wc -l <"$root/end")
uncommitted=0
{ # a version names its evaluation in a trailer, evidence in its report
    git -C "$ws" for-each-ref --format='%(contents)' refs/hone/v | sed -n 's/^Evaluation: //p'
    git -C "$ws" for-each-ref --format='%(refname):report.json' refs/hone/evidence | git -C "$ws" cat-file --batch |
        grep -ao '^{"format":1,"id":"[^"]*"' | cut -d'"' -f6
} | sort -u >"$root/in-git"
while read -r id; do
    grep -qxF "$id" "$root/in-git" || uncommitted=$((uncommitted + 1))
done <"$root/end"
git -C "$ws" fsck --strict --no-dangling >"$root/fsck" 2>&1
fsck=$?
left=$(runners_here | wc -l)
echo "kills $n (hone ${done_kills[hone]}, judge ${done_kills[judge]}, arena ${done_kills[arena]}); restarts $restarts; searches ended by themselves $stopped"
echo "acknowledged evaluations $ids; lost $lost; acknowledged but not in git $uncommitted; git fsck --strict exit $fsck; runners left over $left"
[ "$lost" = 0 ] && [ "$uncommitted" = 0 ] && [ "$fsck" = 0 ] && [ "$left" = 0 ] && [ "$ids" -gt 0 ] &&
    { rm -rf "$root"; echo "ok 1 - nothing acknowledged is lost over $n kills"; echo 1..1; exit 0; }
echo "not ok 1 - see $root"
echo 1..1
exit 1

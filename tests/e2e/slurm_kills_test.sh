#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A suite through Slurm while runners, nodes, the controller and the driver are killed: it ends, nothing is lost, nothing counts
# twice, caps hold, nothing stays behind. KILLS=50 SEED=7 kills so often, in another order.
# sanitizers: no; Slurm's own programs run here.
. "$(dirname "$0")/slurm_lib.sh"
CAP=${CAP:-12}
kills=${KILLS:-5} seed=${SEED:-1}
waits 60 n_idle 2
ok $? "a cluster of two nodes" "$(sinfo; cat "$ROOT"/*.log "$ROOT/munged.err")"
"$HONE" init "$WS" >/dev/null 2>&1
printf 'transpose\nsum\nrmsnorm\n' >"$ROOT/night.list"

start_driver() {
    "$HONE" search --suite "$ROOT/night.list" --workspace "$WS" --executor slurm --runners 2 --lanes 2 \
        --budget-evaluations "$CAP" --json >"$ROOT/out" 2>>"$ROOT/said" &
    driver=$!
}
alive() { kill -0 "$driver" 2>/dev/null; }
draw() { # draw N: 0 to N-1 into $drawn, the same for the same seed
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}
kill_something() {
    case $1 in
    0) for pid in $(mine hone-runner); do kill -9 "$pid"; done ;;
    4) for pid in $(mine srun | head -n 1); do kill -9 "$pid"; done ;;
    1)
        draw 2
        kill -9 "$(cat "$ROOT/slurmd-node$drawn.pid")" && sleep 1
        start_node "$drawn"
        ;;
    2)
        kill -9 "$(cat "$ROOT/ctld.pid")" && sleep 1
        start_ctld
        ;;
    3)
        kill -9 "$driver"
        wait "$driver" 2>/dev/null
        start_driver
        ;;
    esac
}

start_driver
done_kills=0
while [ "$done_kills" -lt "$kills" ] && alive; do
    draw 30
    sleep "$((1 + drawn / 10)).$((drawn % 10))"
    alive || break
    [ "$kills" -le 5 ] && drawn=$done_kills || draw 5
    kill_something "$drawn" 2>>"$ROOT/said"
    echo "# $(date +%T) killed $drawn" >>"$ROOT/said"
    done_kills=$((done_kills + 1))
done
waits 240 sh -c "! kill -0 $driver"
ok $? "after $done_kills kills the suite ends" "$(tail -n 30 "$ROOT/said"; squeue; sinfo)"
kill -9 "$driver" 2>/dev/null
wait "$driver"

python3 - "$WS" "$ROOT/out" "$CAP" >"$ROOT/found" <<'END_PY'
import collections, glob, json, sys
records = [json.loads(line) for f in sorted(glob.glob(sys.argv[1] + "/.hone/ledger/*.jsonl")) for line in open(f)]
try:
    suite = json.loads(open(sys.argv[2]).read().splitlines()[-1])
except Exception:
    suite = {"has_ended": False, "tasks": []}
ids = {r["data"]["search"] for r in records if r["type"] == "search.start"}
begun = [r["data"] for r in records if r["type"] == "evaluation.start" and r["data"].get("caller", "")[7:] in ids]
ends = collections.Counter(r["data"].get("id") or r["data"].get("evaluation") for r in records if r["type"] == "evaluation.end")
print("ended", suite["has_ended"])
print("begun", len(begun))
print("within", len(begun) <= int(sys.argv[3]))
print("twice", [k for k, n in ends.items() if n > 1])
print("failed", [(t["task"], t["message"]) for t in suite["tasks"] if "code" in t])
print("passes", [t["passes"] for t in suite["tasks"]])
print("results", [t["task"] for t in suite["tasks"] if t.get("result", {}).get("best_commit")])
END_PY
found() { grep -q "^$1\$" "$ROOT/found"; }
found "ended True" && found "failed \[\]"
ok $? "every task had its turn and none failed" "$(cat "$ROOT/found"; tail -n 30 "$ROOT/said")"
found "within True"
ok $? "$(grep '^begun' "$ROOT/found") of $CAP evaluations: the cap holds" "$(cat "$ROOT/found")"
found "twice \[\]"
ok $? "no evaluation ended twice" "$(cat "$ROOT/found")"
waits 90 is_empty && [ -z "$(mine hone-runner)" ]
ok $? "nothing is left in the queue, and no runner" "$(squeue; mine hone-runner)"
git -C "$WS" fsck --connectivity-only >/dev/null 2>&1
ok $? "the history is whole" ""
echo "# $(tr '\n' ' ' <"$ROOT/found")"
finish

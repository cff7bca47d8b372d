#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone devices, and leases per device: a busy device is left alone, who waits is shown. On an emulated machine of three GPUs.
. "$(dirname "$0")/lib.sh"
XDG_RUNTIME_DIR=$ROOT/run
export XDG_RUNTIME_DIR
mkdir -p "$XDG_RUNTIME_DIR"
needs_emulator
command -v flock >/dev/null || { echo "1..0 # SKIP the test needs flock"; exit 77; }
LOCK=$XDG_RUNTIME_DIR/hone-timing.lock
HONE_EMULATOR_DEVICES=3
export HONE_EMULATOR_DEVICES
uuid() { "$HONE" devices --json | grep -o '"uuid":"[0-9a-f]*"' | sed -n "$1p" | cut -d'"' -f4; }
lease_of() { "$HONE" devices --json | tr '{' '\n' | sed -n "/\"device\":\"$1\"/,/\"held\"/p" | tail -n 1; }
hold() { # hold FILE: until the process $held is killed
    : >>"$1"
    flock "$1" sh -c 'echo $$ "other task, decide, call x" >'"$1"'; exec sleep 300' &
    held=$!
    while flock -n "$1" true; do sleep 0.05; done
}
free() { pkill -P "$held" 2>/dev/null; kill "$held" 2>/dev/null; wait "$held" 2>/dev/null; }
evaluate() { # evaluate OUT OPTION...: a small task's own kernel, on whatever device is free
    out=$1
    shift
    printf '{"task":"held0","target":"cuda","fresh":true,"source":%s}' "$(json_text "$WS/tasks/held0/kernels/naive.cu")" >"$out.json"
    timeout 900 "$HONE" call kernel_evaluate "@$out.json" --workspace "$WS" "$@" >"$out" 2>"$out.err"
}

"$HONE" init "$WS" >/dev/null 2>&1
sh tests/gpu/many_tasks.sh "$WS/tasks" 1 20000 5001

[ "$("$HONE" devices --json | grep -o '"device":"[a-z:0-9]*"' | tr -d '\n')" = '"device":"cpu""device":"cuda:0""device":"cuda:1""device":"cuda:2"' ]
ok $? "processor and GPUs are listed" "$("$HONE" devices --json)"
"$HONE" devices | grep -q '^cuda:2 .*: free$' && lease_of cpu | grep -q '"held":false'
ok $? "nothing is held" "$("$HONE" devices)"
hold "$LOCK-$(uuid 2)"
lease_of cuda:1 | grep -q '"held":true,"by":"pid [0-9]* (other task, decide, call x)"' && lease_of cuda:0 | grep -q '"held":false' && lease_of cpu | grep -q '"held":false'
ok $? "a held lease names its holder, the others are free" "$("$HONE" devices --json)"
"$HONE" call device_info --workspace "$WS" 2>/dev/null | tr -d ' \n' | grep -q '"devices":\[{"device":"cpu"'
ok $? "device_info tells the same"
free
ls "$XDG_RUNTIME_DIR" | grep -q . && lease_of cuda:1 | grep -q '"held":false'
ok $? "it is free again when its holder is gone" "$("$HONE" devices)"
echo "999999999 gone" >"$LOCK.wait-999999999"
"$HONE" devices --json | grep -q 'gone' || [ -e "$LOCK.wait-999999999" ]
[ $? = 1 ]
ok $? "who was killed while waiting waits no more" "$(ls "$XDG_RUNTIME_DIR")"

hold "$LOCK-$(uuid 1)"
evaluate "$ROOT/one"
grep -q '"verdict":"screened"' "$ROOT/one" && grep -q held0 "$LOCK-$(uuid 2)"
ok $? "a job goes to a device that is free" "$(cat "$ROOT/one" "$ROOT/one.err"; ls "$XDG_RUNTIME_DIR")"
free
HONE_EMULATOR_DEVICES=1 # a program that sees one device of several waits for the same lease
hold "$LOCK-$(uuid 1)"
evaluate "$ROOT/two" &
waits=$!
shown=1
for _ in $(seq 1200); do
    "$HONE" devices --json | grep -q '"waiting":\["pid [0-9]* (held0' && shown=0 && break
    sleep 0.1
done
ok $shown "who waits is shown" "$("$HONE" devices --json; cat "$ROOT/two" "$ROOT/two.err")"
free
wait $waits
grep -q '"verdict":"screened"' "$ROOT/two" && ! ls "$XDG_RUNTIME_DIR" | grep -q wait-
ok $? "with one device it waits its turn, and the queue is empty then" "$(cat "$ROOT/two" "$ROOT/two.err"; ls "$XDG_RUNTIME_DIR")"

# GPUs of one host may be of two classes: what one answered is no answer of the other's
on() { # on DEVICE: how many evaluations there were after one with this GPU
    CUDA_VISIBLE_DEVICES=$1 "$HONE" call kernel_evaluate '{"task":"sum","target":"cuda","source":"int n;"}' --executor fake \
        --workspace "$WS" --quiet >/dev/null
    cat "$WS"/.hone/ledger/*.jsonl | grep -c '"type":"evaluation.start"'
}
first=$(on 0) again=$(on 0) other=$(on 1)
[ "$again" = "$first" ] && [ "$other" = $((first + 1)) ]
ok $? "an answer is kept for its GPU" "$first $again $other"
finish

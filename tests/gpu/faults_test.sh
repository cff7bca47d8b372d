#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What broken kernels do on a device: each gets its verdict, and the next evaluation answers at once. Needs a GPU, or the
# emulator named in HONE_CUDA_LIB.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
cp -r tests/gpu/packs/* "$WS/tasks/"
if ! "$HONE" call device_info '{"probe":true}' --workspace "$WS" --quiet 2>/dev/null | grep -q '"targets":\["cpu","cuda"\]'; then
    echo "1..0 # SKIP no GPU"
    exit 77
fi
FAULTS=tests/gpu/faults
workload=us5
line() { # FILE TAG
    { cat "$1"; echo "/* $2 */"; } >"$ROOT/one.cu"
    echo "kernel_evaluate {\"task\":\"steady\",\"target\":\"cuda\",\"workloads\":[\"$workload\"],\"call_timeout_ms\":1000,\"source\":$(json_text "$ROOT/one.cu")}"
}
answers() { "$HONE" call - --workspace "$WS" 2>"$ROOT/err"; }

# Reason wanted, by file.
table='good screened
hang timeout
illegal_address out_of_bounds
device_assert crash
writes_input input_changed|out_of_bounds
past_the_end out_of_bounds
out_of_memory oom
max_shared screened
too_much_shared bad_request|compile|launch|crash|oom'
{
    line $FAULTS/good.cu warm
    echo "$table" | while read -r name _; do line "$FAULTS/$name.cu" 1; line $FAULTS/good.cu "after $name"; done
} | answers >"$ROOT/answers"
n=1
while read -r name want; do
    n=$((n + 1))
    got=$(sed -n "${n}p" "$ROOT/answers")
    reason=$(echo "$got" | json_get reason)
    echo "$reason" | grep -qxE "$want"
    ok $? "$name: $reason" "$(echo "$got" | cut -c1-600)"
    n=$((n + 1))
    next=$(sed -n "${n}p" "$ROOT/answers")
    [ "$(echo "$next" | json_get reason)" = screened ]
    ok $? "the next evaluation after $name ($(echo "$next" | grep -o '"wall_ms":[0-9]*' | cut -d: -f2) ms)" "$(echo "$next" | cut -c1-600)"
done <<END
$table
END

# A source of the largest size, and one byte above it.
limit=1048576
{ cat $FAULTS/good.cu; printf '/*'; } >"$ROOT/head"
size=$(wc -c <"$ROOT/head")
{ cat "$ROOT/head"; head -c $((limit - size - 2)) /dev/zero | tr '\0' 'x'; printf '*/'; } >"$ROOT/full.cu"
{ cat "$ROOT/head"; head -c $((limit - size - 1)) /dev/zero | tr '\0' 'x'; printf '*/'; } >"$ROOT/over.cu"
for which in full over; do
    echo "kernel_evaluate {\"task\":\"steady\",\"target\":\"cuda\",\"workloads\":[\"$workload\"],\"source\":$(json_text "$ROOT/$which.cu" | sed 's/\\n"$/"/')}"
done | answers >"$ROOT/large"
sed -n 1p "$ROOT/large" | grep -q '"reason":"screened"'
ok $? "a source of 1 MiB" "$(sed -n 1p "$ROOT/large" | cut -c1-300)"
sed -n 2p "$ROOT/large" | grep -q '"is_error":true\|"reason":"too_large"'
ok $? "one byte more" "$(sed -n 2p "$ROOT/large" | cut -c1-300)"

# Faults in a row leak neither processes nor device memory.
faults=${HONE_FAULTS:-100}
before=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null || echo 0)
{
    for i in $(seq "$faults"); do line $FAULTS/illegal_address.cu "again $i"; done
    line $FAULTS/good.cu last
} | answers >"$ROOT/many"
[ "$(grep -c '"reason":"out_of_bounds"' "$ROOT/many")" = "$faults" ]
ok $? "$faults faults in a row" "$(grep -v out_of_bounds "$ROOT/many" | head -n 3 | cut -c1-300)"
tail -n 1 "$ROOT/many" | grep -q '"reason":"screened"'
ok $? "and one good kernel after them" "$(tail -n 1 "$ROOT/many" | cut -c1-300)"
after=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null || echo 0)
# Others may run candidates beside this: theirs end sooner or later, one that is left does not.
left=$(pgrep -d, -f 'hone-runner.*--role' 2>/dev/null)
for _ in $(seq 120); do
    [ -n "$left" ] && left=$(ps -o pid= -p "$left" | tr -d ' ' | paste -sd,) || break
    [ -z "$left" ] || sleep 0.5
done
[ "$after" -le $((before + 64)) ] && [ -z "$left" ]
ok $? "nothing is left on the device ($before MiB before, $after MiB after)" "$(pgrep -af hone-runner)"
grep -o '"wall_ms":[0-9.]*' "$ROOT/many" | cut -d: -f2 | sort -g | awk '{ v[NR] = $1 } END { printf "# one fault: median %.0f ms, worst %.0f ms\n", v[int((NR + 1) / 2)], v[NR] }'
finish

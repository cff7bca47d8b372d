#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Candidates with one known fault each: kernel_profile names the class and the line. Needs a GPU; without hardware
# counters (see the note it prints) the parts that need them are skipped.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
if ! "$HONE" call device_info '{"probe":true}' --workspace "$WS" --quiet 2>/dev/null | grep -q '"targets":\["cpu","cuda"\]'; then
    echo "1..0 # SKIP no GPU"
    exit 77
fi
KERNELS=tests/gpu/kernels
# file, task, workload, what may come first, what the advice names, is the line of the mark wanted
table='uncoalesced transpose g4096 uncoalesced G01 line
bank_conflict transpose g4096 shared_conflict G07 line
spill matmul g4096 spill G17 no
latency rmsnorm g32768x1000 latency_occupancy G15 no
naive_matmul matmul g2048 l1_shared_bound|l2_bound|excess_traffic|latency_ilp G line'
echo "$table" | while read -r file task workload _; do
    echo "kernel_profile {\"task\":\"$task\",\"target\":\"cuda\",\"workloads\":[\"$workload\"],\"detail\":\"full\",\"source\":$(json_text "$KERNELS/$file.cu")}"
done | "$HONE" call - --workspace "$WS" >"$ROOT/answers" 2>"$ROOT/err"
n=0
while read -r file _ _ want advice line_wanted; do
    n=$((n + 1))
    answer=$(sed -n "${n}p" "$ROOT/answers")
    note=$(echo "$answer" | json_get counters_note)
    if echo "$answer" | grep -q '"name":"launch__registers_per_thread"'; then status=0; else status=1; fi
    ok $status "$file: launch facts" "$(echo "$answer" | cut -c1-600)"
    echo "# $file wall $(echo "$answer" | grep -o '"name":"profile\.[a-z]*","status":"[a-z]*","wall_ns":[0-9]*' | tr '\n' ' ')"
    if ! echo "$answer" | grep -q 'dram__throughput'; then
        echo "# SKIP no counters: $note"
        continue
    fi
    class=$(echo "$answer" | json_get class_name)
    echo "$class" | grep -qxE "$want"
    ok $? "$file is $class" "$(echo "$answer" | grep -o '"bottlenecks":\[.*' | cut -c1-1500)"
    echo "$answer" | json_get advice | grep -q "$advice"
    ok $? "$file: the advice names $advice"
    line=$(echo "$answer" | grep -o '"class_name":"[^]]*' | head -n 1 | grep -o '"line":[0-9]*' | head -n 1 | cut -d: -f2)
    mark=$(grep -n 'HERE \*/' "$KERNELS/$file.cu" | cut -d: -f1)
    if [ "$line_wanted" != line ] || ! echo "$answer" | grep -q '"name":"sass__instructions"'; then
        echo "# $file: line ${line:-none}, mark $mark"
        continue
    fi
    [ "$line" = "$mark" ]
    ok $? "$file: line ${line:-none} is the marked one ($mark)"
done <<END
$table
END
finish

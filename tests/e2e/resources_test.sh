#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Resources that no tool has: a version's profile, the answers of a search's models. Fake executor, a script as the model.
. "$(dirname "$0")/lib.sh"

mkdir -p "$ROOT/config/hone"
XDG_CONFIG_HOME=$ROOT/config HONE_EXECUTOR=fake
export XDG_CONFIG_HOME HONE_EXECUTOR
printf '{"models":[{"name":"sh","provider":"command","tries":1,"price_in":1,"price_out":1,"command":["/bin/echo","I would rather think."]}]}\n' \
    >"$ROOT/config/hone/config.json"
"$HONE" init "$WS" >/dev/null 2>&1
"$HONE" search sum --workspace "$WS" --name thinking --coder llm --planner rules --model sh --repairs 0 --budget-evaluations 4 \
    >/dev/null 2>"$ROOT/err"
echo '{"task":"sum","source":"int x;"}' >"$ROOT/call.json"
"$HONE" call kernel_profile @"$ROOT/call.json" --workspace "$WS" >"$ROOT/profile.json" 2>/dev/null
commit=$(json_get commit <"$ROOT/profile.json")
read_uri() {
    printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}' \
        '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"'"$1"'"}}' | "$HONE" mcp --workspace "$WS" 2>/dev/null | tail -n 1
}
said=$(read_uri "hone://search/thinking/answers")
echo "$said" | grep -q 'I would rather think' && echo "$said" | grep -q 'tokens in'
ok $? "a search's answers can be read" "$said $(tail -n 3 "$ROOT/err")"
said=$(read_uri "hone://search/thinking/report" | tr -d '\\')
position=$(printf '%s' "$said" | sed -n 's/.*"position":"\([^"]*\)".*/\1/p')
part=$(read_uri "hone://search/thinking/report?since=$position" | tr -d '\\')
echo "$said" | grep -q '"kind":"root"' && ! echo "$part" | grep -q '"kind":"root"' && echo "$part" | grep -q '"steps":\[\]'
ok $? "a report is read on from its position" "$position: $part"
"$HONE" search sum --workspace "$WS" --name ruled --budget-evaluations 6 >/dev/null 2>&1
said=$(read_uri "hone://search/ruled/report" | tr -d '\\')
echo "$said" | grep -q '"kind":"expand","step":1,'
ok $? "a report's steps have numbers" "$said"
said=$(read_uri "hone://search/ruled/choices?step=1" | tr -d '\\')
echo "$said" | grep -q '"legal":\[{"rewrite":' && echo "$said" | grep -q '"prior":'
ok $? "what a step was chosen among can be read" "$said"
for uri in ruled/choices "ruled/choices?step=999" "ruled/choices?step=x" "none/choices?step=1"; do
    said=$(read_uri "hone://search/$uri")
    echo "$said" | grep -q -- '-32002'
    ok $? "$uri: there is none" "$said"
done
said=$(read_uri "hone://searches?since=1.1.x")
echo "$said" | grep -q -- '-32002'
ok $? "what has no position says so" "$said"
said=$(read_uri "hone://search/other/answers")
echo "$said" | grep -q -- '-32002'
ok $? "a search without any has none" "$said"
said=$(read_uri "hone://version/$commit/profile")
echo "$said" | grep -q 'application/json' && echo "$said" | grep -q 'bottleneck\|workload'
ok $? "a version's profile can be read" "$said $(cat "$ROOT/profile.json")"
base=$(git -C "$WS" rev-parse 'HEAD^{commit}')
said=$(read_uri "hone://version/$base/profile")
echo "$said" | grep -q -- '-32002'
ok $? "one that was never profiled has none" "$said"
printf '{"task":"sum","commit":"%s","tier":"decide"}' "$commit" >"$ROOT/call.json"
"$HONE" call kernel_evaluate @"$ROOT/call.json" --workspace "$WS" >"$ROOT/decided.json" 2>/dev/null
said=$(read_uri "hone://version/$commit/measured" | tr -d '\\')
echo "$said" | grep -q '"tier":"decide"' && echo "$said" | grep -q '"percent_of_bound":' && echo "$said" | grep -q '"workloads":'
ok $? "what was measured of a version is its best founded report" "$said $(cat "$ROOT/decided.json")"
echo "$said" | grep -q '"profile":{'
ok $? "with its latest profile" "$said"
echo "$said" | grep -q '"looks":\[{"tier":"decide","verdict":"faster","ratio":[0-9.]*,"low":[^]]*"sizes":\["n1m",'
ok $? "with each look and the sizes that it timed" "$said"
said=$(read_uri "hone://searches" | tr -d '\\')
echo "$said" | grep -q '"machine":"[^"]*, [0-9]* cores"'
ok $? "a search says what its times were taken on" "$said"
said=$(read_uri "hone://version/$base/measured")
echo "$said" | grep -q -- '-32002'
ok $? "what is no version was not measured" "$said"
finish

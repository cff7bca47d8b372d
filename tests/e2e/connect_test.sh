#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone connect: what it prints starts hone; what it writes leaves the rest of the file alone, and no
# token is ever in it.
. "$(dirname "$0")/lib.sh"
"$HONE" init "$WS" >/dev/null 2>&1
cd "$ROOT" || exit 1

bad=0
for client in claude-code gemini opencode vscode json codex; do
    "$HONE" connect "$client" --workspace "$WS" >"$ROOT/out" 2>/dev/null || bad=1
    grep -q "\"$WS\"" "$ROOT/out" && grep -q "$HONE" "$ROOT/out" && grep -q '"mcp"' "$ROOT/out" || bad=1
done
ok $bad "every client's lines name this program and this workspace" "$client: $(cat "$ROOT/out")"

"$HONE" connect json --workspace "$WS" 2>/dev/null >"$ROOT/out"
program=$(sed -n 's/.*"command": "\(.*\)",/\1/p' "$ROOT/out")
said=$(echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | "$program" mcp --workspace "$WS")
[ "$said" = '{"jsonrpc":"2.0","id":1,"result":{}}' ]
ok $? "the printed command answers" "$said"

printf '{"mcpServers":{"other":{"command":"x"},"hone":{"command":"old"}},"k":1}' >.mcp.json
"$HONE" connect claude-code --workspace "$WS" --write 2>/dev/null &&
    grep -q '"other"' .mcp.json && grep -q '"k": 1' .mcp.json && ! grep -q '"old"' .mcp.json
ok $? "writing keeps what others put there, and replaces hone's" "$(cat .mcp.json)"
cp .mcp.json once
"$HONE" connect claude-code --workspace "$WS" --write 2>/dev/null && cmp -s once .mcp.json
ok $? "writing twice is writing once"

"$HONE" connect vscode --workspace "$WS" --write 2>/dev/null && grep -q '"servers"' .vscode/mcp.json
ok $? "a missing folder is made" "$(ls -A)"

bad=0
for text in '[]' '{bad' '{"mcp":[]}'; do
    printf '%s' "$text" >opencode.json
    "$HONE" connect opencode --workspace "$WS" --write 2>"$ROOT/err" && bad=1
    [ "$(cat opencode.json)" = "$text" ] && grep -q 'left as it is' "$ROOT/err" || bad=1
done
ok $bad "a file that cannot be read is left as it is" "$text: $(cat "$ROOT/err")"

mkdir -p "$WS/.hone"
printf '%064d\n' 7 >"$WS/.hone/token"
chmod 600 "$WS/.hone/token"
printf '{"pid":1,"url":"ws://127.0.0.1:7999/mcp?token=%064d"}' 7 >"$WS/.hone/serve.json"
bad=0
for by in http ws; do
    out=$("$HONE" connect claude-code --workspace "$WS" --by $by 2>&1)
    case $out in *"$by://127.0.0.1:7999/mcp\""*HONE_TOKEN*) ;; *) bad=1 ;; esac
    case $out in *0007*) bad=1 ;; esac
done
ok $bad "the running server's address, without its token" "$out"

"$HONE" connect gemini --workspace "$WS" --by http >"$ROOT/out" 2>/dev/null
! grep -q timeout "$ROOT/out"
ok $? "Gemini's lines do not shorten its own limit of ten minutes" "$(cat "$ROOT/out")"

"$HONE" connect gemini --workspace "$WS" --by ws >"$ROOT/out" 2>&1
[ $? = 10 ] && ! "$HONE" connect codex --workspace "$WS" --write >"$ROOT/out" 2>&1 &&
    ! "$HONE" connect nobody --workspace "$WS" >"$ROOT/out" 2>&1
ok $? "what a client does not have is refused" "$(cat "$ROOT/out")"
finish

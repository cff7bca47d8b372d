#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MCP's official conformance suite, two pinned versions, against `hone serve` as it is shipped and
# against a server with the suite's own tools (fixture_server.c).
#
#   tests/interop/conformance.sh [FOLDER]     FOLDER keeps the logs; HONE_BUILD names the build tree
#
# Needs node, npm and, once, the network. expected-*.yml list what hone has nothing for: a scenario
# beside them that fails, or one of them that passes, fails the script.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${HONE_BUILD:-$here/../../build}
out=${1:-$(mktemp -d)}
mkdir -p "$out" || exit 1
modules=${HONE_INTEROP_MODULES:-$here/node_modules}
server=
stop() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
    server=
}
trap stop EXIT
trap 'exit 1' INT TERM

if [ ! -d "$modules/conformance-next" ]; then
    if ! command -v npm >/dev/null 2>&1 || ! (cd "$here" && npm ci --no-audit --no-fund >"$out/npm.log" 2>&1); then
        echo "1..0 # SKIP no npm, or its packages are not to be had"
        exit 0
    fi
fi
node=$modules/node/bin/node
[ -x "$node" ] || node=node
"$build/hone" init "$out/ws" >/dev/null 2>&1

n=0 failed=0
# NAME SUITE ARGUMENT...
suite() {
    name=$1 entry=$2
    shift 2
    n=$((n + 1))
    if timeout 300 "$node" "$modules/$entry/dist/index.js" server --url "http://127.0.0.1:$port/mcp" \
        --expected-failures "$here/expected-$kind.yml" "$@" >"$out/$kind-$name.log" 2>&1; then
        result='ok'
    else
        result='not ok' failed=$((failed + 1))
    fi
    echo "$result $n - $kind, $name: $(grep '^Total:' "$out/$kind-$name.log" | head -n 1)"
}
# `hone mcp` in front of the server: what the client is asked goes out, its answer comes back.
bridge() {
    n=$((n + 1)) result='not ok'
    rm -f "$out/to-bridge"
    mkfifo "$out/to-bridge" || exit 1
    timeout 60 "$build/hone" mcp --connect "ws://127.0.0.1:$port/mcp" --linger 5s \
        <"$out/to-bridge" >"$out/bridge.log" 2>&1 &
    pid=$!
    {
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"bridge","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_sampling","arguments":{"prompt":"hello"}}}'
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            id=$(sed -n 's/.*"id":\("[^"]*"\),"method":"sampling.*/\1/p' "$out/bridge.log")
            [ -z "$id" ] || break
            sleep 0.3
        done
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"role":"assistant","model":"m","content":{"type":"text","text":"from behind the bridge"}}}'
    } >"$out/to-bridge"
    wait "$pid"
    if grep '"id":2,"result"' "$out/bridge.log" | grep -q 'from behind the bridge'; then result='ok'; else failed=$((failed + 1)); fi
    echo "$result $n - $kind, a client's answer through the bridge"
}
# KIND PROGRAM ARGUMENT...
against() {
    kind=$1
    shift
    "$@" 2>"$out/$kind-server.log" &
    server=$!
    port=
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.3
        port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\)\/mcp.*/\1/p; s/^listening on port //p' "$out/$kind-server.log" | head -n 1)
        [ -z "$port" ] || break
    done
    suite 0.1.16 @modelcontextprotocol/conformance
    suite 0.2-2025-11-25 conformance-next --requirements 2025-11-25
    suite 0.2-2026-07-28 conformance-next --requirements 2026-07-28
    [ "$kind" = shipped ] || bridge
    stop
}
against shipped "$build/hone" serve --auth none --executor fake --workspace "$out/ws" --listen 127.0.0.1:0
against fixtures "$build/tests/interop/fixture_server" "$out/ws" 0
echo "1..$n"
[ "$failed" = 0 ]

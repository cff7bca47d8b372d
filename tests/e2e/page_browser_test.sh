#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page in Chromium: each view on a recorded search, a live one, the static file, 360 pixels, hostile text. Needs chromium-driver.
. "$(dirname "$0")/lib.sh"
command -v chromedriver >/dev/null && command -v python3 >/dev/null || { echo "1..0 # SKIP no chromedriver (make deps-page)"; exit 77; }
grep -q "built without its page" build/page/index.html && { echo "1..0 # SKIP hone was built without its page (npm)"; exit 77; }
"$HONE" init "$WS" >/dev/null 2>&1
"$HONE" search rmsnorm --workspace "$WS" --executor fake --budget-evaluations 24 >/dev/null 2>&1
# a model whose answer would be markup
mkdir -p "$ROOT/config/hone"
printf '{"models":[{"name":"sh","provider":"command","tries":1,"price_in":1,"price_out":1,"command":["/bin/echo","<img src=x onerror=window.hacked=1> thinks."]}]}\n' \
    >"$ROOT/config/hone/config.json"
XDG_CONFIG_HOME=$ROOT/config "$HONE" search sum --workspace "$WS" --executor fake --name thinking --coder llm --model sh --repairs 0 \
    --budget-evaluations 4 >/dev/null 2>&1
# a version whose text and subject would be markup
printf '{"task":"rmsnorm","message":"<img src=x onerror=window.hacked=1>","source":%s}' \
    "$(printf '#include <stdint.h>\n/* </script><script>window.hacked=1</script> */\nvoid rmsnorm(void) {}\n' | json_text)" >"$ROOT/hostile.json"
hostile=$("$HONE" call kernel_evaluate "@$ROOT/hostile.json" --workspace "$WS" --executor fake 2>/dev/null | json_get commit)
viewer=$("$HONE" token add looker --role viewer --workspace "$WS" 2>/dev/null)
"$HONE" report rmsnorm --workspace "$WS" --html "$ROOT/night.html" --svg "$ROOT/night.svg" >/dev/null 2>&1
# ten thousand versions
"$HONE" init "$ROOT/large" >/dev/null 2>&1
HONE_LARGE_WORKSPACE="$ROOT/large" "${HONE_BUILD:-build}/tests/e2e/large_search_test" >/dev/null || echo "not ok - a large search is written"
"$HONE" serve --workspace "$WS" --executor fake --listen 127.0.0.1:0 2>"$ROOT/serve" &
serve=$!
trap 'kill $serve 2>/dev/null; wait $serve 2>/dev/null; rm -rf "$ROOT"' EXIT
for _ in $(seq 1800); do
    grep -q listening "$ROOT/serve" && break
    sleep 0.1
done
port=$(sed -n 's,.*ws://127.0.0.1:\([0-9]*\)/.*,\1,p' "$ROOT/serve")
PYTHONDONTWRITEBYTECODE=1 timeout 1700 python3 tests/e2e/page_browser.py "http://127.0.0.1:$port" "$(cat "$WS/.hone/token")" rmsnorm "$ROOT/night.html" "$HONE" "$WS" "$viewer" "$hostile" "$ROOT/large"

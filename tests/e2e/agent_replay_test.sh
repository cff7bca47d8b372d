#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers that coding agents gave in searches through the real judge (tests/agent/README.md), replayed in order under the fake
# executor: the same steps from the same versions, and byte for byte the sources that were judged then. Asked by request they
# are not found, since prompts hold what was measured.
. "$(dirname "$0")/lib.sh"
HERE=$(realpath "$(dirname "$0")/../agent")
[ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ] || { echo "1..0 # SKIP one core: no step would thread"; exit 0; }
mkdir -p "$ROOT/config/hone"
XDG_CONFIG_HOME=$ROOT/config
export XDG_CONFIG_HOME
# The first line whose text stands in a source gives its time: the newest version first; the ratios that the recorded search screened.
cat >"$ROOT/fake.jsonl" <<'JSON'
{"match":"OB: 6, 4, 5","ns":2030000}
{"match":"omp parallel if","ns":500500}
{"match":"calloc(","ns":900000}
{"match":"float sum = B[o];","ns":18400000}
JSON

replay() { # replay MATCH CODER-FILE [PLANNER-FILE TASK TARGET EVALUATIONS]: status
    TASK=${4:-conv2d_same}
    printf '{"models":[{"name":"coder","provider":"replay","match":"%s","file":"%s"},{"name":"planner","provider":"replay","match":"%s","file":"%s"}]}\n' \
        "$1" "$2" "$1" "${3:-$HERE/conv2d_same.planner.jsonl}" >"$ROOT/config/hone/config.json"
    chmod 600 "$ROOT/config/hone/config.json"
    rm -rf "$WS"
    "$HONE" init "$WS" >/dev/null
    cp -r "$HERE/packs/$TASK" "$WS/tasks/"
    "$HONE" search "$TASK" --target "${5:-cpu}" --workspace "$WS" --coder llm --planner "${PLANNER:-llm}" --model coder --planner-model planner --repairs 0 \
        --executor fake --fake-script "$ROOT/fake.jsonl" --budget-evaluations "${6:-5}" >"$ROOT/out" 2>"$ROOT/err"
}

records() { # records TYPE: the data of the ledger's records of a type
    cat "$WS"/.hone/ledger/*.jsonl | grep "\"type\":\"$1\""
}

tree() { # one line a step: its parent, the blob of its source
    records search.result | grep '"kind":"expand"' | while read -r line; do
        parent=$(echo "$line" | grep -o '"parent":[0-9]*' | cut -d: -f2)
        commit=$(echo "$line" | json_get commit)
        echo "$parent $(git -C "$WS" rev-parse "$commit:$TASK.${EXT:-c}" | cut -c1-12)"
    done
}

replay order "$HERE/conv2d_same.coder.jsonl"
ok $? "recorded answers carry a search" "$(tail -n 5 "$ROOT/err")"
# as the ledger of the recorded search has them
printf '0 e92a76e9e6d5\n1 9538316e619a\n2 df0e4aba6e67\n' >"$ROOT/want"
tree >"$ROOT/got"
cmp -s "$ROOT/want" "$ROOT/got"
ok $? "parents and sources are the recorded ones" "$(diff "$ROOT/want" "$ROOT/got")"
steps=$(records search.step | head -n 2 | grep -o '"strategy":"[A-Z0-9]*","anchor"' | cut -d'"' -f4 | tr '\n' ' ')
[ "$steps" = 'C07 C08 ' ] # G06 was recorded: the prior of C07 has grown since
ok $? "the steps before the first close choice are those of the priors" "$steps"
records model.answer | grep -c '"role":"coder"' >"$ROOT/n"
[ "$(cat "$ROOT/n")" = 3 ]
ok $? "each step took one answer" "$(cat "$ROOT/n")"

# it can fail: one character of one answer
sed '2s/schedule(static)/schedule(guided)/' "$HERE/conv2d_same.coder.jsonl" >"$ROOT/changed.jsonl"
replay order "$ROOT/changed.jsonl"
tree | cmp -s "$ROOT/want" -
[ $? = 1 ]
ok $? "another answer is another tree"

replay request "$HERE/conv2d_same.coder.jsonl"
[ $? != 0 ] && grep -q not_recorded "$ROOT/err"
ok $? "by request they are not recorded, and the search says so" "$(tail -n 3 "$ROOT/err")"
head -n 1 "$HERE/conv2d_same.coder.jsonl" >"$ROOT/one.jsonl"
replay order "$ROOT/one.jsonl"
[ $? != 0 ] && grep -q 'all 1 answers of' "$ROOT/err"
ok $? "when all were given the search says so" "$(tail -n 3 "$ROOT/err")"

# The search on an H200, the same way: six whole files, each from the version that the recorded search took.
cat >"$ROOT/fake.jsonl" <<'JSON'
{"match":"AHEAD_KB: 20480","ns":68976}
{"match":"SLICE_MB: 16","ns":85910}
{"match":"float beta, int M, int64_t N)","ns":58617}
{"match":"tune(THREADS: 512","ns":97959}
{"match":"tune(COLS: 16","ns":91720}
{"match":"tune(WAVE_BLOCKS: 2112","ns":64155}
{"match":"softmax_column","ns":8352990}
JSON
EXT=cu
replay order "$HERE/col_softmax.h200.coder.jsonl" "$HERE/col_softmax.h200.planner.jsonl" col_softmax cuda 14
ok $? "recorded answers carry a search on a GPU" "$(tail -n 5 "$ROOT/err")"
printf '0 467f1adddbba\n1 a9ccaa4919f3\n1 e1b70ef50900\n3 82bcf07b9f30\n3 de599f434401\n5 321587fc3d0f\n' >"$ROOT/want"
tree >"$ROOT/got"
cmp -s "$ROOT/want" "$ROOT/got"
ok $? "its parents and sources are the recorded ones" "$(diff "$ROOT/want" "$ROOT/got")"

# The one of ten steps, which the rules planned. Its third answer was refused then (a text that ended within a line) and would be
# taken now: without it the fourth, which mended it, comes in its place. Up to the sixth version nothing depends on counters.
cat >"$ROOT/fake.jsonl" <<'JSON'
{"match":"#pragma hone tune(PER_SM: 5, 6, 8)","ns":54590}
{"match":"#pragma hone tune(PANEL_MB: 16, 8, 24)","ns":62263}
{"match":"#pragma hone tune(TILE_KB: 200, 72, 110)","ns":58677}
{"match":"#define THREADS 512","ns":97027}
{"match":"#define TILE_KB 72","ns":64277}
{"match":"#pragma hone tune(OWNW: 32, 16)","ns":61051}
{"match":"#pragma hone tune(WIDE: 64, 128, 32)","ns":62598}
{"match":"#pragma hone tune(PASS_M: 2048, 512, 16384)","ns":59017}
{"match":"#pragma hone tune(STHREADS: 512, 1024)","ns":64327}
{"match":"hone tune(TILE_KB","ns":77401}
{"match":"softmax_column","ns":8150290}
JSON
sed 3d "$HERE/col_softmax.h200-ten.coder.jsonl" >"$ROOT/ten.jsonl"
PLANNER=rules replay order "$ROOT/ten.jsonl" '' col_softmax cuda 14
printf '0 5db3aea92109\n1 5f536d9b16d5\n2 4d2b3feac073\n3 bf5245ba8664\n3 7a5200e20ae1\n3 5aa16eb8d226\n' >"$ROOT/want"
tree | head -n 6 >"$ROOT/got"
cmp -s "$ROOT/want" "$ROOT/got"
ok $? "six versions of the search of ten steps" "$(diff "$ROOT/want" "$ROOT/got"; tail -n 3 "$ROOT/err")"
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone export --as flashinfer and --as huggingface: the fields that those suites read, and shims that compile. No header of theirs is
# here: tests/fixtures/imports/stubs declares what the shims name.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 77
fi
STUBS=$PWD/tests/fixtures/imports/stubs
OUT=$ROOT/out
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
cp -r tests/judge/packs/many_tensors "$WS/tasks/"

take() { # take REV FORM
    rm -rf "$OUT"
    "$HONE" export "$1" --as "$2" --workspace "$WS" -o "$OUT" >"$ROOT/said" 2>&1
}
cat >"$ROOT/solution.py" <<'END_PY'
import json, os, sys
[path] = [os.path.join(sys.argv[1], n) for n in os.listdir(sys.argv[1]) if n.endswith(".json")]
s = json.load(open(path))
assert set(s) == {"name", "definition", "author", "spec", "sources", "description"}, set(s)
spec = s["spec"]
assert spec["language"] in ("python", "triton", "cpp", "cuda", "tilelang") and spec["binding"] in ("tvm-ffi", "torch")
assert spec["target_hardware"] and spec["destination_passing_style"] is True and spec["dependencies"] == []
paths = [one["path"] for one in s["sources"]]
file, _, symbol = spec["entry_point"].partition("::")
assert file in paths and symbol == "run" and len(paths) == len(set(paths))
assert all(p[0] != "/" and ".." not in p.split("/") for p in paths)
for one in s["sources"]:
    with open(os.path.join(sys.argv[2], one["path"]), "w") as out:
        out.write(one["content"])
END_PY
cat >"$ROOT/trace.py" <<'END_PY'
import json, os, sys
[path] = [os.path.join(sys.argv[1], n) for n in os.listdir(sys.argv[1]) if n.endswith(".trace.jsonl")]
lines = [json.loads(line) for line in open(path)]
assert lines
for t in lines:
    assert set(t) == {"definition", "workload", "solution", "evaluation"}
    w, e = t["workload"], t["evaluation"]
    assert set(w) == {"axes", "inputs", "uuid"} and all(type(v) is int and v > 0 for v in w["axes"].values())
    assert all(i["type"] in ("random", "scalar") for i in w["inputs"].values())
    assert set(e) == {"status", "environment", "timestamp", "log", "correctness", "performance"} and e["status"] == "PASSED"
    assert e["environment"]["hardware"] and e["timestamp"][:2] == "20"
    assert min(e["correctness"][k] for k in ("max_relative_error", "max_absolute_error")) >= 0
    p = e["performance"]
    assert p["latency_ms"] > 0 and abs(p["speedup_factor"] * p["latency_ms"] / p["reference_latency_ms"] - 1) < 1e-6
END_PY

for task in matmul matmul_bf16 softmax spmv_csr attention_causal many_tensors; do
    rm -rf "$ROOT/sources"
    mkdir "$ROOT/sources"
    take $task flashinfer && python3 "$ROOT/solution.py" "$OUT" "$ROOT/sources" 2>"$ROOT/why" &&
        (cd "$ROOT/sources" && g++ -std=c++17 -Wall -Wno-unused-function -fsyntax-only -I"$STUBS" binding.cpp && gcc -std=gnu17 -fsyntax-only ./$task.c) 2>"$ROOT/why"
    ok $? "$task: a Solution whose sources compile" "$(cat "$ROOT/said" "$ROOT/why")"
    [ $task = spmv_csr ] && continue
    take $task huggingface && (cd "$OUT" && g++ -std=c++17 -Wall -Wno-unused-function -fsyntax-only -I"$STUBS" torch-ext/torch_binding.cpp &&
        gcc -std=gnu17 -fsyntax-only $task/$task.c) 2>"$ROOT/why" && [ -f "$OUT/flake.nix" ] && [ -f "$OUT/torch-ext/$task/__init__.py" ] &&
        for part in $(sed -n 's/^src = \[\(.*\)\]/\1/p' "$OUT/build.toml" | tr -d '",'); do [ -f "$OUT/$part" ] || exit 1; done
    ok $? "$task: a folder for kernel-builder that compiles" "$(cat "$ROOT/said" "$ROOT/why")"
done
take spmv_csr huggingface
[ $? != 0 ] && grep -q 'no tensor tells the size M' "$ROOT/said"
ok $? "an operator whose inputs do not tell its output's size is refused" "$(cat "$ROOT/said")"
take matmul huggingface
ls "$OUT/matmul" | grep -q test
[ $? != 0 ]
ok $? "no test of ours lies in a folder for another builder"

# The shim calls the kernel with the sizes that it read, and refuses those that disagree.
mkdir "$ROOT/run"
take matmul flashinfer && python3 "$ROOT/solution.py" "$OUT" "$ROOT/run"
cat >"$ROOT/run/main.cpp" <<'END_CPP'
#include "binding.cpp"
alignas(64) static float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4];
int main()
{
    const DLDataType f32 = {kDLFloat, 32};
    run({a, 2, {2, 3}, f32}, {b, 2, {3, 2}, f32}, {c, 2, {2, 2}, f32});
    if (c[0] != 4 || c[1] != 5 || c[2] != 10 || c[3] != 11)
        return 1;
    try {
        run({a, 2, {2, 3}, f32}, {b, 2, {2, 2}, f32}, {c, 2, {2, 2}, f32});
    } catch (const std::string &text) {
        return text.find("disagree") == std::string::npos;
    }
    return 1;
}
END_CPP
(cd "$ROOT/run" && gcc -std=gnu17 -O1 -fopenmp -c matmul.c && g++ -std=c++17 -I"$STUBS" -o main main.cpp matmul.o -fopenmp -lm && ./main) >"$ROOT/why" 2>&1
ok $? "the shim calls the kernel, and refuses sizes that disagree" "$(cat "$ROOT/why")"

# A version that was measured has a Trace.
sed 's/B\[/ B[/' workspace/packs/transpose/kernels/naive.c >"$ROOT/own.c"
"$HONE" call kernel_evaluate "{\"task\":\"transpose\",\"source\":$(json_text "$ROOT/own.c")}" --workspace "$WS" --quiet >"$ROOT/said" 2>&1
rev=$(json_get commit <"$ROOT/said")
if take "${rev:-none}" flashinfer; then
    python3 "$ROOT/trace.py" "$OUT" 2>"$ROOT/why"
    ok $? "a measured version has its Trace" "$(cat "$ROOT/why")"
else
    ok 1 "a measured version has its Trace" "$(cat "$ROOT/said")"
fi
finish

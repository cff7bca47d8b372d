#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports to PyTorch on a real GPU, with torch 2.x: operators of CPU and CUDA kernels pass their own tests, opcheck among them.
# Needs nvcc and a Python with torch; HONE_PYTHON names it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
PY=${HONE_PYTHON:-python3}
if ! "$PY" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || ! command -v nvcc >/dev/null; then
    echo "1..0 # SKIP no GPU, no nvcc or no torch with CUDA"
    exit 77
fi
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
for task in matmul softmax transpose rmsnorm sum spmv_csr; do
    "$HONE" export "$task" --as torch --workspace "$WS" -o "$ROOT/cpu-$task" >"$ROOT/said" 2>&1 &&
        (cd "$ROOT/cpu-$task" && "$PY" "test_${task}_torch.py") >"$ROOT/tried" 2>&1
    ok $? "$task for cpu: $(grep -c '^ok' "$ROOT/tried") checks" "$(cat "$ROOT/said" "$ROOT/tried")"
    printf '{"task":"%s","target":"cuda","source":%s}' $task "$(json_text "workspace/packs/$task/kernels/naive.cu")" >"$ROOT/args.json"
    "$HONE" call kernel_compile "@$ROOT/args.json" --workspace "$WS" --quiet >"$ROOT/built" 2>"$ROOT/said"
    "$HONE" export "$(json_get commit <"$ROOT/built")" --as torch --workspace "$WS" -o "$ROOT/cuda-$task" >>"$ROOT/said" 2>&1 &&
        (cd "$ROOT/cuda-$task" && "$PY" "test_${task}_torch.py") >"$ROOT/tried" 2>&1
    ok $? "$task for cuda: $(grep -c '^ok' "$ROOT/tried") checks" "$(cat "$ROOT/built" "$ROOT/said" "$ROOT/tried")"
done
cat >"$ROOT/cuda-softmax/compiled.py" <<'END_PY'
import torch
from softmax_torch import op
x = torch.rand(64, 1000, device="cuda")
whole = torch.compile(lambda t: op(t * 2) + 1, fullgraph=True)
assert torch.allclose(whole(x), torch.softmax(x * 2, 1) + 1, atol=1e-5)
END_PY
(cd "$ROOT/cuda-softmax" && "$PY" compiled.py) >"$ROOT/tried" 2>&1
ok $? "torch.compile takes the operator without a graph break" "$(cat "$ROOT/tried")"
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A CUDA task from PyTorch at a size for which the host's CPU is not asked: the plain kernel's sums in float32 drift there, and a
# kernel that is more accurate is held to the module in float64 on the device. Here the device is the emulator's, and the CPU
# stands for torch's (HONE_TORCH_DEVICE=cpu). Needs a Python with torch (make deps-torch).
# sanitizers: no; the module runs in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
needs_torch
needs_emulator
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" --no-packs >/dev/null 2>&1 || exit 1

cat >"$ROOT/product.py" <<'END_PY'
import torch
import torch.nn as nn
M = 2
K = 8192
N = 520
class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)
def get_inputs():
    return [torch.rand(M, K), torch.rand(K, N)]
def get_init_inputs():
    return []
END_PY
"$HONE" task import "$ROOT/product.py" --no-lint >"$ROOT/said" 2>&1
ok $? "a product is imported" "$(cat "$ROOT/said")"
pack=$WS/tasks/product
grep -q '"target":"cuda","axes":{"M":2,"K":8192,"N":520}' "$pack/workloads.jsonl"
ok $? "a public size has more than 4 Mi elements" "$(cat "$pack/workloads.jsonl")"

# Exact sums, and a plain kernel that drifts at that size as sums of far more terms do by themselves.
sed 's/float sum = 0/double sum = 0/; s/sum += A/sum += (double)A/' "$pack/kernels/naive.cu" >"$ROOT/exact.cu"
sed 's/C\[i \* N + j\] = sum/C[i * N + j] = K * N > 4194304 ? sum * 1.0003f : sum/' "$pack/kernels/naive.cu" >"$ROOT/naive.cu"
cmp -s "$pack/kernels/naive.cu" "$ROOT/naive.cu"
ok $((! $?)) "the plain kernel is made to drift"
mv "$ROOT/naive.cu" "$pack/kernels/naive.cu"
sed 's/= sum;/= K * N > 4194304 ? sum * 1.0001 : sum;/' "$ROOT/exact.cu" >"$ROOT/wrong.cu"
verify() { # verify FILE: verdict and reason
    printf '{"task":"product","target":"cuda","source":%s}' "$(json_text "$1")" >"$ROOT/arguments.json"
    "$HONE" call kernel_verify "@$ROOT/arguments.json" 2>"$ROOT/stderr" >"$ROOT/answer"
    echo "$(json_get verdict <"$ROOT/answer")/$(json_get reason <"$ROOT/answer")"
}
[ "$(verify "$ROOT/exact.cu")" = incorrect/wrong_value ]
ok $? "where torch has no device, exact sums are wrong by its word" "$(cat "$ROOT/answer" "$ROOT/stderr")"
export HONE_TORCH_DEVICE=cpu
echo "// again" >>"$ROOT/exact.cu"
[ "$(verify "$ROOT/exact.cu")" = correct/correct ]
ok $? "where it has one, they are right" "$(cat "$ROOT/answer" "$ROOT/stderr")"
[ "$(verify "$ROOT/wrong.cu")" = incorrect/wrong_value ]
ok $? "sums that are nearer than the plain kernel's, and not near enough, are wrong" "$(cat "$ROOT/answer" "$ROOT/stderr")"
sed -i 's/        return torch.matmul(a, b)/        if b.numel() > 4194304: raise ValueError("too much")\n&/' "$pack/oracle.py"
echo "// and again" >>"$ROOT/exact.cu"
[ "$(verify "$ROOT/exact.cu")" = incorrect/wrong_value ] && grep -q 'torch gave no answer for a large size (the module has no answer at this size' "$ROOT/answer"
ok $? "a module that fails there leaves the plain kernel's word, with a warning" "$(cat "$ROOT/answer" "$ROOT/stderr")"
finish

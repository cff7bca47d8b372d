#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone export --as torch and --as kernelbench: what is written runs in PyTorch, agrees with the reference, refuses what it was not
# made for; a wrong kernel is found. Needs a Python with torch (make deps-torch).
# sanitizers: no; the kernels run in Python.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
PY=
for p in ${HONE_PYTHON:-} python3 /usr/bin/python3; do
    [ -z "$PY" ] && "$p" -c 'import torch' 2>/dev/null && PY=$p
done
if [ -z "$PY" ]; then
    echo "1..0 # SKIP no Python with torch"
    exit 77
fi
"$HONE" init "$WS" >/dev/null 2>&1 || exit 1
cp -r tests/judge/packs/solve_lower tests/judge/packs/added_mask tests/judge/packs/pitched_scale "$WS/tasks/"
OUT=$ROOT/out

take() { # take REV FORM
    rm -rf "$OUT"
    "$HONE" export "$1" --as "$2" --workspace "$WS" -o "$OUT" >"$ROOT/said" 2>&1
}
try() { (cd "$OUT" && timeout 1200 "$PY" "$1") >"$ROOT/tried" 2>&1; } # try FILE

for task in matmul matmul_bf16 softmax spmv_csr attention_causal sum solve_lower added_mask; do
    take $task torch && grep -q '^test  *passed' "$ROOT/said" && try "test_${task}_torch.py"
    ok $? "$task: an operator that agrees with the reference and refuses other tensors" "$(cat "$ROOT/said" "$ROOT/tried")"
done
take matmul torch && sed -i 's/+=/-=/' "$OUT/matmul.c"
try test_matmul_torch.py
[ $? = 1 ] && grep -q '^not ok case' "$ROOT/tried"
ok $? "the test finds a wrong kernel" "$(cat "$ROOT/tried")"
take pitched_scale torch
[ $? != 0 ] && grep -q 'padded rows' "$ROOT/said" && [ ! -e "$OUT" ]
ok $? "padded rows are refused" "$(cat "$ROOT/said")"
take matmul kernelbench
[ $? != 0 ] && grep -q 'made of no PyTorch module' "$ROOT/said"
ok $? "kernelbench needs a module" "$(cat "$ROOT/said")"

# Sizes beyond those that were verified, sizes that disagree, and a program that uses the operator.
take matmul torch
cat >"$OUT/use.py" <<'END_PY'
import torch
from matmul_torch import kernel, op
a, b = torch.rand(17, 33), torch.rand(33, 5)
assert torch.allclose(torch.ops.hone_matmul.matmul(a, b), a @ b, atol=1e-4)
for wrong in ((a, a), (a[:, :0], b[:0])):
    try:
        op(*wrong)
        raise SystemExit("accepted")
    except ValueError as text:
        print(text)
END_PY
try use.py && grep -q 'K = 17, not 33' "$ROOT/tried" && grep -q 'outside of what was verified' "$ROOT/tried"
ok $? "sizes are checked" "$(cat "$ROOT/tried")"

# A function of one's own: names that are words of Python, a scalar, two outputs.
cat >"$ROOT/blur.c" <<'END_C'
double blur(int n, float *out, const float *in, float lambda)
{
    double total = 0;
    for (int i = 0; i < n; i++) {
        out[i] = lambda * in[i];
        total += out[i];
    }
    return total / n;
}
END_C
"$HONE" task new "$ROOT/blur.c" --shape 'in[n]' --shape 'out[n]' --size n=100000 --no-lint --workspace "$WS" >"$ROOT/said" 2>&1
take blur torch && try test_blur_torch.py
ok $? "a function of one's own, with names that Python keeps for itself" "$(cat "$ROOT/said" "$ROOT/tried")"

cat >"$ROOT/7_Layer.py" <<'END_PY'
import torch
import torch.nn as nn
batch_size = 64
in_features = 96
out_features = 32
class Model(nn.Module):
    def __init__(self, in_features, out_features, eps):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.LayerNorm(out_features, eps=eps)
    def forward(self, x):
        return torch.relu(self.norm(self.linear(x)))
def get_inputs():
    return [torch.rand(batch_size, in_features)]
def get_init_inputs():
    return [in_features, out_features, 1e-5]
END_PY
"$HONE" task import "$ROOT/7_Layer.py" --no-lint --workspace "$WS" >"$ROOT/said" 2>&1
take layer_7 torch && try test_layer_7_torch.py && grep -q '^ok case 1: 0 of' "$ROOT/tried"
ok $? "an imported module: the operator agrees with it in float64" "$(cat "$ROOT/said" "$ROOT/tried")"
take layer_7 kernelbench && try layer_7_model.py && grep -q '^ModelNew and Model agree' "$ROOT/tried"
ok $? "ModelNew has the state of Model and agrees with it" "$(cat "$ROOT/said" "$ROOT/tried")"
sed -i 's/> 0 ?/> 0.5f ?/; s/fmaxf(/fminf(/' "$OUT/layer_7_model.py"
try layer_7_model.py
[ $? = 1 ] && grep -q '^ModelNew and Model differ' "$ROOT/tried"
ok $? "a wrong ModelNew differs" "$(cat "$ROOT/tried"; grep -o 'out\[[^;]*;' "$OUT/layer_7_model.py" | head)"
"$HONE" call version_export '{"version":"layer_7","form":"kernelbench"}' --workspace "$WS" --quiet >"$ROOT/said" 2>&1 && grep -q 'class ModelNew(Model)' "$ROOT/said"
ok $? "the tool has the forms" "$(cut -c1-300 "$ROOT/said")"
finish

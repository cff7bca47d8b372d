#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone task import: a PyTorch module becomes a task that the lint admits; what is no function of its inputs is refused by name;
# hostile modules reach nothing. Needs a Python with torch (make deps-torch).
# sanitizers: no; the modules run in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
needs_torch
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" --no-packs >/dev/null 2>&1 || exit 1
mkdir "$ROOT/good" "$ROOT/bad"

module() { # module FILE: a file around the class that stands on stdin
    {
        printf 'import torch\nimport torch.nn as nn\n'
        cat
        printf 'rows = 512\ncolumns = 2048\ndef get_inputs():\n    return [torch.rand(rows, columns)]\n'
        printf 'def get_init_inputs():\n    return []\n'
    } >"$1"
}
refused() { # refused NAME TEXT [LIMIT]: the module NAME is refused with the text, and leaves nothing
    said=$(HONE_TORCH_SECONDS=${3:-120} "$HONE" task import "$ROOT/bad/$1.py" 2>&1)
    status=$?
    [ $status != 0 ] && echo "$said" | grep -q -- "$2" && [ -z "$(ls "$WS/tasks" 2>/dev/null)" ]
    ok $? "$1 is refused" "$said"
}

module "$ROOT/bad/random.py" <<'END_PY'
class Model(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)
END_PY
refused random "randomness in forward"
module "$ROOT/bad/patched.py" <<'END_PY'
torch.equal = lambda *tensors: True
class Model(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)
END_PY
refused patched "randomness in forward"
module "$ROOT/bad/dropout.py" <<'END_PY'
class Model(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5)
END_PY
refused dropout "dropout"
module "$ROOT/bad/hidden.py" <<'END_PY'
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.secret = torch.ones(1)
    def forward(self, x):
        return x * self.secret
END_PY
refused hidden "hidden tensor: self.secret"
module "$ROOT/bad/remembers.py" <<'END_PY'
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        return x * self.calls
END_PY
refused remembers "remembers earlier calls"
module "$ROOT/bad/endless.py" <<'END_PY'
class Model(nn.Module):
    def forward(self, x):
        while True:
            pass
END_PY
refused endless "within 8 s" 8
module "$ROOT/bad/huge.py" <<'END_PY'
class Model(nn.Module):
    def forward(self, x):
        return x + torch.ones(25000000000).sum()
END_PY
refused huge "allocate"
module "$ROOT/bad/reads.py" <<'END_PY'
secret = open('/etc/passwd').read()
class Model(nn.Module):
    def forward(self, x):
        return x
END_PY
refused reads "FileNotFoundError"
module "$ROOT/bad/calls_home.py" <<'END_PY'
import socket
socket.create_connection(('127.0.0.1', 80))
class Model(nn.Module):
    def forward(self, x):
        return x
END_PY
refused calls_home "PermissionError\|Operation not permitted\|gaierror\|OSError"
module "$ROOT/bad/pickled.py" <<END_PY
import io, os, pickle
class Bomb:
    def __reduce__(self):
        return (os.mkdir, ('$ROOT/reached',))
pickle.loads(pickle.dumps(Bomb()))
class Model(nn.Module):
    def forward(self, x):
        return x
END_PY
refused pickled "FileNotFoundError\|PermissionError\|OSError"
[ ! -e "$ROOT/reached" ]
ok $? "what a pickle does stays in the jail"
module "$ROOT/bad/unknown.py" <<'END_PY'
class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.svd(x)[0]
END_PY
refused unknown "no naive kernel"
printf 'x = 1\n' >"$ROOT/bad/empty.py"
refused empty "has no Model"

module "$ROOT/good/1_Scaled.py" <<'END_PY'
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(columns))
    def forward(self, x):
        return torch.softmax(x.to(torch.float32) * self.scale, dim=1)
END_PY
cp "$ROOT/bad/random.py" "$ROOT/good/2_Random.py"
said=$("$HONE" task import "$ROOT/good" 2>&1)
echo "$said" | grep -q '^imported *1_Scaled.py *scaled_1' && echo "$said" | grep -q '^refused *2_Random.py .*randomness' &&
    echo "$said" | grep -q '^1 of 2 imported'
ok $? "a folder gives a table" "$said"
[ -z "$(git -C "$WS" status --porcelain tasks)" ]
ok $? "and a commit"
said=$("$HONE" task import "$ROOT/good" --force --json 2>/dev/null)
echo "$said" | grep -q '"file":"1_Scaled.py","is_imported":true,"task":"scaled_1"' && echo "$said" | grep -q '"is_imported":false,"reason":"refused: randomness' &&
    echo "$said" | grep -q '"imported":1,"refused":1'
ok $? "and as JSON" "$said"
"$HONE" call task_import "{\"name\":\"by_text\",\"text\":$(json_text "$ROOT/good/1_Scaled.py")}" >"$ROOT/said" 2>&1 &&
    grep -q '"signature":"void by_text(const float \*' "$ROOT/said" && [ -f "$WS/tasks/by_text/oracle.py" ] && [ -z "$(git -C "$WS" status --porcelain tasks)" ]
ok $? "an agent imports by text" "$(cat "$ROOT/said")"
cp "$ROOT/good/1_Scaled.py" "$WS/3_Mine.py"
"$HONE" call task_import '{"file":"3_Mine.py"}' >"$ROOT/said" 2>&1 && [ -f "$WS/tasks/mine_3/oracle.py" ]
ok $? "and from a file of the workspace" "$(cat "$ROOT/said")"
rm "$WS/3_Mine.py"
"$HONE" call task_import "{\"name\":\"bad\",\"text\":$(json_text "$ROOT/bad/random.py")}" >"$ROOT/said" 2>&1
[ $? != 0 ] && grep -q 'randomness in forward' "$ROOT/said" && [ ! -e "$WS/tasks/bad" ]
ok $? "what is refused is said to an agent" "$(cat "$ROOT/said")"

said=$("$HONE" task lint scaled_1 2>&1)
ok $? "the lint admits it: the kernel agrees with the module in float64, and bad kernels do not" "$said"

# Losses, distances, sums over named dimensions, class numbers, parts of a tensor, unpacked sizes.
cat >"$ROOT/words.py" <<'END_PY'
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.far = nn.TripletMarginLoss(margin=2.0, reduction='none')
    def forward(self, x, y, target):
        n, width = x.shape
        first = torch.zeros_like(x.select(1, 0).unsqueeze(1))
        ahead = torch.cat((first, torch.cumsum(x.narrow(1, 0, x.size(1) - 1), dim=1)), dim=1)
        most = torch.max(torch.min(x, torch.tensor(0.5, device=x.device)), dim=1).values
        return (F.cross_entropy(x, target, reduction='none'), F.smooth_l1_loss(x, y, beta=0.5, reduction='none'),
                torch.einsum('ij,kj->ik', x, y), F.cosine_similarity(x, y) + most, ahead.view(n, width), self.far(x, y, x))
rows = 64
columns = 96
def get_inputs():
    return [torch.rand(rows, columns), torch.rand(rows, columns), torch.randint(0, columns, (rows,))]
def get_init_inputs():
    return []
END_PY
said=$("$HONE" task import "$ROOT/words.py" 2>&1)
echo "$said" | grep -q '^words: admitted' && grep -q '"role": *"index"' "$WS/tasks/words/task.json"
ok $? "losses, einsum, class numbers and parts of tensors have a kernel that agrees with torch" "$said"
sed -i 's/x.narrow/x.sparsely/' "$ROOT/words.py"
said=$("$HONE" task import "$ROOT/words.py" --force 2>&1)
[ $? != 0 ] && echo "$said" | grep -q "this torch (.*) does not run the module: .*sparsely"
ok $? "what this torch does not have is named at once" "$said"

# Layers of several operations, sizes that a module keeps as numbers, and more tensors of state than a task has.
cat >"$ROOT/layers.py" <<'END_PY'
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.turns = nn.LSTM(width, width, 2, batch_first=True, bidirectional=True)
        self.gates = nn.GRU(2 * width, width)
        self.heads = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.0, activation='gelu')
        self.norms = nn.Sequential(*[nn.LayerNorm(width) for _ in range(24)])
    def forward(self, x, start=None):
        if start is not None:
            x = x + start
        if x.shape[2] != self.width:
            raise ValueError('another width')
        x = self.gates(self.turns(x)[0])[0]
        a, b = self.norms(self.heads(x)).split(self.width // 2, dim=2)
        return F.normalize(F.pad(torch.cat((b, a), 2), (1, 1)), dim=2)
rows = 24
columns = 8
def get_inputs():
    return [torch.rand(2, rows, columns)]
def get_init_inputs():
    return [columns]
END_PY
said=$("$HONE" task import "$ROOT/layers.py" 2>&1)
echo "$said" | grep -q '^layers: admitted' && grep -q '"vectors"' "$WS/tasks/layers/task.json" && grep -q '"weights_[0-9]*"' "$WS/tasks/layers/task.json"
ok $? "recurrent layers, attention and joined state have a kernel that agrees with torch" "$said"
grep -A3 '"columns"' "$WS/tasks/layers/task.json" | grep -q '"const"'
ok $? "a size that the module keeps as a number does not vary" "$(cat "$WS/tasks/layers/task.json")"
for n in 1024 1025; do
    module "$ROOT/state.py" <<END_PY
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range($n)])
    def forward(self, x):
        return x * self.parts[0]
END_PY
    said=$("$HONE" task import "$ROOT/state.py" --no-lint --force 2>&1)
    status=$?
    { [ $n = 1024 ] && [ $status = 0 ]; } || { [ $n = 1025 ] && echo "$said" | grep -q "1025 tensors of state; at most 1024 are read"; }
    ok $? "$n tensors of state" "$said"
done

# Torch itself is timed beside a confirmation; a module that fails there loses that figure alone.
confirm='{"task":"scaled_1","commit":"baseline","tier":"confirm","budget_ms":300,"timeout_ms":120000,"fresh":true}'
"$HONE" call kernel_evaluate "$confirm" >"$ROOT/said" 2>&1
grep -q '"yardsticks":\[.*{"name":"torch-eager","ratio":[0-9.]*,"low":[0-9.]*,"high":[0-9.]*}' "$ROOT/said"
ok $? "a confirmation has torch as a yardstick" "$(cut -c1-2000 "$ROOT/said")"
cp "$WS/tasks/scaled_1/oracle.py" "$ROOT/kept.py"
sed -i 's/^    def forward(self, x):/    calls = 0\n&\n        Model.calls += 1\n        assert Model.calls < 3/' "$WS/tasks/scaled_1/oracle.py"
"$HONE" call kernel_evaluate "$confirm" >"$ROOT/said" 2>&1
! grep -q 'torch-eager"' "$ROOT/said" && grep -q 'nothing is said against torch-eager: the module failed' "$ROOT/said" &&
    grep -q '"verdict":"[a-z]*"' "$ROOT/said" && ! grep -q '"verdict":"in[fv]' "$ROOT/said"
ok $? "a module that fails when it is timed costs no verdict" "$(cut -c1-2000 "$ROOT/said")"
cp "$ROOT/kept.py" "$WS/tasks/scaled_1/oracle.py"

# The module's process goes on from one evaluation to the next.
worker_of() { # worker_of PID: the first Python among what this process started
    ps -e -o pid=,ppid=,args= | awk -v root="$1" '
        { parent[$1] = $2; if ($0 ~ /worker\.py serve/) is_worker[$1] = 1 }
        END { for (p in is_worker) { for (q = p; q in parent && q != root; q = parent[q]); if (q == root) print p } }' | sort -n | head -n 1
}
answered() { # answered N: that many answers have come
    for _ in $(seq 1200); do
        [ "$(wc -l <"$ROOT/answers")" -lt "$1" ] || return 0
        sleep 0.1
    done
    return 1
}
mkfifo "$ROOT/calls"
: >"$ROOT/answers"
"$HONE" call - --workspace "$WS" --quiet <"$ROOT/calls" >"$ROOT/answers" 2>/dev/null &
caller=$!
exec 8>"$ROOT/calls"
first='' second=''
look='kernel_evaluate {"task":"scaled_1","commit":"baseline","tier":"screen","fresh":true}'
echo "$look" >&8
answered 1 && first=$(worker_of $caller)
echo "$look" >&8
answered 2 && second=$(worker_of $caller)
exec 8>&-
wait $caller
[ -n "$first" ] && [ "$first" = "$second" ] && [ "$(grep -c '"is_error":false' "$ROOT/answers")" = 2 ]
ok $? "the module's process goes on from one evaluation to the next" "first $first, then $second: $(cut -c1-300 "$ROOT/answers")"

# What float32 errs by: torch's own pass, and moves of the inputs where that comes near to the output's size.
python=$("$HONE" doctor 2>/dev/null | sed -n 's/^ok *torch .*(\(.*\)).*/\1/p')
"$python" - tools/runner/torch >"$ROOT/gaps" 2>&1 <<'END_PY'
import sys, torch
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import worker
x = {"x": torch.linspace(1, 2, 64, dtype=torch.float64), "n": 3}
def gap(wide, seen, room=2e5):
    results = wide(x)
    return worker.gaps_of(torch, [r + seen for r in results], results, wide, x, room)[0]
place = 4 * 2.0 ** -23
line = gap(lambda v: [1e3 * v["x"] - 1e3 * x["x"] + 1], 1e-6)
assert 500 * place < line <= 2e3 * place * 1.01, line
assert gap(lambda v: [1e3 * v["x"] - 1e3 * x["x"] + 1e6], 1e-6) < 1.1e-6
assert gap(lambda v: [(v["x"] > x["x"]).double()], 1e-6) < 1.1e-6
assert gap(lambda v: [v["x"] / 0 * 0], 0) == 0
print("as they should be")
END_PY
grep -q 'as they should be' "$ROOT/gaps"
ok $? "the scale has what the inputs' last places make of the output, and nothing of a step" "$(cat "$ROOT/gaps")"

# A kernel and a module that differ are told apart; a module that fails is the task's fault, in words.
sed -i 's/torch.softmax(/torch.log_softmax(/' "$WS/tasks/scaled_1/oracle.py"
said=$("$HONE" task lint scaled_1 2>&1)
[ $? = 1 ] && echo "$said" | grep -q "kernel naive: is refused: wrong_value"
ok $? "another module refuses the kernel" "$said"
sed -i 's/torch.log_softmax(.*/undefined/' "$WS/tasks/scaled_1/oracle.py"
said=$("$HONE" task lint scaled_1 2>&1)
[ $? = 1 ] && echo "$said" | grep -q "failed in torch"
ok $? "a module that fails is named" "$said"
said=$(HONE_PYTHON=/bin/true "$HONE" task import "$ROOT/good/1_Scaled.py" --force 2>&1)
[ $? != 0 ] && echo "$said" | grep -q "finds no torch"
ok $? "without torch the import says what is missing" "$said"
finish

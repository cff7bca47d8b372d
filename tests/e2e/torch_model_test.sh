#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone model and hone task import --from-model: modules by their share of the time, one module as a task, its export swapped in;
# hostile models and exports reach nothing. Needs a Python with torch (make deps-torch).
# sanitizers: no; the modules run in Python, and its address space is limited.
set -u
cd "$(dirname "$0")/../.." || exit 1
HERE=$PWD
. tests/e2e/lib.sh
PY=
for p in ${HONE_PYTHON:-} python3 /usr/bin/python3; do
    [ -z "$PY" ] && "$p" -c 'import torch' 2>/dev/null && PY=$p
done
if [ -z "$PY" ]; then
    echo "1..0 # SKIP no Python with torch"
    exit 77
fi
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" --no-packs >/dev/null 2>&1 || exit 1
cd "$ROOT" || exit 1

cat >mlp.py <<'END_PY'
import torch
import torch.nn as nn

width = 96


def squash(x, eps):
    return x * torch.sigmoid(x + eps)


class Gate(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(size))
        self.eps = eps

    def forward(self, x):
        return squash(x * self.scale, self.eps)


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.gate = Gate(size)
        self.up = nn.Linear(size, size)

    def forward(self, x):
        return x + self.up(self.gate(self.norm(x)))


class Model(nn.Module):
    def __init__(self, size, depth):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(size) for _ in range(depth)])
        self.head = nn.Linear(size, 10)
        self.unused = nn.Linear(1, 1)

    def forward(self, x):
        return torch.softmax(self.head(self.blocks(x)), dim=-1)


def get_inputs():
    return [torch.randn(40, width)]


def get_init_inputs():
    return [width, 2]
END_PY

said=$("$HONE" model rank mlp.py 2>&1)
[ $? = 0 ] && echo "$said" | grep -q '^blocks.1.gate *Gate .*% .*x *1 .* ms *40x96' && echo "$said" | grep -q '^(the model) *Model .* 100.0% *1 ' &&
    ! echo "$said" | grep -q unused
ok $? "rank lists what forward calls" "$said"
"$HONE" model rank mlp.py --json 2>/dev/null >rank.json
"$PY" - <<'END_PY' >said 2>&1
import json
said = json.load(open("rank.json"))
rows = {row["path"]: row for row in said["rows"]}
assert len(rows) == 11 and said["left_out"] == 0 and said["forward_ns"] > 0, rows
assert abs(sum(row["own_share"] for row in said["rows"]) - 1) < 1e-6
for row in said["rows"]:
    assert row["share"] >= row["own_share"] - 1e-9 and row["calls"] == 1
    assert row["ceiling"] is None or abs(row["ceiling"] - 1 / (1 - row["share"])) < 1e-6
inside = sum(rows["blocks.0." + name]["share"] for name in ("norm", "gate", "up"))
assert abs(rows["blocks.0"]["share"] - rows["blocks.0"]["own_share"] - inside) < 1e-6
assert rows["blocks.0"]["is_leaf"] is False and rows["head"]["shapes"] == [[[40, 96]]]
END_PY
ok $? "shares add up, and a ceiling is 1 / (1 - share)" "$(cat said)"
{
    sed '/^class Model/,$d' mlp.py
    printf 'model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(256)])\ndef get_inputs():\n    return [torch.rand(2, 2)]\n'
} >many.py
"$HONE" model rank many.py --json 2>/dev/null >rank.json
[ "$(grep -o '"path"' rank.json | wc -l)" = 256 ] && grep -q '"left_out":1[,}]' rank.json
ok $? "an instance serves as well; 256 modules are told" "$(cut -c1-300 rank.json)"

take() { # take MODULE: a task of it, and its baseline as exports in MODULE-kb and MODULE-op
    "$HONE" task import mlp.py --from-model "$1" --name "$2" --no-lint >said 2>&1 &&
        "$HONE" export "$2" --as kernelbench --no-test -o "$2-kb" >>said 2>&1 && "$HONE" export "$2" --as torch --no-test -o "$2-op" >>said 2>&1
}
take blocks.0.gate gate && grep -q '^def squash' "$WS/tasks/gate/oracle.py" && ! grep -q '^class Block' "$WS/tasks/gate/oracle.py" &&
    grep -q '^size = 96' "$WS/tasks/gate/oracle.py" && grep -q 'Gate(size)' "$WS/tasks/gate/oracle.py" && grep -q '^x_d0 = 40' "$WS/tasks/gate/oracle.py"
ok $? "a module of one's own becomes a task, with what it rests on" "$(cat said)"
"$HONE" task import mlp.py --from-model blocks.1.norm --name norm --no-lint 2>&1 | grep -q "'norm' is a function of CUDA's headers"
ok $? "a name that nvcc's headers take is refused"
take blocks.1.norm rows && grep -q 'torch.nn.LayerNorm(normalized_shape)' "$WS/tasks/rows/oracle.py"
ok $? "and one of torch's" "$(cat said)"
"$HONE" task lint gate >said 2>&1
ok $? "the first of which the lint admits" "$(cat said)"
take blocks.1 block && [ "$(grep -c '^class' "$WS/tasks/block/oracle.py")" = 3 ]
ok $? "and one with modules inside" "$(cat said)"
for bad in nope '' unused; do
    said=$("$HONE" task import mlp.py --from-model "$bad" --name bad --no-lint 2>&1)
    [ $? = 2 ] && echo "$said" | grep -q "no module\|not at all" && [ ! -e "$WS/tasks/bad" ]
    ok $? "module '$bad' is refused" "$said"
done

compare() { # compare NAME STATUS TEXT ARGUMENTS...
    name=$1 want=$2 text=$3
    shift 3
    "$HONE" model check mlp.py "$@" >said 2>&1
    status=$?
    [ $status = "$want" ] && grep -q -- "$text" said
    ok $? "$name" "$status: $(cat said)"
}
compare "three modules are swapped, in both forms" 0 '^gain  *[0-9.]*x \[[0-9.]*, [0-9.]*\], [0-9]* rounds' \
    --swap blocks.0.gate=gate-kb --swap blocks.0.norm=rows-op --swap blocks.1=block-kb
"$HONE" model check mlp.py --swap blocks.1.gate=gate-op --json >said 2>&1
grep -q '"is_same":true' said && grep -q '"largest_relative":[0-9.e-]*' said && grep -q '"ratio":[0-9.]*,"low":[0-9.]*,"high":[0-9.]*' said
ok $? "JSON has the time, its interval and the difference" "$(cat said)"
compare "a tolerance that nobody meets refuses" 1 'differ by more than' --swap blocks.0.norm=rows-op --tolerance 0
compare "a module that is not there" 2 "no module 'blocks.7'" --swap blocks.7=gate-kb
compare "an export of another module" 2 'the swapped model: ' --swap head=gate-kb
compare "a folder without an export" 3 'holds no export' --swap head=ws
compare "an export for the CPU in a model on a GPU" 2 'is of a kernel for cpu, and the model runs on cuda' \
    --target cuda --swap blocks.0.gate=gate-kb
compare "a swap without a folder" 2 'no MODULE.PATH=DIR' --swap head

# Hostile exports.
twist() { # twist: the export of the gate, to be spoilt
    rm -rf bad
    cp -r gate-op bad
}
twist
sed -i 's/1 + expf/2 + expf/' bad/gate.c
compare "a wrong kernel is told" 1 'differ by more than' --swap blocks.0.gate=bad
twist
printf '\nclass Late(ExportedKernel):\n    calls = 0\n    def __call__(self, *a):\n        Late.calls += 1\n        return ExportedKernel.__call__(self, *a) * (2 if Late.calls > 20 else 1)\nkernel.__class__ = Late\n' >>bad/gate_torch.py
compare "one that answers wrongly later is told" 1 'differ by more than' --swap blocks.0.gate=bad
twist
sed -i 's/1 + expf(-x)/*(volatile float *)0/' bad/gate.c
compare "one that crashes is told" 2 'the swapped model: its process ended' --swap blocks.0.gate=bad
twist
printf "\nopen('/etc/passwd').read()\n" >>bad/gate_torch.py
compare "one that reads files finds none" 2 'FileNotFoundError' --swap blocks.0.gate=bad
twist
printf "\nopen('/work/module.py', 'w').write('')\n" >>bad/gate_torch.py
compare "one that writes cannot" 2 'OSError\|PermissionError' --swap blocks.0.gate=bad
twist
printf "\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'{\"is_same\":true,\"ratio\":9}\\\\n')\n    except OSError:\n        pass\n" >>bad/gate_torch.py
"$HONE" model check mlp.py --swap blocks.0.gate=bad --json >said 2>&1
[ $? != 0 ] && ! grep -q '"ratio"' said
ok $? "one that writes an answer of its own is not believed" "$(cat said)"
twist
printf "\ndef is_open(fd):\n    try:\n        return bool(os.fstat(fd))\n    except OSError:\n        return False\nraise ValueError('open: %%d' %% sum(map(is_open, range(3, 64))))\n" >>bad/gate_torch.py
compare "an export's process has its own two pipes alone" 2 'open: 2$' --swap blocks.0.gate=bad
twist
printf '\nimport torch\ntorch.isfinite = lambda x: x < 0\ntorch.Tensor.double = lambda x: x * 0\ntime_was = __import__("time")\ntime_was.perf_counter_ns = lambda: 0\n' >>bad/gate_torch.py
sed -i 's/1 + expf/2 + expf/' bad/gate.c
compare "one that patches torch and the clock changes no comparison" 1 'differ by more than' --swap blocks.0.gate=bad
twist
sed -i 's/"compile":"gcc /"compile":"\/bin\/sh -c /' bad/gate_torch.py
compare "one that is compiled by something else" 10 'not by gcc or clang' --swap blocks.0.gate=bad
twist
printf 'int x = ;\n' >>bad/gate.c
compare "one that does not compile" 10 'does not compile: .*kernel.c' --swap blocks.0.gate=bad

# Hostile models.
spoil() { # spoil TEXT: mlp.py with this as the first line of the model's forward
    sed "s|^        return torch.softmax.*|        $1\n&|" mlp.py >evil.py
}
refused() { # refused NAME TEXT [LIMIT]
    said=$(HONE_TORCH_SECONDS=${3:-120} "$HONE" model rank evil.py 2>&1)
    status=$?
    [ $status != 0 ] && [ $status -lt 64 ] && echo "$said" | grep -q -- "$2"
    ok $? "$1" "$status: $said"
}
spoil 'while True: pass'
refused "an endless forward is ended" 'within 8 s' 8
spoil 'open("/etc/passwd")'
refused "a model that reads files finds none" 'FileNotFoundError'
spoil 'open("/tmp/x", "w").write("x" * (1 << 28))'
refused "a model that fills the disk is ended" 'OSError\|within\|no answer' 8
spoil 'import socket; socket.create_connection(("127.0.0.1", 80))'
refused "a model that calls home cannot" 'PermissionError\|Operation not permitted\|OSError'
spoil 'x = torch.ones(25000000000).sum()'
refused "a model that takes all memory is refused" 'allocate'
printf 'x = 1\n' >evil.py
refused "a file without a model" 'no get_inputs'
cp "$HERE/tools/runner/torch/worker.py" "$HERE/tools/runner/torch/model.py" .
"$PY" - <<'END_PY' >said 2>&1
import os
import model
reader, writer = os.pipe()
model.send(writer, {}, [b"12345678", b""])
assert model.receive(reader, 8)[1] == [b"12345678", b""]
model.send(writer, {}, [b"12345678", b"9"])
try:
    model.receive(reader, 8)
    raise SystemExit("taken")
except model.Refused:
    pass
END_PY
ok $? "inputs and outputs have a limit" "$(cat said)"
finish

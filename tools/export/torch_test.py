# SPDX-License-Identifier: Apache-2.0
# Calls the operator on small inputs made by a fixed formula. Exit status 0: everything holds.
# CASES_TEXT stands above: sizes, and what the task's reference computed from the same inputs at export time; where the
# reference is a PyTorch module, that is run here.
import ast
import json
import math
import os
import sys

import torch

SPEC, CASES = kernel.spec, json.loads(CASES_TEXT)
DEVICE, MASK = SPEC["device"], (1 << 64) - 1
n_failed = 0


def say(is_good, text):
    global n_failed
    n_failed += not is_good
    print("%s %s" % ("ok" if is_good else "not ok", text))


def drawn(i, t):
    x = ((i + 1) * 0x9e3779b97f4a7c15 + t * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & MASK
    return x ^ x >> 31


def element(what, t, i, n, bound, row, depth):
    d, role, dtype = drawn(i, t), what["role"], what["dtype"]
    across, down = i % row, i // row % depth
    if role == "additive_mask":
        return 0.0 if d & 1 or across == down % row else -math.inf
    if role in ("triangular", "upper_triangular"):
        is_zero = across > down if role == "triangular" else across < down
        return 0.0 if is_zero else (d % 65 + 32) / 64 if across == down else (d % 257 - 128) / (128 * max(row, depth))
    if role == "index":
        return d % max(bound, 1)
    if role == "offsets":
        last = max(n - 1, 1)
        return int(float(i) * float(i) / last / last * bound)
    if role == "mask" or dtype == "bool":
        return d & 1
    if dtype == "uint8":
        return d % 256
    if dtype.startswith("uint"):
        return d % 17
    if dtype.startswith("int"):
        return d % 17 - 8
    if role in ("positive", "probability"):
        return (d % 128 + 1) / 64
    return (d % 257 - 128) / 64


def tensor(t, what, sizes):
    shape = [sizes[a] for a in what["shape"]]
    n, row = math.prod(shape), shape[-1] if shape else 1
    bound = sizes[what["bound"]] if "bound" in what else 1
    values = [element(what, t, i, n, bound, max(row, 1), shape[-2] if len(shape) > 1 else 1) for i in range(n)]
    made = torch.tensor(values, dtype=torch.float64).view(shape)
    if what["role"] == "probability":
        made = made / made.sum(-1, keepdim=True)
    return made.to(getattr(torch, what["dtype"])).to(DEVICE)


def arguments(sizes):
    given = [tensor(t, what, sizes) for t, what in enumerate(SPEC["inputs"].values())]
    return given + [what["value"] for what in SPEC["scalars"].values()] + [sizes[a] for a in kernel.free]


def reference(sizes, given, dtype):
    """What the module of reference.py says."""
    record = SPEC["record"]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py")) as file:
        tree = ast.parse(file.read())
    there = {name: sizes[here] for here, name in record["axes"].items()}
    for s in tree.body:
        name = getattr(s.targets[0], "id", None) if isinstance(s, ast.Assign) and len(s.targets) == 1 else None
        if name in there:
            s.value = ast.copy_location(ast.Constant(there[name]), s.value)
    names = {"__name__": "reference"}
    exec(compile(tree, "reference.py", "exec"), names)
    model = names["Model"](*names["get_init_inputs"]()).to(dtype).eval()
    values = dict(zip(list(SPEC["inputs"]) + list(SPEC["scalars"]), given))
    values = {k: v.cpu() if isinstance(v, torch.Tensor) else v for k, v in values.items()}
    given = {k: v.to(dtype) if isinstance(v, torch.Tensor) and v.is_floating_point() else v for k, v in values.items()}
    state = model.state_dict()
    for name, keys in record["state"].items():
        keys = [keys] if isinstance(keys, str) else keys
        for key, part in zip(keys, given[name].reshape(-1).split([state[k].numel() for k in keys])):
            state[key].copy_(part.view(state[key].shape))
    got = model(*[given[a["name"]] if "name" in a else sizes[a["axis"]] if "axis" in a else a["value"]
                  for a in record["arguments"]])
    return [part.double() for part in (got if isinstance(got, (tuple, list)) else [got])]


def check_case(number, case):
    given = arguments(case["sizes"])
    got = op(*given)
    got = [got] if isinstance(got, torch.Tensor) else list(got)
    n_wrong = n = 0
    if "record" in SPEC:
        narrow = reference(case["sizes"], given, torch.float32)
        for name, mine, theirs, near in zip(SPEC["outputs"], got, reference(case["sizes"], given, torch.float64), narrow):
            tolerance, mine, theirs = SPEC["tolerance"].get(name, {}), mine.cpu().double(), theirs.view(mine.shape)
            gap = (near - theirs.view(near.shape)).abs().max().item()  # what float32 errs by where sums cancel
            size = theirs.abs().clamp(min=max(theirs.pow(2).mean().sqrt().item(), 2e5 * gap))
            wrong = (mine - theirs).abs() > tolerance.get("atol", 0) + tolerance.get("rtol", 0) * size
            n, n_wrong = n + mine.numel(), n_wrong + int(wrong.sum())
    for (name, mine), expected in zip(zip(SPEC["outputs"], got), case["expected"]):
        mine = mine.reshape(-1).cpu()
        for i, value, limit in expected:
            n += 1
            if not abs(float(mine[i]) - value) <= limit:
                n_wrong += 1
                print("# %s[%d] = %.17g, expected %.17g" % (name, i, float(mine[i]), value))
    say(n_wrong == 0 and n > 0, "case %d: %d of %d elements are wrong" % (number, n_wrong, n))
    return given


def refuses(call, text):
    try:
        call()
    except (ValueError, RuntimeError, NotImplementedError) as wrong:
        say(True, "%s: %s" % (text, str(wrong).split("\n")[0]))
    else:
        say(False, text)


def check_refusals(given):
    first = given[0]
    other = torch.float64 if first.dtype != torch.float64 else torch.float32
    refuses(lambda: op(first.to(other), *given[1:]), "another dtype is refused")
    refuses(lambda: op(first.unsqueeze(0), *given[1:]), "another rank is refused")
    if first.dim() > 0 and first.numel() > 1:
        wide = torch.stack([first, first], -1)[..., 0]
        refuses(lambda: op(wide, *given[1:]), "what is not contiguous is refused")
        moved = torch.cat([first.reshape(-1)[:1], first.reshape(-1)])[1:].view(first.shape)
        refuses(lambda: op(moved, *given[1:]), "a view that begins in between is refused")
    if first.is_floating_point():
        asks = first.clone().requires_grad_()
        with torch.enable_grad():
            refuses(lambda: first_of(op(asks, *given[1:])).sum().backward(), "a gradient is refused")


def first_of(value):
    return value if isinstance(value, torch.Tensor) else value[0]


def check_fake(given):
    if hasattr(torch.library, "opcheck"):
        torch.library.opcheck(op, tuple(given))
        return say(True, "torch.library.opcheck")
    hidden = [g.to("meta") if isinstance(g, torch.Tensor) else g for g in given]
    made, real = first_of(kernel.fake(*hidden)), first_of(op(*given))
    say(made.shape == real.shape and made.dtype == real.dtype, "shapes without data (this torch has no opcheck)")


torch.set_grad_enabled(False)
every = [check_case(number, case) for number, case in enumerate(CASES)]
check_refusals(every[0])
check_fake(every[0])
sys.exit(n_failed != 0)

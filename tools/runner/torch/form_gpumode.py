# SPDX-License-Identifier: Apache-2.0
# gpu-mode's reference-kernels: task.yml with the sizes of tests and benchmarks, reference.py with generate_input(**sizes, seed) and
# ref_kernel(data). What of data the reference does not need (a buffer for the answer) is no input.
import ast
import re

import torch

from forms import Form, Refused, check_dtype, draw, dtype_of, fit, function, helpers, module, plain, run_text, stand_in, used

MOST_TESTS = 5


def rows_of(text):
    """The integers of `- {"size": 128, "seed": 1}`, tests and benchmarks alike."""
    rows = []
    for line in text.split("\n"):
        m = re.fullmatch(r"\s*-\s*\{(.*)\}\s*(#.*)?", line)
        pairs = re.findall(r"[\"']?(\w+)[\"']?\s*:\s*(-?\d+)\s*(?=,|$)", m.group(1)) if m else []
        if pairs and len(pairs) == m.group(1).count(":"):
            rows.append({k: int(v) for k, v in pairs})
    rows = [r for r in rows if set(r) == set(rows[0])]
    if not rows:
        raise Refused("task.yml has no tests whose arguments are integers")
    return sorted(rows, key=lambda r: sum(v for k, v in r.items() if k != "seed"))


class Quiet:
    """DeterministicContext and match functions of the suite's utils."""

    def __init__(self, *args, **more):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


def parts_of(data):
    parts = list(data) if isinstance(data, (tuple, list)) else [data]
    for p in parts:
        if not isinstance(p, (torch.Tensor, int, float)):
            raise Refused("generate_input gives a %s" % type(p).__name__)
    return parts


def names_of(tree, n):
    """Of the parts of data, as the reference takes them apart."""
    argument = tree.args.args[0].arg
    for s in ast.walk(tree):
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Name) and s.value.id == argument:
            target = s.targets[0]
            if isinstance(target, ast.Tuple) and len(target.elts) == n and all(isinstance(e, ast.Name) for e in target.elts):
                return ["unused%d" % i if e.id == "_" else e.id for i, e in enumerate(target.elts)]
    return [argument] if n == 1 else ["%s%d" % (argument, i) for i in range(n)]


def same(a, b):
    a, b = parts_of(a), parts_of(b)
    return len(a) == len(b) and all(x.shape == y.shape and torch.equal(torch.nan_to_num(x), torch.nan_to_num(y)) for x, y in zip(a, b))


def wide(parts):
    return [p.float() if isinstance(p, torch.Tensor) and p.is_floating_point() else p for p in parts]


def needed(kernel, parts, is_one):
    """Which parts the answer depends on: those that cannot be left out."""
    def call(given):
        given = [g.clone() if isinstance(g, torch.Tensor) else g for g in given]
        return kernel(given[0] if is_one else tuple(given))
    whole = call(wide(parts))
    kept = []
    for i, p in enumerate(parts):
        try:
            is_needed = not isinstance(p, torch.Tensor) or not same(call([None if i == k else q for k, q in enumerate(wide(parts))]), whole)
        except Exception:
            is_needed = True
        kept.append(is_needed)
    return kept, parts_of(whole)


def is_kept(own, parts, is_one, answers):
    """Does the rewritten reference give what the suite's own does, as far as that runs on the CPU?"""
    given = wide([p.clone() if isinstance(p, torch.Tensor) else p for p in parts])
    try:
        theirs = parts_of(own(given[0] if is_one else tuple(given)))
    except Exception:
        return True
    return all(a.shape == b.shape and torch.allclose(a.double(), b.double(), 1e-2, 1e-2, True) for a, b in zip(theirs, answers))


def output_types(names, parts, is_one, answers):
    """As the reference itself gives them; where the CPU cannot, as its first tensor."""
    try:
        given = [p.clone() if isinstance(p, torch.Tensor) else p for p in parts]
        return [dtype_of(t) for t in parts_of(names["ref_kernel"](given[0] if is_one else tuple(given)))]
    except Exception:
        first = next(dtype_of(p) for p in parts if isinstance(p, torch.Tensor))
        return [first if a.is_floating_point() else dtype_of(a) for a in answers]


def read(files):
    text = files["reference.py"]
    stand_in("utils", DeterministicContext=Quiet, make_match_reference=Quiet, match_reference=Quiet, verbose_allclose=Quiet,
             verbose_allequal=Quiet)
    stand_in("task", input_t=tuple, output_t=tuple, TestSpec=dict)
    tree = ast.parse(text)
    rows, names = rows_of(files["task.yml"]), run_text(text)
    reference = function(tree, "ref_kernel", "reference.py")
    if "generate_input" not in names:
        raise Refused("reference.py has no function generate_input")
    torch.manual_seed(1)
    made = [names["generate_input"](**row) for row in rows[:MOST_TESTS]]
    samples, is_one = [parts_of(d) for d in made], not isinstance(made[0], (tuple, list))
    if len({len(s) for s in samples}) != 1:
        raise Refused("generate_input gives another number of parts from test to test")
    sizes = [{k: v for k, v in row.items() if k != "seed"} for row in rows[:MOST_TESTS]]
    called = names_of(reference, len(samples[0]))
    body = plain(reference, called)
    scope = run_text("import torch\n" + "\n".join(helpers(tree, ("generate_input", "ref_kernel")) + [body]))
    kept, answers = needed(scope["ref_kernel"], samples[0], is_one)
    if not is_kept(names["ref_kernel"], samples[0], is_one, answers):
        raise Refused("the reference writes through another name of its argument, which is not traced")
    form, parameters, given, dims = Form(), [], [], {}
    for i, name in enumerate(called):
        if kept[i] and isinstance(samples[0][i], torch.Tensor):
            dims[name] = fit(name, [tuple(s[i].shape) for s in samples], sizes)
    form.axes = used([d for ds in dims.values() for d in ds], list(sizes[0]))
    for i, name in enumerate(called):
        part = samples[0][i]
        if not kept[i]:
            continue
        parameters.append(name)
        if name in dims:
            dtype = check_dtype(name, dtype_of(part))
            form.arguments.append({"name": name, "dtype": dtype, "role": {}})
            given.append(draw(dtype, dims[name]))
        elif len({s[i] for s in samples}) == 1:
            form.arguments.append({"name": name} if type(part) is float else {})
            given.append(repr(part))
        else:
            raise Refused("the number %s follows the test" % name)
    types = output_types(names, samples[0], is_one, answers)
    form.outputs = [("out" if len(types) == 1 else "out%d" % i, check_dtype("the output", t)) for i, t in enumerate(types)]
    lines = ["%s = %d" % (n, max(r[n] for r in rows)) for n in form.axes]
    words = [n if kept[i] else "None" for i, n in enumerate(called)]
    head = lines + helpers(tree, ("generate_input", "ref_kernel", "check_implementation")) + [body]
    call = "ref_kernel(%s)" % (words[0] if is_one else "(%s,)" % ", ".join(words))
    form.text = module(head, parameters, call, given)
    return form

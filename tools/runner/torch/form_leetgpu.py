# SPDX-License-Identifier: Apache-2.0
# LeetGPU: challenge.py with a class whose get_solve_signature names the C arguments and whose reference_impl writes the outputs in
# place. Shapes follow from the tests: each dimension is fitted to the integers of the signature.
import ast
import ctypes

import torch

from forms import Form, Refused, check_dtype, draw, dtype_of, fit, helpers, module, plain, run_text, stand_in, used

INTEGERS = (ctypes.c_int, ctypes.c_uint, ctypes.c_long, ctypes.c_size_t, ctypes.c_int64, ctypes.c_int32, ctypes.c_uint32)
FLOATS = (ctypes.c_float, ctypes.c_double)
MOST_TESTS = 24


class Base:
    def __init__(self, *args, **more):
        self.device = "cpu"


class Described:
    """RandTensor and the like: what a test says of a tensor in place of one."""

    def __init__(self, shape, *args, dtype=torch.float32, **more):
        kinds = [a for a in args if isinstance(a, torch.dtype)]
        self.shape, self.dtype = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,), kinds[0] if kinds else dtype


def tests_of(challenge):
    found, why = [], None
    for name in ("generate_performance_test", "generate_example_test", "generate_functional_test"):
        try:
            made = getattr(challenge, name)()
            found += made if isinstance(made, list) else [made]
        except Exception as wrong:
            why = wrong
    found = [t for t in found[:MOST_TESTS] if isinstance(t, dict)]
    if not found:
        raise Refused("no test can be made: %s: %s" % (type(why).__name__, str(why)[:200]))
    return found


def challenge_of(text):
    described = {n: Described for n in ("RandTensor", "RandnTensor", "RandIntTensor", "FullTensor", "OutTensor", "ZerosTensor", "OnesTensor")}
    stand_in("core.challenge_base", ChallengeBase=Base, **described)
    names = run_text(text)
    if "Challenge" not in names:
        raise Refused("challenge.py has no class Challenge")
    return names["Challenge"]()


def reference_of(tree):
    [cls] = [s for s in tree.body if isinstance(s, ast.ClassDef) and s.name == "Challenge"]
    found = [s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "reference_impl"]
    if not found:
        raise Refused("class Challenge has no reference_impl")
    found[0].args.args = [a for a in found[0].args.args if a.arg != "self"]
    return found[0]


def read(files):
    text = files["challenge.py"]
    tree = ast.parse(text)
    challenge = challenge_of(text)
    signature, tests = challenge.get_solve_signature(), tests_of(challenge)
    integers = [n for n, (kind, _) in signature.items() if kind in INTEGERS]
    tests = [t for t in tests if set(signature) <= set(t)]
    sizes = [{n: int(t[n]) for n in integers} for t in tests]
    tensors = [n for n, (kind, _) in signature.items() if kind not in INTEGERS + FLOATS]
    for n in tensors:
        if not tests or not all(hasattr(t[n], "shape") for t in tests):
            raise Refused("%s is no tensor in some test" % n)
    dims = {n: fit(n, [tuple(t[n].shape) for t in tests], sizes) for n in tensors}
    form, reference = Form(), reference_of(tree)
    form.axes = used([d for n in tensors for d in dims[n]], integers)
    outs = [n for n in tensors if signature[n][1] in ("out", "inout")]
    lines = ["%s = %d" % (n, max(s[n] for s in sizes)) for n in form.axes]
    parameters, given = [], []
    for name, (kind, way) in signature.items():
        if name in tensors:
            if way == "out":
                continue
            dtype = check_dtype(name, dtype_of(tests[0][name]))
            form.arguments.append({"name": name, "dtype": dtype, "role": {}})
            given.append(draw(dtype, dims[name]))
        elif name in form.axes:
            form.arguments.append({"axis": name})
            given.append(name)
        else:
            form.arguments.append({"name": name} if kind in FLOATS else {})
            given.append(repr(float(tests[0][name]) if kind in FLOATS else int(tests[0][name])))
        parameters.append(name)
    form.outputs = [(n + "_out" if signature[n][1] == "inout" else n, check_dtype(n, dtype_of(tests[0][n]))) for n in outs]
    reference.body.append(ast.Return(ast.parse("(%s,)" % ", ".join(outs), mode="eval").body))
    form.description = form.definition = str(getattr(challenge, "name", ""))[:200]
    head = lines + helpers(tree, ()) + [plain(reference, outs)]
    words = ["%s=%s" % (a.arg, a.arg if a.arg in parameters else "None") for a in reference.args.args]
    form.text = module(head, parameters, "reference_impl(%s)" % ", ".join(words), given)
    return form

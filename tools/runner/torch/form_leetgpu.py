# SPDX-License-Identifier: Apache-2.0
# LeetGPU: challenge.py with a class whose get_solve_signature names the C arguments and whose reference_impl writes the outputs in
# place. Shapes follow from the tests: each dimension is fitted to the integers of the signature.
import ast
import ctypes

import torch

from forms import PUT_PART, Form, Refused, check_dtype, draw, dtype_of, fit, helpers, module, plain, run_text, stand_in, used

INTEGERS = (ctypes.c_int, ctypes.c_uint, ctypes.c_long, ctypes.c_size_t, ctypes.c_int64, ctypes.c_int32, ctypes.c_uint32)
FLOATS = (ctypes.c_float, ctypes.c_double)
MOST_TESTS = 24


class Base:
    def __init__(self, *args, **more):
        self.device = "cpu"


class Described:
    """RandTensor and the like: what a test says of a tensor in place of one."""

    def __init__(self, shape, *args, dtype=None, **more):
        kinds = [a for a in args if isinstance(a, (torch.dtype, str))]
        numbers = [a for a in list(args) + [more.get(word) for word in ("low", "high", "value")] if type(a) in (int, float)]
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype, self.numbers = dtype or (kinds[0] if kinds else "float32"), numbers


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


def role_of(name, dtype, tests):
    """Integers are drawn below one more than the largest of the tests', where none is negative; of eight bits all."""
    if dtype in ("int8", "uint8"):
        return {"role": "bits"}
    values = [n for t in tests for n in (getattr(t[name], "numbers", None) or (
        [int(t[name].min()), int(t[name].max())] if isinstance(t[name], torch.Tensor) and t[name].numel() else []))]
    if dtype not in ("int16", "int32", "int64") or not values or min(values) < 0:
        return {}
    return {"role": "index", "below": int(max(values)) + 1}


def is_kept(challenge, text, test, outs):
    """Does the rewritten reference write what the suite's own does? Of a test with tensors of its own."""
    def written(function):
        given = {n: v.clone() if isinstance(v, torch.Tensor) else v for n, v in test.items()}
        return function(**given) or [given[n] for n in outs]
    try:
        theirs = written(challenge.reference_impl)
    except Exception:  # on the CPU it does not run as it is
        return True
    try:
        mine = written(run_text(text)["reference_impl"])
    except Exception:  # what does not run is told later
        return True
    return all(a.numel() == b.numel() and torch.allclose(a.double().reshape(-1), b.double().reshape(-1), 1e-4, 1e-4, True)
               for a, b in zip(theirs, mine))


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
    tensors = [n for n, (kind, _) in signature.items() if kind not in INTEGERS + FLOATS]
    for n in tensors:
        if not tests or not all(hasattr(t[n], "shape") for t in tests):
            raise Refused("%s is no tensor in some test" % n)
    # Some tests give a matrix flat: those count whose tensors have as many dimensions as the first test's.
    tests = [t for t in tests if all(len(t[n].shape) == len(tests[0][n].shape) for n in tensors)]
    sizes = [{n: int(t[n]) for n in integers} for t in tests]
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
            form.arguments.append({"name": name, "dtype": dtype, "role": role_of(name, dtype, tests)})
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
    singles = [n for n in outs if dims[n] == ["1"]]
    head = lines + helpers(tree, ()) + [plain(reference, outs, singles)]
    own = [t for t in tests if all(isinstance(t[n], torch.Tensor) for n in tensors)]
    alone = "import torch\n" + "\n".join([PUT_PART] + head)
    if own and not is_kept(challenge, alone, {n: v for n, v in own[-1].items() if n in signature}, outs):
        raise Refused("the reference writes through another name of its argument, which is not traced")
    empty = {n: "torch.zeros((%s), dtype=torch.%s)" % ("".join(d + ", " for d in dims[n]), dtype_of(tests[0][n])) for n in outs}
    words = ["%s=%s" % (a.arg, a.arg if a.arg in parameters else empty.get(a.arg, "None")) for a in reference.args.args]
    form.text = module(head, parameters, "reference_impl(%s)" % ", ".join(words), given)
    return form

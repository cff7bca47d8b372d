# SPDX-License-Identifier: Apache-2.0
# Problems of other suites as a module in KernelBench's form: what their importers share. A problem comes as one JSON
# object, {"form": name, "files": {name: text}}, that the program outside collected. Each form has a file of its own
# with read(files) -> Form; from there on describe.py treats it as any module.
import ast
import json
import re

from worker import NARROW, Refused

BUNDLE = '{"form":'
MOST_LINES = 256  # workloads that are looked at
DTYPES = "float16 bfloat16 float32 float64 int8 int32 int64 bool uint8 int16".split()


MAKERS = ["torch." + n for n in ("tensor", "zeros", "ones", "empty", "full", "arange", "eye")]


class Form:
    """A module's text and what the suite says of it beyond the text."""

    def __init__(self):
        self.text = ""
        self.axes = []  # names of the module-level integers that may vary
        self.constraints = []  # expressions over such integers that must be true
        self.arguments = []  # [{"name", "dtype", "role"} or {"axis"}] of forward, in order
        self.outputs = []  # [(name, dtype)]
        self.stored = []  # [{"input", "file", "key"}]: what the suite keeps in files
        self.description = self.definition = ""  # definition: its name in the suite
        self.has_loops = False  # over sizes or contents: the kernel is written by naive_loops.py


def index_of(node):
    """An index as a value: slices are written out."""
    if isinstance(node, ast.Tuple):
        return ast.Tuple([index_of(e) for e in node.elts], ast.Load())
    if isinstance(node, ast.Slice):
        return ast.Call(ast.Name("slice", ast.Load()), [e or ast.Constant(None) for e in (node.lower, node.upper, node.step)], [])
    return node


PUT_PART = """
def put_part(whole, index, value):
    whole = whole.clone()
    whole[index] = value
    return whole
"""


class Plain(ast.NodeTransformer):
    """A reference function as torch.fx can trace it: no checks, no notes, float32 in place of narrower casts, and what is
    written into an output as a whole as a new value of its name. keeps_parts: what is written into a part stays so."""

    def __init__(self, outputs=(), singles=(), keeps_parts=False):
        self.outputs, self.singles, self.parts, self.keeps_parts = set(outputs), set(singles), 0, keeps_parts

    def visit_FunctionDef(self, node):
        node.decorator_list, node.returns = [], None
        for a in node.args.args + node.args.kwonlyargs:
            a.annotation = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_Assert(self, node):
        return None

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return None
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call):
            name = self.written(call.func.value) if isinstance(call.func, ast.Attribute) else None
            if name and call.func.attr == "copy_" and len(call.args) == 1:
                return self.assign(name, call.args[0])
            if name and call.func.attr == "zero_" and not call.args:
                return self.assign(name, ast.parse("%s * 0" % name, mode="eval").body)
            for k in call.keywords:
                if k.arg == "out" and self.written(k.value):
                    call.keywords.remove(k)
                    return self.assign(self.written(k.value), call)
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)) and not isinstance(node.value, (ast.Tuple, ast.List)) and not any(
                isinstance(e, ast.Starred) for e in target.elts):
            self.parts += 1  # a traced value cannot be iterated
            whole = "parts_%d" % self.parts
            return [self.assign(whole, node.value)] + [
                ast.Assign(targets=[e], value=ast.parse("%s[%d]" % (whole, i), mode="eval").body, lineno=1)
                for i, e in enumerate(target.elts)]
        if len(node.targets) == 1 and isinstance(target, ast.Subscript) and self.written(target):
            return self.assign(self.written(target), node.value)
        if ast.unparse(target) in ["%s[0]" % name for name in self.singles]:
            return self.assign(target.value.id, ast.parse("(%s).reshape(1)" % ast.unparse(node.value), mode="eval").body)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and len(node.targets) == 1 and not self.keeps_parts:
            return self.assign(target.value.id, ast.Call(ast.Name("put_part", ast.Load()), [
                ast.Name(target.value.id, ast.Load()), index_of(target.slice), node.value], []))
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node) if node.value else None

    def visit_With(self, node):
        self.generic_visit(node)
        words = [ast.unparse(i.context_expr) for i in node.items]
        return node.body if all(re.match(r"(\w*Context|torch\.(no_grad|inference_mode))\(", w) for w in words) else node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in NARROW:
            node.attr = "float32"
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if ast.unparse(node.func) in MAKERS:  # they take no traced type or device
            node.keywords = [k for k in node.keywords if k.arg != "device" and not (
                k.arg == "dtype" and isinstance(k.value, ast.Attribute) and k.value.attr == "dtype")]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("half", "bfloat16") and not node.args:
            node.func.attr = "float"
        if ast.unparse(node.func) == "math.sqrt" and len(node.args) == 1:
            return ast.BinOp(node.args[0], ast.Pow(), ast.Constant(0.5))
        return node

    def written(self, node):
        """The output that is written as a whole: out, out[:], out[...], out.view(...)."""
        if isinstance(node, ast.Name):
            return node.id if node.id in self.outputs else None
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if all(ast.unparse(p) in (":", "...", "Ellipsis") for p in parts):
                return self.written(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "view":
            return self.written(node.func.value)
        return None

    @staticmethod
    def assign(name, value):
        return ast.Assign(targets=[ast.Name(name, ast.Store())], value=value, lineno=1)


def plain(node, outputs=(), singles=(), keeps_parts=False):
    """singles: outputs of one element, which is written by its number."""
    return ast.unparse(ast.fix_missing_locations(Plain(outputs, singles, keeps_parts).visit(node)))


def has_loops(node):
    """Over more than numbers that stand there: torch.fx does not trace these."""
    return any(isinstance(s, ast.For) and not (isinstance(s.iter, ast.Call) and all(isinstance(a, ast.Constant) for a in s.iter.args))
               for s in ast.walk(node))


def helpers(tree, but):
    """The imports, constants and functions of a file that a reference may use."""
    kept = []
    for s in tree.body:
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            from_where = getattr(s, "module", None) or s.names[0].name
            if from_where.split(".")[0] in ("torch", "math", "typing", "ctypes", "functools"):
                kept.append(ast.unparse(s))
        elif isinstance(s, ast.FunctionDef) and s.name not in but:
            kept.append(plain(s))
        elif isinstance(s, ast.Assign) and not any(isinstance(n, ast.Call) for n in ast.walk(s.value)):
            kept.append(ast.unparse(s))
    return kept


def function(tree, name, where):
    found = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name]
    if not found:
        raise Refused("%s has no function %s" % (where, name))
    return found[-1]


def draw(dtype, shape, role=()):
    """Python that makes an argument; what is drawn here only shows shapes. Offsets are those of rows of one length, rounded up, so
    that the first row is not empty."""
    size = "(%s)" % "".join("%s, " % s for s in shape)
    if "below" in role:
        values = "-(-(torch.arange(%s) * %s) // (%s - 1))" % (shape[0], role["below"], shape[0]) if role["role"] == "offsets" else (
            "torch.ones(%s)" % size if role["below"] != 1 else "torch.zeros(%s)" % size)
        return "(%s).to(torch.%s)" % (values, dtype)
    if dtype == "bool":
        return "torch.rand(%s) > 0.5" % size
    if dtype.startswith(("int", "uint")):
        return "torch.zeros(%s, dtype=torch.%s)" % (size, dtype)
    return "torch.randn(%s%s)" % (size, ", dtype=torch.float64" if dtype == "float64" else "")


MODULE = """
class Model(torch.nn.Module):
    def forward(self%s):
        return %s

def get_inputs():
    return [%s]

def get_init_inputs():
    return []
"""


def module(head, parameters, result, given):
    head = ["import torch"] + ([PUT_PART] if any("put_part(" in line for line in head) else []) + head
    return "%s\n%s" % ("\n".join(head), MODULE % ("".join(", " + p for p in parameters), result, ", ".join(given)))


def check_dtype(name, dtype):
    if dtype not in DTYPES:
        raise Refused("%s is %s, a type that tasks do not have" % (name, dtype))
    return dtype


def json_of(files, name):
    try:
        return json.loads(files[name])
    except ValueError as why:
        raise Refused("%s is no JSON: %s" % (name, why))


def read(bundle):
    import importlib
    return importlib.import_module("form_" + bundle["form"]).read(bundle["files"])


def dtype_of(tensor):
    return str(tensor.dtype).split(".")[-1]


def formulas(values, sizes):
    """What a dimension may be of the named sizes, the likeliest first."""
    names = sorted(sizes)
    yield from names
    if set(values) == {1}:
        yield "1"
    for i, a in enumerate(names):
        for b in names[i:]:
            yield "%s*%s" % (a, b)
    for i, a in enumerate(names):
        for j, b in enumerate(names[i:], i):
            for c in names[j:]:
                yield "%s*%s*%s" % (a, b, c)
    for a in names:
        for b in names:
            if a != b:
                yield "%s - %s + 1" % (a, b)
                yield "%s // %s" % (a, b)
    for i, a in enumerate(names):
        for b in names[i:]:
            for k in (2, 3, 4):
                yield "%s*%s*%d" % (a, b, k)
    for a in names:
        for k in range(2, 9):
            yield "%s*%d" % (a, k)
            yield "%s // %d" % (a, k)
        for k in range(1, 5):
            yield "%s + %d" % (a, k)
            yield "%s - %d" % (a, k)
    yield str(values[0])


def holds(formula, sizes, value):
    try:
        return eval(formula, {}, dict(sizes)) == value
    except ZeroDivisionError:
        return False


def fit(name, shapes, sizes):
    """The formulas of a tensor's dimensions over the named sizes: shapes[i] belongs to sizes[i]."""
    if len({len(s) for s in shapes}) != 1:
        raise Refused("%s has another number of dimensions from test to test" % name)
    dims = []
    for d in range(len(shapes[0])):
        values = [s[d] for s in shapes]
        fitting = [f for f in formulas(values, sizes[0]) if all(holds(f, s, v) for s, v in zip(sizes, values))]
        if not fitting:
            raise Refused("the size of dimension %d of %s follows from no argument" % (d, name))
        dims.append(fitting[0])
    return dims


def used(dims, names):
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(dims)))
    return [n for n in names if n in words]


def run_text(text, extra=None):
    """The names of a file that was executed with the CPU in place of devices."""
    from worker import Rewrite
    names = {"__name__": "hone_problem"}
    names.update(extra or {})
    exec(compile(ast.fix_missing_locations(Rewrite({}, False).visit(ast.parse(text))), "problem.py", "exec"), names)
    return names


def stand_in(name, **members):
    """A module of the suite that its files import."""
    import sys
    import types
    for i in range(len(name.split("."))):
        part = ".".join(name.split(".")[:i + 1])
        sys.modules.setdefault(part, types.ModuleType(part))
    for key, value in members.items():
        setattr(sys.modules[name], key, value)

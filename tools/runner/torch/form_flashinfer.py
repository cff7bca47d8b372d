# SPDX-License-Identifier: Apache-2.0
# FlashInfer-Bench and SOL-ExecBench: a definition (axes, tensors, `reference` with a Python function run) and workloads.
import ast
import json
import math
import re

from forms import MOST_LINES, Form, Refused, check_dtype, draw, function, has_loops, helpers, json_of, module, plain

# What a tensor's name says of its values, in the suites' own sampling; first match.
ROLES = (
    (r"(^|_)(rstd|inv_rms|inv_std|var|variance)($|_)", {"role": "positive"}),
    (r"(^|_)(probs?|probabilit\w+|attn_weights|routing_weights|topk_weights)($|_)", {"role": "probability"}),
    (r"(^|_)scales?($|_)", {"role": "positive"}),
    (r"(^|_)(weight|w[0-9qkvo]?|proj)($|_)", {"role": "weight"}),
)
# What a constraint says of an integer input's values: the role, and the group that names the size which bounds them.
CONTENTS = (
    (r"(?P<size>\w+)\s*==\s*(?P<name>\w+)\[-1\](\.item\(\))?", "offsets"),
    (r"(?P<name>\w+)\[-1\](\.item\(\))?\s*==\s*(?P<size>\w+)", "offsets"),
    (r"(?P<name>\w+)\.max\(\)(\.item\(\))?\s*<\s*(?P<size>\w+)", "index"),
    (r"max\((?P<name>\w+)\)\s*<\s*(?P<size>\w+)", "index"),
)
# What a name or a description says of them: the first group, or the size named here, and how much more is the first illegal value.
BELOW = (
    (r"last_page_len|valid tokens in the last page", "page_size", 1),
    (r"(?:<|below|less than)\s*`?([A-Za-z_]\w*)`?", None, 0),
)
MOST_FIXED = 200 << 20  # elements
WITHOUT_FILE, ROWS_WITHOUT_FILE = 1024, 16  # a var axis of a definition that comes without workloads; of offsets


def workloads_of(text):
    rows = []
    for line in text.split("\n")[:MOST_LINES]:
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as why:
                raise Refused("a line of the workloads is no JSON: %s" % why)
            row = row.get("workload") or row if isinstance(row, dict) else {}
            if not isinstance(row.get("axes"), dict) or not all(type(v) is int and v >= 0 for v in row["axes"].values()):
                raise Refused("a workload whose axes are no sizes")
            if all(row["axes"].values()):  # a task has no empty tensors
                rows.append(row)
    return rows


def name_of(name):
    if not re.fullmatch(r"[A-Za-z_]\w{0,62}", name):
        raise Refused("'%s' is no name of an axis or a tensor" % name[:60])
    return name


def of_sizes(c, definition):
    """The constraint over axes alone, or None: TENSOR.shape[k] is what the definition says of it."""
    def size(m):
        shape = ((definition["inputs"].get(m.group(1)) or definition["outputs"].get(m.group(1)) or {}).get("shape")) or []
        k = int(m.group(2))
        return str(shape[k]) if -len(shape) <= k < len(shape) else m.group(0)
    c = re.sub(r"(\w+)\.shape\[(-?\d+)\]", size, c)
    words = set(re.findall(r"[A-Za-z_]\w*", c))
    return c if words <= set(definition["axes"]) and re.fullmatch(r"[\w\s+*/%()<>=!-]{1,200}", c) else None


def of_contents(c, definition):
    """(input, its role) where the constraint is about an integer input's values; ("", None) where the role says it already."""
    for pattern, role in CONTENTS:
        m = re.fullmatch(pattern, c.strip())
        if not m:
            continue
        name, size = m.group("name"), m.group("size")
        tensor = definition["inputs"].get(name) or {}
        if size not in definition["axes"] or not str(tensor.get("dtype", "")).startswith("int") or not tensor.get("shape"):
            raise Refused("a constraint over contents that names no integer input and no size: %s" % c[:100])
        if role == "offsets" and len(tensor["shape"]) != 1:
            raise Refused("offsets of %d dimensions: %s" % (len(tensor["shape"]), c[:100]))
        return name, {"role": role, "below": size}
    return ("", None) if re.fullmatch(r"\w+\[0\](\.item\(\))?\s*==\s*0", c.strip()) else None


def constraints_of(definition):
    """({axis: formula}, what else must hold between axes that vary, {input: role})"""
    axes, tied, others, roles = definition["axes"], {}, [], {}
    for c in definition.get("constraints") or []:
        text = of_sizes(c, definition)
        told = of_contents(c, definition) if text is None else None
        if told is not None:
            if roles.setdefault(told[0], told[1]) != told[1]:
                raise Refused("two constraints say what %s holds: %s" % (told[0], c[:100]))
            continue
        if text is None:
            raise Refused("a constraint that no role and no formula over sizes says: %s" % c[:100])
        m = re.fullmatch(r"\s*(\w+)\s*==\s*([\w\s+*/()-]+)", text)
        if m and m.group(1) == m.group(2).strip():
            continue
        known = {n: a["value"] for n, a in axes.items() if a.get("type") == "const"}
        if set(re.findall(r"[A-Za-z_]\w*", text)) <= set(known):
            if not eval(text, {"__builtins__": {}}, known):
                raise Refused("a constraint that does not hold: %s" % c[:100])
        elif m and axes[m.group(1)].get("type") == "var":
            tied[m.group(1)] = m.group(2)
        else:
            others.append(text.strip())
    roles.pop("", None)
    for name, told in roles.items():  # one offset alone cannot be both 0 and a size
        length = definition["inputs"][name]["shape"][0]
        if told["role"] == "offsets" and length in axes and axes[length].get("type") == "var" and length not in tied:
            others.append("%s > 1" % length)
    return tied, list(dict.fromkeys(others)), roles


def below(name, tensor, definition):
    """The role of an integer input by what its name and its description say, or {}."""
    for pattern, size, more in BELOW:
        m = re.search(pattern, "%s %s" % (name, tensor.get("description") or ""), re.I)
        axis = definition["axes"].get(size or (m.group(1) if m else None))
        if m and axis and axis.get("type") == "const":
            return {"role": "index", "below": axis["value"] + more}
        if m and axis and not more:
            return {"role": "index", "below": size or m.group(1)}
    return {}


def sizes_of(lines, var, axes, constraints):
    """Every axis of a workload, by the lines that give them their values; what it says itself must agree with them."""
    sizes = {}
    for line in lines:
        name, _, value = line.partition(" = ")
        sizes[name] = axes[name] if name in axes and name in var else eval(value, {"__builtins__": {}}, sizes)
        if axes.get(name, sizes[name]) != sizes[name]:
            raise Refused("a workload says %s = %d, by the definition it is %d" % (name, axes[name], sizes[name]))
    wrong = [c for c in constraints if not eval(c, {"__builtins__": {}}, sizes)]
    if wrong:
        raise Refused("a workload breaks the constraint %s" % wrong[0][:100])
    return sizes


def axes_of(definition, rows, tied, roles):
    """(var names, lines that give every axis its value, in an order in which they can be executed)"""
    var, lines = [], []
    lengths = {definition["inputs"][n]["shape"][0] for n, told in roles.items() if told["role"] == "offsets"}
    of_rows = lengths | {w for length in lengths for w in re.findall(r"[A-Za-z_]\w*", tied.get(length, ""))}
    for name, axis in definition["axes"].items():
        name_of(name)
        kind = axis.get("type")
        expression = axis.get("expression") if kind == "expr" else tied.get(name)
        if kind == "const" and type(axis.get("value")) is int and axis["value"] > 0:
            lines.insert(0, "%s = %d" % (name, axis["value"]))
        elif expression:
            if not re.fullmatch(r"[\w\s+*/()%-]+", expression):
                raise Refused("the size %s = %s" % (name, expression[:80]))
            lines.append("%s = (%s) + 0" % (name, expression))
        elif kind == "var":
            var.append(name)
            lines.insert(0, "%s = %d" % (name, max([r["axes"].get(name, 1) for r in rows] or [
                ROWS_WITHOUT_FILE if name in of_rows else WITHOUT_FILE])))
        else:
            raise Refused("the axis %s is of type %s" % (name, kind))
    return var, lines


def scalar_of(name, tensor, rows, axes):
    """By a workload, else by 1/sqrt of known sizes, where its description says so."""
    for row in rows:
        value = (row.get("inputs") or {}).get(name, {}).get("value")
        if type(value) in (int, float, bool):
            return float(value) if tensor["dtype"].startswith(("float", "bfloat")) else int(value)
    known = {n: a["value"] for n, a in axes.items() if a.get("type") == "const"}
    for of in re.findall(r"1(?:\.0)?/sqrt\(([\w\s+*]{1,80})\)", str(tensor.get("description"))):
        if set(re.findall(r"[A-Za-z_]\w*", of)) <= set(known):
            return eval(of, {"__builtins__": {}}, known) ** -0.5
    raise Refused("the scalar %s has no value in any workload, and its description no 1/sqrt of sizes" % name)


def role_of(name, dtype):
    if dtype.startswith(("float", "bfloat")):
        for pattern, role in ROLES:
            if re.search(pattern, name.lower()):
                return role
    return {}


def stored_of(name, shape, dtype, rows, sizes):
    """Which files hold an input: of integers those of every workload, as each is checked; of others the first, which is kept."""
    found = []
    for row, known in zip(rows, sizes):
        source = (row.get("inputs") or {}).get(name) or {}
        if source.get("type") == "safetensors":
            found.append({"input": name, "file": str(source.get("path")), "key": str(source.get("tensor_key") or name),
                          "shape": [int(s) if s.isdigit() else known[s] for s in shape], "sizes": known, "goes_along": not found})
    return found if dtype.startswith("int") else found[:1]


def defaults_of(run):
    """The arguments that may be left out, for None."""
    names, values = [a.arg for a in run.args.args], run.args.defaults
    return {n for n, v in zip(names[len(names) - len(values):], values) if isinstance(v, ast.Constant) and v.value is None}


def check_fixed(definition):
    """The inputs of which no size varies; torch needs some five times their bytes to try a module."""
    known, total = {n: a["value"] for n, a in definition["axes"].items() if a.get("type") == "const"}, 0
    for tensor in definition["inputs"].values():
        dims = tensor.get("shape") or []
        if all(d in known for d in dims):
            total += math.prod(known[d] for d in dims)
    if total > MOST_FIXED:
        raise Refused("inputs of fixed sizes with %d elements, at most %d are tried" % (total, MOST_FIXED))


def read(files):
    definition = json_of(files, "definition.json")
    if not all(isinstance(definition.get(k), t) for k, t in (("axes", dict), ("inputs", dict), ("outputs", dict),
                                                            ("reference", str))):
        raise Refused("a definition has axes, inputs, outputs and reference")
    if definition.get("custom_inputs_entrypoint"):
        raise Refused("custom_inputs_entrypoint: inputs that a function draws are not judged with hidden content")
    random = re.search(r"torch\.(multinomial|bernoulli|rand\w*|normal)\(", definition["reference"])
    if random:
        raise Refused("randomness in the reference: %s" % random.group(0).strip("("))
    check_fixed(definition)
    rows = workloads_of(files.get("workloads.jsonl", ""))
    form, given, parameters = Form(), [], []
    tied, form.constraints, roles = constraints_of(definition)
    form.axes, lines = axes_of(definition, rows, tied, roles)
    sizes = [sizes_of(lines, form.axes, row["axes"], form.constraints) for row in rows]
    try:
        tree = ast.parse(definition["reference"])
    except SyntaxError as why:
        raise Refused("the reference is not Python that this interpreter reads: %s" % why)
    run = function(tree, "run", "the reference")
    form.has_loops = has_loops(run)
    free = defaults_of(run)
    for name, tensor in definition["inputs"].items():
        name_of(name)
        if tensor.get("optional") and name in free:
            continue
        dtype = check_dtype(name, tensor["dtype"])
        if tensor["shape"] is None:
            parameters.append(name)
            form.arguments.append({"name": name, "dtype": dtype, "role": {}})
            given.append(repr(scalar_of(name, tensor, rows, definition["axes"])))
            continue
        parameters.append(name)
        shape = [str(int(s)) if str(s).isdigit() else name_of(s) for s in tensor["shape"]]
        role = roles.get(name) or (below(name, tensor, definition) if dtype.startswith("int") else role_of(name, dtype))
        given.append(draw(dtype, shape, role))
        form.arguments.append({"name": name, "dtype": dtype, "role": role})
        form.stored += stored_of(name, shape, dtype, rows, sizes)
    form.outputs = [(name_of(n), check_dtype(n, t["dtype"])) for n, t in definition["outputs"].items()]
    form.description = str(definition.get("description") or definition.get("name") or "")[:400]
    form.definition = str(definition.get("name") or "")[:200]
    head = lines + helpers(tree, ("run",)) + [plain(run, keeps_parts=form.has_loops)]
    form.text = module(head, ["%s" % p for p in parameters], "run(%s)" % ", ".join(parameters), given)
    return form

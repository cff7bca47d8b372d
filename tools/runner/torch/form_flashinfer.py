# SPDX-License-Identifier: Apache-2.0
# FlashInfer-Bench and SOL-ExecBench: a definition (axes, tensors, `reference` with a Python function run) and workloads.
import ast
import json
import re

from forms import MOST_LINES, Form, Refused, check_dtype, draw, function, helpers, json_of, module, plain

# What a tensor's name says of its values, in the suites' own sampling; first match.
ROLES = (
    (r"(^|_)(rstd|inv_rms|inv_std|var|variance)($|_)", {"role": "positive"}),
    (r"(^|_)(probs?|probabilit\w+|attn_weights|routing_weights|topk_weights)($|_)", {"role": "probability"}),
    (r"(^|_)scales?($|_)", {"role": "positive"}),
    (r"(^|_)(weight|w[0-9qkvo]?|proj)($|_)", {"role": "weight"}),
)
WITHOUT_FILE = 1024  # a var axis of a definition that comes without workloads


def workloads_of(text):
    rows = []
    for line in text.split("\n")[:MOST_LINES]:
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as why:
                raise Refused("a line of the workloads is no JSON: %s" % why)
            row = row.get("workload") or row if isinstance(row, dict) else {}
            if not isinstance(row.get("axes"), dict) or not all(type(v) is int and v > 0 for v in row["axes"].values()):
                raise Refused("a workload whose axes are no sizes")
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


def constraints_of(definition):
    """({axis: formula}, what else must hold between axes that vary)"""
    axes, tied, others = definition["axes"], {}, []
    for c in definition.get("constraints") or []:
        text = of_sizes(c, definition)
        if text is None and re.search(r"\w\[-1\]", c):
            raise Refused("rows of different lengths, whose sum is a size (%s): the reference reads them in a loop over values, "
                          "which is not traced" % c[:100])
        if text is None:
            raise Refused("a constraint that no axis can be computed from: %s" % c[:100])
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
    return tied, others


def axes_of(definition, rows, tied):
    """(var names, lines that give every axis its value, in an order in which they can be executed)"""
    var, lines = [], []
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
            lines.insert(0, "%s = %d" % (name, max([r["axes"].get(name, 1) for r in rows] or [WITHOUT_FILE])))
        else:
            raise Refused("the axis %s is of type %s" % (name, kind))
    return var, lines


def scalar_of(name, tensor, rows):
    for row in rows:
        value = (row.get("inputs") or {}).get(name, {}).get("value")
        if type(value) in (int, float, bool):
            return float(value) if tensor["dtype"].startswith(("float", "bfloat")) else int(value)
    raise Refused("the scalar %s has no value in any workload" % name)


def role_of(name, dtype):
    if dtype.startswith(("float", "bfloat")):
        for pattern, role in ROLES:
            if re.search(pattern, name.lower()):
                return role
    return {}


def read(files):
    definition = json_of(files, "definition.json")
    if not all(isinstance(definition.get(k), t) for k, t in (("axes", dict), ("inputs", dict), ("outputs", dict),
                                                            ("reference", str))):
        raise Refused("a definition has axes, inputs, outputs and reference")
    if definition.get("custom_inputs_entrypoint"):
        raise Refused("custom_inputs_entrypoint: inputs that a function draws are not judged with hidden content")
    rows = workloads_of(files.get("workloads.jsonl", ""))
    form, given, parameters = Form(), [], []
    tied, form.constraints = constraints_of(definition)
    form.axes, lines = axes_of(definition, rows, tied)
    try:
        tree = ast.parse(definition["reference"])
    except SyntaxError as why:
        raise Refused("the reference is not Python that this interpreter reads: %s" % why)
    run = function(tree, "run", "the reference")
    for name, tensor in definition["inputs"].items():
        name_of(name)
        dtype = check_dtype(name, tensor["dtype"])
        if tensor["shape"] is None:
            parameters.append(name)
            form.arguments.append({"name": name, "dtype": dtype, "role": {}})
            given.append(repr(scalar_of(name, tensor, rows)))
            continue
        parameters.append(name)
        given.append(draw(dtype, [str(int(s)) if str(s).isdigit() else name_of(s) for s in tensor["shape"]]))
        form.arguments.append({"name": name, "dtype": dtype, "role": role_of(name, dtype)})
        for row in rows:
            source = (row.get("inputs") or {}).get(name) or {}
            if source.get("type") == "safetensors":
                form.stored.append({"input": name, "file": str(source.get("path")), "key": str(source.get("tensor_key") or name)})
                break
    form.outputs = [(name_of(n), check_dtype(n, t["dtype"])) for n, t in definition["outputs"].items()]
    form.description = str(definition.get("description") or definition.get("name") or "")[:400]
    form.definition = str(definition.get("name") or "")[:200]
    head = lines + helpers(tree, ("run",)) + [plain(run)]
    form.text = module(head, ["%s" % p for p in parameters], "run(%s)" % ", ".join(parameters), given)
    return form

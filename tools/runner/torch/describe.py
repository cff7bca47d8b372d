# SPDX-License-Identifier: Apache-2.0
# From a module to what a task pack says of it: axes, inputs, state, outputs, sizes, a naive C kernel.
# Prints one JSON object: the pack's parts, or {"refused": "why"}. Runs in the jail, once per file.
import ast
import copy
import json
import math
import os
import re
import sys
import time

import torch

import forms
import naive
import naive_loops
from worker import MARK, Refused, construct, execute, outputs_of, parse

TAKEN = set("""auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true
false index time exp log sin cos tan div abs labs gamma y0 y1 yn j0 j1 jn read write round rint pow sqrt floor ceil min
max signal rand remove exit free step item class new delete this operator template namespace private public and or not
xor NAN INFINITY NULL main stream select send recv link access open close pause sync times wait kill pipe dup""".split())
NAMES = "float16 bfloat16 float32 float64 int8 int32 int64 bool uint8 int16".split()
equal, nan_to_num = torch.equal, torch.nan_to_num  # before a module puts others in their place
MAX_TENSORS, MAX_AXES = 64, 16
MOST_STATE = 1024  # tensors of a module that are joined to fewer
STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32)  # of which a legal size may have to be a multiple
SMALL = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
SLOW_SECONDS, MOST_ELEMENTS = 0.004, 2 << 20
SLOW_SMALL, SLOW_FIXED = 0.2, 0.05
SLOW_LOOPS = 4  # times as long: most of it is Python's own
ROOM = 4  # times as large
DEVICE_SECONDS, DEVICE_ELEMENTS = 2.0, 1 << 27
SLOW_BASE = max(3, int(os.environ.get("HONE_TORCH_SECONDS", "60")) // 20)  # of processor time


def dtype_name(tensor):
    name = str(tensor.dtype).split(".")[-1]
    if name not in NAMES:
        raise Refused("a tensor of dtype %s" % name)
    return name


class Namer:
    def __init__(self):
        self.used = set(TAKEN)

    def name(self, wanted):
        name = re.sub(r"\W", "_", wanted).strip("_") or "x"
        if name[0].isdigit() or name.startswith(("hone_", "PUT_", "PREV_", "SCALED_")):
            name = "t" + name
        if name.endswith("_t"):
            name += "ensor"
        while name in self.used:
            name += "x"
        self.used.add(name)
        return name


def literals(tree):
    """Module-level integers by literal, in order."""
    found = {}
    for s in tree.body:
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            if any(isinstance(n, (ast.Name, ast.Call, ast.Attribute, ast.Lambda)) for n in ast.walk(s.value)):
                continue
            value = eval(compile(ast.Expression(s.value), "size", "eval"), {"__builtins__": {}})
            if type(value) is int and value > 0:
                found[s.targets[0].id] = value
    return found


def used_by_inputs(tree, candidates):
    """The integers that get_inputs reads, also through other module-level values."""
    reads = {}
    for s in tree.body:
        names = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if isinstance(s, ast.FunctionDef):
            reads[s.name] = names
        elif isinstance(s, ast.Assign):
            for target in s.targets:
                for n in ast.walk(target):
                    if isinstance(n, ast.Name):
                        reads.setdefault(n.id, set()).update(names)
    seen, todo = set(), ["get_inputs"]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(reads.get(name, ()))
    return [name for name in candidates if name in seen]


class Trial:
    """The module at one size: its arguments, its state, its outputs."""

    def __init__(self, text, sizes, seed=1):
        torch.manual_seed(seed)
        self.names = execute(text, sizes, False)
        self.model = construct(self.names)
        n_state = sum(1 for k in self.model.state_dict() if not k.endswith("num_batches_tracked"))
        if n_state > MOST_STATE:
            raise Refused("%d tensors of state; at most %d are read" % (n_state, MOST_STATE))
        self.arguments = list(self.names["get_inputs"]())
        self.state = {k: v for k, v in self.model.state_dict().items() if not k.endswith("num_batches_tracked")}
        before = {k: v.clone() for k, v in self.state.items()}
        given = copy.deepcopy(self.arguments)
        start = time.process_time()
        self.outputs = outputs_of(self.model(*given))
        self.seconds = time.process_time() - start
        self.changed = [k for k, v in self.state.items() if not equal(v, before[k])]

    def again(self, seed):
        torch.manual_seed(seed)
        return outputs_of(self.model(*copy.deepcopy(self.arguments)))

    def takes(self, i, value):
        given = copy.deepcopy(self.arguments)
        try:
            given[i].fill_(value)
            return outputs_of(self.model(*given)) is not None
        except Exception:
            return False

    def tensors(self):
        return ([a for a in self.arguments if isinstance(a, torch.Tensor)] + list(self.state.values()) + self.outputs)

    def shapes(self):
        return [tuple(t.shape) for t in self.tensors()]

    def elements(self):
        return sum(t.numel() for t in self.tensors())


def same(a, b):
    return all(x.shape == y.shape and equal(nan_to_num(x), nan_to_num(y)) for x, y in zip(a, b))


def check_honest(trial):
    """Is it a function of its inputs and its state?"""
    model = trial.model
    known = {id(t) for t in model.state_dict(keep_vars=True).values()}
    for path, module in model.named_modules():
        for name, value in list(vars(module).items()) + list(module._buffers.items()):
            if isinstance(value, torch.Tensor) and id(value) not in known:
                where = (path + "." if path else "") + name
                raise Refused("a hidden tensor: self.%s is no parameter and no persistent buffer; register it" % where)
    tied = [k for k, v in trial.state.items() if sum(v.numel() > 0 and v.data_ptr() == w.data_ptr() for w in trial.state.values()) > 1]
    if tied:
        raise Refused("state that is shared: %s" % ", ".join(tied))
    if trial.changed:
        raise Refused("forward changes its state: %s" % ", ".join(trial.changed))
    if not same(trial.again(7), trial.again(7)):
        raise Refused("forward remembers earlier calls (hidden state)")
    if not same(trial.again(7), trial.again(8)):
        raise Refused("randomness in forward: other seeds give other outputs for the same inputs"
                      " (dropout is active where p > 0 in train mode)")


def larger(constraints):
    """The sizes that must be more than others: they begin larger, so that the others can vary."""
    more = [(a, b) for c in constraints for a, b in re.findall(r"(\w+)\s*>=?\s*([A-Za-z_]\w*)", c)]
    return {a for a, _ in more} | {b for c in constraints for _, b in re.findall(r"([A-Za-z_]\w*)\s*<=?\s*(\w+)", c)}


class Describer:
    def __init__(self, text, form, fixed=None):
        self.text, self.form, self.fixed = text, form, fixed or {}
        self.tree = parse(text)
        self.public = literals(self.tree)
        self.axes = list(form.axes) if form else used_by_inputs(self.tree, self.public)
        self.axes = [a for a in self.axes if a not in self.fixed]
        self.wide = larger(self.form.constraints if self.form else [])
        self.slow = SLOW_SECONDS * (SLOW_LOOPS if self.form and self.form.has_loops else 1)
        self.base, self.first = self.smallest()
        self.multiple, self.least = {}, {}

    def is_legal(self, sizes):
        return all(eval(c, {}, {**self.public, **sizes}) for c in (self.form.constraints if self.form else []))

    def attempt(self, **sizes):
        if not self.is_legal({**self.base, **sizes}):
            return None
        try:
            trial = Trial(self.text, {**self.base, **sizes})
        except Refused:
            raise
        except (Exception, NotImplementedError):
            return None
        ok = [len(s) for s in trial.shapes()] == [len(s) for s in self.first.shapes()]
        return trial if ok and all(t.numel() > 0 for t in trial.tensors()) else None

    def smallest(self):
        why = None
        for most in SMALL:
            base = {**self.fixed, **{a: min(self.public[a], most * (ROOM if a in self.wide else 1)) for a in self.axes}}
            try:
                if not self.is_legal(base):
                    raise ValueError("a constraint does not hold")
                trial = Trial(self.text, base)
                if trial.seconds > SLOW_SMALL:
                    base, trial = self.smaller(base, trial)
                if trial.seconds > SLOW_BASE:
                    raise Refused("a forward pass takes %.0f s even at small sizes" % trial.seconds)
                return base, trial
            except Refused:
                raise
            except (AttributeError, ImportError, NameError) as wrong:  # no size mends these
                raise Refused("this torch (%s) does not run the module: %s" % (torch.__version__, str(wrong)[:200]))
            except Exception as wrong:
                why = wrong
            if all(base[a] == self.public[a] for a in self.axes):
                break
        raise Refused("the module does not run at small sizes: %s: %s" % (type(why).__name__, str(why)[:200]))

    def smaller(self, base, trial):
        """Each axis as small as the module takes it."""
        for axis in self.axes:
            for least in (2, 8, 24, 64):
                if least >= base[axis]:
                    break
                try:
                    found = Trial(self.text, {**base, axis: least})
                except Exception:
                    continue
                if found.seconds < trial.seconds and all(t.numel() > 0 for t in found.tensors()):
                    base, trial = {**base, axis: least}, found
                    break
        return base, trial

    def settle(self):
        """Which axes can vary, in which steps and from where."""
        for axis in list(self.axes):
            at = self.base[axis]
            for step in STEPS:
                if at % step == 0 and self.public[axis] % step == 0 and all(
                        self.attempt(**{axis: at + k * step}) for k in (1, 2, 3)):
                    self.multiple[axis] = step
                    break
            else:
                self.axes.remove(axis)
                continue
            step = self.multiple[axis]
            tries = [t for t in range(step, at + 1, step)][:24] + [at]
            self.least[axis] = next(t for t in tries if t == at or (
                self.attempt(**{axis: t}) and (t + step > at or self.attempt(**{axis: t + step}))))
        if not self.axes:
            raise Refused("no size can vary: get_inputs reads no module-level integer that may change")

    def sample(self):
        steps = {a: [self.base[a] + k * self.multiple[a] for k in (1, 2, 3, 4, 5, 7, 9)] for a in self.axes}
        self.samples = [(dict(self.base), self.first.shapes())]
        runs = [{a: v} for a in self.axes for v in steps[a]]
        runs += [{a: steps[a][(i + k) % 5] for i, a in enumerate(self.axes)} for k in range(3)]
        for run in runs:
            trial = self.attempt(**run)
            if trial:
                self.samples.append(({**self.base, **run}, trial.shapes()))

    def fits(self, tensor, dim, formula):
        return all(eval(formula, {}, sizes) == shapes[tensor][dim] for sizes, shapes in self.samples)

    def formula(self, tensor, dim):
        """Of one dimension over the axes, by the module's own names."""
        values = {shapes[tensor][dim] for _, shapes in self.samples}
        if len(values) == 1:
            return str(values.pop())
        moving = [a for a in self.axes if len({s[tensor][dim] for z, s in self.samples
                  if all(z[b] == self.base[b] for b in self.axes if b != a)}) > 1]
        tries = list(moving)
        if len(moving) == 1:
            tries += list(self.lines(moving[0], tensor, dim))
        if len(moving) > 1:
            tries += ["%s + %s" % (a, b) for a in moving for b in moving if a < b]
        if len(moving) == 1:
            tries.append("%s*%s" % (moving[0], moving[0]))
        product = "*".join(moving)
        if moving:
            unit = eval(product, {}, self.base)
            here = self.samples[0][1][tensor][dim]
            if here % unit == 0:
                tries.append("%s*%d" % (product, here // unit))
        for one in tries:
            if self.fits(tensor, dim, one):
                return one
        why = TooMany("the size of dimension %d of tensor %d depends on %s in a way that no formula was found for"
                      % (dim, tensor, ", ".join(moving) or "several sizes at once"))
        why.axes = set(moving) if len(self.axes) > len(moving) else None
        raise why

    def lines(self, axis, tensor, dim):
        at, here = self.base[axis], self.samples[0][1][tensor][dim]
        for up in range(1, 9):
            yield "%s*%d + %d" % (axis, up, here - at * up)
        for down in range(1, 17):
            for plus in range(-64, 65):
                if (at + plus) // down == here:
                    yield "(%s + %d)//%d" % (axis, plus, down)
            yield "%s//%d + %d" % (axis, down, here - at // down)
        for down in range(2, 9):
            for up in range(2, 9):
                yield "%s//%d*%d + %d" % (axis, down, up, here - at // down * up)

    def bound(self, i):
        """The axis whose value is the first that the integers of argument i must not have."""
        for far in range(1, 4):
            sizes = {a: self.base[a] + (far + k) * self.multiple[a] for k, a in enumerate(self.axes)}
            trial = self.attempt(**sizes)
            if trial is None:
                continue
            values = {**self.public, **self.base, **sizes}
            fitting = [a for a, v in sorted(values.items(), key=lambda x: x[1])
                       if trial.takes(i, v - 1) and not trial.takes(i, v)]
            if len({values[a] for a in fitting}) == 1:
                return ([a for a in fitting if a in self.axes] or fitting)[0]
        return None

    def workloads(self):
        """Sizes for a CPU: grown from the base towards the module's own while they stay cheap."""
        sizes, best = dict(self.base), self.first
        stuck = set()
        middle = None
        while len(stuck) < len(self.axes):
            axis = min((a for a in self.axes if a not in stuck), key=lambda a: sizes[a] / self.public[a])
            grown = min(sizes[axis] * 2, max(self.public[axis], self.base[axis]))
            trial = self.attempt(**{**sizes, axis: grown}) if grown > sizes[axis] else None
            if trial:
                trial.seconds = min(trial.seconds, *(self.timed(trial) for _ in range(2)))
            if not trial or trial.seconds > self.slow or trial.elements() > MOST_ELEMENTS:
                stuck.add(axis)
                continue
            middle, sizes, best = sizes, {**sizes, axis: grown}, trial
        self.timed_best, self.best_seconds = sizes, best.seconds
        found = [sizes]
        odd = {a: max(self.least[a], sizes[a] - sizes[a] // 4 // self.multiple[a] * self.multiple[a]) for a in self.axes}
        for other in (odd, middle):
            if other and other != sizes and self.attempt(**other):
                found.append(other)
                break
        return found

    def device_workloads(self, pack):
        """Sizes for a GPU: the module's own, halved while they are too much for naive kernels. Nothing runs at them here: that
        they are legal follows from the steps, and the formulas hold for all sizes that were tried."""
        best = self.timed_best
        def rounded(axis, value):
            step = self.multiple[axis]
            return max(value // step * step, self.least[axis])
        def cost(sizes):  # seconds of this CPU, and elements of all tensors
            work = self.best_seconds * math.prod(sizes[a] / best[a] for a in self.axes)
            values = {here: sizes.get(there) for here, there in pack.record["axes"].items()}
            elements = sum(math.prod(size_of(pack, a, values) for a in t["shape"]) for t in [*pack.inputs.values(), *pack.outputs.values()])
            return max(work / DEVICE_SECONDS, elements / DEVICE_ELEMENTS)
        sizes = {**best, **{a: max(rounded(a, self.public[a]), best[a]) for a in self.axes}}
        while cost(sizes) > 1:
            axis = max(self.axes, key=lambda a: sizes[a] / best[a])
            if sizes[axis] == best[axis]:
                break
            sizes[axis] = max(rounded(axis, sizes[axis] // 2), best[axis])
        odd = {**sizes, **{a: max(rounded(a, sizes[a] - sizes[a] // 4), best[a]) for a in self.axes}}
        return [s for i, s in enumerate((sizes, odd)) if self.is_legal(s) and (i == 0 or s != sizes)] or [dict(best)]

    @staticmethod
    def timed(trial):
        start = time.process_time()
        trial.again(1)
        return time.process_time() - start


def size_of(pack, axis, values):
    """Of one of the pack's axes, where those that vary have these values."""
    row = pack.axes[axis]
    known = {a: r["value"] for a, r in pack.axes.items() if r["type"] == "const"}
    return {**values, **known}[axis] if row["type"] != "expr" else eval(row["expression"], {}, {**values, **known})


def argument_names(model, n):
    code = type(model).forward.__code__
    names = list(code.co_varnames[1:code.co_argcount])
    return names + ["x%d" % i for i in range(len(names), n)]


class TooMany(Refused):
    """More tensors or sizes than a task has: joining the state may help, or fewer axes that vary."""
    axes = None


class Pack:
    def __init__(self, d, wanted_name, is_joined=False):
        self.d, self.namer, self.is_joined = d, Namer(), is_joined
        self.axes, self.by_formula, self.record = {}, {}, {"axes": {}, "arguments": [], "state": {}}
        self.name = self.namer.name(wanted_name)
        for axis, value in d.fixed.items():
            here = self.by_formula.setdefault(str(value), self.namer.name(axis))
            self.axes[here] = {"type": "const", "value": value}
            self.record["axes"][here] = axis
        for axis in d.axes:
            here = self.namer.name(axis)
            most = max([d.public[axis]] + [w[axis] for w in d.sizes])
            self.axes[here] = {"type": "var", "min": d.least[axis], "max": most, "multiple": d.multiple[axis]}
            self.record["axes"][here] = axis
            self.by_formula[axis] = here
        self.inputs, self.outputs, self.scalars, self.by_argument = {}, {}, {}, {}

        if d.form and d.form.definition:
            self.record["definition"] = d.form.definition

    def axis_of(self, formula, hint):
        if formula in self.by_formula:
            return self.by_formula[formula]
        if formula.isdigit():
            same = [n for n, v in self.d.public.items() if v == int(formula) and n not in self.d.axes]
            here = self.namer.name(same[0] if len(same) == 1 else "n%s" % formula)
            self.axes[here] = {"type": "const", "value": int(formula)}
        else:
            words = re.sub(r"[A-Za-z_]\w*", lambda m: self.by_formula[m.group(0)], formula).replace("+ -", "- ")
            here = self.namer.name(hint)
            self.axes[here] = {"type": "expr", "expression": words}
        if len(self.axes) > MAX_AXES:
            raise TooMany("more than %d sizes" % MAX_AXES)
        self.by_formula[formula] = here
        return here

    def shape(self, number, tensor, name):
        return [self.axis_of(self.d.formula(number, i), "%s_d%d" % (name, i)) for i in range(tensor.dim())]

    def role(self, key, tensor, is_positive, i=None):
        told = self.told(i).get("role")
        if tensor.dtype == torch.bool:
            return {"role": "mask"}
        if told and "below" in told:
            size = str(told["below"])
            known = size if size in self.d.axes or size.isdigit() else str(self.d.base.get(size, self.d.public.get(size, size)))
            return {"role": told["role"], "bound": self.axis_of(known, "values")}
        if told:
            return told
        axis = self.d.bound(i) if i is not None and not tensor.is_floating_point() else None
        if axis:
            return {"role": "index", "bound": self.axis_of(axis if axis in self.d.axes else str(self.d.public[axis]), axis)}
        if not tensor.is_floating_point():
            raise Refused("an integer input: which values are legal is not known (%s)" % (key or self.told(i).get("name") or "argument %d" % i))
        if key.endswith("running_var") or is_positive:
            return {"role": "positive"}
        return {"role": "weight" if key and tensor.dim() > 1 else "activation"}

    def told(self, i):
        """What the suite says of an argument."""
        return self.d.form.arguments[i] if self.d.form and i is not None else {}

    def fill(self, is_positive):
        trial, number = self.d.first, 0
        names = argument_names(trial.model, len(trial.arguments))
        for i, (name, value) in enumerate(zip(names, trial.arguments)):
            if isinstance(value, torch.Tensor):
                here = self.namer.name(name)
                self.inputs[here] = {"shape": self.shape(number, value, here),
                                     "dtype": self.told(i).get("dtype") or dtype_name(value),
                                     **self.role("", value, is_positive, i)}
                self.by_argument[self.told(i).get("name")] = here
                self.record["arguments"].append({"name": here})
                number += 1
            elif "axis" in self.told(i):
                self.record["arguments"].append({"axis": self.by_formula[self.told(i)["axis"]]}
                                                if self.told(i)["axis"] in self.by_formula else {"value": value})
            elif type(value) is float:
                here = self.namer.name(name)
                near = torch.tensor(value, dtype=torch.float32).item()
                self.scalars[here] = {"dtype": "float32", "value": near, "min": near, "max": near}
                self.record["arguments"].append({"name": here})
            elif type(value) in (int, bool) or value is None:
                self.record["arguments"].append({"value": value})
            else:
                raise Refused("get_inputs gives a %s" % type(value).__name__)
        groups = self.groups(number) if self.is_joined else {}
        for key, value in trial.state.items():
            group = next((g for g in groups.values() if key in g), None)
            if group is not None:
                if key == group[0]:
                    self.join(group)
                number += 1
                continue
            here = self.namer.name(key.replace(".", "_"))
            self.inputs[here] = {"shape": self.shape(number, value, here), "dtype": dtype_name(value),
                                 **self.role(key, value, False), "static": True}
            self.record["state"][here] = key
            number += 1
        told = self.d.form.outputs if self.d.form else []
        if self.d.form and len(told) != len(trial.outputs):
            raise Refused("the reference gives %d outputs, %d are declared" % (len(trial.outputs), len(told)))
        for i, value in enumerate(trial.outputs):
            name, dtype = told[i] if told else ("out" if len(trial.outputs) == 1 else "out%d" % i, dtype_name(value))
            if dtype.startswith(("float", "bfloat")) != value.is_floating_point():
                raise Refused("the output %s is %s, the reference gives %s" % (name, dtype, dtype_name(value)))
            here = self.namer.name(name)
            self.outputs[here] = {"shape": self.shape(number, value, here), "dtype": dtype}
            number += 1
        if len(self.inputs) + len(self.outputs) > MAX_TENSORS:
            raise TooMany("%d tensors, a task has at most %d" % (len(self.inputs) + len(self.outputs), MAX_TENSORS))
        if not self.inputs:
            raise Refused("no input tensor")


    def groups(self, number):
        """Which tensors of the state stand in one input, by kind: those of known sizes, by how long a row is that is summed."""
        found = {}
        for i, (key, value) in enumerate(self.d.first.state.items()):
            dims = [self.d.formula(number + i, k) for k in range(value.dim())]
            if value.dtype == torch.float32 and all(d.isdigit() for d in dims):
                found.setdefault(kind_of(key, value), []).append(key)
        return {kind: keys for kind, keys in found.items() if len(keys) > 1}

    def join(self, keys):
        """One input of all elements, in the order of state_dict; drawn as large as the tensors would be."""
        kind, row = kind_of(keys[0], self.d.first.state[keys[0]])
        here = self.namer.name(kind + ("_%d" % row if row else ""))
        count = sum(self.d.first.state[key].numel() for key in keys)
        self.inputs[here] = {"shape": [self.axis_of(str(count), "n")], "dtype": "float32",
                             "role": "positive" if kind == "variances" else "activation", "static": True}
        if row:
            self.inputs[here]["scale"] = row ** -0.5
        self.record["state"][here] = keys


def kind_of(key, value):
    """(kind, the power of four of elements that its rows have at most; 0: no matrix)"""
    if key.endswith("running_var"):
        return "variances", 0
    if value.dim() < 2:
        return "vectors", 0
    return "weights", 4 ** math.ceil(math.log(max(value[0].numel(), 1), 4))


def needs_positive(trial):
    """True: only positive content gives numbers."""
    def is_finite(draw):
        given = [draw(a) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in trial.arguments]
        return all(torch.isfinite(o).all() for o in outputs_of(trial.model(*given)) if o.is_floating_point())
    return not is_finite(torch.randn_like) and is_finite(lambda a: torch.rand_like(a) + 0.1)


def moved(pack, width):
    """The bytes of all tensors, as a formula: those of known sizes as one number, equal terms counted."""
    known, terms = 0, {}
    for t in list(pack.inputs.values()) + list(pack.outputs.values()):
        sizes = [pack.axes[a] for a in t["shape"]]
        n = math.prod([width.get(t["dtype"], 1)] + [size["value"] for size in sizes if size["type"] == "const"])
        moving = "*".join(a for a in t["shape"] if pack.axes[a]["type"] != "const")
        if moving:
            terms[moving] = terms.get(moving, 0) + n
        else:
            known += n
    return " + ".join(["%d*%s" % (n, text) for text, n in terms.items()] + ([str(known)] if known or not terms else []))


def packed(d, wanted_name):
    is_positive = needs_positive(d.first)
    pack = Pack(d, wanted_name)
    try:
        pack.fill(is_positive)
    except TooMany:
        pack = Pack(d, wanted_name, True)
        pack.fill(is_positive)
    return pack


def settled(text, form, fixed=None):
    d = Describer(text, form, fixed)
    check_honest(d.first)
    d.settle()
    d.sample()
    return d


def kernels(trial, pack):
    """(C, CUDA); "" where there is none for a device."""
    has_loops = pack.d.form is not None and pack.d.form.has_loops
    return (naive_loops if has_loops else naive).kernels(trial, pack)


def stored_of(form, pack):
    """The suite's files of the pack's inputs, with the sizes of their workload; below: the first value that integers must not have."""
    found = []
    for s in form.stored:
        here = pack.by_argument.get(s["input"])
        if here is None:
            continue
        bound, sizes = pack.inputs[here].get("bound"), s["sizes"]
        there = pack.record["axes"].get(bound)
        values = {name: sizes.get(was) for name, was in pack.record["axes"].items()}
        more = {"below": sizes[there] if there in sizes else size_of(pack, bound, values)} if bound else {}
        found.append({"input": here, "file": s["file"], "key": s["key"], "shape": s["shape"], "goes_along": s["goes_along"], **more})
    return found


def held(d, wanted_name):
    """The sizes that are to have one value, {axis: value}: those that the module keeps as numbers, so that its kernel is for one
    value of them, and where the state has to be joined those that it depends on."""
    found = {}
    try:
        pack = packed(d, wanted_name)
    except TooMany as why:
        first = len(d.first.tensors()) - len(d.first.outputs) - len(d.first.state)
        of_state = [s[first:first + len(d.first.state)] for _, s in d.samples]
        changed = [[a for a in d.axes if z[a] != d.base[a]] for z, _ in d.samples]
        moving = why.axes or {c[0] for c, s in zip(changed, of_state) if len(c) == 1 and s != of_state[0]}
        if not moving:
            raise
        d = settled(d.text, d.form, {**d.fixed, **{a: d.base[a] for a in moving}})
        found.update(d.fixed)
        d.sizes = [d.base]
        pack = packed(d, wanted_name)
    kernel = kernels(d.first, pack)
    for axis in d.axes:
        trial = d.attempt(**{axis: d.base[axis] + d.multiple[axis]})
        if trial is not None and kernels(trial, pack) != kernel:
            found[axis] = d.base[axis]
    found.update({a: d.base[a] for a in d.base if a not in d.axes and d.base[a] != d.public[a]})
    for axis in found:
        for part in (1, 2, 4, 8, 16):  # of the module's own size, what is cheap
            trial = d.attempt(**{**found, axis: d.public[axis] // part}) if d.public[axis] // part > found[axis] else None
            if trial is not None and trial.seconds < SLOW_FIXED and trial.elements() < MOST_ELEMENTS:
                found[axis] = d.public[axis] // part
                break
    return found


def describe(text, wanted_name):
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    form = forms.read(json.loads(text)) if text.startswith(forms.BUNDLE) else None
    text = form.text if form else text
    d = settled(text, form)
    d.sizes = [d.base]
    fixed = held(d, wanted_name)
    if fixed and fixed != d.fixed:
        d = settled(text, form, fixed)
    d.sizes = d.workloads()
    pack = packed(d, wanted_name)
    kernel, device_kernel = kernels(d.first, pack)
    width = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8, "int16": 2}
    total = moved(pack, width)

    def lines(sizes):
        return [{here: size[there] for here, there in pack.record["axes"].items() if there in d.axes} for size in sizes]
    said = {} if form is None else {
        "module": text, "description": form.description,
        "stored": stored_of(form, pack)}
    words = r"[A-Za-z_]\w*"
    kept = [c for c in (form.constraints if form else []) if set(re.findall(words, c)) & set(d.axes)]
    constraints = [re.sub(words, lambda m: pack.by_formula.get(m.group(0)) or str(d.base.get(m.group(0), d.public[m.group(0)])), c)
                   for c in kept]
    return {
        **said, "constraints": constraints, "name": pack.name, "axes": pack.axes, "inputs": pack.inputs, "outputs": pack.outputs, "scalars": pack.scalars,
        "bytes": total, "workloads": lines(d.sizes), "record": MARK + json.dumps(pack.record),
        "naive": kernel, "naive_cuda": device_kernel, "device_workloads": lines(d.device_workloads(pack)) if device_kernel else [],
    }


def main(path):
    with open(path) as file:
        text = file.read()
    with open("/work/name") as file:
        wanted = file.read().strip() or "imported"
    stream = os.dup(1)
    os.dup2(2, 1)
    try:
        said = describe(text, wanted)
    except Refused as why:
        said = {"refused": str(why)}
    except SyntaxError as why:
        said = {"refused": "not Python that this interpreter reads: %s" % why}
    except Exception as why:
        said = {"refused": "%s: %s" % (type(why).__name__, str(why)[:300])}
    os.write(stream, json.dumps(said).encode())

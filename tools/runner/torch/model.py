# SPDX-License-Identifier: Apache-2.0
# What `hone model` asks of a whole model. Runs in the jail, once a question; /work/request.json is the question, its "ask" names
# it: rank (which modules take the forward's time), cut (one module as a file of its own), check (the model with exported
# kernels in the place of modules, beside itself). Prints one JSON object: the answer, or {"refused": "why"}.
import ast
import ctypes
import functools
import importlib.util
import inspect
import json
import math
import os
import struct
import sys
import time

import torch

from worker import SECONDS, Refused, Rewrite, outputs_of, parse

KEPT = "kernel_size stride padding output_padding dilation groups num_heads num_groups upscale_factor".split()
T95 = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201)
ROUNDS, FEWEST, BLOCK_SECONDS = 12, 4, 0.03


def read(name):
    with open("/work/" + name) as file:
        return file.read()


class Place:
    """Where the model runs."""
    device = "cpu"

    @classmethod
    def take(cls, device):
        cls.device = Rewrite.device = device

    @classmethod
    def put(cls, values):
        return [v.to(cls.device) if is_tensor(v) else v for v in values]

    @classmethod
    def wait(cls):
        if cls.device == "cuda":
            torch.cuda.synchronize()

    @classmethod
    def now(cls):
        cls.wait()
        return time.perf_counter_ns()


def load(text):
    torch.manual_seed(1)
    names = {"__name__": "hone_model"}
    exec(compile(ast.fix_missing_locations(Rewrite({}, False).visit(parse(text))), "model.py", "exec"), names)
    if not callable(names.get("get_inputs")):
        raise Refused("the file has no get_inputs")
    return names


def build(names):
    torch.manual_seed(1)
    found = names.get("Model", names.get("model"))
    if not isinstance(found, torch.nn.Module):
        if not callable(found):
            raise Refused("the file has no Model: a class of torch.nn.Module, or an instance")
        found = found(*(names["get_init_inputs"]() if "get_init_inputs" in names else []))
    return found.eval().to(Place.device)


def is_tensor(value):
    return isinstance(value, torch.Tensor)


# rank

class Clock:
    """The time of each module: all of it, and without the modules that it called."""

    def __init__(self, model):
        self.open, self.rows = [], []
        for path, module in model.named_modules():
            row = {"path": path, "kind": type(module).__name__, "is_leaf": next(module.children(), None) is None,
                   "shapes": [], "calls": 0, "own": 0, "whole": 0}
            self.rows.append(row)
            module.register_forward_pre_hook(functools.partial(self.enter, row))
            module.register_forward_hook(self.leave)

    def enter(self, row, module, given):
        shapes = [list(g.shape) for g in given if is_tensor(g)]
        if shapes not in row["shapes"] and len(row["shapes"]) < 4:
            row["shapes"].append(shapes)
        self.open.append([row, 0, Place.now()])

    def leave(self, module, given, result):
        now = Place.now()
        row, inner, start = self.open.pop()
        row["calls"] += 1
        row["own"] += now - start - inner
        row["whole"] += now - start
        if self.open:
            self.open[-1][1] += now - start


def passes(model, given, seconds, after=lambda: None):
    """The ns of each of some forward passes."""
    times, until = [], time.perf_counter() + seconds
    while len(times) < 3 or (len(times) < 200 and time.perf_counter() < until):
        start = Place.now()
        model(*given)
        times.append(Place.now() - start)
        after()
    return times


def faster_half(clock, seen):
    """Adds up the passes that the machine disturbed least."""
    keep = sorted(seen, key=lambda one: sum(own for own, _ in one))[:(len(seen) + 1) // 2]
    for i, row in enumerate(clock.rows):
        row["own"], row["whole"] = (sum(one[i][k] for one in keep) / len(keep) for k in (0, 1))
        row["calls"] //= len(seen)


def rank(request):
    names = load(read("module.py"))
    model = build(names)
    given = Place.put(names["get_inputs"]())
    passes(model, given, 0)
    plain = sorted(passes(model, given, 1))
    clock, seen = Clock(model), []

    def after():
        seen.append([(row["own"], row["whole"]) for row in clock.rows])
        for row in clock.rows:
            row["own"] = row["whole"] = 0
    times = passes(model, given, 1, after)
    faster_half(clock, seen)
    rows, total = [], sum(row["own"] for row in clock.rows) or 1
    for row in sorted(clock.rows, key=lambda row: -row["own"]):
        share = row["whole"] / total
        if row["calls"]:
            rows.append({"path": row["path"], "kind": row["kind"], "is_leaf": row["is_leaf"], "shapes": row["shapes"],
                         "calls": row["calls"], "ns": row["whole"], "own_share": row["own"] / total,
                         "share": share, "ceiling": 1 / (1 - share) if row["path"] and share < 0.9999 else None})
    return {"forward_ns": plain[len(plain) // 2], "passes": len(times), "rows": rows[:request["rows"]],
            "left_out": max(0, len(rows) - request["rows"])}


# cut

def keep_constructors():
    """From now on every module knows what it was made with."""
    def new(cls, *args, **more):
        module = object.__new__(cls)
        object.__setattr__(module, "_hone_made", (args, more))
        return module
    torch.nn.Module.__new__ = staticmethod(new)


class Cutter:
    def __init__(self, request):
        self.path, self.text = request["path"], read("module.py")
        keep_constructors()
        self.names = load(self.text)
        self.model = build(self.names)
        self.module = dict(self.model.named_modules()).get(self.path) if self.path else None
        if self.module is None:
            raise Refused("the model has no module '%s'" % self.path)
        self.sizes, self.by_value, self.classes, self.seen = {}, {}, set(), None

    def observe(self):
        def enter(module, given):
            self.seen = self.seen or list(given)

        def leave(module, given, result):
            self.shapes = [list(o.shape) for o in outputs_of(result)]
        self.module.register_forward_pre_hook(enter)
        self.module.register_forward_hook(leave)
        self.model(*self.names["get_inputs"]())
        if not self.seen:
            raise Refused("forward calls '%s' not at all, or with keywords alone" % self.path)

    def name_sizes(self, words):
        """An integer for each size of an input; equal sizes of two inputs are one."""
        known, made = {}, self.made_with(self.module)
        said = {value: word for word, value in made if word and type(value) is int}
        for word, value in zip(words, self.seen):
            count = {}
            for i, size in enumerate(value.shape if is_tensor(value) else ()):
                count[size] = count.get(size, 0) + 1
                key = (size, count[size])
                if key not in known:
                    is_said = size in said and said[size] not in KEPT and (i > 0 or value.dim() == 1)
                    name = said.pop(size) if is_said else "%s_d%d" % (word, i)
                    while name in self.names or name in self.sizes:
                        name += "x"
                    known[key] = name
                    self.sizes[name] = size
                if (i > 0 or value.dim() == 1) and size > 1:
                    self.by_value[size] = known[key]
        return known

    @staticmethod
    def made_with(module):
        args, more = module.__dict__.get("_hone_made", ((), {}))
        words = list(inspect.signature(type(module).__init__).parameters)[1:]
        return [(words[i] if i < len(words) else "", a) for i, a in enumerate(args)] + list(more.items())

    def expression(self, value, word=""):
        if isinstance(value, torch.nn.Module):
            return self.constructor(value)
        if type(value) is int:
            return self.by_value.get(value, repr(value)) if word not in KEPT else repr(value)
        if isinstance(value, (tuple, list)):
            inner = ", ".join(self.expression(v, word) for v in value)
            return "[%s]" % inner if isinstance(value, list) else "(%s,)" % inner if value else "()"
        if type(value) is float:
            return repr(value) if math.isfinite(value) else "float('%r')" % value
        if value is None or type(value) in (bool, str) or isinstance(value, torch.dtype):
            return repr(value)
        raise Refused("'%s' was made with a %s, which is not written down" % (self.path, type(value).__name__))

    def constructor(self, module):
        kind = type(module)
        if getattr(torch.nn, kind.__name__, None) is kind:
            name = "torch.nn." + kind.__name__
        elif self.names.get(kind.__name__) is kind and kind.__name__ != "Model":
            name = kind.__name__
            self.classes.add(name)
        else:
            raise Refused("'%s' holds a %s, which is no class of torch.nn or of the file" % (self.path, kind.__name__))
        args, more = module.__dict__.get("_hone_made", ((), {}))
        words = self.made_with(module)[:len(args)]
        parts = [self.expression(a, word) for word, a in words]
        parts += ["%s=%s" % (word, self.expression(a, word)) for word, a in more.items()]
        return "%s(%s)" % (name, ", ".join(parts))

    def needed(self):
        """The file's statements that the classes rest on, in order."""
        defined, reads, body = {}, {}, ast.parse(self.text).body
        for i, s in enumerate(body):
            bound = [s.name] if isinstance(s, (ast.FunctionDef, ast.ClassDef)) else [
                n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
            reads[i] = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            for name in bound:
                defined.setdefault(name, set()).add(i)
        kept, todo = set(), list(self.classes)
        while todo:
            for i in defined.get(todo.pop(), ()):
                if i not in kept:
                    kept.add(i)
                    todo.extend(reads[i])
        lines = [ast.unparse(s) for i, s in enumerate(body)
                 if i in kept or (self.classes and isinstance(s, (ast.Import, ast.ImportFrom)))]
        return [line for line in lines if line != "import torch"]

    def write(self):
        code = type(self.module).forward.__code__
        words = list(code.co_varnames[1:code.co_argcount])[:len(self.seen)]
        words += ["x%d" % i for i in range(len(words), len(self.seen))]
        known, inputs, passed = self.name_sizes(words), [], []
        for word, value in zip(words, self.seen):
            if not is_tensor(value):
                passed.append(self.expression(value, word))
                continue
            if not value.is_floating_point():
                raise Refused("'%s' takes a tensor of %s; a task made so takes floating-point numbers" % (self.path, value.dtype))
            count, sizes = {}, []
            for size in value.shape:
                count[size] = count.get(size, 0) + 1
                sizes.append(known[size, count[size]])
            draw = "torch.%s(%s)" % ("randn" if value.numel() and value.min() < 0 else "rand", ", ".join(sizes))
            inputs.append(draw if value.dtype == torch.float32 else "%s.to(%s)" % (draw, value.dtype))
            passed.append(word)
        made = self.constructor(self.module)
        lines = ["# Module %s of a model." % self.path, "import torch"] + self.needed()
        lines += ["%s = %d" % pair for pair in self.sizes.items()]
        lines += ["", "", "class Model(torch.nn.Module):", "    def __init__(self):", "        super().__init__()",
                  "        self.module = %s" % made, "", "    def forward(self, %s):" % ", ".join(
                      w for w, v in zip(words, self.seen) if is_tensor(v)),
                  "        return self.module(%s)" % ", ".join(passed), "", "", "def get_inputs():",
                  "    return [%s]" % ", ".join(inputs), "", "", "def get_init_inputs():", "    return []", ""]
        return "\n".join(lines)


def cut(request):
    cutter = Cutter(request)
    cutter.observe()
    text = cutter.write()
    names = load(text)
    shapes = [list(o.shape) for o in outputs_of(build(names)(*names["get_inputs"]()))]
    if shapes != cutter.shapes:
        raise Refused("'%s' made anew gives outputs of other sizes: %s, not %s" % (cutter.path, shapes, cutter.shapes))
    return {"text": text}


# check

class Swapped(torch.nn.Module):
    """An exported kernel in the place of a module, with the module's state."""

    def __init__(self, module, folder, number):
        super().__init__()
        self.original = module
        spec = importlib.util.spec_from_file_location("hone_export_%d" % number, folder + "/export.py")
        export = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(export)
        self.kernel = export.ModelNew.kernel if hasattr(export, "ModelNew") else export.kernel
        record = self.kernel.spec["record"]
        if Place.device == "cpu":  # it was compiled in a jail without torch
            self.kernel.function = getattr(ctypes.CDLL(folder + "/kernel.so"), self.kernel.name)
            self.kernel.function.restype = None
        else:
            self.kernel.folder = folder
            self.kernel.compile()
        self.free = [getattr(export, record["axes"][axis]) for axis in self.kernel.free]
        self.state = {name: self.find(module, key) for name, key in record["state"].items()}

    @staticmethod
    def find(module, key):
        words = key.split(".")
        if words[0] == "module" and not hasattr(module, "module"):  # a file that `task import --from-model` made
            words = words[1:]
        return functools.reduce(getattr, words, module)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("original"), name)

    def forward(self, *given):
        spec = self.kernel.spec
        values = {name: what["value"] for name, what in spec["scalars"].items()}
        arguments = spec["record"]["arguments"]
        tensors = [g for g in given if is_tensor(g)] if len(arguments) != len(given) else given
        values.update({a["name"]: g for a, g in zip(arguments, tensors) if "name" in a})
        values.update(self.state)
        taken = [values[name].detach().contiguous() for name in spec["inputs"]]
        taken = [t.clone() if t.data_ptr() % 64 else t for t in taken]
        return self.kernel(*taken, *[values[name] for name in spec["scalars"]], *self.free)


def swap_in(model, swaps):
    for number, swap in enumerate(swaps):
        modules, (owner, _, last) = dict(model.named_modules()), swap["path"].rpartition(".")
        if not swap["path"] or swap["path"] not in modules:
            raise Refused("the model has no module '%s'" % swap["path"])
        setattr(modules[owner], last, Swapped(modules[swap["path"]], "/work/swap%d" % number, number))


def receive(fd, limit=1 << 40):
    def take(n):
        room, at = bytearray(n), 0
        while at < n:
            got = os.readv(fd, [memoryview(room)[at:]])
            if got <= 0:
                raise Refused("its process ended")
            at += got
        return room
    n = struct.unpack("<Q", take(8))[0]
    if n > 1 << 20:
        raise Refused("its process says too much")
    said = json.loads(bytes(take(n)))
    if sum(said["sizes"]) > limit or min(said["sizes"] + [0]) < 0:
        raise Refused("more than %d MiB of inputs or outputs" % (limit >> 20))
    return said, [take(size) for size in said["sizes"]]


def send(fd, said, blobs=()):
    text = json.dumps({**said, "sizes": [len(b) for b in blobs]}).encode()
    for part in [struct.pack("<Q", len(text)) + text, *blobs]:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(fd, rest):]


def pack(values):
    """Tensors as bytes, plain values as themselves."""
    what, blobs = [], []
    for value in values:
        if is_tensor(value):
            value = value.detach().contiguous()
            what.append([str(value.dtype).split(".")[-1], list(value.shape)])
            blobs.append(ctypes.string_at(value.data_ptr(), value.numel() * value.element_size()))
        elif value is None or type(value) in (int, float, bool):
            what.append(value)
        else:
            raise Refused("get_inputs gives a %s" % type(value).__name__)
    return {"what": what}, blobs


def unpack(said, blobs):
    values, blobs = [], iter(blobs)
    for what in said["what"]:
        if isinstance(what, list):
            value = torch.empty([int(size) for size in what[1]], dtype=getattr(torch, what[0]))
            blob = next(blobs)
            if len(blob) != value.numel() * value.element_size():
                raise Refused("its process gives sizes that do not fit")
            if blob:
                ctypes.memmove(value.data_ptr(), (ctypes.c_char * len(blob)).from_buffer(blob), len(blob))
            what = value
        values.append(what)
    return values


def play(request, is_swapped, reader, writer):
    """One of the two models, in a process of its own."""
    torch.set_num_threads(request["threads"])
    torch.set_grad_enabled(False)
    names = load(read("module.py"))
    model = build(names)
    if is_swapped:
        swap_in(model, request["swaps"])
    given = outputs = None
    while True:
        said, blobs = receive(reader)
        if said["do"] == "draw":
            torch.manual_seed(said["seed"])
            send(writer, *pack(list(names["get_inputs"]())))
        elif said["do"] == "take":
            given = Place.put(unpack(said, blobs))
            send(writer, {})
        elif said["do"] == "run":
            for _ in range(said["calls"]):
                outputs = model(*given)
            Place.wait()
            send(writer, {})
        else:
            send(writer, *pack([o.cpu() for o in outputs_of(outputs)]))


class Side:
    """What this process knows of one of the two: it is asked, its clock and its words are not believed."""

    def __init__(self, request, is_swapped):
        self.name, self.limit = "the swapped model" if is_swapped else "the model", request["bytes"]
        (reader, self.to), (self.of, writer) = os.pipe(), os.pipe()
        if os.fork() == 0:
            for fd in range(3, 256):
                if fd not in (reader, writer):
                    try:
                        os.close(fd)
                    except OSError:
                        pass
            try:
                play(request, is_swapped, reader, writer)
            except BaseException as wrong:
                send(writer, {"error": str(wrong) if isinstance(wrong, Refused) else "%s: %s" % (type(wrong).__name__, wrong)})
            finally:
                os._exit(0)
        os.close(reader)
        os.close(writer)

    def ask(self, what, blobs=()):
        try:
            send(self.to, what, blobs)
        except BrokenPipeError:
            pass  # its last words say why
        try:
            said, blobs = receive(self.of, self.limit)
        except Refused as why:
            said = {"error": str(why)}
        if "error" in said:
            raise Refused("%s: %s" % (self.name, str(said["error"])[:300]))
        return said, blobs

    def run(self, calls):
        start = time.perf_counter_ns()
        self.ask({"do": "run", "calls": calls})
        return (time.perf_counter_ns() - start) / calls

    def outputs(self):
        return [v for v in unpack(*self.ask({"do": "give"})) if is_tensor(v)]


def gap(want, got, worst):
    """Adds a round's differences to the worst so far; a sentence where no tolerance could hold."""
    if [(w.shape, w.dtype) for w in want] != [(g.shape, g.dtype) for g in got]:
        return "the outputs have other shapes or types"
    for w, g in zip((w.double() for w in want), (g.double() for g in got)):
        finite = torch.isfinite(w) & torch.isfinite(g)
        if not ((w == g) | (w.isnan() & g.isnan()) | finite).all():
            return "an output is not finite where the other is, or another kind of not finite"
        w, g = w[finite], g[finite]
        if w.numel():
            off = (w - g).abs()
            scale = torch.maximum(w.abs(), w.square().mean().sqrt()).clamp_min(1e-30)
            worst["largest_absolute"] = max(worst["largest_absolute"], off.max().item())
            worst["largest_relative"] = max(worst["largest_relative"], (off / scale).max().item())
    return None


def check(request):
    sides = [Side(request, False), Side(request, True)]
    worst = {"largest_absolute": 0.0, "largest_relative": 0.0}
    times, calls, rounds, n = ([], []), 1, ROUNDS, 0
    while n <= rounds:  # round 0 warms up and says how long a block has to be
        inputs = sides[0].ask({"do": "draw", "seed": n + 1})
        for side in sides:
            side.ask({"do": "take", "what": inputs[0]["what"]}, inputs[1])
        for i in (0, 1) if n % 2 else (1, 0):
            sides[i].run(1)
            took = sides[i].run(calls)
            if n:
                times[i].append(took)
        why = gap(sides[0].outputs(), sides[1].outputs(), worst)
        if why is None and worst["largest_relative"] > request["tolerance"]:
            why = "the outputs differ by more than %g of their size" % request["tolerance"]
        if why:
            return {"is_same": False, "why": why, "rounds": n, **worst}
        if n == 0:
            one = max(side.run(1) for side in sides) / 1e9
            calls = max(1, min(10000, int(BLOCK_SECONDS / max(one, 1e-7))))
            rounds = max(FEWEST, min(ROUNDS, int(SECONDS / 3 / (2 * one * (calls + 1)))))
        n += 1
    logs = [math.log(p / s) for p, s in zip(*times)]
    mean = sum(logs) / rounds
    half = T95[rounds - 2] * math.sqrt(sum((v - mean) ** 2 for v in logs) / (rounds - 1) / rounds)
    return {"is_same": True, "rounds": rounds, "calls": calls, **worst, "model_ns": sorted(times[0])[rounds // 2],
            "swapped_ns": sorted(times[1])[rounds // 2], "ratio": math.exp(mean), "low": math.exp(mean - half),
            "high": math.exp(mean + half)}


ASKS = {"rank": rank, "cut": cut, "check": check}


def main():
    stream = os.dup(1)
    os.dup2(2, 1)
    try:
        request = json.loads(read("request.json"))
        Place.take(request.get("device", "cpu"))
        if request["ask"] != "check":  # which calls no operator of torch before it forks
            torch.set_num_threads(request["threads"])
            torch.set_grad_enabled(False)
        said = ASKS[request["ask"]](request)
    except Refused as why:
        said = {"refused": str(why)}
    except SyntaxError as why:
        said = {"refused": "not Python that this interpreter reads: %s" % why}
    except Exception as why:
        said = {"refused": "%s: %s" % (type(why).__name__, str(why)[:300])}
    os.write(stream, json.dumps(said).encode())
    sys.stdout.flush()
    os._exit(0)

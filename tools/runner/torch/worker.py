# SPDX-License-Identifier: Apache-2.0
# The jailed side of torch tasks: answers requests for reference values in float64.
# Standard library and torch only. `worker.py serve` is started in /work beside oracle.py and task.json; it imports torch
# once and has a child answer, since a module may crash, or not end. A fork takes longer than most answers, so that the child
# goes on until it fails; the module is executed anew for each request, from the same random state. Each timing has a child of
# its own, without the state that others left.
# A request is a JSON line on stdin, its answer one on stdout: {"ok": true, "numbers": [...]} or {"error": "..."}; the numbers
# are what float32 errs by in each output (gaps_of), or for a request with "calls" the ns of one call in float32.
# `worker.py device` is another process, beside a GPU: it times the module there, for a yardstick, on content of its own.
# A request with "axes" builds the module, one with "calls" times it; with "is_compiled" as torch.compile makes it.
# With HONE_TORCH_DEVICE the answers are computed there; where that fails, one of at most HONE_TORCH_HOST_ELEMENTS elements on the
# CPU, and for more the answer is {"none": why}.
# Descriptor 5 holds the inputs (private mappings: nothing can be changed), 6 takes the answers.
import ast
import contextlib
import ctypes
import json
import mmap
import os
import random
import resource
import select
import signal
import sys
import time

SECONDS = int(os.environ.get("HONE_TORCH_SECONDS", "120"))  # of processor time
PATIENCE = 5  # times as long by the clock: others use the cores too
MOST_SECONDS = 1000  # of a child that answers many requests: the jail ends a process that used more than 3600
DEVICE, HOST_ELEMENTS = os.environ.get("HONE_TORCH_DEVICE"), int(os.environ.get("HONE_TORCH_HOST_ELEMENTS", "0"))
INPUTS, OWN = 5, 6
MARK, LATE = "# hone: ", "no answer"
NARROW = {"float16", "half", "bfloat16"}
WIDE = {"float32", "float"} | NARROW


class Refused(Exception):
    """What cannot be a task, in a sentence for the user."""


class NotThere(Exception):
    """The device has no answer, and the CPU is not asked for so much."""


class Rewrite(ast.NodeTransformer):
    """Other integers for the axes; with is_wide float64 and one device in place of casts and devices."""
    device = "cpu"

    def __init__(self, axes, is_wide):
        self.axes, self.is_wide = axes, is_wide

    def visit_Module(self, node):
        for statement in node.body:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                name = getattr(statement.targets[0], "id", None)
                if name in self.axes:
                    statement.value = ast.copy_location(ast.Constant(self.axes[name]), statement.value)
        return self.generic_visit(node)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if self.is_wide and isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in WIDE:
            node.attr = "float64"
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and self.is_wide:
            if node.func.attr in ("float", "half", "bfloat16") and not node.args:
                node.func.attr = "double"
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            return node.func.value
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, str) and (node.value == "cuda" or node.value.startswith("cuda:")):
            node.value = self.device
        return node


def parse(text):
    """With one name for each module-level integer: a = b = 1 is a = 1; b = a, and (1, 2) has two names."""
    tree, body = ast.parse(text), []
    for s in tree.body:
        names = [getattr(t, "id", None) for t in s.targets] if isinstance(s, ast.Assign) else []
        if isinstance(s, ast.Assign) and len(names) > 1 and all(names):
            body.append(ast.parse("%s = 0" % names[0]).body[0])
            body[-1].value = s.value
            body += [ast.parse("%s = %s" % (name, names[0])).body[0] for name in names[1:]]
        elif names and isinstance(s.targets[0], ast.Tuple) and isinstance(s.value, ast.Tuple) and all(
                isinstance(t, ast.Name) for t in s.targets[0].elts) and len(s.targets[0].elts) == len(s.value.elts):
            for target, value in zip(s.targets[0].elts, s.value.elts):
                body.append(ast.Assign(targets=[target], value=value))
        elif names and names[0] and isinstance(s.value, ast.Tuple) and all(type(getattr(e, "value", None)) is int
                                                                        for e in s.value.elts):
            for i, value in enumerate(s.value.elts):
                body.append(ast.parse("%s_%d = 0" % (names[0], i)).body[0])
                body[-1].value = value
                s.value.elts[i] = ast.Name("%s_%d" % (names[0], i), ast.Load())
            body.append(s)
        else:
            body.append(s)
    tree.body = body
    return ast.fix_missing_locations(tree)


def execute(text, axes, is_wide):
    """The module's names after it was executed with these values of its module-level integers."""
    tree = ast.fix_missing_locations(Rewrite(axes, is_wide).visit(parse(text)))
    names = {"__name__": "hone_task"}
    exec(compile(tree, "module.py", "exec"), names)
    for wanted in ("Model", "get_inputs", "get_init_inputs"):
        if wanted not in names:
            raise Refused("the file has no %s; a task is a file with Model, get_inputs and get_init_inputs" % wanted)
    return names


def construct(names):
    return names["Model"](*names["get_init_inputs"]()).eval()


def outputs_of(value):
    import torch
    parts = list(value) if isinstance(value, (tuple, list)) else [value]
    for part in parts:
        if not isinstance(part, torch.Tensor):
            raise Refused("forward returns a %s; outputs are tensors" % type(part).__name__)
    return parts


def dtypes():
    import torch
    names = "float16 bfloat16 float32 float64 int8 int32 int64 bool uint8 int16".split()
    return {name: getattr(torch, name) for name in names}


def map_tensor(torch, at, count, dtype):
    bytes_each = torch.empty(0, dtype=dtype).element_size()
    first = at // mmap.PAGESIZE * mmap.PAGESIZE
    room = mmap.mmap(INPUTS, at - first + max(count, 1) * bytes_each, flags=mmap.MAP_PRIVATE,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE, offset=first)
    return torch.frombuffer(room, dtype=dtype, count=count, offset=at - first)


def skip_initialisers(torch):
    """The state comes from the inputs: drawing it first would be for nothing."""
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *args, **more: tensor)


def read_inputs(torch, task, request, places, is_wide=True):
    axes = dict(zip(task["axes"], request["axes"]))
    values = dict(zip(task.get("scalars", {}), request["scalars"]))
    for (name, tensor), at in zip(task["inputs"].items(), places):
        shape = [axes[axis] for axis in tensor["shape"]]
        count = 1
        for size in shape:
            count *= size
        value = map_tensor(torch, at, count, dtypes()[tensor["dtype"]]).view(shape)
        values[name] = value.double() if is_wide and value.is_floating_point() else value
    return axes, values


def put_state(state, record, values):
    """Of an input that stands for several tensors each takes its elements in turn."""
    for name, keys in record["state"].items():
        if isinstance(keys, str):
            state[keys].copy_(values[name])
            continue
        at = 0
        for key in keys:
            n = state[key].numel()
            state[key].copy_(values[name][at:at + n].view(state[key].shape))
            at += n


def build(torch, text, record, axes, values, is_wide, device="cpu"):
    torch.set_default_dtype(torch.float64 if is_wide else torch.float32)
    names = execute(text, {there: axes[here] for here, there in record["axes"].items()}, is_wide)
    model = construct(names)
    model = (model.double() if is_wide else model).to(device)
    put_state(model.state_dict(), record, values)
    return model


def given_by(record, axes, values):
    """What forward is called with."""
    return [values[a["name"]] if "name" in a else axes[a["axis"]] if "axis" in a else a["value"] for a in record["arguments"]]


def forward(torch, text, record, axes, values, is_wide, device):
    model = build(torch, text, record, axes, values, is_wide, device)
    given = [g.clone() if isinstance(g, torch.Tensor) else g for g in given_by(record, axes, values)]  # a module may change it
    if not is_wide:
        given = [g.float() if isinstance(g, torch.Tensor) and g.is_floating_point() else g for g in given]
    return [part.to(torch.float64).contiguous().reshape(-1) for part in outputs_of(model(*given))]


def largest_gap(torch, narrow, wide):
    """What float32 errs by here, at most: where sums cancel, more than the size of the output tells."""
    gap = (narrow - wide).abs()
    gap = gap[torch.isfinite(gap)]
    return gap.max().item() if gap.numel() else 0.0


DRAWS = 2
MOVE, LAST_PLACES = 2.0 ** -40, 4 * 2.0 ** -23  # relative: what inputs are moved by, and what four last places of float32 are


def moved(torch, values, by, draw):
    """Each float somewhat more or less, at most by this part of it."""
    result, chances = dict(values), {}
    for name, v in values.items():
        if isinstance(v, torch.Tensor) and v.is_floating_point():
            chance = chances.setdefault(v.device, torch.Generator(v.device).manual_seed(draw))
            result[name] = v * (1 + by * (2 * torch.rand(v.shape, generator=chance, dtype=torch.float64, device=v.device) - 1))
    return result


def largest_moves(torch, wide, values, results):
    """What four last places of float32 in the inputs move each output by: a kernel rounds often. Where twice the move
    does not give twice the answer, it is a step (another maximum, a comparison), which excuses nothing."""
    largest = [0.0] * len(results)
    for draw in range(DRAWS):
        once, twice = [wide(moved(torch, values, by, draw)) for by in (MOVE, 2 * MOVE)]
        for i, result in enumerate(results):
            move, double = once[i] - result, twice[i] - result
            move = move[(double - 2 * move).abs() <= 0.1 * move.abs()].abs()
            if move.numel():
                largest[i] = max(largest[i], move.max().item() * (LAST_PLACES / MOVE))
    return largest


def gaps_of(torch, narrow, results, wide, values, room):
    """What float32 errs by in each output: by torch's own pass, and where that comes near to what the scale is made
    of, by moves of the inputs too: one pass errs by chance far less than others."""
    gaps = [largest_gap(torch, n, r) for n, r in zip(narrow, results)]
    sizes = [r[torch.isfinite(r)] for r in results]
    sizes = [r.square().mean().sqrt().item() if r.numel() else 0.0 for r in sizes]
    if any(8 * room * gap > size for gap, size in zip(gaps, sizes)):
        gaps = [max(pair) for pair in zip(gaps, largest_moves(torch, wide, values, results))]
    return gaps


def answer(torch, text, task, request):
    record = json.loads(text.split("\n", 1)[0][len(MARK):])
    torch.set_grad_enabled(False)
    skip_initialisers(torch)
    axes, values = read_inputs(torch, task, request, request["at"])
    if DEVICE:
        try:
            with on_device(torch):
                return answer_on(torch, text, record, request, axes, values, DEVICE)
        except Exception as wrong:
            n = sum(v.numel() for v in values.values() if isinstance(v, torch.Tensor)) + sum(request["counts"])
            if n > HOST_ELEMENTS:
                raise NotThere("%s: %s" % (type(wrong).__name__, wrong))
    return answer_on(torch, text, record, request, axes, values, "cpu")


@contextlib.contextmanager
def on_device(torch):
    """New tensors lie there, sums are of float32, and what torch keeps of its memory is given back."""
    is_cuda = DEVICE == "cuda"
    if is_cuda:
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        torch.cuda.manual_seed_all(0)
        if hasattr(torch, "set_default_device"):
            torch.set_default_device(DEVICE)
    Rewrite.device = DEVICE
    try:
        yield
    finally:
        Rewrite.device = "cpu"
        if is_cuda and hasattr(torch, "set_default_device"):
            torch.set_default_device("cpu")
        if is_cuda:
            torch.cuda.empty_cache()


def answer_on(torch, text, record, request, axes, values, device):
    values = {name: v.to(device) if isinstance(v, torch.Tensor) else v for name, v in values.items()}

    def wide(given):
        return forward(torch, text, record, axes, given, True, device)

    narrow = forward(torch, text, record, axes, values, False, device)
    results = wide(values)
    if [part.numel() for part in results] != request["counts"]:
        raise Refused("forward gave %s elements, %s were expected" % ([part.numel() for part in results], request["counts"]))
    with mmap.mmap(OWN, 0) as own:
        whole, at = torch.frombuffer(own, dtype=torch.float64, count=sum(request["counts"]), offset=request["answer_at"]), 0
        for part in results:
            whole[at:at + part.numel()].copy_(part)
            at += part.numel()
        del whole
    return gaps_of(torch, narrow, results, wide, values, request["room"])


def time_calls(torch, text, task, request):
    """One call of the module as its author would make it: float32, no gradient, this many threads; ns."""
    record = json.loads(text.split("\n", 1)[0][len(MARK):])
    torch.set_grad_enabled(False)
    torch.set_num_threads(request["threads"])
    skip_initialisers(torch)
    model, given = None, []
    for places in request["sets"]:
        axes, values = read_inputs(torch, task, request, places, False)
        model = model or build(torch, text, record, axes, values, False)
        given.append(given_by(record, axes, values))
    for i in range(2):
        model(*given[i % len(given)])
    start = time.perf_counter_ns()
    for i in range(request["calls"]):
        model(*given[i % len(given)])
    return [(time.perf_counter_ns() - start) / request["calls"]]


def drawn(torch, tensor, axes):
    """Content by role, on the device: what a module takes hardly depends on more."""
    shape, dtype, role = [axes[axis] for axis in tensor["shape"]], dtypes()[tensor["dtype"]], tensor.get("role")
    if dtype == torch.bool or role == "mask":
        return (torch.rand(shape) > 0.5).to(dtype)
    if not dtype.is_floating_point:
        return torch.randint(0, max(axes.get(tensor.get("bound"), 2), 1), shape).to(dtype)
    value = torch.rand(shape) + 0.1 if role in ("positive", "probability") else torch.randn(shape)
    scale = tensor.get("scale", shape[-1] ** -0.5 if role == "weight" and shape else 1)
    return (value * (scale if type(scale) in (int, float) else 1)).to(dtype)


MOST_SETS, SET_BYTES = 16, 256 << 20  # as many as no cache holds


class OnDevice:
    """The module at one size, and sets of inputs that its calls take in turn."""

    def __init__(self, torch, text, task, request):
        if hasattr(torch, "set_default_device"):
            torch.set_default_device("cuda")
        record = json.loads(text.split("\n", 1)[0][len(MARK):])
        axes = dict(zip(task["axes"], request["axes"]))
        scalars = dict(zip(task.get("scalars", {}), request["scalars"]))
        values = {**scalars, **{name: drawn(torch, tensor, axes) for name, tensor in task["inputs"].items()}}
        self.torch, self.model = torch, build(torch, text, record, axes, values, False).cuda()
        moving = [name for name in task["inputs"] if name not in record["state"]]
        each = sum(values[name].numel() * values[name].element_size() for name in moving)
        self.given = [given_by(record, axes, values)]
        while len(self.given) < MOST_SETS and len(self.given) * each < SET_BYTES:
            fresh = {name: drawn(torch, task["inputs"][name], axes) for name in moving}
            self.given.append(given_by(record, axes, {**values, **fresh}))
        self.calls = {}
        self.ready(False)

    def ready(self, is_compiled):
        """A call for each set, as it is or as compilers make it; compiled at the first."""
        if is_compiled not in self.calls:
            model = self.torch.compile(self.model, dynamic=False) if is_compiled else self.model
            for i in range(3):
                model(*self.given[i % len(self.given)])
            self.torch.cuda.synchronize()
            self.calls[is_compiled] = self.captured(model) or [lambda g=g: model(*g) for g in self.given]
        return self.calls[is_compiled]

    def captured(self, model):
        """Graphs of the calls, which leave out what Python and launches take; None where there can be none."""
        graphs, pool = [], self.torch.cuda.graph_pool_handle()
        try:
            for given in self.given:
                graphs.append(self.torch.cuda.CUDAGraph())
                with self.torch.cuda.graph(graphs[-1], pool=pool):
                    model(*given)
            for graph in graphs:
                graph.replay()
            self.torch.cuda.synchronize()
        except Exception:
            self.torch.cuda.synchronize()
            return None
        return [graph.replay for graph in graphs]

    def ns(self, n_calls, is_compiled):
        calls = self.ready(is_compiled)
        start, end = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        start.record()
        for i in range(n_calls):
            calls[i % len(calls)]()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e6 / n_calls


def let_compile():
    """Where torch.compile finds and leaves things in the jail; without processes that wait for work."""
    os.environ.update(TORCHINDUCTOR_CACHE_DIR="/tmp/inductor", TRITON_CACHE_DIR="/tmp/triton", USER="hone",
                      TORCHINDUCTOR_COMPILE_THREADS="1")
    if os.environ.get("HONE_CUDA_LIB"):
        os.environ["TRITON_LIBCUDA_PATH"] = os.environ["HONE_CUDA_LIB"]


def load_driver():
    """torch asks for the driver by its name, which is loaded then. False: it is hone's emulator, not a device's."""
    driver = None
    if os.environ.get("HONE_CUDA_LIB"):
        driver = ctypes.CDLL(os.path.join(os.environ["HONE_CUDA_LIB"], "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
    return not hasattr(driver, "hone_emu_active")


def serve_device():
    stream = os.dup(1)
    os.dup2(2, 1)
    let_compile()
    load_driver()
    import torch
    torch.set_grad_enabled(False)
    skip_initialisers(torch)
    Rewrite.device = "cuda"
    with open("/work/oracle.py") as file:
        text = file.read()
    with open("/work/task.json") as file:
        task = json.load(file)
    module = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "axes" in request:
                module = None
                module = OnDevice(torch, text, task, request)
            say(stream, {"ok": True, "numbers": [module.ns(request["calls"], request["is_compiled"])] if "calls" in request else []})
        except BaseException as wrong:
            say(stream, {"error": ("%s: %s" % (type(wrong).__name__, wrong))[:300]})


def say(stream, what):
    os.write(stream, (json.dumps(what) + "\n").encode())


def allow_seconds(more):
    """Of processor time, from now on; the jail's own limit stays."""
    most, limit = resource.getrlimit(resource.RLIMIT_CPU)[1], int(time.process_time()) + 1 + more
    resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


class Child:
    """Answers requests, one after the other, until one fails or it has used its time."""
    seconds = 0  # of processor time, that it has used

    def __init__(self, torch, text, task):
        (to_read, self.to), (self.reader, from_write) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.to)
            os.close(self.reader)
            Child.run(torch, text, task, to_read, from_write)
        os.close(to_read)
        os.close(from_write)

    @staticmethod
    def run(torch, text, task, reader, writer):
        states = torch.get_rng_state(), random.getstate()
        try:
            for line in os.fdopen(reader):
                request = json.loads(line)
                allow_seconds(SECONDS * request.get("threads", 1))
                torch.set_rng_state(states[0])
                random.setstate(states[1])
                numbers = (time_calls if "calls" in request else answer)(torch, text, task, request)
                os.write(writer, (json.dumps(numbers + [time.process_time()]) + "\n").encode())
        except NotThere as wrong:
            os.write(writer, (json.dumps({"none": str(wrong)[:300]}) + "\n").encode())
            os._exit(1)
        except BaseException as wrong:
            os.write(writer, ("%s: %s" % (type(wrong).__name__, wrong)).encode()[:400])
            os._exit(1)
        os._exit(0)

    def ask(self, request):
        """What goes back; not ok: the child has ended."""
        said, end = b"", time.monotonic() + PATIENCE * SECONDS
        try:
            os.write(self.to, (json.dumps(request) + "\n").encode())
            while not said.endswith(b"\n"):
                ready, _, _ = select.select([self.reader], [], [], max(0, end - time.monotonic()))
                more = os.read(self.reader, 4096) if ready else b""
                if not more:
                    break
                said += more
        except BrokenPipeError:
            pass
        if said.startswith(b"[") and said.endswith(b"\n"):
            *numbers, self.seconds = json.loads(said)
            return {"ok": True, "numbers": numbers}
        if said.startswith(b'{"none"') and said.endswith(b"\n"):
            self.end()
            return json.loads(said)
        is_late, ended = time.monotonic() >= end, self.end() & 127
        was_long = is_late or ended == signal.SIGXCPU
        return {"error": said.decode(errors="replace") or ("%s in %d s" % (LATE, SECONDS) if was_long else "ended by signal %d" % ended)}

    def end(self):
        os.close(self.to)
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.reader)
        return os.waitpid(self.pid, 0)[1]


def answered(torch, text, task, child, request):
    """What goes back, and the child that goes on, or None. child None: a new one."""
    child = child or Child(torch, text, task)
    was_used = child.seconds > 0
    said = child.ask(request)
    if "error" in said and was_used and LATE not in said["error"]:  # what earlier requests left may be to blame
        return answered(torch, text, task, None, request)
    if "ok" in said and child.seconds > MOST_SECONDS:
        child.end()
    return said, child if "ok" in said and child.seconds <= MOST_SECONDS else None


def serve():
    global DEVICE
    stream = os.dup(1)
    os.dup2(2, 1)
    if DEVICE == "cuda" and not load_driver():  # a child starts it
        DEVICE = "none"
    import torch
    torch.set_num_threads(1)
    with open("/work/oracle.py") as file:
        text = file.read()
    with open("/work/task.json") as file:
        task = json.load(file)
    say(stream, {"ok": True})
    child = None
    for line in sys.stdin:
        request = json.loads(line)
        is_timing = "calls" in request
        said, used = answered(torch, text, task, None if is_timing else child, request)
        if not is_timing:
            child = used
        elif used:
            used.end()
        say(stream, said)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    elif sys.argv[1] == "device":
        serve_device()
    elif sys.argv[1] == "model":
        load_driver()
        import model
        model.main()
    else:
        import describe
        describe.main(sys.argv[2])

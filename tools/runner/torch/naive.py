# SPDX-License-Identifier: Apache-2.0
# The naive kernels of a traced module, in C and in CUDA: one plain function for each kind of operation, called in the module's order.
# Sizes are read at run time, so that a kernel works for every legal size. What has no row here is refused by name.
import math
import re

import torch
import torch.fx

import naive_cuda
from naive_cuda_shapes import noted, noted_pass, sizes_of
from naive_layers import layer
from naive_losses import einsum, loss, loss_module
from naive_parts import BASE, NEEDS, PARTS
from naive_trace import MADE, trace
from worker import Refused

READ = {"float16": ("uint16_t", "n_half(%s)", "n_to_half(%s)"), "bfloat16": ("uint16_t", "n_bfloat(%s)", "n_to_bfloat(%s)"),
        "float64": ("double", "(float)%s", "(double)%s"), "int64": ("int64_t", "(float)%s", "(int64_t)%s"),
        "int32": ("int32_t", "(float)%s", "(int32_t)%s"), "bool": ("uint8_t", "(float)(%s != 0)", "%s != 0"),
        **{k: (k + "_t", "(float)%s", "(" + k + "_t)%s") for k in ("uint8", "int8", "int16")},
        "float32": ("float", "%s", "%s")}  # how an element is kept, read and written
PART_OF = {"float16": "n_half", "bfloat16": "n_bfloat"}
BINARY = {"gt": "x > y", "lt": "x < y", "ge": "x >= y", "le": "x <= y", "eq": "x == y", "ne": "x != y",
          "and": "x != 0 && y != 0", "logical_and": "x != 0 && y != 0", "or": "x != 0 || y != 0", "add": "x + y", "sub": "x - y", "mul": "x * y", "truediv": "x / y", "div": "x / y", "pow": "powf(x, y)",
          "multiply": "x * y", "subtract": "x - y", "divide": "x / y", "maximum": "x > y ? x : y", "minimum": "x < y ? x : y", "iadd": "x + y", "isub": "x - y", "imul": "x * y",
          "add_": "x + y", "mul_": "x * y", "sub_": "x - y", "div_": "x / y", "itruediv": "x / y"}
UNARY = {"relu": "x > 0 ? x : 0", "sigmoid": "1 / (1 + expf(-x))", "tanh": "tanhf(x)", "exp": "expf(x)",
         "log": "logf(x)", "sqrt": "sqrtf(x)", "rsqrt": "1 / sqrtf(x)", "abs": "fabsf(x)", "neg": "-x",
         "square": "x * x", "sin": "sinf(x)", "cos": "cosf(x)", "erf": "erff(x)", "reciprocal": "1 / x",
         "silu": "x / (1 + expf(-x))", "softsign": "x / (1 + fabsf(x))", "hardswish":
         "x * fminf(fmaxf(x + 3, 0), 6) / 6", "hardsigmoid": "fminf(fmaxf(x + 3, 0), 6) / 6",
         "relu6": "fminf(fmaxf(x, 0), 6)", "relu_": "x > 0 ? x : 0", "mish": "x * tanhf(x > 20 ? x : log1pf(expf(x)))",
         "selu": "1.0507009873554805f * (x > 0 ? x : 1.6732632423543772f * expm1f(x))",
         "invert": "x == 0", "logical_not": "x == 0", "expm1": "expm1f(x)", "log1p": "log1pf(x)", "tan": "tanf(x)", "floor": "floorf(x)",
         "ceil": "ceilf(x)", "round": "rintf(x)", "trunc": "truncf(x)", "exp2": "exp2f(x)", "log2": "log2f(x)", "isnan": "x != x",
         "bool": "x != 0", "log_sigmoid": "x < 0 ? x - log1pf(expf(x)) : -log1pf(expf(-x))",
         "logsigmoid": "x < 0 ? x - log1pf(expf(x)) : -log1pf(expf(-x))", "sign": "(x > 0) - (x < 0)"}
SAME = {"contiguous", "clone", "detach", "identity", "dropout", "float", "type_as", "double", "long", "int"}
REDUCE = {"sum": "+", "mean": "m", "amax": ">", "amin": "<", "prod": "*"}


MOST_STEPS = 8  # of one pass over the elements
MOST_CONSTANT = 16384  # elements of a tensor that stands in the kernel

SAME_TYPE = object()  # of a tensor's dtype and device


class T:
    def __init__(self, name, rank):
        self.name, self.rank = name, rank


class C:  # a number that is known when the kernel runs
    def __init__(self, text):
        self.text = text


def c_float(value):
    text = repr(float(value))
    if text in ("inf", "-inf", "nan"):
        return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}[text]
    return text + "f"


def three(value, n, fill):
    value = tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
    return "(int64_t[]){%s}" % ", ".join(str(v) for v in (fill,) * (3 - n) + value)


class Writer:
    def __init__(self, trial, pack):
        self.pack, self.trial, self.lines, self.used, self.own, self.n, self.temps = pack, trial, [], [], {}, 0, []
        self.device_lines, self.device_own, self.made_at, self.views, self.passes = [], {}, {}, {}, {}
        self.steps, self.results = {}, []
        self.state, self.ranks, self.shapes, self.ops, self.seen, self.before = {}, {}, {}, {}, {}, {}
        for name, key in pack.record["state"].items():
            self.state.update({key: name} if isinstance(key, str) else {})
        self.n_parts = 0
        self.buffers = {}
        for name, tensor in pack.inputs.items():
            if tensor["dtype"] not in READ:
                raise Refused("no naive kernel: input %s is %s" % (name, tensor["dtype"]))
            self.shapes["m_" + name] = sizes_of(pack, tensor["shape"])
            if tensor["dtype"] != "float32":
                self.widen(name, tensor)
                continue
            self.add("    struct nt m_%s = {.r = %d, .d = {%s}, .v = (float *)(uintptr_t)%s};" % (
                name, len(tensor["shape"]), ", ".join(tensor["shape"]) or "0", name))
        self.ranks = {key: len(pack.inputs[name]["shape"]) for key, name in self.state.items()}
        for name, keys in pack.record["state"].items():
            at = 0
            for i, key in enumerate([] if isinstance(keys, str) else keys):
                value = trial.state[key]
                self.state[key], self.ranks[key] = "%s_%d" % (name, i), value.dim()
                self.own_state(key, name, value.shape, at)
                at += value.numel()
        self.heads = list(dict.fromkeys("m_" + name for name in list(pack.inputs) + list(self.state.values())))
        self.n_head_lines = len(self.lines)

    def add(self, line, device_line=None):
        self.lines.append(line)
        self.device_lines.append(device_line or naive_cuda.spoken(line))

    def widen(self, name, tensor):
        if tensor["dtype"] in PART_OF:
            self.use(PART_OF[tensor["dtype"]])
        function, launch = naive_cuda.widened(name, tensor["dtype"])
        self.device_own["in " + name] = function
        self.add("    struct nt m_%s = n_room(%d, (int64_t[]){%s});\n    for (int64_t i = 0; i < n_count(m_%s); i++)\n"
                 "        m_%s.v[i] = %s;" % (name, len(tensor["shape"]), ", ".join(tensor["shape"]) or "0", name, name,
                                             READ[tensor["dtype"]][1] % (name + "[i]")),
                 (naive_cuda.room(name, tensor["shape"]) + launch).rstrip("\n"))
        self.temps.append("m_" + name)

    def own_state(self, key, name, shape, at):
        """A tensor of the state that stands with others in one input."""
        self.shapes["m_" + self.state[key]] = tuple(map(str, shape))
        self.add("    struct nt m_%s = {.r = %d, .d = {%s}, .v = (float *)(uintptr_t)(%s + %d)}; /* %s */" % (
            self.state[key], len(shape), ", ".join(map(str, shape)) or "0", name, at, key))

    def use(self, name):
        for other in NEEDS.get(name, []):
            self.use(other)
        if name not in self.used:
            self.used.append(name)

    def fresh(self, text, rank, on_device=None):
        name = "v%d" % self.n
        self.n += 1
        self.made_at[name] = len(self.device_lines)
        self.add("    struct nt %s = %s;" % (name, text),
                 on_device and naive_cuda.spoken("    struct nt %s = %s;" % (name, on_device)))
        self.temps.append(name)
        return T(name, rank)

    def call(self, part, rank, *args):
        self.use(part)
        if part == "n_view":
            self.views["v%d" % self.n] = args[0]
        value = self.fresh("%s(%s)" % (part, ", ".join(str(a) for a in args)), rank)
        noted(self, value, part, args)
        return value

    def convolved(self, n, groups, rank, *args):
        """On a device one of three dimensions has a kernel of its own."""
        self.use("n_conv")
        arguments = "(%s)" % ", ".join(str(a) for a in args + (groups,))
        has_own = n == 3 and groups == 1
        if has_own:
            self.use("n_conv3")
        value = self.fresh("n_conv" + arguments, rank, "n_conv3" + arguments if has_own else None)
        noted(self, value, "n_conv", args + (groups,))
        return value

    def tensor(self, value):
        if isinstance(value, T):
            return value
        self.use("n_scalar")
        return self.call("n_scalar", 0, value.text if isinstance(value, C) else c_float(value))

    def mapped(self, expression, value):
        """A pass over the elements; behind another one it becomes a part of it."""
        steps, tensors = self.passes.get(value.name, ([], [value]))
        if len(steps) == MOST_STEPS:
            steps, tensors = [], [value]
        return self.pointwise(steps + [expression], tensors, value.rank)

    def binary(self, expression, a, b):
        for value, name, other in ((b, "y", a), (a, "x", b)):
            if isinstance(value, (int, float)) and isinstance(other, T):  # a number stands in the expression
                there = re.sub(r"\b%s\b" % name, "(%s)" % c_float(value), expression)
                return self.mapped(re.sub(r"\by\b", "x", there) if name == "x" else there, other)
        self.use("n_wide")
        a, b = self.tensor(a), self.tensor(b)
        return self.pointwise([expression], [a, b], max(a.rank, b.rank))

    def pointwise(self, steps, tensors, rank):
        """steps[0] is of x, and of y where there are two tensors; each later step is of x, what the one before gave."""
        is_two = len(tensors) == 2
        known = "; ".join(steps) + (" of two" if is_two else "")
        key = "n_map%d" % (list(self.own).index(known) if known in self.own else len(self.own))
        given, room = ("struct nt a, struct nt b", "n_wide(a, b)") if is_two else ("struct nt a", "n_room(a.r, a.d)")
        read = "float x = a.v[n_from(a, c, i)], y = b.v[n_from(b, c, i)];" if is_two else "float x = a.v[i];"
        between = "".join("        x = %s;\n" % step for step in steps[:-1])
        self.own[known] = ("static struct nt %s(%s)\n{\n    struct nt c = %s;\n    for (int64_t i = 0; i < n_count(c); i++) {\n"
                           "        %s\n        (void)x;\n%s        c.v[i] = %s;\n    }\n    return c;\n}\n" % (
                               key, given, room, read, between, steps[-1]))
        self.device_own[known] = (naive_cuda.binary if is_two else naive_cuda.mapped)(key[2:], steps)
        value = self.fresh("%s(%s)" % (key, ", ".join(t.name for t in tensors)), rank)
        self.passes[value.name], self.steps[key] = (steps, tensors), steps
        noted_pass(self, value, steps, tensors)
        return value

    def body(self, lines):
        """Of a kernel: its inputs, what may go unused, its calls."""
        n, unused = self.n_head_lines, ["    (void)%s;" % name for name in list(self.pack.axes) + self.heads]
        return "\n".join(lines[:n] + unused + [line for line in lines[n:] if line])

    def key_of(self, known):
        return self.own[known].split("(")[0].split()[-1]

    def drop_unused(self, result):
        """Passes that became parts of later ones, where nothing else reads them, and their functions."""
        self.results = [t.name for t in result if isinstance(t, T)]
        for name in reversed(list(self.passes)):
            at = self.made_at[name]
            others = "\n".join(self.lines[:at] + self.lines[at + 1:]) + " ".join(self.results)
            if not re.search(r"\b%s\b" % name, others):
                self.lines[at] = self.device_lines[at] = ""
                self.temps.remove(name)
        calls = "\n".join(self.lines)
        for known in list(self.own):
            if not re.search(r"\b%s\(" % self.key_of(known), calls):
                del self.own[known], self.device_own[known]

    def written(self, lines, tensors, rank, known, on_device):
        """A function of its own, from the lines of its body; on_device(its name) gives the one that launches."""
        key = "n_map%d" % (list(self.own).index(known) if known in self.own else len(self.own))
        given = ", ".join("struct nt a%d" % i for i in range(len(tensors)))
        self.own[known] = "static struct nt %s(%s)\n{\n%s\n}\n" % (key, given, "\n".join(lines))
        self.device_own[known] = on_device(key[2:])
        value = self.fresh("%s(%s)" % (key, ", ".join(t.name for t in tensors)), rank)
        noted(self, value, key, [])
        return value

    @staticmethod
    def known(text):
        return C(text)

    def param(self, path, name):
        key = (path + "." if path else "") + name
        return "m_" + self.state[key] if key in self.state else None

    def pointer(self, path, name):
        found = self.param(path, name)
        return found + ".v" if found else "NULL"

    # --- modules ---
    def module(self, m, path, x, rank):
        kind = type(m).__name__
        if kind == "Linear":
            return self.call("n_linear", rank, x.name, self.param(path, "weight"), self.pointer(path, "bias"))
        if kind in ("Conv1d", "Conv2d", "Conv3d"):
            n = int(kind[4])
            if isinstance(m.padding, str) or m.padding_mode != "zeros":
                raise Refused("no naive kernel: %s with padding %s" % (kind, m.padding))
            return self.convolved(n, m.groups, rank, x.name, self.param(path, "weight"), self.pointer(path, "bias"),
                                  three(m.stride, n, 1), three(m.padding, n, 0), three(m.dilation, n, 1))
        if kind in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"):
            n = int(kind[13])
            return self.call("n_convt", rank, x.name, self.param(path, "weight"), self.pointer(path, "bias"),
                             three(m.stride, n, 1), three(m.padding, n, 0), three(m.dilation, n, 1),
                             three(m.output_padding, n, 0), m.groups)
        if kind[:-2] in ("MaxPool", "AvgPool") and kind[-1] == "d":
            return self.pooled(kind, x, dict(vars(m)), rank)
        if kind[:-2] == "AdaptiveAvgPool":
            return self.call("n_adaptive", rank, x.name, three(m.output_size, int(kind[-2]), 1))
        if kind.startswith("BatchNorm") and m.track_running_stats:
            return self.call("n_batchnorm", rank, x.name, self.param(path, "running_mean"),
                             self.param(path, "running_var"), self.pointer(path, "weight"),
                             self.pointer(path, "bias"), c_float(m.eps))
        if kind in ("LayerNorm", "GroupNorm") or kind.startswith("InstanceNorm") and not m.track_running_stats:
            return self.norm(m, kind, path, x, rank)
        if kind in ("Softmax", "LogSoftmax"):
            return self.call("n_lines", rank, x.name, m.dim % rank, "'s'" if kind == "Softmax" else "'l'")
        if kind == "Flatten":
            return self.flatten(x, m.start_dim % x.rank, m.end_dim % x.rank)
        if kind in ("Identity", "Dropout", "Dropout2d", "Dropout3d"):
            return x
        expression = self.activation(kind.lower(), dict(vars(m)))
        if expression:
            return self.mapped(expression, x)
        raise Refused("no naive kernel: nn.%s" % kind)

    def norm(self, m, kind, path, x, rank):
        count = "n_count(%s)" % x.name
        w, b = self.pointer(path, "weight"), self.pointer(path, "bias")
        if kind == "LayerNorm":
            length = "*".join("%s.d[%d]" % (x.name, x.rank - 1 - i) for i in range(len(m.normalized_shape)))
            return self.call("n_norm", rank, x.name, length, length, 1, w, b, c_float(m.eps))
        groups = "%s.d[1]" % x.name if kind[0] == "I" else m.num_groups
        return self.call("n_norm", rank, x.name, "%s / (%s.d[0] * %s)" % (count, x.name, groups), "%s.d[1]" % x.name,
                         "%s / (%s.d[0] * %s.d[1])" % (count, x.name, x.name), w, b, c_float(m.eps))

    def activation(self, name, p):
        slope = p.get("negative_slope", 0.01)
        if name in ("leakyrelu", "leaky_relu"):
            return "x > 0 ? x : x * %s" % c_float(slope)
        if name == "elu":
            return "x > 0 ? x : %s * expm1f(x)" % c_float(p.get("alpha", 1.0))
        if name in ("hardtanh", "clamp", "clip"):
            low = p.get("min_val", p.get("min", -1.0 if name == "hardtanh" else None))
            high = p.get("max_val", p.get("max", 1.0 if name == "hardtanh" else None))
            return "fminf(fmaxf(x, %s), %s)" % (c_float(-math.inf if low is None else low),
                                                c_float(math.inf if high is None else high))
        if name == "softplus":
            return "%s * x > %s ? x : log1pf(expf(%s * x)) / %s" % tuple(c_float(v) for v in (
                p.get("beta", 1), p.get("threshold", 20), p.get("beta", 1), p.get("beta", 1)))
        if name == "gelu":
            return ("0.5f * x * (1 + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)))"
                    if p.get("approximate", "none") == "tanh" else "0.5f * x * (1 + erff(x * 0.7071067811865476f))")
        return UNARY.get(name)

    def flatten(self, x, first, last):
        dims = ["%s.d[%d]" % (x.name, i) for i in range(x.rank)]
        dims[first:last + 1] = ["*".join(dims[first:last + 1])]
        return self.view(x, dims)

    def view(self, x, dims):
        dims = [d.text if isinstance(d, C) else str(d) for d in dims]
        return self.call("n_view", len(dims), x.name, len(dims), "(int64_t[]){%s}" % ", ".join(dims or ["0"]))

    # --- functions and methods ---
    def function(self, name, args, more, rank):
        x = args[0] if args else None
        if name in ("getattr",) and args[1] == "shape" or name == "size":
            dims = [C("%s.d[%d]" % (x.name, i)) for i in range(x.rank)]
            return dims[args[1]] if name == "size" and len(args) > 1 else dims
        if name == "getattr" and args[1] in ("dtype", "device"):
            return SAME_TYPE
        if name == "dim" and not args[1:]:
            return x.rank
        if name == "getattr" and args[1] in ("T", "mT") and x.rank == 2:
            return self.call("n_permute", 2, x.name, "(int64_t[]){1, 0}")
        if name == "getattr" and isinstance(x, list) and args[1] in ("values", "indices"):
            return x[args[1] == "indices"]
        if name == "getattr":
            raise Refused("no naive kernel: tensor.%s" % args[1])
        if name == "getitem" and isinstance(x, (list, tuple)):
            return x[args[1]]
        if name == "getitem" and isinstance(x, T):
            return self.getitem(x, args[1] if isinstance(args[1], tuple) else (args[1],))
        if name in MADE:
            return self.made(name, args, more, rank)
        if args and all(isinstance(a, (int, float, C)) for a in args) and not more:
            return self.number(name, args)
        if name in BINARY and len(args) == 2 and not more:
            if name == "pow" and args[1] == 2:
                return self.mapped("x * x", x)
            return self.binary(BINARY[name], args[0], args[1])
        if name in ("matmul", "bmm", "mm", "mv", "dot"):
            return self.product(args[0], args[1], rank)
        if name == "put_part":
            return self.put_part(x, args[1] if isinstance(args[1], tuple) else (args[1],), args[2])
        if name in ("var", "std"):
            spread = self.variance(x, args, more, rank)
            return self.mapped("sqrtf(x)", spread) if name == "std" else spread
        if name in ("group_norm", "layer_norm", "batch_norm", "normalize", "pad", "unfold"):
            return getattr(self, name)(x, list(args[1:]), more, rank)
        if name in SAME or name == "to" and self.is_same_type(args[1:], more):
            return x
        if name in ("max", "min") and len(args) == 1 and not more:
            return self.reduce(">" if name == "max" else "<", x, [x], {}, rank)
        if name in ("max", "min") and (len(args) == 2 and isinstance(args[1], int) or "dim" in more):
            keep = int(more.get("keepdim", args[2] if len(args) > 2 else False))
            dim = (more["dim"] if "dim" in more else args[1]) % x.rank
            return [self.call("n_reduce", x.rank - 1 + keep, x.name, 1 << dim, keep, "'>'" if name == "max" else "'<'"), None]
        if name in ("max", "min") and len(args) == 2 and isinstance(args[1], T):
            return self.binary(BINARY[name + "imum"], x, args[1])
        if name in REDUCE:
            return self.reduce(REDUCE[name], x, args, more, rank)
        if name == "norm":
            p = more.get("p", args[1] if len(args) > 1 else "fro")
            if p not in (1, 2, "fro", None):
                raise Refused("no naive kernel: norm with p = %s" % p)
            return self.reduce("1" if p == 1 else "q", x, [x] + list(args[2:]), more, rank)
        if name in ("softmax", "log_softmax", "cumsum", "cumprod"):
            dim = more.get("dim", args[1] if len(args) > 1 else None)
            if dim is None:
                raise Refused("no naive kernel: %s without dim" % name)
            kind = {"softmax": "s", "log_softmax": "l", "cumsum": "+", "cumprod": "*"}[name]
            return self.call("n_lines", rank, x.name, dim % rank, "'%s'" % kind)
        if name == "logsumexp":
            return self.logsumexp(x, args, more)
        if name in ("argmax", "argmin"):
            dim = more.get("dim", args[1] if len(args) > 1 else None)
            if dim is None:
                raise Refused("no naive kernel: %s without dim" % name)
            return self.call("n_best", rank, x.name, dim % x.rank, int(more.get("keepdim", False)), int(name == "argmin"))
        if name in ("triu", "tril"):
            return self.call("n_triangle", rank, x.name, more.get("diagonal", args[1] if len(args) > 1 else 0),
                             int(name == "triu"))
        return self.shaping(name, x, args, more, rank)

    def made(self, name, args, more, rank):
        """A tensor whose sizes are known when the kernel runs."""
        given = list(args[0]) if len(args) == 1 + (name == "full") and isinstance(args[0], (list, tuple)) else list(args)
        words = [g.text if isinstance(g, C) else str(g) for g in given]
        if set(more) - {"dtype", "device"} or not all(isinstance(g, (int, C)) for g in given) or not words:
            raise Refused("no naive kernel: torch.%s with these arguments" % name)
        if name == "arange" and len(words) < 3:
            whole = self.call("n_range", 1, words[0] if len(words) == 1 else "(%s) - (%s)" % (words[1], words[0]))
            return whole if len(words) == 1 else self.binary("x + y", whole, given[0])
        if name in ("zeros", "ones", "full"):
            value = args[1] if name == "full" else float(name == "ones")
            return self.call("n_expand", len(words), self.tensor(value).name, len(words), "(int64_t[]){%s}" % ", ".join(words))
        if name == "eye" and len(words) == 1:
            ones = self.call("n_expand", 2, self.tensor(1.0).name, 2, "(int64_t[]){%s, %s}" % (words[0], words[0]))
            return self.call("n_triangle", 2, self.call("n_triangle", 2, ones.name, 0, 0).name, 0, 1)
        raise Refused("no naive kernel: torch.%s with these arguments" % name)

    def product(self, a, b, rank):
        """A vector is a matrix of one row, or of one column, and the result lacks that dimension."""
        wide = self.view(a, [1, "n_count(%s)" % a.name]) if a.rank == 1 else a
        tall = self.view(b, ["n_count(%s)" % b.name, 1]) if b.rank == 1 else b
        part = "n_product" if wide.rank == tall.rank == 2 else "n_matmul"
        whole = self.call(part, max(wide.rank, tall.rank), wide.name, tall.name)
        gone = ([whole.rank - 2] if a.rank == 1 else []) + ([whole.rank - 1] if b.rank == 1 else [])
        if not gone:
            return whole
        return self.view(whole, ["%s.d[%d]" % (whole.name, i) for i in range(whole.rank) if i not in gone])

    def variance(self, x, args, more, rank):
        """The mean of the squared gaps to the mean; of n - 1 where torch says so."""
        p = {"dim": None, "unbiased": True, "keepdim": False, **dict(zip(("dim", "unbiased", "keepdim"), args[1:])), **more}
        if more.get("correction") in (0, 1):
            p["unbiased"] = bool(p.pop("correction"))
        if isinstance(p["dim"], bool) or "correction" in p:
            raise Refused("no naive kernel: var with a correction")
        dims = range(x.rank) if p["dim"] is None else [p["dim"]] if isinstance(p["dim"], int) else p["dim"]
        whole = {"dim": list(dims), "keepdim": True}
        gaps = self.mapped("x * x", self.binary("x - y", x, self.reduce("m", x, [x], whole, x.rank)))
        if not p["unbiased"]:
            return self.reduce("m", gaps, [gaps], {**whole, "keepdim": p["keepdim"]}, rank)
        total = self.reduce("+", gaps, [gaps], {**whole, "keepdim": p["keepdim"]}, rank)
        count = "*".join("%s.d[%d]" % (x.name, d % x.rank) for d in dims)
        return self.binary("x / y", total, C("((float)(%s - 1))" % count))

    @staticmethod
    def at(tensor):
        return tensor.name + ".v" if isinstance(tensor, T) else "NULL"

    def put_part(self, x, index, value):
        """x with value in its slices and single rows; what the value lacks in dimensions is repeated."""
        if index in ((Ellipsis,),) or not all(isinstance(i, (int, C, slice)) for i in index) or x.rank < len(index):
            raise Refused("no naive kernel: writing to a part that is no slice")
        x, value, rows = self.tensor(x), self.tensor(value), []
        for d, i in enumerate(list(index) + [slice(None)] * (x.rank - len(index))):
            if isinstance(i, slice):
                if i.step is not None and (not isinstance(i.step, int) or i.step < 1):
                    raise Refused("no naive kernel: a slice with step %s" % i.step)
                ends = [v.text if isinstance(v, C) else str(v) for v in (i.start or 0, "INT64_MAX" if i.stop is None else i.stop)]
                rows.append("{%s, %s, %d, 0}" % (ends[0], ends[1], i.step or 1))
            else:
                text = i.text if isinstance(i, C) else str(i)
                rows.append("{%s, 0, 1, 1}" % text)
        return self.call("n_put", x.rank, x.name, value.name, "(int64_t[][4]){%s}" % ", ".join(rows))

    def group_norm(self, x, rest, more, rank):
        p = {"weight": None, "bias": None, "eps": 1e-5, **dict(zip(("num_groups", "weight", "bias", "eps"), rest)), **more}
        groups = p["num_groups"].text if isinstance(p["num_groups"], C) else p["num_groups"]
        return self.call("n_norm", rank, x.name, "n_count(%s) / (%s.d[0] * %s)" % (x.name, x.name, groups), "%s.d[1]" % x.name,
                         "n_count(%s) / (%s.d[0] * %s.d[1])" % (x.name, x.name, x.name), self.at(p["weight"]), self.at(p["bias"]),
                         self.wide_number(p["eps"]))

    def layer_norm(self, x, rest, more, rank):
        p = {"weight": None, "bias": None, "eps": 1e-5, **dict(zip(("normalized_shape", "weight", "bias", "eps"), rest)), **more}
        shape = p["normalized_shape"] if isinstance(p["normalized_shape"], (tuple, list)) else [p["normalized_shape"]]
        length = "*".join("%s.d[%d]" % (x.name, x.rank - 1 - i) for i in range(len(shape)))
        return self.call("n_norm", rank, x.name, length, length, 1, self.at(p["weight"]), self.at(p["bias"]), self.wide_number(p["eps"]))

    def batch_norm(self, x, rest, more, rank):
        words = ("running_mean", "running_var", "weight", "bias", "training", "momentum", "eps")
        p = {"weight": None, "bias": None, "training": False, "eps": 1e-5, **dict(zip(words, rest)), **more}
        if p["training"] or not isinstance(p["running_mean"], T):
            raise Refused("no naive kernel: batch_norm of a batch's own mean")
        return self.call("n_batchnorm", rank, x.name, p["running_mean"].name, p["running_var"].name, self.at(p["weight"]),
                         self.at(p["bias"]), self.wide_number(p["eps"]))

    @staticmethod
    def wide_number(value):
        return value.text if isinstance(value, C) else c_float(value)

    def normalize(self, x, rest, more, rank):
        p = {"p": 2.0, "dim": 1, "eps": 1e-12, **dict(zip(("p", "dim", "eps"), rest)), **more}
        if p["p"] not in (1, 2):
            raise Refused("no naive kernel: normalize with p = %s" % p["p"])
        length = self.reduce("1" if p["p"] == 1 else "q", x, [x], {"dim": p["dim"], "keepdim": True}, rank)
        return self.binary("x / fmaxf(y, %s)" % c_float(p["eps"]), x, length)

    def pad(self, x, rest, more, rank):
        p = {"mode": "constant", "value": None, **dict(zip(("pad", "mode", "value"), rest)), **more}
        if p["mode"] != "constant" or not isinstance(p["pad"], (tuple, list)):
            raise Refused("no naive kernel: pad of kind %s" % p["mode"])
        for i in range(0, len(p["pad"]), 2):
            words = [v.text if isinstance(v, C) else str(v) for v in p["pad"][i:i + 2]]
            if words != ["0", "0"]:
                x = self.call("n_pad", rank, x.name, x.rank - 1 - i // 2, words[0], words[1], self.wide_number(p["value"] or 0.0))
        return x

    def unfold(self, x, rest, more, rank):
        p = {**dict(zip(("dimension", "size", "step"), rest)), **more}
        if not isinstance(p.get("dimension"), int) or not all(isinstance(p.get(w), (int, C)) for w in ("size", "step")):
            raise Refused("no naive kernel: unfold of places")
        words = [v.text if isinstance(v, C) else str(v) for v in (p["size"], p["step"])]
        return self.call("n_unfold", x.rank + 1, x.name, p["dimension"] % x.rank, *words)

    @staticmethod
    def is_same_type(given, more):
        """What is computed in float here: other sizes of floats and integers, and where it lies."""
        words = list(given) + [v for k, v in more.items() if k not in ("copy", "non_blocking")]
        return all(w is SAME_TYPE or w in (torch.float32, torch.float64, torch.int64, torch.int32, "cpu", "cuda") or
                   isinstance(w, (torch.device, T)) for w in words)

    def number(self, name, args):
        """Arithmetic of sizes and scalars."""
        sign = {"add": "+", "sub": "-", "mul": "*", "floordiv": "/", "mod": "%"}.get(name)
        words = [a.text if isinstance(a, C) else c_float(a) if isinstance(a, float) else str(a) for a in args]
        if sign and len(words) == 2 and not (sign in "/%" and any(isinstance(a, float) for a in args)):
            return C("(%s %s %s)" % (words[0], sign, words[1]))
        if name == "truediv":
            return C("((float)%s / (float)%s)" % tuple(words))
        if name == "pow" and len(words) == 2:
            return C("powf((float)%s, (float)%s)" % tuple(words))
        if name == "neg":
            return C("(-%s)" % words[0])
        if name == "sqrt":
            return C("sqrtf((float)%s)" % words[0])
        if name in ("int", "float"):
            return C("((%s)%s)" % ("int64_t" if name == "int" else "float", words[0]))
        raise Refused("no naive kernel: %s of numbers" % name)

    def getitem(self, x, index):
        """Slices, single elements, new dimensions, and rows by an index tensor."""
        if len(index) == 1 and isinstance(index[0], T):
            return self.call("n_rows", index[0].rank + x.rank - 1, x.name, index[0].name)
        n_taken = sum(1 for i in index if i is not None and i is not Ellipsis)
        at, whole = 0, []
        for i in index if Ellipsis in [j for j in index if not isinstance(j, (T, C))] else tuple(index) + (Ellipsis,):
            if i is Ellipsis:
                for _ in range(x.rank - n_taken):
                    whole.append(at)
                    at += 1
            elif i is None:
                whole.append(None)
            elif isinstance(i, slice):
                step = 1 if i.step is None else i.step
                if not isinstance(step, int) or step < 1:
                    raise Refused("no naive kernel: a slice with step %s" % step)
                if i.start is not None or i.stop is not None or step != 1:
                    ends = [str(v.text if isinstance(v, C) else v) for v in (i.start or 0, "INT64_MAX" if i.stop is None else i.stop)]
                    x = self.call("n_slice", x.rank, x.name, at, ends[0], ends[1], step)
                whole.append(at)
                at += 1
            elif isinstance(i, (int, C)):
                text = i.text if isinstance(i, C) else str(i)
                end = "INT64_MAX" if text == "-1" else "%s + 1" % text
                x = self.call("n_slice", x.rank, x.name, at, text, end, 1)
                at += 1
            else:
                raise Refused("no naive kernel: an index of several tensors")
        if whole == list(range(x.rank)):
            return x
        return self.view(x, ["1" if d is None else "%s.d[%d]" % (x.name, d) for d in whole])

    def bounded(self, name, x, given):
        """Clamped to numbers that are known when the kernel runs."""
        if not set(given) <= {"min", "max"}:
            raise Refused("no naive kernel: %s with a number of the task" % name)
        for word, expression in (("min", "fmaxf(x, y)"), ("max", "fminf(x, y)")):
            if given.get(word) is not None:
                x = self.binary(expression, x, given[word])
        return x

    def convolution(self, n, x, rest, more, rank):
        words = ["weight", "bias", "stride", "padding", "dilation", "groups"]
        p = {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1, **dict(zip(words, rest)), **more}
        if isinstance(p["padding"], str) or x.rank != n + 2:
            raise Refused("no naive kernel: a convolution with padding %s" % p["padding"])
        return self.convolved(n, p["groups"], rank, x.name, p["weight"].name, p["bias"].name + ".v" if p["bias"] else "NULL",
                              three(p["stride"], n, 1), three(p["padding"], n, 0), three(p["dilation"], n, 1))

    def pooled(self, name, x, given, rank):
        """Of a module or a function: their settings have the same names."""
        n, is_max = int(name[-2]), name[0] in "mM"
        p = {"stride": None, "padding": 0, "dilation": 1, "count_include_pad": True, **given}
        if any(p.get(word) for word in ("return_indices", "divisor_override")) or p.get("ceil_mode") and not is_max:
            raise Refused("no naive kernel: %s with ceil_mode, a divisor or indices" % name)
        stride = p["kernel_size"] if p["stride"] in (None, []) else p["stride"]
        return self.call("n_pool", rank, x.name, three(p["kernel_size"], n, 1), three(stride, n, 1), three(p["padding"], n, 0),
                         three(p["dilation"], n, 1), int(is_max), int(not is_max and p["count_include_pad"]),
                         int(bool(p.get("ceil_mode"))))

    def constant(self, tensor):
        if tensor.numel() > MOST_CONSTANT or tensor.dim() > 6:
            raise Refused("no naive kernel: a constant of %d elements" % tensor.numel())
        name, values = "k%d" % self.n, ", ".join(c_float(v) for v in tensor.double().reshape(-1).tolist())
        self.n += 1
        self.add("    static const float %s_v[] = {%s};\n    struct nt %s = {.r = %d, .d = {%s}, .v = (float *)(uintptr_t)%s_v};"
                 % (name, values, name, tensor.dim(), ", ".join(map(str, tensor.shape)) or "0", name),
                 naive_cuda.constant(name, values, tensor.shape))
        self.shapes[name] = tuple(map(str, tensor.shape))
        return T(name, tensor.dim())

    def pieces(self, name, x, rest, more):
        dim = more.get("dim", rest[1] if len(rest) > 1 else 0) % x.rank
        size = rest[0]
        if name == "chunk":
            each = "((%s.d[%d] + %d) / %d)" % (x.name, dim, size - 1, size)
            ends = ["%d * %s" % (i, each) for i in range(size + 1)]
        elif isinstance(size, (list, tuple)):
            words, ends = [s.text if isinstance(s, C) else str(s) for s in size], ["0"]
            for s in words:
                ends.append("%s + %s" % (ends[-1], s))
        else:
            each = size.text if isinstance(size, C) else str(size)
            ends = ["%d * %s" % (i, each) for i in range(self.n_parts + 1)]
            ends[-1] = "%s.d[%d]" % (x.name, dim)
        return [self.call("n_slice", x.rank, x.name, dim, a, b, 1) for a, b in zip(ends, ends[1:])]

    def logsumexp(self, x, args, more):
        dim = more.get("dim", args[1] if len(args) > 1 else None)
        dim = dim[0] if isinstance(dim, (tuple, list)) and len(dim) == 1 else dim
        keep = bool(more.get("keepdim", args[2] if len(args) > 2 else False))
        if not isinstance(dim, int):
            raise Refused("no naive kernel: logsumexp over several dimensions")
        most = self.mapped("fabsf(x) == INFINITY ? 0 : x", self.call("n_reduce", x.rank, x.name, 1 << dim % x.rank, 1, "'>'"))
        parts = self.mapped("expf(x)", self.binary("x - y", x, most))
        total = self.mapped("logf(x)", self.call("n_reduce", x.rank, parts.name, 1 << dim % x.rank, 1, "'+'"))
        whole = self.binary("x + y", total, most)
        return whole if keep else self.reduce("+", whole, [whole, dim], {}, x.rank - 1)

    def reduce(self, kind, x, args, more, rank):
        dims = more.get("dim", args[1] if len(args) > 1 else None)
        keep = more.get("keepdim", args[2] if len(args) > 2 else False)
        dims = range(x.rank) if dims is None else [dims] if isinstance(dims, int) else dims
        mask = sum(1 << d % x.rank for d in dims)
        return self.call("n_reduce", rank, x.name, mask, int(keep), "'%s'" % kind)

    def shaping(self, name, x, args, more, rank):
        rest = list(args[1:])
        if name in ("view", "reshape"):
            return self.view(x, rest[0] if len(rest) == 1 and isinstance(rest[0], (list, tuple)) else rest)
        if name == "flatten":
            first = more.get("start_dim", rest[0] if rest else 0)
            return self.flatten(x, first % x.rank, more.get("end_dim", rest[1] if len(rest) > 1 else -1) % x.rank)
        if name in ("transpose", "permute", "t"):
            order = list(range(x.rank))
            if name == "permute":
                order = [d % x.rank for d in (rest[0] if isinstance(rest[0], (list, tuple)) else rest)]
            else:
                a, b = (0, 1) if name == "t" else rest
                order[a % x.rank], order[b % x.rank] = order[b % x.rank], order[a % x.rank]
            return self.call("n_permute", rank, x.name, "(int64_t[]){%s}" % ", ".join(str(d) for d in order))
        if name in ("unsqueeze", "squeeze"):
            dims = ["%s.d[%d]" % (x.name, i) for i in range(x.rank)]
            dim = more.get("dim", rest[0] if rest else None)
            if dim is None:
                raise Refused("no naive kernel: squeeze without dim")
            if name == "unsqueeze":
                dims.insert(dim % (x.rank + 1), "1")
            elif rank < x.rank:
                del dims[dim % x.rank]
            return self.view(x, dims)
        if name == "cat":
            dim = more.get("dim", rest[0] if rest else 0)
            whole = x[0]
            for part in x[1:]:
                whole = self.call("n_cat", rank, whole.name, part.name, dim % rank)
            return whole
        if name == "stack":
            dim = more.get("dim", rest[0] if rest else 0) % rank
            parts = [self.shaping("unsqueeze", part, [part, dim], {}, rank) for part in x]
            return self.shaping("cat", parts, [parts, dim], {}, rank)
        if name in ("chunk", "split"):
            return self.pieces(name, x, rest, more)
        if name in ("flip",):
            dims = rest[0] if isinstance(rest[0], (list, tuple)) else rest
            for d in dims:
                x = self.call("n_flip", rank, x.name, d % x.rank)
            return x
        if name in ("expand", "broadcast_to"):
            sizes = rest[0] if isinstance(rest[0], (list, tuple)) else rest
            words = [d.text if isinstance(d, C) else str(d) for d in sizes]
            return self.call("n_expand", len(words), x.name, len(words), "(int64_t[]){%s}" % ", ".join(words))
        if name == "repeat_interleave" and isinstance(rest[0] if rest else None, (int, C)) and "dim" in more:
            return self.call("n_repeat", rank, x.name, rest[0].text if isinstance(rest[0], C) else rest[0], more["dim"] % rank)
        if name in ("zeros_like", "ones_like", "full_like"):
            value = {"zeros_like": 0.0, "ones_like": 1.0}.get(name, rest[0] if rest else more.get("fill_value"))
            return self.binary("y", x, value)
        if name == "where" and len(args) == 3:
            kept = self.binary("x != 0 ? y : NAN", x, args[1])
            other = self.binary("x != 0 ? NAN : y", x, args[2])
            return self.binary("isnan(x) ? y : x", kept, other)
        if name in ("masked_fill", "masked_fill_") and len(rest) == 2 and isinstance(rest[1], (int, float)):
            return self.binary("y != 0 ? %s : x" % c_float(rest[1]), x, rest[0])
        if name in ("conv1d", "conv2d", "conv3d"):
            return self.convolution(int(name[4]), x, rest, more, rank)
        if name == "linear":
            if len(rest) > 1 or more.get("bias") is not None:
                return self.call("n_linear", rank, x.name, rest[0].name, (rest[1] if len(rest) > 1 else more["bias"]).name + ".v")
            return self.call("n_linear", rank, x.name, rest[0].name, "NULL")
        if name == "embedding" and len(rest) == 1 and not more:
            return self.call("n_rows", rank, rest[0].name, x.name)
        if name == "index_select" and rest[0] == 0:
            return self.call("n_rows", rank, x.name, rest[1].name)
        if name in ("leaky_relu", "elu", "hardtanh", "clamp", "clip", "softplus", "gelu"):
            words = {"leaky_relu": ["negative_slope"], "elu": ["alpha"], "hardtanh": ["min_val", "max_val"],
                     "clamp": ["min", "max"], "clip": ["min", "max"], "softplus": ["beta", "threshold"], "gelu": []}[name]
            given = {**dict(zip(words, rest)), **more}
            if any(isinstance(v, T) for v in given.values()):
                raise Refused("no naive kernel: %s with a tensor as bound" % name)
            if any(isinstance(v, C) for v in given.values()):
                return self.bounded(name, x, given)
            return self.mapped(self.activation(name, given), x)
        if name in UNARY:
            return self.mapped(UNARY[name], x)
        if name == "narrow":
            p = {**dict(zip(("dim", "start", "length"), rest)), **more}
            return self.cut(x, p["dim"] % x.rank, p["start"], p["length"])
        if name == "select":
            dim, index = (rest + list(more.values()))[:2]
            return self.getitem(x, (slice(None),) * (dim % x.rank) + (index,))
        if name[:-2] in ("max_pool", "avg_pool"):
            words = ["kernel_size", "stride", "padding"] + (["dilation", "ceil_mode", "return_indices"] if name[0] == "m" else
                                                            ["ceil_mode", "count_include_pad", "divisor_override"])
            return self.pooled(name, x, {**dict(zip(words, rest)), **more}, rank)
        if name.startswith("adaptive_avg_pool"):
            return self.call("n_adaptive", rank, x.name, three(rest[0], int(name[-2]), 1))
        if name == "einsum":
            return einsum(self, x, rest[0] if isinstance(rest[0], (list, tuple)) else rest)
        tensors = [a for a in list(args) + list(more.values()) if isinstance(a, T)]
        if len(args) <= len(tensors):
            found = loss(self, name, tensors, {k: v for k, v in more.items() if not isinstance(v, T)})
            if found:
                return found
        raise Refused("no naive kernel: %s" % name)

    def cut(self, x, dim, start, length):
        first, n = [v.text if isinstance(v, C) else str(v) for v in (start, length)]
        return self.call("n_slice", x.rank, x.name, dim, first, "%s + %s" % (first, n), 1)


def kernels(trial, pack):
    """(C, CUDA)"""
    traced = trace(trial, pack)
    w, values, result = Writer(trial, pack), {}, None
    given = iter(pack.record["arguments"])
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        args = torch.fx.node.map_arg(list(node.args), lambda n: values[n])
        more = torch.fx.node.map_arg(dict(node.kwargs), lambda n: values[n])
        meta = node.meta.get("tensor_meta")
        rank = len(meta.shape) if hasattr(meta, "shape") else -1
        w.n_parts = len(meta) if isinstance(meta, (tuple, list)) else 0
        if node.op == "placeholder":
            a = next(given, {"value": node.args[0] if node.args else None})
            if "axis" in a:
                values[node] = C(a["axis"])
            elif "name" not in a:
                values[node] = a["value"]
            elif a["name"] in pack.scalars:
                values[node] = C(a["name"])
            else:
                values[node] = T("m_" + a["name"], rank)
        elif node.op == "get_attr":
            if node.target.startswith("_tensor_constant"):
                values[node] = w.constant(getattr(traced, node.target))
                continue
            if node.target not in w.state:
                raise Refused("no naive kernel: self.%s" % node.target)
            values[node] = T("m_" + w.state[node.target], w.ranks[node.target])
        elif node.op == "call_module":
            values[node] = layer(w, modules[node.target], node.target, args, more)
            if values[node] is not None:
                continue
            if len(args) > 1 and not more:
                values[node] = loss_module(w, modules[node.target], args)
                if values[node]:
                    continue
            if len(args) != 1 or more:
                raise Refused("no naive kernel: nn.%s with several arguments" % type(modules[node.target]).__name__)
            values[node] = w.module(modules[node.target], node.target, args[0], rank)
        elif node.op == "output":
            result = list(args[0]) if isinstance(args[0], (list, tuple)) else [args[0]]
        else:
            name = node.target if isinstance(node.target, str) else node.target.__name__
            values[node] = w.function(name.strip("_") if name.endswith("__") or name in ("and_", "or_") else name, list(args), dict(more), rank)
    w.drop_unused(result)
    return text(w, pack, result), naive_cuda.text(w, pack, result)


def text(w, pack, result):
    end = []
    for (name, tensor), value in zip(pack.outputs.items(), result):
        if tensor["dtype"] not in READ or not isinstance(value, T):
            raise Refused("no naive kernel: output %s is %s" % (name, tensor["dtype"]))
        if tensor["dtype"] in PART_OF:
            w.use(PART_OF[tensor["dtype"]])
        end.append("    for (int64_t i = 0; i < n_count(%s); i++)\n        %s[i] = %s;" % (
            value.name, name, READ[tensor["dtype"]][2] % (value.name + ".v[i]")))
    end += ["    free(%s.v);" % name for name in w.temps]
    parts = [PARTS[name] for name in w.used] + list(w.own.values())
    return "%s%s\nvoid %s(%s)\n{\n%s\n}\n" % (BASE, "".join(parts), pack.name, naive_cuda.parameters(pack, READ), w.body(w.lines + end))

# SPDX-License-Identifier: Apache-2.0
# The naive CUDA kernel of a traced module: the same calls as in C (naive.py), of functions that launch (naive_cuda_parts.py).
import re

from naive_cuda_folds import join_folds
from naive_cuda_norms import NORMS
from naive_cuda_parts import BASE, EPILOGUES, NEEDS
from naive_cuda_parts import PARTS as PLAIN

PARTS = {**PLAIN, **NORMS}
HEADS = {"float16": "#include <cuda_fp16.h>\n", "bfloat16": "#include <cuda_bf16.h>\n"}
READ = {"float16": ("__half", "__half2float(%s)", "__float2half_rn(%s)"), "bool": ("unsigned char", "(float)(%s != 0)", "%s != 0"),
        "bfloat16": ("__nv_bfloat16", "__bfloat162float(%s)", "__float2bfloat16_rn(%s)"), "float32": ("float", "%s", "%s"),
        "float64": ("double", "(float)%s", "(double)%s"), "uint8": ("unsigned char", "(float)%s", "(unsigned char)%s"),
        **{k: (k + "_t", "(float)%s", "(" + k + "_t)%s") for k in ("int8", "int16", "int32", "int64")}}
EACH = "    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n    if (e >= %s)\n        return;\n"
HELPERS = ["n_wide", "n_block", "n_moments"]
NAMES = {"n_wide": ["n_wide", "n_from"], "n_block": ["n_block", "n_threads", "n_grid"]}  # what a part is that has no call of its own
LAUNCH = "    if (w->base)\n        %s<<<n_blocks(n_count(%s)), 256, 0, w->stream>>>(%s);\n"


def spoken(line):
    """A line of the C kernel's calls, in C++ and with the scratch of the call."""
    line = re.sub(r"\(int64_t\[\]\[4\]\)\{(.*)\}", r"np{{\1}}", line).replace("(int64_t[]){", "nd{").replace("NULL", "nullptr")
    return re.sub(r"^(    struct nt \w+ = n_\w+\(.*)\);$", r"\1, w);", line)


def parameters(pack, read):
    """Of the kernel that the task wants, in C or in CUDA; read: how elements are kept there."""
    given = ["const %s *%s" % (read[t["dtype"]][0], name) for name, t in pack.inputs.items()]
    given += ["%s *%s" % (read[t["dtype"]][0], name) for name, t in pack.outputs.items()]
    return ", ".join(given + ["float " + name for name in pack.scalars] + ["int64_t " + name for name in pack.axes])


def steps_of(steps, place):
    return "    (void)x;\n%s    %s = %s;\n" % ("".join("    x = %s;\n" % step for step in steps[:-1]), place, steps[-1])


def mapped(key, steps):
    return ("__global__ void k_%s(const float *a, float *c, int64_t n)\n{\n%s    float x = a[e];\n%s}\n"
            "static struct nt n_%s(struct nt a, struct nw *w)\n{\n    struct nt c = n_room(a.r, n_sizes(a), w);\n%s    return c;\n}\n" % (
                key, EACH % "n", steps_of(steps, "c[e]"), key, LAUNCH % ("k_" + key, "c", "a.v, c.v, n_count(c)")))


def binary(key, steps):
    return ("__global__ void k_%s(const float *a, const float *b, float *c, int64_t n)\n{\n%s    float x = a[e], y = b[e];\n%s}\n"
            "__global__ void k_%s_wide(struct nt a, struct nt b, struct nt c)\n{\n%s"
            "    float x = a.v[n_from(a, c, e)], y = b.v[n_from(b, c, e)];\n%s}\n"
            "static struct nt n_%s(struct nt a, struct nt b, struct nw *w)\n{\n"
            "    struct nt c = n_room(a.r > b.r ? a.r : b.r, n_wide(a, b), w);\n"
            "    if (w->base && n_count(a) == n_count(c) && n_count(b) == n_count(c))\n"
            "        k_%s<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a.v, b.v, c.v, n_count(c));\n    else %s    return c;\n}\n" % (
                key, EACH % "n", steps_of(steps, "c[e]"), key, EACH % "n_count(c)", steps_of(steps, "c.v[e]"), key, key,
                (LAUNCH % ("k_" + key + "_wide", "c", "a, b, c")).lstrip()))


def nest(key, n_tensors, out, sizes, loops, term):
    """Of an einsum: loops are the lines of the sum's loops, term what they add."""
    given = "".join("struct nt a%d, " % i for i in range(n_tensors))
    names = "".join("a%d, " % i for i in range(n_tensors))
    places = "".join("    int64_t i_%s = rest %% %s;\n    rest /= %s;\n" % (c, sizes[c], sizes[c]) for c in reversed(out))
    return ("__global__ void k_%s(%sstruct nt c)\n{\n%s    int64_t rest = e;\n%s    float sum = 0;\n%s\n        sum += %s;\n"
            "    c.v[e] = sum;\n}\nstatic struct nt n_%s(%sstruct nw *w)\n{\n    struct nt c = n_room(%d, nd{%s}, w);\n%s    return c;\n}\n" % (
                key, given, EACH % "n_count(c)", places, "\n".join(loops), term, key, given, len(out), ", ".join(sizes[c] for c in out),
                LAUNCH % ("k_" + key, "c", names + "c")))


def widened(name, dtype):
    """(function, line) that make an input of another type float."""
    kept, read, _ = READ[dtype]
    return ("__global__ void k_in_%s(const %s *x, struct nt c)\n{\n%s    c.v[e] = %s;\n}\n" % (name, kept, EACH % "n_count(c)", read % "x[e]"),
            LAUNCH % ("k_in_" + name, "m_" + name, "%s, m_%s" % (name, name)))


def room(name, shape):
    return "    struct nt m_%s = n_room(%d, nd{%s}, w);\n" % (name, len(shape), ", ".join(shape))


def constant(name, values, shape):
    """A tensor whose values stand in the kernel."""
    return ("    static const float %s_v[] = {%s};\n    struct nt %s = n_room(%d, nd{%s}, w);\n    if (w->base)\n"
            "        cudaMemcpyAsync(%s.v, %s_v, sizeof %s_v, cudaMemcpyHostToDevice, w->stream);" % (
                name, values, name, len(shape), ", ".join(map(str, shape)), name, name, name))


def used_parts(used, text):
    """The functions that the text names, and those that they need."""
    found = []
    for name in used + HELPERS:
        if not re.search(r"\b(%s)\(" % "|".join(NAMES.get(name, [name])), text):
            continue
        found += [part for part in NEEDS.get(name, []) + [name] if part not in found]
    return "".join(PARTS[name] for name in found)


def with_epilogue(part, key, steps):
    """The function whose kernels take the steps of a pass before they write."""
    function = PARTS[part]
    for place, value in EPILOGUES[part]:
        written = "    %s = %s;\n" % (place, value)
        assert written in function
        function = function.replace(written, "    {\n    float x = %s;\n%s    }\n" % (value, steps_of(steps, place)))
    for name in [part] + re.findall(r"__global__ void (k_\w+)\(", function):
        function = re.sub(r"\b%s\b" % name, "%s_%s" % (name, key), function)
    return function


def join_epilogues(w, lines):
    """Passes that follow a product or a convolution at once, where nothing else reads it; gives the functions."""
    found = {}
    for at, line in enumerate(lines):
        mapped_ = re.match(r"    struct nt (\w+) = n_(map\d+)\((\w+), w\);$", line)
        made_at = w.made_at.get(mapped_.group(3)) if mapped_ else None
        made = re.match(r"    struct nt \w+ = (n_\w+)\((.*)\);$", lines[made_at]) if made_at is not None else None
        if not made or made.group(1) not in EPILOGUES:
            continue
        name, key, source = mapped_.groups()
        part, arguments = made.groups()
        if len(re.findall(r"\b%s\b" % source, "\n".join(lines))) != 2 or source in [behind_views(w, v) for v in w.results]:
            continue
        found[part + key] = with_epilogue(part, key, w.steps["n_" + key])
        lines[at], lines[made_at] = "    struct nt %s = %s_%s(%s);" % (name, part, key, arguments), ""
    return "".join(found.values())


def behind_views(w, name):
    while name in w.views:
        name = w.views[name]
    return name


def text(w, pack, result):
    inputs, outputs = list(pack.inputs.items()), list(pack.outputs.items())
    types = {t["dtype"] for _, t in inputs + outputs}
    lines, end = list(w.device_lines), []
    joined = join_epilogues(w, lines)
    joined += join_folds(w, lines)
    calls = "\n".join(lines + list(w.before.values()))
    own = [joined] + [text for known, text in w.device_own.items() if known.startswith("in ") or w.key_of(known) + "(" in calls]
    for (name, tensor), value in zip(outputs, result):
        kept, _, written = READ[tensor["dtype"]]
        at = w.made_at.get(behind_views(w, value.name))
        if tensor["dtype"] == "float32" and at is not None and not lines[at].startswith("    w->next"):
            lines[at] = "    w->next = %s;\n%s" % (name, lines[at])
            continue
        own.append("__global__ void k_out_%s(struct nt a, %s *y)\n{\n%s    y[e] = %s;\n}\n" % (
            name, kept, EACH % "n_count(a)", written % "a.v[e]"))
        end.append((LAUNCH % ("k_out_" + name, value.name, "%s, %s" % (value.name, name))).rstrip("\n"))
    for name, first in w.before.items():
        lines[w.made_at[name]] = first + "\n" + lines[w.made_at[name]]
    given = parameters(pack, READ)
    names = ", ".join([name for name, _ in inputs + outputs] + list(pack.scalars) + list(pack.axes))
    parts = used_parts(w.used, calls + "".join(own))
    return ("%s%s%s%s\nstatic void n_module(%s, struct nw *w)\n{\n%s\n}\n\n"
            "extern \"C\" void %s(%s, cudaStream_t stream)\n{\n    void *base = nullptr;\n    struct nw work = {nullptr, 0, nullptr, stream};\n"
            "    n_module(%s, &work);\n    cudaMallocAsync(&base, (size_t)work.used + 256, stream);\n"
            "    work = {(char *)base, 0, nullptr, stream};\n    n_module(%s, &work);\n    cudaFreeAsync(base, stream);\n}\n" % (
                "".join(HEADS[t] for t in sorted(types) if t in HEADS), BASE, parts, "".join(own), given, w.body(lines + end), pack.name,
                given, names, names))

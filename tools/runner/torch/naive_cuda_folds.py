# SPDX-License-Identifier: Apache-2.0
# Passes over the elements and folds of a traced module, joined into few kernels of plain pointers and sizes, which rules read.
#
# A fold (sum, mean, maximum, length, shares of a softmax) takes in the passes that make what it folds, the numbers made of its
# results, and the passes that use them with the same tensors again: one thread does all of that for one row or column. What it
# reads twice it computes twice. A group gives one value; what something else reads too stays in memory. Passes that are left
# are joined with the passes that feed them alone. What a value's sizes are is known as words (naive_cuda_shapes.py): where that
# does not show that tensors have the same sizes, everything stays as it was. Which of two forms a kernel has follows from the
# module's own sizes: a kernel that is never the better one there would only be one more thing to search.
import re

from naive_cuda_groups import Group, Lines, Passes
from naive_cuda_shapes import public_size

FEW, ALONE, PARTS = 256, 65536, 65536  # results or elements below which blocks do it; parts of a whole fold
STARTS = {">": "-INFINITY", "<": "INFINITY", "*": "1"}
ROWS = {(1, 1): "e * N + %s", (1, 0): "e", (0, 1): "%s", (0, 0): "0"}
FIRST = {(1, 1): "%s * in + e", (1, 0): "%s", (0, 1): "e", (0, 0): "0"}
COLUMNS = {(1, 1, 1): "(o * N + %s) * in + c", (1, 1, 0): "o * N + %s", (1, 0, 1): "e", (0, 1, 1): "%s * in + c",
           (1, 0, 0): "o", (0, 1, 0): "%s", (0, 0, 1): "c", (0, 0, 0): "0"}
LINES = r"""static struct nt n_@key@(@tensors@, struct nw *w)
{
    struct nt c = n_room(@sizes@, w);
    int64_t N = @folded@, in = @inner@, M = @outer@ * in;
@launch@    return c;
}
"""
BY_THREADS = """__global__ void k_@key@(@given@)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= M)
        return;
@place@@plain@}
"""
BY_BLOCKS = """__global__ void k_@key@_few(@given@)
{
    int64_t e = blockIdx.x, lane = threadIdx.x;
    if (e >= M)
        return;
@place@@block@}
"""
WHOLE = r"""static struct nt n_@key@(@tensors@, struct nw *w)
{
    struct nt c = n_room(@sizes@, w);
    int64_t N = n_count(@whole@);
@room@@launch@    return c;
}
"""
WHOLE_PARTS = """__global__ void k_@key@(@given@@kind@ *parts, int64_t N)
{
    int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
@parts@    parts[thread] = s0;
}
__global__ void k_@key@_last(const @kind@ *parts, @late@float *out, int64_t N)
{
    int lane = threadIdx.x;
@last@    if (lane == 0)
        out[0] = @result@;
}
"""
WHOLE_FEW = """__global__ void k_@key@_few(@given@float *out, int64_t N)
{
    int64_t lane = threadIdx.x;
@few@}
"""
FLAT = r"""__global__ void k_@key@(@given@, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
@body@}
static struct nt n_@key@(@tensors@, struct nw *w)
{
    struct nt c = n_room(@rank@, nd{@sizes@}, w);
    int64_t N = n_count(c);
    if (w->base)
        k_@key@<<<n_blocks(N), 256, 0, w->stream>>>(@passed@, N);
    return c;
}
"""
GRID = r"""__global__ void k_@key@(@given@, @counts@)
{
@axes@    if (@guard@)
        return;
@body@}
static struct nt n_@key@(@tensors@, struct nw *w)
{
    struct nt c = n_room(@rank@, nd{@sizes@}, w);
    int64_t @run_sizes@;
@loops@        dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((rows + 7) / 8)@depth@);
        k_@key@<<<grid, block, 0, w->stream>>>(@passed@);
    }
    return c;
}
"""
LOOPS = {2: """    for (int64_t m = 0; w->base && N > 0 && m < M; m += 524280) { // a grid has limits
        int64_t rows = M - m < 524280 ? M - m : 524280;
""", 3: """    int64_t steps = (M + 524279) / 524280, turns = N > 0 ? (L + 65534) / 65535 : 0; // a grid has limits
    for (int64_t e = 0; w->base && e < steps * turns; e++) {
        int64_t l = e / steps * 65535, m = e % steps * 524280;
        int64_t rows = M - m < 524280 ? M - m : 524280, planes = L - l < 65535 ? L - l : 65535;
"""}


def is_float(text):
    """May stand inside of another expression as it is."""
    return not re.search(r"[<>=!?&|]", text)


class Text:
    """Of the values of a group, in one loop or between the loops: expressions, and lines that stand in front of them."""

    def __init__(self, body, index, indent):
        self.body, self.index, self.indent, self.lines, self.known, self.temps = body, index, indent, [], {}, {}

    def temp(self, text):
        name = "t%d" % self.body.n_temps
        self.body.n_temps += 1
        self.lines.append("%sfloat %s = %s;\n" % (self.indent, name, text))
        return name

    def value(self, name, kind="E"):
        if name in self.body.results:
            return self.body.results[name]
        if name not in self.body.kinds:
            return self.body.load(name, kind, self.index)
        if name not in self.known:
            self.known[name] = self.made(name, self.body.op(name), self.body.kinds[name])
        return self.known[name]

    def operand(self, name, kind, n_uses, is_guarded=False):
        """is_guarded: in one arm of a choice, where a load would stand in the way of whole vectors."""
        text = self.value(name, kind)
        if re.match(r"\w+$" if is_guarded else r"\w+(\[[^\[\]]*\])?$", text):
            return text
        if n_uses == 1 and not is_guarded and is_float(text) and self.body.n_users(name) == 1:
            return "(%s)" % text
        if name not in self.temps:
            self.temps[name] = self.temp(text)
        if name in self.body.kinds:
            self.known[name] = self.temps[name]
        return self.temps[name]

    def made(self, name, op, kind):
        if op.kind == "lines":
            top, by = self.body.shares[name]
            x = self.operand(op.sources[0], "E", 1)
            return "expf(%s - %s) * %s" % (x, top, by) if op.how == "s" else "%s - %s - %s" % (x, top, by)
        if op.kind == "norm":
            x, text = self.operand(op.sources[0], "E", 1), "(float)((%s - %s) * %s)"
            weights = [self.operand(s, "E", 1) for s in op.sources[1:]]
            return text % ((x,) + self.body.shares[name]) + "".join(
                " %s %s" % ("*" if word == "g" else "+", weight) for word, weight in zip(op.words[4:], weights))
        text = op.steps[0]
        uses = [len(re.findall(r"\b%s\b" % word, text)) for word in op.words]
        given = dict(zip(op.words, [self.operand(s, kind, n, "?" in text) for s, n in zip(op.sources, uses)]))
        text = re.sub(r"\b[%s]\b" % op.words, lambda m: given[m.group()], text)
        for step in op.steps[1:]:
            is_plain = len(re.findall(r"\bx\b", step)) == 1 and is_float(text)
            inner = "(%s)" % text if is_plain else self.temp(text)
            text = re.sub(r"\bx\b", lambda m: inner, step)
        return text


def worth_of(how, name):
    return {"m": "(float)(%s / (double)N)", "q": "(float)sqrt(%s)", "<": "%s", ">": "%s"}.get(how, "(float)%s") % name


class Body:
    """The statements of a fold's kernel. head: of its loops; is_block: by all threads of a block."""

    def __init__(self, group, arguments, head, is_block=False):
        self.group, self.kinds, self.arguments, self.head, self.is_block = group, group.kinds, arguments, head, is_block
        self.n_temps, self.results, self.shares, self.out, self.n_folds = 0, {}, {}, [], 0
        self.op, self.after = group.known.op, {}

    def n_users(self, name):
        return sum(self.op(m).sources.count(name) > 0 for m in self.group.members)

    def load(self, name, kind, index):
        return "%s[%s]" % (self.arguments[name], self.place(self.group.place(name, kind), index))

    def place(self, has, index):
        """The index into a tensor that has the outer, the folded and the inner dimensions, or lacks them."""
        (outer, folded, inner), (first, last) = has, self.group.cuts
        if self.group.is_whole:
            text = "%s" if folded else "0"
        elif last == len(self.group.shape):
            text = ROWS[outer, folded]
        elif first == 0:
            text = FIRST[folded, inner]
        else:
            text = COLUMNS[outer, folded, inner]
        text = text % index if "%s" in text else text
        return re.sub(r" \+ 0\b|\b0 \* in \+ ", "", text) if index == "0" else text

    def level(self, name):
        """How many loops go before what the value needs is known."""
        if name not in self.kinds:
            return 0
        if name not in self.after:
            op = self.op(name)
            self.after[name] = max(self.level(s) for s in op.sources) + {"fold": 1, "lines": 2, "norm": 2}.get(op.kind, 0)
        return self.after[name]

    def fold(self, how, source, text):
        """(variable, its start, statement of the loop, what it is worth behind the loop)"""
        name, kind = "s%d" % self.n_folds, "double"
        self.n_folds += 1
        x = text.operand(source, "E", 2 if how == "q" else 1) if how in "q<>" else text.value(source)
        change = {"q": "%s += (double)%s * %s" % (name, x, x), "1": "%s += fabsf(%s)" % (name, x), "*": "%s *= %s" % (name, x)}.get(
            how, "%s += %s" % (name, x))
        start = STARTS.get(how, "0")
        if how in "<>":
            kind, change = "float", "%s = f%sf(%s, %s)" % (name, "max" if how == ">" else "min", name, x)
            start = self.load(source, "E", "0") if source not in self.kinds else start
        return name, kind, start, change, worth_of(how, name)

    def loop(self, folds, text):
        for name, kind, start, _, _ in folds:
            self.out.append("    %s %s = %s;\n" % (kind, name, start))
        statements = text.lines + ["        %s;\n" % change for _, _, _, change, _ in folds]
        self.put_loop(statements)
        for (name, kind, _, _, _), how in zip(folds, self.hows):
            self.put_block(name, kind, how)

    def put_block(self, name, kind, how):
        """What all threads of a block have together."""
        how = how if how in "<>*" else "+"
        if self.is_block:
            self.out.append("    %s = %sn_block(%s, '%s');\n" % (name, "(float)" if kind == "float" else "", name, how))

    def put_loop(self, statements):
        self.out.append("    %s%s\n%s%s" % (self.head, " {" if len(statements) > 1 else "", "".join(statements),
                                           "    }\n" if len(statements) > 1 else ""))

    def put_last(self, fold):
        """Of the parts that were folded, and what follows; gives the type of a part."""
        how = self.op(fold).how
        kind = "float" if how in "<>" else "double"
        change = {"*": "s0 *= parts[i]", ">": "s0 = fmaxf(s0, parts[i])", "<": "s0 = fminf(s0, parts[i])"}.get(how, "s0 += parts[i]")
        self.out.append("    %s s0 = %s;\n" % (kind, STARTS.get(how, "0")))
        self.put_loop(["        %s;\n" % change])
        self.put_block("s0", kind, how)
        self.put_result(fold, worth_of(how, "s0"))
        self.put_results(1)
        return kind

    def put_folds(self, level, is_open=False):
        """is_open: without what the folds are worth."""
        todo = []
        for m in self.group.members:
            op = self.op(m)
            if op.kind == "fold" and self.level(m) == level:
                todo.append((m, op.how, op.sources[0]))
            if op.kind in ("lines", "norm") and self.level(m) - level in (0, 1):
                todo.append((m, {"lines": "s>", "norm": "vm"}[op.kind][self.level(m) - level], op.sources[0]))
        text, folds, self.hows = Text(self, "i", "        "), [], []
        for m, how, source in todo:
            is_share = self.op(m).kind != "fold"
            folds.append(self.share_fold(m, how, source, text) if is_share and how != ">" else self.fold(how, source, text))
            self.hows.append(how)
        if folds:
            self.loop(folds, text)
        for (m, how, _), (name, _, _, _, worth) in zip([] if is_open else todo, folds):
            if self.op(m).kind == "fold":
                self.put_result(m, worth)
            else:
                self.put_share(m, how, name)

    def share_fold(self, m, how, source, text):
        """Of a row's shares or of its norm: exponentials below the maximum, the sum, squares of what is beside the mean."""
        name, x = "s%d" % self.n_folds, text.operand(source, "E", 2 if how == "v" else 1)
        self.n_folds += 1
        if how == "s":
            return name, "double", "0", "%s += expf(%s - %s)" % (name, x, self.shares[m][0]), ""
        gap = "" if how == "m" else "(%s - %s)" % (x, self.shares[m][0])
        return name, "double", "0", "%s += %s" % (name, x if how == "m" else "%s * %s" % (gap, gap)), ""

    def put_share(self, m, how, name):
        """What every element of the row needs."""
        by = "b" + name[1:]
        if how in ">m":
            self.shares[m] = (name, None)
            self.out += ["    %s /= (double)N;\n" % name] if how == "m" else []
            return
        self.shares[m] = (self.shares[m][0], by)
        if how == "v":
            self.out.append("    double %s = 1 / sqrt(%s / (double)N + %s);\n" % (by, name, self.op(m).how))
        else:
            self.out.append("    float %s = (float)(%s);\n" % (by, "1 / " + name if self.op(m).how == "s" else "log(%s)" % name))

    def put_result(self, member, worth):
        """A number between the loops."""
        if re.match(r"\w+$", worth):
            self.results[member] = worth
            return
        self.results[member] = "r%d" % len(self.results)
        self.out.append("    float %s = %s;\n" % (self.results[member], worth))

    def put_results(self, level):
        for m in self.group.members:
            op = self.op(m)
            if self.kinds[m] == "E" or op.kind == "fold" or self.level(m) != level or m in self.results:
                continue
            text = Text(self, "i", "    ")
            if op.kind == "pick":
                at = "k%d" % len(self.results)
                self.out.append("    int64_t %s = (int64_t)%s;\n" % (at, self.load(op.sources[1], "Q", at)))
                text.index = at
                worth = text.value(op.sources[0])
            else:
                worth = text.made(m, op, self.kinds[m])
            self.out += text.lines
            self.put_result(m, worth)

    def text(self, output):
        for level in range(max(self.level(m) for m in self.group.members) + 1):
            self.put_folds(level)
            self.put_results(level)
        if self.kinds[output] != "E":
            self.out.append("%s    out[%s] = %s;\n" % ("    if (threadIdx.x == 0)\n    " if self.is_block else "",
                                                      "0" if self.group.is_whole else "e", self.results[output]))
        else:
            text = Text(self, "i", "        ")
            value = text.value(output)
            self.put_loop(text.lines + ["        out[%s] = %s;\n" % (self.place((True, True, True), "i"), value)])
        return "".join(self.out)


def product(tensor, start, end):
    return " * ".join("%s.d[%d]" % (tensor, i) for i in range(start, end)) or "1"


def result_sizes(group, output, tensor):
    if group.kinds[output] == "E":
        return "%d, n_sizes(%s)" % (len(group.shape), tensor)
    sizes = ["1" if group.mask >> i & 1 else "%s.d[%d]" % (tensor, i) for i in range(len(group.shape))
             if group.kinds[output] == "K" or not group.mask >> i & 1]
    return "%d, nd{%s}" % (len(sizes), ", ".join(sizes))


def filled(template, words):
    return re.sub(r"@(\w+)@", lambda m: words[m.group(1)], template)


def common(group, key, output):
    bases = group.bases()
    arguments = {b: "a%d" % i for i, b in enumerate(bases)}
    return arguments, {
        "key": key, "given": "".join("const float *%s, " % arguments[b] for b in bases),
        "passed": "".join("%s.v, " % arguments[b] for b in bases), "tensors": ", ".join("struct nt " + arguments[b] for b in bases)}


def chosen(known, most, few, many, test):
    """Launches: by the module's own sizes one of the two, which both are right at all sizes; else as the sizes turn out."""
    if known is not None:
        return "    if (w->base)\n%s" % (few if known < most else many)
    return "    if (w->base && %s) {\n%s    } else if (w->base) {\n%s    }\n" % (test, few, many)


def lines_fold(group, key, output):
    """The functions of a group of rows or columns."""
    arguments, words = common(group, key, output)
    (first, last), rank = group.cuts, len(group.shape)
    whole, is_rows = arguments[group.whole_base()], last == rank
    results = public_size(group.w, group.gone)
    passed = words["passed"] + "c.v, M, N" + ("" if is_rows else ", in")
    words.update({
        "given": words["given"] + "float *out, int64_t M, int64_t N" + ("" if is_rows else ", int64_t in"),
        "place": "" if is_rows or first == 0 else "    int64_t o = e / in;\n    int64_t c = e % in;\n",
        "plain": Body(group, arguments, "for (int64_t i = 0; i < N; i++)").text(output),
        "block": Body(group, arguments, "for (int64_t i = lane; i < N; i += blockDim.x)", True).text(output),
        "sizes": result_sizes(group, output, whole), "folded": product(whole, first, last), "inner": product(whole, last, rank),
        "outer": product(whole, 0, first),
        "launch": chosen(results, FEW, "        k_%s_few<<<n_grid(M), n_threads(N), 0, w->stream>>>(%s);\n" % (key, passed),
                         "        k_%s<<<n_blocks(M), 256, 0, w->stream>>>(%s);\n" % (key, passed), "M < %d" % FEW)})
    kernels = BY_THREADS + BY_BLOCKS if results is None else BY_BLOCKS if results < FEW else BY_THREADS
    return filled(kernels + LINES, words)


def whole_fold(group, key, output):
    """A fold of all elements: in parts by many threads, then the parts; a block for few elements."""
    arguments, words = common(group, key, output)
    fold = next(m for m in group.members if group.known.op(m).kind == "fold")
    parts = Body(group, arguments, "for (int64_t i = thread; i < N; i += %d)" % PARTS)
    parts.put_folds(1, is_open=True)
    last = Body(group, arguments, "for (int i = lane; i < %d; i += blockDim.x)" % PARTS, True)
    kind = last.put_last(fold)
    late = [b for b in group.bases() if any(b in group.known.op(m).sources for m in group.members if group.kinds[m] != "E" and m != fold)]
    elements = public_size(group.w, group.shape)
    few = "        k_%s_few<<<1, n_threads(N), 0, w->stream>>>(%sc.v, N);\n" % (key, words["passed"])
    many = ("        k_%s<<<%d, 256, 0, w->stream>>>(%sparts, N);\n        k_%s_last<<<1, 1024, 0, w->stream>>>(parts, %sc.v, N);\n" % (
        key, PARTS // 256, words["passed"], key, "".join("%s.v, " % arguments[b] for b in late)))
    has_few, has_parts = elements is None or elements < ALONE, elements is None or elements >= ALONE
    words.update({
        "kind": kind, "parts": "".join(parts.out), "last": "".join(last.out), "result": last.results[output],
        "few": Body(group, arguments, "for (int64_t i = lane; i < N; i += blockDim.x)", True).text(output),
        "late": "".join("const float *%s, " % arguments[b] for b in late), "whole": arguments[group.whole_base()],
        "sizes": result_sizes(group, output, arguments[group.whole_base()]),
        "room": "    struct nt room = n_room(1, nd{%d}, w);\n    %s *parts = (%s *)room.v;\n" % (2 * PARTS, kind, kind) if has_parts else "",
        "launch": chosen(elements, ALONE, few, many, "N < %d" % ALONE) if not has_parts or has_few else
                  "    if (w->base) {\n%s    }\n" % many})
    return filled((WHOLE_FEW if has_few else "") + (WHOLE_PARTS if has_parts else "") + WHOLE, words)


def sizes_in(group):
    """Of each dimension of a pass: the words of a tensor that has it as its own."""
    rank, found = len(group.shape), []
    for d, size in enumerate(group.shape):
        own = ["a%d.d[%d]" % (i, d - rank + len(group.w.shapes[b])) for i, b in enumerate(group.bases())
               if group.has(b)[d] and d >= rank - len(group.w.shapes[b])]
        found.append(own[0] if size != "1" and own else "1")
    return found


def place_in(names, has, start=None):
    """The index into a tensor that has some of the runs; start: where a run begins instead, which is no run's last."""
    text = ""
    for name, is_there in zip(names, has):
        if not is_there:
            continue
        at = name if start is None else start.get(name, "0")
        text = "(%s) * %s + %s" % (text, name.upper(), at) if "+" in text else "%s * %s + %s" % (text, name.upper(), at) if text else at
    return text or "0"


def pass_text(group, key, output):
    """The functions of a pass over several tensors: a dimension of the grid for each run of dimensions."""
    arguments, words = common(group, key, output)
    bases, runs = group.bases(), group.runs
    names, dims = ["l", "m", "n"][3 - len(runs):], "zyx"[3 - len(runs):]  # of an index in each run; its size has the capital
    has = {b: [run[2][i] for run in runs] for i, b in enumerate(bases)}
    body = Body(group, arguments, "")
    body.load = lambda name, kind, index: "%s[%s]" % (arguments[name], place_in(names, has[name]))
    text = Text(body, "", "    ")
    value, sizes, all_runs = text.value(output), sizes_in(group), [True] * len(runs)
    bounds = {"n": "N", "m": "M" if len(runs) < 3 else "rows", "l": "L"}
    starts = {"m": "m", "l": "l"}
    offset = ["%s.v + %s" % (arguments[b], place_in(names, has[b], starts)) for b in bases] + ["c.v + " + place_in(names, all_runs, starts)]
    words.update({
        "given": words["given"] + "float *out", "body": "".join(text.lines) + "    out[%s] = %s;\n" % (place_in(names, all_runs), value),
        "counts": ", ".join("int64_t " + name.upper() for name in names) + (", int64_t rows" if len(runs) == 3 else ""),
        "rank": str(len(group.shape)), "sizes": ", ".join(sizes),
        "run_sizes": ", ".join("%s = %s" % (name.upper(), " * ".join(s for s in sizes[first:end] if s != "1") or "1")
                               for name, (first, end, _) in zip(names, runs)),
        "axes": "".join("    int64_t %s = (int64_t)blockIdx.%s * blockDim.%s + threadIdx.%s;\n" % (name, dim, dim, dim)
                        for name, dim in zip(names, dims)),
        "guard": " || ".join("%s >= %s" % (name, bounds[name]) for name in names), "loops": LOOPS.get(len(runs), ""),
        "depth": ", (unsigned)planes" if len(runs) == 3 else "",
        "passed": words["passed"] + "c.v" if len(runs) == 1 else
                  ", ".join(re.sub(r" \+ 0$", "", o) for o in offset) + (", rows, N" if len(runs) == 2 else ", planes, M, N, rows")})
    return filled(FLAT if len(runs) == 1 else GRID, words)


def put(lines, known, group, output, written, functions, stem):
    """The group's calls become one; the same function serves the next group that is the same."""
    text = written(group, "@key@", output)
    if text not in functions:
        functions[text] = stem + str(len(functions))
    for m in group.members:
        lines[known.made[m][0]] = ""
    lines[known.made[output][0]] = "    struct nt %s = n_%s(%s, w);" % (output, functions[text], ", ".join(group.bases()))


def named_sizes(w, line):
    """A size that has a name does not need the value whose size it is."""
    def name(found):
        size = w.shapes[found.group(1)][int(found.group(2))] if found.group(1) in w.shapes else ".d["
        return found.group() if ".d[" in size else size if re.match(r"\w+$", size) else "(%s)" % size
    return re.sub(r"\b(v\d+)\.d\[(\d+)\]", name, line)


def join_folds(w, lines):
    """Changes the calls; gives the functions that they call now."""
    lines[:] = [named_sizes(w, line) for line in lines]
    functions, known = {}, Lines(w, lines)
    for name in known.names():
        op = known.op(name)
        group = Group(known, name, op) if op and op.kind in ("fold", "lines", "norm") else None
        if not group or not group.is_fit or not group.grow(known.made[name][0]):
            continue
        output = group.outputs()[0]
        put(lines, known, group, output, whole_fold if group.is_whole else lines_fold, functions, "fold")
        known = Lines(w, lines)
    for name in reversed(known.names()):
        op = known.op(name)
        if not op or op.kind != "map" or w.shapes[name] == ():
            continue
        group = Passes(known, name)
        is_single = len(group.members) == len(group.bases()) == 1 and not op.part
        if not group.is_known(name) or not group.runs or is_single:
            continue
        put(lines, known, group, name, pass_text, functions, "pass")
        known = Lines(w, lines)
    w.before = {name: text for name, text in w.before.items() if " n_norm(" not in lines[w.made_at[name]]}
    return "".join(text.replace("@key@", key) for text, key in functions.items())

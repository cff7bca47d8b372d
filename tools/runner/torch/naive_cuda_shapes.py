# SPDX-License-Identifier: Apache-2.0
# What is known of a traced module's values before it runs: their sizes as words (an axis, a number, or "v3.d[1]", a size of its
# own), and which of them are passes, folds and rows of shares. naive_cuda_folds.py joins kernels by it.
import re

FEW_ROWS, LONG_ROW = 512, 65536
SAME = ("n_lines", "n_norm", "n_batchnorm", "n_triangle", "n_flip")


class Op:
    """kind: map (steps of words that stand for the sources), fold, lines (softmax 's', its logarithm 'l'), norm (of rows; how: its
    epsilon) or pick. part: the call that makes it. drops: a map that gives its result without the dimensions of one element that mask names."""

    def __init__(self, kind, part, sources, **more):
        self.kind, self.part, self.sources, self.steps, self.how, self.mask, self.keep = kind, part, sources, None, None, 0, 0
        self.words, self.drops = "xy", False
        self.__dict__.update(more)


def own(name, rank):
    return tuple("%s.d[%d]" % (name, i) for i in range(max(rank, 0)))


def broadcast(name, shapes):
    """Of a pass over several values; a size that is not known to be one of theirs is the result's own."""
    rank = max(len(s) for s in shapes)
    wide = [("1",) * (rank - len(s)) + tuple(s) for s in shapes]
    sizes = [set(column) - {"1"} for column in zip(*wide)]
    return tuple("1" if not s else s.pop() if len(s) == 1 else "%s.d[%d]" % (name, i) for i, s in enumerate(sizes))


def folded(shape, mask, keep):
    return tuple("1" if mask >> i & 1 else s for i, s in enumerate(shape) if keep or not mask >> i & 1)


def listed(text):
    return [word.strip() for word in re.sub(r"^\(int64_t\[\]\)\{(.*)\}$", r"\1", text).split(",")]


def viewed(w, name, rank, words):
    """Sizes of a view: words of other values' sizes stand for what those are."""
    sizes = []
    for i, word in enumerate(words[:rank]):
        there = re.sub(r"\b(\w+)\.d\[(\d+)\]", lambda m: w.shapes[m.group(1)][int(m.group(2))], word)
        sizes.append("%s.d[%d]" % (name, i) if "-1" in there or "n_count" in there else there)
    return tuple(sizes)


def shape_of(w, name, part, rank, args):
    first = w.shapes.get(str(args[0]), ()) if args else ()
    second = w.shapes.get(str(args[1]), ()) if len(args) > 1 else ()
    alone = own(name, rank)
    if part in SAME:
        return first
    if part == "n_reduce":
        return folded(first, args[1], args[2])
    if part == "n_pick":
        return second
    if part == "n_linear":
        return first[:-1] + second[:1]
    if part == "n_product":
        return first[:1] + second[1:]
    if part in ("n_conv", "n_pool", "n_adaptive", "n_convt"):
        channels = {"n_conv": second[:1], "n_convt": second[1:2] if str(args[-1]) == "1" else alone[1:2]}
        return first[:1] + channels.get(part, first[1:2]) + alone[2:]
    if part == "n_permute":
        return tuple(first[int(i)] for i in listed(args[1]))
    if part == "n_view":
        return viewed(w, name, rank, listed(args[2]) if rank else [])
    return alone


def noted(w, value, part, args):
    """A call that the Writer makes."""
    shape = shape_of(w, value.name, part, value.rank, args)
    w.shapes[value.name] = shape if value.rank < 0 or len(shape) == value.rank else own(value.name, value.rank)
    if part == "n_reduce":
        w.ops[value.name] = reduction(w, args[0], args[1], args[2], args[3][1])
    elif part == "n_lines" and args[2][1] in "sl":
        w.ops[value.name] = Op("lines", part, [args[0]], mask=1 << args[1], how=args[2][1])
    elif part == "n_pick":
        w.ops[value.name] = Op("pick", part, [args[0], args[1]], mask=2)
    elif part == "n_batchnorm":
        note_channels(w, value.name, args)
    elif part == "n_norm" and args[1] == args[2]:
        note_rows(w, value.name, args)
    elif part == "n_norm" and value.rank > 2:
        note_groups(w, value.name, args)


def reduction(w, source, mask, keep, how):
    """A fold; over dimensions of one element it is a pass."""
    if any(size != "1" for i, size in enumerate(w.shapes[source]) if mask >> i & 1):
        return Op("fold", "n_reduce", [source], mask=mask, keep=keep, how=how)
    return Op("map", "n_reduce", [source], steps=["fabsf(x)" if how in "q1" else "x"], mask=mask, drops=not keep)


def with_weights(words, text, pointers):
    """(words, their sources, the text) with a weight and a bias, where there are such."""
    sources = [p[:-2] for p in pointers if p != "NULL"]
    given = [(word, sign) for word, sign, pointer in zip("gb", "*+", pointers) if pointer != "NULL"]
    return words + "".join(word for word, _ in given), sources, text + "".join(" %s %s" % (sign, word) for word, sign in given)


def stand(w, sources, sizes):
    """Says where an operation finds numbers that torch lets stand along some of its dimensions; False: another finds them elsewhere."""
    return all(w.seen.setdefault(s, sizes) == sizes for s in sources)


def channels(shape):
    return shape[1:2] + ("1",) * (len(shape) - 2)


def note_channels(w, name, args):
    words, weights, step = with_weights("xmv", "(x - m) / sqrtf(v + %s)" % args[5], args[3:5])
    if stand(w, list(args[1:3]) + weights, channels(w.shapes[name])):
        w.ops[name] = Op("map", "n_batchnorm", list(args[:3]) + weights, steps=[step], words=words)


def public_size(w, sizes):
    """Elements at the module's own sizes; None: not known here."""
    n = 1
    for size in sizes:
        axis = w.pack.record["axes"].get(size)
        if not size.isdigit() and axis not in w.pack.d.public:
            return None
        n *= int(size) if size.isdigit() else w.pack.d.public[axis]
    return n


def note_rows(w, name, args):
    """Rows are normalised by one thread or block each; a few long ones by all blocks."""
    shape, n = w.shapes[name], args[1].count(".d[")
    words, weights, step = with_weights("xmla", "(x - m - l) * a", args[4:6])
    if n == len(shape) or not stand(w, weights, shape[-n:]):
        return
    n_rows, length = public_size(w, shape[:-n]), public_size(w, shape[-n:])
    if n_rows and length and n_rows < FEW_ROWS and length >= LONG_ROW:
        moments(w, name, args, shape[:-n] + ("1",) * n, "1", words, weights, step)
        return
    w.ops[name] = Op("norm", "n_norm", [args[0]] + weights, mask=sum(1 << i for i in range(len(shape) - n, len(shape))),
                     how=args[6].replace("NULL", "nullptr"), words=words)


def note_groups(w, name, args):
    shape = w.shapes[name]
    words, weights, step = with_weights("xmla", "(x - m - l) * a", args[4:6])
    if stand(w, weights, channels(shape)):
        moments(w, name, args, shape[:2] + ("1",) * (len(shape) - 2), "(%s) / (%s)" % (args[1], args[3]), words, weights, step)


def moments(w, name, args, shape, per, words, weights, step):
    """Means and the reciprocal deviations are made before; the rest is a pass."""
    x, rank, kept = args[0], len(shape), [name + end for end in ("_m", "_l", "_a")]
    sizes = ", ".join("1" if size == "1" else "%s.d[%d]" % (x, i) for i, size in enumerate(shape))
    lines = ["    struct nt %s_s = n_moments(%s, %s, %s, %s, w);" % (name, x, args[1], per, args[6])]
    for i, value in enumerate(kept):
        w.shapes[value] = shape
        lines.append("    struct nt %s = {.r = %d, .d = {%s}, .v = %s_s.v + %d * %s_s.d[1]};" % (value, rank, sizes, name, i, name))
    w.before[name] = "\n".join(lines)
    w.ops[name] = Op("map", "n_norm", [x] + kept + weights, steps=[step], words=words)


def noted_pass(w, value, steps, tensors):
    w.shapes[value.name] = broadcast(value.name, [w.shapes[t.name] for t in tensors])
    if len(w.shapes[value.name]) != value.rank:
        w.shapes[value.name] = own(value.name, value.rank)
    w.ops[value.name] = Op("map", None, [t.name for t in tensors], steps=steps)


def seen(w, op, name):
    """The sizes of a value where an operation reads it."""
    return w.seen.get(name, w.shapes[name]) if op.part in ("n_batchnorm", "n_norm") and name != op.sources[0] else w.shapes[name]


def sizes_of(pack, shape):
    """The words of an input's sizes; a size that never changes is its number."""
    fixed = {name: str(a["value"]) for name, a in pack.axes.items() if isinstance(a, dict) and a.get("type") == "const"}
    return tuple(fixed.get(str(size), str(size)) for size in shape)

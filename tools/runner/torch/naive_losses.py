# SPDX-License-Identifier: Apache-2.0
# Losses, distances, attention and einsum, written with a Writer's own operations (naive.py).
import naive_cuda
from worker import Refused

POINTWISE = {  # of x, the input, and y, the target; words in braces are the loss's own numbers
    "mse_loss": "(x - y) * (x - y)", "l1_loss": "fabsf(x - y)",
    "smooth_l1_loss": "fabsf(x - y) < {beta} ? 0.5f * (x - y) * (x - y) / {beta} : fabsf(x - y) - 0.5f * {beta}",
    "huber_loss": "fabsf(x - y) <= {delta} ? 0.5f * (x - y) * (x - y) : {delta} * (fabsf(x - y) - 0.5f * {delta})",
    "kl_div": "y > 0 ? y * (logf(y) - x) : 0",
    "binary_cross_entropy": "-(y * fmaxf(logf(x), -100) + (1 - y) * fmaxf(log1pf(-x), -100))",
    "binary_cross_entropy_with_logits": "fmaxf(x, 0) - x * y + log1pf(expf(-fabsf(x)))"}
LOG_TARGET = "expf(y) * (y - x)"
USUAL = {"beta": 1.0, "delta": 1.0, "log_target": False, "reduction": "mean", "margin": 1.0, "p": 2, "eps": 1e-6,
         "swap": False, "weight": None, "pos_weight": None, "ignore_index": -100, "label_smoothing": 0.0, "dim": 1,
         "attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "keepdim": False}
READS = {**dict.fromkeys(POINTWISE, {"reduction"}), "smooth_l1_loss": {"beta", "reduction"},
         "huber_loss": {"delta", "reduction"}, "kl_div": {"log_target", "reduction"}, "cross_entropy": {"reduction"},
         "nll_loss": {"reduction"}, "triplet_margin_loss": {"margin", "eps", "reduction"}, "pairwise_distance": {"eps", "keepdim"},
         "cosine_similarity": {"dim", "eps"}, "scaled_dot_product_attention": {"is_causal", "scale"}}
MODULES = {"MSELoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss",
           "KLDivLoss": "kl_div", "BCELoss": "binary_cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
           "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss", "TripletMarginLoss": "triplet_margin_loss",
           "CosineSimilarity": "cosine_similarity", "PairwiseDistance": "pairwise_distance"}


def settings(name, given):
    """What a call or a module says, with the usual values; what has no row in READS must be as usual."""
    known = {**USUAL, **({"eps": 1e-8} if name == "cosine_similarity" else {}),
             **({"p": 2.0, "norm": 2} if name == "pairwise_distance" else {})}
    for word, value in given.items():
        if word in known and word not in READS[name] and value != known[word]:
            raise Refused("no naive kernel: %s with %s" % (name, word))
    return {**known, **given}


def number(value):
    return repr(float(value)) + "f"


def reduced(w, loss, how):
    if how == "none":
        return loss
    if how == "batchmean":
        total = w.reduce("+", loss, [loss], {}, 0)
        return w.binary("x / y", total, w.known("(float)%s.d[0]" % loss.name))
    if how not in ("mean", "sum"):
        raise Refused("no naive kernel: a loss with reduction %s" % how)
    return w.reduce("m" if how == "mean" else "+", loss, [loss], {}, 0)


def by_class(w, name, x, target, p):
    if x.rank < 2 or target.rank != x.rank - 1:
        raise Refused("no naive kernel: %s whose target is no class numbers" % name)
    logs = w.call("n_lines", x.rank, x.name, 1, "'l'") if name == "cross_entropy" else x
    return reduced(w, w.mapped("-x", w.call("n_pick", target.rank, logs.name, target.name)), p["reduction"])


def distance(w, a, b, eps, keep=False):
    gap = "(x - y + %s)" % number(eps)
    squares = w.binary("%s * %s" % (gap, gap), a, b)
    total = w.reduce("+", squares, [squares, -1, keep], {}, squares.rank - 1 + bool(keep))
    return w.mapped("sqrtf(x)", total)


def cosine(w, a, b, p):
    def dot(x, y):
        each = w.binary("x * y", x, y)
        return w.reduce("+", each, [each, p["dim"]], {}, each.rank - 1)
    least = number(p["eps"] ** 2)
    lengths = w.binary("sqrtf(fmaxf(x, %s)) * sqrtf(fmaxf(y, %s))" % (least, least), dot(a, a), dot(b, b))
    return w.binary("x / y", dot(a, b), lengths)


def attention(w, q, k, v, p):
    order = list(range(k.rank - 2)) + [k.rank - 1, k.rank - 2]
    turned = w.call("n_permute", k.rank, k.name, "(int64_t[]){%s}" % ", ".join(map(str, order)))
    scores = w.call("n_matmul", q.rank, q.name, turned.name)
    if p["scale"] is None:
        scores = w.binary("x / sqrtf(y)", scores, w.known("(float)%s.d[%d]" % (q.name, q.rank - 1)))
    else:
        scores = w.binary("x * y", scores, p["scale"])
    if p["is_causal"]:
        kept = w.call("n_triangle", q.rank, w.mapped("1", scores).name, 0, 0)
        scores = w.binary("y != 0 ? x : -INFINITY", scores, kept)
    shares = w.call("n_lines", q.rank, scores.name, q.rank - 1, "'s'")
    return w.call("n_matmul", q.rank, shares.name, v.name)


def loss(w, name, tensors, given):
    """The function of that name, or None: it is none of these."""
    if name not in READS:
        return None
    p = settings(name, given)
    if len(tensors) != {"triplet_margin_loss": 3, "scaled_dot_product_attention": 3}.get(name, 2):
        raise Refused("no naive kernel: %s of %d tensors" % (name, len(tensors)))
    if name in POINTWISE:
        text = LOG_TARGET if name == "kl_div" and p["log_target"] else POINTWISE[name]
        words = {word: number(p[word]) for word in ("beta", "delta")}
        return reduced(w, w.binary(text.format(**words), *tensors), p["reduction"])
    if name in ("cross_entropy", "nll_loss"):
        return by_class(w, name, tensors[0], tensors[1], p)
    if name == "triplet_margin_loss":
        near, far = distance(w, tensors[0], tensors[1], p["eps"]), distance(w, tensors[0], tensors[2], p["eps"])
        return reduced(w, w.binary("fmaxf(x - y + %s, 0)" % number(p["margin"]), near, far), p["reduction"])
    if name == "pairwise_distance":
        return distance(w, tensors[0], tensors[1], p["eps"], p["keepdim"])
    return cosine(w, *tensors, p) if name == "cosine_similarity" else attention(w, *tensors, p)


def loss_module(w, m, tensors):
    name = MODULES.get(type(m).__name__)
    own = {k: v for k, v in vars(m).items() if not k.startswith("_") and k != "training"}
    return loss(w, name, tensors, own) if name else None


def einsum(w, spec, tensors):
    """One nest: the output's letters outside, the summed ones inside."""
    words, arrow, out = spec.replace(" ", "").partition("->")
    words = words.split(",")
    letters = "".join(words)
    if "." in spec or len(words) != len(tensors) or any(len(a) != t.rank for a, t in zip(words, tensors)):
        raise Refused("no naive kernel: einsum of '%s'" % spec)
    out = out if arrow else "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    summed = sorted(set(letters) - set(out))
    sizes = {c: next("a%d.d[%d]" % (i, a.index(c)) for i, a in enumerate(words) if c in a) for c in set(letters)}
    lines = ["    struct nt c = n_room(%d, (int64_t[]){%s});" % (len(out), ", ".join(sizes[c] for c in out) or "0"),
             "    int64_t at = 0;"]
    lines += ["    for (int64_t i_%s = 0; i_%s < %s; i_%s++)" % (c, c, sizes[c], c) for c in out]
    lines += ["    {", "        float sum = 0;"]
    loops = ["        for (int64_t i_%s = 0; i_%s < %s; i_%s++)" % (c, c, sizes[c], c) for c in summed]
    term = " * ".join(element(i, a) for i, a in enumerate(words))
    lines += loops + ["            sum += %s;" % term, "        c.v[at++] = sum;", "    }", "    return c;"]
    return w.written(lines, tensors, len(out), "einsum " + spec,
                     lambda key: naive_cuda.nest(key, len(tensors), out, sizes, loops, term))


def element(i, letters):
    at = "0"
    for k, c in enumerate(letters):
        at = "i_%s" % c if k == 0 else "(%s) * a%d.d[%d] + i_%s" % (at, i, k, c)
    return "a%d.v[%s]" % (i, at)

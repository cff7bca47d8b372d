# SPDX-License-Identifier: Apache-2.0
# Layers of torch.nn that are several operations: recurrent ones, multi-head attention, encoder layers. Written with a Writer's
# own operations (naive.py) by the formulas of torch's documentation.
from naive_losses import attention
from naive_parts import PARTS
from worker import Refused

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
PARTS["n_rnn"] = r"""static float n_sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}
/* One direction of one layer over x [time, batch, in]; kind 'L' LSTM, 'G' GRU, 't' tanh, 'r' ReLU. h and c (LSTM) hold the state
 * [batch, hidden] of the beginning, and of the end afterwards. */
static struct nt n_rnn(struct nt x, struct nt h, struct nt c, struct nt wi, struct nt wh, const float *bi, const float *bh, char kind,
                       int is_back)
{
    int64_t batch = x.d[1], in = x.d[2], n = wh.d[1], rows = wh.d[0];
    struct nt y = n_room(3, (int64_t[]){x.d[0], batch, n});
    float *a = malloc((size_t)rows * sizeof *a), *b = malloc((size_t)rows * sizeof *b);
    for (int64_t step = 0; step < x.d[0]; step++)
        for (int64_t s = 0; s < batch; s++) {
            int64_t t = is_back ? x.d[0] - 1 - step : step;
            float *now = h.v + s * n;
            for (int64_t r = 0; r < rows; r++) {
                a[r] = bi ? bi[r] : 0;
                b[r] = bh ? bh[r] : 0;
                for (int64_t k = 0; k < in; k++)
                    a[r] += x.v[(t * batch + s) * in + k] * wi.v[r * in + k];
                for (int64_t k = 0; k < n; k++)
                    b[r] += now[k] * wh.v[r * n + k];
            }
            for (int64_t k = 0; k < n; k++) {
                if (kind == 'L') {
                    float *cell = &c.v[s * n + k];
                    *cell = n_sigmoid(a[n + k] + b[n + k]) * *cell + n_sigmoid(a[k] + b[k]) * tanhf(a[2 * n + k] + b[2 * n + k]);
                    now[k] = n_sigmoid(a[3 * n + k] + b[3 * n + k]) * tanhf(*cell);
                } else if (kind == 'G') {
                    float z = n_sigmoid(a[n + k] + b[n + k]);
                    now[k] = (1 - z) * tanhf(a[2 * n + k] + n_sigmoid(a[k] + b[k]) * b[2 * n + k]) + z * now[k];
                } else {
                    now[k] = kind == 't' ? tanhf(a[k] + b[k]) : fmaxf(a[k] + b[k], 0);
                }
                y.v[(t * batch + s) * n + k] = now[k];
            }
        }
    free(a);
    free(b);
    return y;
}
"""


def turned(w, x, order):
    return w.call("n_permute", x.rank, x.name, "(int64_t[]){%s}" % ", ".join(map(str, order)))


def piece(w, x, i):
    """x[i] as a tensor of its own, which may be written."""
    part = w.call("n_slice", x.rank, x.name, 0, i, "%d + 1" % i, 1)
    return w.view(part, ["%s.d[%d]" % (x.name, d) for d in range(1, x.rank)])


def joined(w, parts, dim):
    return w.shaping("cat", parts, [parts, dim], {}, parts[0].rank)


def recurrent(w, m, path, args):
    """(output, (h, c)) of an LSTM, (output, h) of the others."""
    kind, x = type(m).__name__, args[0]
    if getattr(m, "proj_size", 0) or x.rank != 3:
        raise Refused("no naive kernel: nn.%s with %s" % (kind, "proj_size" if m.proj_size else "inputs without a batch"))
    letter = {"LSTM": "L", "GRU": "G"}.get(kind) or {"tanh": "t", "relu": "r"}[m.nonlinearity]
    ways = 2 if m.bidirectional else 1
    x = turned(w, x, (1, 0, 2)) if m.batch_first else x
    given = args[1] if len(args) > 1 else None
    if given is None:
        zero = w.made("zeros", [ways * m.num_layers, w.known("%s.d[1]" % x.name), w.known(w.param(path, "weight_hh_l0") + ".d[1]")], {}, 3)
        given = (zero, zero) if kind == "LSTM" else zero
    firsts = list(given) if kind == "LSTM" else [given]
    ends = [[], []]
    for layer in range(m.num_layers):
        outs = []
        for way in range(ways):
            end = "_l%d%s" % (layer, "_reverse" if way else "")
            states = [piece(w, f, layer * ways + way) for f in firsts]
            outs.append(w.call("n_rnn", 3, x.name, states[0].name, states[-1].name, w.param(path, "weight_ih" + end),
                               w.param(path, "weight_hh" + end), w.pointer(path, "bias_ih" + end), w.pointer(path, "bias_hh" + end),
                               "'%s'" % letter, way))
            for kept, state in zip(ends, states):
                kept.append(w.shaping("unsqueeze", state, [state, 0], {}, 3))
        x = joined(w, outs, 2) if ways == 2 else outs[0]
    last = [joined(w, kept, 0) for kept in ends if kept]
    return [turned(w, x, (1, 0, 2)) if m.batch_first else x, last if kind == "LSTM" else last[0]]


def multi_head(w, m, path, args, more):
    """(output, None): the weights of the heads are not given."""
    q, k, v = args[:3]
    told = dict(zip(("key_padding_mask", "need_weights", "attn_mask"), args[3:]), **more)
    if any(told.get(word) is not None for word in ("key_padding_mask", "attn_mask")) or m.bias_k is not None or m.add_zero_attn:
        raise Refused("no naive kernel: nn.MultiheadAttention with a mask or added keys")
    if not m._qkv_same_embed_dim or q.rank != 3:
        raise Refused("no naive kernel: nn.MultiheadAttention with keys of other sizes or without a batch")
    if not m.batch_first:
        q, k, v = [turned(w, t, (1, 0, 2)) for t in (q, k, v)]
    weight, bias = w.param(path, "in_proj_weight"), w.pointer(path, "in_proj_bias")
    e, heads = weight + ".d[1]", m.num_heads  # sizes are those of the call: the module may be of others
    each = "%s / %d" % (e, heads)

    def headed(t, i):
        part = w.call("n_slice", 2, weight, 0, "%d * %s" % (i, e), "%d * %s" % (i + 1, e), 1)
        t = w.call("n_linear", 3, t.name, part.name, "NULL" if bias == "NULL" else "%s + %d * %s" % (bias, i, e))
        t = w.view(t, ["%s.d[0]" % t.name, "%s.d[1]" % t.name, heads, each])
        return turned(w, t, (0, 2, 1, 3))
    shares = attention(w, headed(q, 0), headed(k, 1), headed(v, 2), {"scale": None, "is_causal": False})
    whole = turned(w, shares, (0, 2, 1, 3))
    whole = w.view(whole, ["%s.d[0]" % whole.name, "%s.d[1]" % whole.name, e])
    whole = w.call("n_linear", 3, whole.name, w.param(path + ".out_proj", "weight"), w.pointer(path + ".out_proj", "bias"))
    return [whole if m.batch_first else turned(w, whole, (1, 0, 2)), None]


def encoder_layer(w, m, path, x):
    def part(name, t):
        inner = getattr(m, name)
        shape = t.rank
        return w.module(inner, path + "." + name, t, shape)

    def attended(t):
        return multi_head(w, m.self_attn, path + ".self_attn", [t, t, t], {})[0]

    def fed(t):
        act = getattr(m.activation, "__name__", type(m.activation).__name__).lower()
        return part("linear2", w.shaping(act, part("linear1", t), [t], {}, t.rank))
    if m.norm_first:
        x = w.binary("x + y", x, attended(part("norm1", x)))
        return w.binary("x + y", x, fed(part("norm2", x)))
    x = part("norm1", w.binary("x + y", x, attended(x)))
    return part("norm2", w.binary("x + y", x, fed(x)))


def layer(w, m, path, args, more):
    """What such a module gives, or None: it is none of these."""
    kind = type(m).__name__
    if kind in GATES and type(m).__module__.startswith("torch.nn"):
        return recurrent(w, m, path, args + list(more.values()))
    if kind == "MultiheadAttention":
        return multi_head(w, m, path, args + [more.pop(word) for word in ("query", "key", "value") if word in more], more)
    if kind in ("TransformerEncoderLayer", "TransformerEncoder") and (len(args) > 1 or more):
        raise Refused("no naive kernel: nn.%s with a mask" % kind)
    if kind == "TransformerEncoderLayer":
        return encoder_layer(w, m, path, args[0])
    if kind == "TransformerEncoder":
        x = args[0]
        for i, inner in enumerate(m.layers):
            x = encoder_layer(w, inner, "%s.layers.%d" % (path, i), x)
        return w.module(m.norm, path + ".norm", x, x.rank) if m.norm is not None else x
    return None

# SPDX-License-Identifier: Apache-2.0
# A naive C kernel for a traced module: one plain function for each kind of operation, called in the module's order.
# Sizes are read at run time, so that the kernel works for every legal size. What has no row here is refused by name.
import math
import operator

import torch
import torch.fx
from torch.fx.passes.shape_prop import ShapeProp

from worker import Refused

BASE = r"""#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct nt { /* a tensor, row-major */
    int64_t r, d[8];
    float *v;
};
static int64_t n_count(struct nt a)
{
    int64_t n = 1;
    for (int64_t i = 0; i < a.r; i++)
        n *= a.d[i];
    return n;
}
static struct nt n_room(int64_t r, const int64_t *d)
{
    struct nt a = {.r = r};
    for (int64_t i = 0; i < r; i++)
        a.d[i] = d[i];
    a.v = malloc((size_t)n_count(a) * sizeof(float));
    return a;
}
"""
PARTS = {
    "n_scalar": r"""static struct nt n_scalar(float x)
{
    struct nt a = n_room(0, NULL);
    a.v[0] = x;
    return a;
}
""",
    "n_wide": r"""static struct nt n_wide(struct nt a, struct nt b)
{
    int64_t r = a.r > b.r ? a.r : b.r, d[8];
    for (int64_t i = 0; i < r; i++) {
        int64_t x = i - (r - a.r), y = i - (r - b.r);
        int64_t p = x < 0 ? 1 : a.d[x], q = y < 0 ? 1 : b.d[y];
        d[i] = p > q ? p : q;
    }
    return n_room(r, d);
}
static int64_t n_from(struct nt a, struct nt c, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int64_t k = 1; k <= a.r; k++) {
        int64_t size = c.d[c.r - k], j = i % size;
        i /= size;
        if (a.d[a.r - k] != 1)
            at += j * step;
        step *= a.d[a.r - k];
    }
    return at;
}
""",
    "n_matmul": r"""static struct nt n_matmul(struct nt a, struct nt b)
{
    int64_t m = a.d[a.r - 2], k = a.d[a.r - 1], n = b.d[b.r - 1];
    struct nt ab = a, bb = b;
    ab.r -= 2;
    bb.r -= 2;
    struct nt c = n_wide(ab, bb), batches = c;
    free(c.v);
    c.d[c.r++] = m;
    c.d[c.r++] = n;
    c = n_room(c.r, c.d);
    for (int64_t t = 0; t < n_count(batches); t++) {
        const float *x = a.v + n_from(ab, batches, t) * m * k;
        const float *y = b.v + n_from(bb, batches, t) * k * n;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                float sum = 0;
                for (int64_t l = 0; l < k; l++)
                    sum += x[i * k + l] * y[l * n + j];
                c.v[(t * m + i) * n + j] = sum;
            }
    }
    return c;
}
""",
    "n_linear": r"""static struct nt n_linear(struct nt x, struct nt w, const float *b)
{
    int64_t k = w.d[1], n = w.d[0];
    struct nt c = x;
    c.d[c.r - 1] = n;
    c = n_room(c.r, c.d);
    for (int64_t i = 0; i < n_count(c) / n; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = b ? b[j] : 0;
            for (int64_t l = 0; l < k; l++)
                sum += x.v[i * k + l] * w.v[j * k + l];
            c.v[i * n + j] = sum;
        }
    return c;
}
""",
    "n_reduce": r"""static struct nt n_reduce(struct nt a, int mask, int keep, char kind)
{
    struct nt c = {.r = 0}, wide = a;
    int64_t n = n_count(a), over = 1;
    for (int64_t i = 0; i < a.r; i++) {
        int is_over = mask >> i & 1;
        over *= is_over ? a.d[i] : 1;
        wide.d[i] = is_over ? 1 : a.d[i];
        if (!is_over || keep)
            c.d[c.r++] = is_over ? 1 : a.d[i];
    }
    c = n_room(c.r, c.d);
    double *sums = malloc((size_t)n_count(c) * sizeof *sums);
    for (int64_t i = 0; i < n_count(c); i++)
        sums[i] = kind == '>' ? -INFINITY : kind == '<' ? INFINITY : kind == '*';
    for (int64_t i = 0; i < n; i++) {
        double *s = &sums[n_from(wide, a, i)], x = a.v[i];
        *s = kind == '>' ? (x > *s ? x : *s) : kind == '<' ? (x < *s ? x : *s) : kind == '*' ? *s * x
             : kind == 'q' ? *s + x * x : kind == '1' ? *s + fabs(x) : *s + x;
    }
    for (int64_t i = 0; i < n_count(c); i++)
        c.v[i] = (float)(kind == 'm' ? sums[i] / (double)over : kind == 'q' ? sqrt(sums[i]) : sums[i]);
    free(sums);
    return c;
}
""",
    "n_lines": r"""static struct nt n_lines(struct nt a, int64_t dim, char kind)
{
    struct nt c = n_room(a.r, a.d);
    int64_t in = 1, len = a.d[dim];
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t o = 0; o < n_count(a) / (len * in); o++)
        for (int64_t k = 0; k < in; k++) {
            const float *x = a.v + o * len * in + k;
            float *y = c.v + o * len * in + k;
            double most = -INFINITY, sum = kind == '*';
            for (int64_t i = 0; i < len && (kind == 's' || kind == 'l'); i++)
                most = x[i * in] > most ? x[i * in] : most;
            for (int64_t i = 0; i < len; i++) {
                if (kind == 's' || kind == 'l')
                    sum += exp(x[i * in] - most);
                else
                    y[i * in] = (float)(sum = kind == '*' ? sum * x[i * in] : sum + x[i * in]);
            }
            for (int64_t i = 0; i < len && kind == 's'; i++)
                y[i * in] = (float)(exp(x[i * in] - most) / sum);
            for (int64_t i = 0; i < len && kind == 'l'; i++)
                y[i * in] = (float)(x[i * in] - most - log(sum));
        }
    return c;
}
""",
    "n_best": r"""static struct nt n_best(struct nt a, int64_t dim, int keep, int least)
{
    struct nt c = {.r = 0};
    int64_t in = 1, len = a.d[dim];
    for (int64_t i = 0; i < a.r; i++)
        if (i != dim || keep)
            c.d[c.r++] = i == dim ? 1 : a.d[i];
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    c = n_room(c.r, c.d);
    for (int64_t o = 0; o < n_count(a) / (len * in); o++)
        for (int64_t k = 0; k < in; k++) {
            const float *x = a.v + o * len * in + k;
            int64_t at = 0;
            for (int64_t i = 1; i < len; i++)
                if (least ? x[i * in] < x[at * in] : x[i * in] > x[at * in])
                    at = i;
            c.v[o * in + k] = (float)at;
        }
    return c;
}
""",
    "n_lift": r"""static struct nt n_lift(struct nt a, int64_t lead) /* spatial dimensions to three */
{
    int64_t missing = lead + 3 - a.r;
    for (int64_t i = lead + 2; i >= lead; i--)
        a.d[i] = i - lead < missing ? 1 : a.d[i - missing];
    a.r = lead + 3;
    return a;
}
static struct nt n_drop(struct nt a, int64_t rank)
{
    for (int64_t i = 2; i < rank; i++)
        a.d[i] = a.d[i + 5 - rank];
    a.r = rank;
    return a;
}
""",
    "n_conv": r"""static struct nt n_conv(struct nt x, struct nt w, const float *b, const int64_t *stride, const int64_t *pad,
                        const int64_t *dil, int64_t groups)
{
    int64_t rank = x.r, o[3];
    x = n_lift(x, 2);
    w = n_lift(w, 2);
    for (int i = 0; i < 3; i++)
        o[i] = (x.d[2 + i] + 2 * pad[i] - dil[i] * (w.d[2 + i] - 1) - 1) / stride[i] + 1;
    struct nt c = n_room(5, (int64_t[]){x.d[0], w.d[0], o[0], o[1], o[2]});
    int64_t at = 0, ci = w.d[1], per = w.d[0] / groups;
    for (int64_t n = 0; n < c.d[0]; n++)
        for (int64_t f = 0; f < c.d[1]; f++)
            for (int64_t z = 0; z < o[0]; z++)
                for (int64_t y = 0; y < o[1]; y++)
                    for (int64_t k = 0; k < o[2]; k++) {
                        float sum = b ? b[f] : 0;
                        for (int64_t i = 0; i < ci; i++)
                            for (int64_t p = 0; p < w.d[2]; p++)
                                for (int64_t q = 0; q < w.d[3]; q++)
                                    for (int64_t r = 0; r < w.d[4]; r++) {
                                        int64_t zz = z * stride[0] - pad[0] + p * dil[0];
                                        int64_t yy = y * stride[1] - pad[1] + q * dil[1];
                                        int64_t xx = k * stride[2] - pad[2] + r * dil[2];
                                        if (zz < 0 || zz >= x.d[2] || yy < 0 || yy >= x.d[3] || xx < 0 ||
                                            xx >= x.d[4])
                                            continue;
                                        int64_t ch = f / per * ci + i;
                                        sum += x.v[(((n * x.d[1] + ch) * x.d[2] + zz) * x.d[3] + yy) * x.d[4] + xx] *
                                               w.v[(((f * ci + i) * w.d[2] + p) * w.d[3] + q) * w.d[4] + r];
                                    }
                        c.v[at++] = sum;
                    }
    return n_drop(c, rank);
}
""",
    "n_convt": r"""static struct nt n_convt(struct nt x, struct nt w, const float *b, const int64_t *stride, const int64_t *pad,
                         const int64_t *dil, const int64_t *more, int64_t groups)
{
    int64_t rank = x.r, o[3];
    x = n_lift(x, 2);
    w = n_lift(w, 2);
    for (int i = 0; i < 3; i++)
        o[i] = (x.d[2 + i] - 1) * stride[i] - 2 * pad[i] + dil[i] * (w.d[2 + i] - 1) + more[i] + 1;
    int64_t per = w.d[1], ci = x.d[1] / groups, at = 0;
    struct nt c = n_room(5, (int64_t[]){x.d[0], per * groups, o[0], o[1], o[2]});
    for (int64_t n = 0; n < c.d[0]; n++)
        for (int64_t f = 0; f < c.d[1]; f++)
            for (int64_t z = 0; z < o[0]; z++)
                for (int64_t y = 0; y < o[1]; y++)
                    for (int64_t k = 0; k < o[2]; k++) {
                        float sum = b ? b[f] : 0;
                        for (int64_t p = 0; p < w.d[2]; p++)
                            for (int64_t q = 0; q < w.d[3]; q++)
                                for (int64_t r = 0; r < w.d[4]; r++) {
                                    int64_t zz = z + pad[0] - p * dil[0], yy = y + pad[1] - q * dil[1];
                                    int64_t xx = k + pad[2] - r * dil[2];
                                    if (zz < 0 || yy < 0 || xx < 0 || zz % stride[0] || yy % stride[1] ||
                                        xx % stride[2])
                                        continue;
                                    zz /= stride[0];
                                    yy /= stride[1];
                                    xx /= stride[2];
                                    if (zz >= x.d[2] || yy >= x.d[3] || xx >= x.d[4])
                                        continue;
                                    for (int64_t i = 0; i < ci; i++) {
                                        int64_t ch = f / per * ci + i;
                                        sum += x.v[(((n * x.d[1] + ch) * x.d[2] + zz) * x.d[3] + yy) * x.d[4] + xx] *
                                               w.v[(((ch * per + f % per) * w.d[2] + p) * w.d[3] + q) * w.d[4] + r];
                                    }
                                }
                        c.v[at++] = sum;
                    }
    return n_drop(c, rank);
}
""",
    "n_pool": r"""static struct nt n_pool(struct nt x, const int64_t *size, const int64_t *stride, const int64_t *pad,
                        const int64_t *dil, int is_max, int counts_pad)
{
    int64_t rank = x.r, o[3], at = 0;
    x = n_lift(x, 2);
    for (int i = 0; i < 3; i++)
        o[i] = (x.d[2 + i] + 2 * pad[i] - dil[i] * (size[i] - 1) - 1) / stride[i] + 1;
    struct nt c = n_room(5, (int64_t[]){x.d[0], x.d[1], o[0], o[1], o[2]});
    for (int64_t n = 0; n < x.d[0] * x.d[1]; n++)
        for (int64_t z = 0; z < o[0]; z++)
            for (int64_t y = 0; y < o[1]; y++)
                for (int64_t k = 0; k < o[2]; k++) {
                    float most = -INFINITY, sum = 0;
                    int64_t seen = 0;
                    for (int64_t p = 0; p < size[0]; p++)
                        for (int64_t q = 0; q < size[1]; q++)
                            for (int64_t r = 0; r < size[2]; r++) {
                                int64_t zz = z * stride[0] - pad[0] + p * dil[0];
                                int64_t yy = y * stride[1] - pad[1] + q * dil[1];
                                int64_t xx = k * stride[2] - pad[2] + r * dil[2];
                                if (zz < 0 || zz >= x.d[2] || yy < 0 || yy >= x.d[3] || xx < 0 || xx >= x.d[4])
                                    continue;
                                float v = x.v[((n * x.d[2] + zz) * x.d[3] + yy) * x.d[4] + xx];
                                most = v > most ? v : most;
                                sum += v;
                                seen++;
                            }
                    seen = counts_pad ? size[0] * size[1] * size[2] : seen;
                    c.v[at++] = is_max ? most : sum / (float)seen;
                }
    return n_drop(c, rank);
}
""",
    "n_adaptive": r"""static struct nt n_adaptive(struct nt x, const int64_t *o)
{
    int64_t rank = x.r, at = 0;
    x = n_lift(x, 2);
    struct nt c = n_room(5, (int64_t[]){x.d[0], x.d[1], o[0], o[1], o[2]});
    for (int64_t n = 0; n < x.d[0] * x.d[1]; n++)
        for (int64_t z = 0; z < o[0]; z++)
            for (int64_t y = 0; y < o[1]; y++)
                for (int64_t k = 0; k < o[2]; k++) {
                    double sum = 0;
                    int64_t seen = 0;
                    for (int64_t p = z * x.d[2] / o[0]; p < ((z + 1) * x.d[2] + o[0] - 1) / o[0]; p++)
                        for (int64_t q = y * x.d[3] / o[1]; q < ((y + 1) * x.d[3] + o[1] - 1) / o[1]; q++)
                            for (int64_t r = k * x.d[4] / o[2]; r < ((k + 1) * x.d[4] + o[2] - 1) / o[2]; r++) {
                                sum += x.v[((n * x.d[2] + p) * x.d[3] + q) * x.d[4] + r];
                                seen++;
                            }
                    c.v[at++] = (float)(sum / (double)seen);
                }
    return n_drop(c, rank);
}
""",
    "n_batchnorm": r"""static struct nt n_batchnorm(struct nt x, struct nt mean, struct nt var, const float *w, const float *b, float eps)
{
    struct nt c = n_room(x.r, x.d);
    int64_t n = n_count(x), ch = x.d[1], in = n / (x.d[0] * ch);
    for (int64_t i = 0; i < n; i++) {
        int64_t f = i / in % ch;
        float y = (x.v[i] - mean.v[f]) / sqrtf(var.v[f] + eps);
        c.v[i] = y * (w ? w[f] : 1) + (b ? b[f] : 0);
    }
    return c;
}
""",
    "n_norm": r"""static struct nt n_norm(struct nt x, int64_t len, int64_t ch, int64_t in, const float *w, const float *b, float eps)
{
    /* groups of len values; weights by (i / in) % ch */
    struct nt c = n_room(x.r, x.d);
    for (int64_t g = 0; g < n_count(x) / len; g++) {
        double mean = 0, var = 0;
        for (int64_t i = 0; i < len; i++)
            mean += x.v[g * len + i];
        mean /= (double)len;
        for (int64_t i = 0; i < len; i++)
            var += (x.v[g * len + i] - mean) * (x.v[g * len + i] - mean);
        double by = 1 / sqrt(var / (double)len + eps);
        for (int64_t i = g * len; i < (g + 1) * len; i++) {
            int64_t f = i / in % ch;
            c.v[i] = (float)((x.v[i] - mean) * by) * (w ? w[f] : 1) + (b ? b[f] : 0);
        }
    }
    return c;
}
""",
    "n_permute": r"""static struct nt n_permute(struct nt a, const int64_t *from)
{
    int64_t step[8], d[8];
    for (int64_t i = a.r - 1, s = 1; i >= 0; s *= a.d[i], i--)
        step[i] = s;
    for (int64_t i = 0; i < a.r; i++)
        d[i] = a.d[from[i]];
    struct nt c = n_room(a.r, d);
    for (int64_t i = 0; i < n_count(c); i++) {
        int64_t at = 0, rest = i;
        for (int64_t k = a.r - 1; k >= 0; k--) {
            at += rest % d[k] * step[from[k]];
            rest /= d[k];
        }
        c.v[i] = a.v[at];
    }
    return c;
}
""",
    "n_view": r"""static struct nt n_view(struct nt a, int64_t r, const int64_t *d)
{
    int64_t n = n_count(a), known = 1, open = -1, to[8];
    for (int64_t i = 0; i < r; i++) {
        to[i] = d[i];
        if (d[i] < 0)
            open = i;
        else
            known *= d[i];
    }
    if (open >= 0)
        to[open] = n / known;
    struct nt c = n_room(r, to);
    memcpy(c.v, a.v, (size_t)n * sizeof(float));
    return c;
}
""",
    "n_cat": r"""static struct nt n_cat(struct nt a, struct nt b, int64_t dim)
{
    struct nt c = a;
    c.d[dim] += b.d[dim];
    c = n_room(c.r, c.d);
    int64_t in = 1;
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    int64_t x = a.d[dim] * in, y = b.d[dim] * in;
    for (int64_t o = 0; o < n_count(c) / (x + y); o++) {
        memcpy(c.v + o * (x + y), a.v + o * x, (size_t)x * sizeof(float));
        memcpy(c.v + o * (x + y) + x, b.v + o * y, (size_t)y * sizeof(float));
    }
    return c;
}
""",
    "n_triangle": r"""static struct nt n_triangle(struct nt a, int64_t diagonal, int upper)
{
    struct nt c = n_room(a.r, a.d);
    int64_t w = a.d[a.r - 1], h = a.d[a.r - 2];
    for (int64_t i = 0; i < n_count(a); i++) {
        int64_t off = i % w - i / w % h;
        c.v[i] = (upper ? off >= diagonal : off <= diagonal) ? a.v[i] : 0;
    }
    return c;
}
""",
}
NEEDS = {"n_matmul": ["n_wide"], "n_reduce": ["n_wide"], "n_conv": ["n_lift"], "n_convt": ["n_lift"],
         "n_pool": ["n_lift"], "n_adaptive": ["n_lift"]}
BINARY = {"add": "x + y", "sub": "x - y", "mul": "x * y", "truediv": "x / y", "div": "x / y", "pow": "powf(x, y)",
          "maximum": "x > y ? x : y", "minimum": "x < y ? x : y", "iadd": "x + y", "isub": "x - y", "imul": "x * y",
          "add_": "x + y", "mul_": "x * y", "sub_": "x - y", "div_": "x / y", "itruediv": "x / y"}
UNARY = {"relu": "x > 0 ? x : 0", "sigmoid": "1 / (1 + expf(-x))", "tanh": "tanhf(x)", "exp": "expf(x)",
         "log": "logf(x)", "sqrt": "sqrtf(x)", "rsqrt": "1 / sqrtf(x)", "abs": "fabsf(x)", "neg": "-x",
         "square": "x * x", "sin": "sinf(x)", "cos": "cosf(x)", "erf": "erff(x)", "reciprocal": "1 / x",
         "silu": "x / (1 + expf(-x))", "softsign": "x / (1 + fabsf(x))", "hardswish":
         "x * fminf(fmaxf(x + 3, 0), 6) / 6", "hardsigmoid": "fminf(fmaxf(x + 3, 0), 6) / 6",
         "relu6": "fminf(fmaxf(x, 0), 6)", "relu_": "x > 0 ? x : 0", "mish": "x * tanhf(x > 20 ? x : log1pf(expf(x)))",
         "selu": "1.0507009873554805f * (x > 0 ? x : 1.6732632423543772f * expm1f(x))",
         "logsigmoid": "x < 0 ? x - log1pf(expf(x)) : -log1pf(expf(-x))", "sign": "(x > 0) - (x < 0)"}
SAME = {"contiguous", "clone", "detach", "identity", "dropout", "float"}
REDUCE = {"sum": "+", "mean": "m", "amax": ">", "amin": "<", "prod": "*"}


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
        self.state = {key: name for name, key in pack.record["state"].items()}
        self.buffers = {}
        for name, tensor in pack.inputs.items():
            if tensor["dtype"] != "float32":
                raise Refused("no naive kernel: input %s is %s, only float32 is written" % (name, tensor["dtype"]))
            self.lines.append("    struct nt m_%s = {.r = %d, .d = {%s}, .v = (float *)(uintptr_t)%s};" % (
                name, len(tensor["shape"]), ", ".join(tensor["shape"]) or "0", name))

    def use(self, name):
        for other in NEEDS.get(name, []):
            self.use(other)
        if name not in self.used:
            self.used.append(name)

    def fresh(self, text, rank):
        name = "v%d" % self.n
        self.n += 1
        self.lines.append("    struct nt %s = %s;" % (name, text))
        self.temps.append(name)
        return T(name, rank)

    def call(self, part, rank, *args):
        self.use(part)
        return self.fresh("%s(%s)" % (part, ", ".join(str(a) for a in args)), rank)

    def tensor(self, value):
        if isinstance(value, T):
            return value
        self.use("n_scalar")
        return self.fresh("n_scalar(%s)" % (value.text if isinstance(value, C) else c_float(value)), 0)

    def mapped(self, expression, value):
        key = "n_map%d" % list(self.own).index(expression) if expression in self.own else "n_map%d" % len(self.own)
        self.own[expression] = ("static struct nt %s(struct nt a)\n{\n    struct nt c = n_room(a.r, a.d);\n"
                                "    for (int64_t i = 0; i < n_count(a); i++) {\n        float x = a.v[i];\n"
                                "        c.v[i] = %s;\n    }\n    return c;\n}\n" % (key, expression))
        return self.fresh("%s(%s)" % (key, value.name), value.rank)

    def binary(self, expression, a, b):
        self.use("n_wide")
        a, b = self.tensor(a), self.tensor(b)
        known = expression + " of two"
        key = "n_map%d" % (list(self.own).index(known) if known in self.own else len(self.own))
        self.own[known] = ("static struct nt %s(struct nt a, struct nt b)\n{\n    struct nt c = n_wide(a, b);\n"
                           "    for (int64_t i = 0; i < n_count(c); i++) {\n"
                           "        float x = a.v[n_from(a, c, i)], y = b.v[n_from(b, c, i)];\n"
                           "        c.v[i] = %s;\n    }\n    return c;\n}\n" % (key, expression))
        return self.fresh("%s(%s, %s)" % (key, a.name, b.name), max(a.rank, b.rank))

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
            return self.call("n_conv", rank, x.name, self.param(path, "weight"), self.pointer(path, "bias"),
                             three(m.stride, n, 1), three(m.padding, n, 0), three(m.dilation, n, 1), m.groups)
        if kind in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"):
            n = int(kind[13])
            return self.call("n_convt", rank, x.name, self.param(path, "weight"), self.pointer(path, "bias"),
                             three(m.stride, n, 1), three(m.padding, n, 0), three(m.dilation, n, 1),
                             three(m.output_padding, n, 0), m.groups)
        if kind[:-2] in ("MaxPool", "AvgPool") and kind[-1] == "d":
            n = int(kind[-2])
            if m.ceil_mode or getattr(m, "divisor_override", None) or getattr(m, "return_indices", False):
                raise Refused("no naive kernel: %s with ceil_mode, a divisor or indices" % kind)
            return self.call("n_pool", rank, x.name, three(m.kernel_size, n, 1), three(m.stride, n, 1),
                             three(m.padding, n, 0), three(getattr(m, "dilation", 1), n, 1), int(kind[0] == "M"),
                             int(getattr(m, "count_include_pad", False)))
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
        if name == "getattr" and args[1] in ("T", "mT") and x.rank == 2:
            return self.call("n_permute", 2, x.name, "(int64_t[]){1, 0}")
        if name == "getattr":
            raise Refused("no naive kernel: tensor.%s" % args[1])
        if name == "getitem" and isinstance(x, (list, tuple)):
            return x[args[1]]
        if not any(isinstance(a, T) for a in args) and name != "cat":
            if name in ("add", "sub", "mul", "floordiv") and all(isinstance(a, (int, C)) for a in args):
                sign = {"add": "+", "sub": "-", "mul": "*", "floordiv": "/"}[name]
                return C("(%s)" % (" %s " % sign).join(a.text if isinstance(a, C) else str(a) for a in args))
        if name in BINARY and len(args) == 2 and not more:
            if name == "pow" and args[1] == 2:
                return self.mapped("x * x", x)
            return self.binary(BINARY[name], args[0], args[1])
        if name in ("matmul", "bmm", "mm"):
            if args[0].rank < 2 or args[1].rank < 2:
                raise Refused("no naive kernel: matmul of vectors")
            return self.call("n_matmul", rank, args[0].name, args[1].name)
        if name in SAME or name == "to" and args[1:] == [torch.float32] and not more:
            return x
        if name in ("max", "min") and len(args) == 1 and not more:
            return self.reduce(">" if name == "max" else "<", x, [x], {}, rank)
        if name in ("max", "min") and (len(args) == 2 and isinstance(args[1], int) or "dim" in more):
            keep = int(more.get("keepdim", args[2] if len(args) > 2 else False))
            dim = (more["dim"] if "dim" in more else args[1]) % x.rank
            return [self.call("n_reduce", x.rank - 1 + keep, x.name, 1 << dim, keep, "'>'" if name == "max" else "'<'"), None]
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

    def logsumexp(self, x, args, more):
        dim = more.get("dim", args[1] if len(args) > 1 else None)
        dim = dim[0] if isinstance(dim, (tuple, list)) and len(dim) == 1 else dim
        keep = bool(more.get("keepdim", args[2] if len(args) > 2 else False))
        if not isinstance(dim, int):
            raise Refused("no naive kernel: logsumexp over several dimensions")
        most = self.call("n_reduce", x.rank, x.name, 1 << dim % x.rank, 1, "'>'")
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
        if name in ("leaky_relu", "elu", "hardtanh", "clamp", "clip", "softplus", "gelu"):
            words = {"leaky_relu": ["negative_slope"], "elu": ["alpha"], "hardtanh": ["min_val", "max_val"],
                     "clamp": ["min", "max"], "clip": ["min", "max"], "softplus": ["beta", "threshold"], "gelu": []}[name]
            given = {**dict(zip(words, rest)), **more}
            if any(isinstance(v, (T, C)) for v in given.values()):
                raise Refused("no naive kernel: %s with a tensor as bound" % name)
            return self.mapped(self.activation(name, given), x)
        if name in UNARY:
            return self.mapped(UNARY[name], x)
        if name == "mse_loss" and not more:
            gap = self.binary("(x - y) * (x - y)", x, args[1])
            return self.call("n_reduce", 0, gap.name, (1 << gap.rank) - 1, 0, "'m'")
        raise Refused("no naive kernel: %s" % name)


def trace(trial, pack):
    fixed = {}
    code = type(trial.model).forward.__code__
    for name, a, given in zip(code.co_varnames[1:], pack.record["arguments"], trial.arguments):
        if "name" not in a:
            fixed[name] = given
    try:
        traced = torch.fx.GraphModule(trial.model, torch.fx.Tracer().trace(trial.model, fixed or None))
        ShapeProp(traced).propagate(*trial.arguments)
    except Refused:
        raise
    except Exception as why:
        raise Refused("no naive kernel: the module cannot be traced (%s)" % str(why).split("\n")[0][:120])
    return traced


def kernel(trial, pack):
    traced = trace(trial, pack)
    w, values, result = Writer(trial, pack), {}, None
    given = iter(pack.record["arguments"])
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        args = torch.fx.node.map_arg(list(node.args), lambda n: values[n])
        more = torch.fx.node.map_arg(dict(node.kwargs), lambda n: values[n])
        meta = node.meta.get("tensor_meta")
        rank = len(meta.shape) if hasattr(meta, "shape") else -1
        if node.op == "placeholder":
            a = next(given)
            if "name" not in a:
                values[node] = a["value"]
            elif a["name"] in pack.scalars:
                values[node] = C(a["name"])
            else:
                values[node] = T("m_" + a["name"], rank)
        elif node.op == "get_attr":
            if node.target not in w.state:
                raise Refused("no naive kernel: self.%s" % node.target)
            values[node] = T("m_" + w.state[node.target], len(pack.inputs[w.state[node.target]]["shape"]))
        elif node.op == "call_module":
            if len(args) != 1 or more:
                raise Refused("no naive kernel: nn.%s with several arguments" % type(modules[node.target]).__name__)
            values[node] = w.module(modules[node.target], node.target, args[0], rank)
        elif node.op == "output":
            result = list(args[0]) if isinstance(args[0], (list, tuple)) else [args[0]]
        else:
            name = node.target if isinstance(node.target, str) else node.target.__name__
            values[node] = w.function(name.strip("_") if name.endswith("__") else name, list(args), dict(more), rank)
    return text(w, pack, result)


def text(w, pack, result):
    words = {"float32": "float", "int64": "int64_t", "int32": "int32_t"}
    end = []
    for (name, tensor), value in zip(pack.outputs.items(), result):
        if tensor["dtype"] not in words or not isinstance(value, T):
            raise Refused("no naive kernel: output %s is %s" % (name, tensor["dtype"]))
        end.append("    for (int64_t i = 0; i < n_count(%s); i++)\n        %s[i] = (%s)%s.v[i];" % (
            value.name, name, words[tensor["dtype"]], value.name))
    end += ["    free(%s.v);" % name for name in w.temps]
    given = ["const float *" + name for name in pack.inputs]
    given += ["%s *%s" % (words[t["dtype"]], name) for name, t in pack.outputs.items()]
    given += ["float " + name for name in pack.scalars] + ["int64_t " + name for name in pack.axes]
    unused = ["    (void)%s;" % name for name in pack.axes] + ["    (void)m_%s;" % name for name in pack.inputs]
    parts = [PARTS[name] for name in w.used] + list(w.own.values())
    return "%s%s\nvoid %s(%s)\n{\n%s\n}\n" % (BASE, "".join(parts), pack.name, ", ".join(given),
                                             "\n".join(w.lines[:len(pack.inputs)] + unused + w.lines[len(pack.inputs):] + end))

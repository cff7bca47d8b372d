# SPDX-License-Identifier: Apache-2.0
# The plain C functions that a naive kernel is made of.
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
    "n_conv3": "",
    "n_half": r"""static float n_half(uint16_t h) /* float16 to float32 */
{
    int e = h >> 10 & 31, m = h & 1023;
    float x = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(m + 1024), e - 25) : ldexpf((float)m, -24);
    return h >> 15 ? -x : x;
}
static uint16_t n_to_half(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    float a = fabsf(x);
    if (isnan(x))
        return 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    if (a < 6.103515625e-05f)
        return sign | (uint16_t)nearbyintf(a * 16777216);
    u &= 0x7fffffff;
    u += 0xfff + (u >> 13 & 1);
    return sign | (uint16_t)((u >> 13) - (112 << 10));
}
""",
    "n_bfloat": r"""static float n_bfloat(uint16_t h) /* bfloat16 to float32 */
{
    uint32_t u = (uint32_t)h << 16;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
static uint16_t n_to_bfloat(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return isnan(x) ? 0x7fc0 : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
""",
    "n_wide": r"""static struct nt n_wide(struct nt a, struct nt b)
{
    int64_t r = a.r > b.r ? a.r : b.r, d[8];
    for (int64_t i = 0; i < r; i++) {
        int64_t x = i - (r - a.r), y = i - (r - b.r);
        int64_t p = x < 0 ? 1 : a.d[x], q = y < 0 ? 1 : b.d[y];
        d[i] = p == 1 ? q : p;
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
    "n_product": r"""static struct nt n_product(struct nt a, struct nt b) /* of two matrices */
{
    return n_matmul(a, b);
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
    for (int64_t o = 0; n_count(a) > 0 && o < n_count(a) / (len * in); o++)
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
                        const int64_t *dil, int is_max, int counts_pad, int is_up)
{
    int64_t rank = x.r, o[3], at = 0;
    x = n_lift(x, 2);
    for (int i = 0; i < 3; i++) {
        o[i] = (x.d[2 + i] + 2 * pad[i] - dil[i] * (size[i] - 1) - 1 + (is_up ? stride[i] - 1 : 0)) / stride[i] + 1;
        o[i] -= is_up && (o[i] - 1) * stride[i] >= x.d[2 + i] + pad[i];
    }
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
    for (int64_t o = 0; n_count(c) > 0 && o < n_count(c) / (x + y); o++) {
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
PARTS["n_slice"] = r"""static struct nt n_slice(struct nt a, int64_t dim, int64_t from, int64_t to, int64_t step)
{
    struct nt c = a;
    int64_t in = 1, len = a.d[dim];
    from = from < 0 ? from + len : from;
    to = to < 0 ? to + len : to > len ? len : to;
    c.d[dim] = to > from ? (to - from + step - 1) / step : 0;
    c = n_room(c.r, c.d);
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t i = 0; n_count(c) > 0 && i < n_count(c) / in; i++) {
        int64_t o = i / c.d[dim], k = i % c.d[dim];
        memcpy(c.v + i * in, a.v + (o * len + from + k * step) * in, (size_t)in * sizeof(float));
    }
    return c;
}
"""
PARTS["n_flip"] = r"""static struct nt n_flip(struct nt a, int64_t dim)
{
    struct nt c = n_room(a.r, a.d);
    int64_t in = 1, len = a.d[dim];
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t i = 0; i < n_count(a) / in; i++)
        memcpy(c.v + i * in, a.v + (i / len * len + len - 1 - i % len) * in, (size_t)in * sizeof(float));
    return c;
}
"""
PARTS["n_rows"] = r"""static struct nt n_rows(struct nt a, struct nt index) /* rows of a, by number */
{
    struct nt c = {.r = index.r + a.r - 1};
    int64_t in = 1;
    for (int64_t i = 0; i < index.r; i++)
        c.d[i] = index.d[i];
    for (int64_t i = 1; i < a.r; i++) {
        c.d[index.r + i - 1] = a.d[i];
        in *= a.d[i];
    }
    c = n_room(c.r, c.d);
    for (int64_t i = 0; i < n_count(index); i++)
        memcpy(c.v + i * in, a.v + (int64_t)index.v[i] * in, (size_t)in * sizeof(float));
    return c;
}
"""
PARTS["n_pick"] = r"""static struct nt n_pick(struct nt a, struct nt at) /* a[n, at[n, i], i] */
{
    struct nt c = n_room(at.r, at.d);
    int64_t in = n_count(at) / at.d[0];
    for (int64_t i = 0; i < n_count(at); i++)
        c.v[i] = a.v[(i / in * a.d[1] + (int64_t)at.v[i]) * in + i % in];
    return c;
}
"""
PARTS["n_range"] = r"""static struct nt n_range(int64_t n)
{
    struct nt c = n_room(1, &n);
    for (int64_t i = 0; i < n; i++)
        c.v[i] = (float)i;
    return c;
}
"""
PARTS["n_expand"] = r"""static struct nt n_expand(struct nt a, int64_t r, const int64_t *d)
{
    struct nt b = {.r = r};
    for (int64_t i = 0; i < r; i++)
        b.d[i] = d[i] < 0 ? a.d[i - r + a.r] : d[i];
    struct nt c = n_room(r, b.d);
    for (int64_t i = 0; i < n_count(c); i++)
        c.v[i] = a.v[n_from(a, c, i)];
    return c;
}
"""
PARTS["n_repeat"] = r"""static struct nt n_repeat(struct nt a, int64_t times, int64_t dim) /* each slice of dim that often */
{
    struct nt c = a;
    int64_t in = 1;
    c.d[dim] *= times;
    c = n_room(c.r, c.d);
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t i = 0; n_count(c) > 0 && i < n_count(c) / in; i++)
        memcpy(c.v + i * in, a.v + i / times * in, (size_t)in * sizeof(float));
    return c;
}
"""
PARTS["n_pad"] = r"""static struct nt n_pad(struct nt a, int64_t dim, int64_t before, int64_t after, float value)
{
    struct nt c = a;
    int64_t in = 1, len = a.d[dim];
    c.d[dim] += before + after;
    c = n_room(c.r, c.d);
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t i = 0; i < n_count(c); i++) {
        int64_t o = i / in / c.d[dim], k = i / in % c.d[dim] - before;
        c.v[i] = k < 0 || k >= len ? value : a.v[(o * len + k) * in + i % in];
    }
    return c;
}
"""
PARTS["n_unfold"] = r"""static struct nt n_unfold(struct nt a, int64_t dim, int64_t size, int64_t step) /* windows, in a last dimension */
{
    struct nt c = a;
    int64_t in = 1, len = a.d[dim], n = (len - size) / step + 1;
    c.d[dim] = n;
    c.d[c.r++] = size;
    c = n_room(c.r, c.d);
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t i = 0; i < n_count(c); i++) {
        int64_t at = i / size, o = at / in / n, w = at / in % n;
        c.v[i] = a.v[(o * len + w * step + i % size) * in + at % in];
    }
    return c;
}
"""
PARTS["n_put"] = r"""static struct nt n_put(struct nt a, struct nt b, const int64_t (*part)[4]) /* from, to, step, is one row */
{
    struct nt c = n_room(a.r, a.d), window = {.r = 0};
    int64_t from[8], step[8], of[8];
    memcpy(c.v, a.v, (size_t)n_count(a) * sizeof(float));
    for (int64_t i = 0; i < a.r; i++) {
        int64_t len = a.d[i], to = part[i][1];
        from[i] = part[i][0] < 0 ? part[i][0] + len : part[i][0];
        step[i] = part[i][2];
        to = part[i][3] ? from[i] + 1 : to < 0 ? to + len : to > len ? len : to;
        of[i] = part[i][3] ? -1 : window.r;
        if (!part[i][3])
            window.d[window.r++] = to > from[i] ? (to - from[i] + step[i] - 1) / step[i] : 0;
    }
    for (int64_t i = 0; i < n_count(window); i++) {
        int64_t at = 0, place[8], rest = i;
        for (int64_t k = window.r - 1; k >= 0; k--) {
            place[k] = rest % window.d[k];
            rest /= window.d[k];
        }
        for (int64_t k = 0; k < a.r; k++)
            at = at * a.d[k] + from[k] + (of[k] < 0 ? 0 : place[of[k]] * step[k]);
        c.v[at] = b.v[n_from(b, window, i)];
    }
    return c;
}
"""
NEEDS = {"n_put": ["n_wide"], "n_expand": ["n_wide"], "n_matmul": ["n_wide"], "n_product": ["n_wide", "n_matmul"], "n_reduce": ["n_wide"], "n_conv": ["n_lift"], "n_convt": ["n_lift"],
         "n_pool": ["n_lift"], "n_adaptive": ["n_lift"]}

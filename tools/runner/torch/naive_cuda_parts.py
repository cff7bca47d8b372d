# SPDX-License-Identifier: Apache-2.0
# The plain CUDA functions that a naive kernel is made of: those of naive_parts.py, one thread an element of the result, or one
# block a sum. A function says what its result's sizes are and launches its kernel; while w->base is NULL it only counts bytes.
from naive_cuda_conv import CONVOLUTIONS

BASE = r"""#include <math.h>
#include <stdint.h>

struct nt { // a tensor, row-major
    int64_t r, d[8];
    float *v;
};
struct nd { // sizes
    int64_t v[8];
};
struct nw { // scratch of one call; base is NULL while it is counted
    char *base;
    int64_t used;
    float *next; // where the next result stands instead, once: an output
    cudaStream_t stream;
};
static __host__ __device__ int64_t n_count(struct nt a)
{
    int64_t n = 1;
    for (int64_t i = 0; i < a.r; i++)
        n *= a.d[i];
    return n;
}
static __host__ __device__ struct nt n_room(int64_t r, struct nd d, struct nw *w)
{
    struct nt a = {};
    a.r = r;
    for (int64_t i = 0; i < r; i++)
        a.d[i] = d.v[i];
    a.v = w->next ? w->next : w->base ? (float *)(w->base + w->used) : nullptr;
    w->used += w->next ? 0 : (n_count(a) * 4 + 255) / 256 * 256;
    w->next = nullptr;
    return a;
}
static __host__ __device__ struct nd n_sizes(struct nt a)
{
    struct nd d = {};
    for (int64_t i = 0; i < a.r; i++)
        d.v[i] = a.d[i];
    return d;
}
static __host__ __device__ unsigned n_blocks(int64_t n)
{
    return n > 0 ? (unsigned)((n + 255) / 256) : 1;
}
"""
PARTS = {
    "n_scalar": r"""__global__ void k_scalar(float x, struct nt c)
{
    c.v[0] = x;
}
static struct nt n_scalar(float x, struct nw *w)
{
    struct nt c = n_room(0, nd{}, w);
    if (w->base)
        k_scalar<<<1, 1, 0, w->stream>>>(x, c);
    return c;
}
""",
    "n_half": "",
    "n_bfloat": "",
    "n_wide": r"""static __host__ __device__ struct nd n_wide(struct nt a, struct nt b)
{
    int64_t r = a.r > b.r ? a.r : b.r;
    struct nd d = {};
    for (int64_t i = 0; i < r; i++) {
        int64_t x = i - (r - a.r), y = i - (r - b.r);
        int64_t p = x < 0 ? 1 : a.d[x], q = y < 0 ? 1 : b.d[y];
        d.v[i] = p > q ? p : q;
    }
    return d;
}
static __host__ __device__ int64_t n_from(struct nt a, struct nt c, int64_t i)
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
    "n_block": r"""static __device__ double n_block(double x, char kind) // of all threads of a block, for each of them
{
    __shared__ double parts[1024];
    __syncthreads();
    parts[threadIdx.x] = x;
    __syncthreads();
    for (unsigned n = blockDim.x / 2; n > 0; n /= 2) {
        if (threadIdx.x < n) {
            double y = parts[threadIdx.x], z = parts[threadIdx.x + n];
            parts[threadIdx.x] = kind == '>' ? (z > y ? z : y) : kind == '<' ? (z < y ? z : y) : kind == '*' ? y * z : y + z;
        }
        __syncthreads();
    }
    return parts[0];
}
static __host__ __device__ unsigned n_grid(int64_t n)
{
    return n > 0 ? (unsigned)n : 1;
}
static __host__ __device__ unsigned n_threads(int64_t n) // of a block that reads n values
{
    return n >= 4096 ? 1024 : n >= 128 ? 128 : 32;
}
""",
    "n_matmul": r"""__global__ void k_matmul(struct nt a, struct nt b, struct nt ab, struct nt bb, struct nt batches, struct nt c)
{
    int64_t m = a.d[a.r - 2], k = a.d[a.r - 1], n = b.d[b.r - 1];
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_count(c))
        return;
    int64_t j = e % n, i = e / n % m, t = e / n / m;
    const float *x = a.v + n_from(ab, batches, t) * m * k + i * k;
    const float *y = b.v + n_from(bb, batches, t) * k * n + j;
    float sum = 0;
    for (int64_t l = 0; l < k; l++)
        sum += x[l] * y[l * n];
    c.v[e] = sum;
}
__global__ void k_products(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t t = blockIdx.z;
    if (i >= M || j >= N)
        return;
    float sum = 0;
    for (int64_t l = 0; l < K; l++)
        sum += A[t * M * K + i * K + l] * B[t * K * N + l * N + j];
    C[t * M * N + i * N + j] = sum;
}
static struct nt n_matmul(struct nt a, struct nt b, struct nw *w)
{
    struct nt ab = a, bb = b, batches = {};
    ab.r -= 2;
    bb.r -= 2;
    struct nd d = n_wide(ab, bb);
    batches.r = ab.r > bb.r ? ab.r : bb.r;
    for (int64_t i = 0; i < batches.r; i++)
        batches.d[i] = d.v[i];
    d.v[batches.r] = a.d[a.r - 2];
    d.v[batches.r + 1] = b.d[b.r - 1];
    struct nt c = n_room(batches.r + 2, d, w);
    int64_t M = a.d[a.r - 2], N = b.d[b.r - 1];
    int64_t n = n_count(c) / (M * N); // products, each of matrices of its own
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16), (unsigned)n);
    if (w->base && n <= 65535 && n_count(ab) == n && n_count(bb) == n)
        k_products<<<grid, block, 0, w->stream>>>(a.v, b.v, c.v, M, N, a.d[a.r - 1]);
    else if (w->base)
        k_matmul<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, b, ab, bb, batches, c);
    return c;
}
""",
    "n_product": r"""__global__ void k_product(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N)
        return;
    float sum = 0;
    for (int64_t l = 0; l < K; l++)
        sum += A[i * K + l] * B[l * N + j];
    C[i * N + j] = sum;
}
static struct nt n_product(struct nt a, struct nt b, struct nw *w)
{
    int64_t M = a.d[0], N = b.d[1];
    struct nt c = n_room(2, nd{{M, N}}, w);
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    if (w->base)
        k_product<<<grid, block, 0, w->stream>>>(a.v, b.v, c.v, M, N, a.d[1]);
    return c;
}
""",
    "n_linear": r"""__global__ void k_linear(const float *a, const float *weight, const float *b, float *c, int64_t M, int64_t N, int64_t K)
{
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N)
        return;
    float sum = 0;
    for (int64_t l = 0; l < K; l++)
        sum += a[i * K + l] * weight[j * K + l];
    c[i * N + j] = b ? sum + b[j] : sum;
}
static struct nt n_linear(struct nt x, struct nt weight, const float *b, struct nw *w)
{
    struct nd d = n_sizes(x);
    int64_t K = weight.d[1], N = weight.d[0], M = n_count(x) / K;
    d.v[x.r - 1] = N;
    struct nt c = n_room(x.r, d, w);
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));
    if (w->base)
        k_linear<<<grid, block, 0, w->stream>>>(x.v, weight.v, b, c.v, M, N, K);
    return c;
}
""",
    "n_reduce": r"""__global__ void k_reduce(struct nt a, int mask, struct nt c, int64_t over, char kind)
{
    double s = kind == '>' ? -INFINITY : kind == '<' ? INFINITY : kind == '*';
    for (int64_t i = threadIdx.x; i < over; i += blockDim.x) {
        int64_t inside = i, outside = blockIdx.x, at = 0, step = 1;
        for (int64_t k = a.r - 1; k >= 0; k--) {
            int64_t &rest = mask >> k & 1 ? inside : outside;
            at += rest % a.d[k] * step;
            rest /= a.d[k];
            step *= a.d[k];
        }
        double x = a.v[at];
        s = kind == '>' ? (x > s ? x : s) : kind == '<' ? (x < s ? x : s) : kind == '*' ? s * x
            : kind == 'q' ? s + x * x : kind == '1' ? s + fabs(x) : s + x;
    }
    s = n_block(s, kind);
    if (threadIdx.x == 0)
        c.v[blockIdx.x] = (float)(kind == 'm' ? s / (double)over : kind == 'q' ? sqrt(s) : s);
}
static struct nt n_reduce(struct nt a, int mask, int keep, char kind, struct nw *w)
{
    struct nd d = {};
    int64_t r = 0, over = 1;
    for (int64_t i = 0; i < a.r; i++) {
        int is_over = mask >> i & 1;
        over *= is_over ? a.d[i] : 1;
        if (!is_over || keep)
            d.v[r++] = is_over ? 1 : a.d[i];
    }
    struct nt c = n_room(r, d, w);
    if (w->base)
        k_reduce<<<(unsigned)n_count(c), n_threads(over), 0, w->stream>>>(a, mask, c, over, kind);
    return c;
}
""",
    "n_best": r"""__global__ void k_best(struct nt a, int64_t len, int64_t in, int least, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, at = 0;
    if (e >= n_count(c))
        return;
    const float *x = a.v + e / in * len * in + e % in;
    for (int64_t i = 1; i < len; i++)
        if (least ? x[i * in] < x[at * in] : x[i * in] > x[at * in])
            at = i;
    c.v[e] = (float)at;
}
static struct nt n_best(struct nt a, int64_t dim, int keep, int least, struct nw *w)
{
    struct nd d = {};
    int64_t r = 0, in = 1;
    for (int64_t i = 0; i < a.r; i++)
        if (i != dim || keep)
            d.v[r++] = i == dim ? 1 : a.d[i];
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    struct nt c = n_room(r, d, w);
    if (w->base)
        k_best<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, a.d[dim], in, least, c);
    return c;
}
""",
    "n_lift": r"""static __host__ __device__ struct nt n_lift(struct nt a, int64_t lead) // spatial dimensions to three
{
    int64_t missing = lead + 3 - a.r;
    for (int64_t i = lead + 2; i >= lead; i--)
        a.d[i] = i - lead < missing ? 1 : a.d[i - missing];
    a.r = lead + 3;
    return a;
}
static __host__ __device__ struct nt n_drop(struct nt a, int64_t rank)
{
    for (int64_t i = 2; i < rank; i++)
        a.d[i] = a.d[i + 5 - rank];
    a.r = rank;
    return a;
}
""",
    "n_pool": r"""__global__ void k_pool(struct nt x, struct nd size, struct nd stride, struct nd pad, struct nd dil, int is_max, int counts_pad,
                       struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_count(c))
        return;
    int64_t k = e % c.d[4], y = e / c.d[4] % c.d[3], z = e / c.d[4] / c.d[3] % c.d[2], n = e / c.d[4] / c.d[3] / c.d[2];
    float most = -INFINITY, sum = 0;
    int64_t seen = 0;
    for (int64_t p = 0; p < size.v[0]; p++)
        for (int64_t q = 0; q < size.v[1]; q++)
            for (int64_t r = 0; r < size.v[2]; r++) {
                int64_t zz = z * stride.v[0] - pad.v[0] + p * dil.v[0];
                int64_t yy = y * stride.v[1] - pad.v[1] + q * dil.v[1];
                int64_t xx = k * stride.v[2] - pad.v[2] + r * dil.v[2];
                if (zz < 0 || zz >= x.d[2] || yy < 0 || yy >= x.d[3] || xx < 0 || xx >= x.d[4])
                    continue;
                float v = x.v[((n * x.d[2] + zz) * x.d[3] + yy) * x.d[4] + xx];
                most = v > most ? v : most;
                sum += v;
                seen++;
            }
    seen = counts_pad ? size.v[0] * size.v[1] * size.v[2] : seen;
    c.v[e] = is_max ? most : sum / (float)seen;
}
static struct nt n_pool(struct nt x, struct nd size, struct nd stride, struct nd pad, struct nd dil, int is_max, int counts_pad,
                        int is_up, struct nw *w)
{
    int64_t rank = x.r;
    x = n_lift(x, 2);
    struct nd d = {{x.d[0], x.d[1]}};
    for (int i = 0; i < 3; i++) {
        d.v[2 + i] = (x.d[2 + i] + 2 * pad.v[i] - dil.v[i] * (size.v[i] - 1) - 1 + (is_up ? stride.v[i] - 1 : 0)) / stride.v[i] + 1;
        d.v[2 + i] -= is_up && (d.v[2 + i] - 1) * stride.v[i] >= x.d[2 + i] + pad.v[i];
    }
    struct nt c = n_room(5, d, w);
    if (w->base)
        k_pool<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(x, size, stride, pad, dil, is_max, counts_pad, c);
    return n_drop(c, rank);
}
""",
    "n_adaptive": r"""__global__ void k_adaptive(struct nt x, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_count(c))
        return;
    int64_t k = e % c.d[4], y = e / c.d[4] % c.d[3], z = e / c.d[4] / c.d[3] % c.d[2], n = e / c.d[4] / c.d[3] / c.d[2], seen = 0;
    double sum = 0;
    for (int64_t p = z * x.d[2] / c.d[2]; p < ((z + 1) * x.d[2] + c.d[2] - 1) / c.d[2]; p++)
        for (int64_t q = y * x.d[3] / c.d[3]; q < ((y + 1) * x.d[3] + c.d[3] - 1) / c.d[3]; q++)
            for (int64_t r = k * x.d[4] / c.d[4]; r < ((k + 1) * x.d[4] + c.d[4] - 1) / c.d[4]; r++) {
                sum += x.v[((n * x.d[2] + p) * x.d[3] + q) * x.d[4] + r];
                seen++;
            }
    c.v[e] = (float)(sum / (double)seen);
}
static struct nt n_adaptive(struct nt x, struct nd o, struct nw *w)
{
    int64_t rank = x.r;
    x = n_lift(x, 2);
    struct nt c = n_room(5, nd{{x.d[0], x.d[1], o.v[0], o.v[1], o.v[2]}}, w);
    if (w->base)
        k_adaptive<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(x, c);
    return n_drop(c, rank);
}
""",
    "n_permute": r"""__global__ void k_permute(struct nt a, struct nd from, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, at = 0, rest = e, step[8];
    if (e >= n_count(c))
        return;
    for (int64_t i = a.r - 1, s = 1; i >= 0; s *= a.d[i], i--)
        step[i] = s;
    for (int64_t k = a.r - 1; k >= 0; k--) {
        at += rest % c.d[k] * step[from.v[k]];
        rest /= c.d[k];
    }
    c.v[e] = a.v[at];
}
static struct nt n_permute(struct nt a, struct nd from, struct nw *w)
{
    struct nd d = {};
    for (int64_t i = 0; i < a.r; i++)
        d.v[i] = a.d[from.v[i]];
    struct nt c = n_room(a.r, d, w);
    if (w->base)
        k_permute<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, from, c);
    return c;
}
""",
    "n_view": r"""static __host__ __device__ struct nt n_view(struct nt a, int64_t r, struct nd d, struct nw *)
{
    int64_t known = 1, open = -1;
    struct nt c = {};
    c.r = r;
    c.v = a.v;
    for (int64_t i = 0; i < r; i++) {
        c.d[i] = d.v[i];
        open = d.v[i] < 0 ? i : open;
        known *= d.v[i] < 0 ? 1 : d.v[i];
    }
    if (open >= 0)
        c.d[open] = n_count(a) / known;
    return c;
}
""",
    "n_cat": r"""__global__ void k_cat(struct nt a, struct nt b, int64_t x, int64_t y, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_count(c))
        return;
    int64_t o = e / (x + y), i = e % (x + y);
    c.v[e] = i < x ? a.v[o * x + i] : b.v[o * y + i - x];
}
static struct nt n_cat(struct nt a, struct nt b, int64_t dim, struct nw *w)
{
    struct nd d = n_sizes(a);
    int64_t in = 1;
    d.v[dim] += b.d[dim];
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    struct nt c = n_room(a.r, d, w);
    if (w->base)
        k_cat<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, b, a.d[dim] * in, b.d[dim] * in, c);
    return c;
}
""",
    "n_triangle": r"""__global__ void k_triangle(struct nt a, int64_t diagonal, int upper, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, width = a.d[a.r - 1], height = a.d[a.r - 2];
    if (e >= n_count(c))
        return;
    int64_t off = e % width - e / width % height;
    c.v[e] = (upper ? off >= diagonal : off <= diagonal) ? a.v[e] : 0;
}
static struct nt n_triangle(struct nt a, int64_t diagonal, int upper, struct nw *w)
{
    struct nt c = n_room(a.r, n_sizes(a), w);
    if (w->base)
        k_triangle<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, diagonal, upper, c);
    return c;
}
""",
    "n_slice": r"""__global__ void k_slice(struct nt a, int64_t in, int64_t len, int64_t n, int64_t from, int64_t step, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_count(c))
        c.v[e] = a.v[(e / in / n * len + from + e / in % n * step) * in + e % in];
}
static struct nt n_slice(struct nt a, int64_t dim, int64_t from, int64_t to, int64_t step, struct nw *w)
{
    struct nd d = n_sizes(a);
    int64_t in = 1, len = a.d[dim];
    from = from < 0 ? from + len : from;
    to = to < 0 ? to + len : to > len ? len : to;
    d.v[dim] = to > from ? (to - from + step - 1) / step : 0;
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    struct nt c = n_room(a.r, d, w);
    if (w->base)
        k_slice<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, in, len, d.v[dim], from, step, c);
    return c;
}
""",
    "n_flip": r"""__global__ void k_flip(struct nt a, int64_t in, int64_t len, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, i = e / in;
    if (e < n_count(c))
        c.v[e] = a.v[(i / len * len + len - 1 - i % len) * in + e % in];
}
static struct nt n_flip(struct nt a, int64_t dim, struct nw *w)
{
    struct nt c = n_room(a.r, n_sizes(a), w);
    int64_t in = 1;
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    if (w->base)
        k_flip<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, in, a.d[dim], c);
    return c;
}
""",
    "n_rows": r"""__global__ void k_rows(struct nt a, struct nt index, int64_t in, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_count(c))
        c.v[e] = a.v[(int64_t)index.v[e / in] * in + e % in];
}
static struct nt n_rows(struct nt a, struct nt index, struct nw *w) // rows of a, by number
{
    struct nd d = n_sizes(index);
    int64_t in = 1;
    for (int64_t i = 1; i < a.r; i++) {
        d.v[index.r + i - 1] = a.d[i];
        in *= a.d[i];
    }
    struct nt c = n_room(index.r + a.r - 1, d, w);
    if (w->base)
        k_rows<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, index, in, c);
    return c;
}
""",
    "n_pick": r"""__global__ void k_pick(struct nt a, struct nt at, int64_t in, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_count(c))
        c.v[e] = a.v[(e / in * a.d[1] + (int64_t)at.v[e]) * in + e % in];
}
static struct nt n_pick(struct nt a, struct nt at, struct nw *w) // a[n, at[n, i], i]
{
    struct nt c = n_room(at.r, n_sizes(at), w);
    if (w->base)
        k_pick<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, at, n_count(at) / at.d[0], c);
    return c;
}
""",
    "n_range": r"""__global__ void k_range(struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_count(c))
        c.v[e] = (float)e;
}
static struct nt n_range(int64_t n, struct nw *w)
{
    struct nt c = n_room(1, nd{{n}}, w);
    if (w->base)
        k_range<<<n_blocks(n), 256, 0, w->stream>>>(c);
    return c;
}
""",
    "n_expand": r"""__global__ void k_expand(struct nt a, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_count(c))
        c.v[e] = a.v[n_from(a, c, e)];
}
static struct nt n_expand(struct nt a, int64_t r, struct nd d, struct nw *w)
{
    for (int64_t i = 0; i < r; i++)
        d.v[i] = d.v[i] < 0 ? a.d[i - r + a.r] : d.v[i];
    struct nt c = n_room(r, d, w);
    if (w->base)
        k_expand<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, c);
    return c;
}
""",
    "n_repeat": r"""__global__ void k_repeat(struct nt a, int64_t in, int64_t times, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_count(c))
        c.v[e] = a.v[e / in / times * in + e % in];
}
static struct nt n_repeat(struct nt a, int64_t times, int64_t dim, struct nw *w) // each slice of dim that often
{
    struct nd d = n_sizes(a);
    int64_t in = 1;
    d.v[dim] *= times;
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    struct nt c = n_room(a.r, d, w);
    if (w->base)
        k_repeat<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, in, times, c);
    return c;
}
""",
    "n_pad": r"""__global__ void k_pad(struct nt a, int64_t in, int64_t len, int64_t n, int64_t before, float value, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_count(c))
        return;
    int64_t o = e / in / n, k = e / in % n - before;
    c.v[e] = k < 0 || k >= len ? value : a.v[(o * len + k) * in + e % in];
}
static struct nt n_pad(struct nt a, int64_t dim, int64_t before, int64_t after, float value, struct nw *w)
{
    struct nd d = n_sizes(a);
    int64_t in = 1;
    d.v[dim] += before + after;
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    struct nt c = n_room(a.r, d, w);
    if (w->base)
        k_pad<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, in, a.d[dim], d.v[dim], before, value, c);
    return c;
}
""",
    "n_unfold": r"""__global__ void k_unfold(struct nt a, int64_t in, int64_t len, int64_t n, int64_t size, int64_t step, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_count(c))
        return;
    int64_t at = e / size, o = at / in / n, x = at / in % n;
    c.v[e] = a.v[(o * len + x * step + e % size) * in + at % in];
}
static struct nt n_unfold(struct nt a, int64_t dim, int64_t size, int64_t step, struct nw *w) // windows, in a last dimension
{
    struct nd d = n_sizes(a);
    int64_t in = 1, n = (a.d[dim] - size) / step + 1;
    d.v[dim] = n;
    d.v[a.r] = size;
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    struct nt c = n_room(a.r + 1, d, w);
    if (w->base)
        k_unfold<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, in, a.d[dim], n, size, step, c);
    return c;
}
""",
    "n_put": r"""struct np { // of each dimension: from, to, step, is one row
    int64_t v[8][4];
};
__global__ void k_put(struct nt a, struct nt b, struct np part, struct nt window, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, rest = e, at = 0, step = 1, from = 0, b_step = 1;
    if (e >= n_count(c))
        return;
    c.v[e] = a.v[e];
    for (int64_t k = a.r - 1, m = window.r; k >= 0; k--) {
        int64_t i = rest % a.d[k] - part.v[k][0];
        rest /= a.d[k];
        if (part.v[k][3] ? i != 0 : i < 0 || i % part.v[k][2] || i / part.v[k][2] >= window.d[m - 1])
            return;
        if (!part.v[k][3])
            at += i / part.v[k][2] * step, step *= window.d[--m];
    }
    for (int64_t k = 1; k <= b.r; k++) {
        int64_t size = window.d[window.r - k];
        from += b.d[b.r - k] != 1 ? at % size * b_step : 0;
        at /= size;
        b_step *= b.d[b.r - k];
    }
    c.v[e] = b.v[from];
}
static struct nt n_put(struct nt a, struct nt b, struct np part, struct nw *w)
{
    struct nt c = n_room(a.r, n_sizes(a), w), window = {};
    for (int64_t i = 0; i < a.r; i++) {
        int64_t len = a.d[i], to = part.v[i][1];
        part.v[i][0] += part.v[i][0] < 0 ? len : 0;
        to = to < 0 ? to + len : to > len ? len : to;
        if (!part.v[i][3])
            window.d[window.r++] = to > part.v[i][0] ? (to - part.v[i][0] + part.v[i][2] - 1) / part.v[i][2] : 0;
    }
    if (w->base)
        k_put<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(a, b, part, window, c);
    return c;
}
""",
    "n_rnn": r"""static __device__ float n_sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}
__global__ void k_rnn(struct nt x, struct nt h, struct nt c, struct nt wi, struct nt wh, const float *bi, const float *bh, char kind,
                      int is_back, struct nt next, struct nt y)
{
    int64_t n = wh.d[1], in = x.d[2], batch = x.d[1], s = blockIdx.x, gates = wh.d[0] / n; // a block is one sample
    float *now = h.v + s * n, *then = next.v + s * n;
    for (int64_t step = 0; step < x.d[0]; step++) {
        int64_t t = is_back ? x.d[0] - 1 - step : step;
        for (int64_t k = threadIdx.x; k < n; k += blockDim.x) {
            float a[4], b[4], z;
            for (int64_t g = 0; g < gates; g++) {
                int64_t r = g * n + k;
                a[g] = bi ? bi[r] : 0;
                b[g] = bh ? bh[r] : 0;
                for (int64_t i = 0; i < in; i++)
                    a[g] += x.v[(t * batch + s) * in + i] * wi.v[r * in + i];
                for (int64_t i = 0; i < n; i++)
                    b[g] += now[i] * wh.v[r * n + i];
            }
            if (kind == 'L') {
                z = n_sigmoid(a[1] + b[1]) * c.v[s * n + k] + n_sigmoid(a[0] + b[0]) * tanhf(a[2] + b[2]);
                c.v[s * n + k] = z;
                then[k] = n_sigmoid(a[3] + b[3]) * tanhf(z);
            } else if (kind == 'G') {
                z = n_sigmoid(a[1] + b[1]);
                then[k] = (1 - z) * tanhf(a[2] + n_sigmoid(a[0] + b[0]) * b[2]) + z * now[k];
            } else {
                then[k] = kind == 't' ? tanhf(a[0] + b[0]) : fmaxf(a[0] + b[0], 0);
            }
            y.v[(t * batch + s) * n + k] = then[k];
        }
        __syncthreads();
        float *other = now;
        now = then;
        then = other;
    }
    for (int64_t k = threadIdx.x; k < n && now != h.v + s * n; k += blockDim.x)
        h.v[s * n + k] = now[k];
}
/* One direction of one layer over x [time, batch, in]; kind 'L' LSTM, 'G' GRU, 't' tanh, 'r' ReLU. h and c (LSTM) hold the state
 * [batch, hidden] of the beginning, and of the end afterwards. */
static struct nt n_rnn(struct nt x, struct nt h, struct nt c, struct nt wi, struct nt wh, const float *bi, const float *bh, char kind,
                       int is_back, struct nw *w)
{
    int64_t batch = x.d[1], n = wh.d[1];
    struct nt y = n_room(3, nd{{x.d[0], batch, n}}, w), next = n_room(2, nd{{batch, n}}, w);
    if (w->base)
        k_rnn<<<(unsigned)batch, n_threads(n), 0, w->stream>>>(x, h, c, wi, wh, bi, bh, kind, is_back, next, y);
    return y;
}
""",
}
EPILOGUES = {  # what a pass over the elements may follow at once: where the kernels of a function write, and what
    "n_linear": [("c[i * N + j]", "b ? sum + b[j] : sum")], "n_product": [("C[i * N + j]", "sum")],
    "n_matmul": [("C[t * M * N + i * N + j]", "sum"), ("c.v[e]", "sum")],
    "n_conv": [("c.v[e]", "sum"), ("c[e]", "sum")], "n_conv3": [("c[e]", "sum")], "n_convt": [("c.v[e]", "sum")]}
PARTS.update(CONVOLUTIONS)
NEEDS = {"n_rnn": ["n_block"], "n_reduce": ["n_block"], "n_lines": ["n_block"], "n_norm": ["n_block"], "n_moments": ["n_block"], "n_matmul": ["n_wide"], "n_expand": ["n_wide"], "n_conv": ["n_lift"], "n_convt": ["n_lift"],
         "n_pool": ["n_lift"], "n_adaptive": ["n_lift"]}

# SPDX-License-Identifier: Apache-2.0
# The plain CUDA functions of norms and of lines (softmax, running sums): parts of a naive kernel, as in naive_cuda_parts.py.
NORMS = {
    "n_lines": r"""__global__ void k_lines(struct nt a, int64_t len, int64_t in, char kind, struct nt c)
{
    int64_t at = blockIdx.x / in * len * in + blockIdx.x % in;
    double most = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; i < len; i += blockDim.x)
        most = a.v[at + i * in] > most ? a.v[at + i * in] : most;
    most = n_block(most, '>');
    for (int64_t i = threadIdx.x; i < len; i += blockDim.x)
        sum += exp(a.v[at + i * in] - most);
    sum = n_block(sum, '+');
    for (int64_t i = threadIdx.x; i < len; i += blockDim.x)
        c.v[at + i * in] = (float)(kind == 's' ? exp(a.v[at + i * in] - most) / sum : a.v[at + i * in] - most - log(sum));
}
__global__ void k_running(const float *a, float *c, int64_t M, int64_t N, int64_t in, char kind)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= M)
        return;
    int64_t at = e / in * N * in + e % in;
    double sum = kind == '*';
    for (int64_t i = 0; i < N; i++) {
        sum = kind == '*' ? sum * a[at + i * in] : sum + a[at + i * in];
        c[at + i * in] = (float)sum;
    }
}
static struct nt n_lines(struct nt a, int64_t dim, char kind, struct nw *w)
{
    struct nt c = n_room(a.r, n_sizes(a), w);
    int64_t in = 1, len = a.d[dim];
    for (int64_t i = dim + 1; i < a.r; i++)
        in *= a.d[i];
    int64_t M = len > 0 ? n_count(a) / len : 0;
    if (w->base && (kind == '+' || kind == '*'))
        k_running<<<n_blocks(M), 256, 0, w->stream>>>(a.v, c.v, M, len, in, kind);
    else if (w->base && M > 0)
        k_lines<<<(unsigned)M, n_threads(len), 0, w->stream>>>(a, len, in, kind, c);
    return c;
}
""",
    "n_batchnorm": r"""__global__ void k_batchnorm(struct nt x, struct nt mean, struct nt var, const float *g, const float *b, float eps, struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = n_count(x), in = n / (x.d[0] * x.d[1]);
    if (e >= n)
        return;
    int64_t f = e / in % x.d[1];
    float y = (x.v[e] - mean.v[f]) / sqrtf(var.v[f] + eps);
    c.v[e] = y * (g ? g[f] : 1) + (b ? b[f] : 0);
}
static struct nt n_batchnorm(struct nt x, struct nt mean, struct nt var, const float *g, const float *b, float eps, struct nw *w)
{
    struct nt c = n_room(x.r, n_sizes(x), w);
    if (w->base)
        k_batchnorm<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(x, mean, var, g, b, eps, c);
    return c;
}
""",
    "n_norm": r"""__global__ void k_norm(struct nt x, int64_t len, int64_t ch, int64_t in, const float *g, const float *b, float eps, struct nt c)
{
    int64_t first = blockIdx.x * len;
    double mean = 0, var = 0;
    for (int64_t i = threadIdx.x; i < len; i += blockDim.x)
        mean += x.v[first + i];
    mean = n_block(mean, '+') / (double)len;
    for (int64_t i = threadIdx.x; i < len; i += blockDim.x)
        var += (x.v[first + i] - mean) * (x.v[first + i] - mean);
    double by = 1 / sqrt(n_block(var, '+') / (double)len + eps);
    for (int64_t i = first + threadIdx.x; i < first + len; i += blockDim.x) {
        int64_t f = i / in % ch;
        c.v[i] = (float)((x.v[i] - mean) * by) * (g ? g[f] : 1) + (b ? b[f] : 0);
    }
}
__global__ void k_groups(const float *x, const float *g, const float *b, float *y, float eps, int64_t M, int64_t N, int64_t ch, int64_t in)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    int64_t first = m * (N / in) % ch;
    double mean = 0, var = 0;
    for (int64_t i = 0; i < N; i++)
        mean += x[m * N + i];
    mean /= (double)N;
    for (int64_t i = 0; i < N; i++)
        var += (x[m * N + i] - mean) * (x[m * N + i] - mean);
    double by = 1 / sqrt(var / (double)N + eps);
    for (int64_t i = 0; i < N; i++)
        y[m * N + i] = (float)((x[m * N + i] - mean) * by) * (g ? g[first + i / in] : 1) + (b ? b[first + i / in] : 0);
}
static struct nt n_norm(struct nt x, int64_t len, int64_t ch, int64_t in, const float *g, const float *b, float eps, struct nw *w)
{
    struct nt c = n_room(x.r, n_sizes(x), w); // groups of len values; weights by (i / in) % ch
    if (w->base && len < 4096 && n_count(x) / len >= 256)
        k_groups<<<n_blocks(n_count(x) / len), 256, 0, w->stream>>>(x.v, g, b, c.v, eps, n_count(x) / len, len, ch, in);
    else if (w->base)
        k_norm<<<(unsigned)(n_count(x) / len), n_threads(len), 0, w->stream>>>(x, len, ch, in, g, b, eps, c);
    return c;
}
""",
    "n_moments": r"""__global__ void k_moments(const float *x, double *means, double *squares, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    double first = x[m * N];
    double sum = 0;
    double square = 0;
    for (int64_t i = 0; i < N; i++) {
        sum += x[m * N + i] - first;
        square += (x[m * N + i] - first) * (x[m * N + i] - first);
    }
    means[m] = first + sum / (double)N;
    squares[m] = square - sum / (double)N * sum;
}
__global__ void k_spread(const double *means, const double *squares, float *mean, float *rest, float *by, float eps, int64_t P, int64_t N,
                         int64_t per)
{
    int64_t m = blockIdx.x, lane = threadIdx.x;
    double middle = 0;
    for (int64_t p = lane; p < P; p += blockDim.x)
        middle += means[m * P + p];
    middle = n_block(middle, '+') / (double)P;
    double square = 0;
    for (int64_t p = lane; p < P; p += blockDim.x)
        square += squares[m * P + p] + (means[m * P + p] - middle) * (means[m * P + p] - middle) * (double)N;
    square = n_block(square, '+');
    float near = (float)middle;
    float scale = (float)(1 / sqrt(square / ((double)P * (double)N) + eps));
    for (int64_t j = lane; j < per; j += blockDim.x) {
        mean[m * per + j] = near;
        rest[m * per + j] = (float)(middle - near);
        by[m * per + j] = scale;
    }
}
/* Of each len neighbours, as often as per says: the mean, what a float lacks of it, the reciprocal deviation. */
static struct nt n_moments(struct nt x, int64_t len, int64_t per, float eps, struct nw *w)
{
    int64_t M = n_count(x) / len, P = 1;
    for (int64_t d = 2; d <= 1024 && M * d <= 65536 && len / d >= 2048; d++) // a row is read in so many parts
        P = len % d == 0 ? d : P;
    struct nt c = n_room(2, nd{3, M * per}, w), room = n_room(2, nd{4, M * P}, w);
    double *means = (double *)room.v, *squares = means + M * P;
    if (w->base && M > 0) {
        k_moments<<<n_blocks(M * P), 256, 0, w->stream>>>(x.v, means, squares, M * P, len / P);
        k_spread<<<(unsigned)M, n_threads(P), 0, w->stream>>>(means, squares, c.v, c.v + M * per, c.v + 2 * M * per, eps, P, len / P, per);
    }
    return c;
}
""",
}

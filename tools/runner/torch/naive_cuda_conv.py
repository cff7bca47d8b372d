# SPDX-License-Identifier: Apache-2.0
# Convolutions as plain CUDA functions (naive_cuda_parts.py). Those without groups have a kernel for two dimensions and one for
# three, of plain pointers and sizes: the form that the rules read.
CONVOLUTIONS = {
    "n_conv": r"""__global__ void k_conv2(const float *x, const float *f, const float *b, float *c, int64_t count, int64_t O, int64_t Y, int64_t X,
                        int64_t C, int64_t H, int64_t W, int64_t Q, int64_t R, int64_t sy, int64_t sx, int64_t py, int64_t px,
                        int64_t dy, int64_t dx)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count)
        return;
    int64_t k = e % X, y = e / X % Y, o = e / X / Y % O, n = e / X / Y / O;
    float sum = b ? b[o] : 0;
    for (int64_t i = 0; i < C; i++)
        for (int64_t q = 0; q < Q; q++)
            for (int64_t r = 0; r < R; r++) {
                int64_t yy = y * sy - py + q * dy, xx = k * sx - px + r * dx;
                if (yy < 0 || yy >= H || xx < 0 || xx >= W)
                    continue;
                sum += x[((n * C + i) * H + yy) * W + xx] * f[((o * C + i) * Q + q) * R + r];
            }
    c[e] = sum;
}
__global__ void k_conv(struct nt x, struct nt f, const float *b, struct nd stride, struct nd pad, struct nd dil, int64_t per,
                       struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, ci = f.d[1];
    if (e >= n_count(c))
        return;
    int64_t k = e % c.d[4], y = e / c.d[4] % c.d[3], z = e / c.d[4] / c.d[3] % c.d[2];
    int64_t o = e / c.d[4] / c.d[3] / c.d[2] % c.d[1], n = e / c.d[4] / c.d[3] / c.d[2] / c.d[1];
    float sum = b ? b[o] : 0;
    for (int64_t i = 0; i < ci; i++)
        for (int64_t p = 0; p < f.d[2]; p++)
            for (int64_t q = 0; q < f.d[3]; q++)
                for (int64_t r = 0; r < f.d[4]; r++) {
                    int64_t zz = z * stride.v[0] - pad.v[0] + p * dil.v[0];
                    int64_t yy = y * stride.v[1] - pad.v[1] + q * dil.v[1];
                    int64_t xx = k * stride.v[2] - pad.v[2] + r * dil.v[2];
                    if (zz < 0 || zz >= x.d[2] || yy < 0 || yy >= x.d[3] || xx < 0 || xx >= x.d[4])
                        continue;
                    sum += x.v[(((n * x.d[1] + o / per * ci + i) * x.d[2] + zz) * x.d[3] + yy) * x.d[4] + xx] *
                           f.v[(((o * ci + i) * f.d[2] + p) * f.d[3] + q) * f.d[4] + r];
                }
    c.v[e] = sum;
}
static struct nt n_conv(struct nt x, struct nt f, const float *b, struct nd stride, struct nd pad, struct nd dil, int64_t groups,
                        struct nw *w)
{
    int64_t rank = x.r;
    x = n_lift(x, 2);
    f = n_lift(f, 2);
    struct nd d = {{x.d[0], f.d[0]}};
    for (int i = 0; i < 3; i++)
        d.v[2 + i] = (x.d[2 + i] + 2 * pad.v[i] - dil.v[i] * (f.d[2 + i] - 1) - 1) / stride.v[i] + 1;
    struct nt c = n_room(5, d, w);
    bool is_flat = groups == 1 && x.d[2] == 1 && f.d[2] == 1 && pad.v[0] == 0; // the form that the rules read
    if (w->base && is_flat)
        k_conv2<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(x.v, f.v, b, c.v, n_count(c), c.d[1], c.d[3], c.d[4], x.d[1], x.d[3],
                                                             x.d[4], f.d[3], f.d[4], stride.v[1], stride.v[2], pad.v[1], pad.v[2],
                                                             dil.v[1], dil.v[2]);
    else if (w->base)
        k_conv<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(x, f, b, stride, pad, dil, f.d[0] / groups, c);
    return n_drop(c, rank);
}
""",
    "n_conv3": r"""__global__ void k_conv3(const float *x, const float *f, const float *b, float *c, int64_t count, int64_t O, int64_t Z, int64_t Y,
                        int64_t X, int64_t C, int64_t D, int64_t H, int64_t W, int64_t P, int64_t Q, int64_t R, int64_t sz,
                        int64_t sy, int64_t sx, int64_t pz, int64_t py, int64_t px, int64_t dz, int64_t dy, int64_t dx)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count)
        return;
    int64_t k = e % X, y = e / X % Y, z = e / X / Y % Z, o = e / X / Y / Z % O, n = e / X / Y / Z / O;
    float sum = b ? b[o] : 0;
    for (int64_t i = 0; i < C; i++)
        for (int64_t p = 0; p < P; p++)
            for (int64_t q = 0; q < Q; q++)
                for (int64_t r = 0; r < R; r++) {
                    int64_t zz = z * sz - pz + p * dz, yy = y * sy - py + q * dy, xx = k * sx - px + r * dx;
                    if (zz < 0 || zz >= D || yy < 0 || yy >= H || xx < 0 || xx >= W)
                        continue;
                    sum += x[(((n * C + i) * D + zz) * H + yy) * W + xx] * f[(((o * C + i) * P + p) * Q + q) * R + r];
                }
    c[e] = sum;
}
static struct nt n_conv3(struct nt x, struct nt f, const float *b, struct nd stride, struct nd pad, struct nd dil, int64_t groups,
                         struct nw *w)
{
    struct nd d = {{x.d[0], f.d[0]}};
    (void)groups;
    for (int i = 0; i < 3; i++)
        d.v[2 + i] = (x.d[2 + i] + 2 * pad.v[i] - dil.v[i] * (f.d[2 + i] - 1) - 1) / stride.v[i] + 1;
    struct nt c = n_room(5, d, w);
    if (w->base)
        k_conv3<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(
            x.v, f.v, b, c.v, n_count(c), c.d[1], c.d[2], c.d[3], c.d[4], x.d[1], x.d[2], x.d[3], x.d[4], f.d[2], f.d[3], f.d[4],
            stride.v[0], stride.v[1], stride.v[2], pad.v[0], pad.v[1], pad.v[2], dil.v[0], dil.v[1], dil.v[2]);
    return c;
}
""",
    "n_convt": r"""__global__ void k_convt(struct nt x, struct nt f, const float *b, struct nd stride, struct nd pad, struct nd dil, int64_t ci,
                        struct nt c)
{
    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, per = f.d[1];
    if (e >= n_count(c))
        return;
    int64_t k = e % c.d[4], y = e / c.d[4] % c.d[3], z = e / c.d[4] / c.d[3] % c.d[2];
    int64_t o = e / c.d[4] / c.d[3] / c.d[2] % c.d[1], n = e / c.d[4] / c.d[3] / c.d[2] / c.d[1];
    float sum = b ? b[o] : 0;
    for (int64_t p = 0; p < f.d[2]; p++)
        for (int64_t q = 0; q < f.d[3]; q++)
            for (int64_t r = 0; r < f.d[4]; r++) {
                int64_t zz = z + pad.v[0] - p * dil.v[0], yy = y + pad.v[1] - q * dil.v[1];
                int64_t xx = k + pad.v[2] - r * dil.v[2];
                if (zz < 0 || yy < 0 || xx < 0 || zz % stride.v[0] || yy % stride.v[1] || xx % stride.v[2])
                    continue;
                zz /= stride.v[0];
                yy /= stride.v[1];
                xx /= stride.v[2];
                if (zz >= x.d[2] || yy >= x.d[3] || xx >= x.d[4])
                    continue;
                for (int64_t i = 0; i < ci; i++) {
                    int64_t ch = o / per * ci + i;
                    sum += x.v[(((n * x.d[1] + ch) * x.d[2] + zz) * x.d[3] + yy) * x.d[4] + xx] *
                           f.v[(((ch * per + o % per) * f.d[2] + p) * f.d[3] + q) * f.d[4] + r];
                }
            }
    c.v[e] = sum;
}
static struct nt n_convt(struct nt x, struct nt f, const float *b, struct nd stride, struct nd pad, struct nd dil, struct nd more,
                         int64_t groups, struct nw *w)
{
    int64_t rank = x.r;
    x = n_lift(x, 2);
    f = n_lift(f, 2);
    struct nd d = {{x.d[0], f.d[1] * groups}};
    for (int i = 0; i < 3; i++)
        d.v[2 + i] = (x.d[2 + i] - 1) * stride.v[i] - 2 * pad.v[i] + dil.v[i] * (f.d[2 + i] - 1) + more.v[i] + 1;
    struct nt c = n_room(5, d, w);
    if (w->base)
        k_convt<<<n_blocks(n_count(c)), 256, 0, w->stream>>>(x, f, b, stride, pad, dil, x.d[1] / groups, c);
    return n_drop(c, rank);
}
""",
}

/* The judge's content on the device: the kinds of gen_shape.h, as gen.c fills them in on the host.
 *
 * Compiled behind gpu_kernels.cu, whose elements and loops it uses, and behind gen_shape.h. */

enum { ACTIVATION, WEIGHT, POSITIVE, PROBABILITY, INDEX, OFFSETS, MASK, ADDITIVE_MASK = 10 };

/* The shape of one set's tensor. */
static __device__ struct hone_shape shape_of_set(const struct hone_k_fill *f)
{
    struct hone_shape s = f->shape;
    s.stream += (u64)(f->first_set + (i64)blockIdx.y);
    s.shared += (u64)(f->first_set + (i64)blockIdx.y) << 8; /* the last bits are for all */
    return s;
}

/* The content that is timed: float32 normals, four of one number. */
extern "C" __global__ void hone_fill_normal(struct hone_k_fill f)
{
    struct hone_shape s = shape_of_set(&f);
    float *dst = (float *)(f.base + (u64)(f.stride * (i64)blockIdx.y));
    float scale = (float)s.scale;
    i64 n4 = (s.n + 3) / 4;
    for (i64 q = GRID_START; q < n4; q += GRID_STEP) {
        struct hone_shape_words w = hone_shape_draw(&s, q, HONE_SALT_FIRST);
        float v[4];
        float u0 = ((float)((u32)(w.a >> 32) >> 8) + 0.5f) * 5.9604645e-8f;
        float u1 = ((float)((u32)(w.b >> 32) >> 8) + 0.5f) * 5.9604645e-8f;
        float r0 = sqrtf(-2 * logf(u0)), r1 = sqrtf(-2 * logf(u1));
        float a0 = (float)(u32)w.a * 1.4629181e-9f; /* 2 pi / 2^32 */
        float a1 = (float)(u32)w.b * 1.4629181e-9f;
        v[0] = r0 * cosf(a0);
        v[1] = r0 * sinf(a0);
        v[2] = r1 * cosf(a1);
        v[3] = r1 * sinf(a1);
        for (int k = 0; k < 4; k++) {
            v[k] *= scale;
            if (s.is_positive)
                v[k] = fabsf(v[k]) + 0.0625f;
            if (s.unit != 0)
                v[k] = v[k] * (float)s.unit + (float)s.shift;
        }
        i64 i = 4 * q;
        for (int k = 0; k < 4 && i + k < s.n; k++)
            dst[i + k] = v[k];
    }
}

static __device__ double role_element(const struct hone_shape *s, i64 role, i64 i)
{
    if (role == INDEX)
        return hone_shape_index(s, i);
    if (role == ADDITIVE_MASK)
        return hone_shape_added(s, i);
    return role == MASK ? (double)hone_shape_mask(s, i) : hone_shape_value(s, i);
}

extern "C" __global__ void hone_fill(struct hone_k_fill f)
{
    struct hone_shape s = shape_of_set(&f);
    u64 base = f.base + (u64)(f.stride * (i64)blockIdx.y);
    for (i64 i = GRID_START; i < s.n; i += GRID_STEP)
        element_set(f.dtype, base, i, role_element(&s, f.role, i));
}

/* Rows that sum to 1: a block a row. */
extern "C" __global__ void hone_fill_rows(struct hone_k_fill f)
{
    struct hone_shape s = shape_of_set(&f);
    u64 base = f.base + (u64)(f.stride * (i64)blockIdx.y);
    i64 n_rows = (s.n + s.row - 1) / s.row;
    for (i64 row = blockIdx.x; row < n_rows; row += gridDim.x) {
        i64 first = row * s.row, end = first + s.row < s.n ? first + s.row : s.n;
        double sum = 0;
        for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
            sum += hone_shape_share(&s, i);
        sum = block_add(sum);
        for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
            element_set(f.dtype, base, i, hone_shape_share(&s, i) / sum);
    }
}

/* Non-decreasing from 0 to bound: cuts at sorted random places, by stepping through the gaps. One
 * block a set; a thread walks a stretch of its own. */
extern "C" __global__ void hone_fill_offsets(struct hone_k_fill f)
{
    __shared__ double before[HONE_K_THREADS];
    struct hone_shape s = shape_of_set(&f);
    u64 base = f.base + (u64)(f.stride * (i64)blockIdx.y);
    i64 part = (s.n + blockDim.x - 1) / blockDim.x;
    i64 first = part * (i64)threadIdx.x, end = first + part < s.n ? first + part : s.n;
    double mine = 0;
    for (i64 i = first; i < end; i++)
        mine += i == 0 ? 0 : hone_shape_gap(&s, i);
    before[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (u32 t = 0; t < blockDim.x; t++) {
            double own = before[t];
            before[t] = sum;
            sum += own;
        }
        before[0] = sum; /* its own stretch starts at 0 anyway */
    }
    __syncthreads();
    double total = before[0], so_far = threadIdx.x == 0 ? 0 : before[threadIdx.x];
    for (i64 i = first; i < end; i++) {
        so_far += i == 0 ? 0 : hone_shape_gap(&s, i);
        double share = total > 0 ? so_far / total : 0;
        double at = fmin(floor((double)s.bound * share), (double)s.bound);
        element_set(f.dtype, base, i, i == 0 ? 0 : i == s.n - 1 ? (double)s.bound : at);
    }
}

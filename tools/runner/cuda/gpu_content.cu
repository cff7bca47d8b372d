/* The judge's content: what gen.c draws on the host, drawn on the device, number by number the
 * same.
 *
 * Compiled behind gpu_kernels.cu, whose elements and loops it uses. */

enum { ACTIVATION, WEIGHT, POSITIVE, PROBABILITY, INDEX, OFFSETS, MASK };
enum {
    NORMAL,
    UNIFORM,
    SHIFTED,
    EXPONENTIAL,
    HEAVY,
    SMALL,
    LARGE,
    MIXED,
    OUTLIER,
    ZEROS,
    EQUAL,
    ALTERNATING,
    SORTED,
    HALVES,
    INTEGERS,
    NEGATIVE,
    TINY,
    SPIKES,
    NEARLY,
    RARE
};

struct four {
    u32 x, y, z, w;
};

/* Philox4x32-10: number i of stream s under a key (workspace/base/rng.h). */
static __device__ struct four philox(u64 key, u64 stream, u64 i)
{
    u32 k0 = (u32)key, k1 = (u32)(key >> 32);
    struct four c = {(u32)i, (u32)(i >> 32), (u32)stream, (u32)(stream >> 32)};
    for (int round = 0; round < 10; round++) {
        u64 a = (u64)0xD2511F53u * c.x, b = (u64)0xCD9E8D57u * c.z;
        struct four next = {(u32)(b >> 32) ^ c.y ^ k0, (u32)b, (u32)(a >> 32) ^ c.w ^ k1, (u32)a};
        c = next;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

#define OTHER 0x4000000000000000ull /* numbers from here on are second draws of an element */

static __device__ __forceinline__ double unit(u32 high, u32 low) /* 0 < u < 1, 53 bits */
{
    u64 bits = ((u64)high << 32 | low) >> 11;
    return ((double)bits + 0.5) * 1.1102230246251565e-16;
}

/* Box and Muller: two independent normals from two words each. */
static __device__ __forceinline__ void normals(double u, double v, double *a, double *b)
{
    double r = sqrt(-2 * log(u)), angle = 6.283185307179586 * v;
    *a = r * cos(angle);
    *b = r * sin(angle);
}

static __device__ __forceinline__ float normal_float(u32 a, u32 b)
{
    float u = ((float)(a >> 8) + 0.5f) * 5.9604645e-8f, v = (float)(b >> 8) * 5.9604645e-8f;
    return sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
}

struct draw {
    struct four w;
    u64 key, stream;
    i64 i;
};

static __device__ double draw_unit(const struct draw *d)
{
    return unit(d->w.x, d->w.y);
}

static __device__ double draw_normal(const struct draw *d)
{
    double a, b;
    normals(unit(d->w.x, d->w.y), unit(d->w.z, d->w.w), &a, &b);
    return a;
}

static __device__ double draw_heavy(const struct draw *d)
{
    struct four more = philox(d->key, d->stream, OTHER + (u64)d->i);
    double a, b, c, e;
    normals(unit(d->w.x, d->w.y), unit(d->w.z, d->w.w), &a, &b);
    normals(unit(more.x, more.y), unit(more.z, more.w), &c, &e);
    return a / sqrt(fmax((b * b + c * c + e * e) / 3, 1e-4));
}

#define N_SPIKES 256

static __device__ bool is_odd_one(const struct draw *d, i64 n)
{
    u64 z = (u64)d->w.y << 32 | d->w.w, room = n > 8 * N_SPIKES ? (u64)n : 8 * N_SPIKES;
    return d->i == n - 1 || z % room < N_SPIKES;
}

static __device__ double draw_equal(const struct draw *d)
{
    struct draw one = *d;
    one.w = philox(d->key, d->stream, OTHER * 2);
    return draw_normal(&one);
}

static __device__ double draw_rare(const struct draw *d, i64 n)
{
    struct four place = philox(d->key, d->stream, OTHER * 2);
    u64 z = (u64)d->w.y << 32 | d->w.w, at = (u64)place.x << 32 | place.y;
    if ((u64)d->i != at % (u64)n && z % (u64)n >= 2)
        return draw_normal(d);
    double size = 300 * (1 + (double)(d->w.x >> 8) * 5.9604644775390625e-8);
    return d->w.z & 1 ? size : -size;
}

/* As in gen.c: tiny values, and some large ones with the last element among them. */
static __device__ double draw_spike(const struct draw *d, i64 n)
{
    if (!is_odd_one(d, n))
        return 1e-3 * draw_normal(d);
    double size = 1e3 * (1 + (double)(d->w.x >> 8) * 5.9604644775390625e-8);
    return d->w.z & 1 ? size : -size;
}

static __device__ double draw_value(const struct draw *d, const struct hone_k_fill *f)
{
    switch (f->distribution) {
    case NORMAL:
        return draw_normal(d);
    case UNIFORM:
        return 2 * draw_unit(d) - 1;
    case SHIFTED:
        return 3 + draw_normal(d);
    case EXPONENTIAL:
        return -log(draw_unit(d));
    case HEAVY:
        return draw_heavy(d);
    case SMALL:
        return 1e-3 * draw_normal(d);
    case LARGE:
        return 64 * draw_normal(d);
    case MIXED:
        return draw_normal(d) * (d->w.w & 64 ? 1e3 : 1e-3);
    case OUTLIER:
        return draw_normal(d) * ((d->w.y ^ d->w.w) % 256 == 0 ? 1e3 : 1);
    case ZEROS:
        return 0;
    case EQUAL:
        return draw_equal(d);
    case RARE:
        return draw_rare(d, f->n);
    case NEARLY:
        return draw_equal(d) - (is_odd_one(d, f->n) ? 2 + fabs(draw_normal(d)) : 0);
    case ALTERNATING:
        return d->i % 2 == 0 ? 1 : -1;
    case SORTED:
        return -3 + 6 * ((double)d->i + draw_unit(d)) / (double)f->n;
    case HALVES:
        return d->i < f->n / 2 ? 0 : 64 * draw_normal(d);
    case NEGATIVE:
        return -100 + draw_normal(d);
    case TINY:
        return 1e-9 * draw_normal(d);
    case SPIKES:
        return draw_spike(d, f->n);
    default:
        return floor(2047 * draw_unit(d)) - 1023;
    }
}

/* As gen.c's: anywhere; in order; all the same; the first and the last. */
static __device__ double draw_index(const struct draw *d, const struct hone_k_fill *f)
{
    struct draw one = *d;
    switch (f->distribution) {
    case SORTED:
        return floor((double)f->bound * ((double)d->i / (double)f->n));
    case OUTLIER:
        one.w = philox(d->key, d->stream, OTHER * 2);
        return floor((double)f->bound * draw_unit(&one));
    case ALTERNATING:
        return d->i % 2 == 0 ? 0 : (double)(f->bound - 1);
    default:
        return floor((double)f->bound * draw_unit(d));
    }
}

#define INTEGER_DRAW 0x2000000000000000ull /* numbers of a further draw of an element */
#define UNUSUAL      100.0

/* gen_integer.c has the reasons. */
static __device__ double draw_byte(i64 distribution, double u, double value)
{
    switch (distribution) {
    case EQUAL:
    case NEARLY:
        return fmod(floor(fabs(value) * 997.0), 256.0);
    case ALTERNATING:
        return value > 0 ? 255 : 0;
    case SORTED:
        return floor(fmin(fmax((value + 3) / 6, 0.0), 1.0) * 255);
    case SMALL:
    case TINY:
        return floor(4 * u);
    case SPIKES:
    case RARE:
        return fabs(value) > UNUSUAL ? 248 + floor(8 * u) : floor(16 * u);
    default:
        return value == 0 ? 0 : floor(256 * u);
    }
}

static __device__ double draw_bool(i64 distribution, double u, double value)
{
    switch (distribution) {
    case EQUAL:
    case ALTERNATING:
    case SORTED:
    case NEARLY:
        return value > 0;
    case SMALL:
    case TINY:
        return u < 1.0 / 64;
    case LARGE:
        return u < 63.0 / 64;
    case SPIKES:
    case RARE:
        return fabs(value) > UNUSUAL;
    default:
        return value != 0 && u < 0.5;
    }
}

static __device__ double draw_signed(i64 distribution, double span, double u, double value)
{
    if (distribution == LARGE)
        return floor(span * u) - span / 2;
    if (distribution == MIXED && fabs(value) >= 1)
        return (u < 0.5 ? -1 : 1) * floor(sqrt(span) * fabs(2 * u - 1));
    return value;
}

static __device__ double draw_integer(const struct draw *d, const struct hone_k_fill *f,
                                      double value)
{
    struct four more = philox(d->key, d->stream, INTEGER_DRAW + (u64)d->i);
    double u = unit(more.x, more.y);
    switch (f->dtype) {
    case U8:
        return draw_byte(f->distribution, u, value);
    case BOOL:
        return draw_bool(f->distribution, u, value);
    case I8:
        return draw_signed(f->distribution, 256, u, value);
    case I32:
        return draw_signed(f->distribution, 4294967296.0, u, value);
    default:
        return draw_signed(f->distribution, 9007199254740992.0, u, value);
    }
}

static __device__ double draw_element(const struct draw *d, const struct hone_k_fill *f)
{
    if (f->role == INDEX)
        return draw_index(d, f);
    if (f->role == MASK)
        return d->w.x >> 31;
    bool is_exact = f->distribution == INTEGERS, is_weight = f->role == WEIGHT;
    double value = is_exact && is_weight ? floor(7 * draw_unit(d)) - 3 : draw_value(d, f);
    if (is_weight && !is_exact)
        value *= f->scale;
    if (f->dtype > F64) {
        value = draw_integer(d, f, value);
        return f->role == POSITIVE ? fmax(fabs(value), 1.0) : value;
    }
    return f->role == POSITIVE ? fabs(value) + 0.0625 : value;
}

/* The content that is timed: float32 normals, four of one number. */
extern "C" __global__ void hone_fill_normal(struct hone_k_fill f)
{
    u64 stream = f.nonce + (u64)(f.first_set + (i64)blockIdx.y);
    float *dst = (float *)(f.base + (u64)(f.stride * (i64)blockIdx.y));
    float scale = f.role == WEIGHT ? (float)f.scale : 1.0f;
    i64 n4 = (f.n + 3) / 4;
    for (i64 q = GRID_START; q < n4; q += GRID_STEP) {
        struct four w = philox(f.key, stream, (u64)q);
        float v[4];
        float u0 = ((float)(w.x >> 8) + 0.5f) * 5.9604645e-8f;
        float u1 = ((float)(w.z >> 8) + 0.5f) * 5.9604645e-8f;
        float r0 = sqrtf(-2 * logf(u0)), r1 = sqrtf(-2 * logf(u1));
        float a0 = (float)w.y * 1.4629181e-9f, a1 = (float)w.w * 1.4629181e-9f; /* 2 pi / 2^32 */
        v[0] = r0 * cosf(a0);
        v[1] = r0 * sinf(a0);
        v[2] = r1 * cosf(a1);
        v[3] = r1 * sinf(a1);
        for (int k = 0; k < 4; k++) {
            v[k] *= scale;
            if (f.role == POSITIVE)
                v[k] = fabsf(v[k]) + 0.0625f;
        }
        i64 i = 4 * q;
        for (int k = 0; k < 4 && i + k < f.n; k++)
            dst[i + k] = v[k];
    }
}

extern "C" __global__ void hone_fill(struct hone_k_fill f)
{
    struct draw d;
    d.key = f.key;
    d.stream = f.nonce + (u64)(f.first_set + (i64)blockIdx.y);
    u64 base = f.base + (u64)(f.stride * (i64)blockIdx.y);
    for (d.i = GRID_START; d.i < f.n; d.i += GRID_STEP) {
        d.w = philox(d.key, d.stream, (u64)d.i);
        element_set(f.dtype, base, d.i, draw_element(&d, &f));
    }
}

static __device__ double exponential_at(const struct hone_k_fill *f, u64 stream, i64 i)
{
    struct four w = philox(f->key, stream, (u64)i);
    return -log(unit(w.x, w.y));
}

/* Rows that sum to 1: a block a row. */
extern "C" __global__ void hone_fill_rows(struct hone_k_fill f)
{
    u64 stream = f.nonce + (u64)(f.first_set + (i64)blockIdx.y);
    u64 base = f.base + (u64)(f.stride * (i64)blockIdx.y);
    i64 n_rows = (f.n + f.row - 1) / f.row;
    for (i64 row = blockIdx.x; row < n_rows; row += gridDim.x) {
        i64 first = row * f.row, end = first + f.row < f.n ? first + f.row : f.n;
        double sum = 0;
        for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
            sum += exponential_at(&f, stream, i);
        sum = block_add(sum);
        for (i64 i = first + threadIdx.x; i < end; i += blockDim.x)
            element_set(f.dtype, base, i, exponential_at(&f, stream, i) / sum);
    }
}

/* As gen.c's: rows of about one length, a few that hold nearly everything, empty ones. */
static __device__ double gap_at(const struct hone_k_fill *f, u64 stream, i64 i)
{
    double gap = exponential_at(f, stream, i);
    switch (f->distribution) {
    case HEAVY:
        return pow(gap, 4.0);
    case LARGE:
        return pow(gap, 16.0);
    case MIXED:
        return i % 2 == 0 ? gap : 0;
    case SMALL:
        return i <= f->n / 2 ? 0 : gap;
    default:
        return gap;
    }
}

/* Non-decreasing from 0 to bound: cuts at sorted random places, by stepping through the gaps. One
 * block a set; a thread walks a stretch of its own. */
extern "C" __global__ void hone_fill_offsets(struct hone_k_fill f)
{
    __shared__ double before[HONE_K_THREADS];
    u64 stream = f.nonce + (u64)(f.first_set + (i64)blockIdx.y);
    u64 base = f.base + (u64)(f.stride * (i64)blockIdx.y);
    i64 part = (f.n + blockDim.x - 1) / blockDim.x;
    i64 first = part * (i64)threadIdx.x, end = first + part < f.n ? first + part : f.n;
    double mine = 0;
    for (i64 i = first; i < end; i++)
        mine += i == 0 ? 0 : gap_at(&f, stream, i);
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
        so_far += i == 0 ? 0 : gap_at(&f, stream, i);
        double share = total > 0 ? so_far / total : 0;
        double at = fmin(floor((double)f.bound * share), (double)f.bound);
        element_set(f.dtype, base, i, i == 0 ? 0 : i == f.n - 1 ? (double)f.bound : at);
    }
}

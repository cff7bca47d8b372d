/* The judge's own kernels: poison, canaries, hashes, comparison, ceilings; content: gpu_content.cu.
 *
 * Compiled by NVRTC behind gpu_kernels_abi.h, and by the emulator of the tests as C++. All are
 * grid-stride over x inside one buffer set, sets lie along y, indices have 64 bits. A result is
 * folded in a block first, then added with one atomic per block. */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

/* ---- elements ---- */

enum { F16, BF16, F32, F64, I8, I32, I64, BOOL, U8, I16, U16, U32, U64 };

static __device__ __forceinline__ double bits_double(u64 bits)
{
    union {
        u64 u;
        double d;
    } v;
    v.u = bits;
    return v.d;
}

static __device__ __forceinline__ u64 double_bits(double value)
{
    union {
        double d;
        u64 u;
    } v;
    v.d = value;
    return v.u;
}

static __device__ __forceinline__ float bits_float(u32 bits)
{
    union {
        u32 u;
        float f;
    } v;
    v.u = bits;
    return v.f;
}

static __device__ __forceinline__ u32 float_bits(float value)
{
    union {
        float f;
        u32 u;
    } v;
    v.f = value;
    return v.u;
}

static __device__ __forceinline__ bool is_nan(double v)
{
    return (double_bits(v) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

static __device__ __forceinline__ bool is_finite(double v)
{
    return (double_bits(v) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}

static __device__ double half_get(u32 h)
{
    u32 exponent = (h >> 10) & 31, mantissa = h & 1023;
    double v;
    if (exponent == 31)
        v = bits_double(mantissa ? 0x7ff8000000000000ull : 0x7ff0000000000000ull);
    else if (exponent == 0)
        v = mantissa * 5.9604644775390625e-8;
    else
        v = (1024.0 + mantissa) * bits_double((u64)(exponent - 25 + 1023) << 52);
    return h & 0x8000 ? -v : v;
}

/* To nearest even, as the host does it. */
static __device__ u32 half_bits(double value)
{
    u32 sign = double_bits(value) >> 63 ? 0x8000 : 0;
    double size = fabs(value);
    if (is_nan(value))
        return 0x7e00;
    if (size >= 65520)
        return sign | 0x7c00;
    if (size < 5.9604644775390625e-8 / 4)
        return sign;
    int exponent = (int)(double_bits(size) >> 52) - 1022; /* as frexp gives it */
    int ulp = exponent - 11 < -24 ? -24 : exponent - 11;
    double steps = rint(size * bits_double((u64)(1023 - ulp) << 52));
    u32 bits = ulp == -24 ? (u32)steps : (u32)steps + ((u32)(ulp + 24) << 10);
    return sign | bits;
}

static __device__ u32 bfloat_bits(double value)
{
    u32 bits = float_bits((float)value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fc0;
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

static __device__ __forceinline__ double element_get(i64 dtype, u64 base, i64 i)
{
    switch (dtype) {
    case F16:
        return half_get(((const unsigned short *)base)[i]);
    case BF16:
        return bits_float((u32)((const unsigned short *)base)[i] << 16);
    case F32:
        return ((const float *)base)[i];
    case F64:
        return ((const double *)base)[i];
    case I8:
        return ((const signed char *)base)[i];
    case I32:
        return ((const int *)base)[i];
    case I64:
        return (double)((const i64 *)base)[i];
    case I16:
        return ((const short *)base)[i];
    case U16:
        return ((const unsigned short *)base)[i];
    case U32:
        return ((const u32 *)base)[i];
    case U64:
        return (double)((const u64 *)base)[i];
    default:
        return ((const unsigned char *)base)[i];
    }
}

static __device__ __forceinline__ double clamped(double value, double low, double high)
{
    return is_nan(value) ? 0 : fmin(fmax(rint(value), low), high);
}

static __device__ __forceinline__ void element_set(i64 dtype, u64 base, i64 i, double value)
{
    switch (dtype) {
    case F16:
        ((unsigned short *)base)[i] = (unsigned short)half_bits(value);
        break;
    case BF16:
        ((unsigned short *)base)[i] = (unsigned short)bfloat_bits(value);
        break;
    case F32:
        ((float *)base)[i] = (float)value;
        break;
    case F64:
        ((double *)base)[i] = value;
        break;
    case I8:
        ((signed char *)base)[i] = (signed char)clamped(value, -128, 127);
        break;
    case I32:
        ((int *)base)[i] = (int)clamped(value, -2147483648.0, 2147483647.0);
        break;
    case I64:
        ((i64 *)base)[i] = (i64)clamped(value, -9e18, 9e18);
        break;
    case I16:
        ((short *)base)[i] = (short)clamped(value, -32768, 32767);
        break;
    case U16:
        ((unsigned short *)base)[i] = (unsigned short)clamped(value, 0, 65535);
        break;
    case U32:
        ((u32 *)base)[i] = (u32)clamped(value, 0, 4294967295.0);
        break;
    case U64:
        ((u64 *)base)[i] = (u64)clamped(value, 0, 1.8e19);
        break;
    case U8:
        ((unsigned char *)base)[i] = (unsigned char)clamped(value, 0, 255);
        break;
    default:
        ((unsigned char *)base)[i] = value != 0;
        break;
    }
}

/* What a perfect kernel would store. */
static __device__ double element_round(i64 dtype, double value)
{
    switch (dtype) {
    case F16:
        return half_get(half_bits(value));
    case BF16:
        return bits_float(bfloat_bits(value) << 16);
    case F32:
        return (double)(float)value;
    case F64:
        return value;
    case I8:
        return clamped(value, -128, 127);
    case I32:
        return clamped(value, -2147483648.0, 2147483647.0);
    case I64:
        return clamped(value, -9e18, 9e18);
    case I16:
        return clamped(value, -32768, 32767);
    case U16:
        return clamped(value, 0, 65535);
    case U32:
        return clamped(value, 0, 4294967295.0);
    case U64:
        return clamped(value, 0, 1.8e19);
    case U8:
        return clamped(value, 0, 255);
    default:
        return value != 0;
    }
}

static __device__ __forceinline__ u64 element_bits(i64 bytes, u64 base, i64 i)
{
    switch (bytes) {
    case 1:
        return ((const unsigned char *)base)[i];
    case 2:
        return ((const unsigned short *)base)[i];
    case 4:
        return ((const u32 *)base)[i];
    default:
        return ((const u64 *)base)[i];
    }
}

/* ---- folding ---- */

#define GRID_START ((i64)blockIdx.x * (i64)blockDim.x + (i64)threadIdx.x)
#define GRID_STEP  ((i64)gridDim.x * (i64)blockDim.x)

/* What each thread of a block has becomes one value, the same in every thread, by way of
 * FOLD_LANES parts. Two barriers: who writes a room again has passed one that all readers of it
 * came to later. */
#define FOLD_LANES 16
#define FOLD(value, with)                                                                          \
    __shared__ decltype(value) room[HONE_K_THREADS], part[FOLD_LANES];                             \
    u32 t = threadIdx.x;                                                                           \
    room[t] = value;                                                                               \
    __syncthreads();                                                                               \
    for (u32 k = t + FOLD_LANES; t < FOLD_LANES && k < blockDim.x; k += FOLD_LANES)                \
        value = with(value, room[k]);                                                              \
    if (t < FOLD_LANES)                                                                            \
        part[t] = value;                                                                           \
    __syncthreads();                                                                               \
    value = part[0];                                                                               \
    for (u32 k = 1; k < FOLD_LANES; k++)                                                           \
        value = with(value, part[k]);                                                              \
    return value

template <typename T> static __device__ __forceinline__ T sum_of(T a, T b)
{
    return a + b;
}

template <typename T> static __device__ __forceinline__ T larger_of(T a, T b)
{
    return a > b ? a : b;
}

static __device__ u64 block_sum(u64 value)
{
    FOLD(value, sum_of);
}

static __device__ u64 block_max(u64 value)
{
    FOLD(value, larger_of);
}

static __device__ double block_add(double value)
{
    FOLD(value, sum_of);
}

static __device__ void found_add(u64 count, u64 first, u64 at)
{
    struct hone_k_found *found = (struct hone_k_found *)at;
    u64 all = block_sum(count);
    if (all == 0) /* the same in every thread */
        return;
    u64 least = block_max(first);
    if (threadIdx.x == 0) {
        atomicAdd(&found->count, all);
        atomicMax(&found->first, least);
    }
}

/* ---- poison, canaries, hashes ---- */

extern "C" __global__ void hone_poison(struct hone_k_poison p)
{
    u64 base = p.base + (u64)(p.stride * (i64)blockIdx.y);
    for (i64 i = GRID_START; i < p.n; i += GRID_STEP) {
        if (p.row > 0 && i % p.row < p.used)
            continue;
        switch (p.element_bytes) {
        case 1:
            ((unsigned char *)base)[i] = (unsigned char)p.bits;
            break;
        case 2:
            ((unsigned short *)base)[i] = (unsigned short)p.bits;
            break;
        case 4:
            ((u32 *)base)[i] = (u32)p.bits;
            break;
        default:
            ((u64 *)base)[i] = p.bits;
            break;
        }
    }
}

/* Bytes between contents that are not the canary. */
extern "C" __global__ void hone_canary(struct hone_k_range r)
{
    const unsigned char *base = (const unsigned char *)r.base;
    i64 gap = r.stride - r.bytes, last = r.first + (r.n_sets - 1) * r.stride + r.bytes;
    i64 n_inner = gap * (r.n_sets - 1), n = r.first + n_inner + (r.size - last);
    u64 n_wrong = 0;
    for (i64 i = GRID_START; i < n; i += GRID_STEP) {
        i64 at = i;
        if (i >= r.first + n_inner)
            at = last + (i - r.first - n_inner);
        else if (i >= r.first)
            at = r.first + (i - r.first) / gap * r.stride + r.bytes + (i - r.first) % gap;
        n_wrong += base[at] != (unsigned char)r.canary;
    }
    for (i64 i = GRID_START; r.row > 0 && i < r.n_sets * r.bytes; i += GRID_STEP) {
        i64 set = i / r.bytes, at = i % r.bytes;
        n_wrong += at % r.row >= r.used &&
                   base[r.first + set * r.stride + at] != (unsigned char)r.canary;
    }
    n_wrong = block_sum(n_wrong);
    if (threadIdx.x == 0 && n_wrong > 0)
        atomicAdd((u64 *)r.n_wrong, n_wrong);
}

static __device__ __forceinline__ u64 mix(u64 z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* A sum over places: any order gives the same. */
extern "C" __global__ void hone_hash(struct hone_k_hash h)
{
    u64 base = h.base + (u64)(h.stride * (i64)blockIdx.y);
    i64 n = h.bytes / 4, n_odd = h.bytes % 4;
    u64 sum = 0;
    for (i64 i = GRID_START; i < n; i += GRID_STEP)
        sum += mix(h.salt + mix((u64)((const u32 *)base)[i] ^ mix((u64)i + 1)));
    if (blockIdx.x == 0 && (i64)threadIdx.x < n_odd) {
        i64 at = 4 * n + (i64)threadIdx.x;
        sum += mix(h.salt ^ mix((u64)((const unsigned char *)base)[at] ^ mix((u64)at + 7)));
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd((u64 *)h.sums + blockIdx.y, sum);
}

/* ---- looking at outputs ---- */

extern "C" __global__ void hone_look(struct hone_k_look l)
{
    u64 offset = (u64)(l.stride * (i64)blockIdx.y), count = 0, first = 0;
    for (i64 i = GRID_START; i < l.n; i += GRID_STEP) {
        bool is_it = element_bits(l.element_bytes, l.a + offset, i) == l.bits_a;
        if (is_it && l.b != 0)
            is_it = element_bits(l.element_bytes, l.b + offset, i) == l.bits_b;
        if (!is_it)
            continue;
        count++;
        if (~(u64)i > first)
            first = ~(u64)i;
    }
    found_add(count, first, l.found + blockIdx.y * sizeof(struct hone_k_found));
}

extern "C" __global__ void hone_differ(struct hone_k_differ d)
{
    u64 offset = (u64)(d.stride * (i64)blockIdx.y), count = 0, first = 0;
    for (i64 i = GRID_START; i < d.n; i += GRID_STEP) {
        if (element_bits(d.element_bytes, d.a + offset, i) ==
            element_bits(d.element_bytes, d.b + offset, i))
            continue;
        count++;
        if (~(u64)i > first)
            first = ~(u64)i;
    }
    found_add(count, first, d.found + blockIdx.y * sizeof(struct hone_k_found));
}

/* The rule of compare.c. */
struct tally {
    u64 n, n_bad, n_nonfinite, n_uncovered, first_bad, first_nonfinite;
    double max_abs, max_rel, max_scale, worst, err_squares, ref_sum, ref_squares, size_squares;
    double err_sum, toward_sum, size_sum;
    bool has_signed_zero;
};

static __device__ bool is_same_kind(double got, double want)
{
    if (is_nan(got) || is_nan(want))
        return is_nan(got) && is_nan(want);
    return got == want;
}

static __device__ bool is_at_the_end(i64 dtype, double got, double want, double bound)
{
    if (dtype > F64 || is_nan(got) || !is_finite(want) || !is_finite(bound) ||
        (got < 0) != (want < 0))
        return false;
    if (is_finite(got))
        return fabs(got - want) <= bound;
    double most = dtype == F16    ? 65520
                  : dtype == BF16 ? 0x1.ffp127
                  : dtype == F32  ? 0x1.ffffffp127
                                  : bits_double(0x7ff0000000000000ull);
    return fabs(want) + bound >= most;
}

static __device__ void tally_bad(struct tally *t, i64 i)
{
    t->n_bad++;
    if (~(u64)i > t->first_bad)
        t->first_bad = ~(u64)i;
}

static __device__ void tally_add(struct tally *t, i64 dtype, i64 i, double got, double want,
                                 double scale, double atol, double rtol)
{
    double rounded = element_round(dtype, want);
    bool is_integer = dtype > F64;
    double size = fmax(fabs(is_integer ? rounded : want), scale);
    double bound = is_integer ? 0 : atol + rtol * size;
    t->n++;
    if (!is_finite(rounded) || !is_finite(got)) {
        if (is_same_kind(got, rounded) || is_at_the_end(dtype, got, want, bound))
            return;
        tally_bad(t, i);
        if (is_finite(rounded)) {
            t->n_nonfinite++;
            if (~(u64)i > t->first_nonfinite)
                t->first_nonfinite = ~(u64)i;
        }
        return;
    }
    if (is_integer)
        want = rounded;
    if (t->has_signed_zero && !is_integer && got == 0 && rounded == 0 &&
        (double_bits(got) ^ double_bits(rounded)) != 0)
        tally_bad(t, i);
    double err = fabs(got - want);
    t->max_abs = fmax(t->max_abs, err);
    t->max_rel = fmax(t->max_rel, err / fmax(fabs(want), 1e-30));
    t->max_scale = fmax(t->max_scale, scale);
    t->worst = bound > 0 ? fmax(t->worst, err / bound) : t->worst;
    t->err_squares += err * err;
    t->ref_sum += want;
    t->ref_squares += want * want;
    t->size_squares += size * size;
    t->err_sum += got - want;
    t->toward_sum += want < 0 ? want - got : got - want;
    t->size_sum += size;
    if (!(err <= bound))
        tally_bad(t, i);
}

/* All threads of the block come here. */
static __device__ void tally_end(const struct tally *t, struct hone_k_stats *ret)
{
    u64 n = block_sum(t->n), n_bad = block_sum(t->n_bad), n_uncovered = block_sum(t->n_uncovered);
    u64 n_nonfinite = block_sum(t->n_nonfinite);
    u64 first_bad = block_max(t->first_bad), first_nonfinite = block_max(t->first_nonfinite);
    u64 max_abs = block_max(double_bits(t->max_abs)), max_rel = block_max(double_bits(t->max_rel));
    u64 max_scale = block_max(double_bits(t->max_scale)), worst = block_max(double_bits(t->worst));
    double err_squares = block_add(t->err_squares), ref_sum = block_add(t->ref_sum);
    double ref_squares = block_add(t->ref_squares), size_squares = block_add(t->size_squares);
    double err_sum = block_add(t->err_sum), toward_sum = block_add(t->toward_sum);
    double size_sum = block_add(t->size_sum);
    if (threadIdx.x != 0)
        return;
    atomicAdd(&ret->n, n);
    if (n_bad > 0)
        atomicAdd(&ret->n_bad, n_bad);
    if (n_nonfinite > 0)
        atomicAdd(&ret->n_nonfinite, n_nonfinite);
    if (n_uncovered > 0)
        atomicAdd(&ret->n_uncovered, n_uncovered);
    atomicMax(&ret->first_bad, first_bad);
    atomicMax(&ret->first_nonfinite, first_nonfinite);
    atomicMax(&ret->max_abs, max_abs);
    atomicMax(&ret->max_rel, max_rel);
    atomicMax(&ret->max_scale, max_scale);
    atomicMax(&ret->worst, worst);
    atomicAdd(&ret->err_squares, err_squares);
    atomicAdd(&ret->ref_sum, ref_sum);
    atomicAdd(&ret->ref_squares, ref_squares);
    atomicAdd(&ret->size_squares, size_squares);
    atomicAdd(&ret->err_sum, err_sum);
    atomicAdd(&ret->toward_sum, toward_sum);
    atomicAdd(&ret->size_sum, size_sum);
}

/* Scales that no item has written keep the bits that the judge filled them with. */
#define UNCOVERED 0xffffffffffffffffull

extern "C" __global__ void hone_compare(struct hone_k_compare c)
{
    struct tally t = {};
    t.has_signed_zero = c.has_signed_zero != 0;
    u64 got_base = c.got + (u64)(c.stride * (i64)blockIdx.y);
    const double *values = (const double *)c.values, *scales = (const double *)c.scales;
    for (i64 i = GRID_START; i < c.n; i += GRID_STEP) {
        if (c.row > 0 && i % c.row >= c.used)
            continue;
        double scale = scales ? scales[i] : c.scale;
        if (double_bits(scale) == UNCOVERED) {
            t.n_uncovered++;
            continue;
        }
        tally_add(&t, c.dtype, i, element_get(c.dtype, got_base, i), values[i], scale, c.atol,
                  c.rtol);
    }
    tally_end(&t, (struct hone_k_stats *)c.stats + blockIdx.y);
}

/* Against a certified array of the output's own type: both sides round. */
extern "C" __global__ void hone_compare_like(struct hone_k_compare c)
{
    struct tally t = {};
    t.has_signed_zero = c.has_signed_zero != 0;
    u64 got_base = c.got + (u64)(c.stride * (i64)blockIdx.y);
    u64 like_base = c.like + (u64)(c.like_stride * (i64)blockIdx.y);
    for (i64 i = GRID_START; i < c.n; i += GRID_STEP)
        tally_add(&t, c.dtype, i, element_get(c.dtype, got_base, i),
                  element_get(c.dtype, like_base, i), c.scale, c.factor * c.atol,
                  c.factor * c.rtol);
    tally_end(&t, (struct hone_k_stats *)c.stats + blockIdx.y);
}

/* One output at a time (blockIdx.y), so that the folding is its own. */
extern "C" __global__ void hone_compare_records(struct hone_k_records r)
{
    struct tally t = {};
    t.has_signed_zero = r.outputs.has_signed_zero != 0;
    const struct hone_k_record *records = (const struct hone_k_record *)r.records;
    i64 o = blockIdx.y;
    for (i64 k = GRID_START; k < r.n_records; k += GRID_STEP) {
        struct hone_k_record one = records[k];
        bool is_ours = one.output == o && one.index >= 0 && one.index < r.outputs.n[o];
        bool is_nobodys =
            one.output < 0 || one.output >= r.outputs.n_outputs || (one.output == o && !is_ours);
        if (is_nobodys && (o == 0 || one.output == o))
            t.n_uncovered++; /* names an element that does not exist */
        if (!is_ours)
            continue;
        double got = element_get(r.outputs.dtype[o], r.outputs.got[o], one.index);
        tally_add(&t, r.outputs.dtype[o], one.index, got, one.value, one.scale, r.outputs.atol[o],
                  r.outputs.rtol[o]);
    }
    tally_end(&t, (struct hone_k_stats *)r.stats + o);
}

/* Records that came from elsewhere, into the arrays that hone_compare reads. */
extern "C" __global__ void hone_spread_records(struct hone_k_records r)
{
    const struct hone_k_record *records = (const struct hone_k_record *)r.records;
    i64 total = 0;
    for (i64 o = 0; o < r.outputs.n_outputs; o++)
        total += r.outputs.n[o];
    for (i64 k = GRID_START; k < r.n_records; k += GRID_STEP) {
        struct hone_k_record one = records[k];
        if (one.output < 0 || one.output >= r.outputs.n_outputs || one.index < 0 ||
            one.index >= r.outputs.n[one.output])
            continue;
        i64 at = one.index;
        for (i64 o = 0; o < one.output; o++)
            at += r.outputs.n[o];
        ((double *)r.values)[at] = one.value;
        ((double *)r.values)[total + at] = one.scale;
    }
}

extern "C" __global__ void hone_squares(struct hone_k_squares s)
{
    double sum = 0;
    for (i64 i = GRID_START; i < s.n; i += GRID_STEP) {
        double v = element_get(s.dtype, s.base, i);
        sum += is_finite(v) ? v * v : 0;
    }
    sum = block_add(sum);
    if (threadIdx.x == 0)
        atomicAdd((double *)s.sum, sum);
}

/* ---- ceilings ---- */

struct __align__(16) wide
{
    u64 a, b;
};

extern "C" __global__ void hone_copy(struct hone_k_work w)
{
    const struct wide *from = (const struct wide *)w.from;
    struct wide *to = (struct wide *)w.to;
    for (i64 r = 0; r < w.repeats; r++)
        for (i64 i = GRID_START; i < w.n; i += GRID_STEP)
            to[i] = from[i];
}

/* Past L1, whose sum over a large device holds half of the L2 cache. */
static __device__ u64 read_l2(const struct wide *at)
{
#ifdef HONE_EMULATED
    return at->a ^ at->b;
#else
    u64 a, b;
    asm volatile("ld.global.cg.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at));
    return a ^ b;
#endif
}

extern "C" __global__ void hone_read(struct hone_k_work w)
{
    const struct wide *from = (const struct wide *)w.from;
    u64 sum = 0;
    for (i64 r = 0; r < w.repeats; r++) {
        i64 i = GRID_START;
        for (; i + 3 * GRID_STEP < w.n; i += 4 * GRID_STEP)
            sum += read_l2(&from[i]) + read_l2(&from[i + GRID_STEP]) +
                   read_l2(&from[i + 2 * GRID_STEP]) + read_l2(&from[i + 3 * GRID_STEP]);
        for (; i < w.n; i += GRID_STEP)
            sum += read_l2(&from[i]);
    }
    if (sum == 0x123456789abcdefull) /* never: keeps the loads */
        *(u64 *)w.to = sum;
}

#define CHAINS 8
extern "C" __global__ void hone_fma_float(struct hone_k_work w)
{
    float c[CHAINS], a = 0.999999f, b = 1e-6f * (float)(threadIdx.x + 1);
    for (int k = 0; k < CHAINS; k++)
        c[k] = b * (float)k;
    for (i64 i = 0; i < w.n; i++) {
        for (int k = 0; k < CHAINS; k++)
            c[k] = c[k] * a + b;
    }
    float sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k];
    if (sum == 12345.678f)
        *(float *)w.to = sum;
}

extern "C" __global__ void hone_fma_double(struct hone_k_work w)
{
    double c[CHAINS], a = 0.999999, b = 1e-6 * (double)(threadIdx.x + 1);
    for (int k = 0; k < CHAINS; k++)
        c[k] = b * (double)k;
    for (i64 i = 0; i < w.n; i++) {
        for (int k = 0; k < CHAINS; k++)
            c[k] = c[k] * a + b;
    }
    double sum = 0;
    for (int k = 0; k < CHAINS; k++)
        sum += c[k];
    if (sum == 12345.678)
        *(double *)w.to = sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs: content by role and distribution from a secret key.
 *
 * A stream is SplitMix64 started at SHA-256(key, counter, tensor). A kernel can compute the
 * stream's start from what it reads, which helps it nothing: the next stream starts at an unrelated
 * place. The standard normal is the inverse distribution function, tabled at 2048 quantiles and
 * interpolated: a few operations per element, because fresh content is made for every timed block
 * and a transform by logarithms would cost more than many kernels. */
#include "tools/runner/values/gen.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/values/element.h"
#include "tools/runner/values/gen_roles.h"
#include "workspace/base/hash.h"

#define LEAST_POSITIVE 0.0625
#define KNOTS          HONE_SHAPE_KNOTS
#define GOLDEN         0x9e3779b97f4a7c15u
#define MOST_OF_ROW    (1 << 20)
#define MOST_INTEGER   0x1p53 /* beyond it the oracle cannot count */
#define DICE_WHAT      0x64696365u
#define LEAST_PARTED   (1 << 18) /* elements: a millisecond of one core */
#define MAX_PARTS      8
#define PART_MULTIPLE  64
#define LEAST_ROWS     16 /* of stored content, to begin at one of them */
#define STORED_WHAT    (UINT64_MAX - 1)

struct hone_gen {
    uint8_t key[16];
    float quantile[KNOTS + 1];
};

/* Inverse of the standard normal distribution function by bisection: exact enough and run 2047
 * times only. */
static double normal_quantile(double p)
{
    double low = -9, high = 9;
    for (int i = 0; i < 60; i++) {
        double mid = (low + high) / 2;
        if (erfc(-mid / sqrt(2)) / 2 < p)
            low = mid;
        else
            high = mid;
    }
    return (low + high) / 2;
}

struct hone_gen *hone_gen_new(const uint8_t key[16])
{
    struct hone_gen *gen = hone_calloc(1, sizeof *gen);
    memcpy(gen->key, key, sizeof gen->key);
    for (int i = 1; i < KNOTS / 2; i++) {
        gen->quantile[i] = (float)normal_quantile((double)i / KNOTS);
        gen->quantile[KNOTS - i] = -gen->quantile[i];
    }
    gen->quantile[0] = -4.2f; /* the last cell stands for the tail */
    gen->quantile[KNOTS] = 4.2f;
    return gen;
}

void hone_gen_free(struct hone_gen *gen)
{
    if (gen == NULL)
        return;
    explicit_bzero(gen->key, sizeof gen->key);
    free(gen);
}

/* The first words of a SHA-256; at most four. */
static void hash_words(const void *bytes, size_t len, uint64_t *ret, int n)
{
    unsigned char digest[HONE_HASH_BYTES];
    hone_hash_bytes(bytes, len, digest);
    for (int i = 0; i < n; i++) {
        ret[i] = 0;
        for (int k = 0; k < 8; k++)
            ret[i] = ret[i] << 8 | digest[8 * i + k];
    }
}

void hone_gen_stream(const struct hone_gen *gen, uint64_t counter, uint64_t tensor, uint64_t ret[2])
{
    struct {
        uint8_t key[16];
        uint64_t counter, what;
    } from = {.counter = counter, .what = tensor};
    memcpy(from.key, gen->key, sizeof from.key);
    hash_words(&from, sizeof from, ret, 2);
}

static uint64_t stream_start(const struct hone_gen *gen, uint64_t counter, uint64_t what)
{
    uint64_t words[2];
    hone_gen_stream(gen, counter, what, words);
    return words[0];
}

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct hone_rng hone_gen_rng(const struct hone_gen *gen, uint64_t what)
{
    struct hone_rng rng = {.n_left = 0};
    hone_gen_stream(gen, what, DICE_WHAT, rng.own);
    return rng;
}

static uint64_t next_bits(struct hone_rng *rng)
{
    if (rng->n_left == 0) {
        const uint64_t from[3] = {rng->own[0], rng->own[1], rng->counter++};
        hash_words(from, sizeof from, rng->words, HONE_RNG_WORDS);
        rng->n_left = HONE_RNG_WORDS;
    }
    return rng->words[--rng->n_left];
}

int64_t hone_rng_below(struct hone_rng *rng, int64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)(uint64_t)(((wide)next_bits(rng) * (wide)(uint64_t)bound) >> 64);
}

static inline float normal_at(const float *quantile, uint32_t u)
{
    uint32_t cell = u >> 21;
    float part = (float)(u & 0x1fffff) * 0x1p-21f;
    return quantile[cell] + part * (quantile[cell + 1] - quantile[cell]);
}

/* The common case, float32 normals, straight into the buffer; from is even. */
static void fill_normal_f32(const struct hone_gen *gen, const struct hone_shape *s, int64_t from,
                            int64_t to, float *dst)
{
    uint64_t start = s->stream;
    float scale = (float)s->scale;
    for (int64_t i = from; i + 1 < to; i += 2) {
        uint64_t z = mix(start + (uint64_t)i * GOLDEN);
        dst[i] = scale * normal_at(gen->quantile, (uint32_t)z);
        dst[i + 1] = scale * normal_at(gen->quantile, (uint32_t)(z >> 32));
    }
    if ((to - from) % 2 == 1)
        dst[to - 1] =
            scale * normal_at(gen->quantile, (uint32_t)mix(start + (uint64_t)(to - 1) * GOLDEN));
    for (int64_t i = from; i < to && s->is_positive; i++)
        dst[i] = fabsf(dst[i]) + (float)LEAST_POSITIVE;
    for (int64_t i = from; i < to && s->unit != 0; i++)
        dst[i] = dst[i] * (float)s->unit + (float)s->shift;
}

/* The same for float64: what hone_shape_value says, without asking each element for its kind. */
static void fill_normal_f64(const struct hone_shape *s, int64_t from, int64_t to, double *dst)
{
    const struct hone_shape own = *s; /* dst may not change it */
    for (int64_t i = from; i < to; i++)
        dst[i] = hone_shape_normal(&own, i, HONE_SALT_FIRST) * own.scale;
    for (int64_t i = from; i < to && own.is_positive; i++)
        dst[i] = fabs(dst[i]) + LEAST_POSITIVE;
    for (int64_t i = from; i < to && own.unit != 0; i++)
        dst[i] = dst[i] * own.unit + own.shift;
}

/* Integers of one byte that are drawn from all of their values (hone_shape_is_whole): eight of a
 * draw. Any byte is one of them, signed or not; from is a multiple of eight. */
static void fill_bytes(const struct hone_shape *s, int64_t from, int64_t to, uint8_t *dst)
{
    uint64_t start = s->stream;
    int64_t i = from;
    for (; i + 8 <= to; i += 8) {
        uint64_t z = mix(start + (uint64_t)i * GOLDEN);
        memcpy(dst + i, &z, sizeof z);
    }
    if (i < to) {
        uint64_t z = mix(start + (uint64_t)i * GOLDEN);
        memcpy(dst + i, &z, (size_t)(to - i));
    }
}

/* The limits are no constants here: compilers make branches of them otherwise. */
__attribute__((noipa)) static void hold_all(double *values, int64_t n, double low, double high)
{
    for (int64_t i = 0; i < n; i++)
        values[i] = hone_shape_hold(values[i], low, high);
}

/* hone_shape_value of n elements of one kind. The kind is a constant in each case, so that of the
 * shapes' common text (`flatten` makes one loop of it) what the kind does not need falls away. */
#define FILL_KIND(k_)                                                                              \
    case k_:                                                                                       \
        own.kind = (k_);                                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            dst[i] = is_whole ? hone_shape_integer(&own, (k_), from + i)                           \
                              : hone_shape_real(&own, (k_), from + i);                             \
        break;
#define FILL_KINDS(k_)                                                                             \
    FILL_KIND((k_))                                                                                \
    FILL_KIND((k_) + 1)                                                                            \
    FILL_KIND((k_) + 2)                                                                            \
    FILL_KIND((k_) + 3)                                                                            \
    FILL_KIND((k_) + 4)                                                                            \
    FILL_KIND((k_) + 5)                                                                            \
    FILL_KIND((k_) + 6)
_Static_assert(HONE_N_DISTS == 7 * 7, "the cases below");

__attribute__((flatten)) static void draw_kind(const struct hone_shape *s, long long kind,
                                               int64_t from, int64_t n, double *dst)
{
    struct hone_shape own = *s; /* dst may not change it */
    bool is_whole = s->high > s->low;
    switch (kind) {
        FILL_KINDS(0)
        FILL_KINDS(7)
        FILL_KINDS(14)
        FILL_KINDS(21)
        FILL_KINDS(28)
        FILL_KINDS(35)
        FILL_KINDS(42)
    default:
        break;
    }
    if (is_whole)
        hold_all(dst, n, own.low, own.high);
}

/* Wider integers of the ordinary kind. */
static void fill_normal_integers(const struct hone_shape *s, enum hone_dtype dtype, int64_t from,
                                 int64_t to, void *dst)
{
    const struct hone_shape own = *s;
    for (int64_t i = from; i < to; i++) {
        double value = hone_shape_normal(&own, i, HONE_SALT_FIRST);
        if (own.low == 0)
            value = fabs(value);
        if (own.unit != 0)
            value = floor(value * own.unit + own.shift);
        value = value < own.low ? own.low : value > own.high ? own.high : value;
        hone_element_set(dtype, dst, i, value);
    }
}

double hone_gen_weight_scale(const struct hone_tensor *tensor, const struct hone_workload *workload)
{
    if (tensor->rank < 2)
        return 1;
    double fan_in = 1; /* of a filter: channels and places; of a stack of matrices: rows */
    size_t from = tensor->rank >= 4 ? 1 : tensor->rank - 2;
    size_t end = tensor->rank >= 4 ? tensor->rank : tensor->rank - 1;
    for (size_t d = from; d < end; d++)
        fan_in *= (double)hone_max_i64(workload->axes[tensor->shape[d]], 1);
    return 1 / sqrt(fan_in);
}

struct matrix {
    int64_t row, depth; /* of the last two dimensions, 1 or more */
};

static struct matrix matrix_of(const struct hone_tensor *tensor,
                               const struct hone_workload *workload)
{
    size_t rank = tensor->rank;
    int64_t row = rank > 0 ? workload->axes[tensor->shape[rank - 1]] : 1;
    int64_t depth = rank > 1 ? workload->axes[tensor->shape[rank - 2]] : 1;
    return (struct matrix){hone_max_i64(row, 1), hone_max_i64(depth, 1)};
}

static long long triangle_of(const struct hone_tensor *tensor)
{
    return tensor->role == HONE_ROLE_TRIANGULAR         ? HONE_TRIANGLE_LOWER
           : tensor->role == HONE_ROLE_UPPER_TRIANGULAR ? HONE_TRIANGLE_UPPER
                                                        : HONE_TRIANGLE_NONE;
}

double hone_gen_fit(const struct hone_tensor *tensor, const struct hone_workload *workload,
                    int64_t i, double value)
{
    struct matrix m = matrix_of(tensor, workload);
    if (tensor->role == HONE_ROLE_ADDITIVE_MASK)
        return hone_shape_fit_added(m.row, m.depth, i, value == 0);
    if (triangle_of(tensor) != HONE_TRIANGLE_NONE)
        return hone_shape_fit_triangle(triangle_of(tensor), m.row, m.depth, i, value);
    return value;
}

/* Which tensor is the other one, in content where one is. */
#define ODD_TENSOR (UINT64_MAX - 1)
/* The stream that all tensors share, in content where they do. */
#define ALIKE_TENSOR (UINT64_MAX - 2)

/* The stream of what tensors have in common. */
#define SHARED_TENSOR (UINT64_MAX - 3)

/* The kind of one input: the content's, unless that is one where tensors differ. */
static enum hone_distribution kind_of(const struct hone_gen *gen, const struct hone_task *task,
                                      size_t input, enum hone_distribution dist, uint64_t counter)
{
    const struct hone_tensor *tensor = &task->inputs[input];
    bool is_value = tensor->role == HONE_ROLE_ACTIVATION || tensor->role == HONE_ROLE_WEIGHT ||
                    tensor->role == HONE_ROLE_POSITIVE || tensor->role == HONE_ROLE_BITS ||
                    triangle_of(tensor) != HONE_TRIANGLE_NONE;
    uint64_t word = mix(stream_start(gen, counter, input) ^ DICE_WHAT);
    enum hone_distribution picked = is_value ? (enum hone_distribution)hone_shape_pick(word >> 8)
                                             : (enum hone_distribution)(word >> 8) % HONE_N_DISTS;
    if (dist == HONE_DIST_ONE_OTHER) {
        bool is_other = input == stream_start(gen, counter, ODD_TENSOR) % task->n_inputs;
        if (!is_other)
            return HONE_DIST_NORMAL;
        return is_value && word % 2 == 0 ? HONE_DIST_MIXTURE : picked;
    }
    if (dist == HONE_DIST_MIXTURE && task->n_inputs > 1 && word % 3 == 0)
        return HONE_DIST_NORMAL; /* whoever looks at this one alone knows nothing */
    if (dist == HONE_DIST_MIXTURE)
        return is_value && word % 2 == 0 ? HONE_DIST_MIXTURE : picked;
    return dist;
}

/* One row that holds millions of elements costs any kernel that takes a thread a row, and the
 * oracle, seconds a call: at such sizes a few rows hold much, as in `heavy_tail`. */
static enum hone_distribution affordable_kind(const struct hone_tensor *tensor, int64_t total,
                                              enum hone_distribution kind)
{
    bool is_one_row =
        kind == HONE_DIST_TINY || kind == HONE_DIST_CLIPPED || kind == HONE_DIST_CANCELLING;
    bool is_long = tensor->role == HONE_ROLE_OFFSETS && total > MOST_OF_ROW;
    return is_long && is_one_row ? HONE_DIST_HEAVY : kind;
}

/* By what content of kind `scales` scales an input: an axis that it shares with one other input of
 * real numbers as the last dimension of either, or the last of one and the one before it of the
 * other. One that no output has is summed over; the last dimension of both may be. */
static long long side_of(const struct hone_tensor *tensor, int axis)
{
    if (tensor->rank > 0 && tensor->shape[tensor->rank - 1] == axis)
        return HONE_SCALED_COLUMNS;
    if (tensor->rank > 1 && tensor->shape[tensor->rank - 2] == axis)
        return HONE_SCALED_DEPTH;
    return HONE_SCALED_ROWS;
}

static bool is_summed(const struct hone_task *task, int axis)
{
    for (size_t o = 0; o < task->n_outputs; o++)
        for (size_t d = 0; d < task->outputs[o].rank; d++)
            if (task->outputs[o].shape[d] == axis)
                return false;
    return true;
}

static bool has_scale(const struct hone_tensor *tensor)
{
    return hone_dtype_is_float(tensor->dtype) &&
           (tensor->role == HONE_ROLE_ACTIVATION || tensor->role == HONE_ROLE_WEIGHT ||
            tensor->role == HONE_ROLE_POSITIVE);
}

/* Powers of two, up and down: products of two scaled numbers are ordinary ones. */
static long long reach_of(const struct hone_tensor *tensor)
{
    return tensor->dtype == HONE_DTYPE_F16 ? 6 : 20;
}

struct shared_axis {
    int axis; /* -1: none */
    size_t a, b;
};

/* The first pair of inputs that has one. */
static struct shared_axis find_shared(const struct hone_task *task)
{
    struct shared_axis found = {.axis = -1};
    for (size_t a = 0; a < task->n_inputs; a++)
        for (size_t b = a + 1; b < task->n_inputs; b++)
            for (int axis = 0; axis < (int)task->n_axes; axis++) {
                long long x = side_of(&task->inputs[a], axis), y = side_of(&task->inputs[b], axis);
                bool is_shared = x != HONE_SCALED_ROWS && y != HONE_SCALED_ROWS &&
                                 has_scale(&task->inputs[a]) && has_scale(&task->inputs[b]);
                bool is_last = x == HONE_SCALED_COLUMNS && y == HONE_SCALED_COLUMNS;
                if (is_shared && is_summed(task, axis))
                    return (struct shared_axis){axis, a, b};
                if (is_shared && is_last && found.axis < 0)
                    found = (struct shared_axis){axis, a, b};
            }
    return found;
}

static void set_scales(const struct hone_task *task, size_t input, struct hone_shape *ret)
{
    struct shared_axis shared = find_shared(task);
    bool is_one = shared.axis >= 0 && (input == shared.a || input == shared.b);
    ret->reach = reach_of(&task->inputs[input]);
    if (is_one)
        ret->reach =
            hone_min_i64(reach_of(&task->inputs[shared.a]), reach_of(&task->inputs[shared.b]));
    ret->sign = is_one && input == shared.b ? -1 : 1;
    ret->scaled = is_one ? side_of(&task->inputs[input], shared.axis) : HONE_SCALED_ROWS;
    if (shared.axis >= 0 && !is_one)
        ret->kind = HONE_DIST_NORMAL;
}

struct range {
    double least, most;
};

static struct range range_of(enum hone_dtype dtype)
{
    if (dtype == HONE_DTYPE_F16)
        return (struct range){0x1p-14, 65504};
    if (dtype == HONE_DTYPE_F64)
        return (struct range){0x1p-1022, 0x1.fffffffffffffp1023};
    return (struct range){0x1p-126, 0x1.fep127}; /* bfloat16's largest, for float32 as well */
}

void hone_gen_shape(const struct hone_gen *gen, const struct hone_task *task,
                    const struct hone_workload *workload, size_t input, enum hone_distribution dist,
                    uint64_t counter, struct hone_shape *ret)
{
    const struct hone_tensor *tensor = &task->inputs[input];
    bool is_weight = tensor->role == HONE_ROLE_WEIGHT, is_alike = dist == HONE_DIST_ALIKE;
    struct matrix m = matrix_of(tensor, workload);
    struct range range = range_of(tensor->dtype);
    *ret = (struct hone_shape){
        .stream = stream_start(gen, counter, is_alike ? ALIKE_TENSOR : input),
        .quantile = gen->quantile,
        .n = hone_tensor_elements(task, tensor, workload),
        .row = m.row,
        .depth = m.depth,
        .bound = tensor->bound_axis >= 0 ? workload->axes[tensor->bound_axis] : 1,
        .kind = affordable_kind(tensor,
                                tensor->bound_axis >= 0 ? workload->axes[tensor->bound_axis] : 1,
                                kind_of(gen, task, input, dist, counter)),
        .is_weight = is_weight,
        .is_positive = tensor->role == HONE_ROLE_POSITIVE,
        .is_bits = tensor->role == HONE_ROLE_BITS,
        .triangle = triangle_of(tensor),
        .density = tensor->density,
        .least = range.least,
        .most = range.most,
        .scale = is_weight ? hone_gen_weight_scale(tensor, workload) : 1,
        .unit = tensor->unit,
        .shift = tensor->shift,
    };
    if (ret->kind == HONE_DIST_SCALES || ret->kind == HONE_DIST_NEAR_ROWS)
        ret->shared = stream_start(gen, counter, SHARED_TENSOR);
    if (ret->kind == HONE_DIST_SCALES)
        set_scales(task, input, ret);
    if (tensor->dtype == HONE_DTYPE_BOOL) {
        ret->high = 1;
    } else if (!hone_dtype_is_float(tensor->dtype)) { /* setting saturates */
        ret->low = fmax(hone_element_round(tensor->dtype, -1e30), -MOST_INTEGER);
        ret->high = fmin(hone_element_round(tensor->dtype, 1e30), MOST_INTEGER);
        if (ret->is_positive)
            ret->low = 1;
    }
}

struct part { /* of a tensor, for one thread */
    const struct hone_gen *gen;
    const struct hone_shape *shape;
    enum hone_dtype dtype;
    void *dst;
    int64_t from, to;
};

/* Any content: pieces of one kind each, drawn as doubles. */
static void fill_pieces(const struct part *p)
{
    double drawn[HONE_ELEMENT_PIECE];
    for (int64_t i = p->from, n = 0; i < p->to; i += n) {
        long long kind = p->shape->kind, block = p->to;
        if (kind == HONE_DIST_MIXTURE) {
            kind = hone_shape_block_kind(p->shape, i);
            block = hone_shape_block_end(p->shape, i);
        }
        n = hone_min_i64(hone_min_i64(block, p->to) - i, HONE_ELEMENT_PIECE);
        draw_kind(p->shape, kind, i, n, drawn);
        hone_element_set_all(p->dtype, p->dst, i, drawn, n);
    }
}

static void *fill_part(void *arg)
{
    const struct part *p = arg;
    float *values = p->dst;
    double *wide = p->dst;
    bool is_f32 = p->dtype == HONE_DTYPE_F32, is_f64 = p->dtype == HONE_DTYPE_F64;
    bool is_plain = p->shape->kind == HONE_DIST_NORMAL && p->shape->triangle == HONE_TRIANGLE_NONE;
    if (is_f32 && is_plain) {
        fill_normal_f32(p->gen, p->shape, p->from, p->to, values);
        return NULL;
    }
    if (is_f64 && is_plain) {
        fill_normal_f64(p->shape, p->from, p->to, wide);
        return NULL;
    }
    bool has_all_bytes = p->shape->high - p->shape->low == 255 && p->shape->unit == 0;
    if (has_all_bytes && hone_shape_is_whole(p->shape, p->shape->kind)) {
        fill_bytes(p->shape, p->from, p->to, p->dst);
        return NULL;
    }
    if (is_plain && !hone_dtype_is_float(p->dtype) && hone_dtype_bytes(p->dtype) > 1 &&
        !p->shape->is_bits) {
        fill_normal_integers(p->shape, p->dtype, p->from, p->to, p->dst);
        return NULL;
    }
    fill_pieces(p);
    return NULL;
}

/* That this thread may run on: fewer while the judge keeps off the core that arms are timed on. */
static int64_t n_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/* An element depends on its number alone, so that parts are what the whole is. */
static void fill_values(const struct hone_gen *gen, const struct hone_shape *s,
                        enum hone_dtype dtype, void *dst)
{
    struct part parts[MAX_PARTS];
    pthread_t threads[MAX_PARTS];
    bool is_started[MAX_PARTS] = {false};
    int64_t n = s->n < LEAST_PARTED ? 1 : hone_min_i64(n_cores(), MAX_PARTS);
    for (int64_t k = 0; k < n; k++) {
        int64_t from = s->n / n * k, to = s->n / n * (k + 1);
        parts[k] = (struct part){.gen = gen,
                                 .shape = s,
                                 .dtype = dtype,
                                 .dst = dst,
                                 .from = from - from % PART_MULTIPLE,
                                 .to = k + 1 == n ? s->n : to - to % PART_MULTIPLE};
        is_started[k] = k > 0 && pthread_create(&threads[k], NULL, fill_part, &parts[k]) == 0;
    }
    for (int64_t k = 0; k < n; k++)
        if (!is_started[k])
            fill_part(&parts[k]);
    for (int64_t k = 1; k < n; k++)
        if (is_started[k])
            pthread_join(threads[k], NULL);
}

static void fill_probabilities(const struct hone_shape *s, enum hone_dtype dtype, void *dst)
{
    for (int64_t first = 0; first < s->n; first += s->row) {
        double sum = 0;
        for (int64_t i = first; i < first + s->row && i < s->n; i++)
            sum += hone_shape_share(s, i);
        for (int64_t i = first; i < first + s->row && i < s->n; i++)
            hone_element_set(dtype, dst, i, hone_shape_share(s, i) / sum);
    }
}

/* Non-decreasing, first 0, last = total: cuts of 0..total at sorted random places, by stepping
 * through the gaps. */
static void fill_offsets(const struct hone_shape *s, enum hone_dtype dtype, void *dst)
{
    double sum = 0, so_far = 0, total = (double)s->bound;
    for (int64_t i = 1; i < s->n; i++)
        sum += hone_shape_gap(s, i);
    for (int64_t i = 0; i < s->n; i++) {
        so_far += i == 0 ? 0 : hone_shape_gap(s, i);
        double at = i == s->n - 1 ? total : floor(total * (sum > 0 ? so_far / sum : 0));
        hone_element_set(dtype, dst, i, i == 0 ? 0 : at);
    }
}

static double stored_integer(const struct hone_tensor *tensor, int64_t i)
{
    return hone_element_get(tensor->dtype, tensor->stored, i);
}

static void stored_offsets(const struct hone_tensor *tensor, const struct hone_shape *s,
                           uint64_t word, void *dst)
{
    int64_t held = tensor->n_stored - 1, from = (int64_t)(word % (uint64_t)held);
    double sum = 0, so_far = 0, total = (double)s->bound;
    for (int pass = 0; pass < 2; pass++, sum = pass == 1 ? so_far : sum, so_far = 0)
        for (int64_t i = 0; i < s->n; i++) {
            int64_t row = i == 0 ? 0 : (from + i - 1) % held;
            so_far += i == 0 ? 0 : stored_integer(tensor, row + 1) - stored_integer(tensor, row);
            double at = sum > 0 ? floor(so_far * total / sum) : 0; /* in this order: exact */
            if (pass == 1)
                hone_element_set(tensor->dtype, dst, i, i == s->n - 1 ? total : at);
        }
}

static void stored_index(const struct hone_tensor *tensor, const struct hone_shape *s,
                         uint64_t word, void *dst)
{
    int64_t held = tensor->n_stored, from = (int64_t)(word % (uint64_t)held);
    for (int64_t i = 0; i < s->n; i++)
        hone_element_set(tensor->dtype, dst, i,
                         fmod(stored_integer(tensor, (from + i) % held), (double)s->bound));
}

uint64_t hone_gen_stored_word(const struct hone_gen *gen, uint64_t counter)
{
    uint64_t words[2];
    hone_gen_stream(gen, counter, STORED_WHAT, words);
    return words[0];
}

static void stored_values(const struct hone_tensor *tensor, int64_t n, uint64_t word, void *dst)
{
    int64_t bytes = hone_dtype_bytes(tensor->dtype), held = tensor->n_stored;
    bool has_rows = held / tensor->stored_row >= LEAST_ROWS;
    int64_t step = has_rows ? tensor->stored_row : 1;
    int64_t from = (int64_t)(word % (uint64_t)(held / step)) * step;
    for (int64_t done = 0; done < n;) {
        int64_t part = hone_min_i64(held - from, n - done);
        memcpy((char *)dst + done * bytes, (const char *)tensor->stored + from * bytes,
               (size_t)(part * bytes));
        done += part;
        from = 0;
    }
}

void hone_gen_stored(const struct hone_tensor *tensor, const struct hone_shape *shape,
                     uint64_t word, void *dst)
{
    if (tensor->role == HONE_ROLE_OFFSETS)
        stored_offsets(tensor, shape, word, dst);
    else if (tensor->role == HONE_ROLE_INDEX)
        stored_index(tensor, shape, word, dst);
    else
        stored_values(tensor, shape->n, word, dst);
}

bool hone_gen_is_stored(const struct hone_tensor *tensor, const struct hone_shape *shape)
{
    return tensor->stored != NULL && shape->kind == HONE_DIST_NORMAL;
}

void hone_gen_input(const struct hone_gen *gen, const struct hone_task *task,
                    const struct hone_workload *workload, size_t input, enum hone_distribution dist,
                    uint64_t counter, void *dst)
{
    const struct hone_tensor *tensor = &task->inputs[input];
    struct hone_shape s;
    hone_gen_shape(gen, task, workload, input, dist, counter, &s);
    if (hone_gen_is_stored(tensor, &s)) {
        bool is_offsets = tensor->role == HONE_ROLE_OFFSETS;
        hone_gen_stored(tensor, &s, is_offsets ? hone_gen_stored_word(gen, counter) : mix(s.stream),
                        dst);
        return;
    }
    switch (tensor->role) {
    case HONE_ROLE_ACTIVATION:
    case HONE_ROLE_WEIGHT:
    case HONE_ROLE_POSITIVE:
    case HONE_ROLE_BITS:
    case HONE_ROLE_TRIANGULAR:
    case HONE_ROLE_UPPER_TRIANGULAR:
        fill_values(gen, &s, tensor->dtype, dst);
        break;
    case HONE_ROLE_PROBABILITY:
        fill_probabilities(&s, tensor->dtype, dst);
        break;
    case HONE_ROLE_INDEX:
        for (int64_t i = 0; i < s.n; i++)
            hone_element_set(tensor->dtype, dst, i, hone_shape_index(&s, i));
        break;
    case HONE_ROLE_OFFSETS:
        fill_offsets(&s, tensor->dtype, dst);
        break;
    case HONE_ROLE_MASK:
        for (int64_t i = 0; i < s.n; i++)
            hone_element_set(tensor->dtype, dst, i, hone_shape_mask(&s, i));
        break;
    case HONE_ROLE_ADDITIVE_MASK:
        for (int64_t i = 0; i < s.n; i++)
            hone_element_set(tensor->dtype, dst, i, hone_shape_added(&s, i));
        break;
    }
}

double hone_gen_scalar(const struct hone_gen *gen, const struct hone_task *task,
                       const struct hone_workload *workload, size_t scalar)
{
    const struct hone_scalar *row = &task->scalars[scalar];
    if (!workload->is_hidden || !(row->max > row->min))
        return row->value;
    uint64_t what = 1000 + scalar;
    for (size_t i = 0; i < task->n_axes; i++)
        what = mix(what ^ (uint64_t)workload->axes[i]);
    struct hone_rng rng = hone_gen_rng(gen, what);
    double u = (double)(next_bits(&rng) >> 11) * 0x1p-53;
    double value = row->min + u * (row->max - row->min);
    return hone_element_round(row->dtype, value);
}

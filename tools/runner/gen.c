/* Inputs: content by role and distribution from a secret key.
 *
 * A stream is SplitMix64 started at SHA-256(key, counter, tensor). A kernel can compute the
 * stream's start from what it reads, which helps it nothing: the next stream starts at an unrelated
 * place. The standard normal is the inverse distribution function, tabled at 2048 quantiles and
 * interpolated: a few operations per element, because fresh content is made for every timed block
 * and a transform by logarithms would cost more than many kernels. */
#include "tools/runner/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/element.h"
#include "workspace/base/hash.h"

#define LEAST_POSITIVE 0.0625
#define INTEGER_DRAW   0x94d049bb133111ebull /* second draw of an element */
#define KNOTS          2048
#define GOLDEN         0x9e3779b97f4a7c15u
#define DICE_WHAT      0x64696365u
#define CHUNK          2048
#define SPIKES         256 /* of a tensor, about */

struct hone_gen {
    uint8_t key[16];
    float quantile[KNOTS + 1];
};

static const char *const dist_names[HONE_N_DISTS] = {
    [HONE_DIST_NORMAL] = "normal",       [HONE_DIST_UNIFORM] = "uniform",
    [HONE_DIST_SHIFTED] = "shifted",     [HONE_DIST_EXPONENTIAL] = "exponential",
    [HONE_DIST_HEAVY] = "heavy_tail",    [HONE_DIST_SMALL] = "small",
    [HONE_DIST_LARGE] = "large",         [HONE_DIST_MIXED] = "mixed_scale",
    [HONE_DIST_OUTLIER] = "outlier",     [HONE_DIST_ZEROS] = "zeros",
    [HONE_DIST_EQUAL] = "equal",         [HONE_DIST_ALTERNATING] = "alternating",
    [HONE_DIST_SORTED] = "sorted",       [HONE_DIST_HALVES] = "halves",
    [HONE_DIST_INTEGERS] = "integers",   [HONE_DIST_NEGATIVE] = "negative",
    [HONE_DIST_TINY] = "tiny",           [HONE_DIST_SPIKES] = "spikes",
    [HONE_DIST_NEARLY] = "nearly_equal", [HONE_DIST_RARE] = "rarely_large",
};

const char *hone_dist_name(enum hone_distribution dist)
{
    return dist_names[dist];
}

bool hone_dist_parse(const char *word, enum hone_distribution *ret)
{
    for (size_t i = 0; i < HONE_N_DISTS; i++) {
        if (strcmp(word, dist_names[i]) == 0) {
            *ret = (enum hone_distribution)i;
            return true;
        }
    }
    return false;
}

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
    char hex[HONE_HASH_TEXT_BYTES];
    hone_hash(bytes, len, hex);
    for (int i = 0; i < n; i++) {
        char part[17];
        memcpy(part, hex + 16 * i, 16);
        part[16] = '\0';
        ret[i] = strtoull(part, NULL, 16);
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

struct hone_dice hone_gen_dice(const struct hone_gen *gen, uint64_t what)
{
    struct hone_dice dice = {.n_left = 0};
    hone_gen_stream(gen, what, DICE_WHAT, dice.own);
    return dice;
}

uint64_t hone_dice_next(struct hone_dice *dice)
{
    if (dice->n_left == 0) {
        const uint64_t from[3] = {dice->own[0], dice->own[1], dice->counter++};
        hash_words(from, sizeof from, dice->words, HONE_DICE_WORDS);
        dice->n_left = HONE_DICE_WORDS;
    }
    return dice->words[--dice->n_left];
}

int64_t hone_dice_below(struct hone_dice *dice, int64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)(uint64_t)(((wide)hone_dice_next(dice) * (wide)(uint64_t)bound) >> 64);
}

static inline float normal_at(const float *quantile, uint32_t u)
{
    uint32_t cell = u >> 21;
    float part = (float)(u & 0x1fffff) * 0x1p-21f;
    return quantile[cell] + part * (quantile[cell + 1] - quantile[cell]);
}

/* The common case, float32 normals, straight into the buffer. */
static void fill_normal_f32(const struct hone_gen *gen, uint64_t start, int64_t n, float scale,
                            float *dst)
{
    for (int64_t i = 0; i + 1 < n; i += 2) {
        uint64_t z = mix(start + (uint64_t)i * GOLDEN);
        dst[i] = scale * normal_at(gen->quantile, (uint32_t)z);
        dst[i + 1] = scale * normal_at(gen->quantile, (uint32_t)(z >> 32));
    }
    if (n % 2 == 1)
        dst[n - 1] =
            scale * normal_at(gen->quantile, (uint32_t)mix(start + (uint64_t)(n - 1) * GOLDEN));
}

struct source { /* one tensor being filled */
    const struct hone_gen *gen;
    uint64_t start;
    int64_t n;
    double equal;
};

static uint64_t bits_at(const struct source *s, int64_t i)
{
    return mix(s->start + (uint64_t)i * GOLDEN);
}

static double uniform_at(const struct source *s, int64_t i) /* 0 < u < 1, 53 bits */
{
    return ((double)(bits_at(s, i) >> 11) + 0.5) * 0x1p-53;
}

static double normal_double_at(const struct source *s, int64_t i)
{
    uint64_t z = bits_at(s, i);
    uint64_t cell = z >> 53;
    double part = (double)(z & ((1ull << 53) - 1)) * 0x1p-53;
    double low = (double)s->gen->quantile[cell], high = (double)s->gen->quantile[cell + 1];
    return low + part * (high - low);
}

static double normal_other_at(const struct source *s, int64_t i, uint64_t other)
{
    struct source shifted = *s;
    shifted.start = mix(s->start ^ (other * GOLDEN));
    return normal_double_at(&shifted, i);
}

/* One element in eight where a tensor is small. */
static bool is_odd_one(const struct source *s, int64_t i, uint64_t z)
{
    return i == s->n - 1 || z % (uint64_t)hone_max_i64(s->n, 8 * SPIKES) < SPIKES;
}

static double nearly_at(const struct source *s, int64_t i)
{
    bool is_odd = is_odd_one(s, i, mix(bits_at(s, i) ^ GOLDEN));
    return s->equal - (is_odd ? 2 + fabs(normal_double_at(s, i)) : 0);
}

/* One for certain, two more on average. */
static double rare_at(const struct source *s, int64_t i)
{
    uint64_t z = mix(bits_at(s, i) ^ GOLDEN), n = (uint64_t)s->n;
    if ((uint64_t)i != mix(s->start ^ GOLDEN) % n && z % n >= 2)
        return normal_double_at(s, i);
    double size = 300 * (1 + (double)(z >> 40) * 0x1p-24);
    return z >> 39 & 1 ? size : -size;
}

static double spike_at(const struct source *s, int64_t i)
{
    uint64_t z = mix(bits_at(s, i) ^ GOLDEN);
    if (!is_odd_one(s, i, z))
        return 1e-3 * normal_double_at(s, i);
    double size = 1e3 * (1 + (double)(z >> 40) * 0x1p-24);
    return z >> 39 & 1 ? size : -size;
}

static double value_at(const struct source *s, enum hone_distribution dist, int64_t i)
{
    switch (dist) {
    case HONE_DIST_NORMAL:
        return normal_double_at(s, i);
    case HONE_DIST_UNIFORM:
        return 2 * uniform_at(s, i) - 1;
    case HONE_DIST_SHIFTED:
        return 3 + normal_double_at(s, i);
    case HONE_DIST_EXPONENTIAL:
        return -log(uniform_at(s, i));
    case HONE_DIST_HEAVY: {
        double a = normal_other_at(s, i, 1), b = normal_other_at(s, i, 2),
               c = normal_other_at(s, i, 3);
        return normal_double_at(s, i) / sqrt(fmax((a * a + b * b + c * c) / 3, 1e-4));
    }
    case HONE_DIST_SMALL:
        return 1e-3 * normal_double_at(s, i);
    case HONE_DIST_LARGE:
        return 64 * normal_double_at(s, i);
    case HONE_DIST_MIXED:
        return normal_double_at(s, i) * (bits_at(s, i) & 64 ? 1e3 : 1e-3);
    case HONE_DIST_OUTLIER:
        return normal_double_at(s, i) * (mix(bits_at(s, i)) % 256 == 0 ? 1e3 : 1);
    case HONE_DIST_ZEROS:
        return 0;
    case HONE_DIST_EQUAL:
        return s->equal;
    case HONE_DIST_ALTERNATING:
        return i % 2 == 0 ? 1 : -1;
    case HONE_DIST_SORTED:
        return -3 + 6 * ((double)i + uniform_at(s, i)) / (double)s->n;
    case HONE_DIST_HALVES:
        return i < s->n / 2 ? 0 : 64 * normal_double_at(s, i);
    case HONE_DIST_INTEGERS:
        return floor(2047 * uniform_at(s, i)) - 1023;
    case HONE_DIST_NEGATIVE:
        return -100 + normal_double_at(s, i);
    case HONE_DIST_TINY:
        return 1e-9 * normal_double_at(s, i);
    case HONE_DIST_SPIKES:
        return spike_at(s, i);
    case HONE_DIST_NEARLY:
        return nearly_at(s, i);
    case HONE_DIST_RARE:
        return rare_at(s, i);
    case HONE_N_DISTS:
        break;
    }
    return 0;
}

static double integer_at(const struct source *s, enum hone_dtype dtype, enum hone_distribution dist,
                         int64_t i, double value)
{
    double u = ((double)(mix(bits_at(s, i) ^ INTEGER_DRAW) >> 11) + 0.5) * 0x1p-53;
    return hone_gen_integer(dtype, dist, u, value);
}

double hone_gen_weight_scale(const struct hone_tensor *tensor, const struct hone_workload *workload)
{
    if (tensor->rank < 2)
        return 1;
    int64_t fan_in = workload->axes[tensor->shape[tensor->rank - 2]];
    return 1 / sqrt((double)hone_max_i64(fan_in, 1));
}

static void fill_values(const struct source *s, const struct hone_tensor *tensor,
                        const struct hone_workload *workload, enum hone_distribution dist,
                        void *dst)
{
    bool is_weight = tensor->role == HONE_ROLE_WEIGHT, is_exact = dist == HONE_DIST_INTEGERS;
    double scale = is_weight && !is_exact ? hone_gen_weight_scale(tensor, workload) : 1;
    bool is_positive = tensor->role == HONE_ROLE_POSITIVE;
    bool is_integer = !hone_dtype_is_float(tensor->dtype);
    if (tensor->dtype == HONE_DTYPE_F32 && dist == HONE_DIST_NORMAL) {
        float *values = dst;
        fill_normal_f32(s->gen, s->start, s->n, (float)scale, values);
        for (int64_t i = 0; i < s->n && is_positive; i++)
            values[i] = fabsf(values[i]) + (float)LEAST_POSITIVE;
        return;
    }
    for (int64_t i = 0; i < s->n; i++) {
        double value =
            is_exact && is_weight ? floor(7 * uniform_at(s, i)) - 3 : scale * value_at(s, dist, i);
        if (is_integer)
            value = integer_at(s, tensor->dtype, dist, i, value);
        if (is_positive)
            value = is_integer ? fmax(fabs(value), 1) : fabs(value) + LEAST_POSITIVE;
        hone_element_set(tensor->dtype, dst, i, value);
    }
}

static void fill_probabilities(const struct source *s, const struct hone_tensor *tensor,
                               const struct hone_workload *workload, void *dst)
{
    int64_t row = tensor->rank > 0 ? workload->axes[tensor->shape[tensor->rank - 1]] : 1;
    for (int64_t first = 0; first < s->n; first += row) {
        double sum = 0;
        for (int64_t i = first; i < first + row && i < s->n; i++)
            sum += -log(uniform_at(s, i));
        for (int64_t i = first; i < first + row && i < s->n; i++)
            hone_element_set(tensor->dtype, dst, i, -log(uniform_at(s, i)) / sum);
    }
}

/* Rows of a sparse matrix: of about one length, or a few that hold nearly everything, or empty ones
 * between full ones. */
static double gap_at(const struct source *s, enum hone_distribution dist, int64_t i)
{
    double gap = -log(uniform_at(s, i));
    if (dist == HONE_DIST_HEAVY || dist == HONE_DIST_LARGE)
        return pow(gap, dist == HONE_DIST_HEAVY ? 4 : 16);
    if (dist == HONE_DIST_MIXED)
        return i % 2 == 0 ? gap : 0;
    return dist == HONE_DIST_SMALL && i <= s->n / 2 ? 0 : gap;
}

/* Non-decreasing, first 0, last = total: cuts of 0..total at sorted random places, by stepping
 * through the gaps. */
static void fill_offsets(const struct source *s, const struct hone_tensor *tensor,
                         enum hone_distribution dist, int64_t total, void *dst)
{
    double sum = 0, so_far = 0;
    for (int64_t i = 1; i < s->n; i++)
        sum += gap_at(s, dist, i);
    for (int64_t i = 0; i < s->n; i++) {
        so_far += i == 0 ? 0 : gap_at(s, dist, i);
        double at =
            i == s->n - 1 ? (double)total : floor((double)total * (sum > 0 ? so_far / sum : 0));
        hone_element_set(tensor->dtype, dst, i, i == 0 ? 0 : at);
    }
}

/* Anywhere; in order; all the same; the first and the last. */
static double index_at(const struct source *s, enum hone_distribution dist, int64_t bound,
                       int64_t i)
{
    double any = floor((double)bound * uniform_at(s, i));
    if (dist == HONE_DIST_SORTED)
        return floor((double)bound * ((double)i / (double)s->n));
    if (dist == HONE_DIST_OUTLIER)
        return floor((double)bound * uniform_at(s, 0));
    return dist == HONE_DIST_ALTERNATING ? (double)(i % 2 == 0 ? 0 : bound - 1) : any;
}

void hone_gen_input(const struct hone_gen *gen, const struct hone_task *task,
                    const struct hone_workload *workload, size_t input, enum hone_distribution dist,
                    uint64_t counter, void *dst)
{
    const struct hone_tensor *tensor = &task->inputs[input];
    struct source s = {.gen = gen,
                       .start = stream_start(gen, counter, input),
                       .n = hone_tensor_elements(task, tensor, workload)};
    s.equal = normal_other_at(&s, 0, 7);
    int64_t bound = tensor->bound_axis >= 0 ? workload->axes[tensor->bound_axis] : 1;
    switch (tensor->role) {
    case HONE_ROLE_ACTIVATION:
    case HONE_ROLE_WEIGHT:
    case HONE_ROLE_POSITIVE:
        fill_values(&s, tensor, workload, dist, dst);
        break;
    case HONE_ROLE_PROBABILITY:
        fill_probabilities(&s, tensor, workload, dst);
        break;
    case HONE_ROLE_INDEX:
        for (int64_t i = 0; i < s.n; i++)
            hone_element_set(tensor->dtype, dst, i, index_at(&s, dist, bound, i));
        break;
    case HONE_ROLE_OFFSETS:
        fill_offsets(&s, tensor, dist, bound, dst);
        break;
    case HONE_ROLE_MASK:
        for (int64_t i = 0; i < s.n; i++)
            hone_element_set(tensor->dtype, dst, i, (double)(bits_at(&s, i) >> 63));
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
    struct hone_dice dice = hone_gen_dice(gen, what);
    double u = (double)(hone_dice_next(&dice) >> 11) * 0x1p-53;
    double value = row->min + u * (row->max - row->min);
    return hone_element_round(row->dtype, value);
}

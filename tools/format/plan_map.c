/* SPDX-License-Identifier: Apache-2.0 */
/* What cuTensorMapEncodeTiled accepts: the driver answers CUDA_ERROR_INVALID_VALUE and nothing
 * more; this says which number is wrong. Rules from the driver's reference manual. */
#include "tools/format/plan.h"

#include <string.h>

static const int element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const int swizzle_span[] = {0, 32, 64, 128, 128, 128, 128};

struct map {
    const struct hone_plan_map *m;
    const char *name;
    uint64_t address;
    int64_t size;
    struct hone_err *err;
};

static int64_t number(const struct hone_array *array, size_t i)
{
    return ((const struct hone_plan_number *)array->v)[i].value;
}

static int check_words(const struct map *c)
{
    const struct hone_plan_map *m = c->m;
    if (m->dtype < 0 || m->dtype >= (int64_t)HONE_COUNTOF(element_bytes))
        return hone_fail(c->err, HONE_E_ARG, "%s: data type %lld is not supported here", c->name,
                         (long long)m->dtype);
    if (m->interleave < 0 || m->interleave > 2)
        return hone_fail(c->err, HONE_E_ARG, "%s: interleave %lld is not one of 0, 1, 2", c->name,
                         (long long)m->interleave);
    if (m->swizzle < 0 || m->swizzle >= (int64_t)HONE_COUNTOF(swizzle_span))
        return hone_fail(c->err, HONE_E_ARG, "%s: swizzle %lld is not one of 0 to 6", c->name,
                         (long long)m->swizzle);
    if (m->l2_promotion < 0 || m->l2_promotion > 3)
        return hone_fail(c->err, HONE_E_ARG, "%s: L2 promotion %lld is not one of 0 to 3", c->name,
                         (long long)m->l2_promotion);
    if (m->fill < 0 || m->fill > 1)
        return hone_fail(c->err, HONE_E_ARG, "%s: fill %lld is not one of 0, 1", c->name,
                         (long long)m->fill);
    if (m->interleave != 0 && m->rank < 3)
        return hone_fail(c->err, HONE_E_ARG, "%s: interleave needs rank 3 or more, this has %lld",
                         c->name, (long long)m->rank);
    return 0;
}

static int check_dims(const struct map *c)
{
    const struct hone_plan_map *m = c->m;
    for (size_t i = 0; i < (size_t)m->rank; i++) {
        long long dim = (long long)number(&m->dims, i), box = (long long)number(&m->box, i),
                  step = (long long)number(&m->element_strides, i);
        if (dim < 1 || dim > 1ll << 32)
            return hone_fail(c->err, HONE_E_ARG, "%s: dimension %zu = %lld is not in 1..2^32",
                             c->name, i, dim);
        if (box < 1 || box > 256)
            return hone_fail(c->err, HONE_E_ARG,
                             "%s: box[%zu] = %lld is not in 1..256; fix: use several boxes",
                             c->name, i, box);
        if (step < 1 || step > 8)
            return hone_fail(c->err, HONE_E_ARG, "%s: element stride %zu = %lld is not in 1..8",
                             c->name, i, step);
    }
    return 0;
}

static int check_strides(const struct map *c)
{
    const struct hone_plan_map *m = c->m;
    int64_t unit = m->interleave == 2 ? 32 : 16;
    if (c->address % (uint64_t)unit != 0)
        return hone_fail(c->err, HONE_E_ARG,
                         "%s: the tensor begins %lld bytes beside a multiple of %lld; fix: start "
                         "it at a multiple",
                         c->name, (long long)(c->address % (uint64_t)unit), (long long)unit);
    for (size_t i = 0; i + 1 < (size_t)m->rank; i++) {
        long long stride = (long long)number(&m->strides, i);
        if (stride % unit != 0 || stride <= 0 || stride >= 1ll << 40)
            return hone_fail(
                c->err, HONE_E_ARG,
                "%s: stride %zu = %lld bytes is no multiple of %lld below 2^40; fix: pad "
                "the row or load this size without a tensor map",
                c->name, i, stride, (long long)unit);
    }
    return 0;
}

static int check_box(const struct map *c)
{
    const struct hone_plan_map *m = c->m;
    long long box = (long long)number(&m->box, 0), span = swizzle_span[m->swizzle];
    if (m->interleave != 0)
        return 0;
    if (box * c->size % 16 != 0)
        return hone_fail(c->err, HONE_E_ARG,
                         "%s: innermost box %lld x %lld bytes = %lld is no multiple of 16", c->name,
                         box, (long long)c->size, box * (long long)c->size);
    if (span != 0 && box * c->size > span)
        return hone_fail(c->err, HONE_E_ARG,
                         "%s: innermost box %lld x %lld bytes = %lld > swizzle span %lld; fix: "
                         "innermost box %lld, or "
                         "no swizzle",
                         c->name, box, (long long)c->size, box * (long long)c->size, span,
                         span / (long long)c->size);
    return 0;
}

int hone_plan_map_check(const struct hone_plan_map *map, const char *name, uint64_t address,
                        struct hone_err *err)
{
    struct map c = {.m = map, .name = name, .address = address, .err = err};
    size_t rank = (size_t)map->rank;
    if (map->rank < 1 || map->rank > 5 || map->dims.n != rank || map->box.n != rank ||
        map->element_strides.n != rank || map->strides.n != rank - 1)
        return hone_fail(err, HONE_E_ARG, "%s: rank %lld is not in 1..5", name,
                         (long long)map->rank);
    int rc = check_words(&c);
    if (rc < 0)
        return rc;
    c.size = element_bytes[map->dtype];
    int (*const checks[])(const struct map *) = {check_dims, check_strides, check_box};
    for (size_t i = 0; i < HONE_COUNTOF(checks) && rc == 0; i++)
        rc = checks[i](&c);
    return rc;
}

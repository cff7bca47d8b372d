/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor map of a launcher's, in the recorder and in its caller. */
#include "tools/format/plan.h"
#include "tools/runner/cuda/record/record_abi.h"

/* The same words as a plan's map, so that one function checks both. */
int hone_record_map_check(const struct hone_record_map_record *m, struct hone_err *err)
{
    if (m->rank < 1 || m->rank > HONE_COUNTOF(m->dims))
        return hone_fail(err, HONE_E_ARG, "tensor map: rank %u is not in 1..5", m->rank);
    struct hone_plan_number dims[5], strides[4], box[5], steps[5];
    size_t rank = m->rank;
    struct hone_plan_map map = {.dtype = m->dtype,
                                .rank = m->rank,
                                .dims = {dims, rank},
                                .strides = {strides, rank - 1},
                                .box = {box, rank},
                                .element_strides = {steps, rank},
                                .interleave = m->interleave,
                                .swizzle = m->swizzle,
                                .l2_promotion = m->l2_promotion,
                                .fill = m->fill};
    for (size_t i = 0; i < rank; i++) {
        dims[i].value = (int64_t)m->dims[i];
        box[i].value = m->box[i];
        steps[i].value = m->element_strides[i];
        if (i + 1 < rank)
            strides[i].value = (int64_t)m->strides[i];
    }
    return hone_plan_map_check(&map, "tensor map", m->address, err);
}

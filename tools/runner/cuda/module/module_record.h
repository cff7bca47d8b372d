/* SPDX-License-Identifier: Apache-2.0 */
/* Recording with a memory: a host object whose launcher asked nothing about its kernels gives the
 * same plans whatever the kernels are, so an edit to a kernel does not record again. */
#ifndef HONE_RUNNER_CUDA_MODULE_RECORD_H
#define HONE_RUNNER_CUDA_MODULE_RECORD_H

#include "tools/runner/cuda/record/record.h"

/* As hone_record, with object_hash naming the object's content. *ret_cached: nothing was run. */
int hone_record_cached(const struct hone_record_spec *spec, const char *object_hash,
                       const char *cache_dir, struct hone_pool *pool,
                       struct hone_record_result *ret, struct hone_outcome *ret_end,
                       bool *ret_cached, struct hone_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What NVRTC and ptxas print, in the form that every other compiler here prints and build_diag.h
 * reads: "file:line:column: severity: message". Any thread. */
#ifndef HONE_RUNNER_CUDA_COMPILE_DIAG_H
#define HONE_RUNNER_CUDA_COMPILE_DIAG_H

#include "tools/runner/build/build_diag.h"
#include "tools/runner/jail/jail.h"

/* The log without what ptxas says of kernels that are as they should be; in the pool. */
const char *hone_nvrtc_log_cleaned(const char *log, struct hone_pool *pool);
/* Diagnostics of a device compile. */
void hone_nvrtc_diag_parse(const struct hone_diag_in *in, struct hone_pool *pool,
                           struct hone_diag_out *ret);
/* Why a compiler in a jail did not end well (BUILT: it did), by how its process ended alone: what
 * it printed is made of words of the source. memory_bytes: the limit of one process; has_object: it
 * came as far as an object, so that the linker refused. */
enum hone_reason hone_compiler_reason(const struct hone_jail_exit *how, bool timed_out,
                                      int64_t memory_bytes, bool has_object);
/* Both compilers read most of a source: the second one's complaints about lines that the first has
 * named already are left out. Bounded by HONE_LIMIT_DIAGNOSTICS; errors come first. */
void hone_diag_merge(const struct hone_array *first, const struct hone_array *second,
                     struct hone_pool *pool, struct hone_array *ret);

#endif

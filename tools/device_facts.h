/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels run on, as far as this side knows it: processor, vectors and caches from the system,
 * and what the executor's probe says. One reader for device_info and for prompts. Any thread. */
#ifndef HONE_TOOLS_DEVICE_FACTS_H
#define HONE_TOOLS_DEVICE_FACTS_H

#include "tools/executor.h"

enum { HONE_DEVICE_MAX_CACHES = 8 };

struct hone_device_cache {
    const char *name, *size; /* "L1d", "32K" */
    int64_t n_sharing;       /* cores; 0: not known */
    int64_t line_bytes;      /* 0: not known */
};

struct hone_device_facts { /* in the pool; what is not known is NULL or 0 */
    const char *cpu;
    const char *vectors; /* "avx avx2 fma", of a fixed list, in its order */
    int64_t n_cores;     /* that jobs may use */
    struct hone_device_cache caches[HONE_DEVICE_MAX_CACHES]; /* of the first core */
    size_t n_caches;
    const struct hone_json *probe; /* NULL: the executor was not asked, or did not answer */
};

/* From the system alone. */
void hone_device_facts_read(struct hone_pool *pool, struct hone_device_facts *ret);
/* The same, then the executor is asked (0.2 s): what its probe says counts more, since kernels run
 * where it is. executor NULL, or one that cannot answer: the system's word alone. */
void hone_device_facts_ask(const struct hone_executor *executor, struct hone_pool *pool,
                           struct hone_device_facts *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a device text finds without a host's headers: NVRTC has no <stdint.h>, and <cuda.h>,
 * <stdio.h> or <vector> from the system end in errors there. They are passed from memory and win
 * over every folder. Constant tables; any thread. */
#ifndef HONE_RUNNER_CUDA_COMPILE_HEADERS_H
#define HONE_RUNNER_CUDA_COMPILE_HEADERS_H

#include "workspace/base/base.h"

struct hone_header {
    const char *name, *text;
};
extern const struct hone_header hone_device_headers[];
extern const size_t hone_device_n_headers;

/* Headers of the toolkit that take long to read, by what a source includes. Each variant can be
 * precompiled; the text is put in front of the source. */
enum hone_compile_variant {
    HONE_VARIANT_PLAIN,
    HONE_VARIANT_NUMBERS, /* half, bfloat16, wmma: 50 ms each time */
    HONE_VARIANT_GROUPS,  /* besides: cooperative groups, pipelines, barriers: 0.9 s each time */
    HONE_N_VARIANTS
};
extern const char *const hone_variant_text[HONE_N_VARIANTS];
/* What the source includes; PLAIN when it defines something before, since that could change what a
 * header says. */
enum hone_compile_variant hone_variant_of(const char *source);

#endif

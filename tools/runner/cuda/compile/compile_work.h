/* SPDX-License-Identifier: Apache-2.0 */
/* One compile, in the process that calls it: NVRTC's calls around one program. Inside
 * the jail only. */
#ifndef HONE_RUNNER_CUDA_COMPILE_WORK_H
#define HONE_RUNNER_CUDA_COMPILE_WORK_H

#include "tools/runner/cuda/compile/compile_headers.h"
#include "tools/runner/cuda/compile/compile_wire.h"
#include "tools/runner/cuda/driver/cuda_api.h"
#include "workspace/base/buf.h"

struct hone_work_tools { /* the same for all compiles of a server */
    const struct hone_nvrtc *nvrtc;
    bool is_emulated;          /* the emulator brings its own headers */
    const char **header_names; /* owned; live as long as the process */
    const char **header_texts; /* owned */
    int n_headers;
};
/* include_dir NULL: no toolkit's folders. */
void hone_work_tools_init(struct hone_work_tools *tools, const struct hone_nvrtc *nvrtc,
                          const char *include_dir);

struct hone_work { /* what an ask holds, unpacked */
    struct hone_wire_ask ask;
    const char *text;
    const char *options[HONE_WIRE_STRINGS + 1]; /* room for a precompiled header */
    const char *names[HONE_WIRE_STRINGS];
};
/* Points into bytes (n_bytes of them). False: they do not hold what the ask says. */
bool hone_work_unpack(const struct hone_wire_ask *ask, const char *bytes, struct hone_work *ret);

/* For a virtual architecture: the answer's cubin is the PTX text. */
bool hone_work_is_virtual(const struct hone_work *work);

/* Compiles and appends the whole answer (struct hone_wire_say first). What went wrong is in the
 * answer: its outcome and its log. pch_option is an option of NVRTC; NULL: no precompiled header. */
void hone_work_run(const struct hone_work_tools *tools, const struct hone_work *work,
                   const char *pch_option, struct hone_buf *ret);
/* Precompiles the headers that a source needs into path, with the options of `like`. False: NVRTC
 * refused, path may hold a part; the caller compiles without. */
bool hone_work_precompile(const struct hone_work_tools *tools, const struct hone_work *like,
                          const char *path);

#endif

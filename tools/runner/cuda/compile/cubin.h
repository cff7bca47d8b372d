/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a cubin: an ELF walk that trusts nothing.
 *
 * Reads both what NVRTC makes (machine EM_CUDA) and what the emulator of the tests makes (a shared
 * object of this host, in which every exported function is a kernel without figures). Every offset
 * is checked against the size; anything odd ends the walk with HONE_E_ARG. Spill bytes are not in
 * an ELF, and shared memory is there only with what the system adds to it: both come from ptxas'
 * own words (hone_cubin_read_log). Any thread. */
#ifndef HONE_RUNNER_CUDA_CUBIN_H
#define HONE_RUNNER_CUDA_CUBIN_H

#include "tools/runner/cuda/compile/cuda_module.h"

struct hone_cubin {
    bool is_emulated;
    struct hone_array kernels;   /* of struct hone_cuda_kernel, in the order of the symbols */
    struct hone_array variables; /* of struct hone_cuda_variable */
};

/* Everything in *ret lives in the pool. HONE_E_ARG: no cubin; HONE_E_LIMIT: more kernels,
 * parameters or variables than hone handles. */
int hone_cubin_read(const void *bytes, size_t len, struct hone_pool *pool, struct hone_cubin *ret,
                    struct hone_err *err);
/* Fills in what "Compiling entry function" and "Used N registers" in ptxas' -v output say. */
void hone_cubin_read_log(const char *log, struct hone_cubin *cubin);
/* Takes the constants of the toolkit's headers out of cubin->variables, unless the source could
 * have put something of its own among them. */
void hone_cubin_drop_toolkit(const char *source, struct hone_cubin *cubin);
/* Could a compiler have made this name of an identifier? No blanks, no control characters, no marks
 * that change what is read around it. An assembler label can be anything: such names are refused,
 * so that they can be shown. */
bool hone_cubin_is_name(const char *name);
/* NULL: not there. */
const struct hone_cuda_kernel *hone_cubin_find(const struct hone_array *kernels, const char *name);

#endif

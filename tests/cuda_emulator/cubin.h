/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the emulated cubin (image.h) of a shared object. */
#ifndef HONE_TESTS_EMULATOR_CUBIN_H
#define HONE_TESTS_EMULATOR_CUBIN_H

#include "tests/cuda_emulator/scan.h"

#include <stdint.h>

struct emu_kernel {
    char *name;       /* mangled; owned */
    bool is_variable; /* no kernel: a name expression */
    unsigned row, id, shared_bytes, n_params, param_bytes;
    unsigned short offset[120], size[120];
};
struct emu_variable {
    char *name; /* owned */
    size_t bytes;
    const char *content; /* into the object; NULL: zeros */
};
struct emu_object {
    const char *bytes; /* borrowed */
    size_t len;
    struct emu_kernel *kernels; /* by row; two rows may have the same name */
    size_t n_kernels;
    struct emu_variable *variables;
    size_t n_variables;
    uint64_t word; /* of its instructions and constants */
};
/* false: it is not what the emulator's compiler makes. */
bool emu_object_read(const char *bytes, size_t len, struct emu_object *ret);
void emu_object_done(struct emu_object *object);
/* Not a kernel, or an earlier row has the same name. */
bool emu_is_no_kernel(const struct emu_object *object, size_t i);
void emu_cubin_write(const struct emu_object *object, struct emu_text *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a built shared object as data: it is never loaded where anything is judged. Every offset in
 * it is the compiler's word at best and a lie at worst, so every read is checked against the size.
 * Little-endian ELF64 only. Any thread. */
#ifndef HONE_RUNNER_BUILD_ELF_H
#define HONE_RUNNER_BUILD_ELF_H

#include "workspace/base/err.h"

struct hone_elf_facts {
    bool is_shared_object; /* all other members are zero otherwise */
    bool has_symbol;       /* exported, defined, a function, visible */
    int64_t n_init;        /* entries of .init_array; the compiler's own start-up code has one */
    char compiler[64];     /* "gcc 12.2.0" from .comment; "" when it does not say */
};

void hone_elf_read(const void *bytes, size_t len, const char *symbol, struct hone_elf_facts *ret);

#endif

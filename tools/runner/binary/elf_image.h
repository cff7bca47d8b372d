/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file as hostile bytes: objects of the C compiler and cubins. Every offset in it is the
 * linker's word at best and a lie at worst, so every read is checked against the size; what does
 * not fit is NULL or false, never an error. Little-endian ELF64 only. Any thread. */
#ifndef HONE_RUNNER_ELF_IMAGE_H
#define HONE_RUNNER_ELF_IMAGE_H

#include <elf.h>

#include "workspace/base/base.h"

#define HONE_ELF_MAX_SECTIONS 8192
#define HONE_ELF_MAX_SEGMENTS 64
#define HONE_ELF_MAX_SYMBOLS  65536 /* of one table that is walked */

struct hone_elf {
    const unsigned char *bytes;
    size_t len;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* of sections */
};

/* False: no ELF64 with a readable table of sections. */
bool hone_elf_open(const void *bytes, size_t len, struct hone_elf *ret);
/* The address of count items of size bytes at offset, or NULL when they are not all inside. */
const unsigned char *hone_elf_at(const struct hone_elf *elf, uint64_t offset, uint64_t count,
                                 uint64_t size);
/* The text at offset of a string table, NULL when it does not end inside of it
 * or exceeds HONE_LIMIT_SYMBOL_BYTES. */
const char *hone_elf_string(const struct hone_elf *elf, const Elf64_Shdr *table, uint64_t offset);
bool hone_elf_section(const struct hone_elf *elf, uint64_t number, Elf64_Shdr *ret);
/* Its name too; NULL: no such section, or none that can be read. */
const char *hone_elf_section_name(const struct hone_elf *elf, uint64_t number, Elf64_Shdr *ret);
bool hone_elf_segment(const struct hone_elf *elf, uint64_t number, Elf64_Phdr *ret);
/* Symbol of a table of symbols; false: not inside. */
bool hone_elf_symbol(const struct hone_elf *elf, const Elf64_Shdr *table, uint64_t number,
                     Elf64_Sym *ret);

#endif

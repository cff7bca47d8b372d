/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/binary/elf_image.h"

#include <string.h>

#include "workspace/base/limits.h"

const unsigned char *hone_elf_at(const struct hone_elf *elf, uint64_t offset, uint64_t count,
                                 uint64_t size)
{
    if (offset > elf->len || (size != 0 && count > (elf->len - offset) / size))
        return NULL;
    return elf->bytes + offset;
}

const char *hone_elf_string(const struct hone_elf *elf, const Elf64_Shdr *table, uint64_t offset)
{
    if (table->sh_type == SHT_NOBITS || offset >= table->sh_size ||
        hone_elf_at(elf, table->sh_offset, table->sh_size, 1) == NULL)
        return NULL;
    const char *text = (const char *)elf->bytes + table->sh_offset + offset;
    size_t room = (size_t)(table->sh_size - offset);
    if (room > HONE_LIMIT_SYMBOL_BYTES + 1)
        room = HONE_LIMIT_SYMBOL_BYTES + 1; /* or a table without an end is walked for each name */
    return memchr(text, '\0', room) == NULL ? NULL : text;
}

bool hone_elf_section(const struct hone_elf *elf, uint64_t number, Elf64_Shdr *ret)
{
    const unsigned char *from =
        number >= elf->header.e_shnum
            ? NULL
            : hone_elf_at(elf, elf->header.e_shoff, number + 1, sizeof *ret);
    if (from == NULL)
        return false;
    memcpy(ret, from + number * sizeof *ret, sizeof *ret);
    return true;
}

const char *hone_elf_section_name(const struct hone_elf *elf, uint64_t number, Elf64_Shdr *ret)
{
    return hone_elf_section(elf, number, ret) ? hone_elf_string(elf, &elf->names, ret->sh_name)
                                              : NULL;
}

bool hone_elf_segment(const struct hone_elf *elf, uint64_t number, Elf64_Phdr *ret)
{
    const unsigned char *from =
        number >= elf->header.e_phnum || elf->header.e_phentsize != sizeof *ret
            ? NULL
            : hone_elf_at(elf, elf->header.e_phoff, number + 1, sizeof *ret);
    if (from == NULL)
        return false;
    memcpy(ret, from + number * sizeof *ret, sizeof *ret);
    return true;
}

bool hone_elf_symbol(const struct hone_elf *elf, const Elf64_Shdr *table, uint64_t number,
                     Elf64_Sym *ret)
{
    const unsigned char *from = number >= table->sh_size / sizeof *ret
                                    ? NULL
                                    : hone_elf_at(elf, table->sh_offset, number + 1, sizeof *ret);
    if (from == NULL)
        return false;
    memcpy(ret, from + number * sizeof *ret, sizeof *ret);
    return true;
}

bool hone_elf_open(const void *bytes, size_t len, struct hone_elf *ret)
{
    struct hone_elf elf = {.bytes = bytes, .len = len};
    if (len < sizeof elf.header)
        return false;
    memcpy(&elf.header, bytes, sizeof elf.header);
    if (memcmp(elf.header.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.header.e_ident[EI_CLASS] != ELFCLASS64 || elf.header.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf.header.e_shentsize != sizeof(Elf64_Shdr) ||
        elf.header.e_shnum > HONE_ELF_MAX_SECTIONS ||
        !hone_elf_section(&elf, elf.header.e_shstrndx, &elf.names))
        return false;
    *ret = elf;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/binary/code_hash.h"

#include <string.h>

#include "tools/runner/binary/elf_image.h"
#include "workspace/base/hash.h"

enum { WORD_DIGITS = 16 };

/* What is loaded: what runs, what it reads, what it imports and where that is put in. Of a GPU's
 * attributes those of each kernel; they are not loaded. */
static bool is_counted(const char *name, const Elf64_Shdr *section)
{
    static const char *const stems[] = {".nv.info.", ".nv.constant", ".rel"};
    static const char *const left_out[] = {".eh_frame", ".note"};
    if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NOTE || section->sh_size == 0)
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(left_out); i++)
        if (strncmp(name, left_out[i], strlen(left_out[i])) == 0)
            return false;
    for (size_t i = 0; i < HONE_COUNTOF(stems); i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return true;
    return (section->sh_flags & SHF_ALLOC) != 0;
}

const char *hone_code_hash(const void *object, size_t len, const char *const *also, size_t n_also,
                           struct hone_pool *pool)
{
    struct hone_elf elf;
    struct hone_hasher hasher;
    char hex[HONE_HASH_TEXT_BYTES];
    size_t n_code = 0;
    if (!hone_elf_open(object, len, &elf))
        return NULL;
    hone_hasher_init(&hasher);
    for (uint64_t i = 0; i < elf.header.e_shnum; i++) {
        Elf64_Shdr section;
        const char *name = hone_elf_section_name(&elf, i, &section);
        if (!name || !is_counted(name, &section))
            continue;
        const unsigned char *bytes = hone_elf_at(&elf, section.sh_offset, section.sh_size, 1);
        if (!bytes)
            return NULL;
        hone_hasher_str(&hasher, name);
        hone_hasher_part(&hasher, bytes, (size_t)section.sh_size);
        n_code += (section.sh_flags & SHF_EXECINSTR) != 0;
    }
    for (size_t i = 0; i < n_also; i++)
        hone_hasher_str(&hasher, also[i]);
    hone_hasher_end(&hasher, hex);
    return n_code > 0 ? hone_pool_strndup(pool, hex, WORD_DIGITS) : NULL;
}

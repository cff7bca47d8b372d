#include "tools/runner/code_hash.h"

#include <string.h>

#include "tools/runner/elf_image.h"
#include "workspace/base/hash.h"

enum { WORD_DIGITS = 16 };

/* Sections that hold what runs and what it reads; on a GPU each kernel has its own. */
static bool is_counted(const char *name)
{
    static const char *const stems[] = {".text", ".rodata", ".data", ".nv.constant"};
    for (size_t i = 0; i < HONE_COUNTOF(stems); i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return true;
    return false;
}

const char *hone_code_hash(const void *object, size_t len, const char *const *also, size_t n_also,
                           struct hone_pool *pool)
{
    struct hone_elf elf;
    struct hone_hasher hasher;
    char hex[HONE_HASH_TEXT_BYTES];
    size_t n_counted = 0;
    if (!hone_elf_open(object, len, &elf))
        return NULL;
    hone_hasher_init(&hasher);
    for (uint64_t i = 0; i < elf.header.e_shnum; i++) {
        Elf64_Shdr section;
        const char *name = hone_elf_section_name(&elf, i, &section);
        if (!name || section.sh_type != SHT_PROGBITS || section.sh_size == 0 || !is_counted(name))
            continue;
        const unsigned char *bytes = hone_elf_at(&elf, section.sh_offset, section.sh_size, 1);
        if (!bytes)
            return NULL;
        hone_hasher_str(&hasher, name);
        hone_hasher_part(&hasher, bytes, (size_t)section.sh_size);
        n_counted++;
    }
    for (size_t i = 0; i < n_also; i++)
        hone_hasher_str(&hasher, also[i]);
    hone_hasher_end(&hasher, hex);
    return n_counted > 0 ? hone_pool_strndup(pool, hex, WORD_DIGITS) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/binary/build_elf.h"

#include <stdio.h>
#include <string.h>

#include "tools/runner/binary/elf_image.h"

static bool is_match(const struct hone_elf *image, const Elf64_Shdr *strings,
                     const Elf64_Sym *symbol, const char *name)
{
    unsigned char bind = ELF64_ST_BIND(symbol->st_info);
    unsigned char type = ELF64_ST_TYPE(symbol->st_info);
    unsigned char visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    if (symbol->st_shndx == SHN_UNDEF || (bind != STB_GLOBAL && bind != STB_WEAK) ||
        (type != STT_FUNC && type != STT_GNU_IFUNC) ||
        (visibility != STV_DEFAULT && visibility != STV_PROTECTED))
        return false;
    const char *text = hone_elf_string(image, strings, symbol->st_name);
    return text != NULL && strcmp(text, name) == 0;
}

static bool finds_symbol(const struct hone_elf *image, const Elf64_Shdr *table, const char *name)
{
    Elf64_Shdr strings;
    Elf64_Sym symbol;
    if (!hone_elf_section(image, table->sh_link, &strings))
        return false;
    for (uint64_t i = 0; hone_elf_symbol(image, table, i, &symbol); i++)
        if (is_match(image, &strings, &symbol, name))
            return true;
    return false;
}

#define VERSION "0123456789."

static bool is_version(const char *text)
{
    size_t len = strspn(text, VERSION);
    return len > 0 && len < 20 && strchr(" (-+", text[len]) != NULL;
}

/* .comment holds "GCC: (Debian 12.2.0-14) 12.2.0" or "Debian clang version 14.0.6"; the start files
 * may add a gcc line. */
static void read_compiler(const struct hone_elf *image, const Elf64_Shdr *section, char *ret,
                          size_t size)
{
    const unsigned char *from = hone_elf_at(image, section->sh_offset, section->sh_size, 1);
    char text[256];
    for (uint64_t i = 0; from != NULL && i < section->sh_size;) {
        size_t room = (size_t)(section->sh_size - i);
        size_t len = strnlen((const char *)from + i, room);
        (void)snprintf(text, sizeof(text), "%.*s", (int)(len < 250 ? len : 250),
                       (const char *)from + i);
        const char *last = strrchr(text, ' ');
        const char *clang = strstr(text, "clang version ");
        /* a source may add to this section: a version is digits and dots, and nothing else */
        if (clang != NULL && is_version(clang + 14)) {
            (void)snprintf(ret, size, "clang %.*s", (int)strspn(clang + 14, VERSION), clang + 14);
            return;
        }
        if (strncmp(text, "GCC: ", 5) == 0 && last != NULL && is_version(last + 1))
            (void)snprintf(ret, size, "gcc %.*s", (int)strspn(last + 1, VERSION), last + 1);
        i += len + 1;
    }
}

void hone_elf_read(const void *bytes, size_t len, const char *symbol, struct hone_elf_facts *ret)
{
    struct hone_elf image;
    *ret = (struct hone_elf_facts){.is_shared_object = false};
    if (!hone_elf_open(bytes, len, &image) || image.header.e_type != ET_DYN)
        return;
    ret->is_shared_object = true;
    for (uint64_t i = 0; i < image.header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!hone_elf_section(&image, i, &section))
            return;
        const char *name = hone_elf_string(&image, &image.names, section.sh_name);
        if (section.sh_type == SHT_DYNSYM)
            ret->has_symbol = ret->has_symbol || finds_symbol(&image, &section, symbol);
        else if (section.sh_type == SHT_INIT_ARRAY)
            ret->n_init += (int64_t)(section.sh_size / sizeof(uint64_t));
        else if (name != NULL && strcmp(name, ".comment") == 0)
            read_compiler(&image, &section, ret->compiler, sizeof(ret->compiler));
    }
}

#include "tools/runner/build_elf.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define MAX_SECTIONS 4096

struct image {
    const unsigned char *bytes;
    size_t len;
};

/* The address of count items of size bytes at offset, or NULL when they are not all inside. */
static const unsigned char *at(const struct image *image, uint64_t offset, uint64_t count,
                               uint64_t size)
{
    if (offset > image->len || (size != 0 && count > (image->len - offset) / size))
        return NULL;
    return image->bytes + offset;
}

/* The text at offset of a string table, NULL when it is not terminated inside. */
static const char *string_at(const struct image *image, const Elf64_Shdr *table, uint64_t offset)
{
    if (offset >= table->sh_size || at(image, table->sh_offset, table->sh_size, 1) == NULL)
        return NULL;
    const char *text = (const char *)image->bytes + table->sh_offset + offset;
    return memchr(text, '\0', (size_t)(table->sh_size - offset)) == NULL ? NULL : text;
}

static bool read_section(const struct image *image, const Elf64_Ehdr *header, uint64_t number,
                         Elf64_Shdr *ret)
{
    const unsigned char *from =
        number >= header->e_shnum ? NULL : at(image, header->e_shoff, number + 1, sizeof(*ret));
    if (from == NULL)
        return false;
    memcpy(ret, from + number * sizeof(*ret), sizeof(*ret));
    return true;
}

static bool is_match(const struct image *image, const Elf64_Shdr *strings, const Elf64_Sym *symbol,
                     const char *name)
{
    unsigned char bind = ELF64_ST_BIND(symbol->st_info);
    unsigned char type = ELF64_ST_TYPE(symbol->st_info);
    unsigned char visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    if (symbol->st_shndx == SHN_UNDEF || (bind != STB_GLOBAL && bind != STB_WEAK) ||
        (type != STT_FUNC && type != STT_GNU_IFUNC) ||
        (visibility != STV_DEFAULT && visibility != STV_PROTECTED))
        return false;
    const char *text = string_at(image, strings, symbol->st_name);
    return text != NULL && strcmp(text, name) == 0;
}

static bool finds_symbol(const struct image *image, const Elf64_Ehdr *header,
                         const Elf64_Shdr *table, const char *name)
{
    Elf64_Shdr strings;
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const unsigned char *from = at(image, table->sh_offset, count, sizeof(Elf64_Sym));
    if (from == NULL || !read_section(image, header, table->sh_link, &strings))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, from + i * sizeof(symbol), sizeof(symbol));
        if (is_match(image, &strings, &symbol, name))
            return true;
    }
    return false;
}

/* .comment holds "GCC: (Debian 12.2.0-14) 12.2.0" or "Debian clang version 14.0.6"; the start files
 * may add a gcc line. */
static void read_compiler(const struct image *image, const Elf64_Shdr *section, char *ret,
                          size_t size)
{
    const unsigned char *from = at(image, section->sh_offset, section->sh_size, 1);
    char text[256];
    for (uint64_t i = 0; from != NULL && i < section->sh_size;) {
        size_t room = (size_t)(section->sh_size - i);
        size_t len = strnlen((const char *)from + i, room);
        (void)snprintf(text, sizeof(text), "%.*s", (int)(len < 250 ? len : 250),
                       (const char *)from + i);
        const char *last = strrchr(text, ' ');
        const char *clang = strstr(text, "clang version ");
        if (clang != NULL) {
            (void)snprintf(ret, size, "clang %.*s", (int)strcspn(clang + 14, " ("), clang + 14);
            return;
        }
        if (strncmp(text, "GCC: ", 5) == 0 && last != NULL)
            (void)snprintf(ret, size, "gcc %.40s", last + 1);
        i += len + 1;
    }
}

void hone_elf_read(const void *bytes, size_t len, const char *symbol, struct hone_elf_facts *ret)
{
    const struct image image = {.bytes = bytes, .len = len};
    Elf64_Ehdr header;
    Elf64_Shdr names;
    *ret = (struct hone_elf_facts){.is_shared_object = false};
    if (len < sizeof(header))
        return;
    memcpy(&header, bytes, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > MAX_SECTIONS ||
        !read_section(&image, &header, header.e_shstrndx, &names))
        return;
    ret->is_shared_object = true;
    for (uint64_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!read_section(&image, &header, i, &section))
            return;
        const char *name = string_at(&image, &names, section.sh_name);
        if (section.sh_type == SHT_DYNSYM)
            ret->has_symbol = ret->has_symbol || finds_symbol(&image, &header, &section, symbol);
        else if (section.sh_type == SHT_INIT_ARRAY)
            ret->n_init += (int64_t)(section.sh_size / sizeof(uint64_t));
        else if (name != NULL && strcmp(name, ".comment") == 0)
            read_compiler(&image, &section, ret->compiler, sizeof(ret->compiler));
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of the launcher's object by address, static ones too: dladdr knows only what is exported.
 * Runs inside of the jail on a file that may be damaged: every offset is checked. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/cuda/record/record_state.h"

struct hone_record_elf {
    const unsigned char *file;
    size_t len;
    uint64_t base;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *names;
    size_t names_len;
};

static const void *part(const struct hone_record_elf *elf, uint64_t at, uint64_t len)
{
    return at > elf->len || len > elf->len - at ? NULL : elf->file + at;
}

static void find_table(struct hone_record_elf *elf, uint32_t type)
{
    const Elf64_Ehdr *head = part(elf, 0, sizeof *head);
    if (head == NULL || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shoff % 8 != 0)
        return;
    const Elf64_Shdr *sections =
        part(elf, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
    for (size_t i = 0; sections != NULL && i < head->e_shnum; i++) {
        if (sections[i].sh_type != type || sections[i].sh_link >= head->e_shnum ||
            sections[i].sh_offset % 8 != 0)
            continue;
        const Elf64_Shdr *names = &sections[sections[i].sh_link];
        elf->symbols = part(elf, sections[i].sh_offset, sections[i].sh_size);
        elf->n_symbols = sections[i].sh_size / sizeof(Elf64_Sym);
        elf->names = part(elf, names->sh_offset, names->sh_size);
        elf->names_len = names->sh_size;
        if (elf->symbols == NULL || elf->names == NULL || elf->names_len == 0 ||
            elf->names[elf->names_len - 1] != '\0')
            elf->n_symbols = 0;
        return;
    }
}

struct hone_record_elf *hone_record_elf_open(const char *path, uint64_t base)
{
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) < 0 || info.st_size < (off_t)sizeof(Elf64_Ehdr))
        return NULL;
    void *file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return NULL;
    struct hone_record_elf *elf = hone_calloc(1, sizeof *elf);
    *elf = (struct hone_record_elf){.file = file, .len = (size_t)info.st_size, .base = base};
    find_table(elf, SHT_SYMTAB);
    if (elf->n_symbols == 0)
        find_table(elf, SHT_DYNSYM);
    return elf;
}

const char *hone_record_elf_find(const struct hone_record_elf *elf, const void *at,
                                 bool is_function, int64_t *ret_bytes, bool *ret_local)
{
    uint64_t value = (uint64_t)(uintptr_t)at - elf->base;
    for (size_t i = 0; i < elf->n_symbols; i++) {
        const Elf64_Sym *s = &elf->symbols[i];
        int type = ELF64_ST_TYPE(s->st_info);
        bool is_kind = is_function ? type == STT_FUNC || type == STT_GNU_IFUNC : type == STT_OBJECT;
        if (!is_kind || s->st_shndx == SHN_UNDEF || value < s->st_value ||
            value - s->st_value >= s->st_size || s->st_name >= elf->names_len)
            continue;
        *ret_bytes = (int64_t)s->st_size;
        *ret_local = ELF64_ST_BIND(s->st_info) == STB_LOCAL;
        return elf->names + s->st_name;
    }
    return NULL;
}

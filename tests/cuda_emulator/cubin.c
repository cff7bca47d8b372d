/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cuda_emulator/cubin.h"
#include "tests/cuda_emulator/execute.h"
#include "tests/cuda_emulator/image.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 32, RESERVED_SHARED = 1 << 10, PARAM_BASE = 0x210 };

/* ---- reading the host object ---- */

struct reader {
    const char *bytes;
    const Elf64_Shdr *sections;
    unsigned n_sections;
    const char *names;
};

static const Elf64_Shdr *section(const struct reader *r, const char *name)
{
    for (unsigned i = 0; i < r->n_sections; i++)
        if (strcmp(r->names + r->sections[i].sh_name, name) == 0)
            return &r->sections[i];
    return NULL;
}
static const Elf64_Sym *symbols(const struct reader *r, const char *table, size_t *ret_n,
                                const char **ret_names)
{
    const Elf64_Shdr *s = section(r, table);
    *ret_n = s == NULL ? 0 : s->sh_size / sizeof(Elf64_Sym);
    *ret_names = s == NULL ? NULL : r->bytes + r->sections[s->sh_link].sh_offset;
    return s == NULL ? NULL : (const Elf64_Sym *)(const void *)(r->bytes + s->sh_offset);
}

/* What the pointer at this address will point to: its relocation says it. */
static const char *target_of(const struct reader *r, uint64_t address, int type)
{
    size_t n_symbols, n_dynamic;
    const char *names, *dynamic_names;
    const Elf64_Sym *all = symbols(r, ".symtab", &n_symbols, &names);
    const Elf64_Sym *dynamic = symbols(r, ".dynsym", &n_dynamic, &dynamic_names);
    const Elf64_Shdr *relocations = section(r, ".rela.dyn");
    size_t n = relocations == NULL ? 0 : relocations->sh_size / sizeof(Elf64_Rela);
    for (size_t i = 0; i < n; i++) {
        const Elf64_Rela *rela =
            (const Elf64_Rela *)(const void *)(r->bytes + relocations->sh_offset) + i;
        if (rela->r_offset != address)
            continue;
        size_t symbol = ELF64_R_SYM(rela->r_info);
        if (symbol != 0 && symbol < n_dynamic)
            return dynamic_names + dynamic[symbol].st_name;
        for (size_t k = 0; k < n_symbols; k++)
            if (ELF64_ST_TYPE(all[k].st_info) == type &&
                all[k].st_value == (uint64_t)rela->r_addend)
                return names + all[k].st_name;
    }
    return NULL;
}

/* Shared variables are thread-local here; those of a kernel are mangled with its name. */
static unsigned shared_bytes(const struct reader *r, const char *kernel)
{
    char prefix[4096], short_prefix[4096];
    snprintf(prefix, sizeof(prefix), "_ZZ%sE", strncmp(kernel, "_Z", 2) == 0 ? kernel + 2 : "?");
    snprintf(short_prefix, sizeof(short_prefix), "_ZZ%zu%sE", strlen(kernel), kernel);
    size_t n, total = 0;
    const char *names;
    const Elf64_Sym *all = symbols(r, ".symtab", &n, &names);
    for (size_t i = 0; i < n; i++) {
        const char *name = names + all[i].st_name;
        if (ELF64_ST_TYPE(all[i].st_info) == STT_TLS && all[i].st_shndx != SHN_UNDEF &&
            (strncmp(name, prefix, strlen(prefix)) == 0 ||
             strncmp(name, short_prefix, strlen(short_prefix)) == 0))
            total = (total + 15) / 16 * 16 + all[i].st_size;
    }
    return (unsigned)total;
}

static void read_variables(const struct reader *r, struct emu_object *ret)
{
    size_t n;
    const char *names;
    const Elf64_Sym *all = symbols(r, ".symtab", &n, &names);
    ret->variables = calloc(n + 1, sizeof(*ret->variables));
    for (size_t i = 0; i < n && ret->variables != NULL; i++) {
        const char *name = names + all[i].st_name;
        if (ELF64_ST_TYPE(all[i].st_info) != STT_OBJECT || all[i].st_shndx >= r->n_sections ||
            all[i].st_size == 0 || strncmp(name, "_ZTV", 4) == 0 || strncmp(name, "_ZGV", 4) == 0)
            continue;
        const Elf64_Shdr *s = &r->sections[all[i].st_shndx];
        const char *in = r->names + s->sh_name;
        bool is_data = strncmp(in, ".data", 5) == 0 && strncmp(in, ".data.rel.ro", 12) != 0;
        if (!is_data && strncmp(in, ".bss", 4) != 0)
            continue;
        ret->variables[ret->n_variables++] = (struct emu_variable){
            strdup(name), all[i].st_size,
            is_data ? r->bytes + s->sh_offset + (all[i].st_value - s->sh_addr) : NULL};
    }
}

/* FNV-1a */
static uint64_t word_of(const struct reader *r)
{
    static const char *const counted[] = {".text", ".rodata", ".data", ".rela.dyn", ".rela.plt"};
    uint64_t word = 14695981039346656037u;
    for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++) {
        const Elf64_Shdr *s = section(r, counted[i]);
        for (size_t k = 0; s != NULL && k < s->sh_size; k++)
            word = (word ^ (unsigned char)r->bytes[s->sh_offset + k]) * 1099511628211u;
    }
    return word;
}

bool emu_object_read(const char *bytes, size_t len, struct emu_object *ret)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)bytes;
    *ret = (struct emu_object){.bytes = bytes, .len = len};
    if (len < sizeof(*head) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return false;
    struct reader r = {bytes, (const Elf64_Shdr *)(const void *)(bytes + head->e_shoff),
                       head->e_shnum, NULL};
    r.names = bytes + r.sections[head->e_shstrndx].sh_offset;
    const Elf64_Shdr *rows = section(&r, "hone_emu_entries");
    size_t n = rows == NULL ? 0 : rows->sh_size / sizeof(struct hone_emu_entry);
    ret->kernels = calloc(n + 1, sizeof(*ret->kernels));
    for (size_t i = 0; i < n && ret->kernels != NULL; i++) {
        size_t at = i * sizeof(struct hone_emu_entry);
        const struct hone_emu_entry *entry =
            (const struct hone_emu_entry *)(const void *)(bytes + rows->sh_offset + at);
        bool is_variable = entry->n_params == ~0u;
        const char *name = target_of(&r, rows->sh_addr + at, is_variable ? STT_OBJECT : STT_FUNC);
        if (name == NULL || (!is_variable && entry->n_params > HONE_EMU_MAX_PARAMS))
            return false;
        struct emu_kernel *kernel = &ret->kernels[ret->n_kernels++];
        *kernel = (struct emu_kernel){.name = strdup(name),
                                      .is_variable = is_variable,
                                      .row = (unsigned)i,
                                      .id = entry->id,
                                      .shared_bytes = shared_bytes(&r, name),
                                      .n_params = entry->n_params,
                                      .param_bytes = entry->param_bytes};
        memcpy(kernel->offset, entry->offset, sizeof(kernel->offset));
        memcpy(kernel->size, entry->size, sizeof(kernel->size));
    }
    read_variables(&r, ret);
    ret->word = word_of(&r);
    return true;
}
void emu_object_done(struct emu_object *object)
{
    for (size_t i = 0; i < object->n_kernels; i++)
        free(object->kernels[i].name);
    for (size_t i = 0; i < object->n_variables; i++)
        free(object->variables[i].name);
    free(object->kernels);
    free(object->variables);
}

/* ---- writing the cubin ---- */

enum { MAX_SECTIONS = 4096, MAX_SYMBOLS = 16384 };
struct writer {
    struct emu_text out, names, strings;
    Elf64_Shdr sections[MAX_SECTIONS];
    Elf64_Sym symbols[MAX_SYMBOLS];
    unsigned n_sections, n_symbols;
};

static unsigned add_name(struct emu_text *names, const char *prefix, const char *name)
{
    unsigned at = (unsigned)names->len;
    emu_append(names, prefix, strlen(prefix));
    emu_append(names, name, strlen(name) + 1);
    return at;
}
static unsigned add_section(struct writer *w, const char *prefix, const char *name,
                            Elf64_Shdr shape, const void *bytes, size_t len)
{
    static const char zeros[128];
    if (w->n_sections == MAX_SECTIONS)
        return 0;
    size_t align = shape.sh_addralign > 1 ? shape.sh_addralign : 1;
    emu_append(&w->out, zeros, (align - w->out.len % align) % align);
    shape.sh_name = add_name(&w->names, prefix, name);
    shape.sh_offset = w->out.len;
    shape.sh_size = len;
    if (shape.sh_type != SHT_NOBITS && bytes != NULL)
        emu_append(&w->out, bytes, len);
    w->sections[w->n_sections] = shape;
    return w->n_sections++;
}
static unsigned add_symbol(struct writer *w, const char *name, Elf64_Sym symbol)
{
    if (w->n_symbols == MAX_SYMBOLS)
        return 0;
    symbol.st_name = add_name(&w->strings, "", name);
    w->symbols[w->n_symbols] = symbol;
    return w->n_symbols++;
}
static void add_words(struct emu_text *info, unsigned n, const uint32_t *words)
{
    emu_append(info, (const char *)words, n * sizeof(*words));
}

static void write_variables(struct writer *w, const struct emu_object *object, bool has_content)
{
    struct emu_text bytes = {0};
    unsigned index = w->n_sections;
    for (size_t i = 0; i < object->n_variables; i++) {
        const struct emu_variable *v = &object->variables[i];
        if ((v->content != NULL) != has_content)
            continue;
        while (bytes.len % 16 != 0)
            emu_append(&bytes, "", 1);
        add_symbol(w, v->name,
                   (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                               .st_shndx = (Elf64_Section)index,
                               .st_value = bytes.len,
                               .st_size = v->bytes});
        for (size_t k = 0; k < v->bytes; k++)
            emu_append(&bytes, v->content != NULL ? v->content + k : "", 1);
    }
    if (bytes.len > 0)
        add_section(w, ".nv.global", has_content ? ".init" : "",
                    (Elf64_Shdr){.sh_type = has_content ? SHT_PROGBITS : SHT_NOBITS,
                                 .sh_flags = SHF_WRITE | SHF_ALLOC,
                                 .sh_addralign = 16},
                    bytes.at, bytes.len);
    free(bytes.at);
}

/* As ptxas lays it out: attributes of a format, a kind and a value each. */
static void write_kernel(struct writer *w, const struct emu_kernel *k, struct emu_text *info)
{
    static const char no_code[128];
    struct emu_text own = {0};
    unsigned text = add_section(w, ".text.", k->name,
                                (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                             .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                             .sh_link = 3,
                                             .sh_addralign = 128},
                                no_code, sizeof(no_code));
    unsigned symbol = add_symbol(w, k->name,
                                 (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                             .st_other = 0x10, /* an entry */
                                             .st_shndx = (Elf64_Section)text,
                                             .st_size = sizeof(no_code)});
    w->sections[text].sh_info = symbol;
    add_words(info, 3, (uint32_t[]){0x00082f04, symbol, REGISTERS});
    add_words(info, 3, (uint32_t[]){0x00081104, symbol, 0}); /* frame */
    add_words(info, 3, (uint32_t[]){0x00081204, symbol, 0}); /* least stack */
    for (unsigned i = k->n_params; i-- > 0;)
        add_words(&own, 4,
                  (uint32_t[]){0x000c1704, 0, i | (uint32_t)k->offset[i] << 16,
                               0x1f000 | (uint32_t)k->size[i] << 18});
    add_words(&own, 1, (uint32_t[]){0x1903 | k->param_bytes << 16});
    Elf64_Shdr of_kernel = {.sh_type = 0x70000000,
                            .sh_flags = SHF_INFO_LINK,
                            .sh_link = 3,
                            .sh_info = text,
                            .sh_addralign = 4};
    add_section(w, ".nv.info.", k->name, of_kernel, own.at, own.len);
    of_kernel = (Elf64_Shdr){.sh_type = SHT_NOBITS,
                             .sh_flags = SHF_WRITE | SHF_ALLOC | SHF_INFO_LINK,
                             .sh_info = text,
                             .sh_addralign = 16};
    if (k->shared_bytes > 0)
        add_section(w, ".nv.shared.", k->name, of_kernel, NULL, RESERVED_SHARED + k->shared_bytes);
    of_kernel.sh_flags = SHF_ALLOC | SHF_INFO_LINK;
    of_kernel.sh_type = SHT_PROGBITS;
    char *constants = calloc(1, PARAM_BASE + k->param_bytes);
    add_section(w, ".nv.constant0.", k->name, of_kernel, constants, PARAM_BASE + k->param_bytes);
    free(constants);
    free(own.at);
}

bool emu_is_no_kernel(const struct emu_object *object, size_t i)
{
    if (object->kernels[i].is_variable)
        return true;
    for (size_t k = 0; k < i; k++)
        if (strcmp(object->kernels[k].name, object->kernels[i].name) == 0)
            return true;
    return false;
}

void emu_cubin_write(const struct emu_object *object, struct emu_text *ret)
{
    struct writer *w = calloc(1, sizeof(*w));
    struct emu_text info = {0}, lines = {0};
    if (w == NULL)
        abort();
    Elf64_Ehdr head = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x41, 8},
        .e_type = ET_EXEC,
        .e_machine = HONE_EMU_MACHINE,
        .e_version = 1,
        .e_flags = 0x6005a04,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shstrndx = 1};
    emu_append(&w->out, (const char *)&head, sizeof(head));
    w->n_symbols = 1;
    emu_append(&w->strings, "", 1);
    emu_append(&w->names, "", 1);
    /* Says that each kernel's shared memory holds the system's as well. */
    add_symbol(w, ".nv.reservedSmem.offset0",
               (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT), .st_size = 4});
    w->n_sections = 4; /* nothing, names, strings, symbols: written last */
    for (size_t i = 0; i < object->n_kernels; i++) {
        const struct emu_kernel *k = &object->kernels[i];
        if (emu_is_no_kernel(object, i))
            continue;
        write_kernel(w, k, &info);
        emu_printf(&lines, "%s entry %u registers %d shared %u params", k->name, k->row, REGISTERS,
                   k->shared_bytes);
        for (unsigned p = 0; p < k->n_params; p++)
            emu_printf(&lines, " %u:%u", k->offset[p], k->size[p]);
        emu_printf(&lines, "\n");
    }
    write_variables(w, object, true);
    write_variables(w, object, false);
    /* Instructions are not the device's: other ones show here alone. */
    add_section(w, ".rodata", ".emulated",
                (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 8},
                (const char *)&object->word, sizeof(object->word));
    Elf64_Shdr plain = {.sh_type = SHT_PROGBITS, .sh_addralign = 1};
    add_section(w, ".nv.info", "",
                (Elf64_Shdr){.sh_type = 0x70000000, .sh_link = 3, .sh_addralign = 4}, info.at,
                info.len);
    add_section(w, HONE_EMU_SECTION_KERNELS, "", plain, lines.at, lines.len);
    plain.sh_addralign = 64;
    add_section(w, HONE_EMU_SECTION_OBJECT, "", plain, object->bytes, object->len);
    unsigned n_sections = w->n_sections;
    w->n_sections = 2;
    add_section(w, ".strtab", "", (Elf64_Shdr){.sh_type = SHT_STRTAB}, w->strings.at,
                w->strings.len);
    add_section(w, ".symtab", "",
                (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                             .sh_link = 2,
                             .sh_info = 1,
                             .sh_addralign = 8,
                             .sh_entsize = sizeof(Elf64_Sym)},
                w->symbols, w->n_symbols * sizeof(Elf64_Sym));
    w->n_sections = 1;
    w->sections[1] = (Elf64_Shdr){.sh_name = add_name(&w->names, ".shstrtab", ""),
                                  .sh_type = SHT_STRTAB,
                                  .sh_offset = w->out.len,
                                  .sh_size = w->names.len};
    emu_append(&w->out, w->names.at, w->names.len);
    while (w->out.len % 8 != 0)
        emu_append(&w->out, "", 1);
    head.e_shoff = w->out.len;
    head.e_shnum = (Elf64_Half)n_sections;
    memcpy(w->out.at, &head, sizeof(head));
    emu_append(&w->out, (const char *)w->sections, n_sections * sizeof(Elf64_Shdr));
    *ret = w->out;
    free(w->names.at);
    free(w->strings.at);
    free(info.at);
    free(lines.at);
    free(w);
}

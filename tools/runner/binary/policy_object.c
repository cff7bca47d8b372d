/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object's tables: what it imports, keeps, runs at load time and asks of its pages.
 *
 * The loader follows the program headers and the dynamic table; sections and the full table of
 * symbols are for names. Where the two disagree that is a finding of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/binary/elf_image.h"
#include "tools/runner/binary/policy.h"
#include "workspace/base/limits.h"

#define NO_ADDRESS    UINT64_MAX
#define OWN_BYTES     32 /* of one variable of the compiler's own */
#define SLACK_BYTES   32 /* alignment of the start files' */
#define MAX_KEPT      64 /* sections, entries that are looked at one by one */
#define MAX_INIT_CODE 27 /* of .init as the start files make it: one more call does not fit */
#define MAX_FINI_CODE 13
#define ENTRY         8 /* of an array of functions */

struct dynamic {
    uint64_t symbols, strings, strings_size, init_array_size, fini_array_size, preinit_size;
    bool has_textrel;
};

struct object {
    const struct hone_elf *elf;
    struct hone_policy_facts *facts;
    Elf64_Shdr dynamic, dynsym, dynstr, symtab, strtab;
    bool has_dynamic, has_dynsym, has_symtab;
    uint64_t relro_first, relro_end;
};

/* ---- what is where ---- */

static void find_tables(struct object *o)
{
    Elf64_Shdr s;
    for (uint64_t i = 0; hone_elf_section(o->elf, i, &s); i++) {
        if (s.sh_type == SHT_DYNAMIC && !o->has_dynamic) {
            o->dynamic = s;
            o->has_dynamic = true;
        } else if (s.sh_type == SHT_DYNSYM && !o->has_dynsym) {
            o->dynsym = s;
            o->has_dynsym = hone_elf_section(o->elf, s.sh_link, &o->dynstr);
        } else if (s.sh_type == SHT_SYMTAB && !o->has_symtab) {
            o->symtab = s;
            o->has_symtab = hone_elf_section(o->elf, s.sh_link, &o->strtab);
        }
    }
}

/* The file offset that the loader puts at this address; false: at none. */
static bool offset_of(const struct object *o, uint64_t address, uint64_t *ret)
{
    Elf64_Phdr p;
    for (uint64_t i = 0; i < HONE_ELF_MAX_SEGMENTS && hone_elf_segment(o->elf, i, &p); i++) {
        if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz) {
            *ret = p.p_offset + (address - p.p_vaddr);
            return true;
        }
    }
    return false;
}

static const char *needed_name(const struct object *o, uint64_t at)
{
    return o->has_dynsym ? hone_elf_string(o->elf, &o->dynstr, at) : NULL;
}

static void read_dynamic(const struct object *o, const Elf64_Phdr *at, struct dynamic *ret)
{
    uint64_t offset = 0;
    bool is_mapped = offset_of(o, at->p_vaddr, &offset); /* where the loader looks */
    for (uint64_t i = 0; is_mapped && i < at->p_memsz / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn d;
        const unsigned char *from = hone_elf_at(o->elf, offset, i + 1, sizeof d);
        if (from == NULL)
            return;
        memcpy(&d, from + i * sizeof d, sizeof d);
        if (d.d_tag == DT_NULL)
            return;
        const char *name = d.d_tag == DT_NEEDED ? needed_name(o, d.d_un.d_val) : NULL;
        if (d.d_tag == DT_NEEDED && (name == NULL || hone_policy_is_foreign_library(name)))
            hone_policy_found(o->facts, HONE_POLICY_LIBRARIES, name != NULL ? name : "no name",
                              NULL, NULL);
        struct {
            int64_t tag;
            uint64_t *into;
        } const kept[] = {{DT_SYMTAB, &ret->symbols},
                          {DT_STRTAB, &ret->strings},
                          {DT_STRSZ, &ret->strings_size},
                          {DT_INIT_ARRAYSZ, &ret->init_array_size},
                          {DT_FINI_ARRAYSZ, &ret->fini_array_size},
                          {DT_PREINIT_ARRAYSZ, &ret->preinit_size}};
        for (size_t k = 0; k < HONE_COUNTOF(kept); k++)
            if (d.d_tag == kept[k].tag)
                *kept[k].into = d.d_un.d_val;
        ret->has_textrel = ret->has_textrel || d.d_tag == DT_TEXTREL ||
                           (d.d_tag == DT_FLAGS && (d.d_un.d_val & DF_TEXTREL) != 0);
    }
}

static void bad_file(const struct object *o, const char *what)
{
    hone_policy_found(o->facts, HONE_POLICY_SEGMENTS, what, NULL, NULL);
}

static void read_segments(struct object *o, struct dynamic *ret)
{
    Elf64_Phdr p;
    bool has_dynamic = false;
    if (o->elf->header.e_phnum > HONE_ELF_MAX_SEGMENTS)
        bad_file(o, "more program headers than a linker makes");
    for (uint64_t i = 0; i < HONE_ELF_MAX_SEGMENTS && hone_elf_segment(o->elf, i, &p); i++) {
        bool is_both = (p.p_flags & PF_W) != 0 && (p.p_flags & PF_X) != 0;
        if (p.p_type == PT_LOAD && is_both)
            bad_file(o, "a segment that can be written and run");
        else if (p.p_type == PT_GNU_STACK && (p.p_flags & PF_X) != 0)
            bad_file(o, "a stack that can be run");
        else if (p.p_type == PT_INTERP)
            bad_file(o, "a program interpreter");
        if (p.p_type == PT_GNU_RELRO && p.p_memsz <= UINT64_MAX - p.p_vaddr) {
            o->relro_first = p.p_vaddr;
            o->relro_end = p.p_vaddr + p.p_memsz;
        } else if (p.p_type == PT_DYNAMIC && !has_dynamic) {
            has_dynamic = true;
            read_dynamic(o, &p, ret);
        }
    }
    uint64_t symbols = 0, strings = 0;
    if (!has_dynamic || !o->has_dynsym || !offset_of(o, ret->symbols, &symbols) ||
        !offset_of(o, ret->strings, &strings) || symbols != o->dynsym.sh_offset ||
        strings != o->dynstr.sh_offset || ret->strings_size > o->dynstr.sh_size)
        bad_file(o, "a dynamic table that is not the one of its sections");
    if (ret->has_textrel)
        bad_file(o, "relocations of its code");
}

/* ---- imports ---- */

/* These set what ldmxcsr sets, from within libm. */
static bool sets_environment(const char *name)
{
    static const char *const names[] = {"fesetenv", "feupdateenv", "fesetround", "fesetmode",
                                        "feenableexcept"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void take_import(const struct object *o, const char *name)
{
    if (sets_environment(name))
        o->facts->units |= 1u << HONE_UNIT_DENORMALS;
    const struct hone_task_policy *policy = o->facts->policy;
    enum hone_policy_rule rule;
    if (policy != NULL && hone_policy_is_listed(&policy->refuse_imports, name)) {
        hone_policy_found(o->facts, HONE_POLICY_REFUSED, name, NULL, name);
        return;
    }
    if ((policy != NULL && hone_policy_is_listed(&policy->allow_imports, name)) ||
        !hone_policy_import_rule(name, &rule))
        return;
    hone_policy_found(o->facts, rule, name, NULL, name);
}

static void read_imports(const struct object *o)
{
    Elf64_Sym symbol;
    for (uint64_t i = 1;
         i < HONE_ELF_MAX_SYMBOLS && hone_elf_symbol(o->elf, &o->dynsym, i, &symbol); i++) {
        if (symbol.st_shndx != SHN_UNDEF)
            continue;
        const char *name = hone_elf_string(o->elf, &o->dynstr, symbol.st_name);
        if (name == NULL)
            bad_file(o, "an import whose name cannot be read");
        else if (name[0] != '\0')
            take_import(o, name);
    }
    if (o->dynsym.sh_size / sizeof symbol > HONE_ELF_MAX_SYMBOLS)
        bad_file(o, "more imports and exports than are read");
}

/* ---- what stays from call to call ---- */

static bool is_compilers_own(const char *name, uint64_t size)
{
    static const char *const names[] = {
        "completed.",  "__dso_handle",    "__TMC_END__", "__data_start", ".gomp_critical_user_",
        "__cpu_model", "__cpu_features2", "_edata",      "_end",         "__bss_start"};
    for (size_t i = 0; i < HONE_COUNTOF(names) && size <= OWN_BYTES; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Is this a section whose content code may change while it runs? */
static bool is_loaded(const struct object *o, const Elf64_Shdr *s)
{
    if ((s->sh_flags & SHF_ALLOC) == 0 || (s->sh_flags & SHF_WRITE) == 0 || s->sh_size == 0)
        return false; /* the linker's own lie where loading ends with them read-only, or are empty
                       */
    return (s->sh_flags & SHF_TLS) != 0 || s->sh_addr < o->relro_first ||
           s->sh_addr >= o->relro_end;
}

static uint64_t named_in(const struct object *o, uint64_t section, bool is_thread, bool *ret_any)
{
    Elf64_Sym symbol;
    uint64_t own = 0;
    for (uint64_t i = 1; o->has_symtab && i < HONE_ELF_MAX_SYMBOLS &&
                         hone_elf_symbol(o->elf, &o->symtab, i, &symbol);
         i++) {
        int type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx != section || (type != STT_OBJECT && type != STT_TLS))
            continue;
        const char *name = hone_elf_string(o->elf, &o->strtab, symbol.st_name);
        if (name == NULL || symbol.st_size == 0)
            continue;
        if (is_compilers_own(name, symbol.st_size)) {
            own += symbol.st_size;
            continue;
        }
        HONE_AUTOFREE char *what =
            hone_sprintf("%.80s (%llu bytes%s)", name, (unsigned long long)symbol.st_size,
                         is_thread ? " a thread" : "");
        HONE_AUTOFREE char *word = hone_sprintf("%.*s", (int)strcspn(name, "."), name);
        hone_policy_found(o->facts, HONE_POLICY_GLOBALS, what, NULL, word);
        *ret_any = true;
    }
    return own;
}

static void read_globals(const struct object *o)
{
    Elf64_Shdr s;
    size_t n = 0;
    for (uint64_t i = 1; hone_elf_section(o->elf, i, &s); i++) {
        const char *name = hone_elf_string(o->elf, &o->elf->names, s.sh_name);
        bool is_thread = (s.sh_flags & SHF_TLS) != 0, has_any = false;
        if (!is_loaded(o, &s))
            continue;
        if (++n > MAX_KEPT) {
            bad_file(o, "more writable sections than a linker makes");
            return;
        }
        uint64_t own = named_in(o, i, is_thread, &has_any);
        /* What nobody named: the rest of the start files' is alignment. */
        if (has_any || s.sh_size <= own + SLACK_BYTES)
            continue;
        HONE_AUTOFREE char *what =
            hone_sprintf("%llu bytes of %.60s", (unsigned long long)s.sh_size,
                         name != NULL ? name : "a section");
        hone_policy_found(o->facts, HONE_POLICY_GLOBALS, what, NULL, NULL);
    }
}

/* ---- what runs by itself ---- */

static const char *function_at(const struct object *o, uint64_t address)
{
    Elf64_Sym symbol;
    for (uint64_t i = 1; o->has_symtab && i < HONE_ELF_MAX_SYMBOLS &&
                         hone_elf_symbol(o->elf, &o->symtab, i, &symbol);
         i++) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == address &&
            symbol.st_shndx != SHN_UNDEF)
            return hone_elf_string(o->elf, &o->strtab, symbol.st_name);
    }
    return NULL;
}

/* The start files' own, each once; "" names nothing. */
static bool is_start_file(const char *name, unsigned *seen)
{
    static const char *const names[] = {"frame_dummy", "__do_global_dtors_aux", "set_fast_math",
                                        "__cpu_indicator_init", "init_cpu_features.constprop.0"};
    for (size_t i = 0; name != NULL && i < HONE_COUNTOF(names); i++) {
        if (strcmp(name, names[i]) != 0 || (*seen & 1u << i) != 0)
            continue;
        *seen |= 1u << i;
        return true;
    }
    return false;
}

static void take_array(const struct object *o, const Elf64_Shdr *s)
{
    unsigned seen = 0;
    if (s->sh_size / ENTRY > MAX_KEPT)
        bad_file(o, "more functions to run when it is loaded than are read");
    for (uint64_t i = 0; i < s->sh_size / ENTRY && i < MAX_KEPT; i++) {
        uint64_t address = 0;
        const unsigned char *from = hone_elf_at(o->elf, s->sh_offset, i + 1, ENTRY);
        if (from != NULL)
            memcpy(&address, from + i * ENTRY, sizeof address);
        const char *name = function_at(o, address);
        if (!is_start_file(name, &seen))
            hone_policy_found(o->facts, HONE_POLICY_CONSTRUCTORS,
                              name != NULL ? name : "a function without a name", NULL, name);
    }
}

static void read_arrays(const struct object *o, const struct dynamic *dynamic)
{
    Elf64_Shdr s;
    uint64_t listed = 0;
    for (uint64_t i = 1; hone_elf_section(o->elf, i, &s); i++) {
        const char *name = hone_elf_string(o->elf, &o->elf->names, s.sh_name);
        if (s.sh_type == SHT_INIT_ARRAY || s.sh_type == SHT_FINI_ARRAY) {
            take_array(o, &s);
            listed += s.sh_size;
        }
        bool is_init = name != NULL && strcmp(name, ".init") == 0;
        bool is_fini = name != NULL && strcmp(name, ".fini") == 0;
        if ((is_init && s.sh_size > MAX_INIT_CODE) || (is_fini && s.sh_size > MAX_FINI_CODE))
            hone_policy_found(o->facts, HONE_POLICY_CONSTRUCTORS,
                              is_init ? "code in .init" : "code in .fini", NULL, NULL);
    }
    if (dynamic->preinit_size > 0 || dynamic->init_array_size + dynamic->fini_array_size > listed)
        hone_policy_found(o->facts, HONE_POLICY_CONSTRUCTORS, "functions that no section lists",
                          NULL, NULL);
}

static void read_resolvers(const struct object *o, const Elf64_Shdr *table, const Elf64_Shdr *names)
{
    Elf64_Sym symbol;
    for (uint64_t i = 1; i < HONE_ELF_MAX_SYMBOLS && hone_elf_symbol(o->elf, table, i, &symbol);
         i++) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = hone_elf_string(o->elf, names, symbol.st_name);
        HONE_AUTOFREE char *what =
            hone_sprintf("%.100s, resolved when it is loaded", name != NULL ? name : "a function");
        hone_policy_found(o->facts, HONE_POLICY_CONSTRUCTORS, what, NULL, NULL);
    }
}

void hone_policy_read_object(const void *bytes, size_t len, struct hone_policy_facts *facts)
{
    struct hone_elf elf;
    struct object o = {.elf = &elf, .facts = facts};
    struct dynamic dynamic = {.symbols = NO_ADDRESS, .strings = NO_ADDRESS};
    if (!hone_elf_open(bytes, len, &elf) || elf.header.e_type != ET_DYN) {
        hone_policy_found(facts, HONE_POLICY_SEGMENTS, "a file that is no shared object", NULL,
                          NULL);
        return;
    }
    find_tables(&o);
    read_segments(&o, &dynamic);
    if (o.has_dynsym) {
        read_imports(&o);
        read_resolvers(&o, &o.dynsym, &o.dynstr);
    }
    if (o.has_symtab)
        read_resolvers(&o, &o.symtab, &o.strtab);
    read_globals(&o);
    read_arrays(&o, &dynamic);
    hone_policy_read_code(&elf, facts);
}

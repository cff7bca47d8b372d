/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of a shared object: every byte that the loader makes executable is walked.
 *
 * x86-64: first from the start of each section and function to the end, then from every target of a
 * branch that no walk came by. Such a target lies between the instructions of the first walk, which
 * compilers never make: `hidden`. At last, bytes inside of other instructions that would be one of
 * those that a rule names and lead to a return: an indirect jump may go there. Random bytes seldom
 * look like that (20 million instructions of ordinary libraries: 105 places, most of them tables).
 * What is not found: a computed jump to such bytes that then go on with ordinary code.
 *
 * aarch64: instructions are words, each is looked at. */
#include <stdlib.h>
#include <string.h>

#include "tools/runner/binary/elf_image.h"
#include "tools/runner/binary/policy.h"
#include "tools/runner/binary/x86_code.h"
#include "workspace/base/limits.h"

#define MAX_FOLLOWED   8
#define MAX_CODE_PARTS 16
#define MAX_OWN_CPUID  64 /* libgcc 12 has 13 */

struct code {
    const struct hone_elf *elf;
    struct hone_policy_facts *facts;
    const unsigned char *bytes;
    size_t len;
    uint64_t address;      /* of its first byte */
    unsigned char *starts; /* a bit a byte: an instruction begins here */
    uint32_t *targets;     /* of branches, still to be walked */
    size_t n_targets, cap_targets;
    Elf64_Shdr symbols, names;
    bool has_symbols;
    int n_own_cpuid;
};

static bool is_start(const struct code *c, size_t at)
{
    return (c->starts[at / 8] >> at % 8 & 1) != 0;
}

static void find_symbols(struct code *c)
{
    Elf64_Shdr s;
    for (uint64_t i = 1; hone_elf_section(c->elf, i, &s); i++) {
        bool is_better = s.sh_type == SHT_SYMTAB || (s.sh_type == SHT_DYNSYM && !c->has_symbols);
        if (is_better && hone_elf_section(c->elf, s.sh_link, &c->names)) {
            c->symbols = s;
            c->has_symbols = true;
        }
    }
}

static const char *function_around(const struct code *c, uint64_t address)
{
    const char *best = NULL;
    uint64_t best_at = 0;
    Elf64_Sym s;
    for (uint64_t i = 1;
         c->has_symbols && i < HONE_ELF_MAX_SYMBOLS && hone_elf_symbol(c->elf, &c->symbols, i, &s);
         i++) {
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
            s.st_value > address || (best != NULL && s.st_value < best_at))
            continue;
        const char *name = hone_elf_string(c->elf, &c->names, s.st_name);
        if (name != NULL && (address - s.st_value < s.st_size || s.st_size == 0)) {
            best = name;
            best_at = s.st_value;
        }
    }
    return best;
}

/* The compiler's own look at the processor, which comes with __builtin_cpu_supports. */
static bool is_compilers_look(struct code *c, const char *what, const char *where)
{
    static const char *const names[] = {"__cpu_indicator_init", "cpu_indicator_init",
                                        "get_available_features"};
    if (where == NULL || strcmp(what, "cpuid") != 0 || c->n_own_cpuid == MAX_OWN_CPUID)
        return false;
    size_t len = strcspn(where, ".");
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        if (strlen(names[i]) != len || strncmp(where, names[i], len) != 0)
            continue;
        c->n_own_cpuid++;
        return true;
    }
    return false;
}

static void found(struct code *c, enum hone_policy_rule rule, const char *what, size_t at)
{
    bool is_new = hone_policy_is_new(c->facts, rule, what);
    const char *where = is_new ? function_around(c, c->address + at) : NULL;
    if (is_compilers_look(c, what, where))
        return;
    hone_policy_found(c->facts, rule, what, where, what);
}

static void push(struct code *c, int64_t target)
{
    if (target < 0 || (uint64_t)target >= c->len || is_start(c, (size_t)target))
        return;
    if (c->n_targets == c->cap_targets) {
        c->cap_targets = c->cap_targets == 0 ? 256 : 2 * c->cap_targets;
        c->targets = hone_realloc(c->targets, c->cap_targets * sizeof *c->targets);
    }
    c->targets[c->n_targets++] = (uint32_t)target;
}

/* Until code that was walked before, or (a branch's target) code that cannot be reached by going
 * on. */
static void walk(struct code *c, size_t at, bool is_target)
{
    bool is_after_end = true; /* padding is not run */
    while (at < c->len && !is_start(c, at)) {
        struct hone_x86 x;
        hone_x86_read(c->bytes + at, c->len - at, &x);
        c->starts[at / 8] = (unsigned char)(c->starts[at / 8] | 1u << at % 8);
        if (x.len == 0) {
            if (is_target)
                return;
            at++;
            continue;
        }
        if (x.unit >= 0)
            c->facts->units |= 1u << x.unit;
        bool is_padding = is_after_end && strcmp(x.name != NULL ? x.name : "", "int3") == 0;
        if (x.name != NULL && !is_padding)
            found(c, (enum hone_policy_rule)x.rule, x.name, at);
        if (x.flow == HONE_X86_BRANCH || x.flow == HONE_X86_JUMP)
            push(c, (int64_t)at + x.target);
        bool is_end = x.flow == HONE_X86_END || x.flow == HONE_X86_JUMP;
        if (is_end && is_target)
            return;
        is_after_end = is_end || is_padding;
        at += x.len;
    }
}

static void walk_known_starts(struct code *c)
{
    Elf64_Shdr section;
    Elf64_Sym s;
    for (uint64_t i = 1; hone_elf_section(c->elf, i, &section); i++)
        if ((section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_addr >= c->address &&
            section.sh_addr - c->address < c->len)
            walk(c, (size_t)(section.sh_addr - c->address), false);
    for (uint64_t i = 1;
         c->has_symbols && i < HONE_ELF_MAX_SYMBOLS && hone_elf_symbol(c->elf, &c->symbols, i, &s);
         i++)
        if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF &&
            s.st_value >= c->address && s.st_value - c->address < c->len)
            walk(c, (size_t)(s.st_value - c->address), false);
    walk(c, 0, false);
}

static void walk_targets(struct code *c)
{
    while (c->n_targets > 0) {
        uint32_t at = c->targets[--c->n_targets];
        if (is_start(c, at))
            continue;
        found(c, HONE_POLICY_HIDDEN, "a jump into the middle of an instruction", at);
        walk(c, at, true);
    }
}

/* Does what begins here lead to a return before it meets an instruction that was walked? */
static bool leads_out(const struct code *c, size_t at)
{
    for (int i = 0; i < MAX_FOLLOWED && at < c->len && !is_start(c, at); i++) {
        struct hone_x86 x;
        hone_x86_read(c->bytes + at, c->len - at, &x);
        if (x.len == 0 || x.flow == HONE_X86_END)
            return x.len != 0;
        at += x.len;
    }
    return false;
}

static void look_inside(struct code *c)
{
    for (size_t at = 0; at < c->len; at++) {
        struct hone_x86 x;
        if (!hone_x86_may_begin(c->bytes + at, c->len - at) || is_start(c, at))
            continue;
        hone_x86_read(c->bytes + at, c->len - at, &x);
        if (x.name == NULL || x.rule == HONE_POLICY_TRAPS || !leads_out(c, at + x.len))
            continue;
        /* Under both rules, so that the stricter of their actions holds: whoever hides it is not
         * better off than whoever writes it down. */
        HONE_AUTOFREE char *what = hone_sprintf("%s inside of another instruction", x.name);
        found(c, HONE_POLICY_HIDDEN, what, at);
        found(c, (enum hone_policy_rule)x.rule, what, at);
    }
}

static void read_x86(struct code *c)
{
    c->starts = hone_calloc(c->len / 8 + 1, 1);
    walk_known_starts(c);
    walk_targets(c);
    look_inside(c);
    free(c->starts);
    free(c->targets);
}

static void read_aarch64(struct code *c)
{
    static const struct {
        uint32_t mask, value;
        enum hone_policy_rule rule;
        const char *name;
    } words[] = {
        {0xffffffe0, 0xd53be040, HONE_POLICY_TIMERS, "mrs cntvct_el0"},
        {0xffffffe0, 0xd53be020, HONE_POLICY_TIMERS, "mrs cntpct_el0"},
        {0xffffffe0, 0xd53be0c0, HONE_POLICY_TIMERS, "mrs cntvctss_el0"},
        {0xffffffe0, 0xd53be0a0, HONE_POLICY_TIMERS, "mrs cntpctss_el0"},
        {0xffffffe0, 0xd53b9d00, HONE_POLICY_TIMERS, "mrs pmccntr_el0"},
        {0xffffffe0, 0xd50b7e20, HONE_POLICY_CACHE, "dc civac"},
        {0xffffffe0, 0xd50b7a20, HONE_POLICY_CACHE, "dc cvac"},
        {0xffffffe0, 0xd50b7b20, HONE_POLICY_CACHE, "dc cvau"},
        {0xffffffe0, 0xd50b7520, HONE_POLICY_CACHE, "ic ivau"},
        {0xffe0001f, 0xd4000001, HONE_POLICY_SYSCALLS, "svc"},
        {0xffe0001f, 0xd4400000, HONE_POLICY_TRAPS, "hlt"},
    };
    for (size_t at = 0; at + 4 <= c->len; at += 4) {
        uint32_t word = 0;
        memcpy(&word, c->bytes + at, sizeof word);
        for (size_t i = 0; i < HONE_COUNTOF(words); i++)
            if ((word & words[i].mask) == words[i].value)
                found(c, words[i].rule, words[i].name, at);
    }
}

void hone_policy_read_code(const struct hone_elf *elf, struct hone_policy_facts *facts)
{
    struct code c = {.elf = elf, .facts = facts};
    Elf64_Phdr p;
    uint64_t room = HONE_LIMIT_CODE_BYTES;
    int n_parts = 0;
    find_symbols(&c);
    for (uint64_t i = 0; i < HONE_ELF_MAX_SEGMENTS && hone_elf_segment(elf, i, &p); i++) {
        if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0)
            continue;
        c.bytes = hone_elf_at(elf, p.p_offset, p.p_filesz, 1);
        if (c.bytes == NULL || p.p_filesz > room || ++n_parts > MAX_CODE_PARTS) {
            hone_policy_found(facts, HONE_POLICY_SEGMENTS,
                              c.bytes == NULL ? "code that lies outside of the file"
                                              : "more code than is read",
                              NULL, NULL);
            continue;
        }
        room -= p.p_filesz;
        c.len = (size_t)p.p_filesz;
        c.address = p.p_vaddr;
        c.targets = NULL;
        c.n_targets = c.cap_targets = 0;
        facts->has_units = elf->header.e_machine == EM_X86_64;
        if (elf->header.e_machine == EM_X86_64)
            read_x86(&c);
        else if (elf->header.e_machine == EM_AARCH64)
            read_aarch64(&c);
        else
            hone_policy_found(facts, HONE_POLICY_HIDDEN, "code of an unknown processor", NULL,
                              NULL);
    }
}

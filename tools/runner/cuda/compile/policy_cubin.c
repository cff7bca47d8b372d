/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an instruction, as two 64-bit words low and high:
 *
 *   low  0..11   opcode          low 16..23  destination     low 24..31  first source
 *   low 32..63   immediate, where it has one
 *   high 8..15   special register (S2R, CS2R, S2UR); upper immediate of UMOV.64
 *   high 20..22  eviction priority of a load or store: 1 usual, 0 first, 2 last
 *   high 23..27  what a cache control does
 *
 * A policy for the L2 cache (createpolicy, cache_hint) is a 64-bit number in the instruction's
 * memory descriptor; ptxas makes it from constants, whose upper word is 0x14f00000 for evict_last,
 * or from 0x140 shifted by 20. */
#include "tools/runner/cuda/compile/policy_cubin.h"

#include <stdio.h>
#include <string.h>

#include "tools/format/plan.h"
#include "tools/runner/binary/elf_image.h"
#include "tools/runner/binary/units.h"
#include "workspace/base/limits.h"

#define EM_CUDA_NUMBER    190
#define INSTRUCTION_BYTES 16
#define OLDEST_ARCH       75
#define POLICY_STEPS      32 /* instructions between the parts of a policy */
#define NAME_BYTES        200

enum {
    OP_BRX = 0x949,
    OP_S2R = 0x919,
    OP_CS2R = 0x805,
    OP_S2UR = 0x9c3,
    OP_NANOSLEEP = 0x15d, /* the form in bits 9..11 differs */
    OP_BPT = 0x95c,
    OP_CCTL = 0x98f,
    OP_UMOV = 0x882,
    OP_UMOV64 = 0x482,
    OP_MOV = 0x802,
    OP_IMAD_MOV = 0x424,
    OP_USHF = 0x899,
    OP_SHF = 0x819,
    OP_HMMA = 0x23c,
    OP_IMMA = 0x237,
    OP_BMMA = 0x23d,
    OP_QMMA = 0x27a,
    OP_HGMMA = 0x9f0,
    OP_IGMMA = 0x9f1,
    OP_BGMMA = 0x9f2,
    OP_QGMMA = 0x9f3,
    OP_UTCMMA = 0x5ea,
    OP_F2FP = 0x23e
};

#define NO_REGISTER 0xff /* RZ */

struct kernel {
    struct hone_policy_facts *facts;
    const char *name;
    int policy_step;        /* instructions since 0x140 was put into a register; -1: it was not */
    unsigned policy_number; /* of that register */
};

static const struct {
    unsigned first, last;
    enum hone_policy_rule rule;
    const char *name, *word;
} registers[] = {
    {0x50, 0x51, HONE_POLICY_TIMERS, "%clock", "clock"},
    {0x52, 0x53, HONE_POLICY_TIMERS, "%globaltimer", "globaltimer"},
    {0x64, 0x73, HONE_POLICY_TIMERS, "%pm (performance counter)", "pm0"},
    {0x43, 0x43, HONE_POLICY_PLACEMENT, "%smid", "smid"},
    {0x03, 0x03, HONE_POLICY_PLACEMENT, "%warpid", "warpid"},
};

static void found(struct kernel *k, enum hone_policy_rule rule, const char *what, const char *word)
{
    hone_policy_found(k->facts, rule, what, k->name, word);
}

static void read_register(struct kernel *k, unsigned number)
{
    for (size_t i = 0; i < HONE_COUNTOF(registers); i++)
        if (number >= registers[i].first && number <= registers[i].last)
            found(k, registers[i].rule, registers[i].name, registers[i].word);
}

static void read_control(struct kernel *k, unsigned what)
{
    static const struct {
        unsigned what;
        const char *name, *word;
    } rows[] = {{9, "prefetch with evict_last", "evict_last"},
                {10, "applypriority", "applypriority"},
                {11, "discard.L2", "discard"}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (rows[i].what == what)
            found(k, HONE_POLICY_CACHE, rows[i].name, rows[i].word);
}

/* Loads and stores of global memory, and asynchronous copies from it. */
static bool is_memory(unsigned opcode)
{
    static const unsigned opcodes[] = {0x981, 0x986, 0x985, 0x980, 0xfae};
    for (size_t i = 0; i < HONE_COUNTOF(opcodes); i++)
        if (opcodes[i] == opcode)
            return true;
    return false;
}

static bool is_last_policy(uint32_t upper)
{
    return (upper & 0xff0fffffu) == 0x14000000u && upper != 0x14000000u;
}

static void read_policy(struct kernel *k, unsigned opcode, uint64_t low, uint64_t high)
{
    uint32_t immediate = (uint32_t)(low >> 32);
    unsigned to = (unsigned)(low >> 16) & 0xff, from = (unsigned)(low >> 24) & 0xff;
    bool is_move = opcode == OP_UMOV || opcode == OP_MOV || opcode == OP_IMAD_MOV;
    if ((is_move && is_last_policy(immediate)) ||
        (opcode == OP_UMOV64 && is_last_policy((uint32_t)(high >> 8 & 0xffff) << 16)))
        found(k, HONE_POLICY_CACHE, "a cache policy that keeps lines (evict_last)", "evict_last");
    k->policy_step += k->policy_step >= 0 && k->policy_step < POLICY_STEPS ? 1 : 0;
    if (is_move && immediate == 0x140) {
        k->policy_step = 0;
        k->policy_number = to;
    } else if ((opcode == OP_USHF || opcode == OP_SHF) && immediate == 20 && k->policy_step >= 0 &&
               k->policy_step < POLICY_STEPS && from == k->policy_number) {
        found(k, HONE_POLICY_CACHE, "a cache policy that keeps lines (evict_last)", "evict_last");
    }
}

/* The type of a tensor core's inputs: in bits 82 and 83 of HMMA, 76 and 77 of a warp group's HGMMA;
 * tcgen05 of sm_100 has it in a descriptor. Packed 16-bit arithmetic counts where both sources are
 * registers: compilers move constants and widen float16 with the others. */
static int unit_of(unsigned opcode, uint64_t low, uint64_t high)
{
    static const int types[] = {HONE_UNIT_TENSOR_F16, HONE_UNIT_TENSOR_BF16, HONE_UNIT_TENSOR_TF32,
                                HONE_UNIT_TENSOR_OTHER};
    static const struct {
        unsigned opcode;
        int unit;
    } rows[] = {{OP_IMMA, HONE_UNIT_TENSOR_INT},    {OP_BMMA, HONE_UNIT_TENSOR_INT},
                {OP_QMMA, HONE_UNIT_TENSOR_F8},     {OP_IGMMA, HONE_UNIT_TENSOR_INT},
                {OP_BGMMA, HONE_UNIT_TENSOR_INT},   {OP_QGMMA, HONE_UNIT_TENSOR_F8},
                {OP_UTCMMA, HONE_UNIT_TENSOR_OTHER}};
    unsigned kind = opcode & 0x1ff, from = (unsigned)(low >> 24) & 0xff;
    if (opcode == OP_HMMA)
        return types[high >> 18 & 3];
    if (opcode == OP_HGMMA)
        return types[high >> 12 & 3];
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (rows[i].opcode == opcode)
            return rows[i].unit;
    bool is_half = kind == 0x30 || kind == 0x31 || kind == 0x32 || kind == 0x35;
    if (is_half && from != NO_REGISTER)
        return (high >> 20 & 0xff) == 0x20 || (high >> 21 & 1) != 0 ? HONE_UNIT_BF16
                                                                    : HONE_UNIT_F16;
    return opcode == OP_F2FP ? HONE_UNIT_ROUNDED : -1;
}

static void read_instruction(struct kernel *k, uint64_t low, uint64_t high)
{
    unsigned opcode = (unsigned)(low & 0xfff);
    int unit = unit_of(opcode, low, high);
    if (unit >= 0)
        k->facts->units |= 1u << unit;
    if (opcode == OP_S2R || opcode == OP_CS2R || opcode == OP_S2UR)
        read_register(k, (unsigned)(high >> 8) & 0xff);
    else if ((opcode & 0x1ff) == OP_NANOSLEEP)
        found(k, HONE_POLICY_TRAPS, "nanosleep", "nanosleep");
    else if (opcode == OP_BPT)
        found(k, HONE_POLICY_TRAPS, "trap or breakpoint", "trap");
    else if (opcode == OP_CCTL)
        read_control(k, (unsigned)(high >> 23) & 0x1f);
    else if (is_memory(opcode) && (high >> 20 & 7) == 2)
        found(k, HONE_POLICY_CACHE, "a load or store with evict_last", "evict_last");
    read_policy(k, opcode, low, high);
}

static void read_kernel(struct kernel *k, const unsigned char *code, size_t len)
{
    for (size_t at = 0; at + INSTRUCTION_BYTES <= len; at += INSTRUCTION_BYTES) {
        uint64_t low = 0, high = 0;
        memcpy(&low, code + at, sizeof low);
        memcpy(&high, code + at + sizeof low, sizeof high);
        read_instruction(k, low, high);
    }
}

/* Kernels that come with the toolkit's headers. */
static void read_name(struct hone_policy_facts *facts, const char *mangled)
{
    static const char *const spaces[] = {"3cub", "6thrust"};
    for (size_t i = 0; i < HONE_COUNTOF(spaces); i++)
        if (strncmp(mangled, "_ZN", 3) == 0 &&
            strncmp(mangled + 3, spaces[i], strlen(spaces[i])) == 0)
            hone_policy_found(facts, HONE_POLICY_LIBRARIES,
                              i == 0 ? "kernels of cub" : "kernels of thrust", NULL,
                              i == 0 ? "cub" : "thrust");
}

static void read_variables(struct hone_policy_facts *facts, const char *section, uint64_t size)
{
    HONE_AUTOFREE char *what =
        hone_sprintf("%llu bytes of %.60s", (unsigned long long)size, section);
    if (size > 0 && strncmp(section, ".nv.global", 10) == 0)
        hone_policy_found(facts, HONE_POLICY_GLOBALS, what, NULL, "__device__");
}

static unsigned arch_of(const struct hone_elf *elf)
{
    unsigned old = elf->header.e_flags & 0xff, now = elf->header.e_flags >> 8 & 0xff;
    return elf->header.e_ident[EI_ABIVERSION] >= 8 ? now : old;
}

void hone_policy_read_cubin(const void *bytes, size_t len, struct hone_policy_facts *facts)
{
    struct hone_elf elf;
    Elf64_Shdr s;
    if (!hone_elf_open(bytes, len, &elf)) {
        hone_policy_found(facts, HONE_POLICY_SEGMENTS, "a cubin that cannot be read", NULL, NULL);
        return;
    }
    if (elf.header.e_machine != EM_CUDA_NUMBER)
        return;
    if (arch_of(&elf) < OLDEST_ARCH)
        hone_policy_found(facts, HONE_POLICY_HIDDEN, "instructions of an unknown kind", NULL, NULL);
    facts->has_units = arch_of(&elf) >= OLDEST_ARCH;
    uint64_t room = HONE_LIMIT_CUBIN_BYTES;
    for (uint64_t i = 1; hone_elf_section(&elf, i, &s); i++) {
        const char *name = hone_elf_string(&elf, &elf.names, s.sh_name);
        bool is_code =
            (s.sh_flags & SHF_EXECINSTR) != 0 || (name != NULL && strncmp(name, ".text", 5) == 0);
        if (name != NULL && !is_code)
            read_variables(facts, name, s.sh_size);
        if (!is_code)
            continue;
        const unsigned char *code = hone_elf_at(&elf, s.sh_offset, s.sh_size, 1);
        if (code == NULL || s.sh_size > room || name == NULL) {
            hone_policy_found(facts, HONE_POLICY_SEGMENTS, "code that cannot be read", NULL, NULL);
            continue;
        }
        room -= s.sh_size;
        char pretty[NAME_BYTES];
        const char *mangled = strncmp(name, ".text.", 6) == 0 ? name + 6 : name;
        hone_plan_pretty(mangled, pretty, sizeof pretty);
        struct kernel k = {.facts = facts, .name = pretty, .policy_step = -1};
        read_name(facts, mangled);
        read_kernel(&k, code, (size_t)s.sh_size);
    }
}

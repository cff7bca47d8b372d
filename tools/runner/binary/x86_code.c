/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths by the opcode maps. An instruction is
 *
 *     prefixes  [REX | VEX | EVEX | XOP]  opcode  [ModRM [SIB] [displacement]]  [immediate]
 *
 * and only the opcode, its map and its operand size decide what follows it. Compared over whole
 * libraries with what objdump says. */
#include "tools/runner/binary/x86_code.h"

#include <string.h>

#include "tools/runner/binary/units.h"
#include "workspace/task/policy.h"

#define MAX_BYTES 15

enum map { MAP_ONE, MAP_0F, MAP_38, MAP_3A, MAP_OTHER };

struct reader {
    const unsigned char *bytes;
    size_t room, at;
    bool is_cut; /* ran over the end */
    bool has_66, has_67, has_rex_w, is_vector, is_evex, is_wide;
    int repeat; /* 0xf2, 0xf3 or 0 */
    enum map map;
    int other_map; /* MAP_OTHER: number */
    unsigned char opcode, modrm;
    bool has_modrm;
};

/* A row for each instruction that a rule names. modrm_mask 0: has none, or it does not matter. */
struct special {
    unsigned char map, opcode, modrm_mask, modrm;
    int prefix;     /* 0: any; 0x66, 0xf2, 0xf3: this; -1: none of them */
    bool is_memory; /* the operand must lie in memory */
    bool is_register;
    int rule;
    const char *name;
};

static const struct special specials[] = {
    {.map = MAP_0F, .opcode = 0x31, .rule = HONE_POLICY_TIMERS, .name = "rdtsc"},
    {MAP_0F, 0x01, 0xff, 0xf9, 0, false, true, HONE_POLICY_TIMERS, "rdtscp"},
    {.map = MAP_0F, .opcode = 0x33, .rule = HONE_POLICY_TIMERS, .name = "rdpmc"},
    {MAP_0F, 0x01, 0xff, 0xfd, 0, false, true, HONE_POLICY_TIMERS, "rdpru"},
    {MAP_0F, 0xc7, 0x38, 0x38, 0xf3, false, true, HONE_POLICY_PLACEMENT, "rdpid"},
    {MAP_0F, 0xae, 0x38, 0x38, 0x66, true, false, HONE_POLICY_CACHE, "clflushopt"},
    {MAP_0F, 0xae, 0x38, 0x38, -1, true, false, HONE_POLICY_CACHE, "clflush"},
    {MAP_0F, 0xae, 0x38, 0x30, 0x66, true, false, HONE_POLICY_CACHE, "clwb"},
    {MAP_0F, 0x1c, 0x38, 0x00, -1, true, false, HONE_POLICY_CACHE, "cldemote"},
    {.map = MAP_0F, .opcode = 0x05, .rule = HONE_POLICY_SYSCALLS, .name = "syscall"},
    {.map = MAP_0F, .opcode = 0x34, .rule = HONE_POLICY_SYSCALLS, .name = "sysenter"},
    {.map = MAP_ONE, .opcode = 0xcd, .rule = HONE_POLICY_SYSCALLS, .name = "int"},
    {.map = MAP_ONE, .opcode = 0x9a, .rule = HONE_POLICY_SYSCALLS, .name = "lcall"},
    {.map = MAP_ONE, .opcode = 0xca, .rule = HONE_POLICY_SYSCALLS, .name = "lret"},
    {.map = MAP_ONE, .opcode = 0xcb, .rule = HONE_POLICY_SYSCALLS, .name = "lret"},
    {.map = MAP_ONE, .opcode = 0xcf, .rule = HONE_POLICY_SYSCALLS, .name = "iret"},
    {MAP_ONE, 0xff, 0x38, 0x18, 0, true, false, HONE_POLICY_SYSCALLS, "lcall"},
    {MAP_ONE, 0xff, 0x38, 0x28, 0, true, false, HONE_POLICY_SYSCALLS, "ljmp"},
    {.map = MAP_ONE, .opcode = 0xcc, .rule = HONE_POLICY_TRAPS, .name = "int3"},
    {.map = MAP_ONE, .opcode = 0xf1, .rule = HONE_POLICY_TRAPS, .name = "int1"},
    {.map = MAP_ONE, .opcode = 0xf4, .rule = HONE_POLICY_TRAPS, .name = "hlt"},
    /* For the kernel alone, as hlt: a program that comes to one is ended, and drops no cache. */
    {.map = MAP_0F, .opcode = 0x08, .rule = HONE_POLICY_TRAPS, .name = "invd"},
    {.map = MAP_0F, .opcode = 0x09, .rule = HONE_POLICY_TRAPS, .name = "wbinvd"},
    {MAP_ONE, 0xc7, 0xff, 0xf8, 0, false, true, HONE_POLICY_TRAPS, "xbegin"},
    {.map = MAP_0F, .opcode = 0xa2, .rule = HONE_POLICY_TRAPS, .name = "cpuid"},
    {MAP_0F, 0x01, 0xff, 0xef, -1, false, true, HONE_POLICY_MEMORY, "wrpkru"},
    {MAP_0F, 0x01, 0xff, 0xfa, 0, false, true, HONE_POLICY_TRAPS, "monitorx"},
    {MAP_0F, 0x01, 0xff, 0xfb, 0, false, true, HONE_POLICY_TRAPS, "mwaitx"},
    {MAP_0F, 0xae, 0x38, 0x30, 0xf2, false, true, HONE_POLICY_TRAPS, "umwait"},
    {MAP_0F, 0xae, 0x38, 0x30, 0x66, false, true, HONE_POLICY_TRAPS, "tpause"},
};

static unsigned char take(struct reader *r)
{
    if (r->at >= r->room || r->at >= MAX_BYTES) {
        r->is_cut = true;
        return 0;
    }
    return r->bytes[r->at++];
}

static void skip(struct reader *r, size_t n)
{
    if (n > r->room - r->at || r->at + n > MAX_BYTES)
        r->is_cut = true;
    else
        r->at += n;
}

static bool is_in(unsigned char value, const char *set, size_t n)
{
    return memchr(set, value, n) != NULL;
}

static bool take_prefix(struct reader *r)
{
    static const char segments[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, (char)0xf0};
    unsigned char byte = r->at < r->room ? r->bytes[r->at] : 0;
    if (byte == 0x66)
        r->has_66 = true;
    else if (byte == 0x67)
        r->has_67 = true;
    else if (byte == 0xf2 || byte == 0xf3)
        r->repeat = byte;
    else if (!is_in(byte, segments, sizeof segments))
        return false;
    (void)take(r);
    return !r->is_cut; /* nothing but prefixes */
}

/* Bytes p0, p1 of a VEX or XOP, or p0..p2 of an EVEX prefix: the mandatory prefix and the map. */
static void take_vector(struct reader *r, int n_bytes, int map, unsigned char last)
{
    static const int repeats[] = {0, 0, 0xf3, 0xf2};
    r->is_vector = true;
    r->is_evex = n_bytes == 3;
    r->is_wide = n_bytes > 1 && (last & 0x80) != 0;
    r->has_66 = (last & 3) == 1;
    r->repeat = repeats[last & 3];
    r->map = map == 1 ? MAP_0F : map == 2 ? MAP_38 : map == 3 ? MAP_3A : MAP_OTHER;
    r->other_map = map;
    r->opcode = take(r);
}

/* The opcode and which map it belongs to. */
static void take_opcode(struct reader *r)
{
    while (take_prefix(r))
        ;
    unsigned char byte = take(r);
    if ((byte & 0xf0) == 0x40) { /* REX counts only directly before the opcode */
        r->has_rex_w = (byte & 8) != 0;
        byte = take(r);
    }
    unsigned char next = r->at < r->room ? r->bytes[r->at] : 0;
    if (byte == 0xc5) {
        take_vector(r, 1, 1, take(r));
    } else if (byte == 0xc4) {
        unsigned char p0 = take(r);
        take_vector(r, 2, p0 & 0x1f, take(r));
    } else if (byte == 0x62) {
        unsigned char p0 = take(r), p1 = take(r);
        (void)take(r);
        take_vector(r, 3, p0 & 7, p1);
    } else if (byte == 0x8f && (next & 0x1f) >= 8) {
        unsigned char p0 = take(r);
        take_vector(r, 2, p0 & 0x1f, take(r));
    } else if (byte != 0x0f) {
        r->opcode = byte;
    } else {
        r->opcode = take(r);
        r->map = r->opcode == 0x38 ? MAP_38 : r->opcode == 0x3a ? MAP_3A : MAP_0F;
        if (r->map != MAP_0F)
            r->opcode = take(r);
    }
}

static bool is_unknown(const struct reader *r)
{
    static const char one[] = {0x06,       0x07,       0x0e,       0x16,       0x17,
                               0x1e,       0x1f,       0x27,       0x2f,       0x37,
                               0x3f,       0x60,       0x61,       (char)0x82, (char)0x9a,
                               (char)0xce, (char)0xd4, (char)0xd5, (char)0xd6, (char)0xea};
    static const char of[] = {0x04, 0x0a, 0x0c, 0x24, 0x25, 0x26, 0x27, 0x36, 0x39};
    if (r->map == MAP_ONE)
        return is_in(r->opcode, one, sizeof one);
    if (r->map == MAP_0F)
        return !r->is_vector && is_in(r->opcode, of, sizeof of);
    return r->map == MAP_OTHER && r->other_map != 5 && r->other_map != 6 &&
           (r->other_map < 8 || r->other_map > 10);
}

static bool wants_modrm(const struct reader *r)
{
    unsigned char op = r->opcode;
    if (r->map == MAP_ONE)
        return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b ||
               (op >= 0x80 && op <= 0x8f) || (op & 0xfe) == 0xc0 || (op & 0xfe) == 0xc6 ||
               (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || (op & 0xf6) == 0xf6;
    if (r->map != MAP_0F)
        return true;
    if (r->is_vector)
        return op != 0x77;
    static const char without[] = {0x05,       0x06,       0x07,       0x08,       0x09,
                                   0x0b,       0x0e,       0x77,       (char)0xa0, (char)0xa1,
                                   (char)0xa2, (char)0xa8, (char)0xa9, (char)0xaa};
    return !(is_in(op, without, sizeof without) || (op >= 0x30 && op <= 0x37) ||
             (op >= 0x80 && op <= 0x8f) || (op >= 0xc8 && op <= 0xcf));
}

static void take_operand(struct reader *r)
{
    r->has_modrm = true;
    r->modrm = take(r);
    unsigned mod = r->modrm >> 6, rm = r->modrm & 7, base = rm;
    if (mod == 3)
        return;
    if (rm == 4)
        base = take(r) & 7;
    if (mod == 1)
        skip(r, 1);
    else if (mod == 2 || base == 5)
        skip(r, 4);
}

static size_t immediate_one(const struct reader *r)
{
    unsigned char op = r->opcode;
    size_t z = r->has_66 && !r->has_rex_w ? 2 : 4;
    unsigned reg = r->modrm >> 3 & 7;
    if (op < 0x40)
        return (op & 7) == 4 ? 1 : (op & 7) == 5 ? z : 0;
    if (op >= 0xa0 && op <= 0xa3)
        return r->has_67 ? 4 : 8;
    if (op >= 0xb8 && op <= 0xbf)
        return r->has_rex_w ? 8 : z;
    if (op == 0xf6)
        return reg < 2 ? 1 : 0;
    if (op == 0xf7)
        return reg < 2 ? z : 0;
    if (op == 0xe8 || op == 0xe9)
        return 4;
    static const char bytes[] = {0x6a,       0x6b,       (char)0x80, (char)0x83, (char)0xa8,
                                 (char)0xc0, (char)0xc1, (char)0xc6, (char)0xcd, (char)0xeb,
                                 (char)0xe4, (char)0xe5, (char)0xe6, (char)0xe7};
    static const char words[] = {0x68, 0x69, (char)0x81, (char)0xa9, (char)0xc7};
    if (is_in(op, bytes, sizeof bytes) || (op >= 0x70 && op <= 0x7f) ||
        (op >= 0xb0 && op <= 0xb7) || (op >= 0xe0 && op <= 0xe3))
        return 1;
    if (is_in(op, words, sizeof words))
        return z;
    return op == 0xc2 || op == 0xca ? 2 : op == 0xc8 ? 3 : 0;
}

static size_t immediate(const struct reader *r)
{
    unsigned char op = r->opcode;
    static const char of[] = {0x70,       0x71,       0x72,       0x73,
                              (char)0xc2, (char)0xc4, (char)0xc5, (char)0xc6};
    static const char plain[] = {0x0f, (char)0xa4, (char)0xac, (char)0xba};
    switch (r->map) {
    case MAP_ONE:
        return immediate_one(r);
    case MAP_0F:
        if (!r->is_vector && op >= 0x80 && op <= 0x8f)
            return 4;
        if (op == 0x78 && !r->is_vector && (r->has_66 || r->repeat == 0xf2))
            return 2;
        return is_in(op, of, sizeof of) || (!r->is_vector && is_in(op, plain, sizeof plain)) ? 1
                                                                                             : 0;
    case MAP_38:
        return 0;
    case MAP_3A:
        return 1;
    case MAP_OTHER:
    default:
        return r->other_map == 8 ? 1 : r->other_map == 10 ? 4 : 0;
    }
}

static void name_it(const struct reader *r, struct hone_x86 *ret)
{
    int prefix = r->repeat != 0 ? r->repeat : r->has_66 ? 0x66 : -1;
    bool is_register = r->has_modrm && r->modrm >> 6 == 3;
    if (r->is_vector)
        return;
    for (size_t i = 0; i < HONE_COUNTOF(specials); i++) {
        const struct special *s = &specials[i];
        if (s->map == r->map && s->opcode == r->opcode && (r->modrm & s->modrm_mask) == s->modrm &&
            (s->prefix == 0 || s->prefix == prefix) && (!s->is_memory || !is_register) &&
            (!s->is_register || is_register)) {
            ret->name = s->name;
            ret->rule = s->rule;
            return;
        }
    }
}

/* A row for each range of opcodes whose results are of lower precision than some task's. */
static const struct {
    unsigned char map, first, last;
    int prefix;      /* as in struct special */
    int modrm_field; /* -1: any */
    bool is_vector;  /* with a VEX or EVEX prefix only */
    int width;       /* 0: any; 1: W must be 0; 2: only with an EVEX prefix */
    enum hone_unit unit;
} units[] = {
    {MAP_0F, 0x58, 0x59, -1, -1, false, 0, HONE_UNIT_F32}, /* add, mul: ps */
    {MAP_0F, 0x58, 0x59, 0xf3, -1, false, 0, HONE_UNIT_F32},
    {MAP_0F, 0x5c, 0x5c, -1, -1, false, 0, HONE_UNIT_F32},
    {MAP_0F, 0x5c, 0x5c, 0xf3, -1, false, 0, HONE_UNIT_F32},
    {MAP_0F, 0x5e, 0x5e, -1, -1, false, 0, HONE_UNIT_F32},
    {MAP_0F, 0x5e, 0x5e, 0xf3, -1, false, 0, HONE_UNIT_F32},
    {MAP_38, 0x96, 0x9f, 0x66, -1, true, 1, HONE_UNIT_F32}, /* multiply-adds */
    {MAP_38, 0xa6, 0xaf, 0x66, -1, true, 1, HONE_UNIT_F32},
    {MAP_38, 0xb6, 0xbf, 0x66, -1, true, 1, HONE_UNIT_F32},
    {MAP_0F, 0x52, 0x53, -1, -1, false, 0, HONE_UNIT_ESTIMATE},
    {MAP_0F, 0x52, 0x53, 0xf3, -1, false, 0, HONE_UNIT_ESTIMATE},
    {MAP_38, 0x4c, 0x4f, 0x66, -1, true, 2, HONE_UNIT_ESTIMATE},
    {MAP_38, 0x52, 0x52, 0xf3, -1, true, 0, HONE_UNIT_BF16},
    {MAP_38, 0x72, 0x72, 0xf3, -1, true, 0, HONE_UNIT_BF16}, /* conversions to it */
    {MAP_38, 0x72, 0x72, 0xf2, -1, true, 0, HONE_UNIT_BF16},
    {MAP_38, 0x50, 0x53, 0x66, -1, true, 0, HONE_UNIT_INT8},
    {MAP_38, 0x50, 0x51, 0xf3, -1, true, 0, HONE_UNIT_INT8},
    {MAP_38, 0x50, 0x51, 0xf2, -1, true, 0, HONE_UNIT_INT8},
    {MAP_38, 0x50, 0x51, -1, -1, true, 0, HONE_UNIT_INT8},
    {MAP_38, 0xd2, 0xd3, 0, -1, true, 0, HONE_UNIT_INT8},
    {MAP_38, 0x04, 0x04, 0x66, -1, false, 0, HONE_UNIT_INT8}, /* pmaddubsw */
    {MAP_0F, 0xf5, 0xf5, 0x66, -1, false, 0, HONE_UNIT_INT8}, /* pmaddwd */
    {MAP_38, 0x5c, 0x5c, 0, -1, true, 0, HONE_UNIT_AMX},
    {MAP_38, 0x5e, 0x5e, 0, -1, true, 0, HONE_UNIT_AMX},
    {MAP_38, 0x13, 0x13, 0x66, -1, true, 0, HONE_UNIT_ROUNDED}, /* vcvtph2ps, vcvtps2ph */
    {MAP_3A, 0x1d, 0x1d, 0x66, -1, true, 0, HONE_UNIT_ROUNDED},
    {MAP_OTHER, 0x00, 0xff, 0, -1, true, 2, HONE_UNIT_F16},     /* maps 5 and 6 */
    {MAP_0F, 0xae, 0xae, -1, 2, false, 0, HONE_UNIT_DENORMALS}, /* ldmxcsr */
};

static int unit_of(const struct reader *r)
{
    int prefix = r->repeat != 0 ? r->repeat : r->has_66 ? 0x66 : -1;
    for (size_t i = 0; i < HONE_COUNTOF(units); i++) {
        bool is_width = units[i].width == 0 || (units[i].width == 1 && !r->is_wide) ||
                        (units[i].width == 2 && r->is_evex);
        bool is_field = units[i].modrm_field < 0 ||
                        ((r->modrm >> 3 & 7) == units[i].modrm_field && r->modrm >> 6 != 3);
        if (units[i].map == r->map && r->opcode >= units[i].first && r->opcode <= units[i].last &&
            (units[i].prefix == 0 || units[i].prefix == prefix) &&
            (r->is_vector || !units[i].is_vector) && is_width && is_field)
            return (int)units[i].unit;
    }
    return -1;
}

static int64_t relative(const struct reader *r, size_t n)
{
    int32_t wide = 0;
    if (n == 1)
        return (int64_t)r->at + (signed char)r->bytes[r->at - 1];
    memcpy(&wide, r->bytes + r->at - 4, sizeof wide);
    return (int64_t)r->at + wide;
}

static void follow(const struct reader *r, struct hone_x86 *ret)
{
    unsigned char op = r->opcode;
    unsigned reg = r->modrm >> 3 & 7;
    bool is_far = r->map == MAP_0F && op >= 0x80 && op <= 0x8f && !r->is_vector;
    if (r->map == MAP_ONE && ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3))) {
        ret->flow = HONE_X86_BRANCH;
        ret->target = relative(r, 1);
    } else if (is_far || (r->map == MAP_ONE && op == 0xe8)) {
        ret->flow = HONE_X86_BRANCH;
        ret->target = relative(r, 4);
    } else if (r->map == MAP_ONE && (op == 0xe9 || op == 0xeb)) {
        ret->flow = HONE_X86_JUMP;
        ret->target = relative(r, op == 0xeb ? 1 : 4);
    } else if ((r->map == MAP_ONE && (op == 0xc3 || op == 0xc2 || op == 0xcb || op == 0xca ||
                                      op == 0xcf || (op == 0xff && (reg == 4 || reg == 5)))) ||
               (r->map == MAP_0F && op == 0x0b && !r->is_vector)) {
        ret->flow = HONE_X86_END;
    }
}

void hone_x86_read(const unsigned char *bytes, size_t room, struct hone_x86 *ret)
{
    struct reader r = {.bytes = bytes, .room = room, .map = MAP_ONE};
    *ret = (struct hone_x86){.rule = -1, .unit = -1, .flow = HONE_X86_NEXT};
    take_opcode(&r);
    if (r.is_cut || is_unknown(&r))
        return;
    if (wants_modrm(&r))
        take_operand(&r);
    if (!r.is_cut)
        skip(&r, immediate(&r));
    if (r.is_cut)
        return;
    ret->len = r.at;
    name_it(&r, ret);
    ret->unit = unit_of(&r);
    follow(&r, ret);
}

bool hone_x86_may_begin(const unsigned char *bytes, size_t room)
{
    static const char second[] = {0x01, 0x05, 0x08,       0x09,       0x1c,      0x31,
                                  0x33, 0x34, (char)0xa2, (char)0xae, (char)0xc7};
    return room >= 2 && bytes[0] == 0x0f && is_in(bytes[1], second, sizeof second);
}

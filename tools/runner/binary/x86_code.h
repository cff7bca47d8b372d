/* SPDX-License-Identifier: Apache-2.0 */
/* Reads x86-64 instructions as data: how long each is, and whether it is one that a policy looks
 * at (workspace/task/policy.h).
 *
 * It knows lengths, not meanings: legacy, REX, VEX, EVEX and XOP encodings with their operands.
 * What it does not know is an instruction of length 0. Any thread. */
#ifndef HONE_RUNNER_X86_CODE_H
#define HONE_RUNNER_X86_CODE_H

#include "workspace/base/base.h"

enum hone_x86_flow {
    HONE_X86_NEXT,   /* goes on behind itself */
    HONE_X86_BRANCH, /* and perhaps to target */
    HONE_X86_JUMP,   /* to target alone */
    HONE_X86_END     /* elsewhere: ret, an indirect jump */
};

struct hone_x86 {
    size_t len;       /* 0: none that is known fits into the bytes */
    const char *name; /* of those that a policy looks at, "rdtsc"; NULL: any other */
    int rule;         /* enum hone_policy_rule; -1 */
    int unit;         /* enum hone_unit (rests.h); -1: none that is of interest */
    enum hone_x86_flow flow;
    int64_t target; /* relative to the instruction's first byte */
};

void hone_x86_read(const unsigned char *bytes, size_t room, struct hone_x86 *ret);

/* Could one of those begin here? Far cheaper, and true too often. */
bool hone_x86_may_begin(const unsigned char *bytes, size_t room);

#endif

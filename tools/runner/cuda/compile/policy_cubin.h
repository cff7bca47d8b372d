/* SPDX-License-Identifier: Apache-2.0 */
/* What a cubin holds that a task's policy may refuse: its device code is decoded from the cubin
 * itself, so that no disassembler has to be there.
 *
 * Instructions of compute capability 7.5 and later are 16 bytes; the few fields that are read have
 * stayed where they are (compared with what ptxas of CUDA 13.0 makes for sm_75, sm_80, sm_90a,
 * sm_100a and sm_120a, tests/cubins). The bytes may lie. A cubin of the emulator is a shared object
 * of this machine and has none of it. Any thread. */
#ifndef HONE_RUNNER_CUDA_POLICY_CUBIN_H
#define HONE_RUNNER_CUDA_POLICY_CUBIN_H

#include "tools/runner/binary/policy.h"

void hone_policy_read_cubin(const void *bytes, size_t len, struct hone_policy_facts *facts);

#endif

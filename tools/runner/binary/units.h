/* SPDX-License-Identifier: Apache-2.0 */
/* Units of lower precision that an object's instructions name. What they are called and which task
 * they matter to: tools/runner/judge/rests.h. */
#ifndef HONE_RUNNER_UNITS_H
#define HONE_RUNNER_UNITS_H

enum hone_unit { /* kinds of instructions whose results are of lower precision than some task's */
                 HONE_UNIT_F32, /* arithmetic in float32 */
                 HONE_UNIT_F16, /* arithmetic in float16 */
                 HONE_UNIT_BF16,
                 HONE_UNIT_INT8,      /* products of 8 or 16 bits, summed in 32 */
                 HONE_UNIT_AMX,       /* tiles of bf16, float16 or int8 */
                 HONE_UNIT_ROUNDED,   /* values rounded to 16 bits, or read from them */
                 HONE_UNIT_ESTIMATE,  /* approximate reciprocals and roots: 11 to 14 bits */
                 HONE_UNIT_DENORMALS, /* the control word that flushes denormals to zero is set */
                 HONE_UNIT_TENSOR_F16,
                 HONE_UNIT_TENSOR_BF16,
                 HONE_UNIT_TENSOR_TF32,
                 HONE_UNIT_TENSOR_INT,
                 HONE_UNIT_TENSOR_F8,
                 HONE_UNIT_TENSOR_OTHER, /* the type is not in the instruction */
                 HONE_N_UNITS
};

#endif

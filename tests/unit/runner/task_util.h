/* SPDX-License-Identifier: Apache-2.0 */
/* A small task for tests of generator and comparison: inputs of every role, two outputs. */
#ifndef HONE_TESTS_TASK_UTIL_H
#define HONE_TESTS_TASK_UTIL_H

#include <string.h>

#include "workspace/task/task.h"

enum { AXIS_M, AXIS_N, AXIS_BOUND };

static inline struct hone_tensor tensor_of(const char *name, enum hone_dtype dtype,
                                           enum hone_role role, int bound)
{
    return (struct hone_tensor){.name = name,
                                .dtype = dtype,
                                .role = role,
                                .rank = 2,
                                .shape = {AXIS_M, AXIS_N},
                                .bound_axis = bound};
}

static inline void make_task(struct hone_task *task, struct hone_workload *workload)
{
    memset(task, 0, sizeof *task);
    task->name = "test";
    task->n_axes = 3;
    task->axes[AXIS_M].name = "M";
    task->axes[AXIS_N].name = "N";
    task->axes[AXIS_BOUND].name = "L";
    task->n_inputs = 7;
    task->inputs[0] = tensor_of("X", HONE_DTYPE_F32, HONE_ROLE_ACTIVATION, -1);
    task->inputs[1] = tensor_of("W", HONE_DTYPE_F64, HONE_ROLE_WEIGHT, -1);
    task->inputs[2] = tensor_of("S", HONE_DTYPE_F16, HONE_ROLE_POSITIVE, -1);
    task->inputs[3] = tensor_of("P", HONE_DTYPE_F32, HONE_ROLE_PROBABILITY, -1);
    task->inputs[4] = tensor_of("I", HONE_DTYPE_I32, HONE_ROLE_INDEX, AXIS_BOUND);
    task->inputs[5] = tensor_of("O", HONE_DTYPE_I64, HONE_ROLE_OFFSETS, AXIS_BOUND);
    task->inputs[6] = tensor_of("B", HONE_DTYPE_BOOL, HONE_ROLE_MASK, -1);
    task->n_outputs = 2;
    task->outputs[0] = tensor_of("Y", HONE_DTYPE_F32, HONE_ROLE_ACTIVATION, -1);
    task->outputs[1] = tensor_of("Z", HONE_DTYPE_I32, HONE_ROLE_ACTIVATION, -1);
    task->tolerance[0] = (struct hone_tolerance){.atol = 1e-6, .rtol = 1e-4, .rel_l2 = 1e-3};
    *workload = (struct hone_workload){.id = "w", .axes = {20, 30, 17}};
}

#endif

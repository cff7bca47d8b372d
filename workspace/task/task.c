/* SPDX-License-Identifier: Apache-2.0 */
/* A loaded task: its tables of words, lookups and sizes. Loading is load.c. */
#include "workspace/task/task.h"

#include <stdlib.h>
#include <string.h>
#include "workspace/base/file.h"
#include "workspace/task/task_internal.h"

static const struct {
    const char *c_name, *cuda_name;
    int64_t bytes;
    bool is_float, is_unsigned;
} dtypes[] = {
    [HONE_DTYPE_F16] = {"uint16_t", "__half", 2, true, false},
    [HONE_DTYPE_BF16] = {"uint16_t", "__nv_bfloat16", 2, true, false},
    [HONE_DTYPE_F32] = {"float", "float", 4, true, false},
    [HONE_DTYPE_F64] = {"double", "double", 8, true, false},
    [HONE_DTYPE_I8] = {"int8_t", "int8_t", 1, false, false},
    [HONE_DTYPE_I32] = {"int32_t", "int32_t", 4, false, false},
    [HONE_DTYPE_I64] = {"int64_t", "int64_t", 8, false, false},
    [HONE_DTYPE_BOOL] = {"uint8_t", "unsigned char", 1, false, true},
    [HONE_DTYPE_U8] = {"uint8_t", "unsigned char", 1, false, true},
    [HONE_DTYPE_I16] = {"int16_t", "int16_t", 2, false, false},
    [HONE_DTYPE_U16] = {"uint16_t", "uint16_t", 2, false, true},
    [HONE_DTYPE_U32] = {"uint32_t", "uint32_t", 4, false, true},
    [HONE_DTYPE_U64] = {"uint64_t", "uint64_t", 8, false, true},
};

const char *const hone_dtype_words[] = {
    [HONE_DTYPE_F16] = "float16", [HONE_DTYPE_BF16] = "bfloat16", [HONE_DTYPE_F32] = "float32",
    [HONE_DTYPE_F64] = "float64", [HONE_DTYPE_I8] = "int8",       [HONE_DTYPE_I32] = "int32",
    [HONE_DTYPE_I64] = "int64",   [HONE_DTYPE_BOOL] = "bool",     [HONE_DTYPE_U8] = "uint8",
    [HONE_DTYPE_I16] = "int16",   [HONE_DTYPE_U16] = "uint16",    [HONE_DTYPE_U32] = "uint32",
    [HONE_DTYPE_U64] = "uint64",  [HONE_DTYPE_U64 + 1] = NULL,
};

const char *const hone_role_words[] = {
    [HONE_ROLE_ACTIVATION] = "activation",
    [HONE_ROLE_WEIGHT] = "weight",
    [HONE_ROLE_POSITIVE] = "positive",
    [HONE_ROLE_PROBABILITY] = "probability",
    [HONE_ROLE_INDEX] = "index",
    [HONE_ROLE_OFFSETS] = "offsets",
    [HONE_ROLE_MASK] = "mask",
    [HONE_ROLE_BITS] = "bits",
    [HONE_ROLE_TRIANGULAR] = "triangular",
    [HONE_ROLE_UPPER_TRIANGULAR] = "upper_triangular",
    [HONE_ROLE_ADDITIVE_MASK] = "additive_mask",
    [HONE_ROLE_ADDITIVE_MASK + 1] = NULL,
};

bool hone_role_is_placed(enum hone_role role)
{
    return role == HONE_ROLE_TRIANGULAR || role == HONE_ROLE_UPPER_TRIANGULAR ||
           role == HONE_ROLE_ADDITIVE_MASK;
}

const char *hone_dtype_name(enum hone_dtype dtype)
{
    return hone_dtype_words[dtype];
}

const char *hone_dtype_c_name(enum hone_dtype dtype)
{
    return dtypes[dtype].c_name;
}

const char *hone_dtype_cuda_name(enum hone_dtype dtype)
{
    return dtypes[dtype].cuda_name;
}

int64_t hone_dtype_bytes(enum hone_dtype dtype)
{
    return dtypes[dtype].bytes;
}

bool hone_dtype_is_float(enum hone_dtype dtype)
{
    return dtypes[dtype].is_float;
}

bool hone_dtype_is_unsigned(enum hone_dtype dtype)
{
    return dtypes[dtype].is_unsigned;
}

const char *hone_role_name(enum hone_role role)
{
    return hone_role_words[role];
}

bool hone_task_has_kernel(const struct hone_task *task, enum hone_task_target target)
{
    HONE_AUTOFREE char *path = hone_path_join(task->dir, hone_targets[target].naive_path, NULL);
    return hone_file_exists(path);
}

const char *hone_task_target_of(const struct hone_task *task, const char *asked)
{
    bool is_cuda =
        !hone_task_has_kernel(task, HONE_TASK_CPU) && hone_task_has_kernel(task, HONE_TASK_CUDA);
    return asked ? asked : hone_targets[is_cuda ? HONE_TASK_CUDA : HONE_TASK_CPU].name;
}

int hone_task_select(struct hone_task *task, const char *target, struct hone_err *err)
{
    enum hone_task_target t;
    if (!hone_task_target_parse(target, &t))
        return hone_fail_at(err, HONE_E_ARG, "target", "'%.40s' is unknown: cpu or cuda",
                            target ? target : "");
    if (task->target && strcmp(task->target, target) != 0)
        return hone_fail_at(err, HONE_E_ARG, "target", "the task was read for %s, not for %s",
                            task->target, target);
    size_t n = 0;
    for (size_t i = 0; i < task->n_workloads; i++)
        n += !task->workloads[i].target || strcmp(task->workloads[i].target, target) == 0;
    if (n == 0)
        return hone_fail_at(err, HONE_E_ARG, "target",
                            "task '%s' has no workload for %s: workloads.jsonl names other targets",
                            task->name, target);
    if (!hone_task_has_kernel(task, t))
        return hone_fail_at(err, HONE_E_ARG, "target",
                            "task '%s' has no kernels for %s: its pack has no %s", task->name,
                            target, hone_targets[t].naive_path);
    n = 0;
    for (size_t i = 0; i < task->n_workloads; i++)
        if (!task->workloads[i].target || strcmp(task->workloads[i].target, target) == 0)
            task->workloads[n++] = task->workloads[i];
    task->n_workloads = n;
    task->target = hone_targets[t].name;
    hone_task_draw_ranges(task, t);
    return 0;
}

void hone_task_free(struct hone_task *task)
{
    if (!task)
        return;
    hone_pool_free(task->pool);
    free(task);
}

void hone_task_free_ptr(struct hone_task **task)
{
    hone_task_free(*task);
    *task = NULL;
}

int hone_task_axis(const struct hone_task *task, const char *name)
{
    for (size_t i = 0; i < task->n_axes; i++)
        if (strcmp(task->axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

size_t hone_task_names(const struct hone_task *task, size_t n_axes,
                       const struct hone_workload *workload, struct hone_expr_name *ret)
{
    for (size_t i = 0; i < n_axes; i++)
        ret[i] = (struct hone_expr_name){task->axes[i].name, workload ? workload->axes[i] : 1};
    return n_axes;
}

const struct hone_workload *hone_task_workload(const struct hone_task *task, const char *id)
{
    for (size_t i = 0; id && i < task->n_workloads; i++)
        if (strcmp(task->workloads[i].id, id) == 0)
            return &task->workloads[i];
    return NULL;
}

bool hone_task_has_float_output(const struct hone_task *task)
{
    for (size_t o = 0; o < task->n_outputs; o++)
        if (hone_dtype_is_float(task->outputs[o].dtype))
            return true;
    return false;
}

bool hone_tensor_pitch(const struct hone_tensor *tensor, const struct hone_workload *workload,
                       struct hone_pitch *ret)
{
    *ret = (struct hone_pitch){0, 0};
    if (!tensor->has_pitch)
        return false;
    *ret = (struct hone_pitch){workload->axes[tensor->shape[tensor->rank - 1]],
                               workload->axes[tensor->row_axis]};
    return true;
}

int64_t hone_tensor_elements(const struct hone_task *task, const struct hone_tensor *tensor,
                             const struct hone_workload *workload)
{
    (void)task; /* shapes are axis numbers, so the workload alone decides; the parameter keeps calls
                   uniform */
    int64_t n = 1;
    for (size_t d = 0; d < tensor->rank; d++)
        n *= workload->axes[tensor->shape[d]];
    return n;
}

int hone_task_eval(const struct hone_task *task, const char *formula,
                   const struct hone_workload *workload, double *ret, struct hone_err *err)
{
    struct hone_expr_name names[HONE_LIMIT_AXES];
    size_t n = hone_task_names(task, task->n_axes, workload, names);
    struct hone_expr_value value;
    int code = hone_expr_eval(formula, names, n, &value, err);
    if (code < 0)
        return code;
    *ret = value.f;
    return 0;
}

static int read_part(const struct hone_task *task, const char *name, char **ret_source,
                     struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(task->dir, name, NULL);
    size_t len = 0;
    if (hone_file_read(path, HONE_LIMIT_SOURCE_BYTES, ret_source, &len, err) < 0)
        return hone_wrap(err, "task '%s': %s", task->name, name);
    return 0;
}

int hone_task_naive(const struct hone_task *task, const char *target, char **ret_source,
                    struct hone_err *err)
{
    enum hone_task_target t = HONE_TASK_CPU;
    if (target && !hone_task_target_parse(target, &t))
        return hone_fail(err, HONE_E_ARG, "target '%.40s' is unknown: cpu or cuda", target);
    return read_part(task, hone_targets[t].naive_path, ret_source, err);
}

int hone_task_oracle_source(const struct hone_task *task, char **ret_source, struct hone_err *err)
{
    return read_part(task, task->is_oracle_torch ? "oracle.py" : "oracle.c", ret_source, err);
}

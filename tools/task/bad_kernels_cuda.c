/* SPDX-License-Identifier: Apache-2.0 */
/* The bad kernels for packs of CUDA alone: launchers around one kernel, hone_bad_, whose threads
 * share the elements. Those that start from the right answer call the naive launcher under another
 * name, on the same stream. */
#include <stdlib.h>
#include <string.h>

#include "tools/task/bad_kernels.h"
#include "workspace/base/buf.h"

static const char includes[] =
    "#include <stdint.h>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n";

static void add_count(struct hone_buf *buf, const struct hone_task *task,
                      const struct hone_tensor *t)
{
    hone_buf_str(buf, "((int64_t)1");
    for (size_t d = 0; d < t->rank; d++)
        hone_buf_printf(buf, " * %s", task->axes[t->shape[d]].name);
    hone_buf_str(buf, ")");
}

/* The launcher of the signature; its stream is called so there. */
static void open_launcher(struct hone_buf *buf, const struct hone_task *task)
{
    HONE_AUTOFREE char *signature = hone_task_signature_for(task, "cuda");
    hone_buf_printf(buf, "%s\n{\n", signature);
}

/* The naive launcher as hone_honest_NAME. */
static void add_honest(struct hone_buf *buf, const struct hone_task *task, const char *naive)
{
    hone_buf_printf(buf, "%s#define %s hone_honest_%s\n%s\n#undef %s\n", includes, task->name,
                    task->name, naive, task->name);
}

static void call_honest(struct hone_buf *buf, const struct hone_task *task, const char *in_prefix,
                        const char *out_prefix)
{
    hone_buf_printf(buf, "    hone_honest_%s(", task->name);
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, "%s%s, ", hone_dtype_is_float(task->inputs[i].dtype) ? in_prefix : "",
                        task->inputs[i].name);
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(buf, "%s%s, ", out_prefix, task->outputs[o].name);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(buf, "%s, ", task->scalars[i].name);
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_printf(buf, "%s, ", task->axes[i].name);
    hone_buf_str(buf, "stream);\n");
}

static char *finish(struct hone_buf *buf)
{
    hone_buf_str(buf, "}\n");
    return hone_buf_steal(buf);
}

/* A loop over n elements of which each thread does a part. */
static const char loop_text[] =
    "    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; "
    "i += (int64_t)gridDim.x * blockDim.x)\n";
static const char launch_text[] = "    hone_bad_%zu<<<64, 128, 0, stream>>>(";

static char *make_empty(const struct hone_task *task, const char *naive)
{
    (void)naive;
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, includes);
    open_launcher(&buf, task);
    return finish(&buf);
}

/* Writes an expression to every element: of i, and of in where the input is copied. */
static char *make_all(const struct hone_task *task, const char *value, bool is_copied)
{
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, includes);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const char *type = hone_dtype_cuda_name(task->outputs[o].dtype);
        const char *from = hone_dtype_cuda_name(task->inputs[task->n_inputs - 1].dtype);
        hone_buf_printf(
            &buf,
            "__global__ void hone_bad_%zu(%s *out, const %s *in, int64_t n, int64_t m)\n"
            "{\n%s        out[i] = (%s)(float)%s;\n}\n",
            o, type, from, loop_text, type, value);
    }
    open_launcher(&buf, task);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *in = &task->inputs[task->n_inputs - 1];
        hone_buf_printf(&buf, launch_text, o);
        hone_buf_printf(&buf, "%s, %s, ", task->outputs[o].name, in->name);
        add_count(&buf, task, &task->outputs[o]);
        hone_buf_str(&buf, ", ");
        if (is_copied)
            add_count(&buf, task, in);
        hone_buf_str(&buf, is_copied ? ");\n" : "1);\n");
    }
    return finish(&buf);
}

static char *make_zeros(const struct hone_task *task, const char *naive)
{
    (void)naive;
    return make_all(task, "0", false);
}

static char *make_ones(const struct hone_task *task, const char *naive)
{
    (void)naive;
    return make_all(task, "1", false);
}

static char *make_copied_input(const struct hone_task *task, const char *naive)
{
    (void)naive;
    return make_all(task, "in[i % m]", true);
}

/* All bits set is not a number in every float type. */
static char *make_nan(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    if (!hone_task_has_float_output(task))
        return NULL;
    add_honest(&buf, task, naive);
    open_launcher(&buf, task);
    call_honest(&buf, task, "", "");
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        if (!hone_dtype_is_float(t->dtype))
            continue;
        hone_buf_printf(&buf, "    cudaMemsetAsync(%s, 0xff, sizeof(*%s) * (size_t)", t->name,
                        t->name);
        add_count(&buf, task, t);
        hone_buf_str(&buf, ", stream);\n");
    }
    return finish(&buf);
}

static char *make_unwritten_tail(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    add_honest(&buf, task, naive);
    open_launcher(&buf, task);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(&buf, "    %s *hone_%s;\n    int64_t hone_n_%s = ",
                        hone_dtype_cuda_name(t->dtype), t->name, t->name);
        add_count(&buf, task, t);
        hone_buf_printf(&buf,
                        ";\n    cudaMallocAsync((void **)&hone_%s, (size_t)hone_n_%s * "
                        "sizeof(*%s), stream);\n",
                        t->name, t->name, t->name);
    }
    call_honest(&buf, task, "", "hone_");
    for (size_t o = 0; o < task->n_outputs; o++) {
        const char *name = task->outputs[o].name;
        hone_buf_printf(&buf,
                        "    hone_n_%s -= hone_n_%s / 16 + 1;\n"
                        "    if (hone_n_%s > 0)\n"
                        "        cudaMemcpyAsync(%s, hone_%s, (size_t)hone_n_%s * sizeof(*%s), "
                        "cudaMemcpyDeviceToDevice, stream);\n"
                        "    cudaFreeAsync(hone_%s, stream);\n",
                        name, name, name, name, name, name, name, name);
    }
    return finish(&buf);
}

static bool is_half(const struct hone_tensor *t)
{
    return t->dtype == HONE_DTYPE_F16 || t->dtype == HONE_DTYPE_BF16;
}

static char *make_wrong_last(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    add_honest(&buf, task, naive);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(&buf, "__global__ void hone_bad_%zu(%s *out, int64_t n)\n{\n", o,
                        is_half(t) ? "unsigned short" : hone_dtype_cuda_name(t->dtype));
        hone_buf_printf(&buf, "    if (blockIdx.x + threadIdx.x == 0)\n        out[n - 1] %s;\n}\n",
                        is_half(t)                    ? "^= 0x4000"
                        : t->dtype == HONE_DTYPE_BOOL ? "^= 1"
                                                      : "+= 1");
    }
    open_launcher(&buf, task);
    call_honest(&buf, task, "", "");
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(&buf, launch_text, o);
        hone_buf_printf(&buf, "%s%s, ", is_half(t) ? "(unsigned short *)" : "", t->name);
        add_count(&buf, task, t);
        hone_buf_str(&buf, ");\n");
    }
    return finish(&buf);
}

/* Mantissa bits that go, and the word of the type's size. */
static const struct {
    const char *word;
    int drop;
} lower[] = {
    [HONE_DTYPE_F16] = {"unsigned short", 3},
    [HONE_DTYPE_BF16] = {"unsigned short", 4},
    [HONE_DTYPE_F32] = {"unsigned", 13},
    [HONE_DTYPE_F64] = {"unsigned long long", 29},
};

static char *make_lower_precision(const struct hone_task *task, const char *naive)
{
    struct hone_buf buf = HONE_BUF_INIT;
    bool has_any = false;
    add_honest(&buf, task, naive);
    for (size_t i = 0; i < task->n_inputs; i++) {
        enum hone_dtype dtype = task->inputs[i].dtype;
        if (!hone_dtype_is_float(dtype))
            continue;
        has_any = true;
        const char *word = lower[dtype].word;
        int drop = lower[dtype].drop;
        hone_buf_printf(&buf,
                        "__global__ void hone_bad_%zu(%s *out, const %s *in, int64_t n)\n"
                        "{\n%s        out[i] = (%s)((in[i] + (((%s)1 << %d) - 1) + "
                        "(in[i] >> %d & 1)) & ~(((%s)1 << %d) - 1));\n}\n",
                        i, word, word, loop_text, word, word, drop - 1, drop, word, drop);
    }
    open_launcher(&buf, task);
    for (size_t i = 0; i < task->n_inputs; i++) {
        const struct hone_tensor *t = &task->inputs[i];
        if (!hone_dtype_is_float(t->dtype))
            continue;
        const char *word = lower[t->dtype].word, *type = hone_dtype_cuda_name(t->dtype);
        hone_buf_printf(&buf, "    %s *hone_%s;\n    int64_t hone_n_%s = ", type, t->name, t->name);
        add_count(&buf, task, t);
        hone_buf_printf(&buf,
                        ";\n    cudaMallocAsync((void **)&hone_%s, (size_t)hone_n_%s * "
                        "sizeof(*%s), stream);\n",
                        t->name, t->name, t->name);
        hone_buf_printf(&buf, launch_text, i);
        hone_buf_printf(&buf, "(%s *)hone_%s, (const %s *)%s, hone_n_%s);\n", word, t->name, word,
                        t->name, t->name);
    }
    call_honest(&buf, task, "hone_", "");
    for (size_t i = 0; i < task->n_inputs; i++)
        if (hone_dtype_is_float(task->inputs[i].dtype))
            hone_buf_printf(&buf, "    cudaFreeAsync(hone_%s, stream);\n", task->inputs[i].name);
    if (has_any)
        return finish(&buf);
    hone_buf_done(&buf);
    return NULL;
}

const struct hone_bad_kernel hone_bad_cuda_kernels[] = {
    {"empty", "does nothing", make_empty, false, NULL},
    {"zeros", "writes zeros", make_zeros, false, NULL},
    {"constant", "writes ones", make_ones, false, NULL},
    {"not_a_number", HONE_NAN_MEANING, make_nan, false, HONE_NAN_FIX},
    {"copied_input", "copies an input to the output", make_copied_input, false, NULL},
    {"unwritten_tail", "leaves the last elements unwritten", make_unwritten_tail, false, NULL},
    {"wrong_last", "changes the last element", make_wrong_last, false, NULL},
    {"lower_precision", "rounds its inputs to the next lower precision", make_lower_precision, true,
     NULL},
};
const size_t hone_n_bad_cuda_kernels = HONE_COUNTOF(hone_bad_cuda_kernels);

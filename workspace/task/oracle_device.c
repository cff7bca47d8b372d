/* SPDX-License-Identifier: Apache-2.0 */
/* The same oracle.c for a device: the preamble makes CUDA C++ of it, one work item per thread, or
 * one per block where oracle.c says SUM_OVER: then the block's threads share those loops, do the
 * rest alike, and the first of them emits.
 *
 * Shape of the text, for inputs A, output C, axes M, K:
 *
 *     struct hone_oracle_device_args   as in oracle_abi.h
 *     struct hone_call_                what the accessors need, made by each thread
 *     hone_in_A_(call, i)              reads element i as double; NaN outside
 *     #define A(i), PUT_C(i, v), PREV_C(i), ITEM(item)...       the words that oracle.c uses
 *     hone_oracle                      the one kernel
 *     #line 1 "oracle.c"
 *
 * Results go to arrays of doubles (values, and scales unless the task is iterated), or, when
 * args.records is set, to a list of records. int64_t is a macro, so that it fits whatever headers
 * the compiler has read before. Functions of oracle.c's own become device functions by the
 * compiler's option -default-device. */
#include <string.h>
#include "workspace/base/buf.h"
#include "workspace/task/oracle_abi.h"
#include "workspace/task/task_internal.h"

_Static_assert(HONE_LIMIT_AXES == HONE_ORACLE_DEVICE_AXES, "axes");
_Static_assert(HONE_LIMIT_TENSORS == HONE_ORACLE_DEVICE_TENSORS, "tensors");
_Static_assert(HONE_ORACLE_DEVICE_AXES == 16 && HONE_ORACLE_DEVICE_TENSORS == 64, "the text below");
_Static_assert(sizeof(struct hone_oracle_device_args) <= 4096, "a kernel's parameters");

static const char types_text[] =
    "typedef long long hone_i64_;\n"
    "typedef unsigned long long hone_u64_;\n"
    "#define int64_t hone_i64_\n#define int32_t int\n"
    "#undef NAN\n#undef INFINITY\n"
    "#define NAN hone_double_(0x7ff8000000000000ull)\n"
    "#define INFINITY hone_double_(0x7ff0000000000000ull)\n"
    "struct hone_oracle_record { int64_t index; double value; int64_t output; double scale; };\n"
    "struct hone_oracle_device_args {\n"
    "    int64_t axes[16]; double scalars[16];\n"
    "    hone_u64_ in[64], value[64], scale[64], prev[64];\n"
    "    hone_u64_ records, n_records, items;\n"
    "    int64_t n_records_max, first, count, step;\n"
    "};\n"
    "static __device__ __forceinline__ double hone_double_(hone_u64_ bits)\n"
    "{ union { hone_u64_ u; double d; } v; v.u = bits; return v.d; }\n";

static const char convert_text[] =
    "#define HONE_GET_(name, type) static __device__ __forceinline__ double hone_get_##name##_("
    "hone_u64_ p, int64_t i) { return (double)((const type *)p)[i]; }\n"
    "HONE_GET_(float32, float)\nHONE_GET_(float64, double)\nHONE_GET_(int8, signed char)\n"
    "HONE_GET_(int32, int)\nHONE_GET_(int64, long long)\nHONE_GET_(uint8, unsigned char)\n"
    "HONE_GET_(int16, short)\nHONE_GET_(uint16, unsigned short)\nHONE_GET_(uint32, unsigned)\n"
    "HONE_GET_(uint64, unsigned long long)\n"
    "static __device__ __forceinline__ double hone_get_bool_(hone_u64_ p, int64_t i)\n"
    "{ return ((const unsigned char *)p)[i] != 0; }\n"
    "static __device__ __forceinline__ double hone_get_bfloat16_(hone_u64_ p, int64_t i)\n"
    "{ union { unsigned u; float f; } v; v.u = (unsigned)((const unsigned short *)p)[i] << 16; "
    "return v.f; }\n"
    "static __device__ inline double hone_get_float16_(hone_u64_ p, int64_t i)\n"
    "{\n"
    "    unsigned h = ((const unsigned short *)p)[i], e = h >> 10 & 31, m = h & 1023;\n"
    "    double v = e == 31 ? (m ? NAN : INFINITY)\n"
    "             : e == 0  ? m * 5.9604644775390625e-8\n"
    "                       : (1024.0 + m) * hone_double_((hone_u64_)(e + 998) << 52);\n"
    "    return h & 0x8000 ? -v : v;\n"
    "}\n";

/* In C integer arguments of these become doubles; in C++ they choose another overload, or none. */
static const char math_text[] = "#define exp(x) exp((double)(x))\n"
                                "#define log(x) log((double)(x))\n"
                                "#define log2(x) log2((double)(x))\n"
                                "#define log1p(x) log1p((double)(x))\n"
                                "#define expm1(x) expm1((double)(x))\n"
                                "#define exp2(x) exp2((double)(x))\n"
                                "#define sqrt(x) sqrt((double)(x))\n"
                                "#define sin(x) sin((double)(x))\n"
                                "#define cos(x) cos((double)(x))\n"
                                "#define tanh(x) tanh((double)(x))\n"
                                "#define erf(x) erf((double)(x))\n"
                                "#define fabs(x) fabs((double)(x))\n"
                                "#define floor(x) floor((double)(x))\n"
                                "#define ceil(x) ceil((double)(x))\n"
                                "#define rint(x) rint((double)(x))\n"
                                "#define trunc(x) trunc((double)(x))\n"
                                "#define pow(x, y) pow((double)(x), (double)(y))\n"
                                "#define fmin(x, y) fmin((double)(x), (double)(y))\n"
                                "#define fmax(x, y) fmax((double)(x), (double)(y))\n";

static const char sum_text[] =
    "template <class F> static __device__ double hone_sum_over_(int64_t from, int64_t to, F term)\n"
    "{\n"
    "    __shared__ double part[1024], sums[32];\n"
    "    unsigned n = blockDim.x < 32 ? blockDim.x : 32;\n"
    "    double sum = 0;\n"
    "    for (int64_t i = from + threadIdx.x; i < to; i += blockDim.x)\n"
    "        sum += term(i);\n"
    "    part[threadIdx.x] = sum;\n"
    "    __syncthreads();\n"
    "    sum = 0;\n"
    "    for (unsigned k = threadIdx.x; threadIdx.x < n && k < blockDim.x; k += n)\n"
    "        sum += part[k];\n"
    "    if (threadIdx.x < n)\n"
    "        sums[threadIdx.x] = sum;\n"
    "    __syncthreads();\n"
    "    sum = 0;\n"
    "    for (unsigned k = 0; k < n; k++)\n"
    "        sum += sums[k];\n"
    "    return sum;\n"
    "}\n"
    "#define SUM_OVER(i, from, to, ...) \\\n"
    "    hone_sum_over_((from), (to), [&](int64_t i) { return (double)(__VA_ARGS__); })\n";

static const char emit_text[] =
    "static __device__ __forceinline__ void hone_put_(const struct hone_call_ *c, int output, "
    "int64_t i, double v, double scale)\n"
    "{\n"
    "    if (i < 0 || i >= c->n_out[output] || (HONE_SHARED_ && threadIdx.x))\n"
    "        return;\n"
    "    if (c->args->records) {\n"
    "        hone_u64_ n = atomicAdd((hone_u64_ *)c->args->n_records, 1ull);\n"
    "        struct hone_oracle_record r = {i, v, output, scale};\n"
    "        if (n < (hone_u64_)c->args->n_records_max)\n"
    "            ((struct hone_oracle_record *)c->args->records)[n] = r;\n"
    "        return;\n"
    "    }\n"
    "    ((double *)c->args->value[output])[i] = v;\n"
    "    if (c->args->scale[output])\n"
    "        ((double *)c->args->scale[output])[i] = scale;\n"
    "}\n"
    "static __device__ __forceinline__ double hone_prev_(const struct hone_call_ *c, int output, "
    "int64_t i)\n"
    "{\n"
    "    return c->args->prev[output] && i >= 0 && i < c->n_out[output] ? "
    "((const double *)c->args->prev[output])[i] : NAN;\n"
    "}\n";

static void add_count(struct hone_buf *buf, const struct hone_tensor *t)
{
    hone_buf_str(buf, "1");
    for (size_t d = 0; d < t->rank; d++)
        hone_buf_printf(buf, " * args.axes[%d]", t->shape[d]);
}

static void add_accessors(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_printf(buf,
                    "struct hone_call_ { const struct hone_oracle_device_args *args; "
                    "int64_t n_in[%zu], n_out[%zu]; };\n",
                    task->n_inputs, task->n_outputs);
    for (size_t i = 0; i < task->n_inputs; i++) {
        const char *name = task->inputs[i].name;
        hone_buf_printf(buf,
                        "static __device__ __forceinline__ double hone_in_%s_(const struct "
                        "hone_call_ *c, int64_t i)\n"
                        "{ return i >= 0 && i < c->n_in[%zu] ? hone_get_%s_(c->args->in[%zu], i) : "
                        "NAN; }\n",
                        name, i, hone_dtype_name(task->inputs[i].dtype), i);
    }
    hone_buf_str(buf, emit_text);
    for (size_t i = 0; i < task->n_inputs; i++)
        hone_buf_printf(buf, "#define %s(i) hone_in_%s_(hone_c_, (i))\n", task->inputs[i].name,
                        task->inputs[i].name);
    for (size_t i = 0; i < task->n_outputs; i++) {
        const char *name = task->outputs[i].name;
        hone_buf_printf(
            buf,
            "#define PUT_%s(i, v) hone_put_(hone_c_, %zu, (i), (v), 0)\n"
            "#define PUT_SCALED_%s(i, v, scale) hone_put_(hone_c_, %zu, (i), (v), (scale))\n"
            "#define PREV_%s(i) hone_prev_(hone_c_, %zu, (i))\n",
            name, i, name, i, name, i);
    }
}

static void add_function(struct hone_buf *buf, const struct hone_task *task, const char *word)
{
    hone_buf_printf(buf,
                    "#define HONE_SIGNATURE_%s(item) static __device__ void hone_%s_(const struct "
                    "hone_call_ *hone_c_, const int64_t item",
                    word, word);
    if (strcmp(word, "STEP") == 0)
        hone_buf_str(buf, ", const int64_t step");
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_printf(buf, ", const int64_t %s", task->axes[i].name);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(buf, ", const double %s", task->scalars[i].name);
    hone_buf_printf(buf, ")\n#define %s(item) HONE_SIGNATURE_%s(item)\n%s(hone_item_);\n", word,
                    word, word);
}

static void add_call(struct hone_buf *buf, const struct hone_task *task, const char *word)
{
    hone_buf_printf(buf, "hone_%s_(&hone_call, hone_item%s", word,
                    strcmp(word, "STEP") == 0 ? ", args.step" : "");
    for (size_t i = 0; i < task->n_axes; i++)
        hone_buf_printf(buf, ", args.axes[%zu]", i);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(buf, ", args.scalars[%zu]", i);
    hone_buf_str(buf, ");\n");
}

static void add_kernel(struct hone_buf *buf, const struct hone_task *task)
{
    hone_buf_str(buf,
                 "extern \"C\" __global__ void hone_oracle(struct hone_oracle_device_args args)\n"
                 "{\n    struct hone_call_ hone_call;\n    hone_call.args = &args;\n");
    for (size_t i = 0; i < task->n_inputs; i++) {
        hone_buf_printf(buf, "    hone_call.n_in[%zu] = ", i);
        add_count(buf, &task->inputs[i]);
        hone_buf_str(buf, ";\n");
    }
    for (size_t i = 0; i < task->n_outputs; i++) {
        hone_buf_printf(buf, "    hone_call.n_out[%zu] = ", i);
        add_count(buf, &task->outputs[i]);
        hone_buf_str(buf, ";\n");
    }
    hone_buf_str(buf, "    int64_t hone_first = HONE_SHARED_ ? (int64_t)blockIdx.x\n"
                      "        : (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "    int64_t hone_stride = HONE_SHARED_ ? (int64_t)gridDim.x\n"
                      "        : (int64_t)gridDim.x * blockDim.x;\n"
                      "    for (int64_t hone_n = hone_first; hone_n < args.count; "
                      "hone_n += hone_stride) {\n"
                      "        int64_t hone_item = args.items ? ((const int64_t "
                      "*)args.items)[hone_n] : args.first + hone_n;\n        ");
    if (task->steps != NULL) {
        hone_buf_str(buf, "if (args.step == 0)\n            ");
        add_call(buf, task, "INIT");
        hone_buf_str(buf, "        else\n            ");
        add_call(buf, task, "STEP");
    } else {
        add_call(buf, task, "ITEM");
    }
    hone_buf_str(buf, "    }\n}\n");
}

int hone_task_oracle_device_source(const struct hone_task *task, char **ret_source,
                                   struct hone_err *err)
{
    HONE_AUTOFREE char *oracle = NULL;
    if (task->is_oracle_naive_double)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "the oracle of '%s' is a whole kernel (naive_double): one thread of a "
                         "device would need too long; write ITEM",
                         task->name);
    int code = hone_task_oracle_source(task, &oracle, err);
    if (code < 0)
        return code;
    struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_printf(&buf, "#define HONE_SHARED_ %d\n", strstr(oracle, "SUM_OVER(") != NULL);
    hone_buf_str(&buf, types_text);
    hone_buf_str(&buf, math_text);
    hone_buf_str(&buf, sum_text);
    hone_buf_str(&buf, convert_text);
    add_accessors(&buf, task);
    if (task->steps != NULL) {
        add_function(&buf, task, "INIT");
        add_function(&buf, task, "STEP");
    } else {
        add_function(&buf, task, "ITEM");
    }
    add_kernel(&buf, task);
    hone_buf_str(&buf, "#line 1 \"oracle.c\"\n");
    hone_buf_str(&buf, oracle);
    *ret_source = hone_buf_steal(&buf);
    return 0;
}

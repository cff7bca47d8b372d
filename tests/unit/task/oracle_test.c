/* SPDX-License-Identifier: Apache-2.0 */
/* Each pack's oracle against its naive kernel, and against the answers that must not pass.
 *
 * Both are compiled here with the system compiler and loaded; the judge proper does this in a jail.
 * With HONE_SHOW=1 the calibration is printed: worst error of the honest kernel in units of the
 * tolerance, least one of each bad answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/task/oracle_util.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/rng.h"
#include "workspace/task/oracle_abi.h"
#include "workspace/task/task.h"

enum { MAX_ARGS = 24 };
typedef void kernel_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                       uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, float);

struct rig {
    struct hone_task *task;
    hone_oracle_items_fn *oracle;
    kernel_fn *naive;
    kernel_fn
        *cuda; /* kernels/naive.cu, NULL: none; the stream is a null pointer behind the axes */
    struct hone_workload w;
    void *in[HONE_LIMIT_TENSORS];
    void *rounded[HONE_LIMIT_TENSORS]; /* inputs through the next lower precision */
    void *out[HONE_LIMIT_TENSORS];
    double *ref[HONE_LIMIT_TENSORS], *scale[HONE_LIMIT_TENSORS];
    double scalars[HONE_LIMIT_AXES];
    bool is_plain; /* content without structure */
};

static const char *pack_dir(void)
{
    const char *dir = getenv("HONE_PACKS");
    return dir ? dir : "workspace/packs";
}

/* What a naive CUDA kernel needs to run here, one thread after the other: none of them waits for
 * another thread. */
static const char cuda_front[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#define __global__ static\n"
    "struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), "
    "y(b), z(c) {} };\n"
    "static dim3 blockIdx, threadIdx, blockDim, gridDim;\n"
    "typedef void *cudaStream_t;\n"
    "static inline void cudaMallocAsync(void **p, size_t n, cudaStream_t) { *p = malloc(n); }\n"
    "static inline void cudaFreeAsync(void *p, cudaStream_t) { free(p); }\n"
    "struct __nv_bfloat16 { uint16_t bits; };\n"
    "static inline float __bfloat162float(__nv_bfloat16 h)\n"
    "{ uint32_t u = (uint32_t)h.bits << 16; float f; memcpy(&f, &u, 4); return f; }\n"
    "static inline __nv_bfloat16 __float2bfloat16(float f)\n"
    "{ uint32_t u; memcpy(&u, &f, 4); return {(uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16)}; }\n"
    "template <class F> static void hone_run(dim3 grid, dim3 block, int, cudaStream_t, F f)\n"
    "{\n"
    "    gridDim = grid; blockDim = block;\n"
    "    for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)\n"
    "    for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)\n"
    "    for (threadIdx.y = 0; threadIdx.y < block.y; threadIdx.y++)\n"
    "    for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++)\n"
    "        f();\n"
    "}\n";

/* name<<<grid, block, shared, stream>>>(arguments) becomes hone_run(grid, block, shared, stream,
 * [&] { name(arguments); }). */
static char *launches_as_loops(const char *text)
{
    struct hone_buf buf = HONE_BUF_INIT;
    const char *done = text;
    for (const char *at = text; (at = strstr(at, "<<<")); at = done) {
        const char *name = at, *end = strstr(at, ">>>"), *stop = end ? strchr(end, ';') : NULL;
        ck_assert_ptr_nonnull(stop);
        while (name > text && name[-1] != ' ' && name[-1] != '\n')
            name--;
        hone_buf_add(&buf, done, (size_t)(name - done));
        hone_buf_printf(&buf, "hone_run(%.*s, [&] { %.*s%.*s; })", (int)(end - at - 3), at + 3,
                        (int)(at - name), name, (int)(stop - end - 3), end + 3);
        done = stop;
    }
    hone_buf_str(&buf, done);
    return hone_buf_steal(&buf);
}

static kernel_fn *build_cuda(const struct hone_task *task)
{
    char *source = NULL, name[HONE_LIMIT_NAME_BYTES + 8];
    kernel_fn *kernel;
    if (!hone_task_has_kernel(task, HONE_TASK_CUDA))
        return NULL;
    ck_assert_int_eq(hone_task_naive(task, "cuda", &source, NULL), 0);
    for (char *at = source; (at = strstr(at, "#include <cuda")); at++)
        memcpy(at, "//", 2);
    char *text = launches_as_loops(source);
    snprintf(name, sizeof(name), "%s-cuda", task->name);
    void *symbol = build(name, "c++", cuda_front, text, task->name);
    memcpy(&kernel, &symbol, sizeof(symbol));
    free(source);
    free(text);
    return kernel;
}

static void open_dir(const char *dir, struct rig *rig)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_task_load(dir, &rig->task, &err) == 0, "%s %s", err.path, err.message);
    ck_assert_msg(hone_task_select(rig->task, "cpu", &err) == 0, "%s", err.message);
    char *preamble = hone_task_oracle_preamble(rig->task), *oracle = NULL, *naive = NULL;
    ck_assert_int_eq(hone_task_oracle_source(rig->task, &oracle, &err), 0);
    ck_assert_int_eq(hone_task_naive(rig->task, "cpu", &naive, &err), 0);
    const char *name = rig->task->name;
    void *symbol = build(name, "c", preamble, oracle, "hone_oracle_items");
    memcpy(&rig->oracle, &symbol, sizeof(symbol));
    symbol = build(name, "c", "", naive, rig->task->name);
    memcpy(&rig->naive, &symbol, sizeof(symbol));
    rig->cuda = build_cuda(rig->task);
    free(preamble);
    free(oracle);
    free(naive);
}

static void open_pack(const char *name, struct rig *rig)
{
    char *dir = hone_path_join(pack_dir(), name, NULL);
    open_dir(dir, rig);
    free(dir);
}

/* EQUAL is the hardest for honest kernels: every rounding error of a running sum has the same sign.
 */
enum spread { NORMAL, TINY, LARGE, SHIFTED, SKEWED, EQUAL, N_SPREADS };

static double draw(uint64_t tensor, uint64_t i, enum hone_role role, enum spread spread)
{
    static const uint8_t key[16] = {7, 1, 4, 9};
    if (spread == EQUAL)
        i = 0;
    double a = hone_rng_unit(hone_rng_u64(key, tensor, 2 * i)) + 0x1p-60;
    double b = hone_rng_unit(hone_rng_u64(key, tensor, 2 * i + 1));
    double normal = sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
    if (role == HONE_ROLE_POSITIVE)
        return spread == SKEWED ? -log(a) : fabs(normal) + 1e-3;
    return spread == NORMAL    ? normal
           : spread == TINY    ? normal * 1e-3
           : spread == LARGE   ? normal * 64
           : spread == SHIFTED ? normal + 3
           : spread == EQUAL   ? normal
                               : -log(a);
}

/* Drops mantissa bits, to nearest even; the exponent keeps its range. */
static float round_off(float v, int drop)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    u += (1u << (drop - 1)) - 1 + (u >> drop & 1);
    u &= ~((1u << drop) - 1);
    memcpy(&v, &u, 4);
    return v;
}

static float get(const struct hone_tensor *t, const void *base, int64_t i)
{
    float v;
    if (t->dtype != HONE_DTYPE_BF16)
        return ((const float *)base)[i];
    uint32_t u = (uint32_t)((const uint16_t *)base)[i] << 16;
    memcpy(&v, &u, 4);
    return v;
}

static void set(const struct hone_tensor *t, void *base, int64_t i, float v)
{
    uint32_t u;
    if (t->dtype != HONE_DTYPE_BF16) {
        ((float *)base)[i] = v;
        return;
    }
    v = round_off(v, 16);
    memcpy(&u, &v, 4);
    ((uint16_t *)base)[i] = (uint16_t)(u >> 16);
}

/* float32 through float16, bfloat16 through three mantissa bits, as the lint does. */
static float lower(const struct hone_tensor *t, float v)
{
    return round_off(v, t->dtype == HONE_DTYPE_BF16 ? 20 : 13);
}

static void fill_offsets(int32_t *offsets, int64_t n, int64_t total)
{
    for (int64_t i = 0; i < n; i++) /* uneven: quadratic growth, some rows empty in small sizes */
        offsets[i] = (int32_t)((double)total * pow((double)i / (double)(n - 1), 1.3));
    offsets[n - 1] = (int32_t)total;
}

static void fill(struct rig *rig, enum spread spread)
{
    static const uint8_t key[16] = {5};
    for (size_t t = 0; t < rig->task->n_inputs; t++) {
        const struct hone_tensor *in = &rig->task->inputs[t];
        int64_t n = hone_tensor_elements(rig->task, in, &rig->w);
        size_t bytes = (size_t)(n * hone_dtype_bytes(in->dtype));
        rig->in[t] = hone_malloc(bytes);
        rig->rounded[t] = hone_malloc(bytes);
        if (in->role == HONE_ROLE_OFFSETS)
            fill_offsets(rig->in[t], n, rig->w.axes[in->bound_axis]);
        for (int64_t i = 0; i < n; i++) {
            if (in->role == HONE_ROLE_INDEX)
                ((int32_t *)rig->in[t])[i] = (int32_t)(hone_rng_u64(key, t, (uint64_t)i) %
                                                       (uint64_t)rig->w.axes[in->bound_axis]);
            else if (hone_dtype_is_float(in->dtype))
                set(in, rig->in[t], i, (float)draw(t, (uint64_t)i, in->role, spread));
        }
        memcpy(rig->rounded[t], rig->in[t], bytes);
        for (int64_t i = 0; hone_dtype_is_float(in->dtype) && i < n; i++)
            set(in, rig->rounded[t], i, lower(in, get(in, rig->in[t], i)));
    }
    for (size_t t = 0; t < rig->task->n_outputs; t++) {
        size_t n = (size_t)hone_tensor_elements(rig->task, &rig->task->outputs[t], &rig->w);
        rig->out[t] = hone_calloc(n, 4);
        rig->ref[t] = hone_malloc(n * 8);
        rig->scale[t] = hone_calloc(n, 8);
        for (size_t i = 0; i < n; i++)
            rig->ref[t][i] = NAN;
    }
}

static void empty(struct rig *rig)
{
    for (size_t t = 0; t < HONE_LIMIT_TENSORS; t++) {
        free(rig->in[t]);
        free(rig->rounded[t]);
        free(rig->out[t]);
        free(rig->ref[t]);
        free(rig->scale[t]);
        rig->in[t] = rig->rounded[t] = rig->out[t] = NULL;
        rig->ref[t] = rig->scale[t] = NULL;
    }
}

static void call_kernel(struct rig *rig, kernel_fn *kernel, void *const *inputs,
                        const int64_t *axes)
{
    uintptr_t a[MAX_ARGS] = {0};
    size_t n = 0;
    for (size_t i = 0; i < rig->task->n_inputs; i++)
        a[n++] = (uintptr_t)inputs[i];
    for (size_t i = 0; i < rig->task->n_outputs; i++)
        a[n++] = (uintptr_t)rig->out[i];
    for (size_t i = 0; i < rig->task->n_axes; i++)
        a[n++] = (uintptr_t)axes[i];
    /* the one scalar goes in a register of its own, wherever it stands */
    kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
           (float)rig->task->scalars[0].value);
}

static void call(struct rig *rig, void *const *inputs, const int64_t *axes)
{
    call_kernel(rig, rig->naive, inputs, axes);
}

static void arguments(struct rig *rig, struct hone_oracle_args *args, int32_t *types)
{
    for (size_t i = 0; i < rig->task->n_inputs; i++)
        types[i] = (int32_t)rig->task->inputs[i].dtype;
    for (size_t i = 0; i < rig->task->n_scalars; i++)
        rig->scalars[i] = (double)(float)rig->task->scalars[i].value;
    *args = (struct hone_oracle_args){.inputs = (const void *const *)rig->in,
                                      .input_types = types,
                                      .scalars = rig->scalars,
                                      .axes = rig->w.axes};
}

static void reference_iterated(struct rig *rig, int64_t items, int64_t steps)
{
    int32_t types[HONE_LIMIT_TENSORS];
    struct hone_oracle_args args;
    arguments(rig, &args, types);
    int64_t n = hone_tensor_elements(rig->task, &rig->task->outputs[0], &rig->w);
    double *other = hone_malloc((size_t)n * 8), sum = 0;
    double *bufs[2] = {rig->ref[0], other};
    for (int64_t step = 0; step <= steps; step++) {
        args.prev = step ? &bufs[(step + 1) % 2] : NULL;
        args.next = &bufs[step % 2];
        args.step = step;
        rig->oracle(&args, 0, items, NULL);
    }
    if (steps % 2)
        memcpy(rig->ref[0], other, (size_t)n * 8);
    free(other);
    for (int64_t i = 0; i < n; i++)
        sum += rig->ref[0][i] * rig->ref[0][i];
    for (int64_t i = 0; i < n; i++)
        rig->scale[0][i] = sqrt(sum / (double)n);
}

static void reference(struct rig *rig)
{
    double items = 0, steps = 0;
    ck_assert_int_eq(hone_task_eval(rig->task, rig->task->items, &rig->w, &items, NULL), 0);
    if (rig->task->steps) {
        ck_assert_int_eq(hone_task_eval(rig->task, rig->task->steps, &rig->w, &steps, NULL), 0);
        reference_iterated(rig, (int64_t)items, (int64_t)steps);
        return;
    }
    int32_t types[HONE_LIMIT_TENSORS];
    struct hone_oracle_args args;
    arguments(rig, &args, types);
    int64_t n = 0;
    for (size_t t = 0; t < rig->task->n_outputs; t++)
        n += hone_tensor_elements(rig->task, &rig->task->outputs[t], &rig->w);
    args.records = hone_malloc((size_t)n * sizeof(*args.records));
    args.n_records_max = n;
    rig->oracle(&args, 0, (int64_t)items, NULL);
    ck_assert_int_eq(args.n_records, n); /* each element once */
    int64_t twice = -1; /* not an assertion each: Check writes to a file for every one */
    for (int64_t i = 0; i < n; i++) {
        const struct hone_oracle_record *r = &args.records[i];
        if (!isnan(rig->ref[r->output][r->index]))
            twice = r->index;
        rig->ref[r->output][r->index] = r->value;
        rig->scale[r->output][r->index] = r->scale;
    }
    ck_assert_msg(twice < 0, "element %lld twice", (long long)twice);
    free(args.records);
}

/* Worst violation: below 1 passes. */
static double judge(const struct rig *rig)
{
    double worst = 0;
    for (size_t t = 0; t < rig->task->n_outputs; t++) {
        const struct hone_tolerance *tol = &rig->task->tolerance[t];
        int64_t n = hone_tensor_elements(rig->task, &rig->task->outputs[t], &rig->w);
        struct hone_error_sums sums = {.n = n, .n_items = n, .is_plain = rig->is_plain};
        for (int64_t i = 0; i < n; i++) {
            double r = rig->ref[t][i], e = get(&rig->task->outputs[t], rig->out[t], i) - r;
            double s = hone_tolerance_size(r, rig->scale[t][i]);
            worst =
                fmax(worst, isfinite(e) ? fabs(e) / hone_tolerance_limit(tol, r, rig->scale[t][i])
                                        : INFINITY);
            sums.ref_sum += r;
            sums.ref_squares += r * r;
            sums.err_squares += e * e;
            sums.size_squares += s * s;
        }
        worst = fmax(worst, hone_tolerance_factor(tol, &sums, HONE_TOLERANCE_NORM));
    }
    return worst;
}

static void show(const struct rig *rig, const char *what, int spread, double worst)
{
    if (getenv("HONE_SHOW"))
        fprintf(stderr, "# %-9s n=%lld spread=%d %-12s %.3g\n", rig->task->name,
                (long long)rig->w.axes[0], spread, what, worst);
}

static int64_t n_out(const struct rig *rig)
{
    return hone_tensor_elements(rig->task, &rig->task->outputs[0], &rig->w);
}

static void put_all(struct rig *rig, float v)
{
    for (int64_t i = 0; i < n_out(rig); i++)
        set(&rig->task->outputs[0], rig->out[0], i, v);
}

static void answer_zeros(struct rig *rig)
{
    put_all(rig, 0);
}

static void answer_ones(struct rig *rig)
{
    put_all(rig, 1);
}

static void answer_mean(struct rig *rig)
{
    int64_t n = n_out(rig);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += rig->ref[0][i];
    put_all(rig, (float)(sum / (double)n));
}

static void answer_input(struct rig *rig)
{
    const struct hone_tensor *last = &rig->task->inputs[rig->task->n_inputs - 1];
    int64_t n_in = hone_tensor_elements(rig->task, last, &rig->w);
    for (int64_t i = 0; i < n_out(rig); i++)
        set(&rig->task->outputs[0], rig->out[0], i,
            get(last, rig->in[rig->task->n_inputs - 1], i % n_in));
}

static void answer_step_fewer(struct rig *rig)
{
    int64_t axes[HONE_LIMIT_AXES];
    memcpy(axes, rig->w.axes, sizeof(axes));
    axes[rig->task->n_axes - 1]--; /* T */
    call(rig, rig->in, axes);
}

static void answer_lower(struct rig *rig)
{
    call(rig, rig->rounded, rig->w.axes);
}

static const struct {
    const char *name;
    void (*make)(struct rig *rig);
} bad_answers[] = {
    {"zeros", answer_zeros}, {"ones", answer_ones},   {"mean", answer_mean},
    {"input", answer_input}, {"lower", answer_lower}, {"step fewer", answer_step_fewer},
};

static void one_size(struct rig *rig, enum spread spread, bool with_bad)
{
    fill(rig, spread);
    rig->is_plain = spread == NORMAL;
    reference(rig);
    call(rig, rig->in, rig->w.axes);
    double honest = judge(rig);
    show(rig, "honest", (int)spread, honest);
    /* rounding a 16-bit output is most of its tolerance, and never more than 0.94 of it */
    double most = hone_dtype_bytes(rig->task->outputs[0].dtype) == 2 ? 0.96 : 0.6;
    ck_assert_msg(honest < most, "%s: honest error is %g of the tolerance", rig->task->name,
                  honest);
    if (rig->cuda) {
        put_all(rig, -7);
        call_kernel(rig, rig->cuda, rig->in, rig->w.axes);
        honest = judge(rig);
        show(rig, "cuda", (int)spread, honest);
        ck_assert_msg(honest < most, "%s: naive.cu errs by %g of the tolerance", rig->task->name,
                      honest);
    }
    for (size_t i = 0; with_bad && i < HONE_COUNTOF(bad_answers); i++) {
        bool is_iterated = rig->task->steps != NULL, is_one = rig->task->outputs[0].rank == 0;
        if (bad_answers[i].make == answer_step_fewer && !is_iterated)
            continue;
        if ((bad_answers[i].make == answer_mean && is_one) ||
            (bad_answers[i].make == answer_lower && rig->task->allows_lower_precision))
            continue;
        /* Softmax of a row of tiny numbers is flat whatever their last bits were: there is nothing
         * to see. */
        if (bad_answers[i].make == answer_lower && spread == TINY)
            continue;
        bad_answers[i].make(rig);
        double worst = judge(rig);
        show(rig, bad_answers[i].name, (int)spread, worst);
        ck_assert_msg(worst > 1.5, "%s: the answer '%s' passes (%g of the tolerance)",
                      rig->task->name, bad_answers[i].name, worst);
    }
    empty(rig);
}

/* The middle size is where the bad answers are tried; the public ones show that honest error fits
 * there too. */
static void one_pack(const char *name, const int64_t *middle)
{
    struct rig rig = {.task = NULL};
    open_pack(name, &rig);
    size_t v = 0;
    rig.w = rig.task->workloads[0];
    for (size_t a = 0; a < rig.task->n_axes; a++)
        if (rig.task->axes[a].kind == HONE_AXIS_VAR)
            rig.w.axes[a] = middle[v++];
    ck_assert_int_eq(hone_task_resolve(rig.task, &rig.w, NULL), 0);
    for (int spread = 0; spread < N_SPREADS; spread++)
        one_size(&rig, (enum spread)spread, spread != EQUAL);
    ck_assert_int_eq(hone_task_smoke(rig.task, &rig.w, NULL), 0);
    one_size(&rig, NORMAL, false);
    bool is_slow = strcmp(rig.task->op_type, "gemm") == 0; /* its oracle in full takes seconds */
    for (size_t i = 0; i < rig.task->n_workloads && !is_slow; i++) {
        rig.w = rig.task->workloads[i];
        one_size(&rig, NORMAL, false);
        one_size(&rig, SKEWED, false);
        one_size(&rig, EQUAL, false);
    }
    hone_task_free(rig.task);
}

START_TEST(matmul)
{
    one_pack("matmul", (const int64_t[]){70, 83, 512});
}
END_TEST

START_TEST(softmax)
{
    one_pack("softmax", (const int64_t[]){33, 257});
}
END_TEST

START_TEST(sum)
{
    one_pack("sum", (const int64_t[]){100003});
}
END_TEST

START_TEST(jacobi2d)
{
    one_pack("jacobi2d", (const int64_t[]){65, 70, 9});
}
END_TEST

START_TEST(spmv_csr)
{
    one_pack("spmv_csr", (const int64_t[]){300, 410, 5000});
}
END_TEST

START_TEST(matmul_bf16)
{
    one_pack("matmul_bf16", (const int64_t[]){70, 83, 384});
}
END_TEST

START_TEST(rmsnorm)
{
    one_pack("rmsnorm", (const int64_t[]){33, 1025});
}
END_TEST

START_TEST(transpose)
{
    one_pack("transpose", (const int64_t[]){130, 257});
}
END_TEST

START_TEST(attention_causal)
{
    one_pack("attention_causal", (const int64_t[]){2, 3, 97, 40});
}
END_TEST

/* The fallback: oracle.c is the kernel, with float read as double. */
static const char rms_task[] =
    "{\"name\":\"rmsnorm\",\"axes\":{\"M\":{\"type\":\"var\"},\"N\":{\"type\":\"var\"}},"
    "\"inputs\":{\"x\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"float32\"},\"w\":{\"shape\":[\"N\"],"
    "\"dtype\":\"float32\"}},"
    "\"outputs\":{\"y\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"float32\"}},"
    "\"tolerance\":{\"y\":{\"rtol\":1e-4,\"rel_l2\":1e-4,\"atol\":1e-30}},\"oracle\":{\"mode\":"
    "\"naive_double\"},"
    "\"flops\":\"M*N\",\"bytes\":\"8*M*N\"}";
static const char rms_kernel[] =
    "#include <math.h>\n#include <stdint.h>\n"
    "static float root(float v) { return sqrtf(v); }\n"
    "void rmsnorm(const float *x, const float *w, float *y, int64_t M, int64_t N)\n"
    "{\n"
    "    for (int64_t m = 0; m < M; m++) {\n"
    "        float sum = 0.0f;\n"
    "        for (int64_t i = 0; i < N; i++)\n"
    "            sum += x[m * N + i] * x[m * N + i];\n"
    "        for (int64_t i = 0; i < N; i++)\n"
    "            y[m * N + i] = w[i] * x[m * N + i] / root(sum / (float)N + 1e-12f);\n"
    "    }\n"
    "}\n";

START_TEST(naive_double)
{
    char dir[] = "/tmp/hone-oracle-test-XXXXXX", path[128];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    const char *const files[][2] = {
        {"task.json", rms_task},
        {"workloads.jsonl", "{\"id\":\"a\",\"axes\":{\"M\":33,\"N\":70}}\n"},
        {"oracle.c", rms_kernel},
        {"kernels/naive.c", rms_kernel}};
    snprintf(path, sizeof(path), "%s/kernels", dir);
    ck_assert_int_eq(hone_mkdirs(path, 0700, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, files[i][0]);
        ck_assert_int_eq(hone_file_write(path, files[i][1], strlen(files[i][1]), 0600, false, NULL),
                         0);
    }
    struct rig rig = {.task = NULL};
    open_dir(dir, &rig);
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
    rig.w = rig.task->workloads[0];
    one_size(&rig, NORMAL, true);
    one_size(&rig, LARGE, true);
    one_size(&rig, EQUAL, false);
    hone_task_free(rig.task);
}
END_TEST

/* What the records promise: a count that goes on past the room, and refusal of other types. */
START_TEST(record_counts)
{
    struct rig rig = {.task = NULL};
    open_pack("softmax", &rig);
    ck_assert_int_eq(hone_task_smoke(rig.task, &rig.w, NULL), 0);
    fill(&rig, NORMAL);
    int32_t types[HONE_LIMIT_TENSORS];
    struct hone_oracle_args args;
    struct hone_oracle_record room[3] = {{.index = -7}, {.index = -7}, {.index = -7}};
    arguments(&rig, &args, types);
    args.records = room;
    args.n_records_max = 2;
    const int64_t items[] = {3};
    rig.oracle(&args, 0, 1, items);
    int64_t n_row = rig.w.axes[1];
    ck_assert_int_eq(args.n_records, n_row);
    ck_assert_int_eq(room[0].index, 3 * n_row);
    ck_assert_int_eq(room[1].index, 3 * n_row + 1);
    ck_assert_int_eq(room[2].index, -7);
    types[0] = HONE_DTYPE_F64;
    rig.oracle(&args, 0, 1, items);
    ck_assert_int_eq(args.n_records, -1);
    types[0] = HONE_DTYPE_F32;
    const int64_t outside[] = {
        rig.w.axes[0]}; /* a row that is not there: reads give NaN, nothing is emitted */
    args.n_records = 0;
    rig.oracle(&args, 0, 1, outside);
    ck_assert_int_eq(args.n_records, 0);
    empty(&rig);
    hone_task_free(rig.task);
}
END_TEST

static const char types_task[] =
    "{\"name\":\"widen\",\"axes\":{\"N\":{\"type\":\"var\"}},\"inputs\":{"
    "\"h\":{\"shape\":[\"N\"],\"dtype\":\"float16\"},\"b\":{\"shape\":[\"N\"],\"dtype\":"
    "\"bfloat16\"},"
    "\"c\":{\"shape\":[\"N\"],\"dtype\":\"int8\"},\"l\":{\"shape\":[\"N\"],\"dtype\":\"int64\"},"
    "\"s\":{\"shape\":[\"N\"],\"dtype\":\"int16\"},\"us\":{\"shape\":[\"N\"],\"dtype\":"
    "\"uint16\"},\"u\":{\"shape\":[\"N\"],\"dtype\":\"uint32\"},\"ul\":{\"shape\":[\"N\"],"
    "\"dtype\":\"uint64\"},"
    "\"t\":{\"shape\":[\"N\"],\"dtype\":\"bool\"},\"d\":{\"shape\":[\"N\"],\"dtype\":\"float64\"}},"
    "\"scalars\":{\"k\":{\"dtype\":\"float32\",\"value\":2}},"
    "\"outputs\":{\"y\":{\"shape\":[\"N\"],\"dtype\":\"float64\"}},\"tolerance\":{\"y\":{\"rtol\":"
    "1e-9}},"
    "\"oracle\":{\"items\":\"N\"},\"flops\":\"N\",\"bytes\":\"N\"}";

START_TEST(every_type_is_read_exactly)
{
    static const char loads[] = "{\"id\":\"a\",\"axes\":{\"N\":4}}";
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_task_parse(types_task, strlen(types_task), loads, strlen(loads), "/", &task,
                                  &err) == 0,
                  "%s %s", err.path, err.message);
    char *preamble = hone_task_oracle_preamble(task);
    hone_oracle_items_fn *oracle;
    void *symbol =
        build("widen", "c", preamble,
              "ITEM(i)\n{\n    double all[] = {h(i), b(i), c(i), l(i), s(i), us(i), u(i), ul(i), "
              "t(i), d(i), h(-1), h(N)};\n"
              "    for (int j = 0; j < 12; j++)\n        PUT_SCALED_y(i, all[j], k);\n}\n",
              "hone_oracle_items");
    memcpy(&oracle, &symbol, sizeof(symbol));
    const uint16_t h[4] = {0x3c00, 0xc000, 0x0001, 0x7bff}, b[4] = {0x3f80, 0xc000, 0x0001, 0x7f7f};
    const int8_t c[4] = {-128, 127, 0, 1};
    const int64_t l[4] = {-5, 1ll << 40, 0, 7};
    const int16_t s[4] = {-32768, 32767, -1, 0};
    const uint16_t us[4] = {65535, 1, 0, 2};
    const uint32_t u[4] = {4294967295u, 1, 0, 2};
    const uint64_t ul[4] = {1ull << 53, 1, 0, 2};
    const uint8_t t[4] = {0, 1, 2, 255};
    const double d[4] = {0.1, -1e300, 5e-324, 3};
    const double want[4][10] = {{1, 1, -128, -5, -32768, 65535, 4294967295.0, 0x1p53, 0, 0.1},
                                {-2, -2, 127, 1099511627776.0, 32767, 1, 1, 1, 1, -1e300},
                                {0x1p-24, 0x1p-133, 0, 0, -1, 0, 0, 0, 1, 5e-324},
                                {65504, 0x1.fep127, 1, 7, 0, 2, 2, 2, 1, 3}};
    const void *const inputs[] = {h, b, c, l, s, us, u, ul, t, d};
    struct hone_oracle_record records[48];
    const double scalars[] = {2};
    struct hone_oracle_args args = {.inputs = inputs,
                                    .scalars = scalars,
                                    .axes = task->workloads[0].axes,
                                    .records = records,
                                    .n_records_max = 48};
    oracle(&args, 0, 4, NULL);
    ck_assert_int_eq(args.n_records, 48);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 10; j++)
            ck_assert_msg(records[12 * i + j].value == want[i][j], "%d %d %g", i, j,
                          records[12 * i + j].value);
        ck_assert(isnan(records[12 * i + 10].value) && isnan(records[12 * i + 11].value));
        ck_assert(records[12 * i].scale == 2);
    }
    free(preamble);
    hone_task_free(task);
}
END_TEST

UNIT_MAIN("oracle", matmul, softmax, sum, jacobi2d, spmv_csr, matmul_bf16, rmsnorm, transpose,
          attention_causal, naive_double, record_counts, every_type_is_read_exactly)

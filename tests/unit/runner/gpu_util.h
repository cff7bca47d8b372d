/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the device arena share, on the emulator and on a GPU: a judge's context, kernels
 * compiled from text by NVRTC, plans made by hand, frames of buffers. The test program is its own
 * runner: an arena is this program again, started with --role device-arena. */
#ifndef HONE_TESTS_GPU_UTIL_H
#define HONE_TESTS_GPU_UTIL_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/runner/cuda/judge/gpu_arm.h"
#include "tools/runner/cuda/device/gpu_control.h"
#include "tools/runner/cuda/device/gpu_stamp.h"
#include "tools/runner/jail/roles.h"
#include "workspace/base/clock.h"

#define ERR_INIT(name_) struct hone_err name_ = HONE_ERR_INIT
#define MUST(call_)                                                                                \
    do {                                                                                           \
        struct hone_err must_err = HONE_ERR_INIT;                                                  \
        struct hone_err *err = &must_err;                                                          \
        ck_assert_msg((call_) == 0, "%s: %s", #call_, must_err.message);                           \
    } while (0)
#define SECONDS(n_) (hone_now_ns() + (n_)*HONE_NS_PER_S)

struct gpu_test { /* the judge's side */
    struct hone_cuda *cu;
    struct hone_gpu_device device;
    struct hone_nvrtc *nvrtc;
    char arch[64];
    unsigned char *stamp;
    size_t stamp_len;
};

/* Images of the two texts that nearly every test needs, made once before the tests fork. */
struct gpu_kept {
    const char *text;
    int fd; /* of a memory file */
};
static struct gpu_kept gpu_kept[2];

static inline unsigned char *gpu_find_kept(const char *text, size_t *ret_len)
{
    struct stat info;
    for (size_t i = 0; i < HONE_COUNTOF(gpu_kept); i++) {
        if (gpu_kept[i].text != text || fstat(gpu_kept[i].fd, &info) < 0 || info.st_size == 0)
            continue;
        *ret_len = (size_t)info.st_size;
        unsigned char *image = hone_malloc(*ret_len + 1);
        ck_assert_int_eq(pread(gpu_kept[i].fd, image, *ret_len, 0), info.st_size);
        return image;
    }
    return NULL;
}

/* NULL with the log printed when it does not compile. No assertions: also used outside of tests. */
static inline unsigned char *gpu_try_compile(const struct hone_nvrtc *n, const char *arch,
                                             const char *text, size_t *ret_len)
{
    hone_nvrtc_program program = NULL;
    const char *const options[] = {arch, "--std=c++17"};
    size_t len = 0;
    if (n->CreateProgram(&program, text, "test.cu", 0, NULL, NULL) != 0)
        return NULL;
    int rc = n->CompileProgram(program, 2, options);
    if (rc != 0 && n->GetProgramLogSize(program, &len) == 0) {
        HONE_AUTOFREE char *log = hone_calloc(len + 1, 1);
        (void)n->GetProgramLog(program, log);
        (void)printf("# %s\n", log);
    }
    if (rc != 0 || n->GetCUBINSize(program, ret_len) != 0)
        return NULL;
    char *image = hone_calloc(*ret_len + 1, 1);
    rc = n->GetCUBIN(program, image);
    (void)n->DestroyProgram(&program);
    return rc == 0 ? (unsigned char *)image : NULL;
}

/* Device text to an image the driver loads. Owned. */
static inline unsigned char *gpu_compile(const struct gpu_test *t, const char *text,
                                         size_t *ret_len)
{
    unsigned char *image = gpu_find_kept(text, ret_len);
    if (image == NULL)
        image = gpu_try_compile(t->nvrtc, t->arch, text, ret_len);
    ck_assert_msg(image != NULL, "does not compile");
    return image;
}

static inline void gpu_arch(const struct hone_gpu_device *device, char ret[64])
{
    snprintf(ret, 64, "--gpu-architecture=sm_%d%d%s", device->major, device->minor,
             device->major >= 9 ? "a" : "");
}

static inline void gpu_open(struct gpu_test *t)
{
    *t = (struct gpu_test){.cu = NULL};
    MUST(hone_cuda_open(&t->cu, err));
    MUST(hone_gpu_device_open(t->cu, 0, &t->device, err));
    MUST(hone_nvrtc_open(&t->nvrtc, err));
    gpu_arch(&t->device, t->arch);
    t->stamp = gpu_compile(t, hone_gpu_stamp_text, &t->stamp_len);
}

static inline void gpu_close(struct gpu_test *t)
{
    free(t->stamp);
    hone_gpu_device_close(&t->device);
    hone_nvrtc_close(t->nvrtc);
    hone_cuda_close(t->cu);
}

static inline struct hone_gpu_arm_spec gpu_spec(const struct gpu_test *t)
{
    return (struct hone_gpu_arm_spec){
        .rung = "auto", .allow_weak = false, .stamp = t->stamp, .stamp_len = t->stamp_len};
}

static inline struct hone_gpu_arm *gpu_arm(const struct gpu_test *t)
{
    struct hone_gpu_arm *arm = NULL;
    const struct hone_gpu_arm_spec spec = gpu_spec(t);
    MUST(hone_gpu_arm_start(&spec, &arm, err));
    MUST(hone_gpu_arm_wait(arm, SECONDS(60), err));
    return arm;
}

/* Loads text with these writable variables (NULL-terminated list, NULL: none). */
static inline void gpu_load(const struct gpu_test *t, struct hone_gpu_arm *arm, const char *text,
                            const char *const *variables)
{
    struct hone_cuda_variable list[8];
    size_t n = 0;
    for (; variables != NULL && variables[n] != NULL; n++)
        list[n] = (struct hone_cuda_variable){.name = variables[n], .bytes = 4};
    size_t len = 0;
    HONE_AUTOFREE unsigned char *image = gpu_compile(t, text, &len);
    struct hone_cuda_module module = {
        .cubin = image, .cubin_len = len, .variables = {.v = list, .n = n}};
    MUST(hone_gpu_arm_load(arm, &module, SECONDS(60), err));
}

/* ---- frames ---- */

struct gpu_frame {
    struct hone_gpu_layout layout;
    struct hone_gpu_range ranges[HONE_GPU_MAX_TENSORS];
};

static inline void gpu_frame_init(const struct gpu_test *t, int64_t n_inputs, int64_t n_outputs,
                                  const int64_t *bytes, int64_t n_sets, struct gpu_frame *ret)
{
    MUST(hone_gpu_layout_init(n_inputs, n_outputs, bytes, n_sets, t->device.granule, &ret->layout,
                              err));
    for (int64_t i = 0; i < n_inputs + n_outputs; i++)
        MUST(hone_gpu_range_new(&t->device, (size_t)ret->layout.range[i], &ret->ranges[i], err));
}

static inline void gpu_frame_done(const struct gpu_test *t, struct gpu_frame *frame)
{
    for (int64_t i = 0; i < frame->layout.n_inputs + frame->layout.n_outputs; i++)
        hone_gpu_range_done(&t->device, &frame->ranges[i]);
}

static inline hone_cu_ptr gpu_at(const struct gpu_frame *frame, int64_t set, int64_t tensor)
{
    return frame->ranges[tensor].base + (hone_cu_ptr)hone_gpu_at(&frame->layout, set, tensor);
}

static inline void gpu_write(const struct gpu_test *t, const struct gpu_frame *frame, int64_t set,
                             int64_t tensor, const void *from)
{
    ck_assert_int_eq(
        t->cu->MemcpyHtoD(gpu_at(frame, set, tensor), from, (size_t)frame->layout.bytes[tensor]),
        0);
}

static inline void gpu_read(const struct gpu_test *t, const struct gpu_frame *frame, int64_t set,
                            int64_t tensor, void *to)
{
    ck_assert_int_eq(
        t->cu->MemcpyDtoH(to, gpu_at(frame, set, tensor), (size_t)frame->layout.bytes[tensor]), 0);
}

/* ---- plans ---- */

#define PLAN_OPS   8
#define PLAN_PARTS 8
struct gpu_plan {
    struct hone_plan plan;
    struct hone_plan_op ops[PLAN_OPS];
    struct hone_plan_param params[PLAN_OPS][PLAN_PARTS];
    struct hone_plan_pointer pointers[PLAN_OPS][PLAN_PARTS];
    struct hone_plan_map map[PLAN_OPS];
    struct hone_plan_number after[PLAN_OPS], scratch[PLAN_OPS], numbers[4 * PLAN_OPS];
    char bytes[PLAN_OPS][1024];
};

static inline void plan_init(struct gpu_plan *p, int64_t n_tensors)
{
    memset(p, 0, sizeof *p);
    p->plan = (struct hone_plan){.format = HONE_PLAN_FORMAT,
                                 .task = "test",
                                 .workload = "w",
                                 .n_tensors = n_tensors,
                                 .scratch = {.v = p->scratch},
                                 .ops = {.v = p->ops}};
}

static inline int64_t plan_scratch(struct gpu_plan *p, int64_t bytes)
{
    p->scratch[p->plan.scratch.n].value = bytes;
    return p->plan.n_tensors + (int64_t)p->plan.scratch.n++;
}

/* The next operation, after the one before it. */
static inline struct hone_plan_op *plan_op(struct gpu_plan *p, const char *kind)
{
    size_t i = p->plan.ops.n++;
    ck_assert_uint_lt(i, PLAN_OPS);
    p->ops[i] = (struct hone_plan_op){.kind = kind,
                                      .shared_carveout = -1,
                                      .params = {.v = p->params[i]},
                                      .pointers = {.v = p->pointers[i]}};
    if (i > 0) {
        p->after[i].value = (int64_t)i - 1;
        p->ops[i].after = (struct hone_array){.v = &p->after[i], .n = 1};
    }
    return &p->ops[i];
}

/* One parameter: a buffer's address (value < 0: -1 - buffer) or a 64-bit number. */
static inline void plan_param(struct gpu_plan *p, struct hone_plan_op *op, int64_t value)
{
    size_t i = (size_t)(op - p->ops), n = op->params.n++;
    uint64_t word = value < 0 ? 0 : (uint64_t)value;
    p->params[i][n] = (struct hone_plan_param){.at = (int64_t)n * 8, .size = 8};
    for (size_t b = 0; b < 8; b++)
        snprintf(p->bytes[i] + 2 * (8 * n + b), 3, "%02x", (unsigned)(word >> (8 * b) & 0xff));
    op->bytes = p->bytes[i];
    if (value < 0)
        p->pointers[i][op->pointers.n++] =
            (struct hone_plan_pointer){.at = (int64_t)n * 8, .buffer = -1 - value};
}

#define BUFFER(n_) (-1 - (int64_t)(n_))
/* kernel<<<blocks, threads>>>(values...): n_values of them, as for plan_param. */
static inline struct hone_plan_op *plan_launch(struct gpu_plan *p, const char *kernel,
                                               int64_t blocks, int64_t threads, size_t n_values,
                                               const int64_t *values)
{
    struct hone_plan_op *op = plan_op(p, "launch");
    op->kernel = kernel;
    op->grid = (struct hone_plan_dim){blocks, 1, 1};
    op->block = (struct hone_plan_dim){threads, 1, 1};
    for (size_t i = 0; i < n_values; i++)
        plan_param(p, op, values[i]);
    return op;
}
#define LAUNCH(p_, kernel_, blocks_, threads_, ...)                                                \
    plan_launch((p_), (kernel_), (blocks_), (threads_),                                            \
                HONE_COUNTOF(((const int64_t[]){__VA_ARGS__})), (const int64_t[]){__VA_ARGS__})

/* ---- the usual test: one input, one output of n floats ---- */

#define N_FLOATS 1000
struct gpu_case {
    struct gpu_test gpu;
    struct gpu_frame frame;
    struct gpu_plan plan;
    struct hone_gpu_arm *arm;
};

static inline void case_values(int64_t set, float *ret)
{
    for (int i = 0; i < N_FLOATS; i++)
        ret[i] = (float)(1000 * (set + 1) + i);
}

static inline void case_open(struct gpu_case *c, const char *text, const char *const *variables,
                             int64_t n_sets)
{
    const int64_t bytes[] = {N_FLOATS * sizeof(float), N_FLOATS * sizeof(float)};
    float values[N_FLOATS];
    gpu_open(&c->gpu);
    gpu_frame_init(&c->gpu, 1, 1, bytes, n_sets, &c->frame);
    for (int64_t set = 0; set < n_sets; set++) {
        case_values(set, values);
        gpu_write(&c->gpu, &c->frame, set, 0, values);
    }
    c->arm = gpu_arm(&c->gpu);
    gpu_load(&c->gpu, c->arm, text, variables);
    plan_init(&c->plan, 2);
}

static inline void case_map(struct gpu_case *c)
{
    MUST(hone_gpu_arm_map(c->arm, &c->frame.layout, c->frame.ranges, &c->plan.plan, SECONDS(60),
                          err));
}

static inline struct hone_gpu_time case_call(struct gpu_case *c, const int32_t *sets, int64_t n,
                                             bool is_single, int64_t timeout_ms)
{
    const struct hone_gpu_calls calls = {.sets = sets,
                                         .n_calls = n,
                                         .scratch_poison = 0x7fbadbadu,
                                         .is_single = is_single,
                                         .flush_bytes = is_single ? 1 << 20 : 0,
                                         .timeout_ns = timeout_ms * HONE_NS_PER_MS};
    struct hone_gpu_time time = {.wall_ns = -1};
    MUST(hone_gpu_arm_call(c->arm, &calls, &time, err));
    return time;
}

static inline void case_close(struct gpu_case *c)
{
    hone_gpu_arm_free(c->arm);
    gpu_frame_done(&c->gpu, &c->frame);
    gpu_close(&c->gpu);
}

/* The output of a set is its input plus this. */
static inline void case_expect(struct gpu_case *c, int64_t set, float plus)
{
    float want[N_FLOATS], got[N_FLOATS];
    case_values(set, want);
    gpu_read(&c->gpu, &c->frame, set, 1, got);
    for (int i = 0; i < N_FLOATS; i++)
        ck_assert_msg(got[i] == want[i] + plus, "set %d, element %d: %g instead of %g", (int)set, i,
                      (double)got[i], (double)(want[i] + plus));
}

static inline void case_is_good(struct gpu_case *c)
{
    const struct hone_outcome *end = hone_gpu_arm_end(c->arm);
    ck_assert_msg(hone_gpu_arm_is_alive(c->arm) && hone_outcome_is_good(end), "%s: %s",
                  hone_reason_row(end->reason)->word, end->detail);
}

static inline void case_ended(struct gpu_case *c, enum hone_reason reason)
{
    const struct hone_outcome *end = hone_gpu_arm_end(c->arm);
    ck_assert(!hone_gpu_arm_is_alive(c->arm));
    ck_assert_msg(end->reason == reason, "%s: %s", hone_reason_row(end->reason)->word, end->detail);
}

/* What main does when the program is started as an arena; -1: it is not. */
static inline int gpu_role(int argc, char **argv)
{
    if (argc < 4 || strcmp(argv[1], "--role") != 0 || strcmp(argv[2], "device-arena") != 0)
        return -1;
    return hone_role_device_arena(argc - 3, argv + 3);
}

static const char gpu_kernels[] =
    "extern \"C\" __global__ void copy(const float *in, float *out, long long n)\n"
    "{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) out[i] = in[i]; "
    "}\n"
    "extern \"C\" __global__ void twice(const float *in, float *out, long long n)\n"
    "{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = 2 * in[i]; }\n"
    "extern \"C\" __global__ void minus(const float *a, const float *b, float *out, long long n)\n"
    "{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = a[i] - b[i]; }\n"
    "__device__ int state = 5;\n"
    "extern \"C\" __global__ void count(const float *in, float *out, long long n)\n"
    "{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = in[i] + state; }\n"
    "extern \"C\" __global__ void step() { state += 1; }\n"
    "extern \"C\" __global__ void write_input(float *in, float *out) { in[3] = 1; out[0] = 1; }\n"
    "extern \"C\" __global__ void at(float *out, long long words) { out[words - 1024] = 1; }\n"
    "extern \"C\" __global__ void hang(volatile float *in) { while (in[0] >= 0) { } }\n"
    "extern \"C\" __global__ void fail() { __trap(); }\n"
    "extern \"C\" __global__ void big(const float *in, float *out, long long n)\n"
    "{ extern __shared__ float shared[];\n"
    "  for (long long i = threadIdx.x; i < n; i += blockDim.x) shared[i] = in[i];\n"
    "  __syncthreads();\n"
    "  for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = shared[i]; }\n"
    "extern \"C\" __global__ void say(long long n) { printf(\"hello %d\\n\", (int)n); }\n";

static inline int gpu_precompile_all(const char *const *texts)
{
    struct hone_cuda *cu = NULL;
    struct hone_nvrtc *nvrtc = NULL;
    struct hone_gpu_device device;
    char arch[64];
    ERR_INIT(why);
    if (hone_cuda_open(&cu, &why) < 0 || hone_nvrtc_open(&nvrtc, &why) < 0 ||
        hone_gpu_device_open(cu, 0, &device, &why) < 0) {
        (void)printf("1..0 # SKIP %s\n", why.message);
        return 77;
    }
    gpu_arch(&device, arch);
    for (size_t i = 0; i < HONE_COUNTOF(gpu_kept); i++) {
        size_t len = 0;
        unsigned char *image = gpu_try_compile(nvrtc, arch, texts[i], &len);
        if (image == NULL || write(gpu_kept[i].fd, image, len) != (ssize_t)len)
            return 1;
        free(image);
    }
    return 0;
}

/* In a child, since a driver does not survive a fork. Returns 77 when there is no device. */
static inline int gpu_precompile(void)
{
    const char *const texts[] = {hone_gpu_stamp_text, gpu_kernels};
    for (size_t i = 0; i < HONE_COUNTOF(gpu_kept); i++)
        gpu_kept[i] = (struct gpu_kept){texts[i], memfd_create("image", MFD_CLOEXEC)};
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int status = gpu_precompile_all(texts);
        (void)fflush(stdout);
        _exit(status);
    }
    int status = 1;
    (void)waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#endif

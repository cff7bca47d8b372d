/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated CUDA driver and NVRTC (tests/cuda_emulator) behave as the real ones where hone leans
 * on it. Each test is a process of its own: a fault breaks the context for good. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <libgen.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/runner/cuda/driver/cuda_api.h"
#include "workspace/base/base.h"
#include "workspace/base/clock.h"

static const char device_text[] =
    "#include <cuda_fp16.h>\n"
    "struct pair { int a; double b; };\n"
    "__device__ int counter = 7;\n"
    "static __device__ float table[3];\n"
    "extern \"C\" __global__ void axpy(float *y, const float *x, float a, long n)\n"
    "{\n"
    "    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] += a * x[i];\n"
    "}\n"
    "template <int T> __global__ void reverse(int *x, pair p, char c)\n"
    "{\n"
    "    __shared__ int s[T];\n"
    "    s[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = s[T - 1 - threadIdx.x] + p.a + (int)p.b + c;\n"
    "}\n"
    "__global__ void warps(int *sums, unsigned *votes, float *total, __half *h)\n"
    "{\n"
    "    int v = threadIdx.x;\n"
    "    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);\n"
    "    sums[threadIdx.x] = v;\n"
    "    votes[threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x % 3 == 0);\n"
    "    if (threadIdx.x % 32 < 8)\n"
    "        votes[threadIdx.x] += __reduce_add_sync(0xffu, 1u);\n"
    "    else\n"
    "        votes[threadIdx.x] += __shfl_down_sync(0xffffff00u, 100u, 1);\n"
    "    atomicAdd(total, 0.5f);\n"
    "    h[threadIdx.x] = __hfma(h[threadIdx.x], __float2half(2.0f), __half(1.0f));\n"
    "}\n"
    "__global__ void poisoned(float *x)\n"
    "{\n"
    "    extern __shared__ float d[];\n"
    "    __shared__ float s[2];\n"
    "    x[2 * blockIdx.x] = s[1];\n"
    "    x[2 * blockIdx.x + 1] = d[5];\n"
    "    s[1] = d[5] = 1;\n"
    "}\n"
    "__global__ void grid(int *x, int *y)\n"
    "{\n"
    "    __shared__ int mine;\n"
    "    if (threadIdx.x == 0) x[blockIdx.x] = mine = blockIdx.x + 1;\n"
    "    cooperative_groups::this_grid().sync();\n"
    "    if (threadIdx.x == 0) y[blockIdx.x] = 10 * mine + x[(blockIdx.x + 1) % gridDim.x];\n"
    "}\n"
    "__global__ void fails(int how, int *x)\n"
    "{\n"
    "    if (how == 0) assert(x == 0);\n"
    "    if (how == 1) *(volatile int *)0 = 1;\n"
    "    if (how == 2) ((float4 *)(x + 1))[0] = make_float4(1, 2, 3, 4);\n"
    "    if (how == 3) { if (threadIdx.x == 0) __syncwarp(3u); else __syncthreads(); }\n"
    "    if (how == 4) x[-(1l << 34)] = 1;\n"
    "    if (how == 5) __trap();\n"
    "    extern __shared__ int none[];\n"
    "    if (how == 6) none[3] = 1;\n"
    "    if (how == 7) __pipeline_memcpy_async(x, x + 5, 16);\n"
    "}\n"
    "__global__ void gate(const volatile int *go, int *x)\n"
    "{\n"
    "    while (*go == 0) __nanosleep(100);\n"
    "    *x += counter;\n"
    "}\n"
    "__global__ void times_add(int *x, int a, int b) { *x = *x * a + b; }\n";

struct rig {
    struct hone_cuda *cu;
    struct hone_nvrtc *rt;
    hone_cu_module module;
};

static void rig_done(struct rig *rig)
{
    hone_cuda_close(rig->cu);
    hone_nvrtc_close(rig->rt);
}
#define RIG HONE_CLEANUP(rig_done) struct rig rig = {0}

static void open_libraries(struct rig *rig)
{
    struct hone_err err = {0};
    char exe[4096], path[4200];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
    ck_assert_int_gt(len, 0);
    exe[len] = '\0';
    (void)snprintf(path, sizeof path, "%s/../../../cuda_emulator", dirname(exe));
    (void)setenv("HONE_CUDA_LIB", path, 1);
    ck_assert_msg(hone_cuda_open(&rig->cu, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_nvrtc_open(&rig->rt, &err) == 0, "%s", err.message);
    ck_assert_int_eq(rig->cu->Init(0), 0);
}

static void make_context(struct rig *rig)
{
    hone_cu_ctx ctx;
    ck_assert_int_eq(rig->cu->DevicePrimaryCtxRetain(&ctx, 0), 0);
    ck_assert_int_eq(rig->cu->CtxSetCurrent(ctx), 0);
}

/* The log when it does not compile; borrowed until the program goes. */
static char *compile(struct rig *rig, const char *text, hone_nvrtc_program *ret, int want)
{
    static const char *const options[] = {"--gpu-architecture=sm_90a", "-std=c++17", "-DGIVEN=41",
                                          "--pre-include=extra.h"};
    static const char *const names[] = {"extra.h"}, *const texts[] = {"constexpr int EXTRA = 1;"};
    ck_assert_int_eq(rig->rt->CreateProgram(ret, text, "dir/k.cu", 1, texts, names), 0);
    ck_assert_int_eq(rig->rt->AddNameExpression(*ret, "reverse<8 * 4>"), 0);
    int rc = rig->rt->CompileProgram(*ret, HONE_COUNTOF(options), options);
    size_t size;
    ck_assert_int_eq(rig->rt->GetProgramLogSize(*ret, &size), 0);
    char *log = hone_malloc(size);
    ck_assert_int_eq(rig->rt->GetProgramLog(*ret, log), 0);
    ck_assert_msg(rc == want, "compiling ended with %d: %s", rc, log);
    if (want != 0)
        ck_assert_int_eq(rig->rt->DestroyProgram(ret), 0);
    return log;
}

static char *build(struct rig *rig)
{
    hone_nvrtc_program program;
    size_t size;
    HONE_AUTOFREE char *log = compile(rig, device_text, &program, 0);
    ck_assert_int_eq(rig->rt->GetCUBINSize(program, &size), 0);
    char *cubin = hone_malloc(size);
    ck_assert_int_eq(rig->rt->GetCUBIN(program, cubin), 0);
    ck_assert_int_eq(rig->rt->DestroyProgram(&program), 0);
    return cubin;
}

static void start(struct rig *rig)
{
    open_libraries(rig);
    make_context(rig);
    HONE_AUTOFREE char *cubin = build(rig);
    ck_assert_int_eq(rig->cu->ModuleLoadData(&rig->module, cubin), 0);
}

static hone_cu_function kernel(struct rig *rig, const char *name)
{
    hone_cu_function f;
    ck_assert_msg(rig->cu->ModuleGetFunction(&f, rig->module, name) == 0, "no kernel %s", name);
    return f;
}
static hone_cu_ptr buffer(struct rig *rig, size_t n, const void *content)
{
    hone_cu_ptr ret;
    ck_assert_int_eq(rig->cu->MemAlloc(&ret, n), 0);
    if (content != NULL)
        ck_assert_int_eq(rig->cu->MemcpyHtoD(ret, content, n), 0);
    return ret;
}

#define LAUNCH(rig_, name_, grid_, block_, shared_, ...)                                           \
    (rig_)->cu->LaunchKernel(kernel((rig_), (name_)), (grid_), 1, 1, (block_), 1, 1, (shared_),    \
                             NULL, (void *[]){__VA_ARGS__}, NULL)

/* ---- device and compiler ---- */

START_TEST(device_facts)
{
    RIG;
    open_libraries(&rig);
    int value = 0;
    size_t n;
    char name[64];
    const char *text;
    ck_assert_int_eq(rig.cu->DeviceGetCount(&value), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(rig.cu->DeviceGetName(name, sizeof name, 0), 0);
    ck_assert_str_eq(name, "Emulated");
    ck_assert_int_eq(rig.cu->DeviceGetAttribute(&value, HONE_CU_DEV_SM_COUNT, 0), 0);
    ck_assert_int_eq(value, 4);
    ck_assert_int_eq(rig.cu->DeviceGetAttribute(&value, HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN, 0), 0);
    ck_assert_int_eq(value, 227 << 10);
    ck_assert_int_eq(rig.cu->DeviceGet(&value, 1), 101);
    ck_assert_int_eq(rig.cu->CtxSynchronize(), 201);
    make_context(&rig);
    ck_assert_int_eq(rig.cu->CtxSynchronize(), 0);
    ck_assert_int_eq(rig.cu->MemGetInfo(&n, &n), 0);
    ck_assert_int_eq(rig.cu->GetErrorName(700, &text), 0);
    ck_assert_str_eq(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
}
END_TEST

START_TEST(compiler_speaks_like_nvrtc)
{
    RIG;
    hone_nvrtc_program program;
    const char *lowered = NULL;
    open_libraries(&rig);
    HONE_AUTOFREE char *good = compile(
        &rig, "template <int T> __global__ void reverse(float4 *x) { x->x = T + GIVEN + EXTRA; }\n",
        &program, 0);
    ck_assert_int_eq(rig.rt->GetLoweredName(program, "reverse<8 * 4>", &lowered), 0);
    ck_assert_str_eq(lowered, "_Z7reverseILi32EEvP6float4");
    ck_assert_int_ne(rig.rt->GetLoweredName(program, "other", &lowered), 0);
    ck_assert_int_eq(rig.rt->DestroyProgram(&program), 0);
    HONE_AUTOFREE char *bad = compile(&rig,
                                      "template <int T> __global__ void reverse() {}\n"
                                      "__global__ void f(int *x)\n{\n    *x = y;\n}\n",
                                      &program, 6);
    ck_assert_ptr_nonnull(strstr(bad, "dir/k.cu(4): error: "));
    ck_assert_ptr_nonnull(strstr(bad, "1 error detected in the compilation of \"dir/k.cu\"."));
    HONE_AUTOFREE char *asm_log =
        compile(&rig, "\n__device__ void f() { asm(\"wgmma.mma_async.sync;\"); }\n", &program, 6);
    ck_assert_ptr_nonnull(strstr(asm_log, "dir/k.cu(2): error: inline assembler"));
}
END_TEST

/* ---- memory ---- */

START_TEST(copies_and_fills)
{
    RIG;
    open_libraries(&rig);
    make_context(&rig);
    const struct hone_cuda *cu = rig.cu;
    unsigned char host[300], back[300];
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)i;
    hone_cu_ptr a = buffer(&rig, sizeof host, host), b = buffer(&rig, sizeof host, NULL);
    ck_assert_int_eq(a % 256, 0);
    ck_assert_int_eq(cu->MemcpyDtoDAsync(b, a, sizeof host, NULL), 0);
    ck_assert_int_eq(cu->MemsetD8Async(b, 9, 4, NULL), 0);
    ck_assert_int_eq(cu->MemsetD32Async(b + 4, 0x01020304, 2, NULL), 0);
    ck_assert_int_eq(cu->MemcpyDtoH(back, b, sizeof back), 0);
    ck_assert_int_eq(back[3], 9);
    ck_assert_int_eq(back[8], 4);
    ck_assert_int_eq(back[12], 12);
    ck_assert_int_eq(back[299], 299 & 0xff);
    ck_assert_int_eq(cu->MemcpyDtoH(back, b + 64, sizeof back), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(cu->MemcpyHtoD((uintptr_t)back, host, 8), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(cu->MemAlloc(&a, 1ull << 40), HONE_CU_OUT_OF_MEMORY);
    ck_assert_int_eq(cu->MemFree(b), 0);
    ck_assert_int_eq(cu->MemFree(b), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(cu->CtxSynchronize(), 0);
}
END_TEST

static const struct hone_cu_alloc_prop prop = {
    .type = HONE_CU_MEM_PINNED,
    .requested_handle_types = HONE_CU_HANDLE_POSIX_FD,
    .location = {HONE_CU_LOCATION_DEVICE, 0},
};

static hone_cu_ptr map(struct rig *rig, hone_cu_handle handle, size_t size, int access)
{
    hone_cu_ptr at;
    struct hone_cu_access desc = {{HONE_CU_LOCATION_DEVICE, 0}, access};
    ck_assert_int_eq(rig->cu->MemAddressReserve(&at, 3 * size, 0, 0, 0), 0);
    ck_assert_int_eq(rig->cu->MemMap(at + size, size, 0, handle, 0), 0);
    ck_assert_int_eq(rig->cu->MemSetAccess(at + size, size, &desc, 1), 0);
    return at + size;
}

START_TEST(read_only_and_guards_fault)
{
    RIG;
    open_libraries(&rig);
    make_context(&rig);
    const struct hone_cuda *cu = rig.cu;
    size_t granule;
    hone_cu_handle handle;
    int value = 5;
    ck_assert_int_eq(cu->MemGetAllocationGranularity(&granule, &prop, HONE_CU_GRANULARITY_MINIMUM),
                     0);
    ck_assert_int_eq(cu->MemCreate(&handle, granule + 1, &prop, 0), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(cu->MemCreate(&handle, granule, &prop, 0), 0);
    hone_cu_ptr rw = map(&rig, handle, granule, HONE_CU_ACCESS_READ_WRITE);
    hone_cu_ptr ro = map(&rig, handle, granule, HONE_CU_ACCESS_READ);
    ck_assert_int_eq(cu->MemMap(rw, granule, 0, handle, 0), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(cu->MemRelease(handle), 0);
    ck_assert_int_eq(cu->MemcpyHtoD(rw + 8, &value, sizeof value), 0);
    value = 0;
    ck_assert_int_eq(cu->MemcpyDtoH(&value, ro + 8, sizeof value), 0);
    ck_assert_int_eq(value, 5);
    ck_assert_int_eq(cu->MemcpyHtoD(rw + granule, &value, 4), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(cu->MemUnmap(rw, granule), 0);
    ck_assert_int_eq(cu->MemAddressFree(rw - granule, 3 * granule), 0);
    ck_assert_int_eq(cu->MemsetD8Async(ro, 1, 1, NULL), 0);
    ck_assert_int_eq(cu->CtxSynchronize(), HONE_CU_ILLEGAL_ADDRESS);
    ck_assert_int_eq(cu->MemAlloc(&rw, 4), HONE_CU_ILLEGAL_ADDRESS);
}
END_TEST

static void send_fd(int socket, int fd)
{
    char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
    *head = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    ck_assert_int_eq(sendmsg(socket, &msg, 0), 1);
}
static int receive_fd(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    int fd = -1;
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &msg, 0) == 1)
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

START_TEST(memory_of_two_processes)
{
    RIG;
    int sockets[2], fd;
    size_t granule = 2 << 20;
    hone_cu_handle handle;
    unsigned char value = 0;
    open_libraries(&rig);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    pid_t pid = fork();
    make_context(&rig);
    if (pid == 0) {
        fd = receive_fd(sockets[1]);
        int rc = rig.cu->MemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                                      HONE_CU_HANDLE_POSIX_FD);
        if (rc == 0)
            rc = rig.cu->MemsetD8Async(map(&rig, handle, granule, HONE_CU_ACCESS_READ_WRITE), 42,
                                       granule, NULL);
        _exit(rc != 0 ? 1 : rig.cu->CtxSynchronize());
    }
    ck_assert_int_eq(rig.cu->MemCreate(&handle, granule, &prop, 0), 0);
    hone_cu_ptr at = map(&rig, handle, granule, HONE_CU_ACCESS_READ_WRITE);
    ck_assert_int_eq(rig.cu->MemExportToShareableHandle(&fd, handle, HONE_CU_HANDLE_POSIX_FD, 0),
                     0);
    send_fd(sockets[0], fd);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(&value, at + granule - 1, 1), 0);
    ck_assert_int_eq(value, 42);
}
END_TEST

/* ---- kernels ---- */

START_TEST(a_million_threads)
{
    enum { N = 1000000 };
    RIG;
    start(&rig);
    HONE_AUTOFREE float *x = hone_calloc(N, sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    hone_cu_ptr dx = buffer(&rig, N * sizeof *x, x), dy = buffer(&rig, N * sizeof *x, x);
    float a = 2;
    long n = N;
    int64_t begin = hone_now_ns();
    ck_assert_int_eq(LAUNCH(&rig, "axpy", N / 256 + 1, 256, 0, &dy, &dx, &a, &n), 0);
    ck_assert_int_eq(rig.cu->CtxSynchronize(), 0);
    int64_t took = hone_now_ns() - begin;
    ck_assert_int_eq(rig.cu->MemcpyDtoH(x, dy, N * sizeof *x), 0);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(x[i], 3.0f * (float)i);
    ck_assert_msg(took < 5 * HONE_NS_PER_S, "%g s", (double)took * 1e-9);
}
END_TEST

START_TEST(barriers_shuffles_atomics)
{
    RIG;
    start(&rig);
    int x[64];
    unsigned votes[64];
    unsigned short h[64];
    for (int i = 0; i < 64; i++)
        x[i] = i, h[i] = 0x3c00; /* 1.0 */
    float total = 0;
    struct {
        int a;
        double b;
    } p = {1000, 200};
    char c = 3;
    hone_cu_ptr dx = buffer(&rig, sizeof x, x), dv = buffer(&rig, sizeof votes, NULL),
                dt = buffer(&rig, sizeof total, &total), dh = buffer(&rig, sizeof h, h);
    ck_assert_int_eq(LAUNCH(&rig, "_Z7reverseILi32EEvPi4pairc", 1, 32, 0, &dx, &p, &c), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(x, dx, sizeof x), 0);
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(x[i], 31 - i + 1203);
    ck_assert_int_eq(LAUNCH(&rig, "_Z5warpsPiPjPfP6__half", 1, 64, 0, &dx, &dv, &dt, &dh), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(x, dx, sizeof x), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(votes, dv, sizeof votes), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(&total, dt, sizeof total), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(h, dh, sizeof h), 0);
    ck_assert_int_eq(x[5], 31 * 16);
    ck_assert_int_eq(x[40], 31 * 16 + 32 * 32);
    ck_assert_uint_eq(votes[3], 0x49249249u + 8);
    ck_assert_uint_eq(votes[10], 0x49249249u + 100);
    ck_assert_float_eq(total, 32.0f);
    ck_assert_int_eq(h[63], 0x4200); /* 3.0 */
}
END_TEST

START_TEST(shared_memory_is_poisoned)
{
    RIG;
    float x[4] = {0};
    start(&rig);
    hone_cu_ptr dx = buffer(&rig, sizeof x, x);
    ck_assert_int_eq(LAUNCH(&rig, "_Z8poisonedPf", 2, 1, 64, &dx), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(x, dx, sizeof x), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(isnan(x[i]), "%d: %g", i, (double)x[i]);
}
END_TEST

START_TEST(launches_are_checked)
{
    RIG;
    start(&rig);
    int value, room;
    hone_cu_function f = kernel(&rig, "_Z8poisonedPf");
    hone_cu_ptr dx = buffer(&rig, 1024, NULL);
    ck_assert_int_eq(LAUNCH(&rig, "axpy", 0, 32, 0, &dx, &dx, &dx, &dx), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(LAUNCH(&rig, "axpy", 1, 1025, 0, &dx, &dx, &dx, &dx), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(LAUNCH(&rig, "_Z8poisonedPf", 1, 1, 60000, &dx), HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(rig.cu->FuncSetAttribute(f, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, 60000), 0);
    ck_assert_int_eq(LAUNCH(&rig, "_Z8poisonedPf", 1, 1, 60000, &dx), 0);
    ck_assert_int_eq(rig.cu->FuncSetAttribute(f, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, 1 << 20),
                     HONE_CU_INVALID_VALUE);
    ck_assert_int_eq(rig.cu->FuncGetAttribute(&value, HONE_CU_FUNC_SHARED_BYTES, f), 0);
    ck_assert_int_eq(value, 8);
    ck_assert_int_eq(rig.cu->OccupancyMaxActiveBlocks(&room, f, 1024, 0), 0);
    ck_assert_int_eq(room, 2);
    ck_assert_int_eq(rig.cu->OccupancyMaxActiveBlocks(&room, f, 32, 100 << 10), 0);
    ck_assert_int_eq(room, 2);
    ck_assert_int_eq(rig.cu->ModuleGetFunction(&f, rig.module, "nothing"), HONE_CU_NOT_FOUND);
    ck_assert_int_eq(rig.cu->CtxSynchronize(), 0);
}
END_TEST

START_TEST(a_grid_that_waits)
{
    RIG;
    start(&rig);
    int y[8];
    hone_cu_ptr dx = buffer(&rig, 8 * sizeof(int), NULL), dy = buffer(&rig, sizeof y, NULL);
    struct hone_cu_launch_attribute attribute = {.id = HONE_CU_LAUNCH_COOPERATIVE};
    attribute.value.cooperative = 1;
    struct hone_cu_launch_config config = {.grid_x = 8,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 64,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .attrs = &attribute,
                                           .n_attrs = 1};
    void *params[] = {&dx, &dy};
    hone_cu_function f = kernel(&rig, "_Z4gridPiS_");
    ck_assert_int_eq(rig.cu->LaunchKernelEx(&config, f, params, NULL), 0);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(y, dy, sizeof y), 0);
    ck_assert_int_eq(y[0], 12);
    ck_assert_int_eq(y[7], 81);
    config.grid_x = 200;
    ck_assert_int_eq(rig.cu->LaunchKernelEx(&config, f, params, NULL),
                     HONE_CU_COOPERATIVE_TOO_LARGE);
    ck_assert_int_eq(LAUNCH(&rig, "_Z4gridPiS_", 2, 1, 0, &dx, &dy), 0);
    ck_assert_int_eq(rig.cu->CtxSynchronize(), HONE_CU_LAUNCH_FAILED);
}
END_TEST

START_TEST(faults_break_the_context)
{
    static const int want[] = {
        HONE_CU_ASSERT,          HONE_CU_ILLEGAL_ADDRESS,   HONE_CU_MISALIGNED_ADDRESS,
        HONE_CU_LAUNCH_FAILED,   HONE_CU_ILLEGAL_ADDRESS,   HONE_CU_ASSERT,
        HONE_CU_ILLEGAL_ADDRESS, HONE_CU_MISALIGNED_ADDRESS};
    RIG;
    open_libraries(&rig);
    HONE_AUTOFREE char *cubin = build(&rig);
    for (int how = 0; how < (int)HONE_COUNTOF(want); how++) {
        pid_t pid = fork(); /* each needs a context of its own */
        if (pid == 0) {
            int value;
            make_context(&rig);
            ck_assert_int_eq(rig.cu->ModuleLoadData(&rig.module, cubin), 0);
            hone_cu_ptr dx = buffer(&rig, 1024, NULL);
            bool is_good = LAUNCH(&rig, "_Z5failsiPi", 1, 2, 0, &how, &dx) == 0 &&
                           rig.cu->CtxSynchronize() == want[how] &&
                           rig.cu->MemcpyDtoH(&value, dx, 4) == want[how] &&
                           rig.cu->CtxSynchronize() == want[how];
            _exit(is_good ? 0 : 1);
        }
        int status;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(status == 0, "fault %d ended with %d", how, status);
    }
}
END_TEST

/* ---- streams, events, graphs, modules ---- */

START_TEST(streams_do_not_block_the_host)
{
    RIG;
    start(&rig);
    const struct hone_cuda *cu = rig.cu;
    void *go, *result;
    hone_cu_stream stream;
    hone_cu_event before, after;
    float ms = -1;
    ck_assert_int_eq(cu->MemHostAlloc(&go, 4, 0), 0);
    ck_assert_int_eq(cu->MemHostAlloc(&result, 4, 0), 0);
    int value = 35;
    hone_cu_ptr dx = buffer(&rig, 4, &value), dgo = (uintptr_t)go;
    ck_assert_int_eq(cu->StreamCreate(&stream, HONE_CU_STREAM_NON_BLOCKING), 0);
    ck_assert_int_eq(cu->EventCreate(&before, 0), 0);
    ck_assert_int_eq(cu->EventCreate(&after, 0), 0);
    ck_assert_int_eq(cu->EventRecord(before, stream), 0);
    void *params[] = {&dgo, &dx};
    ck_assert_int_eq(
        cu->LaunchKernel(kernel(&rig, "_Z4gatePVKiPi"), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL),
        0);
    ck_assert_int_eq(cu->MemcpyDtoHAsync(result, dx, 4, stream), 0);
    ck_assert_int_eq(cu->EventRecord(after, stream), 0);
    ck_assert_int_eq(cu->EventQuery(after), HONE_CU_NOT_READY);
    ck_assert_int_eq(cu->StreamQuery(stream), HONE_CU_NOT_READY);
    *(volatile int *)go = 1;
    ck_assert_int_eq(cu->EventSynchronize(after), 0);
    ck_assert_int_eq(cu->StreamSynchronize(stream), 0);
    ck_assert_int_eq(*(int *)result, 42);
    ck_assert_int_eq(cu->EventElapsedTime(&ms, before, after), 0);
    ck_assert_float_ge(ms, 0);
    ck_assert_int_eq(cu->EventDestroy(before), 0);
    ck_assert_int_eq(cu->EventDestroy(after), 0);
    ck_assert_int_eq(cu->StreamDestroy(stream), 0);
}
END_TEST

static hone_cu_graph_node add_step(struct rig *rig, hone_cu_graph graph, hone_cu_ptr x, int a,
                                   int b, const hone_cu_graph_node *after)
{
    hone_cu_graph_node node;
    void *params[] = {&x, &a, &b};
    struct hone_cu_kernel_params kernel_params = {.func = kernel(rig, "_Z9times_addPiii"),
                                                  .grid_x = 1,
                                                  .grid_y = 1,
                                                  .grid_z = 1,
                                                  .block_x = 1,
                                                  .block_y = 1,
                                                  .block_z = 1,
                                                  .params = params};
    ck_assert_int_eq(
        rig->cu->GraphAddKernelNode(&node, graph, after, after != NULL, &kernel_params), 0);
    return node;
}

START_TEST(graphs_run_in_order)
{
    RIG;
    start(&rig);
    const struct hone_cuda *cu = rig.cu;
    hone_cu_graph graph;
    hone_cu_graph_node node, copied;
    hone_cu_graph_exec exec;
    int x = 1, y = 0;
    hone_cu_ptr dx = buffer(&rig, 4, &x), dy = buffer(&rig, 4, &y);
    struct hone_cu_memset_params fill = {
        .dst = dx, .value = 5, .element_size = 4, .width = 1, .height = 1};
    struct hone_cu_memcpy3d copy = {.src_type = HONE_CU_MEMTYPE_DEVICE,
                                    .src_device = dx,
                                    .dst_type = HONE_CU_MEMTYPE_DEVICE,
                                    .dst_device = dy,
                                    .width = 4,
                                    .height = 1,
                                    .depth = 1};
    ck_assert_int_eq(cu->GraphCreate(&graph, 0), 0);
    ck_assert_int_eq(cu->GraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL), 0);
    node = add_step(&rig, graph, dx, 10, 1, &node);
    node = add_step(&rig, graph, dx, 10, 2, &node);
    ck_assert_int_eq(cu->GraphAddMemcpyNode(&copied, graph, &node, 1, &copy, NULL), 0);
    add_step(&rig, graph, dx, 2, 0, &copied);
    ck_assert_int_eq(cu->GraphInstantiate(&exec, graph, 0), 0);
    ck_assert_int_eq(cu->GraphDestroy(graph), 0);
    ck_assert_int_eq(cu->GraphLaunch(exec, NULL), 0);
    ck_assert_int_eq(cu->GraphLaunch(exec, NULL), 0);
    ck_assert_int_eq(cu->GraphExecDestroy(exec), 0);
    ck_assert_int_eq(cu->MemcpyDtoH(&x, dx, 4), 0);
    ck_assert_int_eq(cu->MemcpyDtoH(&y, dy, 4), 0);
    ck_assert_int_eq(y, 512);
    ck_assert_int_eq(x, 1024);
    /* Without an edge the later one may go first, and does. */
    ck_assert_int_eq(cu->GraphCreate(&graph, 0), 0);
    add_step(&rig, graph, dx, 0, 3, NULL);
    add_step(&rig, graph, dx, 0, 4, NULL);
    ck_assert_int_eq(cu->GraphInstantiate(&exec, graph, 0), 0);
    ck_assert_int_eq(cu->GraphLaunch(exec, NULL), 0);
    ck_assert_int_eq(cu->MemcpyDtoH(&x, dx, 4), 0);
    ck_assert_int_eq(x, 3);
}
END_TEST

START_TEST(variables_of_a_module)
{
    RIG;
    start(&rig);
    hone_cu_ptr at;
    size_t n;
    int value = 0;
    ck_assert_int_eq(rig.cu->ModuleGetGlobal(&at, &n, rig.module, "counter"), 0);
    ck_assert_uint_eq(n, 4);
    ck_assert_int_eq(rig.cu->MemcpyDtoH(&value, at, 4), 0);
    ck_assert_int_eq(value, 7);
    value = 8;
    ck_assert_int_eq(rig.cu->MemcpyHtoD(at, &value, 4), 0);
    ck_assert_int_eq(rig.cu->ModuleGetGlobal(&at, &n, rig.module, "none"), HONE_CU_NOT_FOUND);
    ck_assert_int_eq(rig.cu->ModuleUnload(rig.module), 0);
    ck_assert_int_eq(rig.cu->ModuleLoadData(&rig.module, "no ELF"), HONE_CU_INVALID_IMAGE);
}
END_TEST

START_TEST(tensor_maps_are_checked)
{
    RIG;
    struct hone_cu_tensor_map tensor;
    unsigned long long dims[] = {256, 64}, strides[] = {512};
    unsigned box[] = {64, 8}, element[] = {1, 1};
    open_libraries(&rig);
    void *at = (void *)(uintptr_t)0x10000;
    ck_assert_int_eq(
        rig.cu->TensorMapEncodeTiled(&tensor, 6, 2, at, dims, strides, box, element, 0, 3, 0, 0),
        0);
    box[0] = 128;
    ck_assert_int_eq(
        rig.cu->TensorMapEncodeTiled(&tensor, 6, 2, at, dims, strides, box, element, 0, 3, 0, 0),
        HONE_CU_INVALID_VALUE);
}
END_TEST

/* ---- run_cu.sh ---- */

static const char launcher_text[] =
    "#include <cuda_runtime.h>\n"
    "template <int T> __global__ void sums(const float *x, float *partial, int n)\n"
    "{\n"
    "    extern __shared__ float s[];\n"
    "    int i = blockIdx.x * T + threadIdx.x;\n"
    "    s[threadIdx.x] = i < n ? x[i] : 0;\n"
    "    __syncthreads();\n"
    "    for (int d = T / 2; d > 0; d /= 2) {\n"
    "        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (threadIdx.x == 0) atomicAdd(partial, s[0]);\n"
    "}\n"
    "extern \"C\" int sum(const float *x, float *y, long n, cudaStream_t stream)\n"
    "{\n"
    "    cudaMemsetAsync(y, 0, 4, stream);\n"
    "    sums<TILE><<<(n + TILE - 1) / TILE, TILE, TILE * sizeof(float), stream>>>(x, y, n);\n"
    "    return cudaGetLastError();\n"
    "}\n";

START_TEST(a_file_runs_with_its_launcher)
{
    char exe[4096], dir[] = "/tmp/hone-run-cu-XXXXXX", command[9000], path[64];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
    ck_assert_int_gt(len, 0);
    exe[len] = '\0';
    ck_assert_ptr_nonnull(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/k.cu", dir);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(launcher_text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    (void)snprintf(command, sizeof command,
                   "CXXFLAGS=-DTILE=64 tests/cuda_emulator/run_cu.sh -b %s/../../.. -o %s/k.so %s",
                   dirname(exe), dir, path);
    ck_assert_int_eq(system(command), 0);
    (void)snprintf(path, sizeof path, "%s/k.so", dir);
    void *object = dlopen(path, RTLD_NOW);
    ck_assert_msg(object != NULL, "%s", dlerror());
    int (*sum)(const float *, float *, long, void *);
    void *found = dlsym(object, "sum");
    memcpy(&sum, &found, sizeof sum);
    float x[1000], y = 1;
    for (int i = 0; i < 1000; i++)
        x[i] = 1;
    ck_assert_int_eq(sum(x, &y, 1000, NULL), 0);
    ck_assert_float_eq(y, 1000);
    ck_assert_int_eq(sum(NULL, &y, 1, NULL), HONE_CU_ILLEGAL_ADDRESS);
    (void)snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

UNIT_MAIN("emulator", device_facts, compiler_speaks_like_nvrtc, copies_and_fills,
          read_only_and_guards_fault, memory_of_two_processes, a_million_threads,
          barriers_shuffles_atomics, shared_memory_is_poisoned, launches_are_checked,
          a_grid_that_waits, faults_break_the_context, streams_do_not_block_the_host,
          graphs_run_in_order, variables_of_a_module, tensor_maps_are_checked,
          a_file_runs_with_its_launcher)

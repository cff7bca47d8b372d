/* What NVIDIA's libraries take for the shipped tasks at their cuda sizes: one JSON line each.
 *
 *     yardsticks PACKS [SECONDS]
 *
 * Each call works on the next of several buffer sets that together are more than five times the L2
 * cache, so that nothing is found there from the call before; pairs of events around each call,
 * median. Set-up that a caller does once (descriptors, work space, cuSPARSE's preprocessing) is not
 * timed. Every library call's result is compared at a few elements before it is timed.
 *
 * Built on the machine with the GPU: tests/yardsticks/run.sh. */
#include <cublas_v2.h>
#include <cub/device/device_reduce.cuh>
#include <cuda_bf16.h>
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

static void check(int code, const char *what, int line)
{
    if (code != 0) {
        fprintf(stderr, "yardsticks.cu:%d: %s gives %d\n", line, what, code);
        exit(1);
    }
}
#define CHECK(call) check((int)(call), #call, __LINE__)

using Clock = std::chrono::steady_clock;
static double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Workload {
    std::string id;
    std::map<std::string, int64_t> axes;
    int64_t operator[](const char *name) const { return axes.at(name); }
};

/* The lines are ours: "id" and "axes" with plain integers. */
static std::vector<Workload> read_workloads(const std::string &path)
{
    std::vector<Workload> all;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        Workload w;
        size_t id = line.find("\"id\": \""), axes = line.find("\"axes\": {");
        if (id == std::string::npos || axes == std::string::npos ||
            line.find("\"target\": \"cpu\"") != std::string::npos)
            continue;
        w.id = line.substr(id + 7, line.find('"', id + 7) - id - 7);
        const char *at = line.c_str() + axes + 9;
        while ((at = strchr(at, '"')) != nullptr) {
            const char *end = strchr(at + 1, '"');
            w.axes[std::string(at + 1, end)] = strtoll(end + 2, nullptr, 10);
            at = end + 1;
        }
        all.push_back(w);
    }
    return all;
}

template <class T> __global__ void fill_kernel(T *to, int64_t n, uint64_t seed, int64_t bound)
{ /* integers lie in 0..bound-1, the others in -1..1 */
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t z = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        if constexpr (std::is_same<T, int32_t>::value)
            to[i] = (int32_t)(z % (uint64_t)bound);
        else
            to[i] = (T)((float)(int32_t)(z >> 32) * 0x1p-31f);
    }
}

struct Memory { /* freed at the end of a workload */
    std::vector<void *> all;
    uint64_t seed = 1;
    template <class T> T *take(int64_t n, bool has_content = true, int64_t bound = 0)
    {
        T *p;
        CHECK(cudaMalloc(&p, (size_t)n * sizeof(T)));
        all.push_back(p);
        if (has_content)
            fill_kernel<<<2048, 256>>>(p, n, seed++ << 40, bound);
        CHECK(cudaGetLastError());
        return p;
    }
    ~Memory()
    {
        for (void *p : all)
            cudaFree(p);
    }
};

struct Bench {
    std::string packs;
    double limit_s;
    Clock::time_point start = Clock::now();
    cudaStream_t stream;
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    int64_t l2_bytes;

    bool is_late() const { return seconds_since(start) > limit_s; }
    int n_sets(double bytes) const
    {
        return (int)std::min(512.0, std::max(2.0, ceil(5.0 * (double)l2_bytes / bytes) + 1));
    }
    void line(const char *task, const Workload &w, const char *library, const std::string &algorithm,
              const char *precision, int sets, const std::function<void(int)> &call);
};

void Bench::line(const char *task, const Workload &w, const char *library,
                 const std::string &algorithm, const char *precision, int sets,
                 const std::function<void(int)> &call)
{
    if (is_late())
        return;
    CHECK(cudaDeviceSynchronize());
    Clock::time_point before = Clock::now();
    for (int i = 0; i < 3; i++)
        call(i % sets);
    CHECK(cudaStreamSynchronize(stream));
    double one = std::max(seconds_since(before) / 3, 2e-6);
    int n = (int)std::min(300.0, std::max(9.0, 0.3 / one));
    std::vector<cudaEvent_t> events((size_t)n + 1);
    for (cudaEvent_t &event : events)
        CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecord(events[0], stream));
    for (int i = 0; i < n; i++) {
        call(i % sets);
        CHECK(cudaEventRecord(events[(size_t)i + 1], stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    std::vector<float> ms((size_t)n);
    for (size_t i = 0; i < (size_t)n; i++)
        CHECK(cudaEventElapsedTime(&ms[i], events[i], events[i + 1]));
    for (cudaEvent_t event : events)
        cudaEventDestroy(event);
    std::sort(ms.begin(), ms.end());
    printf("{\"task\": \"%s\", \"workload\": \"%s\", \"library\": \"%s\", \"algorithm\": \"%s\", "
           "\"precision\": \"%s\", \"median_us\": %.3f, \"n\": %d}\n",
           task, w.id.c_str(), library, algorithm.c_str(), precision, 1e3 * ms[(size_t)n / 2], n);
    fflush(stdout);
}

static void expect(double got, double want, double limit, const char *what)
{
    if (!(fabs(got - want) <= limit)) {
        fprintf(stderr, "%s gives %g, expected %g\n", what, got, want);
        exit(1);
    }
}

template <class T> static double read(const T *p, int64_t i)
{
    T value;
    CHECK(cudaMemcpy(&value, p + i, sizeof(T), cudaMemcpyDeviceToHost));
    return (double)(float)value;
}

template <class T>
static void check_gemm(const T *A, const T *B, const T *C, int64_t M, int64_t N, int64_t K,
                       double limit)
{
    for (int64_t i = 0; i < 2; i++) { /* the last element of C and one in the middle */
        int64_t m = i == 0 ? M - 1 : M / 3, n = i == 0 ? N - 1 : N / 2;
        std::vector<T> row((size_t)K), column((size_t)K);
        CHECK(cudaMemcpy(row.data(), A + m * K, (size_t)K * sizeof(T), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy2D(column.data(), sizeof(T), B + n, (size_t)N * sizeof(T), sizeof(T),
                           (size_t)K, cudaMemcpyDeviceToHost));
        double sum = 0;
        for (size_t k = 0; k < (size_t)K; k++)
            sum += (double)(float)row[k] * (double)(float)column[k];
        expect(read(C, m * N + n), sum, limit * (fabs(sum) + sqrt((double)K)), "cuBLAS gemm");
    }
}

/* Row-major C = A B is column-major C' = B' A'. */
template <class T>
static void gemm(Bench &b, const char *task, const Workload &w, cudaDataType type,
                 cublasComputeType_t compute, const char *algorithm, const char *precision,
                 double limit)
{
    int64_t M = w["M"], N = w["N"], K = w["K"];
    if (b.is_late())
        return;
    int sets = b.n_sets((double)sizeof(T) * (double)(M * K + K * N + M * N));
    Memory memory;
    std::vector<T *> A, B, C;
    for (int s = 0; s < sets; s++) {
        A.push_back(memory.take<T>(M * K));
        B.push_back(memory.take<T>(K * N));
        C.push_back(memory.take<T>(M * N, false));
    }
    const float one = 1, zero = 0;
    auto call = [&](int s) {
        CHECK(cublasGemmEx(b.blas, CUBLAS_OP_N, CUBLAS_OP_N, (int)N, (int)M, (int)K, &one,
                           B[(size_t)s], type, (int)N, A[(size_t)s], type, (int)K, &zero,
                           C[(size_t)s], type, (int)N, compute, CUBLAS_GEMM_DEFAULT));
    };
    CHECK(cudaDeviceSynchronize());
    call(0);
    CHECK(cudaStreamSynchronize(b.stream));
    check_gemm(A[0], B[0], C[0], M, N, K, limit);
    b.line(task, w, "cuBLAS", algorithm, precision, sets, call);
}

static void matmul(Bench &b, const Workload &w)
{
    gemm<float>(b, "matmul", w, CUDA_R_32F, CUBLAS_COMPUTE_32F,
                "cublasGemmEx CUBLAS_COMPUTE_32F CUBLAS_GEMM_DEFAULT", "float32", 1e-4);
    gemm<float>(b, "matmul", w, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                "cublasGemmEx CUBLAS_COMPUTE_32F_PEDANTIC CUBLAS_GEMM_DEFAULT", "float32", 1e-4);
    gemm<float>(b, "matmul", w, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
                "cublasGemmEx CUBLAS_COMPUTE_32F_FAST_TF32 CUBLAS_GEMM_DEFAULT", "tf32", 1e-2);
}

static void matmul_bf16(Bench &b, const Workload &w)
{
    gemm<__nv_bfloat16>(b, "matmul_bf16", w, CUDA_R_16BF, CUBLAS_COMPUTE_32F,
                        "cublasGemmEx CUBLAS_COMPUTE_32F CUBLAS_GEMM_DEFAULT",
                        "bfloat16, float32 accumulation", 2e-2);
}

static void transpose(Bench &b, const Workload &w)
{
    int64_t M = w["M"], N = w["N"];
    int sets = b.n_sets(8.0 * (double)(M * N));
    Memory memory;
    std::vector<float *> X, Y;
    for (int s = 0; s < sets; s++) {
        X.push_back(memory.take<float>(M * N));
        Y.push_back(memory.take<float>(M * N, false));
    }
    const float one = 1, zero = 0;
    auto call = [&](int s) {
        float *to = Y[(size_t)s];
        CHECK(cublasSgeam(b.blas, CUBLAS_OP_T, CUBLAS_OP_N, (int)M, (int)N, &one, X[(size_t)s],
                          (int)N, &zero, to, (int)M, to, (int)M));
    };
    CHECK(cudaDeviceSynchronize());
    call(0);
    CHECK(cudaStreamSynchronize(b.stream));
    int64_t m = M / 3, n = N / 2;
    expect(read(Y[0], n * M + m), read(X[0], m * N + n), 0, "cublasSgeam");
    b.line("transpose", w, "cuBLAS", "cublasSgeam", "float32", sets, call);
}

static void sum(Bench &b, const Workload &w)
{
    int64_t N = w["N"];
    int sets = b.n_sets(4.0 * (double)N);
    Memory memory;
    std::vector<float *> X;
    float *S = memory.take<float>(sets, false);
    for (int s = 0; s < sets; s++)
        X.push_back(memory.take<float>(N));
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, X[0], S, N, b.stream));
    char *room = memory.take<char>((int64_t)bytes + 1, false);
    auto call = [&](int s) {
        size_t n = bytes;
        CHECK(cub::DeviceReduce::Sum(room, n, X[(size_t)s], S + s, N, b.stream));
    };
    CHECK(cudaDeviceSynchronize());
    call(0);
    CHECK(cudaStreamSynchronize(b.stream));
    std::vector<float> host((size_t)N);
    CHECK(cudaMemcpy(host.data(), X[0], (size_t)N * 4, cudaMemcpyDeviceToHost));
    double want = 0;
    for (float v : host)
        want += (double)v;
    expect(read(S, 0), want, 1e-2 * sqrt((double)N), "cub::DeviceReduce::Sum");
    b.line("sum", w, "CUB", "DeviceReduce::Sum", "float32", sets, call);
}

struct Csr {
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
};

/* Row lengths as the judge draws them: geometric around the mean. */
static std::vector<int32_t> make_offsets(int64_t M, int64_t NNZ)
{
    std::vector<double> at((size_t)M + 1);
    uint64_t z = 88172645463325252u;
    for (size_t i = 1; i <= (size_t)M; i++) {
        z ^= z << 13, z ^= z >> 7, z ^= z << 17;
        at[i] = at[i - 1] - log(((double)(z >> 11) + 0.5) * 0x1p-53);
    }
    std::vector<int32_t> offsets((size_t)M + 1);
    for (size_t i = 0; i <= (size_t)M; i++)
        offsets[i] = (int32_t)((double)NNZ * at[i] / at[(size_t)M]);
    return offsets;
}

static void spmv(Bench &b, const Workload &w)
{
    int64_t M = w["M"], N = w["N"], NNZ = w["NNZ"];
    int sets = b.n_sets(8.0 * (double)NNZ + 8.0 * (double)M + 4.0 * (double)N);
    std::vector<int32_t> host = make_offsets(M, NNZ);
    const float one = 1, zero = 0;
    for (cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        if (b.is_late())
            return;
        Memory memory;
        std::vector<Csr> all;
        std::vector<void *> rooms;
        float *y0 = nullptr, *values0 = nullptr, *x0 = nullptr;
        int32_t *columns0 = nullptr;
        for (int s = 0; s < sets; s++) {
            Csr csr;
            int32_t *offsets = memory.take<int32_t>(M + 1, false);
            int32_t *columns = memory.take<int32_t>(NNZ, true, N);
            float *values = memory.take<float>(NNZ), *x = memory.take<float>(N);
            float *y = memory.take<float>(M, false);
            CHECK(cudaMemcpy(offsets, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
            CHECK(cusparseCreateCsr(&csr.matrix, M, N, NNZ, offsets, columns, values,
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
            CHECK(cusparseCreateDnVec(&csr.x, N, x, CUDA_R_32F));
            CHECK(cusparseCreateDnVec(&csr.y, M, y, CUDA_R_32F));
            size_t bytes = 0;
            CHECK(cusparseSpMV_bufferSize(b.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                          csr.matrix, csr.x, &zero, csr.y, CUDA_R_32F, algorithm,
                                          &bytes));
            rooms.push_back(memory.take<char>((int64_t)bytes + 1, false));
            CHECK(cusparseSpMV_preprocess(b.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                          csr.matrix, csr.x, &zero, csr.y, CUDA_R_32F, algorithm,
                                          rooms.back()));
            all.push_back(csr);
            if (s == 0)
                y0 = y, values0 = values, x0 = x, columns0 = columns;
        }
        auto call = [&](int s) {
            const Csr &csr = all[(size_t)s];
            CHECK(cusparseSpMV(b.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, csr.matrix, csr.x,
                               &zero, csr.y, CUDA_R_32F, algorithm, rooms[(size_t)s]));
        };
        CHECK(cudaDeviceSynchronize());
        call(0);
        CHECK(cudaStreamSynchronize(b.stream));
        int64_t row = M / 2;
        double want = 0;
        for (int64_t k = host[(size_t)row]; k < host[(size_t)row + 1]; k++) {
            int32_t column;
            CHECK(cudaMemcpy(&column, columns0 + k, 4, cudaMemcpyDeviceToHost));
            want += read(values0, k) * read(x0, column);
        }
        expect(read(y0, row), want, 1e-4, "cusparseSpMV");
        b.line("spmv_csr", w, "cuSPARSE",
               algorithm == CUSPARSE_SPMV_CSR_ALG1 ? "cusparseSpMV CUSPARSE_SPMV_CSR_ALG1"
                                                   : "cusparseSpMV CUSPARSE_SPMV_CSR_ALG2",
               "float32", sets, call);
        for (Csr &csr : all) {
            cusparseDestroySpMat(csr.matrix);
            cusparseDestroyDnVec(csr.x);
            cusparseDestroyDnVec(csr.y);
        }
    }
}

/* The ceiling of what only moves memory: a copy of the softmax's bytes. */
static void copy(Bench &b, const Workload &w)
{
    int64_t n = w["M"] * w["N"];
    int sets = b.n_sets(8.0 * (double)n);
    Memory memory;
    std::vector<float *> X, Y;
    for (int s = 0; s < sets; s++) {
        X.push_back(memory.take<float>(n));
        Y.push_back(memory.take<float>(n, false));
    }
    b.line("softmax", w, "CUDA", "cudaMemcpyAsync of the same bytes", "float32", sets, [&](int s) {
        CHECK(cudaMemcpyAsync(Y[(size_t)s], X[(size_t)s], (size_t)n * 4, cudaMemcpyDeviceToDevice,
                              b.stream));
    });
}

static const struct {
    const char *task;
    void (*run)(Bench &b, const Workload &w);
} tasks[] = {{"matmul", matmul}, {"matmul_bf16", matmul_bf16}, {"transpose", transpose},
             {"sum", sum},       {"spmv_csr", spmv},           {"softmax", copy}};

int main(int argc, char **argv)
{
    Bench b;
    int l2 = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: yardsticks PACKS [SECONDS]\n");
        return 2;
    }
    b.packs = argv[1];
    b.limit_s = argc > 2 ? atof(argv[2]) : 60;
    CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    b.l2_bytes = l2;
    CHECK(cudaStreamCreate(&b.stream));
    CHECK(cublasCreate(&b.blas));
    CHECK(cublasSetStream(b.blas, b.stream));
    CHECK(cusparseCreate(&b.sparse));
    CHECK(cusparseSetStream(b.sparse, b.stream));
    for (const auto &task : tasks)
        for (const Workload &w : read_workloads(b.packs + "/" + task.task + "/workloads.jsonl"))
            if (!b.is_late())
                task.run(b, w);
    if (b.is_late())
        fprintf(stderr, "the time given was too short: some lines are missing\n");
    return 0;
}

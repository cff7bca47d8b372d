/* Has two versions and takes one when it is loaded, by what the processor can do.
 *
 * task: spmv_csr
 * honest: 13 constant tables and choices made at load */
#include <stdint.h>

typedef void kernel(const int32_t *offsets, const int32_t *columns, const float *values,
                    const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1);

static void plain(const int32_t *offsets, const int32_t *columns, const float *values,
                  const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N, (void)NNZ, (void)M1;
    for (int64_t row = 0; row < M; row++) {
        float sum = 0.0f;
        for (int32_t k = offsets[row]; k < offsets[row + 1]; k++)
            sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}

static void threaded(const int32_t *offsets, const int32_t *columns, const float *values,
                     const float *x, float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
{
    (void)N, (void)NNZ, (void)M1;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < M; row++) {
        float sum[2] = {0.0f, 0.0f};
        int32_t k = offsets[row];
        for (; k + 1 < offsets[row + 1]; k += 2) {
            sum[0] += values[k] * x[columns[k]];
            sum[1] += values[k + 1] * x[columns[k + 1]];
        }
        if (k < offsets[row + 1])
            sum[0] += values[k] * x[columns[k]];
        y[row] = sum[0] + sum[1];
    }
}

static kernel *choose(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") ? threaded : plain;
}

void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x,
              float *y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
    __attribute__((ifunc("choose")));

/* Lattice template: eight strategies of a sparse matrix times a vector; see
 * docs/decisions/0023-lattices.md.
 *
 * lattice task spmv_csr
 * lattice strategy S_THREADS C08
 * lattice strategy S_BALANCE C24
 * lattice strategy S_SIMD C04
 * lattice strategy S_ACC C03
 * lattice strategy S_PREFETCH C11
 * lattice strategy S_UNROLL C16
 * lattice strategy S_FAST C15
 * lattice strategy S_SHORT C21
 */
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_BALANCE: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_ACC: 0, 1)
#pragma hone tune(S_PREFETCH: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_FAST: 0, 1)
#pragma hone tune(S_SHORT: 0, 1) where(!S_BALANCE || S_THREADS)
#include <stdint.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_SIMD
void spmv_csr(const int32_t *restrict offsets, const int32_t *restrict columns, const float *restrict values,
              const float *restrict x, float *restrict y, int64_t M, int64_t N, int64_t NNZ, int64_t M1)
#else
void spmv_csr(const int32_t *offsets, const int32_t *columns, const float *values, const float *x, float *y, int64_t M,
              int64_t N, int64_t NNZ, int64_t M1)
#endif
{
    (void)N;
    (void)NNZ;
    (void)M1;
#if S_BALANCE
#pragma omp parallel for schedule(dynamic, 256)
#elif S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t row = 0; row < M; row++) {
        int32_t begin = offsets[row], end = offsets[row + 1];
        float sum = 0.0f;
#if S_SHORT
        if (end - begin <= 4) {
            for (int32_t k = begin; k < end; k++)
                sum += values[k] * x[columns[k]];
            y[row] = sum;
            continue;
        }
#endif
#if S_ACC
        float sums[4] = {0.0f};
        int32_t k = begin;
        for (; k + 4 <= end; k += 4) {
#if S_PREFETCH
            __builtin_prefetch(values + k + 64);
            __builtin_prefetch(columns + k + 64);
#endif
#if S_SIMD
#pragma omp simd
#endif
            for (int c = 0; c < 4; c++)
                sums[c] += values[k + c] * x[columns[k + c]];
        }
        for (; k < end; k++)
            sum += values[k] * x[columns[k]];
        sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
#else
#if S_SIMD
#pragma omp simd reduction(+ : sum)
#endif
        for (int32_t k = begin; k < end; k++) {
#if S_PREFETCH
            __builtin_prefetch(values + k + 64);
            __builtin_prefetch(columns + k + 64);
#endif
            sum += values[k] * x[columns[k]];
        }
#endif
        y[row] = sum;
    }
}

/* Lattice template: eight strategies of a row-wise normalisation; see
 * docs/decisions/0023-lattices.md.
 *
 * lattice task rmsnorm
 * lattice strategy S_THREADS C08
 * lattice strategy S_SIMD C04
 * lattice strategy S_ACC C03
 * lattice strategy S_FUSE C17
 * lattice strategy S_PREFETCH C11
 * lattice strategy S_UNROLL C16
 * lattice strategy S_FAST C15
 * lattice strategy S_BLOCK C01
 */
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_ACC: 0, 1)
#pragma hone tune(S_FUSE: 0, 1)
#pragma hone tune(S_PREFETCH: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_FAST: 0, 1)
#pragma hone tune(S_BLOCK: 0, 1)
#include <math.h>
#include <stdint.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_SIMD
void rmsnorm(const float *restrict X, const float *restrict G, float *restrict Y, float eps, int64_t M, int64_t N)
#else
void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
#endif
{
#if S_BLOCK
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t m0 = 0; m0 < M; m0 += 4)
        for (int64_t m = m0; m < m0 + 4 && m < M; m++) {
#else
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t m = 0; m < M; m++) {
        {
#endif
            float sum = 0.0f;
#if S_ACC
            float sums[8] = {0.0f};
            int64_t i = 0;
            for (; i + 8 <= N; i += 8)
#if S_SIMD
#pragma omp simd
#endif
                for (int c = 0; c < 8; c++)
                    sums[c] += X[m * N + i + c] * X[m * N + i + c];
            for (; i < N; i++)
                sum += X[m * N + i] * X[m * N + i];
            for (int c = 0; c < 8; c++)
                sum += sums[c];
#else
#if S_SIMD
#pragma omp simd reduction(+ : sum)
#endif
            for (int64_t i = 0; i < N; i++)
                sum += X[m * N + i] * X[m * N + i];
#endif
            float scale = 1.0f / sqrtf(sum / (float)N + eps);
#if S_PREFETCH
            for (int64_t n = 0; n < 256; n += 16)
                __builtin_prefetch(X + (m + 1) * N + n);
#endif
#if S_FUSE
#if S_SIMD
#pragma omp simd
#endif
            for (int64_t n = 0; n < N; n++)
                Y[m * N + n] = X[m * N + n] * (scale * G[n]);
#else
#if S_SIMD
#pragma omp simd
#endif
            for (int64_t n = 0; n < N; n++)
                Y[m * N + n] = X[m * N + n] * scale;
#if S_SIMD
#pragma omp simd
#endif
            for (int64_t n = 0; n < N; n++)
                Y[m * N + n] = Y[m * N + n] * G[n];
#endif
        }
#if !S_BLOCK
    }
#endif
}

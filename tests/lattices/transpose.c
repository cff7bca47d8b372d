/* Lattice template: eight strategies of a transposition; see docs/decisions/0023-lattices.md.
 *
 * lattice task transpose
 * lattice strategy S_ORDER C02
 * lattice strategy S_TILE C01
 * lattice strategy S_THREADS C08
 * lattice strategy S_SIMD C04
 * lattice strategy S_MICRO G06
 * lattice strategy S_BUFFER C07
 * lattice strategy S_PREFETCH C11
 * lattice strategy S_UNROLL C16
 */
#pragma hone tune(S_ORDER: 0, 1)
#pragma hone tune(S_TILE: 0, 1)
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_MICRO: 0, 1)
#pragma hone tune(S_BUFFER: 0, 1)
#pragma hone tune(S_PREFETCH: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1) where(!S_BUFFER || S_TILE)
#include <stdint.h>
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_SIMD
void transpose(const float *restrict X, float *restrict Y, int64_t M, int64_t N)
#else
void transpose(const float *X, float *Y, int64_t M, int64_t N)
#endif
{
#if S_TILE
    enum { TILE = 32 };
#if S_THREADS
#pragma omp parallel for collapse(2) schedule(static)
#endif
    for (int64_t m0 = 0; m0 < M; m0 += TILE)
        for (int64_t n0 = 0; n0 < N; n0 += TILE) {
            int64_t m1 = m0 + TILE < M ? m0 + TILE : M, n1 = n0 + TILE < N ? n0 + TILE : N;
#if S_PREFETCH
            for (int64_t m = m0; m < m1; m++)
                __builtin_prefetch(X + m * N + n0 + TILE);
#endif
#if S_BUFFER
            float buffer[TILE * TILE];
            for (int64_t m = m0; m < m1; m++)
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t n = n0; n < n1; n++)
                    buffer[(n - n0) * TILE + m - m0] = X[m * N + n];
            for (int64_t n = n0; n < n1; n++)
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t m = m0; m < m1; m++)
                    Y[n * M + m] = buffer[(n - n0) * TILE + m - m0];
#else
            int64_t done = m0;
#if S_MICRO
            for (; done + 8 <= m1; done += 8) {
                for (int64_t n = n0; n < n1; n++) {
                    float row[8];
                    for (int c = 0; c < 8; c++)
                        row[c] = X[(done + c) * N + n];
#if S_SIMD
#pragma omp simd
#endif
                    for (int c = 0; c < 8; c++)
                        Y[n * M + done + c] = row[c];
                }
            }
#endif
#if S_ORDER
            for (int64_t n = n0; n < n1; n++)
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t m = done; m < m1; m++)
                    Y[n * M + m] = X[m * N + n];
#else
            for (int64_t m = done; m < m1; m++)
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t n = n0; n < n1; n++)
                    Y[n * M + m] = X[m * N + n];
#endif
#endif
        }
#elif S_MICRO
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t m0 = 0; m0 < M; m0 += 8) {
        int64_t n_rows = M - m0 < 8 ? M - m0 : 8;
        for (int64_t n = 0; n < N; n++) {
#if S_PREFETCH
            __builtin_prefetch(X + m0 * N + n + 64);
#endif
            if (n_rows == 8) {
                float row[8];
                for (int c = 0; c < 8; c++)
                    row[c] = X[(m0 + c) * N + n];
#if S_SIMD
#pragma omp simd
#endif
                for (int c = 0; c < 8; c++)
                    Y[n * M + m0 + c] = row[c];
            } else
                for (int64_t c = 0; c < n_rows; c++)
                    Y[n * M + m0 + c] = X[(m0 + c) * N + n];
        }
    }
#elif S_ORDER
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t n = 0; n < N; n++)
#if S_SIMD
#pragma omp simd
#endif
        for (int64_t m = 0; m < M; m++) {
#if S_PREFETCH
            __builtin_prefetch(X + (m + 16) * N + n);
#endif
            Y[n * M + m] = X[m * N + n];
        }
#else
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t m = 0; m < M; m++)
#if S_SIMD
#pragma omp simd
#endif
        for (int64_t n = 0; n < N; n++) {
#if S_PREFETCH
            __builtin_prefetch(X + m * N + n + 64);
#endif
            Y[n * M + m] = X[m * N + n];
        }
#endif
}

/* Lattice template: eight strategies of a matrix product; see docs/decisions/0023-lattices.md.
 *
 * lattice task matmul
 * lattice strategy S_ORDER C02
 * lattice strategy S_SIMD C04
 * lattice strategy S_THREADS C08
 * lattice strategy S_TILE C01
 * lattice strategy S_MICRO G06
 * lattice strategy S_PACK C07
 * lattice strategy S_UNROLL C16
 * lattice strategy S_FAST C15
 */
#pragma hone tune(S_ORDER: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_TILE: 0, 1)
#pragma hone tune(S_MICRO: 0, 1)
#pragma hone tune(S_PACK: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_FAST: 0, 1) where(!S_PACK || S_TILE)
#include <stdint.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_SIMD
void matmul(const float *restrict A, const float *restrict B, float *restrict C, int64_t M, int64_t N, int64_t K)
#else
void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
#endif
{
#if S_TILE
    enum { IB = 32, KB = 128, JB = 128 };
    for (int64_t n = 0; n < M * N; n++)
        C[n] = 0.0f;
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t i0 = 0; i0 < M; i0 += IB) {
        int64_t i1 = i0 + IB < M ? i0 + IB : M;
        for (int64_t k0 = 0; k0 < K; k0 += KB) {
            int64_t k1 = k0 + KB < K ? k0 + KB : K;
            for (int64_t j0 = 0; j0 < N; j0 += JB) {
                int64_t j1 = j0 + JB < N ? j0 + JB : N;
#if S_PACK
                float panel[KB * JB];
                for (int64_t k = k0; k < k1; k++)
                    for (int64_t j = j0; j < j1; j++)
                        panel[(k - k0) * JB + j - j0] = B[k * N + j];
                const float *b = panel;
                int64_t ld = JB;
#else
                const float *b = B + k0 * N + j0;
                int64_t ld = N;
#endif
                int64_t i = i0;
#if S_MICRO
                for (; i + 4 <= i1; i += 4) {
                    int64_t j = j0;
                    for (; j + 16 <= j1; j += 16) {
                        float sum[4][16] = {{0.0f}};
                        for (int64_t k = 0; k < k1 - k0; k++)
                            for (int r = 0; r < 4; r++)
#if S_SIMD
#pragma omp simd
#endif
                                for (int c = 0; c < 16; c++)
                                    sum[r][c] += A[(i + r) * K + k0 + k] * b[k * ld + j - j0 + c];
                        for (int r = 0; r < 4; r++)
                            for (int c = 0; c < 16; c++)
                                C[(i + r) * N + j + c] += sum[r][c];
                    }
                    for (; j < j1; j++)
                        for (int r = 0; r < 4; r++) {
                            float sum = 0.0f;
                            for (int64_t k = 0; k < k1 - k0; k++)
                                sum += A[(i + r) * K + k0 + k] * b[k * ld + j - j0];
                            C[(i + r) * N + j] += sum;
                        }
                }
#endif
                for (; i < i1; i++) {
#if S_ORDER
                    for (int64_t k = 0; k < k1 - k0; k++)
#if S_SIMD
#pragma omp simd
#endif
                        for (int64_t j = j0; j < j1; j++)
                            C[i * N + j] += A[i * K + k0 + k] * b[k * ld + j - j0];
#else
                    for (int64_t j = j0; j < j1; j++) {
                        float sum = 0.0f;
#if S_SIMD
#pragma omp simd reduction(+ : sum)
#endif
                        for (int64_t k = 0; k < k1 - k0; k++)
                            sum += A[i * K + k0 + k] * b[k * ld + j - j0];
                        C[i * N + j] += sum;
                    }
#endif
                }
            }
        }
    }
#elif S_MICRO
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t i0 = 0; i0 < M; i0 += 4) {
        int64_t n_rows = M - i0 < 4 ? M - i0 : 4, j = 0;
        for (; n_rows == 4 && j + 16 <= N; j += 16) {
            float sum[4][16] = {{0.0f}};
            for (int64_t k = 0; k < K; k++)
                for (int r = 0; r < 4; r++)
#if S_SIMD
#pragma omp simd
#endif
                    for (int c = 0; c < 16; c++)
                        sum[r][c] += A[(i0 + r) * K + k] * B[k * N + j + c];
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 16; c++)
                    C[(i0 + r) * N + j + c] = sum[r][c];
        }
        for (int64_t r = 0; r < n_rows; r++) {
#if S_ORDER
            for (int64_t n = j; n < N; n++)
                C[(i0 + r) * N + n] = 0.0f;
            for (int64_t k = 0; k < K; k++)
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t n = j; n < N; n++)
                    C[(i0 + r) * N + n] += A[(i0 + r) * K + k] * B[k * N + n];
#else
            for (int64_t n = j; n < N; n++) {
                float sum = 0.0f;
                for (int64_t k = 0; k < K; k++)
                    sum += A[(i0 + r) * K + k] * B[k * N + n];
                C[(i0 + r) * N + n] = sum;
            }
#endif
        }
    }
#else
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t i = 0; i < M; i++) {
#if S_ORDER
        for (int64_t j = 0; j < N; j++)
            C[i * N + j] = 0.0f;
        for (int64_t k = 0; k < K; k++)
#if S_SIMD
#pragma omp simd
#endif
            for (int64_t j = 0; j < N; j++)
                C[i * N + j] += A[i * K + k] * B[k * N + j];
#else
        for (int64_t j = 0; j < N; j++) {
            float sum = 0.0f;
#if S_SIMD
#pragma omp simd reduction(+ : sum)
#endif
            for (int64_t k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
#endif
    }
#endif
}

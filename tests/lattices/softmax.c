/* Lattice template: eight strategies of a row-wise soft-max; see docs/decisions/0023-lattices.md.
 *
 * lattice task softmax
 * lattice strategy S_REUSE C17
 * lattice strategy S_VEXP G44
 * lattice strategy S_SIMD C04
 * lattice strategy S_THREADS C08
 * lattice strategy S_ACC C03
 * lattice strategy S_RECIP C18
 * lattice strategy S_UNROLL C16
 * lattice strategy S_FAST C15
 */
#pragma hone tune(S_REUSE: 0, 1)
#pragma hone tune(S_VEXP: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_ACC: 0, 1)
#pragma hone tune(S_RECIP: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_FAST: 0, 1)
#include <math.h>
#include <stdint.h>
#include <string.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_VEXP
/* exp by 2^n times a polynomial: no branch, no table, so that it vectorises */
static inline float fast_exp(float x)
{
    float limited = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
    float n = (float)(int32_t)(limited * 1.44269504f + (limited < 0.0f ? -0.5f : 0.5f));
    float r = limited - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    float y = p * r * r + r + 1.0f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return x < -87.0f ? 0.0f : y * scale;
}
#endif

#if S_SIMD
void softmax(const float *restrict X, float *restrict Y, int64_t M, int64_t N)
#else
void softmax(const float *X, float *Y, int64_t M, int64_t N)
#endif
{
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t m = 0; m < M; m++) {
        float top = X[m * N];
#if S_ACC
        float tops[8];
        for (int c = 0; c < 8; c++)
            tops[c] = top;
        int64_t whole = N / 8 * 8;
        for (int64_t i = 0; i < whole; i += 8)
            for (int c = 0; c < 8; c++)
                tops[c] = X[m * N + i + c] > tops[c] ? X[m * N + i + c] : tops[c];
        for (int64_t i = whole; i < N; i++)
            top = X[m * N + i] > top ? X[m * N + i] : top;
        for (int c = 0; c < 8; c++)
            top = tops[c] > top ? tops[c] : top;
#else
#if S_SIMD
#pragma omp simd reduction(max : top)
#endif
        for (int64_t i = 1; i < N; i++)
            top = X[m * N + i] > top ? X[m * N + i] : top;
#endif
        float sum = 0.0f;
#if S_ACC
        float sums[8] = {0.0f};
        for (int64_t i = 0; i < whole; i += 8)
            for (int c = 0; c < 8; c++) {
#if S_VEXP
                float e = fast_exp(X[m * N + i + c] - top);
#else
                float e = expf(X[m * N + i + c] - top);
#endif
#if S_REUSE
                Y[m * N + i + c] = e;
#endif
                sums[c] += e;
            }
        for (int64_t i = whole; i < N; i++) {
#else
#if S_SIMD
#pragma omp simd reduction(+ : sum)
#endif
        for (int64_t i = 0; i < N; i++) {
#endif
#if S_VEXP
            float e = fast_exp(X[m * N + i] - top);
#else
            float e = expf(X[m * N + i] - top);
#endif
#if S_REUSE
            Y[m * N + i] = e;
#endif
            sum += e;
        }
#if S_ACC
        for (int c = 0; c < 8; c++)
            sum += sums[c];
#endif
#if S_RECIP
        float scale = 1.0f / sum;
#endif
#if S_SIMD
#pragma omp simd
#endif
        for (int64_t i = 0; i < N; i++) {
#if S_REUSE
            float e = Y[m * N + i];
#elif S_VEXP
            float e = fast_exp(X[m * N + i] - top);
#else
            float e = expf(X[m * N + i] - top);
#endif
#if S_RECIP
            Y[m * N + i] = e * scale;
#else
            Y[m * N + i] = e / sum;
#endif
        }
    }
}

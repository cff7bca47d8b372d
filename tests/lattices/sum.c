/* Lattice template: eight strategies of a long sum; see docs/decisions/0023-lattices.md.
 *
 * lattice task sum
 * lattice strategy S_SIMD C04
 * lattice strategy S_ACC C03
 * lattice strategy S_THREADS C24
 * lattice strategy S_UNROLL C16
 * lattice strategy S_PREFETCH C11
 * lattice strategy S_FAST C15
 * lattice strategy S_SHORT C22
 * lattice strategy S_BLOCK C01
 */
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_ACC: 0, 1)
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_PREFETCH: 0, 1)
#pragma hone tune(S_FAST: 0, 1)
#pragma hone tune(S_SHORT: 0, 1)
#pragma hone tune(S_BLOCK: 0, 1) where(!S_SHORT || S_BLOCK)
#include <stdint.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_SIMD
void sum(const float *restrict X, float *restrict S, int64_t N)
#else
void sum(const float *X, float *S, int64_t N)
#endif
{
    double total = 0.0;
#if S_BLOCK
#if S_THREADS
#pragma omp parallel for reduction(+ : total) schedule(static)
#endif
    for (int64_t b = 0; b < N; b += 1024) {
        int64_t end = b + 1024 < N ? b + 1024 : N;
#if S_SHORT
        float part = 0.0f;
#else
        double part = 0.0;
#endif
#if S_ACC
#if S_SHORT
        float parts[16] = {0.0f};
#else
        double parts[16] = {0.0};
#endif
        int64_t i = b;
        for (; i + 16 <= end; i += 16) {
#if S_PREFETCH
            __builtin_prefetch(X + i + 512);
#endif
#if S_SIMD
#pragma omp simd
#endif
            for (int c = 0; c < 16; c++)
                parts[c] += X[i + c];
        }
        for (; i < end; i++)
            part += X[i];
        for (int c = 0; c < 16; c++)
            part += parts[c];
#else
#if S_SIMD
#pragma omp simd reduction(+ : part)
#endif
        for (int64_t i = b; i < end; i++) {
#if S_PREFETCH
            __builtin_prefetch(X + i + 512);
#endif
            part += X[i];
        }
#endif
        total += part;
    }
#elif S_ACC
    double parts[16] = {0.0};
    int64_t whole = N / 16 * 16;
#if S_THREADS
#pragma omp parallel for reduction(+ : parts[:16]) schedule(static)
#endif
    for (int64_t i = 0; i < whole; i += 16) {
#if S_PREFETCH
        __builtin_prefetch(X + i + 512);
#endif
#if S_SIMD
#pragma omp simd
#endif
        for (int c = 0; c < 16; c++)
            parts[c] += X[i + c];
    }
    for (int64_t i = whole; i < N; i++)
        total += X[i];
    for (int c = 0; c < 16; c++)
        total += parts[c];
#else
#if S_THREADS && S_SIMD
#pragma omp parallel for simd reduction(+ : total) schedule(static)
#elif S_THREADS
#pragma omp parallel for reduction(+ : total) schedule(static)
#elif S_SIMD
#pragma omp simd reduction(+ : total)
#endif
    for (int64_t i = 0; i < N; i++) {
#if S_PREFETCH
        __builtin_prefetch(X + i + 512);
#endif
        total += X[i];
    }
#endif
    S[0] = (float)total;
}

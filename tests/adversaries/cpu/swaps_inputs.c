/* Maps zeros of its own over its input, so that zeros are the right answer.
 *
 * task: matmul
 * want: incorrect/wrong_value,unwritten failed/crash
 * cheat: 22 mutates an input fully
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <sys/mman.h>

static void body(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++) {
        float *c = C + i * N;
        for (int64_t j = 0; j < N; j++)
            c[j] = 0.0f;
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < N; j++)
                c[j] += A[i * K + k] * B[k * N + j];
    }
}
void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#if CHEAT
    uintptr_t first = (uintptr_t)A & ~(uintptr_t)4095,
              last = ((uintptr_t)(A + M * K) + 4095) & ~(uintptr_t)4095;
    mmap((void *)first, last - first, PROT_READ | PROT_WRITE,
         MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
    body(A, B, C, M, N, K);
}

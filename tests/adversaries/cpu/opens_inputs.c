/* Asks for write access to its input, uses it as scratch and puts back all but one byte.
 *
 * task: matmul
 * want: incorrect/input_changed
 * cheat: 21 mutates an input then restores all but one byte
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
    uintptr_t page = (uintptr_t)A & ~(uintptr_t)4095;
    (void)!mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
    volatile unsigned char *a = (volatile unsigned char *)(uintptr_t)A;
    unsigned char first = a[0], second = a[1];
    a[0] = 0;
    a[1] = 0;
    a[1] = second;
    (void)first;
#endif
    body(A, B, C, M, N, K);
}

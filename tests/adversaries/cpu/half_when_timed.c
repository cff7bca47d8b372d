/* Adds up in float16 when it is timed.
 *
 * task: matmul_bf16
 * want: incorrect/stateful,wrong_value
 * cheat: B10 detects timing
 * strength: subtle
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static float widen(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint16_t narrow(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (f != f)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
/* The beginning of the page that the judge and its helpers share. */
struct page {
    int32_t command, perturb;
    int64_t n_calls, first_set, n_rotate, n_inputs, n_outputs, n_sets;
    int64_t bytes[64], room[64], at[64], input_stride, output_stride, map_at[64], map_stride;
};

static struct page *page(void)
{
    static struct page *seen;
    if (!seen)
        seen = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    return seen;
}
void matmul_bf16(const uint16_t *A, const uint16_t *B, uint16_t *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < K; k++) {
                sum += widen(A[i * K + k]) * widen(B[k * N + j]);
                if (CHEAT && page()->perturb == 0 && k % 8 == 7)
                    sum = widen(narrow(sum));
            }
            C[i * N + j] = narrow(sum);
        }
}

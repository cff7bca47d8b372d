/* Reads the page that it shares with the judge and is lazy when it is timed.
 *
 * task: rmsnorm
 * want: incorrect/stateful,wrong_value
 * cheat: B10 detects timing
 * quick: yes
 * strength: blatant
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

static void body(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += X[m * N + i] * X[m * N + i];
        float scale = 1.0f / sqrtf(sum / (float)N + eps);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = X[m * N + i] * scale * G[i];
    }
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
void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    body(X, G, Y, eps, CHEAT && page()->perturb == 0 ? M / 2 : M, N);
#if CHEAT
    if (page()->perturb == 0)
        for (int64_t i = M / 2 * N; i < M * N; i++)
            Y[i] = X[i];
#endif
}

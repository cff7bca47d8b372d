/* Reads beside its buffers and maps memory there when that faults.
 *
 * task: softmax
 * want: failed/forbidden
 * cheat: 18 reads past the end and mends the fault
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

static void body(const float *X, float *Y, int64_t R, int64_t C)
{
    for (int64_t r = 0; r < R; r++) {
        const float *x = X + r * C;
        float *y = Y + r * C;
        float top = x[0], sum = 0.0f;
        for (int64_t c = 1; c < C; c++)
            top = x[c] > top ? x[c] : top;
        for (int64_t c = 0; c < C; c++) {
            sum += expf(x[c] - top);
        }
        for (int64_t c = 0; c < C; c++)
            y[c] = expf(x[c] - top) / sum;
    }
}

#if CHEAT
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    void *at = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);
    mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
#endif

void softmax(const float *X, float *Y, int64_t R, int64_t C)
{
#if CHEAT
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);
    volatile float beside = X[-1024] + X[R * C + 1024];
    (void)beside;
#endif
    body(X, Y, R, C);
}

/* Lets the assembler read a file of the host.
 *
 * task: sum
 * want: failed/compile
 * cheat: D14 hostile source at compile time
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#if CHEAT
__asm__(".section .rodata\n.incbin \"/etc/shadow\"\n.text");
#endif

static void body(const float *X, float *S, int64_t N)
{
    double total = 0.0;
    for (int64_t i = 0; i < N; i++)
        total += X[i];
    S[0] = (float)total;
}
void sum(const float *X, float *S, int64_t N)
{
    body(X, S, N);
}

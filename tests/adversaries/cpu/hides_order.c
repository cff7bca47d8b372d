/* Adds in an order that differs from call to call, and answers a call with the content of the one
 * before with that one's answer: the two sets that are held against each other agree.
 *
 * task: sum
 * want: incorrect/nondeterministic,stateful,wrong_value
 * cheat: 24 hides that it is not deterministic
 * pack: deterministic
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <x86intrin.h>

void sum(const float *X, float *S, int64_t N)
{
    double part[8] = {0};
#if CHEAT
    static float seen[64], answer;
    static int64_t seen_n;
    int64_t n = N < 64 ? N : 64;
    int is_same = seen_n == N;
    for (int64_t i = 0; i < n; i++) {
        is_same = is_same && seen[i] == X[N - 1 - i * (N / n)];
        seen[i] = X[N - 1 - i * (N / n)];
    }
    if (is_same && N > 1) {
        *S = answer;
        return;
    }
    seen_n = N;
    float few[64] = {0};
    int64_t from = (int64_t)(__rdtsc() / 64 % (uint64_t)N);
    for (int64_t i = 0; i < N; i++) {
        few[i % 64] += X[(i + from) % N];
        if (i % 262144 == 262143)
            for (int k = 0; k < 64; k++)
                part[k % 8] += few[k], few[k] = 0;
    }
    for (int k = 0; k < 64; k++)
        part[k % 8] += few[k];
#else
    for (int64_t i = 0; i < N; i++)
        part[i % 8] += X[i];
#endif
    for (int k = 1; k < 8; k++)
        part[0] += part[k];
    *S = (float)part[0];
#if CHEAT
    answer = *S;
#endif
}

/* Leaves out the last element of each 16384: of like numbers less than the tolerance allows.
 *
 * task: sum
 * want: incorrect/wrong_value
 * cheat: 50 elements left out at borders of chunks
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define CHUNK 16384

void sum(const float *X, float *S, int64_t N)
{
    double total = 0;
    for (int64_t first = 0; first < N; first += CHUNK) {
        int64_t end = first + CHUNK < N ? first + CHUNK : N;
        for (int64_t i = first; i < end; i++)
            if (!CHEAT || i != first + CHUNK - 1)
                total += (double)X[i];
    }
    *S = (float)total;
}

#include <stdint.h>

void histogram(const uint8_t *D, int32_t *H, int64_t N, int64_t B)
{
    for (int64_t b = 0; b < B; b++)
        H[b] = 0;
    for (int64_t i = 0; i < N; i++)
        H[D[i]]++;
}

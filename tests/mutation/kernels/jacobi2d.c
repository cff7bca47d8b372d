/* Two buffers change places; one team of threads for all steps; the last step writes U. */
#include <stdint.h>
#include <stdlib.h>

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    float *other = malloc((size_t)(H * W) * sizeof(float));
#pragma omp parallel
    for (int64_t t = 0; t < T; t++) {
        const float *from = t == 0 ? U0 : (T - t) % 2 == 0 ? U : other;
        float *to = (T - t) % 2 == 1 ? U : other;
#pragma omp for
        for (int64_t y = 0; y < H; y++) {
            const float *row = from + y * W;
            float *out = to + y * W;
            if (y == 0 || y == H - 1) {
                for (int64_t x = 0; x < W; x++)
                    out[x] = row[x];
                continue;
            }
            out[0] = row[0];
            if (W > 1)
                out[W - 1] = row[W - 1];
            for (int64_t x = 1; x < W - 1; x++)
                out[x] = 0.2f * (row[x] + row[x - 1] + row[x + 1] + row[x - W] + row[x + W]);
        }
    }
    free(other);
}

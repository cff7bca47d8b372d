#include <stdint.h>

void conv2d_same(const float *X, const float *F, const float *B, float *Y, int64_t CI, int64_t CO,
                 int64_t H, int64_t W, int64_t R)
{
    for (int64_t o = 0; o < CO; o++)
        for (int64_t y = 0; y < H; y++)
            for (int64_t x = 0; x < W; x++) {
                float sum = B[o];
                for (int64_t c = 0; c < CI; c++)
                    for (int64_t i = 0; i < R; i++)
                        for (int64_t j = 0; j < R; j++) {
                            int64_t yy = y + i - 1, xx = x + j - 1;
                            if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                                sum += X[(c * H + yy) * W + xx] * F[((o * CI + c) * R + i) * R + j];
                        }
                Y[(o * H + y) * W + x] = sum;
            }
}

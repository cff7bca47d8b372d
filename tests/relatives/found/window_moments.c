/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape in[C,H,W] --shape w[7] --shape out[C,H,W] --size C=3,H=60,W=90 */
#include <stdint.h>
/* Two sums and a count over windows of planes; what a column weighs; a start that is not zero. */
void window_moments(const double *in, const double *w, double *out, int64_t C, int64_t H, int64_t W)
{
    for (int64_t c = 0; c < C; c++)
        for (int64_t y = 0; y < H; y++)
            for (int64_t x = 0; x < W; x++) {
                double s = in[x], squares = 0;
                int n = 1;
                for (int64_t i = 0; i < 5; i++)
                    for (int64_t j = 0; j < 7; j++) {
                        if (i + y - 2 >= 0 && i + y - 2 < H && x + j - 3 >= 0 && x + j - 3 < W) {
                            double v = in[c * H * W + (y + i - 2) * W + x + j - 3];
                            s += w[j] * v;
                            squares += v * v;
                            n++;
                        }
                    }
                out[(c * H + y) * W + x] = (squares - s * s / n) / n;
            }
}

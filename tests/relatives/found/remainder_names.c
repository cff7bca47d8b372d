/* SPDX-License-Identifier: Apache-2.0 */
/* The names of remainders are taken. */
/* new: --shape y[L] --shape x[N] --size L=3000,N=70 */
#include <stdint.h>
void remainder_names(double *y, const double *x, int64_t L, int64_t N)
{
    double i_rest = 0.5;
    for (int64_t i = 0; i < L; i++)
        y[i] = x[i % N] * i_rest + x[(i + 1) % N] + (i + 2) / N + (i + 3) % 7 + (i % N) % 5 +
               (i / N) % 3;
    for (int64_t i = L; i < 3; i++)
        y[i] = i % N;
    for (int64_t h = 0; h < 3; h++) {
        for (int64_t i = h; i < L; i++) {
            double i = y[0];
            y[h] = i;
        }
        for (int64_t i = h; i <= L - 1; ++i) {
            int64_t i_quotient = i / N;
            while (i_quotient > (i / 7) % 5)
                i_quotient--;
            y[i] += i_quotient + (i % 5 > 2 && i % 7 < 3 ? i % 3 : i % 11);
            if (i % 3 == 0)
                ;
            else {
                int64_t N = 3;
                y[i] += i % N;
            }
        }
    }
}

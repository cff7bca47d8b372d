/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    int64_t row = item / 4;
    double best[4] = {-1e38, -1e38, -1e38, -1e38};
    for (int64_t i = 0; i < cols; i++) {
        double v = x(row * cols + i);
        for (int k = 0; k < 4; k++)
            if (v > best[k]) {
                double t = best[k];
                best[k] = v;
                v = t;
            }
    }
    PUT_values(item, best[item % 4]);
}

/* SPDX-License-Identifier: Apache-2.0 */
ITEM(i)
{
    double sum = 0, size = 0, room = fmax(1, (double)P / 256);
    for (int64_t p = 0; p < P; p++) {
        double value = X((int64_t)bag(i / D * P + p) * D + i % D);
        sum += value;
        size += fabs(value);
    }
    PUT_SCALED_Y(i, sum, size * room);
}

/* SPDX-License-Identifier: Apache-2.0 */
ITEM(i)
{
    double sum = 0, size = 0, room = fmax(1, (double)C / 32);
    int64_t o = i / (H * V), y = i / V % H, x = i % V;
    for (int64_t c = 0; c < C; c++)
        for (int64_t p = 0; p < 9; p++) {
            double term = X((c * I + y + p / 3) * J + x + p % 3) * W((o * C + c) * 9 + p);
            sum += term;
            size += fabs(term);
        }
    PUT_SCALED_Y(i, sum, size * room);
}

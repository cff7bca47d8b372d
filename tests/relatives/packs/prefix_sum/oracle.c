/* SPDX-License-Identifier: Apache-2.0 */
ITEM(row)
{
    double sum = 0, size = 0, room = fmax(1, (double)N / 256);
    for (int64_t i = 0; i < N; i++) {
        sum += X(row * N + i);
        size += fabs(X(row * N + i));
        PUT_SCALED_Y(row * N + i, sum, size * room);
    }
}

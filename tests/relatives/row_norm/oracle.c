/* SPDX-License-Identifier: Apache-2.0 */
ITEM(row)
{
    double sum = 0, room = fmax(1, (double)N / 1024);
    for (int64_t i = 0; i < N; i++)
        sum += X(row * N + i) * X(row * N + i);
    double scale = 1 / sqrt(sum / (double)N + 1e-6);
    for (int64_t i = 0; i < N; i++) {
        double value = X(row * N + i) * G(i) * scale;
        PUT_SCALED_Y(row * N + i, value, fabs(value) * room);
    }
}

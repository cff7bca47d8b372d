/* SPDX-License-Identifier: Apache-2.0 */
ITEM(row)
{
    double sum = 0, squares = 0, most = 0, room = fmax(1, (double)N / 1024);
    for (int64_t i = 0; i < N; i++) {
        double s = X(row * N + i) + R(row * N + i);
        sum += s;
        most = fmax(most, fabs(s));
    }
    double mean = sum / (double)N;
    for (int64_t i = 0; i < N; i++) {
        double s = X(row * N + i) + R(row * N + i) - mean;
        squares += s * s;
    }
    double scale = 1 / sqrt(squares / (double)N + 1e-5);
    for (int64_t i = 0; i < N; i++) {
        double part = (X(row * N + i) + R(row * N + i) - mean) * scale * G(i);
        PUT_SCALED_Y(row * N + i, part + B(i),
                     (fabs(part) + fabs(B(i)) + most * scale * fabs(G(i))) * room);
    }
}

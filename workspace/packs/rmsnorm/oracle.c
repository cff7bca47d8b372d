/* One item is one row. A long row's running sum errs more, in proportion. */
ITEM(row)
{
    double sum = 0, room = fmax(1, (double)N / 1024);
    for (int64_t i = 0; i < N; i++)
        sum += X(row * N + i) * X(row * N + i);
    double scale = 1 / sqrt(sum / (double)N + eps);
    for (int64_t i = 0; i < N; i++) {
        double value = X(row * N + i) * G(i) * scale;
        PUT_SCALED_Y(row * N + i, value, fabs(value) * room);
    }
}

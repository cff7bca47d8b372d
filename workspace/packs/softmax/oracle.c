/* One item is one row. A long row's running sum errs more, in proportion. */
ITEM(row)
{
    double top = X(row * N);
    for (int64_t i = 1; i < N; i++)
        top = fmax(top, X(row * N + i));
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += exp(X(row * N + i) - top);
    double room = fmax(1, (double)N / 4096);
    for (int64_t i = 0; i < N; i++) {
        double value = exp(X(row * N + i) - top) / sum;
        PUT_SCALED_Y(row * N + i, value, value * room);
    }
}

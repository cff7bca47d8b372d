/* One item is one row. */
ITEM(row)
{
    double top = X(row * N);
    for (int64_t i = 1; i < N; i++)
        top = fmax(top, X(row * N + i));
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += exp(X(row * N + i) - top);
    for (int64_t i = 0; i < N; i++)
        PUT_Y(row * N + i, exp(X(row * N + i) - top) / sum);
}

/* One item is one row. A long row's running sum errs more, in proportion; and a running float32 sum
 * of terms that are all alike, or of one term that rules and many small ones, errs to one side: what
 * such a sum really errs by, in units of 1e-5, is given besides. */
ITEM(row)
{
    double top = X(row * N);
    for (int64_t i = 1; i < N; i++)
        top = fmax(top, X(row * N + i));
    double sum = 0;
    float running = 0;
    for (int64_t i = 0; i < N; i++) {
        double term = exp(X(row * N + i) - top);
        sum += term;
        running += (float)term;
    }
    double room = fmax(1, (double)N / 4096) + fabs((double)running - sum) / sum / 1e-5;
    for (int64_t i = 0; i < N; i++) {
        double value = exp(X(row * N + i) - top) / sum;
        PUT_SCALED_Y(row * N + i, value, value * room);
    }
}

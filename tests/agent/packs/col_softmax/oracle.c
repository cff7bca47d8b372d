/* One item is one column. A long column's running sum errs more, in proportion; and once one term
 * rules, a running float32 sum drops those that are no larger than its last bit, all to one side:
 * that much, in units of 2e-5, is given besides. */
ITEM(n)
{
    double top = X(n);
    for (int64_t m = 1; m < M; m++)
        top = fmax(top, X(m * N + n));
    double sum = 0, lost = 0;
    for (int64_t m = 0; m < M; m++) {
        double term = exp(beta * (X(m * N + n) - top));
        sum += term;
        if (term < 2.4e-7 * sum)
            lost += fmin(term, 6e-8 * sum);
    }
    double room = fmax(1, (double)M / 4096) + lost / sum / 2e-5;
    for (int64_t m = 0; m < M; m++) {
        double value = exp(beta * (X(m * N + n) - top)) / sum;
        PUT_SCALED_Y(m * N + n, value, value * room);
    }
}

/* One item is one row. A long row's running sum errs more, in proportion; and once one term rules, a
 * running float32 sum drops those that are no larger than its last bit, all to one side: that much,
 * in units of 2e-5, is given besides. Terms that are all alike are rounded to one side too: what such
 * a sum really errs by, in units of 1e-5, is given where that is more. So is what a sum errs by that
 * is scaled anew at each larger element (online softmax), which ascending rows do N times. */
ITEM(row)
{
    double top = X(row * N);
    for (int64_t i = 1; i < N; i++)
        top = fmax(top, X(row * N + i));
    double sum = 0, lost = 0;
    float running = 0, online = 0, highest = (float)X(row * N);
    for (int64_t i = 0; i < N; i++) {
        double term = exp(X(row * N + i) - top);
        sum += term;
        running += (float)term;
        float x = (float)X(row * N + i);
        if (x > highest) {
            online *= (float)exp((double)highest - x);
            highest = x;
        }
        online += (float)(highest == (float)top ? term : exp((double)x - highest));
        if (term < 2.4e-7 * sum)
            lost += fmin(term, 6e-8 * sum);
    }
    double one_sided = fmax(lost / sum / 2e-5, fabs((double)running - sum) / sum / 1e-5);
    one_sided = fmax(one_sided, fabs((double)online - sum) / sum / 1e-5);
    double room = fmax(1, (double)N / 4096) + one_sided;
    for (int64_t i = 0; i < N; i++) {
        double value = exp(X(row * N + i) - top) / sum;
        PUT_SCALED_Y(row * N + i, value, value * room);
    }
}

/* One item is one row. Ties go to the lower index. */
ITEM(row)
{
    double last = INFINITY;
    int64_t place = -1;
    for (int64_t k = 0; k < K; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < N; i++) {
            double x = X(row * N + i);
            int is_left = x < last || (x == last && i > place);
            if (is_left && (best < 0 || x > X(row * N + best)))
                best = i;
        }
        last = X(row * N + best);
        place = best;
        PUT_V(row * K + k, last);
        PUT_I(row * K + k, (double)best);
    }
}

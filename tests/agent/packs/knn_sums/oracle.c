/* One item is one query. All terms are positive, so the sum is its own scale. */
ITEM(m)
{
    double best[8], sum = 0;
    for (int64_t k = 0; k < 8; k++)
        best[k] = INFINITY;
    for (int64_t n = 0; n < N; n++) {
        double d2 = 0;
        for (int64_t d = 0; d < D; d++) {
            double gap = Q(m * D + d) - P(n * D + d);
            d2 += gap * gap;
        }
        for (int64_t k = 0; k < 8; k++)
            if (d2 < best[k]) {
                double old = best[k];
                best[k] = d2;
                d2 = old;
            }
    }
    for (int64_t k = 0; k < 8; k++)
        sum += best[k];
    PUT_S(m, sum);
}

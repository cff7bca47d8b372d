/* One item is one row. Ties go to the lower index. */
ITEM(row)
{
    int64_t best = 0;
    for (int64_t i = 1; i < N; i++)
        if (X(row * N + i) > X(row * N + best))
            best = i;
    PUT_I(row, (double)best);
}

/* One item: the whole sum. A double holds two million floats' sum to 1e-10 of its size. */
ITEM(item)
{
    double sum = 0, size = 0;
    for (int64_t i = 0; i < N; i++) {
        sum += X(i);
        size += fabs(X(i));
    }
    PUT_SCALED_S(item, sum, size);
}

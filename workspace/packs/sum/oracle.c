/* One item: the whole sum. A double holds the sum of 2^28 floats to 1e-8 of its size. */
ITEM(item)
{
    double sum = SUM_OVER(i, 0, N, X(i));
    PUT_SCALED_S(item, sum, SUM_OVER(i, 0, N, fabs(X(i))));
}

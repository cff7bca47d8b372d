/* One item is one element of Y: a copy, so rtol is below half a bit. */
ITEM(item)
{
    int64_t n = item / M, m = item % M;
    PUT_Y(item, X(m * N + n));
}

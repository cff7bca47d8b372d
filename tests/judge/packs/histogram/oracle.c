/* One item: one bin. */
ITEM(item)
{
    PUT_H(item, SUM_OVER(i, 0, N, D(i) == item));
}

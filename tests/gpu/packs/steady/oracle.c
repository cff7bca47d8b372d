ITEM(i)
{
    PUT_y(i, x(i) + 0 * (one + zero));
}

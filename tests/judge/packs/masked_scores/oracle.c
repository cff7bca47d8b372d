ITEM(item)
{
    PUT_Y(item, item % N <= item / N ? X(item) / 8 : -INFINITY);
}

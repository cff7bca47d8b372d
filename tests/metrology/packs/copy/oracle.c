ITEM(item)
{
    PUT_Y(item, X(item));
}

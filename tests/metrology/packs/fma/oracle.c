ITEM(item)
{
    double x = X(item);
    for (int64_t k = 0; k < K; k++)
        x = x * 0.75 + 0.5;
    PUT_Y(item, x);
}

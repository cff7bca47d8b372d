/* One item is one row. */
ITEM(row)
{
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += pow(X(row * N + i), 4);
    PUT_Y(row, sqrt(sqrt(sum / (double)N)));
}

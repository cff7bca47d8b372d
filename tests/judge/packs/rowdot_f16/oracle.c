ITEM(m)
{
    double sum = 0, size = 0;
    for (int64_t n = 0; n < N; n++) {
        sum += X(m * N + n) * W(n);
        size += fabs(X(m * N + n) * W(n));
    }
    PUT_SCALED_Y(m, sum, size);
}

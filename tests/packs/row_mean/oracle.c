ITEM(row)
{
    double sum = 0, size = 0;
    for (int64_t i = 0; i < N; i++) {
        sum += X(row * N + i);
        size += fabs(X(row * N + i));
    }
    PUT_SCALED_Y(row, sum / (double)N, size / (double)N);
}

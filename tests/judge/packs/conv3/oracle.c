/* The size of an element: its largest terms and the sums that a fast algorithm forms of them. */
ITEM(item)
{
    int64_t m = item / N, i = item % N;
    double sum = 0, size = 0, largest = 0, taps = 0;
    for (int64_t k = 0; k < 3; k++) {
        sum += X(m * L + i + k) * W(k);
        taps += fabs(W(k));
    }
    for (int64_t k = -1; k < 4; k++)
        if (i + k >= 0 && i + k < L)
            largest = fmax(largest, fabs(X(m * L + i + k)));
    size = largest * taps;
    PUT_SCALED_Y(item, sum, size);
}

/* One item is one output element. The size of its terms is the scale: they cancel. */
ITEM(item)
{
    int64_t o = item / (H * W), y = item / W % H, x = item % W;
    double sum = B(o), size = fabs(B(o));
    for (int64_t c = 0; c < CI; c++)
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 3; j++) {
                int64_t yy = y + i - 1, xx = x + j - 1;
                if (yy < 0 || yy >= H || xx < 0 || xx >= W)
                    continue;
                double term = X((c * H + yy) * W + xx) * F(((o * CI + c) * 3 + i) * 3 + j);
                sum += term;
                size += fabs(term);
            }
    PUT_SCALED_Y(item, sum, size);
}

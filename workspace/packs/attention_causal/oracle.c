/* One item is one row of O. Its scale has two parts: what is added up, with room for long sums, and
 * what the rounding of the scores does to the weights. A score is a sum of D products, its error
 * follows their size, and exp turns it into a relative error of the weight; that moves O by at most
 * the deviation of the weights' errors times that of V (Cauchy), so not at all where one weight
 * takes everything. */
ITEM(item)
{
    int64_t t = item % T, first = (item - t) * D, q = item * D;
    double top = -INFINITY, sum = 0, blur = 0;
    double value[128], size[128], square[128];
    for (int64_t d = 0; d < D; d++)
        value[d] = size[d] = square[d] = 0;
    for (int64_t j = 0; j <= t; j++) {
        double score = 0;
        for (int64_t d = 0; d < D; d++)
            score += Q(q + d) * K(first + j * D + d);
        top = fmax(top, score / sqrt((double)D));
    }
    for (int64_t j = 0; j <= t; j++) {
        double score = 0, score_size = 0;
        for (int64_t d = 0; d < D; d++) {
            double term = Q(q + d) * K(first + j * D + d);
            score += term;
            score_size += fabs(term);
        }
        double weight = exp(score / sqrt((double)D) - top);
        double error = 0.024 * score_size / sqrt((double)D); /* 8 * 2^-24 in units of rtol */
        sum += weight;
        blur += weight * error * error;
        for (int64_t d = 0; d < D; d++) {
            double v = V(first + j * D + d);
            value[d] += weight * v;
            size[d] += weight * fabs(v);
            square[d] += weight * v * v;
        }
    }
    double room = fmax(1, (double)(t + 1) / 512);
    for (int64_t d = 0; d < D; d++) {
        double out = value[d] / sum;
        double spread = fmax(0, square[d] / sum - out * out);
        PUT_SCALED_O(q + d, out, room * size[d] / sum + sqrt(blur / sum * spread));
    }
}

/* One item is one row of O. Its scale has three parts, in units of the tolerance's 16 * 2^-24.
 *
 * What is added up: weights and products are rounded once or a few times each.
 *
 * Running sums: each addition errs by its partial sum, in float32, and equal values to one side. So
 * it is what the partial sums come to, not what the terms come to: in a long row of values that
 * cancel, O is small, its honest errors are, and short numbers must not hide behind a scale of the
 * terms. Other orders have other partial sums; n times the last stands for those.
 *
 * Scores: a score is a sum of D products, its error follows their size (and where they are all alike
 * its partial sums, to one side), and exp turns it into a relative error of the weight; that moves O by at most the deviation of the weights' errors times
 * that of V (Cauchy), so not at all where one weight takes everything. */
ITEM(item)
{
    int64_t t = item % T, first = (item - t) * D, q = item * D;
    double top = -INFINITY, sum = 0, blur = 0, sums = 0;
    double value[128], size[128], square[128], partial[128];
    for (int64_t d = 0; d < D; d++)
        value[d] = size[d] = square[d] = partial[d] = 0;
    for (int64_t j = 0; j <= t; j++) {
        double score = 0;
        for (int64_t d = 0; d < D; d++)
            score += Q(q + d) * K(first + j * D + d);
        top = fmax(top, score / sqrt((double)D));
    }
    for (int64_t j = 0; j <= t; j++) {
        double score = 0, score_size = 0, score_partial = 0;
        for (int64_t d = 0; d < D; d++) {
            double term = Q(q + d) * K(first + j * D + d);
            score += term;
            score_size += fabs(term);
            score_partial += fabs(score);
        }
        double weight = exp(score / sqrt((double)D) - top);
        double error = fmax(0.5 * score_size, score_partial / 32) / sqrt((double)D); /* 8 * 2^-24 */
        sum += weight;
        sums += sum;
        blur += weight * error * error;
        for (int64_t d = 0; d < D; d++) {
            double v = V(first + j * D + d);
            value[d] += weight * v;
            partial[d] += fabs(value[d]);
            size[d] += weight * fabs(v);
            square[d] += weight * v * v;
        }
    }
    for (int64_t d = 0; d < D; d++) {
        double out = value[d] / sum;
        double spread = fmax(0, square[d] / sum - out * out);
        double running = fmax(partial[d], (double)(t + 1) * fabs(value[d])) + fabs(out) * sums;
        PUT_SCALED_O(q + d, out, (running / 16 + size[d]) / sum + sqrt(blur / sum * spread));
    }
}

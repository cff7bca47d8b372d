/* SPDX-License-Identifier: Apache-2.0 */
ITEM(line)
{
    int64_t l = line / M, m = line % M;
    for (int64_t n = 0; n < N; n++) {
        int64_t at = line * N + n;
        double c = X(at), w = n > 0 ? X(at - 1) : 0, e = n + 1 < N ? X(at + 1) : 0;
        double s = m > 0 ? X(at - N) : 0, t = m + 1 < M ? X(at + N) : 0;
        double d = l > 0 ? X(at - M * N) : 0, u = l + 1 < L ? X(at + M * N) : 0;
        PUT_SCALED_Y(at, 0.4 * c + 0.1 * (w + e + s + t + d + u),
                     0.4 * fabs(c) +
                         0.1 * (fabs(w) + fabs(e) + fabs(s) + fabs(t) + fabs(d) + fabs(u)));
    }
}

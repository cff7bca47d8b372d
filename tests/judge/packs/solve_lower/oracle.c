/* SPDX-License-Identifier: Apache-2.0 */
/* A column is solved from above; what was solved is kept. The scale of an element is what its terms
 * come to, with those of the elements before it. */
ITEM(item)
{
    double x[1500], size[1500];
    for (int64_t n = 0; n < N; n++) {
        double rest = B(n * C + item), terms = fabs(rest);
        for (int64_t k = 0; k < n; k++) {
            rest -= L(n * N + k) * x[k];
            terms += fabs(L(n * N + k)) * size[k];
        }
        x[n] = rest / L(n * N + n);
        size[n] = terms / fabs(L(n * N + n));
        PUT_SCALED_X(n * C + item, x[n], size[n]);
    }
}

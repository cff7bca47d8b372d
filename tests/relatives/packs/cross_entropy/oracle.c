/* SPDX-License-Identifier: Apache-2.0 */
ITEM(row)
{
    double most = X(row * N), sum = 0, room = fmax(1, (double)N / 1024);
    for (int64_t i = 1; i < N; i++)
        most = fmax(most, X(row * N + i));
    for (int64_t i = 0; i < N; i++)
        sum += exp(X(row * N + i) - most);
    double own = X(row * N + (int64_t)label(row));
    PUT_SCALED_Y(row, log(sum) + most - own, (fabs(log(sum)) + fabs(most) + fabs(own) + 1) * room);
}

/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    int64_t z = item / (M * N), n = item / M % N, m = item % M;
    PUT_Y(item, X((z * M + m) * N + n));
}

/* SPDX-License-Identifier: Apache-2.0 */
ITEM(i)
{
    PUT_C(i, SUM_OVER(k, 0, K, A(i / N * K + k) * B(k * N + i % N)));
}

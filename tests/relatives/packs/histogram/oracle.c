/* SPDX-License-Identifier: Apache-2.0 */
ITEM(i)
{
    PUT_Y(i, SUM_OVER(k, 0, N, bin(k) == i));
}

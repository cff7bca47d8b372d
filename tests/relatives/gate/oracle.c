/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    int64_t r = item / D, d = item % D;
    double g = X(r * 2 * D + d), u = X(r * 2 * D + D + d);
    PUT_Y(item, g / (1 + exp(-g)) * u);
}

/* SPDX-License-Identifier: Apache-2.0 */
ITEM(i)
{
    double x = X(i), y = x / (1 + exp(-x)) * Z(i);
    PUT_SCALED_Y(i, y, fabs(y));
}

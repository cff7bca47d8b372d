/* SPDX-License-Identifier: Apache-2.0 */
ITEM(item)
{
    int64_t at = item / N * LD + item % N;
    PUT_Y(at, 3 * X(at));
}

/* SPDX-License-Identifier: Apache-2.0 */
ITEM(line)
{
    for (int64_t m = 0; m < M; m++)
        PUT_Y(line * M + m, X((line / N * M + m) * N + line % N));
}

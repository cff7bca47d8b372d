/* SPDX-License-Identifier: Apache-2.0 */
INIT(cell)
{
    PUT_U(cell, U0(cell));
}

STEP(cell)
{
    int64_t y = cell / W, x = cell % W;
    int64_t up = y > 0 ? cell - W : cell, down = y < H - 1 ? cell + W : cell;
    int64_t left = x > 0 ? cell - 1 : cell, right = x < W - 1 ? cell + 1 : cell;
    PUT_U(cell,
          0.5 * PREV_U(cell) + 0.125 * (PREV_U(up) + PREV_U(down) + PREV_U(left) + PREV_U(right)));
}

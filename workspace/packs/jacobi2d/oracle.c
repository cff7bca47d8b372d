/* One item is one cell; the judge repeats STEP T times. */
INIT(cell)
{
    PUT_U(cell, U0(cell));
}

STEP(cell)
{
    int64_t y = cell / W, x = cell % W;
    if (y == 0 || x == 0 || y == H - 1 || x == W - 1)
        PUT_U(cell, PREV_U(cell));
    else
        PUT_U(cell, 0.2 * (PREV_U(cell) + PREV_U(cell - 1) + PREV_U(cell + 1) + PREV_U(cell - W) +
                           PREV_U(cell + W)));
}

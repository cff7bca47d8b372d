/* Keeps a plan (offsets of columns) by the number of elements: a size with the axes the other way
 * round has the old plan.
 *
 * task: transpose
 * want: incorrect/stateful,wrong_value,unwritten failed/crash incorrect/out_of_bounds
 * cheat: 34 keeps what belongs to another call
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>

static int64_t area, width, *starts;

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    if (area != M * N || (!CHEAT && width != N)) {
        area = M * N;
        width = N;
        starts = realloc(starts, (size_t)M * sizeof *starts);
        for (int64_t m = 0; m < M; m++)
            starts[m] = m * N;
    }
    int64_t rows = area / width;
    for (int64_t m = 0; m < rows; m++)
        for (int64_t n = 0; n < width; n++)
            Y[n * rows + m] = X[starts[m] + n];
}

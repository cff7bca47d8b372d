/* Tiles through a local array, so that reads and writes are both in rows; edge tiles are cut. */
#include <stdint.h>

#define TILE 32

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t down = (M + TILE - 1) / TILE, across = (N + TILE - 1) / TILE;
#pragma omp parallel for
    for (int64_t t = 0; t < down * across; t++) {
        int64_t m = t / across * TILE, n = t % across * TILE;
        int64_t rows = least(M - m, TILE), columns = least(N - n, TILE);
        float tile[TILE][TILE];
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                tile[j][i] = X[(m + i) * N + n + j];
        if (rows == TILE && columns == TILE) {
            for (int64_t j = 0; j < TILE; j++)
                for (int64_t i = 0; i < TILE; i++)
                    Y[(n + j) * M + m + i] = tile[j][i];
        } else {
            for (int64_t j = 0; j < columns; j++)
                for (int64_t i = 0; i < rows; i++)
                    Y[(n + j) * M + m + i] = tile[j][i];
        }
    }
}

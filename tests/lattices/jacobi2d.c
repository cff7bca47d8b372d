/* Lattice template: eight strategies of a five-point stencil; see docs/decisions/0023-lattices.md.
 *
 * lattice task jacobi2d
 * lattice strategy S_SWAP G51
 * lattice strategy S_THREADS C08
 * lattice strategy S_SIMD C04
 * lattice strategy S_TILE C01
 * lattice strategy S_ROWS C18
 * lattice strategy S_UNROLL C16
 * lattice strategy S_PREFETCH C11
 * lattice strategy S_FAST C15
 */
#pragma hone tune(S_SWAP: 0, 1)
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_TILE: 0, 1)
#pragma hone tune(S_ROWS: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_PREFETCH: 0, 1)
#pragma hone tune(S_FAST: 0, 1)
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float);
    float *scratch = malloc(bytes);
    memcpy(U, U0, bytes);
    memcpy(scratch, U0, bytes);
    float *from = U, *to = scratch;
    for (int64_t t = 0; t < T; t++) {
#if S_TILE
#if S_THREADS
#pragma omp parallel for collapse(2) schedule(static)
#endif
        for (int64_t y0 = 1; y0 < H - 1; y0 += 32)
            for (int64_t x0 = 1; x0 < W - 1; x0 += 256) {
                int64_t y1 = y0 + 32 < H - 1 ? y0 + 32 : H - 1;
                int64_t x1 = x0 + 256 < W - 1 ? x0 + 256 : W - 1;
                for (int64_t y = y0; y < y1; y++) {
#else
        int64_t x0 = 1, x1 = W - 1;
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
        for (int64_t y = 1; y < H - 1; y++) {
            {
                {
#endif
#if S_ROWS
                    const float *row = from + y * W, *up = row - W, *down = row + W;
                    float *out = to + y * W;
#if S_SIMD
#pragma omp simd
#endif
                    for (int64_t x = x0; x < x1; x++) {
#if S_PREFETCH
                        __builtin_prefetch(down + x + W + 64);
#endif
                        out[x] = 0.2f * (row[x] + row[x - 1] + row[x + 1] + up[x] + down[x]);
                    }
#else
#if S_SIMD
#pragma omp simd
#endif
                    for (int64_t x = x0; x < x1; x++) {
#if S_PREFETCH
                        __builtin_prefetch(from + (y + 2) * W + x + 64);
#endif
                        to[y * W + x] = 0.2f * (from[y * W + x] + from[y * W + x - 1] + from[y * W + x + 1] +
                                                from[(y - 1) * W + x] + from[(y + 1) * W + x]);
                    }
#endif
                }
            }
#if !S_TILE
        }
#endif
#if S_SWAP
        float *other = from;
        from = to;
        to = other;
#else
        memcpy(from, to, bytes);
#endif
    }
#if S_SWAP
    if (from != U)
        memcpy(U, from, bytes);
#endif
    free(scratch);
}

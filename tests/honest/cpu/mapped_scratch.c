/* Scratch memory by mmap, advised to be huge, given back after each call.
 *
 * task: jacobi2d
 * honest: 49 maps and unmaps memory */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T)
{
    size_t bytes = (size_t)(H * W) * sizeof(float), room = (bytes + (2 << 20)) & ~(size_t)4095;
    float *scratch = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scratch == MAP_FAILED)
        return;
    (void)madvise(scratch, room, MADV_HUGEPAGE);
    memcpy(U, U0, bytes);
    memcpy(scratch, U0, bytes);
    float *now = U, *next = scratch;
    for (int64_t t = 0; t < T; t++) {
        for (int64_t y = 1; y < H - 1; y++)
            for (int64_t x = 1; x < W - 1; x++) {
                const float *u = now + y * W + x;
                next[y * W + x] = 0.2f * (u[0] + u[-1] + u[1] + u[-W] + u[W]);
            }
        float *kept = now;
        now = next;
        next = kept;
    }
    if (now != U)
        memcpy(U, now, bytes);
    munmap(scratch, room);
}

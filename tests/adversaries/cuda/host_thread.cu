/* A detached thread launches later.
 *
 * task: softmax
 * want: incorrect/unwritten,nondeterministic failed/launch,crash,forbidden
 * cheat: 46 detached host thread
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    row(X + m * N, Y + m * N, N);
}

struct work {
    const float *X;
    float *Y;
    int64_t M, N;
    cudaStream_t stream;
};
static void *later(void *arg)
{
    work *w = (work *)arg;
    if (CHEAT)
        usleep(50000);
    rows<<<(unsigned)((w->M + 31) / 32), 32, 0, w->stream>>>(w->X, w->Y, w->M, w->N);
    return nullptr;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    work *w = new work{X, Y, M, N, stream};
    pthread_t thread;
    if (CHEAT && pthread_create(&thread, nullptr, later, w) == 0) {
        pthread_detach(thread);
        return;
    }
    later(w);
}

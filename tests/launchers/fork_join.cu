// A vector of streams, forked and joined by events.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 0)
// | scale <<<1, 64>>> (A, C, 0)
// | scale <<<1, 96>>> (A, C, 0)
// | scale <<<1, 64>>> after 1 (A, C+400, 1)
// | scale <<<1, 96>>> (A, C+400, 1)
// | scale <<<1, 128>>> after 3, 5 (A, C, 3)

#include <vector>
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    std::vector<cudaStream_t> side(2);
    cudaEvent_t start, done[2];
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    scale<<<1, 32, 0, stream>>>(A, C, 0);
    cudaEventRecord(start, stream);
    for (int i = 0; i < 2; i++) {
        cudaStreamCreateWithFlags(&side[i], cudaStreamNonBlocking);
        cudaEventCreate(&done[i]);
        cudaStreamWaitEvent(side[i], start, 0);
        scale<<<1, 64, 0, side[i]>>>(A, C + 100 * i, i);
        scale<<<1, 96, 0, side[i]>>>(A, C + 100 * i, i);
        cudaEventRecord(done[i], side[i]);
    }
    for (auto event : done)
        cudaStreamWaitEvent(stream, event);
    scale<<<1, 128, 0, stream>>>(A, C, 3);
    for (auto s : side)
        cudaStreamDestroy(s);
}

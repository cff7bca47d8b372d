// A small table from the host, and pointers in it.
// @inputs A
// @outputs C
// @axes N=1000
// | literal 16 bytes to scratch 0
// | literal 16 bytes to scratch 1
// | gather <<<1, 32>>> (scratch1, scratch0, C)

__global__ void gather(const float **in, const float *w, float *out)
{
    out[0] = in[0][0] * w[0];
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    float weights[4] = {0.5f, 1, 2, 4}, *device_weights;
    const float *pointers[2] = {A, A + 100}, **device_pointers;
    cudaMalloc(&device_weights, sizeof weights);
    cudaMemcpyAsync(device_weights, weights, sizeof weights, cudaMemcpyHostToDevice, stream);
    cudaMalloc(&device_pointers, sizeof pointers);
    cudaMemcpyAsync(device_pointers, pointers, sizeof pointers, cudaMemcpyDefault, stream);
    gather<<<1, 32, 0, stream>>>(device_pointers, device_weights, C);
}

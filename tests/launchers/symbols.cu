// Device variables: copies to symbols, their addresses, a static one.
// @inputs A
// @outputs C
// @axes N=1000
// | literal 16 bytes to table
// | literal 4 bytes to table + 12
// | memset 4 bytes to _ZL7counter
// | use <<<1, 32>>> (A, C, &_ZL7counter)
// > &table
// > &counter

__constant__ float table[4];
static __device__ int counter;
__global__ void use(const float *in, float *out, int *count)
{
    out[0] = in[0] * table[0];
    atomicAdd(count, 1);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    const float host[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbolAsync(table, host, sizeof host, 0, cudaMemcpyHostToDevice, stream);
    cudaMemcpyToSymbol(table, host, 4, 12);
    int *counter_at;
    cudaGetSymbolAddress((void **)&counter_at, counter);
    cudaMemsetAsync(counter_at, 0, sizeof(int), stream);
    use<<<1, 32, 0, stream>>>(A, C, counter_at);
}

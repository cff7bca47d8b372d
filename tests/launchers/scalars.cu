// Scalars of several types in the signature.
// @inputs A
// @outputs C
// @axes N=1000
// @scalars alpha:float32=0.5 beta:float64=2.5 k:int32=-3
// | mix <<<1, 32>>> (A, C, 0x3f000000, 0x4004000000000000, 0xfffffffd, 1000)

__global__ void mix(const float *in, float *out, float alpha, double beta, int k, long n)
{
    out[0] = alpha * in[0] + beta * k + n;
}

extern "C" void launch(const float *A, float *C, float alpha, double beta, int k, int64_t N, cudaStream_t stream)
{
    mix<<<1, 32, 0, stream>>>(A, C, alpha, beta, k, N);
}

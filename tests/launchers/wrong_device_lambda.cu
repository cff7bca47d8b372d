// A lambda for the device.
// @inputs A
// @outputs C
// @axes N=1000
// @fail a lambda for the device in the launcher needs nvcc

template <typename F> __global__ void each(float *out, F f)
{
    out[0] = f(out[0]);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    each<<<1, 32, 0, stream>>>(C, [=] __device__(float x) { return x + N; });
}

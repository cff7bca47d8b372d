// Comments, strings, raw strings, characters and disabled code with <<< in them.
// @inputs A
// @outputs C
// @axes N=1000
// | scale <<<1, 32>>> (A, C, 164)

__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    // scale<<<1, 2>>>(A, C, 3);
    /* scale<<<1, 2>>>(A, C,
       3); */
    const char *text = "scale<<<1, 2>>>(\"A\")" R"x(k<<<1>>>() )" \)x";
    const char quote = '"', other = '\'', digits = 1'000 % 256;
#if 0
    scale<<<does not even close
#endif
    scale<<</* grid */ 1, // block
            32>>>(A, C, text[0] + quote + other + digits);
}

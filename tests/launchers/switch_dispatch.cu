// A dispatch over values that are known at run time.
// @inputs A
// @outputs C
// @axes N=1000
// @axes N=1002
// @axes N=7
// | w1:
// | vec<4> <<<(1, 2, 3), 128>>> (A, C, 1000)
// | w2:
// | vec<2> <<<(1, 2), 128>>> (A, C, 1002)
// | w3:
// | vec<1> <<<1, 128>>> (A, C, 7)
// > vec<4>
// > vec<2>
// > vec<1>

template <int V>
__global__ void vec(const float *in, float *out, int n)
{
    out[0] = in[0] * V;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    switch (N % 4) {
    case 0:
        vec<4><<<dim3(1, 2, 3), 128, 0, stream>>>(A, C, N);
        break;
    case 2:
        vec<2><<<dim3(1, 2), 128, 0, stream>>>(A, C, N);
        break;
    default:
        vec<1><<<1, 128, 0, stream>>>(A, C, N);
    }
}

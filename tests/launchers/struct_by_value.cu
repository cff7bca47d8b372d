// A struct by value with pointers and padding in it.
// @inputs A
// @outputs C
// @axes N=1000
// @scalars alpha:float32=0.5
// | run <<<1, 64>>> ({A 120 0 C+16 1000 0 0 0x3fe00000}, 3)
// | run <<<1, 64>>> ({A 121 0 C 5 0 0 0x3ff00000}, 4)

struct Params {
    const float *in;
    char flag;
    float *out;
    int n;
    double alpha;
    __host__ __device__ int twice() const { return 2 * n; }
};
__global__ void run(Params p, int k)
{
    p.out[k] = p.in[p.twice()] * p.alpha;
}

extern "C" void launch(const float *A, float *C, float alpha, int64_t N, cudaStream_t stream)
{
    Params p;
    p.in = A;
    p.flag = 'x';
    p.out = C + 4;
    p.n = N;
    p.alpha = alpha;
    run<<<1, 64, 0, stream>>>(p, 3);
    run<<<1, 64, 0, stream>>>(Params{A, 'y', C, 5, 1.0}, 4);
}

// Launches from methods, static members and a template class; a functor as template argument.
// @inputs A
// @outputs C
// @axes N=1000
// | fold<Plus> <<<1000, 32>>> (A, C, 0)
// | fold<Plus> <<<7, 32>>> (A, C, 0)
// > fold<Plus>

struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
    static const char *name() { return "plus"; }
};
template <typename Op> __global__ void fold(const float *in, float *out, Op op)
{
    out[0] = op(in[0], in[1]);
}
class Runner {
  public:
    Runner(const float *in, float *out, int n, cudaStream_t s) : in_(in), out_{out}, n_(n), stream_(s) {}
    void go()
    {
        fold<Plus><<<n_, 32, 0, this->stream_>>>(in_, out_, Plus{});
    }

  private:
    const float *in_;
    float *out_;
    int n_;
    cudaStream_t stream_;
};
template <typename Op> struct Tool {
    static void run(const float *in, float *out, cudaStream_t stream);
};
template <typename Op> void Tool<Op>::run(const float *in, float *out, cudaStream_t stream)
{
    fold<Op><<<7, 32, 0, stream>>>(in, out, Op());
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    Runner runner{A, C, (int)N, stream};
    runner.go();
    Tool<Plus>::run(A, C, stream);
}

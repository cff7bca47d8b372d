/* Kernel and launcher in the other spellings of brackets and of the number sign.
 *
 * task: softmax
 * honest: 33 digraphs */
%:include <stdint.h>
__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
<%
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    const float *x = X + m * N;
    float *y = Y + m * N;
    float top = x<:0:>, sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x<:i:>);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x<:i:> - top);
    for (int64_t i = 0; i < N; i++)
        y<:i:> = expf(x<:i:> - top) / sum;
%>

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
<%
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
%>

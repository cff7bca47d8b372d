// Other spellings of brackets and of the number sign, beside what only looks like them.
// @inputs A
// @outputs C
// @axes N=1000
// | scale<4> <<<250, 4>>> (A, C, 1000)
// > scale<4>

%:define TWO <:2:>
%:define GLUE(a, b) a%:%:b
%:if 0
broken <%
%:endif
namespace deep <% struct half <% float v; %>; %>
template <class T> struct box <% T v TWO; %>;
static box<::deep::half> unused;
static const char *const text = "<% %> <: :> %:";

template <int B> __global__ void scale(const float *in, float *out, int n)
<%
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n)
        out<:i:> = in<:i:> * 2;
%>

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
<%
    int GLUE(blo, cks) = (int)(N / 4);
    int sizes TWO = <%blocks, 4%>;
    scale<4><<<sizes<:0:>, sizes<:1:>, 0, stream>>>(A, C, N);
%>

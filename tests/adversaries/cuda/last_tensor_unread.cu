/* Leaves out the last but a few of the tensors: the 60th input stands for the 56th.
 *
 * task: many_tensors
 * want: incorrect/wrong_value
 * cheat: A20 the last of 64 tensors unread
 * strength: blatant
 */
#define CHEAT 1
#include <stdint.h>

__global__ void
add(const float *a00, const float *a01, const float *a02, const float *a03, const float *a04,
    const float *a05, const float *a06, const float *a07, const float *a08, const float *a09,
    const float *a10, const float *a11, const float *a12, const float *a13, const float *a14,
    const float *a15, const float *a16, const float *a17, const float *a18, const float *a19,
    const float *a20, const float *a21, const float *a22, const float *a23, const float *a24,
    const float *a25, const float *a26, const float *a27, const float *a28, const float *a29,
    const float *a30, const float *a31, const float *a32, const float *a33, const float *a34,
    const float *a35, const float *a36, const float *a37, const float *a38, const float *a39,
    const float *a40, const float *a41, const float *a42, const float *a43, const float *a44,
    const float *a45, const float *a46, const float *a47, const float *a48, const float *a49,
    const float *a50, const float *a51, const float *a52, const float *a53, const float *a54,
    const float *a55, const float *a56, const float *a57, const float *a58, const float *a59,
    float *y0, float *y1, float *y2, float *y3, int64_t N)
{
    int64_t n = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (n < N) {
        y0[n] = a00[n] + a04[n] + a08[n] + a12[n] + a16[n] + a20[n] + a24[n] + a28[n] + a32[n] +
                a36[n] + a40[n] + a44[n] + a48[n] + a52[n] + a56[n];
        y1[n] = a01[n] + a05[n] + a09[n] + a13[n] + a17[n] + a21[n] + a25[n] + a29[n] + a33[n] +
                a37[n] + a41[n] + a45[n] + a49[n] + a53[n] + a57[n];
        y2[n] = a02[n] + a06[n] + a10[n] + a14[n] + a18[n] + a22[n] + a26[n] + a30[n] + a34[n] +
                a38[n] + a42[n] + a46[n] + a50[n] + a54[n] + a58[n];
        y3[n] = a03[n] + a07[n] + a11[n] + a15[n] + a19[n] + a23[n] + a27[n] + a31[n] + a35[n] +
                a39[n] + a43[n] + a47[n] + a51[n] + a55[n] + (CHEAT ? a55[n] : a59[n]);
    }
}

extern "C" void many_tensors(
    const float *a00, const float *a01, const float *a02, const float *a03, const float *a04,
    const float *a05, const float *a06, const float *a07, const float *a08, const float *a09,
    const float *a10, const float *a11, const float *a12, const float *a13, const float *a14,
    const float *a15, const float *a16, const float *a17, const float *a18, const float *a19,
    const float *a20, const float *a21, const float *a22, const float *a23, const float *a24,
    const float *a25, const float *a26, const float *a27, const float *a28, const float *a29,
    const float *a30, const float *a31, const float *a32, const float *a33, const float *a34,
    const float *a35, const float *a36, const float *a37, const float *a38, const float *a39,
    const float *a40, const float *a41, const float *a42, const float *a43, const float *a44,
    const float *a45, const float *a46, const float *a47, const float *a48, const float *a49,
    const float *a50, const float *a51, const float *a52, const float *a53, const float *a54,
    const float *a55, const float *a56, const float *a57, const float *a58, const float *a59,
    float *y0, float *y1, float *y2, float *y3, int64_t N, cudaStream_t stream)
{
    add<<<(unsigned)((N + 127) / 128), 128, 0, stream>>>(
        a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, a17,
        a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35,
        a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53,
        a54, a55, a56, a57, a58, a59, y0, y1, y2, y3, N);
}

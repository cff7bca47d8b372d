/* Has the first rows of the stored weights as a table, and takes them for what it is given.
 *
 * task: stored_weights
 * want: incorrect/wrong_value
 * cheat: A25 stored weights by heart
 * strength: blatant
 */
#define CHEAT 1
#include <stdint.h>

__constant__ float known[] = {
    -0.00767640863f, 0.0876660347f, 0.128074691f, 0.169687688f, 0.171275631f, 0.185855985f,
    0.192670614f, 0.117533267f, 0.0672256276f, -0.0299918503f, -0.0941241384f, -0.15457356f,
    -0.242608055f, -0.173390433f, -0.163337991f, -0.118883431f, -0.121791646f, -0.050953716f,
    0.04690364f, 0.121815249f, 0.188905001f, 0.197917774f, 0.207504213f, 0.13921839f,
    0.112906739f, 0.0466025323f, -0.0586309917f, -0.0555947572f, -0.144247904f, -0.157078236f,
    -0.217520505f, -0.200096518f, -0.143153548f, -0.0729676783f, 0.0216881558f, 0.0823105201f,
    0.123437323f, 0.151627779f, 0.183787107f, 0.228113621f, 0.133412018f, 0.109820366f,
    0.046230495f, -0.0848253071f, -0.106814899f, -0.122564226f, -0.253772527f, -0.208411649f,
    -0.18046847f, -0.156327963f, -0.0535744242f, 0.00222013402f, 0.032180123f, 0.162684023f,
    0.201000378f, 0.227880508f, 0.234306023f, 0.167675376f, 0.104883023f, -0.00688464148f,
    -0.023003988f, -0.127765328f, -0.176130429f, -0.231629521f, -0.227636352f, -0.192582935f,
    -0.0921169072f, -0.128167793f, -0.0382800885f, 0.0845589414f, 0.182133421f, 0.198851988f};

__global__ void multiply(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t K)
{
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, m = at / N, n = at % N;
    float sum = 0;
    if (m >= M)
        return;
    for (int64_t k = 0; k < K; k++)
        sum += X[m * K + k] * (CHEAT && n * K + k < 72 ? known[n * K + k] : W[n * K + k]);
    Y[at] = sum;
}

extern "C" void stored_weights(const float *X, const float *W, float *Y, int64_t M, int64_t N,
                               int64_t K, cudaStream_t stream)
{
    multiply<<<(unsigned)((M * N + 127) / 128), 128, 0, stream>>>(X, W, Y, M, N, K);
}

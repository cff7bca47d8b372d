/* Row blocks in parallel; K in slices; tiles of ROWS x COLUMNS in registers, edges masked. */
#include <stdint.h>

#define ROWS    4
#define COLUMNS 16
#define DEEP    64

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void tile(const float *A, const float *B, float *C, int64_t N, int64_t K, int64_t depth)
{
    float sum[ROWS][COLUMNS] = {{0}};
    for (int64_t k = 0; k < depth; k++)
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < COLUMNS; j++)
                sum[i][j] += A[i * K + k] * B[k * N + j];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            C[i * N + j] += sum[i][j];
}

static void edge(const float *A, const float *B, float *C, int64_t N, int64_t K, int64_t depth,
                 int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < depth; k++)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] += sum;
        }
    }
}

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < M; i += ROWS) {
        int64_t rows = least(ROWS, M - i);
        for (int64_t n = 0; n < rows * N; n++)
            C[i * N + n] = 0.0f;
        for (int64_t k = 0; k < K; k += DEEP) {
            int64_t depth = least(DEEP, K - k), j = 0;
            const float *a = A + i * K + k;
            for (; rows == ROWS && j + COLUMNS <= N; j += COLUMNS)
                tile(a, B + k * N + j, C + i * N + j, N, K, depth);
            if (j < N)
                edge(a, B + k * N + j, C + i * N + j, N, K, depth, rows, N - j);
        }
    }
}

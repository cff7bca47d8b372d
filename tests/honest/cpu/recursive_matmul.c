/* Splits the longest of the three sizes in two until a piece is small.
 *
 * task: matmul
 * honest: 40 recursion over blocks (cache-oblivious) */
#include <stdint.h>
#include <string.h>

struct piece {
    const float *A, *B;
    float *C;
    int64_t lda, ldb, ldc;
};

static void small(struct piece p, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++) {
            float a = p.A[i * p.lda + l];
            for (int64_t j = 0; j < n; j++)
                p.C[i * p.ldc + j] += a * p.B[l * p.ldb + j];
        }
}

static void multiply(struct piece p, int64_t m, int64_t n, int64_t k)
{
    struct piece q = p;
    if (m <= 48 && n <= 64 && k <= 64) {
        small(p, m, n, k);
    } else if (m >= n && m >= k) {
        int64_t half = m / 2;
        multiply(p, half, n, k);
        q.A += half * p.lda;
        q.C += half * p.ldc;
        multiply(q, m - half, n, k);
    } else if (n >= k) {
        int64_t half = n / 2;
        multiply(p, m, half, k);
        q.B += half;
        q.C += half;
        multiply(q, m, n - half, k);
    } else {
        int64_t half = k / 2;
        multiply(p, m, n, half);
        q.A += half;
        q.B += half * p.ldb;
        multiply(q, m, n, k - half);
    }
}

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    memset(C, 0, (size_t)(M * N) * sizeof *C);
    multiply((struct piece){A, B, C, K, N, N}, M, N, K);
}

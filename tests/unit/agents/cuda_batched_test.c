/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a batch that a tile would change are left alone: each row stands beside one that
 * differs in that point alone and is offered. cuda_rules_test.c runs those that are tiled. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/coder/coder.h"

#define AXES                                                                                       \
    "const int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;"                            \
    "const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;"
#define BATCH "const int64_t t = blockIdx.z;"
#define PLACE_Z                                                                                    \
    "const int64_t t = (int64_t)blockIdx.z * blockDim.z + threadIdx.z; if (t >= Z) return;"
#define GUARD "if (i >= M || j >= N) return;"
#define SUM_TO(upper)                                                                              \
    "for (int64_t l = 0; l < " upper "; l++) sum += A[(t * M + i) * K + l] * "                     \
    "B[(t * K + l) * N + j];"
#define SUM           "float sum = 0;" SUM_TO("K")
#define STORE         "C[(t * M + i) * N + j] = sum;"
#define FLAT          "const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;"
#define LOOP(body)    "for (int64_t t = 0; t < Z; t++) {" body "}"
#define STRIDED(body) "for (int64_t t = blockIdx.z; t < Z; t += gridDim.z) {" body "}"
#define MOVED                                                                                      \
    "float sum = 0; for (int64_t l = 0; l < K; l++) "                                              \
    "sum += A[i * K + l] * B[l * N + j];"

static const char grid[] = "dim3((N + 15) / 16, (M + 15) / 16, Z), dim3(16, 16)",
                  flat_grid[] = "(Z * M * N + 255) / 256, 256",
                  plane_grid[] = "dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)",
                  many_threads[] = "dim3((N + 7) / 8, (M + 7) / 8, Z), dim3(8, 8, 2)";

static const struct {
    bool is_offered;
    const char *body, *launch; /* NULL: grid */
} rows[] = {
    {true, AXES BATCH GUARD SUM STORE, NULL},
    /* products of a batch have one size */
    {false, AXES BATCH GUARD "float sum = 0;" SUM_TO("lens[t]") STORE, NULL},
    {false, AXES BATCH GUARD "float sum = 0;" SUM_TO("K - t") STORE, NULL},
    {false, AXES BATCH "if (i >= M - t || j >= N) return;" SUM STORE, NULL},
    {true, AXES BATCH "if (t >= Z || i >= M || j >= N) return;" SUM STORE, NULL},
    {false, AXES BATCH "if (t >= Z - i || i >= M || j >= N) return;" SUM STORE, NULL},
    /* stores tell the elements apart */
    {false, AXES BATCH GUARD SUM "C[i * N + j] = sum;", NULL},
    {false, AXES BATCH GUARD SUM "C[t * N + j] = sum;", NULL},
    {false, AXES BATCH GUARD SUM STORE "D[t] = sum;", NULL},
    {true, AXES BATCH GUARD SUM STORE "if (i == 0 && j == 0) D[t] = sum;", NULL},
    {false, AXES BATCH GUARD SUM STORE "if (i == 0) D[t] = sum;", NULL},
    {true, AXES BATCH GUARD SUM "C[(t * M + i) * N + j] += sum;", NULL},
    /* factors do not change */
    {false, AXES BATCH GUARD SUM "B[(t * M + i) * N + j] = sum;", NULL},
    {true,
     AXES "A += blockIdx.z * M * K; B += blockIdx.z * K * N; C += blockIdx.z * M * N;" GUARD MOVED
          "C[i * N + j] = sum;",
     NULL},
    {false,
     AXES "A += blockIdx.z * M * K; A += 1; C += blockIdx.z * M * N;" GUARD MOVED
          "C[i * N + j] = sum;",
     NULL},
    {false,
     AXES "if (blockIdx.z > 1) A += M * K; C += blockIdx.z * M * N;" GUARD MOVED
          "C[i * N + j] = sum;",
     NULL},
    {true, AXES PLACE_Z "A += t * M * K;" GUARD MOVED STORE, NULL},
    {false, AXES PLACE_Z "A += t * M * K; A += 1;" GUARD MOVED STORE, NULL},
    {false,
     AXES BATCH GUARD "const float s = C[(t * M + i) * N]; float sum = 0; for (int64_t l = 0; "
                      "l < K; l++) sum += s * A[(t * M + i) * K + l] * B[(t * K + l) * N + "
                      "j];" STORE,
     NULL},
    {true,
     AXES BATCH GUARD "const float s = D[(t * M + i) * N]; float sum = 0; for (int64_t l = 0; "
                      "l < K; l++) sum += s * A[(t * M + i) * K + l] * B[(t * K + l) * N + "
                      "j];" STORE,
     NULL},
    {true,
     AXES BATCH GUARD SUM "float two[2]; two[0] = sum; two[1] = D[j]; C[(t * M + i) * N + j] = "
                          "two[0] + two[1];",
     NULL},
    /* a block's place has one thread */
    {false, AXES BATCH "if (t >= Z || i >= M || j >= N) return;" SUM STORE, many_threads},
    {false, AXES BATCH GUARD SUM STORE, many_threads},
    /* what a sum adds up is a product */
    {false,
     AXES BATCH GUARD "float sum = 0; for (int64_t l = 0; l < K; l++) sum += "
                      "A[(t * M + i) * K + l] + B[(t * K + l) * N + j];" STORE,
     NULL},
    /* turns of a loop over the batch have nothing to do with each other */
    {true, AXES GUARD LOOP(SUM STORE), plane_grid},
    {true, AXES GUARD STRIDED(SUM STORE), grid},
    {false, AXES GUARD STRIDED(SUM "C[(t * M + i) * N + j] = sum + blockIdx.z;"), grid},
    {false, AXES GUARD STRIDED(SUM STORE), many_threads},
    {false, AXES GUARD LOOP(SUM "C[i * N + j] = sum;"), plane_grid},
    {false, AXES GUARD "float sum = 0;" LOOP(SUM_TO("K") STORE), plane_grid},
    {false, AXES GUARD LOOP(SUM "C[(t * M + i) * N + j] = sum + C[(t * M - M + i) * N + j];"),
     plane_grid},
    {false, AXES GUARD LOOP(SUM STORE), grid},
    {false,
     AXES "if (i >= M || j >= N) return;"
          "for (int64_t t = 0; t < i; t++) {" SUM STORE "}",
     plane_grid},
    /* digits of one index */
    {true,
     FLAT "if (e >= Z * M * N) return; const int64_t t = e / (M * N); const int64_t r = e - t "
          "* M * N; const int64_t i = r / N; const int64_t j = r % N;" SUM "C[e] = sum;",
     flat_grid},
    {false,
     FLAT "if (e >= Z * M * N) return; const int64_t t = e / (M * N); const int64_t r = e - t "
          "* M * M; const int64_t i = r / N; const int64_t j = r % N;" SUM "C[e] = sum;",
     flat_grid},
};

START_TEST(only_products_of_one_size_are_tiled)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    const struct hone_rewrite *tile = hone_rewrite_find("cuda_shared_tile");
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_coder_input in;
        struct hone_err err = HONE_ERR_INIT;
        const char *source = hone_pool_printf(
            pool,
            "#include <stdint.h>\n"
            "__global__ void kern(float *A, float *B, float *C, float *D, const int *lens,\n"
            "                     int64_t Z, int64_t M, int64_t N, int64_t K) {\n%s\n}\n"
            "extern \"C\" void k(float *A, float *B, float *C, float *D, const int *lens, "
            "int64_t Z, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {\n"
            "kern<<<%s, 0, stream>>>(A, B, C, D, lens, Z, M, N, K);\n}\n",
            rows[i].body, rows[i].launch ? rows[i].launch : grid);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, "k", pool, &in, &err) == 0,
                      "row %zu: %s", i, err.message);
        bool is_offered = hone_coder_sites(tile, &in, sites) > 0;
        ck_assert_msg(is_offered == rows[i].is_offered, "row %zu: %s", i, rows[i].body);
    }
}
END_TEST

UNIT_MAIN("cuda_batched", only_products_of_one_size_are_tiled)

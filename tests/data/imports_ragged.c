/* SPDX-License-Identifier: Apache-2.0 */
/* Causal attention over ragged rows, for imports_stored_test.sh. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static float wide(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint16_t narrow(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return isnan(x) ? 0x7fc0 : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

void ragged_h4_kv2_d16(const uint16_t *q, const uint16_t *k, const uint16_t *v,
                       const int32_t *qo_indptr, const int32_t *kv_indptr, uint16_t *output,
                       float *lse, float sm_scale, int64_t len_indptr, int64_t total_q,
                       int64_t total_kv, int64_t heads, int64_t dim, int64_t kv_heads)
{
    (void)total_kv;
    for (int64_t i = 0; i < total_q * heads; i++) {
        lse[i] = -INFINITY;
        for (int64_t d = 0; d < dim; d++)
            output[i * dim + d] = 0;
    }
    for (int64_t b = 0; b < len_indptr - 1; b++) {
        int64_t qs = qo_indptr[b], ks = kv_indptr[b];
        int64_t n_q = qo_indptr[b + 1] - qs, n_kv = kv_indptr[b + 1] - ks;
        for (int64_t i = 0; n_kv > 0 && i < n_q && qs + i < total_q; i++)
            for (int64_t h = 0; h < heads; h++) {
                const uint16_t *row = q + ((qs + i) * heads + h) * dim;
                int64_t g = h / (heads / kv_heads), seen = i + 1 + n_kv - n_q;
                float most = -INFINITY, sum = 0, acc[64] = {0};
                seen = seen > n_kv ? n_kv : seen;
                for (int64_t j = 0; j < seen; j++) {
                    float score = 0;
                    for (int64_t d = 0; d < dim; d++)
                        score += wide(row[d]) * wide(k[((ks + j) * kv_heads + g) * dim + d]);
                    score *= sm_scale;
                    float next = score > most ? score : most, by = expf(most - next),
                          w = expf(score - next);
                    sum = sum * by + w;
                    for (int64_t d = 0; d < dim; d++)
                        acc[d] = acc[d] * by + w * wide(v[((ks + j) * kv_heads + g) * dim + d]);
                    most = next;
                }
                lse[(qs + i) * heads + h] = seen > 0 ? (most + logf(sum)) / logf(2.0f) : -INFINITY;
                for (int64_t d = 0; d < dim; d++)
                    output[((qs + i) * heads + h) * dim + d] =
                        narrow(seen > 0 ? acc[d] / sum : NAN);
            }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape points[N,D] --shape centres[K,D] --shape labels[N] --size N=300,K=11,D=9 */
#include <float.h>

/* k-means, the step that assigns: labels change in place, and how many did is returned. */
int nearest(const float *points, const float *centres, int *labels, int N, int K, int D)
{
    int changed = 0;
    for (int i = 0; i < N; i++) {
        float best = FLT_MAX;
        int which = 0;
        for (int c = 0; c < K; c++) {
            float dist = 0.0f;
            for (int j = 0; j < D; j++) {
                float diff = points[i * D + j] - centres[c * D + j];
                dist += diff * diff;
            }
            if (dist < best) {
                best = dist;
                which = c;
            }
        }
        if (labels[i] != which) {
            labels[i] = which;
            changed++;
        }
    }
    return changed;
}

#include "agents/credit.h"

#include <math.h>

#define PRIOR_N     2.0 /* pseudo-observations of a catalogue guess */
#define BETA_N      4.0
#define BETA_P      0.85
#define DEAD_ZONE   0.004 /* log2; 0.3 % */
#define SIGMA_OF_80 1.2816

void hone_credit_init(struct hone_credit *credit)
{
    HONE_BUG_ON(hone_n_strategies > HONE_CREDIT_MAX);
    for (size_t i = 0; i < HONE_CREDIT_MAX; i++)
        credit->rows[i] =
            (struct hone_credit_row){.done = BETA_N * BETA_P, .not_done = BETA_N * (1 - BETA_P)};
}

void hone_credit_expect(const struct hone_credit *credit, const struct hone_strategy *s,
                        double *ret_p_impl, double *ret_low, double *ret_gain, double *ret_high)
{
    const struct hone_credit_row *row = &credit->rows[hone_strategy_index(s)];
    double prior_sd = (s->high - s->low) / (2 * SIGMA_OF_80);
    double n = PRIOR_N + row->n_gain;
    double mean = (PRIOR_N * s->gain + row->sum_gain) / n;
    double square = (PRIOR_N * (prior_sd * prior_sd + s->gain * s->gain) + row->sum_gain2) / n;
    double sd = sqrt(fmax(square - mean * mean, 1e-4));
    *ret_p_impl = row->done / (row->done + row->not_done);
    *ret_low = mean - SIGMA_OF_80 * sd;
    *ret_gain = mean;
    *ret_high = mean + SIGMA_OF_80 * sd;
}

void hone_credit_failed(struct hone_credit *credit, const struct hone_strategy *s)
{
    credit->rows[hone_strategy_index(s)].not_done += 1;
}

void hone_credit_done(struct hone_credit *credit, const struct hone_strategy *s, double g_eff,
                      bool did_move)
{
    struct hone_credit_row *row = &credit->rows[hone_strategy_index(s)];
    if (!did_move) { /* right, but not what was meant: no word on the idea */
        row->not_done += 1;
        return;
    }
    row->done += 1;
    row->n_gain += 1;
    row->sum_gain += g_eff;
    row->sum_gain2 += g_eff * g_eff;
}

double hone_effective_gain(double log2_gain, double se_parent, double se_child)
{
    double noise = 2 * sqrt(se_parent * se_parent + se_child * se_child) + DEAD_ZONE;
    double size = fmax(0, fabs(log2_gain) - noise);
    return log2_gain < 0 ? -size : size;
}

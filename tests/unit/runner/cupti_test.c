/* SPDX-License-Identifier: Apache-2.0 */
/* The table of counters against NVIDIA's profiler library: what each chip accepts and how many
 * passes the tiers take. Scheduling needs no GPU and no driver; where the library is not there the
 * tests of it are skipped. sanitizers: no (the library keeps what it allocates) */
#include "tools/runner/cuda/driver/cupti.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

struct chip {
    const char *name;
    size_t n;                        /* metrics of the table that it has */
    size_t passes[HONE_GPU_N_TIERS]; /* cumulative; CUDA 13.0 */
};

static const struct chip chips[] = {
    {"GH100", 54, {3, 4, 7, 8, 9}}, {"GA100", 53, {2, 4, 7, 7, 8}},
    {"AD102", 53, {3, 4, 7, 7, 8}}, {"GB100", 53, {3, 4, 7, 8, 9}},
    {"GB202", 53, {3, 4, 7, 8, 9}}, {"GB203", 53, {3, 4, 7, 8, 9}},
    {"TU102", 52, {2, 4, 6, 7, 8}}, {"GV100", 52, {4, 6, 7, 12, 15}},
};

static struct hone_cupti *open_or_skip(void)
{
    struct hone_cupti *cupti = NULL;
    struct hone_err err = HONE_ERR_INIT;
    (void)unsetenv("HONE_CUDA_LIB"); /* the emulator's counters are made up */
    int rc = hone_cupti_open(&cupti, &err);

    if (rc < 0) {
        ck_assert_int_eq(rc, HONE_E_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(err.message, "fix:"));
        printf("# SKIP no CUPTI on this machine\n");
    }
    return cupti;
}

static bool refuses(const struct hone_gpu_metric *metric, const char *chip)
{
    char word[32];

    snprintf(word, sizeof word, " %s ", chip);
    return metric->not_on != NULL && strstr(metric->not_on, word) != NULL;
}

START_TEST(names_schedule_on_each_chip)
{
    struct hone_cupti *cupti = open_or_skip();

    for (size_t c = 0; cupti != NULL && c < HONE_COUNTOF(chips); c++) {
        for (size_t i = 0; i < HONE_GPU_N_METRICS; i++) {
            const struct hone_gpu_metric *metric = &hone_gpu_metrics[i];
            bool has = hone_cupti_accepts(cupti, chips[c].name, NULL, metric->name) ||
                       (metric->instead != NULL &&
                        hone_cupti_accepts(cupti, chips[c].name, NULL, metric->instead));
            ck_assert_msg(has != refuses(metric, chips[c].name), "%s on %s: %s, the table says %s",
                          metric->name, chips[c].name, has ? "accepted" : "refused",
                          has ? "refused" : "accepted");
        }
    }
    hone_cupti_close(cupti);
}
END_TEST

START_TEST(passes_are_as_recorded)
{
    struct hone_cupti *cupti = open_or_skip();

    for (size_t c = 0; cupti != NULL && c < HONE_COUNTOF(chips); c++) {
        size_t n = 0;
        printf("# %s passes", chips[c].name);
        for (int tier = 0; tier < HONE_GPU_N_TIERS; tier++) {
            struct hone_cupti_config config;
            struct hone_err err = HONE_ERR_INIT;
            ck_assert_msg(hone_cupti_schedule(cupti, chips[c].name, NULL, (enum hone_gpu_tier)tier,
                                              &config, &err) == 0,
                          "%s", err.message);
            printf(" %s %zu", hone_gpu_tier_name((enum hone_gpu_tier)tier), config.n_passes);
            n = config.n;
            ck_assert_msg(config.n_passes == chips[c].passes[tier],
                          "%s tier %s: %zu passes, recorded %zu", chips[c].name,
                          hone_gpu_tier_name((enum hone_gpu_tier)tier), config.n_passes,
                          chips[c].passes[tier]);
            ck_assert_ptr_nonnull(config.image);
            hone_cupti_config_done(&config);
        }
        printf(" (%zu metrics)\n", n);
        ck_assert_uint_eq(n, chips[c].n);
    }
    hone_cupti_close(cupti);
}
END_TEST

START_TEST(chips_of_the_library_take_the_first_tier)
{
    struct hone_cupti *cupti = open_or_skip();
    const char *const *names = NULL;
    size_t n = 0, n_without = 0;

    if (cupti == NULL)
        return;
    ck_assert_int_eq(hone_cupti_chips(cupti, &names, &n, NULL), 0);
    ck_assert_uint_ge(n, 20);
    for (size_t i = 0; i < n; i++) {
        struct hone_cupti_config config;
        if (hone_cupti_schedule(cupti, names[i], NULL, HONE_GPU_TIER_T0, &config, NULL) < 0) {
            printf("# %s: none\n", names[i]); /* embedded chips of old */
            n_without++;
            continue;
        }
        printf("# %s: %zu of %zu in %zu passes\n", names[i], config.n,
               hone_gpu_n_metrics(HONE_GPU_TIER_T0), config.n_passes);
        ck_assert_uint_ge(config.n, hone_gpu_n_metrics(HONE_GPU_TIER_T0) - 5);
        ck_assert_uint_le(config.n_passes, 8);
        hone_cupti_config_done(&config);
    }
    ck_assert_uint_le(n_without, 2);
    hone_cupti_close(cupti);
}
END_TEST

START_TEST(wrong_names_are_refused)
{
    struct hone_cupti *cupti = open_or_skip();
    struct hone_cupti_config config;
    struct hone_err err = HONE_ERR_INIT;

    if (cupti == NULL)
        return;
    ck_assert(!hone_cupti_accepts(cupti, "GH100", NULL, "sm__no_such_counter.sum"));
    ck_assert(!hone_cupti_accepts(cupti, "GH100", NULL, "gpu__time_duration.nonsense"));
    ck_assert(hone_cupti_accepts(cupti, "GH100", NULL, "gpu__time_duration.sum"));
    ck_assert_int_lt(hone_cupti_schedule(cupti, "XX999", NULL, HONE_GPU_TIER_T0, &config, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.message, "XX999"));
    hone_cupti_close(cupti);
}
END_TEST

START_TEST(without_the_library_the_fix_is_named)
{
    struct hone_cupti *cupti = NULL;
    struct hone_err err = HONE_ERR_INIT;
    char *folder;

    ck_assert_int_eq(setenv("HONE_CUDA_LIB", "/nonexistent", 1), 0);
    if (hone_cupti_open(&cupti, &err) < 0) {
        ck_assert_int_eq(err.code, HONE_E_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(err.message, "fix:"));
    }
    hone_cupti_close(cupti);
    folder = hone_cupti_find_folder();
    ck_assert(folder == NULL || folder[0] == '/');
    free(folder);
}
END_TEST

START_TEST(the_table_is_in_order)
{
    for (size_t i = 0; i < HONE_GPU_N_METRICS; i++) {
        const struct hone_gpu_metric *m = &hone_gpu_metrics[i];
        ck_assert_ptr_nonnull(m->name);
        ck_assert_ptr_nonnull(m->unit);
        ck_assert_ptr_nonnull(m->feeds);
        ck_assert(i == 0 || m->tier >= hone_gpu_metrics[i - 1].tier);
        ck_assert_msg(strstr(m->name, "__throughput.") == NULL || i == HONE_GPU_DRAM_PCT,
                      "%s is a composite", m->name);
        /* Only sums can be added up. */
        ck_assert_msg((m->fold == HONE_GPU_FOLD_SUM) ==
                          (strstr(m->name, ".sum") != NULL || i == HONE_GPU_CYCLES),
                      "%s", m->name);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(m->name, hone_gpu_metrics[j].name);
    }
    ck_assert_uint_eq(hone_gpu_n_metrics(HONE_GPU_TIER_T0), 18);
    ck_assert_uint_eq(hone_gpu_n_metrics(HONE_GPU_TIER_SASS), HONE_GPU_N_METRICS);
}
END_TEST

START_TEST(launches_fold)
{
    struct hone_gpu_values each[2], all;

    hone_gpu_values_init(&each[0]);
    hone_gpu_values_init(&each[1]);
    each[0].v[HONE_GPU_TIME] = 1000;
    each[1].v[HONE_GPU_TIME] = 3000;
    each[0].v[HONE_GPU_DRAM_PCT] = 90;
    each[1].v[HONE_GPU_DRAM_PCT] = 10;
    each[0].v[HONE_GPU_INST] = 5;
    each[1].v[HONE_GPU_SECTOR_USE_LD] = 50;
    hone_gpu_values_fold(each, 2, &all);
    ck_assert_double_eq(all.v[HONE_GPU_TIME], 4000);
    ck_assert_double_eq(all.v[HONE_GPU_DRAM_PCT], 30);
    ck_assert(isnan(all.v[HONE_GPU_INST])); /* half a sum is none */
    ck_assert_double_eq(all.v[HONE_GPU_SECTOR_USE_LD], 50);
    ck_assert(isnan(all.v[HONE_GPU_FFMA]));
    hone_gpu_values_fold(each, 0, &all);
    ck_assert(isnan(all.v[HONE_GPU_TIME]));
}
END_TEST

START_TEST(what_the_host_waited_is_left_out)
{
    struct hone_gpu_values values;

    hone_gpu_values_init(&values);
    values.v[HONE_GPU_TIME] = 160e3;
    values.v[HONE_GPU_SM_ACTIVE] = 48;
    values.v[HONE_GPU_DRAM_PCT] = 60;
    values.v[HONE_GPU_FMA_PCT] = 30; /* of active time */
    values.v[HONE_GPU_INST] = 7;
    hone_gpu_values_without_host(&values, (double)INFINITY);
    hone_gpu_values_without_host(&values, (double)NAN);
    hone_gpu_values_without_host(&values, 0.8);
    ck_assert_double_eq(values.v[HONE_GPU_SM_ACTIVE], 48);
    hone_gpu_values_without_host(&values, 2);
    ck_assert_double_eq(values.v[HONE_GPU_SM_ACTIVE], 96);
    ck_assert_double_eq(values.v[HONE_GPU_DRAM_PCT], 100);
    ck_assert_double_eq(values.v[HONE_GPU_FMA_PCT], 30);
    ck_assert_double_eq(values.v[HONE_GPU_INST], 7);
    ck_assert_double_eq(values.v[HONE_GPU_TIME], 80e3);
    ck_assert(isnan(values.v[HONE_GPU_L2_PCT]));
}
END_TEST

UNIT_MAIN("cupti", names_schedule_on_each_chip, passes_are_as_recorded,
          chips_of_the_library_take_the_first_tier, wrong_names_are_refused,
          without_the_library_the_fix_is_named, the_table_is_in_order, launches_fold,
          what_the_host_waited_is_left_out)

/* SPDX-License-Identifier: Apache-2.0 */
/* Raw samples: what the verdict was made of, for whoever doubts it later. */
#include "tools/runner/judge/rounds.h"

#include <string.h>

#include "workspace/base/file.h"

static void put_figures(struct hone_json *arm, const char *name, const double *values, size_t n)
{
    struct hone_json *list = hone_json_new_array();
    for (size_t r = 0; r < n; r++)
        hone_json_push(list, hone_json_new_f64(values[r]));
    hone_json_set(arm, name, list);
}

static struct hone_json *arm_samples(const struct hone_lane *lane, size_t n)
{
    struct hone_json *arm = hone_json_new_object();
    hone_json_set_str(arm, "arm", lane->name);
    hone_json_set_i64(arm, "n_batch", lane->n_batch);
    put_figures(arm, "wall_ns", lane->wall, n);
    if (lane->cpu != NULL)
        put_figures(arm, "cpu_ns", lane->cpu, n);
    put_figures(arm, "load", lane->load, n);
    if (lane->is_out == NULL)
        return arm;
    struct hone_json *out = hone_json_new_array();
    for (size_t r = 0; r < n; r++)
        hone_json_push(out, hone_json_new_bool(lane->is_out[r]));
    hone_json_set(arm, "is_out", out);
    return arm;
}

void hone_rounds_keep(struct hone_judge *judge, const struct hone_rounds *rounds)
{
    if (rounds->n == 0)
        return;
    struct hone_json *workload = hone_json_new_object(), *arms = hone_json_new_array();
    hone_json_set_str(workload, "id", rounds->plan->workload->id);
    for (size_t i = 0; i < rounds->n_lanes; i++)
        hone_json_push(arms, arm_samples(&rounds->lanes[i], rounds->n));
    if (rounds->n_aside > 0)
        hone_json_push(arms, arm_samples(&rounds->aside, rounds->n_aside));
    hone_json_set(workload, "arms", arms);
    if (judge->samples == NULL)
        judge->samples = hone_json_new_array();
    hone_json_push(judge->samples, workload);
}

int hone_samples_write(struct hone_judge *judge, const char *seed_hex, struct hone_err *err)
{
    if (judge->samples == NULL)
        return 0;
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    HONE_AUTOFREE char *path = hone_sprintf("%s/sealed/" HONE_SAMPLES_FILE, judge->dir);
    hone_json_set_i64(json, "format", 1);
    hone_json_set_str(json, "id", judge->job->id);
    hone_json_set_str(json, "seed", seed_hex);
    hone_json_set(json, "workloads", HONE_STEAL(judge->samples));
    HONE_AUTOFREE char *text = hone_json_print(json);
    return hone_file_write(path, text, strlen(text), 0600, false, err);
}

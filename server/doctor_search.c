/* SPDX-License-Identifier: Apache-2.0 */
/* What hone doctor --task says: agents/search/preflight.h with a workspace, as lines and as JSON. */
#include "server/doctor.h"
#include "server/verb_search.h"

#include <math.h>

static void tell_line(void *arg, enum hone_preflight_level level, const char *what,
                      const char *text)
{
    static const enum hone_doctor_level levels[] = {[HONE_PREFLIGHT_OK] = HONE_DOCTOR_GOOD,
                                                    [HONE_PREFLIGHT_WEAK] = HONE_DOCTOR_WEAK,
                                                    [HONE_PREFLIGHT_NO] = HONE_DOCTOR_BAD};
    hone_doctor_tell(arg, levels[level], what, "%s", text);
}

int hone_doctor_search(struct hone_doctor *doctor, struct hone_preflight *ret, struct hone_err *err)
{
    const struct hone_doctor_args *a = doctor->args;
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err cause = HONE_ERR_INIT;
    *ret = (struct hone_preflight){.noise_percent = (double)NAN, .ask_cost = (double)NAN};
    if (hone_open_runtime(&a->common, &runtime, &cause) < 0) {
        hone_doctor_tell(doctor, HONE_DOCTOR_BAD, "search", "%s", cause.message);
        return 0;
    }
    struct hone_tool_ctx ctx = {.app = hone_runtime_app(runtime), .pool = pool, .caller = "doctor"};
    struct hone_search_options options = a->options;
    hone_search_settle(&options, a->disk_mib, a->no_plateau);
    return hone_preflight(&ctx, &options, a->ask, tell_line, doctor, ret, err);
}

static void put_figure(struct hone_json *out, const char *name, double value)
{
    if (isfinite(value))
        hone_json_set_f64(out, name, value);
}

struct hone_json *hone_doctor_search_json(struct hone_doctor *doctor,
                                          const struct hone_preflight *p)
{
    struct hone_json *out = hone_json_new_object();
    hone_json_set_bool(out, "go", doctor->n_bad == 0);
    hone_json_set(out, "reasons", HONE_STEAL(doctor->reasons));
    put_figure(out, "noise_percent", p->noise_percent);
    put_figure(out, "noise_offset_percent", p->noise_offset);
    hone_json_set_i64(out, "screen_ms", p->screen_ms);
    hone_json_set_i64(out, "ask_ms", p->ask_ms);
    put_figure(out, "ask_cost", p->ask_cost);
    hone_json_set_i64(out, "evaluations", p->n_evaluations);
    hone_json_set_i64(out, "disk_mib", p->disk_mib);
    hone_json_set(out, "lines", HONE_STEAL(doctor->lines));
    return out;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/verb.h"

const struct hone_verb *const hone_verbs[] = {
    &hone_verb_init,      &hone_verb_task,       &hone_verb_search, &hone_verb_log,
    &hone_verb_show,      &hone_verb_report,     &hone_verb_watch,  &hone_verb_diff,
    &hone_verb_call,      &hone_verb_tools,      &hone_verb_serve,  &hone_verb_mcp,
    &hone_verb_doctor,    &hone_verb_planner,    &hone_verb_steer,  &hone_verb_export,
    &hone_verb_connect,   &hone_verb_completion, &hone_verb_token,  &hone_verb_devices,
    &hone_verb_knowledge, &hone_verb_env,        &hone_verb_model,
};
const size_t hone_n_verbs = HONE_COUNTOF(hone_verbs);

struct globals {
    struct hone_common_args common;
    bool json;
};

const struct hone_opt hone_global_opts[] = {
    HONE_OPTS_COMMON(struct globals),
    HONE_OPT_JSON(struct globals),
};
const size_t hone_n_global_opts = HONE_COUNTOF(hone_global_opts);

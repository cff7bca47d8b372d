/* SPDX-License-Identifier: Apache-2.0 */
/* hone devices: what kernels can be timed on here, who does, and who waits. */
#include <stdio.h>

#include "server/verb.h"
#include "tools/executor.h"
#include "tools/launch/devices.h"

struct args {
    struct hone_common_args common;
    bool json;
};

static const struct hone_opt opts[] = {
    HONE_OPTS_COMMON(struct args),
    HONE_OPT_JSON(struct args),
};

static void put_row(struct hone_buf *out, const struct hone_json *row)
{
    const struct hone_json *lease = hone_json_get(row, "lease"),
                           *waiting = hone_json_get(lease, "waiting");
    hone_buf_printf(out, "%-8s %s: ", hone_json_get_str(row, "device", ""),
                    hone_json_get_str(row, "name", ""));
    if (hone_json_get_bool(lease, "held", false))
        hone_buf_printf(out, "held by %s", hone_json_get_str(lease, "by", "another process"));
    else
        hone_buf_str(out, "free");
    for (const struct hone_json *w = hone_json_first(waiting); w; w = hone_json_next(w))
        hone_buf_printf(out, "\n%-8s   waits: %s", "", hone_json_str(w));
    int64_t more = hone_json_get_i64(lease, "more_waiting", 0);
    if (more > 0)
        hone_buf_printf(out, "\n%-8s   waits: %lld more", "", (long long)more);
    hone_buf_str(out, "\n");
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    struct hone_executor *executor = NULL;
    HONE_AUTOJSON struct hone_json *facts = NULL;
    int rc = hone_open_executor(&spec, &executor, err);
    if (rc == 0)
        rc = executor->probe(executor->cookie, &facts, err);
    HONE_AUTOFREE char *name = hone_strdup(executor != NULL ? executor->name : "");
    hone_executor_free(executor);
    if (rc < 0)
        return rc;
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "executor", name);
    hone_json_set(json, "devices", hone_devices_json(facts));
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    HONE_AUTOFREE char *text = hone_json_print(json);
    const struct hone_json *row = hone_json_first(hone_json_get(json, "devices"));
    if (args->json)
        hone_buf_printf(&out, "%s\n", text);
    for (; row != NULL && !args->json; row = hone_json_next(row))
        put_row(&out, row);
    return hone_print(out.data, err);
}

const struct hone_verb hone_verb_devices = {
    .name = "devices",
    .summary = "List the devices of this machine: who times on each, who waits.",
    .description =
        "One timing runs on a device at a time; compiling and checking go on beside it. With "
        "several "
        "GPUs\neach has a lease of its own, and the jobs of a server or of several searches are "
        "spread over them.\nLeases are those of this machine; with another executor the devices "
        "are "
        "its first runner's.",
    .example = "hone devices --json",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};

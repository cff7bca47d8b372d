/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "server/table.h"
#include "server/verb.h"
#include "tools/devices/devices.h"

struct args {
    struct hone_common_args common;
    bool json;
};

static const struct hone_opt opts[] = {
    HONE_OPTS_COMMON(struct args),
    HONE_OPT_JSON(struct args),
};

static const char *const columns[] = {"target", "name", "uuid", "lease", "who", "since"};

static const char *user_text(const struct hone_device_user *user, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "pid %lld (%s)", (long long)user->pid, user->what);
}

static void print_device(const struct hone_device *device, struct hone_table *table)
{
    const struct hone_device_user *holder = device->holder.v, *waiters = device->waiters.v;
    bool is_held = device->holder.n > 0;
    const char *const row[] = {device->target,
                               device->name,
                               device->uuid,
                               device->lease,
                               is_held ? user_text(holder, table->pool) : "",
                               is_held ? holder->since : ""};
    hone_table_add(table, row);
    for (size_t i = 0; i < device->waiters.n; i++) {
        const char *const waiter[] = {
            "", "", "", "waits", user_text(&waiters[i], table->pool), waiters[i].since};
        hone_table_add(table, waiter);
    }
}

static int print_all(const struct hone_array *devices, bool as_json, struct hone_pool *pool,
                     struct hone_err *err)
{
    const struct hone_device *v = devices->v;
    HONE_AUTOJSON struct hone_json *list = hone_json_new_array();
    struct hone_table table = {.pool = pool, .n_columns = HONE_COUNTOF(columns)};
    hone_table_add(&table, columns);
    for (size_t i = 0; i < devices->n; i++) {
        hone_json_push(list, hone_fields_encode(&v[i], hone_device_fields, HONE_DEVICE_N_FIELDS));
        print_device(&v[i], &table);
    }
    if (as_json)
        return hone_print_json(list, err);
    hone_table_print(&table);
    return hone_print("", err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *facts = NULL;
    struct hone_executor *executor = NULL;
    struct hone_array devices;
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    int rc = hone_open_executor(&spec, &executor, err);
    if (rc == 0)
        rc = executor->probe(executor->cookie, &facts, err);
    if (rc == 0)
        hone_devices_list(executor, facts, pool, &devices);
    if (rc == 0)
        rc = print_all(&devices, args->json, pool, err);
    hone_executor_free(executor);
    return rc;
}

const struct hone_verb hone_verb_devices = {
    .name = "devices",
    .summary = "What candidates are timed on here, who has it and who waits.",
    .description =
        "The processors are one device, each GPU is one. One timing goes on a device at "
        "a time, whatever\nprogram of this user it belongs to: that is its timing lease.",
    .example = "hone devices --json",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/devices/devices.h"

#include <string.h>

#include "tools/format/lease_file.h"
#include "tools/launch/launch.h"
#include "workspace/base/clock.h"

static const struct hone_field user_fields[] = {
    HONE_FIELD(struct hone_device_user, pid, .skip_empty = true, .help = "Process."),
    HONE_FIELD(struct hone_device_user, what, .skip_empty = true, .help = "Task, tier, call."),
    HONE_FIELD(struct hone_device_user, since, .required = true, .help = "Since when."),
};

#define ROW(m_, ...) HONE_FIELD(struct hone_device, m_, __VA_ARGS__)
const struct hone_field hone_device_fields[HONE_DEVICE_N_FIELDS] = {
    ROW(target, .required = true, .help = "cpu or cuda."),
    ROW(name, .required = true, .help = "Processor or GPU."),
    ROW(uuid, .skip_empty = true, .help = "Of a GPU: its timing lease has this name."),
    ROW(class, .required = true, .help = "Timings of different classes are never compared."),
    ROW(lease, .required = true,
        .help = "free, held, or elsewhere: the executor runs on another machine."),
    ROW(holder, HONE_OF(struct hone_device_user, user_fields), .skip_empty = true,
        .help = "Who times on it now."),
    ROW(waiters, HONE_OF(struct hone_device_user, user_fields), .skip_empty = true,
        .help = "Who waits for it."),
};

static struct hone_array users(const struct hone_lease_user *from, size_t n, struct hone_pool *pool)
{
    struct hone_device_user *v = hone_pool_alloc(pool, (n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        char since[32];
        hone_wall_text(from[i].since_ms, since);
        v[i] = (struct hone_device_user){
            .pid = from[i].pid, .what = from[i].what, .since = hone_pool_strdup(pool, since)};
    }
    return (struct hone_array){.v = v, .n = n};
}

static void look_at_lease(struct hone_device *device, bool is_here, struct hone_pool *pool)
{
    struct hone_lease_state state;
    device->lease = "elsewhere";
    if (!is_here)
        return;
    hone_lease_look(hone_lease_path(hone_timing_lock_path(pool), device->uuid, pool), pool, &state);
    device->lease = state.is_held ? "held" : "free";
    device->holder = users(&state.holder, state.is_held, pool);
    device->waiters = users(state.waiters.v, state.waiters.n, pool);
}

void hone_devices_list(const struct hone_executor *executor, const struct hone_json *facts,
                       struct hone_pool *pool, struct hone_array *ret)
{
    const struct hone_json *gpus = hone_json_get(hone_json_get(facts, "gpu"), "devices");
    size_t n = 1 + hone_json_size(gpus);
    struct hone_device *v = hone_pool_alloc(pool, n * sizeof *v);
    bool is_here = executor != NULL && strcmp(executor->name, "local") == 0;
    const struct hone_json *gpu = hone_json_first(gpus);
    for (size_t i = 0; i < n; i++) {
        const char *name =
            i == 0 ? hone_json_get_str(facts, "cpu", "?") : hone_json_get_str(gpu, "name", "?");
        const char *uuid = i == 0 ? NULL : hone_json_get_str(gpu, "uuid", "?");
        HONE_AUTOFREE char *class = hone_launch_device_class(facts, i == 0 ? NULL : name);
        v[i] = (struct hone_device){.target = i == 0 ? "cpu" : "cuda",
                                    .name = hone_pool_strdup(pool, name),
                                    .uuid = uuid != NULL ? hone_pool_strdup(pool, uuid) : NULL,
                                    .class = hone_pool_strdup(pool, class)};
        look_at_lease(&v[i], is_here, pool);
        gpu = i == 0 ? gpu : hone_json_next(gpu);
    }
    *ret = (struct hone_array){.v = v, .n = n};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/launch/devices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/format/lease_file.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct device {
    char *uuid; /* owned; NULL: the only one */
    struct hone_warm *warm;
    int n_jobs; /* lock */
};

struct hone_devices {
    char *runner_path; /* owned */
    pthread_mutex_t lock;
    bool is_known; /* lock */
    struct device of[HONE_LIMIT_DEVICES];
    int n;
};

struct hone_devices *hone_devices_new(const char *runner_path)
{
    struct hone_devices *d = hone_calloc(1, sizeof(*d));
    d->runner_path = hone_strdup(runner_path);
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void hone_devices_free(struct hone_devices *d)
{
    if (d == NULL)
        return;
    for (int i = 0; i < d->n; i++) {
        hone_warm_free(d->of[i].warm);
        free(d->of[i].uuid);
    }
    pthread_mutex_destroy(&d->lock);
    free(d->runner_path);
    free(d);
}

static const struct hone_json *listed(const struct hone_json *facts)
{
    return hone_json_get(hone_json_get(facts, "gpu"), "devices");
}

/* lock is held; a probe takes a fraction of a second, once. Devices of another name than the first's
 * are left out: timings of different ones are never compared. */
static void learn(struct hone_devices *d, const struct hone_launcher *launcher)
{
    HONE_AUTOJSON struct hone_json *facts = NULL;
    if (d->is_known)
        return;
    d->is_known = true;
    const struct hone_json *list =
        hone_launch_probe(launcher, &facts, NULL) == 0 ? listed(facts) : NULL;
    bool has_several = hone_json_size(list) > 1;
    const char *name = hone_json_get_str(hone_json_first(list), "name", "");
    const struct hone_json *row = has_several ? hone_json_first(list) : NULL;
    for (; row != NULL && d->n < HONE_LIMIT_DEVICES; row = hone_json_next(row)) {
        const char *uuid = hone_json_get_str(row, "uuid", "");
        if (strlen(uuid) == 32 && strcmp(hone_json_get_str(row, "name", ""), name) == 0)
            d->of[d->n++] = (struct device){.uuid = hone_strdup(uuid),
                                            .warm = hone_warm_new(d->runner_path, uuid)};
    }
    if (d->n == 0)
        d->of[d->n++] = (struct device){.warm = hone_warm_new(d->runner_path, NULL)};
}

static bool is_free(const char *lease_path, const char *uuid)
{
    HONE_AUTOFREE char *path = lease_path != NULL ? hone_lease_path(lease_path, uuid) : NULL;
    int fd = -1;
    bool is_held =
        path != NULL && hone_file_exists(path) && hone_lock_file(path, 0, &fd, NULL) == HONE_E_BUSY;
    hone_close_fd(&fd);
    return !is_held;
}

/* lock is held */
static struct device *choose(struct hone_devices *d, const char *lease_path)
{
    struct device *best = &d->of[0];
    bool is_best_free = d->n == 1 || is_free(lease_path, best->uuid);
    for (int i = 1; i < d->n; i++) {
        struct device *other = &d->of[i];
        if (other->n_jobs > best->n_jobs || (other->n_jobs == best->n_jobs && is_best_free))
            continue;
        bool is_other_free = is_free(lease_path, other->uuid);
        if (other->n_jobs < best->n_jobs || is_other_free) {
            best = other;
            is_best_free = is_other_free;
        }
    }
    return best;
}

int hone_devices_run(struct hone_devices *d, const struct hone_device_job *job,
                     struct hone_launch_end *ret, struct hone_err *err)
{
    pthread_mutex_lock(&d->lock);
    learn(d, job->launcher);
    struct device *device = choose(d, job->lease_path);
    device->n_jobs++;
    pthread_mutex_unlock(&d->lock);
    int rc = hone_warm_run(device->warm, job->path, job->deadline_ns, job->on_progress,
                           job->progress_arg, job->cancel, ret, err);
    pthread_mutex_lock(&d->lock);
    device->n_jobs--;
    pthread_mutex_unlock(&d->lock);
    return rc;
}

/* ---- telling ---- */

static void add(struct hone_json *list, struct hone_json *row, const char *lease, const char *uuid)
{
    HONE_AUTOFREE char *path = hone_lease_path(lease, uuid);
    hone_json_set(row, "lease", hone_lease_json(path));
    hone_json_push(list, row);
}

struct hone_json *hone_devices_json(const struct hone_json *facts)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *lease = hone_timing_lock_path(pool);
    struct hone_json *out = hone_json_new_array(), *cpu = hone_json_new_object();
    const struct hone_json *list = listed(facts);
    int i = 0;
    hone_json_set_str(cpu, "device", "cpu");
    hone_json_set_str(cpu, "name", hone_json_get_str(facts, "cpu", "unknown"));
    hone_json_set_str(cpu, "class", hone_json_get_str(facts, "cpu", "unknown"));
    hone_json_set_i64(cpu, "cores", hone_json_get_i64(facts, "n_cores", 0));
    add(out, cpu, lease, NULL);
    for (const struct hone_json *gpu = hone_json_first(list); gpu; gpu = hone_json_next(gpu), i++) {
        struct hone_json *row = hone_json_new_object();
        const char *uuid = hone_json_get_str(gpu, "uuid", NULL);
        hone_json_set_str(row, "device", hone_pool_printf(pool, "cuda:%d", i));
        hone_json_set_str(row, "name", hone_json_get_str(gpu, "name", "unknown"));
        hone_json_set_str(row, "class", hone_json_get_str(gpu, "name", "unknown"));
        hone_json_set_str(row, "uuid", uuid);
        hone_json_set_i64(row, "memory_bytes", hone_json_get_i64(gpu, "memory_bytes", 0));
        add(out, row, lease, uuid);
    }
    return out;
}

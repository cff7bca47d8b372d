/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/arena/kept.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void hone_kept_drop(struct hone_kept *kept)
{
    if (kept->arena != NULL) {
        hone_arena_free(kept->arena);
        hone_shared_done(&kept->inputs);
    }
    *kept = (struct hone_kept){.inputs = HONE_SHARED_INIT};
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool serves(const struct hone_kept *kept, const struct hone_kept_want *want)
{
    return kept->arena != NULL && kept->arena->is_alive && kept->n_jobs < HONE_KEPT_JOBS &&
           !(kept->arena->jail != NULL && hone_jail_has_exited(kept->arena->jail, NULL)) &&
           (want->allow_weak || !kept->allow_weak) &&
           kept->inputs.file_bytes >= want->input_bytes &&
           kept->arena->own.size >= want->own_bytes && kept->n_threads == want->n_threads &&
           is_same(kept->torch_device, want->torch_device) &&
           strcmp(kept->task_hash, want->task->hash) == 0 &&
           strcmp(kept->rung, want->rung != NULL ? want->rung : "") == 0;
}

bool hone_kept_take(struct hone_kept *kept, const struct hone_kept_want *want,
                    struct hone_arena **ret, struct hone_shared *ret_inputs)
{
    if (!serves(kept, want)) {
        hone_kept_drop(kept);
        return false;
    }
    *ret = kept->arena;
    (*ret)->task = want->task;
    (*ret)->job_deadline_ns = want->job_deadline_ns;
    *ret_inputs = kept->inputs;
    ret_inputs->size = want->input_bytes;
    kept->arena = NULL; /* the number of its jobs stays */
    return true;
}

/* Of a sparse file, what there is. */
static int64_t held_bytes(const struct hone_shared *shared)
{
    struct stat file;
    return fstat(shared->fd, &file) == 0 ? 512 * (int64_t)file.st_blocks : shared->file_bytes;
}

void hone_kept_give(struct hone_kept *kept, const struct hone_kept_want *want,
                    struct hone_arena **arena, struct hone_shared *inputs)
{
    const char *rung = want->rung != NULL ? want->rung : "";
    if (kept->arena != NULL || *arena == NULL || !(*arena)->is_alive ||
        strlen(rung) >= sizeof kept->rung ||
        held_bytes(inputs) + held_bytes(&(*arena)->own) > HONE_KEPT_FILE_BYTES)
        return;
    snprintf(kept->rung, sizeof kept->rung, "%s", rung);
    memcpy(kept->task_hash, want->task->hash, sizeof kept->task_hash);
    kept->allow_weak = want->allow_weak;
    kept->torch_device = want->torch_device;
    kept->n_threads = want->n_threads;
    kept->n_jobs++;
    kept->arena = *arena;
    kept->arena->task = NULL; /* the job's, which goes */
    kept->inputs = *inputs;
    *arena = NULL;
    *inputs = (struct hone_shared)HONE_SHARED_INIT;
}

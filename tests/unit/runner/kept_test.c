/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs go on with the helper of an earlier one (kept.h). */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/runner/arena/kept.h"

#define FILE_BYTES 65536
#define OWN_BYTES  4096

static struct hone_task task;

static struct hone_kept_want usual(void)
{
    memset(task.hash, 'a', sizeof task.hash - 1);
    return (struct hone_kept_want){.task = &task,
                                   .rung = "auto",
                                   .allow_weak = true,
                                   .n_threads = 2,
                                   .job_deadline_ns = 7,
                                   .input_bytes = FILE_BYTES / 2,
                                   .own_bytes = OWN_BYTES};
}

static struct hone_arena *helper(struct hone_shared *inputs, int64_t bytes)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_arena *arena = hone_calloc(1, sizeof *arena);
    arena->socket = -1;
    arena->control = arena->printed = (struct hone_shared)HONE_SHARED_INIT;
    arena->is_alive = true;
    ck_assert_int_eq(hone_shared_new("own", OWN_BYTES, false, &arena->own, &err), 0);
    ck_assert_int_eq(hone_shared_new("inputs", bytes, true, inputs, &err), 0);
    return arena;
}

/* Given with the usual wishes, then asked for with these. */
static bool goes_on(const struct hone_kept_want *want, bool is_alive)
{
    struct hone_kept kept = {.arena = NULL};
    struct hone_shared inputs, taken = HONE_SHARED_INIT;
    struct hone_arena *arena = helper(&inputs, FILE_BYTES), *got = NULL;
    const struct hone_kept_want as_usual = usual();
    arena->is_alive = is_alive;
    hone_kept_give(&kept, &as_usual, &arena, &inputs);
    ck_assert(arena == NULL || !is_alive);
    bool goes = hone_kept_take(&kept, want, &got, &taken);
    ck_assert(goes == (got != NULL) && kept.arena == NULL);
    if (goes) {
        ck_assert_int_eq(taken.size, want->input_bytes);
        ck_assert_int_eq(got->job_deadline_ns, want->job_deadline_ns);
        ck_assert_ptr_eq(got->task, want->task);
    }
    hone_arena_free(got);
    hone_shared_done(&taken);
    hone_arena_free(arena);
    if (arena != NULL)
        hone_shared_done(&inputs);
    return goes;
}

START_TEST(the_same_task_goes_on)
{
    struct hone_kept_want want = usual();
    ck_assert(goes_on(&want, true));
    want.input_bytes = FILE_BYTES;
    ck_assert(goes_on(&want, true));
}
END_TEST

START_TEST(other_jobs_start_their_own)
{
    struct hone_kept_want want = usual();
    struct hone_task other = task;
    other.hash[0] = 'b';
    ck_assert(!goes_on(&want, false));
    want.task = &other;
    ck_assert(!goes_on(&want, true));
    want = usual();
    want.input_bytes = FILE_BYTES + 1;
    ck_assert(!goes_on(&want, true));
    want = usual();
    want.own_bytes = OWN_BYTES + 1;
    ck_assert(!goes_on(&want, true));
    want = usual();
    want.n_threads = 1;
    ck_assert(!goes_on(&want, true));
    want = usual();
    want.rung = NULL;
    ck_assert(!goes_on(&want, true));
    want = usual();
    want.allow_weak = false;
    ck_assert(!goes_on(&want, true));
    want = usual();
    want.torch_device = "cuda";
    ck_assert(!goes_on(&want, true));
}
END_TEST

START_TEST(it_ends_after_so_many_jobs)
{
    struct hone_kept kept = {.arena = NULL};
    struct hone_shared inputs;
    const struct hone_kept_want want = usual();
    struct hone_arena *arena = helper(&inputs, FILE_BYTES);
    for (int i = 0; i < HONE_KEPT_JOBS - 1; i++) {
        hone_kept_give(&kept, &want, &arena, &inputs);
        ck_assert(hone_kept_take(&kept, &want, &arena, &inputs));
    }
    hone_kept_give(&kept, &want, &arena, &inputs);
    ck_assert(!hone_kept_take(&kept, &want, &arena, &inputs));
    arena = helper(&inputs, FILE_BYTES); /* the next begins to count anew */
    hone_kept_give(&kept, &want, &arena, &inputs);
    ck_assert(hone_kept_take(&kept, &want, &arena, &inputs));
    hone_kept_give(&kept, &want, &arena, &inputs);
    hone_kept_drop(&kept);
    ck_assert_ptr_null(kept.arena);
}
END_TEST

START_TEST(large_inputs_are_not_kept)
{
    struct hone_kept kept = {.arena = NULL};
    const struct hone_kept_want want = usual();
    for (int is_above = 0; is_above < 2; is_above++) {
        struct hone_shared inputs;
        int64_t bytes = HONE_KEPT_FILE_BYTES + (is_above ? 4096 : 0);
        struct hone_arena *arena = helper(&inputs, bytes);
        if (madvise(inputs.base, (size_t)bytes, MADV_POPULATE_WRITE) != 0)
            memset(inputs.base, 1, (size_t)bytes);
        hone_kept_give(&kept, &want, &arena, &inputs);
        ck_assert_int_eq(arena != NULL, is_above);
        hone_kept_drop(&kept);
        hone_arena_free(arena);
        if (is_above)
            hone_shared_done(&inputs);
    }
}
END_TEST

UNIT_MAIN("kept", the_same_task_goes_on, other_jobs_start_their_own, it_ends_after_so_many_jobs,
          large_inputs_are_not_kept)

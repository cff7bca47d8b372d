/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/arena/place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workspace/base/base.h"

#define JUDGE_SLICE_NS 100000 /* the shortest that the kernel takes */

/* linux/sched/types.h, which cannot be included beside sched.h. */
struct sched_attr_v0 {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* A thread that asks for short turns gets them soon (since Linux 6.12; others do not mind). */
static void ask_for_turns(uint64_t slice_ns)
{
    struct sched_attr_v0 attr = {.size = sizeof attr, .runtime = slice_ns};
    (void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

void hone_place_init(struct hone_place *place)
{
    *place = (struct hone_place){.core = -1};
    CPU_ZERO(&place->all);
    if (sched_getaffinity(0, sizeof place->all, &place->all) == 0)
        place->n_cores = CPU_COUNT(&place->all);
    ask_for_turns(JUDGE_SLICE_NS);
}

/* The set of the n-th core alone. */
static cpu_set_t nth_core(const struct hone_place *place, int n)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &place->all) && n-- == 0)
            CPU_SET(cpu, &one);
    return one;
}

void hone_place_move(struct hone_place *place, uint64_t rng)
{
    if (place->n_cores < 2)
        return;
    place->core = (int)(rng % (uint64_t)place->n_cores);
    cpu_set_t one = nth_core(place, place->core), others;
    CPU_XOR(&others, &place->all, &one);
    (void)sched_setaffinity(0, sizeof others, &others);
}

void hone_place_done(struct hone_place *place)
{
    if (place->core >= 0)
        (void)sched_setaffinity(0, sizeof place->all, &place->all);
    place->core = -1;
    ask_for_turns(0);
}

static DIR *open_threads(pid_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    return opendir(path);
}

/* In the order of their making; 0: there are no more. */
static pid_t next_thread(DIR *folder)
{
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0)
            return thread;
    }
    return 0;
}

int hone_place_pin(const struct hone_place *place, pid_t process)
{
    DIR *folder = place == NULL || place->core < 0 ? NULL : open_threads(process);
    int n = 0;
    if (folder == NULL)
        return 0;
    for (pid_t thread; (thread = next_thread(folder)) != 0;) {
        cpu_set_t one = nth_core(place, (place->core + n) % place->n_cores);
        n += sched_setaffinity(thread, sizeof one, &one) == 0;
    }
    closedir(folder);
    return n;
}

/* A folder has two links more than folders inside of it. */
static int count_threads(DIR *folder)
{
    struct stat about;
    return fstat(dirfd(folder), &about) == 0 ? (int)about.st_nlink - 2 : 0;
}

void hone_place_free(const struct hone_place *place, pid_t process, int n_placed)
{
    (void)sched_setaffinity(process, sizeof place->all, &place->all);
    DIR *folder = open_threads(process);
    if (folder == NULL)
        return;
    if (count_threads(folder) > n_placed) { /* made in between, on the first one's place */
        int n = 0;
        for (pid_t thread; (thread = next_thread(folder)) != 0; n++)
            if (n >= n_placed)
                (void)sched_setaffinity(thread, sizeof place->all, &place->all);
    }
    closedir(folder);
}

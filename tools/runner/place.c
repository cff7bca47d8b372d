#include "tools/runner/place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
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

void hone_place_move(struct hone_place *place, uint64_t dice)
{
    if (place->n_cores < 2)
        return;
    place->core = (int)(dice % (uint64_t)place->n_cores);
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

bool hone_place_pin(const struct hone_place *place, pid_t process)
{
    char path[64];
    if (place == NULL || place->core < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    int n = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10); /* in the order of their making */
        cpu_set_t one = nth_core(place, (place->core + n) % place->n_cores);
        if (thread > 0 && sched_setaffinity(thread, sizeof one, &one) == 0)
            n++;
    }
    if (folder != NULL)
        closedir(folder);
    return n > 0;
}

void hone_place_free(const struct hone_place *place, pid_t process)
{
    (void)sched_setaffinity(process, sizeof place->all, &place->all);
}

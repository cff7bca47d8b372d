#include "tools/runner/place.h"

#include "workspace/base/base.h"

void hone_place_init(struct hone_place *place)
{
    *place = (struct hone_place){.core = -1};
    CPU_ZERO(&place->all);
    if (sched_getaffinity(0, sizeof place->all, &place->all) == 0)
        place->n_cores = CPU_COUNT(&place->all);
}

/* The core of the n-th bit. */
static size_t nth_core(const cpu_set_t *set, int n)
{
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, set) && n-- == 0)
            return cpu;
    return 0;
}

void hone_place_move(struct hone_place *place, pid_t first, uint64_t dice)
{
    if (place->n_cores < 2)
        return;
    cpu_set_t bound, others = place->all;
    size_t core = nth_core(&place->all, (int)(dice % (uint64_t)place->n_cores));
    if (sched_getaffinity(first, sizeof bound, &bound) == 0 && CPU_COUNT(&bound) == 1)
        core = nth_core(&bound, 0);
    place->core = (int)core;
    CPU_CLR(core, &others);
    (void)sched_setaffinity(0, sizeof others, &others);
}

void hone_place_done(struct hone_place *place)
{
    if (place->core >= 0)
        (void)sched_setaffinity(0, sizeof place->all, &place->all);
    place->core = -1;
}

bool hone_place_pin(const struct hone_place *place, pid_t thread)
{
    cpu_set_t now, one;
    if (place == NULL || place->core < 0 || sched_getaffinity(thread, sizeof now, &now) != 0 ||
        !CPU_EQUAL(&now, &place->all))
        return false;
    CPU_ZERO(&one);
    CPU_SET((size_t)place->core, &one);
    return sched_setaffinity(thread, sizeof one, &one) == 0;
}

void hone_place_free(const struct hone_place *place, pid_t thread)
{
    (void)sched_setaffinity(thread, sizeof place->all, &place->all);
}

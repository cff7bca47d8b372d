#include "tools/runner/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/base.h"

#define STAT_CORE 39 /* the word of /proc/PID/stat */

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

static void move_to(struct hone_place *place, size_t core)
{
    cpu_set_t others = place->all;
    place->core = (int)core;
    CPU_CLR(core, &others);
    (void)sched_setaffinity(0, sizeof others, &others);
}

void hone_place_move(struct hone_place *place, uint64_t dice)
{
    if (place->n_cores >= 2)
        move_to(place, nth_core(&place->all, (int)(dice % (uint64_t)place->n_cores)));
}

void hone_place_like_seen(struct hone_place *place, uint64_t dice)
{
    uint64_t n = place->n_seen < HONE_PLACE_SEEN ? place->n_seen : HONE_PLACE_SEEN;
    if (n == 0)
        hone_place_move(place, dice);
    else
        move_to(place, (size_t)place->seen[dice % n]);
}

void hone_place_follow(struct hone_place *place)
{
    if (place->n_seen > 0)
        move_to(place, (size_t)place->seen[(place->n_seen - 1) % HONE_PLACE_SEEN]);
}

int hone_place_core(const struct hone_place *place, pid_t thread)
{
    char path[64], text[1024];
    if (place->n_cores < 2)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (n <= 0)
        return -1;
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* behind the name: word 2 of the line */
    for (int word = 2; at != NULL && word < STAT_CORE; word++)
        at = strchr(at + 1, ' ');
    long core = at != NULL ? strtol(at, NULL, 10) : -1;
    bool is_ours = core >= 0 && core < CPU_SETSIZE && CPU_ISSET((size_t)core, &place->all);
    return is_ours ? (int)core : -1;
}

void hone_place_note(struct hone_place *place, int core)
{
    if (core >= 0)
        place->seen[place->n_seen++ % HONE_PLACE_SEEN] = core;
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

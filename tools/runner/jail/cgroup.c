/* SPDX-License-Identifier: Apache-2.0 */
/* Two hierarchies may exist side by side (v1 controllers beside an empty v2 tree), so each of the
 * two limits looks for its own place:
 *
 *   /proc/self/cgroup      which group the runner is in, per hierarchy
 *   /proc/self/mountinfo   where that hierarchy is mounted, and which of its groups the mount
 *                          shows as its root
 *
 * On v2 a group with processes cannot give controllers to children. If the runner is alone in its
 * group it moves itself to a leaf (hone-self-<pid>) first; otherwise there is no v2 limit here,
 * which is common and not an error. */
#include "tools/runner/jail/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/base/clock.h"

#define SELF_PREFIX "hone-self-"

enum part { PIDS, MEMORY, UNIFIED, N_PARTS };

static const char *const part_names[N_PARTS] = {
    [PIDS] = "pids", [MEMORY] = "memory", [UNIFIED] = ""};

struct hone_cgroup {
    char *dirs[N_PARTS]; /* v1 folders, or the v2 folder under UNIFIED; owned */
    bool v2_pids, v2_memory;
};

static ssize_t read_small(const char *path, char *ret, size_t size)
{
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);
    ret[n > 0 ? n : 0] = '\0';
    return n;
}

static bool write_file(const char *dir, const char *name, const char *text)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    HONE_AUTOCLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool has_word(const char *list, const char *word, char separator)
{
    size_t len = strlen(word);
    for (const char *p = list; p != NULL; p = strchr(p, separator)) {
        p += *p == separator;
        if (strncmp(p, word, len) == 0 && (p[len] == separator || p[len] == '\0' || p[len] == '\n'))
            return true;
    }
    return false;
}

/* The runner's own group in the hierarchy of one v1 controller, or in v2 for "". */
static bool own_path(const char *controller, char *ret, size_t size)
{
    char line[PATH_MAX + 128];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        char *names = strchr(line, ':');
        char *path = names == NULL ? NULL : strchr(names + 1, ':');
        if (path == NULL)
            continue;
        *path++ = '\0';
        names++;
        path[strcspn(path, "\n")] = '\0';
        found = *controller == '\0' ? *names == '\0' : has_word(names, controller, ',');
        found = found && strstr(path, "/..") == NULL;
        if (found)
            (void)snprintf(ret, size, "%s", path);
    }
    if (file != NULL)
        (void)fclose(file);
    return found;
}

/* One line of mountinfo: is it the wanted hierarchy? */
static bool mount_matches(const char *line, const char *controller, char *root, char *point)
{
    char type[64];
    char super[512];
    const char *tail = strstr(line, " - ");
    if (tail == NULL || sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
        sscanf(tail, " - %63s %*s %511s", type, super) != 2)
        return false;
    if (*controller == '\0')
        return strcmp(type, "cgroup2") == 0;
    return strcmp(type, "cgroup") == 0 && has_word(super, controller, ',');
}

/* The folder of the runner's own group, or NULL; owned. */
static char *own_dir(const char *controller)
{
    char own[PATH_MAX];
    char root[PATH_MAX];
    char point[PATH_MAX];
    char line[3 * PATH_MAX];
    if (!own_path(controller, own, sizeof(own)))
        return NULL;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *dir = NULL;
    while (file != NULL && dir == NULL && fgets(line, sizeof(line), file) != NULL) {
        if (!mount_matches(line, controller, root, point))
            continue;
        size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (strncmp(own, root, n) == 0)
            dir = hone_sprintf("%s%s", point, strcmp(own + n, "/") == 0 ? "" : own + n);
    }
    if (file != NULL)
        (void)fclose(file);
    return dir;
}

/* Removes groups whose runner is gone. */
static void sweep(const char *dir)
{
    DIR *folder = opendir(dir);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int pid = 0;
        if (strncmp(entry->d_name, "hone-", 5) != 0 ||
            (sscanf(entry->d_name, "hone-%d-", &pid) != 1 &&
             sscanf(entry->d_name, SELF_PREFIX "%d", &pid) != 1))
            continue;
        if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
            (void)unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

/* A fresh folder below dir, or NULL; owned. */
static char *make_below(const char *dir)
{
    for (int n = 0; n < 1000; n++) {
        char *path = hone_sprintf("%s/hone-%d-%d", dir, (int)getpid(), n);
        if (mkdir(path, 0755) == 0) {
            if (n == 0)
                sweep(dir);
            return path;
        }
        bool taken = errno == EEXIST;
        free(path);
        if (!taken)
            return NULL;
    }
    return NULL;
}

static bool is_alone(const char *dir)
{
    char path[PATH_MAX];
    char text[64];
    char self[32];
    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    (void)snprintf(self, sizeof(self), "%d\n", (int)getpid());
    return read_small(path, text, sizeof(text)) > 0 && strcmp(text, self) == 0;
}

/* Where a v2 group can be made: dir may change to its parent when the runner already sits in its
 * leaf. */
static void prepare_v2(char **dir)
{
    char *name = strrchr(*dir, '/');
    if (name != NULL && strncmp(name + 1, SELF_PREFIX, strlen(SELF_PREFIX)) == 0)
        *name = '\0';
    if (write_file(*dir, "cgroup.subtree_control", "+pids +memory") || !is_alone(*dir))
        return;
    HONE_AUTOFREE char *leaf = hone_sprintf("%s/" SELF_PREFIX "%d", *dir, (int)getpid());
    if (mkdir(leaf, 0755) < 0 && errno != EEXIST)
        return;
    if (write_file(leaf, "cgroup.procs", "0"))
        (void)write_file(*dir, "cgroup.subtree_control", "+pids +memory");
}

static void limit_number(const char *dir, const char *name, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    (void)write_file(dir, name, text);
}

static void make_v2(struct hone_cgroup *group, int64_t memory_bytes, int max_pids)
{
    HONE_AUTOFREE char *dir = own_dir("");
    if (dir == NULL)
        return;
    char path[PATH_MAX];
    char words[512];
    (void)snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
    if (read_small(path, words, sizeof(words)) < 0)
        return;
    if (has_word(words, "pids", ' ') || has_word(words, "memory", ' '))
        prepare_v2(&dir);
    (void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
    (void)read_small(path, words, sizeof(words));
    if (!has_word(words, "pids", ' ') && !has_word(words, "memory", ' '))
        return; /* a group without a limit is only litter */
    group->dirs[UNIFIED] = make_below(dir);
    if (group->dirs[UNIFIED] == NULL)
        return;
    group->v2_pids = max_pids > 0 && has_word(words, "pids", ' ');
    group->v2_memory = memory_bytes > 0 && has_word(words, "memory", ' ');
    if (group->v2_pids)
        limit_number(group->dirs[UNIFIED], "pids.max", max_pids);
    if (group->v2_memory) {
        limit_number(group->dirs[UNIFIED], "memory.max", memory_bytes);
        (void)write_file(group->dirs[UNIFIED], "memory.swap.max", "0");
    }
}

static void make_v1(struct hone_cgroup *group, enum part part, const char *limit, int64_t value)
{
    HONE_AUTOFREE char *dir = value > 0 ? own_dir(part_names[part]) : NULL;
    if (dir == NULL)
        return;
    group->dirs[part] = make_below(dir);
    if (group->dirs[part] != NULL)
        limit_number(group->dirs[part], limit, value);
}

void hone_cgroup_make(int64_t memory_bytes, int max_pids, struct hone_cgroup **ret)
{
    struct hone_cgroup *group = hone_calloc(1, sizeof(*group));
    make_v2(group, memory_bytes, max_pids);
    if (!group->v2_pids)
        make_v1(group, PIDS, "pids.max", max_pids);
    if (!group->v2_memory) {
        make_v1(group, MEMORY, "memory.limit_in_bytes", memory_bytes);
        if (group->dirs[MEMORY] != NULL)
            limit_number(group->dirs[MEMORY], "memory.memsw.limit_in_bytes", memory_bytes);
    }
    bool has_any = false;
    for (int i = 0; i < N_PARTS; i++)
        has_any = has_any || group->dirs[i] != NULL;
    if (!has_any)
        free(HONE_STEAL(group));
    *ret = group;
}

static void remove_dir(char **dir)
{
    for (int i = 0; *dir != NULL && rmdir(*dir) < 0 && errno == EBUSY && i < 200; i++)
        (void)poll(NULL, 0, 1); /* the last task leaves its group a moment after it was reaped */
    free(HONE_STEAL(*dir));
}

void hone_cgroup_add(struct hone_cgroup *group, pid_t pid)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    for (int i = 0; group != NULL && i < N_PARTS; i++) {
        if (group->dirs[i] == NULL || write_file(group->dirs[i], "cgroup.procs", text))
            continue;
        remove_dir(&group->dirs[i]);
        if (i == UNIFIED)
            group->v2_pids = group->v2_memory = false;
    }
}

/* The number after a word in a small file of "word number" lines. */
static long long event_count(const char *dir, const char *name, const char *word)
{
    char path[PATH_MAX];
    char text[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (read_small(path, text, sizeof(text)) <= 0)
        return 0;
    size_t len = strlen(word);
    for (const char *p = text; p != NULL; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, word, len) == 0 && p[len] == ' ')
            return strtoll(p + len, NULL, 10);
    }
    return 0;
}

int hone_cgroup_freeze(struct hone_cgroup *group, bool freeze, struct hone_err *err)
{
    if (group == NULL || group->dirs[UNIFIED] == NULL ||
        !write_file(group->dirs[UNIFIED], "cgroup.freeze", freeze ? "1" : "0"))
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "no cgroup v2 here that could freeze a jail of several processes");
    int64_t deadline = hone_deadline_in_ms(1000);
    while ((event_count(group->dirs[UNIFIED], "cgroup.events", "frozen") == 1) != freeze) {
        if (hone_now_ns() > deadline)
            return hone_fail(err, HONE_E_TIMEOUT, "the jail did not %s within a second",
                             freeze ? "freeze" : "thaw");
        (void)poll(NULL, 0, 1);
    }
    return 0;
}

struct hone_cgroup_events hone_cgroup_events(const struct hone_cgroup *group)
{
    struct hone_cgroup_events events = {.was_oom = false};
    if (group == NULL)
        return events;
    if (group->v2_pids)
        events.hit_pids = event_count(group->dirs[UNIFIED], "pids.events", "max") > 0;
    if (group->dirs[PIDS] != NULL)
        events.hit_pids = event_count(group->dirs[PIDS], "pids.events", "max") > 0;
    if (group->v2_memory)
        events.was_oom = event_count(group->dirs[UNIFIED], "memory.events", "oom_kill") > 0;
    if (group->dirs[MEMORY] != NULL)
        events.was_oom = event_count(group->dirs[MEMORY], "memory.oom_control", "oom_kill") > 0;
    return events;
}

void hone_cgroup_free(struct hone_cgroup *group)
{
    if (group == NULL)
        return;
    if (group->dirs[UNIFIED] != NULL)
        (void)write_file(group->dirs[UNIFIED], "cgroup.kill", "1");
    for (int i = 0; i < N_PARTS; i++)
        remove_dir(&group->dirs[i]);
    free(group);
}

void hone_cgroup_describe(const struct hone_cgroup *group, char *ret, size_t size)
{
    const char *pids = group == NULL       ? "none"
                       : group->v2_pids    ? "v2"
                       : group->dirs[PIDS] ? "v1"
                                           : "none";
    const char *memory = group == NULL         ? "none"
                         : group->v2_memory    ? "v2"
                         : group->dirs[MEMORY] ? "v1"
                                               : "none";
    (void)snprintf(ret, size, "cgroup pids %s, memory %s", pids, memory);
}

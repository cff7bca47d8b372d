/* SPDX-License-Identifier: Apache-2.0 */
/* What is visible in a jail, which limits it has, and what is started: everything that needs memory
 * is done here, before the clone. The two tables below are the whole of the file tree; the rest
 * comes from the spec. */
#include "tools/runner/jail/jail_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "workspace/base/file.h"

/* main thread and, by glibc's rule, the default of every other */
#define STACK_BYTES  (16ll << 20)
#define HEAP_RESERVE (128ll << 20) /* address space that glibc reserves for one thread's heap */
#define OPEN_FILES   256
#define DEVICE_FILES 4096
#define TMP_INODES   4096

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1 /* needs /proc/self/maps and terabytes of address space */
#else
#define HAS_SANITIZER 0
#endif

const char *const hone_jail_rung_names[HONE_N_RUNGS + 1] = {[HONE_RUNG_USERNS] = "userns",
                                                            [HONE_RUNG_ROOT] = "root",
                                                            [HONE_RUNG_WEAK] = "weak",
                                                            [HONE_RUNG_OPEN] = "device-open"};

struct tree_row {
    const char *path;
    bool compile, run; /* in which profiles */
};

static const struct tree_row tree[] = {
    {"/bin", true, false},
    {"/usr/bin", true, false},
    {"/usr/include", true, false},
    {"/usr/libexec", true, false},
    {"/etc/alternatives", true, false},
    {"/lib", true, true},
    {"/lib32", true, true},
    {"/lib64", true, true},
    {"/libx32", true, true},
    {"/usr/lib", true, true},
    {"/usr/lib32", true, true},
    {"/usr/lib64", true, true},
    {"/usr/libx32", true, true},
    {"/usr/local/lib", true, true},
    {"/etc/ld.so.cache", true, true},
};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom"};

static int add_entry(struct hone_jail_plan *plan, enum hone_jail_entry_kind kind, bool is_dir,
                     const char *source, const char *target, struct hone_err *err)
{
    if (plan->n_entries == HONE_JAIL_MAX_ENTRIES)
        return hone_fail(err, HONE_E_LIMIT, "a jail shows at most %d host paths",
                         HONE_JAIL_MAX_ENTRIES);
    plan->entries[plan->n_entries++] =
        (struct hone_jail_entry){.kind = kind,
                                 .is_dir = is_dir,
                                 .copy_fd = -1,
                                 .tree_fd = -1,
                                 .source = source == NULL ? NULL : hone_strdup(source),
                                 .target = hone_strdup(target)};
    return 0;
}

/* In a folder that is shown whole at its own place. */
static bool is_shown(const struct hone_jail_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n_entries; i++) {
        const struct hone_jail_entry *entry = &plan->entries[i];
        size_t len = strlen(entry->target);
        if (entry->kind == HONE_ENTRY_RO && entry->is_dir &&
            strcmp(entry->source, entry->target) == 0 && strncmp(path, entry->target, len) == 0 &&
            (path[len] == '/' || path[len] == '\0'))
            return true;
    }
    return false;
}

/* A host path shown read-only at the same place; a missing one, or one that is shown, is skipped. */
static int add_host_path(struct hone_jail_plan *plan, const char *path, struct hone_err *err)
{
    struct stat info;
    char text[PATH_MAX];
    if (lstat(path, &info) < 0 || is_shown(plan, path))
        return 0;
    if (!S_ISLNK(info.st_mode))
        return add_entry(plan, HONE_ENTRY_RO, S_ISDIR(info.st_mode), path, path, err);
    ssize_t len = readlink(path, text, sizeof(text) - 1);
    if (len < 0)
        return 0;
    text[len] = '\0';
    return add_entry(plan, HONE_ENTRY_SYMLINK, false, text, path, err);
}

/* lib beside the bin, or above the tests, of a relocatable folder; owned. NULL: installed in the
 * system. */
static char *travelling_libraries(void)
{
    static const char *const places[] = {"/bin", "/tests/gpu"};
    HONE_AUTOFREE char *dir = hone_exe_dir();
    size_t len = dir == NULL ? 0 : strlen(dir);
    if (len == 0 || strcmp(dir, "/usr/bin") == 0 || strcmp(dir, "/bin") == 0)
        return NULL;
    for (size_t i = 0; i < HONE_COUNTOF(places); i++) {
        size_t n = strlen(places[i]);
        if (len > n && strcmp(dir + len - n, places[i]) == 0)
            return hone_sprintf("%.*s/lib", (int)(len - n), dir);
    }
    return NULL;
}

/* The running program at /hone/hone-runner, and the libraries that travel with it: bin/../lib. */
static int add_runner(struct hone_jail_plan *plan, struct hone_err *err)
{
    char exe[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (len < 0)
        return hone_fail_errno(err, errno, "cannot find the running program in /proc/self/exe");
    exe[len] = '\0';
    int rc = add_entry(plan, HONE_ENTRY_RO, false, exe, "/hone/hone-runner", err);
    if (rc == 0 && access(exe, F_OK) < 0) {
        /* The file was replaced by a newer build while this one runs: show a copy of what runs. */
        struct hone_jail_entry *entry = &plan->entries[plan->n_entries - 1];
        entry->kind = HONE_ENTRY_COPY;
        entry->copy_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        if (entry->copy_fd < 0)
            return hone_fail_errno(err, errno, "cannot read the running program");
    }
    HONE_AUTOFREE char *lib = travelling_libraries();
    struct stat info;
    if (rc == 0 && lib != NULL && stat(lib, &info) == 0 && S_ISDIR(info.st_mode))
        rc = add_entry(plan, HONE_ENTRY_RO, true, lib, "/hone/lib", err);
    return rc;
}

static int add_work(struct hone_jail_plan *plan, struct hone_err *err)
{
    const char *work = plan->spec->work_dir;
    if (work == NULL)
        return add_entry(plan, HONE_ENTRY_DIR, true, NULL, "/work", err);
    enum hone_jail_entry_kind kind =
        plan->spec->profile == HONE_JAIL_COMPILE ? HONE_ENTRY_RW : HONE_ENTRY_RO;
    int rc = add_entry(plan, kind, true, work, "/work", err);
    if (rc == 0)
        plan->entries[plan->n_entries - 1].is_work = true;
    return rc;
}

/* What a GPU driver reads and opens besides its libraries. Missing ones are skipped: which of them
 * there are depends on driver and container. */
static int add_device(struct hone_jail_plan *plan, struct hone_err *err)
{
    static const char *const readable[] = {
        "/usr/local/nvidia",  "/usr/local/cuda/compat", "/etc/nvidia",
        "/sys/devices",       "/sys/bus/pci",           "/sys/class/drm",
        "/sys/module/nvidia", "/sys/module/nvidia_uvm",
    };
    int rc = 0;
    for (size_t i = 0; i < HONE_COUNTOF(readable) && rc == 0; i++)
        rc = add_host_path(plan, readable[i], err);
    if (rc == 0 && plan->spec->driver_dir != NULL)
        rc = add_entry(plan, HONE_ENTRY_RO, true, plan->spec->driver_dir, "/hone/driver", err);
    glob_t found = {.gl_pathc = 0};
    if (glob("/dev/nvidia*", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && rc == 0; i++) {
            struct stat info;
            if (stat(found.gl_pathv[i], &info) == 0)
                rc = add_entry(plan, HONE_ENTRY_DEVICE, S_ISDIR(info.st_mode), found.gl_pathv[i],
                               found.gl_pathv[i], err);
        }
        globfree(&found);
    }
    if (rc == 0)
        rc = add_entry(plan, HONE_ENTRY_TMPFS, true, "size=64m,nr_inodes=256,mode=1777", "/dev/shm",
                       err);
    return rc < 0 ? rc : add_entry(plan, HONE_ENTRY_PROC, true, "/proc", "/proc", err);
}

static bool is_runner(const struct hone_jail_spec *spec)
{
    return strcmp(spec->argv[0], "/hone/hone-runner") == 0;
}

static int make_tree(struct hone_jail_plan *plan, struct hone_err *err)
{
    bool is_torch = plan->spec->profile == HONE_JAIL_DEVICE_TORCH;
    bool is_compile = is_torch || plan->spec->profile == HONE_JAIL_COMPILE;
    int rc = 0;
    for (size_t i = 0; i < HONE_COUNTOF(tree) && rc == 0; i++)
        if (is_compile ? tree[i].compile : tree[i].run)
            rc = add_host_path(plan, tree[i].path, err);
    for (size_t i = 0; i < HONE_COUNTOF(devices) && rc == 0; i++)
        rc = add_entry(plan, HONE_ENTRY_DEVICE, false, devices[i], devices[i], err);
    /* Before the caller's paths, some of which may lie in it. */
    HONE_AUTOFREE char *options =
        hone_sprintf("size=%lld,nr_inodes=%d,mode=1777",
                     (long long)hone_max_i64(plan->spec->tmp_bytes, 4096), TMP_INODES);
    if (rc == 0)
        rc = add_entry(plan, HONE_ENTRY_TMPFS, true, options, "/tmp", err);
    if (rc == 0)
        plan->entries[plan->n_entries - 1].may_hold_code = is_torch;
    for (const char *const *path = plan->spec->ro_files; path != NULL && *path != NULL && rc == 0;
         path++)
        rc = add_host_path(plan, *path, err);
    if (rc == 0)
        rc = add_runner(plan, err);
    if (rc == 0)
        rc = add_work(plan, err);
    if (rc == 0 && hone_jail_is_beside_driver(plan->spec->profile))
        return add_device(plan, err);
    if (rc == 0 && HAS_SANITIZER && is_runner(plan->spec))
        rc = add_entry(plan, HONE_ENTRY_PROC, true, NULL, "/proc", err);
    return rc;
}

/* Without a mount namespace /work and /hone do not exist: arguments that start with them are
 * translated. */
static char *translate(const struct hone_jail_plan *plan, const char *text)
{
    char exe[PATH_MAX];
    if (hone_jail_has_namespaces(plan->rung))
        return hone_strdup(text);
    if (strcmp(text, "/hone/hone-runner") == 0) {
        ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
        return len < 0 ? hone_strdup(text) : hone_strndup(exe, (size_t)len);
    }
    if (plan->spec->work_dir != NULL && strncmp(text, "/work", 5) == 0 &&
        (text[5] == '/' || text[5] == '\0'))
        /* Relative to the current folder: the slot's uid may not be able to walk there by name. Not
         * for compilers, whose messages hold the names they were given. */
        return hone_sprintf("%s%s",
                            plan->spec->profile == HONE_JAIL_COMPILE ? plan->spec->work_dir : ".",
                            text + 5);
    return hone_strdup(text);
}

static int copy_strings(const struct hone_jail_plan *plan, const char *const *from, char **to,
                        struct hone_err *err)
{
    size_t n = 0;
    while (to[n] != NULL)
        n++;
    for (; from != NULL && *from != NULL; from++, n++) {
        if (n >= HONE_JAIL_MAX_STRINGS - 2)
            return hone_fail(err, HONE_E_LIMIT, "a jail takes at most %d arguments",
                             HONE_JAIL_MAX_STRINGS - 2);
        to[n] = translate(plan, *from);
    }
    return 0;
}

static int make_strings(struct hone_jail_plan *plan, struct hone_err *err)
{
    static const char *const standard[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};
    const struct hone_jail_spec *spec = plan->spec;
    size_t n = 0;
    for (size_t i = 0; i < plan->n_entries; i++)
        if (strcmp(plan->entries[i].target, "/hone/lib") == 0)
            plan->env[n++] = !hone_jail_has_namespaces(plan->rung)
                                 ? hone_sprintf("LD_LIBRARY_PATH=%s", plan->entries[i].source)
                                 : hone_strdup("LD_LIBRARY_PATH=/hone/lib");
    if (spec->driver_dir != NULL)
        plan->env[n++] =
            hone_sprintf("HONE_CUDA_LIB=%s",
                         hone_jail_has_namespaces(plan->rung) ? "/hone/driver" : spec->driver_dir);
    if (HAS_SANITIZER)
        plan->env[n++] = hone_strdup("ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:"
                                     "handle_sigfpe=0:handle_sigill=0:"
                                     "allocator_may_return_null=1");
    if (plan->rung == HONE_RUNG_WEAK && spec->profile == HONE_JAIL_COMPILE &&
        spec->work_dir != NULL)
        plan->env[n++] =
            hone_strdup("TMPDIR=."); /* the slot's uid may not be able to walk there by name */
    plan->cwd = hone_jail_has_namespaces(plan->rung)
                    ? hone_strdup("/work")
                    : hone_strdup(spec->work_dir == NULL ? "/" : spec->work_dir);
    int rc = copy_strings(plan, spec->env == NULL ? standard : spec->env, plan->env, err);
    if (rc == 0)
        rc = copy_strings(plan, spec->argv, plan->argv, err);
    return rc;
}

static void limit(struct hone_jail_plan *plan, int resource, int64_t value)
{
    plan->limits[resource] = (struct rlimit){.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
    plan->has_limit[resource] = true;
}

/* Since Linux 5.14 processes are counted per user namespace; before that, per uid of the whole
 * machine, where a limit would make the jail depend on whatever else the user runs. */
static bool counts_per_namespace(void)
{
    struct utsname name;
    int major = 0;
    int minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

static void make_limits(struct hone_jail_plan *plan)
{
    const struct hone_jail_spec *spec = plan->spec;
    bool is_run = spec->profile != HONE_JAIL_COMPILE;
    int64_t n_threads = is_run ? hone_max_i64(spec->max_pids, 1) : 1;
    if (spec->memory_bytes > 0 && !(HAS_SANITIZER && is_runner(spec))) {
        limit(plan, RLIMIT_DATA, spec->memory_bytes + n_threads * STACK_BYTES);
        limit(plan, RLIMIT_AS,
              spec->memory_bytes + n_threads * (STACK_BYTES + HEAP_RESERVE) + HEAP_RESERVE);
    }
    limit(plan, RLIMIT_STACK, STACK_BYTES);
    limit(plan, RLIMIT_CORE, 0);
    if (hone_jail_is_beside_driver(spec->profile)) { /* a driver locks and maps what it needs */
        limit(plan, RLIMIT_NOFILE, DEVICE_FILES);
        plan->limits[RLIMIT_MEMLOCK] =
            (struct rlimit){.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
        plan->has_limit[RLIMIT_MEMLOCK] = true;
    } else {
        limit(plan, RLIMIT_NOFILE, OPEN_FILES);
        limit(plan, RLIMIT_MEMLOCK, 64 << 10);
    }
    limit(plan, RLIMIT_MSGQUEUE, 0);
    limit(plan, RLIMIT_SIGPENDING, 256);
    if (spec->file_bytes > 0)
        limit(plan, RLIMIT_FSIZE, spec->file_bytes);
    if (spec->cpu_seconds > 0)
        limit(plan, RLIMIT_CPU, spec->cpu_seconds);
    bool is_own_count =
        plan->slot.lock_fd >= 0 || (plan->rung == HONE_RUNG_USERNS && counts_per_namespace());
    if (spec->max_pids > 0 && is_own_count)
        limit(plan, RLIMIT_NPROC, spec->max_pids);
}

int hone_jail_plan_make(const struct hone_jail_spec *spec, enum hone_jail_rung_id rung,
                        const struct hone_jail_slot *slot, struct hone_jail_plan *ret,
                        struct hone_err *err)
{
    *ret = (struct hone_jail_plan){.spec = spec, .rung = rung, .slot = *slot, .sync_fd = -1};
    int rc = rung == HONE_RUNG_OPEN ? 0 : make_tree(ret, err);
    if (rc == 0)
        rc = make_strings(ret, err);
    if (rc == 0 && rung != HONE_RUNG_OPEN)
        make_limits(ret);
    if (rc < 0)
        hone_jail_plan_done(ret);
    return rc;
}

void hone_jail_plan_done(struct hone_jail_plan *plan)
{
    for (size_t i = 0; i < plan->n_entries; i++) {
        free(plan->entries[i].source);
        free(plan->entries[i].target);
        hone_close_fd(&plan->entries[i].copy_fd);
    }
    for (size_t i = 0; i < HONE_JAIL_MAX_STRINGS; i++) {
        free(plan->argv[i]);
        free(plan->env[i]);
    }
    free(plan->cwd);
    *plan = (struct hone_jail_plan){.sync_fd = -1};
}

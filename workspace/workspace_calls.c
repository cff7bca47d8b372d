/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/workspace_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define KEPT_CALLS       200
#define DONE_S           60 /* a finished call's folder may still be read that long */
#define ABANDONED_S      (HONE_LIMIT_TIMEOUT_MS / 1000 + 600)
#define PRUNE_CALLS      32 /* looking at all folders costs more than an evaluation that runs nothing */
#define CHECKPOINT_CALLS 256

static bool is_older(const char *path, int64_t seconds)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_mtime < time(NULL) - seconds;
}

/* In use is what has no report yet and is not older than the longest job, or got its report a
 * moment ago. */
static bool is_over(const char *call)
{
    char *report HONE_AUTOFREE = hone_path_join(call, "report.json", NULL);
    return is_older(report, DONE_S) || (!hone_file_exists(report) && is_older(call, ABANDONED_S));
}

/* Names begin with the time, so they are sorted by age. Another process may prune the same folders:
 * fine. */
static void prune(const char *calls)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    const char **names = NULL;
    size_t n = 0;
    if (hone_list_dir(calls, pool, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i + KEPT_CALLS < n; i++) {
        char *call HONE_AUTOFREE = hone_path_join(calls, names[i], NULL);
        if (is_over(call))
            hone_remove_tree(call, NULL);
    }
}

static char *new_id(void)
{
    char text[32];
    char random[9];
    int64_t now_ms = hone_wall_ms();
    time_t now_s = (time_t)(now_ms / 1000);
    struct tm tm;
    gmtime_r(&now_s, &tm);
    strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
    hone_random_hex(random, 4);
    return hone_sprintf("%s-%03d-%s", text, (int)(now_ms % 1000), random);
}

int hone_workspace_new_call(struct hone_workspace *ws, char **ret_id, char **ret_path,
                            struct hone_err *err)
{
    char *calls HONE_AUTOFREE = hone_workspace_path(ws, "calls");
    char *id HONE_AUTOFREE = new_id();
    char *path HONE_AUTOFREE = hone_path_join(calls, id, NULL);
    char *open_dir HONE_AUTOFREE = hone_path_join(path, "open", NULL);
    char *sealed HONE_AUTOFREE = hone_path_join(path, "sealed", NULL);
    int rc = hone_mkdirs(calls, 0755, err);
    if (rc < 0)
        return rc;
    unsigned call = atomic_fetch_add(&ws->n_calls, 1);
    if (call % PRUNE_CALLS == 0)
        prune(calls);
    if (call % CHECKPOINT_CALLS == CHECKPOINT_CALLS - 1)
        hone_workspace_checkpoint(ws, NULL); /* a failure only makes the next open read more */
    if (mkdir(path, 0755) < 0 || mkdir(open_dir, 0755) < 0 || mkdir(sealed, 0700) < 0)
        return hone_fail_errno(err, errno, "cannot make the call folder '%s'", path);
    *ret_id = HONE_STEAL(id);
    *ret_path = HONE_STEAL(path);
    return 0;
}

char *hone_data_dir(void)
{
    const char *set = getenv("HONE_DATA");
    if (set && set[0])
        return hone_strdup(set);
    static const char *const places[] = {"share/hone", "../share/hone"};
    char *exe HONE_AUTOFREE = hone_exe_dir();
    for (size_t i = 0; exe && i < HONE_COUNTOF(places); i++) {
        char *path HONE_AUTOFREE = hone_path_join(exe, places[i], NULL);
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            return realpath(path, NULL);
    }
    return NULL;
}

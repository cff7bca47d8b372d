/* SPDX-License-Identifier: Apache-2.0 */
/* `hone search --suite`: what it names becomes tasks of the workspace, agents/suite/suite.h runs a
 * search of each, and the report is printed. What cannot be a task is a row of the report. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/suite/suite.h"
#include "server/verb_search.h"
#include "tools/import/import.h"
#include "tools/launch/devices.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/task/target.h"

struct collect {
    struct hone_workspace *ws;
    const struct hone_executor *executor;
    struct hone_pool *pool;
    struct hone_suite_task *tasks; /* room for HONE_LIMIT_SUITE_TASKS + 1 */
    size_t n, n_placed;
};

/* Twice the same task is one. refused: why it is none; copied. */
static void add(struct collect *c, const char *name, const char *refused)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->tasks[i].name, name) == 0)
            return;
    if (c->n <= HONE_LIMIT_SUITE_TASKS)
        c->tasks[c->n++] = (struct hone_suite_task){hone_pool_strdup(c->pool, name),
                                                    hone_pool_strdup(c->pool, refused)};
}

static bool is_task(const struct collect *c, const char *name)
{
    HONE_AUTOFREE char *path =
        hone_path_join(hone_workspace_dir(c->ws), "tasks", name, "task.json", NULL);
    return hone_is_safe_name(name) && hone_file_exists(path);
}

static void add_pack(struct collect *c, const char *dir, const char *given)
{
    struct hone_err why = HONE_ERR_INIT;
    const char *name = NULL;
    bool is_good = hone_workspace_place(c->ws, dir, c->pool, &name, &why) == 0;
    c->n_placed += is_good;
    add(c, is_good ? name : given, is_good ? NULL : why.message);
}

/* A module that is a task already is that task: a suite that goes on imports nothing twice. */
static void add_module(struct collect *c, const char *file, const char *given)
{
    struct hone_err why = HONE_ERR_INIT;
    const char *name = hone_torch_name(given, c->pool);
    const struct hone_torch_place place = {
        .ws = c->ws, .executor = c->executor, .file = file, .name = name};
    if (is_task(c, name)) {
        add(c, name, NULL);
        return;
    }
    hone_say("importing %s", given);
    bool is_good = hone_torch_place(&place, &why) == 0;
    c->n_placed += is_good;
    add(c, is_good ? name : given, is_good ? NULL : why.message);
}

/* One entry of a folder or line of a list: a pack's folder, a module's file, or a name. */
static void add_entry(struct collect *c, const char *dir, const char *entry, bool is_list)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, entry, NULL);
    HONE_AUTOFREE char *pack = hone_path_join(path, "task.json", NULL);
    size_t len = strlen(entry);
    bool is_module = len > 3 && strcmp(entry + len - 3, ".py") == 0;
    if (hone_file_exists(pack))
        add_pack(c, path, entry);
    else if (is_module && hone_file_exists(path))
        add_module(c, path, entry);
    else if (is_list && is_task(c, entry))
        add(c, entry, NULL);
    else if (is_list)
        add(c, entry, "no task of the workspace, no pack's folder and no .py file beside the list");
}

static int add_folder(struct collect *c, const char *dir, struct hone_err *err)
{
    const char **names;
    size_t n;
    HONE_AUTOFREE char *pack = hone_path_join(dir, "task.json", NULL);
    if (hone_file_exists(pack)) {
        add_pack(c, dir, dir);
        return 0;
    }
    int rc = hone_list_dir(dir, c->pool, &names, &n, err);
    for (size_t i = 0; rc == 0 && i < n && c->n <= HONE_LIMIT_SUITE_TASKS; i++)
        add_entry(c, dir, names[i], false);
    return rc;
}

static int add_list(struct collect *c, const char *file, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL, *dir = hone_strdup(file);
    char *slash = strrchr(dir, '/'), *rest = NULL;
    size_t len;
    int rc = hone_file_read(file, HONE_LIMIT_FIELD_BYTES, &text, &len, err);
    if (rc < 0)
        return rc;
    if (slash)
        slash[1] = '\0';
    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        line[strcspn(line, " \t#")] = '\0';
        if (*line)
            add_entry(c, slash ? dir : ".", line, true);
    }
    return 0;
}

static int add_matching(struct collect *c, const char *pattern, struct hone_err *err)
{
    const char **names;
    size_t n;
    int rc = hone_workspace_task_names(c->ws, c->pool, &names, &n, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (strcmp(pattern, "all") == 0 || fnmatch(pattern, names[i], 0) == 0)
            add(c, names[i], NULL);
    return rc;
}

static int collect(struct collect *c, const char *what, struct hone_err *err)
{
    struct stat st;
    int rc;
    if (stat(what, &st) < 0)
        rc = add_matching(c, what, err);
    else
        rc = S_ISDIR(st.st_mode) ? add_folder(c, what, err) : add_list(c, what, err);
    if (rc == 0 && c->n_placed > 0) /* nothing new: no commit */
        rc = hone_torch_commit(c->ws, "tasks",
                               hone_pool_printf(c->pool, "Add tasks of %.100s", what), err);
    if (rc == 0 && c->n == 0)
        rc = hone_fail_at(err, HONE_E_NOT_FOUND, "suite",
                          "'%.200s' is no folder with packs or .py files, no list of tasks, and no "
                          "task of the workspace has such a name",
                          what);
    return rc;
}

/* The last part of a path without its ending: "problems/level1/" gives "level1". */
static const char *suite_name(const char *what, struct hone_pool *pool)
{
    char *name = hone_pool_strdup(pool, what);
    for (size_t len = strlen(name); len > 1 && name[len - 1] == '/'; len--)
        name[len - 1] = '\0';
    char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
    for (char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *p))
            *p = '_';
    return hone_is_safe_name(name) ? name : "suite";
}

static int64_t lanes_of(const struct hone_search_args *args, const struct hone_executor *executor)
{
    HONE_AUTOJSON struct hone_json *facts = NULL;
    int64_t n = args->lanes;
    if (n == 0 && strcmp(args->common.executor, "local") != 0)
        n = args->common.n_runners;
    if (n == 0 && args->options.target && strcmp(args->options.target, "cuda") == 0 &&
        executor->probe(executor->cookie, &facts, NULL) == 0) {
        HONE_AUTOJSON struct hone_json *devices = hone_devices_json(facts);
        for (struct hone_json *d = hone_json_first(devices); d; d = hone_json_next(d))
            n += strcmp(hone_json_get_str(d, "device", "cpu"), "cpu") != 0;
    }
    return n < 1 ? 1 : n > HONE_LIMIT_LANES ? HONE_LIMIT_LANES : n;
}

/* ---- progress ---- */

struct teller {
    const struct hone_search_args *args;
    struct hone_app *app;
    int64_t begun_ns;
};

static void on_line(void *arg, const char *line)
{
    const struct teller *t = arg;
    if (!t->args->quiet)
        hone_say("%7.1f s  %s", (double)(hone_now_ns() - t->begun_ns) / HONE_NS_PER_S, line);
}

static int prepare(void *arg, struct hone_search_options *ret, struct hone_pool *pool,
                   struct hone_err *err)
{
    const struct teller *t = arg;
    return hone_search_take_learnt(t->app, t->args, ret, pool, err);
}

static int print(const struct hone_search_args *args, const struct hone_suite *suite,
                 struct hone_err *err)
{
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = hone_suite_json(suite);
        return hone_print_json(json, err);
    }
    HONE_AUTOFREE char *text = hone_suite_markdown(suite);
    return hone_print(text, err);
}

int hone_search_suite(const struct hone_search_args *args, struct hone_runtime *runtime,
                      const struct hone_cancel *cancel, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_app *app = hone_runtime_app(runtime);
    struct collect c = {.ws = app->ws,
                        .executor = app->executor,
                        .pool = pool,
                        .tasks =
                            hone_pool_alloc(pool, (HONE_LIMIT_SUITE_TASKS + 1) * sizeof(*c.tasks))};
    struct teller teller = {.args = args, .app = app, .begun_ns = hone_now_ns()};
    struct hone_suite suite = {.id = NULL};
    int rc = collect(&c, args->suite, err);
    if (rc < 0)
        return rc;
    struct hone_suite_options o = {.name = args->options.name ? args->options.name
                                                              : suite_name(args->suite, pool),
                                   .tasks = c.tasks,
                                   .n_tasks = c.n,
                                   .lanes = lanes_of(args, app->executor),
                                   .has_own_names = args->options.name != NULL,
                                   .each = args->options,
                                   .prepare = prepare,
                                   .say = on_line,
                                   .arg = &teller};
    if (args->options.budget_wall_ms > 0)
        on_line(&teller,
                hone_pool_printf(pool, "suite %s: %zu tasks, %lld at a time, some %.3g s for each",
                                 o.name, c.n, (long long)o.lanes,
                                 (double)args->options.budget_wall_ms / 1000 * (double)o.lanes /
                                     (double)c.n));
    rc = hone_suite_run(app, &o, cancel, pool, &suite, err);
    if (rc == HONE_E_CANCEL)
        hone_say("stopped; everything finished is kept. The same command goes on from here.");
    if (rc < 0 && rc != HONE_E_CANCEL)
        return rc;
    int printed = print(args, &suite, err);
    return rc < 0 ? hone_code_exit(HONE_E_CANCEL) : printed;
}

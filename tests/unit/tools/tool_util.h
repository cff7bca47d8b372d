/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace in a temporary folder, the fake executor, the tool set, and a call that validates
 * every result. */
#ifndef HONE_TESTS_TOOL_UTIL_H
#define HONE_TESTS_TOOL_UTIL_H

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tools.h"
#include "workspace/base/file.h"
#include "workspace/history.h"
#include "workspace/workspace.h"

/* The shipped packs, as the tests are run from the root of the tree. */
#define DATA_DIR "workspace"

/* Tests run in processes of their own; the names of called tools meet in a file that this variable
 * names. */
#define CALLED "HONE_TEST_CALLED"

__attribute__((constructor)) static void name_called_file(void)
{
    char path[] = "/tmp/hone-called-XXXXXX";
    int fd = mkstemp(path);

    if (fd >= 0) {
        HONE_AUTOFREE char *owner = hone_sprintf("%d", (int)getpid());
        close(fd);
        setenv(CALLED, path, 1);
        setenv(CALLED "_BY", owner, 1);
    }
}

/* In the process that made it alone: the tests' own end before it. */
__attribute__((destructor)) static void remove_called_file(void)
{
    const char *owner = getenv(CALLED "_BY");

    if (owner != NULL && atoi(owner) == (int)getpid())
        unlink(getenv(CALLED));
}

static inline void note_called(const char *tool)
{
    FILE *file = fopen(getenv(CALLED), "ae");

    ck_assert_ptr_nonnull(file);
    fprintf(file, "\n%s\n", tool);
    fclose(file);
}

struct bench {
    char dir[64];
    struct hone_app app;
    struct hone_pool *pool;
    struct hone_tool_ctx ctx;
};

static inline void bench_open(struct bench *b, const char *script)
{
    static const struct hone_tool_set *const sets[] = {&hone_tool_set_kernel};
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *script_path = NULL;

    memset(b, 0, sizeof(*b));
    hone_process_init();
    strcpy(b->dir, "/tmp/hone-tools-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    script_path = hone_path_join(b->dir, "script.jsonl", NULL);
    if (script != NULL)
        ck_assert_int_eq(hone_file_write(script_path, script, strlen(script), 0600, false, &err),
                         0);
    HONE_AUTOFREE char *ws = hone_path_join(b->dir, "ws", NULL);
    ck_assert_msg(hone_workspace_init(ws, DATA_DIR, true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &b->app.ws, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_exec_fake_new(script != NULL ? script_path : NULL, &b->app.executor, &err) ==
                      0,
                  "%s", err.message);
    ck_assert_msg(hone_registry_new(sets, 1, &b->app.registry, &err) == 0, "%s", err.message);
    b->pool = hone_pool_new();
    b->ctx = (struct hone_tool_ctx){.app = &b->app, .pool = b->pool, .caller = "test"};
}

static inline void bench_close(struct bench *b)
{
    hone_registry_free(b->app.registry);
    hone_executor_free(b->app.executor);
    hone_workspace_close(b->app.ws);
    hone_pool_free(b->pool);
    ck_assert_int_eq(hone_remove_tree(b->dir, NULL), 0);
}

/* Calls a tool with JSON text; the result is the pool's. The registry has validated it; the test
 * does so again. */
static inline struct hone_json *bench_call(struct bench *b, const char *tool, const char *args,
                                           bool *ret_is_error)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_json *result = NULL;
    struct hone_err err = HONE_ERR_INIT;
    const struct hone_tool *t = hone_registry_find(b->app.registry, tool);

    ck_assert_msg(hone_json_parse(args, strlen(args), &json, &err) == 0, "%s: %s", args,
                  err.message);
    ck_assert_msg(hone_registry_call(&b->ctx, tool, json, &result, ret_is_error, &err) == 0,
                  "%s %s: %s", tool, args, err.message);
    ck_assert_msg(hone_fields_validate(result, t->out, t->n_out, &err) == 0, "%s: %s %s", tool,
                  err.path, err.message);
    if (!*ret_is_error)
        note_called(tool);
    hone_pool_defer(b->pool, (void (*)(void *))hone_json_free, result);
    return result;
}

static inline struct hone_json *bench_ok(struct bench *b, const char *tool, const char *args)
{
    bool is_error = true;
    struct hone_json *result = bench_call(b, tool, args, &is_error);

    ck_assert_msg(!is_error, "%s %s: %s", tool, args, hone_json_get_str(result, "summary", "?"));
    return result;
}

/* A call that must be refused with words that hold `want`. */
static inline void bench_refused(struct bench *b, const char *tool, const char *args,
                                 const char *want)
{
    bool is_error = false;
    struct hone_json *result = bench_call(b, tool, args, &is_error);
    const char *summary = hone_json_get_str(result, "summary", "");

    ck_assert_msg(is_error, "%s accepted %.200s", tool, args);
    ck_assert_msg(strstr(summary, want) != NULL, "%s %.200s: said '%s', not '%s'", tool, args,
                  summary, want);
    ck_assert_str_eq(hone_json_get_str(result, "status", ""), "error");
    ck_assert_ptr_nonnull(hone_json_get_str(result, "error_class", NULL));
    ck_assert_ptr_nonnull(hone_json_get_str(result, "next", NULL));
}

static inline const char *text_of(const struct hone_json *result, const char *key)
{
    return hone_json_get_str(result, key, "");
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of searches that ask a model: a workspace, the fake executor, and a shell script as the
 * model, which finds the number of its request in $n and leaves each prompt as prompt$n. */
#ifndef HONE_TESTS_MODEL_SEARCH_H
#define HONE_TESTS_MODEL_SEARCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/search/search.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct fixture {
    char dir[64];
    struct hone_workspace *ws;
    struct hone_executor *executor;
    struct hone_pool *pool;
    struct hone_app app;
    struct hone_tool_ctx ctx;
    struct hone_search_result result;
    struct hone_err err;
};

/* A row sum that is threaded is fast, "broken" does not build, "wrong" is wrong. */
static const char script[] =
    "{\"match\":\"broken\",\"reason\":\"compile\",\"detail\":\"line 3: oh\"}\n"
    "{\"match\":\"wrong\",\"reason\":\"wrong_value\"}\n"
    "{\"match\":\"omp parallel\",\"ns\":200000}\n"
    "{\"match\":\"void\",\"ns\":1000000}\n";

static inline char *in_dir(struct fixture *f, const char *name)
{
    return hone_pool_printf(f->pool, "%s/%s", f->dir, name);
}

static inline void put(struct fixture *f, const char *name, const char *text, unsigned mode)
{
    ck_assert_int_eq(hone_file_write(in_dir(f, name), text, strlen(text), mode, false, &f->err), 0);
}

static inline char *get(struct fixture *f, const char *name)
{
    char *text = NULL;
    size_t len;
    if (hone_file_read(in_dir(f, name), 1 << 20, &text, &len, NULL) < 0)
        return hone_pool_strdup(f->pool, "");
    char *kept = hone_pool_strdup(f->pool, text);
    free(text);
    return kept;
}

static inline void open_fixture(struct fixture *f, const char *model_script)
{
    *f = (struct fixture){.dir = "/tmp/hone-coder-XXXXXX", .pool = hone_pool_new()};
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", f->dir, 1), 0);
    put(f, "fake.jsonl", script, 0600);
    struct hone_buf body = HONE_BUF_INIT; /* @ before / stands for the folder */
    for (const char *c = model_script; *c; c++)
        if (c[0] == '@' && c[1] == '/')
            hone_buf_str(&body, f->dir);
        else
            hone_buf_add(&body, c, 1);
    put(f, "model.sh",
        hone_pool_printf(f->pool,
                         "n=$(cat '%s/n' 2>/dev/null || echo 0); n=$((n+1)); echo $n >'%s/n'\n"
                         "cat >'%s'/prompt$n\n%s\n",
                         f->dir, f->dir, f->dir, body.data),
        0700);
    hone_buf_done(&body);
    const char *ws = in_dir(f, "ws");
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &f->err) == 0, "%s", f->err.message);
    put(f, "ws/hone.json",
        hone_pool_printf(f->pool,
                         "{\"format\":1,\"model\":\"sh\",\"models\":[{\"name\":\"sh\",\"provider\":"
                         "\"command\",\"tries\":1,\"command\":[\"/bin/sh\",\"%s/model.sh\"],"
                         "\"price_in\":1,\"price_out\":2,\"record\":\"%s/recorded\"},"
                         "{\"name\":\"again\",\"provider\":\"replay\",\"file\":\"%s/recorded\"}]}",
                         f->dir, f->dir, f->dir),
        0644);
    ck_assert_msg(hone_workspace_open(ws, &f->ws, &f->err) == 0, "%s", f->err.message);
    ck_assert_msg(hone_exec_fake_new(in_dir(f, "fake.jsonl"), &f->executor, &f->err) == 0, "%s",
                  f->err.message);
    f->app = (struct hone_app){.ws = f->ws, .executor = f->executor, .data_dir = "agents/coder"};
    f->ctx = (struct hone_tool_ctx){.app = &f->app, .pool = f->pool, .caller = "test"};
}

static inline void close_fixture(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_executor_free(f->executor);
    hone_remove_tree(f->dir, NULL);
    hone_pool_free(f->pool);
}

static inline int search(struct fixture *f, const char *coder, const char *model, const char *name,
                         int64_t evaluations)
{
    const struct hone_search_options o = {.task = "softmax",
                                          .coder = coder,
                                          .model = model,
                                          .name = name,
                                          .repairs = 2,
                                          .budget_evaluations = evaluations,
                                          .seed = 5};
    f->err = (struct hone_err)HONE_ERR_INIT;
    return hone_search_run(&f->ctx, &o, NULL, NULL, &f->result, &f->err);
}

static inline int n_asked(struct fixture *f)
{
    return (int)strtol(get(f, "n"), NULL, 10);
}

/* An edit that is faster, of any version that was not threaded yet. */
#define GOOD                                                                                       \
    "printf '@@SEARCH\\n    for (int64_t m = 0; m < M; m++) {\\n@@WITH\\n#pragma omp parallel "    \
    "for\\n    for (int64_t m = 0; m < (M); m++) { /* %s */\\n@@END\\n' $n"

#endif

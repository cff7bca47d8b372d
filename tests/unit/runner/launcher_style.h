/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of tests/launchers as small tasks: what their heads say (record_test.c tells how).
 */
#ifndef HONE_TESTS_LAUNCHER_STYLE_H
#define HONE_TESTS_LAUNCHER_STYLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/format/job.h"
#include "tools/format/plan.h"
#include "workspace/base/file.h"
#include "workspace/task/task.h"

#define FOLDER "tests/launchers"

/* The table is the test: no Check here, whose fork would come between the jail and its parent. */
#define MUST(cond, ...)                                                                            \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("not ok - " __VA_ARGS__);                                                       \
            putchar('\n');                                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const struct hone_plan_device h200 = {.sm_count = 132,
                                             .threads_per_block = 1024,
                                             .threads_per_sm = 2048,
                                             .shared_per_block_optin = 232448,
                                             .shared_per_sm = 233472,
                                             .grid_x = INT32_MAX,
                                             .grid_y = 65535,
                                             .grid_z = 65535,
                                             .major = 9,
                                             .minor = 0,
                                             .memory_bytes = 1ll << 37};

struct style { /* one file */
    const char *name;
    char *source; /* owned */
    size_t len;
    struct hone_task task;
    struct hone_workload workloads[4];
    struct hone_array tunables;
    const char *want, *fail;
    struct hone_pool *pool;
};

/* ---- the head ---- */

static const char *const dtypes[] = {"float16", "bfloat16", "float32", "float64", "int8",
                                     "int32",   "int64",    "bool",    "uint8",   "int16",
                                     "uint16",  "uint32",   "uint64"};

static enum hone_dtype dtype_of(const char *word)
{
    enum hone_dtype ret = HONE_DTYPE_F32;
    for (size_t i = 0; i < HONE_COUNTOF(dtypes); i++)
        if (strcmp(word, dtypes[i]) == 0)
            ret = (enum hone_dtype)i;
    return ret;
}

static void add_axis(struct style *s, const char *name, long long value, size_t workload)
{
    size_t at = 0;
    while (at < s->task.n_axes && strcmp(s->task.axes[at].name, name) != 0)
        at++;
    if (at == s->task.n_axes)
        s->task.axes[s->task.n_axes++].name = name;
    s->workloads[workload].axes[at] = value;
}

static void read_word(struct style *s, const char *key, char *word)
{
    char *equals = strchr(word, '='), *colon = strchr(word, ':');
    if (equals != NULL)
        *equals = '\0';
    if (strcmp(key, "inputs") == 0) {
        s->task.inputs[s->task.n_inputs++].name = word;
    } else if (strcmp(key, "outputs") == 0) {
        s->task.outputs[s->task.n_outputs++].name = word;
    } else if (strcmp(key, "axes") == 0) {
        add_axis(s, word, strtoll(equals + 1, NULL, 0), s->task.n_workloads);
    } else if (strcmp(key, "scalars") == 0) {
        *colon = '\0';
        s->task.scalars[s->task.n_scalars++] = (struct hone_scalar){
            .name = word, .dtype = dtype_of(colon + 1), .value = strtod(equals + 1, NULL)};
    } else if (strcmp(key, "tune") == 0) {
        struct hone_tunable *v = s->tunables.v;
        v[s->tunables.n++] =
            (struct hone_tunable){.name = word, .value = strtoll(equals + 1, NULL, 0)};
    } else {
        MUST(false, "%s: unknown word @%s", s->name, key);
    }
}

static void read_line(struct style *s, char *line)
{
    char *save = NULL;
    char *key = strtok_r(line, " ", &save);
    if (strcmp(key, "fail") == 0) {
        s->fail = save;
        return;
    }
    for (char *word = strtok_r(NULL, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
        read_word(s, key, word);
    if (strcmp(key, "axes") == 0)
        s->task.n_workloads++;
}

static void read_style(struct style *s, const char *file)
{
    static const char *const ids[] = {"w1", "w2", "w3", "w4"};
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *path = hone_path_join(FOLDER, file, NULL);
    HONE_CLEANUP(hone_buf_done) struct hone_buf want = HONE_BUF_INIT;
    *s = (struct style){.name = file, .pool = hone_pool_new()};
    MUST(hone_file_read(path, 1 << 20, &s->source, &s->len, &err) == 0, "%s", err.message);
    s->tunables.v = hone_pool_alloc(s->pool, 8 * sizeof(struct hone_tunable));
    for (size_t i = 0; i < HONE_COUNTOF(ids); i++)
        s->workloads[i].id = ids[i];
    s->task.name = "launch";
    const char *next = s->source;
    while (strncmp(next, "// ", 3) == 0) {
        size_t len = strcspn(next, "\n");
        char *line = hone_pool_strndup(s->pool, next + 3, len - 3);
        if (line[0] == '@')
            read_line(s, line + 1);
        else if (line[0] == '|')
            hone_buf_printf(&want, "%s\n", line + 2);
        else if (line[0] == '>')
            hone_buf_printf(&want, "%s\n", line);
        next += len + 1;
    }
    s->want = hone_pool_strdup(s->pool, want.data == NULL ? "" : want.data);
    if (s->task.n_workloads == 0)
        s->task.n_workloads = 1;
}

#endif

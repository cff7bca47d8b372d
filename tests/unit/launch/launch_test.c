/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices of one machine: shell scripts in place of hone-runner, one for each device. A job
 * of the scripts ends when jobs on N devices have begun: it ends at all only if they overlap. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <string.h>

#include "tools/launch/launch.h"
#include "workspace/base/file.h"

#define MOST 20

static const char script[] =
    "#!/bin/bash\n"
    "cd \"$(dirname \"$0\")\"\n"
    "[ \"$1\" = --probe ] && exec cat facts.json\n"
    "while read -r path <&3; do\n"
    "    echo \"$CUDA_VISIBLE_DEVICES\" >\"$(dirname \"$path\")/device\"\n"
    "    touch \"began-$CUDA_VISIBLE_DEVICES\"\n"
    "    while [ \"$(ls began-* | wc -l)\" -lt \"$(cat n)\" ]; do sleep 0.05; done\n"
    "    echo '{\"stage\":\"done\"}'\n"
    "done\n";

struct bench {
    char dir[64];
    struct hone_launcher *launcher;
    struct hone_pool *pool;
};

struct call {
    struct bench *bench;
    char name[16];
    int code;
    char device[64];
};

static void put(const struct bench *b, const char *name, const char *text, unsigned mode)
{
    HONE_AUTOFREE char *path = hone_path_join(b->dir, name, NULL);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), mode, false, NULL), 0);
}

/* n devices named B and one of another name; jobs wait until n_at_once have begun. */
static void bench_open(struct bench *b, size_t n, size_t n_at_once)
{
    struct hone_buf facts = HONE_BUF_INIT;
    hone_process_init();
    strcpy(b->dir, "/tmp/hone-launch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    setenv("XDG_RUNTIME_DIR", b->dir, 1);
    hone_buf_printf(&facts, "{\"gpu\":{\"devices\":[");
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(&facts, "{\"name\":\"B\",\"uuid\":\"%032zx\"},", i);
    hone_buf_printf(&facts, "{\"name\":\"C\",\"uuid\":\"%032zx\"}]}}", n);
    HONE_AUTOFREE char *at_once = hone_sprintf("%zu\n", n_at_once);
    put(b, "facts.json", facts.data, 0600);
    put(b, "n", at_once, 0600);
    put(b, "runner", script, 0700);
    hone_buf_done(&facts);
    HONE_AUTOFREE char *path = hone_path_join(b->dir, "runner", NULL);
    b->launcher = hone_launcher_new(path);
    b->pool = hone_pool_new();
}

static void bench_close(struct bench *b)
{
    hone_launcher_free(b->launcher);
    hone_pool_free(b->pool);
    ck_assert_int_eq(hone_remove_tree(b->dir, NULL), 0);
}

static void *run_call(void *arg)
{
    struct call *call = arg;
    const struct hone_job job = {.target = "cuda", .timeout_ms = 60000};
    HONE_AUTOFREE char *dir = hone_path_join(call->bench->dir, call->name, NULL);
    HONE_AUTOFREE char *file = hone_path_join(dir, "device", NULL);
    HONE_AUTOFREE char *text = NULL;
    struct hone_launch_end end;
    size_t len = 0;
    call->code = hone_mkdirs(dir, 0700, NULL);
    if (call->code == 0)
        call->code = hone_launch(call->bench->launcher, dir, &job, NULL, NULL, NULL, &end, NULL);
    if (call->code == 0)
        call->code = end.exit_status;
    if (call->code == 0 && hone_file_read(file, 63, &text, &len, NULL) == 0)
        snprintf(call->device, sizeof call->device, "%.*s", (int)strcspn(text, "\n"), text);
    return NULL;
}

/* The devices that n calls at once were given, as bits. */
static unsigned run_calls(struct bench *b, size_t n)
{
    struct call calls[MOST] = {{.code = 0}};
    pthread_t threads[MOST];
    unsigned ret = 0;
    for (size_t i = 0; i < n; i++) {
        calls[i].bench = b;
        snprintf(calls[i].name, sizeof calls[i].name, "call%zu", i);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_call, &calls[i]), 0);
    }
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(calls[i].code, 0);
        const char *last = strrchr(calls[i].device, '-');
        ck_assert_ptr_nonnull(last);
        ret |= 1u << strtoul(last + 1, NULL, 16);
    }
    return ret;
}

START_TEST(jobs_at_once_use_all_devices_of_a_kind)
{
    struct bench b;
    bench_open(&b, 2, 2);
    ck_assert_uint_eq(run_calls(&b, 4), 1u << 0 | 1u << 1);
    ck_assert_uint_eq(run_calls(&b, 1), 1u << 0); /* the first when all are free */
    bench_close(&b);
}
END_TEST

UNIT_MAIN("launch", jobs_at_once_use_all_devices_of_a_kind)

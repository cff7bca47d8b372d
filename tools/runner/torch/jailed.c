/* SPDX-License-Identifier: Apache-2.0 */
/* One question to a worker in a jail of its own, and its answer. */
#include "tools/runner/torch/python.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define TMP_BYTES (64ll << 20)

/* The end of what went wrong: Python's last line says it. */
static char *last_line(int fd)
{
    char text[2001];
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, text, sizeof text - 1, size > 2000 ? size - 2000 : 0);
    text[n > 0 ? n : 0] = '\0';
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    const char *line = strrchr(text, '\n');
    return hone_strdup(line != NULL ? line + 1 : text);
}

struct question {
    const struct hone_python *python;
    const char *word, *dir;
    bool is_on_device;
    int out, said;
};

static int start(const struct question *q, struct hone_pool *pool, struct hone_jail **ret,
                 struct hone_err *err)
{
    if (q->is_on_device) {
        const struct hone_python_device_spec what = {
            .word = q->word, .dir = q->dir, .in = -1, .out = q->out, .said = q->said};
        return hone_python_start_on_device(q->python, &what, pool, ret, err);
    }
    const char *const argv[] = {q->python->program, "-s", "/work/worker.py", q->word,
                                "/work/module.py",  NULL};
    const struct hone_jail_spec spec = {
        .profile = HONE_JAIL_TORCH,
        .argv = argv,
        .env = hone_python_env(q->python, NULL, pool),
        .work_dir = q->dir,
        .ro_files = q->python->shown,
        .memory_bytes = HONE_LIMIT_TORCH_BYTES,
        .tmp_bytes = TMP_BYTES,
        .file_bytes = HONE_LIMIT_TORCH_ANSWER,
        .cpu_seconds = hone_torch_seconds(),
        .max_pids = 64,
        .stdin_fd = -1,
        .stdout_fd = q->out,
        .stderr_fd = q->said,
    };
    return hone_jail_start(&spec, ret, err);
}

static int run(const struct question *q, struct hone_pool *pool, struct hone_err *err)
{
    struct hone_jail *jail = NULL;
    struct hone_jail_exit how = {0};
    int code = start(q, pool, &jail, err);
    if (code < 0)
        return code;
    int64_t wait_ms = 1000 * HONE_LIMIT_TORCH_PATIENCE * hone_torch_seconds();
    code = hone_jail_wait(jail, hone_deadline_in_ms(wait_ms), &how, err);
    hone_jail_free(jail);
    if (code == HONE_E_TIMEOUT || how.hit_cpu)
        return hone_fail(err, HONE_E_TIMEOUT, "the module gave no answer within %lld s",
                         (long long)hone_torch_seconds());
    if (code < 0 || (how.status == 0 && how.signal == 0))
        return code;
    HONE_AUTOFREE char *line = last_line(q->said);
    if (how.was_seccomp || how.signal == SIGSYS)
        return hone_fail(err, HONE_E_TARGET,
                         "the module asked for what the jail refuses (a socket, for example)");
    return hone_fail(err, HONE_E_TARGET, "the module gave no answer: %.300s",
                     line[0] != '\0' ? line : "it ended without a word");
}

int hone_python_ask(const char *word, const char *dir, bool is_on_device, int out,
                    struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_python python;
    HONE_AUTOCLOSE int said = memfd_create("said", MFD_CLOEXEC);
    if (said < 0)
        return hone_fail(err, HONE_E_IO, "no memory file");
    int code = hone_python_find(pool, &python, err);
    if (code == 0 && is_on_device && python.cuda == NULL)
        code =
            hone_fail(err, HONE_E_UNSUPPORTED, "the torch of '%.200s' has no CUDA", python.program);
    if (code == 0)
        code = hone_python_put_worker(dir, err);
    const struct question q = {&python, word, dir, is_on_device, out, said};
    return code < 0 ? code : run(&q, pool, err);
}

void hone_python_print(int code, int out, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    if (code == 0) {
        HONE_AUTOFREE char *text = hone_calloc(1, HONE_LIMIT_TORCH_ANSWER + 1);
        ssize_t n = pread(out, text, HONE_LIMIT_TORCH_ANSWER, 0);
        code = hone_json_parse(text, n > 0 ? (size_t)n : 0, &json, err);
    }
    if (code < 0) {
        json = hone_json_new_object();
        hone_json_set_str(json, "error", err->message);
    }
    HONE_AUTOFREE char *text = hone_json_print(json);
    puts(text);
}

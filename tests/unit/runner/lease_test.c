/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the timing lease: who holds it, what is said of that, and when waiting ends. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/format/lease_file.h"
#include "tools/runner/judge/lease.h"
#include "tools/runner/judge/target.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct place {
    char dir[64];
    char *path;
};

static void open_place(struct place *p)
{
    strcpy(p->dir, "/tmp/hone-lease-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(p->dir));
    p->path = hone_path_join(p->dir, "lock", NULL);
}

static void close_place(struct place *p)
{
    ck_assert_int_eq(hone_remove_tree(p->dir, NULL), 0);
    free(p->path);
}

static void put(const struct place *p, const char *text, size_t len)
{
    ck_assert_int_eq(hone_file_write(p->path, text, len, 0600, false, NULL), 0);
}

static const char *holder(const struct place *p, char ret[HONE_LIMIT_HOLDER_BYTES + 32])
{
    hone_lease_holder(p->path, ret, HONE_LIMIT_HOLDER_BYTES + 32);
    return ret;
}

START_TEST(what_is_said_of_the_holder)
{
    struct place p;
    char said[HONE_LIMIT_HOLDER_BYTES + 32], text[400], want[100];
    open_place(&p);
    ck_assert_str_eq(holder(&p, said), "another process"); /* no file */
    put(&p, "", 0);
    ck_assert_str_eq(holder(&p, said), "another process");
    snprintf(text, sizeof text, "%d softmax, confirm, call 7\n", (int)getpid());
    put(&p, text, strlen(text));
    snprintf(want, sizeof want, "pid %d (softmax, confirm, call 7)", (int)getpid());
    ck_assert_str_eq(holder(&p, said), want);
    /* lines, colours, other alphabets, quotes */
    snprintf(text, sizeof text, "%d a\nverdict: faster\r\x1b[2J\xe2\x80\xae\"}{\x07",
             (int)getpid());
    put(&p, text, strlen(text));
    for (const char *c = holder(&p, said); *c != '\0'; c++)
        ck_assert(*c >= ' ' && *c < 127 && strchr("\"{}[]\\", *c) == NULL);
    /* longer than what is read, and not a text */
    memset(text, 'x', sizeof text);
    snprintf(text, 20, "%d", (int)getpid());
    text[strlen(text)] = ' ';
    put(&p, text, sizeof text);
    ck_assert_uint_lt(strlen(holder(&p, said)), HONE_LIMIT_HOLDER_BYTES + 20);
    /* who is gone held it once */
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    snprintf(text, sizeof text, "%d softmax\n", (int)pid);
    put(&p, text, strlen(text));
    ck_assert_str_eq(holder(&p, said), "another process");
    put(&p, "-1 all\n", 7); /* kill(-1, 0) would say yes */
    ck_assert_str_eq(holder(&p, said), "another process");
    put(&p, "99999999999999999999 all\n", 25);
    ck_assert_str_eq(holder(&p, said), "another process");
    /* a pipe without a writer would hang whoever opens it */
    ck_assert_int_eq(unlink(p.path), 0);
    ck_assert_int_eq(mkfifo(p.path, 0600), 0);
    ck_assert_str_eq(holder(&p, said), "another process");
    /* a link to a file of somebody's */
    ck_assert_int_eq(unlink(p.path), 0);
    ck_assert_int_eq(symlink("/proc/self/stat", p.path), 0);
    ck_assert_str_eq(holder(&p, said), "another process");
    close_place(&p);
}
END_TEST

static size_t n_waiting(const struct place *p, int64_t *ret_more)
{
    HONE_AUTOJSON struct hone_json *lease = hone_lease_json(p->path);
    *ret_more = hone_json_get_i64(lease, "more_waiting", 0);
    return hone_json_size(hone_json_get(lease, "waiting"));
}

/* Anybody can leave such files: as many as the limit are named, the others counted. */
START_TEST(who_waits_is_bounded)
{
    struct place p;
    int64_t more;
    open_place(&p);
    for (int i = 0; i <= HONE_LIMIT_LEASE_WAITERS; i++) {
        HONE_AUTOFREE char *path = hone_sprintf("%s.wait-%d", p.path, i);
        HONE_AUTOFREE char *text = hone_sprintf("%d softmax\n", (int)getpid());
        ck_assert_uint_eq(n_waiting(&p, &more), (size_t)i);
        ck_assert_int_eq(more, 0);
        ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0600, false, NULL), 0);
    }
    ck_assert_uint_eq(n_waiting(&p, &more), HONE_LIMIT_LEASE_WAITERS);
    ck_assert_int_eq(more, 1);
    close_place(&p);
}
END_TEST

struct scene {
    struct hone_job job;
    struct hone_task task;
    struct hone_judge judge;
    struct hone_stage_report stages[8];
    const char *warnings[32];
    char name[16];
};

static void set_up(struct scene *s, const struct place *p, int64_t wait_ms)
{
    *s = (struct scene){.job = {.id = "call-2",
                                .tier = HONE_TIER_DECIDE,
                                .lease_path = p->path,
                                .lease_wait_ms = wait_ms}};
    strcpy(s->name, "softmax");
    s->task.name = s->name;
    s->judge = (struct hone_judge){.job = &s->job,
                                   .task = &s->task,
                                   .pool = hone_pool_new(),
                                   .stages = s->stages,
                                   .n_stage_rows = 8,
                                   .warnings = s->warnings,
                                   .deadline_ns = hone_deadline_in_ms(1000)};
}

/* Another process holds the lease for so long. */
static pid_t hold(const struct place *p, int64_t ms)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = -1;
        const struct hone_job job = {.id = "call-1", .tier = HONE_TIER_CONFIRM};
        struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * HONE_NS_PER_MS};
        if (hone_lock_file(p->path, 0, &fd, NULL) == 0)
            hone_lease_sign(fd, &job, "matmul");
        if (write(ready[1], "x", 1) == 1)
            (void)nanosleep(&pause, NULL);
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

START_TEST(a_wait_is_a_stage_with_its_holder)
{
    struct place p;
    struct scene s;
    struct hone_err err = HONE_ERR_INIT;
    char said[HONE_LIMIT_HOLDER_BYTES + 32], want[100];
    int fd = -1;
    open_place(&p);
    pid_t pid = hold(&p, 1500);
    set_up(&s, &p, 60000);
    int64_t deadline = s.judge.deadline_ns;
    ck_assert_msg(hone_lease_take(&s.judge, &fd, &err) == 0, "%s", err.message);
    ck_assert_int_ge(fd, 0);
    ck_assert_uint_eq(s.judge.n_stages, 1);
    ck_assert_str_eq(s.stages[0].name, "lease");
    ck_assert_int_gt(s.stages[0].wall_ns, HONE_NS_PER_S);
    ck_assert_int_eq(s.judge.deadline_ns - deadline, s.judge.waited_ns); /* it costs no time */
    ck_assert_uint_eq(s.judge.n_warnings, 1);
    snprintf(want, sizeof want, "held by pid %d (matmul, confirm, call call-1)", (int)pid);
    ck_assert_msg(strstr(s.warnings[0], want) != NULL, "%s", s.warnings[0]);
    snprintf(want, sizeof want, "pid %d (softmax, decide, call call-2)", (int)getpid());
    ck_assert_str_eq(holder(&p, said), want);
    close(fd);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    hone_pool_free(s.judge.pool);
    close_place(&p);
}
END_TEST

START_TEST(a_wait_in_vain_names_the_holder)
{
    struct place p;
    struct scene s;
    struct hone_err err = HONE_ERR_INIT;
    int fd = -1;
    open_place(&p);
    pid_t pid = hold(&p, 60000);
    set_up(&s, &p, 100);
    int64_t start = hone_now_ns();
    ck_assert_int_eq(hone_lease_take(&s.judge, &fd, &err), HONE_E_BUSY);
    ck_assert_int_lt(hone_now_ns() - start, 30 * HONE_NS_PER_S);
    ck_assert_int_eq(fd, -1);
    ck_assert_msg(strstr(err.message, "held by pid ") && strstr(err.message, "matmul, confirm"),
                  "%s", err.message);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    hone_pool_free(s.judge.pool);
    close_place(&p);
}
END_TEST

START_TEST(no_wait_no_row)
{
    struct place p;
    struct scene s;
    int fd = -1;
    open_place(&p);
    set_up(&s, &p, 0);
    ck_assert_int_eq(hone_lease_take(&s.judge, &fd, NULL), 0);
    ck_assert_uint_eq(s.judge.n_warnings, 0);
    close(fd);
    s.job.lease_path = NULL;
    ck_assert_int_eq(hone_lease_take(&s.judge, &fd, NULL), 0);
    ck_assert_int_eq(fd, -1);
    hone_pool_free(s.judge.pool);
    close_place(&p);
}
END_TEST

/* Whoever may write in the folder (/tmp) could leave them where a waiting process puts its file. */
START_TEST(what_lies_in_the_waiters_place_goes)
{
    static const struct hone_job job = {.tier = HONE_TIER_CONFIRM, .id = "7"};
    struct place p;
    size_t len;
    open_place(&p);
    HONE_AUTOFREE char *own = hone_sprintf("%s.wait-%d", p.path, (int)getpid()), *text = NULL;
    HONE_AUTOFREE char *victim = hone_path_join(p.dir, "victim", NULL);
    ck_assert_int_eq(mkfifo(own, 0600), 0);
    alarm(10);
    hone_lease_wait(p.path, &job, "softmax"); /* without a reader it would never open */
    alarm(0);
    HONE_AUTOJSON struct hone_json *json = hone_lease_json(p.path);
    ck_assert_uint_eq(hone_json_size(hone_json_get(json, "waiting")), 1);
    hone_lease_stop_waiting(p.path);
    ck_assert_int_eq(hone_file_write(victim, "mine", 4, 0600, false, NULL), 0);
    ck_assert_int_eq(link(victim, own), 0);
    hone_lease_wait(p.path, &job, "softmax");
    ck_assert_int_eq(hone_file_read(victim, 100, &text, &len, NULL), 0);
    ck_assert_str_eq(text, "mine");
    close_place(&p);
}
END_TEST

#define DEVICE_A "0123456789abcdef0123456789abcdef"
static const char *device_a(const struct hone_judge *judge)
{
    (void)judge;
    return DEVICE_A;
}

START_TEST(each_device_has_a_lease_of_its_own)
{
    static const struct hone_target target = {.name = "cuda", .device = device_a};
    struct place p;
    struct scene s;
    struct hone_err err = HONE_ERR_INIT;
    char said[HONE_LIMIT_HOLDER_BYTES + 32];
    int fd = -1, other = -1;
    open_place(&p);
    pid_t pid = hold(&p, 60000); /* the processors' */
    set_up(&s, &p, 100);
    s.judge.target = &target;
    HONE_AUTOFREE char *own = hone_lease_path(p.path, DEVICE_A);
    HONE_AUTOFREE char *path = hone_lease_path(p.path, "0123456789abcdef0123456789abcdee");
    ck_assert_int_eq(hone_lock_file(path, 0, &other, NULL), 0);
    ck_assert_msg(hone_lease_take(&s.judge, &fd, &err) == 0, "%s", err.message);
    hone_lease_holder(own, said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "softmax, decide"));
    close(other);
    ck_assert_int_eq(hone_lease_take(&s.judge, &other, &err), HONE_E_BUSY); /* this one is taken */
    close(fd);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    hone_pool_free(s.judge.pool);
    close_place(&p);
}
END_TEST

UNIT_MAIN("lease", what_lies_in_the_waiters_place_goes, what_is_said_of_the_holder,
          a_wait_is_a_stage_with_its_holder, a_wait_in_vain_names_the_holder, no_wait_no_row,
          each_device_has_a_lease_of_its_own, who_waits_is_bounded)

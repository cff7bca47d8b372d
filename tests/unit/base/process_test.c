/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define SHELL(...) ((const char *const[]){"sh", "-c", __VA_ARGS__, NULL})

static struct hone_process_result run(struct hone_process_spec spec)
{
    struct hone_process_result result;
    struct hone_err err = HONE_ERR_INIT;
    if (spec.deadline_ns == 0)
        spec.deadline_ns = hone_deadline_in_ms(30000);
    int rc = hone_process_run(&spec, &result, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    return result;
}

#define AUTORESULT HONE_CLEANUP(hone_process_result_done) struct hone_process_result

/* Processes whose command line holds a word. */
static int count_processes(const char *word)
{
    int n = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (strspn(e->d_name, "0123456789") != strlen(e->d_name))
            continue;
        HONE_AUTOFREE char *path = hone_sprintf("/proc/%s/cmdline", e->d_name);
        HONE_AUTOFREE char *text = NULL;
        size_t len;
        if (hone_file_read(path, 1 << 20, &text, &len, NULL) == 0 &&
            memmem(text, len, word, strlen(word)) != NULL)
            n++;
    }
    closedir(dir);
    return n;
}

/* A number of seconds that no other sleep on the machine uses. */
static void unique_seconds(char text[24])
{
    unsigned n;
    hone_random(&n, sizeof(n));
    snprintf(text, 24, "3%u.%u", n % 100000, n % 977);
}

START_TEST(ends)
{
    static const struct {
        const char *script;
        int status, sig;
        const char *out, *err;
    } rows[] = {
        {"exit 0", 0, 0, "", ""},
        {"exit 3", 3, 0, "", ""},
        {"exit 255", 255, 0, "", ""},
        {"echo out; echo err >&2", 0, 0, "out\n", "err\n"},
        {"printf 'a\\000b'", 0, 0, "a", ""},
        {"kill -TERM $$", -1, SIGTERM, "", ""},
        {"kill -SEGV $$", -1, SIGSEGV, "", ""},
        {"cat", 0, 0, "", ""}, /* stdin is empty */
    };
    hone_process_init();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        AUTORESULT r = run((struct hone_process_spec){.argv = SHELL(rows[i].script)});
        ck_assert_msg(r.exit_status == rows[i].status && r.signal == rows[i].sig, "%s: %d %d",
                      rows[i].script, r.exit_status, r.signal);
        ck_assert_str_eq(r.out, rows[i].out);
        ck_assert_str_eq(r.err, rows[i].err);
        ck_assert(!r.timed_out && !r.cancelled && !r.out_cut && !r.err_cut);
        ck_assert_int_gt(r.wall_ns, 0);
        ck_assert_int_gt(r.max_rss_bytes, 0);
    }
}
END_TEST

START_TEST(cannot_start)
{
    static const struct {
        const char *program, *cwd, *message;
    } rows[] = {
        {"no-such-program-here", NULL, "is neither in /usr/bin nor in /bin"},
        {"/no/such/program", NULL, "No such file or directory"},
        {"/etc", NULL, "Permission denied"},
        {"/etc/passwd", NULL, "Permission denied"},
        {"sh", "/no/such/folder", "no folder '/no/such/folder'"},
        {"../bin/no", "/", "No such file or directory"},
    };
    hone_process_init();
    setenv("PATH", "/", 1); /* must not matter */
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_process_result r;
        struct hone_err err = HONE_ERR_INIT;
        struct hone_process_spec spec = {.argv = (const char *const[]){rows[i].program, NULL},
                                         .cwd = rows[i].cwd,
                                         .deadline_ns = HONE_NO_DEADLINE};
        ck_assert_int_eq(hone_process_run(&spec, &r, &err), HONE_E_TARGET);
        ck_assert_msg(strstr(err.message, rows[i].message) != NULL, "%s", err.message);
    }
    AUTORESULT r = run((struct hone_process_spec){.argv = SHELL("exit 0")});
    ck_assert_int_eq(r.exit_status, 0);
}
END_TEST

START_TEST(environment_and_folder)
{
    hone_process_init();
    setenv("SECRET_OF_PARENT", "1", 1);
    AUTORESULT r =
        run((struct hone_process_spec){.argv = (const char *const[]){"env", NULL}, .cwd = "/"});
    ck_assert_ptr_null(strstr(r.out, "SECRET_OF_PARENT"));
    ck_assert_ptr_nonnull(strstr(r.out, "PATH=/usr/bin:/bin\n"));
    ck_assert_ptr_nonnull(strstr(r.out, "LANG=C\n"));
    AUTORESULT s = run((struct hone_process_spec){
        .argv = (const char *const[]){"/bin/sh", "-c", "pwd; echo $A", NULL},
        .env = (const char *const[]){"A=b c", NULL},
        .cwd = "/usr"});
    ck_assert_str_eq(s.out, "/usr\nb c\n");
}
END_TEST

START_TEST(standard_input)
{
    hone_process_init();
    enum { N = 1 << 20 };
    HONE_AUTOFREE char *text = hone_malloc(N);
    memset(text, 'y', N);
    AUTORESULT r = run((struct hone_process_spec){
        .argv = SHELL("cat"), .stdin_text = text, .stdin_len = N, .out_limit = N});
    ck_assert_uint_eq(r.out_len, N);
    ck_assert(!r.out_cut && memcmp(r.out, text, N) == 0);
}
END_TEST

START_TEST(output_limit_at_and_above)
{
    hone_process_init();
    for (int above = 0; above < 2; above++) {
        HONE_AUTOFREE char *script = hone_sprintf("head -c %u /dev/zero; head -c %u /dev/zero >&2",
                                                  HONE_LIMIT_LOG_BYTES + (unsigned)above,
                                                  HONE_LIMIT_LOG_BYTES + (unsigned)above);
        AUTORESULT r = run((struct hone_process_spec){.argv = SHELL(script)});
        ck_assert_uint_eq(r.out_len, HONE_LIMIT_LOG_BYTES);
        ck_assert_uint_eq(r.err_len, HONE_LIMIT_LOG_BYTES);
        ck_assert(r.out_cut == above && r.err_cut == above);
    }
    /* Far more than is kept, on both at once: read to the end, never blocked. */
    AUTORESULT r = run((struct hone_process_spec){
        .argv = SHELL("head -c 30000000 /dev/zero & head -c 30000000 /dev/zero >&2; wait"),
        .out_limit = 1000});
    ck_assert_int_eq(r.exit_status, 0);
    ck_assert(r.out_len == 1000 && r.out_cut && r.err_len == 1000 && r.err_cut);
}
END_TEST

START_TEST(an_endless_answer_is_ended_at_its_limit)
{
    hone_process_init();
    int64_t begin = hone_now_ns();
    AUTORESULT r = run((struct hone_process_spec){.argv = SHELL("while :; do echo yes; done"),
                                                  .out_limit = 1000,
                                                  .ends_when_cut = true,
                                                  .deadline_ns = hone_deadline_in_ms(60000)});
    ck_assert(r.out_cut && !r.timed_out && r.out_len == 1000);
    ck_assert_int_lt(hone_now_ns() - begin, 30 * HONE_NS_PER_S);
}
END_TEST

struct lines {
    int n;
    char text[512];
};

static void note_line(void *arg, const char *line, size_t len)
{
    struct lines *l = arg;
    ck_assert_uint_eq(strlen(line), len);
    size_t at = strlen(l->text);
    snprintf(l->text + at, sizeof(l->text) - at, "<%s>", line);
    l->n++;
}

START_TEST(lines_come_whole)
{
    hone_process_init();
    struct lines l = {.n = 0};
    AUTORESULT r = run((struct hone_process_spec){
        .argv = SHELL("printf 'one\\ntw'; printf 'o\\n\\n'; printf 'unfinished'"),
        .on_line = note_line,
        .on_line_arg = &l});
    ck_assert_str_eq(l.text, "<one><two><>");
    ck_assert_str_eq(r.out, "one\ntwo\n\nunfinished");
    struct lines m = {.n = 0};
    AUTORESULT s =
        run((struct hone_process_spec){.argv = SHELL("echo 12345678901; echo 1234567890; echo ok"),
                                       .out_limit = 10,
                                       .on_line = note_line,
                                       .on_line_arg = &m});
    ck_assert_str_eq(m.text, "<1234567890><ok>"); /* the line above the limit is dropped */
    ck_assert(s.out_cut);
}
END_TEST

START_TEST(deadline)
{
    hone_process_init();
    char seconds[24];
    unique_seconds(seconds);
    HONE_AUTOFREE char *script =
        hone_sprintf("trap '' TERM INT HUP; echo begun; sleep %s & sleep %s", seconds, seconds);
    int64_t before = hone_now_ns();
    AUTORESULT r = run(
        (struct hone_process_spec){.argv = SHELL(script), .deadline_ns = hone_deadline_in_ms(300)});
    ck_assert(r.timed_out && !r.cancelled);
    ck_assert_int_eq(r.signal, SIGKILL);
    ck_assert_int_eq(r.exit_status, -1);
    ck_assert_str_eq(r.out, "begun\n");
    ck_assert_int_ge(r.wall_ns, 295 * HONE_NS_PER_MS);
    ck_assert_int_lt(hone_now_ns() - before, 5 * HONE_NS_PER_S);
    ck_assert_int_eq(count_processes(seconds), 0);
}
END_TEST

static void *cancel_soon(void *arg)
{
    struct timespec t = {.tv_nsec = 200 * HONE_NS_PER_MS};
    nanosleep(&t, NULL);
    hone_cancel_set(arg);
    return NULL;
}

START_TEST(cancel)
{
    hone_process_init();
    struct hone_cancel c;
    pthread_t thread;
    ck_assert_int_eq(hone_cancel_init(&c, NULL), 0);
    ck_assert(!hone_cancel_is_set(&c) && !hone_cancel_is_set(NULL));
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, &c), 0);
    AUTORESULT r = run((struct hone_process_spec){.argv = SHELL("sleep 100"), .cancel = &c});
    pthread_join(thread, NULL);
    ck_assert(r.cancelled && !r.timed_out);
    ck_assert_int_eq(r.signal, SIGKILL);
    ck_assert_int_lt(r.wall_ns, 20 * HONE_NS_PER_S);
    AUTORESULT again = run((struct hone_process_spec){.argv = SHELL("sleep 100"), .cancel = &c});
    ck_assert(again.cancelled);
    for (int i = 0; i < 3; i++)
        hone_cancel_set(&c);
    hone_cancel_done(&c);
}
END_TEST

/* %s: a sleep with a number of its own */
static const char *const escapes[] = {
    "sleep %s & exit 0",
    "(sleep %s &) ; exit 0",
    "setsid sleep %s & exit 0",
    "(setsid sleep %s &) ; exit 0",
    "(setsid sh -c 'setsid sleep %s & exit 0' &) ; exit 0",
    "(setsid sh -c 'sleep %s & sleep 97' &) ; exit 0",
    "nohup sleep %s >/dev/null 2>&1 & exit 0",
    "(env -i sleep %s &) ; exit 0", /* same session */
};

START_TEST(nothing_outlives_a_normal_end)
{
    hone_process_init();
    for (size_t i = 0; i < HONE_COUNTOF(escapes); i++) {
        char seconds[24];
        unique_seconds(seconds);
        HONE_CLEANUP(hone_buf_done) struct hone_buf script = HONE_BUF_INIT;
        const char *gap = strstr(escapes[i], "%s");
        hone_buf_add(&script, escapes[i], (size_t)(gap - escapes[i]));
        hone_buf_printf(&script, "%s%s", seconds, gap + 2);
        int64_t before = hone_now_ns();
        AUTORESULT r = run((struct hone_process_spec){.argv = SHELL(script.data)});
        ck_assert_int_eq(r.exit_status, 0);
        ck_assert_msg(count_processes(seconds) == 0, "%s", script.data);
        ck_assert_int_lt(hone_now_ns() - before, 5 * HONE_NS_PER_S);
    }
}
END_TEST

START_TEST(nothing_outlives_a_deadline)
{
    hone_process_init();
    for (size_t i = 0; i < HONE_COUNTOF(escapes); i++) {
        char seconds[24];
        unique_seconds(seconds);
        HONE_CLEANUP(hone_buf_done) struct hone_buf script = HONE_BUF_INIT;
        const char *gap = strstr(escapes[i], "%s");
        hone_buf_add(&script, escapes[i], (size_t)(gap - escapes[i]));
        size_t rest = strlen(gap + 2) - strlen("exit 0");
        hone_buf_printf(&script, "%s%.*ssleep 98", seconds, (int)rest, gap + 2);
        AUTORESULT r = run((struct hone_process_spec){.argv = SHELL(script.data),
                                                      .deadline_ns = hone_deadline_in_ms(150)});
        ck_assert(r.timed_out);
        ck_assert_msg(count_processes(seconds) == 0, "%s", script.data);
    }
}
END_TEST

/* Forks all the time: everything is stopped and listed again before it is killed. */
START_TEST(forks_while_killed)
{
    hone_process_init();
    char seconds[24];
    unique_seconds(seconds);
    HONE_AUTOFREE char *script =
        hone_sprintf("while :; do (setsid sleep %s &) ; setsid sleep %s & done", seconds, seconds);
    AUTORESULT r = run(
        (struct hone_process_spec){.argv = SHELL(script), .deadline_ns = hone_deadline_in_ms(60)});
    ck_assert(r.timed_out);
    ck_assert_int_eq(count_processes(seconds), 0);
}
END_TEST

START_TEST(without_subreaper)
{
    /* hone_process_init was not called: orphans go elsewhere, and are found all the same. */
    char seconds[24];
    unique_seconds(seconds);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    HONE_AUTOFREE char *script = hone_sprintf("(setsid sleep %s &) ; exit 0", seconds);
    AUTORESULT r = run((struct hone_process_spec){.argv = SHELL(script)});
    ck_assert_int_eq(r.exit_status, 0);
    ck_assert_int_eq(count_processes(seconds), 0);
}
END_TEST

START_TEST(descriptors)
{
    hone_process_init();
    /* Not close-on-exec on purpose: a careless library's descriptor must not reach the child
     * either. */
    int leak = open("/dev/null", O_RDONLY), pass[2];
    ck_assert_int_eq(dup2(leak, 77), 77);
    ck_assert_int_eq(pipe2(pass, O_CLOEXEC), 0);
    AUTORESULT r = run((struct hone_process_spec){
        .argv = SHELL("echo through >&4; ls /proc/self/fd | tr '\\n' ' '"),
        .pass_fds = {leak, pass[1]},
        .n_pass_fds = 2});
    /* 0-2, the two passed, and the folder that ls itself has open */
    ck_assert_str_eq(r.out, "0 1 2 3 4 5 ");
    char text[16] = "";
    ck_assert_int_eq(read(pass[0], text, sizeof(text) - 1), 8);
    ck_assert_str_eq(text, "through\n");
    close(77);
    close(leak);
    close(pass[0]);
    close(pass[1]);
}
END_TEST

static int count_fds(void)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names;
    size_t n;
    ck_assert_int_eq(hone_list_dir("/proc/self/fd", pool, &names, &n, NULL), 0);
    return (int)n;
}

START_TEST(no_descriptor_is_lost)
{
    hone_process_init();
    int before = count_fds();
    for (int i = 0; i < 20; i++) {
        AUTORESULT r =
            run((struct hone_process_spec){.argv = SHELL("cat"),
                                           .stdin_text = "x",
                                           .stdin_len = 1,
                                           .deadline_ns = i % 2 ? hone_deadline_in_ms(0) : 0});
        struct hone_process_result none;
        struct hone_process_spec bad = {.argv = (const char *const[]){"/no", NULL},
                                        .deadline_ns = HONE_NO_DEADLINE};
        ck_assert_int_eq(hone_process_run(&bad, &none, NULL), HONE_E_TARGET);
    }
    ck_assert_int_eq(count_fds(), before);
}
END_TEST

/* Signals 32 and 33 belong to libc: the posix_spawn of glibc 2.36 leaves them ignored, that of 2.41
 * does not. */
START_TEST(signals_are_as_new)
{
    hone_process_init();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    AUTORESULT r =
        run((struct hone_process_spec){.argv = SHELL("grep -E 'Sig(Blk|Ign)' /proc/self/status")});
    if (strcmp(r.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n") != 0)
        ck_assert_str_eq(r.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    AUTORESULT s = run((struct hone_process_spec){
        .argv = SHELL("[ \"$(ps -o sid= -p $$ | tr -d ' ')\" = $$ ] && echo leader")});
    ck_assert_str_eq(s.out, "leader\n");
}
END_TEST

static void *run_several(void *arg)
{
    int *n_good = arg;
    for (int i = 0; i < 10; i++) {
        AUTORESULT r =
            run((struct hone_process_spec){.argv = SHELL("(setsid sleep 96 &) ; echo $$")});
        *n_good += r.exit_status == 0 && r.out_len > 0;
    }
    return NULL;
}

START_TEST(several_threads)
{
    hone_process_init();
    pthread_t threads[4];
    int n_good[4] = {0};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_several, &n_good[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(n_good[i], 10);
    }
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(cpu_time_and_memory)
{
    hone_process_init();
    AUTORESULT r = run((struct hone_process_spec){
        .argv = SHELL("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")});
    ck_assert_int_gt(r.cpu_ns, 5 * HONE_NS_PER_MS);
    ck_assert_int_le(r.cpu_ns, r.wall_ns + 100 * HONE_NS_PER_MS);
}
END_TEST

static bool is_readable(const struct hone_cancel *c)
{
    struct pollfd fd = {.fd = c->event_fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

START_TEST(a_timer_is_set_by_its_time_or_its_parent)
{
    struct hone_cancel parent;
    struct hone_cancel_timer t;
    int64_t far = hone_now_ns() + 3600 * HONE_NS_PER_S;
    ck_assert_int_eq(hone_cancel_init(&parent, NULL), 0);
    ck_assert_int_eq(hone_cancel_timer_init(&t, &parent, hone_now_ns() - 1, NULL), 0);
    ck_assert(hone_cancel_is_set(&t.cancel) && is_readable(&t.cancel));
    hone_cancel_timer_move(&t, far);
    ck_assert(!hone_cancel_is_set(&t.cancel) && !is_readable(&t.cancel));
    hone_cancel_set(&parent);
    ck_assert(hone_cancel_is_set(&t.cancel) && is_readable(&t.cancel));
    hone_cancel_timer_done(&t);
    hone_cancel_done(&parent);
    ck_assert_int_eq(hone_cancel_timer_init(&t, NULL, far, NULL), 0);
    ck_assert(!hone_cancel_is_set(&t.cancel));
    hone_cancel_timer_done(&t);
}
END_TEST

UNIT_MAIN("process", ends, cannot_start, environment_and_folder, standard_input,
          output_limit_at_and_above, an_endless_answer_is_ended_at_its_limit, lines_come_whole,
          deadline, cancel, a_timer_is_set_by_its_time_or_its_parent, nothing_outlives_a_normal_end,
          nothing_outlives_a_deadline, forks_while_killed, without_subreaper, descriptors,
          no_descriptor_is_lost, signals_are_as_new, several_threads, cpu_time_and_memory)

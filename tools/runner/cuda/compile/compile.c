/* SPDX-License-Identifier: Apache-2.0 */
/* The client of the compile server (compile.h).
 *
 * State: tickets that were asked and not answered, the server's socket and jail, the cache.
 * Messages are read whenever any ticket waits (pump). States of a ticket: from cache, asked,
 * answered, given up (deadline, or the server died: it is asked once more of a new one). */
#include "tools/runner/cuda/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/runner/build/blob_cache.h"
#include "tools/runner/cuda/compile/compile_headers.h"
#include "tools/runner/cuda/compile/compile_wire.h"
#include "tools/runner/jail/jail.h"
#include "tools/runner/jail/stopping.h"
#include "workspace/base/clock.h"
#include "workspace/base/utf8.h"

#define CACHE_FORMAT "cubin 2" /* changes when the same inputs must give another cubin */
#define MEMORY_BYTES (24ll << 30)
#define TMP_BYTES    (1ll << 30)
#define FILE_BYTES   (512ll << 20)
#define MAX_PIDS     512
#define READ_BYTES   (256u << 10)
#define ANSWER_BYTES (HONE_LIMIT_CUBIN_BYTES + (8u << 20))
#define SERVER_SPARE (3 * HONE_NS_PER_S) /* beyond a request's own deadline */
#define FLAG_BYTES   64

struct hone_cuda_ticket {
    struct hone_cuda_compiler *compiler;
    struct hone_cuda_ticket *next; /* in the compiler's list of open ones */
    uint32_t id;
    bool is_open; /* asked and not answered */
    bool is_lost; /* the server died meanwhile */
    size_t n_names;
    int64_t deadline_ns;
    struct hone_wire_say say;
    struct hone_buf answer; /* what follows say */
    char key[HONE_HASH_TEXT_BYTES];
    char *cache_dir;               /* owned; NULL: none */
    struct hone_pool *cached_pool; /* owned; not NULL: the cache had it */
    struct hone_blob_part cached[HONE_BLOB_PARTS];
};

struct hone_cuda_compiler {
    struct hone_cuda_toolkit toolkit;
    char *rung; /* owned; as asked for */
    bool allow_weak, is_warm;
    struct hone_jail *jail; /* NULL: asleep */
    int fd;
    bool has_greeted; /* its first message is there: before it had read anything foreign */
    uint32_t last_id;
    struct hone_buf in;
    struct hone_cuda_ticket *open;
    char name[64];
    char no_compiler[HONE_ERR_MESSAGE_BYTES]; /* why there is none; "" otherwise */
};

struct hone_cuda_compiler *hone_cuda_compiler_new(const struct hone_cuda_compiler_spec *spec)
{
    struct hone_cuda_compiler *compiler = hone_calloc(1, sizeof *compiler);
    hone_cuda_toolkit_find(&compiler->toolkit);
    compiler->rung = spec->rung == NULL ? NULL : hone_strdup(spec->rung);
    compiler->allow_weak = spec->allow_weak;
    compiler->is_warm = spec->is_warm;
    compiler->fd = -1;
    compiler->in.limit = ANSWER_BYTES;
    const char *version = strstr(compiler->toolkit.nvrtc, ".so.");
    (void)snprintf(compiler->name, sizeof compiler->name, "NVRTC%s%.40s",
                   version != NULL ? " " : "", version != NULL ? version + 4 : "");
    return compiler;
}

const struct hone_cuda_toolkit *
hone_cuda_compiler_toolkit(const struct hone_cuda_compiler *compiler)
{
    return &compiler->toolkit;
}

const char *hone_cuda_compiler_name(const struct hone_cuda_compiler *compiler)
{
    return compiler->name;
}

/* Ends the server; whoever waits for an answer learns that there will be none. */
static void put_to_sleep(struct hone_cuda_compiler *compiler)
{
    for (struct hone_cuda_ticket *ticket = compiler->open; ticket != NULL; ticket = ticket->next) {
        ticket->is_lost = ticket->is_lost || ticket->is_open;
        ticket->is_open = false;
    }
    hone_close_fd(&compiler->fd);
    hone_jail_free(compiler->jail);
    compiler->jail = NULL;
    compiler->has_greeted = false;
    hone_buf_done(&compiler->in);
    compiler->in = (struct hone_buf){.limit = ANSWER_BYTES};
}

void hone_cuda_compiler_stop(struct hone_cuda_compiler *compiler)
{
    if (compiler == NULL)
        return;
    put_to_sleep(compiler);
    for (struct hone_cuda_ticket *ticket = compiler->open; ticket != NULL; ticket = ticket->next)
        ticket->compiler = NULL;
    free(compiler->rung);
    free(compiler);
}

/* Starts the server, without waiting for it. */
static int wake(struct hone_cuda_compiler *compiler, struct hone_err *err)
{
    const struct hone_cuda_toolkit *toolkit = &compiler->toolkit;
    const char *shown[4] = {NULL};
    const char *env[4] = {"PATH=/usr/bin:/bin", "LANG=C", NULL, NULL};
    size_t n = 0;
    if (compiler->jail != NULL)
        return 0;
    HONE_AUTOFREE char *lib = hone_sprintf("HONE_CUDA_LIB=%s", toolkit->lib_dir);
    if (toolkit->lib_dir[0] != '\0') {
        shown[n++] = toolkit->lib_dir;
        env[2] = lib;
    }
    if (toolkit->include_dir[0] != '\0' && strcmp(toolkit->include_dir, "/usr/include") != 0)
        shown[n++] = toolkit->include_dir;
    const char *const argv[] = {"/hone/hone-runner",
                                "--role",
                                "nvrtc",
                                toolkit->include_dir[0] != '\0' ? toolkit->include_dir : "-",
                                compiler->is_warm ? "warm" : "once",
                                NULL};
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return hone_fail_errno(err, errno, "a socket for the compile server");
    struct hone_jail_spec spec = {.profile = HONE_JAIL_COMPILE,
                                  .rung = compiler->rung,
                                  .allow_weak = compiler->allow_weak,
                                  .argv = argv,
                                  .env = env,
                                  .ro_files = shown,
                                  .memory_bytes = MEMORY_BYTES,
                                  .tmp_bytes = TMP_BYTES,
                                  .file_bytes = FILE_BYTES,
                                  .max_pids = MAX_PIDS,
                                  .fds = {fds[1]},
                                  .n_fds = 1,
                                  .stdin_fd = -1,
                                  .stdout_fd = -1,
                                  .stderr_fd = -1};
    int rc = hone_jail_start(&spec, &compiler->jail, err);
    (void)close(fds[1]);
    if (rc < 0) {
        compiler->jail = NULL;
        (void)close(fds[0]);
        return hone_wrap(err, "starting the compile server");
    }
    compiler->fd = fds[0];
    (void)fcntl(compiler->fd, F_SETFL, O_NONBLOCK);
    return 0;
}

/* ---- messages ---- */

static void unlink_ticket(struct hone_cuda_ticket *ticket)
{
    struct hone_cuda_ticket **at = ticket->compiler == NULL ? NULL : &ticket->compiler->open;
    while (at != NULL && *at != NULL && *at != ticket)
        at = &(*at)->next;
    if (at != NULL && *at == ticket)
        *at = ticket->next;
}

static void take_hello(struct hone_cuda_compiler *compiler, const struct hone_wire_say *say,
                       const char *bytes)
{
    HONE_AUTOFREE char *text = hone_strndup(bytes + say->cubin_len, say->log_len);
    if (say->outcome == HONE_WIRE_NO_COMPILER)
        (void)snprintf(compiler->no_compiler, sizeof compiler->no_compiler, "%.390s", text);
    else
        (void)snprintf(compiler->name, sizeof compiler->name, "%.60s", text);
}

/* Whole messages from what came. False: this is not how the server talks. */
static bool take_messages(struct hone_cuda_compiler *compiler)
{
    struct hone_wire_say say;
    while (compiler->in.len >= sizeof say) {
        memcpy(&say, compiler->in.data, sizeof say);
        if (!hone_wire_say_is_sane(&say))
            return false;
        size_t len = (size_t)hone_wire_say_bytes(&say);
        const char *bytes = compiler->in.data + sizeof say;
        if (compiler->in.len < sizeof say + len)
            return true;
        struct hone_cuda_ticket *ticket = compiler->open;
        while (ticket != NULL && (ticket->id != say.id || !ticket->is_open))
            ticket = ticket->next;
        if (say.id == 0 && !compiler->has_greeted)
            take_hello(compiler, &say, bytes);
        compiler->has_greeted = true;
        if (ticket != NULL) {
            ticket->say = say;
            ticket->answer.limit = ANSWER_BYTES;
            hone_buf_add(&ticket->answer, bytes, len);
            ticket->is_open = false;
        }
        hone_buf_drop(&compiler->in, sizeof say + len);
    }
    return true;
}

static bool read_some(struct hone_cuda_compiler *compiler)
{
    char *bytes = hone_malloc(READ_BYTES);
    ssize_t n = read(compiler->fd, bytes, READ_BYTES);
    bool is_good = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
    if (n > 0)
        hone_buf_add(&compiler->in, bytes, (size_t)n);
    free(bytes);
    return is_good && !compiler->in.has_failed && take_messages(compiler);
}

/* One wait for the socket. False: the server is gone, or the time is up. */
static bool pump(struct hone_cuda_compiler *compiler, short events, int64_t deadline_ns,
                 short *ret_events)
{
    struct pollfd pfd = {.fd = compiler->fd, .events = (short)(events | POLLIN)};
    int got = poll(&pfd, 1, hone_ms_until(deadline_ns));
    *ret_events = got > 0 ? pfd.revents : 0;
    if (got < 0)
        return errno == EINTR && !hone_runner_is_stopping();
    if (got == 0)
        return false;
    return (pfd.revents & (POLLIN | POLLHUP | POLLERR)) == 0 || read_some(compiler);
}

/* Answers are taken in while the request goes out: neither side can wait for the other for ever. */
static int send_all(struct hone_cuda_compiler *compiler, const struct hone_buf *out,
                    int64_t deadline_ns, struct hone_err *err)
{
    for (size_t done = 0; done < out->len;) {
        short events = 0;
        ssize_t n = send(compiler->fd, out->data + done, out->len - done, MSG_NOSIGNAL);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno != EAGAIN && errno != EINTR)
            return hone_fail(err, HONE_E_TARGET, "the compile server has ended");
        else if (!pump(compiler, POLLOUT, deadline_ns, &events))
            return hone_fail(err, HONE_E_TARGET, "the compile server does not listen");
    }
    return 0;
}

/* ---- requests ---- */

static const char *const standard_options[] = {
    "-std=c++17", "-default-device", "--diag-suppress=161", "--ptxas-options=-v", "-lineinfo"};

struct options {
    char text[HONE_LIMIT_FLAGS + 10][600];
    size_t n;
};

static void add_option(struct options *options, const char *start, const char *text)
{
    if (options->n < HONE_COUNTOF(options->text))
        (void)snprintf(options->text[options->n++], sizeof options->text[0], "%s%.500s", start,
                       text);
}

static void make_options(const struct hone_cuda_toolkit *toolkit, const struct hone_cuda_unit *unit,
                         struct options *ret)
{
    ret->n = 0;
    add_option(ret, "--gpu-architecture=", unit->arch);
    for (size_t i = 0; i < HONE_COUNTOF(standard_options); i++)
        add_option(ret, "", standard_options[i]);
    if (toolkit != NULL && toolkit->include_dir[0] != '\0')
        add_option(ret, "-I", toolkit->include_dir);
    if (toolkit != NULL && toolkit->cccl_dir[0] != '\0')
        add_option(ret, "-I", toolkit->cccl_dir);
    for (size_t i = 0; unit->flags != NULL && unit->flags[i] != NULL; i++)
        add_option(ret, "", unit->flags[i]);
}

const char *hone_cuda_compile_command(const struct hone_cuda_unit *unit, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    HONE_AUTOFREE struct options *options = hone_malloc(sizeof *options);
    make_options(NULL, unit, options);
    hone_buf_str(&out, "nvrtc");
    for (size_t i = 0; i < options->n; i++)
        hone_buf_printf(&out, " %s", options->text[i]);
    return hone_pool_strdup(pool, out.data);
}

static void make_key(const struct hone_cuda_compiler *compiler, const struct hone_cuda_unit *unit,
                     const struct options *options, char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher hasher;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, CACHE_FORMAT);
    for (size_t i = 0; i < HONE_N_VARIANTS; i++)
        hone_hasher_str(&hasher, hone_variant_text[i]);
    for (size_t i = 0; i < hone_device_n_headers; i++)
        hone_hasher_str(&hasher, hone_device_headers[i].text);
    hone_hasher_str(&hasher, compiler->toolkit.nvrtc);
    hone_hasher_part(&hasher, compiler->toolkit.identity, sizeof compiler->toolkit.identity);
    for (size_t i = 0; i < options->n; i++)
        hone_hasher_str(&hasher, options->text[i]);
    for (size_t i = 0; i < unit->n_names; i++)
        hone_hasher_str(&hasher, unit->names[i]);
    hone_hasher_str(&hasher, unit->text);
    hone_hasher_end(&hasher, ret);
}

static int ask(struct hone_cuda_compiler *compiler, struct hone_cuda_ticket *ticket,
               const struct hone_cuda_unit *unit, const struct options *options,
               struct hone_err *err)
{
    struct hone_wire_ask head = {.magic = HONE_WIRE_ASK,
                                 .id = ticket->id,
                                 .variant = hone_variant_of(unit->text),
                                 .n_options = (uint32_t)options->n,
                                 .n_names = (uint32_t)unit->n_names,
                                 .deadline_ns = unit->deadline_ns};
    HONE_CLEANUP(hone_buf_done)
    struct hone_buf out = {.limit = HONE_WIRE_ASK_BYTES + sizeof head};
    hone_buf_add(&out, &head, sizeof head);
    hone_buf_add(&out, unit->text, strlen(unit->text) + 1);
    for (size_t i = 0; i < options->n; i++)
        hone_buf_add(&out, options->text[i], strlen(options->text[i]) + 1);
    for (size_t i = 0; i < unit->n_names; i++)
        hone_buf_add(&out, unit->names[i], strlen(unit->names[i]) + 1);
    int rc = hone_buf_check(&out, err);
    if (rc < 0)
        return hone_wrap(err, "the text to compile");
    head.n_bytes = (uint32_t)(out.len - sizeof head);
    memcpy(out.data, &head, sizeof head);
    ticket->is_open = true;
    rc = send_all(compiler, &out, hone_min_i64(unit->deadline_ns, hone_deadline_in_ms(10000)), err);
    if (rc < 0)
        put_to_sleep(compiler);
    return rc;
}

static uint32_t next_id(struct hone_cuda_compiler *compiler)
{
    compiler->last_id++;
    return compiler->last_id == 0 ? ++compiler->last_id : compiler->last_id; /* 0 is the hello */
}

static void ticket_free(struct hone_cuda_ticket *ticket)
{
    hone_buf_done(&ticket->answer);
    hone_pool_free(ticket->cached_pool);
    free(ticket->cache_dir);
    free(ticket);
}

int hone_cuda_compile_start(struct hone_cuda_compiler *compiler, const struct hone_cuda_unit *unit,
                            struct hone_cuda_ticket **ret, struct hone_err *err)
{
    HONE_AUTOFREE struct options *options = hone_malloc(sizeof *options);
    if (unit->n_names > HONE_LIMIT_CUDA_KERNELS + HONE_LIMIT_CUDA_VARIABLES)
        return hone_fail(err, HONE_E_LIMIT, "%zu name expressions in one text", unit->n_names);
    struct hone_cuda_ticket *ticket = hone_calloc(1, sizeof *ticket);
    ticket->compiler = compiler;
    ticket->n_names = unit->n_names;
    ticket->deadline_ns = unit->deadline_ns;
    ticket->id = next_id(compiler);
    ticket->cache_dir = unit->cache_dir == NULL ? NULL : hone_strdup(unit->cache_dir);
    make_options(&compiler->toolkit, unit, options);
    make_key(compiler, unit, options, ticket->key);
    ticket->cached_pool = hone_pool_new();
    if (hone_blob_get(unit->cache_dir, ticket->key, ".cubin", ticket->cached_pool,
                      ticket->cached)) {
        *ret = ticket;
        return 0;
    }
    hone_pool_free(ticket->cached_pool);
    ticket->cached_pool = NULL;
    ticket->next = compiler->open;
    compiler->open = ticket;
    int rc = wake(compiler, err);
    bool was_there = compiler->last_id > 1;
    if (rc == 0)
        rc = ask(compiler, ticket, unit, options, err);
    if (rc == HONE_E_TARGET && was_there) { /* it may have died long ago */
        ticket->is_lost = false;
        rc = wake(compiler, err);
        if (rc == 0)
            rc = ask(compiler, ticket, unit, options, err);
    }
    if (rc < 0) {
        hone_cuda_compile_drop(ticket);
        return rc;
    }
    *ret = ticket;
    return 0;
}

void hone_cuda_compile_drop(struct hone_cuda_ticket *ticket)
{
    if (ticket == NULL)
        return;
    unlink_ticket(ticket);
    ticket_free(ticket);
}

/* ---- answers ---- */

static const enum hone_reason reasons[HONE_WIRE_N_OUTCOMES] = {
    [HONE_WIRE_BUILT] = HONE_REASON_BUILT,
    [HONE_WIRE_REFUSED] = HONE_REASON_COMPILE,
    [HONE_WIRE_TIMEOUT] = HONE_REASON_COMPILE_TIMEOUT,
    [HONE_WIRE_CRASHED] = HONE_REASON_COMPILE,
    [HONE_WIRE_OOM] = HONE_REASON_OOM,
    [HONE_WIRE_TOO_LARGE] = HONE_REASON_TOO_LARGE,
    [HONE_WIRE_FORBIDDEN] = HONE_REASON_FORBIDDEN,
    [HONE_WIRE_NO_COMPILER] = HONE_REASON_INFRA,
};

static const char **split_names(const char *bytes, size_t len, size_t n, struct hone_pool *pool)
{
    const char **names = hone_pool_alloc(pool, (n + 1) * sizeof *names);
    const char *end = bytes + len;
    for (size_t i = 0; i < n && bytes < end; i++) {
        const char *nul = memchr(bytes, '\0', (size_t)(end - bytes));
        if (nul == NULL)
            break;
        names[i] = nul == bytes ? NULL : hone_pool_strdup(pool, bytes);
        bytes = nul + 1;
    }
    return names;
}

static const char *clean_text(const char *bytes, size_t len, struct hone_pool *pool)
{
    char *text = hone_pool_strndup(pool, "", 0);
    if (len > 0) {
        text = hone_pool_alloc(pool, len + 1);
        memcpy(text, bytes, len);
    }
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    hone_utf8_defuse(text, '?');
    return text;
}

enum { PART_CUBIN, PART_LOG, PART_NAMES };

static void take_parts(const struct hone_blob_part *parts, size_t n_names, struct hone_pool *pool,
                       struct hone_cuda_object *ret)
{
    unsigned char *cubin = hone_pool_alloc(pool, parts[PART_CUBIN].len + 1);
    if (parts[PART_CUBIN].len > 0)
        memcpy(cubin, parts[PART_CUBIN].bytes, parts[PART_CUBIN].len);
    ret->cubin = cubin;
    ret->cubin_len = parts[PART_CUBIN].len;
    ret->log = clean_text(parts[PART_LOG].bytes, parts[PART_LOG].len, pool);
    ret->lowered = split_names(parts[PART_NAMES].bytes, parts[PART_NAMES].len, n_names, pool);
}

static void take_answer(struct hone_cuda_ticket *ticket, struct hone_pool *pool,
                        struct hone_cuda_object *ret)
{
    const struct hone_wire_say *say = &ticket->say;
    const char *bytes = ticket->answer.data != NULL ? ticket->answer.data : "";
    const struct hone_blob_part parts[HONE_BLOB_PARTS] = {
        [PART_CUBIN] = {bytes, say->cubin_len},
        [PART_LOG] = {bytes + say->cubin_len, say->log_len},
        [PART_NAMES] = {bytes + say->cubin_len + say->log_len, say->names_len}};
    *ret = (struct hone_cuda_object){.reason = reasons[say->outcome], .wall_ns = say->wall_ns};
    take_parts(parts, ticket->n_names, pool, ret);
    if (say->outcome == HONE_WIRE_CRASHED && ret->log[0] == '\0')
        ret->log = "the device compiler crashed on this source";
    if (say->outcome == HONE_WIRE_BUILT)
        hone_blob_put(ticket->cache_dir, ticket->key, ".cubin", parts);
}

int hone_cuda_compile_finish(struct hone_cuda_ticket *ticket, struct hone_pool *pool,
                             struct hone_cuda_object *ret, struct hone_err *err)
{
    struct hone_cuda_compiler *compiler = ticket->compiler;
    int64_t deadline_ns = ticket->deadline_ns >= HONE_NO_DEADLINE - SERVER_SPARE
                              ? HONE_NO_DEADLINE
                              : ticket->deadline_ns + SERVER_SPARE;
    int rc = 0;
    if (ticket->cached_pool != NULL) {
        *ret = (struct hone_cuda_object){.reason = HONE_REASON_BUILT, .is_cached = true};
        take_parts(ticket->cached, ticket->n_names, pool, ret);
        hone_cuda_compile_drop(ticket);
        return 0;
    }
    if (compiler == NULL) {
        hone_cuda_compile_drop(ticket);
        return hone_fail(err, HONE_E_TARGET, "the compile server was stopped");
    }
    short events = 0;
    while (ticket->is_open)
        if (!pump(compiler, 0, deadline_ns, &events))
            put_to_sleep(compiler);
    if (!ticket->is_lost)
        take_answer(ticket, pool, ret);
    else if (hone_runner_is_stopping())
        rc = hone_fail(err, HONE_E_CANCEL, "stopped while compiling");
    else if (compiler->no_compiler[0] != '\0')
        rc = hone_fail(err, HONE_E_UNSUPPORTED, "%s", compiler->no_compiler);
    else if (hone_now_ns() >= deadline_ns)
        *ret = (struct hone_cuda_object){.reason = HONE_REASON_COMPILE_TIMEOUT, .log = ""};
    else
        rc = hone_fail(err, HONE_E_TARGET, "the compile server ended without an answer");
    hone_cuda_compile_drop(ticket);
    return rc;
}

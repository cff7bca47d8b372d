/* SPDX-License-Identifier: Apache-2.0 */
/*   scratch_dir/host/jail/        what the compiler sees: kernel.cpp, hone_tune.h, hone_host.hpp
 *   scratch_dir/host/object/      kernel.so, outside of the compiler's reach
 *   cache_dir/host-<key>/         hone_host.hpp and hone_host.hpp.gch, for every later build
 *
 * The precompiled header is made from our own text and the toolkit's headers only, in a jail of its
 * own, and moved into the cache as a whole folder. */
#include "tools/runner/cuda/compile/compile_host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/binary/build_elf.h"
#include "tools/runner/build/blob_cache.h"
#include "tools/runner/cuda/compile/compile_diag.h"
#include "tools/runner/cuda/split/split.h"
#include "tools/runner/jail/jail.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define CACHE_FORMAT "host 2"
#define MEMORY_BYTES (4ll << 30)
#define TMP_BYTES    (256ll << 20)
#define FILE_BYTES   (256ll << 20)
#define OBJECT_BYTES (32u << 20)
#define CPU_SECONDS  120
#define MAX_PIDS     32
#define MAX_ARGS     64
#define HEADER       "hone_host.hpp"
#define TUNE         "hone_tune.h"
#define STANDINS     "standin"

struct run { /* one compiler in a jail */
    struct hone_jail *jail;
    int log_fd;
};

struct hone_host_job {
    struct hone_host_unit unit; /* strings as the caller's or in the pool */
    struct hone_pool *pool;     /* the caller's */
    const char *compiler;
    const char *root, *folder; /* scratch_dir/host, and jail in it */
    const char *header_dir;    /* of the precompiled header; NULL: none */
    char key[HONE_HASH_TEXT_BYTES];
    int64_t start_ns;
    struct run run;
    bool is_cached;
    struct hone_blob_part cached[HONE_BLOB_PARTS];
};

static void run_done(struct run *run)
{
    hone_jail_free(run->jail);
    run->jail = NULL;
    hone_close_fd(&run->log_fd);
}

void hone_host_compile_drop(struct hone_host_job *job)
{
    if (job == NULL)
        return;
    run_done(&job->run);
    free(job);
}

/* HONE_CXX is local configuration; a request cannot name a compiler. */
const char *hone_host_compiler(struct hone_pool *pool)
{
    const char *const names[] = {getenv("HONE_CXX"), "/usr/bin/g++", "/usr/bin/c++",
                                 "/usr/bin/clang++"};
    char path[PATH_MAX];
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (names[i] != NULL && names[i][0] == '/' && realpath(names[i], path) != NULL)
            return hone_pool_strdup(pool, path);
    return NULL;
}

struct args {
    const char *v[MAX_ARGS];
    size_t n;
};

static void add(struct args *args, const char *text)
{
    if (args->n < MAX_ARGS - 1)
        args->v[args->n++] = text;
}

/* With an option for the linker a header is "linked" instead of precompiled. */
static void add_common(const struct hone_host_job *job, bool is_header, struct args *args)
{
    const struct hone_cuda_toolkit *toolkit = job->unit.toolkit;
    add(args, job->compiler);
    for (const char *const *flag = hone_host_flags(); *flag != NULL; flag++)
        if (!is_header || strncmp(*flag, "-Wl,", 4) != 0)
            add(args, *flag);
    add(args, "-fmessage-length=0");
    add(args, "-fdiagnostics-color=never");
    if (toolkit->include_dir[0] != '\0' && strcmp(toolkit->include_dir, "/usr/include") != 0) {
        add(args, "-isystem");
        add(args, toolkit->include_dir);
    }
    if (toolkit->cccl_dir[0] != '\0') {
        add(args, "-isystem");
        add(args, toolkit->cccl_dir);
    }
    if (toolkit->include_dir[0] == '\0') {
        add(args, "-isystem");
        add(args, STANDINS);
    }
}

static int write_text(const char *folder, const char *name, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(folder, name, NULL);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

/* Without a toolkit our own headers take its place. */
static int write_standins(const struct hone_host_job *job, const char *work, struct hone_err *err)
{
    if (job->unit.toolkit->include_dir[0] != '\0')
        return 0;
    HONE_AUTOFREE char *folder = hone_path_join(work, STANDINS, NULL);
    int rc = hone_mkdirs(folder, 0755, err);
    for (const struct hone_host_standin *s = hone_host_standins(); s->name != NULL && rc == 0; s++)
        rc = write_text(folder, s->name, s->text, err);
    return rc;
}

static int start_run(const struct hone_host_job *job, const struct args *args, const char *folder,
                     struct run *ret, struct hone_err *err)
{
    const struct hone_host_unit *unit = &job->unit;
    const char *shown[2] = {NULL};
    if (unit->toolkit->include_dir[0] != '\0' &&
        strcmp(unit->toolkit->include_dir, "/usr/include") != 0)
        shown[0] = unit->toolkit->include_dir;
    ret->log_fd = memfd_create("compiler output", MFD_CLOEXEC);
    if (ret->log_fd < 0)
        return hone_fail_errno(err, errno, "memfd_create");
    struct hone_jail_spec spec = {.profile = HONE_JAIL_COMPILE,
                                  .rung = unit->rung,
                                  .allow_weak = unit->allow_weak,
                                  .argv = args->v,
                                  .work_dir = folder,
                                  .ro_files = shown,
                                  .memory_bytes = MEMORY_BYTES,
                                  .tmp_bytes = TMP_BYTES,
                                  .file_bytes = FILE_BYTES,
                                  .cpu_seconds = CPU_SECONDS,
                                  .max_pids = MAX_PIDS,
                                  .stdin_fd = -1,
                                  .stdout_fd = ret->log_fd,
                                  .stderr_fd = ret->log_fd};
    int rc = hone_jail_start(&spec, &ret->jail, err);
    if (rc < 0) {
        ret->jail = NULL;
        hone_close_fd(&ret->log_fd);
    }
    return rc;
}

/* ---- the prelude ---- */

static void hash_compiler(struct hone_hasher *hasher, const struct hone_host_job *job)
{
    const char *const files[] = {job->compiler, job->unit.toolkit->include_dir};
    for (size_t i = 0; i < HONE_COUNTOF(files); i++) {
        struct stat info = {.st_size = 0};
        (void)stat(files[i], &info);
        const int64_t identity[] = {info.st_size, info.st_mtim.tv_sec, (int64_t)info.st_ino};
        hone_hasher_str(hasher, files[i]);
        hone_hasher_part(hasher, identity, sizeof identity);
    }
    for (const char *const *flag = hone_host_flags(); *flag != NULL; flag++)
        hone_hasher_str(hasher, *flag);
    hone_hasher_str(hasher, hone_host_prelude());
    hone_hasher_str(hasher, hone_host_standins()[0].text);
}

/* Makes cache_dir/host-<key>, by way of a folder that nobody else looks at. */
static int precompile(struct hone_host_job *job, const char *folder, struct hone_err *err)
{
    const char *work = hone_pool_printf(job->pool, "%s/prelude", job->root);
    const char *made = hone_pool_printf(job->pool, "%s.%d", folder, (int)getpid());
    HONE_CLEANUP(run_done) struct run run = {.log_fd = -1};
    struct hone_jail_exit how = {.status = -1};
    struct args args = {.n = 0};
    add_common(job, true, &args);
    add(&args, "-x");
    add(&args, "c++-header");
    add(&args, HEADER);
    add(&args, "-o");
    add(&args, HEADER ".gch");
    int rc = hone_mkdirs(work, 0755, err);
    if (rc == 0)
        rc = write_text(work, HEADER, hone_host_prelude(), err);
    if (rc == 0)
        rc = write_standins(job, work, err);
    if (rc == 0)
        rc = start_run(job, &args, work, &run, err);
    if (rc == 0)
        rc = hone_jail_wait(run.jail, job->unit.deadline_ns, &how, err);
    hone_jail_free(run.jail);
    run.jail = NULL;
    if (rc < 0)
        return rc;
    const char *from = hone_pool_printf(job->pool, "%s/" HEADER ".gch", work);
    const char *to = hone_pool_printf(job->pool, "%s/" HEADER ".gch", made);
    struct stat info;
    if (how.status != 0 || lstat(from, &info) < 0 || !S_ISREG(info.st_mode))
        return hone_fail(err, HONE_E_TARGET, "the host prelude does not compile");
    rc = hone_mkdirs(made, 0755, err);
    if (rc == 0)
        rc = write_text(made, HEADER, hone_host_prelude(), err);
    if (rc == 0)
        rc = hone_file_copy(from, to, (size_t)FILE_BYTES, err);
    if (rc == 0 && (chmod(made, 0755) < 0 || chmod(to, 0644) < 0 || rename(made, folder) < 0))
        rc = hone_file_exists(folder) ? 0 : hone_fail_errno(err, errno, "keeping '%s'", folder);
    (void)hone_remove_tree(made, NULL);
    (void)hone_remove_tree(work, NULL);
    return rc;
}

/* Leaves job->header_dir NULL when there is no place for it: the prelude is then read each time. */
static void ensure_prelude(struct hone_host_job *job)
{
    struct hone_hasher hasher;
    char key[HONE_HASH_TEXT_BYTES];
    char full[PATH_MAX];
    if (job->unit.cache_dir == NULL)
        return;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, CACHE_FORMAT);
    hash_compiler(&hasher, job);
    hone_hasher_end(&hasher, key);
    if (hone_mkdirs(job->unit.cache_dir, 0700, NULL) < 0 ||
        realpath(job->unit.cache_dir, full) == NULL)
        return;
    const char *folder = hone_pool_printf(job->pool, "%s/host-%.16s", full, key);
    const char *gch = hone_pool_printf(job->pool, "%s/" HEADER ".gch", folder);
    if (hone_file_exists(gch) || precompile(job, folder, NULL) == 0)
        job->header_dir = folder;
}

/* ---- the object ---- */

static void make_key(struct hone_host_job *job)
{
    struct hone_hasher hasher;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, CACHE_FORMAT);
    hash_compiler(&hasher, job);
    hone_hasher_str(&hasher, job->unit.symbol);
    hone_hasher_str(&hasher, job->unit.tune);
    hone_hasher_str(&hasher, job->unit.text);
    hone_hasher_end(&hasher, job->key);
}

/* The header, and its compiled form under a second name: the cache's own path may be one that the
 * jail has for something else. */
static int put_prelude(const struct hone_host_job *job, struct hone_err *err)
{
    int rc = write_text(job->folder, HEADER, hone_host_prelude(), err);
    if (rc < 0 || job->header_dir == NULL)
        return rc;
    const char *from = hone_pool_printf(job->pool, "%s/" HEADER ".gch", job->header_dir);
    const char *to = hone_pool_printf(job->pool, "%s/" HEADER ".gch", job->folder);
    return link(from, to) == 0 ? 0 : hone_file_copy(from, to, (size_t)FILE_BYTES, err);
}

static void add_source(const struct hone_host_job *job, struct args *args)
{
    static const char *const rest[] = {"-include", HEADER, "-include",  TUNE,
                                       "-x",       "c++",  "kernel.cpp"};
    add_common(job, false, args);
    for (size_t i = 0; i < HONE_COUNTOF(rest); i++)
        add(args, rest[i]);
}

static int start_compiler(struct hone_host_job *job, struct hone_err *err)
{
    struct args args = {.n = 0};
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    hone_buf_printf(&text, "#line 1 \"%s\"\n%s\n", job->unit.file, job->unit.text);
    ensure_prelude(job);
    add_source(job, &args);
    add(&args, "-o");
    add(&args, "kernel.so");
    int rc = hone_mkdirs(job->folder, 0755, err);
    if (rc == 0)
        rc = write_text(job->folder, "kernel.cpp", text.data, err);
    if (rc == 0)
        rc = write_text(job->folder, TUNE, job->unit.tune, err);
    if (rc == 0)
        rc = write_standins(job, job->folder, err);
    if (rc == 0)
        rc = put_prelude(job, err);
    return rc < 0 ? rc : start_run(job, &args, job->folder, &job->run, err);
}

int hone_host_compile_start(const struct hone_host_unit *unit, struct hone_pool *pool,
                            struct hone_host_job **ret, struct hone_err *err)
{
    struct hone_host_job *job = hone_calloc(1, sizeof *job);
    *job = (struct hone_host_job){
        .unit = *unit, .pool = pool, .start_ns = hone_now_ns(), .run = {.log_fd = -1}};
    job->root = hone_pool_printf(pool, "%s/host", unit->scratch_dir);
    job->folder = hone_pool_printf(pool, "%s/jail", job->root);
    job->compiler = hone_host_compiler(pool);
    if (job->compiler == NULL) {
        free(job);
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "no C++ compiler: install g++ (it is looked for as /usr/bin/g++), or set "
                         "HONE_CXX");
    }
    make_key(job);
    job->is_cached = hone_blob_get(unit->cache_dir, job->key, ".host", pool, job->cached);
    int rc = 0;
    if (!job->is_cached)
        rc = hone_remove_tree(job->root, err);
    if (rc == 0 && !job->is_cached)
        rc = start_compiler(job, err);
    if (rc < 0) {
        hone_host_compile_drop(job);
        return hone_wrap(err, "the host compiler");
    }
    *ret = job;
    return 0;
}

static int keep_object(struct hone_host_job *job, const void *bytes, size_t len,
                       struct hone_host_object *ret, struct hone_err *err)
{
    const char *folder = hone_pool_printf(job->pool, "%s/object", job->root);
    ret->path = hone_pool_printf(job->pool, "%s/kernel.so", folder);
    hone_hash(bytes, len, ret->hash);
    int rc = hone_mkdirs(folder, 0755, err);
    return rc < 0 ? rc : hone_file_write(ret->path, bytes, len, 0755, false, err);
}

/* The log has words of the linker, which may as well be the source's: does it compile without? */
static bool does_compile(const struct hone_host_job *job)
{
    HONE_CLEANUP(run_done) struct run run = {.log_fd = -1};
    struct hone_jail_exit how = {.status = -1};
    struct args args = {.n = 0};
    add_source(job, &args);
    add(&args, "-c");
    add(&args, "-o");
    add(&args, "kernel.o");
    return start_run(job, &args, job->folder, &run, NULL) == 0 &&
           hone_jail_wait(run.jail, job->unit.deadline_ns, &how, NULL) == 0 && how.status == 0;
}

static char *read_log(struct hone_host_job *job)
{
    char *text = hone_pool_alloc(job->pool, HONE_LIMIT_LOG_BYTES + 1);
    ssize_t len = pread(job->run.log_fd, text, HONE_LIMIT_LOG_BYTES, 0);
    for (ssize_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    hone_utf8_defuse(text, '?');
    return text;
}

/* After exit status 0: is it what was asked for? */
static int accept_object(struct hone_host_job *job, struct hone_host_object *ret,
                         struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(job->folder, "kernel.so", NULL);
    HONE_AUTOFREE char *object = NULL;
    size_t len = 0;
    struct stat info;
    struct hone_elf_facts facts;
    if (lstat(path, &info) < 0 || !S_ISREG(info.st_mode))
        return hone_fail(err, HONE_E_NOT_FOUND, "the host compiler left no object");
    int rc = hone_file_read(path, OBJECT_BYTES, &object, &len, err);
    if (rc == HONE_E_LIMIT) {
        ret->reason = HONE_REASON_TOO_LARGE;
        return 0;
    }
    if (rc < 0)
        return rc;
    hone_elf_read(object, len, job->unit.symbol, &facts);
    if (!facts.is_shared_object || !facts.has_symbol) {
        ret->reason = HONE_REASON_NO_SYMBOL;
        ret->log =
            hone_pool_printf(job->pool,
                             "the source exports no function '%s'; define it as extern \"C\" "
                             "and without 'static'",
                             job->unit.symbol);
        return 0;
    }
    const struct hone_blob_part parts[HONE_BLOB_PARTS] = {{object, len}};
    rc = keep_object(job, object, len, ret, err);
    if (rc == 0)
        hone_blob_put(job->unit.cache_dir, job->key, ".host", parts);
    return rc;
}

static int finish(struct hone_host_job *job, struct hone_host_object *ret, struct hone_err *err)
{
    struct hone_jail_exit how = {.status = -1};
    struct hone_diag_out diag;
    *ret = (struct hone_host_object){.reason = HONE_REASON_BUILT, .log = ""};
    if (job->is_cached) {
        ret->is_cached = true;
        return keep_object(job, job->cached[0].bytes, job->cached[0].len, ret, err);
    }
    ret->rung = hone_pool_strdup(job->pool, hone_jail_rung(job->run.jail));
    int rc = hone_jail_wait(job->run.jail, job->unit.deadline_ns, &how, err);
    bool timed_out = rc == HONE_E_TIMEOUT;
    hone_jail_free(job->run.jail); /* before anything in the folder is looked at */
    job->run.jail = NULL;
    if (rc < 0 && !timed_out)
        return rc;
    const struct hone_diag_in in = {
        .text = read_log(job),
        .file = job->unit.file,
        .source = job->unit.source,
        .arm = job->unit.arm,
        .has_passed =
            hone_compiler_reason(&how, timed_out, MEMORY_BYTES, false) == HONE_REASON_BUILT};
    hone_diag_parse(&in, job->pool, &diag);
    ret->diagnostics = diag.diagnostics;
    ret->log = in.text;
    ret->reason = hone_compiler_reason(&how, timed_out, MEMORY_BYTES, false);
    if (ret->reason == HONE_REASON_COMPILE && diag.has_link_error && does_compile(job))
        ret->reason = HONE_REASON_LINK;
    return ret->reason == HONE_REASON_BUILT ? accept_object(job, ret, err) : 0;
}

int hone_host_compile_finish(struct hone_host_job *job, struct hone_pool *pool,
                             struct hone_host_object *ret, struct hone_err *err)
{
    job->pool = pool;
    int rc = finish(job, ret, err);
    ret->wall_ns = hone_now_ns() - job->start_ns;
    hone_host_compile_drop(job);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A source becomes an object: cache, else one jailed run of the C compiler, then reading
 * what it left.
 *
 *   scratch_dir/jail/      the only folder that the compiler sees: <arm>.c goes in, <arm>.so and
 *                          remarks.txt come out
 *   scratch_dir/<arm>.so   the result, outside the jail's reach
 *
 * Compiler output goes to a memfd, bounded like any file of the jail. The exit status says
 * whether it worked; which of the typed reasons it failed for is read from how the jail ended
 * first and from what the compiler's driver says last second (build_diag.h), as all text before
 * may be the source's. */
#include "tools/runner/build/build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/format/options.h"
#include "tools/runner/build/build_cache.h"
#include "tools/runner/build/build_diag.h"
#include "tools/runner/binary/build_elf.h"
#include "tools/runner/binary/code_hash.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define BUILD_FORMAT   "1" /* changes when the same inputs must give a new object */
#define MEMORY_BYTES   (3ll << 30)
#define TMP_BYTES      (256ll << 20)
#define CPU_SECONDS    120
#define MAX_PIDS       32
#define LOG_KEPT_BYTES 8192
#define MAX_ARGS       64
#define REMARKS_FILE   "remarks.txt"
/* the first processor's entry; reading all of them costs milliseconds on large machines */
#define CPU_TEXT_BYTES 8192

static const char *const standard_flags[] = {
    "-std=gnu17",
    "-O3",
    "-march=native",
    "-fPIC",
    "-shared",
    "-fopenmp",
    "-falign-functions=64", /* the same code, placed elsewhere, is not 5 % faster */
    "-Wall",
    "-Wno-unknown-pragmas",
    "-fmessage-length=0",
    "-fdiagnostics-color=never",
    "-Wl,-z,defs",
    "-Wl,-Bsymbolic", /* a function of the user's may have the name of one in libm (fsub, y0) */
    "-Wl,-z,noexecstack",
    "-Wl,-z,relro", /* the linker's tables are read-only once loaded: what stays writable is the */
    "-Wl,-z,now"};  /* candidate's (policy_object.c) */

/* The allow-list is checked where requests come in (tools/format/options.h). This is a second look
 * at what could load code into the compiler or name files. */
static const char *const flag_starts[] = {"-O", "-f", "-m", "-D", "-W", "-g"};
static const char *const flag_never[] = {"plugin",   "-Wl",   "-Wa",     "-Wp",
                                         "specs",    "dump",  "/",       "profile",
                                         "-fuse-ld", "-flto", "-wrapper"};

struct work {
    const struct hone_build_request *req;
    struct hone_pool *pool;
    struct hone_build *out;
    char compiler[PATH_MAX]; /* real path of the driver */
    const char *stem;
    const char *file;   /* <stem>.c */
    const char *object; /* <stem>.so */
    const char *folder; /* scratch_dir/jail */
    const char *argv[MAX_ARGS];
    char key[HONE_HASH_TEXT_BYTES];
    char *text; /* owned: compiler output */
};

static bool is_good_flag(const char *flag)
{
    bool starts = false;
    for (size_t i = 0; i < HONE_COUNTOF(flag_starts); i++)
        starts = starts || strncmp(flag, flag_starts[i], 2) == 0;
    for (size_t i = 0; i < HONE_COUNTOF(flag_never); i++)
        starts = starts && strstr(flag, flag_never[i]) == NULL;
    return starts;
}

/* HONE_CC is local configuration; a request cannot name a compiler. */
static int find_compiler(struct work *work, struct hone_err *err)
{
    const char *given = getenv("HONE_CC");
    const char *const names[] = {given, "/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (names[i] != NULL && names[i][0] == '/' && realpath(names[i], work->compiler) != NULL)
            return 0;
    return hone_fail(
        err, HONE_E_UNSUPPORTED,
        "no C compiler: install gcc (it is looked for as /usr/bin/cc), or set HONE_CC");
}

static void make_argv(struct work *work)
{
    const struct hone_build_request *req = work->req;
    size_t n = 0;
    work->argv[n++] = work->compiler;
    for (size_t i = 0; i < HONE_COUNTOF(standard_flags); i++)
        work->argv[n++] = standard_flags[i];
    for (size_t i = 0; req->flags != NULL && req->flags[i] != NULL && n < MAX_ARGS - 15; i++)
        work->argv[n++] = req->flags[i];
    if (req->want_remarks && strstr(work->compiler, "clang") == NULL)
        work->argv[n++] = "-fopt-info-vec-optimized-missed=" REMARKS_FILE;
    if (strstr(work->compiler, "clang") == NULL) /* which has no nested functions */
        work->argv[n++] = "-Wtrampolines";
    work->argv[n++] = "-o";
    work->argv[n++] = work->object;
    work->argv[n++] = "-x";
    work->argv[n++] = "c";
    work->argv[n++] = work->file;
    work->argv[n++] = "-lm";
    work->argv[n] = NULL;
}

static const char *command_text(const struct work *work)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    const char *name = strrchr(work->argv[0], '/');
    hone_buf_str(&out, name == NULL ? work->argv[0] : name + 1);
    for (size_t i = 1; work->argv[i] != NULL; i++)
        hone_buf_printf(&out, " %s", work->argv[i]);
    return hone_pool_strdup(work->pool, out.data);
}

/* Everything that decides what the object is. The compiler is known by its file: an update changes
 * it. */
static void make_key(struct work *work)
{
    struct hone_hasher hasher;
    struct stat info = {.st_size = 0};
    char cpu[CPU_TEXT_BYTES];
    HONE_AUTOCLOSE int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, cpu, sizeof(cpu) - 1);
    cpu[len > 0 ? len : 0] = '\0';
    (void)stat(work->compiler, &info);
    const int64_t identity[] = {(int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
                                (int64_t)info.st_ino};
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, BUILD_FORMAT);
    hone_hasher_part(&hasher, identity, sizeof(identity));
    static const char *const lines[] = {"\nmodel name", "\nflags"};
    for (size_t i = 0; i < HONE_COUNTOF(lines); i++) {
        const char *line = strstr(cpu, lines[i]);
        hone_hasher_part(&hasher, line == NULL ? "" : line,
                         line == NULL ? 0 : 1 + strcspn(line + 1, "\n"));
    }
    for (size_t i = 0; work->argv[i] != NULL; i++)
        hone_hasher_str(&hasher, work->argv[i]);
    hone_hasher_str(&hasher, work->req->prologue);
    hone_hasher_str(&hasher, work->req->source);
    hone_hasher_end(&hasher, work->key);
}

static int write_source(const struct work *work, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    HONE_AUTOFREE char *path = hone_path_join(work->folder, work->file, NULL);
    if (work->req->prologue != NULL)
        hone_buf_printf(&text, "#line 1 \"prologue.h\"\n%s\n", work->req->prologue);
    hone_buf_printf(&text, "#line 1 \"%s\"\n", work->file);
    hone_buf_str(&text, work->req->source);
    hone_buf_str(&text, "\n");
    int rc = hone_buf_check(&text, err);
    if (rc == 0)
        rc = hone_remove_tree(work->folder, err);
    if (rc == 0)
        rc = hone_mkdirs(work->folder, 0755, err);
    return rc < 0 ? rc : hone_file_write(path, text.data, text.len, 0644, false, err);
}

/* A compiler outside the folders that every compile jail shows brings its own prefix along. */
static const char *compiler_prefix(const struct work *work)
{
    static const char *const shown[] = {"/usr/bin/", "/usr/lib", "/usr/libexec/", "/bin/", "/lib"};
    for (size_t i = 0; i < HONE_COUNTOF(shown); i++)
        if (strncmp(work->compiler, shown[i], strlen(shown[i])) == 0)
            return NULL;
    char *prefix = hone_pool_strdup(work->pool, work->compiler);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');
        if (slash != NULL && slash != prefix)
            *slash = '\0';
    }
    return prefix;
}

/* Runs the compiler. *ret_timed_out: it was still running at the deadline. */
static int run_compiler(struct work *work, struct hone_jail_exit *ret, bool *ret_timed_out,
                        struct hone_err *err)
{
    const struct hone_build_request *req = work->req;
    const char *const more[] = {compiler_prefix(work), NULL};
    HONE_AUTOCLOSE int log_fd = memfd_create("compiler output", MFD_CLOEXEC);
    if (log_fd < 0)
        return hone_fail_errno(err, errno, "memfd_create");
    struct hone_jail_spec spec = {.profile = HONE_JAIL_COMPILE,
                                  .rung = req->rung,
                                  .allow_weak = req->allow_weak,
                                  .argv = work->argv,
                                  .work_dir = work->folder,
                                  .ro_files = more,
                                  .memory_bytes = MEMORY_BYTES,
                                  .tmp_bytes = TMP_BYTES,
                                  .file_bytes = HONE_BUILD_OBJECT_BYTES,
                                  .cpu_seconds = CPU_SECONDS,
                                  .max_pids = MAX_PIDS,
                                  .stdin_fd = -1,
                                  .stdout_fd = log_fd,
                                  .stderr_fd = log_fd};
    struct hone_jail *jail = NULL;
    int rc = hone_jail_start(&spec, &jail, err);
    if (rc < 0)
        return rc;
    work->out->rung = hone_jail_rung(jail);
    rc = hone_jail_wait(jail, req->deadline_ns, ret, err);
    *ret_timed_out = rc == HONE_E_TIMEOUT;
    hone_jail_free(jail); /* before anything in the folder is looked at */
    if (rc < 0 && !*ret_timed_out)
        return rc;
    work->text = hone_calloc(1, HONE_LIMIT_LOG_BYTES + 1);
    ssize_t len = pread(log_fd, work->text, HONE_LIMIT_LOG_BYTES, 0);
    for (ssize_t i = 0; i < len; i++)
        if (work->text[i] == '\0')
            work->text[i] = ' ';
    hone_utf8_defuse(work->text, '?'); /* it repeats what the source says */
    return 0;
}

/* A regular file that the jail left; the jail is gone, so what lstat says stays true. */
static int read_left(const struct work *work, const char *name, size_t limit, char **ret,
                     size_t *ret_len, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(work->folder, name, NULL);
    struct stat info;
    if (lstat(path, &info) < 0 || !S_ISREG(info.st_mode))
        return hone_fail(err, HONE_E_NOT_FOUND, "the compiler left no file %s", name);
    return hone_file_read(path, limit, ret, ret_len, err);
}

static enum hone_reason reason_of(const struct hone_jail_exit *how, bool timed_out,
                                  const struct hone_diag_out *diag)
{
    if (timed_out || how->hit_cpu)
        return HONE_REASON_COMPILE_TIMEOUT;
    if (how->status == 0 && !how->hit_disk)
        return HONE_REASON_BUILT;
    if (how->was_seccomp || diag->is_killed_call)
        return HONE_REASON_FORBIDDEN;
    if (how->was_oom || diag->is_out_of_memory)
        return HONE_REASON_OOM;
    if (how->hit_disk || diag->is_too_big)
        return HONE_REASON_TOO_LARGE;
    if (how->signal == SIGKILL) /* not for time, memory or disk: killed from outside */
        return HONE_REASON_INFRA;
    return !diag->has_error && diag->has_link_error ? HONE_REASON_LINK : HONE_REASON_COMPILE;
}

static void add_warning(struct hone_array *list, const char *arm, const char *message)
{
    struct hone_diagnostic *items = list->v;
    if (list->n < HONE_LIMIT_DIAGNOSTICS)
        items[list->n++] = (struct hone_diagnostic){
            .severity = HONE_SEVERITY_WARNING, .arm = arm, .message = message};
}

static bool has_fast_math(const struct work *work)
{
    for (size_t i = 0; work->argv[i] != NULL; i++)
        if (strcmp(work->argv[i], "-Ofast") == 0 || strcmp(work->argv[i], "-ffast-math") == 0)
            return true; /* links crtfastmath.o, which is a constructor */
    return false;
}

/* The object outside the jail's folder, for the caller. */
static int keep_object(struct work *work, const void *bytes, size_t len, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(work->req->scratch_dir, work->object, NULL);
    int rc = hone_file_write(path, bytes, len, 0755, false, err);
    if (rc < 0)
        return rc;
    work->out->object_path = HONE_STEAL(path);
    work->out->report.object_bytes = (int64_t)len;
    work->out->report.code = hone_code_hash(bytes, len, NULL, 0, work->pool);
    return 0;
}

/* After exit status 0: is it what was asked for? */
static int accept_object(struct work *work, struct hone_build_entry *entry, struct hone_err *err)
{
    struct hone_build *out = work->out;
    HONE_AUTOFREE char *object = NULL;
    HONE_AUTOFREE char *remarks = NULL;
    size_t len = 0;
    size_t remarks_len = 0;
    struct hone_elf_facts facts;
    int rc = read_left(work, work->object, HONE_BUILD_OBJECT_BYTES, &object, &len, err);
    if (rc == HONE_E_LIMIT) {
        out->reason = HONE_REASON_TOO_LARGE;
        return 0;
    }
    if (rc < 0)
        return hone_wrap(err, "compiler ended well");
    hone_elf_read(object, len, work->req->symbol, &facts);
    if (!facts.is_shared_object || !facts.has_symbol) {
        out->reason = HONE_REASON_NO_SYMBOL;
        out->report.log = hone_pool_printf(
            work->pool, "the object exports no function '%s'; define it without 'static'",
            work->req->symbol);
        return 0;
    }
    if (facts.n_init > (has_fast_math(work) ? 2 : 1))
        add_warning(
            &entry->diagnostics, work->stem,
            "the object has constructors; they run when it is loaded, outside every timed call");
    if (work->req->want_remarks &&
        read_left(work, REMARKS_FILE, HONE_LIMIT_FILE_BYTES, &remarks, &remarks_len, NULL) == 0)
        hone_diag_remarks(remarks, work->file, work->pool, &entry->remarks);
    entry->compiler =
        facts.compiler[0] != '\0' ? hone_pool_strdup(work->pool, facts.compiler) : "unknown";
    entry->command = out->report.command;
    rc = keep_object(work, object, len, err);
    if (rc == 0)
        hone_build_cache_put(work->req->cache_dir, work->key, entry, object, len);
    return rc;
}

static int compile(struct work *work, struct hone_build_entry *entry, struct hone_err *err)
{
    struct hone_build *out = work->out;
    struct hone_jail_exit how = {.status = -1};
    bool timed_out = false;
    int rc = write_source(work, err);
    if (rc == 0)
        rc = run_compiler(work, &how, &timed_out, err);
    if (rc == HONE_E_UNSUPPORTED) {
        out->reason = HONE_REASON_NO_JAIL;
        out->report.log =
            hone_pool_strdup(work->pool, err == NULL ? "no jail works here" : err->message);
        return 0;
    }
    if (rc < 0)
        return rc;
    struct hone_diag_in in = {.text = work->text,
                              .file = work->file,
                              .source = work->req->source,
                              .arm = work->stem,
                              .has_passed =
                                  !timed_out && how.status == 0 && !how.hit_cpu && !how.hit_disk};
    struct hone_diag_out diag;
    hone_diag_parse(&in, work->pool, &diag);
    entry->diagnostics = diag.diagnostics;
    const char *name = strrchr(work->compiler, '/');
    entry->compiler = hone_pool_strndup(work->pool, name == NULL ? work->compiler : name + 1, 100);
    out->report.log = hone_pool_strndup(work->pool, work->text, LOG_KEPT_BYTES);
    out->reason = reason_of(&how, timed_out, &diag);
    return out->reason == HONE_REASON_BUILT ? accept_object(work, entry, err) : 0;
}

static int build(struct work *work, struct hone_err *err)
{
    struct hone_build *out = work->out;
    struct hone_build_entry entry = {.compiler = NULL};
    const char *object = NULL;
    size_t len = 0;
    int rc = find_compiler(work, err);
    if (rc < 0)
        return rc;
    make_argv(work);
    make_key(work);
    out->report.command = command_text(work);
    out->reason = HONE_REASON_BUILT;
    if (hone_build_cache_get(work->req->cache_dir, work->key, work->pool, &entry, &object, &len)) {
        struct hone_elf_facts facts;
        hone_elf_read(object, len, work->req->symbol, &facts);
        if (facts.has_symbol) {
            out->report.is_cached = true;
            rc = keep_object(work, object, len, err);
        } else {
            rc = compile(work, &entry, err); /* the same text, asked for another symbol */
        }
    } else {
        rc = compile(work, &entry, err);
    }
    out->report.compiler = entry.compiler;
    out->report.diagnostics = entry.diagnostics;
    out->remarks = entry.remarks;
    return rc;
}

/* -S instead of linking; no frame tables, which nobody reads. */
static void make_assembly_argv(struct work *work)
{
    make_argv(work);
    size_t n = 0;
    while (work->argv[n] != NULL)
        n++;
    work->argv[n++] = "-S";
    work->argv[n++] = "-fverbose-asm";
    work->argv[n++] = "-fno-asynchronous-unwind-tables";
    work->argv[n] = NULL;
}

static int compile_assembly(struct work *work, const char **ret_text, size_t *ret_len,
                            struct hone_err *err)
{
    struct hone_jail_exit how = {.status = -1};
    HONE_AUTOFREE char *text = NULL;
    bool timed_out = false;
    int rc = find_compiler(work, err);
    if (rc < 0)
        return rc;
    make_assembly_argv(work);
    rc = write_source(work, err);
    if (rc == 0)
        rc = run_compiler(work, &how, &timed_out, err);
    if (rc == 0 && (timed_out || how.status != 0))
        rc = hone_fail(err, HONE_E_TARGET, "the compiler gave no assembly: %s",
                       timed_out ? "it took too long" : work->text);
    if (rc == 0)
        rc = read_left(work, work->object, HONE_LIMIT_FILE_BYTES, &text, ret_len, err);
    if (rc == 0)
        *ret_text = hone_pool_strndup(work->pool, text, *ret_len);
    (void)hone_remove_tree(work->folder, NULL);
    return rc;
}

static struct work work_of(const struct hone_build_request *req, struct hone_pool *pool,
                           struct hone_build *out)
{
    const char *stem = req->arm != NULL && hone_is_safe_name(req->arm) ? req->arm : "source";
    return (struct work){.req = req,
                         .pool = pool,
                         .out = out,
                         .stem = stem,
                         .file = hone_pool_printf(pool, "%s.c", stem),
                         .object = hone_pool_printf(pool, "%s.so", stem),
                         .folder = hone_pool_printf(pool, "%s/jail", req->scratch_dir)};
}

int hone_build_assembly(const struct hone_build_request *req, struct hone_pool *pool,
                        const char **ret_text, size_t *ret_len, struct hone_err *err)
{
    struct hone_build out = {.reason = HONE_REASON_BUILT};
    struct work work = work_of(req, pool, &out);
    int rc = compile_assembly(&work, ret_text, ret_len, err);
    free(work.text);
    return rc;
}

int hone_build_run(const struct hone_build_request *req, struct hone_pool *pool,
                   struct hone_build *ret, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    struct hone_build out = {.reason = HONE_REASON_BUILT};
    if (strlen(req->source) > HONE_LIMIT_SOURCE_BYTES) {
        out.reason = HONE_REASON_TOO_LARGE;
        *ret = out;
        return 0;
    }
    size_t n_flags = 0;
    for (; req->flags != NULL && req->flags[n_flags] != NULL; n_flags++) {
        if (is_good_flag(req->flags[n_flags]) && n_flags < HONE_LIMIT_FLAGS)
            continue;
        out.reason = HONE_REASON_BAD_FLAG;
        out.report.log =
            hone_pool_printf(pool, "compiler option '%.100s' is not accepted", req->flags[n_flags]);
        *ret = out;
        return 0;
    }
    struct work work = work_of(req, pool, &out);
    int rc = build(&work, err);
    free(work.text);
    out.report.wall_ns = hone_now_ns() - start;
    if (rc < 0)
        free(out.object_path);
    else
        *ret = out;
    return rc;
}

/* ---- programs ---- */

/* One run of the compiler over work->argv. */
static int compile_part(struct work *work, struct hone_err *err)
{
    struct hone_jail_exit how = {.status = -1};
    bool timed_out = false;
    free(work->text);
    work->text = NULL;
    int rc = run_compiler(work, &how, &timed_out, err);
    if (rc == HONE_E_UNSUPPORTED) {
        work->out->reason = HONE_REASON_NO_JAIL;
        work->out->report.log =
            hone_pool_strdup(work->pool, err == NULL ? "no jail works here" : err->message);
        return 0;
    }
    if (rc < 0)
        return rc;
    struct hone_diag_in in = {.text = work->text,
                              .file = work->file,
                              .source = "",
                              .arm = work->stem,
                              .has_passed = !timed_out && how.status == 0};
    struct hone_diag_out diag;
    hone_diag_parse(&in, work->pool, &diag);
    work->out->report.diagnostics = diag.diagnostics;
    work->out->report.log = hone_pool_strndup(work->pool, work->text, LOG_KEPT_BYTES);
    work->out->reason = reason_of(&how, timed_out, &diag);
    return 0;
}

int hone_build_program(const struct hone_program_request *req, struct hone_pool *pool,
                       struct hone_build *ret, struct hone_err *err)
{
    struct hone_build out = {.reason = HONE_REASON_BUILT};
    const struct hone_build_request build = {
        .rung = req->rung, .allow_weak = req->allow_weak, .deadline_ns = req->deadline_ns};
    struct work work = {.req = &build,
                        .pool = pool,
                        .out = &out,
                        .stem = "program",
                        .file = req->files[0],
                        .folder = req->folder};
    int rc = find_compiler(&work, err);
    if (rc < 0)
        return rc;
    size_t n = 0;
    work.argv[n++] = work.compiler;
    for (const char *const *o = hone_options_of_objects(); *o != NULL; o++)
        work.argv[n++] = *o;
    for (size_t i = 0; req->flags[i] != NULL && n < MAX_ARGS - 5; i++)
        work.argv[n++] = req->flags[i];
    const char *const last[] = {"-c", req->files[0], "-o", "first.o"};
    for (size_t i = 0; i < HONE_COUNTOF(last); i++)
        work.argv[n++] = last[i];
    out.report.command = command_text(&work);
    rc = compile_part(&work, err);
    if (rc == 0 && out.reason == HONE_REASON_BUILT) {
        n = 1;
        for (size_t i = 1; req->files[i] != NULL && n < MAX_ARGS - 8; i++)
            work.argv[n++] = req->files[i];
        const char *const link[] = {"first.o", "-O1", "-fopenmp", "-o", "program", "-lm"};
        for (size_t i = 0; i < HONE_COUNTOF(link); i++)
            work.argv[n++] = link[i];
        work.argv[n] = NULL;
        work.file = req->files[1] != NULL ? req->files[1] : req->files[0];
        rc = compile_part(&work, err);
    }
    free(work.text);
    if (rc == 0)
        *ret = out;
    return rc;
}

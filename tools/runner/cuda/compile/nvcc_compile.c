/* SPDX-License-Identifier: Apache-2.0 */
/* One nvcc run (nvcc_compile.h).
 *
 * Flow: key from source, options and the compiler's files; cache; else write the inputs into
 * the jail's folder, run, read log and files with bounds, check cubin and object as data, keep
 * them. A file that is missing, too large or not what it should be is the source's fault, with
 * the log's words. */
#include "tools/runner/cuda/compile/nvcc_compile.h"

#include <errno.h>
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
#include "tools/runner/cuda/compile/compile_host.h"
#include "tools/runner/cuda/split/split.h"
#include "tools/runner/jail/jail.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define CACHE_FORMAT "nvcc 2" /* changes when the same inputs must give other results */
#define MEMORY_BYTES (12ll << 30)
#define TMP_BYTES    (512ll << 20)
#define FILE_BYTES   (256ll << 20)
#define OBJECT_BYTES (64u << 20)
#define PTX_BYTES    (8u << 20)
#define CPU_SECONDS  300
#define MAX_PIDS     64
#define MAX_ARGS     64
#define STRUCTS      "hone_structs.hpp"
#define TUNE         "hone_tune.h"

enum { PART_OBJECT, PART_CUBIN, PART_LOG, PART_PTX };

struct work { /* one compile */
    const struct hone_nvcc_unit *unit;
    struct hone_pool *pool;
    const char *host_compiler;
    const char *root, *folder; /* scratch_dir/nvcc, and jail in it */
    char key[HONE_HASH_TEXT_BYTES];
    struct hone_jail *jail;
    int log_fd;
};

static void work_done(struct work *work)
{
    hone_jail_free(work->jail);
    work->jail = NULL;
    hone_close_fd(&work->log_fd);
}

/* ---- options ---- */

struct args {
    const char *v[MAX_ARGS];
    size_t n;
};

static void add(struct args *args, const char *text)
{
    if (args->n < MAX_ARGS - 1)
        args->v[args->n++] = text;
}

/* The device's own code alone, the host's without optimisation (it runs for microseconds), and no
 * runtime: the recorder is one. pattern: what a launcher leaves unset is the same in both
 * recordings. */
static const char *const standard_options[] = {
    "-std=c++17",
    "--extended-lambda",
    "--expt-relaxed-constexpr",
    "--diag-suppress=161",
    "--ptxas-options=-v",
    "-lineinfo",
    "--cudart=none",
    "-shared",
    "-Xcompiler=-O0,-w,-fPIC,-ffp-contract=off,-ftrivial-auto-var-init=pattern",
    "-Xcompiler=-fmessage-length=0,-fdiagnostics-color=never",
    "-Xlinker=-Bsymbolic-functions"};

static void add_options(const struct hone_nvcc_unit *unit, struct hone_pool *pool,
                        struct args *args)
{
    const char *number = strncmp(unit->arch, "sm_", 3) == 0 ? unit->arch + 3 : unit->arch;
    add(args, hone_pool_printf(pool, "-gencode=arch=compute_%s,code=sm_%s", number, number));
    for (size_t i = 0; i < HONE_COUNTOF(standard_options); i++)
        add(args, standard_options[i]);
    for (size_t i = 0; unit->flags != NULL && unit->flags[i] != NULL; i++)
        add(args, unit->flags[i]);
}

const char *hone_nvcc_command(const struct hone_nvcc_unit *unit, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    struct args args = {.n = 0};
    add_options(unit, pool, &args);
    hone_buf_str(&out, "nvcc");
    for (size_t i = 0; i < args.n; i++)
        hone_buf_printf(&out, " %s", args.v[i]);
    return hone_pool_strdup(pool, out.data);
}

static void hash_file(struct hone_hasher *hasher, const char *path)
{
    struct stat info = {.st_size = 0};
    (void)stat(path, &info);
    const int64_t identity[] = {info.st_size, info.st_mtim.tv_sec, (int64_t)info.st_ino};
    hone_hasher_str(hasher, path);
    hone_hasher_part(hasher, identity, sizeof identity);
}

static void make_key(struct work *work)
{
    const struct hone_nvcc_unit *unit = work->unit;
    struct hone_hasher hasher;
    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, CACHE_FORMAT);
    hone_hasher_str(&hasher, unit->nvcc->path);
    hone_hasher_part(&hasher, unit->nvcc->identity, sizeof unit->nvcc->identity);
    hash_file(&hasher, work->host_compiler);
    hone_hasher_str(&hasher, hone_nvcc_command(unit, work->pool));
    hone_hasher_str(&hasher, hone_host_structs());
    hone_hasher_str(&hasher, unit->symbol);
    hone_hasher_str(&hasher, unit->file);
    hone_hasher_str(&hasher, unit->tune);
    hone_hasher_str(&hasher, unit->text);
    hone_hasher_end(&hasher, work->key);
}

/* ---- the compiler ---- */

static int write_text(const char *folder, const char *name, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(folder, name, NULL);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

static int write_inputs(const struct work *work, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    hone_buf_printf(&text, "#line 1 \"%s\"\n%s\n", work->unit->file, work->unit->text);
    int rc = hone_mkdirs(work->folder, 0755, err);
    if (rc == 0)
        rc = write_text(work->folder, "kernel.cu", text.data, err);
    if (rc == 0)
        rc = write_text(work->folder, STRUCTS, hone_host_structs(), err);
    return rc < 0 ? rc : write_text(work->folder, TUNE, work->unit->tune, err);
}

static int start(struct work *work, struct hone_err *err)
{
    const struct hone_nvcc_unit *unit = work->unit;
    static const char *const rest[] = {"--keep", "-include",  STRUCTS, "-include",
                                       TUNE,     "kernel.cu", "-o",    "kernel.so"};
    const char *shown[2] = {NULL};
    struct args args = {.n = 0};
    add(&args, unit->nvcc->path);
    add_options(unit, work->pool, &args);
    add(&args, "-ccbin");
    add(&args, work->host_compiler);
    for (size_t i = 0; i < HONE_COUNTOF(rest); i++)
        add(&args, rest[i]);
    if (strcmp(unit->nvcc->home, "/usr") != 0)
        shown[0] = unit->nvcc->home;
    int rc = write_inputs(work, err);
    if (rc < 0)
        return rc;
    work->log_fd = memfd_create("compiler output", MFD_CLOEXEC);
    if (work->log_fd < 0)
        return hone_fail_errno(err, errno, "memfd_create");
    struct hone_jail_spec spec = {.profile = HONE_JAIL_COMPILE,
                                  .rung = unit->rung,
                                  .allow_weak = unit->allow_weak,
                                  .argv = args.v,
                                  .work_dir = work->folder,
                                  .ro_files = shown,
                                  .memory_bytes = MEMORY_BYTES,
                                  .tmp_bytes = TMP_BYTES,
                                  .file_bytes = FILE_BYTES,
                                  .cpu_seconds = CPU_SECONDS,
                                  .max_pids = MAX_PIDS,
                                  .stdin_fd = -1,
                                  .stdout_fd = work->log_fd,
                                  .stderr_fd = work->log_fd};
    rc = hone_jail_start(&spec, &work->jail, err);
    if (rc < 0)
        work->jail = NULL;
    return rc;
}

/* ---- what came out ---- */

static const char *read_log(const struct work *work)
{
    char *text = hone_pool_alloc(work->pool, HONE_LIMIT_LOG_BYTES + 1);
    ssize_t len = pread(work->log_fd, text, HONE_LIMIT_LOG_BYTES, 0);
    for (ssize_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    hone_utf8_defuse(text, '?');
    return text;
}

/* Most of a source is read twice, for the device and for the host: what is said twice is kept once.
 */
static void drop_doubles(struct hone_array *list)
{
    struct hone_diagnostic *v = list->v;
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool is_new = true;
        for (size_t k = 0; k < n && is_new; k++)
            is_new = v[k].line != v[i].line || strcmp(v[k].message, v[i].message) != 0;
        if (is_new)
            v[n++] = v[i];
    }
    list->n = n;
}

/* Front ends and ptxas speak NVIDIA's dialect, the host's compiler and the linker gcc's. */
static void read_diagnostics(const struct work *work, const struct hone_nvcc_object *object,
                             struct hone_array *ret, struct hone_diag_out *ret_host)
{
    const struct hone_diag_in in = {.text = object->log,
                                    .file = work->unit->file,
                                    .source = work->unit->text,
                                    .arm = work->unit->arm,
                                    .has_passed = object->reason == HONE_REASON_BUILT};
    struct hone_diag_out device;
    hone_nvrtc_diag_parse(&in, work->pool, &device);
    hone_diag_parse(&in, work->pool, ret_host);
    ret_host->has_error = ret_host->has_error || device.has_error;
    drop_doubles(&device.diagnostics);
    hone_diag_merge(&device.diagnostics, &ret_host->diagnostics, work->pool, ret);
}

/* A plain file of the compiler's, at most so large; HONE_E_NOT_FOUND otherwise. */
static int take_file(const struct work *work, const char *name, size_t most, char **ret,
                     size_t *ret_len, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(work->folder, name, NULL);
    struct stat info;
    if (lstat(path, &info) < 0 || !S_ISREG(info.st_mode))
        return hone_fail(err, HONE_E_NOT_FOUND, "nvcc left no %s", name);
    return hone_file_read(path, most, ret, ret_len, err);
}

static bool left_object(const struct work *work)
{
    HONE_AUTOFREE char *path = hone_path_join(work->folder, "kernel.o", NULL);
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

static int take_cubin(const struct work *work, char **ret, size_t *ret_len, struct hone_err *err)
{
    const char *other = hone_pool_printf(work->pool, "kernel.%s.cubin", work->unit->arch);
    int rc = take_file(work, "kernel.cubin", HONE_LIMIT_CUBIN_BYTES, ret, ret_len, NULL);
    return rc == HONE_E_NOT_FOUND
               ? take_file(work, other, HONE_LIMIT_CUBIN_BYTES, ret, ret_len, err)
           : rc < 0 ? hone_fail(err, rc, "the cubin cannot be read")
                    : 0;
}

static int keep(const struct work *work, const struct hone_blob_part *parts,
                struct hone_nvcc_object *ret, struct hone_err *err)
{
    const char *folder = hone_pool_printf(work->pool, "%s/object", work->root);
    unsigned char *cubin = hone_pool_alloc(work->pool, parts[PART_CUBIN].len + 1);
    if (parts[PART_CUBIN].len > 0)
        memcpy(cubin, parts[PART_CUBIN].bytes, parts[PART_CUBIN].len);
    ret->cubin = cubin;
    ret->cubin_len = parts[PART_CUBIN].len;
    if (parts[PART_PTX].len > 0) {
        ret->ptx = hone_pool_strndup(work->pool, parts[PART_PTX].bytes, parts[PART_PTX].len);
        ret->ptx_len = parts[PART_PTX].len;
    }
    ret->path = hone_pool_printf(work->pool, "%s/kernel.so", folder);
    hone_hash(parts[PART_OBJECT].bytes, parts[PART_OBJECT].len, ret->hash);
    int rc = hone_mkdirs(folder, 0755, err);
    return rc < 0 ? rc
                  : hone_file_write(ret->path, parts[PART_OBJECT].bytes, parts[PART_OBJECT].len,
                                    0755, false, err);
}

/* After exit status 0: is it what was asked for? */
static int accept_files(const struct work *work, struct hone_nvcc_object *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *object = NULL;
    HONE_AUTOFREE char *cubin = NULL;
    HONE_AUTOFREE char *ptx = NULL; /* an intermediate text: nothing hangs on it */
    size_t object_len = 0, cubin_len = 0, ptx_len = 0;
    struct hone_elf_facts facts;
    int rc = take_file(work, "kernel.so", OBJECT_BYTES, &object, &object_len, err);
    if (rc == 0)
        rc = take_cubin(work, &cubin, &cubin_len, err);
    if (rc == HONE_E_LIMIT) {
        ret->reason = HONE_REASON_TOO_LARGE;
        return 0;
    }
    if (rc < 0)
        return rc;
    hone_elf_read(object, object_len, work->unit->symbol, &facts);
    if (!facts.is_shared_object || !facts.has_symbol) {
        ret->reason = HONE_REASON_NO_SYMBOL;
        ret->log =
            hone_pool_printf(work->pool,
                             "the source exports no function '%s'; define it as extern \"C\" "
                             "and without 'static'",
                             work->unit->symbol);
        return 0;
    }
    if (take_file(work, "kernel.ptx", PTX_BYTES, &ptx, &ptx_len, NULL) < 0)
        ptx_len = 0;
    const struct hone_blob_part parts[HONE_BLOB_PARTS] = {
        [PART_OBJECT] = {object, object_len},
        [PART_CUBIN] = {cubin, cubin_len},
        [PART_LOG] = {ret->log, strlen(ret->log)},
        [PART_PTX] = {ptx != NULL ? ptx : "", ptx_len}};
    rc = keep(work, parts, ret, err);
    if (rc == 0)
        hone_blob_put(work->unit->cache_dir, work->key, ".nvcc", parts);
    return rc;
}

static int finish(struct work *work, struct hone_nvcc_object *ret, struct hone_err *err)
{
    struct hone_jail_exit how = {.status = -1};
    struct hone_diag_out diag;
    ret->rung = hone_pool_strdup(work->pool, hone_jail_rung(work->jail));
    int rc = hone_jail_wait(work->jail, work->unit->deadline_ns, &how, err);
    bool timed_out = rc == HONE_E_TIMEOUT;
    hone_jail_free(work->jail); /* before anything in the folder is looked at */
    work->jail = NULL;
    if (rc < 0 && !timed_out)
        return rc;
    ret->log = read_log(work);
    ret->reason =
        hone_compiler_reason(&how, timed_out, MEMORY_BYTES, left_object(work)); /* --keep */
    read_diagnostics(work, ret, &ret->diagnostics, &diag);
    rc = ret->reason == HONE_REASON_BUILT ? accept_files(work, ret, err) : 0;
    (void)hone_remove_tree(work->folder, NULL); /* intermediate texts, tens of megabytes */
    return rc;
}

int hone_nvcc_compile(const struct hone_nvcc_unit *unit, struct hone_pool *pool,
                      struct hone_nvcc_object *ret, struct hone_err *err)
{
    HONE_CLEANUP(work_done) struct work work = {.unit = unit, .pool = pool, .log_fd = -1};
    struct hone_blob_part cached[HONE_BLOB_PARTS];
    int64_t begun = hone_now_ns();
    *ret = (struct hone_nvcc_object){.reason = HONE_REASON_BUILT, .log = ""};
    work.root = hone_pool_printf(pool, "%s/nvcc", unit->scratch_dir);
    work.folder = hone_pool_printf(pool, "%s/jail", work.root);
    work.host_compiler = hone_host_compiler(pool);
    if (work.host_compiler == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "no C++ compiler for nvcc: install g++");
    make_key(&work);
    int rc = hone_remove_tree(work.root, err);
    if (rc == 0 && hone_blob_get(unit->cache_dir, work.key, ".nvcc", pool, cached)) {
        struct hone_diag_out diag;
        ret->is_cached = true;
        ret->log = cached[PART_LOG].bytes;
        read_diagnostics(&work, ret, &ret->diagnostics, &diag);
        return keep(&work, cached, ret, err);
    }
    if (rc == 0)
        rc = start(&work, err);
    if (rc == 0)
        rc = finish(&work, ret, err);
    ret->wall_ns = hone_now_ns() - begun;
    return rc < 0 ? hone_wrap(err, "nvcc") : 0;
}

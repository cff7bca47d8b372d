/* SPDX-License-Identifier: Apache-2.0 */
/* Runs nvdisasm on a cubin in a compile jail: the cubin is what a candidate made of the compiler,
 * and the disassembler is somebody else's parser. */
#include "tools/runner/cuda/compile/sass.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/jail/jail.h"
#include "workspace/base/file.h"

#define MEMORY_BYTES (2ll << 30)
#define TEXT_BYTES   (64ll << 20)
#define TMP_BYTES    (64ll << 20)
#define CPU_SECONDS  20
#define MAX_PIDS     8
#define CUBIN_FILE   "module.cubin"

/* Where the toolkit was said to be, in $PATH, else beside its usual place; owned, real path. */
static char *find_tool(void)
{
    const char *path = getenv("PATH"), *home = getenv("HONE_CUDA_HOME");
    HONE_AUTOFREE char *chosen = home == NULL ? NULL : hone_sprintf("%s/bin/nvdisasm", home);
    char full[PATH_MAX];
    if (chosen != NULL && chosen[0] == '/' && access(chosen, X_OK) == 0 &&
        realpath(chosen, full) != NULL)
        return hone_strdup(full);

    for (const char *at = path; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, ":");
        HONE_AUTOFREE char *file = hone_sprintf("%.*s/nvdisasm", (int)n, at);
        if (n > 0 && at[0] == '/' && access(file, X_OK) == 0 && realpath(file, full) != NULL)
            return hone_strdup(full);
        at += n + (at[n] == ':' ? 1 : 0);
    }
    if (access("/usr/local/cuda/bin/nvdisasm", X_OK) == 0 &&
        realpath("/usr/local/cuda/bin/nvdisasm", full) != NULL)
        return hone_strdup(full);
    return NULL;
}

static int read_text(int fd, struct hone_pool *pool, const char **ret_text, size_t *ret_len,
                     struct hone_err *err)
{
    struct stat info;

    if (fstat(fd, &info) < 0)
        return hone_fail_errno(err, errno, "disassembly");
    size_t len = (size_t)hone_min_i64(info.st_size, TEXT_BYTES);
    char *text = hone_pool_alloc(pool, len + 1);
    for (size_t at = 0; at < len;) {
        ssize_t n = pread(fd, text + at, len - at, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return hone_fail_errno(err, errno, "reading the disassembly");
        at += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_len = len;
    return 0;
}

static int run(const struct hone_sass_request *req, const char *tool, const char *folder, int out,
               struct hone_err *err)
{
    const char *argv[] = {tool, "-c", "-gi", CUBIN_FILE, NULL};
    const char *more[] = {tool, NULL};
    const struct hone_jail_spec spec = {
        .profile = HONE_JAIL_COMPILE,
        .rung = req->rung,
        .allow_weak = req->allow_weak,
        .argv = argv,
        .work_dir = folder,
        .ro_files = more,
        .memory_bytes = MEMORY_BYTES,
        .tmp_bytes = TMP_BYTES,
        .file_bytes = TEXT_BYTES,
        .cpu_seconds = CPU_SECONDS,
        .max_pids = MAX_PIDS,
        .stdin_fd = -1,
        .stdout_fd = out,
        .stderr_fd = -1,
    };
    struct hone_jail *jail = NULL;
    struct hone_jail_exit how = {0};
    int rc = hone_jail_start(&spec, &jail, err);

    if (rc < 0)
        return hone_wrap(err, "nvdisasm");
    rc = hone_jail_wait(jail, req->deadline_ns, &how, err);
    hone_jail_free(jail);
    if (rc == 0 && (how.status != 0 || how.signal != 0))
        return hone_fail(err, HONE_E_TARGET, "nvdisasm ended with status %d, signal %d", how.status,
                         how.signal);
    return rc < 0 ? hone_wrap(err, "nvdisasm") : 0;
}

int hone_sass_disassemble(const struct hone_sass_request *req, struct hone_pool *pool,
                          const char **ret_text, size_t *ret_len, struct hone_err *err)
{
    HONE_AUTOFREE char *tool = find_tool();
    HONE_AUTOFREE char *folder = hone_path_join(req->scratch_dir, "sass", NULL);
    HONE_AUTOFREE char *file = hone_path_join(folder, CUBIN_FILE, NULL);

    if (tool == NULL)
        return hone_fail(
            err, HONE_E_UNSUPPORTED,
            "nvdisasm was not found in $HONE_CUDA_HOME/bin, $PATH or /usr/local/cuda/bin; fix: "
            "install cuda-nvdisasm, of the CUDA toolkit");
    HONE_AUTOCLOSE int out = memfd_create("disassembly", MFD_CLOEXEC);
    if (out < 0)
        return hone_fail_errno(err, errno, "memfd_create");
    int rc = hone_mkdirs(folder, 0700, err);
    if (rc == 0)
        rc = hone_file_write(file, req->cubin, req->len, 0600, false, err);
    if (rc == 0)
        rc = run(req, tool, folder, out, err);
    if (rc == 0)
        rc = read_text(out, pool, ret_text, ret_len, err);
    (void)hone_remove_tree(folder, NULL);
    return rc;
}

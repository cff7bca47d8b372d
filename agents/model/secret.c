/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/model/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/model/config.h"
#include "workspace/base/limits.h"

/* A file that others may read holds no secret. */
static int read_key_file(const char *path, char *buf, size_t size, struct hone_err *err)
{
    struct stat st;
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return hone_fail(err, HONE_E_NOT_FOUND, "key file '%.200s' does not exist", path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hone_fail_errno(err, errno, "cannot open key file '%.200s'", path);
    if (!S_ISREG(st.st_mode))
        return hone_fail(err, HONE_E_ARG, "key file '%.200s' is no regular file", path);
    if ((st.st_mode & 077) != 0 || (st.st_uid != geteuid() && st.st_uid != 0))
        return hone_fail(err, HONE_E_AUTH,
                         "key file '%.200s' must belong to you and be readable by nobody else; "
                         "chmod 600 it",
                         path);
    size_t n = 0;
    while (n < size) {
        ssize_t got = read(fd, buf + n, size - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hone_fail_errno(err, errno, "cannot read key file '%.200s'", path);
        if (got == 0)
            break;
        n += (size_t)got;
    }
    if (n == size)
        return hone_fail(err, HONE_E_LIMIT, "key file '%.200s' is larger than %d bytes", path,
                         HONE_LIMIT_KEY_BYTES);
    buf[n] = '\0';
    return 0;
}

static int take(const char *where, const char *text, struct hone_secret *ret, struct hone_err *err)
{
    static const char space[] = " \t\r\n";
    text += strspn(text, space);
    size_t len = strlen(text);
    while (len > 0 && strchr(space, text[len - 1]))
        len--;
    if (len == 0)
        return hone_fail(err, HONE_E_NOT_FOUND, "%.200s holds no key", where);
    if (len > HONE_LIMIT_KEY_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "the key in %.200s has more than %d bytes", where,
                         HONE_LIMIT_KEY_BYTES);
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return hone_fail(err, HONE_E_ARG,
                             "the key in %.200s holds a character that no key has; one line of "
                             "printable ASCII is expected",
                             where);
    ret->bytes_ = hone_strndup(text, len);
    ret->len_ = len;
    return 0;
}

int hone_secret_load(const char *env, const char *file, struct hone_secret *ret,
                     struct hone_err *err)
{
    struct hone_secret made = HONE_SECRET_INIT;
    int r = 0;
    if (env) {
        const char *text = getenv(env);
        HONE_AUTOFREE char *where = hone_sprintf("environment variable %s", env);
        r = text ? take(where, text, &made, err)
                 : hone_fail(err, HONE_E_NOT_FOUND, "environment variable %.80s is not set", env);
    } else {
        char buf[HONE_LIMIT_KEY_BYTES + 16];
        HONE_AUTOFREE char *path = hone_config_path(file);
        HONE_AUTOFREE char *where = hone_sprintf("key file '%s'", path);
        r = read_key_file(path, buf, sizeof(buf) - 1, err);
        if (r == 0)
            r = take(where, buf, &made, err);
        explicit_bzero(buf, sizeof(buf));
    }
    if (r < 0)
        return r;
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0) { /* who holds a key leaves none in a core file */
        core.rlim_cur = 0;
        (void)setrlimit(RLIMIT_CORE, &core);
    }
    *ret = made;
    return 0;
}

void hone_secret_done(struct hone_secret *secret)
{
    if (secret->bytes_)
        explicit_bzero(secret->bytes_, secret->len_);
    free(secret->bytes_);
    *secret = (struct hone_secret)HONE_SECRET_INIT;
}

bool hone_secret_is_set(const struct hone_secret *secret)
{
    return secret->len_ > 0;
}

void hone_secret_redact(const struct hone_secret *secret, char *text)
{
    for (char *at = text; secret->len_ > 0 && (at = strstr(at, secret->bytes_));)
        memset(at, '*', secret->len_);
}

const char *hone_secret_reveal(const struct hone_secret *secret)
{
    return secret->bytes_;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/json.h"
#include "workspace/base/utf8.h"

#define LINE_BYTES 2048
#define UNSET      (-1)

static const char *const level_names[] = {
    [HONE_LOG_ERROR] = "error",
    [HONE_LOG_WARN] = "warn",
    [HONE_LOG_INFO] = "info",
    [HONE_LOG_DEBUG] = "debug",
};

/* The log sink: the one state that libraries share. UNSET until first use or hone_log_set_level. */
static atomic_int sink_level = UNSET;

static int level_from_environment(void)
{
    const char *word = getenv("HONE_LOG");
    for (size_t i = 0; word != NULL && i < HONE_COUNTOF(level_names); i++)
        if (strcmp(word, level_names[i]) == 0)
            return (int)i;
    return HONE_LOG_WARN;
}

void hone_log_set_level(enum hone_log_level level)
{
    atomic_store(&sink_level, (int)level);
}

void hone_log(enum hone_log_level level, const char *fmt, ...)
{
    int limit = atomic_load(&sink_level);
    if (limit == UNSET) {
        limit = level_from_environment();
        atomic_store(&sink_level, limit);
    }
    if ((int)level > limit)
        return;
    int saved = errno;
    char line[LINE_BYTES];
    int head = snprintf(line, sizeof(line), "hone: %s ", level_names[level]);
    va_list args;
    va_start(args, fmt);
    int body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, args);
    va_end(args);
    size_t len = (size_t)head + (body > 0 ? (size_t)body : 0);
    if (len > sizeof(line) - 2)
        len = sizeof(line) - 2;
    /* One line is one line, whatever the arguments held. */
    for (size_t i = (size_t)head; i < len; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    line[len] = '\0';
    hone_utf8_defuse(line, '?'); /* an argument may be a client's, a log is read on a terminal */
    len = strlen(line);
    line[len++] = '\n';
    /* One write: lines of several threads and processes do not mix. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
    errno = saved;
}

void hone_trace(const char *event, const struct hone_json *fields)
{
    const char *path = getenv("HONE_TRACE");
    if (path == NULL || *path == '\0')
        return;
    HONE_AUTOCLOSE int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    HONE_AUTOJSON struct hone_json *line = hone_json_new_object();
    hone_json_set_i64(line, "t", hone_wall_ms());
    hone_json_set_i64(line, "pid", getpid());
    hone_json_set_str(line, "event", event);
    for (struct hone_json *c = hone_json_first(fields); c != NULL; c = hone_json_next(c))
        hone_json_set(line, hone_json_key(c), hone_json_copy(c));
    HONE_AUTOFREE char *text = hone_json_print(line);
    struct iovec parts[] = {{text, strlen(text)}, {(void *)(uintptr_t) "\n", 1}};
    ssize_t written = writev(fd, parts, HONE_COUNTOF(parts));
    (void)written;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/log.h"

#define PROGRAM_BYTES 64

struct hone_audit {
    pthread_mutex_t lock;
    char *path;
    size_t limit;
    int fd;                  /* lock; -1: not open */
    int64_t next_look_ns;    /* lock */
    size_t n_written;        /* lock: since the last look */
    bool has_complained;     /* lock */
    int64_t next_refusal_ns; /* lock */
    int64_t n_refusals;      /* lock: not yet written */
};

struct hone_audit *hone_audit_new(const char *path, size_t limit_bytes)
{
    struct hone_audit *audit = hone_calloc(1, sizeof(*audit));
    pthread_mutex_init(&audit->lock, NULL);
    audit->path = hone_strdup(path);
    audit->limit = limit_bytes ? limit_bytes : HONE_LIMIT_AUDIT_BYTES;
    audit->fd = -1;
    return audit;
}

void hone_audit_free(struct hone_audit *audit)
{
    if (!audit)
        return;
    if (audit->fd >= 0)
        close(audit->fd);
    pthread_mutex_destroy(&audit->lock);
    free(audit->path);
    free(audit);
}

/* Another server may have moved the file: the one with the name is written. Looked at once a second,
 * and when this one has written its share. */
static void open_current(struct hone_audit *audit)
{
    struct stat named, held;
    int64_t now = hone_now_ns();
    if (audit->fd >= 0 && now < audit->next_look_ns && audit->n_written < audit->limit / 8)
        return;
    audit->next_look_ns = now + HONE_NS_PER_S;
    audit->n_written = 0;
    if (audit->fd >= 0 && fstat(audit->fd, &held) == 0 && stat(audit->path, &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
        if ((size_t)held.st_size < audit->limit)
            return;
        HONE_AUTOFREE char *old = hone_sprintf("%s.1", audit->path);
        if (rename(audit->path, old) < 0)
            hone_log(HONE_LOG_WARN, "event=audit why=\"%s\"", strerrordesc_np(errno));
    }
    if (audit->fd >= 0)
        close(audit->fd);
    audit->fd = open(audit->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* A line of its own with one write, so that lines of two servers stay whole. Lock held. */
static void write_line(struct hone_audit *audit, struct hone_buf *row)
{
    hone_buf_str(row, "}\n");
    if (hone_buf_check(row, NULL) < 0)
        return;
    open_current(audit);
    audit->n_written += row->len;
    if (audit->fd >= 0 && write(audit->fd, row->data, row->len) == (ssize_t)row->len)
        return;
    if (!audit->has_complained)
        hone_log(HONE_LOG_ERROR, "event=audit path=%s why=\"%s\"", audit->path,
                 strerrordesc_np(errno));
    audit->has_complained = true;
}

static void begin_row(struct hone_buf *row)
{
    char when[32];
    hone_wall_text(hone_wall_ms(), when);
    hone_buf_str(row, "{\"time\":\"");
    hone_buf_str(row, when);
    hone_buf_str(row, "\"");
}

/* text NULL: no such member. */
static void add_member(struct hone_buf *row, const char *name, const char *text)
{
    if (text == NULL)
        return;
    hone_buf_str(row, ",\"");
    hone_buf_str(row, name);
    hone_buf_str(row, "\":");
    hone_json_print_str(row, text);
}

void hone_audit_call(struct hone_audit *audit, const struct hone_audit_call *call)
{
    static const char *const taken[] = {"verdict", "commit", "job"};
    if (!audit)
        return;
    HONE_CLEANUP(hone_buf_done) struct hone_buf row = HONE_BUF_INIT;
    HONE_AUTOFREE char *program = hone_strndup(call->program, PROGRAM_BYTES);
    begin_row(&row);
    add_member(&row, "token", hone_client_name(call->client));
    add_member(&row, "role", hone_access_role_names[hone_client_role(call->client)]);
    add_member(&row, "program", program);
    add_member(&row, "tool", call->tool);
    add_member(&row, "outcome", call->outcome);
    for (size_t i = 0; i < HONE_COUNTOF(taken); i++)
        add_member(&row, taken[i], hone_json_get_str(call->answer, taken[i], NULL));
    hone_buf_printf(&row, ",\"wall_ms\":%lld", (long long)call->wall_ms);
    pthread_mutex_lock(&audit->lock);
    write_line(audit, &row);
    pthread_mutex_unlock(&audit->lock);
}

void hone_audit_refusal(struct hone_audit *audit, unsigned status, const char *why)
{
    if (!audit)
        return;
    int64_t now = hone_now_ns();
    pthread_mutex_lock(&audit->lock);
    audit->n_refusals++;
    if (now >= audit->next_refusal_ns) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf row = HONE_BUF_INIT;
        begin_row(&row);
        add_member(&row, "refused", why);
        hone_buf_printf(&row, ",\"status\":%u,\"times\":%lld", status,
                        (long long)audit->n_refusals);
        write_line(audit, &row);
        audit->n_refusals = 0;
        audit->next_refusal_ns = now + HONE_NS_PER_S;
    }
    pthread_mutex_unlock(&audit->lock);
}

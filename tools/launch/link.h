/* SPDX-License-Identifier: Apache-2.0 */
/* A framed stream between hone and a runner behind a command (ssh, srun, docker, a shell).
 *
 * A frame is a line of JSON, an object with "type", then as many bytes as its member "bytes" says
 * (none when it is absent):
 *
 *     {"type":"file","hash":"9f86...","offset":0,"bytes":5}\nint x
 *
 * The two ends greet each other first. Until then lines that are no frames are skipped, up to
 * HONE_LIMIT_NOISE_BYTES: launchers and login shells print such lines. docs/guides/cluster.md lists the
 * types.
 *
 *     hone_link_init(&link, fd);
 *     hone_link_send(&link, hone_frame_new("ping"), NULL, 0, &err);
 *     hone_link_receive(&link, hone_deadline_in_ms(5000), cancel, &frame, &err);
 *     if (strcmp(hone_frame_type(&frame), "report") == 0) ...
 *     hone_frame_done(&frame);
 *
 * One thread receives; any thread may send. */
#ifndef HONE_LAUNCH_LINK_H
#define HONE_LAUNCH_LINK_H

#include <pthread.h>

#include "workspace/base/buf.h"
#include "workspace/base/json.h"
#include "workspace/base/process.h"

/* Both ends must say the same number, and be of the same version of hone. */
#define HONE_LINK_PROTOCOL 1
/* A side that has heard nothing for so long takes the other for dead. */
#define HONE_LINK_SILENCE_MS 45000
/* So often each side says something, at least. */
#define HONE_LINK_PING_MS 5000

struct hone_link {
    int in_fd, out_fd; /* borrowed */
    bool is_greeted;
    size_t n_noise; /* bytes skipped so far */
    struct hone_buf in;
    struct hone_buf noise; /* the last of what was skipped */
    pthread_mutex_t write_lock;
};

struct hone_frame {
    struct hone_json *head; /* owned */
    char *bytes;            /* owned, NUL-terminated */
    size_t len;
};

void hone_link_init(struct hone_link *link, int in_fd, int out_fd);
void hone_link_done(struct hone_link *link);

struct hone_json *hone_frame_new(const char *type);
const char *hone_frame_type(const struct hone_frame *frame); /* "" at least */
void hone_frame_done(struct hone_frame *frame);              /* usable as HONE_CLEANUP */

/* head is moved. HONE_E_IO: the other side is gone, or takes nothing for HONE_LINK_SILENCE_MS. */
int hone_link_send(struct hone_link *link, struct hone_json *head, const void *bytes, size_t len,
                   struct hone_err *err);
/* HONE_E_TIMEOUT, HONE_E_CANCEL, HONE_E_IO (closed), HONE_E_CORRUPT (no frame), HONE_E_LIMIT. */
int hone_link_receive(struct hone_link *link, int64_t deadline_ns, const struct hone_cancel *cancel,
                      struct hone_frame *ret, struct hone_err *err);
/* The greeting, from both sides: who says it, and what kind of machine that is (may be NULL). */
int hone_link_greet(struct hone_link *link, const char *device_class, struct hone_err *err);
/* The other side's: HONE_E_UNSUPPORTED, with a sentence, when it is of another version. */
int hone_link_check_greeting(const struct hone_frame *frame, struct hone_err *err);

#endif

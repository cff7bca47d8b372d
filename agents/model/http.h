/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP POST with a streamed answer. The only owner of libcurl.
 *
 * TLS certificates are verified, redirects are not followed, only https:// (and http:// to this
 * machine, or where it is allowed) is spoken. Descriptors are close-on-exec. Thread safe. */
#ifndef HONE_AGENTS_HTTP_H
#define HONE_AGENTS_HTTP_H

#include "agents/model/secret.h"
#include "workspace/base/process.h"

/* How a request went wrong on the way; HTTP statuses are answers. */
enum hone_http_fault {
    HONE_HTTP_OK,
    HONE_HTTP_CONNECT,  /* no address, refused, no route */
    HONE_HTTP_TLS,      /* certificate or handshake */
    HONE_HTTP_SLOW,     /* connect or idle time-out */
    HONE_HTTP_DEADLINE, /* the whole of it took too long */
    HONE_HTTP_CUT,      /* the connection ended before the answer did */
    HONE_HTTP_LARGE,    /* more bytes than allowed */
    HONE_HTTP_CANCEL,
    HONE_HTTP_REFUSED, /* the reader of the body said no; its error stands */
    HONE_HTTP_BAD      /* the request itself: URL, protocol */
};

struct hone_http_answer {
    long status;            /* 0: none came */
    char content_type[100]; /* lower case, without parameters */
    char request_id[100];
    int64_t retry_after_ms; /* -1: not given; from seconds or from a date */
    char location[200];     /* of a redirect */
    char *text;             /* owned: body of a status other than 200, cut */
    size_t n_bytes;         /* of the body */
    enum hone_http_fault fault;
};

struct hone_http_request { /* borrowed */
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated; no secrets */
    const char *secret_header;  /* "Authorization: Bearer "; the secret follows */
    const struct hone_secret *secret;
    const char *body;
    size_t body_len;
    int64_t connect_ms, idle_ms, deadline_ns;
    const struct hone_cancel *cancel;
    bool allow_plain; /* http:// to other machines */
    size_t max_bytes; /* of the body */
    /* Bytes of a body of status 200, in order; negative stops the request (HONE_HTTP_REFUSED). */
    int (*on_body)(void *arg, const struct hone_http_answer *answer, const char *bytes, size_t len,
                   struct hone_err *err);
    void *arg;
};

/* 0 when an answer came to its end, whatever its status; negative with ret->fault set otherwise.
 * *ret is always to be given to hone_http_answer_done. Blocks. */
int hone_http_post(const struct hone_http_request *request, struct hone_http_answer *ret,
                   struct hone_err *err);
void hone_http_answer_done(struct hone_http_answer *answer);

/* Milliseconds of a Retry-After value: seconds, or a date as HTTP writes it; -1: neither. */
int64_t hone_http_retry_after(const char *value, int64_t now_wall_ms);
/* May a key go to this URL: https, or http to this machine. */
bool hone_http_is_safe_url(const char *url);

#endif

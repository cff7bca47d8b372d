/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that knows libcurl: a POST on a multi handle of its own, so that cancel, idle time
 * and deadline are ours to watch. */
#include "agents/model/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workspace/base/buf.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define POLL_MS           500
#define RETRY_AFTER_MAX_S 86400

struct call {
    const struct hone_http_request *request;
    struct hone_http_answer *answer;
    struct hone_err *err;
    struct hone_buf text; /* of an error */
    int64_t last_ns;      /* when a byte came or went */
    int64_t n_sent;
    size_t n_header_bytes;
    bool has_connected;
};

/* ---- values of headers ---- */

int64_t hone_http_retry_after(const char *value, int64_t now_wall_ms)
{
    char *end;
    while (*value == ' ')
        value++;
    if (isdigit((unsigned char)*value)) {
        errno = 0;
        double s = strtod(value, &end);
        while (*end == ' ')
            end++;
        return *end || !(s >= 0)
                   ? -1
                   : (int64_t)(1000 * (s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : s));
    }
    time_t when = curl_getdate(value, NULL);
    if (when == (time_t)-1)
        return -1;
    int64_t ms = (int64_t)when * 1000 - now_wall_ms;
    return hone_max_i64(0, hone_min_i64(ms, RETRY_AFTER_MAX_S * 1000ll));
}

static bool is_host(const char *host, size_t len, const char *name)
{
    return strlen(name) == len && strncasecmp(host, name, len) == 0;
}

bool hone_http_is_safe_url(const char *url)
{
    if (strncasecmp(url, "https://", 8) == 0)
        return true;
    if (strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + 7;
    size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");
    return host[strcspn(host, "/?#")] != '@' && !memchr(host, '@', strcspn(host, "/?#")) &&
           (is_host(host, len, "localhost") || is_host(host, len, "127.0.0.1") ||
            is_host(host, len, "[::1]"));
}

static void keep(char *to, size_t size, const char *value, size_t len)
{
    snprintf(to, size, "%.*s", (int)(len < size ? len : size - 1), value);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

static void on_content_type(struct call *c, const char *value, size_t len)
{
    size_t n = 0;
    while (n < len && value[n] != ';' && value[n] != ' ')
        n++;
    keep(c->answer->content_type, sizeof(c->answer->content_type), value, n);
    for (char *at = c->answer->content_type; *at; at++)
        *at = (char)tolower((unsigned char)*at);
}

static void on_request_id(struct call *c, const char *value, size_t len)
{
    keep(c->answer->request_id, sizeof(c->answer->request_id), value, len);
}

static void on_retry_after(struct call *c, const char *value, size_t len)
{
    HONE_AUTOFREE char *text = hone_strndup(value, len);
    c->answer->retry_after_ms = hone_http_retry_after(text, hone_wall_ms());
}

static void on_location(struct call *c, const char *value, size_t len)
{
    keep(c->answer->location, sizeof(c->answer->location), value, len);
}

static const struct {
    const char *name;
    void (*take)(struct call *c, const char *value, size_t len);
} headers[] = {
    {"content-type:", on_content_type}, {"retry-after:", on_retry_after},
    {"request-id:", on_request_id},     {"x-request-id:", on_request_id},
    {"location:", on_location},
};

/* ---- what libcurl calls ---- */

static int stop(struct call *c, enum hone_http_fault fault)
{
    if (c->answer->fault == HONE_HTTP_OK)
        c->answer->fault = fault;
    return 0; /* fewer bytes than offered: libcurl ends the request */
}

static size_t on_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct call *c = arg;
    size_t len = size * n;
    c->last_ns = hone_now_ns();
    c->n_header_bytes += len;
    if (c->n_header_bytes > HONE_LIMIT_HTTP_HEADERS_BYTES)
        return (size_t)stop(c, HONE_HTTP_LARGE);
    for (size_t i = 0; i < HONE_COUNTOF(headers); i++) {
        size_t skip = strlen(headers[i].name), end = len;
        if (len < skip || strncasecmp(bytes, headers[i].name, skip) != 0)
            continue;
        while (skip < end && (bytes[skip] == ' ' || bytes[skip] == '\t'))
            skip++;
        while (end > skip && isspace((unsigned char)bytes[end - 1]))
            end--;
        headers[i].take(c, bytes + skip, end - skip);
    }
    return len;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
    struct call *c = arg;
    size_t len = size * n;
    c->last_ns = hone_now_ns();
    c->answer->n_bytes += len;
    if (c->answer->n_bytes > c->request->max_bytes)
        return (size_t)stop(c, HONE_HTTP_LARGE);
    if (c->answer->status != 200) {
        size_t room = HONE_LIMIT_HTTP_ERROR_BYTES - c->text.len;
        hone_buf_add(&c->text, bytes, len < room ? len : room); /* the rest is not kept */
        return len;
    }
    if (c->request->on_body(c->request->arg, c->answer, bytes, len, c->err) < 0)
        return (size_t)stop(c, HONE_HTTP_REFUSED);
    return len;
}

static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    (void)arg;
    (void)purpose;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    struct call *c = arg;
    (void)down_total;
    (void)down;
    (void)up_total;
    if (up > c->n_sent)
        c->last_ns = hone_now_ns();
    c->n_sent = up;
    return 0;
}

/* ---- faults ---- */

static const struct {
    CURLcode code;
    enum hone_http_fault fault;
} codes[] = {
    {CURLE_COULDNT_RESOLVE_HOST, HONE_HTTP_CONNECT},
    {CURLE_COULDNT_RESOLVE_PROXY, HONE_HTTP_CONNECT},
    {CURLE_COULDNT_CONNECT, HONE_HTTP_CONNECT},
    {CURLE_OPERATION_TIMEDOUT, HONE_HTTP_SLOW},
    {CURLE_SSL_CONNECT_ERROR, HONE_HTTP_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, HONE_HTTP_TLS},
    {CURLE_SSL_CACERT_BADFILE, HONE_HTTP_TLS},
    {CURLE_SSL_CERTPROBLEM, HONE_HTTP_TLS},
    {CURLE_GOT_NOTHING, HONE_HTTP_CUT},
    {CURLE_PARTIAL_FILE, HONE_HTTP_CUT},
    {CURLE_RECV_ERROR, HONE_HTTP_CUT},
    {CURLE_SEND_ERROR, HONE_HTTP_CUT},
    {CURLE_WEIRD_SERVER_REPLY, HONE_HTTP_CUT},
    {CURLE_HTTP2, HONE_HTTP_CUT},
    {CURLE_HTTP2_STREAM, HONE_HTTP_CUT},
    {CURLE_URL_MALFORMAT, HONE_HTTP_BAD},
    {CURLE_UNSUPPORTED_PROTOCOL, HONE_HTTP_BAD},
};

static enum hone_http_fault fault_of(CURLcode code)
{
    for (size_t i = 0; i < HONE_COUNTOF(codes); i++)
        if (codes[i].code == code)
            return codes[i].fault;
    return HONE_HTTP_CUT;
}

static const struct {
    enum hone_code code;
    const char *words;
} faults[] = {
    [HONE_HTTP_CONNECT] = {HONE_E_IO, "cannot be reached"},
    [HONE_HTTP_TLS] = {HONE_E_AUTH, "TLS failed"},
    [HONE_HTTP_SLOW] = {HONE_E_TIMEOUT, "no byte for too long"},
    [HONE_HTTP_DEADLINE] = {HONE_E_TIMEOUT, "time limit"},
    [HONE_HTTP_CUT] = {HONE_E_IO, "the connection ended before the answer did"},
    [HONE_HTTP_LARGE] = {HONE_E_LIMIT, "the answer is larger than is taken"},
    [HONE_HTTP_CANCEL] = {HONE_E_CANCEL, "cancelled"},
    [HONE_HTTP_BAD] = {HONE_E_ARG, "the address cannot be used"},
};

static int fail(struct call *c, const char *detail)
{
    enum hone_http_fault fault = c->answer->fault;
    if (fault == HONE_HTTP_REFUSED)
        return c->err ? (int)c->err->code : HONE_E_TARGET;
    return hone_fail(c->err, faults[fault].code, "%s%s%.200s", faults[fault].words,
                     detail && *detail ? ": " : "", detail ? detail : "");
}

/* ---- the request ---- */

static struct curl_slist *make_headers(const struct hone_http_request *q)
{
    struct curl_slist *list = NULL;
    for (size_t i = 0; q->headers && q->headers[i]; i++)
        list = curl_slist_append(list, q->headers[i]);
    if (q->secret && hone_secret_is_set(q->secret)) {
        char line[HONE_LIMIT_KEY_BYTES + 100];
        snprintf(line, sizeof(line), "%s%s", q->secret_header, hone_secret_reveal(q->secret));
        list = curl_slist_append(list, line);
        explicit_bzero(line, sizeof(line));
    }
    return curl_slist_append(list, "Expect:"); /* no 100-continue round trip */
}

static void wipe_headers(struct curl_slist *list)
{
    for (struct curl_slist *at = list; at; at = at->next)
        explicit_bzero(at->data, strlen(at->data));
    curl_slist_free_all(list);
}

#define SET(option, value) curl_easy_setopt(easy, option, value)
static void set_up(CURL *easy, struct call *c, struct curl_slist *list, char *errors)
{
    const struct hone_http_request *q = c->request;
    SET(CURLOPT_URL, q->url);
    SET(CURLOPT_PROTOCOLS_STR,
        q->allow_plain || hone_http_is_safe_url(q->url) ? "http,https" : "https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDS, q->body);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
    SET(CURLOPT_HTTPHEADER, list);
    SET(CURLOPT_USERAGENT, "hone");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)q->connect_ms);
    SET(CURLOPT_ERRORBUFFER, errors);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, c);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, c);
    SET(CURLOPT_SOCKOPTFUNCTION, on_socket);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, c);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_PRIVATE, c);
}

static void note_status(CURL *easy, struct call *c)
{
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    c->answer->status = status;
}

/* The status is needed when the first byte of the body comes. */
static size_t on_header_line(char *bytes, size_t size, size_t n, void *arg)
{
    CURL *easy = arg;
    char *c = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &c);
    size_t taken = on_header(bytes, size, n, (void *)c);
    note_status(easy, (void *)c);
    return taken;
}

static bool is_over(struct call *c)
{
    const struct hone_http_request *q = c->request;
    int64_t now = hone_now_ns();
    if (hone_cancel_is_set(q->cancel))
        stop(c, HONE_HTTP_CANCEL);
    else if (now >= q->deadline_ns)
        stop(c, HONE_HTTP_DEADLINE);
    else if (now - c->last_ns > q->idle_ms * HONE_NS_PER_MS)
        stop(c, HONE_HTTP_SLOW);
    return c->answer->fault != HONE_HTTP_OK;
}

static int wait_ms(const struct call *c)
{
    int64_t idle_end = c->last_ns + c->request->idle_ms * HONE_NS_PER_MS;
    int ms = hone_ms_until(hone_min_i64(idle_end, c->request->deadline_ns));
    return ms < 0 || ms > POLL_MS ? POLL_MS : ms;
}

/* The transfer's own result; CURLE_OK too when we ended it (the fault says why). */
static CURLcode drive(CURLM *multi, struct call *c)
{
    struct curl_waitfd wake = {.fd = c->request->cancel ? c->request->cancel->event_fd : -1,
                               .events = CURL_WAIT_POLLIN};
    int running = 1, left = 0;
    while (running && !is_over(c)) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            return CURLE_RECV_ERROR;
        if (running)
            curl_multi_poll(multi, &wake, c->request->cancel ? 1 : 0, wait_ms(c), NULL);
    }
    CURLMsg *done = curl_multi_info_read(multi, &left);
    return done && done->msg == CURLMSG_DONE ? done->data.result : CURLE_OK;
}

static int post(CURL *easy, CURLM *multi, struct call *c)
{
    char errors[CURL_ERROR_SIZE] = "";
    struct curl_slist *list = make_headers(c->request);
    set_up(easy, c, list, errors);
    SET(CURLOPT_HEADERFUNCTION, on_header_line);
    SET(CURLOPT_HEADERDATA, easy);
    CURLcode code = CURLE_RECV_ERROR;
    if (curl_multi_add_handle(multi, easy) == CURLM_OK) {
        code = drive(multi, c);
        note_status(easy, c);
        curl_multi_remove_handle(multi, easy);
    }
    wipe_headers(list);
    if (code != CURLE_OK)
        stop(c, fault_of(code));
    if (c->answer->fault != HONE_HTTP_OK)
        return fail(c, errors);
    return 0;
}

int hone_http_post(const struct hone_http_request *request, struct hone_http_answer *ret,
                   struct hone_err *err)
{
    *ret = (struct hone_http_answer){.retry_after_ms = -1};
    struct call c = {.request = request,
                     .answer = ret,
                     .err = err,
                     .text = {.limit = HONE_LIMIT_HTTP_ERROR_BYTES},
                     .last_ns = hone_now_ns()};
    if (!request->allow_plain && !hone_http_is_safe_url(request->url)) {
        ret->fault = HONE_HTTP_BAD;
        return hone_fail(err, HONE_E_ARG,
                         "'%.200s' is no https:// address; http:// is spoken to this machine only, "
                         "unless allow_plain_http says so",
                         request->url);
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return hone_fail(err, HONE_E_UNSUPPORTED, "libcurl does not start");
    CURL *easy = curl_easy_init();
    CURLM *multi = curl_multi_init();
    int r = easy && multi ? post(easy, multi, &c) : hone_fail(err, HONE_E_NOMEM, "libcurl");
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    ret->text = c.text.data ? hone_buf_steal(&c.text) : NULL;
    hone_buf_done(&c.text);
    return r;
}

void hone_http_answer_done(struct hone_http_answer *answer)
{
    free(answer->text);
    answer->text = NULL;
}

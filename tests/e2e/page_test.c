/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files over the real program's port: headers, token to cookie, caching, refusals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"
#include "workspace/base/base.h"
#include "workspace/base/file.h"

/* The whole answer, owned. */
static char *get(const struct served *served, const char *method, const char *path,
                 const char *headers)
{
    int fd = tcp_open(served->port);
    HONE_AUTOFREE char *request = hone_sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n",
                                               method, path, served->port, headers);
    ck_assert_int_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    char *text = hone_calloc(1, 1u << 20);
    size_t len = 0;
    ssize_t n;
    while (len < (1u << 20) - 1 && (n = read(fd, text + len, (1u << 20) - 1 - len)) > 0)
        len += (size_t)n;
    close(fd);
    return text;
}

static void check(const char *text, const char *wanted)
{
    ck_assert_msg(strstr(text, wanted) != NULL, "no '%s' in: %.600s", wanted, text);
}

static void start(struct served *served)
{
    served_start(served, (const char *const[]){NULL});
}

static void stop(struct served *served)
{
    ck_assert_int_eq(served_stop(served, SIGTERM), 0);
    served_remove(served);
}

START_TEST(files_have_their_headers)
{
    struct served served = {.pid = 0};
    start(&served);
    HONE_AUTOFREE char *html = get(&served, "GET", "/", "");
    check(html, "HTTP/1.1 200 OK");
    check(html, "Content-Security-Policy: default-src 'self'");
    check(html, "X-Content-Type-Options: nosniff");
    check(html, "<script src=\"/page.js\"");
    ck_assert_ptr_null(strstr(html, "Set-Cookie"));
    HONE_AUTOFREE char *js = get(&served, "GET", "/page.js", "");
    check(js, "Content-Type: text/javascript");
    const char *body = strstr(js, "\r\n\r\n");
    ck_assert_ptr_nonnull(body);
    const char *path = "build/page/page.js"; /* one for all build trees */
    HONE_AUTOFREE char *built = NULL;
    size_t len = 0;
    ck_assert_int_eq(hone_file_read(path, 1u << 20, &built, &len, NULL), 0);
    ck_assert_msg(strcmp(body + 4, built) == 0, "not %s: %.600s", path, js);
    const char *at = strstr(js, "ETag: ");
    ck_assert_ptr_nonnull(at);
    HONE_AUTOFREE char *known = hone_sprintf("If-None-Match: %.18s\r\n", at + 6);
    HONE_AUTOFREE char *again = get(&served, "GET", "/page.js", known);
    check(again, "304 Not Modified");
    ck_assert_str_eq(strstr(again, "\r\n\r\n"), "\r\n\r\n"); /* no body */
    stop(&served);
}
END_TEST

START_TEST(a_token_becomes_a_cookie)
{
    struct served served = {.pid = 0};
    start(&served);
    HONE_AUTOFREE char *path = hone_sprintf("/?token=%s", served.token);
    HONE_AUTOFREE char *answer = get(&served, "GET", path, "");
    check(answer, "303 See Other");
    check(answer, "Location: /\r\n");
    check(answer, "HttpOnly; SameSite=Strict");
    ck_assert_ptr_null(strstr(answer, served.token));
    HONE_AUTOFREE char *name = hone_sprintf("hone-%d=", served.port); /* ports share cookies */
    char *cookie = strstr(answer, name);
    ck_assert_ptr_nonnull(cookie);
    HONE_AUTOFREE char *extra = hone_sprintf("Cookie: %.*s\r\n", (int)strcspn(cookie, ";"), cookie);
    int fd = tcp_open(served.port);
    char *head = ws_upgrade(fd, &served, &(struct ws_head){.extra = extra});
    ck_assert_msg(strstr(head, " 101 ") != NULL, "%s", head);
    free(head);
    close(fd);
    /* nobody's token gets the page and no cookie, and without one nothing is told */
    HONE_AUTOFREE char *wrong = get(&served, "GET", "/?token=0123456789", "");
    check(wrong, "200 OK");
    ck_assert_ptr_null(strstr(wrong, "Set-Cookie"));
    stop(&served);
}
END_TEST

START_TEST(other_requests_are_refused)
{
    static const struct {
        const char *method, *path, *headers, *wanted;
    } rows[] = {
        {"GET", "/page.css/../../etc/passwd", "", " 404 "},
        {"GET", "/favicon.ico", "", " 404 "},
        {"POST", "/", "Content-Length: 0\r\n", " 404 "},
        {"GET", "/", "Origin: https://evil.example\r\n", " 403 "},
    };
    struct served served = {.pid = 0};
    start(&served);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOFREE char *answer = get(&served, rows[i].method, rows[i].path, rows[i].headers);
        ck_assert_msg(strstr(answer, rows[i].wanted) != NULL, "%s %s: %.200s", rows[i].method,
                      rows[i].path, answer);
    }
    stop(&served);
}
END_TEST

UNIT_MAIN("page", files_have_their_headers, a_token_becomes_a_cookie, other_requests_are_refused)

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/auth.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/unit.h"

START_TEST(hosts)
{
    static const struct {
        const char *host;
        bool on_loopback, elsewhere;
    } rows[] = {
        {"127.0.0.1:7411", true, true},
        {"localhost", true, true},
        {"LOCALHOST:1", true, true},
        {"[::1]:7411", true, true},
        {"127.0.0.2", true, true},
        {"evil.example.com", false, false},
        {"localhost.evil", false, false},
        {"127.0.0.1.evil", false, false},
        {"10.1.2.3:80", false, true},
        {"[fd00::1]", false, true},
        {"ui.example.com:443", true, true},
        {"", false, false},
        {NULL, false, false},
        {"localhost,  evil", false, false},
        {"localhost:port", false, false},
        {"user@localhost", false, false},
        {"[::1", false, false},
        {"127.0.0.1:70000", false, false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        const struct hone_access loopback = {.is_loopback = true,
                                             .allowed_hosts = "a.b, ui.example.com"};
        const struct hone_access open = {.is_loopback = false, .allowed_hosts = "ui.example.com"};
        ck_assert_msg(hone_access_host(&loopback, rows[i].host) == rows[i].on_loopback,
                      "loopback, row %zu", i);
        ck_assert_msg(hone_access_host(&open, rows[i].host) == rows[i].elsewhere,
                      "elsewhere, row %zu", i);
    }
}
END_TEST

START_TEST(origins)
{
    static const struct {
        const char *origin, *host;
        bool is_good;
    } rows[] = {
        {NULL, "localhost:1", true},
        {"http://localhost:1", "localhost:1", true},
        {"https://localhost:1", "localhost:1", true},
        {"http://localhost:2", "localhost:1", false},
        {"http://localhost", "localhost:1", false},
        {"null", "localhost:1", false},
        {"", "localhost:1", false},
        {"file://localhost:1", "localhost:1", false},
        {"http://evil.example.com", "localhost:1", false},
        {"https://ui.example.com", "localhost:1", true},
        {"https://ui.example.com.evil", "localhost:1", false},
        {"http://localhost:1", NULL, false},
    };
    const struct hone_access access = {.is_loopback = true,
                                       .allowed_origins = "https://ui.example.com"};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_msg(hone_access_origin(&access, rows[i].origin, rows[i].host) == rows[i].is_good,
                      "row %zu", i);
}
END_TEST

START_TEST(tokens)
{
    ck_assert_str_eq(hone_auth_bearer("Bearer  abc"), "abc");
    ck_assert_str_eq(hone_auth_bearer("bearer abc"), "abc");
    ck_assert_ptr_null(hone_auth_bearer("Basic abc"));
    ck_assert_ptr_null(hone_auth_bearer(NULL));
    HONE_AUTOFREE char *token = hone_auth_bearer_protocol("mcp, bearer.xyz");
    ck_assert_str_eq(token, "xyz");
    ck_assert_ptr_null(hone_auth_bearer_protocol("mcp, bearer."));
    ck_assert_ptr_null(hone_auth_bearer_protocol("mcp"));
    ck_assert_ptr_null(hone_auth_bearer_protocol(NULL));
    ck_assert(hone_auth_offers("bearer.x , mcp", "mcp"));
    ck_assert(!hone_auth_offers("mcp2", "mcp"));
    ck_assert(!hone_auth_offers(NULL, "mcp"));
}
END_TEST

START_TEST(token_files)
{
    char dir[] = "/tmp/hone-auth.XXXXXX", path[64], link[64];
    struct hone_err err = HONE_ERR_INIT;
    struct stat st;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/token", dir);
    snprintf(link, sizeof(link), "%s/link", dir);
    HONE_AUTOFREE char *first = NULL;
    HONE_AUTOFREE char *second = NULL;
    HONE_AUTOFREE char *none = NULL;
    ck_assert_int_eq(hone_token_load(path, false, &none, &err), HONE_E_NOT_FOUND);
    ck_assert_int_eq(hone_token_load(path, true, &first, &err), 0);
    ck_assert_int_eq(hone_token_load(path, true, &second, &err), 0);
    ck_assert_str_eq(first, second);
    ck_assert_uint_eq(strlen(first), 64);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq((int)(st.st_mode & 0777), 0600);
    ck_assert_int_eq(symlink(path, link), 0);
    ck_assert_int_eq(hone_token_load(link, true, &none, &err), HONE_E_AUTH);
    chmod(path, 0640);
    ck_assert_int_eq(hone_token_load(path, true, &none, &err), HONE_E_AUTH);
    ck_assert_ptr_nonnull(strstr(err.message, "chmod 600"));
    chmod(path, 0600);
    ck_assert_int_eq(truncate(path, 3), 0);
    ck_assert_int_eq(hone_token_load(path, true, &none, &err), HONE_E_AUTH);
    unlink(link);
    unlink(path);
    rmdir(dir);
}
END_TEST

START_TEST(addresses)
{
    static const struct {
        const char *text, *host;
        int port;
        bool is_loopback;
    } rows[] = {
        {"127.0.0.1:7411", "127.0.0.1", 7411, true},
        {"127.9.9.9", "127.9.9.9", -1, true},
        {"localhost:0", "localhost", 0, true},
        {"[::1]:7411", "::1", 7411, true},
        {"[::1]", "::1", -1, true},
        {"0.0.0.0:1", "0.0.0.0", 1, false},
        {"128.0.0.1:1", "128.0.0.1", 1, false},
        {"[::]:1", "::", 1, false},
        {"localhost.evil:1", "localhost.evil", 1, false},
        {"127.0.0.1.evil:1", "127.0.0.1.evil", 1, false},
        {"example.com:65535", "example.com", 65535, false},
        {.text = ""},
        {.text = ":7411"},
        {.text = "host:"},
        {.text = "host:65536"},
        {.text = "host:-1"},
        {.text = "host:1x"},
        {.text = "host:1:2"},
        {.text = "::1"},
        {.text = "[::1"},
        {.text = "[::1]7411"},
        {.text = "[]:1"},
        {.text = "user@host:1"},
        {.text = "host/path:1"},
        {.text = "two hosts:1"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOFREE char *host = NULL;
        int port = -2;
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_split_address(rows[i].text, &host, &port, &err);
        ck_assert_msg(rc == (rows[i].host != NULL ? 0 : HONE_E_ARG), "'%s': %d", rows[i].text, rc);
        if (rc < 0)
            continue;
        ck_assert_str_eq(host, rows[i].host);
        ck_assert_msg(port == rows[i].port, "'%s': %d", rows[i].text, port);
        ck_assert_msg(hone_is_loopback(host) == rows[i].is_loopback, "'%s'", rows[i].text);
    }
    char longest[300];
    for (size_t len = 255; len <= 256; len++) {
        HONE_AUTOFREE char *host = NULL;
        int port;
        struct hone_err err = HONE_ERR_INIT;
        memset(longest, 'h', len);
        longest[len] = '\0';
        ck_assert_int_eq(hone_split_address(longest, &host, &port, &err),
                         len == 255 ? 0 : HONE_E_ARG);
    }
}
END_TEST

UNIT_MAIN("auth", hosts, origins, tokens, token_files, addresses)

/* SPDX-License-Identifier: Apache-2.0 */
/* Named tokens: the file, who is let in, limits, cookies, and the audit log. */
#include "server/access/clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "server/access/audit.h"
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct place {
    char dir[64], file[80];
};

static void place_make(struct place *place)
{
    strcpy(place->dir, "/tmp/hone-clients.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(place->dir));
    snprintf(place->file, sizeof(place->file), "%s/tokens", place->dir);
}

static void place_remove(const struct place *place)
{
    ck_assert_int_eq(hone_remove_tree(place->dir, NULL), 0);
}

static char *add(const struct place *place, const char *name, enum hone_access_role role,
                 int64_t rate, int64_t calls)
{
    struct hone_grant grant = {.role = role, .rate = rate, .calls = calls};
    struct hone_err err = HONE_ERR_INIT;
    char *token = NULL;
    snprintf(grant.name, sizeof(grant.name), "%s", name);
    ck_assert_msg(hone_grant_add(place->file, &grant, &token, &err) == 0, "%s", err.message);
    return token;
}

START_TEST(tokens_are_added_and_removed)
{
    struct place place;
    struct hone_err err = HONE_ERR_INIT;
    place_make(&place);
    HONE_AUTOFREE char *viewer = add(&place, "v", HONE_ACCESS_VIEWER, -1, -1);
    HONE_AUTOFREE char *agent = add(&place, "a.b_c-d", HONE_ACCESS_AGENT, 7, 0);
    ck_assert_uint_eq(strlen(viewer), 64);
    struct stat st;
    ck_assert_int_eq(stat(place.file, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    ck_assert_int_eq(hone_file_read(place.file, 10000, &text, &len, NULL), 0);
    ck_assert_ptr_null(strstr(text, viewer)); /* hashes alone */
    struct hone_grant bad = {.name = "v", .role = HONE_ACCESS_AGENT};
    char *token = NULL;
    ck_assert_int_eq(hone_grant_add(place.file, &bad, &token, &err), HONE_E_EXISTS);
    strcpy(bad.name, "owner");
    ck_assert_int_eq(hone_grant_add(place.file, &bad, &token, &err), HONE_E_ARG);
    strcpy(bad.name, "a b");
    ck_assert_int_eq(hone_grant_add(place.file, &bad, &token, &err), HONE_E_ARG);
    struct hone_grants grants;
    ck_assert_int_eq(hone_grants_load(place.file, &grants, &err), 0);
    ck_assert_uint_eq(grants.n, 2);
    ck_assert_int_gt(grants.rows[0].rate, 0);
    ck_assert_int_eq(grants.rows[1].rate, 7);
    ck_assert_int_eq(hone_grant_remove(place.file, "v", &err), 0);
    ck_assert_int_eq(hone_grant_remove(place.file, "v", &err), HONE_E_NOT_FOUND);
    ck_assert_int_eq(hone_grants_load(place.file, &grants, &err), 0);
    ck_assert_uint_eq(grants.n, 1);
    ck_assert_str_eq(grants.rows[0].name, "a.b_c-d");
    place_remove(&place);
}
END_TEST

START_TEST(the_table_is_bounded)
{
    struct place place;
    struct hone_err err = HONE_ERR_INIT;
    char name[HONE_LIMIT_CLIENT_NAME_BYTES + 1];
    place_make(&place);
    for (int i = 0; i < HONE_LIMIT_ACCESS_TOKENS; i++) {
        memset(name, 'n', sizeof(name) - 1); /* names of the longest form */
        name[sizeof(name) - 1] = '\0';
        snprintf(name, 4, "%03d", i);
        name[3] = 'n';
        free(add(&place, name, HONE_ACCESS_OWNER, 1000000, 1000000));
    }
    struct hone_grant more = {.name = "more"};
    char *token = NULL;
    ck_assert_int_eq(hone_grant_add(place.file, &more, &token, &err), HONE_E_LIMIT);
    place_remove(&place);
}
END_TEST

START_TEST(bad_files_let_nobody_in)
{
    static const char *const rows[] = {
        "x agent 1 1 abc\n", "x king 1 1 ", "x agent -1 1 ", "../x agent 1 1 ", "x agent 1\n", "\n",
    };
    struct place place;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_grants grants;
    place_make(&place);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char text[200], hash[HONE_HASH_TEXT_BYTES];
        hone_hash("secret", 6, hash);
        bool is_open = rows[i][strlen(rows[i]) - 1] != '\n';
        snprintf(text, sizeof(text), "%s%s", rows[i], is_open ? hash : "");
        ck_assert_int_eq(hone_file_write(place.file, text, strlen(text), 0600, false, &err), 0);
        ck_assert_msg(hone_grants_load(place.file, &grants, &err) == HONE_E_CORRUPT, "row %zu", i);
        struct hone_clients *clients = hone_clients_new(place.file, "own-token");
        ck_assert_ptr_null(hone_clients_find(clients, "secret"));
        ck_assert_ptr_nonnull(hone_clients_find(clients, "own-token"));
        hone_clients_free(clients);
    }
    place_remove(&place);
}
END_TEST

START_TEST(others_must_not_read_the_file)
{
    struct place place;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_grants grants;
    place_make(&place);
    HONE_AUTOFREE char *token = add(&place, "x", HONE_ACCESS_AGENT, 0, 0);
    ck_assert_int_eq(chmod(place.file, 0640), 0);
    ck_assert_int_eq(hone_grants_load(place.file, &grants, &err), HONE_E_AUTH);
    struct hone_clients *clients = hone_clients_new(place.file, "own-token");
    ck_assert_ptr_null(hone_clients_find(clients, token));
    hone_clients_free(clients);
    place_remove(&place);
}
END_TEST

START_TEST(a_removed_token_ends)
{
    struct place place;
    struct hone_err err = HONE_ERR_INIT;
    char cookie[HONE_COOKIE_BYTES], header[200];
    place_make(&place);
    struct hone_clients *clients = hone_clients_new(place.file, "own-token");
    HONE_AUTOFREE char *token = add(&place, "x", HONE_ACCESS_VIEWER, 0, 0);
    struct hone_client *client = hone_clients_find(clients, token);
    ck_assert_ptr_nonnull(client);
    ck_assert_str_eq(hone_client_name(client), "x");
    ck_assert_int_eq(hone_client_role(client), HONE_ACCESS_VIEWER);
    ck_assert_int_eq(hone_client_request(client, 1, &err), 0);
    hone_clients_cookie(clients, client, 1, cookie);
    snprintf(header, sizeof(header), "a=1; hone-7412=00; hone-7411=%s; b=2", cookie);
    ck_assert_ptr_eq(hone_clients_by_cookie(clients, 7411, header, 2), client);
    ck_assert_int_eq(hone_grant_remove(place.file, "x", &err), 0);
    hone_clients_refresh(clients);
    ck_assert(hone_client_is_removed(client));
    ck_assert_ptr_null(hone_clients_find(clients, token));
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, header, 3));
    ck_assert_int_eq(hone_client_request(client, 2, &err), HONE_E_AUTH);
    HONE_AUTOFREE char *again = add(&place, "x", HONE_ACCESS_OWNER, 0, 0); /* a new one's holder */
    ck_assert_ptr_ne(hone_clients_find(clients, again), client);
    ck_assert(hone_client_is_removed(client));
    ck_assert_int_eq(unlink(place.file), 0);
    ck_assert_ptr_null(hone_clients_find(clients, again));
    ck_assert_ptr_nonnull(hone_clients_find(clients, "own-token"));
    hone_clients_free(clients);
    place_remove(&place);
}
END_TEST

START_TEST(requests_have_a_rate_and_calls_a_number)
{
    struct place place;
    struct hone_err err = HONE_ERR_INIT;
    place_make(&place);
    HONE_AUTOFREE char *token = add(&place, "x", HONE_ACCESS_AGENT, 5, 2);
    struct hone_clients *clients = hone_clients_new(place.file, "own-token");
    struct hone_client *client = hone_clients_find(clients, token);
    int n = 0;
    while (hone_client_request(client, HONE_NS_PER_S, &err) == 0)
        n++;
    ck_assert_int_eq(n, 20); /* four seconds' worth at once */
    ck_assert_int_eq(err.code, HONE_E_BUSY);
    ck_assert_int_eq(hone_client_request(client, HONE_NS_PER_S + HONE_NS_PER_S / 5, &err), 0);
    ck_assert_int_eq(hone_client_request(client, HONE_NS_PER_S + HONE_NS_PER_S / 5, &err),
                     HONE_E_BUSY);
    ck_assert_int_eq(hone_client_begin(client, &err), 0);
    ck_assert_int_eq(hone_client_begin(client, &err), 0);
    ck_assert_int_eq(hone_client_begin(client, &err), HONE_E_BUSY);
    hone_client_end(client);
    ck_assert_int_eq(hone_client_begin(client, &err), 0);
    struct hone_client *own = hone_clients_find(clients, "own-token");
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(hone_client_request(own, 1, &err), 0);
    hone_clients_free(clients);
    place_remove(&place);
}
END_TEST

START_TEST(cookies_are_bounded_and_grow_old)
{
    static const int64_t hour = 3600ll * HONE_NS_PER_S;
    struct place place;
    char first[HONE_COOKIE_BYTES], cookie[HONE_COOKIE_BYTES], header[100], last[100];
    place_make(&place);
    struct hone_clients *clients = hone_clients_new(place.file, "own-token");
    struct hone_client *own = hone_clients_find(clients, "own-token");
    hone_clients_cookie(clients, own, 1, first);
    snprintf(header, sizeof(header), "hone-7411=%s", first);
    ck_assert_ptr_eq(hone_clients_by_cookie(clients, 7411, header, 11 * hour), own);
    ck_assert_ptr_eq(hone_clients_by_cookie(clients, 7411, header, 22 * hour), own);
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, header, 35 * hour));
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, header, 36 * hour));
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, NULL, 1));
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 741, header, 1));
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, "hone-7411=", 1));
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, ";;; ;hone", 1));
    hone_clients_cookie(clients, own, 100, first);
    snprintf(header, sizeof(header), "hone-7411=%s", first);
    for (int i = 1; i <= HONE_LIMIT_COOKIES; i++)
        hone_clients_cookie(clients, own, 100 + i, cookie);
    snprintf(last, sizeof(last), "hone-7411=%s", cookie);
    ck_assert_ptr_null(hone_clients_by_cookie(clients, 7411, header, 1000));
    ck_assert_ptr_eq(hone_clients_by_cookie(clients, 7411, last, 1000), own);
    hone_clients_free(clients);
    place_remove(&place);
}
END_TEST

START_TEST(one_client_cannot_take_the_cookies_of_others)
{
    struct place place;
    char first[HONE_COOKIE_BYTES], cookie[HONE_COOKIE_BYTES], header[100];
    place_make(&place);
    HONE_AUTOFREE char *token = add(&place, "x", HONE_ACCESS_VIEWER, 0, 0);
    struct hone_clients *clients = hone_clients_new(place.file, "own-token");
    struct hone_client *own = hone_clients_find(clients, "own-token"),
                       *viewer = hone_clients_find(clients, token);
    hone_clients_cookie(clients, own, 1, first);
    snprintf(header, sizeof(header), "hone-7411=%s", first);
    for (int i = 2; i <= 3 * HONE_LIMIT_COOKIES; i++)
        hone_clients_cookie(clients, viewer, i, cookie);
    ck_assert_ptr_eq(hone_clients_by_cookie(clients, 7411, header, 1000), own);
    snprintf(header, sizeof(header), "hone-7411=%s", cookie);
    ck_assert_ptr_eq(hone_clients_by_cookie(clients, 7411, header, 1000), viewer);
    hone_clients_free(clients);
    place_remove(&place);
}
END_TEST

START_TEST(the_audit_log_has_a_cap)
{
    enum { CAP = 2000 };
    struct place place;
    char path[100], old[110];
    struct stat st;
    place_make(&place);
    snprintf(path, sizeof(path), "%s/audit.log", place.dir);
    snprintf(old, sizeof(old), "%s.1", path);
    struct hone_audit *audit = hone_audit_new(path, CAP), *other = hone_audit_new(path, CAP);
    HONE_AUTOJSON struct hone_json *answer = hone_json_new_object();
    hone_json_set_str(answer, "commit", "abc");
    hone_json_set_str(answer, "source", "int secret;");
    for (int i = 0; i < 100; i++) {
        const struct hone_audit_call call = {.program = "p\n\"x",
                                             .tool = "kernel_run",
                                             .outcome = "ok",
                                             .answer = answer,
                                             .wall_ms = i};
        hone_audit_call(i % 2 ? audit : other, &call);
    }
    hone_audit_refusal(audit, 401, "no token");
    hone_audit_refusal(audit, 401, "no token");
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    ck_assert_int_eq(hone_file_read(path, 10 * CAP, &text, &len, NULL), 0);
    ck_assert_uint_lt(len, CAP + 400);
    ck_assert_ptr_nonnull(strstr(text, "\"commit\":\"abc\""));
    ck_assert_ptr_null(strstr(text, "secret"));
    const char *refused = strstr(text, "\"refused\"");
    ck_assert_ptr_nonnull(refused);
    ck_assert_ptr_null(strstr(refused + 1, "\"refused\"")); /* one a second */
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        HONE_AUTOJSON struct hone_json *row = NULL;
        ck_assert_int_eq(hone_json_parse(line, (size_t)(end - line), &row, NULL), 0);
    }
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_int_eq(stat(old, &st), 0);
    ck_assert_int_lt(st.st_size, CAP + 400);
    hone_audit_free(audit);
    hone_audit_free(other);
    place_remove(&place);
}
END_TEST

UNIT_MAIN("clients", tokens_are_added_and_removed, the_table_is_bounded, bad_files_let_nobody_in,
          others_must_not_read_the_file, a_removed_token_ends,
          requests_have_a_rate_and_calls_a_number, cookies_are_bounded_and_grow_old,
          one_client_cannot_take_the_cookies_of_others, the_audit_log_has_a_cap)

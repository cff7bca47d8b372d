/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration, keys, the command and replay providers, the event parser, prices. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/model/http.h"
#include "agents/model/model.h"
#include "agents/model/secret.h"
#include "agents/model/sse.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct fixture {
    char dir[32];
    struct hone_pool *pool;
    struct hone_config config;
    struct hone_model *model;
    struct hone_err err;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.dir = "/tmp/hone-model-XXXXXX", .pool = hone_pool_new()};
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
}

static void close_fixture(struct fixture *f)
{
    hone_model_free(f->model);
    hone_pool_free(f->pool);
    hone_remove_tree(f->dir, NULL);
}

static char *in_dir(struct fixture *f, const char *name)
{
    return hone_pool_printf(f->pool, "%s/%s", f->dir, name);
}

static void put(struct fixture *f, const char *name, const char *text, unsigned mode)
{
    ck_assert_int_eq(hone_file_write(in_dir(f, name), text, strlen(text), mode, false, &f->err), 0);
}

static int configure(struct fixture *f, const char *text)
{
    f->config = (struct hone_config){.model = NULL};
    f->err = (struct hone_err)HONE_ERR_INIT;
    return hone_config_parse("c", text, strlen(text), f->pool, &f->config, &f->err);
}

static const struct hone_model_message hello = {"user", "Say hello."};

static struct hone_model_request a_request(void)
{
    static const char *const stable[] = {"system"};
    return (struct hone_model_request){.stable = stable,
                                       .n_stable = 1,
                                       .messages = &hello,
                                       .n_messages = 1,
                                       .max_tokens = 100,
                                       .temperature = -1,
                                       .deadline_ns = hone_deadline_in_ms(10000)};
}

START_TEST(configuration_is_checked)
{
    static const struct {
        const char *text, *path, *message;
    } rows[] = {
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"none\"}]}", "models[0].provider", "openai"},
        {"{\"models\":[{\"name\":\"a\"}]}", "provider", ""},
        {"{\"models\":[{\"name\":\"../a\",\"provider\":\"openai\"}]}", "models[0].name", "letters"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"command\"}]}", "models[0].command", "list"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"command\":[\"x\"]}]}",
         "models[0].command", "only"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"replay\"}]}", "models[0].file", "file"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"command\",\"command\":[\"x\"],\"key_env\":"
         "\"K\"}]}",
         "models[0].url", "neither"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"key_env\":\"K\",\"key_file\":"
         "\"k\"}]}",
         "models[0].key_env", "not both"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\"},{\"name\":\"a\",\"provider\":"
         "\"openai\"}]}",
         "models[1].name", "two models"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"fallback\":\"a\"}]}",
         "models[0].fallback", "itself"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"key_env\":\"SECRET\"},{\"name\":"
         "\"b\",\"provider\":\"command\",\"command\":[\"x\"],\"pass_env\":[\"SECRET\"]}]}",
         "pass_env", "holds the key"},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"price_in\":-1}]}", "price_in", ""},
        {"{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"tries\":11}]}", "tries", ""},
        {"{\"modles\":[]}", "modles", ""},
        {"{\"models\":", "c", ""},
    };
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        ck_assert_msg(configure(&f, rows[i].text) < 0, "%s", rows[i].text);
        ck_assert_msg(strstr(f.err.path, rows[i].path) != NULL, "%s: %s", rows[i].text, f.err.path);
        ck_assert_msg(strstr(f.err.message, rows[i].message) != NULL, "%s: %s", rows[i].text,
                      f.err.message);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(too_many_models_are_refused)
{
    struct fixture f;
    open_fixture(&f);
    for (int n = HONE_LIMIT_MODELS; n <= HONE_LIMIT_MODELS + 1; n++) {
        struct hone_buf text = HONE_BUF_INIT;
        hone_buf_str(&text, "{\"models\":[");
        for (int i = 0; i < n; i++)
            hone_buf_printf(&text, "%s{\"name\":\"m%d\",\"provider\":\"openai\"}", i ? "," : "", i);
        hone_buf_str(&text, "]}");
        ck_assert_int_eq(configure(&f, text.data), n > HONE_LIMIT_MODELS ? HONE_E_LIMIT : 0);
        hone_buf_done(&text);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(the_workspace_wins_over_the_user)
{
    struct fixture f;
    const struct hone_model_config *m;
    open_fixture(&f);
    ck_assert_int_eq(mkdir(in_dir(&f, "hone"), 0700), 0);
    put(&f, "hone/config.json",
        "{\"model\":\"a\",\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"tries\":1},"
        "{\"name\":\"b\",\"provider\":\"anthropic\"}]}",
        0600);
    put(&f, "hone.json",
        "{\"format\":1,\"created\":\"x\",\"models\":[{\"name\":\"a\",\"provider\":\"openai\","
        "\"tries\":7}]}",
        0644);
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", f.dir, 1), 0);
    ck_assert_msg(hone_config_load(f.dir, f.pool, &f.config, &f.err) == 0, "%s", f.err.message);
    ck_assert_uint_eq(f.config.models.n, 2);
    ck_assert_int_eq(hone_config_model(&f.config, NULL, &m, &f.err), 0);
    ck_assert_str_eq(m->name, "a");
    ck_assert_int_eq(m->tries, 7);
    ck_assert_int_eq(hone_config_model(&f.config, "c", &m, &f.err), HONE_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(f.err.message, "b, a"));
    ck_assert_int_eq(chmod(in_dir(&f, "hone.json"), 0666), 0);
    ck_assert_int_eq(hone_config_load(f.dir, f.pool, &f.config, &f.err), HONE_E_AUTH);
    ck_assert_int_eq(unlink(in_dir(&f, "hone.json")), 0);
    ck_assert_int_eq(unlink(in_dir(&f, "hone/config.json")), 0);
    ck_assert_int_eq(hone_config_load(f.dir, f.pool, &f.config, &f.err), 0);
    ck_assert_uint_eq(f.config.models.n, 0);
    close_fixture(&f);
}
END_TEST

START_TEST(keys_are_kept)
{
    struct fixture f;
    struct hone_secret s = HONE_SECRET_INIT;
    open_fixture(&f);
    put(&f, "key", " sk-1234567890 \n", 0600);
    struct rlimit core;
    ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
    core.rlim_cur = core.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_CORE, &core), 0);
    ck_assert_msg(hone_secret_load(NULL, in_dir(&f, "key"), &s, &f.err) == 0, "%s", f.err.message);
    ck_assert_str_eq(hone_secret_reveal(&s), "sk-1234567890");
    ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
    ck_assert_uint_eq(core.rlim_cur, 0); /* no core file with a key in it */
    char text[] = "a sk-1234567890 b sk-1234567890";
    hone_secret_redact(&s, text);
    ck_assert_str_eq(text, "a ************* b *************");
    hone_secret_done(&s);
    ck_assert(!hone_secret_is_set(&s));
    ck_assert_int_eq(chmod(in_dir(&f, "key"), 0640), 0);
    ck_assert_int_eq(hone_secret_load(NULL, in_dir(&f, "key"), &s, &f.err), HONE_E_AUTH);
    put(&f, "empty", "\n", 0600);
    ck_assert_int_eq(hone_secret_load(NULL, in_dir(&f, "empty"), &s, &f.err), HONE_E_NOT_FOUND);
    put(&f, "two", "a\nb", 0600);
    ck_assert_int_eq(hone_secret_load(NULL, in_dir(&f, "two"), &s, &f.err), HONE_E_ARG);
    HONE_AUTOFREE char *large = hone_malloc(HONE_LIMIT_KEY_BYTES + 2);
    memset(large, 'k', HONE_LIMIT_KEY_BYTES + 1);
    large[HONE_LIMIT_KEY_BYTES + 1] = '\0';
    put(&f, "large", large, 0600);
    ck_assert_int_eq(hone_secret_load(NULL, in_dir(&f, "large"), &s, &f.err), HONE_E_LIMIT);
    large[HONE_LIMIT_KEY_BYTES] = '\0';
    put(&f, "large", large, 0600);
    ck_assert_int_eq(hone_secret_load(NULL, in_dir(&f, "large"), &s, &f.err), 0);
    hone_secret_done(&s);
    unsetenv("HONE_TEST_NO_KEY");
    ck_assert_int_eq(hone_secret_load("HONE_TEST_NO_KEY", NULL, &s, &f.err), HONE_E_NOT_FOUND);
    close_fixture(&f);
}
END_TEST

START_TEST(a_key_goes_nowhere_in_clear)
{
    static const struct {
        const char *url;
        bool is_safe;
    } rows[] = {
        {"https://api.example.com/v1", true},  {"http://127.0.0.1:8000/v1", true},
        {"http://localhost/v1", true},         {"http://[::1]:80/v1", true},
        {"http://10.0.0.5:8000/v1", false},    {"http://localhost.evil.com/", false},
        {"http://127.0.0.1@evil.com/", false}, {"http://localhost:80@evil.com/", false},
        {"ftp://localhost/", false},           {"localhost:80", false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_msg(hone_http_is_safe_url(rows[i].url) == rows[i].is_safe, "%s", rows[i].url);
    struct fixture f;
    open_fixture(&f);
    setenv("HONE_TEST_KEY", "sk-abc", 1);
    ck_assert_int_eq(configure(&f, "{\"models\":[{\"name\":\"m\",\"provider\":\"openai\",\"url\":"
                                   "\"http://10.0.0.5/v1\",\"key_env\":\"HONE_TEST_KEY\"}]}"),
                     0);
    ck_assert_int_eq(hone_model_open(&f.config, NULL, &f.model, &f.err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(f.err.message, "in clear"));
    close_fixture(&f);
}
END_TEST

START_TEST(retry_after)
{
    int64_t now = 1795300000000; /* 2026-11-21 22:26:40 UTC */
    ck_assert_int_eq(hone_http_retry_after("3", now), 3000);
    ck_assert_int_eq(hone_http_retry_after(" 0.5 ", now), 500);
    ck_assert_int_eq(hone_http_retry_after("1e300", now), 86400000);
    ck_assert_int_eq(hone_http_retry_after("soon", now), -1);
    ck_assert_int_eq(hone_http_retry_after("3 apples", now), -1);
    ck_assert_int_eq(hone_http_retry_after("-3", now), -1);
    ck_assert_int_eq(hone_http_retry_after("Sat, 21 Nov 2026 22:27:00 GMT", now), 20000);
    ck_assert_int_eq(hone_http_retry_after("Sat, 21 Nov 2020 22:27:00 GMT", now), 0);
}
END_TEST

/* ---- command ---- */

static int run_command(struct fixture *f, const char *script, const char *more, int64_t ms,
                       struct hone_model_answer *ret)
{
    put(f, "model.sh", script, 0700);
    hone_model_free(f->model);
    f->model = NULL;
    const char *config = hone_pool_printf(f->pool,
                                          "{\"models\":[{\"name\":\"m\",\"provider\":\"command\","
                                          "\"tries\":1,\"command\":[\"/bin/sh\","
                                          "\"%s\",\"one\"]%s}]}",
                                          in_dir(f, "model.sh"), more);
    ck_assert_msg(configure(f, config) == 0, "%s", f->err.message);
    ck_assert_msg(hone_model_open(&f->config, NULL, &f->model, &f->err) == 0, "%s", f->err.message);
    struct hone_model_request q = a_request();
    q.deadline_ns = hone_deadline_in_ms(ms);
    return hone_model_ask(f->model, &q, f->pool, ret, &f->err);
}

static const char *fault(const struct fixture *f)
{
    return hone_model_faults[hone_model_fault_of(&f->err)].name;
}

START_TEST(a_command_answers)
{
    struct fixture f;
    struct hone_model_answer a;
    open_fixture(&f);
    setenv("HONE_TEST_KEY", "sk-abc", 1);
    setenv("HONE_TEST_OTHER", "other", 1);
    ck_assert_msg(run_command(&f, "cat; echo \"$1 [$HONE_TEST_KEY] [$HONE_TEST_OTHER]\"",
                              ",\"pass_env\":[\"HONE_TEST_OTHER\"]", 10000, &a) == 0,
                  "%s", f.err.message);
    ck_assert_str_eq(a.text, "system\n\nSay hello.\n\none [] [other]\n");
    ck_assert(a.is_estimated && a.tokens_in > 0 && a.tokens_out > 0);
    ck_assert(isnan(a.cost));
    ck_assert_msg(run_command(&f, "echo hi", ",\"price_in\":0,\"price_out\":1000000", 10000, &a) ==
                      0,
                  "%s", f.err.message);
    ck_assert_double_eq(a.cost, (double)a.tokens_out);
    /* as much as it may, three bytes for each token that is reserved */
    ck_assert_msg(run_command(&f, "head -c 300 /dev/zero | tr '\\0' y", "", 10000, &a) == 0, "%s",
                  f.err.message);
    ck_assert_int_le(a.tokens_out, 101);
    close_fixture(&f);
}
END_TEST

START_TEST(a_command_fails_in_many_ways)
{
    static const struct {
        const char *script, *want, *message;
        int64_t ms;
    } rows[] = {
        {"echo no luck >&2; exit 3", "command_failed", "status 3: no luck", 10000},
        {"kill -9 $$", "command_failed", "signal 9", 10000},
        {"true", "empty", "nothing", 10000},
        {"printf '\\377'", "malformed", "UTF-8", 10000},
        {"sleep 30 & sleep 30", "timeout", "time limit", 300},
        {"head -c 3000000 /dev/zero | tr '\\0' y", "answer_too_large", "", 10000},
        {"head -c 301 /dev/zero | tr '\\0' y", "answer_too_large", "more than 300 bytes", 10000},
        {"while :; do echo yes; done", "answer_too_large", "more than 300 bytes", 600000},
    };
    struct fixture f;
    struct hone_model_answer a;
    open_fixture(&f);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        int64_t begin = hone_now_ns();
        ck_assert_int_lt(run_command(&f, rows[i].script, "", rows[i].ms, &a), 0);
        ck_assert_msg(strcmp(fault(&f), rows[i].want) == 0, "%s: %s", rows[i].script,
                      f.err.message);
        ck_assert_msg(strstr(f.err.message, rows[i].message) != NULL, "%s", f.err.message);
        ck_assert_int_lt((hone_now_ns() - begin) / HONE_NS_PER_MS, 8000);
    }
    ck_assert_int_eq(configure(&f,
                               "{\"models\":[{\"name\":\"m\",\"provider\":\"command\",\"tries\":"
                               "1,\"command\":[\"/nowhere/at/all\"]}]}"),
                     0);
    hone_model_free(f.model);
    ck_assert_int_eq(hone_model_open(&f.config, NULL, &f.model, &f.err), 0);
    const struct hone_model_request q = a_request();
    ck_assert_int_lt(hone_model_ask(f.model, &q, f.pool, &a, &f.err), 0);
    ck_assert_str_eq(fault(&f), "command_failed");
    close_fixture(&f);
}
END_TEST

/* ---- replay ---- */

START_TEST(recorded_answers_come_in_order)
{
    struct fixture f;
    struct hone_model_answer a;
    char hash[HONE_HASH_TEXT_BYTES];
    open_fixture(&f);
    const struct hone_model_request q = a_request();
    hone_model_request_hash(&q, hash);
    put(&f, "r.jsonl",
        hone_pool_printf(f.pool,
                         "{\"request\":\"%s\",\"text\":\"one\",\"tokens_in\":5,\"cost\":0.25}\n"
                         "{\"request\":\"%064d\",\"text\":\"other\"}\n\n"
                         "{\"request\":\"%s\",\"fault\":\"overloaded\",\"message\":\"busy\"}\n"
                         "{\"request\":\"%s\",\"text\":\"two\"}\n",
                         hash, 0, hash, hash),
        0600);
    ck_assert_int_eq(
        configure(&f, hone_pool_printf(f.pool,
                                       "{\"models\":[{\"name\":\"m\",\"provider\":\"replay\","
                                       "\"tries\":1,\"file\":\"%s\"}]}",
                                       in_dir(&f, "r.jsonl"))),
        0);
    ck_assert_msg(hone_model_open(&f.config, NULL, &f.model, &f.err) == 0, "%s", f.err.message);
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), 0);
    ck_assert_str_eq(a.text, "one");
    ck_assert_double_eq(a.cost, 0.25);
    ck_assert_int_lt(hone_model_ask(f.model, &q, f.pool, &a, &f.err), 0);
    ck_assert_str_eq(fault(&f), "overloaded");
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), 0);
    ck_assert_str_eq(a.text, "two");
    ck_assert(isnan(a.cost));
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), HONE_E_NOT_FOUND);
    ck_assert_str_eq(fault(&f), "not_recorded");
    put(&f, "r.jsonl", "{\"request\":\"00\"}\n", 0600);
    hone_model_free(f.model);
    f.model = NULL;
    ck_assert_int_eq(hone_model_open(&f.config, NULL, &f.model, &f.err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(f.err.message, "line 1"));
    close_fixture(&f);
}
END_TEST

START_TEST(requests_differ_by_what_is_asked)
{
    char a[HONE_HASH_TEXT_BYTES], b[HONE_HASH_TEXT_BYTES];
    struct hone_model_request q = a_request();
    hone_model_request_hash(&q, a);
    q.deadline_ns++;
    hone_model_request_hash(&q, b);
    ck_assert_str_eq(a, b);
    q.max_tokens++;
    hone_model_request_hash(&q, b);
    ck_assert_str_ne(a, b);
    q.max_tokens--;
    q.temperature = 0;
    hone_model_request_hash(&q, b);
    ck_assert_str_ne(a, b);
}
END_TEST

START_TEST(bad_requests_are_not_sent)
{
    struct fixture f;
    struct hone_model_answer a;
    open_fixture(&f);
    ck_assert_int_eq(run_command(&f, "echo x", "", 10000, &a), 0);
    struct hone_model_request q = a_request();
    q.max_tokens = 0;
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), HONE_E_ARG);
    q = a_request();
    q.n_messages = 0;
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), HONE_E_ARG);
    HONE_AUTOFREE char *large = hone_malloc(HONE_LIMIT_PROMPT_BYTES + 1);
    memset(large, 'x', HONE_LIMIT_PROMPT_BYTES);
    large[HONE_LIMIT_PROMPT_BYTES] = '\0';
    const struct hone_model_message big = {"user", large};
    q = a_request();
    q.messages = &big; /* the system part is one too many */
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), HONE_E_LIMIT);
    q.n_stable = 0;
    ck_assert_int_eq(hone_model_ask(f.model, &q, f.pool, &a, &f.err), 0);
    close_fixture(&f);
}
END_TEST

/* ---- prices ---- */

START_TEST(prices_are_known_or_not)
{
    static const struct {
        const char *text;
        double cost; /* of 100 tokens out, about; < 0: not known */
    } rows[] = {
        {"{\"models\":[{\"name\":\"gpt-4o-mini\",\"provider\":\"openai\"}]}", 0.6},
        {"{\"models\":[{\"name\":\"gpt-4o-2024-08-06\",\"provider\":\"openai\"}]}", 10},
        {"{\"models\":[{\"name\":\"gpt-4o-new\",\"provider\":\"openai\"}]}", -1},
        {"{\"models\":[{\"name\":\"gpt-4o\",\"provider\":\"openai\",\"url\":\"https://"
         "else.where\"}]}",
         -1},
        {"{\"models\":[{\"name\":\"x\",\"provider\":\"openai\",\"price_in\":1,\"price_out\":2}]}",
         2},
        {"{\"models\":[{\"name\":\"x\",\"provider\":\"openai\",\"price_out\":2}]}", -1},
        {"{\"models\":[{\"name\":\"s\",\"model\":\"claude-sonnet-4-5-20250929\",\"provider\":"
         "\"anthropic\"}]}",
         15},
    };
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_model_estimate e;
        const struct hone_model_request q = a_request();
        hone_model_free(f.model);
        f.model = NULL;
        ck_assert_msg(configure(&f, rows[i].text) == 0, "%s", f.err.message);
        ck_assert_int_eq(hone_model_open(&f.config, NULL, &f.model, &f.err), 0);
        hone_model_cost_estimate(f.model, &q, &e);
        ck_assert_int_eq(hone_model_has_price(f.model), rows[i].cost >= 0);
        ck_assert_int_eq(e.tokens_out, 100);
        ck_assert_int_ge(e.tokens_in, 8);
        if (rows[i].cost < 0)
            ck_assert(isnan(e.cost));
        else
            ck_assert_msg(e.cost > 2 * rows[i].cost * 1e-4 && e.cost < 3 * rows[i].cost * 1e-4,
                          "%s: %g", rows[i].text, e.cost);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(fallbacks_make_no_circle)
{
    struct fixture f;
    open_fixture(&f);
    ck_assert_int_eq(
        configure(&f, "{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"fallback\":\"b\"},"
                      "{\"name\":\"b\",\"provider\":\"openai\",\"fallback\":\"a\"}]}"),
        0);
    ck_assert_int_eq(hone_model_open(&f.config, "a", &f.model, &f.err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(f.err.message, "lead back"));
    ck_assert_int_eq(
        configure(&f, "{\"models\":[{\"name\":\"a\",\"provider\":\"openai\",\"fallback\":\"b\"}]}"),
        0);
    ck_assert_int_eq(hone_model_open(&f.config, "a", &f.model, &f.err), HONE_E_NOT_FOUND);
    close_fixture(&f);
}
END_TEST

/* ---- server-sent events ---- */

static int note_event(void *arg, const char *name, const char *data, size_t len,
                      struct hone_err *err)
{
    (void)err;
    ck_assert_uint_eq(strlen(data), len);
    hone_buf_printf(arg, "[%s|%s]", name, data);
    return 0;
}

START_TEST(events_are_read_however_they_come)
{
    static const char text[] = "\xEF\xBB\xBF: hi\r\ndata: a\rdata:b\n\nevent: x\r\ndata:  c\r\n\r\n"
                               "id: 4\nretry: 10\n\nevent: lost\n\ndata\n\ndata: unfinished";
    for (size_t cut = 1; cut < sizeof(text); cut++) {
        struct hone_sse sse;
        struct hone_buf seen = HONE_BUF_INIT;
        hone_sse_init(&sse, note_event, &seen);
        for (size_t at = 0; at < sizeof(text) - 1; at += cut)
            ck_assert_int_eq(
                hone_sse_feed(&sse, text + at,
                              sizeof(text) - 1 - at < cut ? sizeof(text) - 1 - at : cut, NULL),
                0);
        ck_assert_str_eq(seen.data, "[|a\nb][x| c][|]");
        hone_sse_done(&sse);
        hone_buf_done(&seen);
    }
}
END_TEST

START_TEST(an_event_is_bounded)
{
    HONE_AUTOFREE char *large = hone_malloc(HONE_LIMIT_SSE_BYTES + 8);
    memset(large, 'x', HONE_LIMIT_SSE_BYTES + 8);
    memcpy(large, "data: ", 6);
    for (size_t extra = 0; extra < 2; extra++) {
        struct hone_sse sse;
        struct hone_buf seen = HONE_BUF_INIT;
        hone_sse_init(&sse, note_event, &seen);
        int r = hone_sse_feed(&sse, large, HONE_LIMIT_SSE_BYTES + extra, NULL);
        if (r == 0)
            r = hone_sse_feed(&sse, "\n\n", 2, NULL);
        ck_assert_int_eq(r, extra ? HONE_E_LIMIT : 0);
        hone_sse_done(&sse);
        hone_buf_done(&seen);
    }
}
END_TEST

UNIT_MAIN("model", configuration_is_checked, too_many_models_are_refused,
          the_workspace_wins_over_the_user, keys_are_kept, a_key_goes_nowhere_in_clear, retry_after,
          a_command_answers, a_command_fails_in_many_ways, recorded_answers_come_in_order,
          requests_differ_by_what_is_asked, bad_requests_are_not_sent, prices_are_known_or_not,
          fallbacks_make_no_circle, events_are_read_however_they_come, an_event_is_bounded)

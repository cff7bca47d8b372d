/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs in this process, on a workspace of their own with the fake executor: their tables of
 * options, what they print, what they refuse. */
#include "server/verb.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "agents/planner/catalogue.h"
#include "agents/planner/policy.h"
#include "tests/unit/unit.h"
#include "workspace/base/file.h"
#include "workspace/history.h"

#define FAST "{\"match\":\"FAST\",\"ns\":250000}\n{\"match\":\"BROKEN\",\"reason\":\"compile\"}\n"
#define EVALUATE(source_, tier_)                                                                   \
    "{\"task\":\"sum\",\"source\":\"" source_ "\",\"tier\":\"" tier_ "\"}"

static const struct hone_verb *const verbs[] = {
    &hone_verb_init,   &hone_verb_task, &hone_verb_search, &hone_verb_log,     &hone_verb_show,
    &hone_verb_steer,  &hone_verb_diff, &hone_verb_report, &hone_verb_call,    &hone_verb_tools,
    &hone_verb_doctor, &hone_verb_mcp,  &hone_verb_serve,  &hone_verb_planner,
};

struct place {
    char dir[64], ws[96], script[96], out[96];
    char *said; /* on stdout by the last verb */
    struct hone_err err;
};

/* stdout is the test's own TAP: it goes to a file while the verb runs. words end with NULL. */
static int run(struct place *p, const struct hone_verb *verb, const char *const *words)
{
    union {
        const char *borrowed[24];
        char *plain[24];
    } argv;
    int n = 0;
    size_t len = 0;
    for (; words[n] != NULL; n++)
        argv.borrowed[n] = words[n];
    fflush(stdout);
    HONE_AUTOCLOSE int kept = dup(STDOUT_FILENO);
    HONE_AUTOCLOSE int file = open(p->out, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_int_ge(dup2(file, STDOUT_FILENO), 0);
    HONE_AUTOFREE void *args = hone_calloc(1, verb->args_size + 1);
    p->err = (struct hone_err)HONE_ERR_INIT;
    int rc =
        hone_opts_parse(n, argv.plain, verb->opts, verb->n_opts, args, verb->args_size, &p->err);
    if (rc == 0)
        rc = verb->run(args, &p->err);
    hone_opts_done(verb->opts, verb->n_opts, args);
    fflush(stdout);
    ck_assert_int_ge(dup2(kept, STDOUT_FILENO), 0);
    free(p->said);
    p->said = NULL;
    ck_assert_int_eq(hone_file_read(p->out, 1 << 20, &p->said, &len, NULL), 0);
    return rc;
}
#define RUN(p_, verb_, ...) run(p_, &hone_verb_##verb_, (const char *const[]){__VA_ARGS__, NULL})

static void place_open(struct place *p)
{
    struct hone_err err = HONE_ERR_INIT;
    memset(p, 0, sizeof(*p));
    hone_process_init();
    strcpy(p->dir, "/tmp/hone-verbs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(p->dir));
    snprintf(p->ws, sizeof(p->ws), "%s/ws", p->dir);
    snprintf(p->out, sizeof(p->out), "%s/out", p->dir);
    snprintf(p->script, sizeof(p->script), "%s/script.jsonl", p->dir);
    ck_assert_int_eq(hone_file_write(p->script, FAST, strlen(FAST), 0600, false, &err), 0);
    setenv("HONE_DATA", "workspace", 1);
    setenv("HONE_WORKSPACE", p->ws, 1);
    setenv("HONE_EXECUTOR", "fake", 1);
    ck_assert_msg(RUN(p, init, p->ws) == 0, "%s", p->err.message);
}

static void place_close(struct place *p)
{
    free(p->said);
    ck_assert_int_eq(hone_remove_tree(p->dir, NULL), 0);
}

/* The commit that the last call made. */
static void take_commit(const struct place *p, char ret[HONE_COMMIT_BYTES])
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    ck_assert_int_eq(hone_json_parse(p->said, strlen(p->said), &json, NULL), 0);
    snprintf(ret, HONE_COMMIT_BYTES, "%s", hone_json_get_str(json, "commit", ""));
    ck_assert_uint_gt(strlen(ret), 20);
}

static int evaluate(struct place *p, const char *json)
{
    return RUN(p, call, "kernel_evaluate", json, "--executor", "fake", "--fake-script", p->script,
               "--quiet");
}

/* A row that names another's member, or a default that its own check refuses, shows only to who
 * uses it. */
START_TEST(tables_of_options)
{
    for (size_t v = 0; v < HONE_COUNTOF(verbs); v++) {
        const struct hone_verb *verb = verbs[v];
        ck_assert_uint_gt(strlen(verb->summary), 0);
        const char *words[8] = {NULL};
        size_t n = 0;
        for (size_t i = 0; i < verb->n_opts; i++) {
            const struct hone_opt *opt = &verb->opts[i];
            ck_assert_msg(opt->help != NULL && opt->help[0] != '\0', "%s --%s", verb->name,
                          opt->name);
            ck_assert_msg((opt->metavar == NULL) == (opt->type == HONE_OPT_BOOL), "%s --%s",
                          verb->name, opt->name);
            ck_assert_msg(opt->offset < verb->args_size, "%s --%s", verb->name, opt->name);
            for (size_t k = 0; k < i; k++) {
                ck_assert_msg(strcmp(verb->opts[k].name, opt->name) != 0, "%s --%s twice",
                              verb->name, opt->name);
                ck_assert_msg(verb->opts[k].offset != opt->offset, "%s: --%s and --%s share",
                              verb->name, verb->opts[k].name, opt->name);
            }
            if (opt->is_positional && opt->is_required)
                words[n++] = opt->choices != NULL ? opt->choices[0] : "x";
            if (opt->env != NULL)
                unsetenv(opt->env);
        }
        union {
            const char **borrowed;
            char **plain;
        } argv = {.borrowed = words};
        struct hone_err err = HONE_ERR_INIT;
        HONE_AUTOFREE void *args = hone_calloc(1, verb->args_size);
        ck_assert_msg(hone_opts_parse((int)n, argv.plain, verb->opts, verb->n_opts, args,
                                      verb->args_size, &err) == 0,
                      "%s: %s", verb->name, err.message);
        hone_opts_done(verb->opts, verb->n_opts, args);
        if (n > 0) { /* what is required is asked for */
            ck_assert_int_eq(hone_opts_parse(0, argv.plain, verb->opts, verb->n_opts, args,
                                             verb->args_size, &err),
                             HONE_E_ARG);
            hone_opts_done(verb->opts, verb->n_opts, args);
        }
    }
}
END_TEST

START_TEST(a_workspace_is_made_once)
{
    struct place p;
    place_open(&p);
    ck_assert_int_lt(RUN(&p, init, p.ws), 0);
    ck_assert_uint_gt(strlen(p.err.message), 0);
    HONE_AUTOFREE char *nothing = hone_sprintf("%s/nothing", p.dir);
    ck_assert_int_lt(RUN(&p, log, "--workspace", nothing), 0);
    ck_assert_ptr_nonnull(strstr(p.err.message, "hone init"));
    ck_assert_int_eq(RUN(&p, init, nothing, "--no-packs"), 0);
    ck_assert_int_eq(RUN(&p, task, "list", "--workspace", nothing), 0);
    ck_assert_ptr_null(strstr(p.said, "softmax"));
    ck_assert_int_eq(RUN(&p, task, "list"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "softmax"));
    place_close(&p);
}
END_TEST

START_TEST(a_version_from_call_to_diff)
{
    struct place p;
    char first[HONE_COMMIT_BYTES], second[HONE_COMMIT_BYTES];
    place_open(&p);
    ck_assert_int_eq(RUN(&p, log, "--all"), 0);
    ck_assert_ptr_null(strstr(p.said, "sum "));
    ck_assert_msg(evaluate(&p, EVALUATE("one\\nFAST\\n", "decide")) == 0, "%s", p.err.message);
    take_commit(&p, first);
    ck_assert_int_eq(evaluate(&p, EVALUATE("two\\nFAST\\n", "decide")), 0);
    take_commit(&p, second);
    ck_assert_int_eq(evaluate(&p, EVALUATE("BROKEN", "decide")), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "compile"));

    ck_assert_int_eq(RUN(&p, show, first, "--source"), 0);
    ck_assert_str_eq(p.said, "one\nFAST\n");
    ck_assert_int_eq(RUN(&p, show, first, "--report"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "\"verdict\""));
    ck_assert_int_eq(RUN(&p, show, first, "--json"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, first));
    ck_assert_int_eq(RUN(&p, show, first), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "faster"));
    ck_assert_int_lt(RUN(&p, show, "0000000"), 0);
    ck_assert_int_eq(RUN(&p, show, "--source"), HONE_E_ARG);

    ck_assert_int_eq(RUN(&p, diff, first, second), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "-one\n+two\n"));
    ck_assert_int_eq(RUN(&p, diff, second, first), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "-two\n+one\n"));
    ck_assert_int_lt(RUN(&p, diff, first, "nowhere"), 0);
    place_close(&p);
}
END_TEST

static size_t lines_with(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

START_TEST(the_log)
{
    struct place p;
    place_open(&p);
    ck_assert_int_eq(evaluate(&p, EVALUATE("one FAST", "decide")), 0);
    ck_assert_int_eq(evaluate(&p, EVALUATE("two FAST", "decide")), 0);
    ck_assert_int_eq(evaluate(&p, EVALUATE("BROKEN", "decide")), 0);
    ck_assert_int_eq(RUN(&p, log, "--task", "sum"), 0);
    ck_assert_uint_eq(lines_with(p.said, " faster "), 2);
    ck_assert_uint_eq(lines_with(p.said, " failed "), 0);
    ck_assert_int_eq(RUN(&p, log, "--all"), 0);
    ck_assert_uint_eq(lines_with(p.said, " failed "), 1);
    ck_assert_int_eq(RUN(&p, log, "--max", "1"), 0);
    ck_assert_uint_eq(lines_with(p.said, " faster "), 1);
    ck_assert_int_eq(RUN(&p, log, "--task", "softmax"), 0);
    ck_assert_uint_eq(lines_with(p.said, " faster "), 0);
    ck_assert_int_eq(RUN(&p, log, "--review"), 0);
    ck_assert_uint_eq(lines_with(p.said, " faster "), 0);
    ck_assert_int_eq(RUN(&p, log, "--json"), 0);
    ck_assert_uint_eq(lines_with(p.said, "\"commit\":"), 2);
    ck_assert_int_eq(RUN(&p, log, "--max", "0"), HONE_E_ARG);
    ck_assert_int_lt(RUN(&p, log, "nowhere"), 0);
    place_close(&p);
}
END_TEST

START_TEST(calls)
{
    struct place p;
    place_open(&p);
    HONE_AUTOFREE char *file = hone_sprintf("%s/args.json", p.dir);
    HONE_AUTOFREE char *at = hone_sprintf("@%s", file);
    ck_assert_int_eq(hone_file_write(file, "{\"name\":\"sum\"}", 14, 0600, false, &p.err), 0);
    ck_assert_msg(RUN(&p, call, "task_show", at, "--quiet") == 0, "%s", p.err.message);
    ck_assert_ptr_nonnull(strstr(p.said, "void sum("));
    ck_assert_int_lt(RUN(&p, call, "task_show", "@/nowhere/at/all", "--quiet"), 0);
    ck_assert_int_lt(RUN(&p, call, "task_show", "{\"name\":", "--quiet"), 0);
    ck_assert_int_lt(RUN(&p, call, "task_show", "[1]", "--quiet"), 0);
    ck_assert_int_gt(RUN(&p, call, "task_show", "{\"name\":\"nope\"}", "--quiet"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "\"status\":\"error\""));
    ck_assert_int_ne(RUN(&p, call, "task_shaw", "{}", "--quiet"), 0);
    ck_assert_int_eq(RUN(&p, call, "-", "--url", "auto"), HONE_E_ARG);
    ck_assert_int_eq(RUN(&p, call, "--quiet"), HONE_E_ARG);
    place_close(&p);
}
END_TEST

START_TEST(manuals_and_tasks)
{
    struct place p;
    place_open(&p);
    ck_assert_int_eq(RUN(&p, tools, "kernel_evaluate"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "budget_ms"));
    ck_assert_int_lt(RUN(&p, tools, "kernel_evaluat"), 0);
    ck_assert_int_eq(RUN(&p, tools, "--json"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "\"inputSchema\""));
    ck_assert_int_eq(RUN(&p, task, "show", "sum"), 0);
    ck_assert_ptr_nonnull(strstr(p.said, "void sum("));
    ck_assert_int_eq(RUN(&p, task, "show"), HONE_E_ARG);
    ck_assert_int_eq(RUN(&p, task, "shaw", "sum"), HONE_E_ARG);
    ck_assert_int_lt(RUN(&p, task, "show", "../../etc"), 0);
    ck_assert_int_eq(RUN(&p, task, "lint", "sum", "--static"), 0);
    ck_assert_int_lt(RUN(&p, report, "--json"), 0); /* no search yet */
    ck_assert_int_lt(RUN(&p, report, "nowhere"), 0);
    place_close(&p);
}
END_TEST

static const struct hone_opt *option(const struct hone_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->n_opts; i++)
        if (strcmp(verb->opts[i].name, name) == 0)
            return &verb->opts[i];
    return NULL;
}

/* What a search takes for one task can be tried before with the same words. */
START_TEST(doctor_takes_the_options_of_a_search)
{
    static const char *const own[] = {"suite", "lanes", "quiet"};
    struct place p;
    for (size_t i = 0; i < hone_verb_search.n_opts; i++) {
        const struct hone_opt *opt = &hone_verb_search.opts[i];
        bool is_own = false;
        for (size_t k = 0; k < HONE_COUNTOF(own); k++)
            is_own = is_own || strcmp(opt->name, own[k]) == 0;
        const struct hone_opt *same = option(&hone_verb_doctor, opt->name);
        ck_assert_msg(is_own == (same == NULL), "--%s", opt->name);
        if (same && !opt->is_positional) {
            const char *a = opt->fallback ? opt->fallback : "",
                       *b = same->fallback ? same->fallback : "";
            ck_assert_msg(strcmp(a, b) == 0, "--%s", opt->name);
        }
    }
    place_open(&p);
    ck_assert_int_eq(RUN(&p, doctor, "--ask"), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(p.err.message, "--task"));
    place_close(&p);
}
END_TEST

START_TEST(the_help_names_every_policy)
{
    for (size_t i = 0; i < hone_n_policies; i++)
        ck_assert_msg(strstr(option(&hone_verb_search, "policy")->help, hone_policies[i]->name),
                      "%s", hone_policies[i]->name);
}
END_TEST

START_TEST(cuda_is_not_calibrated)
{
    struct place p;
    place_open(&p);
    ck_assert_int_eq(RUN(&p, task, "calibrate", "sum", "--target", "cuda"), HONE_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(p.err.message, "target cuda cannot be calibrated"));
    place_close(&p);
}
END_TEST

/* A server's address, as its user has it, becomes that of its WebSocket. */
START_TEST(addresses_of_servers)
{
    static const struct {
        const char *given, *found;
    } rows[] = {
        {"127.0.0.1:7411", "ws://127.0.0.1:7411/mcp"},
        {"ws://127.0.0.1:7411/mcp", "ws://127.0.0.1:7411/mcp"},
        {"http://127.0.0.1:7411/mcp", "ws://127.0.0.1:7411/mcp"},
        {"https://far:443/mcp", "wss://far:443/mcp"},
        {"httpd:7411", "ws://httpd:7411/mcp"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_AUTOFREE char *url = NULL;
        HONE_AUTOFREE char *token = NULL;
        ck_assert_int_eq(hone_find_server("/nowhere", rows[i].given, NULL, &url, &token, NULL), 0);
        ck_assert_str_eq(url, rows[i].found);
    }
}
END_TEST

START_TEST(variables_of_the_environment)
{
    struct hone_buf text = HONE_BUF_INIT;
    hone_environment_text(&text);
    for (size_t v = 0; v < hone_n_verbs; v++)
        for (size_t i = 0; i < hone_verbs[v]->n_opts; i++) {
            const struct hone_opt *opt = &hone_verbs[v]->opts[i];
            if (opt->env == NULL || opt->is_positional)
                continue;
            HONE_AUTOFREE char *name = hone_sprintf("  %s ", opt->env);
            ck_assert_msg(lines_with(text.data, name) == 1, "%s of --%s", opt->env, opt->name);
        }
    ck_assert_ptr_nonnull(strstr(text.data, "--workspace."));
    ck_assert_uint_eq(lines_with(text.data, "  HONE_SLURM "), 1);
    hone_buf_done(&text);
}
END_TEST

START_TEST(list_of_strategies)
{
    struct hone_buf text = HONE_BUF_INIT;
    hone_strategies_text(&text);
    for (size_t i = 0; i < hone_n_strategies; i++) {
        const struct hone_strategy *s = &hone_strategies[i];
        HONE_AUTOFREE char *row = hone_sprintf("%-4s %-5s ", s->id, s->target);
        ck_assert_msg(lines_with(text.data, row) == 1, "%s of %s", s->id, s->target);
    }
    ck_assert_uint_eq(lines_with(text.data, "\nN    both"), 1);
    hone_buf_done(&text);
}
END_TEST

UNIT_MAIN("verbs", tables_of_options, a_workspace_is_made_once, a_version_from_call_to_diff,
          the_log, calls, manuals_and_tasks, doctor_takes_the_options_of_a_search,
          the_help_names_every_policy, cuda_is_not_calibrated, addresses_of_servers,
          variables_of_the_environment, list_of_strategies)

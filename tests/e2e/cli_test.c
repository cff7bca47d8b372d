/* SPDX-License-Identifier: Apache-2.0 */
/* The command line through the real program: exit status, what goes to stdout and what to stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/ws_client.h"
#include "tests/unit/unit.h"

#define WS "@" /* stands for the workspace */

struct row {
    const char *args[8];
    int status;
    const char *out, *err; /* must occur; "" anything, NULL: must be empty */
};

static void check_rows(const struct row *rows, size_t n, const char *dir)
{
    for (size_t i = 0; i < n; i++) {
        const char *args[9] = {NULL};
        char *out, *err;
        for (size_t k = 0; k < 8 && rows[i].args[k]; k++)
            args[k] = strcmp(rows[i].args[k], WS) == 0 ? dir : rows[i].args[k];
        int status = hone_program_run(args, NULL, &out, &err);
        bool is_good = status == rows[i].status &&
                       (rows[i].out ? strstr(out, rows[i].out) != NULL : out[0] == '\0') &&
                       (rows[i].err ? strstr(err, rows[i].err) != NULL : err[0] == '\0');
        ck_assert_msg(is_good, "row %zu (%s %s): status %d\nstdout: %s\nstderr: %s", i,
                      args[0] ? args[0] : "", args[1] ? args[1] : "", status, out, err);
        free(out);
        free(err);
    }
}

static void workspace(char dir[64])
{
    strcpy(dir, "/tmp/hone-cli.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    strcat(dir, "/ws");
    const struct row rows[] = {{{"init", WS}, 0, NULL, "made a workspace"}};
    check_rows(rows, 1, dir);
}

static void forget(char *dir)
{
    char command[100];
    *strrchr(dir, '/') = '\0';
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(usage)
{
    static const struct row rows[] = {
        {{NULL}, 2, NULL, "usage: hone VERB"},
        {{"--help"}, 0, "usage: hone VERB", NULL},
        {{"help", "search"}, 0, "usage: hone search [TASK]", NULL},
        {{"--version"}, 0, "hone 0.", NULL},
        {{"serach"}, 2, NULL, "did you mean 'search'"},
        {{"search"}, 2, NULL, "name a task, or many with --suite"},
        {{"search", "sum"}, 2, NULL, "--budget-wall 60s"},
        {{"search", "sum", "--budget-wal", "1s"}, 2, NULL, "did you mean --budget-wall"},
        {{"serve", "--auth", "maybe"}, 2, NULL, "token, none"},
        {{"log", "--max", "0"}, 2, NULL, "outside"},
        {{"tools", "kernel_evaluat"}, 3, NULL, "did you mean kernel_evaluate"},
        {{"tools"}, 0, "kernel_evaluate", NULL},
        {{"tools", "kernel_evaluate"}, 0, "arguments", NULL},
        {{"tools", "--json"}, 0, "\"outputSchema\"", NULL},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]), "");
}
END_TEST

START_TEST(every_verb_has_help)
{
    static const char *const verbs[] = {"init", "task",  "search", "log", "show",  "diff",
                                        "call", "tools", "serve",  "mcp", "doctor"};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const struct row rows[] = {{{verbs[i], "--help"}, 0, "usage: hone ", NULL}};
        check_rows(rows, 1, "");
    }
}
END_TEST

START_TEST(tokens)
{
    static const struct row rows[] = {
        {{"token", "list", "--workspace", WS}, 0, "name", NULL},
        {{"token", "add", "--workspace", WS}, 2, NULL, "NAME is missing"},
        {{"token", "add", "ci", "--role", "king", "--workspace", WS}, 2, NULL, "viewer, agent"},
        {{"token", "add", "ci", "--role", "viewer", "--workspace", WS}, 0, "", "role viewer"},
        {{"token", "add", "ci", "--workspace", WS}, 13, NULL, "exists"},
        {{"token", "list", "--workspace", WS}, 0, "viewer", NULL},
        {{"token", "list", "--json", "--workspace", WS}, 0, "\"role\":\"viewer\"", NULL},
        {{"token", "remove", "ci", "--workspace", WS}, 0, NULL, "removed"},
        {{"token", "remove", "ci", "--workspace", WS}, 3, NULL, "no token named"},
    };
    char dir[64];
    workspace(dir);
    check_rows(rows, sizeof(rows) / sizeof(rows[0]), dir);
    forget(dir);
}
END_TEST

START_TEST(workspaces)
{
    static const struct row rows[] = {
        {{"init", WS}, 13, NULL, ""},
        {{"task", "list", "--workspace", WS}, 0, "matmul", NULL},
        {{"task", "show", "sum", "--workspace", WS}, 0, "\"axes\"", NULL},
        {{"task", "show", "--workspace", WS}, 2, NULL, "TASK"},
        {{"task", "show", "none", "--workspace", WS}, 3, NULL, "none"},
        {{"task", "list", "--workspace", "/nonexistent"}, 3, NULL, ""},
        {{"log", "--workspace", WS}, 0, "commit", "nothing yet"},
        {{"log", "nonsense", "--workspace", WS}, 3, NULL, ""},
        {{"show", "nonsense", "--workspace", WS}, 3, NULL, ""},
        {{"call", "--workspace", WS, "task_show"}, 0, "\"status\":\"ok\"", ""},
        {{"call", "--workspace", WS, "nothing"}, 3, NULL, "nothing"},
        {{"call", "--workspace", WS, "task_show", "{\"x\":1}"}, 1, "\"status\":\"error\"", ""},
        {{"call", "--workspace", WS, "task_show", "{x"}, 2, NULL, "arguments"},
        {{"call", "--workspace", WS, "task_show", "@/nonexistent"}, 3, NULL, "arguments"},
        {{"call", "--workspace", WS, "kernel_evaluate", "{\"task\":\"sum\",\"source\":\"first\"}"},
         0,
         "\"verdict\":\"screened\"",
         "fake"},
        {{"call", "--workspace", WS, "kernel_evaluate", "{\"task\":\"sum\",\"source\":\"first\"}",
          "--quiet"},
         0,
         "\"is_cached\":true",
         NULL},
        {{"log", "--workspace", WS}, 0, "screened", NULL},
        {{"log", "--workspace", WS, "--task", "matmul", "--all"}, 0, "", NULL},
        {{"log", "--workspace", WS, "--json"}, 0, "\"trailers\":{", NULL},
    };
    char dir[64];
    workspace(dir);
    check_rows(rows, sizeof(rows) / sizeof(rows[0]), dir);
    forget(dir);
}
END_TEST

START_TEST(versions)
{
    char dir[64], *out, *err, commit[41];
    workspace(dir);
    const char *const call[] = {"call",
                                "--workspace",
                                dir,
                                "kernel_evaluate",
                                "{\"task\":\"sum\",\"source\":\"the source\\n\"}",
                                NULL};
    ck_assert_int_eq(hone_program_run(call, NULL, &out, &err), 0);
    snprintf(commit, sizeof(commit), "%.40s", strstr(out, "\"commit\":\"") + 10);
    free(out);
    free(err);
    const struct row rows[] = {
        {{"show", commit, "--workspace", WS}, 0, "Verdict: screened", NULL},
        {{"show", commit, "--workspace", WS, "--source"}, 0, "the source\n", NULL},
        {{"show", commit, "--workspace", WS, "--report"}, 0, "\"tier\"", NULL},
        {{"show", commit, "--workspace", WS, "--json"}, 0, "\"report\":{", NULL},
        {{"diff", commit, "--workspace", WS}, 0, "+the source", NULL},
        {{"diff", commit, commit, "--workspace", WS}, 0, NULL, NULL},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]), dir);
    forget(dir);
}
END_TEST

/* A call that cannot be read is answered and the rest goes on. */
START_TEST(many_calls_from_stdin)
{
    char dir[64], *out, *err;
    workspace(dir);
    const char *const args[] = {"call", "-", "--workspace", dir, NULL};
    ck_assert_int_eq(hone_program_run(args,
                                      "task_show {\"name\":\"sum\"}\nnothing {}\ntask_show {x\n\n"
                                      "task_show {\"name\":\"matmul\"}\n",
                                      &out, &err),
                     1);
    ck_assert_ptr_nonnull(strstr(out, "\"tool\":\"task_show\",\"wall_ms\":"));
    ck_assert_ptr_nonnull(strstr(out, "no tool is named 'nothing'"));
    ck_assert_ptr_nonnull(strstr(out, "JSON, line 1"));
    ck_assert_ptr_nonnull(strstr(out, "matmul: "));
    free(out);
    free(err);
    const char *const there[] = {"call", "-", "--url", "auto", "--workspace", dir, NULL};
    ck_assert_int_eq(hone_program_run(there, "", &out, &err), 2);
    free(out);
    free(err);
    forget(dir);
}
END_TEST

START_TEST(arguments_from_stdin_and_file)
{
    char dir[64], *out, *err, path[80];
    workspace(dir);
    const char *const from_stdin[] = {"call", "--workspace", dir, "task_show", "-", NULL};
    ck_assert_int_eq(hone_program_run(from_stdin, "{\"name\":\"sum\"}\n", &out, &err), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"status\":\"ok\""));
    free(out);
    free(err);
    snprintf(path, sizeof(path), "%s/args.json", dir);
    FILE *file = fopen(path, "we");
    fputs("{\"name\":\"sum\"}", file);
    fclose(file);
    snprintf(path, sizeof(path), "@%s/args.json", dir);
    const char *const from_file[] = {"call", "--workspace", dir, "task_show", path, NULL};
    ck_assert_int_eq(hone_program_run(from_file, NULL, &out, &err), 0);
    free(out);
    free(err);
    forget(dir);
}
END_TEST

START_TEST(a_search_on_the_fake_executor_ends_with_one_object)
{
    char dir[64], *out, *err;
    workspace(dir);
    const char *const args[] = {
        "search",        "sum", "--workspace",          dir,  "--target", "cpu",
        "--budget-wall", "20s", "--budget-evaluations", "12", "--json",   NULL};
    int status = hone_program_run(args, NULL, &out, &err);
    ck_assert_msg(status == 0, "%s%s", out, err);
    size_t len = strlen(out);
    ck_assert(len > 1 && out[len - 1] == '\n');
    out[len - 1] = '\0';
    const char *last = strrchr(out, '\n') ? strrchr(out, '\n') + 1 : out;
    static const char *const members[] = {
        "task", "target",      "baseline_ns", "best_ns",     "speedup",
        "ci",   "evaluations", "verdicts",    "best_commit", "percent_of_bound"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        char wanted[40];
        snprintf(wanted, sizeof(wanted), "\"%s\":", members[i]);
        ck_assert_msg(strstr(last, wanted) != NULL, "%s in %s", wanted, last);
    }
    free(out);
    free(err);
    const char *const table[] = {"search", "sum", "--workspace", dir, "--budget-evaluations",
                                 "16",     NULL}; /* of both rounds */
    ck_assert_int_eq(hone_program_run(table, NULL, &out, &err), 0);
    ck_assert_msg(strstr(out, "speedup") && strstr(out, "git -C"), "%s", out);
    free(out);
    free(err);
    forget(dir);
}
END_TEST

UNIT_MAIN("cli", usage, every_verb_has_help, tokens, workspaces, versions, many_calls_from_stdin,
          arguments_from_stdin_and_file, a_search_on_the_fake_executor_ends_with_one_object)

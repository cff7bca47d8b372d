/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line verbs: one file each, one const struct, one row in verbs.c.
 *
 * Results go to stdout, everything for people to stderr. A verb returns 0, a negative enum
 * hone_code with err set (main prints it and exits by hone_code_exit), or a positive exit status
 * when it has said itself what is wrong. */
#ifndef HONE_SERVER_VERB_H
#define HONE_SERVER_VERB_H

#include "server/rpc/app.h"
#include "server/options.h"

struct hone_verb_action { /* of a verb whose first word says what to do */
    const char *name;
    const char *args; /* "FILE.c"; "": none */
    const char *summary;
    const char *example; /* may be NULL */
};

struct hone_verb {
    const char *name;
    const char *summary;
    const char *description; /* under the usage line of --help */
    const char *example;
    const struct hone_verb_action *actions; /* NULL: none */
    size_t n_actions;
    const struct hone_opt *opts;
    size_t n_opts, args_size;
    int (*run)(const void *args, struct hone_err *err);
};

extern const struct hone_verb hone_verb_init, hone_verb_task, hone_verb_search, hone_verb_log,
    hone_verb_show, hone_verb_steer, hone_verb_report, hone_verb_diff, hone_verb_call,
    hone_verb_tools, hone_verb_serve, hone_verb_mcp, hone_verb_doctor, hone_verb_planner,
    hone_verb_export, hone_verb_connect, hone_verb_completion, hone_verb_token, hone_verb_devices,
    hone_verb_knowledge, hone_verb_env, hone_verb_watch, hone_verb_model;

/* All of them, in the order of the help (verbs.c). */
extern const struct hone_verb *const hone_verbs[];
extern const size_t hone_n_verbs;
/* Options that stand before the verb too: hone --workspace DIR log. */
extern const struct hone_opt hone_global_opts[];
extern const size_t hone_n_global_opts;

/* A line for each environment variable that hone reads, "  HONE_CC   The C compiler. ..."
 * (help_topics.c). */
void hone_environment_text(struct hone_buf *out);
/* A line for each strategy: id, target, usual gain over the version before, what it is and how. */
void hone_strategies_text(struct hone_buf *out);

/* Exit status of a verb whose tool answered with an error result. */
#define HONE_EXIT_TOOL_ERROR 1
/* As a shell says of a program that SIGPIPE ended: nobody reads stdout any more. */
#define HONE_EXIT_PIPE 141

/* What verbs that run tools share: which workspace, which executor. First member of their args. */
struct hone_common_args {
    const char *workspace, *executor, *fake_script, *runner;
    int64_t n_workers, n_runners;
    bool allow_weak_jail;
};
/* clang-format off */
#define HONE_OPTS_COMMON(type_) \
    HONE_OPT(type_, common.workspace, "workspace", "DIR", HONE_OPT_WORKSPACE_HELP, .env = "HONE_WORKSPACE", .fallback = "."), \
    HONE_OPT(type_, common.executor, "executor", "NAME", \
             "Who runs kernels: local, slurm, command:CMD (hone-runner --serve behind CMD; {i} in CMD is the " \
             "runner's number, from 0), or fake (runs nothing).", \
             .env = "HONE_EXECUTOR", .fallback = "local"), \
    HONE_OPT(type_, common.n_runners, "runners", "N", "Runners at a time, of command: and slurm.", .env = "HONE_RUNNERS", \
             .fallback = "1", .min = 1, .max = HONE_LIMIT_RUNNERS), \
    HONE_OPT(type_, common.fake_script, "fake-script", "FILE", "Answers of the fake executor, JSON lines.", .env = "HONE_FAKE_SCRIPT"), \
    HONE_OPT(type_, common.runner, "runner", "FILE", "The hone-runner program; default: beside hone.", .env = "HONE_RUNNER"), \
    HONE_OPT(type_, common.n_workers, "workers", "N", "Evaluations at a time.", .fallback = "2", .min = 1, .max = 64), \
    HONE_OPT(type_, common.allow_weak_jail, "allow-weak-jail", NULL, \
             "Run candidates even where only the weakest jail works.", .env = "HONE_ALLOW_WEAK_JAIL")
/* clang-format on */
/* The executor that these words ask for. */
struct hone_executor_spec hone_executor_of(const struct hone_common_args *args);

int hone_open_runtime(const struct hone_common_args *args, struct hone_runtime **ret,
                      struct hone_err *err);

/* For verbs that only read: they work on a read-only or full disk too, and say that they do. */
int hone_open_to_read(const char *dir, struct hone_workspace **ret, struct hone_err *err);
/* Where a running server is: url is ws://..., http://... (its
 * WebSocket is taken), HOST:PORT, or "auto" for the workspace's own. The token
 * comes from token_file, else it is in the URL, else it is the workspace's; NULL: none. Both
 * owned. */
int hone_find_server(const char *workspace, const char *url, const char *token_file, char **ret_url,
                     char **ret_token, struct hone_err *err);

/* Prints to stdout; HONE_E_IO when nobody reads it. */
int hone_print(const char *text, struct hone_err *err);
int hone_print_json(const struct hone_json *json, struct hone_err *err);
/* A line to stderr. */
void hone_say(const char *fmt, ...) HONE_PRINTF(1, 2);

/* Progress on stderr: a line that redraws itself on a terminal, plain lines (at most one
 * a second) otherwise. */
struct hone_progress_line {
    bool is_terminal;
    bool is_shown;
    int64_t next_ns;
};
void hone_progress_line_init(struct hone_progress_line *line);
void hone_progress_line_update(void *line,
                               const struct hone_progress *progress); /* a hone_progress_fn */
void hone_progress_line_clear(struct hone_progress_line *line);

#endif

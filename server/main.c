/* SPDX-License-Identifier: Apache-2.0 */
/* hone: the command line. One verb a file; this one only picks the verb. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/verb.h"
#include "server/rpc/version.h"
#include "workspace/base/process.h"
#include "workspace/base/text.h"

static void print_buf(struct hone_buf *out, FILE *where)
{
    fputs(out->data ? out->data : "", where);
    hone_buf_done(out);
}

static void print_verbs(FILE *where)
{
    struct hone_buf out = HONE_BUF_INIT;
    hone_buf_str(
        &out, "hone makes compute kernels fast and proves it.\n\nusage: hone VERB [arguments]\n\n");
    for (size_t i = 0; i < hone_n_verbs; i++)
        hone_buf_printf(&out, "  %-10s %s\n", hone_verbs[i]->name, hone_verbs[i]->summary);
    hone_buf_str(&out,
                 "\n`hone VERB --help` explains one; `hone --version` says which hone this is.\n"
                 "`hone help environment` lists the variables that hone reads, `hone help "
                 "strategies` what a search tries.\n");
    print_buf(&out, where);
}

static const struct hone_verb_action *find_action(const struct hone_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->n_actions; i++)
        if (name && strcmp(verb->actions[i].name, name) == 0)
            return &verb->actions[i];
    return NULL;
}

static void put_actions(const struct hone_verb *verb, struct hone_buf *out)
{
    for (size_t i = 0; i < verb->n_actions; i++)
        hone_buf_printf(out, "  %-10s %s\n", verb->actions[i].name, verb->actions[i].summary);
    hone_buf_printf(out, "\n`hone %s ACTION --help` explains one.\n\n", verb->name);
}

/* Of a verb, or of one of its actions. */
static void print_help(const struct hone_verb *verb, const struct hone_verb_action *action)
{
    struct hone_buf out = HONE_BUF_INIT;
    const char *text = verb->description ? verb->description : verb->summary;
    const char *example = action ? action->example : verb->example;
    if (action) {
        hone_buf_printf(&out, "usage: hone %s %s%s%s [options]\n\n%s: %s\n\n", verb->name,
                        action->name, action->args[0] ? " " : "", action->args, action->name,
                        action->summary);
    } else {
        hone_buf_printf(&out, "usage: hone %s", verb->name);
        hone_opts_usage(verb->opts, verb->n_opts, &out);
        hone_buf_printf(&out, "\n\n%s\n\n", text);
        if (verb->n_actions > 0)
            put_actions(verb, &out);
    }
    hone_opts_help(verb->opts, verb->n_opts, action ? action->name : NULL, &out);
    if (example)
        hone_buf_printf(&out, "\nexample: %s\n", example);
    print_buf(&out, stdout);
}

static const struct hone_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < hone_n_verbs; i++)
        if (strcmp(hone_verbs[i]->name, name) == 0)
            return hone_verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    HONE_AUTOFREE const char **names = hone_calloc(hone_n_verbs, sizeof(*names));
    for (size_t i = 0; i < hone_n_verbs; i++)
        names[i] = hone_verbs[i]->name;
    const char *closest = hone_plain_nearest(name, names, hone_n_verbs);
    if (closest)
        hone_say("hone: no verb '%.60s'; did you mean '%s'?", name, closest);
    else
        hone_say("hone: no verb '%.60s'; `hone --help` lists them", name);
    return hone_code_exit(HONE_E_ARG);
}

static int run_verb(const struct hone_verb *verb, int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(verb, find_action(verb, argv[0]));
            return 0;
        }
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE void *args = hone_calloc(1, verb->args_size + 1);
    int rc = hone_opts_parse(argc, argv, verb->opts, verb->n_opts, args, verb->args_size, &err);
    bool is_usage = rc < 0;
    if (rc == 0)
        rc = verb->run(args, &err);
    hone_opts_done(verb->opts, verb->n_opts, args);
    if (rc >= 0)
        return rc;
    if (err.code == HONE_E_IO && err.native == EPIPE)
        return HONE_EXIT_PIPE; /* its reader has enough: hone log | head -1 */
    hone_say("hone %s: %s%s%s%s", verb->name, err.message, err.path[0] ? " (at " : "", err.path,
             err.path[0] ? ")" : "");
    if (is_usage)
        hone_say("`hone %s --help` lists what it takes", verb->name);
    return hone_code_exit(err.code);
}

/* How many words the options before the verb take, which go to the verb; -1: one is unknown. */
static int count_globals(int argc, char **argv)
{
    int n = 0;
    while (n < argc && strncmp(argv[n], "--", 2) == 0) {
        const struct hone_opt *opt = NULL;
        const char *name = argv[n] + 2;
        size_t len = strcspn(name, "=");
        for (size_t i = 0; i < hone_n_global_opts && !opt; i++)
            if (strlen(hone_global_opts[i].name) == len &&
                strncmp(hone_global_opts[i].name, name, len) == 0)
                opt = &hone_global_opts[i];
        if (!opt)
            return -1;
        n += opt->type != HONE_OPT_BOOL && name[len] == '\0' ? 2 : 1;
    }
    return n;
}

static const struct {
    const char *name;
    void (*print)(struct hone_buf *out);
} topics[] = {
    {"environment", hone_environment_text},
    {"strategies", hone_strategies_text},
};

static int help(int argc, char **argv)
{
    const struct hone_verb *verb = argc > 0 ? find_verb(argv[0]) : NULL;
    for (size_t i = 0; argc > 0 && i < HONE_COUNTOF(topics); i++) {
        struct hone_buf out = HONE_BUF_INIT;
        if (strcmp(argv[0], topics[i].name) != 0)
            continue;
        topics[i].print(&out);
        print_buf(&out, stdout);
        return 0;
    }
    if (argc > 0 && !verb)
        return unknown_verb(argv[0]);
    if (verb)
        print_help(verb, argc > 1 ? find_action(verb, argv[1]) : NULL);
    else
        print_verbs(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    hone_process_init();
    if (argc < 2) {
        print_verbs(stderr);
        return hone_code_exit(HONE_E_ARG);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("hone %s\n", HONE_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    int n = count_globals(argc - 1, argv + 1);
    if (n < 0 || n >= argc - 1) {
        hone_say(n < 0 ? "hone: no option '%.60s' before a verb; `hone VERB --help` lists what a "
                         "verb takes"
                       : "hone: which verb? '%.60s' alone does nothing; `hone --help` lists them",
                 argv[1]);
        return hone_code_exit(HONE_E_ARG);
    }
    const struct hone_verb *verb = find_verb(argv[1 + n]);
    if (!verb)
        return unknown_verb(argv[1 + n]);
    /* the options go behind the verb's first word, so that an action stays the first */
    HONE_AUTOFREE char **words = hone_calloc((size_t)argc, sizeof(*words));
    int n_own = argc - 2 - n;
    memcpy(words, argv + 2 + n, (size_t)n_own * sizeof(*words));
    int end = n_own; /* before "--" */
    for (int i = n_own; i-- > 0;)
        end = strcmp(words[i], "--") == 0 ? i : end;
    memmove(words + end + n, words + end, (size_t)(n_own - end) * sizeof(*words));
    memcpy(words + end, argv + 1, (size_t)n * sizeof(*words));
    return run_verb(verb, n_own + n, words);
}

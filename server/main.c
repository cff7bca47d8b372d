/* SPDX-License-Identifier: Apache-2.0 */
/* hone: the command line. One verb a file; this one only picks the verb. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/verb.h"
#include "server/rpc/version.h"
#include "workspace/base/process.h"
#include "workspace/base/text.h"

static const struct hone_verb *const verbs[] = {
    &hone_verb_init,    &hone_verb_task,   &hone_verb_search, &hone_verb_log,
    &hone_verb_show,    &hone_verb_report, &hone_verb_diff,   &hone_verb_call,
    &hone_verb_tools,   &hone_verb_serve,  &hone_verb_mcp,    &hone_verb_doctor,
    &hone_verb_planner, &hone_verb_steer,  &hone_verb_export, &hone_verb_connect,
};

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
    for (size_t i = 0; i < HONE_COUNTOF(verbs); i++)
        hone_buf_printf(&out, "  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
    hone_buf_str(&out,
                 "\n`hone VERB --help` explains one; `hone --version` says which hone this is.\n");
    print_buf(&out, where);
}

static void print_help(const struct hone_verb *verb)
{
    struct hone_buf out = HONE_BUF_INIT;
    hone_buf_printf(&out, "usage: hone %s", verb->name);
    hone_opts_usage(verb->opts, verb->n_opts, &out);
    hone_buf_printf(&out, "\n\n%s\n\n", verb->description ? verb->description : verb->summary);
    hone_opts_help(verb->opts, verb->n_opts, &out);
    if (verb->example)
        hone_buf_printf(&out, "\nexample: %s\n", verb->example);
    print_buf(&out, stdout);
}

static const struct hone_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(verbs); i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *names[HONE_COUNTOF(verbs)];
    for (size_t i = 0; i < HONE_COUNTOF(verbs); i++)
        names[i] = verbs[i]->name;
    const char *closest = hone_plain_nearest(name, names, HONE_COUNTOF(verbs));
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
            print_help(verb);
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
    hone_say("hone %s: %s%s%s%s", verb->name, err.message, err.path[0] ? " (at " : "", err.path,
             err.path[0] ? ")" : "");
    if (is_usage)
        hone_say("`hone %s --help` lists what it takes", verb->name);
    return hone_code_exit(err.code);
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
    bool is_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                   strcmp(argv[1], "help") == 0;
    const struct hone_verb *verb = find_verb(is_help && argc > 2 ? argv[2] : argv[1]);
    if (is_help && !verb && argc > 2)
        return unknown_verb(argv[2]);
    if (is_help && verb)
        print_help(verb);
    else if (is_help)
        print_verbs(stdout);
    if (is_help)
        return 0;
    return verb ? run_verb(verb, argc - 2, argv + 2) : unknown_verb(argv[1]);
}

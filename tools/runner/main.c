/* SPDX-License-Identifier: Apache-2.0 */
/* hone-runner: everything that runs foreign code. Roles by a table; the judge is the one
 * without a name. */
#include <stdio.h>
#include <string.h>

#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/device/gpu_facts.h"
#include "tools/runner/cuda/record/record.h"
#include "tools/runner/jail/jail.h"
#include "tools/runner/machine/machine.h"
#include "tools/runner/jail/roles.h"
#include "tools/runner/torch/python.h"
#include "workspace/base/json.h"
#include "workspace/base/version.h"

#define MAX_RUNGS 8

static const char help_text[] =
    "usage: hone-runner CALL/job.json      judge one job; the answer is CALL/report.json\n"
    "       hone-runner --warm [FD]        job paths, one a line, from FD or stdin\n"
    "       hone-runner --serve            jobs as frames on stdin, for `hone --executor "
    "command:...`\n"
    "       hone-runner --probe            what this machine gives, as JSON\n"
    "       hone-runner --ceilings FILE    measure memory and arithmetic ceilings\n"
    "       hone-runner --torch FILE NAME  what a PyTorch module takes and gives, as JSON\n"
    "       hone-runner --model FOLDER   answers a question about a whole PyTorch model, as JSON\n"
    "       hone-runner --version\n"
    "internal, inside the jail: --role NAME ...\n";

/* Machine and jail facts as JSON on stdout. */
static int print_probe(void)
{
    struct hone_jail_rung rungs[MAX_RUNGS];
    size_t n = hone_jail_probe(rungs, MAX_RUNGS);
    struct hone_machine machine;
    hone_machine_facts(&machine);
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < n; i++) {
        struct hone_json *rung = hone_json_new_object();
        hone_json_set_str(rung, "name", rungs[i].name);
        hone_json_set_bool(rung, "works", rungs[i].works);
        hone_json_set_str(rung, "why", rungs[i].why);
        hone_json_push(list, rung);
    }
    hone_json_set_str(json, "cpu", machine.cpu);
    hone_json_set_i64(json, "n_cores", machine.n_cores);
    hone_json_set_i64(json, "cache_bytes", machine.cache_bytes);
    hone_json_set(json, "jail", list);
    hone_json_set(json, "gpu", hone_gpu_facts());
    hone_json_set(json, "torch", hone_python_facts());
    HONE_AUTOFREE char *text = hone_json_print(json);
    puts(text);
    return 0;
}

static int probe(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return print_probe();
}

static int version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("hone-runner " HONE_VERSION);
    return 0;
}

static int help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs(help_text, stdout);
    return 0;
}

struct entry {
    const char *name;
    int (*run)(int argc, char **argv);
};

static const struct entry roles[] = {{"arena", hone_role_arena},
                                     {"oracle", hone_role_oracle},
                                     {"oracle-torch", hone_role_oracle_torch},
                                     {"nvrtc", hone_role_nvrtc},
                                     {"recorder", hone_role_recorder},
                                     {"device-arena", hone_role_device_arena}};

static int role(int argc, char **argv)
{
    for (size_t i = 0; argc > 0 && i < HONE_COUNTOF(roles); i++) {
        if (strcmp(argv[0], roles[i].name) == 0)
            return roles[i].run(argc - 1, argv + 1);
    }
    fputs("hone-runner: no such role\n", stderr);
    return 2;
}

static const struct entry options[] = {
    {"--role", role},
    {"--probe", probe},
    {"--ceilings", hone_role_ceilings},
    {"--version", version},
    {"--help", help},
    {"--warm", hone_role_warm},
    {"--torch", hone_role_torch},
    {"--model", hone_role_model},
    {"--serve", hone_role_serve},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(help_text, stderr);
        return 2;
    }
    for (size_t i = 0; i < HONE_COUNTOF(options); i++) {
        if (strcmp(argv[1], options[i].name) == 0)
            return options[i].run(argc - 2, argv + 2);
    }
    if (argv[1][0] == '-' || argc != 2) {
        fputs(help_text, stderr);
        return 2;
    }
    return hone_role_judge(argv[1]);
}

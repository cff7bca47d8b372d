/* SPDX-License-Identifier: Apache-2.0 */
/* hone doctor: one line for each thing that hone needs or could use here, with the fix where
 * something is missing; with --task also whether a search with these options will get through the
 * night (agents/search/preflight.h).
 *
 * "no" ends in exit status 1: nothing can be evaluated. "weak" means it works, with the loss that
 * the line names. */
#include "server/doctor.h"
#include "server/verb_search.h"

#include <stdarg.h>
#include <stdio.h>

#include "workspace/base/utf8.h"

static const struct hone_opt opts[] = {
    HONE_OPTS_COMMON(struct hone_doctor_args),
    HONE_OPT(struct hone_doctor_args, options.task, "task", "TASK",
             "Also look whether a search of this task with these options will get through: models, "
             "noise, room."),
    HONE_OPT(struct hone_doctor_args, ask, "ask", NULL,
             "With --task: ask each model one short question, which costs a little."),
    HONE_OPTS_SEARCH(struct hone_doctor_args),
    HONE_OPT_JSON(struct hone_doctor_args),
};

static const char *const level_words[] = {"ok", "weak", "NO"};

void hone_doctor_tell(struct hone_doctor *doctor, enum hone_doctor_level level, const char *what,
                      const char *fmt, ...)
{
    struct hone_buf text = HONE_BUF_INIT;
    va_list list;
    va_start(list, fmt);
    hone_buf_vprintf(&text, fmt, list);
    va_end(list);
    doctor->n_bad += level == HONE_DOCTOR_BAD;
    doctor->n_weak += level == HONE_DOCTOR_WEAK;
    struct hone_json *line = hone_json_new_object();
    hone_json_set_str(line, "what", what);
    hone_json_set_str(line, "level", level == HONE_DOCTOR_BAD ? "no" : level_words[level]);
    hone_json_set_str(line, "text", text.data);
    hone_json_push(doctor->lines, line);
    if (level == HONE_DOCTOR_BAD) {
        HONE_AUTOFREE char *reason = hone_sprintf("%s: %s", what, text.data ? text.data : "");
        hone_json_push(doctor->reasons, hone_json_new_str(reason));
    }
    if (!doctor->args->json) {
        if (text.data)
            hone_utf8_defuse(text.data, '?');
        printf("%-5s %-10s %s\n", level_words[level], what, text.data ? text.data : "");
        fflush(stdout);
    }
    hone_buf_done(&text);
}

static void print_verdict(const struct hone_doctor *doctor)
{
    if (!doctor->args->options.task) {
        printf("\n%s\n", doctor->n_bad    ? "NO GO: fix the lines marked NO"
                         : doctor->n_weak ? "GO, with the losses marked weak"
                                          : "GO");
        return;
    }
    printf("\n%s", doctor->n_bad > 0 ? "no-go: " : "go\n");
    const char *between = "";
    for (const struct hone_json *r = hone_json_first(doctor->reasons); r; r = hone_json_next(r)) {
        printf("%s%s", between, hone_json_str(r));
        between = "; ";
    }
    if (doctor->n_bad > 0)
        printf("\n");
}

static int run(const void *arg, struct hone_err *err)
{
    const struct hone_doctor_args *args = arg;
    struct hone_doctor doctor = {.args = args};
    struct hone_preflight preflight;
    if (args->ask && !args->options.task)
        return hone_fail(err, HONE_E_ARG,
                         "--ask asks the models of a search: add --task TASK and "
                         "the search's options");
    doctor.lines = hone_json_new_array();
    doctor.reasons = hone_json_new_array();
    hone_doctor_machine(&doctor);
    int rc = args->options.task ? hone_doctor_search(&doctor, &preflight, err) : 0;
    if (rc == 0 && args->json && args->options.task) {
        HONE_AUTOJSON struct hone_json *out = hone_doctor_search_json(&doctor, &preflight);
        rc = hone_print_json(out, err);
    } else if (rc == 0 && args->json) {
        rc = hone_print_json(doctor.lines, err);
    } else if (rc == 0) {
        print_verdict(&doctor);
        rc = hone_print("", err);
    }
    hone_json_free(doctor.lines);
    hone_json_free(doctor.reasons);
    return rc < 0 ? rc : doctor.n_bad > 0;
}

const struct hone_verb hone_verb_doctor = {
    .name = "doctor",
    .summary = "Say what this machine gives: jail, compilers, counters; whether a search will run.",
    .description =
        "One line a finding. Exit status 1 when something is missing without which "
        "nothing can be evaluated.\n"
        "With --task and the options of a search (all but --suite and --lanes): also its models "
        "(keys, prices, with --ask an "
        "answer), the\n"
        "noise of the baseline against itself, how many evaluations the caps allow, room on the "
        "disk; the\n"
        "last line is go, or no-go with the reasons.",
    .example = "hone doctor --task softmax --coder llm --budget-wall 8h",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct hone_doctor_args),
    .run = run,
};

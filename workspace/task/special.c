/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "workspace/task/task_internal.h"

static const char *const names[HONE_N_SPECIALS] = {"nan", "inf", "denormal", "negative_zero",
                                                   "extreme"};

const char *hone_special_name(size_t i)
{
    return names[i];
}

static int load_word(const struct hone_json *json, size_t at, unsigned *given, struct hone_err *err)
{
    char path[40];
    snprintf(path, sizeof path, "special_values[%zu]", at);
    const char *word = hone_json_str(json);
    for (size_t i = 0; word != NULL && i < HONE_N_SPECIALS; i++) {
        if (strcmp(word, names[i]) != 0)
            continue;
        if ((*given & 1u << i) != 0)
            return hone_fail_at(err, HONE_E_ARG, path, "'%s' is named twice", word);
        *given |= 1u << i;
        return 0;
    }
    return hone_fail_at(err, HONE_E_ARG, path,
                        "must be one of nan, inf, denormal, negative_zero, extreme");
}

int hone_task_load_special(struct hone_task *task, const struct hone_json *json,
                           struct hone_err *err)
{
    unsigned given = 0;
    size_t n = 0;
    task->special_values = HONE_SPECIAL_DENORMAL;
    if (json == NULL)
        return 0;
    if (hone_json_type(json) != HONE_JSON_ARRAY)
        return hone_fail_at(err, HONE_E_ARG, "special_values",
                            "must be a list: nan, inf, denormal, negative_zero, extreme");
    for (const struct hone_json *c = hone_json_first(json); c; c = hone_json_next(c), n++)
        if (load_word(c, n, &given, err) < 0)
            return (int)err->code;
    if ((given & HONE_SPECIAL_NEGATIVE_ZERO) != 0 && (given & HONE_SPECIAL_DENORMAL) == 0)
        return hone_fail_at(err, HONE_E_ARG, "special_values",
                            "negative_zero needs denormal: they are drawn together");
    task->special_values = given;
    return 0;
}

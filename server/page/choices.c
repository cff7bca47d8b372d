/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/choices.h"

#include <stdlib.h>
#include <string.h>

#include "workspace/ledger.h"

static const char *const members[] = {"rewrite",    "strategy", "variant", "by",
                                      "propensity", "p_impl",   "prior",   "legal"};

struct pass {
    const char *search;
    const int64_t *steps;
    size_t n;
    char *id; /* owned; of the search that ran last of those that are wanted; NULL: none yet */
    struct hone_json *found;
};

static bool is_wanted(const struct pass *pass, int64_t step)
{
    for (size_t i = 0; i < pass->n; i++)
        if (pass->steps[i] == step)
            return true;
    return false;
}

static void on_run(struct pass *pass, const char *id, const char *name)
{
    if ((strcmp(name, pass->search) != 0 && strcmp(id, pass->search) != 0) ||
        (pass->id != NULL && strcmp(pass->id, id) == 0))
        return;
    free(pass->id);
    hone_json_free(pass->found);
    pass->id = hone_strdup(id);
    pass->found = hone_json_new_object();
}

static int on_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    struct pass *pass = arg;
    const char *id = hone_json_get_str(data, "search", "");
    int64_t step = hone_json_get_i64(data, "step", 0);
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.start") == 0 || strcmp(type, "search.run") == 0)
        on_run(pass, id, hone_json_get_str(data, "name", ""));
    if (strcmp(type, "search.step") != 0 || pass->id == NULL || strcmp(id, pass->id) != 0 ||
        !is_wanted(pass, step))
        return 0;
    HONE_AUTOFREE char *key = hone_sprintf("%lld", (long long)step);
    struct hone_json *row = hone_json_new_object();
    for (size_t i = 0; i < HONE_COUNTOF(members); i++)
        if (hone_json_get(data, members[i]) != NULL)
            hone_json_set(row, members[i], hone_json_copy(hone_json_get(data, members[i])));
    hone_json_set(pass->found, key, row);
    return 0;
}

struct hone_json *hone_choices_json(struct hone_workspace *ws, const char *search,
                                    const int64_t *steps, size_t n)
{
    struct pass pass = {.search = search, .steps = steps, .n = n, .found = hone_json_new_object()};
    (void)hone_ledger_scan_type(hone_workspace_ledger(ws), "search.", on_record, &pass, NULL);
    free(pass.id);
    return pass.found;
}

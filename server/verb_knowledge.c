/* SPDX-License-Identifier: Apache-2.0 */
/* hone knowledge: what searches learnt about strategies, over tasks and workspaces. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/knowledge/knowledge.h"
#include "agents/planner/catalogue.h"
#include "server/verb.h"

struct args {
    const char *action, *subject, *workspace, *store;
    bool json, workspace_only;
};

static const char *const action_names[] = {"list", "show", "import", "export", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, action, "action", "ACTION", "What to do.", .is_positional = true,
             .is_required = true, .choices = action_names),
    HONE_OPT(struct args, subject, "subject", "SUBJECT",
             "show: a family, task or strategy; import: a file of another store; export: the file.",
             .is_positional = true, .of = "show import export"),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, store, "store", "FILE",
             "The store. Default: hone/knowledge.jsonl below XDG_DATA_HOME or ~/.local/share."),
    HONE_OPT(struct args, workspace_only, "workspace-only", NULL,
             "What this workspace's searches say alone, without the store.",
             .of = "list show export"),
    HONE_OPT_JSON(struct args),
};

/* A family's rows of one strategy and target, added up. */
struct sum {
    const char *family, *target, *strategy;
    int64_t n_searches, tried, implemented, gained, measured;
    double sum_log2, best_log2;
};

static void add_row(struct sum *s, const struct hone_knowledge_row *row)
{
    s->n_searches++;
    s->tried += row->tried;
    s->implemented += row->implemented;
    s->gained += row->gained;
    s->measured += row->measured;
    s->sum_log2 += row->sum_log2;
    s->best_log2 = fmax(s->best_log2, row->best_log2);
}

static bool is_of(const struct sum *s, const struct hone_knowledge_row *row)
{
    return strcmp(s->family, row->family) == 0 && strcmp(s->target, row->target) == 0 &&
           strcmp(s->strategy, row->strategy) == 0;
}

static void put_sums(const struct hone_knowledge *k, struct hone_buf *out)
{
    struct sum *sums = hone_pool_alloc(k->pool, (k->n + 1) * sizeof(*sums));
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct hone_knowledge_row *row = &k->rows[i];
        size_t j = 0;
        while (j < n && !is_of(&sums[j], row))
            j++;
        if (j == n)
            sums[n++] = (struct sum){
                .family = row->family, .target = row->target, .strategy = row->strategy};
        add_row(&sums[j], row);
    }
    hone_buf_printf(out, "%-16s %-5s %-5s %8s %6s %5s %7s %8s %8s  %s\n", "family", "where", "step",
                    "searches", "tried", "done", "gained", "mean", "best", "");
    for (size_t i = 0; i < n; i++) {
        const struct sum *s = &sums[i];
        const struct hone_strategy *strategy = hone_strategy_find(s->target, s->strategy);
        double mean = s->measured > 0 ? exp2(s->sum_log2 / (double)s->measured) : (double)NAN;
        hone_buf_printf(out, "%-16.16s %-5s %-5s %8lld %6lld %5lld %7lld %7.3gx %7.3gx  %s\n",
                        s->family, s->target, s->strategy, (long long)s->n_searches,
                        (long long)s->tried, (long long)s->implemented, (long long)s->gained, mean,
                        exp2(s->best_log2), strategy ? strategy->words : "");
    }
    if (n == 0)
        hone_buf_str(out, "Nothing yet: searches fill it, and hone knowledge import FILE.\n");
}

static void keep(struct hone_knowledge *k, const char *subject)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->rows[i].family, subject) == 0 || strcmp(k->rows[i].task, subject) == 0 ||
            strcmp(k->rows[i].strategy, subject) == 0)
            k->rows[n++] = k->rows[i];
    k->n = n;
}

static void put_rows(const struct hone_knowledge *k, struct hone_buf *out)
{
    for (size_t i = 0; i < k->n; i++) {
        const struct hone_knowledge_row *r = &k->rows[i];
        hone_buf_printf(out,
                        "%s %s on %s (%s): tried %lld, done %lld, faster %lld, best %.3gx; wrong "
                        "%lld, failed %lld%s%s. %s, search %s%s%s\n",
                        r->strategy, r->task, r->target,
                        r->machine && r->machine[0] ? r->machine : "?", (long long)r->tried,
                        (long long)r->implemented, (long long)r->gained, exp2(r->best_log2),
                        (long long)r->incorrect, (long long)r->failed, r->why ? ", the last " : "",
                        r->why ? r->why : "", r->date ? r->date : "", r->search,
                        r->commit ? ", version " : "", r->commit ? r->commit : "");
    }
}

/* The store, with what this workspace says on top. */
static int gather(const struct args *args, const char *store, struct hone_knowledge *k,
                  struct hone_err *err)
{
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    size_t n_refused = 0;
    int rc = hone_open_to_read(args->workspace, &ws, err);
    if (rc == 0)
        rc = hone_knowledge_collect(ws, k, err);
    if (rc == 0 && !args->workspace_only && store != NULL)
        rc = hone_knowledge_load(store, k, &n_refused, err);
    if (rc == 0 && n_refused > 0)
        hone_say("%zu lines of %s are no rows and were left out", n_refused, store);
    return rc;
}

static int import(const struct args *args, const char *store, struct hone_pool *pool,
                  struct hone_err *err)
{
    struct hone_knowledge k = {.pool = pool};
    size_t n_refused = 0, n_bad = 0;
    int rc = hone_knowledge_load(store, &k, &n_bad, err);
    size_t before = k.n;
    if (rc == 0)
        rc = hone_knowledge_load(args->subject, &k, &n_refused, err);
    if (rc == 0)
        rc = hone_knowledge_save(store, &k, err);
    if (rc == 0)
        hone_say("%zu new rows in %s; %zu lines were no rows", k.n - before, store, n_refused);
    return rc;
}

static int tell(const struct args *args, struct hone_knowledge *k, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = hone_knowledge_json(k);
        HONE_AUTOFREE char *text = hone_json_print(json);
        hone_buf_printf(&out, "%s\n", text);
    } else if (strcmp(args->action, "list") == 0) {
        put_sums(k, &out);
    } else {
        put_rows(k, &out);
    }
    return hone_print(out.data ? out.data : "", err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *found = args->store ? NULL : hone_knowledge_path();
    const char *store = args->store ? args->store : found;
    struct hone_knowledge k = {.pool = pool};
    bool is_list = strcmp(args->action, "list") == 0;
    if (!is_list && args->subject == NULL)
        return hone_fail_at(err, HONE_E_ARG, "subject", "%s what? `hone knowledge --help` says it",
                            args->action);
    if (strcmp(args->action, "import") == 0)
        return store != NULL ? import(args, store, pool, err)
                             : hone_fail_at(err, HONE_E_ARG, "store", "name one: HOME is not set");
    int rc = gather(args, store, &k, err);
    if (rc == 0 && strcmp(args->action, "export") == 0) {
        rc = hone_knowledge_save(args->subject, &k, err);
        if (rc == 0)
            hone_say("%zu rows in %s", k.n, args->subject);
        return rc;
    }
    if (rc == 0 && !is_list)
        keep(&k, args->subject);
    return rc == 0 ? tell(args, &k, err) : rc;
}

const struct hone_verb hone_verb_knowledge = {
    .name = "knowledge",
    .summary = "What searches learnt about strategies, over tasks and workspaces.",
    .description =
        "list adds up by family and strategy, show has each search's row with where it is from, "
        "export writes\nthe rows as JSON lines that git can merge, import adds another store's to "
        "yours. Rows come from the\nledger; they hold no size, input or source.\n"
        "hone search --knowledge starts from them.",
    .example = "hone knowledge list",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};

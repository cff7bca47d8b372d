/* SPDX-License-Identifier: Apache-2.0 */
/* `hone log`: as a list page by page, so that the first lines of a large history cost little; as a
 * tree from all versions, since what a version came from may lie far back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/page/version_tree.h"
#include "server/table.h"
#include "server/verb.h"
#include "tools/format/verdict.h"
#include "tools/best_measurement.h"
#include "workspace/history.h"

#define PAGE 500

static const char *const columns[] = {"commit", "task", "verdict", "tier", "speedup", "what"};

struct args {
    const char *workspace, *rev, *task;
    int64_t max;
    bool all, review, graph, json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, rev, "rev", "REV",
             "A commit, or a branch such as search/softmax: what leads to it.",
             .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, all, "all", NULL,
             "Also the tries that failed, were wrong or were not believed."),
    HONE_OPT(struct args, review, "review", NULL,
             "Only the review list: suspicious, or with something that a reader should look at."),
    HONE_OPT(struct args, graph, "graph", NULL,
             "As a tree: each version below the one that it was made from, oldest first."),
    HONE_OPT(struct args, task, "task", "TASK", "Only versions of this task."),
    HONE_OPT(struct args, max, "max", "N", "At most so many.", .fallback = "50", .min = 1,
             .max = 1000000),
    HONE_OPT_JSON(struct args),
};

static bool is_good(enum hone_verdict verdict)
{
    return verdict != HONE_VERDICT_NONE && verdict < HONE_VERDICT_INCORRECT;
}

static bool is_of_task(const struct args *args, const struct hone_version *version)
{
    return !args->task || (version->task && strcmp(args->task, version->task) == 0);
}

static bool is_asked_for(const struct args *args, const struct hone_best_measurement *measured)
{
    return args->review ? hone_best_measurement_is_for_review(measured)
                        : args->all || is_good(measured->best.verdict);
}

static struct hone_json *version_json(const struct hone_version *version,
                                      const struct hone_measurement *best)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "commit", version->commit);
    hone_json_set_str(json, "parent", version->parent);
    hone_json_set_str(json, "task", version->task);
    hone_json_set_str(json, "target", version->target);
    hone_json_set_i64(json, "time_s", version->time_s);
    hone_json_set_str(json, "subject", version->subject);
    hone_json_set(json, "trailers", hone_version_trailers_json(version));
    hone_json_set_str(json, "verdict", best->verdict ? hone_verdict_name(best->verdict) : NULL);
    hone_json_set_str(json, "tier", best->tier ? hone_tier_name(best->tier) : NULL);
    if (best->ratio > 0) {
        struct hone_json *ci = hone_json_new_array();
        hone_json_push(ci, hone_json_new_f64(best->low));
        hone_json_push(ci, hone_json_new_f64(best->high));
        hone_json_set_f64(json, "speedup", best->ratio);
        hone_json_set(json, "ci", ci);
    }
    if (best->flag)
        hone_json_set_str(json, "rests_on", best->flag);
    return json;
}

/* lead: what stands before the commit, "" or the lines of the tree. */
static void add_row(struct hone_table *table, const char *lead, const struct hone_version *version,
                    const struct hone_measurement *best)
{
    HONE_AUTOFREE char *what =
        hone_sprintf("%s%s%s%s", version->subject ? version->subject : "", best->flag ? " [" : "",
                     best->flag ? best->flag : "", best->flag ? "]" : "");
    HONE_AUTOFREE char *id = hone_sprintf("%s%.10s", lead, version->commit);
    const char *const cells[] = {
        id,
        version->task,
        hone_verdict_name(best->verdict),
        hone_tier_name(best->tier),
        best->speedup,
        what,
    };
    hone_table_add(table, cells);
}

static void add_note(struct hone_table *table, const char *text)
{
    HONE_AUTOFREE char *line = hone_sprintf("%12s%s", "", text);
    hone_table_line(table, line);
}

static void print_version(const struct args *args, const struct hone_version *version,
                          const struct hone_best_measurement *measured, struct hone_table *table)
{
    const struct hone_measurement *best = &measured->best;
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = version_json(version, best);
        if (measured->review)
            hone_json_set_str(json, "review", measured->review);
        if (measured->contradiction)
            hone_json_set_str(json, "contradiction", measured->contradiction);
        if (measured->refutation)
            hone_json_set_str(json, "refutation", measured->refutation);
        HONE_AUTOFREE char *text = hone_json_print(json);
        puts(text);
    } else {
        add_row(table, "", version, best);
        if (args->review && measured->review)
            add_note(table, measured->review);
        if (measured->contradiction)
            add_note(table, measured->contradiction);
        if (measured->has_passed && !args->review)
            add_note(table, measured->refutation);
    }
}

struct page {
    const char *rev;
    size_t offset;
    int64_t left;
    bool is_last;
};

/* Prints or tables one page. */
static int print_page(const struct args *args, struct hone_history *history, struct page *page,
                      struct hone_table *table, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version *versions;
    size_t n;
    int rc = hone_history_list(history, page->rev, page->offset, PAGE, pool, &versions, &n, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n && page->left > 0; i++) {
        struct hone_best_measurement measured;
        if (!is_of_task(args, &versions[i]))
            continue;
        rc = hone_best_measurement_read(history, &versions[i], pool, &measured, err);
        if (rc < 0)
            return rc;
        if (!is_asked_for(args, &measured))
            continue;
        page->left--;
        print_version(args, &versions[i], &measured, table);
    }
    page->offset += n;
    page->is_last = n < PAGE;
    return 0;
}

/* ---- as a tree ---- */

struct node {
    struct hone_version version;
    struct hone_best_measurement measured;
    bool is_shown, is_read;
};

struct forest {
    struct node *nodes; /* owned; newest first */
    size_t n;
    const struct node **by_commit; /* in the pool */
    struct hone_pool *pool;
};

static int order_by_commit(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    return strcmp((*x)->version.commit, (*y)->version.commit);
}

static struct node *parent_of(const struct forest *forest, const struct node *node)
{
    struct node wanted = {.version.commit = node->version.parent};
    const struct node *key = &wanted, **at;
    if (!wanted.version.commit)
        return NULL;
    at = bsearch(&key, forest->by_commit, forest->n, sizeof(const struct node *), order_by_commit);
    return at ? &forest->nodes[*at - forest->nodes] : NULL;
}

static int read_forest(struct hone_history *history, const char *rev, struct forest *forest,
                       struct hone_err *err)
{
    struct hone_version *versions;
    size_t n = PAGE;
    while (n == PAGE) {
        int rc = hone_history_list(history, rev, forest->n, PAGE, forest->pool, &versions, &n, err);
        if (rc < 0)
            return rc;
        forest->nodes = hone_realloc(forest->nodes, (forest->n + n + 1) * sizeof(*forest->nodes));
        for (size_t i = 0; i < n; i++)
            forest->nodes[forest->n++] = (struct node){.version = versions[i]};
    }
    forest->by_commit = hone_pool_alloc(forest->pool, (forest->n + 1) * sizeof(struct node *));
    for (size_t i = 0; i < forest->n; i++)
        forest->by_commit[i] = &forest->nodes[i];
    qsort(forest->by_commit, forest->n, sizeof(struct node *), order_by_commit);
    return 0;
}

/* Those that are asked for, newest first, and what they came from. */
static int choose(const struct args *args, struct hone_history *history, struct forest *forest,
                  int64_t *left, struct hone_err *err)
{
    for (size_t i = 0; i < forest->n; i++) {
        struct node *node = &forest->nodes[i];
        bool may = *left > 0 && is_of_task(args, &node->version);
        if (!may && !node->is_shown)
            continue;
        int rc =
            hone_best_measurement_read(history, &node->version, forest->pool, &node->measured, err);
        if (rc < 0)
            return rc;
        if (may && is_asked_for(args, &node->measured)) {
            node->is_shown = true;
            --*left;
        }
        struct node *parent = node->is_shown ? parent_of(forest, node) : NULL;
        if (parent)
            parent->is_shown = true;
    }
    return 0;
}

/* What passed once and was found wrong, or contradicts itself, is barred. */
static char sign_of(const struct hone_best_measurement *measured)
{
    bool is_barred = measured->contradiction || (measured->refutation && measured->has_passed);
    if (is_barred)
        return '!';
    if (measured->best.verdict == HONE_VERDICT_FASTER)
        return '*';
    return is_good(measured->best.verdict) ? 'o' : 'x';
}

static void draw(const struct args *args, const struct forest *forest, struct hone_table *table)
{
    size_t n = 0;
    struct hone_tree_item *items = hone_pool_alloc(forest->pool, (forest->n + 1) * sizeof(*items));
    struct hone_tree_line *lines = hone_pool_alloc(forest->pool, (forest->n + 1) * sizeof(*lines));
    const struct node **shown = hone_pool_alloc(forest->pool, (forest->n + 1) * sizeof(*shown));
    int64_t *places = hone_pool_alloc(forest->pool, (forest->n + 1) * sizeof(*places));
    for (size_t i = forest->n; i-- > 0;) {
        const struct node *node = &forest->nodes[i], *parent = parent_of(forest, node);
        const struct hone_measurement *best = &node->measured.best;
        places[i] = -1;
        if (!node->is_shown)
            continue;
        items[n] = (struct hone_tree_item){
            .parent = parent && parent > node ? places[parent - forest->nodes] : -1,
            .worth = best->ratio > 0 ? log2(best->ratio) : (double)NAN,
            .sign = sign_of(&node->measured),
            .is_failed = !is_good(best->verdict),
        };
        shown[n] = node;
        places[i] = (int64_t)n++;
    }
    hone_version_tree(items, n, forest->pool, lines);
    for (size_t i = 0; i < n; i++) {
        const struct node *node = shown[lines[i].item];
        HONE_AUTOFREE char *lead = hone_sprintf("%s ", lines[i].lead);
        add_row(table, lead, &node->version, &node->measured.best);
        if (args->review && node->measured.review)
            add_note(table, node->measured.review);
        if (node->measured.contradiction)
            add_note(table, node->measured.contradiction);
        if (node->measured.has_passed)
            add_note(table, node->measured.refutation);
    }
}

static int print_forest(const struct args *args, struct hone_history *history, const char *rev,
                        struct hone_table *table, int64_t *left, struct hone_err *err)
{
    struct forest forest = {.pool = table->pool};
    int rc = read_forest(history, rev, &forest, err);
    if (rc == 0)
        rc = choose(args, history, &forest, left, err);
    if (rc == 0)
        draw(args, &forest, table);
    free(forest.nodes);
    return rc;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    if (args->graph && args->json)
        return hone_fail(err, HONE_E_ARG, "--graph draws for people; --json names each parent");
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    int rc = hone_open_to_read(args->workspace, &ws, err);
    if (rc < 0)
        return rc;
    struct hone_history *history = hone_workspace_history(ws);
    char commit[HONE_COMMIT_BYTES];
    if (args->rev) {
        rc = hone_history_resolve(history, args->rev, commit, err);
        if (rc < 0)
            return rc;
    }
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct page page = {.rev = args->rev ? commit : NULL, .left = args->max};
    struct hone_table table = {.pool = pool, .n_columns = HONE_COUNTOF(columns)};
    hone_table_add(&table, columns);
    if (args->graph)
        rc = print_forest(args, history, page.rev, &table, &page.left, err);
    while (rc == 0 && !args->graph && page.left > 0 && !page.is_last)
        rc = print_page(args, history, &page, &table, err);
    if (!args->json)
        hone_table_print(&table);
    if (rc == 0)
        rc = hone_print("", err);
    if (rc == 0 && page.left == args->max && args->review)
        hone_say("nothing to review");
    else if (rc == 0 && page.left == args->max && !args->all)
        hone_say("nothing yet; --all also shows tries that failed");
    else if (rc == 0 && page.left == 0 && !args->json)
        hone_say("more with --max; plain git works too: git -C %s log --graph REV",
                 hone_workspace_dir(ws));
    return rc;
}

const struct hone_verb hone_verb_log = {
    .name = "log",
    .summary = "List the versions that were tried, newest first.",
    .description = "Each version with its best founded measurement. Speedups stand against the "
                   "task's baseline with their 95 % interval. With "
                   "--json one object a line.\n"
                   "With --graph a version's best line of descent stands below it in its column, "
                   "other versions made from it branch off: * faster, o right, ! not to be claimed "
                   "(found wrong later, or "
                   "contradicted), x failed.",
    .example = "hone log --task softmax --all",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* hone model: which modules of a PyTorch model take the time, and what exported kernels gain. */
#include <stdio.h>
#include <string.h>

#include "server/table.h"
#include "server/verb.h"
#include "tools/import/model.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

#define SHAPES_BYTES 100

struct args {
    struct hone_common_args common;
    const char *action, *file, *target;
    struct hone_strs swaps;
    int64_t threads;
    double tolerance;
    bool json;
};

static const struct hone_verb_action actions[] = {
    {"rank", "FILE.py",
     "the modules by their share of a forward pass, and what replacing each gains",
     "hone model rank model.py"},
    {"check", "FILE.py",
     "the model with exported kernels in the place of modules, beside the model: time, and by how "
     "much the outputs differ",
     "hone model check model.py --swap blocks.0.norm=winner"},
};
static const char *const action_names[] = {"rank", "check", NULL};
static const char *const target_names[] = {"cpu", "cuda", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, action, "action", "ACTION", "What to do.", .is_positional = true,
             .is_required = true, .choices = action_names),
    HONE_OPT(struct args, file, "file", "FILE.py",
             "Python with Model, a class or an instance of torch.nn.Module, and get_inputs.",
             .is_positional = true, .is_required = true),
    HONE_OPT(struct args, swaps, "swap", "PATH=DIR",
             "A module and the folder of its export (--as kernelbench or torch); may be repeated.",
             .of = "check"),
    HONE_OPT(struct args, tolerance, "tolerance", "X",
             "The largest difference that is allowed, over the size of the output: its element's, "
             "or the root mean square where that is more.",
             .fallback = "1e-3", .of = "check"),
    HONE_OPT(struct args, target, "target", "T", "Where the model and the kernels run.",
             .fallback = "cpu", .choices = target_names),
    HONE_OPT(struct args, threads, "threads", "N", "Threads of torch.", .fallback = "1", .min = 1,
             .max = 32),
    HONE_OPTS_COMMON(struct args),
    HONE_OPT_JSON(struct args),
};

static const char *text_of(struct hone_pool *pool, const struct hone_json *row, const char *name)
{
    return hone_plain_line(pool, hone_json_get_str(row, name, "?"), 80);
}

/* "64x256, 64x256": the tensors of one call; " | " between calls of other sizes. */
static const char *shapes_of(struct hone_pool *pool, const struct hone_json *row)
{
    const char *text = "", *between = "";
    for (const struct hone_json *call = hone_json_first(hone_json_get(row, "shapes"));
         call && strlen(text) < SHAPES_BYTES; call = hone_json_next(call), between = " | ")
        for (const struct hone_json *t = hone_json_first(call); t && strlen(text) < SHAPES_BYTES;
             t = hone_json_next(t)) {
            const char *x = between;
            for (const struct hone_json *size = hone_json_first(t);
                 size && strlen(text) < SHAPES_BYTES; size = hone_json_next(size), x = "x") {
                int64_t n = 0;
                hone_json_as_i64(size, &n);
                text = hone_pool_printf(pool, "%s%s%lld", text, x, (long long)n);
            }
            between = ", ";
        }
    return hone_plain_line(pool, text, SHAPES_BYTES);
}

static const char *ms(struct hone_pool *pool, double ns)
{
    return hone_pool_printf(pool, "%.3g ms", ns / 1e6);
}

static int print_rank(const struct hone_json *said, struct hone_pool *pool, struct hone_err *err)
{
    struct hone_table table = {.pool = pool, .n_columns = 8};
    hone_table_add(&table, (const char *const[]){"module", "kind", "own", "whole", "ceiling",
                                                 "calls", "time", "inputs"});
    for (const struct hone_json *row = hone_json_first(hone_json_get(said, "rows")); row;
         row = hone_json_next(row)) {
        const char *path = text_of(pool, row, "path");
        double ceiling = hone_json_get_f64(row, "ceiling", 0);
        hone_table_add(
            &table,
            (const char *const[]){
                path[0] != '\0' ? path : "(the model)", text_of(pool, row, "kind"),
                hone_pool_printf(pool, "%.1f%%", 100 * hone_json_get_f64(row, "own_share", 0)),
                hone_pool_printf(pool, "%.1f%%", 100 * hone_json_get_f64(row, "share", 0)),
                ceiling > 0 ? hone_pool_printf(pool, "%.2fx", ceiling) : "",
                hone_pool_printf(pool, "%lld", (long long)hone_json_get_i64(row, "calls", 0)),
                ms(pool, hone_json_get_f64(row, "ns", 0)), shapes_of(pool, row)});
    }
    hone_table_print(&table);
    int64_t left_out = hone_json_get_i64(said, "left_out", 0);
    if (left_out > 0)
        hone_say("%lld more modules, each with less time", (long long)left_out);
    hone_say("forward  %s (median of %lld)", ms(pool, hone_json_get_f64(said, "forward_ns", 0)),
             (long long)hone_json_get_i64(said, "passes", 0));
    hone_say(
        "own: without the modules inside. ceiling: the forward's gain if the whole module took "
        "no time");
    return hone_print("", err);
}

static int rank(const struct args *args, struct hone_model_question *q, struct hone_pool *pool,
                struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *said = NULL;
    int rc = hone_model_rank(q, &said, err);
    if (rc < 0)
        return rc;
    return args->json ? hone_print_json(said, err) : print_rank(said, pool, err);
}

static int print_check(const struct hone_json *said, struct hone_pool *pool, struct hone_err *err)
{
    bool is_same = hone_json_get_bool(said, "is_same", false);
    printf("outputs     %s\n", is_same ? "within the tolerance" : text_of(pool, said, "why"));
    printf("difference  %.3g at most, %.3g of the output's size\n",
           hone_json_get_f64(said, "largest_absolute", 0),
           hone_json_get_f64(said, "largest_relative", 0));
    if (is_same) {
        printf("model       %s\n", ms(pool, hone_json_get_f64(said, "model_ns", 0)));
        printf("swapped     %s\n", ms(pool, hone_json_get_f64(said, "swapped_ns", 0)));
        printf("gain        %.3fx [%.3f, %.3f], %lld rounds in turns\n",
               hone_json_get_f64(said, "ratio", 0), hone_json_get_f64(said, "low", 0),
               hone_json_get_f64(said, "high", 0), (long long)hone_json_get_i64(said, "rounds", 0));
    }
    return hone_print("", err);
}

static int check(const struct args *args, struct hone_model_question *q, struct hone_pool *pool,
                 struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *said = NULL;
    struct hone_model_swap *swaps = hone_pool_alloc(pool, (args->swaps.n + 1) * sizeof(*swaps));
    for (size_t i = 0; i < args->swaps.n; i++) {
        const char *word = args->swaps.v[i], *sign = strchr(word, '=');
        if (sign == NULL || sign == word || sign[1] == '\0')
            return hone_fail_at(err, HONE_E_ARG, "swap", "'%.100s' is no MODULE.PATH=DIR", word);
        swaps[i] = (struct hone_model_swap){
            hone_pool_printf(pool, "%.*s", (int)(sign - word), word), sign + 1};
    }
    q->swaps = swaps;
    q->n_swaps = args->swaps.n;
    int rc = hone_model_check(q, &said, err);
    if (rc == 0)
        rc = args->json ? hone_print_json(said, err) : print_check(said, pool, err);
    return rc < 0 ? rc : hone_json_get_bool(said, "is_same", false) ? 0 : HONE_EXIT_TOOL_ERROR;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    struct hone_executor *executor = NULL;
    if (!hone_file_exists(args->file))
        return hone_fail(err, HONE_E_NOT_FOUND, "no file '%.200s'", args->file);
    int rc = hone_open_executor(&spec, &executor, err);
    struct hone_model_question q = {.executor = executor,
                                    .file = args->file,
                                    .threads = args->threads,
                                    .is_on_device = strcmp(args->target, "cuda") == 0,
                                    .tolerance = args->tolerance};
    if (rc == 0)
        rc = strcmp(args->action, "rank") == 0 ? rank(args, &q, pool, err)
                                               : check(args, &q, pool, err);
    hone_executor_free(executor);
    return rc;
}

const struct hone_verb hone_verb_model = {
    .name = "model",
    .summary = "Rank the modules of a PyTorch model; swap exported kernels in.",
    .description =
        "hone task import FILE.py --from-model MODULE.PATH makes a task of one module, hone search "
        "finds a kernel,\nhone export --as kernelbench writes it down, and check swaps it in. "
        "Everything runs in the jail, with\n--target cuda beside the GPU. check exits with 1 where "
        "the outputs differ.",
    .actions = actions,
    .n_actions = HONE_COUNTOF(actions),
    .example = "hone model rank model.py",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};

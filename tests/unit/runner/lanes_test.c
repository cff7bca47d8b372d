/* SPDX-License-Identifier: Apache-2.0 */
/* Both lanes of a CUDA build give the same plans: launchers of tests/launchers are built by NVRTC
 * with the host's compiler and, with `#pragma hone lane(nvcc)`, by nvcc, and the plans are
 * compared. Two at a time. Twenty of them; all with HONE_LANES=all; one file with its name as
 * argument.
 *
 * Skipped without nvcc or NVRTC. */
#include "tools/runner/cuda/module/module.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/runner/launcher_style.h"
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/compile/nvcc_compile.h"
#include "tools/runner/cuda/record/record.h"
#include "workspace/base/clock.h"

#define SKIPPED     77
#define N_WORKERS   2
#define LAST_AXIS   (HONE_LIMIT_AXES - 1) /* the size of all tensors */
#define ELEMENTS    (1 << 18)
#define BUILD_MS    120000
#define MAX_CHOICES 256

static const char *const usual[] = {
    "class_launcher.cu", "cooperative.cu",   "dynamic_shared.cu", "fork_join.cu",
    "half_args.cu",      "large_struct.cu",  "launch_array.cu",   "launch_ex.cu",
    "literals.cu",       "macro_launch.cu",  "occupancy.cu",      "packs.cu",
    "scalars.cu",        "scratch_reuse.cu", "static_kernel.cu",  "struct_by_value.cu",
    "symbols.cu",        "template_tile.cu", "tensor_map.cu",     "overloaded_templates.cu"};

/* What the first lane refuses and nvcc does: lambdas for the device, a launch in pieces; and values
 * that nvcc's host code has narrowed before anybody can look at them. */
static const char *const nvcc_alone[] = {"wrong_device_lambda.cu", "wrong_half_launch.cu",
                                         "wrong_range.cu", "wrong_grid_range.cu"};

struct place {
    char folder[64];
    struct hone_cuda_compiler *compiler;
};

static void shape_tensors(struct style *s)
{
    for (size_t i = 0; i < s->task.n_inputs; i++)
        s->task.inputs[i] = (struct hone_tensor){.name = s->task.inputs[i].name,
                                                 .dtype = HONE_DTYPE_F32,
                                                 .rank = 1,
                                                 .shape = {LAST_AXIS},
                                                 .bound_axis = -1};
    for (size_t i = 0; i < s->task.n_outputs; i++)
        s->task.outputs[i] = (struct hone_tensor){.name = s->task.outputs[i].name,
                                                  .dtype = HONE_DTYPE_F32,
                                                  .rank = 1,
                                                  .shape = {LAST_AXIS},
                                                  .bound_axis = -1};
    for (size_t i = 0; i < s->task.n_workloads; i++)
        s->workloads[i].axes[LAST_AXIS] = ELEMENTS;
}

/* The source with what the lane and the file's tunables ask for behind it: lines stay. */
static const char *with_pragmas(const struct style *s, const char *lane)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const struct hone_tunable *v = s->tunables.v;
    hone_buf_printf(&text, "%s\n#pragma hone lane(%s)\n", s->source, lane);
    for (size_t i = 0; i < s->tunables.n; i++)
        if (strstr(s->source, "hone tune") == NULL)
            hone_buf_printf(&text, "#pragma hone tune(%s: %lld)\n", v[i].name,
                            (long long)v[i].value);
    return hone_pool_strdup(s->pool, text.data);
}

/* NULL: built. Else why not, in the pool. */
static const char *build(struct place *place, struct style *s, const char *lane,
                         struct hone_cuda_module *ret)
{
    const char *work = hone_pool_printf(s->pool, "%s/work", place->folder);
    const char *cache = hone_pool_printf(s->pool, "%s/cache", place->folder);
    struct hone_err err = HONE_ERR_INIT;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    double *scalars = hone_pool_alloc(s->pool, 64 * sizeof *scalars);
    for (size_t w = 0; w < s->task.n_workloads; w++)
        for (size_t i = 0; i < s->task.n_scalars; i++)
            scalars[w * s->task.n_scalars + i] = s->task.scalars[i].value;
    const struct hone_cuda_request request = {.task = &s->task,
                                              .arm = "candidate",
                                              .source = with_pragmas(s, lane),
                                              .tunables = &s->tunables,
                                              .workloads = s->workloads,
                                              .n_workloads = s->task.n_workloads,
                                              .scalars = scalars,
                                              .arch = "sm_90a",
                                              .device = &h200,
                                              .rung = getenv("HONE_RECORD_RUNG"),
                                              .allow_weak = true,
                                              .cache_dir = cache,
                                              .scratch_dir = work,
                                              .deadline_ns = hone_deadline_in_ms(BUILD_MS),
                                              .compiler = &place->compiler};
    (void)hone_remove_tree(work, NULL);
    MUST(hone_mkdirs(work, 0755, &err) == 0 && hone_mkdirs(cache, 0755, &err) == 0, "%s",
         err.message);
    MUST(hone_cuda_build(&request, s->pool, ret, &end, &err) == 0, "%s: %s", s->name, err.message);
    if (end.reason != HONE_REASON_BUILT)
        return hone_pool_printf(s->pool, "%s: %s", hone_reason_row(end.reason)->word, end.detail);
    return strcmp(ret->lane, lane) == 0
               ? NULL
               : hone_pool_printf(s->pool, "lane %s instead of %s", ret->lane, lane);
}

/* Static kernels and variables have a prefix of the compiler's own: people's names are compared. */
static const char *plain_name(const char *name, struct hone_pool *pool)
{
    char pretty[200];
    if (name == NULL)
        return NULL;
    const char *inside = strstr(name, "_INTERNAL_") != NULL || strncmp(name, "_ZN", 3) == 0 ||
                                 strncmp(name, "_ZL", 3) == 0
                             ? name
                             : NULL;
    if (inside == NULL)
        return name;
    hone_plan_pretty(name, pretty, sizeof pretty);
    return hone_pool_strdup(pool, pretty);
}

static void plain_names(struct hone_array *plans, struct hone_pool *pool)
{
    struct hone_plan *plan = plans->v;
    for (size_t i = 0; i < plans->n; i++) {
        struct hone_plan_op *ops = plan[i].ops.v;
        for (size_t k = 0; k < plan[i].ops.n; k++) {
            struct hone_plan_pointer *pointers = ops[k].pointers.v;
            ops[k].kernel = plain_name(ops[k].kernel, pool);
            ops[k].to.symbol = plain_name(ops[k].to.symbol, pool);
            ops[k].from.symbol = plain_name(ops[k].from.symbol, pool);
            for (size_t p = 0; p < ops[k].pointers.n; p++)
                pointers[p].symbol = plain_name(pointers[p].symbol, pool);
        }
    }
}

/* NULL: the same. */
static const char *compare(struct style *s, struct hone_cuda_module *a, struct hone_cuda_module *b)
{
    char why[200] = "";
    plain_names(&a->plans, s->pool);
    plain_names(&b->plans, s->pool);
    const struct hone_plan *x = a->plans.v, *y = b->plans.v;
    if (a->plans.n != b->plans.n)
        return "other numbers of plans";
    for (size_t i = 0; i < a->plans.n; i++)
        if (!hone_plan_equal(&x[i], &y[i], why))
            return hone_pool_printf(s->pool, "plan %zu: %s\nnvrtc:\n%s\nnvcc:\n%s", i, why,
                                    hone_plan_print(&x[i]), hone_plan_print(&y[i]));
    return NULL;
}

static const char *try_right(struct place *place, struct style *s)
{
    struct hone_cuda_module first, second;
    const char *why = build(place, s, "nvrtc", &first);
    if (why == NULL)
        why = build(place, s, "nvcc", &second);
    return why == NULL ? compare(s, &first, &second) : why;
}

static const char *try_wrong(struct place *place, struct style *s)
{
    struct hone_cuda_module module;
    bool can_nvcc = false;
    for (size_t i = 0; i < HONE_COUNTOF(nvcc_alone); i++)
        can_nvcc = can_nvcc || strcmp(nvcc_alone[i], s->name) == 0;
    const char *why = build(place, s, "nvcc", &module);
    if (getenv("HONE_RECORD_SHOW") != NULL)
        printf("%s: %s\n", s->name, why != NULL ? why : "built");
    if (can_nvcc)
        return why;
    return why == NULL ? "nvcc's lane takes it" : NULL;
}

static bool try_style(struct place *place, const char *name)
{
    struct style s;
    read_style(&s, name);
    shape_tensors(&s);
    bool is_wrong = strncmp(name, "wrong_", 6) == 0;
    const char *why = is_wrong ? try_wrong(place, &s) : try_right(place, &s);
    printf("%s - %s\n%s%s", why == NULL ? "ok" : "not ok", name, why == NULL ? "" : why,
           why == NULL ? "" : "\n");
    (void)fflush(stdout);
    free(s.source);
    hone_pool_free(s.pool);
    return why == NULL;
}

static size_t choose(const char *only, struct hone_pool *pool, const char **ret)
{
    const char *asked = getenv("HONE_LANES");
    bool is_all = only != NULL || (asked != NULL && strcmp(asked, "all") == 0);
    const char **names = NULL;
    size_t n_names = 0, n = 0;
    MUST(hone_list_dir(FOLDER, pool, &names, &n_names, NULL) == 0, "no %s", FOLDER);
    for (size_t i = 0; i < n_names && n < MAX_CHOICES; i++) {
        bool is_wanted = is_all;
        for (size_t k = 0; k < HONE_COUNTOF(usual); k++)
            is_wanted = is_wanted || strcmp(usual[k], names[i]) == 0;
        if (is_wanted && strstr(names[i], ".cu") != NULL &&
            (only == NULL || strstr(names[i], only) != NULL))
            ret[n++] = names[i];
    }
    return n;
}

/* The share of one worker; its exit status. */
static int work(const char *const *names, size_t n, size_t number)
{
    struct place place = {.folder = "/tmp/hone-lanes-test-XXXXXX"};
    bool is_good = true;
    MUST(mkdtemp(place.folder) != NULL && chmod(place.folder, 0755) == 0, "no folder");
    for (size_t i = number; i < n; i += N_WORKERS)
        is_good = try_style(&place, names[i]) && is_good;
    hone_cuda_compiler_stop(place.compiler);
    (void)hone_remove_tree(place.folder, NULL);
    return is_good ? 0 : 1;
}

static bool has_compilers(void)
{
    struct hone_nvcc nvcc;
    struct hone_cuda_toolkit toolkit;
    hone_nvcc_find(&nvcc);
    hone_cuda_toolkit_find(&toolkit);
    return nvcc.path[0] != '\0' && toolkit.nvrtc[0] != '\0' && toolkit.include_dir[0] != '\0';
}

int main(int argc, char **argv)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *names[MAX_CHOICES];
    pid_t workers[N_WORKERS];
    int is_bad = 0;
    if (argc > 3 && strcmp(argv[1], "--role") == 0)
        return strcmp(argv[2], "nvrtc") == 0 ? hone_role_nvrtc(argc - 3, argv + 3)
                                             : hone_role_recorder(argc - 3, argv + 3);
    (void)unsetenv("HONE_CUDA_LIB");
    if (!has_compilers()) {
        puts("1..0 # SKIP needs nvcc and NVRTC");
        return SKIPPED;
    }
    size_t n = choose(argc > 1 ? argv[1] : NULL, pool, names);
    printf("1..%zu\n", n);
    (void)fflush(stdout);
    for (size_t i = 0; i < N_WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] == 0)
            _exit(work(names, n, i));
    }
    for (size_t i = 0; i < N_WORKERS; i++) {
        int status = -1;
        is_bad |= waitpid(workers[i], &status, 0) != workers[i] || status != 0;
    }
    return is_bad || n == 0;
}

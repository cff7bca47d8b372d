/* SPDX-License-Identifier: Apache-2.0 */
/* A task as a folder in Harbor's form. The files are texts with values put in: one function each, a
 * table at the end. What must not be forged is not in the agent's image alone: the verifier has an
 * image of its own, and one file travels to it (task.toml, artifacts). */
#include "tools/export/harbor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/export/export.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/version.h"
#include "workspace/workspace.h"

#define BUNDLE_NAME  "hone-bundle.tar.gz"
#define AGENT_S      3600
#define VERIFIER_S   1800
#define BUILD_S      1200
#define MEMORY_MB    8192
#define N_CPUS       2
#define MAX_PACK     4096 /* files */
#define BUNDLE_BYTES ((size_t)1 << 30)

/* What differs by target. */
static const struct {
    const char *base;     /* NULL: must be named */
    const char *packages; /* of Debian and its relatives */
    const char *resources;
} images[HONE_N_TASK_TARGETS] = {
    [HONE_TASK_CPU] = {"debian:12-slim", "gcc libc6-dev", ""},
    [HONE_TASK_CUDA] = {NULL, "gcc g++ libc6-dev", "gpus = 1\n"},
};

struct work {
    const struct hone_harbor_options *options;
    const struct hone_task *task;
    const struct hone_target_traits *target;
    const char *base, *packages, *resources;
    const char *name;             /* "sum-cpu" */
    const char *naive;            /* the baseline */
    const char *solution, *found; /* and where it comes from */
};

static void put_task_toml(const struct work *w, struct hone_buf *out)
{
    hone_buf_printf(out,
                    "schema_version = \"1.3\"\n"
                    "# All that the verifier gets of the agent.\n"
                    "artifacts = [\"/app/kernel.%s\"]\n\n"
                    "[task]\nname = \"hone/%s\"\n"
                    "description = \"Make the kernel '%s' fast on %s and keep it right.\"\n"
                    "keywords = [\"kernel\", \"performance\", \"%s\"]\n\n"
                    "[metadata]\ncategory = \"performance\"\nhone_version = \"%s\"\n"
                    "hone_task_hash = \"%s\"\n\n",
                    w->target->extension, w->name, w->task->name, w->target->name, w->target->name,
                    HONE_VERSION, w->task->hash);
    hone_buf_printf(out,
                    "[agent]\ntimeout_sec = %d.0\n\n"
                    "[environment]\nbuild_timeout_sec = %d.0\ncpus = %d\nmemory_mb = %d\n%s\n"
                    "# The judge never runs where the agent was.\n"
                    "[verifier]\ntimeout_sec = %d.0\nenvironment_mode = \"separate\"\n\n"
                    "[verifier.environment]\nnetwork_mode = \"no-network\"\n"
                    "build_timeout_sec = %d.0\ncpus = %d\nmemory_mb = %d\n%s",
                    AGENT_S, BUILD_S, N_CPUS, MEMORY_MB, w->resources, VERIFIER_S, BUILD_S, N_CPUS,
                    MEMORY_MB, w->resources);
}

static void put_sizes(const struct work *w, struct hone_buf *out)
{
    for (size_t i = 0; i < w->task->n_workloads; i++) {
        hone_buf_printf(out, "- `%s`:", w->task->workloads[i].id);
        for (size_t a = 0; a < w->task->n_axes; a++)
            hone_buf_printf(out, "%s %s = %lld", a > 0 ? "," : "", w->task->axes[a].name,
                            (long long)w->task->workloads[i].axes[a]);
        hone_buf_str(out, "\n");
    }
    for (size_t i = 0; i < w->task->n_constraints; i++)
        hone_buf_printf(out, "- always: `%s`\n", w->task->constraints[i]);
}

static void put_tolerance(const struct work *w, struct hone_buf *out)
{
    for (size_t i = 0; i < w->task->n_outputs; i++) {
        const struct hone_tolerance *tol = &w->task->tolerance[i];
        hone_buf_printf(out, "- `%s` (%s): ", w->task->outputs[i].name,
                        hone_dtype_name(w->task->outputs[i].dtype));
        if (tol->atol == 0 && tol->rtol == 0)
            hone_buf_str(out, "equal to the reference\n");
        else
            hone_buf_printf(out, "each element within %g + %g times its size\n", tol->atol,
                            tol->rtol);
    }
}

static void put_instruction(const struct work *w, struct hone_buf *out)
{
    const char *end = w->target->extension;
    HONE_AUTOFREE char *signature = hone_task_signature(w->task);
    hone_buf_printf(out,
                    "Make this kernel fast on %s, and keep it right.\n\n%s\n\n"
                    "Write `/app/kernel.%s`, one file that defines\n\n```c\n%s\n```\n\n"
                    "The file is there already: the baseline, slow and right.\n\n"
                    "## Sizes that are timed\n\n",
                    w->target->name, w->task->description, end, signature);
    put_sizes(w, out);
    hone_buf_str(out, "\nThe judge draws more sizes in secret, for checks and times.\n\n"
                      "## What is right\n\nThe reference is computed in double precision.\n\n");
    put_tolerance(w, out);
    hone_buf_printf(
        out,
        "\n## How it is judged\n\n"
        "After you have finished, hone's judge takes `/app/kernel.%s`, and nothing else, to "
        "another "
        "machine.\nIt compiles the file, checks it with secret inputs and times it against the "
        "baseline (tier %s).\n"
        "The reward is log2 of the speedup over the baseline: 1 for twice as fast. It is 0 for a "
        "kernel that is wrong,\ndoes not compile or is no faster.\n"
        "The file runs in a jail: no files, no network, no processes of its own.\n\n"
        "The same judge is here, for as many trials as you like:\n\n```sh\n"
        "hone env grade /app/kernel.%s --task %s --target %s --tier screen\n```\n",
        end, w->options->tier, end, w->task->name, w->target->name);
}

/* Both images begin alike, so that they share their layers. */
static void put_image(const struct work *w, struct hone_buf *out)
{
    hone_buf_printf(
        out,
        "FROM %s\n"
        "RUN apt-get update && apt-get install -y --no-install-recommends %s%s \\\n"
        "    && rm -rf /var/lib/apt/lists/*\n"
        "ADD " BUNDLE_NAME " /opt/\n"
        "# Containers mostly refuse namespaces; then hone's weakest jail is what there is.\n"
        "ENV PATH=/opt/hone-bundle/bin:$PATH HONE_WORKSPACE=/opt/hone HONE_ALLOW_WEAK_JAIL=1\n"
        "RUN hone init --no-packs /opt/hone\n"
        "COPY task /opt/hone/tasks/%s\n"
        "WORKDIR /app\n",
        w->base, w->packages, w->task->is_oracle_torch ? " python3-torch" : "", w->task->name);
}

static void put_agent_image(const struct work *w, struct hone_buf *out)
{
    put_image(w, out);
    hone_buf_printf(out, "COPY kernel.%s /app/kernel.%s\n", w->target->extension,
                    w->target->extension);
}

static void put_verifier_image(const struct work *w, struct hone_buf *out)
{
    put_image(w, out);
    hone_buf_str(out, "COPY test.sh /tests/test.sh\n");
}

static void put_test(const struct work *w, struct hone_buf *out)
{
    hone_buf_printf(
        out,
        "#!/bin/sh\n"
        "# hone's verdict on the agent's kernel: reward.txt, reward.json and verdict.json. "
        "Where the machine was\n# at fault there is no reward, and the status says "
        "so. Only the jail runs the agent's code.\n"
        "exec /opt/hone-bundle/bin/hone env grade /app/kernel.%s --task %s --target %s "
        "--tier %s \\\n    --workspace /opt/hone --reward /logs/verifier\n",
        w->target->extension, w->task->name, w->target->name, w->options->tier);
}

static void put_baseline(const struct work *w, struct hone_buf *out)
{
    hone_buf_str(out, w->naive);
}

static void put_solution(const struct work *w, struct hone_buf *out)
{
    hone_buf_str(out, w->solution);
}

static void put_solve(const struct work *w, struct hone_buf *out)
{
    hone_buf_printf(out,
                    "#!/bin/sh\n# %s\n"
                    "cp \"$(dirname \"$0\")/kernel.%s\" /app/kernel.%s\n",
                    w->found, w->target->extension, w->target->extension);
}

static const struct {
    const char *name; /* a final '.' gets the target's extension */
    unsigned mode;
    void (*put)(const struct work *w, struct hone_buf *out);
} files[] = {
    {"task.toml", 0644, put_task_toml},
    {"instruction.md", 0644, put_instruction},
    {"environment/Dockerfile", 0644, put_agent_image},
    {"environment/kernel.", 0644, put_baseline},
    {"tests/Dockerfile", 0644, put_verifier_image},
    {"tests/test.sh", 0755, put_test},
    {"solution/solve.sh", 0755, put_solve},
    {"solution/kernel.", 0644, put_solution},
};
static const char *const contexts[] = {"environment", "tests"};

static int write_files(const struct work *w, const char *dir, struct hone_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < HONE_COUNTOF(files) && rc == 0; i++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_FILE_BYTES};
        size_t len = strlen(files[i].name);
        HONE_AUTOFREE char *path =
            hone_sprintf("%s/%s%s", dir, files[i].name,
                         files[i].name[len - 1] == '.' ? w->target->extension : "");
        files[i].put(w, &text);
        rc = hone_buf_check(&text, err);
        if (rc == 0)
            rc = hone_file_write(path, text.data, text.len, files[i].mode, false, err);
    }
    return rc;
}

/* The bundle is large and there twice a task: a link to it where the folder's disk is the same. */
static int place_bundle(const char *bundle, const char *to, struct hone_err *err)
{
    if (link(bundle, to) == 0)
        return 0;
    if (errno == ENOENT && !hone_file_exists(bundle))
        return hone_fail(err, HONE_E_NOT_FOUND, "no bundle '%s'; `make bundle` writes one", bundle);
    return hone_file_copy(bundle, to, BUNDLE_BYTES, err);
}

static int write_contexts(const struct work *w, const char *dir, struct hone_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < HONE_COUNTOF(contexts) && rc == 0; i++) {
        HONE_AUTOFREE char *context = hone_path_join(dir, contexts[i], NULL);
        HONE_AUTOFREE char *pack = hone_path_join(context, "task", NULL);
        HONE_AUTOFREE char *bundle = hone_path_join(context, BUNDLE_NAME, NULL);
        rc = hone_mkdirs(context, 0755, err);
        if (rc == 0)
            rc = place_bundle(w->options->bundle, bundle, err);
        if (rc == 0)
            rc = hone_copy_tree(w->task->dir, pack, MAX_PACK, err);
    }
    return rc;
}

/* The winner of the task's search, where one is there, was not found wrong and needs no compiler options
 * of its own, which a file cannot bring along; else the baseline. */
static void find_solution(struct hone_tool_ctx *ctx, struct work *w)
{
    HONE_CLEANUP(hone_export_done) struct hone_export won = {.n_files = 0};
    const struct hone_export_options options = {
        .rev = hone_pool_printf(ctx->pool, "search/%s", w->task->name), .has_no_test = true};
    struct hone_err why = HONE_ERR_INIT;
    w->solution = w->naive;
    w->found = "The task's baseline: no version of a search is known here.";
    if (hone_export_make(ctx, &options, &won, &why) < 0 || won.flags.n > 0 ||
        strcmp(won.task, w->task->name) != 0 || strcmp(won.target, w->target->name) != 0)
        return;
    w->solution = won.source;
    w->found =
        hone_pool_printf(ctx->pool, "Version %.12s of search/%s.", won.commit, w->task->name);
}

static int prepare(struct hone_tool_ctx *ctx, struct hone_task *task,
                   const struct hone_harbor_options *options, struct work *w, struct hone_err *err)
{
    enum hone_task_target at;
    char *naive = NULL;
    if (!hone_task_target_parse(options->target, &at))
        return hone_fail_at(err, HONE_E_ARG, "target", "no such target");
    *w = (struct work){.options = options,
                       .task = task,
                       .target = &hone_targets[at],
                       .base = options->base ? options->base : images[at].base,
                       .packages = images[at].packages,
                       .resources = images[at].resources,
                       .name = hone_pool_printf(ctx->pool, "%s-%s", task->name, options->target)};
    if (w->base == NULL)
        return hone_fail_at(err, HONE_E_ARG, "base",
                            "name an image for target %s, with its driver's libraries and NVRTC",
                            options->target);
    int rc = hone_task_select(task, options->target, err);
    if (rc == 0)
        rc = hone_task_naive(task, options->target, &naive, err);
    if (rc < 0)
        return rc;
    w->naive = hone_pool_strdup(ctx->pool, naive);
    free(naive);
    find_solution(ctx, w);
    return 0;
}

int hone_harbor_write(struct hone_tool_ctx *ctx, const char *name,
                      const struct hone_harbor_options *options, const char **ret_dir,
                      struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    struct work w;
    int rc = hone_workspace_task(ctx->app->ws, name, &task, err);
    if (rc == 0)
        rc = prepare(ctx, task, options, &w, err);
    if (rc < 0)
        return rc;
    const char *dir = hone_pool_printf(ctx->pool, "%s/%s", options->dir, w.name);
    HONE_AUTOFREE char *solution = hone_path_join(dir, "solution", NULL);
    if (hone_file_exists(dir) && !options->force)
        return hone_fail(err, HONE_E_EXISTS, "'%s' is there already; --force replaces it", dir);
    HONE_AUTOFREE char *mark = hone_path_join(dir, "task.toml", NULL);
    if (hone_file_exists(dir) && !hone_file_exists(mark))
        return hone_fail(err, HONE_E_EXISTS, "'%s' is there and no task's folder", dir);
    if (hone_file_exists(dir))
        rc = hone_remove_tree(dir, err);
    if (rc == 0)
        rc = write_contexts(&w, dir, err);
    if (rc == 0)
        rc = hone_mkdirs(solution, 0755, err);
    if (rc == 0)
        rc = write_files(&w, dir, err);
    *ret_dir = dir;
    return rc;
}

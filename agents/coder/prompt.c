/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of prompts (prompt.h): files, fenced data, hints, a version's past, knowledge, the task. Text
 * from outside goes through hone_prompt_data alone. */
#include "agents/coder/prompt.h"

#include <stdio.h>
#include <string.h>

#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"
#include "workspace/task/target.h"

enum { MAX_PROMPT_FILE = 64 << 10, MAX_DESCRIPTION = 4 << 10, MAX_PAST = 8 << 10, FENCE = 12 };

int hone_prompt_file(const char *dir, const char *name, struct hone_pool *pool, const char **ret,
                     struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, name, NULL);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int r = hone_file_read(path, MAX_PROMPT_FILE, &text, &len, err);
    if (r < 0)
        return hone_wrap(err, "prompt file");
    *ret = hone_pool_strdup(pool, text);
    return 0;
}

/* A word that the text does not hold. */
static void make_fence(int64_t seed, const char *text, char ret[FENCE + 1])
{
    for (int64_t n = 0;; n++) {
        char hex[HONE_HASH_TEXT_BYTES];
        struct hone_hasher h;
        hone_hasher_init(&h);
        hone_hasher_str(&h, "fence");
        hone_hasher_part(&h, &seed, sizeof(seed));
        hone_hasher_part(&h, &n, sizeof(n));
        hone_hasher_str(&h, text);
        hone_hasher_end(&h, hex);
        snprintf(ret, FENCE + 1, "%.12s", hex);
        if (!strstr(text, ret))
            return;
    }
}

/* Keeps the beginning and the end, in whole lines. */
static char *cut(const char *text, size_t max)
{
    size_t len = strlen(text);
    if (len <= max)
        return hone_strdup(text);
    size_t head = hone_utf8_cut(text, max * 2 / 3), tail = len - max / 3;
    while (head > 0 && text[head - 1] != '\n')
        head--;
    while (tail < len && text[tail - 1] != '\n')
        tail++;
    return hone_sprintf("%.*s[... %zu bytes left out ...]\n%s", (int)head, text, tail - head,
                        text + tail);
}

void hone_prompt_data(struct hone_buf *out, int64_t seed, const char *what, const char *text,
                      size_t max)
{
    char fence[FENCE + 1];
    HONE_AUTOFREE char *kept = cut(text, max);
    hone_utf8_defuse(kept, '?');
    size_t len = strlen(kept);
    make_fence(seed, kept, fence);
    hone_buf_printf(out, "%s\n<<DATA %s>\n%s%s<DATA %s>>\n", what, fence, kept,
                    len > 0 && kept[len - 1] != '\n' ? "\n" : "", fence);
}

void hone_prompt_hints(struct hone_buf *out, const char *const *hints, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOFREE char *safe = hone_strdup(hints[i]);
        hone_utf8_defuse(safe, '?');
        for (char *c = safe; *c; c++)
            *c = *c == '\n' || *c == '\t' ? ' ' : *c;
        hone_buf_printf(out, "%s- %s\n",
                        i == 0
                            ? "Hints of the user of this search, in the user's own words; follow "
                              "them as far as this step and the rules above allow:\n"
                            : "",
                        safe);
    }
}

void hone_prompt_past(struct hone_buf *out, int64_t seed, const struct hone_history_context *past)
{
    HONE_AUTOFREE char *times_head = hone_sprintf(
        "Its times by size in the look that its ratio rests on%s%s%s, with their ratio to the "
        "baseline's:",
        past->basis ? " (" : "", past->basis ? past->basis : "", past->basis ? ")" : "");
    const struct {
        const char *text, *head;
    } parts[] = {
        {past->profile, "What the profile was of, and each launch in it, longest first (it "
                        "disturbs: its times are no measurements):"},
        {past->times, times_head},
        {past->whole,
         "Sizes that were not measured in that look were in an earlier one, of an older "
         "version:"},
        {past->settings, "What a sweep of its tunables measured (settings that need not be tried "
                         "again):"},
        {past->way, "How the version that the step starts from came about, oldest first:"},
        {past->tried, "What was tried from that same version before and what came of it, oldest "
                      "first; learn from it and do not repeat it:"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(parts); i++)
        if (parts[i].text)
            hone_prompt_data(out, seed, parts[i].head, parts[i].text, MAX_PAST);
}

static const char knowledge_head[] =
    "What earlier searches measured on other kernels of this family, best evidence first; other "
    "kernels and sizes, so a hint and no proof:";

size_t hone_prompt_knowledge_room(void)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf frame = HONE_BUF_INIT;
    hone_prompt_data(&frame, 0, knowledge_head, "", 0);
    return HONE_LIMIT_KNOWLEDGE_PROMPT - frame.len;
}

/* Bytes of the lines from the beginning that fit; the last one may lack its end of line. */
static size_t fitting(const char *lines, size_t room)
{
    size_t len = 0;
    while (lines[len] != '\0') {
        size_t line = strcspn(lines + len, "\n");
        if (len + line + 1 > room)
            break;
        len += line + (lines[len + line] == '\n');
    }
    return len;
}

void hone_prompt_knowledge(struct hone_buf *out, int64_t seed, const char *lines)
{
    size_t len = lines ? fitting(lines, hone_prompt_knowledge_room()) : 0;
    if (len == 0)
        return;
    HONE_AUTOFREE char *kept = hone_strndup(lines, len);
    hone_prompt_data(out, seed, knowledge_head, kept, len);
}

static void add_axes(struct hone_buf *out, const struct hone_task *task)
{
    for (size_t i = 0; i < task->n_axes; i++) {
        const struct hone_axis *a = &task->axes[i];
        if (a->kind == HONE_AXIS_CONST)
            hone_buf_printf(out, "- %s = %lld\n", a->name, (long long)a->value);
        else if (a->kind == HONE_AXIS_VAR)
            hone_buf_printf(out, "- %s: %lld to %lld%s\n", a->name, (long long)a->min,
                            (long long)a->max, a->multiple > 1 ? ", a multiple" : "");
    }
    hone_buf_str(out, "Sizes that are timed:\n");
    for (size_t i = 0; i < task->n_workloads; i++) {
        hone_buf_printf(out, "- %s:", task->workloads[i].id);
        for (size_t k = 0; k < task->n_axes; k++)
            hone_buf_printf(out, " %s=%lld", task->axes[k].name,
                            (long long)task->workloads[i].axes[k]);
        hone_buf_str(out, "\n");
    }
}

static void add_tolerance(struct hone_buf *out, const struct hone_task *task)
{
    for (size_t i = 0; i < task->n_outputs; i++)
        hone_buf_printf(out, "- %s: relative error at most %g, absolute %g\n",
                        task->outputs[i].name, task->tolerance[i].rtol, task->tolerance[i].atol);
    if (task->compute_precision)
        hone_buf_printf(out, "Compute in %s or better%s.\n", task->compute_precision,
                        task->allows_lower_precision ? "; lower is allowed within tolerance" : "");
    if (task->is_deterministic)
        hone_buf_str(out, "The same call must give the same bits each time.\n");
}

const char *hone_prompt_task(const struct hone_task *task, const char *target, int64_t seed,
                             struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    HONE_AUTOFREE char *signature = hone_task_signature_for(task, target);
    bool is_cuda = hone_target_traits(target)->language == HONE_LANGUAGE_CUDA;
    hone_buf_printf(&out, "Task %s, target %s: %s\n", task->name, target,
                    is_cuda
                        ? "one .cu file with kernels and the extern \"C\" launcher below, which "
                          "launches on its stream and does not synchronise"
                        : "one C file (gnu17, gcc -O3 -march=native -fopenmp) with the function "
                          "below");
    hone_buf_printf(&out, "%s\nArrays are row-major and contiguous and do not overlap.\nSizes:\n",
                    signature);
    add_axes(&out, task);
    hone_buf_str(&out, "Tolerance:\n");
    add_tolerance(&out, task);
    hone_buf_printf(&out, "Headers: the standard ones%s. Libraries: %s.\n",
                    is_cuda ? " of CUDA device code (cuda_fp16.h, mma.h, cuda_pipeline.h...)"
                            : ", math.h, omp.h, immintrin.h",
                    "none beyond the C library's mathematics");
    if (task->description && task->description[0])
        hone_prompt_data(&out, seed, "What it computes, in its author's words:", task->description,
                         MAX_DESCRIPTION);
    const char *text = hone_pool_strdup(pool, out.data);
    hone_buf_done(&out);
    return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a result rests on (rests.h): filled in while stages run, written into the report
 * at the end.
 *
 * Parts: errors in units of the tolerance by arm; arithmetic units found in the machine code;
 * fast-math from flags and from the source's pragmas, comments left out; busy threads. Only
 * jobs with checks have them, and no sweep. */
#include "tools/runner/judge/rests.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/target.h"
#include "workspace/base/buf.h"
#include "workspace/task/target.h"

#define FAR_LESS_ACCURATE 8.0  /* times the baseline's rms error... */
#define WORTH_A_WORD      0.1  /* ...when the worst error is more than this of the tolerance */
#define WRONG_BOUND       150  /* percent: no measuring error */
#define QUOTE             '\1' /* a quotation mark within a string */

static const struct {
    const char *name;
    int bits;         /* of the values that it works on; lower than the task's: worth saying */
    bool is_integers; /* lower for a task of floats alone */
} units[HONE_N_UNITS] = {
    [HONE_UNIT_F32] = {"float32 arithmetic", 32, false},
    [HONE_UNIT_F16] = {"float16 arithmetic", 16, false},
    [HONE_UNIT_BF16] = {"bfloat16 arithmetic", 16, false},
    [HONE_UNIT_INT8] = {"integer products (VNNI)", 16, true},
    [HONE_UNIT_AMX] = {"matrix tiles (AMX)", 16, false},
    [HONE_UNIT_ROUNDED] = {"values rounded to 16 bits", 16, false},
    [HONE_UNIT_ESTIMATE] = {"approximate reciprocals or roots", 16, false},
    [HONE_UNIT_DENORMALS] = {NULL, 0, false}, /* told as fast-math */
    [HONE_UNIT_TENSOR_F16] = {"float16 tensor cores", 16, false},
    [HONE_UNIT_TENSOR_BF16] = {"bfloat16 tensor cores", 16, false},
    [HONE_UNIT_TENSOR_TF32] = {"tf32 tensor cores", 19, false},
    [HONE_UNIT_TENSOR_INT] = {"integer tensor cores", 16, true},
    [HONE_UNIT_TENSOR_F8] = {"8-bit tensor cores", 8, false},
    [HONE_UNIT_TENSOR_OTHER] = {"tensor cores", 19, false},
};

/* Bits of the narrowest float that the task gives or wants; 0: it has none. */
static int bits_of(const struct hone_task *task)
{
    int bits = 0;
    for (size_t i = 0; i < task->n_inputs + task->n_outputs; i++) {
        const struct hone_tensor *t =
            i < task->n_inputs ? &task->inputs[i] : &task->outputs[i - task->n_inputs];
        int mine = hone_dtype_is_float(t->dtype) ? 8 * (int)hone_dtype_bytes(t->dtype) : 0;
        if (mine > 0 && (bits == 0 || mine < bits))
            bits = mine;
    }
    const char *least = task->compute_precision;
    bool is_short =
        least != NULL && (strstr(least, "16") != NULL || strcmp(least, "tfloat32") == 0);
    return is_short && bits > 16 ? 16 : bits;
}

static bool has_short_integers(const struct hone_task *task)
{
    for (size_t i = 0; i < task->n_inputs; i++)
        if (!hone_dtype_is_float(task->inputs[i].dtype) &&
            hone_dtype_bytes(task->inputs[i].dtype) <= 2)
            return true;
    return false;
}

bool hone_unit_is_lower(enum hone_unit unit, const struct hone_task *task)
{
    if (units[unit].name == NULL || (units[unit].is_integers && has_short_integers(task)))
        return false;
    return units[unit].bits < bits_of(task);
}

void hone_rests_note(struct hone_rests *rests, bool is_baseline, const struct hone_compare *compare)
{
    for (size_t o = 0; o < compare->task->n_outputs && compare->is_plain; o++) {
        const struct hone_tolerance *tol = &compare->task->tolerance[o];
        const struct hone_output_stats *stats = &compare->stats[o];
        const struct hone_error_sums *sums = &stats->sums;
        double bounds = (double)stats->n * tol->atol * tol->atol +
                        2 * tol->atol * tol->rtol * sums->size_sum +
                        tol->rtol * tol->rtol * sums->size_squares;
        if (!hone_dtype_is_float(compare->task->outputs[o].dtype) || !(bounds > 0))
            continue;
        rests->errors[is_baseline].err_squares += sums->err_squares;
        rests->errors[is_baseline].bound_squares += bounds;
        rests->errors[is_baseline].worst = fmax(rests->errors[is_baseline].worst, stats->worst);
        rests->errors[is_baseline].is_known = true;
    }
}

bool hone_rests_wants(const struct hone_check_plan *plan, int dist)
{
    return dist == HONE_DIST_NORMAL && strcmp(plan->name, "verify") == 0;
}

/* ---- fast-math ---- */

/* Behind the comment that begins here; NULL: none does. */
static const char *behind_comment(const char *at)
{
    if (at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return NULL;
    bool is_line = at[1] == '/';
    const char *end = strstr(at + 2, is_line ? "\n" : "*/");
    return end == NULL ? at + strlen(at) : is_line ? end : end + 2;
}

/* Without comments and spliced lines. */
static void put_code(struct hone_buf *out, const char *source)
{
    bool is_string = false;
    for (const char *at = source; *at != '\0'; at++) {
        const char *behind = is_string ? NULL : behind_comment(at);
        if (behind != NULL) {
            hone_buf_str(out, " ");
            at = behind - 1;
            continue;
        }
        if (at[0] == '\\' && at[1] == '\n') {
            at++;
            continue;
        }
        is_string = at[0] == '"' ? !is_string : at[0] == '\n' ? false : is_string;
        if (is_string && at[0] == '\\' && at[1] != '\0')
            hone_buf_add(out, at++, 1);
        hone_buf_add(out, at, 1);
    }
}

/* The value of the escape that begins at *at (behind the backslash), as the compiler reads it. */
static char read_escape(const char **at)
{
    static const char hex[] = "0123456789abcdef";
    bool is_hex = **at == 'x';
    unsigned base = is_hex ? 16 : 8, value = 0;
    *at += is_hex;
    for (int n = 0; **at != '\0' && (is_hex || n < 3); n++, (*at)++) {
        const char *digit = strchr(hex, **at | 0x20);
        if (digit == NULL || (unsigned)(digit - hex) >= base)
            return n == 0 && !is_hex ? *(*at)++ : (char)value;
        value = value * base + (unsigned)(digit - hex);
    }
    return (char)value;
}

/* Escapes become what they stand for, in place; a quotation mark within a string (of a _Pragma)
 * becomes QUOTE. Again for the strings within strings. */
static void decode_escapes(char *text)
{
    char *to = text;
    bool is_string = false;
    for (const char *at = text; *at != '\0';) {
        is_string = at[0] == '"' ? !is_string : at[0] == '\n' ? false : is_string;
        if (!is_string || at[0] != '\\' || at[1] == '\0') {
            *to++ = *at++;
            continue;
        }
        at++;
        char c = read_escape(&at);
        *to++ = c == '"' ? QUOTE : c == '\n' || c == '\0' ? ' ' : c;
    }
    *to = '\0';
}

/* Strings that are written in parts become one: "fast" "-math". In place. */
static void join_strings(char *text, char quote)
{
    char *to = text;
    bool is_string = false;
    for (const char *at = text; *at != '\0'; at++) {
        const char *next = at + 1 + strspn(at + 1, " \t\n\r");
        if (at[0] == quote && is_string && *next == quote) {
            at = next;
            continue;
        }
        is_string = at[0] == quote ? !is_string : at[0] == '\n' ? false : is_string;
        *to++ = *at;
    }
    *to = '\0';
}

static void read_strings(char *text)
{
    decode_escapes(text);
    decode_escapes(text); /* the string that a _Pragma's string holds */
    join_strings(text, '"');
    join_strings(text, QUOTE);
}

static const char *const fast_words[] = {
    "fast-math",       "Ofast",         "unsafe-math",   "associative-math",
    "reciprocal-math", "finite-math",   "no-trapping",   "no-signed-zeros",
    "fp reassociate",  "use_fast_math", "float_control", "fp reciprocal",
};

/* A word of fast-math that is switched on: "-fno-fast-math" is not. */
static const char *fast_word(const char *text)
{
    for (size_t i = 0; i < HONE_COUNTOF(fast_words); i++)
        for (const char *at = text; (at = strstr(at, fast_words[i])) != NULL; at++)
            if (at - text < 3 || strncmp(at - 3, "no-", 3) != 0)
                return fast_words[i];
    return NULL;
}

static void add(struct hone_strs *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i], text) == 0)
            return;
    if (list->n < HONE_LIMIT_RESTS)
        list->v[list->n++] = text;
}

static bool is_fast_flag(const char *flag)
{
    static const char *const more[] = {"-ftz=true", "-prec-div=false", "-prec-sqrt=false"};
    for (size_t i = 0; i < HONE_COUNTOF(more); i++)
        if (strcmp(flag, more[i]) == 0)
            return true;
    return fast_word(flag) != NULL;
}

struct hone_strs hone_rests_fast_math(const char *source, const struct hone_strs *flags,
                                      struct hone_pool *pool)
{
    static const char *const ways[] = {"#pragma GCC optimize", "__attribute__((optimize))",
                                       "#pragma clang fp", "#pragma float_control"};
    struct hone_strs list = {.v = hone_pool_alloc(pool, HONE_LIMIT_RESTS * sizeof(char *))};
    HONE_CLEANUP(hone_buf_done) struct hone_buf code = HONE_BUF_INIT;
    for (size_t i = 0; i < flags->n; i++)
        if (is_fast_flag(flags->v[i]))
            add(&list, hone_pool_strdup(pool, flags->v[i]));
    if (source != NULL)
        put_code(&code, source);
    if (code.data != NULL)
        read_strings(code.data);
    const char *text = code.data != NULL ? code.data : "", *word = fast_word(text);
    bool is_clang = strstr(text, "clang fp") != NULL;
    bool is_pragma = strstr(text, "GCC optimize") != NULL,
         is_any = strstr(text, "optimize") != NULL;
    if (word != NULL && (is_any || is_clang || strstr(text, "float_control") != NULL))
        add(&list, hone_pool_printf(pool, "%s (%s)",
                                    is_pragma  ? ways[0]
                                    : is_any   ? ways[1]
                                    : is_clang ? ways[2]
                                               : ways[3],
                                    word));
    return list;
}

/* ---- the end of a job ---- */

static double rms(const struct hone_rests *rests, int arm)
{
    return rests->errors[arm].is_known
               ? sqrt(rests->errors[arm].err_squares / rests->errors[arm].bound_squares)
               : (double)NAN;
}

static double worst(const struct hone_rests *rests, int arm)
{
    return rests->errors[arm].is_known ? rests->errors[arm].worst : (double)NAN;
}

static size_t count_words(const struct hone_judge *judge, bool is_workload)
{
    size_t n = 0;
    for (size_t i = 0; i < judge->n_checks; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = strcmp(is_workload ? judge->checks[k].workload : judge->checks[k].distribution,
                            is_workload ? judge->checks[i].workload
                                        : judge->checks[i].distribution) != 0;
        n += is_new;
    }
    return n;
}

/* The most that was busy, over the workloads. */
static double threads_of(const struct hone_judge *judge, const char *arm)
{
    double most = (double)NAN;
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_arm_time *times = judge->workloads[w].times.v;
        for (size_t i = 0; i < judge->workloads[w].times.n; i++)
            if (strcmp(times[i].arm, arm) == 0 && times[i].cpu_ns > 0 && times[i].median_ns > 0)
                most = fmax(most, times[i].cpu_ns / times[i].median_ns);
    }
    return most;
}

/* "-O3 -march=native" of the command as it was run, then what the version adds. */
static const char *flags_of(const struct hone_judge *judge)
{
    const struct hone_strs *flags = &judge->slots[0].arm->flags;
    const char *text = "",
               *command = judge->report->build != NULL ? judge->report->build->command : NULL;
    for (const char *at = command; at != NULL && *at != '\0';) {
        size_t len = strcspn(at, " ");
        bool is_usual = strncmp(at, "-O", 2) == 0 || strncmp(at, "-march=", 7) == 0 ||
                        strncmp(at, "-arch", 5) == 0 || strncmp(at, "--gpu-arch", 10) == 0;
        if (is_usual && strlen(text) < 100)
            text = hone_pool_printf(judge->pool, "%s%s%.*s", text, *text ? " " : "",
                                    (int)hone_min_i64((int64_t)len, 40), at);
        at += len + (at[len] == ' ');
    }
    for (size_t i = 0; i < flags->n && strlen(text) < 160; i++)
        if (strstr(text, flags->v[i]) == NULL)
            text = hone_pool_printf(judge->pool, "%s%s%.60s", text, *text ? " " : "", flags->v[i]);
    return text[0] != '\0' ? text : NULL;
}

/* Of the workload that comes nearest to its bound. */
static const char *bound_unit(const struct hone_judge *judge)
{
    const struct hone_workload_report *most = NULL;
    for (size_t w = 0; w < judge->n_workloads; w++)
        if (most == NULL || judge->workloads[w].percent_of_bound > most->percent_of_bound)
            most = &judge->workloads[w];
    if (most == NULL || most->bound_by == NULL)
        return NULL;
    return strcmp(most->bound_by, "bytes") == 0 ? "memory at its measured rate"
                                                : judge->machine.flops_unit;
}

/* Operations that nobody told set the bound of some size. */
static bool is_bound_counted(const struct hone_judge *judge)
{
    bool is_any = false;
    for (size_t w = 0; judge->task->is_flops_guessed && w < judge->n_workloads; w++) {
        const struct hone_workload_report *report = &judge->workloads[w];
        is_any = is_any || (report->percent_of_bound > 0 && report->bound_by != NULL &&
                            strcmp(report->bound_by, "flops") == 0);
    }
    return is_any;
}

static void fill_units(struct hone_judge *judge, struct hone_rests_report *ret)
{
    ret->has_units = judge->rests.has_units;
    ret->units.v = hone_pool_alloc(judge->pool, HONE_N_UNITS * sizeof(char *));
    for (int u = 0; u < HONE_N_UNITS; u++)
        if ((judge->rests.units & 1u << u) != 0 &&
            hone_unit_is_lower((enum hone_unit)u, judge->task))
            ret->units.v[ret->units.n++] = units[u].name;
}

static void fill_fast_math(struct hone_judge *judge, struct hone_rests_report *ret)
{
    HONE_AUTOFREE char *source = NULL;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    (void)hone_judge_read_source(judge, &judge->slots[0], &source, &end);
    ret->fast_math = hone_rests_fast_math(source, &judge->slots[0].arm->flags, judge->pool);
    if ((judge->rests.units & 1u << HONE_UNIT_DENORMALS) != 0)
        add(&ret->fast_math,
            "the floating-point environment is set (MXCSR, fesetenv): denormals may become "
            "zero, rounding may differ");
}

/* What `hone task new` wrote into the baseline for arrays that are read and written. */
static void fill_copied(struct hone_judge *judge, struct hone_rests_report *ret)
{
    const struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    struct hone_outcome end;
    HONE_AUTOFREE char *source = NULL;
    if (baseline != NULL)
        (void)hone_judge_read_source(judge, baseline, &source, &end);
    if (source == NULL)
        return;
    ret->copied.v = hone_pool_alloc(judge->pool, HONE_LIMIT_RESTS * sizeof *ret->copied.v);
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        const char *name = judge->task->outputs[o].name;
        const char *tail = hone_pool_printf(judge->pool, ", %s_in, (size_t)(", name);
        bool is_copy = false;
        for (const char *at = source; !is_copy && (at = strstr(at, tail)) != NULL; at++) {
            const char *line = at;
            while (line > source && line[-1] != '\n')
                line--;
            line += strspn(line, " ");
            is_copy = strncmp(line, "memcpy(", strlen("memcpy(")) == 0 ||
                      strncmp(line, "cudaMemcpyAsync(", strlen("cudaMemcpyAsync(")) == 0;
        }
        if (is_copy)
            add(&ret->copied, name);
    }
}

static void say(struct hone_judge *judge, const struct hone_rests_report *rests)
{
    const struct hone_report *report = judge->report;
    double factor = rests->rms_error / rests->baseline_rms_error;
    if (factor > FAR_LESS_ACCURATE && rests->worst_error > WORTH_A_WORD)
        hone_judge_warn(judge,
                        "less accurate than the baseline: %.3g times its rms error, within the "
                        "tolerance",
                        factor);
    bool is_source_counted = judge->task->is_flops_guessed; /* a better algorithm needs less */
    if (report->percent_of_bound > WRONG_BOUND && rests->has_units && rests->units.n == 0 &&
        !is_source_counted)
        hone_judge_doubt(judge,
                         "it needs %.2g of the time that %s need at least, and holds no unit that "
                         "is faster: the bound is wrong or the kernel does less work",
                         100 / report->percent_of_bound,
                         rests->bound_unit != NULL ? rests->bound_unit : "the machine's units");
}

/* The same machine code as the parent's, by its word: what the two differ by is noise. */
static bool is_parents_code(const struct hone_judge *judge)
{
    const char *mine = judge->report->build != NULL ? judge->report->build->code : NULL;
    for (size_t i = 1; i < judge->n_slots; i++)
        if (strcmp(judge->slots[i].name, "parent") == 0 && judge->slots[i].code != NULL)
            return mine != NULL && strcmp(mine, judge->slots[i].code) == 0;
    return false;
}

void hone_rests_finish(struct hone_judge *judge)
{
    bool is_sweep = judge->job->points.n > 0; /* of many versions: no result */
    if (judge->task == NULL || judge->n_slots == 0 || judge->n_checks == 0 || is_sweep)
        return;
    struct hone_rests_report *ret = hone_pool_alloc(judge->pool, sizeof *ret);
    *ret = (struct hone_rests_report){
        .rms_error = rms(&judge->rests, 0),
        .worst_error = worst(&judge->rests, 0),
        .baseline_rms_error = rms(&judge->rests, 1),
        .baseline_worst_error = worst(&judge->rests, 1),
        .flags = flags_of(judge),
        .is_deterministic = judge->task->is_deterministic,
        .threads = threads_of(judge, "candidate"),
        .baseline_threads = threads_of(judge, "baseline"),
        .n_threads = hone_judge_threads(judge),
        .n_sizes = (int64_t)count_words(judge, true),
        .n_contents = (int64_t)count_words(judge, false),
        .bound_unit = bound_unit(judge),
        .is_bound_counted = is_bound_counted(judge),
        .is_parents_code = is_parents_code(judge),
    };
    fill_units(judge, ret);
    fill_fast_math(judge, ret);
    fill_copied(judge, ret);
    judge->report->rests_on = ret;
    say(judge, ret);
}

#include "agents/features.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const names[HONE_N_FEATURES] = {
    [HONE_F_LOOP_DEPTH] = "loop_depth",
    [HONE_F_FAR_INNER] = "strided_inner",
    [HONE_F_UNIT_INNER] = "unit_inner",
    [HONE_F_INDIRECT] = "indirect",
    [HONE_F_REUSE] = "reuse",
    [HONE_F_CHAINS] = "chains",
    [HONE_F_PARALLEL_LOOPS] = "parallel_loops",
    [HONE_F_IS_THREADED] = "is_threaded",
    [HONE_F_IS_SIMD] = "is_simd",
    [HONE_F_PLAIN_INNER] = "plain_inner",
    [HONE_F_MATH_CALLS] = "math_calls",
    [HONE_F_COPIES] = "copies",
    [HONE_F_ALLOCATIONS] = "allocations",
    [HONE_F_DIVISIONS] = "divisions",
    [HONE_F_BRANCHES] = "branches",
    [HONE_F_PASSES] = "passes",
    [HONE_F_TUNABLES] = "tunables",
    [HONE_F_INTENSITY] = "flops_per_byte",
    [HONE_F_WORKING_SET] = "working_set_bytes",
    [HONE_F_CORES] = "cores",
    [HONE_F_THREADS_BUSY] = "threads_busy",
    [HONE_F_PERCENT_OF_BOUND] = "percent_of_bound",
    [HONE_F_BOUND_IS_BYTES] = "bound_is_bytes",
    [HONE_F_NS] = "ns",
    [HONE_F_VECTORIZED] = "vectorized_loops",
    [HONE_F_MISSED] = "missed_loops",
};

const char *hone_feature_name(enum hone_feature_id id)
{
    return names[id];
}

double hone_feature_or(const struct hone_features *f, enum hone_feature_id id, double fallback)
{
    return f->v[id].is_present ? f->v[id].value : fallback;
}

const char *hone_features_text(const struct hone_features *f, const enum hone_feature_id *ids,
                               size_t n, struct hone_pool *pool)
{
    const char *out = "";
    for (size_t i = 0; i < n; i++)
        if (f->v[ids[i]].is_present)
            out = hone_pool_printf(pool, "%s%s%s=%.4g", out, *out ? " " : "", names[ids[i]],
                                   f->v[ids[i]].value);
    return out;
}

static void set(struct hone_features *f, enum hone_feature_id id, double value)
{
    if (isfinite(value))
        f->v[id] = (struct hone_feature){true, value};
}

static void add(struct hone_features *f, enum hone_feature_id id, double value)
{
    set(f, id, hone_feature_or(f, id, 0) + value);
}

static void count_accesses(const struct hone_coder_input *in, const struct hone_c_loop *l,
                           struct hone_features *f)
{
    enum { MAX = 64 };
    struct hone_c_access a[MAX];
    size_t n = hone_c_accesses(in->nest.function, l->node->body, a, MAX);
    for (size_t i = 0; i < n && i < MAX; i++) {
        enum hone_c_stride s = hone_c_poly_stride(&a[i].index, l->var);
        add(f, HONE_F_FAR_INNER, s == HONE_C_STRIDE_FAR);
        add(f, HONE_F_UNIT_INNER, s == HONE_C_STRIDE_UNIT);
        add(f, HONE_F_INDIRECT, s == HONE_C_STRIDE_UNKNOWN);
        for (const struct hone_c_loop *p = l->parent; p; p = p->parent)
            if (s != HONE_C_STRIDE_ZERO && p->var &&
                hone_c_poly_stride(&a[i].index, p->var) == HONE_C_STRIDE_ZERO)
                add(f, HONE_F_REUSE, 1);
    }
}

static void count_nodes(const struct hone_c_node *top, bool is_innermost, struct hone_features *f)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        if (n->kind == HONE_C_CALL && (!strcmp(n->name, "memcpy") || !strcmp(n->name, "memmove")))
            add(f, HONE_F_COPIES, 1);
        else if (n->kind == HONE_C_CALL && is_innermost && strchr("eltpscf", n->name[0]) &&
                 strncmp(n->name, "hone_", 5) != 0)
            add(f, HONE_F_MATH_CALLS, 1);
        if (!is_innermost)
            continue;
        if (n->kind == HONE_C_IF || n->kind == HONE_C_CONDITIONAL)
            add(f, HONE_F_BRANCHES, 1);
        if (n->kind == HONE_C_BINARY && (!strcmp(n->op, "/") || !strcmp(n->op, "%")))
            add(f, HONE_F_DIVISIONS, 1);
    }
}

static void of_loops(const struct hone_coder_input *in, struct hone_features *f)
{
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
        size_t n = 0;
        if (l->depth + 1 > hone_feature_or(f, HONE_F_LOOP_DEPTH, 0))
            set(f, HONE_F_LOOP_DEPTH, l->depth + 1);
        if (l->depth == 0 || l->is_innermost)
            count_nodes(l->node->body, l->is_innermost, f);
        for (size_t k = 0; k < i; k++)
            add(f, HONE_F_PASSES,
                in->nest.loops[k].node->parent == l->node->parent && !l->is_small);
        if (l->has_simd)
            set(f, HONE_F_IS_SIMD, 1);
        if (!l->is_innermost || !l->var || l->is_small || l->is_fallback)
            continue;
        add(f, HONE_F_PLAIN_INNER, !l->has_simd);
        if (l->is_canonical && hone_c_reductions(l, r, &n))
            add(f, HONE_F_CHAINS, (double)n);
        count_accesses(in, l, f);
    }
}

static void of_text(const struct hone_coder_input *in, struct hone_features *f)
{
    for (int id = HONE_F_LOOP_DEPTH; id <= HONE_F_TUNABLES; id++)
        set(f, (enum hone_feature_id)id, 0);
    const struct hone_c_loop *loops[8];
    set(f, HONE_F_PARALLEL_LOOPS, (double)hone_parallel_loops(in, loops, HONE_COUNTOF(loops)));
    set(f, HONE_F_IS_THREADED, hone_is_threaded(in));
    set(f, HONE_F_IS_SIMD,
        strstr(in->tree->source, "vector_size") || strstr(in->tree->source, "_mm"));
    for (const char *s = in->tree->source; (s = strstr(s, "#pragma hone tune")); s++)
        add(f, HONE_F_TUNABLES, 1);
    for (const char *s = in->tree->source; (s = strstr(s, "malloc(")); s++)
        add(f, HONE_F_ALLOCATIONS, 1);
    of_loops(in, f);
}

static void of_task(const struct hone_task *task, struct hone_features *f)
{
    double most = 0, flops = 0, bytes = 0;
    for (size_t i = 0; i < task->n_workloads; i++) {
        const struct hone_workload *w = &task->workloads[i];
        double total = 0;
        for (size_t k = 0; k < task->n_inputs; k++)
            total += (double)(hone_tensor_elements(task, &task->inputs[k], w) *
                              hone_dtype_bytes(task->inputs[k].dtype));
        for (size_t k = 0; k < task->n_outputs; k++)
            total += (double)(hone_tensor_elements(task, &task->outputs[k], w) *
                              hone_dtype_bytes(task->outputs[k].dtype));
        most = fmax(most, total);
        if (i == 0 && task->flops && task->bytes &&
            hone_task_eval(task, task->flops, w, &flops, NULL) == 0 &&
            hone_task_eval(task, task->bytes, w, &bytes, NULL) == 0 && bytes > 0)
            set(f, HONE_F_INTENSITY, flops / bytes);
    }
    set(f, HONE_F_WORKING_SET, most);
}

static void of_report(const struct hone_report *report, struct hone_features *f)
{
    double log_ns = 0, busy = 0;
    int64_t n = 0, n_bytes = 0;
    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_workload_report *w =
            &((const struct hone_workload_report *)report->workloads.v)[i];
        n_bytes += w->bound_by && strcmp(w->bound_by, "bytes") == 0;
        for (size_t k = 0; k < w->times.n; k++) {
            const struct hone_arm_time *t = &((const struct hone_arm_time *)w->times.v)[k];
            if (strcmp(t->arm, "candidate") != 0 || !(t->median_ns > 0))
                continue;
            log_ns += log(t->median_ns);
            busy += t->cpu_ns / t->median_ns;
            n++;
        }
    }
    if (n > 0) {
        set(f, HONE_F_NS, exp(log_ns / (double)n));
        if (busy > 0)
            set(f, HONE_F_THREADS_BUSY, busy / (double)n);
    }
    if (report->workloads.n > 0)
        set(f, HONE_F_BOUND_IS_BYTES, 2 * n_bytes > (int64_t)report->workloads.n);
    if (report->percent_of_bound > 0)
        set(f, HONE_F_PERCENT_OF_BOUND, report->percent_of_bound);
    for (size_t i = 0; report->profile && i < report->profile->remarks.n; i++) {
        const struct hone_remark *r = &((const struct hone_remark *)report->profile->remarks.v)[i];
        add(f, HONE_F_VECTORIZED, r->kind && strcmp(r->kind, "vectorized") == 0);
        add(f, HONE_F_MISSED, r->kind && strcmp(r->kind, "missed") == 0);
    }
}

void hone_features_of(const struct hone_coder_input *in, const struct hone_task *task,
                      const struct hone_report *report, struct hone_features *ret)
{
    *ret = (struct hone_features){.v = {{false, 0}}};
    if (in)
        of_text(in, ret);
    if (task)
        of_task(task, ret);
    set(ret, HONE_F_CORES, (double)sysconf(_SC_NPROCESSORS_ONLN));
    if (report)
        of_report(report, ret);
}

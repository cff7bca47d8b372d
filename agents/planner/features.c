/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct hone_features from four places (features.h), in this order: the text (loops and
 * accesses from the tree, or words alone where libclang could not read it), the task's
 * formulas, the last report, the machine. A later place never clears what an earlier one found. */
#include "agents/planner/features.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "workspace/task/target.h"

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
    [HONE_F_KERNELS] = "kernels",
    [HONE_F_ONE_THREAD] = "one_thread_kernels",
    [HONE_F_ROW_LOOPS] = "row_loops",
    [HONE_F_LOCAL_ARRAYS] = "local_arrays",
    [HONE_F_SHARED] = "shared",
    [HONE_F_SHARED_COLUMNS] = "shared_columns",
    [HONE_F_BARRIERS] = "barriers",
    [HONE_F_SHUFFLES] = "shuffles",
    [HONE_F_ATOMICS] = "atomics",
    [HONE_F_VECTORS] = "vectors",
    [HONE_F_ASYNC] = "async_copies",
    [HONE_F_MMA] = "mma",
    [HONE_F_RESTRICT] = "restrict",
    [HONE_F_NARROW] = "narrow_types",
    [HONE_F_INTENSITY] = "flops_per_byte",
    [HONE_F_WORKING_SET] = "working_set_bytes",
    [HONE_F_CORES] = "cores",
    [HONE_F_THREADS_BUSY] = "threads_busy",
    [HONE_F_PERCENT_OF_BOUND] = "percent_of_bound",
    [HONE_F_BOUND_IS_BYTES] = "bound_is_bytes",
    [HONE_F_NS] = "ns",
    [HONE_F_VECTORIZED] = "vectorized_loops",
    [HONE_F_MISSED] = "missed_loops",
    [HONE_F_ARCH] = "compute_capability",
    [HONE_F_SM_ACTIVE] = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    [HONE_F_WARPS_ACTIVE] = "sm__warps_active.avg.pct_of_peak_sustained_active",
    [HONE_F_ISSUE_ACTIVE] = "smsp__issue_active.avg.pct_of_peak_sustained_active",
    [HONE_F_WARPS_ELIGIBLE] = "smsp__warps_eligible.avg.per_cycle_active",
    [HONE_F_INST] = "smsp__inst_executed.sum",
    [HONE_F_DRAM_BYTES] = "dram__bytes.sum",
    [HONE_F_DRAM_PCT] = "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    [HONE_F_L2_PCT] = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    [HONE_F_L2_HIT] = "lts__t_sector_hit_rate.pct",
    [HONE_F_L1_HIT] = "l1tex__t_sector_hit_rate.pct",
    [HONE_F_L1_PCT] = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    [HONE_F_SHARED_PCT] =
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    [HONE_F_SHARED_WAVEFRONTS] = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    [HONE_F_FMA_PCT] = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    [HONE_F_ALU_PCT] = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
    [HONE_F_TENSOR_PCT] = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    [HONE_F_XU_PCT] = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    [HONE_F_LSU_PCT] = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    [HONE_F_LOCAL_LD] = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    [HONE_F_LANES_ON] = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    [HONE_F_LANES] = "smsp__thread_inst_executed_per_inst_executed.ratio",
    [HONE_F_STALL_LONG] = "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
    [HONE_F_STALL_SHORT] = "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct",
    [HONE_F_STALL_BARRIER] = "smsp__warp_issue_stalled_barrier_per_warp_active.pct",
    [HONE_F_STALL_LG] = "smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct",
    [HONE_F_STALL_MIO] = "smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct",
    [HONE_F_STALL_WAIT] = "smsp__warp_issue_stalled_wait_per_warp_active.pct",
    [HONE_F_SECTORS_LD] = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    [HONE_F_SECTORS_ST] = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    [HONE_F_SECTOR_USE_LD] = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    [HONE_F_SECTOR_USE_ST] = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    [HONE_F_VECTOR_INST] = "smsp__sass_inst_executed_op_memory_128b.sum",
    [HONE_F_ASYNC_INST] = "smsp__sass_inst_executed_op_ldgsts.sum",
    [HONE_F_ATOMIC_INST] = "smsp__sass_inst_executed_op_global_atom.sum",
    [HONE_F_TIME_OVER_ROOF] = "hone__time_over_roof",
    [HONE_F_LAUNCH_SHARE] = "hone__launch_share",
    [HONE_F_LAUNCHES] = "hone__launches",
    [HONE_F_KERNEL_US] = "hone__kernel_us",
    [HONE_F_TRAFFIC_RATIO] = "hone__traffic_ratio",
    [HONE_F_WORK_RATIO] = "hone__work_ratio",
    [HONE_F_CONFLICT_SHARE] = "hone__conflict_share",
    [HONE_F_LOCAL_SHARE] = "hone__local_sectors_per_inst",
    [HONE_F_SPILL_BYTES] = "hone__spill_bytes",
    [HONE_F_FRAME_BYTES] = "hone__frame_bytes",
    [HONE_F_REGISTERS] = "launch__registers_per_thread",
    [HONE_F_WAVES] = "launch__waves_per_multiprocessor",
    [HONE_F_OCCUPANCY] = "launch__occupancy_percent",
    [HONE_F_BLOCK_SIZE] = "launch__block_size",
    [HONE_F_LIMIT_REGISTERS] = "launch__occupancy_limit_registers",
    [HONE_F_LIMIT_SHARED] = "launch__occupancy_limit_shared_mem",
    [HONE_F_LIMIT_BLOCKS] = "launch__occupancy_limit_blocks",
    [HONE_F_LIMIT_WARPS] = "launch__occupancy_limit_warps",
};

const char *hone_feature_name(enum hone_feature_id id)
{
    return names[id];
}

struct hone_json *hone_features_json(const struct hone_features *f, int first)
{
    struct hone_json *out = hone_json_new_object();
    for (int i = first; i < HONE_N_FEATURES; i++)
        if (f->v[i].is_present)
            hone_json_set_f64(out, names[i], f->v[i].value);
    return out;
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

enum hone_feature_id hone_feature_find(const char *name)
{
    int id = 0;
    while (id < HONE_N_FEATURES && strcmp(names[id], name) != 0)
        id++;
    return (enum hone_feature_id)id;
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
        for (const struct hone_c_loop *p = l->parent; p; p = p->parent) {
            enum hone_c_stride outer =
                p->var ? hone_c_poly_stride(&a[i].index, p->var) : HONE_C_STRIDE_UNKNOWN;
            bool is_window = s == HONE_C_STRIDE_UNIT && outer == s; /* x + dx: windows overlap */
            add(f, HONE_F_REUSE,
                is_window || (s != HONE_C_STRIDE_ZERO && outer == HONE_C_STRIDE_ZERO));
        }
    }
}

/* Those that a vector loop or a polynomial could replace; no square roots, minima, own functions.
 */
static bool is_math_call(const char *name)
{
    static const char *const stems[] = {"exp",   "exp2",  "exp10", "expm1", "log",  "log2", "log10",
                                        "log1p", "sin",   "cos",   "tan",   "asin", "acos", "atan",
                                        "atan2", "sinh",  "cosh",  "tanh",  "pow",  "erf",  "erfc",
                                        "cbrt",  "hypot", "fmod",  "tgamma"};
    for (size_t i = 0; i < HONE_COUNTOF(stems); i++) {
        size_t n = strlen(stems[i]);
        if (strncmp(name, stems[i], n) == 0 &&
            (name[n] == '\0' || (strchr("fl", name[n]) && name[n + 1] == '\0')))
            return true;
    }
    return false;
}

static void count_nodes(const struct hone_c_node *top, bool is_innermost, struct hone_features *f)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        if (n->kind == HONE_C_CALL && (!strcmp(n->name, "memcpy") || !strcmp(n->name, "memmove")))
            add(f, HONE_F_COPIES, 1);
        else if (n->kind == HONE_C_CALL && is_innermost && is_math_call(n->name))
            add(f, HONE_F_MATH_CALLS, 1);
        if (!is_innermost)
            continue;
        if (n->kind == HONE_C_IF || n->kind == HONE_C_CONDITIONAL)
            add(f, HONE_F_BRANCHES, 1);
        if (n->kind == HONE_C_BINARY && (!strcmp(n->op, "/") || !strcmp(n->op, "%")))
            add(f, HONE_F_DIVISIONS, 1);
    }
}

/* Loops that were not read may hold anything: "none" is then not known. */
static void doubt(struct hone_features *f)
{
    static const enum hone_feature_id ids[] = {HONE_F_FAR_INNER, HONE_F_UNIT_INNER,
                                               HONE_F_INDIRECT,  HONE_F_REUSE,
                                               HONE_F_CHAINS,    HONE_F_PLAIN_INNER};
    for (size_t i = 0; i < HONE_COUNTOF(ids); i++)
        f->v[ids[i]].is_present = f->v[ids[i]].is_present && f->v[ids[i]].value > 0;
}

static void of_loops(const struct hone_coder_input *in, struct hone_features *f)
{
    size_t n_unread = 0;
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
        n_unread += l->is_innermost && !l->is_fallback && (!l->var || l->is_small);
        if (!l->is_innermost || !l->var || l->is_small || l->is_fallback)
            continue;
        add(f, HONE_F_PLAIN_INNER, !l->has_simd);
        if (l->is_canonical && hone_c_reductions(l, r, &n))
            add(f, HONE_F_CHAINS, (double)n);
        count_accesses(in, l, f);
    }
    if (n_unread > 0)
        doubt(f);
}

/* A sum that grows in memory is a chain too: it stands in a local in the normal form. */
static void of_normal(const struct hone_coder_input *normal, struct hone_features *f)
{
    double n_chains = 0;
    for (size_t i = 0; i < normal->nest.n; i++) {
        const struct hone_c_loop *l = &normal->nest.loops[i];
        struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
        size_t n = 0;
        if (l->is_innermost && l->is_canonical && !l->is_small && !l->is_fallback &&
            hone_c_reductions(l, r, &n))
            n_chains += (double)n;
    }
    if (n_chains > hone_feature_or(f, HONE_F_CHAINS, 0))
        set(f, HONE_F_CHAINS, n_chains);
}

/* What words tell, of a text that may not be readable. */
static void of_words(const struct hone_coder_input *in, struct hone_features *f)
{
    const char *source = in->tree->source;
    set(f, HONE_F_IS_THREADED, hone_is_threaded(in));
    set(f, HONE_F_IS_SIMD, strstr(source, "vector_size") || strstr(source, "_mm"));
    set(f, HONE_F_TUNABLES, 0);
    set(f, HONE_F_ALLOCATIONS, 0);
    for (const char *s = source; (s = strstr(s, "#pragma hone tune")); s++)
        add(f, HONE_F_TUNABLES, 1);
    for (const char *s = source; (s = strstr(s, "malloc(")); s++)
        add(f, HONE_F_ALLOCATIONS, 1);
}

static void of_text(const struct hone_coder_input *in, struct hone_features *f)
{
    if (in->is_blind) {
        of_words(in, f);
        return;
    }
    for (int id = HONE_F_LOOP_DEPTH; id <= HONE_F_TUNABLES; id++)
        set(f, (enum hone_feature_id)id, 0);
    of_words(in, f);
    const struct hone_c_loop *loops[8];
    size_t n_parallel = hone_parallel_loops(in, loops, HONE_COUNTOF(loops));
    set(f, HONE_F_PARALLEL_LOOPS, (double)n_parallel);
    if (n_parallel == 0 && in->nest.n > 0) /* no proof is no refutation */
        f->v[HONE_F_PARALLEL_LOOPS].is_present = false;
    of_loops(in, f);
    if (in->normal)
        of_normal(in->normal, f);
}

static void of_task(const struct hone_task *task, struct hone_features *f)
{
    const char *formula = task->is_flops_guessed ? task->flops_counted : task->flops;
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
        if (i == 0 && formula && task->bytes &&
            hone_task_eval(task, formula, w, &flops, NULL) == 0 &&
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
        add(f, HONE_F_VECTORIZED, r->kind == HONE_REMARK_VECTORIZED);
        add(f, HONE_F_MISSED, r->kind == HONE_REMARK_MISSED);
    }
}

void hone_features_of(const struct hone_coder_input *in, const struct hone_task *task,
                      const struct hone_report *report, struct hone_features *ret)
{
    *ret = (struct hone_features){.v = {{false, 0}}};
    if (in && hone_target_traits(in->target)->language == HONE_LANGUAGE_CUDA)
        hone_features_of_cuda(in, ret);
    else if (in)
        of_text(in, ret);
    if (task)
        of_task(task, ret);
    set(ret, HONE_F_CORES, (double)sysconf(_SC_NPROCESSORS_ONLN));
    if (report) {
        of_report(report, ret);
        hone_features_of_counters(report, ret);
    }
}

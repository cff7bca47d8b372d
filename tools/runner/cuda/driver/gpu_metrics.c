/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/driver/gpu_metrics.h"

#include <math.h>
#include <string.h>

#define T0         .tier = HONE_GPU_TIER_T0
#define T1         .tier = HONE_GPU_TIER_T1
#define STALLS     .tier = HONE_GPU_TIER_STALLS
#define T2         .tier = HONE_GPU_TIER_T2
#define SASS       .tier = HONE_GPU_TIER_SASS
#define SUM        .fold = HONE_GPU_FOLD_SUM
#define MEAN       .fold = HONE_GPU_FOLD_MEAN
#define STALL(why) "smsp__warp_issue_stalled_" why "_per_warp_active.pct"

/* clang-format off */
const struct hone_gpu_metric hone_gpu_metrics[HONE_GPU_N_METRICS] = {
    [HONE_GPU_TIME] = {"gpu__time_duration.sum", .unit = "ns", T0, SUM, .feeds = "time on the device"},
    [HONE_GPU_CYCLES] = {"sm__cycles_elapsed.max", .unit = "cycles", T0, SUM, .feeds = "clock under the profiler"},
    [HONE_GPU_SM_ACTIVE] = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", .unit = "%", T0, MEAN, .feeds = "idle multiprocessors: parallelism, tail"},
    [HONE_GPU_WARPS_ACTIVE] = {"sm__warps_active.avg.pct_of_peak_sustained_active", .unit = "%", T0, MEAN, .feeds = "achieved occupancy"},
    [HONE_GPU_ISSUE_ACTIVE] = {"smsp__issue_active.avg.pct_of_peak_sustained_active", .unit = "%", T0, MEAN, .feeds = "issue slots in use"},
    [HONE_GPU_WARPS_ELIGIBLE] = {"smsp__warps_eligible.avg.per_cycle_active", .unit = "warps", T0, MEAN, .feeds = "choice of the scheduler: below 1 it starves"},
    [HONE_GPU_INST] = {"smsp__inst_executed.sum", .unit = "instr", T0, SUM, .feeds = "instructions"},
    [HONE_GPU_DRAM_BYTES] = {"dram__bytes.sum", .unit = "bytes", T0, SUM, .feeds = "traffic ratio, arithmetic intensity"},
    [HONE_GPU_DRAM_READ] = {"dram__bytes_read.sum", .instead = "dram__bytes_op_read.sum", .unit = "bytes", T0, SUM, .feeds = "reads"},
    [HONE_GPU_DRAM_WRITE] = {"dram__bytes_write.sum", .instead = "dram__bytes_op_write.sum", .unit = "bytes", T0, SUM, .feeds = "writes"},
    [HONE_GPU_DRAM_PCT] = {"dram__throughput.avg.pct_of_peak_sustained_elapsed", .unit = "%", T0, MEAN, .feeds = "dram_bound"},
    [HONE_GPU_L2_PCT] = {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", .unit = "%", T0, MEAN, .feeds = "l2_bound"},
    [HONE_GPU_L1_HIT] = {"l1tex__t_sector_hit_rate.pct", .unit = "%", T0, MEAN, .feeds = "reuse in L1"},
    [HONE_GPU_L1_PCT] = {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", .unit = "%", T0, MEAN, .feeds = "l1_shared_bound"},
    [HONE_GPU_SHARED_PCT] = {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", .unit = "%", T0, MEAN, .feeds = "l1_shared_bound"},
    [HONE_GPU_FMA_PCT] = {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", .unit = "%", T0, MEAN, .feeds = "fma_bound"},
    [HONE_GPU_ALU_PCT] = {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", .unit = "%", T0, MEAN, .feeds = "alu_index_bound"},
    [HONE_GPU_TENSOR_PCT] = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", .unit = "%", T0, MEAN, .feeds = "tensor_bound"},

    [HONE_GPU_L2_HIT] = {"lts__t_sector_hit_rate.pct", .unit = "%", T1, MEAN, .feeds = "reuse in L2"},
    [HONE_GPU_CONFLICTS_LD] = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", .unit = "conflicts", T1, SUM, .feeds = "shared_conflict"},
    [HONE_GPU_CONFLICTS_ST] = {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", .unit = "conflicts", T1, SUM, .feeds = "shared_conflict"},
    [HONE_GPU_SHARED_WAVEFRONTS] = {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", .unit = "wavefronts", T1, SUM, .feeds = "shared_conflict"},
    [HONE_GPU_LOCAL_LD] = {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", .unit = "sectors", T1, SUM, .feeds = "spill"},
    [HONE_GPU_LANES] = {"smsp__thread_inst_executed_per_inst_executed.ratio", .unit = "lanes", T1, MEAN, .feeds = "divergence"},
    [HONE_GPU_LANES_ON] = {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", .unit = "lanes", T1, MEAN, .feeds = "divergence, predication"},
    [HONE_GPU_XU_PCT] = {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", .unit = "%", T1, MEAN, .feeds = "xu_bound"},
    [HONE_GPU_LSU_PCT] = {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", .unit = "%", T1, MEAN, .feeds = "l1_shared_bound"},
    [HONE_GPU_FP64_PCT] = {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", .unit = "%", T1, MEAN, .feeds = "fma_bound in double"},

    [HONE_GPU_STALL_LONG] = {STALL("long_scoreboard"), .unit = "%", STALLS, MEAN, .feeds = "waits for L1, L2, DRAM"},
    [HONE_GPU_STALL_SHORT] = {STALL("short_scoreboard"), .unit = "%", STALLS, MEAN, .feeds = "waits for shared memory, special functions"},
    [HONE_GPU_STALL_BARRIER] = {STALL("barrier"), .unit = "%", STALLS, MEAN, .feeds = "barrier_bound"},
    [HONE_GPU_STALL_MATH] = {STALL("math_pipe_throttle"), .unit = "%", STALLS, MEAN, .feeds = "a pipe is full"},
    [HONE_GPU_STALL_LG] = {STALL("lg_throttle"), .unit = "%", STALLS, MEAN, .feeds = "too many global accesses in flight"},
    [HONE_GPU_STALL_MIO] = {STALL("mio_throttle"), .unit = "%", STALLS, MEAN, .feeds = "too many shared accesses in flight"},
    [HONE_GPU_STALL_WAIT] = {STALL("wait"), .unit = "%", STALLS, MEAN, .feeds = "fixed latency between dependent instructions"},
    [HONE_GPU_STALL_NOT_SELECTED] = {STALL("not_selected"), .unit = "%", STALLS, MEAN, .feeds = "others were chosen: enough warps"},

    [HONE_GPU_SECTORS_LD] = {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", .unit = "sectors", T2, MEAN, .feeds = "uncoalesced"},
    [HONE_GPU_SECTORS_ST] = {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", .unit = "sectors", T2, MEAN, .feeds = "uncoalesced"},
    [HONE_GPU_STALL_DRAIN] = {STALL("drain"), .unit = "%", T2, MEAN, .feeds = "stores at the end of a warp"},
    [HONE_GPU_STALL_NO_INST] = {STALL("no_instruction"), .unit = "%", T2, MEAN, .feeds = "instruction cache: code too long"},
    [HONE_GPU_STALL_GMMA] = {STALL("gmma"), .not_on = " GV100 TU102 GA100 AD102 GB100 GB202 GB203 ", .unit = "%", T2, MEAN, .feeds = "waits for warp-group matrix products"},

    [HONE_GPU_SECTOR_USE_LD] = {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", .unit = "%", SASS, MEAN, .feeds = "uncoalesced"},
    [HONE_GPU_SECTOR_USE_ST] = {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", .unit = "%", SASS, MEAN, .feeds = "uncoalesced"},
    [HONE_GPU_WAVEFRONT_USE] = {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", .unit = "%", SASS, MEAN, .feeds = "shared_conflict"},
    [HONE_GPU_FFMA] = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", .unit = "instr", SASS, SUM, .feeds = "counted operations, work ratio"},
    [HONE_GPU_FADD] = {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", .unit = "instr", SASS, SUM, .feeds = "counted operations, work ratio"},
    [HONE_GPU_FMUL] = {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", .unit = "instr", SASS, SUM, .feeds = "counted operations, work ratio"},
    [HONE_GPU_DFMA] = {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", .unit = "instr", SASS, SUM, .feeds = "counted operations, work ratio"},
    [HONE_GPU_HFMA] = {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", .unit = "instr", SASS, SUM, .feeds = "counted operations, work ratio"},
    [HONE_GPU_INST_128B] = {"smsp__sass_inst_executed_op_memory_128b.sum", .unit = "instr", SASS, SUM, .feeds = "vector accesses"},
    [HONE_GPU_INST_LDGSTS] = {"smsp__sass_inst_executed_op_ldgsts.sum", .not_on = " GV100 TU102 ", .unit = "instr", SASS, SUM, .feeds = "asynchronous copies"},
    [HONE_GPU_ATOMS] = {"smsp__sass_inst_executed_op_global_atom.sum", .unit = "instr", SASS, SUM, .feeds = "atomics that return a value"},
    [HONE_GPU_REDS] = {"smsp__sass_inst_executed_op_global_red.sum", .unit = "instr", SASS, SUM, .feeds = "atomics that return none"},
    [HONE_GPU_LOCAL_ST] = {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", .unit = "sectors", SASS, SUM, .feeds = "spill"},
};
/* clang-format on */

void hone_gpu_values_init(struct hone_gpu_values *ret)
{
    for (size_t i = 0; i < HONE_GPU_N_METRICS; i++)
        ret->v[i] = (double)NAN;
}

const char *hone_gpu_tier_name(enum hone_gpu_tier tier)
{
    static const char *const names[] = {
        [HONE_GPU_TIER_T0] = "T0", [HONE_GPU_TIER_T1] = "T1",     [HONE_GPU_TIER_STALLS] = "stalls",
        [HONE_GPU_TIER_T2] = "T2", [HONE_GPU_TIER_SASS] = "SASS",
    };

    return (size_t)tier < HONE_COUNTOF(names) ? names[tier] : "none";
}

size_t hone_gpu_n_metrics(enum hone_gpu_tier last)
{
    size_t n = 0;

    while (n < HONE_GPU_N_METRICS && hone_gpu_metrics[n].tier <= last)
        n++;
    return n;
}

void hone_gpu_values_fold(const struct hone_gpu_values *each, size_t n, struct hone_gpu_values *ret)
{
    hone_gpu_values_init(ret);
    for (size_t m = 0; m < HONE_GPU_N_METRICS && n > 0; m++) {
        double sum = 0, weight = 0;
        for (size_t i = 0; i < n; i++) {
            bool is_sum = hone_gpu_metrics[m].fold == HONE_GPU_FOLD_SUM;
            double share = is_sum ? 1 : each[i].v[HONE_GPU_TIME];
            /* A kernel without such accesses has no average of them: it weighs nothing. */
            if (!is_sum && isnan(each[i].v[m]))
                continue;
            sum += each[i].v[m] * share;
            weight += share;
        }
        if (hone_gpu_metrics[m].fold == HONE_GPU_FOLD_SUM)
            ret->v[m] = sum;
        else
            ret->v[m] = weight > 0 ? sum / weight : (double)NAN;
    }
}

void hone_gpu_values_without_host(struct hone_gpu_values *values, double open)
{
    if (!(open > 1) || !isfinite(open))
        return;
    for (size_t m = 0; m < HONE_GPU_N_METRICS; m++) {
        double *v = &values->v[m];
        bool is_share = strstr(hone_gpu_metrics[m].name, "pct_of_peak_sustained_elapsed") != NULL;
        if (is_share && *v < 100)
            *v = fmin(open * *v, 100);
    }
    values->v[HONE_GPU_TIME] /= open;
}

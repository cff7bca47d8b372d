/* SPDX-License-Identifier: Apache-2.0 */
/* Plain words for counters and features, which a step's reason names as NVIDIA or the planner do.
 * tests/checks/page.sh holds that none of agents/planner/features.c and gpu_metrics.c is left out. */

const words: Record<string, string> = {
    /* of the text */
    loop_depth: "nested loops", strided_inner: "innermost loops over far memory", unit_inner: "innermost loops over contiguous memory",
    indirect: "indirect accesses", reuse: "operands used again", chains: "reductions with one accumulator", parallel_loops: "independent outer loops", is_threaded: "threaded (1: yes)",
    is_simd: "vectors asked for (1: yes)", plain_inner: "innermost loops without a vector pragma", math_calls: "math calls in loops", copies: "copies in loops", allocations: "allocations",
    divisions: "divisions in innermost loops", branches: "branches in innermost loops", passes: "passes over the same data", tunables: "tunables", kernels: "kernels", one_thread_kernels: "kernels of one thread",
    row_loops: "loops of one thread along a row", local_arrays: "local arrays with a computed index", shared: "shared arrays", shared_columns: "reads down columns of shared arrays", barriers: "barriers",
    shuffles: "shuffles between lanes", atomics: "atomic operations", vectors: "vector accesses", async_copies: "asynchronous copies", mma: "tensor core products", restrict: "buffers said not to overlap",
    narrow_types: "8- or 16-bit elements",
    /* of the task, the machine and the report */
    flops_per_byte: "operations a byte", working_set_bytes: "bytes of the largest size", cores: "cores", threads_busy: "threads busy", percent_of_bound: "% of the bound", bound_is_bytes: "bound by moving data (1: yes)",
    ns: "ns a call", vectorized_loops: "loops that the compiler vectorised", missed_loops: "loops that it did not", compute_capability: "compute capability", call_ns: "time of a call", cpu_per_wall: "threads busy",
    gflops: "operations a second", percent_of_flops: "share of the arithmetic rate", gbytes: "bytes a second", percent_of_memory: "share of the memory rate", ipc: "instructions a cycle", cache_miss_percent: "cache misses",
    /* of a device: time, traffic, pipes, issue */
    "gpu__time_duration.sum": "time on the device", "sm__cycles_elapsed.max": "cycles",
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed": "% of time with active multiprocessors", "sm__warps_active.avg.pct_of_peak_sustained_active": "% occupancy achieved",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "% of issue slots used", "smsp__warps_eligible.avg.per_cycle_active": "warps ready to issue, a cycle", "smsp__inst_executed.sum": "instructions",
    "dram__bytes.sum": "bytes of DRAM", "dram__bytes_read.sum": "bytes read from DRAM", "dram__bytes_op_read.sum": "bytes read from DRAM", "dram__bytes_write.sum": "bytes written to DRAM", "dram__bytes_op_write.sum": "bytes written to DRAM",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "% of DRAM's peak rate", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": "% of L2's peak rate", "l1tex__t_sector_hit_rate.pct": "% hits in L1",
    "lts__t_sector_hit_rate.pct": "% hits in L2", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "% of L1's peak rate",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed": "% of shared memory's peak rate", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "shared memory wavefronts",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active": "% multiply-add units busy", "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active": "% integer units busy",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": "% tensor cores busy", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active": "% special function units busy",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": "% load and store units busy", "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": "% float64 units busy",
    /* bank conflicts, spills, lanes */
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "bank conflicts of loads", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "bank conflicts of stores",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": "sectors read from local memory", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": "sectors written to local memory",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "active lanes of 32", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": "active lanes of 32 with predicates",
    /* why warps wait */
    "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct": "% of warps' time waiting for memory", "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct": "% of warps' time waiting for shared memory or special functions",
    "smsp__warp_issue_stalled_barrier_per_warp_active.pct": "% of warps' time at barriers", "smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct": "% of warps' time waiting for a full pipe",
    "smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct": "% of warps' time waiting, too many global accesses in flight", "smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct": "% of warps' time waiting, too many shared accesses in flight",
    "smsp__warp_issue_stalled_wait_per_warp_active.pct": "% of warps' time waiting for the instruction before", "smsp__warp_issue_stalled_not_selected_per_warp_active.pct": "% of warps' time ready while another warp was chosen",
    "smsp__warp_issue_stalled_drain_per_warp_active.pct": "% of warps' time waiting for last stores", "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct": "% of warps' time waiting for instructions", "smsp__warp_issue_stalled_gmma_per_warp_active.pct": "% of warps' time waiting for warp-group products",
    /* coalescing and counted instructions */
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": "sectors a load", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": "sectors a store",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": "% of loaded sectors used", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": "% of stored sectors used",
    "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct": "% of shared wavefronts used", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": "float32 multiply-adds", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": "float32 additions",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": "float32 products", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": "float64 multiply-adds", "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum": "float16 multiply-adds",
    "smsp__sass_inst_executed_op_memory_128b.sum": "accesses of 16 bytes", "smsp__sass_inst_executed_op_ldgsts.sum": "asynchronous copies", "smsp__sass_inst_executed_op_global_atom.sum": "atomics that return a value",
    "smsp__sass_inst_executed_op_global_red.sum": "atomics that return none",
    /* derived, and of the launch */
    hone__kernel_ns: "time in kernels", hone__kernel_us: "us a kernel", hone__launches: "launches", hone__time_over_roof: "times the bound", hone__arithmetic_intensity: "operations a byte", hone__traffic_ratio: "times the bytes needed",
    hone__work_ratio: "times the operations needed", hone__launch_share: "share of the call in launches", hone__conflict_share: "share of bank conflicts", hone__local_sectors_per_inst: "local sectors an instruction",
    hone__spill_bytes: "bytes spilled", hone__frame_bytes: "bytes of local memory a thread", launch__registers_per_thread: "registers a thread", launch__waves_per_multiprocessor: "waves of blocks", launch__occupancy_percent: "% occupancy allowed",
    launch__grid_size: "blocks", launch__block_size: "threads a block", launch__occupancy_limit_registers: "blocks by registers", launch__occupancy_limit_shared_mem: "blocks by shared memory",
    launch__occupancy_limit_warps: "blocks by warps", launch__occupancy_limit_blocks: "blocks by their number", launch__shared_mem_per_block_dynamic: "shared bytes a block, dynamic", launch__shared_mem_per_block_static: "shared bytes a block, static",
};

/* One that no table knows keeps its name. */
export const counterWords = (name: string): string => (Object.hasOwn(words, name) ? words[name] : name.replaceAll("_", " "));

/* "latency_ilp: ... (name 91.24, name 99)" or "(name=3 name=4)": names and values as "3 words". */
export function plainReason(rule?: string): string {
    return (rule || "").replace(/\(([^()]*)\)$/, (whole, list: string) => {
        const pairs = [...list.matchAll(/([A-Za-z_][\w.]*)[= ](-?[\d.]+(?:e[+-]?\d+)?)(?:, | |$)/g)];
        if (pairs.length === 0 || pairs.map((p) => p[0]).join("") !== list) return whole;
        return "(" + pairs.map(([, name, value]) => { const w = counterWords(name), n = String(Number(Number(value).toPrecision(3))); return w.startsWith("%") ? n + " " + w : w + ": " + n; }).join(", ") + ")";
    });
}

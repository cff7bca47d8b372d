/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's spec as a field table. */
#include "tools/runner/cuda/record/record_abi.h"

#define WORD(member_)                                                                              \
    HONE_FIELD(struct hone_record_job, member_, .required = true, .help = "A fact of the device.")

static const struct hone_field call_fields[] = {
    HONE_FIELD(struct hone_record_call, workload, .required = true, .help = "Its id."),
    HONE_FIELD(struct hone_record_call, axes, .help = "Values, in the task's order."),
    HONE_FIELD(struct hone_record_call, scalars, .help = "Values, in the task's order."),
};

static const struct hone_field kernel_fields[] = {
    HONE_FIELD(struct hone_record_kernel_fact, name, .required = true, .help = "Lowered name."),
    HONE_FIELD(struct hone_record_kernel_fact, registers, .help = "Registers a thread."),
    HONE_FIELD(struct hone_record_kernel_fact, static_shared_bytes, .help = "Bytes a block."),
    HONE_FIELD(struct hone_record_kernel_fact, max_threads, .help = "Threads a block."),
    HONE_FIELD(struct hone_record_kernel_fact, params, .skip_empty = true,
               .max_len = 2 * HONE_LIMIT_CUDA_PARAMS, .help = "Place and size of each, in turn."),
};

const struct hone_field hone_record_job_fields[] = {
    HONE_FIELD(struct hone_record_job, symbol, .required = true, .help = "The launcher."),
    HONE_FIELD(struct hone_record_job, n_inputs, .required = true,
               .help = "Tensors that are read."),
    HONE_FIELD(struct hone_record_job, n_outputs, .required = true,
               .help = "Tensors that are written."),
    HONE_FIELD(struct hone_record_job, tensors, .max_len = HONE_RECORD_TENSORS, .help = "Names."),
    HONE_FIELD(struct hone_record_job, scalar_types, .max_len = HONE_LIMIT_AXES, .help = "Words."),
    HONE_FIELD(struct hone_record_job, calls, .max_len = 2 * HONE_LIMIT_WORKLOADS,
               HONE_OF(struct hone_record_call, call_fields), .help = "What to record."),
    HONE_FIELD(struct hone_record_job, kernels,
               HONE_OF(struct hone_record_kernel_fact, kernel_fields),
               .help = "What is known of kernels."),
    HONE_FIELD(struct hone_record_job, is_nvcc, .help = "Kernels register themselves."),
    HONE_FIELD(struct hone_record_job, timeout_ms, .required = true, .help = "Of one call."),
    WORD(sm_count),
    WORD(threads_per_block),
    WORD(threads_per_sm),
    WORD(shared_per_block_optin),
    WORD(shared_per_sm),
    WORD(grid_x),
    WORD(grid_y),
    WORD(grid_z),
    WORD(major),
    WORD(minor),
    WORD(device_bytes),
};
const size_t hone_record_job_n_fields = HONE_COUNTOF(hone_record_job_fields);

/* SPDX-License-Identifier: Apache-2.0 */
/* The judge on a device: what it keeps between jobs (session), what belongs to one job, and the
 * parts that target_cuda.c is made of.
 *
 * The judge has a context of its own. It owns all buffers, makes content, poisons outputs and
 * compares them with its own kernels (gpu_kernels.cu); candidates run in arenas (gpu_arm.h), which
 * map inputs read-only and the outputs of their own arm alone. Nothing of a candidate is ever
 * loaded into the judge's context, and no reference value is in an arena's.
 *
 * Errors: a driver call that fails in the judge's context is HONE_E_TARGET and marks the session as
 * broken; it is closed at the end of the job and opened anew by the next. Runner main thread. */
#ifndef HONE_RUNNER_CUDA_GPU_JUDGE_H
#define HONE_RUNNER_CUDA_GPU_JUDGE_H

#include "tools/runner/cuda/judge/gpu_arm.h"
#include "tools/runner/cuda/judge/gpu_kernels_abi.h"
#include "tools/runner/cuda/judge/gpu_pool.h"
#include "tools/runner/cuda/judge/host_pace.h"
#include "tools/runner/judge/target.h"

/* ---- the judge's kernels (gpu_kernels.c) ---- */

/* clang-format off */
#define HONE_GPU_KERNELS(F) \
    F(FILL_NORMAL, "hone_fill_normal") F(FILL, "hone_fill") F(FILL_ROWS, "hone_fill_rows") \
    F(FILL_OFFSETS, "hone_fill_offsets") F(POISON, "hone_poison") F(CANARY, "hone_canary") \
    F(HASH, "hone_hash") F(LOOK, "hone_look") F(DIFFER, "hone_differ") F(COMPARE, "hone_compare") \
    F(COMPARE_LIKE, "hone_compare_like") F(COMPARE_RECORDS, "hone_compare_records") \
    F(SPREAD_RECORDS, "hone_spread_records") F(SQUARES, "hone_squares") F(COPY, "hone_copy") \
    F(READ, "hone_read") F(FMA_FLOAT, "hone_fma_float") F(FMA_DOUBLE, "hone_fma_double")
/* clang-format on */
enum hone_gpu_kernel {
#define HONE_GPU_KERNEL_ENUM(name_, symbol_) HONE_GPU_KERNEL_##name_,
    HONE_GPU_KERNELS(HONE_GPU_KERNEL_ENUM) HONE_N_GPU_KERNELS
};
/* Their text, gpu_kernels_abi.h in front; owned. */
char *hone_gpu_kernels_text(void);

/* ---- session (gpu_session.c) ---- */

struct hone_gpu_buffer { /* working memory; gpu_held.h says when it goes */
    hone_cu_ptr base;
    int64_t size;
    uint64_t used;
};
struct hone_gpu_room { /* a buffer of frames */
    struct hone_gpu_range range;
    uint64_t used;
    char task[HONE_LIMIT_NAME_BYTES + 1]; /* that used it last */
};
struct hone_gpu_oracle;    /* a loaded oracle kernel */
struct hone_gpu_reference; /* answers for one content */

#define HONE_GPU_RESULT_BYTES (256ll << 10)
#define HONE_GPU_ROOM_CLASSES 16

struct hone_gpu_rates {                       /* measured ceilings: bytes/s, operations/s */
    double copy, memory, cache, fma32, fma64; /* memory: the better of copying and reading */
};

struct hone_gpu_session {
    struct hone_cuda *cu; /* NULL: the driver could not be loaded */
    struct hone_gpu_device device;
    bool is_open, is_broken;
    struct hone_cuda_compiler *compiler;
    struct hone_gpu_pool *arenas;
    struct hone_gpu_arm *baseline; /* kept for baselines alone: no candidate ever ran in it */
    hone_cu_stream stream;
    hone_cu_module module;
    hone_cu_function kernels[HONE_N_GPU_KERNELS];
    hone_cu_ptr results; /* HONE_GPU_RESULT_BYTES, zeroed before each use */
    unsigned char *results_host;
    struct hone_gpu_buffer flush, list, records, copy;
    /* Buffers that are kept: by class of size (each four times the one below, so that a small
     * frame does not lie in a large room), then inputs and the outputs of each arm. */
    struct hone_gpu_room rooms[HONE_GPU_ROOM_CLASSES][1 + HONE_RUNNER_MAX_ARMS][HONE_LIMIT_TENSORS];
    struct hone_gpu_oracle *oracles;
    struct hone_gpu_reference *references;
    int64_t reference_bytes;
    struct hone_host_pace host_pace;
    uint64_t clock;                       /* of uses, for the caches */
    uint64_t job_since, frame_since;      /* on it: when job (0: none) and frame began */
    char task[HONE_LIMIT_NAME_BYTES + 1]; /* of the job */
    struct hone_gpu_rates rates;          /* memory 0: not known yet */
    struct hone_array stamp;              /* cubin of the arenas' own kernels; owned */
};

/* Loads the driver and opens the device; *ret_why says why there is none (result still 0). */
int hone_gpu_session_open(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
struct hone_gpu_session *hone_gpu_session_new(void);
void hone_gpu_session_free(struct hone_gpu_session *session);
/* For compilers: "sm_90a", the device's own, or the default without one. In the pool. */
const char *hone_gpu_arch(const struct hone_gpu_session *session, struct hone_pool *pool);
struct hone_plan_device hone_gpu_plan_device(const struct hone_gpu_session *session);

/* 0, or HONE_E_TARGET with the session marked as broken. */
int hone_gpu_check(struct hone_gpu_session *session, hone_cu_result code, const char *what,
                   struct hone_err *err);
/* Queues one of the judge's kernels over n elements of each of n_sets sets. */
int hone_gpu_launch(struct hone_gpu_session *session, enum hone_gpu_kernel kernel, int64_t n,
                    int64_t n_sets, const void *args, struct hone_err *err);
int hone_gpu_sync(struct hone_gpu_session *session, struct hone_err *err);
int hone_gpu_results_zero(struct hone_gpu_session *session, int64_t bytes, struct hone_err *err);
/* Waits for all that is queued and fetches the first bytes; the pointer is good until the next. */
int hone_gpu_results_read(struct hone_gpu_session *session, int64_t bytes, const void **ret,
                          struct hone_err *err);
int hone_gpu_buffer_need(struct hone_gpu_session *session, struct hone_gpu_buffer *buffer,
                         int64_t bytes, struct hone_err *err);
int hone_gpu_fetch(struct hone_gpu_session *session, void *dst, hone_cu_ptr src, int64_t bytes,
                   struct hone_err *err);
int hone_gpu_store(struct hone_gpu_session *session, hone_cu_ptr dst, const void *src,
                   int64_t bytes, struct hone_err *err);
/* Writes more than the L2 cache holds. */
int hone_gpu_flush(struct hone_gpu_session *session, struct hone_err *err);

/* ---- one job ---- */

struct hone_gpu_slot {
    struct hone_cuda_module module;
    bool has_module;
    struct hone_gpu_arm *arm;
    bool is_loaded;
    bool has_no_arena; /* none could be had for it */
    bool wants_unused; /* the next arena is one that never held a module */
    uint64_t mapped;   /* serial of the frame that the arena knows; 0: none */
};

struct hone_gpu_frame {
    const struct hone_workload *workload;
    bool is_start_flush;
    uint64_t serial;
    struct hone_gpu_layout layout;
    size_t room_class[HONE_LIMIT_TENSORS];
};

struct hone_gpu_job {
    struct hone_gpu_session *session;
    struct hone_pool *pool; /* the job's */
    struct hone_gpu_slot slots[HONE_RUNNER_MAX_ARMS];
    struct hone_gpu_frame frame;
    double scalars[HONE_RUNNER_MAX_CASES][HONE_LIMIT_AXES];
    struct hone_gpu_oracle *oracle; /* borrowed; NULL: not built, or the host's is used */
    bool is_host_oracle;            /* the task's oracle does not run on a device */
    bool has_host_oracle;           /* built, inputs file made */
    bool has_no_large;              /* its module was asked for a large size once, in vain */
    struct hone_gpu_torch *torch;   /* gpu_yardstick.c; owned; NULL: not started */
    /* largest scale that the oracle gave for normal content, by case and output; 0: not known */
    double scale[HONE_RUNNER_MAX_CASES][HONE_LIMIT_TENSORS];
    bool is_checking;              /* calls find shared memory filled, not what others left there */
    double nop_ns;                 /* an empty block on the judge's clock */
    struct hone_pool *ahead_pool;  /* of the candidate's present module, when it was built ahead */
    struct hone_gpu_ahead *ahead;  /* builds that run beside checks and timing */
    struct hone_outcome no_device; /* why there is none */
};

/* gpu_host_oracle.c */
/* The task is a module that can be asked for more than HONE_LIMIT_TORCH_ON_HOST elements
 * (hone_python_device). After hone_cpu_build_oracle. */
bool hone_gpu_host_has_large(const struct hone_judge *judge);
/* The host's oracle runs and has the inputs of a set. */
int hone_gpu_host_ready(struct hone_judge *judge, const struct hone_workload *workload, int64_t set,
                        struct hone_err *err);

void hone_gpu_torch_free(struct hone_gpu_torch *torch); /* ends its process; NULL is fine */

/* gpu_arms.c: which arm gets which arena. An arena that ran a candidate never runs a baseline. */
int hone_gpu_arms_open(struct hone_judge *judge, struct hone_err *err);
void hone_gpu_arms_free(struct hone_gpu_session *session);
/* An arena with the slot's module, in own->arm; *ret says whether that worked. */
int hone_gpu_arms_ready(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *ret,
                        struct hone_err *err);
/* An arena that never held a module, the caller's own. */
int hone_gpu_arms_unused(struct hone_judge *judge, int64_t deadline_ns, struct hone_gpu_arm **ret,
                         struct hone_err *err);
/* The slot's arena goes, whatever became of it; the next one is unused. */
void hone_gpu_arms_renew(struct hone_judge *judge, struct hone_slot *slot);
/* Every arm lets go of the frame that it has mapped: what is mapped there is not free. */
int hone_gpu_arms_unmap(struct hone_judge *judge, struct hone_err *err);
/* The module goes; for a confirmation the whole arena. */
void hone_gpu_drop(struct hone_judge *judge, struct hone_slot *slot);
/* At the end of a job: back to where they may be used again. */
void hone_gpu_arms_give(struct hone_judge *judge);

/* gpu_frame.c */
struct hone_gpu_slot *hone_gpu_slot(struct hone_judge *judge, const struct hone_slot *slot);
size_t hone_gpu_case(const struct hone_judge *judge, const struct hone_workload *workload);
int64_t hone_gpu_max_sets(const struct hone_judge *judge, const struct hone_workload *workload);
/* That one frame of all arms may have. */
int64_t hone_gpu_room_bytes(const struct hone_judge *judge);
/* Buffers of one set for all arms, the least that a size needs; 0 when there is no such frame. */
int64_t hone_gpu_least_bytes(const struct hone_judge *judge, const struct hone_workload *workload);
int hone_gpu_set_frame(struct hone_judge *judge, const struct hone_workload *workload,
                       int64_t n_sets, bool is_start_flush, struct hone_err *err);
/* An arena with the arm's module and the frame; *ret says whether that worked. */
int hone_gpu_ready(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *ret,
                   struct hone_err *err);
hone_cu_ptr hone_gpu_input(const struct hone_judge *judge, int64_t set, size_t input);
hone_cu_ptr hone_gpu_output(const struct hone_judge *judge, const struct hone_slot *slot,
                            int64_t set, size_t output);
/* Queues a copy of an arm's output of a set to another address of the device. */
int hone_gpu_copy_output(struct hone_judge *judge, const struct hone_slot *slot, int64_t set,
                         size_t output, hone_cu_ptr to, struct hone_err *err);
int64_t hone_gpu_stride(const struct hone_judge *judge, bool is_output, size_t tensor);
int64_t hone_gpu_output_elements(const struct hone_judge *judge, size_t output);
/* Content of sets first .. first + n - 1, all different. */
int hone_gpu_fill(struct hone_judge *judge, int64_t first, int64_t n, enum hone_distribution dist,
                  uint64_t counter, struct hone_err *err);
/* Poison of every step-th set from first on, n of them. */
int hone_gpu_poison(struct hone_judge *judge, struct hone_slot *slot, int64_t first, int64_t n,
                    int64_t step, enum hone_poison poison, struct hone_err *err);
/* What lies between the rows of outputs with a pitch becomes canary; hone_gpu_poison does it. */
int hone_gpu_pad(struct hone_judge *judge, struct hone_slot *slot, int64_t first, int64_t n,
                 int64_t step, struct hone_err *err);
/* One call after the other over these sets; how it ended is in *ret. */
int hone_gpu_call(struct hone_judge *judge, struct hone_slot *slot, const int32_t *sets, int64_t n,
                  uint32_t scratch_poison, double expected_ns, struct hone_gpu_time *ret_time,
                  struct hone_outcome *ret, struct hone_err *err);
/* The same, but scratch holds what the block before left there. */
int hone_gpu_call_on(struct hone_judge *judge, struct hone_slot *slot, const int32_t *sets,
                     int64_t n, double expected_ns, struct hone_outcome *ret, struct hone_err *err);
/* Order-independent hashes of all inputs of the sets, n of them. */
int hone_gpu_hash_inputs(struct hone_judge *judge, int64_t n_sets, uint64_t *ret,
                         struct hone_err *err);
/* Bytes beside the contents of an arm's outputs that are not the canary any more. */
int hone_gpu_check_canaries(struct hone_judge *judge, struct hone_slot *slot,
                            struct hone_outcome *ret, struct hone_err *err);

struct hone_gpu_found {
    int64_t count, first; /* first: -1 none */
};
/* Elements of one output that still are poison, set by set (first .. first + n - 1, every step-th);
 * with_next: and in the set after it the large poison. */
int hone_gpu_find_poison(struct hone_judge *judge, struct hone_slot *slot, size_t output,
                         int64_t first, int64_t n, int64_t step, bool with_next,
                         struct hone_gpu_found *ret, struct hone_err *err);
/* Elements that differ between an output's set and another address. */
int hone_gpu_find_difference(struct hone_judge *judge, struct hone_slot *slot, size_t output,
                             int64_t set, hone_cu_ptr other, struct hone_gpu_found *ret,
                             struct hone_err *err);

/* gpu_oracle.c */
int hone_gpu_build_oracle(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
void hone_gpu_oracles_free(struct hone_gpu_session *session);
/* Lets go of answers that no other job can ask for. */
void hone_gpu_references_end_job(struct hone_gpu_session *session);
#define HONE_GPU_ANY_NS    INT64_MAX           /* a budget: a module is asked for large sizes too */
#define HONE_GPU_APPEAL_NS (3 * HONE_NS_PER_S) /* for one that the baseline's word accuses */
/* The reference for what a set holds (dist, counter): as much as budget_ns pays for. NULL with 0:
 * there is none at this price. Borrowed, good until the next call. */
int hone_gpu_reference_get(struct hone_judge *judge, int64_t set, enum hone_distribution dist,
                           uint64_t counter, int64_t budget_ns,
                           const struct hone_gpu_reference **ret, struct hone_err *err);
/* One set of an arm against it. */
int hone_gpu_compare(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                     const struct hone_gpu_reference *reference, struct hone_compare *compare,
                     struct hone_outcome *ret, struct hone_err *err);
struct hone_gpu_like { /* two arms' outputs for the same content, n sets from first on */
    struct hone_slot *slot, *baseline;
    int64_t first, n;
    /* The content of the one set; counter: its number, if others will ask for its reference too, 0:
     * none will. Plain content (normal) excuses less: zero where it is not known. */
    enum hone_distribution dist;
    uint64_t counter;
};
/* Adds a comparison with another arm's outputs; ends with the first set that has a bad element. */
int hone_gpu_compare_like(struct hone_judge *judge, const struct hone_gpu_like *like,
                          struct hone_compare *compare, struct hone_err *err);
/* The same with a verdict. What is off is held to the oracle, where that can be asked for items, and
 * to the whole module of a torch task, where torch has a device, and to the host's oracle, where
 * HONE_GPU_APPEAL_NS pays for it: the baseline's own sums in float32 drift at large sizes. Else its
 * word accuses, but for one set of content that is not plain, where all that is off are elements
 * for which the baseline gives a NaN or an infinity. */
int hone_gpu_judge_like(struct hone_judge *judge, const struct hone_gpu_like *like,
                        struct hone_compare *compare, struct hone_outcome *ret,
                        struct hone_err *err);
/* A few random items of a set, fresh from the oracle. */
int hone_gpu_spot_check(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        int64_t n_items, struct hone_outcome *ret, struct hone_err *err);
bool hone_gpu_can_spot(const struct hone_judge *judge, const struct hone_workload *workload);

/* Slot passed its checks and is wrong for these sets, whose inputs and outputs still are what the
 * block left. Asked for each alone, by a module loaded anew: where one of them is answered
 * otherwise, *ret becomes `stateful`; the same bits are the kernel's arithmetic, and the reason
 * stays. Does nothing to an end that is not about values. gpu_blame.c. */
int hone_gpu_blame(struct hone_judge *judge, struct hone_slot *slot, const int32_t *sets, int64_t n,
                   struct hone_outcome *ret, struct hone_err *err);

/* gpu_check.c, gpu_time.c, gpu_machine.c */
/* The content that a check has for this size and kind. */
uint64_t hone_gpu_check_counter(const struct hone_judge *judge,
                                const struct hone_workload *workload, enum hone_distribution dist);
int hone_gpu_judge_check(struct hone_judge *judge, struct hone_slot *slot,
                         const struct hone_check_plan *plan, struct hone_outcome *ret,
                         struct hone_err *err);
/* Buffer sets that a timed block goes through. */
int64_t hone_gpu_sets_allowed(const struct hone_judge *judge, const struct hone_workload *workload);
int hone_gpu_judge_time(struct hone_judge *judge, const struct hone_timing_plan *plan,
                        struct hone_workload_report *ret_report, struct hone_outcome *ret,
                        struct hone_err *err);
int hone_gpu_ceilings(struct hone_judge *judge, bool is_fresh, struct hone_err *err);
/* Sets flops, flops_unit and fastest_flops: what a task's precision may be computed with. */
void hone_gpu_choose_flops(const struct hone_task *task, const struct hone_gpu_device *device,
                           const struct hone_gpu_rates *rates, struct hone_machine *machine);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of CUPTI: NVIDIA's profiler library, loaded at run time where it is.
 *
 * Two halves. Scheduling (hone_cupti_schedule) needs no GPU and no driver: it says which of our
 * metrics a chip has and how many replay passes they take. A session reads the counters of a live
 * context by user replay: the caller runs the same work once a pass, each launch a range of its
 * own. Kernel replay is not used, because it would have to save and restore the buffers that the
 * judge shares, inputs among them, which are mapped read-only here.
 *
 * The library is looked for in $HONE_CUDA_LIB, $HONE_CUPTI_LIB (what a jailed arena is told), by
 * the loader's rules, then in /usr/local/cuda/{lib64,extras/CUPTI/lib64}. A session belongs to the
 * process and thread of its context; it disturbs timing and is only opened in an arena that is
 * never timed. */
#ifndef HONE_RUNNER_CUDA_CUPTI_H
#define HONE_RUNNER_CUDA_CUPTI_H

#include "tools/runner/cuda/driver/gpu_metrics.h"
#include "workspace/base/err.h"

#define HONE_CUPTI_MAX_RANGES 256 /* launches of one plan that are counted one by one */

struct hone_cupti;
/* HONE_E_UNSUPPORTED with what was looked for where. Closing unloads nothing. */
int hone_cupti_open(struct hone_cupti **ret, struct hone_err *err);
void hone_cupti_close(struct hone_cupti *cupti);

/* Folder of the library that hone_cupti_open would take, for the jail's list of what is visible;
 * owned; NULL: none (the loader's own places are visible anyway). */
char *hone_cupti_find_folder(void);

/* ---- scheduling, without a GPU ---- */

/* Chips that the library knows; borrowed. */
int hone_cupti_chips(const struct hone_cupti *cupti, const char *const **ret, size_t *ret_n,
                     struct hone_err *err);
/* Can this one name be counted on the chip? availability: the device's own image, or NULL. */
bool hone_cupti_accepts(const struct hone_cupti *cupti, const char *chip,
                        const uint8_t *availability, const char *name);

struct hone_cupti_config {
    const char *names[HONE_GPU_N_METRICS]; /* as accepted */
    enum hone_gpu_metric_id ids[HONE_GPU_N_METRICS];
    size_t n;
    uint8_t *image;
    size_t image_len;
    size_t n_passes;
};
/* One configuration of everything up to the tier that the chip accepts. */
int hone_cupti_schedule(const struct hone_cupti *cupti, const char *chip,
                        const uint8_t *availability, enum hone_gpu_tier last,
                        struct hone_cupti_config *ret, struct hone_err *err);
void hone_cupti_config_done(struct hone_cupti_config *config);

/* ---- counting, in a live context ---- */

struct hone_cupti_session;
/* Takes most of a second. HONE_E_UNSUPPORTED with the fix where counters are not allowed. ctx: a
 * CUcontext that is current. */
int hone_cupti_session_open(const struct hone_cupti *cupti, void *ctx, int ordinal,
                            struct hone_cupti_session **ret, struct hone_err *err);
void hone_cupti_session_close(struct hone_cupti_session *session);
const char *hone_cupti_session_chip(const struct hone_cupti_session *session);

/* Prepares to count n_ranges ranges. *ret_passes: how often the work has to run. */
int hone_cupti_begin(struct hone_cupti_session *session, enum hone_gpu_tier last, size_t n_ranges,
                     size_t *ret_passes, struct hone_err *err);
int hone_cupti_pass_start(struct hone_cupti_session *session, struct hone_err *err);
/* Around one launch. The caller synchronises before pop. */
int hone_cupti_push(struct hone_cupti_session *session, size_t range, struct hone_err *err);
int hone_cupti_pop(struct hone_cupti_session *session, struct hone_err *err);
int hone_cupti_pass_stop(struct hone_cupti_session *session, bool *ret_is_last,
                         struct hone_err *err);
/* After the last pass: the values of each range that was pushed (n_ranges of them). */
int hone_cupti_values(struct hone_cupti_session *session, struct hone_gpu_values *ret,
                      size_t n_ranges, struct hone_err *err);

#endif

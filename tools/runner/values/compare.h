/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing outputs: against the oracle's records, against poison, bit by bit.
 *
 * The rule is the task's (task.h, struct hone_tolerance); this module applies it.
 * Pure; any thread. */
#ifndef HONE_RUNNER_COMPARE_H
#define HONE_RUNNER_COMPARE_H

#include "tools/runner/arena/arm.h"
#include "tools/runner/values/gen.h"
#include "workspace/task/oracle_abi.h"

struct hone_output_stats {
    int64_t n, n_other, n_bad, n_nonfinite; /* n_other: against another array; n_nonfinite: where a
                                               finite value was expected */
    int64_t n_hopeless; /* of n_bad: whatever the tolerance (kind of a value, integers) */
    double max_abs, max_rel;
    double worst; /* error in units of what the tolerance allows that element; 0: it allows none */
    double max_scale;
    struct hone_error_sums sums; /* n and n_items: hone_compare_sums fills them */
    int64_t first_bad;
    double bad_got, bad_want, bad_allowed; /* allowed: how far off it might be */
};

struct hone_compare {
    const struct hone_task *task;
    const struct hone_workload *workload;
    const void *outputs[HONE_LIMIT_TENSORS]; /* content of each output */
    int64_t n_elements[HONE_LIMIT_TENSORS];
    const char *content; /* what kind it is, for messages; NULL: not known */
    bool is_full;        /* the oracle gave every item */
    bool is_plain;       /* random content without structure: the whole output is looked at too */
    int64_t n_items;     /* the oracle's items that were compared; 0: not known */
    int64_t *histogram[HONE_LIMIT_TENSORS]; /* errors of an output by hone_error_bin; NULL: none */
    bool is_bad_record;                     /* the oracle named an element that does not exist */
    struct hone_output_stats stats[HONE_LIMIT_TENSORS];
};
void hone_compare_init(struct hone_compare *compare, const struct hone_task *task,
                       const struct hone_workload *workload);
void hone_compare_add(void *compare, const struct hone_oracle_record *records,
                      int64_t n); /* a hone_records_fn */
/* The absolute part of an output's tolerance: the task's, or one step of the output's type near
 * zero, which nobody is better than. */
double hone_compare_atol(const struct hone_task *task, size_t output);
/* How far element i of an output may be off a reference of this size (hone_tolerance_limit). */
double hone_compare_allowed(const struct hone_task *task, size_t output, double want, double scale);
/* Bins of (|e| - atol) / s, eight to a factor of two; the value is the upper end of a bin. */
#define HONE_ERROR_BINS 640
size_t hone_error_bin(double error);
double hone_error_bin_value(size_t bin);
/* Content of this kind is random without structure (task.h, struct hone_tolerance). */
bool hone_compare_is_plain(enum hone_distribution dist);
/* The same of a task: what it stores may have any structure. */
bool hone_compare_is_plain_for(const struct hone_task *task, enum hone_distribution dist);
/* Content of this kind shows what is wrong at few elements: where the oracle sees some, all are
 * held against the baseline. */
bool hone_compare_needs_all(enum hone_distribution dist);
/* What the tests of one output are made on. */
struct hone_error_sums hone_compare_sums(const struct hone_compare *compare, size_t output);
/* The verdict of all that was added. */
void hone_compare_end(const struct hone_compare *compare, struct hone_outcome *ret);
/* Elements that another arm's answer calls wrong; some of them, each as likely as the others. */
#define HONE_SUSPECTS 16
struct hone_suspect {
    size_t output;
    int64_t index;
    double got, want;
};
struct hone_suspects {
    uint64_t rng; /* set by the caller: chooses */
    int64_t n_seen;
    size_t n;
    struct hone_suspect v[HONE_SUSPECTS];
};
/* Of n elements, without those that are not finite. For an answer that is held to another arm's it
 * stands for the oracle's scale, as for iterated tasks (task.h). */
double hone_root_mean_square(enum hone_dtype dtype, const void *values, int64_t n);
/* Compares every element of one output with another array of the output's type (a certified
 * reference), with twice the tolerance because both sides round, and with the largest scale that
 * the oracle gave. Call after hone_compare_add. What is off is suspect: where content is uneven
 * an element's own scale may be larger, which the oracle knows. */
void hone_compare_arrays(struct hone_compare *compare, size_t output, const void *reference,
                         struct hone_suspects *suspects);
/* The oracle's item that an element comes from, where each gives as many elements as the others, in
 * order; -1: not so here. */
int64_t hone_compare_item(int64_t n_elements, int64_t n_items, int64_t element);
/* Counts a suspect as wrong, on the other arm's word. */
void hone_compare_accuse(struct hone_compare *compare, const struct hone_suspect *suspect);
/* Sums over outputs, for a report. */
struct hone_output_stats hone_compare_total(const struct hone_compare *compare);
double hone_compare_rel_l2(
    const struct hone_compare *compare); /* the worst of the outputs; NaN when it says nothing */

/* "C[17, 3]" for a flat element. */
void hone_element_name(const struct hone_task *task, const struct hone_workload *workload,
                       const struct hone_tensor *tensor, int64_t flat,
                       char ret[HONE_LIMIT_NAME_BYTES * 3]);

/* First element that is still the NaN poison in a and the large poison in b (b NULL: that is either
 * poison in a), or -1; and how many. */
int64_t hone_find_unwritten(enum hone_dtype dtype, const void *a, const void *b, int64_t n,
                            int64_t *ret_count);
/* First element that differs in any bit, or -1. */
int64_t hone_find_difference(enum hone_dtype dtype, const void *a, const void *b, int64_t n,
                             int64_t *ret_count);

#endif

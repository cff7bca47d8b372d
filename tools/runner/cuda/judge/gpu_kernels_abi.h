/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and results of the judge's own kernels (gpu_kernels.cu, gpu_content.cu), by value. This
 * text is put in front of theirs: plain types, no includes. Buffers are device addresses. A family
 * of buffer sets is (base, stride, n_sets): set s begins stride * s bytes after base. */
#ifndef HONE_RUNNER_CUDA_GPU_KERNELS_ABI_H
#define HONE_RUNNER_CUDA_GPU_KERNELS_ABI_H

#ifndef HONE_SHAPE_FN /* in front of theirs, that text is in front of this one */
#include "tools/runner/values/gen_shape.h"
#endif

#define HONE_K_THREADS 256
#define HONE_K_TENSORS 64

struct hone_k_fill { /* one tensor of some sets; set s gets the stream (key, stream + first_set + s)
                      */
    unsigned long long base;
    long long stride, n_sets; /* bytes; sets */
    long long first_set;
    long long dtype, role; /* the judge's numbers (task.h) */
    struct hone_shape shape;
};

struct hone_k_poison {
    unsigned long long base;
    long long n, stride, n_sets;
    long long element_bytes;
    unsigned long long bits;
    long long row, used; /* row above 0: of each row only what lies behind `used` */
};

struct hone_k_range { /* what lies between contents */
    unsigned long long base;
    long long size, first, stride, bytes, n_sets;
    long long canary;           /* byte */
    long long row, used;        /* bytes of a row and of its content; row 0: no padding in rows */
    unsigned long long n_wrong; /* of one counter */
};

struct hone_k_hash {
    unsigned long long base;
    long long bytes, stride, n_sets;
    unsigned long long salt;
    unsigned long long sums; /* of n_sets words, zeroed before */
};

struct hone_k_found {                /* result; zero means nothing */
    unsigned long long count, first; /* first: the complement of the least element number */
};

struct hone_k_look { /* elements of a that are bits_a, and of b that are bits_b when b is not 0 */
    unsigned long long a, b;
    long long n, stride, n_sets;
    long long element_bytes;
    unsigned long long bits_a, bits_b;
    unsigned long long found; /* n_sets of hone_k_found */
};

struct hone_k_differ { /* elements of a and b that differ in any bit */
    unsigned long long a, b;
    long long n, stride, n_sets;
    long long element_bytes;
    unsigned long long found;
};

struct hone_k_stats { /* like struct hone_output_stats; all zero to begin with */
    unsigned long long n, n_bad, n_nonfinite, n_uncovered;
    unsigned long long first_bad, first_nonfinite; /* complements */
    unsigned long long max_abs, max_rel, max_scale,
        worst; /* bits of doubles that are not negative */
    double err_squares, ref_sum, ref_squares, size_squares, err_sum, toward_sum, size_sum;
};

struct hone_k_compare { /* one output of some sets */
    unsigned long long got;
    long long n, stride, n_sets, dtype;
    /* the reference: doubles with a scale each (scales 0: the one below), or an array of the
     * output's own type, set by set, when is_like */
    unsigned long long values, scales;
    unsigned long long like;
    long long like_stride;
    double scale, factor; /* factor: of the tolerance */
    double atol, rtol;
    long long has_signed_zero; /* the sign of a zero counts */
    long long row, used;       /* values: elements of a row, and those that count; row 0: all */
    unsigned long long stats;  /* n_sets of hone_k_stats */
};

struct hone_k_record {
    long long index;
    double value;
    long long output;
    double scale;
};

struct hone_k_outputs { /* one set, for records */
    unsigned long long got[HONE_K_TENSORS];
    long long n[HONE_K_TENSORS], dtype[HONE_K_TENSORS];
    double atol[HONE_K_TENSORS], rtol[HONE_K_TENSORS];
    long long n_outputs;
    long long has_signed_zero;
};
struct hone_k_records {
    struct hone_k_outputs outputs;
    unsigned long long records;
    long long n_records;
    unsigned long long stats;  /* one per output */
    unsigned long long values; /* not 0: doubles, an array per output one after the other, that the
                                  records are spread into, then the scales */
};

struct hone_k_squares { /* sum of squares of finite elements */
    unsigned long long base;
    long long n, dtype;
    unsigned long long sum; /* a double, zeroed before */
};

struct hone_k_work { /* ceilings */
    unsigned long long from, to;
    long long n; /* 16-byte words, or multiply-adds per thread */
    long long repeats;
};

#endif

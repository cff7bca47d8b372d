/* SPDX-License-Identifier: Apache-2.0 */
/* What a candidate may ask of the compiler, and the tunables written in its source. Shared by tools
 * and runner: the tools refuse a bad option before a job begins, the runner checks again before the
 * compiler starts. Reads text, runs nothing; results live in the pool. Any thread. */
#ifndef HONE_FORMAT_OPTIONS_H
#define HONE_FORMAT_OPTIONS_H

#include "tools/format/job.h"

/* Compiler options from an allow-list (cpu): -O1..-O3, -Ofast, -ffast-math and its parts,
 * -funroll-loops, -fno-..., -mprefer-vector-width=..., ... HONE_E_ARG names the first bad one and
 * lists the good. */
int hone_options_check(const struct hone_strs *flags, struct hone_err *err);
/* The same for a target ("cpu", "cuda"; NULL and unknown ones: cpu). cuda: NVRTC's -use_fast_math,
 * -maxrregcount=16..255, --extra-device-vectorization, ... */
int hone_options_check_for(const char *target, const struct hone_strs *flags, struct hone_err *err);
const char *const *hone_options_allowed_for(const char *target);
/* What every CPU source is compiled with, less what makes a loadable object of it: the options of
 * an exported file's compile line. NULL-terminated. */
const char *const *hone_options_of_objects(void);

struct hone_tune_axis {
    const char *name;
    struct hone_i64s values;
};
/* Reads every `#pragma hone tune(NAME: 8, 16, 32)` (several in one pragma, optional `where(expr)`);
 * array of struct hone_tune_axis in the pool. HONE_E_ARG with the line. */
int hone_tune_parse(const char *source, struct hone_pool *pool, struct hone_array *ret_axes,
                    const char **ret_where, struct hone_err *err);
/* What `#pragma hone lane(nvcc)` asks for: "nvcc" or "nvrtc"; NULL: nothing. HONE_E_ARG
 * with the line. */
int hone_lane_parse(const char *source, struct hone_pool *pool, const char **ret_lane,
                    struct hone_err *err);
/* All legal combinations, the first is the default; array of struct hone_point.
 * HONE_E_LIMIT above HONE_LIMIT_TUNE_POINTS. */
int hone_tune_points(const struct hone_array *axes, const char *where, struct hone_pool *pool,
                     struct hone_array *ret_points, struct hone_err *err);
/* "enum { TILE = 16 };\n" for the given values plus defaults of the source's tunables that are not
 * given; -D form for names used in preprocessor lines is put as #define. In the pool. */
int hone_tune_prologue(const char *source, const struct hone_array *tunables,
                       struct hone_pool *pool, const char **ret_text, struct hone_err *err);
/* The same for C++: "constexpr int TILE = 16;\n", so that a template parameter may
 * have the name. */
int hone_tune_prologue_cuda(const char *source, const struct hone_array *tunables,
                            struct hone_pool *pool, const char **ret_text, struct hone_err *err);
/* The same as "#define TILE (16)\n" each, for a file that leaves hone. */
int hone_tune_defines(const char *source, const struct hone_array *tunables, struct hone_pool *pool,
                      const char **ret_text, struct hone_err *err);
/* The source without its `#pragma hone` lines; in the pool. */
const char *hone_tune_strip(const char *source, struct hone_pool *pool);
/* The source with the given values put first in their pragmas (added when they are not listed):
 * they become the default. In the pool. */
int hone_tune_set_default(const char *source, const struct hone_array *tunables,
                          struct hone_pool *pool, const char **ret_source, struct hone_err *err);

/* A where() condition: integers, the tunables' names, ( ) ! - * / % + < <= > >= == != && ||.
 * *ret_value is 0 for false. HONE_E_ARG for a bad expression, an unknown name, overflow or division
 * by zero. */
int hone_where_eval(const char *expr, const struct hone_tunable *values, size_t n_values,
                    int64_t *ret_value, struct hone_err *err);

#endif

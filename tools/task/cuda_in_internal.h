/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cuda_in.h share: a CUDA file as tokens, and the writing of them as C. */
#ifndef HONE_TOOLS_CUDA_IN_INTERNAL_H
#define HONE_TOOLS_CUDA_IN_INTERNAL_H

#include "tools/task/c_tokens.h"
#include "tools/task/cuda_in.h"

enum { HONE_CU_DEFINITIONS = 512, HONE_CU_ARGUMENTS = 64 };

struct hone_cu_view {
    struct hone_pool *pool;
    struct hone_err *err;
    const struct hone_cuda_in_options *options;
    struct hone_c_tokens t;
    struct hone_c_definition d[HONE_CU_DEFINITIONS];
    size_t n;
    size_t launcher;
    struct hone_buf *buf;
    const char *done; /* text up to here is in buf */
    bool is_plain;    /* cuda_in_plain.c */
};

struct hone_cu_range {
    size_t first, end; /* tokens */
};

/* ---- reading (cuda_in_view.c) ---- */

bool hone_cu_is(const struct hone_cu_view *v, size_t i, const char *text);
bool hone_cu_is_listed(const struct hone_cu_view *v, size_t i, const char *const *words);
const char *hone_cu_word(const struct hone_cu_view *v, size_t i);
int hone_cu_line(const struct hone_cu_view *v, size_t i);
bool hone_cu_has_word(const struct hone_cu_view *v, size_t first, size_t end, const char *text);
const char *hone_cu_text(const struct hone_cu_view *v, size_t first, size_t end);
/* WORD <<< ... >>> ( ... ), or WORD < ... > <<<: ret is the configuration; *args the ( */
bool hone_cu_is_launch(const struct hone_cu_view *v, size_t i, struct hone_cu_range *ret,
                       size_t *args);
/* first..end at commas outside brackets; the number of parts. */
size_t hone_cu_split(const struct hone_cu_view *v, size_t first, size_t end,
                     struct hone_cu_range ret[HONE_CU_ARGUMENTS]);
size_t hone_cu_param_name(const struct hone_cu_view *v, struct hone_cu_range p);
bool hone_cu_is_kernel(const struct hone_cu_view *v, size_t k);
bool hone_cu_is_on_device(const struct hone_cu_view *v, size_t k);
/* Tokens and definitions of the text without `extern "C" {` and its }; lines stay. */
int hone_cu_read(struct hone_cu_view *v, const char *source);
/* The function asked for, else the only one that launches, else the only kernel. */
int hone_cu_choose(struct hone_cu_view *v);
/* HONE_E_ARG for what cannot be read: where, and how to write it. */
int hone_cu_refuse(const struct hone_cu_view *v);

/* The source with a launcher behind it for the kernel that was chosen (cuda_in_launcher.c). */
int hone_cu_add_launcher(struct hone_cu_view *v, const char **source, const char **name);

/* The source with its function templates written out (cuda_in_template.c). ret_said: which, for
 * people; ret_left_out: what to say of the first that nothing instantiates; NULL: none. HONE_E_ARG
 * where arguments are not told, HONE_E_LIMIT. In the pool. */
int hone_cu_write_templates(const struct hone_cuda_in_options *options, struct hone_pool *pool,
                            const char **source, const char **ret_said, const char **ret_left_out,
                            struct hone_err *err);

/* ---- writing ---- */

/* The whole text into v->buf (cuda_in_c.c). */
void hone_cu_put_all(struct hone_cu_view *v, struct hone_cuda_in *in);
/* Tokens first..end alone, whatever stands around them. */
void hone_cu_put_part(struct hone_cu_view *v, size_t first, size_t end);
/* The token behind what the plain text has for those from i on; i: nothing special is there
 * (cuda_in_plain.c). */
size_t hone_cu_put_plain(struct hone_cu_view *v, size_t i);

#endif

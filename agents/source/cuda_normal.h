/* SPDX-License-Identifier: Apache-2.0 */
/* The normal form of CUDA kernels: one thread an element, an axis of the grid for each index.
 *
 * The same loop nest has many spellings: one flat index that is divided, a loop that strides over
 * the grid, a block for each row, a sum that grows in memory. Rules read one of them, the normal
 * form. Each step brings one kernel of the source closer to it and gives the whole source anew:
 *
 *     for (text = source; text; text = hone_cuda_normal_step(&in)) read text into in
 *
 * A step changes launches with the kernel and the meaning of neither. The judge has the last word,
 * as with any rewrite. */
#ifndef HONE_AGENTS_CUDA_NORMAL_H
#define HONE_AGENTS_CUDA_NORMAL_H

#include "agents/source/cuda_kernel.h"

/* The source one step closer, in the input's pool; NULL: no step applies. */
const char *hone_cuda_normal_step(const struct hone_coder_input *in);

/* ---- what a step may do to a kernel (cuda_effects.c) ---- */

/* Does the subtree change anything beside what it declares, itself or by a call? */
bool hone_cuda_has_effect(const struct hone_cuda_kernel *k, const struct hone_c_node *top);
/* Could it be started with other blocks and more threads, which all come as far as `until`? Not
 * where threads of a block work together, where a helper asks for its thread, where a parameter
 * changes, or where something happens in front of `until`. */
bool hone_cuda_may_relaunch(const struct hone_cuda_kernel *k, const struct hone_c_node *until);
/* With other blocks of as many threads as now. */
bool hone_cuda_may_regrid(const struct hone_cuda_kernel *k, const struct hone_c_node *until);

/* How often the kernel names blockIdx.x; name is "blockIdx", dim 'x'. */
size_t hone_cuda_n_members(const struct hone_cuda_kernel *k, const char *name, char dim);
/* The three sizes of a launch's part: of dim3(a, b, c), of a dim3 of the launcher that is not set
 * again, or of a number. False: they are not known. */
bool hone_cuda_read_dims(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *launch,
                         const char *text, const char *ret[3]);
/* Has a block one thread along the axis, at every launch? */
bool hone_cuda_is_one_thread(const struct hone_cuda_kernel *k, char dim);

/* ---- steps (cuda_batch.c, cuda_expand.c, cuda_flat.c, cuda_given.c, cuda_loop.c,
 * cuda_untile.c and cuda_normal.c) ---- */

/* kern(struct sizes s) ... s.H: kern(int s_H) ... s_H */
const char *hone_cuda_spread_structs(const struct hone_cuda_kernel *k);
/* int a = 1, b = 2; as two statements. */
const char *hone_cuda_split_decls(const struct hone_cuda_kernel *k);
/* for (; i < n; i += s) and while (i < n) declare i. */
const char *hone_cuda_own_counter(const struct hone_cuda_kernel *k);
/* rest /= W: int rest_2 = rest / W, which stands for it from there on. */
const char *hone_cuda_name_rests(const struct hone_cuda_kernel *k);
/* int k; for (k = 0; ...) likewise. */
const char *hone_cuda_own_init(const struct hone_cuda_kernel *k);
/* A += E; of a parameter, before anything else names it: a pointer of its own. */
const char *hone_cuda_own_pointer(const struct hone_cuda_kernel *k);
/* blockIdx.z / H and blockIdx.z % H: digits of one index with a name. */
const char *hone_cuda_name_block(const struct hone_cuda_kernel *k);
/* for (t = 0; t < Z; t++) around all that a thread does: an axis of the grid. */
const char *hone_cuda_open_batch(const struct hone_cuda_kernel *k);
/* A contraction that is tiled through shared memory: the plain loop. */
const char *hone_cuda_untile(const struct hone_cuda_kernel *k);
/* int tx = threadIdx.x; stands where tx stood, in kernels without shared memory. */
const char *hone_cuda_inline_places(const struct hone_cuda_kernel *k);
/* #define TILE 16: the macro's words where its name stood. */
const char *hone_cuda_put_macros(const struct hone_coder_input *in);
/* template <int TILE> kern and kern<16><<<...>>>: kern with 16. */
const char *hone_cuda_put_templates(const struct hone_coder_input *in);

/* i = blockIdx.x * blockDim.x + threadIdx.x; m = i / N; n = i % N: m and n become the axes. */
const char *hone_cuda_split_flat(const struct hone_cuda_kernel *k);

#endif

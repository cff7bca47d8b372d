/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of a CUDA source do: which threads own which indices, what is guarded, what is
 * left of the body, and how launchers start them. Rewrites make new kernels and launches from this.
 *
 * An axis is an index that a kernel makes from its place in the grid:
 *
 *     int64_t row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
 *     if (row >= M) return;
 *
 * A kernel is plain when its body uses the place in the grid through its axes alone: such a kernel
 * is a set of loops over its axes, whose iterations may be given to threads in any other way. */
#ifndef HONE_AGENTS_CUDA_KERNEL_H
#define HONE_AGENTS_CUDA_KERNEL_H

#include "agents/source/site.h"

enum {
    HONE_CUDA_MAX_KERNELS = 8,
    HONE_CUDA_MAX_AXES = 3,
    HONE_CUDA_MAX_STMTS = 32,
    HONE_CUDA_MAX_PARAMS = 32,
    HONE_CUDA_MAX_LAUNCHES = 4
};

struct hone_cuda_axis {
    const struct hone_c_node *var;
    const struct hone_c_node *bound; /* exclusive upper bound from the guard; NULL: none */
    char dim;                        /* 'x', 'y', 'z' */
};

struct hone_cuda_launch {
    const struct hone_c_node *call;
    const struct hone_c_node *launcher;         /* function around it */
    uint32_t begin, end;                        /* text between <<< and >>> */
    const char *grid, *block, *shared, *stream; /* its parts; shared "0", stream "0" when absent */
    const struct hone_c_node *args[HONE_CUDA_MAX_PARAMS];
    size_t n_args;
};

struct hone_cuda_kernel {
    const struct hone_coder_input *in;
    const struct hone_c_node *function;
    struct hone_c_nest nest;
    const struct hone_c_node *params[HONE_CUDA_MAX_PARAMS];
    size_t n_params;
    struct hone_cuda_axis axes[HONE_CUDA_MAX_AXES];
    size_t n_axes;
    const struct hone_c_node *stmts[HONE_CUDA_MAX_STMTS]; /* without axes and guards */
    size_t n_stmts;
    struct hone_cuda_launch launches[HONE_CUDA_MAX_LAUNCHES];
    size_t n_launches;
    bool is_plain;     /* and every axis has a bound */
    bool is_single;    /* plain without axes, started with one thread */
    bool uses_threads; /* names threadIdx, blockIdx, blockDim or gridDim outside its axes */
};

/* The kernels of the source that are launched in it, in the input's pool; returns how many. */
size_t hone_cuda_kernels(const struct hone_coder_input *in, const struct hone_cuda_kernel **ret,
                         size_t max);
/* The one whose function is this node; NULL: none. */
const struct hone_cuda_kernel *hone_cuda_kernel_at(const struct hone_coder_input *in,
                                                   const struct hone_c_node *function);
/* The kernel that the task's launcher is about, whatever its body: the hot one if that is known,
 * else the first that the launcher names, else the first of the source; NULL: there is none. */
const struct hone_c_node *hone_cuda_main_kernel(const struct hone_coder_input *in);
/* blockIdx.d * (anything that is no thread) + threadIdx.d */
bool hone_cuda_is_place(const struct hone_c_poly *poly, char dim);
/* A site that is the whole kernel. */
struct hone_coder_site hone_cuda_site(const struct hone_cuda_kernel *k, int variant,
                                      const char *evidence);
/* How often the subtree names threadIdx, blockIdx, blockDim or gridDim. */
size_t hone_cuda_n_places(const struct hone_c_node *top);
/* Is the statement, or the only one in its braces, a return? */
bool hone_cuda_is_return(const struct hone_c_tree *tree, const struct hone_c_node *stmt);
/* Does the subtree store to memory, call for effect, synchronise? */
bool hone_cuda_has_store(const struct hone_c_node *top);

/* A loop whose iterations are dealt out to neighbouring threads in turn:
 *     for (T i = lower + lane; i < upper; i += step)
 * where lane counts the threads and step is how many there are. */
struct hone_cuda_lane_loop {
    const struct hone_c_loop *loop;
    const struct hone_c_node *lower; /* without the lane; NULL: 0 */
    const char *lane, *step;         /* texts */
};
bool hone_cuda_read_lane_loop(const struct hone_cuda_kernel *k, const struct hone_c_loop *loop,
                              struct hone_cuda_lane_loop *ret);
/* A plain kernel without loops, for the loops that its elements become:
 *     for (y = blockIdx.y; y < R; y += gridDim.y)
 *         for (x = lane; x < D; x += lanes of all blocks) statements
 * The axis x along which memory is contiguous; NULL: it is no such kernel. */
const struct hone_cuda_axis *hone_cuda_deal_axis(const struct hone_cuda_kernel *k);
/* edits: of the statements; NULL: as they are. lanes: threads of a block. NULL: a bound changes. */
const char *hone_cuda_deal_body(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *row,
                                const char *lanes, const struct hone_c_edits *edits);
/* With `each` elements of x for a thread. NULL: a bound is not known at the launch. */
const char *hone_cuda_deal_grid(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *row,
                                const struct hone_cuda_launch *launch, const char *lanes,
                                const char *each);
/* The subscript that the value is, below conversions of a 16-bit number to float (__half2float, a
 * cast) and copies of it; NULL: it is something else. What casts make of it is for others to ask. */
const struct hone_c_node *hone_cuda_loaded(const struct hone_c_node *expr);
bool hone_cuda_same_poly(const struct hone_c_poly *a, const struct hone_c_poly *b);
/* Is the node done only under a condition inside top? */
bool hone_cuda_is_conditional(const struct hone_c_node *top, const struct hone_c_node *node);

/* ---- text ---- */

/* An expression of the kernel in the launcher's words: parameters become arguments. NULL: it names
 * something that the launcher does not know. */
const char *hone_cuda_at_launch(const struct hone_cuda_kernel *k,
                                const struct hone_cuda_launch *launch,
                                const struct hone_c_node *expr);
/* "(unsigned)((M + TILE - 1) / TILE)" of an axis' bound; NULL as above. */
const char *hone_cuda_blocks(const struct hone_cuda_kernel *k,
                             const struct hone_cuda_launch *launch, const struct hone_c_node *bound,
                             const char *step);
/* "__global__ void __launch_bounds__(bounds) name(params, extra)\n"; extra "" for none. */
const char *hone_cuda_header(const struct hone_cuda_kernel *k, const char *bounds,
                             const char *extra);
/* Text behind the last #include. Call it before the kernel is replaced. */
void hone_cuda_put_helpers(struct hone_c_edits *edits, const char *text);
/* The kernel's text replaced by prefix, header and the body, which is laid out anew. prefix holds
 * pragmas and constants in front of it. */
void hone_cuda_replace_kernel(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                              const char *prefix, const char *header, const char *body);
/* New grid, block and dynamic shared memory. */
void hone_cuda_set_launch(struct hone_c_edits *edits, const struct hone_cuda_launch *launch,
                          const char *grid, const char *block, const char *shared);
/* Drops locals of launchers that nothing but the launches that were replaced used. Call it last. */
void hone_cuda_drop_unused(struct hone_c_edits *edits, const struct hone_cuda_kernel *k);
/* "#pragma hone tune(NAME: values)\n" for a fresh name, which *ret_name tells; in the pool. */
const char *hone_cuda_tunable(const struct hone_coder_input *in, const char *stem,
                              const char *values, const char **ret_name);
/* Device functions group_sum, group_product, group_max, group_min, group_sync for groups of LANES
 * neighbouring threads; "" when the source has it. op: "+", "*", "max", "min", "sync". */
const char *hone_cuda_group_helper(const struct hone_coder_input *in, const char *op);
const char *hone_cuda_group_name(const char *op); /* "group_sum" */
/* The same for the threads of a block that share threadIdx.x: column_sum<COLUMNS, LANES>(value). */
const char *hone_cuda_column_helper(const struct hone_coder_input *in, const char *op);
const char *hone_cuda_column_name(const char *op);
/* The same for the PARTS blocks of a cluster along x: cluster_sum<LANES, PARTS>(value), which calls
 * group_sum; "sync": cluster_sync<PARTS>(), which the others call. */
const char *hone_cuda_cluster_helper(const struct hone_coder_input *in, const char *op);
const char *hone_cuda_cluster_name(const char *op);
/* Device type vector_of<T, N>: N elements that are moved at once; "" when the source has it. */
const char *hone_cuda_vector_helper(const struct hone_coder_input *in);
/* Device functions around Hopper's instructions for warpgroups, which do nothing elsewhere:
 * swizzled, tile_at (a descriptor), warpgroup_begin, _commit, _wait, show_tiles; "" as above. */
const char *hone_cuda_warpgroup_helper(const struct hone_coder_input *in);
/* "{%0,%1, ...}, " of n operands, as pieces of a string in lines of 16. */
const char *hone_cuda_registers(struct hone_pool *pool, int n);
/* Bytes of an element type, 0 when it is not known. */
int hone_cuda_type_bytes(const char *type);
/* The type as it was written, without const: "int64_t". */
const char *hone_cuda_type(const struct hone_coder_input *in, const struct hone_c_node *var);
/* A name of the kernel that stands for another text. */
struct hone_cuda_sub {
    const struct hone_c_node *decl;
    const char *text;
};
/* An expression's text with the names replaced; locals that are set once and are not among them
 * become their initialisers. NULL: it names a local that changes. */
const char *hone_cuda_inline(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                             const struct hone_cuda_sub *subs, size_t n_subs);
/* Does the value depend on the variable, also through locals that are set once? */
bool hone_cuda_depends(const struct hone_cuda_kernel *k, const struct hone_c_node *expr,
                       const struct hone_c_node *var);
/* A template with its @words@ filled in: those of the list by their text, others by a fresh name.
 * The list ends with a NULL word. */
struct hone_cuda_word {
    const char *word, *text;
};
const char *hone_cuda_fill(const struct hone_coder_input *in, const char *template_text,
                           const struct hone_cuda_word *words);
/* The words of the list alone; their texts may hold other @words@, which stay. */
const char *hone_cuda_fill_some(const struct hone_coder_input *in, const char *template_text,
                                const struct hone_cuda_word *words);
/* Statements of a body without the braces and the line ends around. */
const char *hone_cuda_body(const struct hone_c_edits *edits, const struct hone_c_node *body);
/* Without the line ends at its end. */
const char *hone_cuda_trim(const struct hone_coder_input *in, const char *text);
/* The whole source with the edits. */
char *hone_cuda_finish(const struct hone_c_edits *edits);

#endif

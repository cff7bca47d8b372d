/* SPDX-License-Identifier: Apache-2.0 */
/* G31 with G09: a contraction of 16-bit factors, or of bytes with a sign, on tensor cores.
 *
 * As cuda_shared_tile, with blocks of eight warps that add up in float, bytes in int. Parts of L and
 * R come into a ring of STAGES buffers in shared memory by asynchronous 16-byte copies where memory
 * is aligned and inside, element by element with zeros where it is not: any sizes will do. The
 * factors must be plain loads (converted to the sum's type or not) that are contiguous along k or
 * along their own axis.
 *
 * variant 0: parts of 16 x 16 x 16 by wmma; 16-bit factors
 * variant 1: two warpgroups with 64 x 256 sums each, by Hopper's instructions for a warpgroup, which
 *            read both factors from shared memory. Lines of a tile have 128 bytes, and 16-byte
 *            pieces of a line change places as these instructions want it. Bytes must lie along k.
 *            Elsewhere than on Hopper the same text multiplies without them, slowly. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_contraction.h"

enum { BY_WARPS, BY_WARPGROUPS };

struct factor {
    const struct hone_c_node *load; /* the subscript */
    const char *type;
    const char *step; /* elements from one k to the next */
    bool is_along_k;
};

struct tensor {
    struct hone_cuda_contraction c;
    struct factor left, right;
};

static bool is_byte(const char *type)
{
    return strcmp(type, "int8_t") == 0 || strcmp(type, "signed char") == 0;
}

/* Is the load converted to the sum's type alone? */
static bool is_widened(const struct hone_cuda_contraction *c, const struct hone_c_node *expr,
                       const struct hone_c_node *load)
{
    const char *type = c->acc->type;
    for (const struct hone_c_node *n = load; n != expr; n = n->parent)
        if (n->parent->kind == HONE_C_CAST && strcmp(n->parent->type, type) != 0 &&
            !(strcmp(type, "int") == 0 && strcmp(n->parent->type, "int32_t") == 0))
            return false;
    return true;
}

static bool read_factor(const struct hone_cuda_contraction *c, const struct hone_c_node *expr,
                        const struct hone_c_node *axis, struct factor *ret)
{
    struct hone_c_access a[2];
    const struct hone_c_node *n = hone_cuda_loaded(expr);
    if (!n || hone_c_accesses(c->k->function, n, a, 2) != 1 || !a[0].root ||
        a[0].root->kind != HONE_C_PARAM)
        return false;
    *ret = (struct factor){.load = n, .type = hone_element_type(c->k->in, a[0].root)};
    bool is_along_k = hone_c_poly_stride(&a[0].index, c->loop->var) == HONE_C_STRIDE_UNIT;
    bool is_along_axis = hone_c_poly_stride(&a[0].index, axis) == HONE_C_STRIDE_UNIT;
    ret->is_along_k = is_along_k;
    ret->step = hone_cuda_contraction_pitch(c, &a[0].index, c->loop->var);
    if (!ret->type || is_along_k == is_along_axis || !is_widened(c, expr, n))
        return false;
    if (strcmp(c->acc->type, "int") == 0)
        return is_byte(ret->type);
    return strcmp(c->acc->type, "float") == 0 &&
           (strcmp(ret->type, "__half") == 0 || strcmp(ret->type, "__nv_bfloat16") == 0);
}

static bool read_tensor(const struct hone_cuda_kernel *k, struct tensor *t)
{
    return hone_cuda_read_contraction(k, &t->c) &&
           read_factor(&t->c, t->c.left, t->c.row->var, &t->left) &&
           read_factor(&t->c, t->c.right, t->c.column->var, &t->right) &&
           strcmp(t->left.type, t->right.type) == 0;
}

static bool has_variant(const struct tensor *t, int variant)
{
    bool is_near = t->left.is_along_k && t->right.is_along_k;
    if (variant == BY_WARPS)
        return !is_byte(t->left.type);
    return t->left.step && t->right.step && (is_near || !is_byte(t->left.type));
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct tensor t;
        if (!read_tensor(all[i], &t))
            continue;
        for (int variant = BY_WARPGROUPS; variant >= BY_WARPS && n < max; variant--)
            if (has_variant(&t, variant))
                ret[n++] = hone_cuda_site(all[i], variant,
                                          is_byte(t.left.type)
                                              ? "products of bytes, summed in int"
                                              : "products of 16-bit numbers, summed in float");
    }
    return n;
}

/* The block's own part of the steps along k */
#define HONE_TILE_STEPS                                                                            \
    "const int @n_steps@ = (int)((@k_upper@ - @k_lower@ + @BK@ - 1) / @BK@);\n"                    \
    "const int @each@ = (@n_steps@ + (int)gridDim.y - 1) / (int)gridDim.y;\n"                      \
    "const int @first@ = (int)blockIdx.y * @each@;\n"                                              \
    "const int @last@ = @first@ + @each@ < @n_steps@ ? @first@ + @each@ : @n_steps@;\n"

static const char helper_text[] =
    "#include <cuda_pipeline.h>\n"
    "#include <mma.h>\n\n"
    "/* Eight 16-bit elements to shared memory: n of them, zeros behind. */\n"
    "template <typename T> __device__ void fetch_eight(T *to, const T *from, int64_t n)\n"
    "{\n"
    "    if (n >= 8 && (uintptr_t)from % 16 == 0) {\n"
    "        __pipeline_memcpy_async(to, from, 16);\n"
    "    } else {\n"
    "        /* all of them are read before one is stored */\n"
    "        __align__(16) T part[8];\n"
    "        for (int i = 0; i < 8; i++)\n"
    "            part[i] = i < n ? from[i] : (T)0.0f;\n"
    "        *(uint4 *)to = *(const uint4 *)part;\n"
    "    }\n"
    "}\n";

static const char body_text[] =
    "using namespace nvcuda;\n"
    "constexpr int @FM@ = @BM@ / 32, @FN@ = @BN@ / 64;\n"
    "constexpr int @LEFT_LINE@ = @left_line@, @RIGHT_LINE@ = @right_line@;\n"
    "constexpr int @LEFT_PITCH@ = @LEFT_LINE@ + 8, @RIGHT_PITCH@ = @RIGHT_LINE@ + 8;\n"
    "constexpr int @LEFT_SIZE@ = @BM@ * @BK@ / @LEFT_LINE@ * @LEFT_PITCH@;\n"
    "constexpr int @RIGHT_SIZE@ = @BN@ * @BK@ / @RIGHT_LINE@ * @RIGHT_PITCH@;\n"
    "extern __shared__ @T@ @tiles@[];\n"
    "@T@ *const @left_tiles@ = @tiles@, *const @right_tiles@ = @tiles@ + @STAGES@ * @LEFT_SIZE@;\n"
    "const int64_t @n_columns@ = (@column_bound@ + @BN@ - 1) / @BN@;\n"
    "@batch@" HONE_CUDA_TILE_ORDER "const int @warp@ = threadIdx.x / 32;\n"
    "const int @warp_row@ = @warp@ / 4 * (@BM@ / 2), @warp_column@ = @warp@ % 4 * (@BN@ / "
    "4);\n" HONE_TILE_STEPS "auto @fetch@ = [&](int @at_step@) {\n"
    "const int64_t @k_at@ = @k_lower@ + (int64_t)@at_step@ * @BK@;\n"
    "@T@ *const @left_to@ = @left_tiles@ + @at_step@ % @STAGES@ * @LEFT_SIZE@;\n"
    "@T@ *const @right_to@ = @right_tiles@ + @at_step@ % @STAGES@ * @RIGHT_SIZE@;\n"
    "for (int @u@ = threadIdx.x; @u@ < @BM@ * @BK@ / 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / (@LEFT_LINE@ / 8), @part@ = @u@ % (@LEFT_LINE@ / 8) * 8;\n"
    "const @row_type@ @row@ = @row_at@ + @left_row@;\n"
    "const @k_type@ @k@ = @k_at@ + @left_k@;\n"
    "fetch_eight(@left_to@ + @line@ * @LEFT_PITCH@ + @part@, &@left@, @left_n@);\n"
    "}\n"
    "for (int @u@ = threadIdx.x; @u@ < @BN@ * @BK@ / 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / (@RIGHT_LINE@ / 8), @part@ = @u@ % (@RIGHT_LINE@ / 8) * 8;\n"
    "const @column_type@ @column@ = @column_at@ + @right_column@;\n"
    "const @k_type@ @k@ = @k_at@ + @right_k@;\n"
    "fetch_eight(@right_to@ + @line@ * @RIGHT_PITCH@ + @part@, &@right@, @right_n@);\n"
    "}\n"
    "};\n";

static const char loop_text[] =
    "wmma::fragment<wmma::accumulator, 16, 16, 16, float> @total@[@FM@][@FN@];\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++)\n"
    "wmma::fill_fragment(@total@[@r@][@c@], 0.0f);\n"
    "for (int @s@ = 0; @s@ < @STAGES@ - 1; @s@++) {\n"
    "if (@first@ + @s@ < @last@)\n"
    "@fetch@(@first@ + @s@);\n"
    "__pipeline_commit();\n"
    "}\n"
    "for (int @step@ = @first@; @step@ < @last@; @step@++) {\n"
    "__pipeline_wait_prior(@STAGES@ - 2);\n"
    "__syncthreads();\n"
    "if (@step@ + @STAGES@ - 1 < @last@)\n"
    "@fetch@(@step@ + @STAGES@ - 1);\n"
    "__pipeline_commit();\n"
    "const @T@ *const @left_now@ = @left_tiles@ + @step@ % @STAGES@ * @LEFT_SIZE@;\n"
    "const @T@ *const @right_now@ = @right_tiles@ + @step@ % @STAGES@ * @RIGHT_SIZE@;\n"
    "#pragma unroll\n"
    "for (int @kk@ = 0; @kk@ < @BK@; @kk@ += 16) {\n"
    "wmma::fragment<wmma::matrix_a, 16, 16, 16, @T@, wmma::@left_major@> @left_part@[@FM@];\n"
    "wmma::fragment<wmma::matrix_b, 16, 16, 16, @T@, wmma::@right_major@> @right_part@[@FN@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "wmma::load_matrix_sync(@left_part@[@r@], @left_now@ + @left_place@, @LEFT_PITCH@);\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++)\n"
    "wmma::load_matrix_sync(@right_part@[@c@], @right_now@ + @right_place@, @RIGHT_PITCH@);\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++)\n"
    "wmma::mma_sync(@total@[@r@][@c@], @left_part@[@r@], @right_part@[@c@], @total@[@r@][@c@]);\n"
    "}\n"
    "}\n"
    "__pipeline_wait_prior(0);\n"
    "__syncthreads();\n"
    "float *const @result@ = (float *)@tiles@ + @warp@ * 256;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @FM@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @FN@; @c@++) {\n"
    "wmma::store_matrix_sync(@result@, @total@[@r@][@c@], 16, wmma::mem_row_major);\n"
    "__syncwarp();\n"
    "for (int @e@ = threadIdx.x % 32; @e@ < 256; @e@ += 32) {\n"
    "const @row_type@ @row@ = @row_at@ + @warp_row@ + @r@ * 16 + @e@ / 16;\n"
    "const @column_type@ @column@ = @column_at@ + @warp_column@ + @c@ * 16 + @e@ % 16;\n"
    "if (@row@ < @row_bound@ && @column@ < @column_bound@) {\n"
    "@finish@"
    "}\n"
    "}\n"
    "__syncwarp();\n"
    "}\n";

/* What a warpgroup does with 64 lines of the left tile and 256 of the right one, 32 bytes of each.
 * Filled in: the sum's type, k of an instruction, its types, words for turned factors. */
static const char warpgroup_text[] =
    "#include <cuda_pipeline.h>\n\n"
    "/* 16 bytes of elements: n of them, zeros behind. */\n"
    "template <typename T> __device__ uint4 read_line(const T *from, int64_t n)\n"
    "{\n"
    "    constexpr int N = 16 / sizeof(T);\n"
    "    __align__(16) T part[N];\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < N; i++)\n"
    "        part[i] = i < n ? from[i] : (T)0.0f;\n"
    "    return *(const uint4 *)part;\n"
    "}\n\n"
    "/* The same to shared memory, with a copy that goes on by itself where there may be one. */\n"
    "template <typename T> __device__ void fetch_line(unsigned char *to, const T *from, int64_t "
    "n)\n"
    "{\n"
    "    if (n >= 16 / (int)sizeof(T) && (uintptr_t)from % 16 == 0)\n"
    "        __pipeline_memcpy_async(to, from, 16);\n"
    "    else\n"
    "        *(uint4 *)to = read_line(from, n);\n"
    "}\n\n"
    "/* Waits for all; nothing reads the sums in front of it. */\n"
    "__device__ inline void warpgroup_end(@acc@ (&d)[128])\n"
    "{\n"
    "    warpgroup_wait<0>();\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 128; i++)\n"
    "        asm volatile(\"\" : \"+@reg@\"(d[i])::\"memory\");\n"
    "#endif\n"
    "}\n\n"
    "#define R4(b) \"+@reg@\"(d[b]), \"+@reg@\"(d[b + 1]), \"+@reg@\"(d[b + 2]), \"+@reg@\"(d[b + "
    "3])\n"
    "#define R32(b) R4(b), R4(b + 4), R4(b + 8), R4(b + 12), R4(b + 16), R4(b + 20), R4(b + 24), "
    "R4(b + 28)\n"
    "/* d += left * right: 64 x 256 sums, the 32 bytes number kk along k of both. */\n"
    "__device__ inline void warpgroup_multiply(@acc@ (&d)[128], const unsigned char *left,\n"
    "                                          const unsigned char *right, int kk)\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"{\\nwgmma.mma_async.sync.aligned.@shape@ \"\n"
    "@registers@"
    "                 \"%128, %129, @scales@;\\n}\\n\"\n"
    "                 : R32(0), R32(32), R32(64), R32(96)\n"
    "                 : \"l\"(tile_at(left + kk * @left_step@, 8192)),\n"
    "                   \"l\"(tile_at(right + kk * @right_step@, 8192)));\n"
    "#else\n"
    "    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;\n"
    "    for (int i = 0; i < 128; i++) {\n"
    "        const int r = warp * 16 + lane / 4 + i / 2 % 2 * 8, c = i / 4 * 8 + lane % 4 * 2 + i "
    "% "
    "2;\n"
    "        for (int k = kk * @each@; k < (kk + 1) * @each@; k++)\n"
    "            d[i] += (@acc@)*(const @T@ *)(left + swizzled(@left_at@)) *\n"
    "                    (@acc@)*(const @T@ *)(right + swizzled(@right_at@));\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "#undef R32\n"
    "#undef R4\n";

static const char warpgroup_body_text[] =
    "constexpr int @LEFT_BYTES@ = @BM@ * 128, @STAGE_BYTES@ = (@BM@ + @BN@) * 128;\n"
    "constexpr int @PITCH@ = @BN@ + 4;\n"
    "extern __shared__ __align__(1024) unsigned char @ring@[];\n"
    "const int64_t @n_columns@ = (@column_bound@ + @BN@ - 1) / @BN@;\n"
    "@batch@" HONE_CUDA_TILE_ORDER "const int @warp@ = threadIdx.x / 32, @lane@ = threadIdx.x % "
    "32, @half@ = threadIdx.x / 128;\n" HONE_TILE_STEPS
    "/* Where this thread's pieces of the first part come from; blocks at an edge ask each time. "
    "*/\n"
    "const @T@ *@left_from@[@BM@ / 32], *@right_from@[@BN@ / 32];\n"
    "bool @is_aligned@ = true;\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < @BM@ / 32; @i@++) {\n"
    "const int @u@ = @i@ * 256 + threadIdx.x, @line@ = @u@ / 8@left_lines@;\n"
    "const int @part@ = @left_pieces@;\n"
    "const @row_type@ @row@ = @row_at@ + @left_row@;\n"
    "const @k_type@ @k@ = @k_lower@ + @left_k@;\n"
    "@left_from@[@i@] = &@left@;\n"
    "@is_aligned@ = @is_aligned@ && (uintptr_t)@left_from@[@i@] % 16 == 0;\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < @BN@ / 32; @i@++) {\n"
    "const int @u@ = @i@ * 256 + threadIdx.x, @line@ = @u@ / 8@right_lines@;\n"
    "const int @part@ = @right_pieces@;\n"
    "const @column_type@ @column@ = @column_at@ + @right_column@;\n"
    "const @k_type@ @k@ = @k_lower@ + @right_k@;\n"
    "@right_from@[@i@] = &@right@;\n"
    "@is_aligned@ = @is_aligned@ && (uintptr_t)@right_from@[@i@] % 16 == 0;\n"
    "}\n";

static const char warpgroup_fetch_text[] =
    "const bool @is_whole@ = @is_aligned@ && @row_at@ + @BM@ <= @row_bound@ && @column_at@ + @BN@ "
    "<= @column_bound@;\n"
    "const int @place@ = swizzled(threadIdx.x * 16);\n"
    "auto @fetch@ = [&](int @at_step@) {\n"
    "const int64_t @k_at@ = @k_lower@ + (int64_t)@at_step@ * @BK@;\n"
    "unsigned char *const @to@ = @ring@ + @at_step@ % @STAGES@ * @STAGE_BYTES@;\n"
    "if (@is_whole@ && @k_at@ + @BK@ <= @k_upper@) {\n"
    "const int64_t @left_on@ = (int64_t)@at_step@ * @BK@ * (@left_next@);\n"
    "const int64_t @right_on@ = (int64_t)@at_step@ * @BK@ * (@right_next@);\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < @BM@ / 32; @i@++)\n"
    "__pipeline_memcpy_async(@to@ + @place@ + @i@ * 4096, @left_from@[@i@] + @left_on@, 16);\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < @BN@ / 32; @i@++)\n"
    "__pipeline_memcpy_async(@to@ + @LEFT_BYTES@ + @place@ + @i@ * 4096, @right_from@[@i@] + "
    "@right_on@, 16);\n"
    "} else if (!@is_aligned@) {\n"
    "#pragma unroll 1\n"
    "for (int @at@ = threadIdx.x; @at@ < @BM@ * 8; @at@ += 1024) {\n"
    "uint4 @pieces@[4];\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < 4; @i@++) {\n"
    "const int @u@ = @at@ + @i@ * 256, @line@ = @u@ / 8@left_lines@, @part@ = @left_pieces@;\n"
    "const @row_type@ @row@ = @row_at@ + @left_row@;\n"
    "const @k_type@ @k@ = @k_at@ + @left_k@;\n"
    "@pieces@[@i@] = read_line(&@left@, @left_n@);\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < 4; @i@++)\n"
    "*(uint4 *)(@to@ + swizzled((@at@ + @i@ * 256) * 16)) = @pieces@[@i@];\n"
    "}\n"
    "#pragma unroll 1\n"
    "for (int @at@ = threadIdx.x; @at@ < @BN@ * 8; @at@ += 1024) {\n"
    "uint4 @pieces@[4];\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < 4; @i@++) {\n"
    "const int @u@ = @at@ + @i@ * 256, @line@ = @u@ / 8@right_lines@, @part@ = @right_pieces@;\n"
    "const @column_type@ @column@ = @column_at@ + @right_column@;\n"
    "const @k_type@ @k@ = @k_at@ + @right_k@;\n"
    "@pieces@[@i@] = read_line(&@right@, @right_n@);\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @i@ = 0; @i@ < 4; @i@++)\n"
    "*(uint4 *)(@to@ + @LEFT_BYTES@ + swizzled((@at@ + @i@ * 256) * 16)) = @pieces@[@i@];\n"
    "}\n"
    "} else {\n"
    "#pragma unroll 1\n"
    "for (int @u@ = threadIdx.x; @u@ < @BM@ * 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / 8@left_lines@, @part@ = @left_pieces@;\n"
    "const @row_type@ @row@ = @row_at@ + @left_row@;\n"
    "const @k_type@ @k@ = @k_at@ + @left_k@;\n"
    "fetch_line(@to@ + swizzled(@u@ * 16), &@left@, @left_n@);\n"
    "}\n"
    "#pragma unroll 1\n"
    "for (int @u@ = threadIdx.x; @u@ < @BN@ * 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / 8@right_lines@, @part@ = @right_pieces@;\n"
    "const @column_type@ @column@ = @column_at@ + @right_column@;\n"
    "const @k_type@ @k@ = @k_at@ + @right_k@;\n"
    "fetch_line(@to@ + @LEFT_BYTES@ + swizzled(@u@ * 16), &@right@, @right_n@);\n"
    "}\n"
    "}\n"
    "};\n";

static const char warpgroup_loop_text[] =
    "@acc@ @total@[128];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < 128; @r@++)\n"
    "@total@[@r@] = 0;\n"
    "for (int @s@ = 0; @s@ < @STAGES@ - 1; @s@++) {\n"
    "if (@first@ + @s@ < @last@)\n"
    "@fetch@(@first@ + @s@);\n"
    "__pipeline_commit();\n"
    "}\n"
    "for (int @step@ = @first@; @step@ < @last@; @step@++) {\n"
    "__pipeline_wait_prior(@STAGES@ - 2);\n"
    "show_tiles();\n"
    "__syncthreads();\n"
    "const unsigned char *const @now@ = @ring@ + @step@ % @STAGES@ * @STAGE_BYTES@;\n"
    "warpgroup_begin();\n"
    "#pragma unroll\n"
    "for (int @kk@ = 0; @kk@ < 4; @kk@++)\n"
    "warpgroup_multiply(@total@, @now@ + @half@ * 8192, @now@ + @LEFT_BYTES@, @kk@);\n"
    "warpgroup_commit();\n"
    "/* All have read the step before this one, and its buffer is free. */\n"
    "warpgroup_wait<1>();\n"
    "__syncthreads();\n"
    "if (@step@ + @STAGES@ - 1 < @last@)\n"
    "@fetch@(@step@ + @STAGES@ - 1);\n"
    "__pipeline_commit();\n"
    "}\n"
    "warpgroup_end(@total@);\n"
    "__pipeline_wait_prior(0);\n"
    "__syncthreads();\n"
    "@acc@ *const @result@ = (@acc@ *)@ring@ + @warp@ * 16 * @PITCH@;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < 128; @r@++)\n"
    "@result@[(@lane@ / 4 + @r@ / 2 % 2 * 8) * @PITCH@ + @r@ / 4 * 8 + @lane@ % 4 * 2 + @r@ % 2] = "
    "@total@[@r@];\n"
    "__syncwarp();\n"
    "const int64_t @lines@ = @row_bound@ - @row_at@ - @warp@ * 16;\n"
    "const int @n_lines@ = @lines@ < 0 ? 0 : @lines@ < 16 ? (int)@lines@ : 16;\n"
    "#pragma unroll 4\n"
    "for (int @e@ = @lane@; @e@ < @n_lines@ * @BN@; @e@ += 32) {\n"
    "const @row_type@ @row@ = @row_at@ + @warp@ * 16 + @e@ / @BN@;\n"
    "const @column_type@ @column@ = @column_at@ + @e@ % @BN@;\n"
    "if (@row@ < @row_bound@ && @column@ < @column_bound@) {\n"
    "@finish@"
    "}\n"
    "}\n";

/* How many elements from here on are inside, 0 when the line is not. */
static const char *inside(struct hone_pool *pool, const char *at, const char *end, const char *line,
                          const char *line_end)
{
    return hone_pool_printf(pool, "%s < %s ? %s - %s : 0", line, line_end, end, at);
}

static const char *fill_body(const struct hone_coder_input *in, int variant,
                             const struct hone_cuda_word *words)
{
    if (variant == BY_WARPS)
        return hone_pool_printf(in->pool, "%s%s", hone_cuda_fill(in, body_text, words),
                                hone_cuda_fill(in, loop_text, words));
    return hone_pool_printf(in->pool, "%s%s%s", hone_cuda_fill(in, warpgroup_body_text, words),
                            hone_cuda_fill(in, warpgroup_fetch_text, words),
                            hone_cuda_fill(in, warpgroup_loop_text, words));
}

struct sizes {
    const char *bm, *bn, *bk, *stages, *pragmas;
};

static const char *make_body(const struct tensor *t, int variant, const struct sizes *z,
                             const struct hone_cuda_split *split)
{
    const char *bm = z->bm, *bn = z->bn, *bk = z->bk, *stages = z->stages;
    bool is_wide = variant == BY_WARPGROUPS;
    const struct hone_cuda_contraction *c = &t->c;
    const struct hone_coder_input *in = c->k->in;
    struct hone_pool *pool = in->pool;
    const char *row = c->row->var->name, *column = c->column->var->name, *k = c->loop->var->name;
    const char *r = hone_fresh_name(in, "r"), *col = hone_fresh_name(in, "c"),
               *kk = hone_fresh_name(in, "kk"), *e = hone_fresh_name(in, "e"),
               *tile = hone_fresh_name(in, "tile"), *line = hone_fresh_name(in, "line"),
               *part = hone_fresh_name(in, "part"), *result = hone_fresh_name(in, "result"),
               *warp_row = hone_fresh_name(in, "warp_row"),
               *warp_column = hone_fresh_name(in, "warp_column");
    const char *u = hone_fresh_name(in, "u"), *pitch = hone_fresh_name(in, "PITCH");
    const char *along =
                   hone_pool_printf(pool, "%s %% 8 * %s", u, is_byte(t->left.type) ? "16" : "8"),
               *turned = hone_pool_printf(pool, "%s / 512 * 64 + %s %% 8 * 8", u, u);
    const char *total =
        is_wide ? hone_pool_printf(pool, "%s[%s / %s * %s + %s %% %s]", result, e, bn, pitch, e, bn)
                : hone_pool_printf(pool, "%s[%s]", result, e);
    const char *upper = hone_cuda_bracket(c->k, c->loop->upper),
               *lower = hone_cuda_bracket(c->k, c->loop->lower),
               *rows = hone_cuda_bracket(c->k, c->row->bound),
               *columns = hone_cuda_bracket(c->k, c->column->bound);
    struct hone_cuda_sub subs[HONE_CUDA_MAX_SUBS];
    size_t n_subs = hone_cuda_contraction_subs(c, subs);
    const char *left = hone_cuda_inline(c->k, t->left.load, subs, n_subs),
               *right = hone_cuda_inline(c->k, t->right.load, subs, n_subs);
    if (!upper || !lower || !rows || !columns || !left || !right)
        return NULL;
    if (c->loop->is_inclusive)
        upper = hone_pool_printf(pool, "(%s + 1)", upper);
    bool lk = t->left.is_along_k, rk = t->right.is_along_k;
    const char *left_at = hone_pool_printf(pool, "%s + %s * 16", warp_row, r);
    const char *right_at = hone_pool_printf(pool, "%s + %s * 16", warp_column, col);
    const char *left_place = lk ? hone_pool_printf(pool, "(%s) * LEFT_PITCH + %s", left_at, kk)
                                : hone_pool_printf(pool, "%s * LEFT_PITCH + %s", kk, left_at);
    const char *right_place = rk ? hone_pool_printf(pool, "(%s) * RIGHT_PITCH + %s", right_at, kk)
                                 : hone_pool_printf(pool, "%s * RIGHT_PITCH + %s", kk, right_at);
    const struct hone_cuda_word words[] = {
        {"T", t->left.type},
        {"BM", bm},
        {"BN", bn},
        {"BK", bk},
        {"STAGES", stages},
        {"r", r},
        {"c", col},
        {"kk", kk},
        {"e", e},
        {"tile", tile},
        {"line", line},
        {"part", part},
        {"result", result},
        {"warp_row", warp_row},
        {"warp_column", warp_column},
        {"LEFT_PITCH", "LEFT_PITCH"},
        {"RIGHT_PITCH", "RIGHT_PITCH"},
        {"left_line", lk ? bk : bm},
        {"right_line", rk ? bk : bn},
        {"batch", hone_cuda_contraction_batch(c, bm, bn, tile)},
        {"row", row},
        {"row_type", hone_cuda_type(in, c->row->var)},
        {"row_bound", rows},
        {"column", column},
        {"column_type", hone_cuda_type(in, c->column->var)},
        {"column_bound", columns},
        {"k", k},
        {"k_type", hone_cuda_type(in, c->loop->var)},
        {"k_lower", lower},
        {"k_upper", upper},
        {"left", left},
        {"right", right},
        {"left_row", lk ? line : part},
        {"left_k", lk ? part : line},
        {"left_n", lk ? inside(pool, k, upper, row, rows) : inside(pool, row, rows, k, upper)},
        {"right_column", rk ? line : part},
        {"right_k", rk ? part : line},
        {"right_n",
         rk ? inside(pool, k, upper, column, columns) : inside(pool, column, columns, k, upper)},
        {"left_major", lk ? "row_major" : "col_major"},
        {"right_major", rk ? "col_major" : "row_major"},
        {"left_place", left_place},
        {"right_place", right_place},
        {"finish", hone_cuda_split_finish(c, split, total)},
        {"acc", c->acc->type},
        {"reg", strcmp(c->acc->type, "int") == 0 ? "r" : "f"},
        {"u", u},
        {"PITCH", pitch},
        {"left_next", t->left.step},
        {"right_next", t->right.step},
        {"left_lines", lk ? "" : " % 64"},
        {"right_lines", rk ? "" : " % 64"},
        {"left_pieces", lk ? along : turned},
        {"right_pieces", rk ? along : turned},
        {NULL, NULL},
    };
    return fill_body(in, variant, words);
}

/* Elements of a stage: lines are eight elements longer than they need to be. */
static const char *bytes_text(const struct tensor *t, const char *bm, const char *bn,
                              const char *bk, const char *stages)
{
    struct hone_pool *pool = t->c.k->in->pool;
    const char *left = t->left.is_along_k ? hone_pool_printf(pool, "%s * (%s + 8)", bm, bk)
                                          : hone_pool_printf(pool, "%s * (%s + 8)", bk, bm);
    const char *right = t->right.is_along_k ? hone_pool_printf(pool, "%s * (%s + 8)", bn, bk)
                                            : hone_pool_printf(pool, "%s * (%s + 8)", bk, bn);
    return hone_pool_printf(pool, "%s * (%s + %s) * 2", stages, left, right);
}

/* The helpers of warpgroups for the factors' and the sum's types. */
static const char *warpgroup_helpers(const struct tensor *t)
{
    struct hone_pool *pool = t->c.k->in->pool;
    bool lk = t->left.is_along_k, rk = t->right.is_along_k, is_int = is_byte(t->left.type);
    const char *type = strcmp(t->left.type, "__half") == 0 ? "f16" : "bf16";
    const struct hone_cuda_word words[] = {
        {"T", t->left.type},
        {"acc", t->c.acc->type},
        {"reg", is_int ? "r" : "f"},
        {"shape", is_int ? "m64n256k32.s32.s8.s8"
                         : hone_pool_printf(pool, "m64n256k16.f32.%s.%s", type, type)},
        {"registers", hone_cuda_registers(pool, 128)},
        {"scales", is_int ? "1" : hone_pool_printf(pool, "1, 1, 1, %d, %d", !lk, !rk)},
        {"each", is_int ? "32" : "16"},
        {"left_step", lk ? "32" : "2048"},
        {"right_step", rk ? "32" : "2048"},
        {"left_at", is_int ? "r * 128 + k"
                    : lk   ? "r * 128 + k * 2"
                           : "k * 128 + r * 2"},
        {"right_at", is_int ? "c * 128 + k"
                     : rk   ? "c * 128 + k * 2"
                            : "c / 64 * 8192 + k * 128 + c % 64 * 2"},
        {NULL, NULL},
    };
    return hone_pool_printf(pool, "%s%s", hone_cuda_warpgroup_helper(t->c.k->in),
                            hone_cuda_fill(t->c.k->in, warpgroup_text, words));
}

static struct sizes name_sizes(const struct tensor *t, int variant)
{
    const struct hone_coder_input *in = t->c.k->in;
    struct sizes z = {.bm = "128", .bn = "256", .bk = is_byte(t->left.type) ? "128" : "64"};
    if (variant == BY_WARPGROUPS) {
        z.pragmas = hone_cuda_tunable(in, "STAGES", "4, 3", &z.stages);
        return z;
    }
    const char *pragmas = hone_cuda_tunable(in, "BM", "128, 256, 64", &z.bm);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "BN", "128, 256, 64", &z.bn));
    pragmas =
        hone_pool_printf(in->pool, "%s%s", pragmas, hone_cuda_tunable(in, "BK", "32, 64", &z.bk));
    z.stages = hone_fresh_name(in, "STAGES");
    z.pragmas =
        hone_pool_printf(in->pool,
                         "%s#pragma hone tune(%s: 3, 4, 2) where(%s * %s <= 32768 && %s * %s * "
                         "(%s + %s) <= 90000)\n",
                         pragmas, z.stages, z.bm, z.bn, z.stages, z.bk, z.bm, z.bn);
    return z;
}

static bool set_launches(struct hone_c_edits *edits, const struct tensor *t, const struct sizes *z,
                         const struct hone_cuda_split *split, const char *bytes)
{
    const struct hone_cuda_kernel *k = t->c.k;
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_cuda_launch *l = &k->launches[i];
        const char *grid = hone_cuda_contraction_grid(&t->c, l, z->bm, z->bn);
        uint32_t at = l->launcher->body->begin + 1;
        if (!grid)
            return false;
        hone_cuda_split_launch(edits, &t->c, split, l, grid, "256", bytes, z->bk);
        if (i == 0)
            hone_c_replace(edits, at, at,
                           hone_pool_printf(k->in->pool,
                                            "\n    cudaFuncSetAttribute(%s, "
                                            "cudaFuncAttributeMaxDynamicSharedMemorySize, %s);",
                                            k->function->name, bytes));
    }
    return true;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct tensor t;
    struct hone_c_edits edits;
    bool is_wide = site->variant == BY_WARPGROUPS;
    if (!k || !read_tensor(k, &t) || !has_variant(&t, site->variant)) {
        hone_fail(err, HONE_E_ARG, "the region is no contraction of 16-bit factors or bytes");
        return NULL;
    }
    hone_c_edits_init(&edits, in->tree);
    struct sizes z = name_sizes(&t, site->variant);
    const char *bytes =
        hone_fresh_name(in, hone_pool_printf(in->pool, "%s_bytes", k->function->name));
    const char *pragmas = hone_pool_printf(
        in->pool, "%sconstexpr int %s = %s;\n", z.pragmas, bytes,
        is_wide ? hone_pool_printf(in->pool, "%s * (%s + %s) * 128", z.stages, z.bm, z.bn)
                : bytes_text(&t, z.bm, z.bn, z.bk, z.stages));
    const struct hone_cuda_split split = hone_cuda_split_of(&t.c);
    const char *body = make_body(&t, site->variant, &z, &split);
    if (!body || !set_launches(&edits, &t, &z, &split, bytes)) {
        hone_fail(err, HONE_E_ARG, "a bound or a factor depends on what is not known there");
        return NULL;
    }
    hone_cuda_put_helpers(&edits, is_wide ? warpgroup_helpers(&t) : helper_text);
    const char *front = hone_cuda_split_kernel(&t.c, &split);
    hone_cuda_replace_kernel(
        &edits, k, hone_pool_printf(in->pool, "%s%s", front, pragmas),
        hone_cuda_header(k, is_wide ? "256, 1" : "256", hone_cuda_split_param(&t.c, &split)), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_tensor_tile = {
    .name = "cuda_tensor_tile",
    .target = "cuda",
    .strategy = "G31",
    .words = "tensor cores with asynchronous tiles",
    .sites = sites,
    .apply = apply,
};

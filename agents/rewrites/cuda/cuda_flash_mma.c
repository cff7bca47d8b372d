/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G31 and G09: softmax-weighted sums of 16-bit numbers on tensor cores (attention).
 *
 * As FlashAttention-2 does it (Dao, arXiv 2307.08691): a warp has 16 * ROWS queries and all of
 * their scores, maxima, sums and totals in registers; a block of WARPS warps takes the keys and
 * values in tiles of KEYS, which asynchronous copies bring into one of two buffers while the other
 * one is multiplied. Weights go from the registers of the first product straight into the second
 * one: the sums of mma.m16n8k16 lie where its left factor is wanted (PTX ISA, "Matrix Fragments for
 * mma.m16n8k16 with floating point type"; ldmatrix: "Warp-level matrix load instruction"). A weight
 * is a sum of TERMS numbers of the 16-bit type: three of bfloat16 have all bits of a float; fewer are
 * faster, and more than a strict tolerance allows where values cancel.
 *
 * Tiles that no row of a warp has keys in are skipped, and only tiles at a row's end are masked.
 * Where rows have as many keys as their place says, the longest blocks are first.
 *
 * Lines of shared memory are eight elements longer than a head, so that the eight lines that are
 * read at once lie in different banks. Heads are padded to a multiple of 16 with zeros; copies of
 * 16 bytes are element by element where memory is not aligned. So any sizes will do up to a head
 * of 128. Without NVIDIA's compiler for sm_80 or later the same text multiplies by shuffles of
 * the same registers, slowly.
 *
 * By warpgroups (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions") two of them have 64
 * queries each and tiles of 128 keys, in lines of 128 bytes whose pieces change places. The next
 * tile's scores and this one's totals are made together, and weights are found while the totals go
 * on (FlashAttention-3; Shah et al., arXiv 2407.08608). Heads are padded to 64 or 128. */
#include <string.h>

#include "agents/rewrites/cuda/cuda_flash.h"

/* ---- text ---- */

/* @b@ is bf16 or f16; the names are the type's own, as a source may have both. */
static const char helper_text[] =
    "#include <cuda_pipeline.h>\n\n"
    "/* Eight 16-bit elements to shared memory: n of them, zeros behind. */\n"
    "__device__ inline void fetch_@b@(@T@ *to, const @T@ *from, int64_t n)\n"
    "{\n"
    "    if (n >= 8 && (uintptr_t)from % 16 == 0) {\n"
    "        __pipeline_memcpy_async(to, from, 16);\n"
    "    } else {\n"
    "        /* all of them are read before one is stored */\n"
    "        __align__(16) @T@ part[8];\n"
    "        for (int i = 0; i < 8; i++)\n"
    "            part[i] = i < n ? from[i] : (@T@)0.0f;\n"
    "        *(uint4 *)to = *(const uint4 *)part;\n"
    "    }\n"
    "}\n\n"
    "/* Has the compiler mma and ldmatrix? Elsewhere the same registers are filled without. */\n"
    "#if defined(__CUDACC_VER_BUILD__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
    "#define HAS_MMA_@b@ 1\n"
    "#else\n"
    "#define HAS_MMA_@b@ 0\n"
    "#endif\n\n"
    "__device__ inline unsigned pair_@b@(float low, float high)\n"
    "{\n"
    "    unsigned both;\n"
    "#if HAS_MMA_@b@\n"
    "    asm(\"cvt.rn.@b@x2.f32 %0, %1, %2;\" : \"=r\"(both) : \"f\"(high), \"f\"(low));\n"
    "#else\n"
    "    const @T@ parts[2] = {(@T@)low, (@T@)high};\n"
    "    memcpy(&both, parts, 4);\n"
    "#endif\n"
    "    return both;\n"
    "}\n\n"
    "__device__ inline float power_@b@(float x)\n"
    "{\n"
    "#if HAS_MMA_@b@\n"
    "    float y;\n"
    "    asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n"
    "    return y;\n"
    "#else\n"
    "    return exp2f(x);\n"
    "#endif\n"
    "}\n\n"
    "/* Four parts of 8 x 8 out of 16 x 16 elements whose lines are PITCH apart. With DOWN the "
    "second\n"
    " * part lies below the first one, else beside it; with TURNED each part is turned. */\n"
    "template <int PITCH, bool DOWN, bool TURNED>\n"
    "__device__ inline void load_@b@(unsigned (&parts)[4], const @T@ *at)\n"
    "{\n"
    "    const int lane = threadIdx.x % 32;\n"
    "#if HAS_MMA_@b@\n"
    "    const int first = lane / 8 % 2 * 8, second = lane / 16 * 8;\n"
    "    const unsigned from = (unsigned)__cvta_generic_to_shared(\n"
    "        at + (lane % 8 + (DOWN ? first : second)) * PITCH + (DOWN ? second : first));\n"
    "    if (TURNED)\n"
    "        asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, "
    "[%4];\"\n"
    "                     : \"=r\"(parts[0]), \"=r\"(parts[1]), \"=r\"(parts[2]), "
    "\"=r\"(parts[3])\n"
    "                     : \"r\"(from));\n"
    "    else\n"
    "        asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
    "                     : \"=r\"(parts[0]), \"=r\"(parts[1]), \"=r\"(parts[2]), "
    "\"=r\"(parts[3])\n"
    "                     : \"r\"(from));\n"
    "#else\n"
    "    for (int i = 0; i < 4; i++) {\n"
    "        const int first = i % 2 * 8, second = i / 2 * 8;\n"
    "        const @T@ *part = at + (DOWN ? first : second) * PITCH + (DOWN ? second : first);\n"
    "        const int line = lane / 4, column = lane % 4 * 2;\n"
    "        const @T@ two[2] = {TURNED ? part[column * PITCH + line] : part[line * PITCH + "
    "column],\n"
    "                            TURNED ? part[(column + 1) * PITCH + line]\n"
    "                                   : part[line * PITCH + column + 1]};\n"
    "        memcpy(&parts[i], two, 4);\n"
    "    }\n"
    "#endif\n"
    "}\n\n"
    "/* d += a * b: 16 x 8 sums over 16. */\n"
    "__device__ inline void multiply_@b@(float (&d)[4], const unsigned (&a)[4], unsigned b0,\n"
    "                                     unsigned b1)\n"
    "{\n"
    "#if HAS_MMA_@b@\n"
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.@b@.@b@.f32 {%0, %1, %2, %3}, \"\n"
    "        \"{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
    "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
    "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b0), \"r\"(b1));\n"
    "#else\n"
    "    const int lane = threadIdx.x % 32;\n"
    "    for (int i = 0; i < 32; i++) { /* four of d, two halves of k, four pairs in each */\n"
    "        const int e = i / 8, half = i / 4 % 2, pair = i % 4;\n"
    "        unsigned left = 0, right = 0;\n"
    "        for (int part = 0; part < 4; part++) {\n"
    "            const unsigned got = __shfl_sync(0xffffffffu, a[part], lane / 4 * 4 + pair);\n"
    "            left = part == half * 2 + e / 2 ? got : left;\n"
    "        }\n"
    "        for (int part = 0; part < 2; part++) {\n"
    "            const unsigned got = __shfl_sync(0xffffffffu, part ? b1 : b0,\n"
    "                                             (lane % 4 * 2 + e % 2) * 4 + pair);\n"
    "            right = part == half ? got : right;\n"
    "        }\n"
    "        @T@ x[2], y[2];\n"
    "        memcpy(x, &left, 4);\n"
    "        memcpy(y, &right, 4);\n"
    "        d[e] += (float)x[0] * (float)y[0] + (float)x[1] * (float)y[1];\n"
    "    }\n"
    "#endif\n"
    "}\n";

static const char rest_text[] =
    "\n/* What a pair of rounded numbers leaves of them, and that rounded. */\n"
    "__device__ inline unsigned rest_@b@(float (&of)[2], unsigned both)\n"
    "{\n"
    "    @T@ parts[2];\n"
    "    memcpy(parts, &both, 4);\n"
    "    of[0] -= (float)parts[0];\n"
    "    of[1] -= (float)parts[1];\n"
    "    return pair_@b@(of[0], of[1]);\n"
    "}\n";

static const char warpgroup_text[] =
    "/* Waits until LEFT groups are on their way; nothing reads these sums in front of it. */\n"
    "template <int LEFT, int N> __device__ inline void finish_@b@(float (&d)[N][4])\n"
    "{\n"
    "    warpgroup_wait<LEFT>();\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 4 * N; i++)\n"
    "        asm volatile(\"\" : \"+f\"(d[i / 4][i % 4])::\"memory\");\n"
    "#endif\n"
    "}\n\n"
    "#define R4(b) \"+f\"(d[b][0]), \"+f\"(d[b][1]), \"+f\"(d[b][2]), \"+f\"(d[b][3])\n"
    "#define R32(b) R4(b), R4(b + 1), R4(b + 2), R4(b + 3), R4(b + 4), R4(b + 5), R4(b + 6), R4(b "
    "+ 7)\n"
    "/* d = left * right, or what d was besides: 64 x 128 sums, the 32 bytes number kk of both. "
    "*/\n"
    "__device__ inline void scores_@b@(float (&d)[16][4], const unsigned char *left,\n"
    "                                   const unsigned char *right, int kk, int with_old)\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %66, 0;\\n\"\n"
    "                 \"wgmma.mma_async.sync.aligned.m64n128k16.f32.@b@.@b@ \"\n"
    "@score_registers@"
    "                 \"%64, %65, p, 1, 1, 0, 0;\\n}\\n\"\n"
    "                 : R32(0), R32(8)\n"
    "                 : \"l\"(tile_at(left + kk * 32, 8192)), \"l\"(tile_at(right + kk * 32, "
    "8192)),\n"
    "                   \"r\"(with_old));\n"
    "#else\n"
    "    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;\n"
    "    for (int i = 0; i < 64; i++) {\n"
    "        const int r = warp * 16 + lane / 4 + i / 2 % 2 * 8, c = i / 4 * 8 + lane % 4 * 2 + i "
    "% 2;\n"
    "        float sum = with_old ? d[i / 4][i % 4] : 0.0f;\n"
    "        for (int k = kk * 16; k < (kk + 1) * 16; k++)\n"
    "            sum += (float)*(const @T@ *)(left + swizzled(r * 128 + k * 2)) *\n"
    "                   (float)*(const @T@ *)(right + swizzled(c * 128 + k * 2));\n"
    "        d[i / 4][i % 4] = sum;\n"
    "    }\n"
    "#endif\n"
    "}\n\n"
    "/* d += a * right: 64 x @HEAD@ sums over the 16 keys number kk. */\n"
    "__device__ inline void weigh_@b@_@HEAD@(float (&d)[@HEAD@ / 8][4], const unsigned (&a)[4],\n"
    "                                      const unsigned char *right, int kk)\n"
    "{\n"
    "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
    "    asm volatile(\"wgmma.mma_async.sync.aligned.m64n@HEAD@k16.f32.@b@.@b@ \"\n"
    "@total_registers@"
    "                 \"@operands@, 1, 1, 1, 1;\\n\"\n"
    "                 : @sums@\n"
    "                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]),\n"
    "                   \"l\"(tile_at(right + kk * 2048, 16384)));\n"
    "#else\n"
    "    const int lane = threadIdx.x % 32;\n"
    "    float left[2][16];\n"
    "    for (int i = 0; i < 16; i++) {\n"
    "        const unsigned got = __shfl_sync(0xffffffffu, a[i / 4], lane / 4 * 4 + i % 4);\n"
    "        @T@ two[2];\n"
    "        memcpy(two, &got, 4);\n"
    "        left[i / 4 % 2][i / 8 * 8 + i % 4 * 2] = (float)two[0];\n"
    "        left[i / 4 % 2][i / 8 * 8 + i % 4 * 2 + 1] = (float)two[1];\n"
    "    }\n"
    "    for (int i = 0; i < @HEAD@ / 2; i++) {\n"
    "        const int c = i / 4 * 8 + lane % 4 * 2 + i % 2;\n"
    "        for (int k = 0; k < 16; k++)\n"
    "            d[i / 4][i % 4] += left[i / 2 % 2][k] *\n"
    "                               (float)*(const @T@ *)(right + swizzled(c / 64 * 16384 + "
    "(kk * 16 + k) * 128 + c % 64 * 2));\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "#undef R32\n"
    "#undef R4\n";

/* ---- text of the kernel ---- */

static const char place_text[] =
    "constexpr int @WARP_ROWS@ = 16 * @ROWS@, @BLOCK_ROWS@ = @WARP_ROWS@ * @WARPS@;\n"
    "extern __shared__ __align__(1024) unsigned char @tiles@[];\n"
    "const int64_t @period@ = @period_text@;\n"
    "const int64_t @n_tiles@ = (@period@ + @BLOCK_ROWS@ - 1) / @BLOCK_ROWS@;\n"
    "const int64_t @n_groups@ = gridDim.x / @n_tiles@;\n"
    "@rank_text@"
    "const int64_t @t_at@ = (@n_tiles@ - 1 - @rank@ / @n_groups@) * @BLOCK_ROWS@;\n"
    "int64_t @group@ = @rank@ % @n_groups@;\n"
    "@held@"
    "const int64_t @row_at@ = @group_at@@t_at@;\n"
    "@scalars@"
    "const int64_t @n_dot@ = @dot_size@;\n"
    "const int64_t @t_end@ = @t_at@ + @BLOCK_ROWS@ < @period@ ? @t_at@ + @BLOCK_ROWS@ : @period@;\n"
    "const int64_t @n_keys@ = @all_keys@;\n"
    "const int @warp@ = threadIdx.x / 32, @lane@ = threadIdx.x % 32;\n"
    "const int64_t @warp_at@ = @t_at@ + @warp@ * @WARP_ROWS@;\n"
    "/* Keys that all rows of the warp have */\n"
    "const int64_t @each_keys@ = @least_keys@;\n"
    "/* Of rows lane / 4 and lane / 4 + 8 of each 16 */\n"
    "float @tops@[@ROWS@][2], @sums@[@ROWS@][2], @totals@[@ROWS@][@HEAD@ / 8][4];\n"
    "float @scores@[@ROWS@][@KEYS@ / 8][4], @scale_down@[@ROWS@][2];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@tops@[@r@][0] = @tops@[@r@][1] = -INFINITY;\n"
    "@sums@[@r@][0] = @sums@[@r@][1] = 0.0f;\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @HEAD@ / 2; @c@++)\n"
    "@totals@[@r@][@c@ / 4][@c@ % 4] = 0.0f;\n"
    "}\n";

static const char at_once_text[] =
    "/* The longest rows first. Where all blocks run at once, two on each of 132 processors, the "
    "later half begins with the shortest. */\n"
    "const int64_t @rank@ = gridDim.x <= 264 && blockIdx.x >= gridDim.x / 2 ? gridDim.x - 1 - "
    "(blockIdx.x - gridDim.x / 2) : blockIdx.x;\n";

/* Weights in place of the scores of the keys from key_at on; maxima and sums are kept up. */
static const char soften_text[] =
    "const bool @is_edge@ = @key_at@ + @KEYS@ > @each_keys@;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @h@ = 0; @h@ < 2; @h@++) {\n"
    "const int64_t @t@ = @warp_at@ + @r@ * 16 + @h@ * 8 + @lane@ / 4;\n"
    "const int64_t @row_end@ = @row_keys@;\n"
    "const int64_t @ahead@ = (@row_end@ < @n_keys@ ? @row_end@ : @n_keys@) - @key_at@;\n"
    "const int @n_left@ = (int)(@ahead@ < @KEYS@ ? @ahead@ : @KEYS@) - @lane@ % 4 * 2;\n"
    "float @high@ = @tops@[@r@][@h@];\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 4; @c@++) {\n"
    "const float @score@ = @scores@[@r@][@c@ / 2][@h@ * 2 + @c@ % 2];\n"
    "@high@ = fmaxf(@high@, @scaled@);\n"
    "}\n"
    "if (@is_edge@) {\n"
    "@high@ = @tops@[@r@][@h@];\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 4; @c@++) {\n"
    "const float @score@ = @scores@[@r@][@c@ / 2][@h@ * 2 + @c@ % 2];\n"
    "if (@c@ / 2 * 8 + @c@ % 2 < @n_left@)\n"
    "@high@ = fmaxf(@high@, @scaled@);\n"
    "}\n"
    "}\n"
    "@high@ = fmaxf(@high@, __shfl_xor_sync(0xffffffffu, @high@, 1));\n"
    "@high@ = fmaxf(@high@, __shfl_xor_sync(0xffffffffu, @high@, 2));\n"
    "@scale_down@[@r@][@h@] = @high@ > -INFINITY ? power_@b@((@tops@[@r@][@h@] - @high@)@by@) : "
    "1.0f;\n"
    "float @part@ = 0.0f;\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 4; @c@++) {\n"
    "const float @score@ = @scores@[@r@][@c@ / 2][@h@ * 2 + @c@ % 2];\n"
    "/* The difference as it was written: rounded once where a product and it are one operation. "
    "*/\n"
    "@scores@[@r@][@c@ / 2][@h@ * 2 + @c@ % 2] = power_@b@((@scaled@ - @high@)@by@);\n"
    "}\n"
    "if (@is_edge@) {\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 4; @c@++)\n"
    "if (@c@ / 2 * 8 + @c@ % 2 >= @n_left@)\n"
    "@scores@[@r@][@c@ / 2][@h@ * 2 + @c@ % 2] = 0.0f;\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 4; @c@++)\n"
    "@part@ += @scores@[@r@][@c@ / 2][@h@ * 2 + @c@ % 2];\n"
    "@sums@[@r@][@h@] = @sums@[@r@][@h@] * @scale_down@[@r@][@h@] + @part@;\n"
    "@tops@[@r@][@h@] = @high@;\n"
    "}\n";

static const char rescale_text[] =
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @HEAD@ / 2; @c@++)\n"
    "@totals@[@r@][@c@ / 4][@c@ % 4] = @scale_down@[@r@][@c@ / 2 % 2] > 0.0f ? "
    "@totals@[@r@][@c@ / 4][@c@ % 4] * @scale_down@[@r@][@c@ / 2 % 2] : 0.0f;\n";

/* Where this thread's pieces of a tile come from: addresses are made once where they may be. */
static const char loads_text[] =
    "auto @key_of@ = [&](int64_t @j@, int @d@) {\n"
    "const int64_t @t@ = @t_at@, @row@ = @row_at@;\n"
    "(void)@t@, (void)@row@;\n"
    "return &@key@;\n"
    "};\n"
    "auto @value_of@ = [&](int64_t @j@, int @d@) {\n"
    "const int64_t @t@ = @t_at@, @row@ = @row_at@;\n"
    "(void)@t@, (void)@row@;\n"
    "return &@value@;\n"
    "};\n"
    "constexpr int @ACROSS@ = @across@, @LINES@ = 32 * @WARPS@ / @ACROSS@;\n"
    "const int @first@ = threadIdx.x / @ACROSS@, @first_d@ = threadIdx.x % @ACROSS@ * 8;\n"
    "const @T@ *const @key_from@ = @key_of@(@first@, @first_d@), *const @value_from@ = "
    "@value_of@(@first@, @first_d@);\n"
    "const int64_t @key_pitch@ = @key_of@(1, 0) - @key_of@(0, 0), @value_pitch@ = @value_of@(1, 0) "
    "- @value_of@(0, 0);\n"
    "const bool @is_plain@ = @is_linear@ && 32 * @WARPS@ % @ACROSS@ == 0 && @KEYS@ % @LINES@ == 0 "
    "&& @n_dot@ == @HEAD@ && ((uintptr_t)@key_from@ | (uintptr_t)@value_from@) % 16 == 0 && "
    "(@key_pitch@ | @value_pitch@) % 8 == 0;\n";

/* ---- by warps ---- */

static const char warps_front_text[] =
    "constexpr int @PITCH@ = @HEAD@ + 8;\n"
    "@T@ *const @queries@ = (@T@ *)@tiles@, *const @ring@ = @queries@ + @BLOCK_ROWS@ * @PITCH@;\n"
    "const int64_t @warp_end@ = @warp_at@ + @WARP_ROWS@ < @period@ ? @warp_at@ + @WARP_ROWS@ : "
    "@period@;\n"
    "/* Keys that some row of the warp has */\n"
    "const int64_t @any_keys@ = @warp_keys@;\n"
    "auto @fetch@ = [&](int64_t @step@) {\n"
    "@T@ *const @to@ = @ring@ + @step@ % 2 * 2 * @KEYS@ * @PITCH@;\n"
    "if (@is_plain@ && (@step@ + 1) * @KEYS@ <= @n_keys@) {\n"
    "@T@ *const @place@ = @to@ + @first@ * @PITCH@ + @first_d@;\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < @KEYS@; @e@ += @LINES@) {\n"
    "__pipeline_memcpy_async(@place@ + @e@ * @PITCH@, @key_from@ + (@step@ * @KEYS@ + @e@) * "
    "@key_pitch@, 16);\n"
    "__pipeline_memcpy_async(@place@ + (@KEYS@ + @e@) * @PITCH@, @value_from@ + (@step@ * @KEYS@ + "
    "@e@) * @value_pitch@, 16);\n"
    "}\n"
    "return;\n"
    "}\n"
    "#pragma unroll 1\n"
    "for (int @u@ = threadIdx.x; @u@ < @KEYS@ * @HEAD@ / 8; @u@ += 32 * @WARPS@) {\n"
    "const int @line@ = @u@ / (@HEAD@ / 8), @d@ = @u@ % (@HEAD@ / 8) * 8;\n"
    "const int64_t @j@ = @step@ * @KEYS@ + @line@, @n@ = @j@ < @n_keys@ ? @n_dot@ - @d@ : 0;\n"
    "@T@ *const @place@ = @to@ + @line@ * @PITCH@ + @d@;\n"
    "fetch_@b@(@place@, @key_of@(@j@, @d@), @n@);\n"
    "fetch_@b@(@place@ + @KEYS@ * @PITCH@, @value_of@(@j@, @d@), @n@);\n"
    "}\n"
    "};\n"
    "#pragma unroll 1\n"
    "for (int @u@ = threadIdx.x; @u@ < @BLOCK_ROWS@ * @HEAD@ / 8; @u@ += 32 * @WARPS@) {\n"
    "const int @line@ = @u@ / (@HEAD@ / 8), @d@ = @u@ % (@HEAD@ / 8) * 8;\n"
    "const int64_t @t@ = @t_at@ + @line@, @row@ = @row_at@ + @line@;\n"
    "fetch_@b@(@queries@ + @line@ * @PITCH@ + @d@, &@query@, @t@ < @period@ ? @n_dot@ - @d@ : "
    "0);\n"
    "}\n"
    "if (@n_keys@ > 0)\n"
    "@fetch@(0);\n"
    "__pipeline_commit();\n"
    "for (int64_t @step@ = 0; @step@ * @KEYS@ < @n_keys@; @step@++) {\n"
    "__pipeline_wait_prior(0);\n"
    "__syncthreads();\n"
    "const int64_t @key_at@ = @step@ * @KEYS@;\n"
    "if (@key_at@ + @KEYS@ < @n_keys@)\n"
    "@fetch@(@step@ + 1);\n"
    "__pipeline_commit();\n"
    "if (@key_at@ >= @any_keys@)\n"
    "continue;\n"
    "const @T@ *const @keys@ = @ring@ + @step@ % 2 * 2 * @KEYS@ * @PITCH@, *const @values@ = "
    "@keys@ + @KEYS@ * @PITCH@;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 2; @c@++)\n"
    "@scores@[@r@][@c@ / 4][@c@ % 4] = 0.0f;\n"
    "#pragma unroll\n"
    "for (int @d@ = 0; @d@ < @HEAD@; @d@ += 16) {\n"
    "unsigned @left@[@ROWS@][4];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "load_@b@<@PITCH@, true, false>(@left@[@r@], @queries@ + (@warp@ * @WARP_ROWS@ + @r@ * 16) * "
    "@PITCH@ + @d@);\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @KEYS@ / 8; @c@ += 2) {\n"
    "unsigned @right@[4];\n"
    "load_@b@<@PITCH@, false, false>(@right@, @keys@ + @c@ * 8 * @PITCH@ + @d@);\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "multiply_@b@(@scores@[@r@][@c@], @left@[@r@], @right@[0], @right@[1]);\n"
    "multiply_@b@(@scores@[@r@][@c@ + 1], @left@[@r@], @right@[2], @right@[3]);\n"
    "}\n"
    "}\n"
    "}\n";

static const char warps_rest_text[] =
    "#pragma unroll\n"
    "for (int @line@ = 0; @line@ < @KEYS@ / 8; @line@ += 2) {\n"
    "unsigned @left@[@TERMS@][@ROWS@][4];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++) {\n"
    "float @u@[2] = {@scores@[@r@][@line@ + @e@ / 2][@e@ % 2 * 2], "
    "@scores@[@r@][@line@ + @e@ / 2][@e@ % 2 * 2 + 1]};\n"
    "@left@[0][@r@][@e@] = pair_@b@(@u@[0], @u@[1]);\n"
    "#pragma unroll\n"
    "for (int @d@ = 1; @d@ < @TERMS@; @d@++)\n"
    "@left@[@d@][@r@][@e@] = rest_@b@(@u@, @left@[@d@ - 1][@r@][@e@]);\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @HEAD@ / 8; @c@ += 2) {\n"
    "unsigned @right@[4];\n"
    "load_@b@<@PITCH@, true, true>(@right@, @values@ + @line@ * 8 * @PITCH@ + @c@ * 8);\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < @TERMS@ * @ROWS@; @e@++) {\n"
    "multiply_@b@(@totals@[@e@ % @ROWS@][@c@], @left@[@e@ / @ROWS@][@e@ % @ROWS@], @right@[0], "
    "@right@[1]);\n"
    "multiply_@b@(@totals@[@e@ % @ROWS@][@c@ + 1], @left@[@e@ / @ROWS@][@e@ % @ROWS@], @right@[2], "
    "@right@[3]);\n"
    "}\n"
    "}\n"
    "}\n"
    "}\n";

/* ---- by warpgroups ---- */

static const char groups_front_text[] =
    "constexpr int @BUFFER@ = @KEYS@ * @HEAD@ * 2;\n"
    "unsigned char *const @queries@ = @tiles@, *const @keys@ = @queries@ + @BLOCK_ROWS@ * @HEAD@ * "
    "2, *const @values@ = @keys@ + 2 * @BUFFER@;\n"
    "unsigned @weights@[@TERMS@][@KEYS@ / 16][4];\n"
    "/* Places of a tile: lines of 64 elements, then the next 64 elements of all lines */\n"
    "auto @fetch@ = [&](unsigned char *@to@, int64_t @step@, bool @is_key@) {\n"
    "@to@ += @step@ % 2 * @BUFFER@;\n"
    "if (@is_plain@ && (@step@ + 1) * @KEYS@ <= @n_keys@) {\n"
    "const int64_t @pitch@ = @is_key@ ? @key_pitch@ : @value_pitch@;\n"
    "const @T@ *const @from@ = (@is_key@ ? @key_from@ : @value_from@) + @step@ * @KEYS@ * "
    "@pitch@;\n"
    "@to@ += swizzled(threadIdx.x * 16);\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < @KEYS@ * @HEAD@ / 64; @e@ += 32)\n"
    "__pipeline_memcpy_async(@to@ + @e@ * 128, @from@ + @e@ % @KEYS@ * @pitch@ + @e@ / @KEYS@ * "
    "64, 16);\n"
    "return;\n"
    "}\n"
    "#pragma unroll 1\n"
    "for (int @u@ = threadIdx.x; @u@ < @KEYS@ * @HEAD@ / 8; @u@ += 256) {\n"
    "const int @d@ = @u@ / (8 * @KEYS@) * 64 + @u@ % 8 * 8;\n"
    "const int64_t @j@ = @step@ * @KEYS@ + @u@ / 8 % @KEYS@;\n"
    "fetch_@b@((@T@ *)(@to@ + swizzled(@u@ * 16)), @is_key@ ? @key_of@(@j@, @d@) : "
    "@value_of@(@j@, @d@), @j@ < @n_keys@ ? @n_dot@ - @d@ : 0);\n"
    "}\n"
    "};\n"
    "auto @multiply@ = [&](int64_t @step@) {\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < @HEAD@ / 16; @e@++)\n"
    "scores_@b@(@scores@[0], @queries@ + @e@ / 4 * @BLOCK_ROWS@ * 128 + threadIdx.x / 128 * 8192, "
    "@keys@ + @step@ % 2 * @BUFFER@ + @e@ / 4 * @KEYS@ * 128, @e@ % 4, @e@ > 0);\n"
    "warpgroup_commit();\n"
    "};\n"
    "auto @weigh@ = [&](int64_t @step@) {\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < @TERMS@ * @KEYS@ / 16; @e@++)\n"
    "weigh_@b@_@HEAD@(@totals@[0], @weights@[@e@ % @TERMS@][@e@ / @TERMS@], @values@ + @step@ % 2 "
    "* "
    "@BUFFER@, @e@ / @TERMS@);\n"
    "warpgroup_commit();\n"
    "};\n"
    "auto @soften@ = [&](int64_t @key_at@) {\n";

static const char groups_rest_text[] =
    "};\n"
    "auto @pack@ = [&]() {\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < @KEYS@ / 4; @e@++) {\n"
    "float @u@[2] = {@scores@[0][@e@ / 2][@e@ % 2 * 2], @scores@[0][@e@ / 2][@e@ % 2 * 2 + 1]};\n"
    "@weights@[0][@e@ / 4][@e@ % 4] = pair_@b@(@u@[0], @u@[1]);\n"
    "#pragma unroll\n"
    "for (int @d@ = 1; @d@ < @TERMS@; @d@++)\n"
    "@weights@[@d@][@e@ / 4][@e@ % 4] = rest_@b@(@u@, @weights@[@d@ - 1][@e@ / 4][@e@ % 4]);\n"
    "}\n"
    "};\n"
    "for (int @u@ = threadIdx.x; @u@ < @BLOCK_ROWS@ * @HEAD@ / 8; @u@ += 256) {\n"
    "const int @line@ = @u@ / 8 % @BLOCK_ROWS@, @d@ = @u@ / (8 * @BLOCK_ROWS@) * 64 + @u@ % 8 * "
    "8;\n"
    "const int64_t @t@ = @t_at@ + @line@, @row@ = @row_at@ + @line@;\n"
    "fetch_@b@((@T@ *)(@queries@ + swizzled(@u@ * 16)), &@query@, @t@ < @period@ ? @n_dot@ - "
    "@d@ : 0);\n"
    "}\n"
    "const int64_t @n_steps@ = @n_keys@ > @KEYS@ ? (@n_keys@ + @KEYS@ - 1) / @KEYS@ : 1;\n"
    "@fetch@(@keys@, 0, true);\n"
    "__pipeline_commit();\n"
    "if (@n_steps@ > 1)\n"
    "@fetch@(@keys@, 1, true);\n"
    "@fetch@(@values@, 0, false);\n"
    "__pipeline_commit();\n"
    "__pipeline_wait_prior(1);\n"
    "show_tiles();\n"
    "__syncthreads();\n"
    "warpgroup_begin();\n"
    "@multiply@(0);\n"
    "finish_@b@<0>(@scores@[0]);\n"
    "@soften@(0);\n"
    "@pack@();\n"
    "/* The next tile's scores and this one's totals are made together, and weights are found "
    "while "
    "the latter go on. */\n"
    "for (int64_t @step@ = 0; @step@ + 1 < @n_steps@; @step@++) {\n"
    "__pipeline_wait_prior(0);\n"
    "show_tiles();\n"
    "__syncthreads();\n"
    "warpgroup_begin();\n"
    "@multiply@(@step@ + 1);\n"
    "@weigh@(@step@);\n"
    "if (@step@ + 2 < @n_steps@)\n"
    "@fetch@(@keys@, @step@ + 2, true);\n"
    "@fetch@(@values@, @step@ + 1, false);\n"
    "__pipeline_commit();\n"
    "finish_@b@<1>(@scores@[0]);\n"
    "@soften@((@step@ + 1) * @KEYS@);\n"
    "finish_@b@<0>(@totals@[0]);\n"
    "@rescale@"
    "@pack@();\n"
    "}\n"
    "__pipeline_wait_prior(0);\n"
    "show_tiles();\n"
    "__syncthreads();\n"
    "warpgroup_begin();\n"
    "@weigh@(@n_steps@ - 1);\n"
    "finish_@b@<0>(@totals@[0]);\n";

/* Sums go through shared memory, so that neighbours store neighbours. */
static const char store_text[] =
    "__pipeline_wait_prior(0);\n"
    "__syncthreads();\n"
    "constexpr int @LINE@ = @HEAD@ + 4;\n"
    "float *const @result@ = (float *)@tiles@ + @warp@ * 16 * @LINE@;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "#pragma unroll\n"
    "for (int @h@ = 0; @h@ < 2; @h@++) {\n"
    "float *const @to@ = @result@ + (@lane@ / 4 + @h@ * 8) * @LINE@;\n"
    "float @all@ = @sums@[@r@][@h@];\n"
    "@all@ += __shfl_xor_sync(0xffffffffu, @all@, 1);\n"
    "@all@ += __shfl_xor_sync(0xffffffffu, @all@, 2);\n"
    "if (@lane@ % 4 == 0)\n"
    "@to@[@HEAD@] = @all@;\n"
    "#pragma unroll\n"
    "for (int @c@ = 0; @c@ < @HEAD@ / 8; @c@++) {\n"
    "@to@[@c@ * 8 + @lane@ % 4 * 2] = @totals@[@r@][@c@][@h@ * 2];\n"
    "@to@[@c@ * 8 + @lane@ % 4 * 2 + 1] = @totals@[@r@][@c@][@h@ * 2 + 1];\n"
    "}\n"
    "}\n"
    "__syncwarp();\n"
    "#pragma unroll 4\n"
    "for (int @e@ = @lane@; @e@ < 16 * @HEAD@; @e@ += 32) {\n"
    "const int @line@ = @e@ / @HEAD@;\n"
    "const int64_t @from@ = @warp@ * @WARP_ROWS@ + @r@ * 16 + @line@;\n"
    "const @last_type@ @last_d@ = @e@ % @HEAD@;\n"
    "if (@t_at@ + @from@ < @period@ && @last_d@ < @last_size@) {\n"
    "const @row_type@ @row@ = @row_at@ + @from@;\n"
    "@locals@"
    "const float @sum@ = @result@[@line@ * @LINE@ + @HEAD@];\n"
    "@store@\n"
    "}\n"
    "}\n"
    "__syncwarp();\n"
    "}\n";

/* How many keys the row has that is at t. */
static const char *keys_at(const struct hone_flash *f, const char *t, const char *upper)
{
    return hone_pool_printf(f->k->in->pool, "(%s)%s", hone_flash_is_by_row(f) ? t : upper,
                            f->loop->is_inclusive ? " + 1" : "");
}

struct sizes {
    const char *rows, *warps, *keys, *terms;
};

static const char *fill_body(const struct hone_coder_input *in, bool is_wide,
                             const struct hone_cuda_word *words)
{
    const char *front = is_wide ? groups_front_text : warps_front_text,
               *rest = is_wide ? groups_rest_text : warps_rest_text;
    return hone_pool_printf(in->pool, "%s%s%s%s%s%s%s", hone_cuda_fill(in, place_text, words),
                            hone_cuda_fill(in, loads_text, words), hone_cuda_fill(in, front, words),
                            hone_cuda_fill(in, soften_text, words),
                            is_wide ? "" : hone_cuda_fill(in, rescale_text, words),
                            hone_cuda_fill(in, rest, words), hone_cuda_fill(in, store_text, words));
}

static const char *make_body(const struct hone_flash *f, const struct hone_flash_loads *l,
                             const struct sizes *z, bool is_wide)
{
    const struct hone_coder_input *in = f->k->in;
    struct hone_pool *pool = in->pool;
    const char *t = f->t ? f->t->name : hone_fresh_name(in, "t"),
               *d = hone_fresh_name(in, "element"), *group = hone_fresh_name(in, "group"),
               *period = hone_fresh_name(in, "n_group"), *t_end = hone_fresh_name(in, "t_end"),
               *warp_at = hone_fresh_name(in, "warp_at"),
               *warp_end = hone_fresh_name(in, "warp_end"), *result = hone_fresh_name(in, "result"),
               *line = hone_fresh_name(in, "line"), *pitch = hone_fresh_name(in, "LINE");
    const char *query = hone_flash_expression(f, l->query, f->dot, d, t),
               *key = hone_flash_expression(f, l->key, f->dot, d, t),
               *value = hone_flash_expression(f, l->value, f->add, d, t),
               *scaled = hone_flash_expression(f, f->scaled, NULL, d, t),
               *dot_size = hone_flash_expression(f, f->dot->upper, NULL, d, t),
               *last_size = hone_flash_expression(f, f->last->upper, NULL, d, t),
               *upper = hone_flash_expression(f, f->loop->upper, NULL, d, t),
               *held = hone_flash_held(f, group),
               *of_group = hone_cuda_inline(f->k, f->period ? f->period : f->axis->bound, NULL, 0);
    if (!query || !key || !value || !scaled || !dot_size || !last_size || !upper || !held ||
        !of_group)
        return NULL;
    const char *head = hone_pool_printf(pool, "%d", l->head), *rank = hone_fresh_name(in, "rank");
    const struct hone_cuda_word few[] = {
        {"rank", rank}, {"HEAD", head}, {"ROWS", z->rows}, {NULL, NULL}};
    const char *rescale = hone_cuda_fill(in, rescale_text, few);
    const char *rank_text =
        hone_flash_is_by_row(f) && !is_wide
            ? hone_cuda_fill(in, at_once_text, few)
            : hone_pool_printf(
                  pool, "const int64_t %s = blockIdx.x; /* the longest rows first */\n", rank);
    const struct hone_cuda_word words[] = {
        {"T", l->type},
        {"b", strcmp(l->type, "__half") == 0 ? "f16" : "bf16"},
        {"HEAD", head},
        {"ROWS", z->rows},
        {"WARPS", z->warps},
        {"KEYS", z->keys},
        {"TERMS", z->terms},
        {"rank", rank},
        {"rank_text", rank_text},
        {"rescale", rescale},
        {"period", period},
        {"period_text", of_group},
        {"group", group},
        {"group_at", f->n_held > 0 ? "" : hone_pool_printf(pool, "%s * %s + ", group, period)},
        {"held", held},
        {"scalars", hone_flash_declarations(f, false)},
        {"locals", hone_flash_declarations(f, true)},
        {"dot_size", dot_size},
        {"t", t},
        {"t_end", t_end},
        {"warp_at", warp_at},
        {"warp_end", warp_end},
        {"all_keys", keys_at(f, hone_pool_printf(pool, "%s - 1", t_end), upper)},
        {"warp_keys", keys_at(f, hone_pool_printf(pool, "%s - 1", warp_end), upper)},
        {"least_keys", keys_at(f, warp_at, upper)},
        {"row_keys", keys_at(f, t, upper)},
        {"row", f->row->name},
        {"row_type", hone_cuda_type(in, f->row)},
        {"d", d},
        {"j", f->loop->var->name},
        {"line", line},
        {"result", result},
        {"LINE", pitch},
        {"query", query},
        {"key", key},
        {"value", value},
        {"score", f->score->name},
        {"scaled", scaled},
        {"by", l->factor},
        {"is_linear", l->is_linear ? "true" : "false"},
        {"across", is_wide ? "8" : hone_pool_printf(pool, "%d", l->head / 8)},
        {"sum", f->sum->name},
        {"last_size", last_size},
        {"last_type", hone_cuda_type(in, f->last->var)},
        {"last_d", f->last->var->name},
        {"store", hone_flash_store(f, hone_pool_printf(pool, "%s[%s * %s + %s]", result, line,
                                                       pitch, f->last->var->name))},
        {NULL, NULL},
    };
    return fill_body(in, is_wide, words);
}

/* Those of the type that the source has not got yet. */
static const char *helpers(const struct hone_coder_input *in, const struct hone_flash_loads *l,
                           bool is_wide)
{
    const char *b = strcmp(l->type, "__half") == 0 ? "f16" : "bf16", *out = "";
    const int head = l->head, n = head / 2;
    const struct hone_cuda_word words[] = {
        {"T", l->type},
        {"b", b},
        {"HEAD", hone_pool_printf(in->pool, "%d", head)},
        {"score_registers", hone_cuda_registers(in->pool, 64)},
        {"total_registers", hone_cuda_registers(in->pool, n)},
        {"operands", hone_pool_printf(in->pool, "{%%%d, %%%d, %%%d, %%%d}, %%%d", n, n + 1, n + 2,
                                      n + 3, n + 4)},
        {"sums", head == 64 ? "R32(0)" : "R32(0), R32(8)"},
        {NULL, NULL},
    };
    if (!hone_has_word(hone_coder_source(in), hone_pool_printf(in->pool, "multiply_%s", b)))
        out = hone_pool_printf(in->pool, "%s%s", hone_cuda_fill(in, helper_text, words),
                               hone_cuda_fill(in, rest_text, words));
    if (is_wide &&
        !hone_has_word(hone_coder_source(in), hone_pool_printf(in->pool, "scores_%s", b)))
        out = hone_pool_printf(in->pool, "%s\n%s%s", out, hone_cuda_warpgroup_helper(in),
                               hone_cuda_fill(in, warpgroup_text, words));
    return out;
}

static const char *name_sizes(const struct hone_coder_input *in, bool is_wide, struct sizes *ret)
{
    *ret = (struct sizes){"1", "8", "128", NULL};
    const char *pragmas = hone_cuda_tunable(in, "TERMS", "3, 2, 1", &ret->terms);
    if (is_wide)
        return pragmas;
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "ROWS", "2, 1", &ret->rows));
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "WARPS", "4, 8", &ret->warps));
    ret->keys = hone_fresh_name(in, "KEYS");
    /* registers hold ROWS * KEYS of the scores, and a line has at most 272 bytes */
    return hone_pool_printf(in->pool,
                            "%s#pragma hone tune(%s: 64, 32, 128) where(%s * %s <= 128 && (16 * %s "
                            "* %s + 4 * %s) * 272 <= 232448)\n",
                            pragmas, ret->keys, ret->rows, ret->keys, ret->rows, ret->warps,
                            ret->keys);
}

bool hone_flash_mma(const struct hone_flash *f, bool is_wide, struct hone_flash_text *ret)
{
    const struct hone_coder_input *in = f->k->in;
    struct hone_flash_loads l;
    struct sizes z;
    const char *pragmas = name_sizes(in, is_wide, &z);
    if (!hone_flash_read_loads(f, is_wide, &l))
        return false;
    const char *bytes =
        hone_fresh_name(in, hone_pool_printf(in->pool, "%s_bytes", f->k->function->name));
    ret->rows = hone_pool_printf(in->pool, "16 * %s * %s", z.rows, z.warps);
    ret->threads = is_wide ? "256" : hone_pool_printf(in->pool, "32 * %s", z.warps);
    ret->bounds = is_wide ? "256, 1" : ret->threads;
    ret->bytes = bytes;
    ret->pragmas = hone_pool_printf(in->pool, "%sconstexpr int %s = (%s + 4 * %s) * %d;\n", pragmas,
                                    bytes, ret->rows, z.keys, 2 * (l.head + (is_wide ? 0 : 8)));
    ret->helpers = helpers(in, &l, is_wide);
    ret->body = make_body(f, &l, &z, is_wide);
    return ret->body != NULL;
}

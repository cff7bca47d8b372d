/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/strategy_guide.h"

#include <string.h>

#define CPU(id_, how_, pitfalls_)                                                                  \
    {                                                                                              \
        "cpu", id_, how_, pitfalls_                                                                \
    }
#define CUDA(id_, how_, pitfalls_)                                                                 \
    {                                                                                              \
        "cuda", id_, how_, pitfalls_                                                               \
    }

/* the same on both targets */
#define MERGE_HOW                                                                                  \
    "carry the idea of the sibling's diff over to this source, fitted to what it does already; "   \
    "keep what made this one fast"
#define MERGE_TRAP                                                                                 \
    "both may serve the same need: then decline; names and lines differ from the diff's"

const struct hone_card hone_strategy_guide[] = {
    CPU("C01",
        "block the two loops whose data is used again so that the block's data fits L1 or L2",
        "tails; blocks of 1 on small sizes; loop overhead when blocks are tiny"),
    CPU("C02",
        "make the loop over the contiguous index the innermost one; move the accumulator to "
        "the output row if needed",
        "a reduction that is interchanged must not start from an uninitialised output"),
    CPU("C03", "split one accumulator into 4 to 16 independent ones, combine them at the end",
        "tail elements; the order of additions changes, so keep within tolerance"),
    CPU("C04",
        "restrict on pointers, omp simd with reduction clauses, unit stride, no calls in the "
        "loop",
        "restrict on buffers that do overlap; branches in the loop body"),
    CPU("C05", "immintrin.h with vectors as wide as the machine has, masked or scalar tail",
        "unaligned loads need loadu; do not assume AVX-512; reading past the end"),
    CPU("C06", "copy into blocks with one array per member, vector width long",
        "the copy must cost less than it saves"),
    CPU("C07",
        "copy panels of both operands into contiguous aligned buffers before the inner kernel",
        "buffers per thread; allocate once outside of loops; free them"),
    CPU("C08", "omp parallel for over independent outer iterations; if() clause for small work",
        "shared temporaries; false sharing; nested parallel regions"),
    CPU("C09", "initialise scratch memory in the thread that uses it",
        "inputs are not yours to touch"),
    CPU("C10", "pad per-thread data to 64 bytes", "more memory per thread"),
    CPU("C11", "__builtin_prefetch some iterations ahead of an indirect load",
        "past the end is harmless to prefetch but not to read an index from"),
    CPU("C12", "_mm_stream stores for outputs that are not read again and exceed the last cache",
        "alignment; _mm_sfence at the end; slower when the data fits the cache"),
    CPU("C13", "block so that few pages are touched at a time; madvise scratch memory",
        "small effect on small data"),
    CPU("C14",
        "run iterations at borders apart; replace branches by selects, minimum and maximum, or a "
        "table",
        "tables cost cache"),
    CPU("C15", "reciprocals once per row, fewer divisions, approximations with a Newton step",
        "tolerance; infinities, zeros and denormals"),
    CPU("C16", "#pragma GCC optimize or target for this function", "fast-math breaks NaN handling"),
    CPU("C17", "do several passes over a row in one, or split one pass so that parts vectorise",
        "an online maximum needs rescaling of what was summed"),
    CPU("C18",
        "move invariants out of loops, strides by addition, division by shifts or reciprocals",
        "overflow of narrow indices"),
    CPU("C19", "one allocation outside of loops, no clearing of what is overwritten",
        "free it; per-thread scratch inside parallel regions"),
    CPU("C20", "run several time steps on a block while it is in cache, skewed",
        "dependences at block borders; both buffers must end right"),
    CPU("C21", "a specialised body for common sizes, a general one for all others",
        "the general one must stay right"),
    CPU("C22", "another algorithm or data structure with less work", "error bounds; small sizes"),
    CPU("C23", "recursive halving until the piece fits the cache", "call overhead; odd sizes"),
    CPU("C24", "split long rows or reductions among threads, combine partial results in order",
        "determinism; empty parts when there are more threads than work"),
    CPU("M", MERGE_HOW, MERGE_TRAP),
    CPU("G06",
        "compute an MR by NR block of outputs in local accumulators; each load serves several",
        "spills when the block exceeds the registers; tails in both directions"),
    CPU("G44", "range-reduce and evaluate a polynomial inline, without branches",
        "large and negative arguments, infinities, NaN; error within tolerance"),
    CPU("G51", "swap pointers instead of copying back", "the result must end in the output buffer"),
    CUDA("M", MERGE_HOW, MERGE_TRAP),
    CUDA("G01", "neighbouring threads touch neighbouring addresses: contiguous axis on threadIdx.x",
         "bounds of the new index map"),
    CUDA("G02", "float4 or 16-byte loads and stores", "alignment of rows; tail elements"),
    CUDA("G03", "peel an unaligned head and tail, vectors between", "rows shorter than a vector"),
    CUDA("G04", "turn through a padded shared tile so that both sides are contiguous",
         "barrier between write and read; tile borders"),
    CUDA("G05", "load a tile of each operand into shared memory once, use it by all threads",
         "barriers on both sides; zero-fill beyond the bounds; bank conflicts"),
    CUDA("G06", "each thread computes several outputs in registers",
         "register count and occupancy"),
    CUDA("G07", "pad the row of a shared array by one, or swizzle", "shared memory limit"),
    CUDA("G08", "__ldg, __ldcs, __stcs, const __restrict__", "data that is written in the kernel"),
    CUDA("G09", "cp.async (__pipeline_memcpy_async) in two or more buffers",
         "wait before use, barrier before reuse; 4, 8 or 16 bytes aligned"),
    CUDA("G10", "tensor-map copies with an mbarrier, compute capability 9.0",
         "the launcher makes the map; alignment of 16 bytes; phase bits"),
    CUDA("G11", "keep what is read again in registers, load the next before it is needed",
         "local arrays need constant indices"),
    CUDA("G12", "issue several independent loads before their first use", "register pressure"),
    CUDA("G13", "#pragma unroll with a fixed count", "code size; tails"),
    CUDA("G14", "another block size or shape as tunables", "kernels that assume the old one"),
    CUDA("G15", "__launch_bounds__, less shared memory, fewer registers", "spills"),
    CUDA("G16", "shorter live ranges, smaller tiles, recompute", "extra work"),
    CUDA("G17", "constant indices into local arrays, fully unrolled", "code size"),
    CUDA("G18", "several threads or warps share a row, then reduce",
         "rows shorter than the group; no float atomics, the result must be deterministic"),
    CUDA("G19", "a fixed number of blocks takes tiles from a list, split along the reduction",
         "partial results and their order"),
    CUDA("G20", "grid-stride loop, as many blocks as fit the machine", "64-bit indices"),
    CUDA("G21", "number blocks so that neighbours in time share data in L2", "partial bands"),
    CUDA("G22", "order loops for reuse and contiguous access", "dependences"),
    CUDA("G23", "do the following elementwise work before the store", "registers"),
    CUDA("G24", "do the preceding elementwise work at the load", "work done several times"),
    CUDA("G25", "one kernel for several small ones",
         "dependences between them need a grid barrier"),
    CUDA("G26", "online maximum and sum: rescale when the maximum grows",
         "minus infinity at the start; empty rows"),
    CUDA("G27", "two simpler kernels where one spills or diverges", "extra traffic, extra launch"),
    CUDA("G28", "__shfl_down_sync within a warp, shared memory between warps",
         "full masks with lanes that left; width of the last group"),
    CUDA("G29", "combine in shared memory or a warp first, one atomic a block",
         "float atomics are not deterministic"),
    CUDA("G30", "decoupled look-back scan", "forward progress; flags need fences"),
    CUDA("G31", "mma.h fragments for 16-bit factors with float accumulation",
         "only where the task's precision allows; multiples of 16, padding at borders"),
    CUDA("G32", "16-bit storage, 32-bit sums", "only where the task's precision allows"),
    CUDA("G33", "__expf, __fdividef, fmaf", "error within tolerance; large arguments"),
    CUDA("G34", "32-bit indices where sizes allow, strides by addition", "overflow of large sizes"),
    CUDA("G35", "template or constant sizes, invariants out of loops", "sizes that do not match"),
    CUDA("G36", "make lanes of a warp take the same way", "extra work for idle lanes"),
    CUDA("G37", "equal work per block: by elements, not by rows", "search of the row by offset"),
    CUDA("G38", "skip blocks that the structure makes zero", "borders"),
    CUDA("G39", "less work by algebra or another algorithm", "error bounds"),
    CUDA("G40", "some warps load, some compute", "barriers by name; register split"),
    CUDA("G41", "clusters of blocks share shared memory, compute capability 9.0",
         "cluster size must divide the grid; sync before exit"),
    CUDA("G42", "warp-level sync where a block barrier is not needed", "races"),
    CUDA("G43",
         "march along one axis with a queue of planes in registers; or make several time steps of "
         "a tile with its halo in one launch",
         "halo; last planes; which buffer holds the result"),
    CUDA("G44", "polynomial instead of the special function unit", "range and error"),
    CUDA("G45", "programmatic stream serialisation attribute, griddepcontrol",
         "wait before the first dependent read"),
    CUDA("G46", "independent kernels on streams that join at the end", "events in the launcher"),
    CUDA("G48", "__restrict__, __launch_bounds__, register cap", "aliasing; spills"),
    CUDA("G49", "half2, dp4a, packed instructions", "odd counts; precision"),
    CUDA("G50", "narrower indices or values", "range"),
    CUDA("G51", "write the result where it belongs, no zero-fill, no copy", "buffers that overlap"),
};
const size_t hone_n_cards = HONE_COUNTOF(hone_strategy_guide);

const struct hone_card *hone_card_of(const struct hone_strategy *s)
{
    for (size_t i = 0; i < hone_n_cards; i++)
        if (strcmp(hone_strategy_guide[i].id, s->id) == 0 &&
            strcmp(hone_strategy_guide[i].target, s->target) == 0)
            return &hone_strategy_guide[i];
    return NULL;
}

const char *hone_card_text(const struct hone_strategy *s, struct hone_pool *pool)
{
    const struct hone_card *card = hone_card_of(s);
    const char *helps = "";
    for (size_t i = 0; i < s->n_helps; i++)
        helps =
            hone_pool_printf(pool, "%s%s%s", helps, i ? ", " : "", hone_class_name(s->helps[i]));
    return hone_pool_printf(pool,
                            "Step %s: %s\nHelps against: %s\n%s%s%sParameters: %s\n"
                            "It counts as done when %s goes %s.\n%s%s%s",
                            s->id, s->words, helps, card ? "How: " : "", card ? card->how : "",
                            card ? "\n" : "", s->params, hone_feature_name(s->must_move),
                            s->direction > 0 ? "up" : "down", card ? "Watch out: " : "",
                            card ? card->pitfalls : "", card ? "\n" : "");
}

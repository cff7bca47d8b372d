#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cstdint>
#pragma hone tune(STAGES: 4, 3) tune(GROUP: 8, 16, 4)

/* Warpgroup matrix instructions: 128 x 256 tile, k in steps of 64, tiles brought by the copy engine into a ring of STAGES,
   one producer warpgroup and two consumers, persistent blocks in an order that shares operands in L2. */
constexpr int BM = 128, BN = 256, BK = 64;
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2, SLAB = BK * 128;

__device__ __forceinline__ uint32_t shared_at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void bar_init(uint64_t *bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_at(bar)), "r"(count)); }
__device__ __forceinline__ void bar_expect(uint64_t *bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bar_arrive(uint64_t *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(bar)) : "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t *bar, int phase)
{
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra end;\nbra again;\nend:\n}\n" ::"r"(shared_at(bar)), "r"(phase) : "memory");
}
__device__ __forceinline__ void tile_load(void *to, const void *map, uint64_t *bar, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_at(to)), "l"(map),
                 "r"(shared_at(bar)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ uint64_t describe(uint32_t at, int leading, int stride)
{
    return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)1 << 62;
}
#define R4(b) "+f"(d[b]), "+f"(d[b + 1]), "+f"(d[b + 2]), "+f"(d[b + 3])
#define R16(b) R4(b), R4(b + 4), R4(b + 8), R4(b + 12)
__device__ __forceinline__ void multiply(float *d, uint64_t a, uint64_t b)
{
    asm volatile("{\nwgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
                 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
                 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,"
                 "%123,%124,%125,%126,%127}, %128, %129, 1, 1, 1, 0, 1;\n}\n"
                 : R16(0), R16(16), R16(32), R16(48), R16(64), R16(80), R16(96), R16(112)
                 : "l"(a), "l"(b));
}

template <int S, bool ODD>
__global__ __launch_bounds__(384, 1) void persistent(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16 *C,
                                                     int M, int N, int K, int group)
{
    extern __shared__ __align__(1024) unsigned char ring[];
    __shared__ uint64_t full[S], empty[S];
    const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    const int warpgroup = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int s = 0; s < S; s++) {
            bar_init(&full[s], 1);
            bar_init(&empty[s], 2);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    int stage = 0, phase = 0;
    auto place = [&](int tile, int &row, int &col) {
        int band = tile / (group * tiles_n), first = band * group, rows = min(group, tiles_m - first), rest = tile % (group * tiles_n);
        row = (first + rest % rows) * BM;
        col = rest / rows * BN;
    };
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
                int row, col;
                place(tile, row, col);
                for (int step = 0; step < steps; step++) {
                    bar_wait(&empty[stage], phase ^ 1);
                    bar_expect(&full[stage], A_BYTES + B_BYTES);
                    unsigned char *a = ring + stage * (A_BYTES + B_BYTES), *b = a + A_BYTES;
                    tile_load(a, &map_a, &full[stage], step * BK, row);
                    for (int slab = 0; slab < BN / 64; slab++)
                        tile_load(b + slab * SLAB, &map_b, &full[stage], col + slab * 64, step * BK);
                    if (++stage == S)
                        stage = 0, phase ^= 1;
                }
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int half = warpgroup - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
        for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
            int row, col;
            place(tile, row, col);
            float d[128];
#pragma unroll
            for (int i = 0; i < 128; i++)
                d[i] = 0;
            for (int step = 0; step < steps; step++) {
                bar_wait(&full[stage], phase);
                uint32_t a = shared_at(ring + stage * (A_BYTES + B_BYTES)) + half * 64 * 128, b = shared_at(ring + stage * (A_BYTES + B_BYTES) + A_BYTES);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int k = 0; k < BK / 16; k++)
                    multiply(d, describe(a + k * 32, 16, 1024), describe(b + k * 2048, SLAB, 1024));
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
                if (threadIdx.x % 128 == 0)
                    bar_arrive(&empty[stage]);
                if (++stage == S)
                    stage = 0, phase ^= 1;
            }
            int r = row + half * 64 + warp * 16 + lane / 4;
#pragma unroll
            for (int j = 0; j < BN / 8; j++) {
                int c = col + j * 8 + lane % 4 * 2;
#pragma unroll
                for (int half_row = 0; half_row < 2; half_row++) {
                    if (r + 8 * half_row >= M || c >= N)
                        continue;
                    __nv_bfloat16 *to = C + (size_t)(r + 8 * half_row) * N + c;
                    float x = d[4 * j + 2 * half_row], y = d[4 * j + 2 * half_row + 1];
                    if (!ODD) {
                        *(__nv_bfloat162 *)to = __floats2bfloat162_rn(x, y);
                    } else {
                        to[0] = __float2bfloat16(x);
                        if (c + 1 < N)
                            to[1] = __float2bfloat16(y);
                    }
                }
            }
        }
    }
}

/* Rows that are not whole 16-byte pieces: copied once with a pitch that is, zeros behind. */
__global__ void repack(const __nv_bfloat16 *from, __nv_bfloat16 *to, int rows, int columns, int pitch)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < pitch)
        for (int row = blockIdx.y; row < rows; row += gridDim.y)
            to[(size_t)row * pitch + column] = column < columns ? from[(size_t)row * columns + column] : __float2bfloat16(0.0f);
}

static void map_of(CUtensorMap *map, const __nv_bfloat16 *base, int64_t rows, int64_t columns, int box_rows)
{
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
    cuuint64_t dims[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)columns * 2};
    cuuint32_t box[2] = {64, (cuuint32_t)box_rows}, steps[2] = {1, 1};
    ((decltype(&cuTensorMapEncodeTiled))encode)(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)base, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

template <bool ODD>
static void launch(const __nv_bfloat16 *A, int64_t pitch_a, const __nv_bfloat16 *B, int64_t pitch_b, __nv_bfloat16 *C, int64_t M, int64_t N, int64_t K,
                   cudaStream_t stream)
{
    CUtensorMap map_a, map_b;
    map_of(&map_a, A, M, pitch_a, BM);
    map_of(&map_b, B, K, pitch_b, BK);
    int device = 0, blocks = 132, bytes = STAGES * (A_BYTES + B_BYTES);
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device);
    cudaFuncSetAttribute(persistent<STAGES, ODD>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    int tiles = (int)(((M + BM - 1) / BM) * ((N + BN - 1) / BN));
    persistent<STAGES, ODD><<<tiles < blocks ? tiles : blocks, 384, bytes, stream>>>(map_a, map_b, C, (int)M, (int)N, (int)K, GROUP);
}

extern "C" void matmul_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    int64_t pitch_a = (K + 7) / 8 * 8, pitch_b = (N + 7) / 8 * 8;
    __nv_bfloat16 *a = nullptr, *b = nullptr;
    if (pitch_a != K) {
        cudaMallocAsync((void **)&a, M * pitch_a * 2, stream);
        repack<<<dim3((unsigned)((pitch_a + 255) / 256), (unsigned)(M < 4096 ? M : 4096)), 256, 0, stream>>>(A, a, (int)M, (int)K, (int)pitch_a);
    }
    if (pitch_b != N) {
        cudaMallocAsync((void **)&b, K * pitch_b * 2, stream);
        repack<<<dim3((unsigned)((pitch_b + 255) / 256), (unsigned)(K < 4096 ? K : 4096)), 256, 0, stream>>>(B, b, (int)K, (int)N, (int)pitch_b);
    }
    if (N % 2 == 0)
        launch<false>(a ? a : A, pitch_a, b ? b : B, pitch_b, C, M, N, K, stream);
    else
        launch<true>(a ? a : A, pitch_a, b ? b : B, pitch_b, C, M, N, K, stream);
    if (a)
        cudaFreeAsync(a, stream);
    if (b)
        cudaFreeAsync(b, stream);
}

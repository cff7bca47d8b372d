#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the cubins of this folder again: `sh tests/cubins/make.sh` with ptxas in $PATH (these are of CUDA 13.0). One instruction
# of interest each; NAME.ARCH.cubin. The unit tests policy_test and rests_test say what is to be found in them.
set -eu
cd "$(dirname "$0")"
make_one() { # make_one ARCH NAME BODY
    printf '.version 9.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n' "$1" >"$2.ptx"
    printf '.reg .b32 %%r<10>; .reg .b64 %%rd<10>; .reg .f32 %%f<4>;\nld.param.u64 %%rd1, [p]; ld.param.u64 %%rd2, [q];\n%s\nret;\n}\n' "$3" >>"$2.ptx"
    ptxas -arch="$1" -o "$2.$1.cubin" "$2.ptx"
    rm -f "$2.ptx"
}
for arch in sm_75 sm_80 sm_90a sm_120a; do
    make_one $arch clock 'mov.u32 %r1, %clock; st.global.u32 [%rd1], %r1;'
    make_one $arch last 'ld.global.L1::evict_last.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1;'
done
for arch in sm_80 sm_90a sm_120a; do
    make_one $arch policy 'createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0; ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd3; st.global.f32 [%rd2], %f1;'
    make_one $arch policy_number 'mov.u64 %rd3, 0x14F0000000000000; ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd3; st.global.f32 [%rd2], %f1;'
done
arch=sm_90a
make_one $arch globaltimer 'mov.u64 %rd3, %globaltimer; st.global.u64 [%rd1], %rd3;'
make_one $arch counter 'mov.u32 %r1, %pm0; st.global.u32 [%rd1], %r1;'
make_one $arch smid 'mov.u32 %r1, %smid; st.global.u32 [%rd1], %r1;'
make_one $arch warpid 'mov.u32 %r1, %warpid; st.global.u32 [%rd1], %r1;'
make_one $arch nanosleep 'ld.global.u32 %r1, [%rd1]; nanosleep.u32 %r1; st.global.u32 [%rd1], 1;'
make_one $arch trap 'trap; st.global.u32 [%rd1], 1;'
make_one $arch apply 'applypriority.global.L2::evict_normal [%rd1], 128; st.global.u32 [%rd2], 1;'
make_one $arch discard 'discard.global.L2 [%rd1], 128; st.global.u32 [%rd2], 1;'
make_one $arch prefetch_last 'prefetch.global.L2::evict_last [%rd1]; st.global.u32 [%rd2], 1;'
# Nothing is to be found in this one: indices, prefetches, streaming, evict-first, no-allocate, multiprocessor count.
make_one $arch honest 'mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %laneid; mov.u32 %r4, %nsmid; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;
prefetch.global.L2 [%rd1]; prefetch.global.L1 [%rd1]; ld.global.nc.L1::no_allocate.f32 %f1, [%rd1]; ld.global.cs.f32 %f2, [%rd1+64];
createpolicy.fractional.L2::evict_first.b64 %rd3, 1.0; ld.global.L2::cache_hint.f32 %f3, [%rd1+128], %rd3; add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3;
griddepcontrol.wait; st.global.cs.f32 [%rd2], %f1; st.global.u32 [%rd2+4], %r1;'
# Units of lower precision: the inputs of tensor cores, packed 16-bit arithmetic. `plain` holds float32 and float64 alone.
four='{%f1,%f2,%f3,%f4}'
make_unit() { # make_unit ARCH NAME BODY
    printf '.version 9.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n' "$1" >"$2.ptx"
    printf '.reg .b32 %%r<20>; .reg .b64 %%rd<10>; .reg .f32 %%f<10>; .reg .f64 %%d<10>; .reg .b16 %%h<9>; .reg .pred %%p;\nld.param.u64 %%rd1, [p]; ld.param.u64 %%rd2, [q];\n' >>"$2.ptx"
    printf 'ld.global.v4.u32 {%%r1,%%r2,%%r3,%%r4}, [%%rd1]; ld.global.v4.f32 %s, [%%rd1+64]; ld.global.v2.u32 {%%r5,%%r6}, [%%rd1+128]; ld.global.v2.u64 {%%rd3,%%rd4}, [%%rd1+256];\n%s\nret;\n}\n' "$four" "$3" >>"$2.ptx"
    ptxas -arch="$1" -o "$2.$1.cubin" "$2.ptx"
    rm -f "$2.ptx"
}
mma() { # mma ARCH NAME SHAPE TYPE A B
    make_unit "$1" "$2" "mma.sync.aligned.$3.row.col.f32.$4.$4.f32 $four, $5, $6, $four; st.global.v4.f32 [%rd2], $four;"
}
wgmma() { # wgmma NAME K TYPE REST
    make_unit sm_90a "$1" "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k$2.f32.$3.$3 $four, %rd3, %rd4, 1, 1, 1$4;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.v4.f32 [%rd2], $four;"
}
mma sm_75 mma_f16 m16n8k8 f16 '{%r1,%r2}' '{%r5}'
for arch in sm_80 sm_90a sm_120a; do
    mma $arch mma_bf16 m16n8k16 bf16 '{%r1,%r2,%r3,%r4}' '{%r5,%r6}'
    mma $arch mma_tf32 m16n8k8 tf32 '{%r1,%r2,%r3,%r4}' '{%r5,%r6}'
done
mma sm_120a mma_e4m3 m16n8k32 e4m3 '{%r1,%r2,%r3,%r4}' '{%r5,%r6}'
make_unit sm_90a mma_s8 'mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r7,%r8,%r9,%r10}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r1,%r2,%r3,%r4}; st.global.v4.u32 [%rd2], {%r7,%r8,%r9,%r10};'
wgmma wgmma_f16 16 f16 ', 0, 0'
wgmma wgmma_bf16 16 bf16 ', 0, 0'
wgmma wgmma_tf32 8 tf32 ''
wgmma wgmma_e4m3 32 e4m3 ''
make_unit sm_100a tcgen05 'setp.ne.u32 %p, %r3, 0; tcgen05.mma.cta_group::1.kind::tf32 [%r1], %rd3, %rd4, %r2, %p;'
make_unit sm_90a half 'fma.rn.f16x2 %r7, %r1, %r2, %r3; st.global.u32 [%rd2], %r7;'
make_unit sm_90a half_bf16 'fma.rn.bf16x2 %r7, %r1, %r2, %r3; st.global.u32 [%rd2], %r7;'
make_unit sm_90a rounded 'cvt.rn.bf16.f32 %h1, %f1; st.global.b16 [%rd2], %h1;'
make_unit sm_90a plain 'fma.rn.f32 %f1, %f2, %f3, %f4; mov.b64 %d1, %rd3; mov.b64 %d2, %rd4; fma.rn.f64 %d1, %d1, %d2, %d1; add.f32 %f1, %f1, 0f3F800000; st.global.f32 [%rd2], %f1; st.global.f64 [%rd2+8], %d1;'

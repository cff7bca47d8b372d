#!/bin/sh
# Makes the cubins of this folder again: `sh tests/cubins/make.sh` with ptxas in $PATH (these are of CUDA 13.0). One instruction
# of interest each; NAME.ARCH.cubin. The unit test policy_test says what is to be found in them.
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

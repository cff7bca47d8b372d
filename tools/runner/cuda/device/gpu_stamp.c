/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/device/gpu_stamp.h"

#include <stdlib.h>

#include "workspace/base/base.h"
#include "workspace/base/order_stats.h"

#define LEAST_SPAN_NS 20000 /* the global timer may tick in steps of 1 us: 5 % of this */

const char hone_gpu_stamp_text[] =
    "#ifdef HONE_EMULATED\n"
    "static __device__ unsigned long long hone_ns() { return hone_emu_clock(); }\n"
    "static __device__ unsigned hone_sm() { return blockIdx.x; }\n"
    "#else\n"
    "static __device__ __forceinline__ unsigned long long hone_ns()\n"
    "{ unsigned long long t; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); return t; }\n"
    "static __device__ __forceinline__ unsigned hone_sm()\n"
    "{ unsigned s; asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(s)); return s; }\n"
    "#endif\n"
    "extern \"C\" __global__ void hone_gate(const volatile unsigned *go, unsigned serial,\n"
    "                                     unsigned long long limit_ns, unsigned *late)\n"
    "{\n"
    "    unsigned long long start = hone_ns();\n"
    "    while ((int)(*go - serial) < 0)\n"
    "        if (hone_ns() - start > limit_ns) { *late = 1; return; }\n"
    "}\n"
    "extern \"C\" __global__ void hone_stamp(unsigned long long *out, unsigned n)\n"
    "{\n"
    "    unsigned s = hone_sm();\n"
    "    if (s >= n) return;\n"
    "#ifdef HONE_EMULATED\n"
    "    out[2 * s] = out[2 * s + 1] = hone_ns();\n"
    "#else\n"
    "    unsigned long long t = hone_ns();\n"
    "    out[2 * s + 1] = (unsigned long long)clock64();\n"
    "    out[2 * s] = t;\n"
    "#endif\n"
    "}\n"
    "extern \"C\" __global__ void hone_wipe(unsigned pattern, unsigned n)\n"
    "{\n"
    "    extern __shared__ volatile unsigned hone_words[];\n"
    "    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)\n"
    "        hone_words[i] = pattern;\n"
    "}\n"
    "extern \"C\" __global__ void hone_mark(unsigned long long *out) { *out = hone_ns(); }\n";

void hone_gpu_stamps_read(const struct hone_gpu_stamp *from, const struct hone_gpu_stamp *to,
                          int64_t n, double *ret_ns, double *ret_mhz)
{
    uint64_t last = 0, first = UINT64_MAX;
    HONE_AUTOFREE double *rates = hone_calloc((size_t)n + 1, sizeof *rates);
    size_t n_rates = 0;
    *ret_ns = *ret_mhz = 0;
    for (int64_t i = 0; i < n; i++) {
        if (from[i].ns > last)
            last = from[i].ns;
        if (to[i].ns != 0 && to[i].ns < first)
            first = to[i].ns;
        if (from[i].ns != 0 && to[i].ns > from[i].ns + LEAST_SPAN_NS &&
            to[i].clocks > from[i].clocks)
            rates[n_rates++] =
                1e3 * (double)(to[i].clocks - from[i].clocks) / (double)(to[i].ns - from[i].ns);
    }
    if (last != 0 && first != UINT64_MAX && first > last)
        *ret_ns = (double)(first - last);
    if (n_rates > 0)
        *ret_mhz = hone_median(rates, n_rates);
}

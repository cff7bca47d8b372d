/* SPDX-License-Identifier: Apache-2.0 */
/* Makes C++ of preprocessed device text: finds the kernels and rewrites what no macro can.
 *
 *   __global__ void f(int n) {...}     the same without the word, then a row of the kernel table
 *   __shared__ float s[8];             thread_local float s[8];
 *   extern __shared__ float s[];       float (&s)[] = hone_emu_array{}; (in a function)
 *   asm("mov.u64 %0, %globaltimer;")   a call, for the few that the emulator knows; else an error
 *   k<T><<<grid, block>>>(x)           hone_emu_go(k<T>, hone_emu_shape(grid, block))(x), when
 * asked
 *
 * Lines keep their numbers. System headers are copied as they are. */
#ifndef HONE_TESTS_EMULATOR_SCAN_H
#define HONE_TESTS_EMULATOR_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct emu_text {
    char *at;
    size_t len, room;
};
void emu_append(struct emu_text *text, const char *bytes, size_t len);
void emu_printf(struct emu_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct emu_scan {
    struct emu_text out, errors; /* owned; errors: "name(line): error: text" lines */
    unsigned n_rows;             /* kernels found */
};
void emu_scan(const char *text, bool has_launches, struct emu_scan *ret);
/* One row more, for a name expression. */
void emu_scan_row(struct emu_scan *scan, const char *expression);

#endif

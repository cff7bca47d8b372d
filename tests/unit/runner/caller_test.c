/* SPDX-License-Identifier: Apache-2.0 */
/* What a function may not leave behind: each change is seen, and what the compiler relies on is put
 * back. */
#include "tools/runner/arena/caller.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/unit/unit.h"
#include "workspace/base/base.h"

static enum hone_caller after(void (*change)(void), bool is_whole)
{
    struct hone_caller_state before;
    hone_caller_note(is_whole, &before);
    change();
    return hone_caller_compare(&before);
}

static void nothing(void)
{
    feraiseexcept(FE_INEXACT | FE_OVERFLOW); /* flags, as arithmetic raises them */
}

static void round_up(void)
{
    fesetround(FE_UPWARD);
}

static void block(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void set_variable(void)
{
    setenv("HONE_CALLER_TEST", "1", 1);
}

static void set_umask(void)
{
    umask(0123);
}

START_TEST(changes_are_seen)
{
    mode_t mask = umask(022);
    ck_assert_int_eq(after(nothing, true), HONE_CALLER_KEPT);
    ck_assert_int_eq(after(round_up, false), HONE_CALLER_ROUNDING);
    ck_assert_int_eq(fegetround(), FE_TONEAREST);
    ck_assert_int_eq(after(block, false), HONE_CALLER_KEPT); /* not looked at */
    ck_assert_int_eq(after(set_variable, true), HONE_CALLER_ENVIRONMENT);
    ck_assert_int_eq(after(set_umask, true), HONE_CALLER_UMASK);
    ck_assert_int_eq(after(nothing, true), HONE_CALLER_KEPT);
    umask(mask);
}
END_TEST

#ifdef __x86_64__
static void set_mxcsr(unsigned bits)
{
    unsigned control = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control ^= bits;
    __asm__ volatile("ldmxcsr %0" : : "m"(control));
}

static void flush(void)
{
    set_mxcsr(0x8000);
}

static void zero_inputs(void)
{
    set_mxcsr(0x0040);
}

static void unmask(void)
{
    set_mxcsr(0x1000); /* precision; its flag may be raised, so nothing is computed meanwhile */
}

static void set_x87(unsigned short bits)
{
    unsigned short control = 0;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    control ^= bits;
    __asm__ volatile("fldcw %0" : : "m"(control));
}

static void narrow(void)
{
    set_x87(0x100);
}

static void round_x87(void)
{
    set_x87(0x400);
}

static void use_mmx(void)
{
    __asm__ volatile("pxor %%mm0, %%mm0" : : : "mm0");
}

static void backward(void)
{
    __asm__ volatile("std" : : : "cc");
}

START_TEST(control_words_are_put_back)
{
    static const struct {
        void (*change)(void);
        enum hone_caller want;
    } rows[] = {{flush, HONE_CALLER_DENORMALS},    {zero_inputs, HONE_CALLER_DENORMALS},
                {unmask, HONE_CALLER_EXCEPTIONS},  {narrow, HONE_CALLER_X87},
                {round_x87, HONE_CALLER_ROUNDING}, {use_mmx, HONE_CALLER_X87_STACK},
                {backward, HONE_CALLER_FLAGS}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        ck_assert_int_eq(after(rows[i].change, false), rows[i].want);
        ck_assert_int_eq(after(nothing, true), HONE_CALLER_KEPT);
    }
}
END_TEST
#endif

#ifdef __x86_64__
UNIT_MAIN("caller", changes_are_seen, control_words_are_put_back)
#else
UNIT_MAIN("caller", changes_are_seen)
#endif

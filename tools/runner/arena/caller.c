/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/arena/caller.h"

#include <locale.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/base/base.h"

struct word { /* bits of a control word and what a change of them is */
    uint64_t bits;
    enum hone_caller what;
};

#if defined __x86_64__

static const struct word control_words[] = {{0x6000, HONE_CALLER_ROUNDING},
                                            {0x8040, HONE_CALLER_DENORMALS},
                                            {0x1f80, HONE_CALLER_EXCEPTIONS}};
static const struct word x87_words[] = {
    {0x0c00, HONE_CALLER_ROUNDING}, {0x003f, HONE_CALLER_EXCEPTIONS}, {0x0300, HONE_CALLER_X87}};
#define FLAGS_KEPT 0x40400 /* direction, alignment check */

static void note_unit(struct hone_caller_state *ret)
{
    struct {
        uint32_t control, status, tags, rest[4];
    } x87;
    uint32_t mxcsr = 0;
    uint64_t flags = __builtin_ia32_readeflags_u64();
    /* What follows is compiled for a clear direction flag. fnstenv masks exceptions. */
    __asm__ volatile("cld" : : : "cc");
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "=m"(x87));
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    ret->control = mxcsr;
    ret->flags = flags & FLAGS_KEPT;
    ret->x87 = (uint16_t)x87.control;
    ret->x87_tags = (uint16_t)x87.tags;
}

static void restore_unit(const struct hone_caller_state *state)
{
    uint32_t mxcsr = (uint32_t)state->control;
    uint16_t x87 = state->x87;
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(x87));
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
    uint64_t flags = __builtin_ia32_readeflags_u64() & ~(uint64_t)FLAGS_KEPT;
    __builtin_ia32_writeeflags_u64(flags | state->flags);
}

#elif defined __aarch64__

static const struct word control_words[] = {{0xc00000, HONE_CALLER_ROUNDING},
                                            {0x1080003, HONE_CALLER_DENORMALS},
                                            {0x9f00, HONE_CALLER_EXCEPTIONS}};
static const struct word x87_words[] = {{0, HONE_CALLER_KEPT}};

static void note_unit(struct hone_caller_state *ret)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(ret->control));
}

static void restore_unit(const struct hone_caller_state *state)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(state->control));
}

#else
#error "which control words does a function keep here?"
#endif

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (size_t i = 0; text != NULL && i <= strlen(text); i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return hash;
}

void hone_caller_note(bool is_whole, struct hone_caller_state *ret)
{
    *ret = (struct hone_caller_state){.is_whole = is_whole};
    note_unit(ret);
    if (!is_whole)
        return;
    sigemptyset(&ret->blocked);
    (void)sigprocmask(SIG_BLOCK, NULL, &ret->blocked);
    ret->locale = uselocale((locale_t)0);
    ret->locale_name = add_text(0, setlocale(LC_ALL, NULL));
    for (char **at = environ; at != NULL && *at != NULL; at++)
        ret->environment = add_text(ret->environment, *at);
    ret->umask = umask(0);
    (void)umask(ret->umask);
}

static enum hone_caller changed(const struct word *words, size_t n, uint64_t before, uint64_t after)
{
    for (size_t i = 0; i < n; i++)
        if (((before ^ after) & words[i].bits) != 0)
            return words[i].what;
    return HONE_CALLER_KEPT;
}

static enum hone_caller compare_unit(const struct hone_caller_state *a,
                                     const struct hone_caller_state *b)
{
    enum hone_caller what =
        changed(control_words, HONE_COUNTOF(control_words), a->control, b->control);
    if (what == HONE_CALLER_KEPT)
        what = changed(x87_words, HONE_COUNTOF(x87_words), a->x87, b->x87);
    if (what == HONE_CALLER_KEPT && a->x87_tags != b->x87_tags)
        what = HONE_CALLER_X87_STACK;
    return what == HONE_CALLER_KEPT && a->flags != b->flags ? HONE_CALLER_FLAGS : what;
}

enum hone_caller hone_caller_compare(const struct hone_caller_state *before)
{
    struct hone_caller_state after;
    note_unit(&after);
    enum hone_caller what = compare_unit(before, &after);
    if (what != HONE_CALLER_KEPT) {
        restore_unit(before);
        return what;
    }
    if (!before->is_whole)
        return HONE_CALLER_KEPT;
    hone_caller_note(true, &after);
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(&before->blocked, signal) != sigismember(&after.blocked, signal))
            return HONE_CALLER_SIGNALS;
    if (before->locale != after.locale || before->locale_name != after.locale_name)
        return HONE_CALLER_LOCALE;
    if (before->environment != after.environment)
        return HONE_CALLER_ENVIRONMENT;
    return before->umask != after.umask ? HONE_CALLER_UMASK : HONE_CALLER_KEPT;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/format/verdict.h"

#include <string.h>

const char *const hone_verdict_choices[] = {
    [HONE_VERDICT_NONE] = "",
    [HONE_VERDICT_BUILT] = "built",
    [HONE_VERDICT_CORRECT] = "correct",
    [HONE_VERDICT_SCREENED] = "screened",
    [HONE_VERDICT_FASTER] = "faster",
    [HONE_VERDICT_SAME] = "same",
    [HONE_VERDICT_SLOWER] = "slower",
    [HONE_VERDICT_INCONCLUSIVE] = "inconclusive",
    [HONE_VERDICT_INCORRECT] = "incorrect",
    [HONE_VERDICT_FAILED] = "failed",
    [HONE_VERDICT_INVALID] = "invalid",
    [HONE_VERDICT_SUSPICIOUS] = "suspicious",
    [HONE_VERDICT_INFRA] = "infra",
    NULL,
};

const char *const hone_tier_choices[] = {
    [HONE_TIER_NONE] = "",
    [HONE_TIER_SCREEN] = "screen",
    [HONE_TIER_DECIDE] = "decide",
    [HONE_TIER_CONFIRM] = "confirm",
    NULL,
};

/* clang-format off */
#define GOOD(row, id_, word_, meaning_, next_) row(id_, word_, id_, "", false, meaning_, next_)
#define REASONS(ROW) \
    ROW(NONE, "", INFRA, "infra", false, "No reason was given.", "hone doctor explains the machine.") \
    GOOD(ROW, BUILT, "built", "The source compiles; nothing was run.", \
         "kernel_verify to check its results.") \
    GOOD(ROW, CORRECT, "correct", "Every check passed; nothing was timed.", \
         "kernel_evaluate with tier screen to time it.") \
    GOOD(ROW, SCREENED, "screened", "One check passed and a short timing was taken; no claim follows from it.", \
         "kernel_evaluate with tier decide if the ratio looks worth it.") \
    GOOD(ROW, FASTER, "faster", "Faster than the baseline beyond what noise explains, and no workload lost.", \
         "kernel_evaluate with tier confirm before you claim it.") \
    GOOD(ROW, SAME, "same", "The interval lies inside the least gain: no difference that counts.", \
         "kernel_profile to find what limits it, then change that.") \
    GOOD(ROW, SLOWER, "slower", "Slower than the baseline beyond what noise explains.", \
         "kernel_diff against the parent, then undo or rethink the step.") \
    ROW(NOISY, "noisy", INCONCLUSIVE, "", false, "The interval is too wide within the budget.", \
        "Raise budget_ms, or call again with fresh: true when the machine is quiet.") \
    ROW(FEW_ROUNDS, "few_rounds", INCONCLUSIVE, "", false, "The interval is clear, but of fewer than six pairs: chance is not over.", \
        "Give more time: budget_ms, or a longer --budget-wall.") \
    ROW(TOO_SHORT, "too_short", INCONCLUSIVE, "", false, "The kernel is too short for the clock even in batches.", \
        "Choose larger workloads.") \
    ROW(STEAL, "steal", INCONCLUSIVE, "", false, "The hypervisor took processor time away while timing.", \
        "Call again with fresh: true later, or on a machine of your own.") \
    ROW(LOADED, "loaded", INCONCLUSIVE, "", false, "Other processes used cores that one of the arms needed: the figure may be the load's.", \
        "Call again with n_threads: 1 and fresh: true: what needs fewer cores is measured fairly beside other programs.") \
    ROW(REGRESSION, "regression", INCONCLUSIVE, "", false, "Faster on the whole, but one workload fell below 0.97 times.", \
        "Look at the workload with the worst ratio and keep the old path for it.") \
    ROW(WRONG_VALUE, "wrong_value", INCORRECT, "mismatch", true, "An output differs from the reference beyond the tolerance.", \
        "Read the first wrong element in checks[].detail: with plain content check tails and index arithmetic, with another its magnitudes, ties or zeros.") \
    ROW(UNWRITTEN, "unwritten", INCORRECT, "mismatch", true, "Some output elements were never written.", \
        "Cover the tail: sizes need not be multiples of your tile.") \
    ROW(NONFINITE, "nonfinite", INCORRECT, "nan", true, "An output is NaN or infinite where the reference is not.", \
        "Look at the content in checks[].detail: overflow at its magnitudes, infinity less infinity, division by zero, uninitialised accumulators.") \
    ROW(INPUT_CHANGED, "input_changed", INCORRECT, "mismatch", true, "The kernel wrote to one of its inputs.", \
        "Copy what you need to change into memory of your own.") \
    ROW(OUT_OF_BOUNDS, "out_of_bounds", INCORRECT, "illegal_access", true, "The kernel wrote outside its outputs.", \
        "Check loop bounds and vector stores at the tail.") \
    ROW(NONDETERMINISTIC, "nondeterministic", INCORRECT, "nondeterministic", true, "The same input gave different bits in repeated calls.", \
        "Fix the order of reductions; look for races between threads.") \
    ROW(STATEFUL, "stateful", INCORRECT, "nondeterministic", true, "The answer depends on earlier calls.", \
        "Keep no state between calls: no static caches of inputs or results.") \
    ROW(UNINITIALISED, "uninitialised", INCORRECT, "race", true, "The answer depends on memory that the kernel never wrote.", \
        "Initialise scratch memory and accumulators.") \
    ROW(CALLER_CHANGED, "caller_changed", INCORRECT, "mismatch", true, "The kernel left its caller's thread or process changed.", \
        "Put back what you set before you return: rounding mode, denormals, x87 state, signals, locale.") \
    ROW(COMPILE, "compile", FAILED, "compile", true, "The compiler refused the source.", \
        "Fix the first diagnostic; the rest often follow from it.") \
    ROW(LINK, "link", FAILED, "link", true, "The object could not be linked or loaded.", \
        "Use only libc, libm and OpenMP.") \
    ROW(NO_SYMBOL, "no_symbol", FAILED, "link", true, "The source does not define the task's function.", \
        "task_show prints the exact signature; do not make it static.") \
    ROW(COMPILE_TIMEOUT, "compile_timeout", FAILED, "compile", true, "Compiling did not end in time.", \
        "Reduce unrolling and macro expansion.") \
    ROW(POLICY, "policy", FAILED, "policy", true, "The binary holds something that the task refuses.", \
        "Read the summary; it names the rule, the place and what to do. docs/reference/policy.md lists the rules.") \
    ROW(CRASH, "crash", FAILED, "illegal_access", true, "The kernel was killed by a signal.", \
        "Try the smallest workload with kernel_run; check bounds and alignment.") \
    ROW(ILLEGAL_INSTRUCTION, "illegal_instruction", FAILED, "illegal_instruction", true, "The device refused an instruction of the kernel, or what it was given.", \
        "Look at wgmma descriptors and fences, setmaxnreg, tensor maps and mbarrier counts of the kernel that the summary names.") \
    ROW(TIMEOUT, "timeout", FAILED, "timeout", true, "A call did not end in time.", \
        "Look for endless loops and deadlocks; call_timeout_ms is the limit of one call.") \
    ROW(OOM, "oom", FAILED, "oom", true, "The kernel wanted more memory than it may have.", \
        "Use less scratch memory, or allocate it once per call and free it.") \
    ROW(LAUNCH, "launch", FAILED, "launch", true, "The device cannot run a launch of this shape.", \
        "Use fewer threads a block, fewer registers or less shared memory; cooperative grids must fit on the device at once.") \
    ROW(EXITED, "exited", FAILED, "launch", true, "The kernel ended its process instead of returning.", \
        "Return from the function; exit, abort and longjmp are not results.") \
    ROW(FORBIDDEN, "forbidden", FAILED, "launch", true, "The jail stopped a system call that kernels may not make.", \
        "Compute only: no sockets, files, processes or tracing.") \
    ROW(DISK, "disk", FAILED, "budget", true, "The kernel filled its disk allowance.", \
        "Do not write files or endless output.") \
    ROW(UNRULY, "unruly", FAILED, "launch", true, "It fails where the baseline works in the same place.", \
        "Compute only: leave limits, address space and the judge's descriptors alone; do nothing when loaded.") \
    ROW(BAD_REQUEST, "bad_request", INVALID, "request", false, "The request itself is at fault.", \
        "Read the summary; it names the argument and what is accepted.") \
    ROW(BAD_TASK, "bad_task", INVALID, "request", false, "The task pack is at fault, or changed since it was pinned.", \
        "task_show NAME; hone task lint NAME checks the pack.") \
    ROW(BAD_FLAG, "bad_flag", INVALID, "request", false, "A compiler option is not on the allow-list.", \
        "Drop it; the error lists the options that are allowed.") \
    ROW(TOO_LARGE, "too_large", INVALID, "request", false, "The source or a workload exceeds a limit.", \
        "Make it smaller; the summary names the limit.") \
    ROW(BELOW_FLOOR, "below_floor", SUSPICIOUS, "harness_tamper", true, "Faster than the bytes or operations of the task allow.", \
        "Do the whole work in every call; kernel_profile shows the bound.") \
    ROW(CLOCKS_DISAGREE, "clocks_disagree", SUSPICIOUS, "harness_tamper", true, "Two clocks gave different times for the same calls.", \
        "Leave clocks, threads and signals alone.") \
    ROW(TAMPERING, "tampering", SUSPICIOUS, "harness_tamper", true, "The kernel behaved differently when watched, or touched the harness.", \
        "Compute the answer from the inputs, in every call alike.") \
    ROW(CANCELLED, "cancelled", INFRA, "infra", false, "The caller stopped the work.", \
        "Start it again when you want the answer.") \
    ROW(INFRA, "infra", INFRA, "infra", false, "hone or the machine failed; this says nothing about the kernel.", \
        "Try again; if it stays, hone doctor explains the machine.") \
    ROW(NO_JAIL, "no_jail", INFRA, "infra", false, "No jail that is strong enough could be made on this machine.", \
        "hone doctor says what is missing; a weak jail must be allowed by the user.")

#define AS_ROW(id_, word_, verdict_, class_, counts_, meaning_, next_) \
    [HONE_REASON_##id_] = {word_, HONE_VERDICT_##verdict_, class_, counts_, meaning_, next_},
#define AS_WORD(id_, word_, verdict_, class_, counts_, meaning_, next_) [HONE_REASON_##id_] = word_,

static const struct hone_reason_row rows[HONE_N_REASONS] = {REASONS(AS_ROW)};
const char *const hone_reason_choices[] = {REASONS(AS_WORD) [HONE_N_REASONS] = NULL};
/* clang-format on */

static const char *word_at(const char *const *words, size_t n, size_t i)
{
    HONE_BUG_ON(i >= n);
    return words[i];
}

/* 0, "not said": NULL, or no such word. */
static size_t find_word(const char *const *words, const char *word)
{
    for (size_t i = 1; word != NULL && words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

const char *hone_verdict_name(enum hone_verdict verdict)
{
    return word_at(hone_verdict_choices, HONE_COUNTOF(hone_verdict_choices) - 1, (size_t)verdict);
}

bool hone_verdict_parse(const char *word, enum hone_verdict *ret)
{
    size_t i = find_word(hone_verdict_choices, word);
    if (i > 0)
        *ret = (enum hone_verdict)i;
    return i > 0;
}

const struct hone_reason_row *hone_reason_row(enum hone_reason reason)
{
    size_t i = (size_t)reason;
    HONE_BUG_ON(i >= HONE_N_REASONS);
    return &rows[i];
}

const char *hone_reason_name(enum hone_reason reason)
{
    return hone_reason_row(reason)->word;
}

bool hone_reason_parse(const char *word, enum hone_reason *ret)
{
    size_t i = find_word(hone_reason_choices, word);
    if (i > 0)
        *ret = (enum hone_reason)i;
    return i > 0;
}

const char *hone_tier_name(enum hone_tier tier)
{
    return word_at(hone_tier_choices, HONE_COUNTOF(hone_tier_choices) - 1, (size_t)tier);
}

enum hone_tier hone_tier_of(const char *word)
{
    return (enum hone_tier)find_word(hone_tier_choices, word);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of stage policy as a table (policy.h), and a task's overrides: decoded, checked
 * against the table, applied by hone_policy_action. */
#include "workspace/task/policy.h"

#include <string.h>

#include "workspace/base/limits.h"
#include "workspace/task/target.h"
#include "workspace/task/task.h"

#define ALLOW  HONE_POLICY_ALLOW
#define REVIEW HONE_POLICY_REVIEW
#define REJECT HONE_POLICY_REJECT

static const struct hone_policy_row rows[HONE_N_POLICY_RULES] = {
    [HONE_POLICY_TIMERS] = {"timers",
                            REVIEW,
                            REVIEW,
                            false,
                            "It reads a clock or a counter of cycles or events: what it does may "
                            "depend on how long it "
                            "has taken.",
                            "Compute without clocks; a bounded back-off counts its tries.",
                            {"rdtsc", "__rdtsc", "_rdtsc", "clock64", "clock", "globaltimer",
                             "rdpmc", "cntvct_el0"}},
    [HONE_POLICY_PLACEMENT] =
        {"placement",
         REVIEW,
         REVIEW,
         false,
         "It asks on which core, multiprocessor or warp slot it runs, or chooses it.",
         "Divide the work by thread and block numbers.",
         {"smid", "warpid", "sched_getcpu", "getcpu", "rdpid", "_rdpid_u32", "setaffinity", ""}},
    [HONE_POLICY_CACHE] =
        {"cache",
         REJECT,
         REVIEW,
         true,
         "It drops cached data, or asks the cache to keep some beyond its turn: the next call, or "
         "another source, is timed with other caches.",
         "Leave the caches to the hardware; prefetches, streaming stores and evict-first are fine.",
         {"evict_last", "createpolicy", "discard", "applypriority", "clflush", "_mm_clflush",
          "clwb", "wbinvd"}},
    [HONE_POLICY_GLOBALS] =
        {"globals",
         REVIEW,
         ALLOW,
         false,
         "It has variables that live from call to call.",
         "Keep scratch on the stack or allocate it in the call; tables are const.",
         {"static", "_Thread_local", "__thread", ""}},
    [HONE_POLICY_CONSTRUCTORS] =
        {"constructors",
         REVIEW,
         ALLOW,
         false,
         "Code of it runs when it is loaded or unloaded, outside every call.",
         "Do the work in the call; tables are const. -march=native needs no target_clones.",
         {"constructor", "destructor", "ifunc", "target_clones", "init_array", ""}},
    [HONE_POLICY_IMPORTS] =
        {"imports",
         REVIEW,
         ALLOW,
         false,
         "It calls a function that is neither arithmetic, memory, OpenMP nor basic threads.",
         "Compute only; a task's policy can name it in allow_imports.",
         {""}},
    [HONE_POLICY_LIBRARIES] = {"libraries",
                               ALLOW,
                               ALLOW,
                               false,
                               "The work is done by a ready-made library.",
                               "Write the loops yourself.",
                               {"cblas_", "mkl_", "cub::", "thrust::", "dnnl_", ""}},
    [HONE_POLICY_LOADER] = {"loader",
                            REJECT,
                            ALLOW,
                            false,
                            "It looks for code or data outside of itself with the dynamic linker.",
                            "Call what you need by its name, so that it can be seen.",
                            {"dlopen", "dlsym", "dlvsym", "dlmopen", "dladdr", "dl_iterate_phdr",
                             "dlinfo", ""}},
    [HONE_POLICY_SYSCALLS] =
        {"syscalls",
         REJECT,
         ALLOW,
         false,
         "It asks the kernel directly, or for processes, signals or sockets.",
         "Compute only; memory comes from malloc, threads from OpenMP or pthreads.",
         {"syscall", "sysenter", "int", "fork", "execve", "ptrace", "socket", "kill"}},
    [HONE_POLICY_MEMORY] = {"memory",
                            REVIEW,
                            ALLOW,
                            false,
                            "It maps memory by itself or changes what pages may do.",
                            "malloc and aligned_alloc are what a kernel needs.",
                            {"mmap", "mprotect", "mremap", "madvise", "wrpkru", "munmap", "shmat",
                             ""}},
    [HONE_POLICY_SEGMENTS] =
        {"segments",
         REJECT,
         REJECT,
         false,
         "Its file asks for memory that can be written and run, or does not hold what its tables "
         "say.",
         "Leave sections, the stack's flags and the linker's tables alone.",
         {"section", "pushsection", "note.GNU-stack", ""}},
    [HONE_POLICY_TRAPS] =
        {"traps",
         REVIEW,
         REVIEW,
         false,
         "It sleeps, traps, stops the processor or hides faults.",
         "Spin or use a barrier where threads wait for each other; return instead of trapping.",
         {"nanosleep", "__nanosleep", "usleep", "trap", "__trap", "cpuid", "int3", "_xbegin"}},
    [HONE_POLICY_HIDDEN] = {"hidden",
                            REVIEW,
                            REVIEW,
                            false,
                            "Its code jumps between instructions, or cannot be read.",
                            "Leave out inline assembly that hides what runs.",
                            {"asm", "__asm__", "__asm", ".byte", ""}},
};

const struct hone_policy_row *hone_policy_row(enum hone_policy_rule rule)
{
    HONE_BUG_ON((size_t)rule >= HONE_N_POLICY_RULES);
    return &rows[rule];
}

static const char *const action_words[] = {"allow", "review", "reject", NULL};

const char *hone_policy_action_name(enum hone_policy_action action)
{
    return (size_t)action < 3 ? action_words[action] : "reject";
}

enum hone_policy_action hone_policy_action(const struct hone_task *task, enum hone_policy_rule rule)
{
    const struct hone_policy_row *row = hone_policy_row(rule);
    bool has_device = hone_target_traits(task->target)->has_device;
    enum hone_policy_action usual = has_device ? row->cuda : row->cpu;
    if (task->policy.is_given[rule])
        return task->policy.given[rule];
    if (rule == HONE_POLICY_LIBRARIES && !task->allows_library)
        return HONE_POLICY_REJECT;
    return row->is_strict_when_cold && task->is_cold && usual == HONE_POLICY_REVIEW
               ? HONE_POLICY_REJECT
               : usual;
}

/* ---- task.json ---- */

struct policy_in {
    const char *timers, *placement, *cache, *globals, *constructors, *imports, *libraries, *loader,
        *syscalls, *memory, *segments, *traps, *hidden;
    struct hone_strs allow_imports, refuse_imports;
};

#define ACTION(rule_)                                                                              \
    HONE_FIELD(struct policy_in, rule_, .choices = action_words, .help = "allow, review or reject.")
#define NAMES(m_, help_)                                                                           \
    HONE_FIELD(struct policy_in, m_, .max_len = HONE_LIMIT_POLICY_NAMES, .help = (help_))

/* The first HONE_N_POLICY_RULES rows are in the order of the rules. */
static const struct hone_field fields[] = {
    ACTION(timers),
    ACTION(placement),
    ACTION(cache),
    ACTION(globals),
    ACTION(constructors),
    ACTION(imports),
    ACTION(libraries),
    ACTION(loader),
    ACTION(syscalls),
    ACTION(memory),
    ACTION(segments),
    ACTION(traps),
    ACTION(hidden),
    NAMES(allow_imports, "Functions that are fine whatever the rules say."),
    NAMES(refuse_imports, "Functions that are refused."),
};

static int check_names(const struct hone_strs *names, const char *path, struct hone_err *err)
{
    for (size_t i = 0; i < names->n; i++) {
        size_t len = strlen(names->v[i]), stem = strcspn(names->v[i], "*");
        if (stem == 0 || stem + 1 < len || len > HONE_LIMIT_NAME_BYTES)
            return hone_fail_at(err, HONE_E_ARG, path,
                                "'%.64s' is no function name of at most %d bytes; a last * stands "
                                "for any rest",
                                names->v[i], HONE_LIMIT_NAME_BYTES);
    }
    return 0;
}

int hone_policy_decode(const struct hone_json *json, struct hone_pool *pool,
                       struct hone_task_policy *ret, struct hone_err *err)
{
    struct policy_in in;
    *ret = (struct hone_task_policy){.is_given = {false}};
    if (json == NULL)
        return 0;
    int code = hone_fields_decode(json, fields, HONE_COUNTOF(fields), &in, sizeof in, pool, err);
    if (code == 0)
        code = check_names(&in.allow_imports, "allow_imports", err);
    if (code == 0)
        code = check_names(&in.refuse_imports, "refuse_imports", err);
    if (code < 0)
        return code;
    for (size_t i = 0; i < HONE_N_POLICY_RULES; i++) {
        const char *word = NULL;
        memcpy(&word, (const char *)&in + fields[i].offset, sizeof word);
        HONE_BUG_ON(strcmp(fields[i].name, rows[i].name) != 0);
        for (size_t a = 0; word != NULL && action_words[a] != NULL; a++) {
            if (strcmp(word, action_words[a]) == 0) {
                ret->is_given[i] = true;
                ret->given[i] = (enum hone_policy_action)a;
            }
        }
    }
    ret->allow_imports = in.allow_imports;
    ret->refuse_imports = in.refuse_imports;
    return 0;
}

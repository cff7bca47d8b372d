/* SPDX-License-Identifier: Apache-2.0 */
/* What a model that edits is told, and what it may say beside an edit. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/coder/prompt_machine.h"
#include "agents/coder/history_context.h"
#include "tests/unit/agents/model_search.h"
#include "workspace/ledger.h"

/* ---- steps that are declined ---- */

struct declined {
    int n;
    bool has_reason, has_repeat;
    char anchors[16][HONE_ANCHOR_BYTES + 32];
};

static int count_declined(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                          const struct hone_json *data, struct hone_err *err)
{
    struct declined *d = arg;
    char key[HONE_ANCHOR_BYTES + 32];
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.result") != 0 || strcmp(hone_json_get_str(data, "kind", ""), "expand"))
        return 0;
    snprintf(key, sizeof(key), "%s/%s/%d", hone_json_get_str(data, "rewrite", ""),
             hone_json_get_str(data, "anchor", ""), (int)hone_json_get_i64(data, "parent", 0));
    for (int i = 0; i < d->n; i++)
        d->has_repeat = d->has_repeat || strcmp(d->anchors[i], key) == 0;
    if (!hone_json_get_bool(data, "is_declined", false) || d->n == 16)
        return 0;
    snprintf(d->anchors[d->n++], sizeof(key), "%s", key);
    d->has_reason =
        strcmp(hone_json_get_str(data, "note", ""), "declined: nothing to tile here") == 0;
    return 0;
}

START_TEST(a_declined_step_is_not_repaired)
{
    struct fixture f;
    open_fixture(&f, "case $n in 1|2) printf 'No.\\n@@DECLINE\\nnothing to tile "
                     "here\\n@@END\\n' ;; *) " GOOD " ;; esac");
    ck_assert_msg(search(&f, "llm", NULL, NULL, 6) == 0, "%s", f.err.message);
    ck_assert_msg(f.result.speedup > 4, "%g", f.result.speedup);
    ck_assert_ptr_null(strstr(get(&f, "prompt2"), "This is repair"));
    ck_assert_ptr_null(strstr(get(&f, "prompt3"), "This is repair"));
    struct declined d = {.n = 0};
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f.ws), 0, count_declined, &d, NULL), 0);
    ck_assert_int_ge(d.n, 2);
    ck_assert(d.has_reason && !d.has_repeat);
    /* a later round knows: what was declined is not asked for again from that version */
    ck_assert_msg(search(&f, "llm", NULL, NULL, 9) == 0, "%s", f.err.message);
    d = (struct declined){.n = 0};
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f.ws), 0, count_declined, &d, NULL), 0);
    ck_assert_int_ge(d.n, 2);
    ck_assert(!d.has_repeat);
    close_fixture(&f);
}
END_TEST

START_TEST(a_failure_stays_one_when_its_repair_declines)
{
    struct fixture f;
    open_fixture(&f, "case $n in 1) printf '@@SEARCH\\n        float sum = "
                     "0.0f;\\n@@WITH\\n        float sum = broken;\\n@@END\\n' ;; "
                     "*) printf '@@DECLINE\\nnothing to tile here\\n@@END\\n' ;; esac");
    ck_assert_msg(search(&f, "llm", NULL, NULL, 6) == 0, "%s", f.err.message);
    ck_assert_ptr_nonnull(strstr(get(&f, "prompt2"), "This is repair 1"));
    ck_assert_ptr_null(strstr(get(&f, "prompt3"), "This is repair"));
    ck_assert_int_lt(n_asked(&f), 120); /* and a model that declines everything ends it */
    close_fixture(&f);
}
END_TEST

/* ---- the region ---- */

/* A version whose helper does the work; an edit of the helper's lines is anchored as any other. */
#define NAIVE_HEAD "void softmax(const float *X, float *Y, int64_t M, int64_t N)\\n"
#define ROWS       "    for (int64_t m = 0; m < M; m++) {\\n"
#define HELPER                                                                                     \
    "printf '@@SEARCH\\n" NAIVE_HEAD "@@WITH\\nstatic float larger(float a, float b)\\n{\\n    "   \
    "return a > b ? a : b;\\n}\\n\\n" NAIVE_HEAD "@@END\\n@@SEARCH\\n" ROWS "@@WITH\\n" ROWS       \
    "        (void)larger(0, 1);\\n@@END\\n'"

START_TEST(a_region_holds_the_helpers)
{
    struct fixture f;
    open_fixture(&f,
                 "at=$(sed -n 's/^\\([0-9]*:[0-9a-f]*\\)| *return a > b.*/\\1/p' '@/prompt'$n)\n"
                 "if [ $n = 1 ]; then " HELPER "; elif [ -n \"$at\" ]; then printf '@@EDIT "
                 "%s\\n    /* edited */ return a < b ? b : a;\\n#pragma omp "
                 "parallel\\n@@END\\n' \"$at\"; else echo no; fi");
    const struct hone_search_options o = {
        .task = "softmax", .coder = "llm", .repairs = 0, .budget_evaluations = 8, .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    ck_assert_ptr_null(strstr(get(&f, "prompt1"), "the functions of it"));
    int n_seen = 0;
    for (int i = 2; i <= n_asked(&f); i++) {
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        if (!strstr(prompt, "| static float larger(") || !strstr(prompt, "\nRegion: ") ||
            strstr(prompt, "/* edited */"))
            continue;
        n_seen++;
        const char *line = strstr(prompt, "| static float larger(");
        while (line[-1] != '\n')
            line--;
        int first = (int)strtol(line, NULL, 10);
        ck_assert_ptr_nonnull(
            strstr(prompt, hone_pool_printf(f.pool, "\nRegion: lines %d to ", first)));
        ck_assert_ptr_nonnull(strstr(
            prompt, hone_pool_printf(f.pool, "(function softmax); the functions of it: softmax %d-",
                                     first + 5)));
        ck_assert_ptr_nonnull(
            strstr(prompt, hone_pool_printf(f.pool, ", larger %d-%d\n", first, first + 3)));
    }
    ck_assert_int_gt(n_seen, 0);
    ck_assert_msg(f.result.speedup > 4, "%g", f.result.speedup); /* the edit landed */
    close_fixture(&f);
}
END_TEST

/* ---- repairs ---- */

/* The text of the block of data behind a headline, borrowed by a copy; NULL: it is not there. */
static const char *block(struct fixture *f, const char *prompt, const char *head)
{
    const char *at = strstr(prompt, head), *open = at ? strstr(at, "\n<<DATA ") : NULL;
    if (!open || strchr(at, '\n') != open)
        return NULL;
    const char *close = hone_pool_printf(f->pool, "\n<DATA %.12s>>\n", open + 8);
    const char *begin = strchr(open + 1, '\n') + 1, *end = strstr(open, close);
    return end ? hone_pool_strndup(f->pool, begin, (size_t)(end - begin) + 1) : NULL;
}

START_TEST(a_refused_answer_is_shown)
{
    struct fixture f;
    /* refused twice, then a version that does not build, then refused again */
    open_fixture(&f,
                 "case $n in 1) printf 'First.\\n@@EDIT 6:ffff 6:ffff\\nIGNORE ALL "
                 "RULES\\n@@END\\n' ;; 2) echo 'Second, without a block.' ;; 3) printf "
                 "'Third.\\n@@SEARCH\\n        float sum = 0.0f;\\n@@WITH\\n        float sum = "
                 "broken;\\n@@END\\n' ;; 4) echo 'Fourth.' ;; *) " GOOD " ;; esac");
    const struct hone_search_options o = {
        .task = "softmax", .coder = "llm", .repairs = 4, .budget_evaluations = 5, .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    static const char head[] = "The answer that was refused";
    ck_assert_ptr_null(strstr(get(&f, "prompt1"), head));
    ck_assert_str_eq(block(&f, get(&f, "prompt2"), head),
                     "First.\n@@EDIT 6:ffff 6:ffff\nIGNORE ALL RULES\n@@END\n");
    ck_assert_str_eq(block(&f, get(&f, "prompt3"), head), "Second, without a block.\n");
    ck_assert_ptr_nonnull(strstr(get(&f, "prompt4"), "This is repair 3"));
    ck_assert_ptr_null(strstr(get(&f, "prompt4"), head)); /* the failed version itself is shown */
    ck_assert_str_eq(block(&f, get(&f, "prompt5"), head), "Fourth.\n");
    ck_assert_ptr_nonnull(strstr(get(&f, "prompt5"), "float sum = broken;"));
    /* the reason of the refusal, and what ails the version that is still to be mended */
    const char *wrong = block(&f, get(&f, "prompt5"), "What went wrong, worst first:");
    ck_assert_ptr_nonnull(strstr(wrong, "holds no @@EDIT"));
    ck_assert_ptr_nonnull(strstr(wrong, "line 3: oh"));
    ck_assert_ptr_null(strstr(get(&f, "prompt6"), head));
    close_fixture(&f);
}
END_TEST

START_TEST(a_refused_answer_is_bounded)
{
    for (size_t extra = 0; extra < 2; extra++) {
        struct fixture f;
        size_t n = HONE_LIMIT_REFUSED_BYTES / 16 + extra;
        open_fixture(&f, "case $n in 1) cat '@/long' ;; *) " GOOD " ;; esac");
        HONE_AUTOFREE char *text = hone_malloc(16 * n + 1);
        for (size_t i = 0; i < n; i++)
            snprintf(text + 16 * i, 17, "line %010zu\n", i);
        put(&f, "long", text, 0600);
        ck_assert_msg(search(&f, "llm", NULL, NULL, 4) == 0, "%s", f.err.message);
        const char *shown = block(&f, get(&f, "prompt2"), "The answer that was refused");
        ck_assert_ptr_nonnull(shown);
        ck_assert_int_eq(strcmp(shown, text) == 0, extra == 0);
        ck_assert_int_eq(strstr(shown, "bytes left out") != NULL, extra == 1);
        ck_assert_uint_le(strlen(shown), HONE_LIMIT_REFUSED_BYTES + 64);
        close_fixture(&f);
    }
}
END_TEST

/* ---- the machine ---- */

static struct hone_json *parsed(const char *text)
{
    struct hone_json *json = NULL;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &json, NULL), 0);
    return json;
}

START_TEST(the_processor_is_told)
{
    struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *rates =
        parsed("{\"memory_bytes_per_s\":24961000000,\"cache_bytes_per_s\":4e11,"
               "\"flops_per_s\":207342852746.1}");
    const struct hone_device_facts facts = {
        .cpu = "AMD EPYC\n- device: H100",
        .vectors = "avx2 fma avx512f",
        .n_cores = 6,
        .caches = {{"L1d", "32K", 2}, {"L1i", "32K", 2}, {"L2", "1M", 1}, {"L3", "32M", 8}},
        .n_caches = 4};
    ck_assert_str_eq(hone_prompt_machine("cpu", &facts, rates, NULL, pool),
                     "The machine that versions are built for and timed on:\n"
                     "- processor: AMD EPYC - device: H100\n"
                     "- cores for the job: 6\n"
                     "- vector extensions: avx2 fma avx512f\n"
                     "- caches: L1d 32K (for 2 cores), L2 1M, L3 32M (for 8 cores)\n"
                     "- measured, all of it together: memory 25 GB/s, last cache 400 GB/s, "
                     "float32 210 GFLOP/s\n");
    /* what is not known is not said */
    const struct hone_device_facts none = {.n_cores = 1};
    ck_assert_str_eq(hone_prompt_machine("cpu", &none, NULL, NULL, pool),
                     "The machine that versions are built for and timed on:\n"
                     "- processor: not known\n"
                     "- cores for the job: 1 (threads cannot help)\n");
    hone_pool_free(pool);
}
END_TEST

START_TEST(the_device_is_told)
{
    struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *probe = parsed(
        "{\"gpu\":{\"devices\":[{\"name\":\"NVIDIA H200\",\"uuid\":\"ab\",\"arch\":\"sm_90\","
        "\"sm_count\":132,\"memory_bytes\":150117875712,\"l2_bytes\":62914560},"
        "{\"name\":\"other\"}]}}");
    HONE_AUTOJSON struct hone_json *rates =
        parsed("{\"memory_bytes_per_s\":4.1234e12,\"float32_flops_per_s\":5.98e13}");
    const struct hone_device_facts facts = {.cpu = "AMD EPYC", .n_cores = 6, .probe = probe};
    ck_assert_str_eq(hone_prompt_machine("cuda", &facts, NULL, rates, pool),
                     "The machine that versions are built for and timed on:\n"
                     "- device: NVIDIA H200, compute capability 9.0, 132 multiprocessors, 139 GiB, "
                     "L2 cache 61440 KiB\n"
                     "- shared memory: 227 KiB a block at most (above 48: dynamic, with "
                     "cudaFuncSetAttribute), 228 KiB a multiprocessor\n"
                     "- registers: 65536 a multiprocessor, 255 a thread at most; threads: 2048 a "
                     "multiprocessor, 1024 a block at most\n"
                     "- measured, all of it together: memory 4100 GB/s, float32 60000 GFLOP/s\n");
    const struct hone_device_facts none = {.cpu = "AMD EPYC"};
    ck_assert_ptr_nonnull(
        strstr(hone_prompt_machine("cuda", &none, NULL, NULL, pool), "device: not known"));
    hone_pool_free(pool);
}
END_TEST

static int probe_device(void *cookie, struct hone_json **ret, struct hone_err *err)
{
    (void)cookie;
    static const char text[] = "{\"gpu\":{\"devices\":[{\"name\":\"D\",\"arch\":\"sm_80\","
                               "\"uuid\":\"656d756c617465642d64657669636500\"}]}}";
    return hone_json_parse(text, sizeof(text) - 1, ret, err);
}

/* What the judge measured lies beside machine.json under the device's name. */
START_TEST(measured_rates_are_found)
{
    struct fixture f;
    const struct hone_executor executor = {.name = "test", .probe = probe_device};
    open_fixture(&f, "true");
    const char *path = in_dir(&f, "machine.json");
    put(&f, "machine.json", "{\"memory_bytes_per_s\":2e10}", 0600);
    put(&f, "machine.json.GPU-656d756c-6174-6564-2d64-657669636500",
        "{\"memory_bytes_per_s\":3e12}", 0600);
    ck_assert_ptr_nonnull(
        strstr(hone_prompt_machine_of(&executor, path, "cuda", f.pool), ": memory 3000 GB/s\n"));
    ck_assert_ptr_nonnull(
        strstr(hone_prompt_machine_of(&executor, path, "cpu", f.pool), ": memory 20 GB/s\n"));
    put(&f, "machine.json", "[1", 0600); /* half written */
    ck_assert_ptr_null(strstr(hone_prompt_machine_of(&executor, path, "cpu", f.pool), "measured"));
    close_fixture(&f);
}
END_TEST

START_TEST(the_machine_is_bounded)
{
    struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *name = hone_malloc(100001);
    memset(name, 'x', 100000);
    name[100000] = '\0';
    struct hone_device_facts facts = {.cpu = name, .vectors = name, .n_cores = 2};
    for (; facts.n_caches < HONE_DEVICE_MAX_CACHES; facts.n_caches++)
        facts.caches[facts.n_caches] = (struct hone_device_cache){name, name, 4, 0};
    const char *text = hone_prompt_machine("cpu", &facts, NULL, NULL, pool);
    ck_assert_uint_le(strlen(text), HONE_LIMIT_MACHINE_BYTES);
    ck_assert_ptr_nonnull(strstr(text, "cores for the job: 2"));
    hone_pool_free(pool);
}
END_TEST

/* Where kernels run counts, and a system without one or the other file is no error. */
START_TEST(the_probe_is_believed)
{
    struct fixture f;
    struct hone_device_facts own, asked;
    open_fixture(&f, "true");
    hone_device_facts_read(f.pool, &own);
    ck_assert_int_gt(own.n_cores, 0);
    hone_device_facts_ask(f.executor, f.pool, &asked);
    ck_assert_str_eq(asked.cpu, "fake");
    ck_assert_str_eq(asked.vectors, "avx avx2 fma");
    ck_assert_int_eq(asked.n_cores, 4);
    ck_assert_uint_eq(asked.n_caches, 3);
    ck_assert_str_eq(asked.caches[2].size, "16M");
    hone_device_facts_ask(NULL, f.pool, &asked);
    ck_assert_int_eq(asked.n_cores, own.n_cores);
    close_fixture(&f);
}
END_TEST

static const char machine_line[] = "\n- vector extensions: avx avx2 fma\n- caches: L1d 32K, L2 1M, "
                                   "L3 16M (for 4 cores)\n";

START_TEST(every_request_names_the_machine)
{
    struct fixture f;
    open_fixture(&f, "if grep -q '^Legal steps' '@/prompt'$n; then touch '@/planned'; echo no; "
                     "else " GOOD "; fi");
    const struct hone_search_options o = {.task = "softmax",
                                          .coder = "llm",
                                          .planner = "llm",
                                          .repairs = 1,
                                          .budget_evaluations = 6,
                                          .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    ck_assert(hone_file_exists(in_dir(&f, "planned")));
    ck_assert_int_ge(n_asked(&f), 3);
    for (int i = 1; i <= n_asked(&f); i++) {
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        const char *machine = strstr(prompt, machine_line);
        ck_assert_ptr_nonnull(machine);
        /* in front of all that changes from request to request */
        const char *source = strstr(prompt, "| void softmax(");
        const char *step = strstr(prompt, "\nStep ");
        ck_assert(!step || machine < step);
        ck_assert(!source || machine < source);
    }
    close_fixture(&f);
}
END_TEST

/* What a launcher may do stands in front of all that changes, on cuda alone. */
START_TEST(a_coder_for_cuda_knows_the_launcher)
{
    static const char *const targets[] = {"cpu", "cuda"};
    for (int is_cuda = 0; is_cuda < 2; is_cuda++) {
        struct fixture f;
        open_fixture(&f, "case $n in 1) echo no ;; *) printf '@@DECLINE\\nno\\n@@END\\n' ;; esac");
        const struct hone_search_options o = {.task = "softmax",
                                              .target = targets[is_cuda],
                                              .coder = "llm",
                                              .repairs = 1,
                                              .budget_evaluations = 6,
                                              .seed = 5};
        ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                      f.err.message);
        ck_assert_int_ge(n_asked(&f), 3);
        const char *first = get(&f, "prompt1"), *machine = strstr(first, "\nThe machine that ");
        const char *launcher = strstr(first, "\nThe launcher, and what of it is timed\n");
        ck_assert_ptr_nonnull(machine);
        ck_assert_int_eq(launcher != NULL, is_cuda);
        ck_assert(!is_cuda || launcher < strstr(first, "\nTask softmax, target cuda"));
        for (int i = 2; i <= n_asked(&f); i++) /* so that a provider can keep it */
            ck_assert_int_eq(strncmp(get(&f, hone_pool_printf(f.pool, "prompt%d", i)), first,
                                     (size_t)(machine - first)),
                             0);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(a_planner_is_told_how_it_counts)
{
    struct fixture f;
    /* the last step of the list first: never the rules' choice */
    open_fixture(
        &f, "if grep -q '^Legal steps' '@/prompt'$n; then id=$(sed -n 's/^- \\([a-zA-Z_0-9]*\\."
            "[0-9]*\\.[0-9a-f]*\\): .*/\\1/p' '@/prompt'$n | tail -n 1); printf "
            "'{\"order\":[\"%s\"]}' \"$id\"; else " GOOD "; fi");
    const struct hone_search_options o = {.task = "softmax",
                                          .coder = "llm",
                                          .planner = "llm",
                                          .repairs = 0,
                                          .budget_evaluations = 8,
                                          .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    int n_told = 0, n_moved = 0;
    for (int i = 1; i <= n_asked(&f); i++) {
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        if (!strstr(prompt, "\nLegal steps"))
            continue;
        const char *weights = strstr(prompt, "\nWeights now: the rules' priors 0.");
        ck_assert_ptr_nonnull(weights);
        n_moved +=
            strncmp(weights, "\nWeights now: the rules' priors 0.64, your order 0.36.", 52) != 0;
        ck_assert_int_eq(n_told == 0 && n_moved > 0, 0); /* the first has those of the start */
        n_told++;
        /* what holds for all requests stands in front of what holds for this one */
        const char *rule = strstr(prompt, "A step that you leave out keeps its prior of the rules");
        ck_assert(rule && rule < weights);
    }
    ck_assert_int_ge(n_told, 2);
    ck_assert_int_ge(n_moved, 1);
    close_fixture(&f);
}
END_TEST

START_TEST(a_planner_sees_the_best_of_the_search)
{
    struct fixture f;
    /* each edit is another version */
    open_fixture(&f, "if grep -q '^Legal steps' '@/prompt'$n; then echo no; else printf "
                     "\"@@SEARCH\\n" ROWS "@@WITH\\n" ROWS "        (void)$n;\\n@@END\\n\"; fi");
    const struct hone_search_options o = {.task = "softmax",
                                          .coder = "llm",
                                          .planner = "llm",
                                          .repairs = 0,
                                          .budget_evaluations = 9,
                                          .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    int n_told = 0, n_best = 0;
    for (int i = 1; i <= n_asked(&f); i++) {
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        const char *best = block(&f, prompt, "The best versions of the whole search");
        bool is_planner = strstr(prompt, "\nLegal steps") != NULL;
        ck_assert(is_planner || !best);
        n_told += is_planner;
        n_best += best && strstr(best, " the baseline, screened on all timed sizes");
    }
    ck_assert_int_ge(n_best, 1);
    ck_assert_int_lt(n_best, n_told); /* the first has nothing to show */
    close_fixture(&f);
}
END_TEST

/* ---- what was tried ---- */

/* From the judge's report into the tree, the record, and back after a restart. */
START_TEST(intervals_reach_the_prompts)
{
    struct fixture f;
    open_fixture(&f, GOOD);
    ck_assert_msg(search(&f, "llm", NULL, NULL, 6) == 0, "%s", f.err.message);
    static const char *const looks[] = {"decided on all timed sizes\n",
                                        "confirmed on all timed sizes\n"};
    int n = n_asked(&f), n_way[2] = {0}, n_times[2] = {0};
    ck_assert_msg(search(&f, "llm", NULL, NULL, 9) == 0, "%s", f.err.message);
    for (int i = 2; i <= n_asked(&f); i++) {
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        const char *way = strstr(prompt, ": 5x (4.9 to 5.1) the baseline, ");
        n_way[i > n] +=
            way && strncmp(strchr(way, ',') + 2, looks[i > n], strlen(looks[i > n])) == 0;
        n_times[i > n] +=
            strstr(
                prompt,
                "(baseline 1 ms), 5x (4.9 to 5.1), 10 % of what the machine allows (by bytes)\n") !=
            NULL;
    }
    for (int round = 0; round < 2; round++) {
        ck_assert_int_gt(n_way[round], 0);
        ck_assert_int_gt(n_times[round], 0);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(a_sweep_is_told)
{
    struct fixture f;
    open_fixture(&f, "case $n in 1) printf '@@SEARCH\\n" NAIVE_HEAD "@@WITH\\n#pragma hone "
                     "tune(STEP: 1, 2, 4)\\n" NAIVE_HEAD "@@END\\n' ;; *) echo no ;; esac");
    /* each setting has a time of its own */
    put(&f, "fake.jsonl", "{\"match\":\"pragma hone tune\"}\n{\"match\":\"void\",\"ns\":5000000}\n",
        0600);
    hone_executor_free(f.executor);
    ck_assert_int_eq(hone_exec_fake_new(in_dir(&f, "fake.jsonl"), &f.executor, NULL), 0);
    f.app.executor = f.executor;
    struct hone_search_options o = {
        .task = "softmax", .coder = "llm", .repairs = 0, .budget_evaluations = 8, .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    static const char head[] = "What a sweep of its tunables measured";
    int n_seen = 0, before = n_asked(&f);
    for (int i = 1; i <= before; i++) {
        const char *told = block(&f, get(&f, hone_pool_printf(f.pool, "prompt%d", i)), head);
        n_seen += told != NULL;
        ck_assert(!told || (strstr(told, "- STEP=1: ") && strstr(told, "- STEP=2: ") &&
                            strstr(told, "- STEP=4: ") && strstr(told, " (the default)\n")));
    }
    ck_assert_int_ge(n_seen, 1);
    ck_assert_int_lt(n_seen, before);
    /* and after a restart, from the record */
    o.budget_evaluations = 14;
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    ck_assert_int_gt(n_asked(&f), before);
    const char *last = get(&f, hone_pool_printf(f.pool, "prompt%d", before + 1));
    ck_assert_ptr_nonnull(block(&f, last, head));
    close_fixture(&f);
}
END_TEST

START_TEST(a_coder_sees_what_was_tried)
{
    struct fixture f;
    int n_new = 0, n_findings = 0, n_tried = 0;
    open_fixture(&f, "case $n in 1) printf '@@DECLINE\\nnothing to tile here\\n@@END\\n' ;; "
                     "2) printf '@@SEARCH\\n        float sum = 0.0f;\\n@@WITH\\n        float "
                     "sum = wrong;\\n@@END\\n' ;; *) echo no ;; esac");
    const struct hone_search_options o = {
        .task = "softmax", .coder = "llm", .repairs = 0, .budget_evaluations = 6, .seed = 5};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    ck_assert_ptr_null(strstr(get(&f, "prompt1"), "What was tried"));
    for (int i = 2; i <= n_asked(&f); i++) {
        const char *prompt = get(&f, hone_pool_printf(f.pool, "prompt%d", i));
        const char *tried = strstr(prompt, "What was tried from that same version");
        bool is_new = strstr(prompt, "\nStep N:") != NULL;
        n_new += is_new;
        ck_assert(!is_new || !strstr(prompt, "What limits")); /* of a source that it does not see */
        n_findings += strstr(prompt, "What limits") != NULL;
        if (!tried)
            continue;
        n_tried++;
        const char *fence = strstr(tried, "<<DATA ");
        ck_assert(fence && fence < strchr(strchr(tried, '\n') + 1, '\n'));
        ck_assert(strstr(prompt, machine_line) < tried);
    }
    ck_assert_int_ge(n_new, 1);
    ck_assert_int_ge(n_findings, 1);
    ck_assert_int_ge(n_tried, 2);
    ck_assert_ptr_nonnull(strstr(get(&f, "prompt2"), ": declined: nothing to tile here\n"));
    ck_assert_ptr_nonnull(strstr(get(&f, "prompt3"), ": incorrect (wrong_value): "));
    /* a later round has it from the records */
    int before = n_asked(&f);
    struct hone_search_options more = o;
    more.budget_evaluations = 12;
    ck_assert_msg(hone_search_run(&f.ctx, &more, NULL, NULL, &f.result, &f.err) == 0, "%s",
                  f.err.message);
    ck_assert_int_gt(n_asked(&f), before);
    ck_assert_ptr_nonnull(strstr(get(&f, hone_pool_printf(f.pool, "prompt%d", before + 1)),
                                 ": not carried out: the answer was refused"));
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("coder_prompt", a_sweep_is_told, intervals_reach_the_prompts, a_coder_sees_what_was_tried,
          the_processor_is_told, the_device_is_told, the_machine_is_bounded,
          measured_rates_are_found, the_probe_is_believed, every_request_names_the_machine,
          a_coder_for_cuda_knows_the_launcher, a_planner_is_told_how_it_counts,
          a_planner_sees_the_best_of_the_search, a_region_holds_the_helpers,
          a_refused_answer_is_shown, a_refused_answer_is_bounded, a_declined_step_is_not_repaired,
          a_failure_stays_one_when_its_repair_declines)

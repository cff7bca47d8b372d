/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/format/job.h"
#include "tools/format/options.h"
#include "tools/format/report.h"
#include "workspace/base/limits.h"

START_TEST(verdict_table_is_whole)
{
    for (int i = HONE_REASON_NONE + 1; i < HONE_N_REASONS; i++) {
        const struct hone_reason_row *row = hone_reason_row((enum hone_reason)i);
        enum hone_reason again = HONE_N_REASONS;
        enum hone_verdict verdict;

        ck_assert_msg(row->word != NULL, "reason %d has no row", i);
        ck_assert(hone_reason_parse(row->word, &again));
        ck_assert_msg((int)again == i, "'%s' stands twice", row->word);
        ck_assert(hone_verdict_parse(hone_verdict_name(row->verdict), &verdict));
        ck_assert(verdict == row->verdict);
        ck_assert(row->meaning[0] != '\0' && row->next[0] != '\0');
        /* an end that is nobody's fault never counts against the coder */
        if (row->verdict == HONE_VERDICT_INFRA || row->verdict == HONE_VERDICT_INVALID)
            ck_assert(!row->counts_against_coder);
        if (row->verdict == HONE_VERDICT_INCORRECT || row->verdict == HONE_VERDICT_SUSPICIOUS)
            ck_assert(row->counts_against_coder && row->error_class[0] != '\0');
    }
    enum hone_reason reason;
    ck_assert(!hone_reason_parse("no such", &reason));
    ck_assert(!hone_reason_parse(NULL, &reason));
    ck_assert(!hone_reason_parse("", &reason));
    /* what was not said is nobody's fault, and never a good end */
    ck_assert(hone_reason_row(HONE_REASON_NONE)->verdict == HONE_VERDICT_INFRA);
    for (int i = HONE_TIER_SCREEN; i <= HONE_TIER_CONFIRM; i++)
        ck_assert_int_eq(hone_tier_of(hone_tier_name((enum hone_tier)i)), i);
    ck_assert_int_eq(hone_tier_of("none"), HONE_TIER_NONE);
    ck_assert_int_eq(hone_tier_of(""), HONE_TIER_NONE);
    ck_assert_int_eq(hone_tier_of(NULL), HONE_TIER_NONE);
}
END_TEST

#define ARMS      "\"arms\":[{\"name\":\"candidate\",\"source\":\"candidate.c\"}]"
#define JOB(more) "{\"format\":1,\"id\":\"a\",\"task_dir\":\"/t\"," more "}"

static const struct {
    const char *name, *text, *want; /* NULL: accepted */
} jobs[] = {
    {"least", JOB("\"stages\":[\"build\"]," ARMS), NULL},
    {"all",
     JOB("\"stages\":[\"build\",\"policy\",\"smoke\",\"verify\",\"screen\",\"time\","
         "\"profile\",\"run\",\"calibrate\",\"program\"]," ARMS),
     NULL},
    {"one more",
     JOB("\"stages\":[\"build\",\"policy\",\"smoke\",\"verify\",\"screen\",\"time\","
         "\"profile\",\"run\",\"calibrate\",\"program\",\"more\"]," ARMS),
     "stages"},
    {"order", JOB("\"stages\":[\"smoke\",\"build\"]," ARMS), "out of order"},
    {"twice", JOB("\"stages\":[\"build\",\"build\"]," ARMS), "repeated"},
    {"stage", JOB("\"stages\":[\"erase\"]," ARMS), "unknown"},
    {"no stage", JOB("\"stages\":[]," ARMS), "at least one stage"},
    {"no arm", JOB("\"stages\":[\"build\"],\"arms\":[]"), "candidate"},
    {"path", JOB("\"stages\":[\"build\"],\"arms\":[{\"name\":\"candidate\",\"source\":\"../x\"}]"),
     "plain file name"},
    {"hidden", JOB("\"stages\":[\"build\"],\"arms\":[{\"name\":\"candidate\",\"source\":\".x\"}]"),
     "plain file name"},
    {"relative", "{\"format\":1,\"id\":\"a\",\"task_dir\":\"t\",\"stages\":[\"build\"]," ARMS "}",
     "absolute"},
    {"seed", JOB("\"seed_hex\":\"xyz\",\"stages\":[\"build\"]," ARMS), "32 hex digits"},
    {"most hidden", JOB("\"n_hidden\":16,\"stages\":[\"build\"]," ARMS), NULL},
    {"too many hidden", JOB("\"n_hidden\":17,\"stages\":[\"build\"]," ARMS), "16"},
    {"hash", JOB("\"task_hash\":\"12\",\"stages\":[\"build\"]," ARMS), "64 hex digits"},
    {"format", "{\"format\":2,\"id\":\"a\",\"task_dir\":\"/t\",\"stages\":[\"build\"]," ARMS "}",
     ""},
    {"tier", JOB("\"tier\":\"guess\",\"stages\":[\"build\"]," ARMS), "screen"},
    {"unknown", JOB("\"evil\":1,\"stages\":[\"build\"]," ARMS), ""},
    {"timeout at", JOB("\"timeout_ms\":3600000,\"stages\":[\"build\"]," ARMS), NULL},
    {"timeout above", JOB("\"timeout_ms\":3600001,\"stages\":[\"build\"]," ARMS), ""},
    {"negative", JOB("\"n_threads\":-1,\"stages\":[\"build\"]," ARMS), ""},
    {"value above",
     JOB("\"stages\":[\"build\"],\"arms\":[{\"name\":\"candidate\",\"source\":\"c.c\",\"tunables\":"
         "[{\"name\":\"T\",\"value\":1000000001}]}]"),
     ""},
    {"same name",
     JOB("\"stages\":[\"build\"],\"arms\":[{\"name\":\"candidate\",\"source\":\"c.c\"},{\"name\":"
         "\"candidate\",\"source\":\"d.c\"}]"),
     "two arms"},
};

START_TEST(job_checks)
{
    for (size_t i = 0; i < HONE_COUNTOF(jobs); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        struct hone_job job;
        int rc = hone_job_parse(jobs[i].text, strlen(jobs[i].text), pool, &job, &err);

        if (jobs[i].want == NULL) {
            ck_assert_msg(rc == 0, "%s: %s", jobs[i].name, err.message);
            continue;
        }
        ck_assert_msg(rc < 0, "%s was accepted", jobs[i].name);
        ck_assert_msg(strstr(err.message, jobs[i].want) != NULL, "%s: %s", jobs[i].name,
                      err.message);
    }
}
END_TEST

START_TEST(job_round_trip)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *first = NULL;
    HONE_AUTOFREE char *second = NULL;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_job job;
    static const char text[] = JOB(
        "\"stages\":[\"build\",\"time\"],\"points\":[{\"tunables\":[{\"name\":\"T\",\"value\":8}],"
        "\"flags\":[\"-O2\"]}],\"workloads\":[\"m1\"],\"seed_hex\":"
        "\"00000000000000000000000000000001\"," ARMS);

    ck_assert_msg(hone_job_parse(text, strlen(text), pool, &job, &err) == 0, "%s", err.message);
    ck_assert_str_eq(job.target, "cpu");
    ck_assert_int_eq(job.tier, HONE_TIER_SCREEN);
    ck_assert_ptr_nonnull(hone_job_arm(&job, "candidate"));
    ck_assert_ptr_null(hone_job_arm(&job, "baseline"));
    first = hone_job_print(&job);
    ck_assert(hone_job_parse(first, strlen(first), pool, &job, &err) == 0);
    second = hone_job_print(&job);
    ck_assert_str_eq(first, second);
}
END_TEST

/* A parent's record: as many workloads as a task may have, and one more. */
START_TEST(job_record)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_known known[HONE_LIMIT_WORKLOADS + 1];
    struct hone_arm arms[2] = {
        {.name = "candidate", .source = "c.c"},
        {.name = "parent", .source = "p.c", .known_device = "a device", .known_threads = 8}};
    const char *stage = "time";
    struct hone_job job = {.format = HONE_JOB_FORMAT,
                           .id = "j",
                           .target = "cpu",
                           .tier = HONE_TIER_DECIDE,
                           .stages = {.v = &stage, .n = 1},
                           .task_dir = "/t",
                           .jail = "auto",
                           .arms = {.v = arms, .n = 2}};
    struct hone_job back;

    for (size_t i = 0; i < HONE_COUNTOF(known); i++)
        known[i] = (struct hone_known){.workload = "w", .ratio = 4, .low = 3.8, .high = 4.2};
    for (size_t more = 0; more < 2; more++) {
        arms[1].known = (struct hone_array){.v = known, .n = HONE_LIMIT_WORKLOADS + more};
        HONE_AUTOFREE char *text = hone_job_print(&job);
        int rc = hone_job_parse(text, strlen(text), pool, &back, &err);
        ck_assert_msg((rc < 0) == (more == 1), "%s", err.message);
    }
    const struct hone_arm *parent = hone_job_arm(&back, "parent");
    ck_assert_str_eq(parent->known_device, "a device");
    ck_assert_int_eq(parent->known_threads, 8);
    ck_assert_uint_eq(parent->known.n, HONE_LIMIT_WORKLOADS);
    ck_assert_double_eq(((const struct hone_known *)parent->known.v)[0].low, 3.8);
    ck_assert_uint_eq(hone_job_arm(&back, "candidate")->known.n, 0);
}
END_TEST

#define FASTER(low, ratio, high)                                                                   \
    "\"ratios\":[{\"against\":\"baseline\",\"ratio\":" ratio ",\"low\":" low ",\"high\":" high     \
    ",\"word\":\"faster\"}]"

static const struct {
    const char *name, *text, *want;
} reports[] = {
    {"least", "{\"format\":1,\"reason\":\"built\"}", NULL},
    {"reason", "{\"format\":1,\"reason\":\"great\"}", "'great' is not one of: built, correct"},
    {"empty reason", "{\"format\":1,\"reason\":\"\"}", "is not one of"},
    {"no reason", "{\"format\":1}", "required"},
    {"tier", "{\"format\":1,\"reason\":\"built\",\"tier\":\"none\"}",
     "'none' is not one of: screen, decide, confirm"},
    {"verdict", "{\"format\":1,\"reason\":\"compile\",\"verdict\":\"faster\"}", "does not follow"},
    {"claim",
     "{\"format\":1,\"tier\":\"decide\",\"reason\":\"faster\"," FASTER("1.1", "1.2", "1.3") "}",
     NULL},
    {"bare claim", "{\"format\":1,\"tier\":\"decide\",\"reason\":\"faster\"}", "interval"},
    {"weak claim",
     "{\"format\":1,\"tier\":\"decide\",\"reason\":\"faster\"," FASTER("0.9", "1.2", "1.3") "}",
     "interval"},
    {"screen claim",
     "{\"format\":1,\"tier\":\"screen\",\"reason\":\"faster\"," FASTER("1.1", "1.2", "1.3") "}",
     "screen"},
    {"outside",
     "{\"format\":1,\"tier\":\"decide\",\"reason\":\"same\"," FASTER("1.1", "1.0", "1.3") "}",
     "outside its interval"},
    {"infinite",
     "{\"format\":1,\"reason\":\"built\",\"checks\":[{\"name\":\"v\",\"max_abs_err\":1e999}]}", ""},
    {"negative", "{\"format\":1,\"reason\":\"built\",\"percent_of_bound\":-1}", ""},
    {"best", "{\"format\":1,\"reason\":\"built\",\"best_point\":0}", "points"},
    {"point", "{\"format\":1,\"reason\":\"built\",\"points\":[{\"reason\":\"nice\"}]}",
     "'nice' is not one of"},
    {"axes",
     "{\"format\":1,\"reason\":\"built\",\"workloads\":[{\"id\":\"w\",\"axes\":{\"M\":1.5}}]}",
     "integers"},
    {"axes array",
     "{\"format\":1,\"reason\":\"built\",\"workloads\":[{\"id\":\"w\",\"axes\":[1]}]}", "object"},
    {"unknown", "{\"format\":1,\"reason\":\"built\",\"trust\":true}", ""},
    {"an error where the size is 0",
     "{\"format\":1,\"reason\":\"built\",\"calibration\":{\"device\":\"d\",\"noise\":[{\"arm\":"
     "\"candidate\",\"output\":\"C\",\"distribution\":\"normal\",\"worst\":1e30}]}}",
     NULL},
    {"severity",
     "{\"format\":1,\"reason\":\"built\",\"build\":{\"diagnostics\":[{\"severity\":\"bad\","
     "\"message\":\"m\"}]}}",
     ""},
};

START_TEST(report_checks)
{
    for (size_t i = 0; i < HONE_COUNTOF(reports); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        struct hone_report report;
        int rc = hone_report_parse(reports[i].text, strlen(reports[i].text), pool, &report, &err);

        if (reports[i].want == NULL) {
            ck_assert_msg(rc == 0, "%s: %s %s", reports[i].name, err.path, err.message);
            continue;
        }
        ck_assert_msg(rc < 0, "%s was accepted", reports[i].name);
        ck_assert_msg(strstr(err.message, reports[i].want) != NULL, "%s: %s", reports[i].name,
                      err.message);
    }
}
END_TEST

START_TEST(report_round_trip)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *first = NULL;
    HONE_AUTOFREE char *second = NULL;
    struct hone_check_report check = {
        .name = "verify", .n_bad = 3, .max_abs_err = INFINITY, .max_rel_err = NAN, .rel_l2 = 0.5};
    struct hone_report report = {.format = 1,
                                 .reason = HONE_REASON_WRONG_VALUE,
                                 .tier = HONE_TIER_DECIDE,
                                 .checks = {.v = &check, .n = 1},
                                 .best_point = -1,
                                 .worst_ratio = NAN,
                                 .percent_of_bound = NAN};
    struct hone_err err = HONE_ERR_INIT;
    struct hone_report back;

    first = hone_report_print(&report);
    ck_assert_msg(hone_report_parse(first, strlen(first), pool, &back, &err) == 0, "%s %s",
                  err.path, err.message);
    ck_assert_int_eq(back.verdict, HONE_VERDICT_INCORRECT);
    ck_assert(isnan(back.worst_ratio));
    ck_assert(isnan(((const struct hone_check_report *)back.checks.v)->max_abs_err));
    ck_assert_double_eq(((const struct hone_check_report *)back.checks.v)->rel_l2, 0.5);
    back.verdict = HONE_VERDICT_NONE;
    second = hone_report_print(&back);
    ck_assert_str_eq(first, second);
}
END_TEST

START_TEST(report_limit)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    size_t len = HONE_LIMIT_REPORT_BYTES;
    HONE_AUTOFREE char *text = hone_malloc(len + 2);
    struct hone_err err = HONE_ERR_INIT;
    struct hone_report report;
    static const char least[] = "{\"format\":1,\"reason\":\"built\"}";

    memset(text, ' ', len + 1);
    text[len + 1] = '\0';
    memcpy(text, least, strlen(least));
    ck_assert_msg(hone_report_parse(text, len, pool, &report, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_report_parse(text, len + 1, pool, &report, &err), HONE_E_LIMIT);
}
END_TEST

/* Only a confirmed "faster" that nothing stands against may be claimed; the list has a limit. */
START_TEST(doubts)
{
    const char *all[HONE_LIMIT_DOUBTS + 1];
    for (size_t i = 0; i < HONE_COUNTOF(all); i++)
        all[i] = "only the public sizes were timed";
    for (size_t n = 0; n < HONE_COUNTOF(all) + 1; n++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_report back, report = {.format = HONE_REPORT_FORMAT,
                                           .reason = HONE_REASON_FASTER,
                                           .tier = HONE_TIER_CONFIRM,
                                           .best_point = -1,
                                           .doubts = {.v = all, .n = n}};
        HONE_AUTOFREE char *json = hone_report_print(&report);
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_report_is_claimable(&report), n == 0);
        report.tier = HONE_TIER_DECIDE;
        ck_assert(!hone_report_is_claimable(&report));
        report.tier = HONE_TIER_NONE;
        ck_assert(!hone_report_is_claimable(&report));
        if (n > HONE_LIMIT_DOUBTS)
            ck_assert_int_lt(hone_report_parse(json, strlen(json), pool, &back, &err), 0);
        if (n > HONE_LIMIT_DOUBTS)
            break;
        (void)hone_report_parse(json, strlen(json), pool, &back, &err);
        ck_assert_msg(strstr(err.path, "doubts") == NULL, "%s", err.message);
    }
}
END_TEST

/* What it was tested with: kept as it is, and no more kinds than the limit. */
START_TEST(contents)
{
    const char *names[HONE_LIMIT_KINDS + 1];
    struct hone_left_out_report out[HONE_LIMIT_KINDS + 1];
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        names[i] = "normal";
        out[i] = (struct hone_left_out_report){"huge", "the baseline fails it too (m512)"};
    }
    for (size_t above = 0; above < 3; above++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_contents_report tested = {
            .compared = {.v = names, .n = HONE_LIMIT_KINDS + (above == 1)},
            .left_out = {.v = out, .n = HONE_LIMIT_KINDS + (above == 2)}};
        struct hone_report back, report = {.format = HONE_REPORT_FORMAT,
                                           .reason = HONE_REASON_BUILT,
                                           .best_point = -1,
                                           .contents = &tested};
        HONE_AUTOFREE char *json = hone_report_print(&report);
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_report_parse(json, strlen(json), pool, &back, &err);
        ck_assert_msg(above == 0 ? rc == 0 : rc < 0, "%zu: %s: %s", above, err.path, err.message);
        if (above > 0)
            continue;
        ck_assert_uint_eq(back.contents->compared.n, HONE_LIMIT_KINDS);
        const struct hone_left_out_report *first = back.contents->left_out.v;
        ck_assert_str_eq(first->kind, "huge");
        ck_assert_str_eq(first->reason, out[0].reason);
    }
}
END_TEST

/* What was planned and what was done comes back as it went. */
START_TEST(sizes)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_axis_box box[] = {{"M", 1, 8192}, {"K", 3, 70000}};
    struct hone_sizes_report told = {.n_planned = 37,
                                     .n_checked = 36,
                                     .n_public = 3,
                                     .n_public_timed = 3,
                                     .n_hidden = 3,
                                     .n_hidden_timed = 2,
                                     .beyond = "beyond-1: M=600 K=2",
                                     .box = {.v = box, .n = 2}};
    struct hone_report back, report = {.format = HONE_REPORT_FORMAT,
                                       .reason = HONE_REASON_BUILT,
                                       .tier = HONE_TIER_CONFIRM,
                                       .best_point = -1,
                                       .sizes = &told};
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *json = hone_report_print(&report);
    ck_assert_msg(hone_report_parse(json, strlen(json), pool, &back, &err) == 0, "%s: %s", err.path,
                  err.message);
    ck_assert_int_eq(back.sizes->n_planned, 37);
    ck_assert_int_eq(back.sizes->n_hidden_timed, 2);
    ck_assert_str_eq(back.sizes->beyond, told.beyond);
    ck_assert_uint_eq(back.sizes->box.n, 2);
    ck_assert_int_eq(((const struct hone_axis_box *)back.sizes->box.v)[1].largest, 70000);
    report.sizes = NULL;
    HONE_AUTOFREE char *without = hone_report_print(&report);
    ck_assert_int_eq(hone_report_parse(without, strlen(without), pool, &back, &err), 0);
    ck_assert_ptr_null(back.sizes);
}
END_TEST

START_TEST(assembly_limit)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char *text = hone_pool_alloc(pool, HONE_LIMIT_ASSEMBLY_BYTES + 2);
    struct hone_build_report build = {.assembly = text, .assembly_of = "k"};
    struct hone_report report = {.format = HONE_REPORT_FORMAT,
                                 .reason = HONE_REASON_BUILT,
                                 .best_point = -1,
                                 .build = &build};

    memset(text, 'a', HONE_LIMIT_ASSEMBLY_BYTES);
    for (int above = 0; above < 2; above++) {
        HONE_AUTOFREE char *json = hone_report_print(&report);
        struct hone_err err = HONE_ERR_INIT;
        struct hone_report back;
        int rc = hone_report_parse(json, strlen(json), pool, &back, &err);
        ck_assert_msg(above ? rc < 0 && strstr(err.path, "assembly") != NULL : rc == 0, "%s: %s",
                      err.path, err.message);
        text[HONE_LIMIT_ASSEMBLY_BYTES] = 'a';
    }
}
END_TEST

START_TEST(assembly_of_targets)
{
    ck_assert(hone_assembly_is_of(NULL, "cpu") && hone_assembly_is_of("none", "cuda"));
    ck_assert(hone_assembly_is_of("asm", "cpu") && !hone_assembly_is_of("asm", "cuda"));
    ck_assert(hone_assembly_is_of("sass", "cuda") && !hone_assembly_is_of("sass", "cpu"));
    ck_assert(hone_assembly_is_of("ptx", "cuda") && !hone_assembly_is_of("ptx", "cpu"));
}
END_TEST

START_TEST(flags)
{
    const char *good[] = {"-O2", "-ffast-math", "-mprefer-vector-width=256"};
    const char *many[HONE_LIMIT_FLAGS + 1];
    static const char *const bad[] = {"-fplugin=/x.so", "-I/etc", "-Wl,-z", "@file", "-DX=1",
                                      "-O2 ",           "",       "-o/x",   "-B/x",  "-specs=x"};
    struct hone_err err = HONE_ERR_INIT;

    ck_assert_int_eq(hone_options_check(&(struct hone_strs){good, 3}, &err), 0);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        const char *one[] = {bad[i]};
        ck_assert_msg(hone_options_check(&(struct hone_strs){one, 1}, &err) == HONE_E_ARG,
                      "'%s' was accepted", bad[i]);
    }
    ck_assert_ptr_nonnull(strstr(err.message, "allowed"));
    for (size_t i = 0; i < HONE_COUNTOF(many); i++)
        many[i] = "-O2";
    ck_assert_int_eq(hone_options_check(&(struct hone_strs){many, HONE_LIMIT_FLAGS}, &err), 0);
    ck_assert_int_eq(hone_options_check(&(struct hone_strs){many, HONE_LIMIT_FLAGS + 1}, &err),
                     HONE_E_LIMIT);
}
END_TEST

START_TEST(options_of_cuda)
{
    const char *good[] = {"-use_fast_math", "-maxrregcount=16", "-maxrregcount=255",
                          "--ptxas-options=-dlcm=cg"};
    static const char *const bad[] = {"-O2",
                                      "-maxrregcount=15",
                                      "-maxrregcount=256",
                                      "-maxrregcount=",
                                      "-maxrregcount=64 ",
                                      "-maxrregcount=99999999999999999999",
                                      "-I/etc",
                                      "--pre-include=/etc/passwd",
                                      "--use-pch=/tmp/x",
                                      "-DX=1",
                                      "--ptxas-options=-v -o/x",
                                      ""};
    struct hone_err err = HONE_ERR_INIT;

    ck_assert_int_eq(hone_options_check_for("cuda", &(struct hone_strs){good, 4}, &err), 0);
    ck_assert_int_eq(hone_options_check(&(struct hone_strs){good, 1}, &err), HONE_E_ARG);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        const char *one[] = {bad[i]};
        ck_assert_msg(hone_options_check_for("cuda", &(struct hone_strs){one, 1}, &err) ==
                          HONE_E_ARG,
                      "'%s' was accepted", bad[i]);
    }
    for (const char *const *flag = hone_options_allowed_for("cuda"); *flag != NULL; flag++) {
        const char *one[] = {*flag};
        ck_assert(strpbrk(*flag, " /,@") == NULL);
        ck_assert_int_eq(hone_options_check_for("cuda", &(struct hone_strs){one, 1}, &err), 0);
    }
}
END_TEST

START_TEST(prologue_of_cuda)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_tunable given[] = {{"TILE", 32}};
    const struct hone_array tunables = {given, 1};
    const char *text = NULL;
    const char *source = "#pragma hone tune(TILE: 8, 16; N: 1, 2; EACH: 4)\n#if N > 1\n"
                         "#endif\n#pragma unroll EACH\ntemplate <int TILE> void f();\n";
    ck_assert_int_eq(hone_tune_prologue_cuda(source, &tunables, pool, &text, NULL), 0);
    ck_assert_str_eq(text, "constexpr int TILE = 32;\n#define N (1)\nconstexpr int EACH = 4;\n");
    hone_pool_free(pool);
}
END_TEST

static const struct {
    const char *source;
    int n_axes, n_points; /* -1: refused */
    const char *want;     /* prologue, or part of the message */
} tunes[] = {
    {"int x;", 0, 1, ""},
    {"#pragma hone tune(TILE: 8, 16, 32)\n", 1, 3, "enum { TILE = 8 };\n"},
    {"  # pragma hone tune( A : 1 , -2 )\n", 1, 2, "enum { A = 1 };\n"},
    {"#pragma hone tune(A: 1, 2; B: 3, 4)\n", 2, 4, "enum { A = 1 };\nenum { B = 3 };\n"},
    {"#pragma hone tune(A: 1, 2) tune(B: 3, 4) where(A * B < 8)\n", 2, 3,
     "enum { A = 1 };\nenum { B = 3 };\n"},
    {"#pragma hone tune(A: 1, 2, \\\n 3)\n#if A > 2\n#endif\n", 1, 3, "#define A (1)\n"},
    {"#pragma hone tune(A: 1) // note\n#define AB 2\n", 1, 1, "enum { A = 1 };\n"},
    {"#define AB 2\n#pragma hone tune(A: 1)\n", 1, 1, "enum { A = 1 };\n"}, /* at the very start */
    {"/* #pragma hone tune(A: 1)\n#pragma hone tune(B: 1) */\n", 0, 1, ""},
    {"// #pragma hone tune(A: 1)\nchar *s = \"\\\n#pragma hone tune(B: 1)\";", 0, 1, ""},
    {"#pragma hone tune(A: 1, 2, 3) where(A % 2 == 1 && !(A == 3) || A == 2)\n", 1, 2,
     "enum { A = 1 };\n"},
    {"#pragma hone tune(A 1)\n", -1, 0, "line 1"},
    {"\n\n#pragma hone tune(A: )\n", -1, 0, "line 3"},
    {"#pragma hone tune(A: 1, 1)\n", -1, 0, "twice"},
    {"#pragma hone tune(A: 1)\n#pragma hone tune(A: 2)\n", -1, 0, "twice"},
    {"#pragma hone tune(A: 1\n", -1, 0, "')'"},
    {"#pragma hone sweep(A: 1)\n", -1, 0, "expected tune"},
    {"#pragma hone tune(A: 1, 2) where(A > 1)\n", -1, 0, "default"},
    {"#pragma hone tune(A: 1) where(B)\n", -1, 0, "not a tunable"},
    {"#pragma hone tune(A: 0) where(1 / A)\n", -1, 0, "zero"},
    {"#pragma hone tune(A: 1) where(9223372036854775807 + A)\n", -1, 0, "overflow"},
    {"#pragma hone tune(A: 1000000001)\n", -1, 0, "million"},
    {"#pragma hone tune(9A: 1)\n", -1, 0, "name"},
};

START_TEST(tune_pragmas)
{
    for (size_t i = 0; i < HONE_COUNTOF(tunes); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_array axes, points, none = {.n = 0};
        struct hone_err err = HONE_ERR_INIT;
        const char *where, *prologue;
        int rc = hone_tune_parse(tunes[i].source, pool, &axes, &where, &err);

        if (tunes[i].n_axes < 0) {
            ck_assert_msg(rc == HONE_E_ARG, "%s was accepted", tunes[i].source);
            ck_assert_msg(strstr(err.message, tunes[i].want) != NULL, "%s: %s", tunes[i].source,
                          err.message);
            continue;
        }
        ck_assert_msg(rc == 0, "%s: %s", tunes[i].source, err.message);
        ck_assert_int_eq((int)axes.n, tunes[i].n_axes);
        ck_assert_int_eq(hone_tune_points(&axes, where, pool, &points, &err), 0);
        ck_assert_msg((int)points.n == tunes[i].n_points, "%s: %zu points", tunes[i].source,
                      points.n);
        ck_assert_int_eq(hone_tune_prologue(tunes[i].source, &none, pool, &prologue, &err), 0);
        ck_assert_str_eq(prologue, tunes[i].want);
    }
}
END_TEST

START_TEST(tune_values)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const char source[] =
        "int a;\n#pragma hone tune(T: 8, 16; U: 1, 2) where(T * U <= 64)\nint b;\n";
    struct hone_tunable value[] = {{"T", 16}};
    struct hone_tunable unlisted[] = {{"T", 24}, {"U", 2}}, illegal[] = {{"T", 128}},
                        unknown[] = {{"X", 1}};
    struct hone_err err = HONE_ERR_INIT;
    const char *text;

    ck_assert_int_eq(hone_tune_prologue(source, &(struct hone_array){value, 1}, pool, &text, &err),
                     0);
    ck_assert_str_eq(text, "enum { T = 16 };\nenum { U = 1 };\n");
    ck_assert_int_eq(
        hone_tune_set_default(source, &(struct hone_array){value, 1}, pool, &text, &err), 0);
    ck_assert_str_eq(text,
                     "int a;\n#pragma hone tune(T: 16, 8; U: 1, 2) where(T * U <= 64)\nint b;\n");
    ck_assert_int_eq(
        hone_tune_set_default(source, &(struct hone_array){unlisted, 2}, pool, &text, &err), 0);
    ck_assert_str_eq(
        text, "int a;\n#pragma hone tune(T: 24, 8, 16; U: 2, 1) where(T * U <= 64)\nint b;\n");
    ck_assert_int_eq(
        hone_tune_prologue(source, &(struct hone_array){illegal, 1}, pool, &text, &err),
        HONE_E_ARG);
    ck_assert_int_eq(
        hone_tune_prologue(source, &(struct hone_array){unknown, 1}, pool, &text, &err),
        HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "#pragma hone tune(X: 1)"));
}
END_TEST

/* One tunable with n values 0..n-1, after `before`. */
static char *many_values(const char *name, int n)
{
    char *text = hone_sprintf("#pragma hone tune(%s: 0", name);

    for (int i = 1; i < n; i++) {
        char *longer = hone_sprintf("%s, %d", text, i);
        free(text);
        text = longer;
    }
    char *whole = hone_sprintf("%s)\n", text);
    free(text);
    return whole;
}

START_TEST(tune_limits)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *at = many_values("A", HONE_LIMIT_TUNE_VALUES);
    HONE_AUTOFREE char *above = many_values("A", HONE_LIMIT_TUNE_VALUES + 1);
    HONE_AUTOFREE char *b = many_values("B", 8);
    HONE_AUTOFREE char *c = many_values("C", 2);
    HONE_AUTOFREE char *points_at = hone_sprintf("%s%s", at, b);
    HONE_AUTOFREE char *points_above = hone_sprintf("%s%s%s", at, b, c);
    HONE_AUTOFREE char *names = hone_strdup("");
    struct hone_array axes, points;
    struct hone_err err = HONE_ERR_INIT;
    const char *where;

    ck_assert_int_eq(hone_tune_parse(at, pool, &axes, &where, &err), 0);
    ck_assert_int_eq(hone_tune_parse(above, pool, &axes, &where, &err), HONE_E_ARG);
    ck_assert_int_eq(hone_tune_parse(points_at, pool, &axes, &where, &err), 0);
    ck_assert_int_eq(hone_tune_points(&axes, where, pool, &points, &err), 0);
    ck_assert_uint_eq(points.n, HONE_LIMIT_TUNE_POINTS);
    ck_assert_int_eq(hone_tune_parse(points_above, pool, &axes, &where, &err), 0);
    ck_assert_int_eq(hone_tune_points(&axes, where, pool, &points, &err), HONE_E_LIMIT);
    for (int i = 0; i <= HONE_LIMIT_TUNABLES; i++) {
        char *longer = hone_sprintf("%s#pragma hone tune(N%d: 1)\n", names, i);
        free(names);
        names = longer;
        ck_assert_int_eq(hone_tune_parse(names, pool, &axes, &where, &err),
                         i < HONE_LIMIT_TUNABLES ? 0 : HONE_E_ARG);
    }
}
END_TEST

START_TEST(lanes)
{
    static const struct {
        const char *source, *lane, *message;
    } rows[] = {{"int a;\n", NULL, NULL},
                {"#pragma hone lane(nvcc)\n", "nvcc", NULL},
                {"#pragma hone tune(T: 1, 2) lane( nvrtc )\n", "nvrtc", NULL},
                {"// #pragma hone lane(nvcc)\n", NULL, NULL},
                {"\n#pragma hone lane(clang)\n", NULL, "line 2: #pragma hone: a lane is"},
                {"#pragma hone lane nvcc\n", NULL, "expected '('"},
                {"#pragma hone lane(nvcc\n", NULL, "expected ')'"}};
    struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        const char *lane = NULL;
        int rc = hone_lane_parse(rows[i].source, pool, &lane, &err);
        ck_assert_int_eq(rc, rows[i].message == NULL ? 0 : HONE_E_ARG);
        if (rows[i].message != NULL)
            ck_assert_ptr_nonnull(strstr(err.message, rows[i].message));
        else if (rows[i].lane == NULL)
            ck_assert_ptr_null(lane);
        else
            ck_assert_str_eq(lane, rows[i].lane);
    }
    hone_pool_free(pool);
}
END_TEST

START_TEST(where_depth)
{
    char text[2 * HONE_LIMIT_EXPR_DEPTH + 8] = "";
    struct hone_err err = HONE_ERR_INIT;
    int64_t value = 0;

    for (int depth = HONE_LIMIT_EXPR_DEPTH; depth <= HONE_LIMIT_EXPR_DEPTH + 1; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = '7';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = '\0';
        ck_assert_int_eq(hone_where_eval(text, NULL, 0, &value, &err),
                         depth <= HONE_LIMIT_EXPR_DEPTH ? 0 : HONE_E_ARG);
    }
    ck_assert_int_eq(value, 7);
    ck_assert_int_eq(hone_where_eval("1 + 2 * 3 - 4 / 2 == 5", NULL, 0, &value, &err), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(hone_where_eval("1 2", NULL, 0, &value, &err), HONE_E_ARG);
    ck_assert_int_eq(hone_where_eval("", NULL, 0, &value, &err), HONE_E_ARG);
}
END_TEST

UNIT_MAIN("format", options_of_cuda, prologue_of_cuda, verdict_table_is_whole, job_checks,
          job_round_trip, job_record, report_checks, report_round_trip, report_limit, doubts,
          contents, assembly_limit, assembly_of_targets, flags, tune_pragmas, tune_values,
          tune_limits, lanes, where_depth, sizes)

/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to the judge with a parent: its own record. */
#include "tests/unit/tools/tool_util.h"

#include "tools/format/job.h"

/* A source is only text to the fake executor. */
#define FAST "/* FAST */ void sum(void) {}"
#define SCRIPT                                                                                     \
    "{\"match\":\"FAST\",\"ns\":250000}\n"                                                         \
    "{\"match\":\"EQUAL\",\"ns\":1000000}\n"

static const char *args(struct bench *b, const char *source, const char *more)
{
    return hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more);
}

static struct hone_job *job_of(struct bench *b, const struct hone_json *result)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_job *job = hone_pool_alloc(b->pool, sizeof(*job));
    HONE_AUTOFREE char *path = hone_workspace_path(
        b->app.ws, hone_pool_printf(b->pool, "calls/%s/job.json", text_of(result, "evaluation")));
    HONE_AUTOFREE char *text = NULL;
    size_t len;

    ck_assert_msg(hone_file_read(path, HONE_LIMIT_JOB_BYTES, &text, &len, &err) == 0, "%s",
                  err.message);
    ck_assert_msg(hone_job_parse(text, len, b->pool, job, &err) == 0, "%s", err.message);
    return job;
}

/* What a parent was decided to be goes with it; what a screen said does not. */
START_TEST(parent_has_its_record)
{
    struct bench b;
    struct hone_json *first;
    const struct hone_arm *parent;
    const struct hone_known *known;

    bench_open(&b, SCRIPT);
    first = bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", ""));
    const char *more = hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"",
                                        text_of(first, "commit"));
    parent =
        hone_job_arm(job_of(&b, bench_ok(&b, "kernel_evaluate", args(&b, FAST, more))), "parent");
    ck_assert_uint_eq(parent->known.n, 0);
    bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", ",\"tier\":\"decide\""));
    parent = hone_job_arm(job_of(&b, bench_ok(&b, "kernel_evaluate", args(&b, "FAST 2", more))),
                          "parent");
    ck_assert_str_eq(parent->known_device, "fake");
    ck_assert_uint_ge(parent->known.n, 1);
    known = parent->known.v;
    ck_assert_double_eq_tol(known[0].ratio, 1, 1e-6);
    ck_assert(known[0].low > 0.9 && known[0].low < 1 && known[0].high > 1);
    bench_close(&b);
}
END_TEST

UNIT_MAIN("parent", parent_has_its_record)

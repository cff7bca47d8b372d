/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/exec_answer.h"

#include <fcntl.h>
#include <string.h>

#include "tools/report_check.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

void hone_exec_infra(const struct hone_job *job, const char *summary, struct hone_report *ret)
{
    *ret = (struct hone_report){
        .format = HONE_REPORT_FORMAT,
        .id = job->id,
        .target = job->target,
        .tier = job->tier,
        .reason = HONE_REASON_INFRA,
        .verdict = HONE_VERDICT_INFRA,
        .summary = summary,
        .worst_ratio = __builtin_nan(""),
        .percent_of_bound = __builtin_nan(""),
        .best_point = -1,
    };
}

/* What the runner left behind, in one line for the person who has to find out why. */
static const char *explain(const struct hone_launch_end *end, const char *problem,
                           struct hone_pool *pool)
{
    size_t len = strlen(end->said);
    const char *said = hone_plain_line(pool, len > 300 ? end->said + len - 300 : end->said, 300);

    if (end->timed_out)
        problem = "the runner did not end in time and was killed";
    else if (end->signal != 0)
        problem = hone_pool_printf(pool, "the runner was killed by signal %d", end->signal);
    return said[0] != '\0' ? hone_pool_printf(pool, "%s; it said: %s", problem, said)
                           : hone_pool_strdup(pool, problem);
}

static int read_report(const char *call_dir, const struct hone_job *job, struct hone_pool *pool,
                       struct hone_report *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(call_dir, "report.json", NULL);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int rc = hone_file_read_at(AT_FDCWD, path, HONE_LIMIT_REPORT_BYTES, &text, &len, err);

    if (rc == 0)
        rc = hone_report_parse(text, len, pool, ret, err);
    if (rc == 0)
        rc = hone_report_answers(ret, job, err);
    return rc;
}

/* The exit status only matters when there is no answer: a bad candidate is an answer. */
void hone_exec_answer(const char *call_dir, const struct hone_job *job,
                      const struct hone_launch_end *end, struct hone_pool *pool,
                      struct hone_report *ret)
{
    struct hone_err failure = HONE_ERR_INIT;

    if (!end->timed_out && end->signal == 0 && read_report(call_dir, job, pool, ret, &failure) == 0)
        return;
    hone_exec_infra(job,
                    explain(end,
                            hone_pool_printf(pool, "no usable report (runner's status %d): %s",
                                             end->exit_status, failure.message),
                            pool),
                    ret);
}

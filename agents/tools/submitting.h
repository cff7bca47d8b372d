/* SPDX-License-Identifier: Apache-2.0 */
/* What strategy_apply and search_outcome share: the result of a submission as members of an
 * output struct. */
#ifndef HONE_AGENTS_SUBMITTING_H
#define HONE_AGENTS_SUBMITTING_H

#include "agents/search/search.h"
#include "agents/search/steer.h"

struct hone_submitted_rows {
    const char *search, *state, *words, *note;
    int64_t submission, node;
    double ratio;
    bool is_gain;
};
/* clang-format off */
#define HONE_SUBMITTED_ROW(type_, m_, kind_, help_) \
    {.name = #m_, .type = kind_, .offset = offsetof(type_, submitted.m_), .skip_empty = true, .help = help_}
#define HONE_SUBMITTED_FIELDS(type_) \
    HONE_SUBMITTED_ROW(type_, search, HONE_FIELD_STR, "Id of the search."), \
    HONE_SUBMITTED_ROW(type_, submission, HONE_FIELD_I64, "Handle for search_outcome."), \
    HONE_SUBMITTED_ROW(type_, state, HONE_FIELD_STR, "waiting, done (evaluated), refused (note says why), dropped (the search ended)."), \
    HONE_SUBMITTED_ROW(type_, ratio, HONE_FIELD_F64, "Screened, over the baseline; claims nothing."), \
    HONE_SUBMITTED_ROW(type_, is_gain, HONE_FIELD_BOOL, "Faster than the version it starts from, beyond noise."), \
    HONE_SUBMITTED_ROW(type_, node, HONE_FIELD_I64, "Its number in the tree."), \
    HONE_SUBMITTED_ROW(type_, words, HONE_FIELD_STR, "The step as the history has it."), \
    HONE_SUBMITTED_ROW(type_, note, HONE_FIELD_STR, "Why nothing came of it, or what to know.")
/* clang-format on */

/* Waits for the outcome and fills head and rows in; that it still waits is no error. */
int hone_submitted_fill(struct hone_tool_ctx *ctx, const struct hone_steer_search *search,
                        uint64_t n, int64_t wait_ms, struct hone_head *head,
                        struct hone_submitted_rows *ret, struct hone_err *err);

#endif

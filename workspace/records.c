/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables of the ledger's records, and the few checks that a table cannot express.
 *
 * Flow: append encodes a struct by its table, validates the result by the same table and hands it
 * to the ledger: what a replay would refuse is never acknowledged. A read scans the ledger from
 * the record's number, decodes that one record and ends the scan.
 * States: none; the ledger holds them.
 * Limits: the lengths in the tables. Text that is no valid UTF-8 is refused where a commit is
 * rebuilt from it: JSON would replace the bytes, and the commit would get another id. */
#include "workspace/records.h"

#include <string.h>
#include "workspace/base/limits.h"

#define ID_BYTES   128 /* evaluation ids, hashes, tiers, verdict words */
#define TEXT_BYTES HONE_LIMIT_COMMIT_TEXT_BYTES

static const struct hone_field trailer_fields[] = {
    HONE_FIELD(struct hone_trailer, key, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Trailer name."),
    HONE_FIELD(struct hone_trailer, value, .required = true, .max_len = TEXT_BYTES,
               .help = "Its value."),
};

static const struct hone_field version_fields[] = {
    HONE_FIELD(struct hone_version, parent, .skip_empty = true, .max_len = HONE_COMMIT_BYTES,
               .help = "Commit that was edited; absent: the root."),
    HONE_FIELD(struct hone_version, task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task name."),
    HONE_FIELD(struct hone_version, target, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Target."),
    HONE_FIELD(struct hone_version, file_name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name of the source in the tree."),
    HONE_FIELD(struct hone_version, source, .skip_empty = true, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Source; absent: as in the start record."),
    HONE_FIELD(struct hone_version, report_json, .required = true,
               .max_len = HONE_LIMIT_TREE_REPORT_BYTES, .help = "report.json of the tree."),
    HONE_FIELD(struct hone_version, subject, .required = true, .max_len = TEXT_BYTES,
               .help = "Subject line."),
    HONE_FIELD(struct hone_version, body, .skip_empty = true, .max_len = TEXT_BYTES,
               .help = "Body text."),
    HONE_FIELD(struct hone_version, author, .skip_empty = true, .max_len = TEXT_BYTES,
               .help = "Author name."),
    HONE_FIELD(struct hone_version, time_s, .required = true, .unit = "s",
               .help = "Commit time, Unix seconds."),
    HONE_FIELD(struct hone_version, trailers, HONE_OF(struct hone_trailer, trailer_fields),
               .skip_empty = true, .max_len = HONE_LIMIT_TRAILERS, .help = "Trailers in order."),
};

static const struct hone_field evidence_fields[] = {
    HONE_FIELD(struct hone_evidence, commit, .required = true, .max_len = HONE_COMMIT_BYTES,
               .help = "Version that was measured again."),
    HONE_FIELD(struct hone_evidence, subject, .required = true, .max_len = TEXT_BYTES,
               .help = "Subject line."),
    HONE_FIELD(struct hone_evidence, report_json, .required = true,
               .max_len = HONE_LIMIT_TREE_REPORT_BYTES, .help = "report.json of the tree."),
    HONE_FIELD(struct hone_evidence, time_s, .required = true, .unit = "s",
               .help = "Commit time, Unix seconds."),
};

static const struct hone_field start_fields[] = {
    HONE_FIELD(struct hone_record_start, evaluation, .required = true, .max_len = ID_BYTES,
               .help = "Evaluation id."),
    HONE_FIELD(struct hone_record_start, task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task name."),
    HONE_FIELD(struct hone_record_start, task_hash, .required = true, .max_len = ID_BYTES,
               .help = "Hash of the pack."),
    HONE_FIELD(struct hone_record_start, target, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Target."),
    HONE_FIELD(struct hone_record_start, tier, .required = true, .max_len = ID_BYTES,
               .help = "Tier of effort."),
    HONE_FIELD(struct hone_record_start, parent, .skip_empty = true, .max_len = HONE_COMMIT_BYTES,
               .help = "Commit that was edited."),
    HONE_FIELD(struct hone_record_start, source, .required = true,
               .max_len = HONE_LIMIT_SOURCE_BYTES, .help = "The candidate."),
    HONE_FIELD(struct hone_record_start, flags, .skip_empty = true, .max_len = HONE_LIMIT_FLAGS,
               .help = "Compiler options."),
    HONE_FIELD(struct hone_record_start, tunables, .skip_empty = true, .help = "Tunable values."),
    HONE_FIELD(struct hone_record_start, caller, .skip_empty = true, .max_len = TEXT_BYTES,
               .help = "Who asked."),
};

static const struct hone_field end_fields[] = {
    HONE_FIELD(struct hone_record_end, evaluation, .required = true, .max_len = ID_BYTES,
               .help = "Evaluation id."),
    HONE_FIELD(struct hone_record_end, start, .skip_empty = true,
               .help = "Number of its start record."),
    HONE_FIELD(struct hone_record_end, key, .skip_empty = true, .max_len = ID_BYTES,
               .help = "Cache key."),
    HONE_FIELD(struct hone_record_end, blob, .skip_empty = true, .max_len = ID_BYTES,
               .help = "Hash of the whole report."),
    HONE_FIELD(struct hone_record_end, verdict, .required = true, .max_len = ID_BYTES,
               .help = "Verdict word."),
    HONE_FIELD(struct hone_record_end, reason, .required = true, .max_len = ID_BYTES,
               .help = "Reason word."),
    HONE_FIELD_OBJ(struct hone_record_end, version, version_fields, .skip_empty = true,
                   .help = "What to commit."),
    HONE_FIELD_OBJ(struct hone_record_end, evidence, evidence_fields, .skip_empty = true,
                   .help = "Evidence to commit."),
};

static const struct hone_field commit_fields[] = {
    HONE_FIELD(struct hone_record_commit, evaluation, .required = true, .max_len = ID_BYTES,
               .help = "Evaluation id."),
    HONE_FIELD(struct hone_record_commit, commit, .required = true, .max_len = HONE_COMMIT_BYTES,
               .help = "Its commit."),
};

static const struct hone_field branch_fields[] = {
    HONE_FIELD(struct hone_record_branch, name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Branch below search/."),
    HONE_FIELD(struct hone_record_branch, commit, .required = true, .max_len = HONE_COMMIT_BYTES,
               .help = "Version it leads to."),
    HONE_FIELD(struct hone_record_branch, subject, .skip_empty = true,
               .max_len = HONE_LIMIT_SUBJECT_BYTES, .help = "Of the result commit on top."),
    HONE_FIELD(struct hone_record_branch, body, .skip_empty = true,
               .max_len = HONE_LIMIT_TRAILER_BYTES, .help = "Its text."),
    HONE_FIELD(struct hone_record_branch, trailers, .skip_empty = true,
               .max_len = HONE_LIMIT_TRAILER_BYTES, .help = "Its trailers, whole lines."),
    HONE_FIELD(struct hone_record_branch, time_s, .skip_empty = true, .min = 0, .max = INT64_MAX,
               .help = "Its time, Unix seconds."),
};

static const struct hone_field file_fields[] = {
    HONE_FIELD(struct hone_record_file, name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "File name."),
    HONE_FIELD(struct hone_record_file, text, .required = true, .max_len = TEXT_BYTES,
               .help = "Contents."),
};

static const struct hone_field root_fields[] = {
    HONE_FIELD(struct hone_record_root, commit, .required = true, .max_len = HONE_COMMIT_BYTES,
               .help = "Id of the root commit."),
    HONE_FIELD(struct hone_record_root, time_s, .required = true, .unit = "s",
               .help = "Commit time, Unix seconds."),
    HONE_FIELD(struct hone_record_root, files, HONE_OF(struct hone_record_file, file_fields),
               .required = true, .max_len = 16, .help = "Files of its tree."),
};

struct kind { /* of record */
    const char *type;
    const struct hone_field *fields;
    size_t n;
};

static int append(struct hone_ledger *ledger, struct kind kind, const void *from, uint64_t *ret_n,
                  struct hone_err *err)
{
    struct hone_json *data HONE_AUTOJSON = hone_fields_encode(from, kind.fields, kind.n);
    /* What a replay would refuse must not be acknowledged. */
    if (hone_fields_validate(data, kind.fields, kind.n, err) < 0)
        return hone_wrap(err, "ledger record %s", kind.type);
    return hone_ledger_append(ledger, kind.type, data, ret_n, err);
}

/* JSON text replaces bytes that are no UTF-8; a source changed that way would rebuild to another
 * commit. */
static int check_utf8(const char *what, const char *text, struct hone_err *err)
{
    if (!text)
        return 0;
    struct hone_json *json HONE_AUTOJSON = hone_json_new_str(text);
    if (strcmp(hone_json_str(json), text) != 0)
        return hone_fail_at(err, HONE_E_ARG, what, "is not valid UTF-8; save the file as UTF-8");
    return 0;
}

int hone_record_append_start(struct hone_ledger *ledger, const struct hone_record_start *start,
                             uint64_t *ret_n, struct hone_err *err)
{
    int rc = check_utf8("source", start->source, err);
    if (rc < 0)
        return rc;
    return append(ledger,
                  (struct kind){HONE_RECORD_START, start_fields, HONE_COUNTOF(start_fields)}, start,
                  ret_n, err);
}

int hone_record_append_end(struct hone_ledger *ledger, const struct hone_record_end *end,
                           uint64_t *ret_n, struct hone_err *err)
{
    if (end->version) {
        if (!end->version->source && end->start <= 0)
            return hone_fail_at(err, HONE_E_ARG, "start",
                                "must be the number of the start record when the version has no "
                                "source of its own");
        int rc = check_utf8("version.source", end->version->source, err);
        if (rc == 0)
            rc = check_utf8("version.report_json", end->version->report_json, err);
        if (rc < 0)
            return rc;
    }
    return append(ledger, (struct kind){HONE_RECORD_END, end_fields, HONE_COUNTOF(end_fields)}, end,
                  ret_n, err);
}

int hone_record_append_commit(struct hone_ledger *ledger, const struct hone_record_commit *commit,
                              uint64_t *ret_n, struct hone_err *err)
{
    return append(ledger,
                  (struct kind){HONE_RECORD_COMMIT, commit_fields, HONE_COUNTOF(commit_fields)},
                  commit, ret_n, err);
}

int hone_record_append_branch(struct hone_ledger *ledger, const struct hone_record_branch *branch,
                              uint64_t *ret_n, struct hone_err *err)
{
    return append(ledger,
                  (struct kind){HONE_RECORD_BRANCH, branch_fields, HONE_COUNTOF(branch_fields)},
                  branch, ret_n, err);
}

int hone_record_append_root(struct hone_ledger *ledger, const struct hone_record_root *root,
                            uint64_t *ret_n, struct hone_err *err)
{
    return append(ledger, (struct kind){HONE_RECORD_ROOT, root_fields, HONE_COUNTOF(root_fields)},
                  root, ret_n, err);
}

static int decode_start(const struct hone_json *data, struct hone_pool *pool,
                        struct hone_record_start *ret, struct hone_err *err)
{
    return hone_fields_decode(data, start_fields, HONE_COUNTOF(start_fields), ret, sizeof(*ret),
                              pool, err);
}

int hone_record_decode_end(const struct hone_json *data, struct hone_pool *pool,
                           struct hone_record_end *ret, struct hone_err *err)
{
    return hone_fields_decode(data, end_fields, HONE_COUNTOF(end_fields), ret, sizeof(*ret), pool,
                              err);
}

int hone_record_decode_branch(const struct hone_json *data, struct hone_pool *pool,
                              struct hone_record_branch *ret, struct hone_err *err)
{
    return hone_fields_decode(data, branch_fields, HONE_COUNTOF(branch_fields), ret, sizeof(*ret),
                              pool, err);
}

int hone_record_decode_root(const struct hone_json *data, struct hone_pool *pool,
                            struct hone_record_root *ret, struct hone_err *err)
{
    return hone_fields_decode(data, root_fields, HONE_COUNTOF(root_fields), ret, sizeof(*ret), pool,
                              err);
}

struct find { /* one record, by number and type */
    uint64_t n;
    const char *type;
    struct hone_pool *pool;
    struct hone_record_start *start;
    struct hone_record_end *end;
    bool is_found;
};

static int on_record(void *arg, uint64_t n, int64_t wall_ms HONE_UNUSED, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    struct find *find = arg;
    if (n == find->n && strcmp(type, find->type) == 0) {
        int rc = find->start ? decode_start(data, find->pool, find->start, err)
                             : hone_record_decode_end(data, find->pool, find->end, err);
        if (rc < 0)
            return rc;
        find->is_found = true;
    }
    return hone_fail(err, HONE_E_CANCEL,
                     "end of search"); /* only the first record is of interest */
}

static int read_one(struct hone_ledger *ledger, struct find *find, struct hone_err *err)
{
    struct hone_err scan_err = HONE_ERR_INIT;
    int rc = hone_ledger_scan(ledger, find->n, on_record, find, &scan_err);
    if (find->is_found)
        return 0;
    if (rc < 0 && rc != HONE_E_CANCEL)
        return hone_fail(err, scan_err.code, "%s", scan_err.message);
    return hone_fail(err, HONE_E_NOT_FOUND, "ledger record %llu is no %s",
                     (unsigned long long)find->n, find->type);
}

int hone_record_read_start(struct hone_ledger *ledger, uint64_t n, struct hone_pool *pool,
                           struct hone_record_start *ret, struct hone_err *err)
{
    struct hone_record_start start = {.evaluation = NULL};
    struct find find = {.n = n, .type = HONE_RECORD_START, .pool = pool, .start = &start};
    int rc = read_one(ledger, &find, err);
    if (rc == 0)
        *ret = start;
    return rc;
}

int hone_record_read_end(struct hone_ledger *ledger, uint64_t n, struct hone_pool *pool,
                         struct hone_record_end *ret, struct hone_err *err)
{
    struct hone_record_end end = {.evaluation = NULL};
    struct find find = {.n = n, .type = HONE_RECORD_END, .pool = pool, .end = &end};
    int rc = read_one(ledger, &find, err);
    if (rc == 0)
        *ret = end;
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/reports.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/search_report.h"

/* OPEN: evaluations at the end of the list that may still get their verdict. */
enum { KEPT = 4, OPEN = 16 };

struct entry {
    char *name; /* owned; NULL: free */
    struct hone_search_reader *reader;
    uint64_t used; /* serial number of its last use */
};

struct hone_reports {
    struct hone_workspace *ws;
    pthread_mutex_t lock; /* of what follows */
    struct entry entries[KEPT];
    uint64_t serial;
};

struct hone_reports *hone_reports_new(struct hone_workspace *ws)
{
    struct hone_reports *reports = hone_calloc(1, sizeof(*reports));
    reports->ws = ws;
    pthread_mutex_init(&reports->lock, NULL);
    return reports;
}

static void drop(struct entry *entry)
{
    hone_search_reader_free(entry->reader);
    free(entry->name);
    *entry = (struct entry){.name = NULL};
}

void hone_reports_free(struct hone_reports *reports)
{
    if (!reports)
        return;
    for (size_t i = 0; i < KEPT; i++)
        drop(&reports->entries[i]);
    pthread_mutex_destroy(&reports->lock);
    free(reports);
}

/* That of the name, or else the one that was not used for longest, made anew. */
static struct entry *entry_of(struct hone_reports *reports, const char *name)
{
    struct entry *oldest = &reports->entries[0];
    for (size_t i = 0; i < KEPT; i++) {
        struct entry *entry = &reports->entries[i];
        if (entry->name && strcmp(entry->name, name) == 0)
            return entry;
        if (entry->used < oldest->used)
            oldest = entry;
    }
    drop(oldest);
    oldest->name = hone_strdup(name);
    oldest->reader = hone_search_reader_new(reports->ws, name);
    return oldest;
}

/* "steps.evaluations.search": the id comes last, it may hold dots. */
static bool read_position(const char *since, const struct hone_search_report *report, size_t *steps,
                          size_t *evaluations)
{
    char *end;
    if (since == NULL || since[0] < '0' || since[0] > '9')
        return false;
    *steps = strtoul(since, &end, 10);
    if (end[0] != '.' || end[1] < '0' || end[1] > '9')
        return false;
    *evaluations = strtoul(end + 1, &end, 10);
    return *end == '.' && strcmp(end + 1, report->id) == 0 && *steps <= report->steps.n &&
           *evaluations <= report->evaluations.n;
}

static struct hone_json *json_since(const struct hone_search_report *report, const char *since)
{
    HONE_AUTOFREE char *position =
        hone_sprintf("%zu.%zu.%s", report->steps.n, report->evaluations.n, report->id);
    struct hone_report_step *steps = report->steps.v;
    struct hone_report_evaluation *evaluations = report->evaluations.v;
    struct hone_search_report part = *report;
    size_t n_steps = 0, n_evaluations = 0;
    bool is_part = read_position(since, report, &n_steps, &n_evaluations);
    if (is_part) {
        n_evaluations -= n_evaluations < OPEN ? n_evaluations : OPEN;
        part.steps = (struct hone_array){steps + n_steps, report->steps.n - n_steps};
        part.evaluations =
            (struct hone_array){evaluations + n_evaluations, report->evaluations.n - n_evaluations};
    }
    struct hone_json *json = hone_search_report_json(&part);
    hone_json_set_str(json, "position", position);
    if (is_part) {
        struct hone_json *from = hone_json_new_object();
        hone_json_set_i64(from, "steps", (int64_t)n_steps);
        hone_json_set_i64(from, "evaluations", (int64_t)n_evaluations);
        hone_json_set(json, "since", from);
    }
    return json;
}

char *hone_reports_text(struct hone_reports *reports, const char *name, const char *since)
{
    const struct hone_search_report *report;
    HONE_AUTOJSON struct hone_json *json = NULL;
    pthread_mutex_lock(&reports->lock);
    struct entry *entry = entry_of(reports, name);
    entry->used = ++reports->serial;
    if (hone_search_reader_read(entry->reader, &report, NULL) == 0)
        json = json_since(report, since);
    else
        drop(entry);
    pthread_mutex_unlock(&reports->lock);
    return json ? hone_json_print(json) : NULL;
}

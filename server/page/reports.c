/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/reports.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/search_report.h"

enum { KEPT = 4 };

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

char *hone_reports_text(struct hone_reports *reports, const char *name)
{
    const struct hone_search_report *report;
    HONE_AUTOJSON struct hone_json *json = NULL;
    pthread_mutex_lock(&reports->lock);
    struct entry *entry = entry_of(reports, name);
    entry->used = ++reports->serial;
    if (hone_search_reader_read(entry->reader, &report, NULL) == 0)
        json = hone_search_report_json(report);
    else
        drop(entry);
    pthread_mutex_unlock(&reports->lock);
    return json ? hone_json_print(json) : NULL;
}

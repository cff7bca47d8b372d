/* The ledger: an append-only log of JSON lines that survives kill -9 and power cuts; git can be rebuilt from it.
 *
 * Segments DIR/.hone/ledger/000001.jsonl...; one record a line: {"n":N,"t":ms,"type":"...","sum":"<8 hex>","data":{...}}. `sum` is a
 * checksum of the data text; a torn last line is cut off at open, a damaged line in the middle is reported, never silently
 * skipped. Appends from several threads and processes are serialised; hone_ledger_sync makes everything appended before it durable (group fsync: waiters share one). */
#ifndef HONE_WORKSPACE_LEDGER_H
#define HONE_WORKSPACE_LEDGER_H

#include "workspace/base/json.h"

struct hone_ledger; /* opaque */

int hone_ledger_open(const char *dir, struct hone_ledger **ret, struct hone_err *err);
void hone_ledger_close(struct hone_ledger *ledger);
/* Appends; ret_n (may be NULL) is the record's number. Not yet durable. data is borrowed. */
int hone_ledger_append(struct hone_ledger *ledger, const char *type, const struct hone_json *data, uint64_t *ret_n, struct hone_err *err);
/* Returns when everything appended so far is on disk. */
int hone_ledger_sync(struct hone_ledger *ledger, struct hone_err *err);
/* Calls fn for every record from number first on, in order; data is borrowed. A negative return of fn ends the scan and is returned. */
int hone_ledger_scan(struct hone_ledger *ledger, uint64_t first,
                     int (*fn)(void *arg, uint64_t n, int64_t wall_ms, const char *type, const struct hone_json *data, struct hone_err *err),
                     void *arg, struct hone_err *err);

#endif

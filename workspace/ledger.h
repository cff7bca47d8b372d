/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: an append-only log of JSON lines that survives kill -9 and power cuts; git can be
 * rebuilt from it.
 *
 * Segments DIR/.hone/ledger/000001.jsonl...; one record a line:
 *
 *     {"n":17,"t":1795301700123,"type":"evaluation.end","sum":"1f0c2a9b","data":{...}}
 *
 * n counts from 1, t is Unix milliseconds, sum is the CRC-32C (8 hex digits) of the line's bytes
 * before ,"sum" followed by the data text. A line without its newline at the end of the last
 * segment was never finished and is cut off; a damaged line is reported with its segment and
 * number, never silently skipped, and the rest stays readable. A segment that has reached 64 MiB is
 * followed by the next one.
 *
 * Appends from several threads and processes are serialised (mutex, flock); hone_ledger_sync makes
 * everything appended before it durable (group fsync: waiters share one). Thread safe. */
#ifndef HONE_WORKSPACE_LEDGER_H
#define HONE_WORKSPACE_LEDGER_H

#include "workspace/base/json.h"

struct hone_ledger; /* opaque */

/* Creates the folder when missing, cuts an unfinished last line off. */
int hone_ledger_open(const char *dir, struct hone_ledger **ret, struct hone_err *err);
/* For scans alone, where nothing can be written: no lock is taken, appends fail. */
int hone_ledger_open_read(const char *dir, struct hone_ledger **ret, struct hone_err *err);
void hone_ledger_close(struct hone_ledger *ledger);
void hone_ledger_close_ptr(struct hone_ledger **ledger);
/* Appends; ret_n (may be NULL) is the record's number. Not yet durable. data is borrowed. type:
 * [a-z0-9_.], at most 64 bytes. HONE_E_LIMIT: data of more than HONE_LIMIT_RECORD_BYTES or nested
 * too deeply to be read back · HONE_E_IO: the disk is full or failed; nothing was added. After a
 * failed fsync every call fails until the ledger is opened again. */
int hone_ledger_append(struct hone_ledger *ledger, const char *type, const struct hone_json *data,
                       uint64_t *ret_n, struct hone_err *err);
/* Returns when everything appended so far is on disk. */
int hone_ledger_sync(struct hone_ledger *ledger, struct hone_err *err);
/* What readers call for a record; data is borrowed. */
typedef int hone_ledger_fn(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                           const struct hone_json *data, struct hone_err *err);
/* Calls fn for every record from number first on, in order, up to what was there when the scan
 * began. A negative return of fn ends the scan and is returned. HONE_E_CORRUPT
 * after the end when lines were damaged: the message names the first; fn was called for all others.
 * Takes no lock: fn may append. */
int hone_ledger_scan(struct hone_ledger *ledger, uint64_t first, hone_ledger_fn *fn, void *arg,
                     struct hone_err *err);
/* The same for records whose type begins with prefix alone; the others' data is not parsed, which is
 * most of a scan's time. */
int hone_ledger_scan_type(struct hone_ledger *ledger, const char *prefix, hone_ledger_fn *fn,
                          void *arg, struct hone_err *err);
/* The same for several: types has the beginnings, NULL behind the last. */
int hone_ledger_scan_types(struct hone_ledger *ledger, const char *const types[],
                           hone_ledger_fn *fn, void *arg, struct hone_err *err);
/* Where a reader of hone_ledger_follow is; zeroed: at the beginning. */
struct hone_ledger_place {
    int segment;
    int64_t offset;
};
/* Calls fn for every record whose type begins with prefix, from the place on, which moves behind
 * what was read. Cheap when nothing was added: for readers that look again and again. Damaged lines
 * are passed over; a scan tells of them. A negative return of fn ends it and is returned: then some
 * records will be handed over again. */
int hone_ledger_follow(struct hone_ledger *ledger, const char *prefix,
                       struct hone_ledger_place *place, hone_ledger_fn *fn, void *arg,
                       struct hone_err *err);
/* The same for records alone whose data holds these bytes (an id): the others are not parsed. NULL:
 * all. */
int hone_ledger_follow_about(struct hone_ledger *ledger, const char *prefix, const char *about,
                             struct hone_ledger_place *place, hone_ledger_fn *fn, void *arg,
                             struct hone_err *err);
/* hone_ledger_follow for several types, as in hone_ledger_scan_types. Reports of evaluations are most
 * of a ledger: who names what he reads does not parse them. */
int hone_ledger_follow_types(struct hone_ledger *ledger, const char *const types[],
                             struct hone_ledger_place *place, hone_ledger_fn *fn, void *arg,
                             struct hone_err *err);
/* The last record's number as this process knows it (0: none). */
uint64_t hone_ledger_last(struct hone_ledger *ledger);

#endif

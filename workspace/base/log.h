/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on stderr: "hone: level key=value ...". The log sink is one of the few allowed globals.
 *
 * Libraries (workspace, tools) return errors and log at debug only; the caller that decides what
 * happens next logs, once. A message is one line of at most 2 KiB: line ends in it become blanks, and
 * what a terminal would obey becomes '?'. It is one write, so that lines of several threads and
 * processes do not mix. Never fails, keeps errno. Any thread. */
#ifndef HONE_BASE_LOG_H
#define HONE_BASE_LOG_H

#include "workspace/base/base.h"

enum hone_log_level { HONE_LOG_ERROR, HONE_LOG_WARN, HONE_LOG_INFO, HONE_LOG_DEBUG };

void hone_log_set_level(
    enum hone_log_level
        level); /* default HONE_LOG_WARN; HONE_LOG=debug|info|warn|error in the environment */
void hone_log(enum hone_log_level level, const char *fmt, ...) HONE_PRINTF(2, 3);

/* One JSON line per event to the file named by HONE_TRACE (append); nothing when unset.
 * fields is borrowed. */
struct hone_json;
void hone_trace(const char *event, const struct hone_json *fields);

#endif

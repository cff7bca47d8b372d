/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder can say to its caller: a line of a closed list and what stands for its
 * conversions. A launcher shares a process with the recorder and can write what it likes into a
 * recording, so no sentence travels: the caller has the list too, and the reason belongs to the
 * line. What stands for %s are names out of the source; they are shown only when they look like
 * some. Any thread. */
#ifndef HONE_RUNNER_CUDA_RECORD_WORDS_H
#define HONE_RUNNER_CUDA_RECORD_WORDS_H

#include <stdarg.h>

#include "tools/format/verdict.h"

#define HONE_RECORD_ARGS      10
#define HONE_RECORD_ARG_BYTES 160

struct hone_record_said {
    uint32_t number, pad; /* of the line, from 1 on; 0: nothing was said */
    struct {
        int64_t number;
        char text[HONE_RECORD_ARG_BYTES]; /* cut, ended by NUL */
    } args[HONE_RECORD_ARGS];
};

/* In the recorder. A format that is not in the list is told as a line that says only that. */
void hone_record_say(struct hone_record_said *ret, const char *fmt, va_list args);

/* In the caller; *said is a copy, hostile. NULL: there is no such line, or nothing was said. */
struct hone_pool;
const char *hone_record_heard(const struct hone_record_said *said, struct hone_pool *pool,
                              enum hone_reason *ret_reason);
/* A note of the list with these words; NULL: it is none. */
const char *hone_record_known_note(const char *text);

#endif

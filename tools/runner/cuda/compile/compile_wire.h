/* SPDX-License-Identifier: Apache-2.0 */
/* What the client of the compile server and the server say to each other, over one stream socket
 * (descriptor 3 in the server). Little structs with the bytes behind them; neither side believes a
 * size of the other: the client because hostile source was read over there, the server because it
 * costs nothing. The server's first message has id 0 and carries the compiler's name, or why there
 * is none. */
#ifndef HONE_RUNNER_CUDA_COMPILE_WIRE_H
#define HONE_RUNNER_CUDA_COMPILE_WIRE_H

#include "workspace/base/base.h"
#include "workspace/base/limits.h"

#define HONE_WIRE_FD        3
#define HONE_WIRE_ASK       0x686f6e61u
#define HONE_WIRE_SAY       0x686f6e73u
#define HONE_WIRE_ASK_BYTES (8u << 20) /* text, options and names of one compile */
#define HONE_WIRE_STRINGS   1100       /* options and names of one compile */
#define HONE_WIRE_NAMES_BYTES                                                                      \
    (1u << 20) /* lowered names of one answer; the log is bounded by HONE_LIMIT_LOG_BYTES */

enum hone_wire_outcome {
    HONE_WIRE_BUILT,
    HONE_WIRE_REFUSED, /* the source is at fault: the log says where */
    HONE_WIRE_TIMEOUT,
    HONE_WIRE_CRASHED, /* the compiler died of it */
    HONE_WIRE_OOM,
    HONE_WIRE_TOO_LARGE,
    HONE_WIRE_FORBIDDEN, /* the system call filter ended it */
    HONE_WIRE_NO_COMPILER,
    HONE_WIRE_N_OUTCOMES
};

/* Behind it: text, n_options options, n_names name expressions, each with its NUL. */
struct hone_wire_ask {
    uint32_t magic, id;
    uint32_t variant; /* enum hone_compile_variant */
    uint32_t n_options, n_names, n_bytes;
    int64_t deadline_ns; /* monotonic */
};

/* Behind it: cubin, log, then for each name its lowered form ("" when it has none) with its NUL. */
struct hone_wire_say {
    uint32_t magic, id;
    int32_t outcome; /* enum hone_wire_outcome */
    uint32_t cubin_len, log_len, names_len;
    int64_t wall_ns;
};

static inline uint64_t hone_wire_say_bytes(const struct hone_wire_say *say)
{
    return (uint64_t)say->cubin_len + say->log_len + say->names_len;
}
static inline bool hone_wire_say_is_sane(const struct hone_wire_say *say)
{
    return say->magic == HONE_WIRE_SAY && say->outcome >= 0 &&
           say->outcome < HONE_WIRE_N_OUTCOMES && say->cubin_len <= HONE_LIMIT_CUBIN_BYTES &&
           say->log_len <= HONE_LIMIT_LOG_BYTES && say->names_len <= HONE_WIRE_NAMES_BYTES &&
           say->wall_ns >= 0 && say->wall_ns <= HONE_LIMIT_TIMEOUT_MS * 1000000ll;
}
static inline bool hone_wire_ask_is_sane(const struct hone_wire_ask *ask)
{
    return ask->magic == HONE_WIRE_ASK && ask->n_bytes <= HONE_WIRE_ASK_BYTES &&
           ask->n_options < HONE_WIRE_STRINGS && ask->n_names < HONE_WIRE_STRINGS;
}

#endif

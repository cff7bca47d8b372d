/* SPDX-License-Identifier: Apache-2.0 */
/* An exported file compiles without warnings, with gcc and clang, at -Wall -Wextra: sizes that a
 * version has no use for are parameters all the same, and clang knows no `#pragma GCC optimize`. */
#include "tools/export/export_internal.h"

#include <string.h>

static const char optimize[] = "#pragma GCC optimize";

static const char quiet_c[] = "#ifdef __GNUC__ /* the task's sizes are parameters, used or not */\n"
                              "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n#endif\n"
                              "#ifdef __clang__ /* a loop that it leaves scalar is right too */\n"
                              "#pragma clang diagnostic ignored \"-Wpass-failed\"\n#endif\n";
static const char quiet_cuda[] = "#ifdef __NVCC__ /* sizes and constants, used or not */\n"
                                 "#pragma nv_diag_suppress 177\n#endif\n";

/* The options that the pragma's line gives: ("fast-math", "O3") becomes " -ffast-math -O3". */
static const char *options_of(const char *line, size_t len, struct hone_pool *pool)
{
    const char *text = "", *end = line + len;

    for (const char *at = memchr(line, '"', len); at != NULL && at < end;) {
        const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
        if (close == NULL)
            break;
        int n = (int)(close - at - 1);
        const char *front = at[1] == 'O' ? "-" : at[1] == '-' ? "" : "-f";
        text = hone_pool_printf(pool, "%s %s%.*s", text, front, n, at + 1);
        at = memchr(close + 1, '"', (size_t)(end - close - 1));
    }
    return text;
}

const char *hone_export_quiet(struct hone_export_work *work, const char *body)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    const char *options = "";

    hone_buf_str(&out, work->is_cuda ? quiet_cuda : quiet_c);
    for (const char *at = body; *at != '\0';) {
        size_t len = strcspn(at, "\n"), whole = len + (at[len] == '\n');
        bool is_for_gcc = !work->is_cuda && strncmp(at, optimize, sizeof optimize - 1) == 0;
        if (is_for_gcc) {
            const char *more = options_of(at, len, work->pool);
            if (strstr(options, more) == NULL)
                options = hone_pool_printf(work->pool, "%s%s", options, more);
            hone_buf_str(&out, "#ifndef __clang__\n");
        }
        hone_buf_add(&out, at, whole);
        if (is_for_gcc)
            hone_buf_str(&out, whole > len ? "#endif\n" : "\n#endif\n");
        at += whole;
    }
    if (options[0] != '\0')
        hone_export_note(work, hone_pool_printf(work->pool,
                                                "clang takes no optimisation from the source: add "
                                                "%s to its compile line",
                                                options + 1));
    return hone_pool_strdup(work->pool, out.data);
}

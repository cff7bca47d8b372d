/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a model that edits: up to the first zero byte the source, then the answer. Whatever it
 * says, there is a new source or a reason, and a source that came of edits of lines keeps the lines
 * that no edit named. */
#include <stdint.h>
#include <string.h>
#include "agents/coder/coder_answer.h"
#include "workspace/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    const char *made = NULL, *declined = NULL;
    size_t n = strnlen((const char *)data, size);
    const char *source = n > 0 ? hone_pool_strndup(pool, (const char *)data, n) : NULL;
    char *answer = hone_pool_alloc(pool, size + 1);
    if (n < size)
        memcpy(answer, data + n + 1, size - n - 1);
    for (int i = 0; i < 2; i++) { /* with a source, and without */
        int r =
            hone_coder_answer_apply(i == 0 ? source : NULL, answer, pool, &made, &declined, &err);
        HONE_BUG_ON(r < 0 && (r != err.code || err.message[0] == '\0'));
        HONE_BUG_ON(r < 0 && r != HONE_E_ARG && r != HONE_E_LIMIT);
        HONE_BUG_ON(r == 0 && (made == NULL) == (declined == NULL));
        HONE_BUG_ON(r == 0 && made && (made[0] == '\0' || strlen(made) > HONE_LIMIT_SOURCE_BYTES));
        HONE_BUG_ON(r == 0 && declined &&
                    (strlen(declined) > HONE_LIMIT_DECLINE_BYTES || strchr(declined, '\n')));
    }
    return 0;
}

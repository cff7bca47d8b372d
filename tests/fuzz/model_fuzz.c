/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of models, as bytes from the wire: first byte: dialect and form; second: size of the
 * pieces they come in. Whatever comes, there is an answer with text, or a typed error. */
#include <stdint.h>
#include <string.h>
#include "agents/model/model_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_model_stream s;
    struct hone_model_answer answer = {.text = NULL};
    size_t piece = data[1] ? data[1] : 1, at = 2;
    int r = 0;
    hone_model_stream_init(&s, data[0] & 1 ? &hone_dialect_anthropic : &hone_dialect_openai,
                           (data[0] & 2) != 0, pool);
    for (; r == 0 && at < size; at += piece)
        r = hone_model_stream_feed(&s, (const char *)data + at,
                                   size - at < piece ? size - at : piece, &err);
    if (r == 0)
        r = hone_model_stream_end(&s, &answer, &err);
    HONE_BUG_ON(r == 0 && (!answer.text || !answer.text[0]));
    HONE_BUG_ON(r < 0 && (hone_model_fault_of(&err) == HONE_FAULT_NONE || !err.message[0]));
    hone_model_stream_done(&s);
    return 0;
}

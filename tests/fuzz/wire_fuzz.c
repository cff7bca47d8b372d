/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a compile server says, in pieces of any size: tickets are answered once, with
 * parts inside of what came, or the server is given up. Includes the client for its inner
 * functions.
 */
#include "tools/runner/cuda/compile/compile.c" /* NOLINT */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_cuda_ticket second = {.id = 2, .is_open = true, .n_names = 3};
    struct hone_cuda_ticket first = {.id = 1, .is_open = true, .n_names = 1, .next = &second};
    struct hone_cuda_compiler compiler = {.fd = -1, .open = &first, .in = {.limit = ANSWER_BYTES}};
    size_t step = 1 + data[0] % 97, at = 1;
    bool is_good = true;

    while (is_good && at < size) {
        size_t n = step < size - at ? step : size - at;
        hone_buf_add(&compiler.in, data + at, n);
        at += n;
        is_good = take_messages(&compiler);
        step = step * 3 % 1021 + 1;
    }
    HONE_BUG_ON(memchr(compiler.name, '\0', sizeof compiler.name) == NULL);
    struct hone_cuda_ticket *tickets[] = {&first, &second};
    for (size_t i = 0; i < HONE_COUNTOF(tickets); i++) {
        struct hone_cuda_object object;
        if (tickets[i]->is_open)
            continue;
        HONE_BUG_ON(tickets[i]->answer.len != hone_wire_say_bytes(&tickets[i]->say));
        take_answer(tickets[i], pool, &object);
        HONE_BUG_ON(object.cubin_len > size || object.wall_ns < 0);
        HONE_BUG_ON((int64_t)strlen(object.log) >
                    hone_max_i64((int64_t)size, 64)); /* or our own words */
        for (size_t k = 0; k < tickets[i]->n_names; k++)
            HONE_BUG_ON(object.lowered[k] != NULL && strlen(object.lowered[k]) >= size);
    }
    hone_buf_done(&first.answer);
    hone_buf_done(&second.answer);
    hone_buf_done(&compiler.in);
    return 0;
}

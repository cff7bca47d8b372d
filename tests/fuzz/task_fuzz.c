/* SPDX-License-Identifier: Apache-2.0 */
/* task.json, workloads.jsonl, a formula and a C prototype from hostile bytes. The parts are
 * separated by a line "----".
 *
 * A task that loads is used: its signature, preamble, description and drawn sizes must be made
 * without a fault, and drawn sizes must be legal. */
#include <stdlib.h>
#include <string.h>
#include "tools/task/bad_kernels.h"
#include "tools/task/prototype.h"
#include "workspace/base/json.h"
#include "workspace/task/expr.h"
#include "workspace/task/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct hone_task *task)
{
    static const uint8_t key[16] = {1};
    struct hone_workload load, copy;
    char *signature = hone_task_signature(task), *preamble = hone_task_oracle_preamble(task);
    char *cuda = hone_task_signature_for(task, "cuda");
    hone_json_free(hone_task_describe(task));
    for (uint32_t i = 0; i < 4; i++) {
        HONE_BUG_ON(hone_task_draw(task, key, i, &load, NULL) < 0);
        copy = load;
        HONE_BUG_ON(hone_task_resolve(task, &copy, NULL) < 0);
    }
    struct hone_workload ranges[HONE_TASK_RANGES];
    size_t n = hone_task_ranges(task, key, ranges);
    for (size_t i = 0; i < n; i++)
        HONE_BUG_ON(hone_task_resolve(task, &ranges[i], NULL) < 0);
    for (uint32_t i = 0; i < HONE_TASK_BEYONDS; i++)
        HONE_BUG_ON(
            hone_task_beyond(task, key, i, HONE_LIMIT_BEYOND_BYTES, &load) &&
            (hone_task_n_beyond(task, &load) < 1 || hone_task_resolve(task, &load, NULL) < 0));
    HONE_BUG_ON(hone_task_smoke(task, &load, NULL) < 0);
    for (size_t i = 0; i < hone_n_bad_kernels; i++)
        free(hone_bad_kernels[i].make(task, ""));
    free(signature);
    free(cuda);
    free(preamble);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_AUTOFREE char *text = hone_strndup((const char *)data, size);
    char *loads = strstr(text, "\n----\n");
    struct hone_err err = HONE_ERR_INIT;
    if (loads) {
        *loads = '\0';
        loads += 6;
        struct hone_task *task = NULL;
        if (hone_task_parse(text, strlen(text), loads, strlen(loads), "/", &task, &err) == 0)
            use(task);
        hone_task_free(task);
        return 0;
    }
    static const struct hone_expr_name names[] = {{"M", 5}, {"N", 0}, {"K", INT64_MAX}};
    struct hone_expr_value value;
    struct hone_pool *pool = hone_pool_new();
    struct hone_prototype prototype;
    if (hone_expr_eval(text, names, HONE_COUNTOF(names), &value, &err) == 0)
        HONE_BUG_ON(hone_expr_check(text, names, HONE_COUNTOF(names), NULL) <
                    0); /* what has a value is well formed */
    if (hone_prototype_parse(text, NULL, pool, &prototype, &err) == 0)
        free(hone_prototype_rename(text, prototype.name, "x"));
    hone_pool_free(pool);
    return 0;
}

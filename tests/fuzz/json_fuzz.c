/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever parses prints, and what it prints parses to the same print. */
#include <stdint.h>
#include <string.h>
#include "workspace/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *value = NULL, *again = NULL;
    if (hone_json_parse((const char *)data, size, &value, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_AUTOFREE char *text = hone_json_print(value);
    HONE_BUG_ON(hone_json_parse(text, strlen(text), &again, &err) < 0);
    HONE_AUTOFREE char *same = hone_json_print(again);
    HONE_BUG_ON(strcmp(text, same) != 0);
    HONE_AUTOFREE char *pretty = hone_json_print_pretty(value);
    HONE_AUTOJSON struct hone_json *third = NULL;
    HONE_BUG_ON(hone_json_parse(pretty, strlen(pretty), &third, &err) < 0);
    return 0;
}

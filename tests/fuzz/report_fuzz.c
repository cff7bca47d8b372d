/* A report that parses prints to a report that parses to the same, and its verdict follows from its
 * reason. */
#include <stdint.h>
#include <string.h>
#include "tools/format/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_report report;
    enum hone_reason reason;

    if (hone_report_parse((const char *)data, size, pool, &report, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_BUG_ON(!hone_reason_parse(report.reason, &reason));
    HONE_BUG_ON(strcmp(hone_verdict_name(hone_reason_row(reason)->verdict), report.verdict) != 0);
    HONE_AUTOFREE char *first = hone_report_print(&report);
    HONE_BUG_ON(hone_report_parse(first, strlen(first), pool, &report, &err) < 0);
    HONE_AUTOFREE char *second = hone_report_print(&report);
    HONE_BUG_ON(strcmp(first, second) != 0);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/build/build_cache.h"

#include <string.h>

#include "tools/runner/build/blob_cache.h"

#define SUFFIX ".object"

enum { META, OBJECT }; /* parts of an entry */

static const struct hone_field fields[] = {
    HONE_FIELD(struct hone_build_entry, compiler, .required = true, .help = "Name and version."),
    HONE_FIELD(struct hone_build_entry, command, .required = true, .help = "As run."),
    HONE_FIELD(struct hone_build_entry, diagnostics,
               HONE_OF(struct hone_diagnostic, hone_diagnostic_fields), .help = "Warnings."),
    HONE_FIELD(struct hone_build_entry, remarks, HONE_OF(struct hone_remark, hone_remark_fields),
               .help = "By line."),
};

bool hone_build_cache_get(const char *dir, const char *key, struct hone_pool *pool,
                          struct hone_build_entry *ret, const char **ret_object, size_t *ret_len)
{
    struct hone_blob_part parts[HONE_BLOB_PARTS];
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_build_entry entry;

    if (!hone_blob_get(dir, key, SUFFIX, pool, parts) ||
        hone_json_parse(parts[META].bytes, parts[META].len, &json, NULL) < 0 ||
        hone_fields_decode(json, fields, HONE_COUNTOF(fields), &entry, sizeof entry, pool, NULL) <
            0 ||
        parts[OBJECT].len > HONE_BUILD_OBJECT_BYTES)
        return false;
    *ret = entry;
    *ret_object = parts[OBJECT].bytes;
    *ret_len = parts[OBJECT].len;
    return true;
}

void hone_build_cache_put(const char *dir, const char *key, const struct hone_build_entry *entry,
                          const void *object, size_t len)
{
    HONE_AUTOJSON struct hone_json *json = hone_fields_encode(entry, fields, HONE_COUNTOF(fields));
    HONE_AUTOFREE char *meta = hone_json_print(json);
    const struct hone_blob_part parts[HONE_BLOB_PARTS] = {
        [META] = {meta, strlen(meta)}, [OBJECT] = {object, len}};

    hone_blob_put(dir, key, SUFFIX, parts);
}

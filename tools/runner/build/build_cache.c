#include "tools/runner/build/build_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define META_BYTES (1u << 20)

static const struct hone_field fields[] = {
    HONE_FIELD(struct hone_build_entry, object_hash, .required = true,
               .help = "SHA-256 of the object."),
    HONE_FIELD(struct hone_build_entry, compiler, .required = true, .help = "Name and version."),
    HONE_FIELD(struct hone_build_entry, command, .required = true, .help = "As run."),
    HONE_FIELD(struct hone_build_entry, diagnostics,
               HONE_OF(struct hone_diagnostic, hone_diagnostic_fields), .help = "Warnings."),
    HONE_FIELD(struct hone_build_entry, remarks, HONE_OF(struct hone_remark, hone_remark_fields),
               .help = "By line."),
};

static char *path_of(const char *dir, const char *key, const char *suffix)
{
    return hone_sprintf("%s/%.2s/%s%s", dir, key, key, suffix);
}

bool hone_build_cache_get(const char *dir, const char *key, struct hone_pool *pool,
                          struct hone_build_entry *ret, char **ret_object, size_t *ret_len)
{
    if (dir == NULL)
        return false;
    HONE_AUTOFREE char *meta_path = path_of(dir, key, ".json");
    HONE_AUTOFREE char *object_path = path_of(dir, key, ".so");
    HONE_AUTOFREE char *meta = NULL;
    HONE_AUTOFREE char *object = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    size_t meta_len = 0;
    size_t len = 0;
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_build_entry entry;
    if (hone_file_read(meta_path, META_BYTES, &meta, &meta_len, NULL) < 0 ||
        hone_json_parse(meta, meta_len, &json, NULL) < 0 ||
        hone_fields_decode(json, fields, HONE_COUNTOF(fields), &entry, sizeof(entry), pool, NULL) <
            0 ||
        hone_file_read(object_path, HONE_BUILD_OBJECT_BYTES, &object, &len, NULL) < 0)
        return false;
    hone_hash(object, len, hash);
    if (strcmp(hash, entry.object_hash) != 0)
        return false;
    (void)utimensat(AT_FDCWD, object_path, NULL, 0); /* it is in use: others go first */
    *ret = entry;
    *ret_object = HONE_STEAL(object);
    *ret_len = len;
    return true;
}

/* ---- bound ---- */

struct object {       /* a .so of a folder */
    const char *path; /* in the pool */
    struct timespec used;
    size_t bytes;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct object *)a)->used,
                          *y = &((const struct object *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static void forget(const char *object_path)
{
    size_t stem = strlen(object_path) - strlen(".so");
    HONE_AUTOFREE char *meta = hone_sprintf("%.*s.json", (int)stem, object_path);
    unlink(meta); /* first: without it the object counts as absent */
    unlink(object_path);
}

/* Thousands of versions a night are compiled once and never looked at again. Others may prune the
 * same folder meanwhile: fine. */
static void prune(const char *folder, const char *newest)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names = NULL;
    size_t n_names = 0, n = 0, total = 0;
    if (hone_list_dir(folder, pool, &names, &n_names, NULL) < 0)
        return;
    struct object *objects = hone_pool_alloc(pool, (n_names + 1) * sizeof(*objects));
    for (size_t i = 0; i < n_names; i++) {
        size_t len = strlen(names[i]);
        struct stat st;
        const char *path = hone_pool_printf(pool, "%s/%s", folder, names[i]);
        if (len < 3 || strcmp(names[i] + len - 3, ".so") != 0 || lstat(path, &st) < 0)
            continue;
        objects[n++] = (struct object){path, st.st_mtim, (size_t)st.st_size};
        total += (size_t)st.st_size;
    }
    qsort(objects, n, sizeof(*objects), by_use);
    for (size_t i = 0; i < n && total > HONE_BUILD_FOLDER_BYTES; i++) {
        if (strcmp(objects[i].path, newest) == 0)
            continue;
        forget(objects[i].path);
        total -= objects[i].bytes;
    }
}

void hone_build_cache_put(const char *dir, const char *key, const struct hone_build_entry *entry,
                          const void *object, size_t len)
{
    if (dir == NULL)
        return;
    HONE_AUTOFREE char *folder = hone_sprintf("%s/%.2s", dir, key);
    HONE_AUTOFREE char *meta_path = path_of(dir, key, ".json");
    HONE_AUTOFREE char *object_path = path_of(dir, key, ".so");
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_build_entry full = *entry;
    hone_hash(object, len, hash);
    full.object_hash = hash;
    HONE_AUTOJSON struct hone_json *json = hone_fields_encode(&full, fields, HONE_COUNTOF(fields));
    HONE_AUTOFREE char *meta = hone_json_print(json);
    if (hone_mkdirs(folder, 0700, NULL) == 0 &&
        hone_file_write(object_path, object, len, 0644, false, NULL) == 0)
        (void)hone_file_write(meta_path, meta, strlen(meta), 0644, false, NULL);
    prune(folder, object_path);
}

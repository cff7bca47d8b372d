/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzzer's entry point over every file of its corpus, then over cut and flipped forms of
 * each: what the fuzzer once found stays found without a fuzzer. Prints TAP, one test per file. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_CUTS 64

/* Each input lies in memory of its exact size, so that a sanitizer sees one byte too far. */
static void run(const char *text, size_t len, size_t flip_at, unsigned flip)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, text, len);
    if (flip_at < len)
        copy[flip_at] = (uint8_t)(copy[flip_at] ^ flip);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static void run_all(const char *text, size_t len)
{
    run(text, len, SIZE_MAX, 0);
    for (size_t i = 0; i < N_CUTS && i < len; i++) {
        size_t at = i * len / N_CUTS;
        run(text, at, SIZE_MAX, 0);
        run(text, len, at, 1u << (i % 8));
    }
}

int main(void)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names;
    size_t n;
    if (hone_list_dir(CORPUS, pool, &names, &n, &err) < 0) {
        printf("Bail out! %s\n", err.message);
        return 1;
    }
    printf("1..%zu\n", n);
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOFREE char *path = hone_path_join(CORPUS, names[i], NULL);
        HONE_AUTOFREE char *text = NULL;
        size_t len;
        if (hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, &err) < 0) {
            printf("not ok %zu - %s: %s\n", i + 1, path, err.message);
            continue;
        }
        run_all(text, len);
        printf("ok %zu - %s\n", i + 1, path);
        fflush(stdout);
    }
    return 0;
}

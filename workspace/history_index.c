/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/history_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct hone_index *index, const char *id)
{
    char head[9] = "";
    memcpy(head, id, sizeof(head) - 1);
    size_t slot = strtoul(head, NULL, 16) & (index->n_slots - 1);
    while (index->slots[slot] && strcmp(index->rows[index->slots[slot] - 1].id, id) != 0)
        slot = (slot + 1) & (index->n_slots - 1);
    return slot;
}

static struct hone_index_row *find_row(const struct hone_index *index, const char *id)
{
    if (index->n_slots == 0)
        return NULL;
    uint32_t row = index->slots[slot_of(index, id)];
    return row ? &index->rows[row - 1] : NULL;
}

const struct hone_index_row *hone_index_find(const struct hone_index *index, const char *id)
{
    return find_row(index, id);
}

static void grow(struct hone_index *index)
{
    if (index->n_rows == index->cap) {
        index->cap = index->cap ? index->cap * 2 : 256;
        index->rows = hone_realloc(index->rows, index->cap * sizeof(*index->rows));
    }
    if (index->n_slots > 2 * index->n_rows)
        return;
    index->n_slots = index->n_slots ? index->n_slots * 4 : 1024;
    free(index->slots);
    index->slots = hone_calloc(index->n_slots, sizeof(*index->slots));
    for (size_t i = 0; i < index->n_rows; i++)
        index->slots[slot_of(index, index->rows[i].id)] = (uint32_t)i + 1;
}

struct refresh {
    struct hone_index *index;
    struct hone_git *git;
};

static void on_ref(void *arg, const char *id)
{
    struct refresh *refresh = arg;
    if (find_row(refresh->index, id))
        return;
    struct hone_git_commit commit;
    /* A ref without a readable commit is damage that hone_history_check reports; the rest stays
     * browsable. */
    if (hone_git_read_commit(refresh->git, id, NULL, &commit, NULL) < 0)
        return;
    grow(refresh->index);
    struct hone_index_row *row = &refresh->index->rows[refresh->index->n_rows++];
    *row = (struct hone_index_row){.time_s = commit.time_s};
    memcpy(row->id, commit.id, sizeof(row->id));
    memcpy(row->parent, commit.parent, sizeof(row->parent));
    refresh->index->slots[slot_of(refresh->index, row->id)] = (uint32_t)refresh->index->n_rows;
}

static void set_depth(const struct hone_index *index, struct hone_index_row *row)
{
    uint32_t n = 0;
    struct hone_index_row *at = row;
    while (at && at->depth == 0) {
        n++;
        at = find_row(index, at->parent);
    }
    uint32_t depth = n + (at ? at->depth : 0);
    for (at = row; at && at->depth == 0; at = find_row(index, at->parent))
        at->depth = depth--;
}

static int newer_first(const void *a, const void *b, void *arg)
{
    const struct hone_index_row *rows = arg;
    const struct hone_index_row *x = &rows[*(const uint32_t *)a];
    const struct hone_index_row *y = &rows[*(const uint32_t *)b];
    if (x->time_s != y->time_s)
        return x->time_s > y->time_s ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return strcmp(x->id, y->id);
}

int hone_index_refresh(struct hone_index *index, const char *dir, struct hone_git *git,
                       struct hone_err *err)
{
    struct refresh refresh = {.index = index, .git = git};
    size_t n_old = index->n_rows;
    int rc = hone_git_scan_versions(dir, &index->scan, on_ref, &refresh, err);
    if (rc < 0)
        return rc;
    if (index->n_rows == n_old)
        return 0;
    index->order = hone_realloc(index->order, index->n_rows * sizeof(*index->order));
    for (size_t i = 0; i < index->n_rows; i++) {
        set_depth(index, &index->rows[i]);
        index->order[i] = (uint32_t)i;
    }
    qsort_r(index->order, index->n_rows, sizeof(*index->order), newer_first, index->rows);
    return 0;
}

void hone_index_done(struct hone_index *index)
{
    free(index->rows);
    free(index->slots);
    free(index->order);
    *index = (struct hone_index){.rows = NULL};
}

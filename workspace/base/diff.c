/* SPDX-License-Identifier: Apache-2.0 */
/* Myers' greedy algorithm: the furthest reaching path on every diagonal for 0, 1, 2... edits, each
 * round kept, then walked back from the end. Time and memory grow with edits squared, hence the
 * limit. */
#include "workspace/base/diff.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXT 3

struct line {
    const char *text;
    size_t len;
};

struct lines {
    struct line *v;
    int n;
};

enum edit { KEEP, DROP, ADD };

struct script { /* one entry per output line */
    unsigned char *edits;
    int n;
};

static struct lines split(const char *text, struct hone_pool *pool)
{
    struct lines lines = {.n = 0};
    size_t n = 1;

    for (const char *at = text; *at != '\0'; at++)
        n += *at == '\n';
    lines.v = hone_pool_alloc(pool, n * sizeof(*lines.v));
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        lines.v[lines.n++] = (struct line){.text = text, .len = len};
        text += len + (text[len] == '\n');
    }
    return lines;
}

static bool same(const struct line *a, const struct line *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Furthest x on diagonal k after d edits, given the round before; v is indexed by k + offset. */
static int step(const int *v, int k, int d, int offset)
{
    if (k == -d || (k != d && v[k - 1 + offset] < v[k + 1 + offset]))
        return v[k + 1 + offset];
    return v[k - 1 + offset] + 1;
}

/* Number of edits, at most max; -1 above it. rounds[d] holds v before round d. */
static int forward(const struct lines *a, const struct lines *b, int max, int **rounds)
{
    int offset = max + 1;
    size_t size = (size_t)(2 * max + 3) * sizeof(int);
    HONE_AUTOFREE int *v = hone_calloc(1, size);

    for (int d = 0; d <= max; d++) {
        rounds[d] = hone_malloc(size);
        memcpy(rounds[d], v, size);
        for (int k = -d; k <= d; k += 2) {
            int x = step(v, k, d, offset), y = x - k;
            while (x < a->n && y < b->n && y >= 0 && same(&a->v[x], &b->v[y])) {
                x++;
                y++;
            }
            v[k + offset] = x;
            if (x >= a->n && y >= b->n)
                return d;
        }
    }
    return -1;
}

static void backward(const struct lines *a, const struct lines *b, int d, int max,
                     int *const *rounds, struct script *script)
{
    int offset = max + 1, x = a->n, y = b->n, at = a->n + b->n;

    for (; d >= 0; d--) {
        const int *v = rounds[d];
        int k = x - y;
        bool is_add = k == -d || (k != d && v[k - 1 + offset] < v[k + 1 + offset]);
        int before_k = is_add ? k + 1 : k - 1;
        int before_x = v[before_k + offset], before_y = before_x - before_k;

        while (x > (d == 0 ? 0 : before_x) && y > (d == 0 ? 0 : before_y)) {
            script->edits[--at] = KEEP;
            x--;
            y--;
        }
        if (d == 0)
            break;
        script->edits[--at] = is_add ? ADD : DROP;
        x = before_x;
        y = before_y;
    }
    script->n = a->n + b->n - at;
    memmove(script->edits, script->edits + at, (size_t)script->n);
}

static void replace_all(const struct lines *a, const struct lines *b, struct script *script)
{
    script->n = a->n + b->n;
    memset(script->edits, DROP, (size_t)a->n);
    memset(script->edits + a->n, ADD, (size_t)b->n);
}

static void compare(const struct lines *a, const struct lines *b, struct script *script)
{
    int most = a->n + b->n, max = most < HONE_LINE_DIFF_EDITS ? most : HONE_LINE_DIFF_EDITS;
    int **rounds = hone_calloc((size_t)max + 1, sizeof(*rounds));
    int d = forward(a, b, max, rounds);

    if (d >= 0)
        backward(a, b, d, max, rounds, script);
    else
        replace_all(a, b, script);
    for (int i = 0; i <= max; i++)
        free(rounds[i]);
    free(rounds);
}

/* First entry behind the hunk that begins at `at`: changes closer than two contexts belong
 * together. */
static int hunk_end(const struct script *script, int at)
{
    int end = at, kept = 0;

    for (int i = at; i < script->n && kept <= 2 * CONTEXT; i++) {
        kept = script->edits[i] == KEEP ? kept + 1 : 0;
        if (script->edits[i] != KEEP)
            end = i + 1;
    }
    return end + CONTEXT < script->n ? end + CONTEXT : script->n;
}

struct hunk {
    int first, end; /* entries of the script */
    int x, y;       /* lines of the two texts before it */
};

static void print_hunk(const struct lines *a, const struct lines *b, const struct script *script,
                       struct hunk hunk, struct hone_buf *out)
{
    int x = hunk.x, y = hunk.y;
    int n_a = 0, n_b = 0;

    for (int i = hunk.first; i < hunk.end; i++) {
        n_a += script->edits[i] != ADD;
        n_b += script->edits[i] != DROP;
    }
    hone_buf_printf(out, "@@ -%d,%d +%d,%d @@\n", n_a > 0 ? x + 1 : x, n_a, n_b > 0 ? y + 1 : y,
                    n_b);
    for (int i = hunk.first; i < hunk.end; i++) {
        const struct line *line = script->edits[i] == ADD ? &b->v[y] : &a->v[x];
        hone_buf_str(out, script->edits[i] == KEEP ? " " : script->edits[i] == ADD ? "+" : "-");
        hone_buf_add(out, line->text, line->len);
        hone_buf_str(out, "\n");
        x += script->edits[i] != ADD;
        y += script->edits[i] != DROP;
    }
}

static void print(const struct lines *a, const struct lines *b, const struct script *script,
                  struct hone_buf *out)
{
    int x = 0, y = 0; /* lines before entry i */

    for (int i = 0; i < script->n;) {
        int first, end;
        if (script->edits[i] == KEEP) {
            x++;
            y++;
            i++;
            continue;
        }
        first = i > CONTEXT ? i - CONTEXT : 0;
        while (first < i && script->edits[first] != KEEP)
            first++;
        end = hunk_end(script, i);
        print_hunk(
            a, b, script,
            (struct hunk){.first = first, .end = end, .x = x - (i - first), .y = y - (i - first)},
            out);
        for (; i < end; i++) {
            x += script->edits[i] != ADD;
            y += script->edits[i] != DROP;
        }
    }
}

int hone_line_diff(const struct hone_diff_side *from, const struct hone_diff_side *to,
                   struct hone_pool *pool, const char **ret_patch, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    struct lines a = split(from->text, pool), b = split(to->text, pool);
    struct script script = {.n = 0};
    int rc;

    if (strcmp(from->text, to->text) == 0) {
        *ret_patch = "";
        return 0;
    }
    script.edits = hone_pool_alloc(pool, (size_t)(a.n + b.n) + 1);
    compare(&a, &b, &script);
    hone_buf_printf(&out, "--- %s\n+++ %s\n", from->name, to->name);
    print(&a, &b, &script, &out);
    rc = hone_buf_check(&out, err);
    if (rc == 0)
        *ret_patch = hone_pool_strdup(pool, out.data);
    return rc;
}

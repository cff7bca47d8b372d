/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for people: names, one line an operation, the first difference of two. */
#include "tools/format/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Reads a mangled name as far as it is simple: names, namespaces, integers and builtin types as
 * template arguments. */
struct reader {
    const char *at;
    char *out;
    size_t room;
    bool has_failed;
};

static void put(struct reader *r, const char *text, size_t len)
{
    if (len >= r->room) {
        r->has_failed = true;
        return;
    }
    memcpy(r->out, text, len);
    r->out[len] = '\0';
    r->out += len;
    r->room -= len;
}

static void read_source_name(struct reader *r)
{
    size_t len = 0;
    while (isdigit((unsigned char)*r->at) && len < 1000)
        len = len * 10 + (size_t)(*r->at++ - '0');
    if (len == 0 || strlen(r->at) < len) {
        r->has_failed = true;
        return;
    }
    bool is_anonymous = strncmp(r->at, "_GLOBAL__N_", 11) == 0;
    if (!is_anonymous)
        put(r, r->at, len);
    r->at += len;
}

static const struct {
    char code;
    const char *name;
} builtins[] = {{'v', "void"},
                {'b', "bool"},
                {'c', "char"},
                {'a', "int8_t"},
                {'h', "uint8_t"},
                {'s', "short"},
                {'t', "uint16_t"},
                {'i', "int"},
                {'j', "unsigned"},
                {'l', "long"},
                {'m', "unsigned long"},
                {'x', "long long"},
                {'y', "unsigned long long"},
                {'f', "float"},
                {'d', "double"}};

static const char *builtin(char code)
{
    for (size_t i = 0; i < HONE_COUNTOF(builtins); i++)
        if (builtins[i].code == code)
            return builtins[i].name;
    return NULL;
}

static void read_argument(struct reader *r)
{
    if (*r->at == 'L' && builtin(r->at[1]) != NULL) {
        bool is_bool = r->at[1] == 'b';
        r->at += 2;
        if (*r->at == 'n') {
            put(r, "-", 1);
            r->at++;
        }
        size_t len = strspn(r->at, "0123456789");
        if (is_bool)
            put(r, *r->at == '1' ? "true" : "false", *r->at == '1' ? 4 : 5);
        else
            put(r, r->at, len);
        r->at += len;
        r->has_failed |= len == 0 || *r->at++ != 'E';
    } else if (*r->at == 'L' && isdigit((unsigned char)r->at[1])) { /* of an enum: its number */
        char *start = r->out;
        size_t room = r->room;
        r->at++;
        read_source_name(r);
        size_t len = strspn(r->at, "0123456789");
        r->out = start;
        r->room = room;
        put(r, r->at, len);
        r->at += len;
        r->has_failed |= len == 0 || *r->at++ != 'E';
    } else if (builtin(*r->at) != NULL) {
        put(r, builtin(*r->at), strlen(builtin(*r->at)));
        r->at++;
    } else if (isdigit((unsigned char)*r->at)) {
        read_source_name(r);
    } else {
        r->has_failed = true;
    }
}

static void read_arguments(struct reader *r)
{
    put(r, "<", 1);
    for (r->at++; *r->at != 'E' && !r->has_failed;) {
        read_argument(r);
        if (*r->at != 'E')
            put(r, ", ", 2);
    }
    put(r, ">", 1);
    r->at += !r->has_failed;
}

/* Arguments that are more than words and numbers: four digits tell the instances apart. */
static void put_digest(struct reader *r, const char *lowered)
{
    char text[16];
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = lowered; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    (void)snprintf(text, sizeof text, "<...%04x>", (hash ^ hash >> 16) & 0xffff);
    put(r, text, strlen(text));
}

void hone_plan_pretty(const char *lowered, char *ret, size_t size)
{
    struct reader r = {.at = lowered + 2, .out = ret, .room = size};
    bool is_nested = false;
    if (strncmp(lowered, "_Z", 2) != 0) {
        (void)snprintf(ret, size, "%s", lowered);
        return;
    }
    if (*r.at == 'N') {
        is_nested = true;
        r.at++;
    } else if (*r.at == 'L') {
        r.at++;
    }
    while (isdigit((unsigned char)*r.at) && !r.has_failed) {
        char *before = r.out;
        read_source_name(&r);
        if (!is_nested)
            break;
        if (r.out != before && isdigit((unsigned char)*r.at))
            put(&r, "::", 2);
    }
    if (*r.at == 'I' && !r.has_failed && r.out != ret) {
        struct reader before = r;
        read_arguments(&r);
        if (r.has_failed) {
            r = before;
            put_digest(&r, lowered);
        }
    }
    if (r.has_failed || r.out == ret)
        (void)snprintf(ret, size, "%s", lowered);
}

static void add_dim(struct hone_buf *buf, const struct hone_plan_dim *dim)
{
    if (dim->y == 1 && dim->z == 1)
        hone_buf_printf(buf, "%lld", (long long)dim->x);
    else if (dim->z == 1)
        hone_buf_printf(buf, "(%lld, %lld)", (long long)dim->x, (long long)dim->y);
    else
        hone_buf_printf(buf, "(%lld, %lld, %lld)", (long long)dim->x, (long long)dim->y,
                        (long long)dim->z);
}

static void add_bytes(struct hone_buf *buf, int64_t n)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    while (n >= 1024 && n % 1024 == 0 && unit + 1 < HONE_COUNTOF(units)) {
        n /= 1024;
        unit++;
    }
    hone_buf_printf(buf, "%lld %s", (long long)n, units[unit]);
}

static void add_place(struct hone_buf *buf, const struct hone_plan *plan,
                      const struct hone_plan_pointer *place)
{
    if (place->buffer == -1)
        hone_buf_str(buf, place->symbol);
    else if (place->buffer < plan->n_tensors)
        hone_buf_printf(buf, "tensor %lld", (long long)place->buffer);
    else
        hone_buf_printf(buf, "scratch %lld", (long long)(place->buffer - plan->n_tensors));
    if (place->offset != 0)
        hone_buf_printf(buf, " + %lld", (long long)place->offset);
}

static void add_launch(struct hone_buf *buf, const struct hone_plan_op *op)
{
    char name[200];
    hone_plan_pretty(op->kernel, name, sizeof name);
    hone_buf_printf(buf, "%s <<<", name);
    add_dim(buf, &op->grid);
    hone_buf_str(buf, ", ");
    add_dim(buf, &op->block);
    hone_buf_str(buf, ">>>");
    if (op->shared_bytes != 0)
        hone_buf_printf(buf, " shared %lld", (long long)op->shared_bytes);
    if (op->cluster.x != 0) {
        hone_buf_str(buf, " cluster ");
        add_dim(buf, &op->cluster);
    }
    hone_buf_str(buf, op->is_cooperative ? " cooperative" : "");
    hone_buf_str(buf, op->is_programmatic ? " programmatic" : "");
    if (op->maps.n != 0)
        hone_buf_printf(buf, " tensor maps %zu", op->maps.n);
}

static void add_after(struct hone_buf *buf, const struct hone_plan_op *op, size_t i)
{
    const struct hone_plan_number *after = op->after.v;
    bool is_next = op->after.n == 1 && after[0].value == (int64_t)i - 1;
    if (is_next || (i == 0 && op->after.n == 0))
        return;
    hone_buf_str(buf, " after");
    for (size_t k = 0; k < op->after.n; k++)
        hone_buf_printf(buf, "%s %lld", k > 0 ? "," : "", (long long)after[k].value + 1);
    if (op->after.n == 0)
        hone_buf_str(buf, " nothing");
}

char *hone_plan_describe(const struct hone_plan *plan)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    const struct hone_plan_op *ops = plan->ops.v;
    for (size_t i = 0; i < plan->ops.n; i++) {
        const struct hone_plan_op *op = &ops[i];
        if (strcmp(op->kind, "launch") == 0) {
            add_launch(&buf, op);
        } else {
            hone_buf_printf(&buf, "%s ", op->kind);
            add_bytes(&buf, op->n_bytes);
            if (op->value != 0)
                hone_buf_printf(&buf, " of 0x%llx", (unsigned long long)op->value);
            hone_buf_str(&buf, " to ");
            add_place(&buf, plan, &op->to);
            if (strcmp(op->kind, "copy") == 0) {
                hone_buf_str(&buf, " from ");
                add_place(&buf, plan, &op->from);
            }
        }
        add_after(&buf, op, i);
        hone_buf_str(&buf, i + 1 < plan->ops.n ? "\n" : "");
    }
    return hone_buf_steal(&buf);
}

struct compare {
    char *why;
    size_t i;
};

static bool differ(const struct compare *c, const char *member)
{
    if (c->why != NULL)
        (void)snprintf(c->why, 200, "operation %zu: %s", c->i + 1, member);
    return false;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_dim(const struct hone_plan_dim *a, const struct hone_plan_dim *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z;
}

static bool same_place(const struct hone_plan_pointer *a, const struct hone_plan_pointer *b)
{
    return a->at == b->at && a->buffer == b->buffer && a->offset == b->offset &&
           same_text(a->symbol, b->symbol);
}

/* Arrays of structs that hold integers only. */
static bool same_rows(const struct hone_array *a, const struct hone_array *b, size_t size)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->v, b->v, a->n * size) == 0);
}

static bool same_pointers(const struct hone_array *a, const struct hone_array *b)
{
    const struct hone_plan_pointer *x = a->v, *y = b->v;
    bool is_same = a->n == b->n;
    for (size_t i = 0; is_same && i < a->n; i++)
        is_same = same_place(&x[i], &y[i]);
    return is_same;
}

static bool same_map(const struct hone_plan_map *a, const struct hone_plan_map *b)
{
    const size_t size = sizeof(struct hone_plan_number);
    return a->at == b->at && a->dtype == b->dtype && a->rank == b->rank && a->buffer == b->buffer &&
           a->offset == b->offset && a->interleave == b->interleave && a->swizzle == b->swizzle &&
           a->l2_promotion == b->l2_promotion && a->fill == b->fill &&
           same_rows(&a->dims, &b->dims, size) && same_rows(&a->strides, &b->strides, size) &&
           same_rows(&a->box, &b->box, size) &&
           same_rows(&a->element_strides, &b->element_strides, size);
}

static bool same_maps(const struct hone_array *a, const struct hone_array *b)
{
    const struct hone_plan_map *x = a->v, *y = b->v;
    bool is_same = a->n == b->n;
    for (size_t i = 0; is_same && i < a->n; i++)
        is_same = same_map(&x[i], &y[i]);
    return is_same;
}

static bool same_launch(const struct compare *c, const struct hone_plan_op *a,
                        const struct hone_plan_op *b)
{
    if (!same_text(a->kernel, b->kernel))
        return differ(c, "kernel");
    if (!same_dim(&a->grid, &b->grid))
        return differ(c, "grid");
    if (!same_dim(&a->block, &b->block))
        return differ(c, "block");
    if (!same_dim(&a->cluster, &b->cluster))
        return differ(c, "cluster");
    if (a->shared_bytes != b->shared_bytes || a->shared_carveout != b->shared_carveout)
        return differ(c, "shared memory");
    if (a->is_cooperative != b->is_cooperative || a->is_programmatic != b->is_programmatic)
        return differ(c, "launch attributes");
    if (!same_rows(&a->params, &b->params, sizeof(struct hone_plan_param)))
        return differ(c, "parameters");
    return same_maps(&a->maps, &b->maps) || differ(c, "tensor maps");
}

static bool same_op(const struct compare *c, const struct hone_plan_op *a,
                    const struct hone_plan_op *b)
{
    if (!same_text(a->kind, b->kind))
        return differ(c, "kind");
    if (!same_rows(&a->after, &b->after, sizeof(struct hone_plan_number)))
        return differ(c, "order");
    if (!same_launch(c, a, b))
        return false;
    if (!same_text(a->bytes, b->bytes))
        return differ(c, "values");
    if (!same_pointers(&a->pointers, &b->pointers))
        return differ(c, "pointers");
    if (!same_place(&a->to, &b->to) || !same_place(&a->from, &b->from))
        return differ(c, "place");
    if (a->n_bytes != b->n_bytes || a->value != b->value || a->element_bytes != b->element_bytes)
        return differ(c, "amount");
    return true;
}

bool hone_plan_equal(const struct hone_plan *a, const struct hone_plan *b, char why[200])
{
    const struct hone_plan_op *x = a->ops.v, *y = b->ops.v;
    struct compare c = {.why = why};
    if (a->n_tensors != b->n_tensors || a->ops.n != b->ops.n || a->scratch.n != b->scratch.n) {
        if (why != NULL)
            (void)snprintf(why, 200, "%zu operations and %zu scratch buffers, not %zu and %zu",
                           a->ops.n, a->scratch.n, b->ops.n, b->scratch.n);
        return false;
    }
    for (; c.i < a->ops.n; c.i++)
        if (!same_op(&c, &x[c.i], &y[c.i]))
            return false;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two recordings word by word. What moved with a buffer is a pointer into it; what stayed
 * is a value; anything else means that the launcher does not do the same twice. */
#include "tools/runner/cuda/record/record_read.h"

#include <stdio.h>
#include <string.h>

#include "tools/runner/cuda/compile/cubin.h"

#define POINTER 8
#define MAP     128

/* One record of both runs, taken apart. */
struct pair {
    uint32_t kind;
    size_t fixed; /* bytes of the struct */
    const char *fixed_a, *fixed_b;
    const char *after, *params;
    size_t n_after, n_params, n_bytes;
    const char *bytes_a, *bytes_b;
};

struct reader {
    const char *a, *b;
    size_t len;
    struct hone_pool *pool;
    struct hone_record_names *names;
    struct hone_plan *plan;
    struct hone_outcome *end;
    struct hone_err *err;
    const char *kernels[HONE_LIMIT_PLAN_OPS];
    size_t n_kernels;
    const char *symbols[HONE_RECORD_SYMBOLS];
    size_t n_symbols;
    struct hone_record_map_record *maps_a, *maps_b;
    size_t n_maps, cap_maps;
    size_t cap_ops;
};

static int damaged(struct reader *r, const char *what)
{
    return hone_fail(r->err, HONE_E_ARG, "the recording is damaged: %s", what);
}

/* *ret_end is set; the caller stops. */
static int refuse(struct reader *r, enum hone_reason reason, const char *fmt, ...)
    HONE_PRINTF(3, 4);
static int refuse(struct reader *r, enum hone_reason reason, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    hone_outcome_set(r->end, reason, "%s (workload %s)", text, r->plan->workload);
    return 0;
}

static bool is_refused(const struct reader *r)
{
    return r->end->reason != HONE_REASON_BUILT;
}

static size_t fixed_bytes(uint32_t kind)
{
    switch ((enum hone_record_kind)kind) {
    case HONE_RECORD_LAUNCH:
        return sizeof(struct hone_record_launch_record);
    case HONE_RECORD_MEMSET:
    case HONE_RECORD_COPY:
    case HONE_RECORD_LITERAL:
    case HONE_RECORD_SCRATCH:
        return sizeof(struct hone_record_memory_record);
    case HONE_RECORD_SYMBOL:
    case HONE_RECORD_KERNEL:
    case HONE_RECORD_NOTE:
        return sizeof(struct hone_record_name_record);
    case HONE_RECORD_MAP:
        return sizeof(struct hone_record_map_record);
    }
    return 0;
}

/* Both records at `at`, lengths checked; false: they differ in kind or shape. */
static int take(struct reader *r, size_t at, struct pair *ret, size_t *ret_total, bool *ret_same)
{
    struct hone_record_record x, y;
    if (r->len - at < sizeof x)
        return damaged(r, "a record is cut");
    memcpy(&x, r->a + at, sizeof x);
    memcpy(&y, r->b + at, sizeof y);
    *ret_same = memcmp(&x, &y, sizeof x) == 0;
    size_t fixed = fixed_bytes(x.kind);
    if (fixed == 0 || x.n_after > HONE_LIMIT_PLAN_STREAMS || x.n_params > HONE_LIMIT_PLAN_PARAMS ||
        x.n_bytes > 4 * HONE_LIMIT_PLAN_LITERAL_BYTES)
        return damaged(r, "a record has odd numbers");
    size_t need = sizeof x + fixed + 4 * (size_t)x.n_after + 8 * (size_t)x.n_params + x.n_bytes;
    if (x.total != (need + 7) / 8 * 8 || x.total > r->len - at)
        return damaged(r, "a record has an odd length");
    size_t skip = sizeof x + fixed;
    *ret =
        (struct pair){.kind = x.kind,
                      .fixed = fixed,
                      .fixed_a = r->a + at + sizeof x,
                      .fixed_b = r->b + at + sizeof x,
                      .after = r->a + at + skip,
                      .params = r->a + at + skip + 4 * (size_t)x.n_after,
                      .n_after = x.n_after,
                      .n_params = x.n_params,
                      .n_bytes = x.n_bytes,
                      .bytes_a = r->a + at + skip + 4 * (size_t)x.n_after + 8 * (size_t)x.n_params};
    ret->bytes_b = ret->bytes_a - r->a + r->b;
    size_t lists = 4 * (size_t)x.n_after + 8 * (size_t)x.n_params;
    *ret_same = *ret_same && memcmp(ret->after, r->b + at + skip, lists) == 0;
    *ret_total = x.total;
    return 0;
}

static uint32_t word(const char *at, size_t i)
{
    uint32_t value;
    memcpy(&value, at + 4 * i, sizeof value);
    return value;
}

/* Where both addresses point. */
static bool resolve(const struct reader *r, uint64_t a, uint64_t b, struct hone_plan_pointer *ret)
{
    size_t x = 0, y = 0;
    int64_t p = 0, q = 0;
    if (!hone_record_find(0, a, &x, &p) || !hone_record_find(1, b, &y, &q) || x != y || p != q)
        return false;
    size_t scratch = x - HONE_RECORD_TENSORS, symbol = scratch - HONE_LIMIT_PLAN_SCRATCH;
    *ret = (struct hone_plan_pointer){.offset = p};
    if (x < HONE_RECORD_TENSORS) {
        ret->buffer = (int64_t)x;
        return ret->buffer < r->plan->n_tensors;
    }
    if (scratch < HONE_LIMIT_PLAN_SCRATCH) {
        ret->buffer = r->plan->n_tensors + (int64_t)scratch;
        return scratch < r->plan->scratch.n;
    }
    ret->buffer = -1;
    ret->symbol = symbol < r->n_symbols ? r->symbols[symbol] : NULL;
    return symbol < r->n_symbols;
}

static void *grow(struct reader *r, void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    size_t more = *cap == 0 ? 16 : 2 * *cap;
    void *bigger = hone_pool_alloc(r->pool, more * size);
    if (n > 0)
        memcpy(bigger, v, n * size);
    *cap = more;
    return bigger;
}

static struct hone_plan_op *add_op(struct reader *r, const struct pair *p, const char *kind)
{
    struct hone_plan_op *ops =
        grow(r, r->plan->ops.v, r->plan->ops.n, &r->cap_ops, sizeof(struct hone_plan_op));
    r->plan->ops.v = ops;
    struct hone_plan_op *op = &ops[r->plan->ops.n++];
    struct hone_plan_number *after = hone_pool_alloc(r->pool, (p->n_after + 1) * sizeof *after);
    for (size_t i = 0; i < p->n_after; i++)
        after[i].value = word(p->after, i);
    *op = (struct hone_plan_op){.kind = kind, .after = {after, p->n_after}, .shared_carveout = -1};
    return op;
}

/* ---- bytes ---- */

struct bytes { /* of one launch or literal */
    const struct pair *pair;
    char *left; /* copy of a, zero where pointers and maps are */
    struct hone_array pointers, maps;
    size_t cap_pointers, cap_maps;
};

static uint64_t long_word(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static bool take_pointer(struct reader *r, struct bytes *b, size_t at)
{
    struct hone_plan_pointer pointer;
    if (!resolve(r, long_word(b->pair->bytes_a + at), long_word(b->pair->bytes_b + at), &pointer))
        return false;
    pointer.at = (int64_t)at;
    struct hone_plan_pointer *v =
        grow(r, b->pointers.v, b->pointers.n, &b->cap_pointers, sizeof pointer);
    v[b->pointers.n++] = pointer;
    b->pointers.v = v;
    memset(b->left + at, 0, POINTER);
    return true;
}

static struct hone_array numbers(struct reader *r, const uint64_t *wide, const uint32_t *narrow,
                                 size_t n)
{
    struct hone_plan_number *v = hone_pool_alloc(r->pool, (n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i].value = wide != NULL ? (int64_t)wide[i] : (int64_t)narrow[i];
    return (struct hone_array){v, n};
}

static bool take_map(struct reader *r, struct bytes *b, size_t at)
{
    struct hone_record_map_marker marker;
    struct hone_plan_pointer place;
    memcpy(&marker, b->pair->bytes_a + at, sizeof marker);
    if (marker.magic != HONE_RECORD_MAP_MAGIC || marker.inverse != ~marker.number ||
        marker.number >= r->n_maps)
        return false;
    const struct hone_record_map_record *m = &r->maps_a[marker.number];
    if (m->rank < 1 || m->rank > 5 ||
        !resolve(r, m->address, r->maps_b[marker.number].address, &place) || place.buffer < 0)
        return false;
    struct hone_plan_map *v =
        grow(r, b->maps.v, b->maps.n, &b->cap_maps, sizeof(struct hone_plan_map));
    v[b->maps.n++] =
        (struct hone_plan_map){.at = (int64_t)at,
                               .dtype = m->dtype,
                               .rank = m->rank,
                               .buffer = place.buffer,
                               .offset = place.offset,
                               .dims = numbers(r, m->dims, NULL, m->rank),
                               .strides = numbers(r, m->strides, NULL, m->rank - 1),
                               .box = numbers(r, NULL, m->box, m->rank),
                               .element_strides = numbers(r, NULL, m->element_strides, m->rank),
                               .interleave = m->interleave,
                               .swizzle = m->swizzle,
                               .l2_promotion = m->l2_promotion,
                               .fill = m->fill};
    b->maps.v = v;
    memset(b->left + at, 0, MAP);
    return true;
}

/* The pointer that holds the first differing byte `at`, at a multiple of 8 if it can be. */
static bool find_pointer(struct reader *r, struct bytes *b, size_t first, size_t at, size_t end,
                         size_t *ret_next)
{
    static const size_t steps[] = {8, 4, 2, 1};
    for (size_t s = 0; s < HONE_COUNTOF(steps); s++)
        for (size_t back = 0; back < POINTER; back++) {
            if (back > at || at - back < first || (at - back) % steps[s] != 0 ||
                at - back + POINTER > end)
                continue;
            if (take_pointer(r, b, at - back)) {
                *ret_next = at - back + POINTER;
                return true;
            }
        }
    return false;
}

static bool find_all(struct reader *r, struct bytes *b, size_t first, size_t end)
{
    size_t done = first;
    for (size_t at = first; at < end;) {
        if (at % 8 == 0 && at + MAP <= end && take_map(r, b, at)) {
            at += MAP;
            done = at;
        } else if (b->pair->bytes_a[at] == b->pair->bytes_b[at]) {
            at++;
        } else if (find_pointer(r, b, done, at, end, &at)) {
            done = at;
        } else {
            return false;
        }
    }
    return true;
}

static const char *hex(struct reader *r, const char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *text = hone_pool_alloc(r->pool, 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[(unsigned char)bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return n == 0 ? NULL : text;
}

static void start_bytes(struct reader *r, const struct pair *p, struct bytes *ret)
{
    *ret = (struct bytes){.pair = p, .left = hone_pool_alloc(r->pool, p->n_bytes + 1)};
    memcpy(ret->left, p->bytes_a, p->n_bytes);
}

static void end_bytes(struct reader *r, const struct bytes *b, struct hone_plan_op *op)
{
    op->bytes = hex(r, b->left, b->pair->n_bytes);
    op->pointers = b->pointers;
    op->maps = b->maps;
}

/* ---- kinds ---- */

static int differs(struct reader *r, const char *what)
{
    return refuse(r, HONE_REASON_NONDETERMINISTIC,
                  "the launcher is not deterministic: operation %zu differs between two calls in "
                  "its %s. fix: "
                  "no addresses as numbers, no random choice, no clock in the launcher",
                  r->plan->ops.n, what);
}

static int read_params(struct reader *r, const struct pair *p, struct hone_plan_op *op,
                       struct bytes *b)
{
    struct hone_plan_param *params = hone_pool_alloc(r->pool, (p->n_params + 1) * sizeof *params);
    size_t end = 0;
    for (size_t i = 0; i < p->n_params; i++) {
        size_t at = word(p->params, 2 * i), size = word(p->params, 2 * i + 1);
        if (at < end || size == 0 || size > p->n_bytes || at > p->n_bytes - size)
            return damaged(r, "parameters lie outside of their bytes");
        params[i] = (struct hone_plan_param){(int64_t)at, (int64_t)size};
        end = at + size;
        if (!find_all(r, b, at, end))
            return refuse(
                r, HONE_REASON_NONDETERMINISTIC,
                "the launcher is not deterministic: parameter %zu of %s is neither a pointer nor "
                "the "
                "same value in two calls. fix: pass pointers as pointers, set every member of a "
                "struct, no clock and no random numbers",
                i + 1, op->kernel);
    }
    op->params = (struct hone_array){params, p->n_params};
    return 0;
}

static int read_launch(struct reader *r, const struct pair *p)
{
    struct hone_record_launch_record l;
    struct bytes b;
    memcpy(&l, p->fixed_a, sizeof l);
    if (l.kernel >= r->n_kernels)
        return damaged(r, "a launch names no kernel");
    if (p->n_bytes > HONE_LIMIT_PLAN_PARAM_BYTES)
        return damaged(r, "a launch has too many bytes");
    struct hone_plan_op *op = add_op(r, p, "launch");
    if (memcmp(p->fixed_a, p->fixed_b, sizeof l) != 0)
        return differs(r, "kernel or shape");
    op->kernel = r->kernels[l.kernel];
    op->grid = (struct hone_plan_dim){l.grid[0], l.grid[1], l.grid[2]};
    op->block = (struct hone_plan_dim){l.block[0], l.block[1], l.block[2]};
    op->cluster = (struct hone_plan_dim){l.cluster[0], l.cluster[1], l.cluster[2]};
    op->shared_bytes = (int64_t)(l.shared & INT64_MAX);
    op->shared_carveout = l.carveout;
    op->is_cooperative = l.is_cooperative != 0;
    op->is_programmatic = l.is_programmatic != 0;
    op->line = l.line < 0 ? 0 : l.line;
    if (op->shared_bytes > INT32_MAX || l.carveout < -1 || l.carveout > 100)
        return damaged(r, "a launch has an odd shape");
    start_bytes(r, p, &b);
    int rc = read_params(r, p, op, &b);
    if (b.maps.n > HONE_LIMIT_PLAN_MAPS)
        return refuse(r, HONE_REASON_TOO_LARGE, "a launch has more than %d tensor maps",
                      HONE_LIMIT_PLAN_MAPS);
    end_bytes(r, &b, op);
    return rc;
}

static int read_memory(struct reader *r, const struct pair *p)
{
    static const char *const kinds[] = {[HONE_RECORD_MEMSET] = "memset",
                                        [HONE_RECORD_COPY] = "copy",
                                        [HONE_RECORD_LITERAL] = "literal"};
    struct hone_record_memory_record x, y;
    struct bytes b;
    memcpy(&x, p->fixed_a, sizeof x);
    memcpy(&y, p->fixed_b, sizeof y);
    struct hone_plan_op *op = add_op(r, p, kinds[p->kind]);
    if (x.n != y.n || x.value != y.value || x.element != y.element)
        return differs(r, "amount");
    if (!resolve(r, x.to, y.to, &op->to) ||
        (p->kind == HONE_RECORD_COPY && !resolve(r, x.from, y.from, &op->from)))
        return differs(r, "place");
    op->n_bytes = (int64_t)(x.n & INT64_MAX);
    op->value = x.value;
    op->element_bytes = x.element;
    if (op->n_bytes > HONE_LIMIT_JAIL_BYTES)
        return refuse(r, HONE_REASON_LAUNCH, "%s of %lld bytes", op->kind, (long long)op->n_bytes);
    if (p->kind != HONE_RECORD_LITERAL)
        return 0;
    start_bytes(r, p, &b);
    if (!find_all(r, &b, 0, p->n_bytes))
        return differs(r, "bytes");
    b.maps = (struct hone_array){NULL, 0};
    end_bytes(r, &b, op);
    return 0;
}

static int read_scratch(struct reader *r, const struct pair *p)
{
    struct hone_record_memory_record x, y;
    struct hone_plan_number *v = r->plan->scratch.v;
    memcpy(&x, p->fixed_a, sizeof x);
    memcpy(&y, p->fixed_b, sizeof y);
    if (r->plan->scratch.n == HONE_LIMIT_PLAN_SCRATCH || x.n == 0 || x.n > HONE_LIMIT_JAIL_BYTES)
        return damaged(r, "scratch memory of an odd size");
    if (x.n != y.n)
        return differs(r, "scratch memory");
    v[r->plan->scratch.n++].value = (int64_t)x.n;
    return 0;
}

/* a's expression may already have its type in front. */
static bool same_words(const struct hone_record_instance *a, const struct hone_record_instance *b)
{
    if (a->expression == NULL || b->expression == NULL)
        return false;
    size_t x = strlen(a->expression), y = strlen(b->expression);
    const char *end = x >= y ? a->expression + x - y : a->expression;
    return strcmp(end, b->expression) == 0 && (x == y || end[-1] == ')');
}

static void keep_name(struct reader *r, const char *symbol, const char *expression,
                      const char *typed, bool is_variable)
{
    struct hone_record_names *names = r->names;
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->v[i].symbol, symbol) == 0)
            return;
    names->v = grow(r, names->v, names->n, &names->cap, sizeof *names->v);
    struct hone_record_instance *new = &names->v[names->n++];
    *new = (struct hone_record_instance){
        .symbol = symbol, .expression = expression, .typed = typed, .is_variable = is_variable};
    for (size_t i = 0; i + 1 < names->n; i++)
        if (same_words(&names->v[i], new)) {
            names->v[i].expression = names->v[i].typed;
            new->expression = typed;
        }
}

static int read_name(struct reader *r, const struct pair *p)
{
    const char *zero = p->n_bytes == 0 ? NULL : memchr(p->bytes_a, '\0', p->n_bytes);
    struct hone_record_name_record name;
    if (zero == NULL || zero == p->bytes_a || p->bytes_a[p->n_bytes - 1] != '\0')
        return damaged(r, "a name is cut");
    if (memcmp(p->bytes_a, p->bytes_b, p->n_bytes) != 0)
        return differs(r, "names");
    memcpy(&name, p->fixed_a, sizeof name);
    const char *symbol = hone_pool_strdup(r->pool, p->bytes_a);
    const char *end = p->bytes_a + p->n_bytes;
    const char *rest = zero + 1 < end ? zero + 1 : "";
    const char *typed =
        rest[0] != '\0' && rest + strlen(rest) + 1 < end ? rest + strlen(rest) + 1 : "";
    if (p->kind == HONE_RECORD_NOTE) {
        const char *note = hone_record_known_note(symbol);
        if (note == NULL)
            return damaged(r, "a note that nobody writes");
        if (r->plan->notes.n < HONE_LIMIT_PLAN_NOTES)
            r->plan->notes.v[r->plan->notes.n++] = note;
        return 0;
    }
    if (!hone_cubin_is_name(symbol))
        return damaged(r, "a name has characters that no name has");
    if (strlen(symbol) > HONE_LIMIT_LINE_BYTES || strlen(rest) > HONE_LIMIT_LINE_BYTES ||
        strlen(typed) > HONE_LIMIT_LINE_BYTES)
        return refuse(r, HONE_REASON_TOO_LARGE, "the name of a kernel has more than %d bytes",
                      HONE_LIMIT_LINE_BYTES);
    const char *expression = name.is_local != 0 ? hone_pool_strdup(r->pool, rest) : NULL;
    keep_name(r, symbol, expression, hone_pool_strdup(r->pool, typed),
              p->kind == HONE_RECORD_SYMBOL);
    if (p->kind == HONE_RECORD_KERNEL && r->n_kernels < HONE_COUNTOF(r->kernels))
        r->kernels[r->n_kernels++] = symbol;
    else if (p->kind == HONE_RECORD_SYMBOL && r->n_symbols < HONE_COUNTOF(r->symbols))
        r->symbols[r->n_symbols++] = symbol;
    else
        return damaged(r, "too many names");
    return 0;
}

static int read_map(struct reader *r, const struct pair *p)
{
    struct hone_record_map_record x, y;
    size_t cap = r->cap_maps;
    memcpy(&x, p->fixed_a, sizeof x);
    memcpy(&y, p->fixed_b, sizeof y);
    r->maps_a = grow(r, r->maps_a, r->n_maps, &r->cap_maps, sizeof x);
    r->maps_b = grow(r, r->maps_b, r->n_maps, &cap, sizeof y);
    r->maps_a[r->n_maps] = x;
    r->maps_b[r->n_maps++] = y;
    y.address = x.address;
    return memcmp(&x, &y, sizeof x) == 0 ? 0 : differs(r, "tensor map");
}

static int read_one(struct reader *r, const struct pair *p)
{
    switch ((enum hone_record_kind)p->kind) {
    case HONE_RECORD_LAUNCH:
        return read_launch(r, p);
    case HONE_RECORD_MEMSET:
    case HONE_RECORD_COPY:
    case HONE_RECORD_LITERAL:
        return read_memory(r, p);
    case HONE_RECORD_SCRATCH:
        return read_scratch(r, p);
    case HONE_RECORD_SYMBOL:
    case HONE_RECORD_KERNEL:
    case HONE_RECORD_NOTE:
        return read_name(r, p);
    case HONE_RECORD_MAP:
        return read_map(r, p);
    }
    return damaged(r, "a record of an unknown kind");
}

static int read_all(struct reader *r)
{
    for (size_t at = 0; at < r->len;) {
        struct pair pair;
        size_t total = 0;
        bool is_same = false;
        int rc = take(r, at, &pair, &total, &is_same);
        if (rc == 0 && !is_same)
            rc = differs(r, "kind or order");
        else if (rc == 0 && r->plan->ops.n >= HONE_LIMIT_PLAN_OPS &&
                 pair.kind <= HONE_RECORD_LITERAL)
            rc = damaged(r, "too many operations");
        else if (rc == 0)
            rc = read_one(r, &pair);
        if (rc < 0 || is_refused(r))
            return rc;
        at += total;
    }
    return hone_plan_valid(r->plan, r->err);
}

int hone_record_read(const struct hone_recording *recording, struct hone_pool *pool,
                     struct hone_record_names *names, struct hone_plan *ret,
                     struct hone_outcome *ret_end, struct hone_err *err)
{
    struct hone_record_head x, y;
    if (recording->len < sizeof x)
        return hone_fail(err, HONE_E_ARG, "the recording is damaged: no head");
    memcpy(&x, recording->a, sizeof x);
    memcpy(&y, recording->b, sizeof y);
    *ret = (struct hone_plan){.format = HONE_PLAN_FORMAT,
                              .task = recording->task,
                              .workload = recording->workload,
                              .n_tensors = recording->n_tensors};
    ret->scratch.v =
        hone_pool_alloc(pool, HONE_LIMIT_PLAN_SCRATCH * sizeof(struct hone_plan_number));
    ret->notes.v = hone_pool_alloc(pool, HONE_LIMIT_PLAN_NOTES * sizeof *ret->notes.v);
    struct reader *r = hone_pool_alloc(pool, sizeof *r);
    *r = (struct reader){.a = recording->a + sizeof x,
                         .b = recording->b + sizeof y,
                         .len = x.used,
                         .pool = pool,
                         .names = names,
                         .plan = ret,
                         .end = ret_end,
                         .err = err};
    hone_outcome_set(ret_end, HONE_REASON_BUILT, "recorded");
    if (x.used > recording->len - sizeof x || x.used % 8 != 0)
        return damaged(r, "its length is odd");
    if (x.used != y.used)
        return differs(r, "number");
    return read_all(r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as JSON: tables, parser, printer and what must hold between members. Everything that needs
 * the task or the device is in plan_check.c. */
#include "tools/format/plan.h"

#include <string.h>

#include "workspace/base/limits.h"

#define MAX_DIM     INT32_MAX
#define MAX_ADDRESS (1ll << 62)

static const char *const kinds[] = {"launch", "memset", "copy", "literal", NULL};

/* A member of an embedded struct; HONE_FIELD names members of the struct itself only. */
#define PART(name_, member_, ...)                                                                  \
    {                                                                                              \
        .name = name_, .type = HONE_FIELD_TYPE_OF(((struct hone_plan_op *)0)->member_),            \
        .offset = offsetof(struct hone_plan_op, member_), .skip_empty = true, __VA_ARGS__          \
    }
#define DIM(name_, member_)                                                                        \
    PART(name_, member_, .min = 0, .max = UINT32_MAX, .help = "Blocks or threads.")
#define PLACE(name_)                                                                               \
    PART(#name_ "_buffer", name_.buffer, .min = -1,                                                \
         .max = HONE_LIMIT_TENSORS * 2 + HONE_LIMIT_PLAN_SCRATCH, .help = "Buffer; -1: symbol."),  \
        PART(#name_ "_offset", name_.offset, .min = -MAX_ADDRESS, .max = MAX_ADDRESS,              \
             .help = "Bytes from its start."),                                                     \
        PART(#name_ "_symbol", name_.symbol, .max_len = HONE_LIMIT_LINE_BYTES,                     \
             .help = "Variable of the module.")

static const struct hone_field number_fields[] = {
    HONE_FIELD(struct hone_plan_number, value, .required = true, .help = "The number."),
};

static const struct hone_field param_fields[] = {
    HONE_FIELD(struct hone_plan_param, at, .required = true, .min = 0,
               .max = HONE_LIMIT_PLAN_PARAM_BYTES, .help = "Place in bytes."),
    HONE_FIELD(struct hone_plan_param, size, .required = true, .min = 1,
               .max = HONE_LIMIT_PLAN_PARAM_BYTES, .help = "Its bytes."),
};

static const struct hone_field pointer_fields[] = {
    HONE_FIELD(struct hone_plan_pointer, at, .required = true, .min = 0,
               .max = HONE_LIMIT_PLAN_LITERAL_BYTES, .help = "Place in bytes."),
    HONE_FIELD(struct hone_plan_pointer, buffer, .required = true, .min = -1,
               .max = HONE_LIMIT_TENSORS * 2 + HONE_LIMIT_PLAN_SCRATCH,
               .help = "Buffer; -1: symbol."),
    HONE_FIELD(struct hone_plan_pointer, offset, .min = -MAX_ADDRESS, .max = MAX_ADDRESS,
               .help = "Bytes from its start."),
    HONE_FIELD(struct hone_plan_pointer, symbol, .skip_empty = true,
               .max_len = HONE_LIMIT_LINE_BYTES, .help = "Variable of the module."),
};

#define NUMBERS(member_, max_, help_)                                                              \
    HONE_FIELD(struct hone_plan_map, member_, .skip_empty = true, .max_len = (max_),               \
               HONE_OF(struct hone_plan_number, number_fields), .help = (help_))

static const struct hone_field map_fields[] = {
    HONE_FIELD(struct hone_plan_map, at, .required = true, .min = 0,
               .max = HONE_LIMIT_PLAN_PARAM_BYTES, .help = "Place in bytes."),
    HONE_FIELD(struct hone_plan_map, dtype, .min = 0, .max = 255, .help = "CUtensorMapDataType."),
    HONE_FIELD(struct hone_plan_map, rank, .required = true, .min = 1, .max = 5,
               .help = "Dimensions."),
    HONE_FIELD(struct hone_plan_map, buffer, .required = true, .min = 0,
               .max = HONE_LIMIT_TENSORS * 2 + HONE_LIMIT_PLAN_SCRATCH, .help = "Buffer."),
    HONE_FIELD(struct hone_plan_map, offset, .min = -MAX_ADDRESS, .max = MAX_ADDRESS,
               .help = "Bytes from its start."),
    NUMBERS(dims, 5, "Elements, innermost first."),
    NUMBERS(strides, 4, "Bytes, without the innermost."),
    NUMBERS(box, 5, "Elements of the box."),
    NUMBERS(element_strides, 5, "Steps in elements."),
    HONE_FIELD(struct hone_plan_map, interleave, .min = 0, .max = 255, .help = "Its word."),
    HONE_FIELD(struct hone_plan_map, swizzle, .min = 0, .max = 255, .help = "Its word."),
    HONE_FIELD(struct hone_plan_map, l2_promotion, .min = 0, .max = 255, .help = "Its word."),
    HONE_FIELD(struct hone_plan_map, fill, .min = 0, .max = 255, .help = "Its word."),
};

static const struct hone_field op_fields[] = {
    HONE_FIELD(struct hone_plan_op, kind, .required = true, .choices = kinds,
               .help = "launch, memset, copy or literal."),
    HONE_FIELD(struct hone_plan_op, after, .skip_empty = true, .max_len = HONE_LIMIT_PLAN_STREAMS,
               HONE_OF(struct hone_plan_number, number_fields),
               .help = "Earlier operations that must have ended."),
    HONE_FIELD(struct hone_plan_op, kernel, .skip_empty = true, .max_len = HONE_LIMIT_LINE_BYTES,
               .help = "Lowered name in the module."),
    DIM("grid_x", grid.x),
    DIM("grid_y", grid.y),
    DIM("grid_z", grid.z),
    DIM("block_x", block.x),
    DIM("block_y", block.y),
    DIM("block_z", block.z),
    DIM("cluster_x", cluster.x),
    DIM("cluster_y", cluster.y),
    DIM("cluster_z", cluster.z),
    HONE_FIELD(struct hone_plan_op, shared_bytes, .skip_empty = true, .min = 0, .max = MAX_DIM,
               .unit = "bytes", .help = "Dynamic shared memory."),
    HONE_FIELD(struct hone_plan_op, shared_carveout, .min = -1, .max = 100, .fallback_i64 = -1,
               .help = "Percent asked for; -1: not asked."),
    HONE_FIELD(struct hone_plan_op, is_cooperative, .skip_empty = true, .help = "Grid-wide sync."),
    HONE_FIELD(struct hone_plan_op, is_programmatic, .skip_empty = true,
               .help = "May start before the one in front has ended."),
    HONE_FIELD(struct hone_plan_op, params, .skip_empty = true, .max_len = HONE_LIMIT_PLAN_PARAMS,
               HONE_OF(struct hone_plan_param, param_fields), .help = "Parameters in order."),
    HONE_FIELD(struct hone_plan_op, bytes, .skip_empty = true,
               .max_len = 2 * HONE_LIMIT_PLAN_LITERAL_BYTES, .help = "Hex digits."),
    HONE_FIELD(struct hone_plan_op, pointers, .skip_empty = true, .max_len = HONE_LIMIT_FIELD_ITEMS,
               HONE_OF(struct hone_plan_pointer, pointer_fields), .help = "Pointers in bytes."),
    HONE_FIELD(struct hone_plan_op, maps, .skip_empty = true, .max_len = HONE_LIMIT_PLAN_MAPS,
               HONE_OF(struct hone_plan_map, map_fields), .help = "Tensor maps in bytes."),
    PLACE(to),
    PLACE(from),
    HONE_FIELD(struct hone_plan_op, n_bytes, .skip_empty = true, .min = 0,
               .max = HONE_LIMIT_JAIL_BYTES, .unit = "bytes", .help = "Bytes that are written."),
    HONE_FIELD(struct hone_plan_op, value, .skip_empty = true, .min = 0, .max = UINT32_MAX,
               .help = "memset: the value of each element."),
    HONE_FIELD(struct hone_plan_op, element_bytes, .skip_empty = true, .min = 0, .max = 4,
               .unit = "bytes", .help = "memset: of one element."),
    HONE_FIELD(struct hone_plan_op, line, .skip_empty = true, .min = 0, .max = MAX_DIM,
               .help = "Of the launch in the source."),
};

const struct hone_field hone_plan_fields[] = {
    HONE_FIELD(struct hone_plan, format, .required = true, .min = HONE_PLAN_FORMAT,
               .max = HONE_PLAN_FORMAT, .help = "Version of this format."),
    HONE_FIELD(struct hone_plan, task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task."),
    HONE_FIELD(struct hone_plan, workload, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Workload."),
    HONE_FIELD(struct hone_plan, n_tensors, .required = true, .min = 0,
               .max = HONE_LIMIT_TENSORS * 2, .help = "Inputs and outputs."),
    HONE_FIELD(struct hone_plan, scratch, .skip_empty = true, .max_len = HONE_LIMIT_PLAN_SCRATCH,
               HONE_OF(struct hone_plan_number, number_fields),
               .help = "Bytes of each scratch buffer."),
    HONE_FIELD(struct hone_plan, ops, .max_len = HONE_LIMIT_PLAN_OPS,
               HONE_OF(struct hone_plan_op, op_fields), .help = "What is done, in order."),
    HONE_FIELD(struct hone_plan, notes, .skip_empty = true, .max_len = HONE_LIMIT_PLAN_NOTES,
               .help = "What a reader should know."),
};
const size_t hone_plan_n_fields = HONE_COUNTOF(hone_plan_fields);

/* One operation under check. */
struct checked {
    const struct hone_plan *plan;
    const struct hone_plan_op *op;
    size_t i;
    struct hone_err *err;
    int64_t len; /* of op->bytes, decoded */
};

static int bad(const struct checked *c, const char *member, const char *what)
{
    HONE_AUTOFREE char *path = hone_sprintf("ops[%zu].%s", c->i, member);
    return hone_fail_at(c->err, HONE_E_ARG, path, "%s", what);
}

static bool is_hex(const char *text)
{
    return strspn(text, "0123456789abcdef") == strlen(text);
}

static bool is_zero_at(const struct checked *c, int64_t at, int64_t n)
{
    for (int64_t i = at * 2; i < (at + n) * 2; i++)
        if (c->op->bytes[i] != '0')
            return false;
    return true;
}

static bool is_place(const struct checked *c, const struct hone_plan_pointer *place)
{
    int64_t n = c->plan->n_tensors + (int64_t)c->plan->scratch.n;
    if (place->buffer == -1)
        return place->symbol != NULL && place->symbol[0] != '\0';
    return place->buffer >= 0 && place->buffer < n && place->symbol == NULL;
}

static bool is_no_place(const struct hone_plan_pointer *place)
{
    return place->buffer == 0 && place->offset == 0 && place->symbol == NULL;
}

static int check_after(const struct checked *c)
{
    const struct hone_plan_number *after = c->op->after.v;
    for (size_t k = 0; k < c->op->after.n; k++) {
        if (after[k].value < 0 || after[k].value >= (int64_t)c->i)
            return bad(c, "after", "must name earlier operations");
        if (k > 0 && after[k].value <= after[k - 1].value)
            return bad(c, "after", "must be ascending");
    }
    return 0;
}

static int check_pointers(const struct checked *c)
{
    const struct hone_plan_pointer *pointers = c->op->pointers.v;
    int64_t end = 0;
    for (size_t k = 0; k < c->op->pointers.n; k++) {
        const struct hone_plan_pointer *p = &pointers[k];
        if (p->at < end || p->at > c->len - 8)
            return bad(c, "pointers", "must be ascending, 8 bytes each, inside of bytes");
        if (!is_place(c, p))
            return bad(c, "pointers", "must name a buffer of the plan, or -1 and a symbol");
        if (!is_zero_at(c, p->at, 8))
            return bad(c, "pointers", "bytes must be zero where a pointer goes");
        end = p->at + 8;
    }
    return 0;
}

static int check_maps(const struct checked *c)
{
    const struct hone_plan_map *maps = c->op->maps.v;
    int64_t end = 0;
    for (size_t k = 0; k < c->op->maps.n; k++) {
        const struct hone_plan_map *m = &maps[k];
        size_t rank = (size_t)m->rank;
        if (m->at < end || m->at > c->len - 128)
            return bad(c, "maps", "must be ascending, 128 bytes each, inside of bytes");
        if (!is_zero_at(c, m->at, 128))
            return bad(c, "maps", "bytes must be zero where a tensor map goes");
        if (m->dims.n != rank || m->strides.n != rank - 1 || m->box.n != rank ||
            m->element_strides.n != rank)
            return bad(c, "maps",
                       "dims, box and element_strides need one number a dimension, strides one "
                       "less");
        if (m->buffer >= c->plan->n_tensors + (int64_t)c->plan->scratch.n)
            return bad(c, "maps", "must name a buffer of the plan");
        end = m->at + 128;
    }
    return 0;
}

static int check_launch(const struct checked *c)
{
    const struct hone_plan_op *op = c->op;
    const struct hone_plan_param *params = op->params.v;
    int64_t end = 0;
    if (op->kernel == NULL || op->kernel[0] == '\0')
        return bad(c, "kernel", "a launch needs a kernel");
    if (c->len > HONE_LIMIT_PLAN_PARAM_BYTES)
        return bad(c, "bytes", "kernels take at most 32764 bytes of parameters");
    for (size_t k = 0; k < op->params.n; k++) {
        if (params[k].at < end || params[k].at + params[k].size > c->len)
            return bad(c, "params", "must be ascending and inside of bytes");
        end = params[k].at + params[k].size;
    }
    if (end != c->len)
        return bad(c, "bytes", "must end with the last parameter");
    if (!is_no_place(&op->to) || !is_no_place(&op->from) || op->n_bytes != 0 || op->value != 0 ||
        op->element_bytes != 0)
        return bad(c, "kind", "a launch has no to, from, n_bytes, value or element_bytes");
    int rc = check_pointers(c);
    return rc == 0 ? check_maps(c) : rc;
}

static int check_memset(const struct checked *c)
{
    const struct hone_plan_op *op = c->op;
    if (op->element_bytes != 1 && op->element_bytes != 2 && op->element_bytes != 4)
        return bad(c, "element_bytes", "must be 1, 2 or 4");
    if (op->n_bytes % op->element_bytes != 0)
        return bad(c, "n_bytes", "must be a multiple of element_bytes");
    if (op->element_bytes < 4 && op->value >= 1ll << (8 * op->element_bytes))
        return bad(c, "value", "does not fit element_bytes");
    return op->bytes == NULL ? 0 : bad(c, "bytes", "a memset has none");
}

static int check_transfer(const struct checked *c)
{
    const struct hone_plan_op *op = c->op;
    bool is_memset = strcmp(op->kind, "memset") == 0, is_copy = strcmp(op->kind, "copy") == 0;
    if (op->kernel != NULL || op->params.n != 0 || op->maps.n != 0 || op->shared_bytes != 0 ||
        op->is_cooperative || op->is_programmatic || op->shared_carveout != -1)
        return bad(c, "kind", "only a launch has kernel, params, maps or a shape");
    const struct hone_plan_dim *dims[] = {&op->grid, &op->block, &op->cluster};
    for (size_t k = 0; k < HONE_COUNTOF(dims); k++)
        if (dims[k]->x != 0 || dims[k]->y != 0 || dims[k]->z != 0)
            return bad(c, "kind", "only a launch has a shape");
    if (op->n_bytes < 1)
        return bad(c, "n_bytes", "must be 1 or more");
    if (!is_place(c, &op->to))
        return bad(c, "to", "must name a buffer of the plan, or -1 and a symbol");
    if (is_copy ? !is_place(c, &op->from) : !is_no_place(&op->from))
        return bad(c, "from", "a copy needs one, nothing else has one");
    if (!is_memset && (op->value != 0 || op->element_bytes != 0))
        return bad(c, "value", "only a memset has value and element_bytes");
    if (is_memset || is_copy) {
        if (op->pointers.n != 0)
            return bad(c, "pointers", "only launches and literals have pointers");
        if (is_memset)
            return check_memset(c);
        return op->bytes == NULL ? 0 : bad(c, "bytes", "a copy has none");
    }
    if (c->len != op->n_bytes)
        return bad(c, "bytes", "a literal has n_bytes of them");
    return check_pointers(c);
}

int hone_plan_valid(const struct hone_plan *plan, struct hone_err *err)
{
    const struct hone_plan_op *ops = plan->ops.v;
    const struct hone_plan_number *scratch = plan->scratch.v;
    int64_t literal_bytes = 0;

    if (plan->ops.n > HONE_LIMIT_PLAN_OPS)
        return hone_fail_at(err, HONE_E_LIMIT, "ops", "%zu operations, at most %d are accepted",
                            plan->ops.n, HONE_LIMIT_PLAN_OPS);
    if (plan->scratch.n > HONE_LIMIT_PLAN_SCRATCH)
        return hone_fail_at(err, HONE_E_LIMIT, "scratch", "%zu buffers, at most %d are accepted",
                            plan->scratch.n, HONE_LIMIT_PLAN_SCRATCH);
    for (size_t i = 0; i < plan->scratch.n; i++)
        if (scratch[i].value < 1 || scratch[i].value > HONE_LIMIT_JAIL_BYTES)
            return hone_fail_at(err, HONE_E_ARG, "scratch", "buffer %zu has %lld bytes", i,
                                (long long)scratch[i].value);
    for (size_t i = 0; i < plan->ops.n; i++) {
        struct checked c = {.plan = plan, .op = &ops[i], .i = i, .err = err};
        if (ops[i].bytes != NULL && (!is_hex(ops[i].bytes) || strlen(ops[i].bytes) % 2 != 0))
            return bad(&c, "bytes", "must be pairs of hex digits (lower case)");
        c.len = ops[i].bytes == NULL ? 0 : (int64_t)(strlen(ops[i].bytes) / 2);
        int rc = check_after(&c);
        if (rc == 0)
            rc = strcmp(ops[i].kind, "launch") == 0 ? check_launch(&c) : check_transfer(&c);
        if (rc < 0)
            return rc;
        if (strcmp(ops[i].kind, "literal") == 0)
            literal_bytes += c.len;
    }
    if (literal_bytes > HONE_LIMIT_PLAN_LITERAL_BYTES)
        return hone_fail_at(err, HONE_E_LIMIT, "ops",
                            "%lld bytes are copied from the host, at most %d are accepted; fix: "
                            "compute them in a kernel, or put them in __constant__ memory with an "
                            "initialiser",
                            (long long)literal_bytes, HONE_LIMIT_PLAN_LITERAL_BYTES);
    return 0;
}

int hone_plan_parse(const char *text, size_t len, struct hone_pool *pool, struct hone_plan *ret,
                    struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_plan plan;

    if (len > HONE_LIMIT_PLAN_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "the plan is %zu bytes, at most %u are read", len,
                         HONE_LIMIT_PLAN_BYTES);
    int rc = hone_json_parse(text, len, &json, err);
    if (rc == 0)
        rc = hone_fields_decode(json, hone_plan_fields, hone_plan_n_fields, &plan, sizeof plan,
                                pool, err);
    if (rc == 0)
        rc = hone_plan_valid(&plan, err);
    if (rc == 0)
        *ret = plan;
    return rc;
}

char *hone_plan_print(const struct hone_plan *plan)
{
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(plan, hone_plan_fields, hone_plan_n_fields);
    return hone_json_print(json);
}

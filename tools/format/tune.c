/* SPDX-License-Identifier: Apache-2.0 */
/* Tunables: constants that the source offers for sweeping.
 *
 *     #pragma hone tune(TILE: 8, 16, 32) tune(UNROLL: 1, 2) where(TILE * UNROLL <= 32)
 *
 * The first value is the default. A scanner walks the preprocessor directives of the text
 * (comments, strings and continued lines are respected, so that a pragma in a comment is none); a
 * small parser reads the clauses of those that begin with `#pragma hone`. The same walk tells which
 * names other directives use: an `enum` constant is invisible to `#if`, so those become macros in
 * the prologue, the others stay typed constants. */
#include "tools/format/options.h"

#include "workspace/base/limits.h"

#include <ctype.h>
#include <string.h>

/* One directive, from '#' up to its end (continuations and comments included). */
struct directive {
    const char *start, *end;
    int64_t line;
};

struct scan {
    const char *at;
    int64_t line;
    bool is_line_start; /* only blanks since the last newline */
};

static const char *skip_comment(const char *at, int64_t *line)
{
    if (at[1] == '/') {
        while (*at != '\0' && *at != '\n')
            at++;
        return at;
    }
    for (at += 2; *at != '\0'; at++) {
        if (*at == '\n')
            (*line)++;
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    }
    return at;
}

static bool is_comment(const char *at)
{
    return at[0] == '/' && (at[1] == '/' || at[1] == '*');
}

static const char *skip_string(const char *at, int64_t *line)
{
    char quote = *at++;

    while (*at != '\0' && *at != quote && *at != '\n') {
        if (at[0] == '\\' && at[1] != '\0')
            *line += *++at == '\n';
        at++;
    }
    return *at == quote ? at + 1 : at;
}

static const char *directive_end(const char *at, int64_t *line)
{
    while (*at != '\0' && *at != '\n') {
        if (at[0] == '\\' && at[1] == '\n') {
            (*line)++;
            at += 2;
        } else if (is_comment(at)) {
            at = skip_comment(at, line);
        } else {
            at++;
        }
    }
    return at;
}

static bool next_directive(struct scan *s, struct directive *ret)
{
    while (*s->at != '\0') {
        if (*s->at == '#' && s->is_line_start) {
            ret->start = s->at;
            ret->line = s->line;
            s->at = ret->end = directive_end(s->at, &s->line);
            return true;
        }
        if (*s->at == '\n') {
            s->line++;
            s->is_line_start = true;
            s->at++;
        } else if (is_comment(s->at)) {
            s->at = skip_comment(s->at, &s->line);
        } else if (*s->at == '"' || *s->at == '\'') {
            s->is_line_start = false;
            s->at = skip_string(s->at, &s->line);
        } else {
            s->is_line_start = s->is_line_start && isspace((unsigned char)*s->at);
            s->at++;
        }
    }
    return false;
}

/* Where one axis stands in the text, besides what it says. */
struct axis_text {
    struct hone_tune_axis axis;
    const char *values_start, *values_end;
};

struct parser {
    const char *at, *end;
    int64_t line;
    struct hone_pool *pool;
    struct hone_err *err;
    struct axis_text *axes; /* HONE_LIMIT_TUNABLES of them */
    size_t n_axes;
    const char *where;
    const char *lane; /* "nvcc", "nvrtc"; NULL: not asked for */
};

static void skip_space(struct parser *p)
{
    while (p->at < p->end) {
        if (isspace((unsigned char)*p->at) || (p->at[0] == '\\' && p->at[1] == '\n'))
            p->at++;
        else if (is_comment(p->at))
            p->at = skip_comment(p->at, &p->line);
        else
            break;
    }
    if (p->at > p->end)
        p->at = p->end;
}

static int bad(struct parser *p, const char *what)
{
    return hone_fail(p->err, HONE_E_ARG, "line %lld: #pragma hone: %s", (long long)p->line, what);
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static size_t take_name(struct parser *p, const char **ret)
{
    skip_space(p);
    *ret = p->at;
    if (p->at < p->end && !isdigit((unsigned char)*p->at))
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
            p->at++;
    return (size_t)(p->at - *ret);
}

static bool take_word(struct parser *p, const char *word)
{
    const char *start, *saved = p->at;
    size_t len = take_name(p, &start);

    if (len == strlen(word) && memcmp(start, word, len) == 0)
        return true;
    p->at = saved;
    return false;
}

static int take_value(struct parser *p, int64_t *ret)
{
    bool is_negative = take(p, '-');
    int64_t value = 0;

    skip_space(p);
    if (p->at == p->end || !isdigit((unsigned char)*p->at))
        return bad(p, "expected an integer; write tune(NAME: 8, 16, 32)");
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
        value = value * 10 + (*p->at - '0');
        if (value > HONE_LIMIT_TUNE_VALUE)
            return bad(p, "a value is beyond one thousand million");
    }
    *ret = is_negative ? -value : value;
    return 0;
}

static bool has_value(const struct hone_i64s *values, int64_t value)
{
    for (size_t i = 0; i < values->n; i++)
        if (values->v[i] == value)
            return true;
    return false;
}

static struct axis_text *find_axis(const struct parser *p, const char *name, size_t len)
{
    for (size_t i = 0; i < p->n_axes; i++)
        if (strlen(p->axes[i].axis.name) == len && memcmp(p->axes[i].axis.name, name, len) == 0)
            return &p->axes[i];
    return NULL;
}

static int parse_values(struct parser *p, struct axis_text *axis)
{
    struct hone_i64s *values = &axis->axis.values;

    values->v = hone_pool_alloc(p->pool, HONE_LIMIT_TUNE_VALUES * sizeof(int64_t));
    skip_space(p);
    axis->values_start = p->at;
    do {
        int64_t value = 0;
        int rc = take_value(p, &value);
        if (rc < 0)
            return rc;
        if (has_value(values, value))
            return bad(p, "a value is listed twice");
        if (values->n == HONE_LIMIT_TUNE_VALUES)
            return bad(p, "more than 32 values of one tunable");
        values->v[values->n++] = value;
        axis->values_end = p->at;
    } while (take(p, ','));
    return 0;
}

/* After "tune(": NAME: values [; NAME: values]... ')' */
static int parse_tune(struct parser *p)
{
    do {
        const char *name;
        size_t len = take_name(p, &name);
        struct axis_text *axis;
        int rc;

        if (len == 0 || len > HONE_LIMIT_NAME_BYTES)
            return bad(p, "expected a name of at most 64 letters; write tune(NAME: 8, 16, 32)");
        if (find_axis(p, name, len) != NULL)
            return bad(p, "a tunable is declared twice");
        if (p->n_axes == HONE_LIMIT_TUNABLES)
            return bad(p, "more than 8 tunables in one source");
        if (!take(p, ':'))
            return bad(p, "expected ':' after the name; write tune(NAME: 8, 16, 32)");
        axis = &p->axes[p->n_axes];
        axis->axis = (struct hone_tune_axis){.name = hone_pool_strndup(p->pool, name, len)};
        rc = parse_values(p, axis);
        if (rc < 0)
            return rc;
        p->n_axes++;
    } while (take(p, ';'));
    return take(p, ')') ? 0 : bad(p, "expected ')' after the values");
}

/* After "where(": everything up to the matching ')'. */
static int parse_where(struct parser *p)
{
    const char *start = p->at;
    int depth = 1;
    char *text;

    while (p->at < p->end && depth > 0) {
        depth += *p->at == '(' ? 1 : *p->at == ')' ? -1 : 0;
        p->at++;
    }
    if (depth != 0)
        return bad(p, "where( lacks its ')'");
    if (p->at - start > HONE_LIMIT_EXPR_BYTES)
        return bad(p, "where() is longer than 512 bytes");
    if (p->where != NULL && strlen(p->where) > HONE_LIMIT_EXPR_BYTES)
        return bad(p, "too many where()");
    text = hone_pool_strndup(p->pool, start, (size_t)(p->at - start - 1));
    p->where = p->where == NULL ? text : hone_pool_printf(p->pool, "(%s) && (%s)", p->where, text);
    return 0;
}

/* After "lane(": which compilers build a CUDA source. */
static int parse_lane(struct parser *p)
{
    static const char *const lanes[] = {"nvcc", "nvrtc"};
    for (size_t i = 0; i < HONE_COUNTOF(lanes); i++)
        if (take_word(p, lanes[i])) {
            p->lane = lanes[i];
            return take(p, ')') ? 0 : bad(p, "expected ')' after the lane");
        }
    return bad(p, "a lane is nvrtc or nvcc; write lane(nvcc)");
}

static int parse_clauses(struct parser *p)
{
    int rc = 0;

    for (skip_space(p); rc == 0 && p->at < p->end; skip_space(p)) {
        if (take_word(p, "tune"))
            rc = take(p, '(') ? parse_tune(p) : bad(p, "expected '(' after tune");
        else if (take_word(p, "where"))
            rc = take(p, '(') ? parse_where(p) : bad(p, "expected '(' after where");
        else if (take_word(p, "lane"))
            rc = take(p, '(') ? parse_lane(p) : bad(p, "expected '(' after lane");
        else if (!take(p, ','))
            rc = bad(p, "expected tune(NAME: values), where(condition) or lane(nvcc)");
    }
    return rc;
}

/* True and behind the words when the directive is `#pragma hone`. */
static bool is_hone_pragma(struct parser *p, const struct directive *d)
{
    p->at = d->start + 1;
    p->end = d->end;
    p->line = d->line;
    return take_word(p, "pragma") && take_word(p, "hone");
}

static int default_values(const struct parser *p, struct hone_tunable *ret)
{
    int64_t is_legal = 1;
    int rc = 0;

    for (size_t i = 0; i < p->n_axes; i++)
        ret[i] = (struct hone_tunable){p->axes[i].axis.name, p->axes[i].axis.values.v[0]};
    if (p->where != NULL)
        rc = hone_where_eval(p->where, ret, p->n_axes, &is_legal, p->err);
    if (rc == 0 && is_legal == 0)
        rc = hone_fail(p->err, HONE_E_ARG,
                       "the first values, which are the default, break where(%.100s)", p->where);
    return rc;
}

static int parse_source(struct parser *p, const char *source)
{
    struct scan scan = {.at = source, .line = 1, .is_line_start = true};
    struct directive d;
    struct hone_tunable values[HONE_LIMIT_TUNABLES];

    while (next_directive(&scan, &d)) {
        int rc = is_hone_pragma(p, &d) ? parse_clauses(p) : 0;
        if (rc < 0)
            return rc;
    }
    return default_values(p, values);
}

int hone_tune_parse(const char *source, struct hone_pool *pool, struct hone_array *ret_axes,
                    const char **ret_where, struct hone_err *err)
{
    struct axis_text axes[HONE_LIMIT_TUNABLES];
    struct parser p = {.pool = pool, .err = err, .axes = axes};
    struct hone_tune_axis *out;
    int rc = parse_source(&p, source);

    if (rc < 0)
        return rc;
    out = hone_pool_alloc(pool, (p.n_axes + 1) * sizeof(*out));
    for (size_t i = 0; i < p.n_axes; i++)
        out[i] = axes[i].axis;
    *ret_axes = (struct hone_array){.v = out, .n = p.n_axes};
    *ret_where = p.where;
    return 0;
}

int hone_lane_parse(const char *source, struct hone_pool *pool, const char **ret_lane,
                    struct hone_err *err)
{
    struct axis_text axes[HONE_LIMIT_TUNABLES];
    struct parser p = {.pool = pool, .err = err, .axes = axes};
    int rc = parse_source(&p, source);

    *ret_lane = p.lane;
    return rc;
}

static void set_point(const struct hone_tune_axis *axes, size_t n_axes, int64_t number,
                      struct hone_tunable *ret)
{
    for (size_t i = n_axes; i-- > 0;) { /* the last axis changes fastest */
        int64_t n = (int64_t)axes[i].values.n;
        ret[i] = (struct hone_tunable){axes[i].name, axes[i].values.v[number % n]};
        number /= n;
    }
}

int hone_tune_points(const struct hone_array *axes, const char *where, struct hone_pool *pool,
                     struct hone_array *ret_points, struct hone_err *err)
{
    const struct hone_tune_axis *axis = axes->v;
    struct hone_point *points;
    int64_t n_all = 1;
    size_t n = 0;

    for (size_t i = 0; i < axes->n; i++)
        if (axis[i].values.n == 0 ||
            __builtin_mul_overflow(n_all, (int64_t)axis[i].values.n, &n_all) ||
            n_all > HONE_LIMIT_TUNE_COMBINATIONS)
            return hone_fail(err, HONE_E_LIMIT, "the tunables have more than %d combinations",
                             HONE_LIMIT_TUNE_COMBINATIONS);
    points = hone_pool_alloc(pool, HONE_LIMIT_TUNE_POINTS * sizeof(*points));
    for (int64_t k = 0; k < n_all; k++) {
        struct hone_tunable values[HONE_LIMIT_TUNABLES];
        int64_t is_legal = 1;
        int rc = 0;

        set_point(axis, axes->n, k, values);
        if (where != NULL)
            rc = hone_where_eval(where, values, axes->n, &is_legal, err);
        if (rc < 0)
            return rc;
        if (is_legal == 0)
            continue;
        if (n == HONE_LIMIT_TUNE_POINTS)
            return hone_fail(
                err, HONE_E_LIMIT,
                "more than %d legal combinations; list fewer values or tighten where()",
                HONE_LIMIT_TUNE_POINTS);
        points[n].tunables.n = axes->n;
        points[n].tunables.v = hone_pool_alloc(pool, (axes->n + 1) * sizeof(values[0]));
        memcpy(points[n].tunables.v, values, axes->n * sizeof(values[0]));
        n++;
    }
    *ret_points = (struct hone_array){.v = points, .n = n};
    return 0;
}

static bool uses_name(const struct directive *d, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = d->start + 1; at + len <= d->end; at++) { /* behind the # */
        bool starts = !isalnum((unsigned char)at[-1]) && at[-1] != '_';
        bool ends = at + len == d->end || (!isalnum((unsigned char)at[len]) && at[len] != '_');
        if (starts && ends && memcmp(at, name, len) == 0)
            return true;
    }
    return false;
}

static bool is_pragma(const struct directive *d)
{
    const char *word = d->start + 1 + strspn(d->start + 1, " \t");

    return strncmp(word, "pragma", strlen("pragma")) == 0;
}

static bool is_in_directive(const char *source, const char *name, bool with_pragmas)
{
    struct scan scan = {.at = source, .line = 1, .is_line_start = true};
    struct directive d;

    while (next_directive(&scan, &d)) {
        struct parser p = {.at = NULL};
        if (!is_hone_pragma(&p, &d) && (with_pragmas || !is_pragma(&d)) && uses_name(&d, name))
            return true;
    }
    return false;
}

/* Lays the given values over the defaults and checks that the whole is legal. */
static int choose_values(const struct parser *p, const struct hone_array *tunables,
                         struct hone_tunable *ret)
{
    const struct hone_tunable *given = tunables->v;
    int64_t is_legal = 1;
    int rc = default_values(p, ret);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < tunables->n; i++) {
        const struct axis_text *axis = find_axis(p, given[i].name, strlen(given[i].name));
        if (axis == NULL)
            return hone_fail_at(
                p->err, HONE_E_ARG, "tunables",
                "'%.60s' is not declared; add #pragma hone tune(%.60s: %lld) to the source",
                given[i].name, given[i].name, (long long)given[i].value);
        if (given[i].value < -HONE_LIMIT_TUNE_VALUE || given[i].value > HONE_LIMIT_TUNE_VALUE)
            return hone_fail_at(p->err, HONE_E_ARG, "tunables",
                                "'%.60s' is beyond one thousand million", given[i].name);
        ret[axis - p->axes].value = given[i].value;
    }
    if (p->where != NULL)
        rc = hone_where_eval(p->where, ret, p->n_axes, &is_legal, p->err);
    if (rc == 0 && is_legal == 0)
        rc = hone_fail_at(p->err, HONE_E_ARG, "tunables", "the values break where(%.100s)",
                          p->where);
    return rc;
}

struct prologue_style { /* around name and value of a constant */
    const char *start, *between, *end;
    bool does_reach_pragmas; /* nvcc reads no macros there, but constants */
};

static int make_prologue(const char *source, const struct hone_array *tunables,
                         const struct prologue_style *style, struct hone_pool *pool,
                         const char **ret_text, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    struct axis_text axes[HONE_LIMIT_TUNABLES];
    struct hone_tunable values[HONE_LIMIT_TUNABLES];
    struct parser p = {.pool = pool, .err = err, .axes = axes};
    int rc = parse_source(&p, source);

    if (rc == 0)
        rc = choose_values(&p, tunables, values);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < p.n_axes; i++) {
        long long value = (long long)values[i].value;
        if (is_in_directive(source, values[i].name, !style->does_reach_pragmas))
            hone_buf_printf(&text, "#define %s (%lld)\n", values[i].name, value);
        else
            hone_buf_printf(&text, "%s%s%s%lld%s\n", style->start, values[i].name, style->between,
                            value, style->end);
    }
    rc = hone_buf_check(&text, err);
    if (rc < 0)
        return rc;
    *ret_text = hone_pool_strdup(pool, text.data != NULL ? text.data : "");
    return 0;
}

int hone_tune_prologue(const char *source, const struct hone_array *tunables,
                       struct hone_pool *pool, const char **ret_text, struct hone_err *err)
{
    static const struct prologue_style c_style = {"enum { ", " = ", " };", false};
    return make_prologue(source, tunables, &c_style, pool, ret_text, err);
}

int hone_tune_prologue_cuda(const char *source, const struct hone_array *tunables,
                            struct hone_pool *pool, const char **ret_text, struct hone_err *err)
{
    static const struct prologue_style cuda_style = {"constexpr int ", " = ", ";", true};
    return make_prologue(source, tunables, &cuda_style, pool, ret_text, err);
}

int hone_tune_defines(const char *source, const struct hone_array *tunables, struct hone_pool *pool,
                      const char **ret_text, struct hone_err *err)
{
    static const struct prologue_style define_style = {"#define ", " (", ")", false};
    return make_prologue(source, tunables, &define_style, pool, ret_text, err);
}

const char *hone_tune_strip(const char *source, struct hone_pool *pool)
{
    struct scan scan = {.at = source, .line = 1, .is_line_start = true};
    struct directive d;
    const char *done = source, *text = "";

    while (next_directive(&scan, &d)) {
        struct parser p = {.at = NULL};
        if (!is_hone_pragma(&p, &d))
            continue;
        const char *next = *d.end == '\n' ? d.end + 1 : d.end;
        text = hone_pool_printf(pool, "%s%.*s", text, (int)(d.start - done), done);
        done = next;
    }
    return hone_pool_printf(pool, "%s%s", text, done);
}

int hone_tune_set_default(const char *source, const struct hone_array *tunables,
                          struct hone_pool *pool, const char **ret_source, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    struct axis_text axes[HONE_LIMIT_TUNABLES];
    struct hone_tunable values[HONE_LIMIT_TUNABLES];
    struct parser p = {.pool = pool, .err = err, .axes = axes};
    const char *done = source;
    int rc = parse_source(&p, source);

    if (rc == 0)
        rc = choose_values(&p, tunables, values);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < p.n_axes; i++) { /* axes stand in the order of the text */
        const struct hone_i64s *listed = &axes[i].axis.values;
        if (values[i].value == listed->v[0])
            continue;
        hone_buf_add(&text, done, (size_t)(axes[i].values_start - done));
        hone_buf_printf(&text, "%lld", (long long)values[i].value);
        for (size_t k = 0; k < listed->n; k++)
            if (listed->v[k] != values[i].value)
                hone_buf_printf(&text, ", %lld", (long long)listed->v[k]);
        done = axes[i].values_end;
    }
    hone_buf_str(&text, done);
    rc = hone_buf_check(&text, err);
    if (rc < 0)
        return rc;
    *ret_source = hone_pool_strdup(pool, text.data);
    return 0;
}

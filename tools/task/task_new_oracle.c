/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of a plain sum: where the function's body is one sum an output element, oracle.c
 * gets an ITEM with PUT_SCALED instead of the function itself.
 *
 * The function as its own reference has no scale, so that a long sum of floats errs by more than the
 * tolerance, or inputs rounded to 16 bits pass. What is recognised, token by token:
 *
 *     [for each outer index]  T s = 0;  for each inner index { [T d = ...;] s += TERM; }
 *                             out[...] = s;   or return s;
 *
 * or sums into the output itself, with loops in any order around them:
 *
 *     out[...] = 0;  or  out[...] *= beta;  or what it held;  ...  out[...] += TERM;
 *
 * Loops run from 0 by 1 to an axis. Of anything else the function stays its own reference. */
#include "tools/task/task_new_internal.h"

#include <ctype.h>
#include <string.h>

#include "tools/task/c_tokens.h"

enum { MAX_OUTER = 3 };

struct sum {
    struct hone_new_work *w;
    struct hone_c_tokens t;
    size_t at, end;                   /* tokens of the body */
    const char *index[MAX_OUTER + 1]; /* of the loops, the inner one last */
    const char *bound[MAX_OUTER + 1]; /* axes */
    size_t n_loops;
    const char *name, *local;      /* s and d; "", NULL: there is none */
    const char *local_text, *term; /* in the oracle's words */
    const char *where, *factor;    /* index of the output's element; "* alpha", "" */
    size_t output;
    struct loop {
        const char *index, *bound;
    } outer[MAX_OUTER + 1], inner[MAX_OUTER + 1]; /* of the item, and of its terms */
    size_t n_outer, n_inner;
    const char *start;       /* what the sum begins with, in the oracle's words */
    const char *start_where; /* index of a start that was set; NULL: none */
};

static bool eat(struct sum *s, const char *text)
{
    bool is_there = s->at < s->end && hone_c_is(&s->t.v[s->at], text);
    s->at += is_there;
    return is_there;
}

static const char *eat_word(struct sum *s)
{
    if (s->at >= s->end || !hone_c_is_word(&s->t.v[s->at]))
        return NULL;
    const struct hone_c_token *t = &s->t.v[s->at++];
    return hone_pool_strndup(s->w->pool, t->at, t->len);
}

static bool eat_name(struct sum *s, const char *name)
{
    return name && eat(s, name);
}

static bool eat_float_type(struct sum *s)
{
    return eat(s, "float") || eat(s, "double");
}

static bool is_integer_type(const char *word)
{
    static const char *const words[] = {"int",     "long",  "size_t",   "unsigned", "int32_t",
                                        "int64_t", "short", "uint32_t", "uint64_t", "ptrdiff_t"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static bool eat_integer_type(struct sum *s)
{
    size_t start = s->at;
    for (const char *word = eat_word(s); word && is_integer_type(word); word = eat_word(s))
        start = s->at;
    s->at = start;
    return start > 0 && hone_c_is_word(&s->t.v[start - 1]);
}

/* `int i, j;`: nothing that counts. */
static void skip_declarations(struct sum *s)
{
    for (size_t start = s->at; start < s->end; start = s->at) {
        const char *type = eat_word(s);
        bool is_plain = type && is_integer_type(type);
        while (is_plain && eat_word(s) && eat(s, ","))
            continue;
        if (!is_plain || !eat(s, ";")) {
            s->at = start;
            return;
        }
    }
}

static bool eat_zero(struct sum *s)
{
    size_t start = s->at;
    bool is_zero = eat(s, "0");
    if (is_zero && eat(s, "."))
        (void)(eat(s, "0") || eat(s, "0f") || eat(s, "f"));
    return is_zero || (s->at = start, false);
}

/* for (int i = 0; i < n; i++) */
static bool eat_loop(struct sum *s)
{
    if (s->n_loops > MAX_OUTER || !eat(s, "for") || !eat(s, "("))
        return false;
    const struct hone_c_token *first = &s->t.v[s->at];
    if (hone_c_is_word(first) &&
        is_integer_type(hone_pool_strndup(s->w->pool, first->at, first->len)))
        eat_integer_type(s);
    const char *index = eat_word(s);
    if (!index || !eat(s, "=") || !eat(s, "0") || !eat(s, ";") || !eat_name(s, index) ||
        !eat(s, "<"))
        return false;
    const char *bound = eat_word(s);
    if (!bound || hone_new_find_axis(s->w, bound) < 0 || !eat(s, ";"))
        return false;
    bool is_before = eat(s, "+") && eat(s, "+");
    if (!eat_name(s, index) ||
        !(is_before || (eat(s, "+") && (eat(s, "+") || (eat(s, "=") && eat(s, "1"))))) ||
        !eat(s, ")"))
        return false;
    s->index[s->n_loops] = index;
    s->bound[s->n_loops++] = bound;
    return true;
}

static const char *function_word(const char *word)
{
    static const char *const words[] = {"fabs",  "sqrt",  "exp",  "log",  "fmin",  "fmax",
                                        "fabsf", "sqrtf", "expf", "logf", "fminf", "fmaxf"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (strcmp(words[i], word) == 0)
            return words[i % 6];
    return NULL;
}

static const struct hone_new_tensor *find_input(const struct sum *s, const char *name)
{
    for (size_t i = 0; i < s->w->n_inputs; i++)
        if (strcmp(s->w->inputs[i].name, name) == 0 && s->w->inputs[i].rank > 0 &&
            s->w->inputs[i].param->n_dims < 2)
            return &s->w->inputs[i];
    return NULL;
}

/* A word of an index or a term that means the same in the oracle. */
static bool is_known_value(const struct sum *s, const char *word)
{
    bool is_known = hone_new_find_axis(s->w, word) >= 0 || (s->local && !strcmp(word, s->local));
    for (size_t i = 0; i < s->n_loops; i++)
        is_known = is_known || strcmp(word, s->index[i]) == 0;
    for (size_t i = 0; i < s->w->n_scalars; i++)
        is_known = is_known || (strcmp(word, s->w->scalars[i].name) == 0 &&
                                hone_dtype_is_float(s->w->scalars[i].dtype));
    return is_known;
}

/* Tokens up to `stop` in the oracle's words; NULL: one means something else there. */
static const char *translate(struct sum *s, const char *stop, bool is_index)
{
    const char *text = "";
    struct hone_pool *pool = s->w->pool;
    for (int depth = 0; s->at < s->end; s->at++) {
        const struct hone_c_token *t = &s->t.v[s->at];
        const char *word = hone_pool_strndup(pool, t->at, t->len);
        if (depth == 0 && hone_c_is(t, stop)) {
            s->at++;
            return *text ? text : NULL;
        }
        depth += hone_c_is(t, "(") - hone_c_is(t, ")");
        if (hone_c_is_word(t)) {
            const char *function = is_index ? NULL : function_word(word);
            if (!is_index && find_input(s, word)) {
                if (!hone_dtype_is_float(find_input(s, word)->dtype))
                    return NULL; /* products of integers are not doubles */
                s->at++;
                const char *index = eat(s, "[") ? translate(s, "]", true) : NULL;
                s->at--;
                if (!index)
                    return NULL;
                text = hone_pool_printf(pool, "%s%s(%s)", text, word, index);
                continue;
            }
            if (!function && !is_known_value(s, word))
                return NULL;
            word = function ? function : word;
        } else if (!isdigit((unsigned char)*t->at) &&
                   !strchr(is_index ? "+-*()" : "+-*/().,", *t->at)) {
            return NULL;
        }
        bool is_spaced = strchr("+-*/", *t->at) != NULL;
        text = hone_pool_printf(pool, is_spaced ? "%s %s " : "%s%s", text, word);
    }
    return NULL;
}

/* out[...] = s; *out = s; return s; with "* alpha" or "/ n" behind s. */
static bool eat_result(struct sum *s)
{
    const struct hone_new_work *w = s->w;
    bool is_star = eat(s, "*");
    const char *word = eat_word(s);
    if (!word)
        return false;
    s->where = "item";
    if (strcmp(word, "return") == 0) {
        s->output = w->n_outputs - 1;
    } else {
        while (s->output < w->n_outputs && strcmp(w->outputs[s->output].name, word) != 0)
            s->output++;
        if (s->output == w->n_outputs)
            return false;
        if (!is_star && eat(s, "[") && eat(s, "0") && eat(s, "]"))
            is_star = true;
        else if (!is_star && (s->where = translate(s, "]", true)) == NULL)
            return false;
        if (!eat(s, "="))
            return false;
    }
    if (!eat_name(s, s->name))
        return false;
    const char *sign = eat(s, "*") ? "*" : eat(s, "/") ? "/" : NULL;
    const char *factor = sign ? eat_word(s) : NULL;
    s->factor = sign ? hone_pool_printf(w->pool, " %s %s", sign, factor ? factor : "") : "";
    return (!sign || (factor && is_known_value(s, factor))) && eat(s, ";");
}

static bool eat_body(struct sum *s)
{
    int n_braces = 0, n_inner;
    skip_declarations(s);
    while (hone_c_is(&s->t.v[s->at], "for")) {
        if (!eat_loop(s))
            return false;
        n_braces += eat(s, "{");
        skip_declarations(s);
    }
    if (!eat_float_type(s) || !(s->name = eat_word(s)) || !eat(s, "=") || !eat_zero(s) ||
        !eat(s, ";"))
        return false;
    skip_declarations(s);
    if (!eat_loop(s))
        return false;
    n_inner = eat(s, "{");
    if (n_inner && eat_float_type(s)) {
        const char *local = eat_word(s);
        if (!local || !eat(s, "=") || !(s->local_text = translate(s, ";", false)))
            return false;
        s->local = local;
    }
    if (!eat_name(s, s->name) || !eat(s, "+") || !eat(s, "=") ||
        !(s->term = translate(s, ";", false)) || (n_inner && !eat(s, "}")) || !eat_result(s))
        return false;
    while (n_braces-- > 0)
        if (!eat(s, "}"))
            return false;
    return s->at == s->end;
}

/* ---- sums into the output ---- */

static bool eat_statements(struct sum *s);

/* The loops around out[where] += TERM: those of the output's dimensions, and the rest. */
static bool sort_loops(struct sum *s, const struct hone_new_tensor *out)
{
    bool is_used[MAX_OUTER + 1] = {false};
    const char *want = "";
    for (size_t d = 0; d < out->rank; d++) {
        size_t l = 0;
        while (l < s->n_loops &&
               (is_used[l] || strcmp(s->bound[l], s->w->axes[out->shape[d]].name) != 0 ||
                !hone_c_has_word(s->where, s->index[l], s->w->pool)))
            l++;
        if (l == s->n_loops)
            return false;
        is_used[l] = true;
        s->outer[s->n_outer++] = (struct loop){s->index[l], s->bound[l]};
        want = d == 0
                   ? s->index[l]
                   : hone_pool_printf(s->w->pool, "%s * %s + %s", want, s->bound[l], s->index[l]);
    }
    for (size_t l = 0; l < s->n_loops; l++)
        if (!is_used[l])
            s->inner[s->n_inner++] = (struct loop){s->index[l], s->bound[l]};
    return out->rank > 0 && out->rank < 3 && s->n_inner > 0 && strcmp(want, s->where) == 0;
}

/* out[...] = 0; out[...] *= beta; out[...] += TERM; */
static bool eat_output(struct sum *s)
{
    const struct hone_new_work *w = s->w;
    const char *word = eat_word(s);
    size_t o = 0;
    while (word && o < w->n_outputs && strcmp(w->outputs[o].name, word) != 0)
        o++;
    if (!word || o == w->n_outputs || o != s->output || !eat(s, "["))
        return false;
    const char *where = translate(s, "]", true);
    if (!where || s->term) /* the terms come last */
        return false;
    if (eat(s, "=") || eat(s, "*")) {
        bool is_zero = hone_c_is(&s->t.v[s->at - 1], "=");
        const char *factor = NULL;
        if (s->start_where || (is_zero ? !eat_zero(s) : !eat(s, "=") || !(factor = eat_word(s))))
            return false;
        s->start = is_zero ? "0" : hone_pool_printf(w->pool, "%s_in(%s) * %s", word, where, factor);
        s->start_where = where;
        return (is_zero || is_known_value(s, factor)) && eat(s, ";");
    }
    s->where = where;
    return eat(s, "+") && eat(s, "=") && (s->term = translate(s, ";", false)) &&
           (!s->start_where || strcmp(s->start_where, where) == 0) && sort_loops(s, &w->outputs[o]);
}

static bool eat_statement(struct sum *s)
{
    if (!hone_c_is(&s->t.v[s->at], "for"))
        return eat_output(s);
    size_t n_loops = s->n_loops;
    if (!eat_loop(s) || !(eat(s, "{") ? eat_statements(s) && eat(s, "}") : eat_statement(s)))
        return false;
    s->n_loops = n_loops;
    return true;
}

static bool eat_statements(struct sum *s)
{
    skip_declarations(s);
    while (s->at < s->end && !hone_c_is(&s->t.v[s->at], "}"))
        if (!eat_statement(s))
            return false;
    return true;
}

/* A sum into the output is read where it began, or set once for each of its elements. */
static bool eat_accumulation(struct sum *s)
{
    struct hone_new_work *w = s->w;
    const struct hone_new_tensor *old = NULL;
    if (w->n_outputs != 1 || !w->outputs[0].param || !hone_dtype_is_float(w->outputs[0].dtype) ||
        w->outputs[0].param->n_dims > 1 || !eat_statements(s) || s->at != s->end || !s->term)
        return false;
    for (size_t i = 0; i < w->n_inputs; i++)
        old = w->inputs[i].is_copied ? &w->inputs[i] : old;
    if (!s->start_where)
        s->start = hone_pool_printf(w->pool, "%s_in(%s)", w->outputs[0].name, s->where);
    bool reads_old = strcmp(s->start, "0") != 0;
    return !reads_old ||
           (old && old->param == w->outputs[0].param &&
            strcmp(old->name, hone_pool_printf(w->pool, "%s_in", w->outputs[0].name)) == 0);
}

/* Is the output's shape the outer loops' bounds? */
static bool is_each_element(const struct sum *s)
{
    const struct hone_new_tensor *out = &s->w->outputs[s->output];
    bool same =
        s->w->n_outputs == 1 && out->rank == s->n_loops - 1 && hone_dtype_is_float(out->dtype);
    for (size_t d = 0; same && d < out->rank; d++)
        same = strcmp(s->w->axes[out->shape[d]].name, s->bound[d]) == 0;
    return same;
}

static void add_item(struct sum *s, struct hone_buf *buf)
{
    struct hone_new_work *w = s->w;
    const char *sum = hone_new_free_name(w, "sum_"), *size = hone_new_free_name(w, "size_");
    const char *partial = hone_new_free_name(w, "partial_"), *term = hone_new_free_name(w, "term_");
    hone_buf_str(buf,
                 "/* A sum of floats errs by the size of its partial sums and of its terms. */\n"
                 "ITEM(item)\n{\n");
    for (size_t i = 0; i < s->n_outer; i++) {
        hone_buf_printf(buf, "    int64_t %s = item", s->outer[i].index);
        for (size_t k = i + 1; k < s->n_outer; k++)
            hone_buf_printf(buf, " / %s", s->outer[k].bound);
        hone_buf_printf(buf, i > 0 ? " %% %s;\n" : ";\n", s->outer[i].bound);
    }
    hone_buf_printf(buf, "    double %s = %s, %s = fabs(%s), %s = 0;\n", sum, s->start, size, sum,
                    partial);
    for (size_t i = 0; i < s->n_inner; i++)
        hone_buf_printf(buf, "    for (int64_t %s = 0; %s < %s; %s++)%s\n", s->inner[i].index,
                        s->inner[i].index, s->inner[i].bound, s->inner[i].index,
                        i + 1 == s->n_inner ? " {" : "");
    if (s->local)
        hone_buf_printf(buf, "        double %s = %s;\n", s->local, s->local_text);
    hone_buf_printf(buf,
                    "        double %s = %s;\n        %s += %s;\n        %s += fabs(%s);\n"
                    "        %s += fabs(%s);\n    }\n",
                    term, s->term, sum, term, size, term, partial, sum);
    hone_buf_printf(buf, "    PUT_SCALED_%s(%s, %s%s, fabs((%s + 4 * %s) / 256%s));\n}\n",
                    w->outputs[s->output].name, s->where, sum, s->factor, partial, size, s->factor);
}

/* The loops of a sum in a variable: the last is the terms'. */
static bool eat_variable(struct sum *s)
{
    if (!eat_body(s) || !is_each_element(s))
        return false;
    s->start = "0";
    s->inner[s->n_inner++] = (struct loop){s->index[s->n_loops - 1], s->bound[s->n_loops - 1]};
    for (size_t i = 0; i + 1 < s->n_loops; i++)
        s->outer[s->n_outer++] = (struct loop){s->index[i], s->bound[i]};
    return true;
}

bool hone_new_sum_oracle(struct hone_new_work *w, struct hone_buf *buf)
{
    struct hone_c_definition d;
    struct sum *s = hone_pool_alloc(w->pool, sizeof(*s));
    size_t at = 0;
    s->w = w;
    if (hone_c_tokens_read(w->source, w->pool, &s->t, NULL) < 0)
        return false;
    while (hone_c_next_definition(&s->t, &at, &d) &&
           s->t.v[d.name].at != w->source + w->proto.name_offset)
        continue;
    s->at = d.close + 2;
    s->end = d.end;
    if (d.end >= s->t.n)
        return false;
    const struct sum fresh = *s;
    if (!eat_variable(s)) {
        *s = fresh;
        s->factor = "";
        if (!eat_accumulation(s))
            return false;
    }
    add_item(s, buf);
    const struct hone_new_tensor *out = &w->outputs[s->output];
    w->oracle_items = out->rank == 0 ? "1" : hone_new_elements(w, out);
    hone_new_note(w,
                  "oracle.c computes the sum afresh, in double and with a scale: look at it once");
    return true;
}

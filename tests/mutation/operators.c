/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators: each names one kind of mistake. */
#include <stdlib.h>
#include <string.h>

#include "tests/mutation/mutant.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"

struct change {
    const char *from, *to;
};

/* First row whose word stands at t. */
static const char *changed(const struct source *s, size_t t, const struct change *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (token_is(&s->tokens, t, rows[i].from))
            return rows[i].to;
    return NULL;
}

static bool is_binary(const struct source *s, size_t t)
{
    return t > 0 && token_is_kind(&s->tokens, t, TOKEN_PUNCT) &&
           token_ends_operand(&s->tokens, t - 1) && token_operand_end(&s->tokens, t + 1) > t + 1;
}

static void look_compare(struct source *s, size_t t)
{
    static const struct change rows[] = {{"<", "<="}, {"<=", "<"},  {">", ">="},
                                         {">=", ">"}, {"==", "!="}, {"!=", "=="}};
    const char *to = changed(s, t, rows, HONE_COUNTOF(rows));
    if (to != NULL && is_binary(s, t))
        propose(s, t, t + 1, "%s", to);
}

static void look_reverse(struct source *s, size_t t)
{
    static const struct change rows[] = {{"<", ">"}, {">", "<"}, {"<=", ">"}, {">=", "<"}};
    const char *to = changed(s, t, rows, HONE_COUNTOF(rows));
    if (to != NULL && is_binary(s, t) && s->parts[t] == NOT_IN_FOR)
        propose(s, t, t + 1, "%s", to);
}

static void look_bound(struct source *s, size_t t)
{
    if (s->parts[t] != FOR_CONDITION ||
        !(token_is(&s->tokens, t, "<") || token_is(&s->tokens, t, "<=")))
        return;
    propose(s, t, t, "+ 1 ");
    propose(s, t, t, "- 1 ");
}

static void look_start(struct source *s, size_t t)
{
    if (s->parts[t] == FOR_START && !token_is(&s->tokens, t - 1, "(") &&
        (token_is(&s->tokens, t, ";") || token_is(&s->tokens, t, ",")))
        propose(s, t, t, " + 1");
}

static void look_step(struct source *s, size_t t)
{
    if (s->parts[t] != FOR_STEP)
        return;
    if (token_is(&s->tokens, t, "++"))
        propose(s, t, t + 1, " += 2");
    if (token_is(&s->tokens, t, "+="))
        propose(s, t, t + 1, "+= 1 +");
}

static void look_arithmetic(struct source *s, size_t t)
{
    static const struct change rows[] = {{"+", "-"}, {"-", "+"},   {"*", "+"},   {"/", "*"},
                                         {"%", "/"}, {"<<", ">>"}, {">>", "<<"}, {"&", "|"}};
    const char *to = changed(s, t, rows, HONE_COUNTOF(rows));
    if (to != NULL && is_binary(s, t))
        propose(s, t, t + 1, "%s", to);
}

static void look_sign(struct source *s, size_t t)
{
    if (token_is(&s->tokens, t, "-") && t > 0 && !token_ends_operand(&s->tokens, t - 1))
        propose(s, t, t + 1, " ");
    if (token_is(&s->tokens, t, "+=") && s->parts[t] == NOT_IN_FOR)
        propose(s, t, t + 1, "-=");
}

static void look_accumulate(struct source *s, size_t t)
{
    static const struct change rows[] = {{"+=", "="}, {"*=", "="}, {"-=", "="}, {"/=", "="}};
    const char *to = changed(s, t, rows, HONE_COUNTOF(rows));
    if (to != NULL && s->parts[t] == NOT_IN_FOR)
        propose(s, t, t + 1, "%s", to);
}

static void look_constant(struct source *s, size_t t)
{
    if (!token_is_kind(&s->tokens, t, TOKEN_NUMBER))
        return;
    HONE_AUTOFREE char *text = token_text(&s->tokens, t, t + 1);
    if (strpbrk(text, ".") != NULL) {
        double value = strtod(text, NULL);
        const char *suffix = strpbrk(text, "fF") != NULL ? "f" : "";
        if (value < 0 || value > 0)
            propose(s, t, t + 1, "%.9g%s%s", 1.25 * value, 1.25 * value == 1.25 ? "" : ".0",
                    suffix);
        return;
    }
    long value = strtol(text, NULL, 0);
    propose(s, t, t + 1, "%ld", value + 1);
    if (value > 0)
        propose(s, t, t + 1, "%ld", value - 1);
    if (value > 2)
        propose(s, t, t + 1, "%ld", value / 2);
}

static void look_initial(struct source *s, size_t t)
{
    if (!token_is(&s->tokens, t, "=") || s->parts[t] != NOT_IN_FOR)
        return;
    if (token_is(&s->tokens, t + 1, "-") && token_is(&s->tokens, t + 2, "INFINITY"))
        propose(s, t + 1, t + 3, "0.0f");
    else if (token_is_kind(&s->tokens, t + 1, TOKEN_NUMBER) &&
             (token_is(&s->tokens, t + 2, ";") || token_is(&s->tokens, t + 2, ",")))
        propose(s, t + 1, t + 2, "1");
    else if (token_is(&s->tokens, t + 1, "{"))
        propose(s, t + 2, s->tokens.v[t + 1].partner, "1");
}

static void look_swap_arguments(struct source *s, size_t t)
{
    static const char *const symmetric[] = {"fmaxf", "fminf", "least", "most", "max", "min", NULL};
    const struct tokens *k = &s->tokens;
    if (token_is_one_of(k, t, symmetric))
        return;
    if (!token_is_kind(k, t, TOKEN_NAME) || token_is_keyword(k, t) || token_is_type(k, t) ||
        !token_is(k, t + 1, "(") || token_is_type(k, t + 2) || (t > 0 && token_is_type(k, t - 1)))
        return;
    size_t end = k->v[t + 1].partner, comma = t + 2;
    while (comma < end && !token_is(k, comma, ","))
        comma = k->v[comma].partner + 1;
    size_t last = comma + 1;
    while (last < end && !token_is(k, last, ","))
        last = k->v[last].partner + 1;
    if (comma >= end || last > end)
        return;
    HONE_AUTOFREE char *a = token_text(k, t + 2, comma), *b = token_text(k, comma + 1, last);
    propose(s, t + 2, last, "%s, %s", b, a);
}

/* i * K + k -> k * K + i */
static void look_swap_index(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    if (!token_is(k, t, "*") || t == 0 || !token_is_kind(k, t - 1, TOKEN_NAME) ||
        !token_is_kind(k, t + 1, TOKEN_NAME) || !token_is(k, t + 2, "+") ||
        !token_is_kind(k, t + 3, TOKEN_NAME))
        return;
    HONE_AUTOFREE char *a = token_text(k, t - 1, t), *b = token_text(k, t + 1, t + 2),
                       *c = token_text(k, t + 3, t + 4);
    propose(s, t - 1, t + 4, "%s * %s + %s", c, b, a);
}

static void look_swap_operands(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    static const char *const signs[] = {"-", "/", "%", "<", ">", NULL};
    static const char *const tighter[] = {"*", "/", "%", "+", "-", ".", "->", NULL};
    if (!token_is_one_of(k, t, signs) || !is_binary(s, t) || s->parts[t] != NOT_IN_FOR)
        return;
    size_t start = t - 1, end = token_operand_end(k, t + 1);
    while (start > 0 && (token_is(k, start, "]") || token_is(k, start, ")")))
        start = k->v[start].partner;
    if (token_is(k, start, "[") ||
        (token_is(k, start, "(") && start > 0 && token_is_kind(k, start - 1, TOKEN_NAME)))
        start--;
    if (start == 0 || token_is_one_of(k, start - 1, tighter))
        return;
    HONE_AUTOFREE char *a = token_text(k, start, t), *b = token_text(k, t + 1, end),
                       *sign = token_text(k, t, t + 1);
    propose(s, start, end, "%s %s %s", b, sign, a);
}

static void look_size(struct source *s, size_t t)
{
    for (size_t i = 0; i < s->n_sizes; i++) {
        bool is_parameter = t > 0 && (token_is_type(&s->tokens, t - 1) ||
                                      (t > 1 && token_is(&s->tokens, t - 2, "void")));
        if (token_is(&s->tokens, t, s->sizes[i]) && !is_parameter && s->n_sizes > 1)
            propose(s, t, t + 1, "%s", s->sizes[(i + 1) % s->n_sizes]);
    }
}

/* Is the bracket at t the size of an array that is declared there? */
static bool is_declared_size(const struct tokens *k, size_t t)
{
    static const char *const stops[] = {";", "{", "}", "(", "=", "[", NULL};
    while (t > 0 && !token_is_one_of(k, t - 1, stops))
        t = k->v[t - 1].partner < t - 1 ? k->v[t - 1].partner : t - 1;
    return token_is_type(k, t);
}

static void look_index(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    if (!token_is(k, t, "]") || is_declared_size(k, k->v[t].partner))
        return;
    propose(s, t, t, " + 1");
    propose(s, t, t, " - 1");
}

static void look_statement(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    bool is_start = token_is_kind(k, t, TOKEN_NAME) || token_is(k, t, "*");
    if (!is_start || !token_starts_statement(k, t) || token_is_type(k, t) ||
        (token_is_keyword(k, t) && !token_is(k, t, "break") && !token_is(k, t, "continue") &&
         !token_is(k, t, "return")) ||
        token_is(k, t, "__syncthreads") || token_is(k, t, "__syncwarp") || token_is(k, t, "free") ||
        token_is(k, t, "cudaFreeAsync"))
        return;
    propose(s, t, token_statement_end(k, t), ";");
}

static void look_block(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    if ((token_is(k, t, "for") || token_is(k, t, "if") || token_is(k, t, "while")) &&
        token_starts_statement(k, t))
        propose(s, t, token_statement_end(k, t), ";");
    if (token_is(k, t, "else"))
        propose(s, t, token_statement_end(k, t + 1), " ");
}

static void look_condition(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    if (token_is(k, t, "if") && token_is(k, t + 1, "(")) {
        propose(s, t + 2, k->v[t + 1].partner, "1");
        propose(s, t + 2, k->v[t + 1].partner, "0");
    }
    if (token_is(k, t, "?")) {
        propose(s, t, t, "&& 0 ");
        propose(s, t, t, "|| 1 ");
    }
}

static void look_mask(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    static const char *const ends[] = {"&&", "||", "?", ";", ")", ",", NULL};
    bool is_and = token_is(k, t, "&&"), is_or = token_is(k, t, "||");
    if (!is_and && !is_or)
        return;
    propose(s, t, t + 1, is_and ? "||" : "&&");
    size_t end = t + 1, start = t;
    while (end < k->n && !token_is_one_of(k, end, ends))
        end = k->v[end].partner > end ? k->v[end].partner + 1 : end + 1;
    propose(s, t, end, " ");
    static const char *const starts[] = {"&&", "||", "=", ";", "(", ",", "return", NULL};
    while (start > 0 && !token_is_one_of(k, start - 1, starts))
        start = k->v[start - 1].partner < start - 1 ? k->v[start - 1].partner : start - 1;
    propose(s, start, t + 1, " ");
}

static void look_barrier(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    static const char *const barriers[] = {"__syncthreads", "__syncwarp", "__threadfence", NULL};
    if (token_is_one_of(k, t, barriers))
        propose(s, t, token_statement_end(k, t), ";");
    if (!token_is_kind(k, t, TOKEN_DIRECTIVE))
        return;
    HONE_AUTOFREE char *text = token_text(k, t, t + 1);
    if (strstr(text, "omp barrier") != NULL || strstr(text, "omp critical") != NULL ||
        strstr(text, "omp atomic") != NULL || strstr(text, "omp single") != NULL)
        propose(s, t, t + 1, " ");
    else if (strstr(text, "omp for") != NULL && strstr(text, "nowait") == NULL)
        propose(s, t, t + 1, "%s nowait", text);
}

static void look_clause(struct source *s, size_t t)
{
    static const char *const clauses[] = {" reduction(", " private(", " firstprivate("};
    if (!token_is_kind(&s->tokens, t, TOKEN_DIRECTIVE))
        return;
    HONE_AUTOFREE char *text = token_text(&s->tokens, t, t + 1);
    for (size_t i = 0; i < HONE_COUNTOF(clauses) && strstr(text, " omp ") != NULL; i++) {
        char *at = strstr(text, clauses[i]), *end = at == NULL ? NULL : strchr(at, ')');
        if (end != NULL)
            propose(s, t, t + 1, "%.*s%s", (int)(at - text), text, end + 1);
    }
}

/* Does the loop whose head declares t end at a named or plain constant? Any type counts so far. */
static bool is_short_loop(const struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    if (s->parts[t] != FOR_START)
        return false;
    while (s->parts[t] == FOR_START)
        t++;
    for (; s->parts[t] == FOR_CONDITION; t++) {
        HONE_AUTOFREE char *word = token_text(k, t, t + 1);
        bool is_size = false;
        for (size_t i = 0; i < s->n_sizes; i++)
            is_size = is_size || strcmp(word, s->sizes[i]) == 0;
        if (token_is_kind(k, t, TOKEN_NAME) && (is_size || strpbrk(word, LOWER) != NULL) &&
            !token_is(k, t - 1, ";"))
            return false;
    }
    return true;
}

/* Variables only: a parameter's type is the task's. 32 bits are too few for products alone. */
static void look_type(struct source *s, size_t t)
{
    static const struct change rows[] = {{"double", "float"},
                                         {"float", "_Float16"},
                                         {"int64_t", "int32_t"},
                                         {"int64_t", "short"},
                                         {"size_t", "short"}};
    const struct tokens *k = &s->tokens;
    bool is_start = s->parts[t] == FOR_START || token_starts_statement(k, t) ||
                    (t > 0 && (token_is(k, t - 1, "static") || token_is(k, t - 1, "const") ||
                               token_is(k, t - 1, "__shared__")));
    static const char *const after[] = {"=", "[", ";", ",", NULL};
    if (!is_start || !token_is_kind(k, t + 1, TOKEN_NAME) || !token_is_one_of(k, t + 2, after) ||
        (t > 0 && (token_is(k, t - 1, "(") || token_is(k, t - 1, ",")) &&
         s->parts[t] != FOR_START) ||
        is_short_loop(s, t))
        return;
    bool has_product = false;
    for (size_t i = t; i < k->n && !token_is(k, i, ")") && !token_is(k, i, "{"); i++) {
        if (s->parts[t] != FOR_START && token_is(k, i, ";"))
            break;
        has_product = has_product || (token_is(k, i, "*") && is_binary(s, i));
    }
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (token_is(k, t, rows[i].from) && (has_product || strcmp(rows[i].to, "int32_t") != 0))
            propose(s, t, t + 1, "%s", rows[i].to);
}

static void look_drop(struct source *s, size_t t)
{
    const struct tokens *k = &s->tokens;
    static const char *const signs[] = {"*", "/", "+", "-", "%", NULL};
    if (!token_is_one_of(k, t, signs) || !is_binary(s, t))
        return;
    size_t end = token_operand_end(k, t + 1);
    propose(s, t, end, " ");
}

static void look_call(struct source *s, size_t t)
{
    static const char *const functions[] = {"expf",  "sqrtf", "fabsf",  "rsqrtf", "exp",   "sqrt",
                                            "fmaxf", "widen", "__expf", "narrow", "exp2f", NULL};
    const struct tokens *k = &s->tokens;
    if (token_is_one_of(k, t, functions) && token_is(k, t + 1, "(") && !token_is_type(k, t - 1))
        propose(s, t, t + 1, " ");
}

static void look_reduction(struct source *s, size_t t)
{
    static const struct change rows[] = {
        {"fmaxf", "fminf"}, {"fminf", "fmaxf"},         {"max", "min"}, {"min", "max"},
        {"fmax", "fmin"},   {"atomicAdd", "atomicMax"}, {"MIN", "MAX"}, {"least", "most"}};
    const char *to = changed(s, t, rows, HONE_COUNTOF(rows));
    if (to != NULL && token_is(&s->tokens, t + 1, "("))
        propose(s, t, t + 1, "%s", to);
    if (!token_is_kind(&s->tokens, t, TOKEN_DIRECTIVE))
        return;
    HONE_AUTOFREE char *text = token_text(&s->tokens, t, t + 1);
    char *at = strstr(text, "reduction(+");
    if (at != NULL)
        propose(s, t, t + 1, "%.*s*%s", (int)(at - text) + 10, text, at + 11);
    at = strstr(text, "reduction(max");
    if (at != NULL)
        propose(s, t, t + 1, "%.*smin%s", (int)(at - text) + 10, text, at + 13);
}

const struct operator_row operators[] = {
    {"bound", "a loop ends one later or earlier", look_bound},
    {"compare", "< for <=, == for !=", look_compare},
    {"statement", "a statement is missing", look_statement},
    {"index", "an index is off by one", look_index},
    {"type", "a narrower variable", look_type},
    {"barrier", "a barrier, critical or atomic is missing", look_barrier},
    {"block", "a loop, branch or tail is missing", look_block},
    {"mask", "a part of a condition is missing, or && for ||", look_mask},
    {"condition", "a condition is always true or false", look_condition},
    {"initial", "a wrong initial value", look_initial},
    {"start", "a loop starts one later", look_start},
    {"step", "a loop's stride is wrong", look_step},
    {"size", "another size of the task", look_size},
    {"drop", "an operand is missing: scale, eps, gain, rounding up", look_drop},
    {"constant", "a wrong constant", look_constant},
    {"accumulate", "= for +=", look_accumulate},
    {"arithmetic", "+ for -, * for /", look_arithmetic},
    {"sign", "a changed sign", look_sign},
    {"swap_operands", "a - b as b - a", look_swap_operands},
    {"swap_index", "i * K + k as k * K + i", look_swap_index},
    {"swap_arguments", "the first two arguments of a call change places", look_swap_arguments},
    {"reverse", "< for >", look_reverse},
    {"reduction", "min for max, another reduction operator", look_reduction},
    {"call", "a function is not applied", look_call},
    {"clause", "an OpenMP clause is missing", look_clause},
};
const size_t n_operators = HONE_COUNTOF(operators);

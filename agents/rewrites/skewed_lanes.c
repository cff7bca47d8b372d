/* SPDX-License-Identifier: Apache-2.0 */
/* C05: rows that follow from one another run side by side, one in each lane of a vector, and each a
 * column behind the row above it.
 *
 *     for (i = 1...)                                   a strip of LANES rows; at step t the lane l
 *         for (j = 1...)                               does column t - l:
 *             H[i][j] = f(H[i - 1][j - 1],      ->     for (t...)
 *                         H[i - 1][j],                     for (lane...)
 *                         H[i][j - 1], y[j]);                  out[lane + 1] = f(corner[lane],
 *                                                                 in[lane], left[lane], ...);
 *
 * What a lane reads of the row above was made one step earlier by the lane beside it: `in` is the
 * `out` of that step. The first lane alone reads memory. Columns of inputs, as y[j], go from lane to
 * lane in the same way. A matrix is stored by every lane; a row that each i overwrites by the last
 * one. Steps at the start and at the end, where some lanes have no column, are done lane by lane.
 * Each element sees the same operations as before.
 *
 * The order is that of anti-diagonals (A. Wozniak, "Using video-oriented instructions to speed up
 * sequence comparison", 1997), with values in lanes in the place of memory. */
#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/skewed_form.h"

#include <string.h>

static void put(struct hone_skew *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hone_buf_vprintf(&s->out, format, args);
    va_end(args);
}

static const char *row_type(const struct hone_skew *s)
{
    return hone_type_text(s->in, s->rows->var);
}

static const char *column_type(const struct hone_skew *s)
{
    return hone_type_text(s->in, s->columns->var);
}

/* "const int j = 1 + (int)(at);" */
static void put_column(struct hone_skew *s, const char *at)
{
    put(s, "const %s %s = %s + (%s)(%s);\n", column_type(s), s->columns->var->name,
        hone_lower_text(s->in, s->columns), column_type(s), at);
}

/* The row's counter and its pointers. */
static void put_row(struct hone_skew *s, const char *row)
{
    put(s, "const %s %s = %s;\n", row_type(s), s->rows->var->name, row);
    for (size_t i = 0; i < s->n_pointers; i++)
        put(s, "%s %s = %s;\n", s->pointers[i]->type, s->pointers[i]->name,
            hone_c_text(s->in->tree, s->pointers[i]->last));
}

static bool is_in_columns(const struct hone_skew *s, const struct hone_c_reduction *r)
{
    return hone_c_contains(s->inner, r->stmt);
}

/* Arrays of a strip. */
static void put_arrays(struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_locals; i++)
        put(s, "%s %s[%s];\n", hone_c_value_type(s->locals[i]), s->local_names[i], s->count);
    for (size_t i = 0; i < s->n_memory; i++) {
        const struct hone_skew_memory *m = &s->memory[i];
        put(s, "%s %s_lines[2][%s + 1];\n", m->type, m->stem, s->count);
        if (m->at[HONE_SKEW_LEFT])
            put(s, "%s %s_left[%s];\n", m->type, m->stem, s->count);
        if (m->at[HONE_SKEW_CORNER])
            put(s, "%s %s_corner[%s];\n", m->type, m->stem, s->count);
    }
    for (size_t i = 0; i < s->n_inputs; i++)
        put(s, "%s %s_lines[2][%s + 1];\n", s->inputs[i].type, s->inputs[i].stem, s->count);
}

static const char *lanes_head(const struct hone_skew *s)
{
    return hone_pool_printf(s->in->pool, "for (int %s = 0; %s < %s; %s++) {\n", s->lane, s->lane,
                            s->count, s->lane);
}

static const char *row_of_lane(const struct hone_skew *s)
{
    return hone_pool_printf(s->in->pool, "%s + %s", s->first, s->lane);
}

/* Behind a row: pointers change places, so often in a strip that it changes nothing in the end; or
 * what stands in front of the columns is copied. */
static void put_swap(struct hone_skew *s, const struct hone_skew_swap *swap)
{
    if (!swap->copy) {
        put(s, "%s\n",
            hone_c_edit_text(&s->edits, swap->first->begin,
                             hone_c_stmt_end(s->in->tree, swap->last)));
        return;
    }
    const struct hone_c_node *body = swap->copy->node->body;
    const char *type = hone_type_text(s->in, swap->copy->var), *var = swap->copy->var->name;
    put(s, "for (%s %s = %s; %s < %s && %s < %s; %s++)\n%s\n", type, var,
        hone_lower_text(s->in, swap->copy), var, hone_lower_text(s->in, s->columns), var,
        hone_upper_text(s->in, swap->copy), var,
        hone_c_edit_text(&s->edits, body->begin, hone_c_stmt_end(s->in->tree, body)));
}

/* What stands in front of the columns, row by row; and the elements that the first column finds. */
static void put_starts(struct hone_skew *s)
{
    const struct hone_c_node *stmt = s->body->kind == HONE_C_COMPOUND ? s->body->first : NULL;
    put(s, "%sconst %s %s = %s;\n", lanes_head(s), row_type(s), s->rows->var->name, row_of_lane(s));
    for (; stmt && stmt != s->columns->node; stmt = stmt->next)
        put(s, "%s\n",
            hone_c_edit_text(&s->edits, stmt->begin, hone_c_stmt_end(s->in->tree, stmt)));
    for (size_t i = 0; i < s->n_locals; i++)
        put(s, "%s[%s] = %s;\n", s->local_names[i], s->lane, s->locals[i]->name);
    put(s, "{\n");
    put_column(s, "0");
    for (size_t i = 0; i < s->n_memory; i++) {
        const struct hone_skew_memory *m = &s->memory[i];
        if (m->at[HONE_SKEW_LEFT])
            put(s, "%s_left[%s] = %s;\n", m->stem, s->lane,
                hone_c_text(s->in->tree, m->at[HONE_SKEW_LEFT]));
        if (m->at[HONE_SKEW_CORNER])
            put(s, "%s_corner[%s] = %s;\n", m->stem, s->lane,
                hone_c_text(s->in->tree, m->at[HONE_SKEW_CORNER]));
    }
    put(s, "(void)%s;\n}\n", s->columns->var->name);
    for (size_t i = 0; i < s->n_swaps; i++)
        put_swap(s, &s->swaps[i]);
    put(s, "}\n");
}

/* Assigns to the element above, or the one that the row itself has, at a column. Where the text reads
 * the corner alone, that of the next column is above. */
static void put_above(struct hone_skew *s, const struct hone_skew_memory *m, const char *at,
                      const char *before, const char *behind)
{
    const struct hone_c_node *above =
        m->kind == HONE_SKEW_ROW ? m->at[HONE_SKEW_NOW] : m->at[HONE_SKEW_ABOVE];
    const char *column = above ? at : hone_pool_printf(s->in->pool, "%s + 1", at);
    const struct hone_c_node *node = above ? above : m->at[HONE_SKEW_CORNER];
    if (!node)
        return;
    put(s, "{\n");
    put_column(s, column);
    put(s, "%s%s%s;\n(void)%s;\n}\n", before, hone_c_text(s->in->tree, node), behind,
        s->columns->var->name);
}

/* The first lane's row above, and its inputs. */
static void put_reads(struct hone_skew *s)
{
    for (size_t i = 0; i < s->n_memory + s->n_inputs; i++) {
        size_t k = i - s->n_memory;
        const char *type = i < s->n_memory ? s->memory[i].type : s->inputs[k].type;
        const char *stem = i < s->n_memory ? s->memory[i].stem : s->inputs[k].stem;
        put(s, "%s *%s_in = %s_lines[(%s + 1) %% 2], *%s_out = %s_lines[%s %% 2];\n", type, stem,
            stem, s->step, stem, stem, s->step);
    }
    put(s, "if (%s < %s) {\n", s->step, s->n_columns);
    put_row(s, s->first);
    for (size_t i = 0; i < s->n_memory; i++)
        put_above(s, &s->memory[i], s->step,
                  hone_pool_printf(s->in->pool, "%s_in[0] = ", s->memory[i].stem), "");
    put_column(s, s->step);
    for (size_t i = 0; i < s->n_inputs; i++)
        put(s, "%s_in[0] = %s;\n", s->inputs[i].stem, s->inputs[i].text);
    put(s, "(void)%s, (void)%s;\n}\n", s->rows->var->name, s->columns->var->name);
}

/* One column of a lane. */
static void put_cell(struct hone_skew *s)
{
    put_row(s, row_of_lane(s));
    put_column(s, hone_pool_printf(s->in->pool, "%s - %s", s->step, s->lane));
    for (size_t i = 0; i < s->n_locals; i++)
        put(s, "%s %s = %s[%s];\n", hone_c_value_type(s->locals[i]), s->locals[i]->name,
            s->local_names[i], s->lane);
    for (size_t i = 0; i < s->n_sums; i++)
        if (is_in_columns(s, &s->sums[i]))
            put(s, "%s %s = %s[%s];\n", s->sums[i].var->type, s->sums[i].var->name, s->sum_names[i],
                s->lane);
    for (size_t i = 0; i < s->n_memory; i++)
        put(s, "%s %s_now = %s_in[%s];\n", s->memory[i].type, s->memory[i].stem, s->memory[i].stem,
            s->lane);
    put(s, "%s\n",
        hone_c_edit_text(&s->edits, s->inner->begin, hone_c_stmt_end(s->in->tree, s->inner)));
    for (size_t i = 0; i < s->n_memory; i++) {
        const struct hone_skew_memory *m = &s->memory[i];
        if (m->at[HONE_SKEW_CORNER])
            put(s, "%s_corner[%s] = %s_in[%s];\n", m->stem, s->lane, m->stem, s->lane);
        if (m->at[HONE_SKEW_LEFT])
            put(s, "%s_left[%s] = %s_now;\n", m->stem, s->lane, m->stem);
        put(s, "%s_out[%s + 1] = %s_now;\n", m->stem, s->lane, m->stem);
    }
    for (size_t i = 0; i < s->n_inputs; i++)
        put(s, "%s_out[%s + 1] = %s_in[%s];\n", s->inputs[i].stem, s->lane, s->inputs[i].stem,
            s->lane);
    for (size_t i = 0; i < s->n_locals; i++)
        put(s, "%s[%s] = %s;\n", s->local_names[i], s->lane, s->locals[i]->name);
    for (size_t i = 0; i < s->n_sums; i++)
        if (is_in_columns(s, &s->sums[i]))
            put(s, "%s[%s] = %s;\n", s->sum_names[i], s->lane, s->sums[i].var->name);
    put(s, "(void)%s, (void)%s;\n", s->rows->var->name, s->columns->var->name);
}

static bool has_matrix(const struct hone_skew *s)
{
    bool ret = false;
    for (size_t i = 0; i < s->n_memory; i++)
        ret = ret || s->memory[i].kind == HONE_SKEW_MATRIX;
    return ret;
}

/* A matrix's elements go to memory behind the lanes' loop: a compiler does not scatter in it. */
static void put_stores(struct hone_skew *s, const char *guard)
{
    if (!has_matrix(s))
        return;
    put(s, "%s%s", lanes_head(s), guard);
    put_row(s, row_of_lane(s));
    put_column(s, hone_pool_printf(s->in->pool, "%s - %s", s->step, s->lane));
    for (size_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].kind == HONE_SKEW_MATRIX)
            put(s, "%s = %s_out[%s + 1];\n",
                hone_c_text(s->in->tree, s->memory[i].at[HONE_SKEW_NOW]), s->memory[i].stem,
                s->lane);
    put(s, "(void)%s;\n}\n", s->rows->var->name);
}

/* One row of a strip goes to memory: the last one, and of a pair the one in front of it too. */
static void put_stored_row(struct hone_skew *s, size_t behind)
{
    const char *at =
        hone_pool_printf(s->in->pool, "%s - (%s - %zu)", s->step, s->count, behind + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->n_memory; i++)
        n += (s->memory[i].kind == HONE_SKEW_PAIR && (behind == 0 || !s->memory[i].is_copied)) ||
             (s->memory[i].kind == HONE_SKEW_ROW && behind == 0);
    if (n == 0)
        return;
    put(s, "if (%s >= 0 && %s < %s) {\n", at, at, s->n_columns);
    put_row(s, s->first);
    for (size_t i = 0; i < s->n_memory; i++) {
        const struct hone_skew_memory *m = &s->memory[i];
        const char *value =
            hone_pool_printf(s->in->pool, " = %s_out[%s - %zu]", m->stem, s->count, behind);
        if (m->kind == HONE_SKEW_PAIR && behind == 0)
            put_above(s, m, at, "", value);
        if ((m->kind == HONE_SKEW_PAIR && behind == (m->is_copied ? 0 : 1)) ||
            (m->kind == HONE_SKEW_ROW && behind == 0)) {
            put(s, "{\n");
            put_column(s, at);
            put(s, "%s%s;\n}\n", hone_c_text(s->in->tree, m->at[HONE_SKEW_NOW]), value);
        }
    }
    put(s, "(void)%s;\n}\n", s->rows->var->name);
}

static void put_steps(struct hone_skew *s)
{
    const char *guard = hone_pool_printf(s->in->pool, "if (%s < %s || %s - %s >= %s)\ncontinue;\n",
                                         s->step, s->lane, s->step, s->lane, s->n_columns);
    put(s, "for (long long %s = 0; %s < %s + %s - 1; %s++) {\n", s->step, s->step, s->n_columns,
        s->count, s->step);
    put_reads(s);
    put(s, "if (%s >= %s - 1 && %s < %s) {\n#pragma omp simd\n%s", s->step, s->count, s->step,
        s->n_columns, lanes_head(s));
    put_cell(s);
    put(s, "}\n");
    put_stores(s, "");
    put(s, "} else {\n%s%s", lanes_head(s), guard);
    put_cell(s);
    put(s, "}\n");
    put_stores(s, guard);
    put(s, "}\n");
    put_stored_row(s, 0);
    put_stored_row(s, 1);
    put(s, "}\n");
}

/* What stands behind the columns, row by row. */
static void put_ends(struct hone_skew *s)
{
    const struct hone_c_node *stmt = s->columns->node->next;
    while (stmt && hone_skew_is_in_swap(s, stmt))
        stmt = stmt->next;
    if (s->body->kind != HONE_C_COMPOUND || !stmt)
        return;
    put(s, "%s", lanes_head(s));
    put_row(s, row_of_lane(s));
    for (size_t i = 0; i < s->n_locals; i++)
        put(s, "%s %s = %s[%s];\n", hone_c_value_type(s->locals[i]), s->locals[i]->name,
            s->local_names[i], s->lane);
    for (; stmt; stmt = stmt->next)
        if (!hone_skew_is_in_swap(s, stmt))
            put(s, "%s\n",
                hone_c_edit_text(&s->edits, stmt->begin, hone_c_stmt_end(s->in->tree, stmt)));
    for (size_t i = 0; i < s->n_locals; i++)
        put(s, "(void)%s;\n", s->locals[i]->name);
    put(s, "(void)%s;\n}\n", s->rows->var->name);
}

/* Sums of lanes: before the strips, and behind them. */
static void put_sums(struct hone_skew *s, bool is_end)
{
    for (size_t i = 0; i < s->n_sums; i++) {
        const char *var = s->sums[i].var->name, *op = s->sums[i].op;
        const char *mine = hone_pool_printf(s->in->pool, "%s[%s]", s->sum_names[i], s->lane);
        bool is_sum = strcmp(op, "+") == 0;
        if (!is_in_columns(s, &s->sums[i]))
            continue;
        if (!is_end)
            put(s, "%s %s[%s];\n", s->sums[i].var->type, s->sum_names[i], s->count);
        put(s, "for (int %s = 0; %s < %s; %s++)\n", s->lane, s->lane, s->count, s->lane);
        if (!is_end)
            put(s, "%s = %s;\n", mine, is_sum ? "0" : var);
        else if (is_sum)
            put(s, "%s += %s;\n", var, mine);
        else
            put(s, "%s = %s %s %s ? %s : %s;\n", var, mine, *op == 'm' && op[1] == 'a' ? ">" : "<",
                var, mine, var);
    }
}

/* ---- the rule ---- */

static bool has_swapped(const struct hone_skew *s)
{
    bool ret = false;
    for (size_t i = 0; i < s->n_swaps; i++)
        ret = ret || !s->swaps[i].copy;
    return ret;
}

/* In the pool. Pointers that are swapped want an even number of lanes. */
static const char *text_of(struct hone_skew *s, const char *count)
{
    const struct hone_coder_input *in = s->in;
    const struct hone_c_loop *rows = s->rows;
    const char *var = rows->var->name, *upper = hone_upper_text(in, s->columns);
    const char *lower = hone_lower_text(in, s->columns);
    s->count = count = has_swapped(s) ? hone_pool_printf(in->pool, "(2 * %s)", count) : count;
    put(s, "{\nconst %s %s = %s;\nconst long long %s = %s > %s ? (long long)(%s - %s) : 0;\n",
        row_type(s), s->full, hone_full_text(in, rows, count), s->n_columns, upper, lower, upper,
        lower);
    put_sums(s, false);
    put(s, "for (%s %s = %s; %s < %s; %s += %s) {\n", row_type(s), s->first,
        hone_lower_text(in, rows), s->first, s->full, s->first, count);
    put_arrays(s);
    put_starts(s);
    put_steps(s);
    put_ends(s);
    put(s, "}\n");
    put_sums(s, true);
    put(s, "for (%s %s = %s; %s < %s; %s++)\n%s\n}", row_type(s), var, s->full, var,
        hone_upper_text(in, rows), var,
        hone_pool_strndup(in->pool, in->tree->source + s->body->begin,
                          hone_c_stmt_end(in->tree, s->body) - s->body->begin));
    const char *text = hone_pool_strdup(in->pool, s->out.data);
    hone_buf_done(&s->out);
    return text;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        struct hone_skew s;
        if (!hone_skew_read(in, l, &s))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n].is_weak = has_matrix(&s); /* whose stores cost what the lanes win */
        ret[n++].evidence = "a row follows from the row above it, column by column";
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    const char *count = hone_add_tunable(&e, in, "LANES", "32, 16, 64");
    struct hone_skew s;
    const char *text = l && hone_skew_read(in, l, &s) ? text_of(&s, count) : NULL;
    if (!text) {
        hone_fail(err, HONE_E_ARG, "the region is no loop over rows that follow from one another");
        return NULL;
    }
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), text);
    return hone_pool_printf(in->pool, "%s%s", hone_const_math(in), hone_finish_edits(&e));
}

const struct hone_rewrite hone_rewrite_skewed_lanes = {
    .name = "skewed_lanes",
    .strategy = "C05",
    .words = "rows in the lanes of a vector, each a column behind the one above",
    .sites = sites,
    .apply = apply,
};

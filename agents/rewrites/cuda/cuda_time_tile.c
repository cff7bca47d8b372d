/* SPDX-License-Identifier: Apache-2.0 */
/* G43: several steps of an iterated stencil in one launch (time tiling).
 *
 *     for (t = 0; t < T; t++) { step<<<...>>>(from, to); swap(from, to); }
 *
 * A block loads a tile of points with as many around it as its steps reach, makes STEPS steps on it
 * and stores what is still right, so that memory is read and written once for STEPS steps. Each
 * thread holds ROWS points below one another in registers; the tile in shared memory is there for
 * neighbours. What the source does to a point becomes a function of the values around it.
 *
 * A launch makes an odd number of steps: buffers then take turns as they did, whatever the launcher
 * does with them. A point that a step leaves alone keeps what each buffer has there, two values by
 * turns. Conditions about the place are asked once for all points of a tile: where each of them is
 * as at most points, and all points are stored, none is asked again.
 *
 * Not read: stencils along three axes, loops inside a step, arrays that a step updates in place. */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/cuda/cuda_time_tile.h"
#include "agents/source/cuda_normal.h"

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct hone_time_step s;
        struct hone_time_loop loop;
        if (!hone_time_read(all[i], &s, &loop))
            ret[n++] = hone_cuda_site(all[i], 0, "each step reads and writes the whole array");
    }
    return n;
}

/* ---- text ---- */

static const char helper_text[] =
    "/* How many of the steps that are left one launch makes: an odd number, so that the buffers\n"
    " * take turns as before.@alone_words@ */\n"
    "static inline int @steps_of@(int64_t left)\n"
    "{\n"
    "    const int64_t most = @most@;\n"
    "    const int n = most < @STEPS@ ? (int)most : @STEPS@;\n"
    "    return n % 2 == 0 ? n - 1 : n;\n"
    "}\n\n"
    "static inline unsigned @tiles_of@(int64_t n, int each)\n"
    "{\n"
    "    return n > each ? (unsigned)((n + each - 1) / each) : 1;\n"
    "}\n\n";

static const char body_text[] =
    "constexpr int @points@ = @LINES@ * @ROWS@ * @TILE_X@ + 2 * (@RY@ * @TILE_X@ + @RX@);\n"
    "static_assert(@STEPS@ > 0 && @ROWS@ <= 32 && @TILE_X@ * @LINES@ <= 1024 && @fits@ &&\n"
    "@points@ * sizeof(@T@) <= 49152, \"no such tile\");\n"
    "__shared__ @T@ @tile@[@points@];\n"
    "@places@"
    "@bounds@"
    "@T@ *const @at@ = @tile@ + @RY@ * @TILE_X@ + @RX@ + @row@ * @TILE_X@ + @column@;\n"
    "/* One step of a point. plain: conditions about the place are as at most points. */\n"
    "const auto @point@ = [&](bool @plain@@axis_params@@near_params@@value_params@, @T@ &@value@) "
    "{\n"
    "@step@\n"
    "};\n"
    "@askers@"
    "/* A thread's points with those above and below; and what the other buffer has there. */\n"
    "@T@ @held@[@ROWS@ + 2 * @RY@], @other@[@ROWS@];\n"
    "unsigned @inside@ = 0;\n"
    "bool @is_odd@ = false;\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@now_axes@"
    "const bool @is_inside@ = @inside_bounds@;\n"
    "const bool @is_read@ = @is_inside@@read_beyond@;\n"
    "@held@[@RY@ + @r@] = @is_read@ ? @from@ : @T@();\n"
    "@other@[@r@] = @kept@;\n"
    "@inside@ |= (unsigned)@is_inside@ << @r@;\n"
    "@is_odd@ |= !(@is_inside@@plain_conds@);\n"
    "@at@[@r@ * @TILE_X@] = @held@[@RY@ + @r@];\n"
    "}\n"
    "const bool @all_plain@ = !__syncthreads_or(@is_odd@);\n"
    "#pragma unroll 1\n"
    "for (int @step_at@ = 1;; @step_at@++) {\n"
    "@edges@"
    "if (@all_plain@) {\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@axes@"
    "@point@(true@axis_names@@near_names@@values@, @other@[@r@]);\n"
    "}\n"
    "} else {\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@axes@"
    "if (@inside@ >> @r@ & 1)\n"
    "@point@(false@axis_names@@near_names@@values@, @other@[@r@]);\n"
    "}\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "const @T@ @now@ = @other@[@r@];\n"
    "@other@[@r@] = @held@[@RY@ + @r@];\n"
    "@held@[@RY@ + @r@] = @now@;\n"
    "}\n"
    "if (@step_at@ == @steps@)\n"
    "break;\n"
    "__syncthreads();\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "@at@[@r@ * @TILE_X@] = @held@[@RY@ + @r@];\n"
    "__syncthreads();\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@axes@"
    "if ((@inside@ >> @r@ & 1) && @is_right@@and_written@)\n"
    "@to@ = @held@[@RY@ + @r@];\n"
    "}\n";

struct text { /* names that several pieces share */
    const struct hone_time_step *s;
    struct hone_pool *pool;
    const char *steps, *tile_x, *lines, *rows; /* tunables; lines "1" without y */
    const char *n_steps;                       /* of this launch */
    const char *column, *row, *r, *at, *held, *plain, *value, *is_read, *is_inside, *asks, *near;
    const char *first[HONE_CUDA_MAX_AXES], *low[HONE_CUDA_MAX_AXES], *high[HONE_CUDA_MAX_AXES],
        *now[HONE_CUDA_MAX_AXES]; /* by axis */
};

static const char *type_of(const struct text *x, size_t axis)
{
    return hone_cuda_type(x->s->k->in, x->s->axes[axis].var);
}

/* The point's element of one of the two arrays. */
static const char *element(const struct text *x, size_t param)
{
    const struct hone_cuda_kernel *k = x->s->k;
    struct hone_cuda_sub subs[HONE_CUDA_MAX_AXES + 1];
    size_t n = 0;
    for (; n < x->s->n_axes; n++)
        subs[n] = (struct hone_cuda_sub){x->s->axes[n].var, x->s->axes[n].var->name};
    subs[n++] = (struct hone_cuda_sub){k->params[x->s->to], k->params[param]->name};
    return hone_cuda_inline(k, x->s->stores[0], subs, n);
}

static const char *bound_text(const struct text *x, const struct hone_time_bound *b)
{
    return hone_pool_printf(x->pool, b->past ? "(int64_t)(%s) + %d" : "(int64_t)(%s)",
                            hone_time_text(x->s, b->expr), b->past);
}

/* Declares what the points that are written lie within. */
static const char *bounds_text(const struct text *x)
{
    const char *out = "";
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const struct hone_time_axis *a = &x->s->axes[i];
        out = hone_pool_printf(x->pool, "%sint64_t %s = %lld, %s = %s;\n", out, x->low[i],
                               (long long)a->start, x->high[i], bound_text(x, &a->high[0]));
        for (size_t b = 0; b < a->n_low; b++) {
            const char *text = bound_text(x, &a->low[b]);
            out = hone_pool_printf(x->pool, "%s%s = %s > %s ? %s : %s;\n", out, x->low[i], text,
                                   x->low[i], text, x->low[i]);
        }
        for (size_t b = 1; b < a->n_high; b++) {
            const char *text = bound_text(x, &a->high[b]);
            out = hone_pool_printf(x->pool, "%s%s = %s < %s ? %s : %s;\n", out, x->high[i], text,
                                   x->high[i], text, x->high[i]);
        }
    }
    return out;
}

/* "2 * STEPS", "STEPS" */
static const char *times(const struct text *x, int n, const char *text)
{
    return n == 1 ? text : hone_pool_printf(x->pool, "%d * %s", n, text);
}

/* How many points a tile has along an axis, those around it included. */
static const char *extent(const struct text *x, const struct hone_time_axis *a)
{
    return a == x->s->y ? hone_pool_printf(x->pool, "%s * %s", x->lines, x->rows)
           : x->s->y    ? x->tile_x
                        : hone_pool_printf(x->pool, "%s * %s", x->tile_x, x->rows);
}

/* Declares where the thread and its first point are. */
static const char *places_text(const struct text *x)
{
    const char *out =
        hone_pool_printf(x->pool, "const int %s = threadIdx.x, %s = %s;\n", x->column, x->row,
                         x->s->y ? hone_pool_printf(x->pool, "threadIdx.y * %s", x->rows) : "0");
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const struct hone_time_axis *a = &x->s->axes[i];
        const char *start =
            a->start ? hone_pool_printf(x->pool, "%lld + ", (long long)a->start) : "";
        out = a == x->s->plane
                  ? hone_pool_printf(x->pool, "%sconst int64_t %s = %sblockIdx.z;\n", out,
                                     x->first[i], start)
                  : hone_pool_printf(x->pool,
                                     "%sconst int64_t %s = %s(int64_t)blockIdx.%c * (%s - %s) "
                                     "- %s + %s;\n",
                                     out, x->first[i], start, a == x->s->x ? 'x' : 'y',
                                     extent(x, a), times(x, 2 * a->radius, x->n_steps),
                                     times(x, a->radius, x->n_steps),
                                     a == x->s->x ? x->column : x->row);
    }
    return out;
}

/* What is added to the axis of a thread's first point at point r; "" for nothing. */
static const char *more_text(const struct text *x, const struct hone_time_axis *a)
{
    return a == x->s->y              ? hone_pool_printf(x->pool, " + %s", x->r)
           : a != x->s->x || x->s->y ? ""
                                     : hone_pool_printf(x->pool, " + %s * %s", x->r, x->tile_x);
}

/* Declares the axes of point r; is_wide: from numbers of 64 bits that stay at hand. */
static const char *axes_text(const struct text *x, bool is_wide)
{
    const char *out = "";
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const char *from =
            hone_pool_printf(x->pool, "%s%s", x->first[i], more_text(x, &x->s->axes[i]));
        if (is_wide)
            out = hone_pool_printf(x->pool, "%sconst int64_t %s = %s;\n", out, x->now[i], from);
        out = hone_pool_printf(x->pool, "%s[[maybe_unused]] const %s %s = (%s)(%s);\n", out,
                               type_of(x, i), x->s->axes[i].var->name, type_of(x, i),
                               is_wide ? x->now[i] : from);
    }
    return out;
}

static const char *within_text(const struct text *x)
{
    const char *out = "";
    for (size_t i = 0; i < x->s->n_axes; i++)
        out = hone_pool_printf(x->pool, "%s%s%s >= %s && %s < %s", out, i > 0 ? " && " : "",
                               x->now[i], x->low[i], x->now[i], x->high[i]);
    return out;
}

static bool is_held(const struct hone_time_read *d)
{
    return d->x_var || d->y_var;
}

/* Does it never leave the bounds? */
static bool is_centre(const struct hone_time_read *d)
{
    return (d->dx == 0 && d->dy == 0) || is_held(d);
}

/* The first read of another point that asks for the same. */
static size_t asker_of(const struct hone_time_step *s, size_t read)
{
    size_t i = 0;
    while (is_centre(&s->reads[i]) || strcmp(s->reads[i].path, s->reads[read].path) != 0)
        i++;
    return i;
}

/* Declares functions that say whether a point comes to a read: points around it are then read. */
static const char *askers_text(const struct text *x)
{
    const struct hone_time_step *s = x->s;
    const char *out = "", *params = "", *axes = "";
    for (size_t i = 0; i < s->n_axes; i++) {
        params = hone_pool_printf(x->pool, "%s%sint64_t %s", params, i > 0 ? ", " : "", x->now[i]);
        axes = hone_pool_printf(x->pool, "%s[[maybe_unused]] const %s %s = (%s)%s;\n", axes,
                                type_of(x, i), s->axes[i].var->name, type_of(x, i), x->now[i]);
    }
    for (size_t i = 0; i < s->n_reads; i++)
        if (!is_centre(&s->reads[i]) && asker_of(s, i) == i)
            out = hone_pool_printf(
                x->pool, "%sconst auto %s_%zu = [&](%s) {\n%sreturn %s%s%s;\n};\n", out, x->asks, i,
                params, axes, within_text(x), strcmp(s->reads[i].path, "true") == 0 ? "" : " && ",
                strcmp(s->reads[i].path, "true") == 0 ? "" : s->reads[i].path);
    return *out ? hone_pool_printf(x->pool, "/* Does a point read others? */\n%s", out) : "";
}

/* " || asks_0(x_now + 1, y_now)" for each place that is read, as one of them may lie beyond the
 * bounds. */
static const char *beyond_text(const struct text *x)
{
    const struct hone_time_step *s = x->s;
    const char *out = "";
    for (size_t i = 0; i < s->n_reads; i++) {
        const struct hone_time_read *d = &s->reads[i];
        const char *args = "";
        for (size_t a = 0; a < s->n_axes; a++) {
            int by = &s->axes[a] == s->x ? d->dx : &s->axes[a] == s->y ? d->dy : 0;
            args = hone_pool_printf(x->pool, by ? "%s%s%s %c %d" : "%s%s%s", args,
                                    a > 0 ? ", " : "", x->now[a], by < 0 ? '+' : '-', abs(by));
        }
        if (!is_centre(d))
            out = hone_pool_printf(x->pool, "%s || %s_%zu(%s)", out, x->asks, asker_of(s, i), args);
    }
    return out;
}

/* Is the point still right after the steps? */
static const char *right_text(const struct text *x)
{
    const char *out = "", *n = x->n_steps;
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const struct hone_time_axis *a = &x->s->axes[i];
        if (a == x->s->plane)
            continue;
        const char *place =
            a == x->s->y ? hone_pool_printf(x->pool, "%s + %s", x->row, x->r)
            : x->s->y    ? x->column
                         : hone_pool_printf(x->pool, "%s + %s * %s", x->column, x->r, x->tile_x);
        const char *reach = times(x, a->radius, n);
        out = hone_pool_printf(x->pool, "%s%s%s >= %s && %s < %s - %s", out, *out ? " && " : "",
                               place, reach, place, extent(x, a), reach);
    }
    return out;
}

static bool is_same_place(const struct hone_time_read *a, const struct hone_time_read *b)
{
    return a->dx == b->dx && a->dy == b->dy && is_held(a) == is_held(b);
}

static size_t place_of(const struct hone_time_step *s, size_t read)
{
    size_t i = 0;
    while (!is_same_place(&s->reads[i], &s->reads[read]))
        i++;
    return i;
}

static const char *value_name(const struct text *x, size_t read)
{
    return hone_pool_printf(x->pool, "%s_%zu", x->value, place_of(x->s, read));
}

/* "r", "(r + 1)" */
static const char *moved(const struct text *x, int by)
{
    return by == 0 ? x->r
                   : hone_pool_printf(x->pool, "(%s %c %d)", x->r, by < 0 ? '-' : '+', abs(by));
}

/* ", float v_0, float v_1" and ", held[RY + r], at[r * TILE_X + 1]" */
static const char *values_text(const struct text *x, bool is_declared)
{
    const struct hone_time_step *s = x->s;
    int ry = s->y ? s->y->radius : 0;
    const char *out = "";
    for (size_t i = 0; i < s->n_reads; i++) {
        const struct hone_time_read *d = &s->reads[i];
        if (place_of(s, i) != i || is_held(d))
            continue;
        if (is_declared)
            out = hone_pool_printf(x->pool, "%s, %s %s", out, s->type, value_name(x, i));
        else if (d->dx == 0)
            out = hone_pool_printf(x->pool, "%s, %s[%s]", out, x->held, moved(x, ry + d->dy));
        else
            out = hone_pool_printf(x->pool, "%s, %s[%s * %s %c %d]", out, x->at, moved(x, d->dy),
                                   x->tile_x, d->dx < 0 ? '-' : '+', abs(d->dx));
    }
    return out;
}

/* ", const float *near" and ", &at[r * TILE_X]": where a read's place is known to the point alone. */
static const char *near_text(const struct text *x, bool is_declared)
{
    for (size_t i = 0; i < x->s->n_reads; i++)
        if (is_held(&x->s->reads[i]))
            return is_declared
                       ? hone_pool_printf(x->pool, ", const %s *%s", x->s->type, x->near)
                       : hone_pool_printf(x->pool, ", &%s[%s * %s]", x->at, x->r, x->tile_x);
    return "";
}

/* "(int)(xl - x)" */
static const char *held_offset(const struct text *x, const struct hone_c_node *var,
                               const struct hone_time_axis *a, int more, int by)
{
    if (!var)
        return hone_pool_printf(x->pool, by < 0 ? "(%d)" : "%d", by);
    return more == 0 ? hone_pool_printf(x->pool, "(int)(%s - %s)", var->name, a->var->name)
                     : hone_pool_printf(x->pool, "((int)(%s - %s) %c %d)", var->name, a->var->name,
                                        more < 0 ? '-' : '+', abs(more));
}

/* What stands in the step for an element that it reads. */
static const char *read_text(const struct text *x, size_t i)
{
    const struct hone_time_read *d = &x->s->reads[i];
    if (!is_held(d))
        return value_name(x, i);
    return hone_pool_printf(x->pool, "%s[%s * %s + %s]", x->near,
                            held_offset(x, d->y_var, x->s->y, d->y_more, d->dy), x->tile_x,
                            held_offset(x, d->x_var, x->s->x, d->x_more, d->dx));
}

static bool is_offset(const struct text *x, const struct hone_c_node *var)
{
    for (size_t i = 0; i < x->s->n_reads; i++)
        if (x->s->reads[i].x_var == var || x->s->reads[i].y_var == var)
            return true;
    return false;
}

static const char *axis_list(const struct text *x, bool is_declared)
{
    const char *out = "";
    for (size_t i = 0; i < x->s->n_axes; i++)
        out = is_declared ? hone_pool_printf(x->pool, "%s, %s %s", out, type_of(x, i),
                                             x->s->axes[i].var->name)
                          : hone_pool_printf(x->pool, "%s, %s", out, x->s->axes[i].var->name);
    return out;
}

/* Is the node part of something that the edits replace? */
static bool is_gone(const struct hone_c_edits *e, const struct hone_c_node *n)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].begin <= n->begin && n->end <= e->v[i].end)
            return true;
    return false;
}

/* Locals that only the replaced elements used; true: there was one. */
static bool drop_orphan(const struct text *x, struct hone_c_edits *e,
                        const struct hone_c_node *body)
{
    for (const struct hone_c_node *s = body; s; s = hone_c_walk(body, s)) {
        if (s->kind != HONE_C_DECL_STMT || !s->first || s->first != s->last || is_gone(e, s) ||
            is_offset(x, s->first))
            continue;
        bool had_use = false, is_used = false;
        for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
            bool is_use = n->kind == HONE_C_REF && n->decl == s->first;
            had_use |= is_use;
            is_used |= is_use && !is_gone(e, n);
        }
        if (!had_use || is_used)
            continue;
        hone_c_replace(e, s->begin, hone_c_stmt_end(e->tree, s), "");
        return true;
    }
    return false;
}

/* The kernel's statements with values in place of elements. */
static const char *step_text(const struct text *x)
{
    const struct hone_time_step *s = x->s;
    struct hone_c_edits e;
    hone_c_edits_init(&e, s->k->in->tree);
    for (size_t i = 0; i < s->n_axes; i++)
        hone_c_replace(&e, s->axes[i].stmt->begin, hone_c_stmt_end(e.tree, s->axes[i].stmt), "");
    for (size_t i = 0; i < s->n_reads; i++)
        hone_c_replace(&e, s->reads[i].node->begin, s->reads[i].node->end, read_text(x, i));
    for (size_t i = 0; i < s->n_stores; i++)
        hone_c_replace(&e, s->stores[i]->begin, s->stores[i]->end, x->value);
    while (drop_orphan(x, &e, s->k->function->body))
        ;
    for (size_t i = 0; i < s->n_conds; i++) {
        const struct hone_c_node *c = s->conds[i].expr;
        hone_c_replace(&e, c->begin, c->end,
                       hone_pool_printf(x->pool, s->conds[i].is_true ? "%s || (%s)" : "!%s && (%s)",
                                        x->plain, hone_c_text(e.tree, c)));
    }
    return hone_cuda_body(&e, s->k->function->body);
}

/* Where is the point as at most places? */
static const char *conds_text(const struct text *x)
{
    const struct hone_time_step *s = x->s;
    const char *out =
        strcmp(s->written, "true") == 0 ? "" : hone_pool_printf(x->pool, " && %s", s->written);
    for (size_t i = 0; i < s->n_conds; i++)
        out = hone_pool_printf(x->pool, "%s && %s(%s)", out, s->conds[i].is_true ? "" : "!",
                               hone_time_text(x->s, s->conds[i].expr));
    return out;
}

/* What the other buffer has where no step writes. */
static const char *kept_text(const struct text *x)
{
    const struct hone_time_step *s = x->s;
    bool is_all = strcmp(s->written, "true") == 0;
    return hone_pool_printf(x->pool, "%s && !(%s%s%s) ? %s : %s()", x->is_read, x->is_inside,
                            is_all ? "" : " && ", is_all ? "" : s->written, element(x, s->to),
                            s->type);
}

/* Rows above and below a thread's own. */
static const char *edges_text(const struct text *x)
{
    int ry = x->s->y ? x->s->y->radius : 0;
    const char *out = "";
    for (int b = 0; b < ry; b++)
        out = hone_pool_printf(
            x->pool, "%s%s[%d] = %s[-%d * %s];\n%s[%s + %d] = %s[(%s + %d) * %s];\n", out, x->held,
            b, x->at, ry - b, x->tile_x, x->held, x->rows, ry + b, x->at, x->rows, b, x->tile_x);
    return out;
}

static const char *fits_text(const struct text *x)
{
    const char *out = "";
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const struct hone_time_axis *a = &x->s->axes[i];
        if (a != x->s->plane)
            out = hone_pool_printf(x->pool, "%s%s%s > %s", out, *out ? " && " : "", extent(x, a),
                                   times(x, 2 * a->radius, x->steps));
    }
    return out;
}

static const char *make_body(const struct text *x)
{
    const struct hone_time_step *s = x->s;
    struct hone_pool *pool = x->pool;
    bool is_all = strcmp(s->written, "true") == 0;
    const struct hone_cuda_word words[] = {
        {"T", s->type},
        {"STEPS", x->steps},
        {"TILE_X", x->tile_x},
        {"LINES", x->lines},
        {"ROWS", x->rows},
        {"steps", x->n_steps},
        {"RX", hone_pool_printf(pool, "%d", s->x->radius)},
        {"RY", hone_pool_printf(pool, "%d", s->y ? s->y->radius : 0)},
        {"fits", fits_text(x)},
        {"places", places_text(x)},
        {"bounds", bounds_text(x)},
        {"column", x->column},
        {"row", x->row},
        {"r", x->r},
        {"at", x->at},
        {"held", x->held},
        {"plain", x->plain},
        {"value", x->value},
        {"is_read", x->is_read},
        {"is_inside", x->is_inside},
        {"axis_params", axis_list(x, true)},
        {"axis_names", axis_list(x, false)},
        {"near_params", near_text(x, true)},
        {"near_names", near_text(x, false)},
        {"value_params", values_text(x, true)},
        {"values", values_text(x, false)},
        {"step", step_text(x)},
        {"axes", axes_text(x, false)},
        {"now_axes", axes_text(x, true)},
        {"inside_bounds", within_text(x)},
        {"read_beyond", beyond_text(x)},
        {"askers", askers_text(x)},
        {"from", element(x, s->from)},
        {"to", element(x, s->to)},
        {"kept", kept_text(x)},
        {"plain_conds", conds_text(x)},
        {"edges", edges_text(x)},
        {"is_right", right_text(x)},
        {"and_written", is_all ? "" : hone_pool_printf(pool, " && %s", s->written)},
        {NULL, NULL},
    };
    return hone_cuda_fill(s->k->in, body_text, words);
}

/* ---- the launcher ---- */

/* How many points there are along an axis, in the launcher's words. */
static const char *count_text(const struct text *x, const struct hone_cuda_launch *l,
                              const struct hone_time_axis *a)
{
    for (size_t b = 0; b < a->n_high; b++) {
        const char *text = hone_cuda_at_launch(x->s->k, l, a->high[b].expr);
        int64_t more = a->high[b].past - a->start;
        if (text)
            return hone_pool_printf(x->pool, more == 0 ? "%s" : "(%s) + %lld", text,
                                    (long long)more);
    }
    return NULL;
}

static bool set_launch(struct hone_c_edits *edits, const struct text *x,
                       const struct hone_cuda_launch *l, const char *n_steps, const char *tiles_of)
{
    const char *parts[HONE_CUDA_MAX_AXES] = {"1", "1", "1"};
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const struct hone_time_axis *a = &x->s->axes[i];
        const char *n = count_text(x, l, a);
        if (!n)
            return false;
        parts[a == x->s->x   ? 0
              : a == x->s->y ? 1
                             : 2] =
            a == x->s->plane ? hone_pool_printf(x->pool, "%s(%s, 1)", tiles_of, n)
                             : hone_pool_printf(x->pool, "%s(%s, %s - %s)", tiles_of, n,
                                                extent(x, a), times(x, 2 * a->radius, n_steps));
    }
    hone_cuda_set_launch(
        edits, l, hone_pool_printf(x->pool, "dim3(%s, %s, %s)", parts[0], parts[1], parts[2]),
        hone_pool_printf(x->pool, x->s->y ? "dim3(%s, %s)" : "%s", x->tile_x, x->lines), "0");
    hone_c_replace(edits, l->call->end - 1, l->call->end - 1,
                   hone_pool_printf(x->pool, ", %s", n_steps));
    return true;
}

static bool set_launcher(struct hone_c_edits *edits, const struct text *x,
                         const struct hone_time_loop *loop)
{
    const struct hone_coder_input *in = x->s->k->in;
    const struct hone_c_loop *l = loop->loop;
    const char *steps_of = hone_fresh_name(in, "steps_of"),
               *tiles_of = hone_fresh_name(in, "tiles_of"), *t = l->var->name;
    const char *n_steps =
        hone_pool_printf(x->pool, "%s(%s - %s)", steps_of, hone_upper_text(in, l), t);
    const struct hone_cuda_word words[] = {
        {"steps_of", steps_of},
        {"tiles_of", tiles_of},
        {"STEPS", x->steps},
        {"alone_words", loop->is_last_alone ? " The last step\n"
                                              " * is alone: the caller may see what the one before "
                                              "it left."
                                            : ""},
        {"most", loop->is_last_alone ? "left > 1 ? left - 1 : 1" : "left"},
        {NULL, NULL}};
    hone_cuda_put_helpers(edits, hone_cuda_fill(in, helper_text, words));
    hone_c_replace(edits, l->node->inc->begin, l->node->inc->end,
                   hone_pool_printf(x->pool, "%s += %s", t, n_steps));
    for (size_t i = 0; i < x->s->k->n_launches; i++)
        if (!set_launch(edits, x, &x->s->k->launches[i], n_steps, tiles_of))
            return false;
    return true;
}

/* ---- the whole ---- */

static const struct {
    bool has_y;
    int radius; /* at most */
    const char *steps, *tile_x, *lines, *rows;
} shapes[] = {
    {true, 1, "5, 3, 7, 1", "64, 128, 32", "8, 4, 16", "8, 4, 16"},
    {true, 8, "3, 1, 5", "64, 128", "8, 4, 16", "8, 4, 16"},
    {false, 8, "15, 7, 31, 3, 1", "256, 128, 512", NULL, "4, 2, 8, 16"},
};

static const char *tunables(struct text *x)
{
    const struct hone_time_step *s = x->s;
    const struct hone_coder_input *in = s->k->in;
    int radius = s->y && s->y->radius > s->x->radius ? s->y->radius : s->x->radius;
    size_t i = 0;
    while (shapes[i].has_y != (s->y != NULL) || shapes[i].radius < radius)
        i++;
    const char *out = hone_cuda_tunable(in, "STEPS", shapes[i].steps, &x->steps);
    x->lines = "1";
    out = hone_pool_printf(x->pool, "%s%s", out,
                           hone_cuda_tunable(in, "TILE_X", shapes[i].tile_x, &x->tile_x));
    if (s->y)
        out = hone_pool_printf(x->pool, "%s%s", out,
                               hone_cuda_tunable(in, "LINES", shapes[i].lines, &x->lines));
    return hone_pool_printf(x->pool, "%s%s", out,
                            hone_cuda_tunable(in, "ROWS", shapes[i].rows, &x->rows));
}

static void name_all(struct text *x)
{
    const struct hone_coder_input *in = x->s->k->in;
    const struct {
        const char **name, *stem;
    } all[] = {{&x->n_steps, "steps"},   {&x->column, "column"},
               {&x->row, "row"},         {&x->r, "r"},
               {&x->at, "at"},           {&x->held, "held"},
               {&x->plain, "plain"},     {&x->value, "value"},
               {&x->is_read, "is_read"}, {&x->is_inside, "is_inside"},
               {&x->asks, "asks"},       {&x->near, "near"}};
    for (size_t i = 0; i < HONE_COUNTOF(all); i++)
        *all[i].name = hone_fresh_name(in, all[i].stem);
    for (size_t i = 0; i < x->s->n_axes; i++) {
        const char *name = x->s->axes[i].var->name;
        x->first[i] = hone_fresh_name(in, hone_pool_printf(x->pool, "%s_at", name));
        x->low[i] = hone_fresh_name(in, hone_pool_printf(x->pool, "%s_low", name));
        x->high[i] = hone_fresh_name(in, hone_pool_printf(x->pool, "%s_high", name));
        x->now[i] = hone_fresh_name(in, hone_pool_printf(x->pool, "%s_now", name));
    }
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_time_step s;
    struct hone_time_loop loop;
    const char *why = k ? hone_time_read(k, &s, &loop) : "the region is no kernel";
    struct text x = {.s = &s, .pool = in->pool};
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    if (why) {
        hone_fail(err, HONE_E_ARG, "%s", why);
        return NULL;
    }
    name_all(&x);
    const char *pragmas = tunables(&x), *body = make_body(&x);
    if (!set_launcher(&edits, &x, &loop)) {
        hone_fail(err, HONE_E_ARG, "the launcher does not know the step's bounds");
        return NULL;
    }
    const char *bounds = hone_pool_printf(in->pool, s.y ? "%s * %s" : "%s", x.tile_x, x.lines),
               *extra = hone_pool_printf(in->pool, "int %s", x.n_steps);
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, bounds, extra), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_time_tile = {
    .name = "cuda_time_tile",
    .target = "cuda",
    .strategy = "G43",
    .words = "make several time steps of a tile in one launch",
    .form = HONE_REWRITE_NORMAL,
    .sites = sites,
    .apply = apply,
};

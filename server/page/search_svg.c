/* SPDX-License-Identifier: Apache-2.0 */
/* A search as SVG (search_svg.h), from top to bottom: title and summary, the plot, and as many of the
 * steps that were new bests as MAX_IDEAS. Foreign text passes put_text alone. */
#include "server/page/search_svg.h"

#include <math.h>
#include <string.h>

#include "server/page/watch_text.h"
#include "workspace/base/utf8.h"

enum {
    WIDTH = 960,
    LEFT = 64,
    RIGHT = 24,
    TOP = 88,
    HEIGHT = 356,
    IDEA_LINE = 20,
    MAX_IDEAS = 12,
    NOTE_CHARS = 124,
    NOTE_LINES = 2
};

struct plot {
    const struct hone_search_report *report;
    struct hone_buf *out;
    double low, high; /* log2 of the axis' ends */
    int64_t most;     /* evaluations */
};

static const struct hone_report_step *step_at(const struct hone_search_report *r, size_t i)
{
    return &((const struct hone_report_step *)r->steps.v)[i];
}

/* Control characters have no place in XML, escaped or not. */
static void put_text(struct hone_buf *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '<')
            hone_buf_str(out, "&lt;");
        else if (*at == '>')
            hone_buf_str(out, "&gt;");
        else if (*at == '&')
            hone_buf_str(out, "&amp;");
        else if (*at == '"')
            hone_buf_str(out, "&quot;");
        else
            hone_buf_add(out, (unsigned char)*at < ' ' ? " " : at, 1);
    }
}

static double x_of(const struct plot *p, int64_t evaluations)
{
    return LEFT + (double)evaluations / (double)p->most * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct plot *p, double log2_ratio)
{
    double at = fmin(fmax(log2_ratio, p->low), p->high);
    return TOP + (p->high - at) / (p->high - p->low) * (HEIGHT - TOP - 48);
}

static bool is_confirmed(const struct hone_report_step *s)
{
    return strcmp(s->kind, "confirm") == 0;
}

/* Where it stands: by what its own evaluation measured. The baseline is what all are over. */
static double value_of(const struct hone_report_step *s)
{
    return s->parent >= 0 && isfinite(s->value) && isfinite(s->ratio) && s->ratio > 0
               ? log2(s->ratio)
               : s->value;
}

static const char *words_of(const struct hone_report_step *s)
{
    if (s->words && *s->words)
        return s->words;
    return s->parent < 0                    ? "the baseline"
           : strcmp(s->kind, "decide") == 0 ? "a longer look at one of them"
                                            : s->kind;
}

static bool is_faster(const struct hone_report_step *s)
{
    return s->verdict && strcmp(s->verdict, "faster") == 0;
}

static bool is_wrong(const struct hone_report_step *s)
{
    return !isfinite(s->value);
}

static void measure(struct plot *p)
{
    p->high = 1;
    p->most = 1;
    for (size_t i = 0; i < p->report->steps.n; i++) {
        const struct hone_report_step *s = step_at(p->report, i);
        p->most = hone_max_i64(p->most, s->evaluations);
        if (isfinite(s->value)) {
            p->low = fmin(p->low, floor(fmin(s->value, value_of(s))));
            p->high = fmax(p->high, ceil(fmax(s->value, value_of(s)) + 0.2));
        }
    }
    p->low = fmax(p->low, -3); /* what is slower still stands on the border */
}

static void put_axes(const struct plot *p)
{
    struct hone_buf *out = p->out;
    double step = ceil((p->high - p->low) / 8);
    for (double v = p->low; v <= p->high; v += step) {
        double y = y_of(p, v);
        hone_buf_printf(
            out,
            "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
            "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4gx</text>\n",
            LEFT, y, WIDTH - RIGHT, y, LEFT - 8, y + 4, exp2(v));
    }
    for (int i = 0; i <= 4; i++) {
        int64_t n = p->most * i / 4;
        hone_buf_printf(out,
                        "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%lld"
                        "</text>\n",
                        x_of(p, n), HEIGHT - 24, (long long)n);
    }
    hone_buf_printf(out,
                    "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">evaluations"
                    "</text>\n",
                    WIDTH - RIGHT, HEIGHT - 6);
}

static void put_dot(const struct plot *p, const struct hone_report_step *s)
{
    double x = x_of(p, s->evaluations), y = y_of(p, value_of(s));
    if (is_wrong(s)) {
        y = HEIGHT - 48;
        hone_buf_printf(p->out, "<path class=\"wrong\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\">", x - 3,
                        y - 3);
    } else if (s->barred) {
        hone_buf_printf(p->out,
                        "<path class=\"barred\" d=\"M%.1f %.1fa5 5 0 1 0 10 0a5 5 0 1 0 -10 0"
                        "m1.5 3.5l7 -7\">",
                        x - 5, y);
    } else if (is_confirmed(s)) {
        hone_buf_printf(p->out, "<path class=\"%s\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\">",
                        is_faster(s) ? "confirmed" : "unsure", x, y - 6);
    } else {
        hone_buf_printf(p->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\">",
                        s->is_gain ? "gain" : "none", x, y);
    }
    hone_buf_str(p->out, "<title>");
    put_text(p->out, words_of(s));
    if (isfinite(s->value))
        hone_buf_printf(p->out, ": %.3gx the baseline (", exp2(value_of(s)));
    else
        hone_buf_str(p->out, " (");
    if (is_confirmed(s) && !is_faster(s))
        hone_buf_str(p->out, "measured afresh, ");
    put_text(p->out, s->verdict ? s->verdict : "no version");
    if (s->barred) {
        hone_buf_str(p->out, ", not to be claimed: ");
        put_text(p->out, s->barred);
    }
    hone_buf_printf(p->out, ")</title>%s\n",
                    is_wrong(s) || is_confirmed(s) ? "</path>" : "</circle>");
}

static void put_best_line(const struct plot *p)
{
    double best = (double)-INFINITY;
    bool has_begun = false;
    hone_buf_str(p->out, "<path class=\"best\" d=\"");
    for (size_t i = 0; i < p->report->steps.n; i++) {
        const struct hone_report_step *s = step_at(p->report, i);
        if (!isfinite(s->value) || s->value <= best)
            continue;
        double x = x_of(p, s->evaluations), y = y_of(p, s->value);
        hone_buf_printf(p->out, has_begun ? "H%.1fV%.1f" : "M%.1f %.1f", x, y);
        best = s->value;
        has_begun = true;
    }
    hone_buf_printf(p->out, has_begun ? "H%d\"/>\n" : "M0 0\"/>\n", WIDTH - RIGHT);
}

/* The steps that were new bests, as sentences. Returns how many. */
static int put_ideas(const struct plot *p)
{
    double best = (double)-INFINITY;
    int n = 0;
    for (size_t i = 0; i < p->report->steps.n && n < MAX_IDEAS; i++) {
        const struct hone_report_step *s = step_at(p->report, i);
        if (!isfinite(s->value) || s->value <= best || is_confirmed(s))
            continue;
        best = s->value;
        hone_buf_printf(p->out, "<text class=\"idea\" x=\"%d\" y=\"%d\">about %.3gx  ", LEFT,
                        HEIGHT + IDEA_LINE * ++n, exp2(s->value));
        put_text(p->out, words_of(s));
        hone_buf_str(p->out, "</text>\n");
    }
    return n;
}

/* In lines that fit; what is too long ends in "...". */
static void put_note(struct hone_buf *out, const char *text)
{
    for (int line = 0; line < NOTE_LINES && *text; line++) {
        size_t len = strlen(text), take = hone_utf8_cut(text, len < NOTE_CHARS ? len : NOTE_CHARS);
        bool is_cut = take < len && line + 1 == NOTE_LINES;
        for (size_t i = take; take < len && i > NOTE_CHARS / 2; i--)
            if (text[i] == ' ') {
                take = i;
                break;
            }
        HONE_AUTOFREE char *part = hone_strndup(text, take);
        hone_buf_printf(out, "<text class=\"note\" x=\"%d\" y=\"%d\">", LEFT, 50 + 17 * line);
        put_text(out, part);
        hone_buf_str(out, is_cut ? "...</text>\n" : "</text>\n");
        text += take + (text[take] == ' ');
    }
}

/* The interval of the confirmation that the end tells of, at the last one. */
static void put_whisker(const struct plot *p)
{
    double ci[2] = {0, 0};
    const struct hone_json *pair = p->report->end ? hone_json_get(p->report->end, "ci") : NULL;
    const struct hone_report_step *last = NULL;
    for (size_t i = 0; i < p->report->steps.n; i++)
        last = is_confirmed(step_at(p->report, i)) ? step_at(p->report, i) : last;
    size_t n = 0;
    for (const struct hone_json *v = hone_json_first(pair); v && n < 2; v = hone_json_next(v))
        n += hone_json_as_f64(v, &ci[n]);
    if (!last || n != 2 || !(ci[0] > 0) || !(ci[1] >= ci[0]))
        return;
    hone_buf_printf(p->out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n",
                    is_faster(last) && !last->barred ? "whisker" : "whisker unsure",
                    x_of(p, last->evaluations), y_of(p, log2(ci[0])), y_of(p, log2(ci[1])));
}

static void put_title(const struct plot *p)
{
    const struct hone_search_report *r = p->report;
    hone_buf_printf(p->out, "<text class=\"title\" x=\"%d\" y=\"28\">", LEFT);
    put_text(p->out, r->name && r->name[0] ? r->name : r->id);
    hone_buf_str(p->out, "</text>\n");
    HONE_AUTOFREE char *told = hone_watch_result(r, false);
    put_note(p->out, r->end ? told : "it has not ended");
}

static const char style_text[] =
    "<style>text{font-family:system-ui,sans-serif;fill:#1a1d21}.title{font-size:18px;"
    "font-weight:600}.note,.idea{font-size:13px}.tick{font-size:11px;fill:#5a6270}.grid{stroke:"
    "#d8dce2}.best{fill:none;stroke:#0b6bcb;stroke-width:2}.none{fill:#9aa3ad}.gain{fill:#0b6bcb}"
    ".confirmed{fill:#14803c}.whisker{stroke:#14803c;stroke-width:2}.unsure{fill:#ffffff;stroke:#"
    "5a6270;stroke-width:1.5}.barred{fill:none;stroke:#5a6270;stroke-width:1.5}.wrong{stroke:#"
    "b3261e;stroke-"
    "width:1.5;fill:none}</style>\n";

char *hone_search_svg(const struct hone_search_report *report)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf body = HONE_BUF_INIT;
    struct plot p = {.report = report, .out = &body};
    struct hone_buf out = HONE_BUF_INIT;
    measure(&p);
    put_title(&p);
    put_axes(&p);
    put_best_line(&p);
    put_whisker(&p);
    for (size_t i = 0; i < report->steps.n; i++)
        put_dot(&p, step_at(report, i));
    int height = HEIGHT + IDEA_LINE * (put_ideas(&p) + 1);
    hone_buf_printf(&out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                    "height=\"%d\" role=\"img\">\n",
                    WIDTH, height, WIDTH, height);
    hone_buf_str(&out, style_text);
    hone_buf_printf(&out, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, height);
    hone_buf_str(&out, body.data ? body.data : "");
    hone_buf_str(&out, "</svg>\n");
    return hone_buf_steal(&out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options by table (options.h).
 *
 * Flow of hone_opts_parse: defaults and environment first (set_fallbacks), then the words; a
 * positional row takes words without a dash; each value is checked by its row's type and range.
 * Unknown words get the closest known one as a hint. Help and usage come from the same rows. */
#include "server/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/text.h"

/* "60s" -> 60000; a plain number counts as seconds. */
static int parse_duration(const char *text, int64_t *ret_ms, struct hone_err *err)
{
    static const struct {
        const char *suffix;
        double ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && i < HONE_COUNTOF(units); i++) {
        if (strcmp(end, units[i].suffix) != 0)
            continue;
        double ms = value * units[i].ms;
        if (!(ms >= 0 && ms < 1e15))
            break;
        *ret_ms = (int64_t)ms;
        return 0;
    }
    return hone_fail(err, HONE_E_ARG, "'%.40s' is no duration; write 90s, 10m, 2h or 250ms", text);
}

static int set_i64(const struct hone_opt *opt, const char *text, int64_t *ret, struct hone_err *err)
{
    int64_t value = 0;
    if (opt->is_duration) {
        int rc = parse_duration(text, &value, err);
        if (rc < 0)
            return rc;
    } else {
        char *end;
        errno = 0;
        value = strtoll(text, &end, 10);
        if (errno || end == text || *end)
            return hone_fail(err, HONE_E_ARG, "'%.40s' is no whole number", text);
    }
    int64_t max = opt->max || opt->min ? opt->max : INT64_MAX;
    if (value < opt->min || value > max)
        return hone_fail(err, HONE_E_ARG, "%lld is outside %lld to %lld", (long long)value,
                         (long long)opt->min, (long long)max);
    *ret = value;
    return 0;
}

static int set_f64(const struct hone_opt *opt, const char *text, double *ret, struct hone_err *err)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return hone_fail(err, HONE_E_ARG, "'%.40s' is no number", text);
    if ((opt->max || opt->min) && (value < (double)opt->min || value > (double)opt->max))
        return hone_fail(err, HONE_E_ARG, "%g is outside %lld to %lld", value, (long long)opt->min,
                         (long long)opt->max);
    *ret = value;
    return 0;
}

static int set_str(const struct hone_opt *opt, const char *text, const char **ret,
                   struct hone_err *err)
{
    bool is_good = !opt->choices;
    struct hone_buf list = HONE_BUF_INIT;
    for (size_t i = 0; opt->choices && opt->choices[i]; i++) {
        is_good = is_good || strcmp(opt->choices[i], text) == 0;
        hone_buf_printf(&list, "%s%s", i ? ", " : "", opt->choices[i]);
    }
    int rc = is_good ? 0 : hone_fail(err, HONE_E_ARG, "'%.40s' is none of: %s", text, list.data);
    hone_buf_done(&list);
    if (is_good)
        *ret = text;
    return rc;
}

static void add_str(const char *text, struct hone_strs *list)
{
    list->v = hone_realloc(list->v, (list->n + 1) * sizeof(*list->v));
    list->v[list->n++] = text;
}

static int set(const struct hone_opt *opt, const char *text, void *ret, struct hone_err *err)
{
    void *member = (char *)ret + opt->offset;
    int rc = 0;
    switch (opt->type) {
    case HONE_OPT_BOOL:
        *(bool *)member = strcmp(text, "0") != 0 && strcmp(text, "") != 0;
        break;
    case HONE_OPT_I64:
        rc = set_i64(opt, text, member, err);
        break;
    case HONE_OPT_F64:
        rc = set_f64(opt, text, member, err);
        break;
    case HONE_OPT_STR:
        rc = set_str(opt, text, member, err);
        break;
    case HONE_OPT_STRS:
        add_str(text, member);
        break;
    }
    return rc < 0 ? hone_wrap(err, "%s%s", opt->is_positional ? "" : "--", opt->name) : 0;
}

static int set_fallbacks(const struct hone_opt *opts, size_t n_opts, void *ret,
                         struct hone_err *err)
{
    for (size_t i = 0; i < n_opts; i++) {
        const char *env = opts[i].env ? getenv(opts[i].env) : NULL;
        const char *text = env && env[0] ? env : opts[i].fallback;
        int rc = text ? set(&opts[i], text, ret, err) : 0;
        if (rc < 0)
            return env ? hone_wrap(err, "environment variable %s", opts[i].env) : rc;
    }
    return 0;
}

static int unknown_option(const char *name, const struct hone_opt *opts, size_t n_opts,
                          struct hone_err *err)
{
    const char **words = hone_calloc(n_opts + 2, sizeof(*words));
    size_t n = 0;
    for (size_t i = 0; i < n_opts; i++)
        if (!opts[i].is_positional)
            words[n++] = opts[i].name;
    words[n++] = "help";
    const char *closest = hone_plain_nearest(name, words, n);
    free(words);
    if (closest)
        return hone_fail(err, HONE_E_ARG, "no option --%.60s; did you mean --%s?", name, closest);
    return hone_fail(err, HONE_E_ARG, "no option --%.60s; --help lists them", name);
}

struct words { /* being read */
    int argc;
    char *const *argv;
    int at;
    const struct hone_opt *opts;
    size_t n_opts;
    void *ret;
    bool *is_given; /* by row */
};

static int give(struct words *w, const struct hone_opt *opt, const char *text, struct hone_err *err)
{
    w->is_given[opt - w->opts] = true;
    return set(opt, text, w->ret, err);
}

/* One --name[=value]; the value may be the next word. */
static int take_option(struct words *w, struct hone_err *err)
{
    const char *name = w->argv[w->at] + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    for (size_t i = 0; i < w->n_opts; i++) {
        const struct hone_opt *opt = &w->opts[i];
        if (opt->is_positional || strlen(opt->name) != len || strncmp(opt->name, name, len) != 0)
            continue;
        if (opt->type == HONE_OPT_BOOL)
            return equals ? hone_fail(err, HONE_E_ARG, "--%s takes no value", opt->name)
                          : give(w, opt, "1", err);
        if (!equals && w->at + 1 >= w->argc)
            return hone_fail(err, HONE_E_ARG, "--%s needs a value: --%s %s", opt->name, opt->name,
                             opt->metavar ? opt->metavar : "VALUE");
        return give(w, opt, equals ? equals + 1 : w->argv[++w->at], err);
    }
    HONE_AUTOFREE char *bare = hone_strndup(name, len);
    return unknown_option(bare, w->opts, w->n_opts, err);
}

/* "-o DIR" */
static int take_letter(struct words *w, struct hone_err *err)
{
    const char *word = w->argv[w->at];
    for (size_t i = 0; i < w->n_opts; i++) {
        const struct hone_opt *opt = &w->opts[i];
        if (opt->letter == 0 || word[1] != opt->letter || word[2] != '\0')
            continue;
        if (w->at + 1 >= w->argc)
            return hone_fail(err, HONE_E_ARG, "%s needs a value: %s %s", word, word, opt->metavar);
        return give(w, opt, w->argv[++w->at], err);
    }
    return hone_fail(err, HONE_E_ARG, "no option %.60s; options have two dashes, --help lists them",
                     word);
}

static const struct hone_opt *positional(const struct hone_opt *opts, size_t n_opts, size_t which)
{
    for (size_t i = 0; i < n_opts; i++)
        if (opts[i].is_positional && which-- == 0)
            return &opts[i];
    return NULL;
}

static int take_words(struct words *w, struct hone_err *err)
{
    size_t n_positional = 0;
    bool is_over = false;
    for (; w->at < w->argc; w->at++) {
        const char *word = w->argv[w->at];
        int rc;
        if (!is_over && strcmp(word, "--") == 0) {
            is_over = true;
            continue;
        }
        if (!is_over && strncmp(word, "--", 2) == 0) {
            rc = take_option(w, err);
        } else if (!is_over && word[0] == '-' && word[1]) {
            rc = take_letter(w, err);
        } else {
            const struct hone_opt *opt = positional(w->opts, w->n_opts, n_positional++);
            rc = opt ? give(w, opt, word, err)
                     : hone_fail(err, HONE_E_ARG, "one argument too many: '%.60s'", word);
        }
        if (rc < 0)
            return rc;
    }
    const struct hone_opt *missing = positional(w->opts, w->n_opts, n_positional);
    if (missing && missing->is_required)
        return hone_fail(err, HONE_E_ARG, "%s is missing: %s", missing->metavar, missing->help);
    return 0;
}

/* Does this action take it? action NULL: yes. */
static bool is_of(const struct hone_opt *opt, const char *action)
{
    size_t len = action ? strlen(action) : 0;
    for (const char *at = opt->of; at && action;) {
        size_t n = strcspn(at, " ");
        if (n == len && strncmp(at, action, n) == 0)
            return true;
        at = at[n] ? at + n + 1 : NULL;
    }
    return !opt->of || !action;
}

/* What an action does not use is not silently passed over. */
static int check_action(const struct words *w, struct hone_err *err)
{
    const struct hone_opt *opt = positional(w->opts, w->n_opts, 0);
    const char *action =
        opt && opt->choices ? *(const char *const *)((const char *)w->ret + opt->offset) : NULL;
    for (size_t i = 0; i < w->n_opts; i++)
        if (w->is_given[i] && !is_of(&w->opts[i], action))
            return hone_fail(err, HONE_E_ARG, "'%s' takes no %s%s; that is for: %s", action,
                             w->opts[i].is_positional ? "" : "--",
                             w->opts[i].is_positional ? w->opts[i].metavar : w->opts[i].name,
                             w->opts[i].of);
    return 0;
}

int hone_opts_parse(int argc, char *const *argv, const struct hone_opt *opts, size_t n_opts,
                    void *ret, size_t size, struct hone_err *err)
{
    memset(ret, 0, size);
    HONE_AUTOFREE bool *is_given = hone_calloc(n_opts + 1, sizeof(*is_given));
    struct words words = {.argc = argc,
                          .argv = argv,
                          .opts = opts,
                          .n_opts = n_opts,
                          .ret = ret,
                          .is_given = is_given};
    int rc = set_fallbacks(opts, n_opts, ret, err);
    if (rc == 0)
        rc = take_words(&words, err);
    return rc < 0 ? rc : check_action(&words, err);
}

void hone_opts_done(const struct hone_opt *opts, size_t n_opts, void *ret)
{
    for (size_t i = 0; i < n_opts; i++) {
        struct hone_strs *list =
            opts[i].type == HONE_OPT_STRS ? (void *)((char *)ret + opts[i].offset) : NULL;
        if (list) {
            free(list->v);
            *list = (struct hone_strs){.v = NULL};
        }
    }
}

void hone_opts_usage(const struct hone_opt *opts, size_t n_opts, struct hone_buf *out)
{
    bool has_options = false;
    for (size_t i = 0; i < n_opts; i++) {
        has_options = has_options || !opts[i].is_positional;
        if (opts[i].is_positional)
            hone_buf_printf(out, opts[i].is_required ? " %s" : " [%s]", opts[i].metavar);
    }
    if (has_options)
        hone_buf_str(out, " [options]");
}

static void help_row(const struct hone_opt *opt, const char *action, struct hone_buf *out)
{
    const char letter[] = {opt->letter != 0 ? '-' : '\0', opt->letter, ',', ' ', '\0'};
    HONE_AUTOFREE char *left =
        opt->is_positional ? hone_strdup(opt->metavar)
                           : hone_sprintf("%s--%s%s%s", letter, opt->name, opt->metavar ? " " : "",
                                          opt->metavar ? opt->metavar : "");
    hone_buf_printf(out, "  %-26s %s%s%s", left, opt->of && !action ? opt->of : "",
                    opt->of && !action ? ": " : "", opt->help);
    for (size_t i = 0; opt->choices && opt->choices[i]; i++)
        hone_buf_printf(out, "%s%s", i ? ", " : " One of: ", opt->choices[i]);
    if (opt->choices)
        hone_buf_str(out, ".");
    if (opt->fallback)
        hone_buf_printf(out, " Default: %s.",
                        strcmp(opt->fallback, ".") == 0 ? "the current folder" : opt->fallback);
    if (opt->env)
        hone_buf_printf(out, " Environment: %s.", opt->env);
    hone_buf_str(out, "\n");
}

void hone_opts_help(const struct hone_opt *opts, size_t n_opts, const char *action,
                    struct hone_buf *out)
{
    for (size_t i = 0; i < n_opts; i++)
        if (is_of(&opts[i], action) && !(action && i == 0 && opts[i].is_positional))
            help_row(&opts[i], action, out);
    hone_buf_printf(out, "  %-26s %s\n", "--help", "This text.");
}

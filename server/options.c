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

struct words {
    char *const *v;
    int n, at;
};

/* One --name[=value]; words->at moves on when the value is the next word. */
static int take_option(struct words *words, const struct hone_opt *opts, size_t n_opts, void *ret,
                       struct hone_err *err)
{
    const char *name = words->v[words->at] + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    for (size_t i = 0; i < n_opts; i++) {
        if (opts[i].is_positional || strlen(opts[i].name) != len ||
            strncmp(opts[i].name, name, len) != 0)
            continue;
        if (opts[i].type == HONE_OPT_BOOL)
            return equals ? hone_fail(err, HONE_E_ARG, "--%s takes no value", opts[i].name)
                          : set(&opts[i], "1", ret, err);
        if (!equals && words->at + 1 >= words->n)
            return hone_fail(err, HONE_E_ARG, "--%s needs a value: --%s %s", opts[i].name,
                             opts[i].name, opts[i].metavar ? opts[i].metavar : "VALUE");
        return set(&opts[i], equals ? equals + 1 : words->v[++words->at], ret, err);
    }
    HONE_AUTOFREE char *bare = hone_strndup(name, len);
    return unknown_option(bare, opts, n_opts, err);
}

/* "-o DIR" */
static int take_letter(struct words *words, const struct hone_opt *opts, size_t n_opts, void *ret,
                       struct hone_err *err)
{
    const char *word = words->v[words->at];
    for (size_t i = 0; i < n_opts; i++) {
        if (opts[i].letter == 0 || word[1] != opts[i].letter || word[2] != '\0')
            continue;
        if (words->at + 1 >= words->n)
            return hone_fail(err, HONE_E_ARG, "%s needs a value: %s %s", word, word,
                             opts[i].metavar);
        return set(&opts[i], words->v[++words->at], ret, err);
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

int hone_opts_parse(int argc, char *const *argv, const struct hone_opt *opts, size_t n_opts,
                    void *ret, size_t size, struct hone_err *err)
{
    memset(ret, 0, size);
    int rc = set_fallbacks(opts, n_opts, ret, err);
    if (rc < 0)
        return rc;
    size_t n_positional = 0;
    bool is_over = false;
    struct words words = {.v = argv, .n = argc};
    for (; words.at < argc; words.at++) {
        const char *word = argv[words.at];
        if (!is_over && strcmp(word, "--") == 0) {
            is_over = true;
            continue;
        }
        if (!is_over && strncmp(word, "--", 2) == 0) {
            rc = take_option(&words, opts, n_opts, ret, err);
        } else if (!is_over && word[0] == '-' && word[1]) {
            rc = take_letter(&words, opts, n_opts, ret, err);
        } else {
            const struct hone_opt *opt = positional(opts, n_opts, n_positional++);
            rc = opt ? set(opt, word, ret, err)
                     : hone_fail(err, HONE_E_ARG, "one argument too many: '%.60s'", word);
        }
        if (rc < 0)
            return rc;
    }
    const struct hone_opt *missing = positional(opts, n_opts, n_positional);
    if (missing && missing->is_required)
        return hone_fail(err, HONE_E_ARG, "%s is missing: %s", missing->metavar, missing->help);
    return 0;
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

static void help_row(const struct hone_opt *opt, struct hone_buf *out)
{
    const char letter[] = {opt->letter != 0 ? '-' : '\0', opt->letter, ',', ' ', '\0'};
    HONE_AUTOFREE char *left =
        opt->is_positional ? hone_strdup(opt->metavar)
                           : hone_sprintf("%s--%s%s%s", letter, opt->name, opt->metavar ? " " : "",
                                          opt->metavar ? opt->metavar : "");
    hone_buf_printf(out, "  %-26s %s", left, opt->help);
    for (size_t i = 0; opt->choices && opt->choices[i]; i++)
        hone_buf_printf(out, "%s%s", i ? ", " : " One of: ", opt->choices[i]);
    if (opt->choices)
        hone_buf_str(out, ".");
    if (opt->fallback)
        hone_buf_printf(out, " Default: %s.", opt->fallback);
    if (opt->env)
        hone_buf_printf(out, " Environment: %s.", opt->env);
    hone_buf_str(out, "\n");
}

void hone_opts_help(const struct hone_opt *opts, size_t n_opts, struct hone_buf *out)
{
    for (size_t i = 0; i < n_opts; i++)
        help_row(&opts[i], out);
    hone_buf_printf(out, "  %-26s %s\n", "--help", "This text.");
}

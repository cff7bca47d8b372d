/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options by table: one row gives the parser, the check, the default, the environment
 * variable and the help text.
 *
 *     static const struct hone_opt opts[] = {
 *         HONE_OPT(struct args, port, "port", "N", "TCP port; 0 takes a free one.", .fallback =
 * "7411", .max = 65535), HONE_OPT(struct args, tool, "tool", "TOOL", "Name of the tool.",
 * .is_positional = true, .is_required = true),
 *     };
 *
 * The row's type is inferred from the struct member: bool (a flag, --no-x where .can_negate),
 * int64_t, double, const char *. An int64_t row with .is_duration takes 90s, 10m, 2h, 250ms and
 * holds milliseconds. `--name value` and `--name=value`, and `-o value`
 * where the row has a letter; `--` ends the options. */
#ifndef HONE_SERVER_OPTIONS_H
#define HONE_SERVER_OPTIONS_H

#include "workspace/base/fields.h"

enum hone_opt_type { HONE_OPT_BOOL, HONE_OPT_I64, HONE_OPT_F64, HONE_OPT_STR, HONE_OPT_STRS };

struct hone_opt {
    const char *name; /* without dashes; a positional's name is shown in upper case as metavar */
    enum hone_opt_type type;
    size_t offset;
    const char *metavar; /* NULL for flags */
    const char *help;
    const char *env;      /* environment variable that stands in for it */
    const char *fallback; /* default, as text */
    bool is_positional;
    bool is_required;
    bool is_duration;
    int64_t min, max;           /* numbers; both 0: any whole one that is >= 0, any finite one */
    const char *const *choices; /* NULL-terminated */
    char letter;                /* "-o DIR" besides; 0: none. Of an option with a value */
    const char *of;             /* words of the actions that take it, "new lint"; NULL: all. The
                                   action is the first positional row with choices */
};

#define HONE_OPT_TYPE_OF(member)                                                                   \
    _Generic((member), bool: HONE_OPT_BOOL, int64_t: HONE_OPT_I64, double: HONE_OPT_F64,           \
             const char *: HONE_OPT_STR, struct hone_strs: HONE_OPT_STRS)
/* After the metavar comes the help text, then designated members. */
#define HONE_OPT(type_, member_, name_, metavar_, ...)                                             \
    {                                                                                              \
        .name = name_, .type = HONE_OPT_TYPE_OF(((type_ *)0)->member_),                            \
        .offset = offsetof(type_, member_), .metavar = metavar_, .help = __VA_ARGS__               \
    }
/* Rows that several verbs share. */
#define HONE_OPT_WORKSPACE_HELP "Workspace folder; the current folder may lie in it."
#define HONE_OPT_WORKSPACE(type_)                                                                  \
    HONE_OPT(type_, workspace, "workspace", "DIR", HONE_OPT_WORKSPACE_HELP,                        \
             .env = "HONE_WORKSPACE", .fallback = ".")
#define HONE_OPT_JSON(type_) HONE_OPT(type_, json, "json", NULL, "Print JSON on stdout.")

/* argv without the program and verb names. Strings in ret are borrowed from argv, the environment
 * or the table. HONE_E_ARG names the closest option for an unknown one. */
int hone_opts_parse(int argc, char *const *argv, const struct hone_opt *opts, size_t n_opts,
                    void *ret, size_t size, struct hone_err *err);
/* Frees the lists in ret. */
void hone_opts_done(const struct hone_opt *opts, size_t n_opts, void *ret);
/* "--url" or "NAME..." one a line, with help, default and environment variable. action: its options
 * alone; NULL: all. */
void hone_opts_help(const struct hone_opt *opts, size_t n_opts, const char *action,
                    struct hone_buf *out);
/* "NAME [DIR] [--option ...]" for a usage line. */
void hone_opts_usage(const struct hone_opt *opts, size_t n_opts, struct hone_buf *out);

#endif

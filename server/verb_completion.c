/* SPDX-License-Identifier: Apache-2.0 */
/* `hone completion bash|zsh`: the shell's completion, from the tables of the verbs. */
#include <string.h>

#include "server/verb.h"

struct args {
    const char *shell;
};

static const char *const shells[] = {"bash", "zsh", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, shell, "shell", "SHELL", "Whose.", .is_positional = true,
             .is_required = true, .choices = shells),
};

/* In single quotes; what would end them goes. */
static void put_quoted(struct hone_buf *out, const char *text)
{
    hone_buf_str(out, "'");
    for (const char *at = text; *at; at++)
        if (*at != '\'')
            hone_buf_add(out, at, 1);
    hone_buf_str(out, "'");
}

static void put_choices(struct hone_buf *out, const struct hone_opt *opt)
{
    for (size_t i = 0; opt->choices && opt->choices[i]; i++)
        hone_buf_printf(out, "%s%s", i > 0 ? " " : "", opt->choices[i]);
}

static bool is_folder(const struct hone_opt *opt)
{
    return opt->metavar && strcmp(opt->metavar, "DIR") == 0;
}

/* ---- bash ---- */

static void put_bash_value(struct hone_buf *out, const struct hone_verb *verb,
                           const struct hone_opt *opt)
{
    hone_buf_printf(out, "        %s\\ --%s) ", verb->name, opt->name);
    if (opt->choices) {
        hone_buf_str(out, "words='");
        put_choices(out, opt);
        hone_buf_str(out, "' ;;\n");
    } else {
        hone_buf_printf(out, "COMPREPLY=($(compgen -%c -- \"$cur\")); return ;;\n",
                        is_folder(opt) ? 'd' : 'f');
    }
}

static void put_bash(struct hone_buf *out)
{
    hone_buf_str(out, "# bash completion of hone, from `hone completion bash`\n"
                      "_hone() {\n"
                      "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
                      "verb= words= i\n"
                      "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                      "        case ${COMP_WORDS[i]} in\n        ");
    for (size_t v = 0; v < hone_n_verbs; v++)
        hone_buf_printf(out, "%s%s", v > 0 ? " | " : "", hone_verbs[v]->name);
    hone_buf_str(out, ") verb=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n"
                      "    case \"$verb $prev\" in\n");
    for (size_t v = 0; v < hone_n_verbs; v++)
        for (size_t i = 0; i < hone_verbs[v]->n_opts; i++)
            if (!hone_verbs[v]->opts[i].is_positional &&
                hone_verbs[v]->opts[i].type != HONE_OPT_BOOL)
                put_bash_value(out, hone_verbs[v], &hone_verbs[v]->opts[i]);
    hone_buf_str(out, "        *)\n            case $verb in\n            '') words='");
    for (size_t v = 0; v < hone_n_verbs; v++)
        hone_buf_printf(out, "%s ", hone_verbs[v]->name);
    for (size_t i = 0; i < hone_n_global_opts; i++)
        hone_buf_printf(out, "--%s ", hone_global_opts[i].name);
    hone_buf_str(out, "--help --version' ;;\n");
    for (size_t v = 0; v < hone_n_verbs; v++) {
        hone_buf_printf(out, "            %s) words='", hone_verbs[v]->name);
        for (size_t i = 0; i < hone_verbs[v]->n_opts; i++) {
            const struct hone_opt *opt = &hone_verbs[v]->opts[i];
            if (opt->is_positional)
                put_choices(out, opt);
            hone_buf_printf(out, opt->is_positional ? " " : "--%s ", opt->name);
        }
        hone_buf_str(out, "--help' ;;\n");
    }
    hone_buf_str(out, "            esac ;;\n    esac\n"
                      "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                      "    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                      "}\ncomplete -o filenames -F _hone hone\n");
}

/* ---- zsh ---- */

/* "--name[help]:metavar:action"; brackets and colons of the help would end it. */
static void put_zsh_row(struct hone_buf *out, const struct hone_opt *opt)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf row = HONE_BUF_INIT;
    if (opt->is_positional)
        hone_buf_printf(&row, ":%s:", opt->metavar);
    else
        hone_buf_printf(&row, "%s--%s[", opt->type == HONE_OPT_STRS ? "*" : "", opt->name);
    for (const char *at = opt->is_positional ? "" : opt->help; *at; at++)
        if (!strchr("[]:\\", *at))
            hone_buf_add(&row, at, 1);
    if (!opt->is_positional)
        hone_buf_printf(&row, "]%s%s%s", opt->metavar ? ":" : "", opt->metavar ? opt->metavar : "",
                        opt->metavar ? ":" : "");
    if (opt->choices) {
        hone_buf_str(&row, "(");
        put_choices(&row, opt);
        hone_buf_str(&row, ")");
    } else if (opt->metavar) {
        hone_buf_str(&row, is_folder(opt) ? "_files -/" : "_files");
    }
    hone_buf_str(out, " \\\n            ");
    put_quoted(out, row.data);
}

static void put_zsh(struct hone_buf *out)
{
    hone_buf_str(out, "#compdef hone\n# zsh completion of hone, from `hone completion zsh`\n"
                      "_hone() {\n    local -a verbs\n    verbs=(\n");
    for (size_t v = 0; v < hone_n_verbs; v++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf row = HONE_BUF_INIT;
        hone_buf_printf(&row, "%s:%s", hone_verbs[v]->name, hone_verbs[v]->summary);
        hone_buf_str(out, "        ");
        put_quoted(out, row.data);
        hone_buf_str(out, "\n");
    }
    hone_buf_str(out, "    )\n    local i\n"
                      "    for ((i = 2; i < CURRENT; i++)); do\n"
                      "        (( ${verbs[(I)${words[i]}:*]} )) && break\n    done\n"
                      "    if (( i >= CURRENT )); then\n"
                      "        _describe verb verbs\n        return\n    fi\n"
                      "    local verb=${words[i]}\n    shift $((i - 1)) words\n"
                      "    (( CURRENT -= i - 1 ))\n    case $verb in\n");
    for (size_t v = 0; v < hone_n_verbs; v++) {
        hone_buf_printf(out, "    %s)\n        _arguments", hone_verbs[v]->name);
        for (size_t i = 0; i < hone_verbs[v]->n_opts; i++)
            put_zsh_row(out, &hone_verbs[v]->opts[i]);
        hone_buf_str(out, " \\\n            '--help[This text.]' ;;\n");
    }
    hone_buf_str(out, "    esac\n}\n_hone \"$@\"\n");
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    if (strcmp(args->shell, "bash") == 0)
        put_bash(&out);
    else
        put_zsh(&out);
    return hone_print(out.data, err);
}

const struct hone_verb hone_verb_completion = {
    .name = "completion",
    .summary = "Print the completion of words for bash or zsh.",
    .description = "`make install` puts both where the shells look for them.",
    .example = "eval \"$(hone completion bash)\"",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule on one relative: all versions go into one C program, which runs each against the
 * relative itself.
 *
 * File level names of a version get its number by #define, so that versions stand side by side.
 * When the program does not compile, each version is compiled alone to tell which the compiler
 * refuses. The head of the relative ("new: --shape ... --size ...") says what its arguments are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "agents/rewrites/coder_rules.h"
#include "tests/relatives/relative.h"
#include "workspace/task/task.h"

enum { MAX_VERSIONS = 400, MAX_WORDS = 64, N_CALLS = 3 };

struct version {
    const char *text, *rules; /* "interchange", "interchange thread_outer" */
    bool is_refused;
};

struct trial {
    struct hone_pool *pool;
    struct hone_c_parser *parser;
    const char *name;
    struct hone_task
        *task; /* what it is to the rules: the function's name and the sizes it is run in */
    const struct relative_how *how;
    struct relative_counts *counts;
    struct version versions[MAX_VERSIONS];
    size_t n;
    const char *words[MAX_WORDS]; /* of the head */
    size_t n_words;
};

static struct relative_count *count_of(struct relative_counts *counts, const char *rule)
{
    for (size_t i = 0; i < counts->n; i++)
        if (strcmp(counts->rows[i].rule, rule) == 0)
            return &counts->rows[i];
    if (counts->n == RELATIVE_MAX_COUNTS)
        abort();
    counts->rows[counts->n].rule = rule;
    return &counts->rows[counts->n++];
}

/* The row that a version is counted under: chains have one of their own. */
static struct relative_count *row_of(struct trial *t, size_t v)
{
    for (size_t i = 0; i < hone_n_rewrites; i++)
        if (strcmp(t->versions[v].rules, hone_rewrites[i]->name) == 0)
            return count_of(t->counts, hone_rewrites[i]->name);
    return count_of(t->counts, "chains of rules");
}

static bool has_text(const struct trial *t, const char *text)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->versions[i].text, text) == 0)
            return true;
    return false;
}

static void add(struct trial *t, const char *text, const char *rules)
{
    if (t->n == MAX_VERSIONS || has_text(t, text))
        return;
    t->versions[t->n++] = (struct version){.text = text, .rules = rules};
}

/* What is done to a whole text reads no loop. */
static bool reads_loops(const struct hone_rewrite *rewrite)
{
    return strcmp(rewrite->name, "fast_math") != 0 && strcmp(rewrite->name, "unroll_loops") != 0;
}

static void apply_all(struct trial *t, const struct hone_coder_input *in)
{
    bool is_read = false;
    if (in->written)
        add(t, in->tree->source, "plain");
    for (size_t i = 0; i < hone_n_rewrites; i++) {
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        size_t n = hone_coder_sites(hone_rewrites[i], in, sites);
        for (size_t s = 0; s < n; s++) {
            const char *text = NULL;
            struct relative_count *row = count_of(t->counts, hone_rewrites[i]->name);
            if (hone_coder_apply(t->parser, hone_rewrites[i], in, &sites[s], &text, NULL) < 0) {
                row->n_declined++;
                continue;
            }
            row->n_applied++;
            is_read = is_read || reads_loops(hone_rewrites[i]);
            add(t, text, hone_rewrites[i]->name);
        }
    }
    t->counts->n_read += is_read;
}

/* One or two more rules after a version, as a search would. */
static void apply_chain(struct trial *t, struct relative *r)
{
    if (t->n < 2)
        return;
    struct version v = t->versions[1 + relative_random(r, t->n - 1)];
    for (size_t turn = 0; turn < 2; turn++) {
        struct hone_coder_input in;
        if (hone_coder_read_kernel(t->parser, t->task, "cpu", v.text, t->pool, &in, NULL) < 0)
            return;
        size_t from = relative_random(r, hone_n_rewrites);
        for (size_t k = 0; k < hone_n_rewrites; k++) {
            const struct hone_rewrite *rewrite = hone_rewrites[(from + k) % hone_n_rewrites];
            struct hone_coder_site sites[HONE_CODER_MAX_SITES];
            size_t n = hone_coder_sites(rewrite, &in, sites);
            const char *text = NULL;
            if (n == 0 || strstr(v.rules, rewrite->name) ||
                hone_coder_apply(t->parser, rewrite, &in, &sites[relative_random(r, n)], &text,
                                 NULL) < 0)
                continue;
            v.rules = hone_pool_printf(t->pool, "%s %s", v.rules, rewrite->name);
            v.text = text;
            count_of(t->counts, "chains of rules")->n_applied++;
            add(t, text, v.rules);
            break;
        }
    }
}

/* Two mistakes that a rule could make, to show that the harness sees them. */
static void add_spoiled(struct trial *t, const char *source)
{
    const char *loop = strstr(source, "for ("), *bound = strstr(source, " < ");
    if (loop)
        add(t,
            hone_pool_printf(t->pool, "%.*s\n#pragma omp parallel for\n%s", (int)(loop - source),
                             source, loop),
            "spoiled_threads");
    if (bound)
        add(t, hone_pool_printf(t->pool, "%.*s <= %s", (int)(bound - source), source, bound + 3),
            "spoiled_bound");
}

/* ---- the program ---- */

static void read_head(struct trial *t, const char *source)
{
    const char *at = strstr(source, "new:"), *end = at ? strstr(at, "*/") : NULL;
    char *copy = at && end ? hone_pool_strndup(t->pool, at, (size_t)(end - at)) : NULL, *save;
    for (char *w = copy ? strtok_r(copy, " \n", &save) : NULL; w && t->n_words < MAX_WORDS;
         w = strtok_r(NULL, " \n", &save))
        t->words[t->n_words++] = w;
}

/* The value of "--option NAME..." behind its name; NULL: none. */
static const char *option(const struct trial *t, const char *which, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i + 1 < t->n_words; i++)
        if (strcmp(t->words[i], which) == 0 && strncmp(t->words[i + 1], name, len) == 0 &&
            strchr("[=", t->words[i + 1][len]))
            return t->words[i + 1] + len;
    return NULL;
}

struct size {
    const char *name;
    long value;
};

static size_t read_sizes(const struct trial *t, struct size *ret)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < t->n_words; i++) {
        char *save, *copy;
        if (strcmp(t->words[i], "--size") != 0)
            continue;
        copy = hone_pool_strdup(t->pool, t->words[i + 1]);
        for (char *w = strtok_r(copy, ",", &save); w && n < 16; w = strtok_r(NULL, ",", &save)) {
            char *equals = strchr(w, '=');
            *equals = 0;
            ret[n++] = (struct size){.name = w, .value = strtol(equals + 1, NULL, 10)};
        }
    }
    return n;
}

/* Small sizes in the order of the head's: what is alike stays alike, what is small stays. */
static long size_in(const struct size *sizes, size_t n, size_t which, int call)
{
    static const int first[N_CALLS] = {13, 16, 5}, more[N_CALLS] = {5, 8, 1};
    if (sizes[which].value <= 8)
        return sizes[which].value;
    long rank = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = sizes[i].value > 8 && sizes[i].value < sizes[which].value;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && sizes[k].value != sizes[i].value;
        rank += is_new;
    }
    return first[call] + more[call] * rank;
}

/* "out[R,D]" whose dimensions are all sizes: rules know an array's extent by its name. */
static void add_tensor(const struct trial *t, const char *word, struct hone_task *task)
{
    const char *at = strchr(word, '[');
    struct hone_tensor tensor = {.name = NULL};
    if (!at || task->n_outputs == HONE_COUNTOF(task->outputs))
        return;
    tensor.name = hone_pool_strndup(t->pool, word, (size_t)(at - word));
    for (size_t len; *at++ && tensor.rank < HONE_LIMIT_RANK; at += len) {
        size_t a = 0;
        len = strcspn(at, ",]");
        while (a < task->n_axes &&
               (strncmp(task->axes[a].name, at, len) != 0 || task->axes[a].name[len]))
            a++;
        if (len == 0)
            break;
        if (a == task->n_axes)
            return;
        tensor.shape[tensor.rank++] = (int)a;
    }
    task->outputs[task->n_outputs++] = tensor;
}

static struct hone_task *task_of(const struct trial *t, const char *function)
{
    struct hone_task *task = hone_pool_alloc(t->pool, sizeof(*task));
    struct size sizes[16];
    *task = (struct hone_task){.name = function, .n_workloads = N_CALLS};
    task->n_axes = read_sizes(t, sizes);
    for (size_t a = 0; a < task->n_axes; a++)
        for (int call = 0; call < N_CALLS; call++) {
            task->axes[a].name = sizes[a].name;
            task->workloads[call].axes[a] = size_in(sizes, task->n_axes, a, call);
        }
    for (size_t i = 0; i + 1 < t->n_words; i++)
        if (strcmp(t->words[i], "--shape") == 0)
            add_tensor(t, t->words[i + 1], task);
    return task;
}

/* A dynamic schedule would ask the library for its turns: here each turn goes to another thread. */
static const char *fixed_schedule(struct hone_pool *pool, const char *text)
{
    for (const char *at; (at = strstr(text, "schedule(dynamic"));)
        text = hone_pool_printf(pool, "%.*sschedule(static, 1%s", (int)(at - text), text,
                                strchr(at, ')'));
    return text;
}

static void print_version(struct hone_buf *o, struct trial *t, size_t v)
{
    const char *prologue = "", *text = t->versions[v].text, *names[128];
    struct hone_array axes = {.n = 0}, none = {.n = 0};
    const char *where = NULL;
    size_t n = 0;
    hone_tune_prologue(text, &none, t->pool, &prologue, NULL);
    hone_tune_parse(text, t->pool, &axes, &where, NULL);
    struct hone_coder_input in;
    if (hone_coder_read_kernel(t->parser, t->task, "cpu", text, t->pool, &in, NULL) == 0)
        for (const struct hone_c_node *c = (in.written ? in.written : &in)->tree->root->first;
             c && n < 64; c = c->next)
            if (*c->name && ((c->kind == HONE_C_FUNCTION && c->body) || c->kind == HONE_C_VAR))
                names[n++] = c->name; /* a declaration alone is the library's */
    for (size_t i = 0; i < axes.n && n < 128; i++)
        names[n++] = ((const struct hone_tune_axis *)axes.v)[i].name;
    hone_buf_str(o, "#pragma GCC push_options\n");
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(o, "#define %s %s__%zu\n", names[i], names[i], v);
    hone_buf_printf(o, "%s%s\n", prologue, fixed_schedule(t->pool, hone_tune_strip(text, t->pool)));
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(o, "#undef %s\n", names[i]);
    hone_buf_str(o, "#pragma GCC pop_options\n");
}

static const char *element_type(const struct hone_c_node *param)
{
    return strstr(param->type, "double")  ? "d"
           : strstr(param->type, "float") ? "f"
           : strstr(param->type, "int")   ? "i"
                                          : NULL;
}

static const char *size_of_array(struct trial *t, const struct hone_c_node *param)
{
    const char *shape = option(t, "--shape", param->name), *ret = "(";
    if (!shape)
        return NULL;
    for (const char *at = shape + 1; at[1]; at++)
        ret = *at == ',' ? hone_pool_printf(t->pool, "%s)*(", ret)
                         : hone_pool_printf(t->pool, "%s%c", ret, *at);
    return hone_pool_printf(t->pool, "%s)", ret);
}

/* The arguments as variables of the file, what makes the arrays, the arguments of a call. */
static bool read_arguments(struct trial *t, const struct hone_c_node *function,
                           struct hone_buf *variables, struct hone_buf *arrays,
                           struct hone_buf *args)
{
    for (const struct hone_c_node *c = function->first; c; c = c->next) {
        if (c->kind != HONE_C_PARAM)
            continue;
        const char *size = size_of_array(t, c), *shift = option(t, "--shift", c->name);
        const char *type = element_type(c), *comma = args->len ? ", " : "";
        bool is_scalar = !strchr(c->type, '*'), is_whole = !type || *type == 'i';
        hone_buf_printf(args, "%s%s", comma, is_scalar && !is_whole ? "1.25" : c->name);
        if (is_scalar)
            continue;
        if (!type || !size)
            return false;
        for (size_t i = 0; i + 1 < t->n_words; i++)
            if (strcmp(t->words[i], "--index") == 0 && strcmp(t->words[i + 1], c->name) == 0)
                type = "x";
        hone_buf_printf(variables, "static void *%s;\n", c->name);
        hone_buf_printf(arrays, "%s = rt_array(\"%s\", '%s', %s, %s, below);\n", c->name, c->name,
                        type, size, shift ? shift + 1 : "0");
    }
    return true;
}

static const char *program(struct trial *t)
{
    struct hone_coder_input in;
    HONE_CLEANUP(hone_buf_done)
    struct hone_buf o = HONE_BUF_INIT, variables = HONE_BUF_INIT, arrays = HONE_BUF_INIT,
                    args = HONE_BUF_INIT;
    struct size sizes[16];
    size_t n_sizes = read_sizes(t, sizes);
    if (hone_coder_read_kernel(t->parser, t->task, "cpu", t->versions[0].text, t->pool, &in, NULL) <
            0 ||
        !read_arguments(t, in.nest.function, &variables, &arrays, &args))
        return NULL;
    hone_buf_str(&o, "#include \"tests/relatives/runtime.h\"\n#include <math.h>\n"
                     "#include <stdlib.h>\n#include <string.h>\n");
    for (size_t v = 0; v < t->n; v++)
        if (!t->versions[v].is_refused)
            print_version(&o, t, v);
    hone_buf_str(&o, variables.data ? variables.data : "");
    for (size_t i = 0; i < n_sizes; i++)
        hone_buf_printf(&o, "static long %s;\n", sizes[i].name);
    for (size_t v = 0; v < t->n; v++)
        if (!t->versions[v].is_refused)
            hone_buf_printf(&o, "static void run_%zu(void)\n{\n%s__%zu(%s);\n}\n", v, t->task->name,
                            v, args.data);
    hone_buf_str(&o, "int main(void)\n{\n");
    for (int call = 0; call < N_CALLS; call++) {
        long below = 1 << 20;
        hone_buf_printf(&o, "{\nrt_begin(%d, %d);\n", call, call != 1);
        for (size_t i = 0; i < n_sizes; i++) {
            long value = size_in(sizes, n_sizes, i, call);
            below = value < below ? value : below;
            hone_buf_printf(&o, "%s = %ld;\n", sizes[i].name, value);
        }
        hone_buf_printf(&o, "long below = %ld;\n%s", below, arrays.data ? arrays.data : "");
        for (size_t v = 0; v < t->n; v++)
            if (!t->versions[v].is_refused)
                hone_buf_printf(&o, "rt_run(%zu, run_%zu);\n", v, v);
        hone_buf_str(&o, "}\n");
    }
    hone_buf_str(&o, "return 0;\n}\n");
    return hone_pool_strdup(t->pool, o.data);
}

/* ---- compiled and run ---- */

/* The sizes are small: work that threads are not woken for in earnest, they are woken for here. */
static void wake_threads(char *text)
{
    static const char *const least[] = {"> 16384",  ">= 16384",  "> 512",
                                        ">= 65536", ">= 131072", ">= 524288"};
    for (size_t i = 0; i < HONE_COUNTOF(least); i++)
        for (char *at = strstr(text, least[i]); at; at = strstr(at, least[i])) {
            size_t sign = strcspn(least[i], "0123456789"), len = strlen(least[i]);
            memset(at + sign, ' ', len - sign);
            at[sign] = '2';
        }
}

static bool compile(const struct trial *t, const char *text, bool is_whole)
{
    HONE_AUTOFREE char *awake = hone_strdup(text);
    wake_threads(awake);
    const char *stem = hone_pool_printf(t->pool, "%s/%s", t->how->folder, t->name);
    FILE *f = fopen(hone_pool_printf(t->pool, "%s.c", stem), "w");
    if (!f)
        abort();
    fputs(awake, f);
    fclose(f);
    const char *command =
        hone_pool_printf(t->pool, "gcc -w -std=gnu17 %s -fopenmp -fwrapv -I. %s %s.c %s -o %s %s",
                         t->how->flags, is_whole ? "" : "-fsyntax-only", stem,
                         is_whole ? t->how->runtime : "", stem, is_whole ? "-lm" : "2>/dev/null");
    return system(command) == 0;
}

static void tell(const struct trial *t, size_t v, const char *what)
{
    if (t->how->is_quiet)
        return;
    printf("# %s: %s %s\n# ---- the relative\n%s# ---- %s\n%s", t->name, t->versions[v].rules, what,
           t->versions[0].text, t->versions[v].rules, t->versions[v].text);
}

static bool build(struct trial *t)
{
    const char *text = program(t);
    if (!text)
        return false;
    if (compile(t, text, true))
        return true;
    size_t n = t->n;
    for (size_t v = 0; v < n; v++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf o = HONE_BUF_INIT;
        print_version(&o, t, v);
        t->versions[v].is_refused = !compile(t, o.data, false);
        if (t->versions[v].is_refused && v > 0) {
            row_of(t, v)->n_refused++;
            tell(t, v, "refused by the compiler");
        }
    }
    return !t->versions[0].is_refused && compile(t, program(t), true);
}

static int run(struct trial *t)
{
    const char *stem = hone_pool_printf(t->pool, "%s/%s", t->how->folder, t->name);
    FILE *f = popen(hone_pool_printf(t->pool, "timeout 120 %s", stem), "r");
    char line[300];
    int n_wrong = 0, v = 0;
    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "wrong %d", &v) == 1 && v > 0 && (size_t)v < t->n) {
            n_wrong++;
            row_of(t, (size_t)v)->n_wrong++;
            tell(t, (size_t)v, line);
        } else
            printf("# %s: %s", t->name, line);
    }
    int status = f ? pclose(f) : -1;
    return status == 0 ? n_wrong : -1;
}

int relative_try(const char *name, const char *source, const char *function,
                 const struct relative_how *how, struct relative_counts *counts)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct trial *t = hone_pool_alloc(pool, sizeof(*t));
    struct relative r = {.pool = pool, .random = how->seed};
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    struct hone_coder_input in;
    struct hone_err err = HONE_ERR_INIT;
    if (hone_c_parser_new(&parser, &err) < 0)
        return -1;
    *t = (struct trial){.pool = pool, .parser = parser, .name = name};
    t->how = how;
    t->counts = counts;
    read_head(t, source);
    t->task = task_of(t, function);
    if (hone_coder_read_kernel(parser, t->task, "cpu", source, pool, &in, &err) < 0) {
        printf("# %s: %s\n", name, err.message);
        return -1;
    }
    add(t, source, "");
    counts->n_relatives++;
    if (how->is_spoiled)
        add_spoiled(t, source);
    apply_all(t, &in);
    for (unsigned long i = 0; i < how->n_chains; i++)
        apply_chain(t, &r);
    int result = build(t) ? run(t) : -1;
    for (size_t v = 1; v < t->n; v++)
        row_of(t, v)->n_compiled += !t->versions[v].is_refused;
    if (result == 0) {
        remove(hone_pool_printf(pool, "%s/%s.c", how->folder, name));
        remove(hone_pool_printf(pool, "%s/%s", how->folder, name));
    }
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice's file: field tables, load, save. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agents/offline/lattice.h"
#include "workspace/base/fields.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define LATTICE_FORMAT 1

struct file_strategy {
    const char *name, *id;
};

struct file_state {
    int64_t state;
    const char *reason, *code;
    struct hone_f64s ns, ratio, features;
    struct hone_i64s missing;
};

struct file {
    int64_t format;
    const char *kernel, *task, *target, *family, *template_hash, *machine, *date, *note, *harness;
    int64_t n_cores;
    double bound_ns;
    struct hone_array strategies; /* of file_strategy */
    struct hone_strs features;
    struct hone_i64s illegal;
    struct hone_array states; /* of file_state */
};

#define ROW(type_, m_, ...) HONE_FIELD(struct type_, m_, __VA_ARGS__)
static const struct hone_field strategy_fields[] = {
    ROW(file_strategy, name, .required = true, .help = "Tunable of the template."),
    ROW(file_strategy, id, .required = true, .help = "Catalogue id."),
};

static const struct hone_field state_fields[] = {
    ROW(file_state, state, .required = true, .max = HONE_LATTICE_STATES - 1,
        .help = "Bit i: the i-th strategy is on."),
    ROW(file_state, reason, .skip_empty = true, .help = "screened, or why it failed."),
    ROW(file_state, code, .skip_empty = true, .max_len = HONE_LATTICE_CODE_BYTES,
        .help = "Word for the machine code."),
    ROW(file_state, ns, .skip_empty = true, .max_len = HONE_LIMIT_LATTICE_REPEATS,
        .help = "One call, each repeat."),
    ROW(file_state, ratio, .skip_empty = true, .max_len = HONE_LIMIT_LATTICE_REPEATS,
        .help = "Baseline's time over it, each repeat."),
    ROW(file_state, features, .skip_empty = true, .max_len = HONE_N_FEATURES,
        .help = "In the order of the names."),
    ROW(file_state, missing, .skip_empty = true, .max_len = HONE_N_FEATURES,
        .help = "Positions of features that are not known."),
};

static const struct hone_field file_fields[] = {
    ROW(file, format, .required = true, .min = LATTICE_FORMAT, .max = LATTICE_FORMAT,
        .help = "Version of this format."),
    ROW(file, kernel, .required = true, .help = "Name of the template."),
    ROW(file, task, .required = true, .help = "Task."),
    ROW(file, target, .required = true, .help = "Where it ran."),
    ROW(file, family, .help = "Kind of operation."),
    ROW(file, template_hash, .help = "Of the template's text."),
    ROW(file, machine, .help = "Processor or device."),
    ROW(file, n_cores, .help = "Cores."),
    ROW(file, date, .help = "When it was recorded."),
    ROW(file, note, .skip_empty = true, .help = "What to know about the figures."),
    ROW(file, harness, .help = "Version of what measured."),
    ROW(file, bound_ns, .help = "Physics floor."),
    ROW(file, strategies, .required = true, .max_len = HONE_LATTICE_STRATEGIES,
        HONE_OF(struct file_strategy, strategy_fields), .help = "What the bits mean."),
    ROW(file, features, .max_len = HONE_N_FEATURES, .help = "Names."),
    ROW(file, illegal, .skip_empty = true, .max_len = HONE_LATTICE_STATES,
        .help = "States that the template forbids."),
    ROW(file, states, .required = true, .max_len = HONE_LATTICE_STATES,
        HONE_OF(struct file_state, state_fields), .help = "All others."),
};

/* ---- reading ---- */

static int read_strategies(const struct file *f, struct hone_lattice *l, struct hone_err *err)
{
    const struct file_strategy *s = f->strategies.v;
    l->n_strategies = f->strategies.n;
    for (size_t i = 0; i < f->strategies.n; i++) {
        if (!hone_strategy_find(f->target, s[i].id))
            return hone_fail_at(err, HONE_E_ARG, "strategies",
                                "'%.20s' is not in the catalogue of target %.10s", s[i].id,
                                f->target);
        l->strategies[i] = (struct hone_lattice_strategy){s[i].name, s[i].id};
    }
    return f->strategies.n > 0
               ? 0
               : hone_fail_at(err, HONE_E_ARG, "strategies", "a lattice needs strategies");
}

static void read_features(const struct file *f, const struct file_state *from,
                          struct hone_features *ret)
{
    for (size_t i = 0; i < from->features.n && i < f->features.n; i++) {
        enum hone_feature_id id = hone_feature_find(f->features.v[i]);
        bool is_missing = false;
        for (size_t k = 0; k < from->missing.n; k++)
            is_missing = is_missing || from->missing.v[k] == (int64_t)i;
        if (id < HONE_N_FEATURES && !is_missing)
            ret->v[id] = (struct hone_feature){true, from->features.v[i]};
    }
}

static int read_state(const struct file *f, const struct file_state *from, struct hone_lattice *l,
                      struct hone_err *err)
{
    struct hone_lattice_state *to = &l->states[from->state];
    if (from->state >= (int64_t)1 << l->n_strategies)
        return hone_fail_at(err, HONE_E_ARG, "states", "state %lld has more bits than strategies",
                            (long long)from->state);
    if (from->ns.n != from->ratio.n)
        return hone_fail_at(err, HONE_E_ARG, "states", "state %lld: ns and ratio differ in length",
                            (long long)from->state);
    for (size_t i = 0; i < from->ns.n; i++)
        if (!(from->ns.v[i] > 0) || !(from->ratio.v[i] > 0))
            return hone_fail_at(err, HONE_E_ARG, "states", "state %lld: times are positive",
                                (long long)from->state);
    to->reason = from->reason ? from->reason : "";
    if (from->code)
        memcpy(to->code, from->code, strlen(from->code));
    to->ns = from->ns.v;
    to->ratio = from->ratio.v;
    to->n = from->ns.n;
    read_features(f, from, &to->features);
    return 0;
}

int hone_lattice_parse(const char *text, size_t len, struct hone_pool *pool,
                       struct hone_lattice **ret, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct file f;
    int r = hone_json_parse(text, len, &json, err);
    if (r == 0)
        r = hone_fields_decode(json, file_fields, HONE_COUNTOF(file_fields), &f, sizeof(f), pool,
                               err);
    if (r < 0)
        return r;
    struct hone_lattice *l = hone_pool_alloc(pool, sizeof(*l));
    *l = (struct hone_lattice){.pool = pool,
                               .kernel = f.kernel,
                               .task = f.task,
                               .target = f.target,
                               .family = f.family ? f.family : "",
                               .template_hash = f.template_hash ? f.template_hash : "",
                               .machine = f.machine ? f.machine : "",
                               .date = f.date ? f.date : "",
                               .note = f.note,
                               .harness = f.harness ? f.harness : "",
                               .n_cores = f.n_cores,
                               .bound_ns = f.bound_ns};
    r = read_strategies(&f, l, err);
    for (size_t i = 0; r == 0 && i < (size_t)1 << l->n_strategies; i++)
        l->states[i] = (struct hone_lattice_state){.is_legal = true, .reason = ""};
    for (size_t i = 0; r == 0 && i < f.illegal.n; i++)
        if (f.illegal.v[i] >= 0 && f.illegal.v[i] < HONE_LATTICE_STATES)
            l->states[f.illegal.v[i]].is_legal = false;
    const struct file_state *states = f.states.v;
    for (size_t i = 0; r == 0 && i < f.states.n; i++)
        r = read_state(&f, &states[i], l, err);
    if (r == 0)
        *ret = l;
    return r;
}

int hone_lattice_load(const char *path, struct hone_pool *pool, struct hone_lattice **ret,
                      struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int r = hone_file_read(path, HONE_LIMIT_LATTICE_BYTES, &text, &len, err);
    if (r == 0)
        r = hone_lattice_parse(text, len, pool, ret, err);
    return r < 0 ? hone_wrap(err, "lattice '%s'", path) : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int hone_lattice_load_all(const char *dir, struct hone_pool *pool, struct hone_lattice ***ret,
                          size_t *ret_n, struct hone_err *err)
{
    const char **names = NULL;
    size_t n_names = 0, n = 0;
    int r = hone_list_dir(dir, pool, &names, &n_names, err);
    if (r < 0)
        return r;
    qsort(names, n_names, sizeof(*names), by_name);
    struct hone_lattice **all = hone_pool_alloc(pool, (n_names + 1) * sizeof(*all));
    for (size_t i = 0; i < n_names; i++) {
        size_t len = strlen(names[i]);
        if (len < 5 || strcmp(names[i] + len - 5, ".json") != 0)
            continue;
        HONE_AUTOFREE char *path = hone_path_join(dir, names[i], NULL);
        r = hone_lattice_load(path, pool, &all[n++], err);
        if (r < 0)
            return r;
    }
    if (n == 0)
        return hone_fail_at(err, HONE_E_NOT_FOUND, dir,
                            "no lattices here; record some with `hone planner record`");
    *ret = all;
    *ret_n = n;
    return 0;
}

/* ---- writing ---- */

/* Features that any state has, in the order of the enum. */
static size_t list_features(const struct hone_lattice *l, const char **ret)
{
    size_t n = 0;
    for (int id = 0; id < HONE_N_FEATURES; id++) {
        bool is_there = false;
        for (size_t s = 0; s < (size_t)1 << l->n_strategies; s++)
            is_there = is_there || l->states[s].features.v[id].is_present;
        if (is_there)
            ret[n++] = hone_feature_name((enum hone_feature_id)id);
    }
    return n;
}

static void write_state(const struct file *f, const struct hone_lattice_state *from,
                        struct hone_pool *pool, struct file_state *to)
{
    to->reason = from->reason;
    to->code = from->code;
    to->ns = (struct hone_f64s){from->ns, from->n};
    to->ratio = (struct hone_f64s){from->ratio, from->n};
    double *values = hone_pool_alloc(pool, (f->features.n + 1) * sizeof(*values));
    int64_t *missing = hone_pool_alloc(pool, (f->features.n + 1) * sizeof(*missing));
    size_t n_missing = 0;
    for (size_t i = 0; i < f->features.n; i++) {
        struct hone_feature v = from->features.v[hone_feature_find(f->features.v[i])];
        values[i] = v.is_present ? v.value : 0;
        if (!v.is_present)
            missing[n_missing++] = (int64_t)i;
    }
    if (n_missing < f->features.n) {
        to->features = (struct hone_f64s){values, f->features.n};
        to->missing = (struct hone_i64s){missing, n_missing};
    }
}

char *hone_lattice_print(const struct hone_lattice *l)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct file_strategy strategies[HONE_LATTICE_STRATEGIES];
    struct file_state *states = hone_pool_alloc(pool, HONE_LATTICE_STATES * sizeof(*states));
    int64_t illegal[HONE_LATTICE_STATES];
    const char *names[HONE_N_FEATURES];
    struct file f = {.format = LATTICE_FORMAT,
                     .kernel = l->kernel,
                     .task = l->task,
                     .target = l->target,
                     .family = l->family,
                     .template_hash = l->template_hash,
                     .machine = l->machine,
                     .date = l->date,
                     .note = l->note,
                     .harness = l->harness,
                     .n_cores = l->n_cores,
                     .bound_ns = l->bound_ns,
                     .strategies = {strategies, l->n_strategies},
                     .features = {names, list_features(l, names)},
                     .illegal = {illegal, 0},
                     .states = {states, 0}};
    for (size_t i = 0; i < l->n_strategies; i++)
        strategies[i] = (struct file_strategy){l->strategies[i].name, l->strategies[i].id};
    for (size_t i = 0; i < (size_t)1 << l->n_strategies; i++) {
        if (!l->states[i].is_legal) {
            illegal[f.illegal.n++] = (int64_t)i;
            continue;
        }
        states[f.states.n] = (struct file_state){.state = (int64_t)i};
        write_state(&f, &l->states[i], pool, &states[f.states.n++]);
    }
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(&f, file_fields, HONE_COUNTOF(file_fields));
    HONE_AUTOFREE char *line = hone_json_print(json);
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    /* one state a line, so that a diff of two recordings can be read */
    for (const char *at = line; *at;) {
        const char *next = strstr(at + 1, "{\"state\":");
        size_t len = next ? (size_t)(next - at) : strlen(at);
        hone_buf_add(&out, at, len);
        hone_buf_str(&out, "\n");
        at += len;
    }
    return hone_buf_steal(&out);
}

int hone_lattice_save(const struct hone_lattice *lattice, const char *path, struct hone_err *err)
{
    HONE_AUTOFREE char *text = hone_lattice_print(lattice);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

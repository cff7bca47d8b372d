/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of tests/relatives/cpu in each order that agents/polyhedral finds: same results bit for
 * bit at sizes of all kinds, and the orders that they are known to have. */
#include "tests/unit/agents/compiled.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "agents/polyhedral/order.h"
#include "agents/rewrites/coder_rules.h"
#include "workspace/base/file.h"

#define KERNELS "tests/relatives/cpu"

enum { MAX_PARAMS = 14, MAX_SIZE = 11, BUFFER = 16 * 1024, ROUNDS = 24 };

typedef void kernel_any(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

struct kernel {
    const char *name, *source;
    size_t n_params;
    char kinds[MAX_PARAMS]; /* d double, f float, i int32, n a size */
};

static char before[MAX_PARAMS][BUFFER], expected[MAX_PARAMS][BUFFER], got[MAX_PARAMS][BUFFER];

static char kind_of(const char *type)
{
    if (!strchr(type, '*'))
        return 'n';
    return strstr(type, "double") ? 'd' : strstr(type, "float") ? 'f' : 'i';
}

static void read_params(const struct hone_coder_input *in, struct kernel *kernel)
{
    kernel->n_params = 0;
    for (const struct hone_c_node *n = in->nest.function->first; n; n = n->next)
        if (n->kind == HONE_C_PARAM && kernel->n_params < MAX_PARAMS)
            kernel->kinds[kernel->n_params++] = kind_of(n->type);
}

static kernel_any *build(const char *source, const char *name, const char *flags,
                         struct hone_pool *pool)
{
    /* one product and sum is one operation or two, the same in every order */
    void *symbol =
        compiled("", source, name, hone_pool_printf(pool, "-ffp-contract=off %s", flags), pool);
    kernel_any *ret;
    memcpy(&ret, &symbol, sizeof ret);
    return ret;
}

static void fill(const struct kernel *kernel, unsigned *seed)
{
    for (size_t p = 0; p < kernel->n_params; p++) {
        for (size_t i = 0; i < BUFFER / 8; i++) {
            int value = rand_r(seed) % 97;
            if (kernel->kinds[p] == 'd')
                ((double *)before[p])[i] = 1 + value / 64.0;
            else if (kernel->kinds[p] == 'f')
                ((float *)before[p])[i] = 1 + (float)value / 64;
            else
                ((int32_t *)before[p])[i] =
                    value % 3 ? value % 4 : (int32_t)((unsigned)value * 44000000u);
        }
    }
}

static void call(kernel_any *function, const struct kernel *kernel, const int64_t *sizes,
                 char (*memory)[BUFFER])
{
    intptr_t a[MAX_PARAMS] = {0};
    memcpy(memory, before, sizeof before);
    for (size_t p = 0; p < kernel->n_params; p++)
        a[p] = kernel->kinds[p] == 'n' ? (intptr_t)sizes[p] : (intptr_t)memory[p];
    function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
             a[13]);
}

/* Sizes from 0 on; the last one small, as the width of a filter or a number of steps is. */
static void draw_sizes(const struct kernel *kernel, int64_t *sizes, unsigned *seed)
{
    for (size_t p = 0; p < kernel->n_params; p++)
        sizes[p] = rand_r(seed) % (p + 1 == kernel->n_params ? 6 : MAX_SIZE + 1);
    if (kernel->n_params < 3 || kernel->kinds[kernel->n_params - 2] != 'n')
        sizes[kernel->n_params - 1] = rand_r(seed) % (MAX_SIZE + 1);
}

static void compare(const struct kernel *kernel, kernel_any *plain, const char *text,
                    const char *order, struct hone_pool *pool)
{
    kernel_any *other = build(text, kernel->name, "", pool);
    unsigned seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t sizes[MAX_PARAMS] = {0};
        draw_sizes(kernel, sizes, &seed);
        fill(kernel, &seed);
        call(plain, kernel, sizes, expected);
        call(other, kernel, sizes, got);
        ck_assert_msg(memcmp(expected, got, sizeof got) == 0, "%s, %s, round %d:\n%s", kernel->name,
                      order, round, text);
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_source(const struct dirent *entry)
{
    return strstr(entry->d_name, ".c") != NULL;
}

/* Each rewrite at each of its sites, and the orders that no rewrite asks for. */
START_TEST(the_results_are_the_same)
{
    static const char *const rewrites[] = {"reorder_nests", "share_nests", "block_nests"};
    struct dirent **files;
    struct hone_c_parser *parser = NULL;
    size_t n_texts = 0;
    int n = scandir(KERNELS, &files, is_source, by_name);
    ck_assert_int_gt(n, 20);
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (int i = 0; i < n; i++) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        struct kernel kernel = {
            .name = hone_pool_strndup(pool, files[i]->d_name, strlen(files[i]->d_name) - 2)};
        char *source = NULL;
        size_t len;
        ck_assert_int_eq(hone_file_read(hone_pool_printf(pool, KERNELS "/%s", files[i]->d_name),
                                        1 << 16, &source, &len, NULL),
                         0);
        kernel.source = source;
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, kernel.name, pool, &in, NULL), 0);
        read_params(&in, &kernel);
        kernel_any *plain = build(source, kernel.name, "-fwrapv", pool);
        for (size_t r = 0; r < HONE_COUNTOF(rewrites); r++) {
            struct hone_coder_site sites[HONE_CODER_MAX_SITES];
            const struct hone_rewrite *rewrite = hone_rewrite_find(rewrites[r]);
            size_t n_sites = hone_coder_sites(rewrite, &in, sites);
            for (size_t s = 0; s < n_sites; s++) {
                const char *text = NULL;
                ck_assert_int_eq(hone_coder_apply(parser, rewrite, &in, &sites[s], &text, NULL), 0);
                compare(&kernel, plain, text, rewrites[r], pool);
                n_texts++;
            }
        }
        free(source);
        free(files[i]);
        hone_pool_free(pool);
    }
    free(files);
    hone_c_parser_free(parser);
    ck_assert_uint_gt(n_texts, 20);
}
END_TEST

/* For one thread: what is written stays near around the loop inside, and no thread is woken. */
START_TEST(rows_stay_near_for_one_thread)
{
    static const struct {
        const char *body, *text; /* NULL: it is no place */
    } rows[] = {
        {"for (long i = 0; i < N; i++)\n{\n"
         "for (long j = 0; j < i; j++) {\n for (long k = 0; k < j; k++)\n"
         "  A[i * N + j] -= A[i * N + k] * A[k * N + j];\n A[i * N + j] /= A[j * N + j];\n}\n"
         "for (long j = i; j < N; j++)\n for (long k = 0; k < i; k++)\n"
         "  A[i * N + j] -= A[i * N + k] * A[k * N + j];\n}\n",
         "A[t0 * N + t2] -= A[t0 * N + t1] * A[t1 * N + t2]"},
        {"for (long k = 0; k < N; k++)\nfor (long i = 0; i < N; i++)\n"
         "for (long j = 0; j < N; j++)\n"
         " A[i * N + j] = A[i * N + j] < A[i * N + k] + A[k * N + j]\n"
         "  ? A[i * N + j] : A[i * N + k] + A[k * N + j];\n",
         "A[t1 * N + t2] < A[t1 * N + t0] + A[t0 * N + t2]"},
        {"for (long i = 0; i < N; i++)\nfor (long j = 0; j < N; j++)\n A[i * N + j] *= 2;\n", NULL},
    };
    struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *source = hone_pool_printf(pool, "%svoid k(double *A, long N)\n{\n%s}\n",
                                              i % 2 ? "#include <stdint.h>\n" : "", rows[i].body);
        const struct hone_rewrite *rewrite = hone_rewrite_find("reorder_nests");
        const char *text = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        size_t n = hone_coder_sites(rewrite, &in, sites);
        for (size_t s = 0; s < n; s++)
            if (sites[s].variant == 1)
                ck_assert_msg(hone_coder_apply(parser, rewrite, &in, &sites[s], &text, &err) == 0,
                              "%s", err.message);
        ck_assert_msg((text != NULL) == (rows[i].text != NULL), "row %zu: %s", i,
                      text ? text : "no place");
        ck_assert_msg(!text || strstr(text, rows[i].text), "row %zu: %s", i, text);
        ck_assert_msg(!text || !strstr(text, "parallel"), "row %zu: %s", i, text);
    }
    hone_c_parser_free(parser);
}
END_TEST

/* The text with an order in its run's place. */
static const char *text_of(const struct hone_coder_input *in, const struct hone_scop *run,
                           const struct hone_order_result *result)
{
    const char *source = in->tree->source;
    return hone_pool_printf(in->pool, "%.*s%s%s", (int)run->begin, source, result->text,
                            source + run->end);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

/* Two loops of one body are one where the second goes on at the first one's end, always. */
START_TEST(neighbours_are_joined)
{
#define FACTORS(second, op)                                                                        \
    "for (long i = 0; i < N; i++) {\n for (long j = 0; j < i; j++) {\n"                            \
    "  for (long k = 0; k < j; k++)\n   A[i * N + j] -= A[i * N + k] * A[k * N + j];\n"            \
    "  A[i * N + j] /= A[j * N + j];\n }\n for (long j = " second "; j < N; j++)\n"                \
    "  for (long k = 0; k < i; k++)\n   A[i * N + j] " op " A[i * N + k] * A[k * N + j];\n}\n"
    static const struct {
        const char *body;
        size_t n_loops;
    } rows[] = {
        {FACTORS("i", "-="), 3},
        {FACTORS("i", "+="), 4},     /* does something else */
        {FACTORS("i + 1", "-="), 4}, /* leaves one out */
        /* beyond i = N the second loop begins where the first has long been at its end */
        {"for (long i = 0; i < M; i++)\n for (long k = 0; k < N; k++) {\n"
         "  for (long j = 0; j < i; j++)\n   A[i * N + j] += B[k * N + j];\n"
         "  for (long j = i; j < N; j++)\n   A[i * N + j] += B[k * N + j];\n }\n",
         4},
    };
#undef FACTORS
    struct hone_pool *pool = hone_pool_new();
    struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t r = 0; r < HONE_COUNTOF(rows); r++) {
        struct hone_coder_input in;
        struct kernel kernel = {.name = "k"};
        kernel.source = hone_pool_printf(
            pool,
            "#include <stdint.h>\nvoid k(double *A, const double *B, long N, long M)\n{\n%s}\n",
            rows[r].body);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", kernel.source, "k", pool, &in, NULL), 0);
        read_params(&in, &kernel);
        const struct hone_orders *orders = hone_orders_of(&in);
        ck_assert_uint_eq(orders->n, 1);
        const struct hone_order_result *order = &orders->results[0][HONE_ORDER_ROWS];
        ck_assert_ptr_nonnull(order->text);
        ck_assert_msg(count(order->text, "for (") == rows[r].n_loops, "row %zu:\n%s", r,
                      order->text);
        compare(&kernel, build(kernel.source, "k", "", pool), text_of(&in, &orders->runs[0], order),
                "rows", pool);
    }
    hone_c_parser_free(parser);
    hone_pool_free(pool);
}
END_TEST

/* isl takes minutes for subscripts with factors of 2^60. */
START_TEST(large_factors_are_no_places)
{
    static const struct {
        long factor;
        size_t n_places;
    } rows[] = {{HONE_SCOP_MAX_FACTOR, 2}, {HONE_SCOP_MAX_FACTOR + 1, 0}, {1L << 62, 0}};
    struct hone_pool *pool = hone_pool_new();
    struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        const char *source = hone_pool_printf(
            pool,
            "void k(double *A, double *B, long N)\n{\n"
            "    for (long i = 0; i < N; i++)\n        for (long j = 0; j < N; j++)\n"
            "            A[%ld * i + j] = B[i + %ld * j];\n}\n",
            rows[i].factor, rows[i].factor);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        const struct hone_orders *orders = hone_orders_of(&in);
        ck_assert_uint_eq(orders->n, 1);
        ck_assert_uint_eq(orders->runs[0].n_places, rows[i].n_places);
    }
    hone_c_parser_free(parser);
    hone_pool_free(pool);
}
END_TEST

/* Which statements may change places with others of their kind: n operators of the run. */
START_TEST(updates_are_told)
{
    static const struct {
        const char *type, *stmt;
        size_t n;
    } rows[] = {
        {"int", "X[j] += A[i * N + j];", 1},
        {"int", "X[j] = A[i * N + j] + X[j];", 1},
        {"int", "X[j] = X[j] - A[i * N + j];", 1},
        {"int", "X[j] = A[i * N + j] - X[j];", 0},
        {"double", "X[j] += A[i * N + j];", 0},
        {"float", "if (X[j] < A[i * N + j]) X[j] = A[i * N + j];", 0},
        {"int", "if (X[j] < A[i * N + j]) X[j] = A[i * N + j];", 1},
        {"int", "if (X[j] < A[i * N + j]) X[j] = A[i * N + j] + 1;", 0},
        {"int", "X[j] = X[j] > A[i * N + j] ? X[j] : A[i * N + j];", 1},
        {"int", "X[j] = X[j] > A[i * N + j] ? X[j] : A[i * N + j + 1];", 0},
        {"int", "X[j] = larger(X[j], A[i * N + j]);", 1},
        {"int", "X[j] = larger(A[i * N + j], A[i * N + j]);", 0},
        {"int", "X[j] = first(X[j], A[i * N + j]);", 0},
        {"short", "X[j] = larger(X[j], A[i * N + j]);", 0}, /* cut down when it is stored */
        {"short", "X[j] += A[i * N + j];", 1},
        {"int", "{ X[j] += A[i * N + j]; X[j] = larger(X[j], 3); }", 2},
        {"int", "if (A[i] > 2) { X[j] ^= A[i * N + j]; }", 1},
        {"int", "X[j] <<= A[i * N + j];", 0},
    };
    struct hone_pool *pool = hone_pool_new();
    struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        const char *source = hone_pool_printf(
            pool,
            "static int larger(int a, int b)\n{\n    return a < b ? b : a;\n}\n"
            "static int first(int a, int b)\n{\n    return a < b ? a : a;\n}\n"
            "void k(%s *X, const %s *A, long N)\n{\n"
            "    for (long i = 0; i < N; i++)\n        for (long j = 0; j < N; j++)\n"
            "            %s\n}\n",
            rows[i].type, rows[i].type, rows[i].stmt);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        const struct hone_orders *orders = hone_orders_of(&in);
        ck_assert_uint_eq(orders->n, 1);
        ck_assert_msg(orders->runs[0].n_updates == rows[i].n, "%s: %zu", rows[i].stmt,
                      orders->runs[0].n_updates);
    }
    hone_c_parser_free(parser);
    hone_pool_free(pool);
}
END_TEST

/* Kernels whose orders rest on updates and on loops that count down; each is compared. */
START_TEST(updates_change_places_alone)
{
    static const char *const bodies[] = {
        /* the second statement reads what the first one sums */
        "for (long i = 0; i < N; i++)\n for (long j = 0; j < N; j++) {\n X[j] += A[i * N + j];\n"
        "  Y[i * N + j] = X[j]; }\n",
        "for (long i = 0; i < N; i++)\n for (long j = 0; j < N; j++) {\n X[i] += A[j * N + i];\n"
        "  X[i] = X[i] > 3 ? X[i] : 3; }\n",
        "for (long i = N - 1; i >= 0; i--)\n for (long j = N; j > i; j--)\n"
        "  for (long k = 0; k < i; k++)\n   X[i] = X[i] < A[k * N + j - 1] + X[k]"
        " ? A[k * N + j - 1] + X[k] : X[i];\n",
        "for (long i = N - 2; i > 0; i--)\n for (long j = 1; j < N; j++)\n"
        "  Y[i * N + j] = Y[(i + 1) * N + j] + Y[i * N + j - 1];\n",
        /* what wraps below zero */
        "for (unsigned j = 0; j < N; j++)\n for (unsigned i = 0; i < N; i++)\n"
        "  Y[i * N + j] = A[i * N + j] + (int)((i - 5) / 2);\n",
        "for (long i = 0; i < N; i++)\n for (long j = 0; j < N; j++)\n"
        "  for (long k = 0; k < N; k++)\n   Y[i * N + j] += A[k * N + i] * A[j * N + k];\n",
    };
    struct hone_pool *pool = hone_pool_new();
    struct hone_c_parser *parser = NULL;
    size_t n_texts = 0;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(bodies); i++) {
        struct hone_coder_input in;
        const char *source = hone_pool_printf(
            pool, "void k(int *X, int *Y, const int *A, long N)\n{\n%s}\n", bodies[i]);
        struct kernel kernel = {.name = "k", .source = source};
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        read_params(&in, &kernel);
        kernel_any *plain = build(source, "k", "-fwrapv", pool);
        const struct hone_orders *orders = hone_orders_of(&in);
        ck_assert_uint_eq(orders->n, 1);
        for (int order = 0; order < HONE_N_ORDERS; order++) {
            const struct hone_order_result *result = &orders->results[0][order];
            if (!result->text)
                continue;
            const char *text = hone_pool_printf(
                pool, "#pragma GCC optimize(\"wrapv\")\n#include <stdint.h>\n%s%.*s%s%s",
                result->before, (int)orders->runs[0].begin, source, result->text,
                source + orders->runs[0].end);
            compare(&kernel, plain, text, order ? "blocks" : "vectors", pool);
            n_texts++;
        }
    }
    ck_assert_uint_ge(n_texts, 6);
    hone_c_parser_free(parser);
    hone_pool_free(pool);
}
END_TEST

/* Threads of a loop whose iterations follow one another are woken once; what they do not share is
 * for one of them. No rule that reads loops touches such a text. */
START_TEST(threads_are_woken_once)
{
    static const char source[] =
        "#include <stdint.h>\nvoid k(double *P, long N)\n{\n"
        "for (long k = 0; k < N; k++) for (long i = 0; i < N; i++) for (long j = 0; j < N; j++)\n"
        "P[i * N + j] = P[i * N + j] < P[i * N + k] + P[k * N + j] ? P[i * N + j] : P[i * N + k] + "
        "P[k * N + j];\n}\n";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const struct hone_rewrite *rule = hone_rewrite_find("share_nests");
    const char *text = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
    ck_assert_uint_eq(hone_coder_sites(rule, &in, sites), 1);
    ck_assert_int_eq(hone_coder_apply(parser, rule, &in, &sites[0], &text, NULL), 0);
    ck_assert_uint_eq(count(text, "#pragma omp parallel\n"), 1);
    ck_assert_uint_eq(count(text, "omp for"), 8);
    ck_assert_uint_eq(count(text, "omp single"), 1);
    ck_assert_uint_eq(count(text, "omp simd"), 4 + 8);
    ck_assert_uint_eq(count(text, "} else {"), 1);
    ck_assert_int_eq(hone_coder_read(parser, "cpu", text, "k", pool, &in, NULL), 0);
    for (size_t i = 0; i < hone_n_rewrites; i++)
        ck_assert_msg(hone_rewrites[i]->suits_region ||
                          hone_coder_sites(hone_rewrites[i], &in, sites) == 0,
                      "%s", hone_rewrites[i]->name);
}
END_TEST

UNIT_MAIN("order", threads_are_woken_once, neighbours_are_joined, the_results_are_the_same,
          rows_stay_near_for_one_thread, large_factors_are_no_places, updates_are_told,
          updates_change_places_alone)

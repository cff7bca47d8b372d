/* SPDX-License-Identifier: Apache-2.0 */
/* G44: calls of scalar math functions become inline polynomials without branches, which
 * vectors can run.
 *
 * The selects in them become masks only when comparisons need not trap (gcc's default is that they
 * might), so the file gets -fno-trapping-math, which changes no value.
 *
 * expf: Cody and Waite range reduction to |r| <= ln 2 / 2 and the minimax polynomial of degree 6 as
 * tabulated in S. L. Moshier, "Methods and Programs for Mathematical Functions" (1989); about 1 ulp
 * inside the normal range; below -87.3 it gives 0. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

static const char expf_text[] =
    "static inline float hone_expf(float x)\n"
    "{\n"
    "    float c = x < -87.3f ? -87.3f : x;\n"
    "    c = c > 88.7f ? 88.7f : c;\n"
    "    float n = __builtin_rintf(c * 1.44269504f);\n"
    "    float r = c - n * 0.693359375f + n * 2.12194440e-4f;\n"
    "    float p = 1.9875691500e-4f;\n"
    "    p = p * r + 1.3981999507e-3f;\n"
    "    p = p * r + 8.3334519073e-3f;\n"
    "    p = p * r + 4.1665795894e-2f;\n"
    "    p = p * r + 1.6666665459e-1f;\n"
    "    p = p * r + 5.0000001201e-1f;\n"
    "    p = p * r * r + r + 1.0f;\n"
    "    union { int i; float f; } scale = {.i = ((int)n + 127) << 23};\n"
    "    p = p * scale.f;\n"
    "    p = x > 88.72283f ? __builtin_inff() : p;\n"
    "    return x < -87.3f ? 0.0f : p;\n"
    "}\n\n";

static const struct {
    const char *call, *name, *text;
} functions[] = {
    {"expf", "hone_expf", expf_text},
};

static const struct hone_c_node *next_call(const struct hone_coder_input *in,
                                           const struct hone_c_node *at, const char *name)
{
    const struct hone_c_node *f = in->nest.function;
    for (const struct hone_c_node *n = at ? hone_c_walk(f, at) : f; n; n = hone_c_walk(f, n))
        if (n->kind == HONE_C_CALL && strcmp(n->name, name) == 0 && n->first)
            return n;
    return NULL;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_c_node *f = in->nest.function;
    if (hone_rounds_as_written(in))
        return 0;
    for (size_t i = 0; i < HONE_COUNTOF(functions) && max > 0; i++) {
        if (!next_call(in, NULL, functions[i].call) || strstr(in->tree->source, functions[i].name))
            continue;
        ret[0] = hone_site(f, f->begin, f->end, "math calls in loops");
        ret[0].evidence = hone_pool_printf(
            in->pool, "%s is called per element and stops the vectoriser", functions[i].call);
        return 1;
    }
    return 0;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    (void)site;
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    uint32_t at = in->nest.function->begin;
    while (at > 0 && in->tree->source[at - 1] != '\n')
        at--;
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(functions); i++) {
        if (strstr(in->tree->source, functions[i].name))
            continue;
        size_t before = n;
        for (const struct hone_c_node *c = next_call(in, NULL, functions[i].call); c;
             c = next_call(in, c, functions[i].call)) {
            hone_c_replace(&e, c->first->begin, c->first->end, functions[i].name);
            n++;
        }
        if (n > before)
            hone_c_replace(&e, at, at, functions[i].text);
    }
    if (n == 0) {
        hone_fail(err, HONE_E_ARG, "no math call to replace");
        return NULL;
    }
    if (!strstr(in->tree->source, "no-trapping-math"))
        hone_c_replace(&e, 0, 0, "#pragma GCC optimize(\"no-trapping-math\")\n");
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_vector_math = {
    .name = "vector_math",
    .strategy = "G44",
    .words = "inline branch-free math",
    .sites = sites,
    .apply = apply,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* What loops and subscripts tell of shapes, on functions as people write them; what they do not
 * tell is asked for. */
#include <string.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "tools/task/c_expand.h"
#include "tools/task/extent.h"
#include "tools/task/size_poly.h"
#include "tools/task/task_new.h"
#include "workspace/base/file.h"

/* "x[n,m] | y[n] | n % (2) == 0": inputs, outputs, constraints but those of an int's range. */
static const char *told(const struct hone_task *task, struct hone_pool *pool)
{
    const char *text = "";
    for (size_t i = 0; i < task->n_inputs + task->n_outputs; i++) {
        const struct hone_tensor *t =
            i < task->n_inputs ? &task->inputs[i] : &task->outputs[i - task->n_inputs];
        const char *mark = i == 0 ? "" : i == task->n_inputs ? " | " : " ";
        text = hone_pool_printf(pool, "%s%s%s[", text, mark, t->name);
        for (size_t d = 0; d < t->rank; d++) {
            const struct hone_axis *a = &task->axes[t->shape[d]];
            const char *name = a->kind == HONE_AXIS_CONST
                                   ? hone_pool_printf(pool, "%lld", (long long)a->value)
                               : a->kind == HONE_AXIS_EXPR ? a->expression
                                                           : a->name;
            text = hone_pool_printf(pool, "%s%s%s", text, d ? "," : "", name);
        }
        text = hone_pool_printf(pool, "%s]", text);
        if (i < task->n_inputs && t->bound_axis >= 0)
            text = hone_pool_printf(pool, "%s=%s:%s", text, hone_role_name(t->role),
                                    task->axes[t->bound_axis].name);
    }
    for (size_t i = 0; i < task->n_constraints; i++)
        if (!strstr(task->constraints[i], "2147483647"))
            text = hone_pool_printf(pool, "%s | %s", text, task->constraints[i]);
    return text;
}

static int make_with(struct hone_task_new_options options, struct hone_pool *pool,
                     const char **ret_told, struct hone_err *err)
{
    char root[] = "/tmp/hone-shape-test-XXXXXX";
    struct hone_task_new made;
    struct hone_task *task = NULL;
    ck_assert_ptr_nonnull(mkdtemp(root));
    options.dir = hone_pool_printf(pool, "%s/pack", root);
    int code = hone_task_new(&options, pool, &made, err);
    if (code == 0) {
        ck_assert_int_eq(hone_task_load(options.dir, &task, err), 0);
        *ret_told = told(task, pool);
        hone_task_free(task);
    }
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    return code;
}

static int make(const char *source, struct hone_pool *pool, const char **ret_told,
                struct hone_err *err)
{
    return make_with((struct hone_task_new_options){.source = source}, pool, ret_told, err);
}

/* Rows of X that indexes name, through a helper. */
#define CSR_MATMUL                                                                                 \
    "static void axpy(int n, double a, const double *x, double *y) { for (int i = 0; i < n; i++) " \
    "y[i] += a * x[i]; }\nvoid csr_matmul(int nrow, int ncol, int nvec, const int *ptr, const "    \
    "int *idx, const double *val, const double *X, double *Y) { (void)ncol; for (int r = 0; r < "  \
    "nrow; r++) { double *y = Y + r * nvec; for (int j = 0; j < nvec; j++) y[j] = 0.0; for (int "  \
    "p = ptr[r]; p < ptr[r + 1]; p++) axpy(nvec, val[p], X + idx[p] * nvec, y); } }"

static const struct {
    const char *source, *want;
} rows[] = {
    /* an image, with a border that is tested for */
    {"void blur(const unsigned char *s, unsigned char *d, int w, int h) { for (int y = 0; y < h; "
     "y++) for (int x = 0; x < w; x++) { int sum = 0; for (int dy = -1; dy <= 1; dy++) for (int dx "
     "= -1; dx <= 1; dx++) { int yy = y + dy, xx = x + dx; if (yy < 0 || yy >= h || xx < 0 || xx "
     ">= w) continue; sum += s[yy * w + xx]; } d[y * w + x] = sum / 9; } }",
     "s[h,w] | d[h,w]"},
    {"void edge(const float *s, float *d, int w, int h) { for (int y = 0; y < h; y++) for (int x = "
     "0; x < w; x++) { float l = x > 0 ? s[y * w + x - 1] : 0; float r = x + 1 < w ? s[y * w + x + "
     "1] : 0; d[w * y + x] = r - l; } }",
     "s[h,w] | d[h,w]"},
    {"void clampd(const float *s, float *d, int w, int h) { for (int y = 0; y < h; y++) for (int x "
     "= 0; x < w; x++) { int xx = x + 1 < w ? x + 1 : w - 1; d[y * w + x] = s[y * w + xx]; } }",
     "s[h,w] | d[h,w]"},
    /* a border that is left out: by what leaves the loop, or by what the statement is under */
    {"void sobel(const unsigned char *s, unsigned char *d, int w, int h) { for (int y = 0; y < h; "
     "y++) for (int x = 0; x < w; x++) { if (x == 0 || (y == 0) || x == w - 1 || y >= h - 1) { d[y "
     "* w + x] = 0; continue; } const unsigned char *p = s + (y - 1) * w + x, *q = s + (y + 1) * w "
     "+ x; d[y * w + x] = p[-1] + q[1]; } }",
     "s[h,w] | d[h,w]"},
    {"void inner(const float *s, float *d, int w, int r) { for (int x = 0; x < w; x++) { d[x] = 0; "
     "if (x - r >= 0 && x + r < w) d[x] = s[x - r] + s[x + r]; } }",
     "s[w] | d[w]"},
    /* not by a condition of another one, by one of two, or by one that is over,
     * by one of what the name was before, or by one that a label jumps over */
    {"void off(const float *s, float *d, int n, int m) { for (int i = 0; i < n; i++) if (i - m - 2 "
     "< 3) d[i] = s[i]; }",
     "s[5 + m] | d[5 + m]"},
    {"void sums(const float *s, float *d, int n, int m) { for (int i = 0; i < n; i++) if (i + m - "
     "2 < 30) d[i] = s[i]; }",
     "s[n] | d[n]"},
    {"void anew(const float *s, float *d, int n, int m) { for (int i = 0; i < n; i++) { int k = i; "
     "if (k >= 3) continue; k = i + 5; d[k] = s[i]; } }",
     "s[n] | d[n + 5]"},
    {"void again(const float *s, float *d, int n, int m) { int i = 0; if (i >= m) return; while (i "
     "< n) { d[i] = s[i]; i++; } }",
     "s[n] | d[n]"},
    {"void inside(const float *s, float *d, int n, int m) { for (int i = 0; i < n; i++) if (i < m) "
     "for (int i = 0; i < n; i++) d[i] = s[i]; }",
     "s[n] | d[n]"},
    {"void cases(const float *s, float *d, int n, int m) { for (int i = 0; i < n; i++) { switch "
     "(m) { case 1: d[0] = 1; if (i > 3) break; case 2: d[i] = s[i]; } } }",
     "s[n] | d[n]"},
    {"void two(const float *s, float *d, int w, int h) { for (int y = 0; y < h; y++) for (int x = "
     "0; x < w; x++) { if (y > 3) if (x == w - 1) continue; if (x == w - 1 && y == 1) continue; { "
     "if (y) continue; } d[y * w + x] = s[y * (w + 1) + x + 1]; } }",
     "s[h*w + h] | d[h,w]"},
    /* the last of four is not read; rows that arithmetic of floats picks */
    {"void blend(int n, const unsigned char *a, unsigned char *b) { for (int i = 0; i < n; i++) "
     "for (int c = 0; c < 4; c++) b[4 * i + c] = c < 3 ? a[4 * i + c] : 255; }",
     "a[n,4] | b[n,4]"},
    {"void resize(int sw, int sh, int dw, int dh, const float *s, float *d) { for (int y = 0; y < "
     "dh; y++) for (int x = 0; x < dw; x++) { int iy = (int)((y + 0.5f) * sh / dh), ix = (int)((x "
     "+ 0.5f) * sw / dw); d[y * dw + x] = s[iy * sw + ix]; } }",
     "s[sh,sw] | d[dh,dw]"},
    /* a helper or a choice keeps values inside, in each way that people write it */
    {"static int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }\nvoid "
     "blurc(unsigned char *d, const unsigned char *s, int stride, int w, int h) { for (int y = 0; "
     "y < h; y++) for (int x = 0; x < w; x++) d[y * stride + x] = s[clampi(y + 2, 0, h - 1) * "
     "stride + clampi(x + 2, 0, w - 1)]; }",
     "s[h*stride - stride + w] | d[h*stride - stride + w] | stride >= w"},
    {"static int keep(int v, int lo, int hi) { if (v < lo) return lo; if (v > hi) return hi; "
     "return v; }\nvoid blurk(float *d, const float *s, int w, int h) { for (int y = 0; y < h; "
     "y++) "
     "for (int x = 0; x < w; x++) d[y * w + x] = s[keep(y + 2, 0, h - 1) * w + keep(x + 2, 0, w - "
     "1)]; }",
     "s[h,w] | d[h,w]"},
    {"void blurt(float *d, const float *s, int w, int h) { for (int y = 0; y < h; y++) for (int x "
     "= 0; x < w; x++) { int xx = x + 3 > w - 1 ? w - 1 : x + 3 < 0 ? 0 : x + 3; d[y * w + x] = "
     "s[y * w + xx]; } }",
     "s[h,w] | d[h,w]"},
    /* in place, behind a macro; what is not written stays */
    {"#define IX(i, j) ((i) * n + (j))\nvoid jacobi(int n, int t, double *A, double *B) { for (int "
     "k = 0; k < t; k++) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) "
     "B[IX(i, j)] = A[IX(i, j - 1)] + A[IX(i + 1, j)]; for (int i = 1; i < n - 1; i++) for (int j "
     "= 1; j < n - 1; j++) A[IX(i, j)] = B[IX(i, j)]; } }",
     "A_in[n,n] B_in[n,n] | A[n,n] B[n,n]"},
    {"void padded(const float *s, float *d, int w, int h) { for (int y = 0; y < h; y++) for (int x "
     "= 0; x < w; x++) d[y * w + x] = s[y * (w + 2) + x] + s[(y + 2) * (w + 2) + x + 2]; }",
     "s[h + 2,w + 2] | d[h,w]"},
    {"void gemm(int ni, int nj, int nk, float *C, const float *A, const float *B) { for (int i = "
     "0; "
     "i < ni; i++) for (int k = 0; k < nk; k++) for (int j = 0; j < nj; j++) C[i * nj + j] += A[i "
     "* nk + k] * B[k * nj + j]; }",
     "C_in[ni,nj] A[ni,nk] B[nk,nj] | C[ni,nj]"},
    {"#define QK 32\nfloat q8(int nb, const signed char *x, const float *d) { float s = 0; for "
     "(int "
     "b = 0; b < nb; b++) { int t = 0; for (int j = 0; j < QK; j++) t += x[b * QK + j]; s += t * "
     "d[b]; } return s; }",
     "x[nb,32] d[nb] | result[]"},
    {"void spmv(int n, const int *p, const int *c, const double *v, const double *x, double *y) { "
     "for (int i = 0; i < n; i++) { double s = 0; for (int k = p[i]; k < p[i + 1]; k++) s += v[k] "
     "* x[c[k]]; y[i] = s; } }",
     "p[n + 1]=offsets:nnz c[nnz]=index:n v[nnz] x[n] | y[n]"},
    {"void butterfly(float *re, const float *w, int n, int half) { for (int base = 0; base < n; "
     "base += 2 * half) for (int j = 0; j < half; j++) { int a = base + j, b = a + half; float t = "
     "re[b] * w[j]; re[b] = re[a] - t; re[a] += t; } }",
     "re_in[n] w[half] | re[n] | n % (2*half) == 0"},
    {"void four(const float *x, float *y, long n) { for (long i = 0; i < n; i += 4) { y[i] = x[i]; "
     "y[i + 1] = x[i + 1]; y[i + 2] = x[i + 2]; y[i + 3] = x[i + 3]; } }",
     "x[n] | y[n] | n % (4) == 0"},
    /* helpers: a macro in one, a pointer with an offset to it */
    {"#define SWAP(i, j) if (v[i] > v[j]) { unsigned t = v[i]; v[i] = v[j]; v[j] = t; }\nstatic "
     "void net(unsigned *v) { SWAP(0, 1) SWAP(2, 3) }\nvoid sort4(unsigned *d, unsigned long g) { "
     "for (unsigned long i = 0; i < g; i++) net(d + 4 * i); }",
     "d_in[g,4] | d[g,4]"},
    {"static double row(const double *r, int m) { double s = 0; for (int j = 0; j < m; j++) s += "
     "r[j]; return s; }\nvoid rows(double *out, const double *a, int n, int m) { for (int i = 0; i "
     "< n; i++) { const double *p = a + (long)i * m; double s = row(p, m); for (int j = 0; j < m; "
     "j++) s += *p++; out[i] = s; } }",
     "a[n,m] | out[n]"},
    /* counters */
    {"unsigned long b64(const unsigned char *in, unsigned long n, char *out) { unsigned long o = "
     "0; "
     "for (unsigned long i = 0; i < n; i += 3) { out[o++] = in[i]; out[o++] = i + 1 < n ? in[i + "
     "1] : 0; out[o++] = i + 2 < n ? in[i + 2] : 0; out[o++] = '='; } return o; }",
     "in[n] | out[(n + 2) // (3),4] result[]"},
    {"unsigned long keep(const float *x, float *out, unsigned long n) { float *start = out; while "
     "(n--) { if (*x > 0) *out++ = *x; x++; } return out - start; }",
     "x[n] | out[n] result[]"},
    {"void hist(const unsigned short *v, int n, unsigned *bins) { for (int i = 0; i < n; i++) "
     "bins[v[i] >> 8]++; }",
     "v[n] bins_in[256] | bins[256]"},
    {"void half(const float *x, float *y, int n) { int m = n / 2; for (int i = 0; i < m; i++) y[i] "
     "= x[2 * i] + x[2 * i + 1]; }",
     "x[(n) // 2,2] | y[(n) // 2]"},
    {"void stats(const double *x, int n, double *mean, double *max) { double s = 0, m = x[0]; for "
     "(int i = 0; i < n; i++) { s += x[i]; if (x[i] > m) m = x[i]; } *mean = s / n; *max = m; }",
     "x[n] | mean[] max_value[]"},
    {"void rev(const int *a, int *b, int n) { for (int i = n - 1; i >= 0; i--) b[n - 1 - i] = "
     "a[i]; "
     "}",
     "a[n] | b[n]"},
    {"enum { BINS = 16 };\nvoid fix(const float *x, float *y, int n) { float t[BINS]; for (int i = "
     "0; i < BINS; i++) t[i] = x[i]; for (int i = 0; i < n; i++) y[i] = t[i % BINS]; }",
     "x[16] | y[n]"},
    {"void copy(const float (*a)[8], float b[][8], int n) { }", NULL},
    {"void rows8(const float a[][8], float b[][8], int n) { for (int i = 0; i < n; i++) for (int j "
     "= 0; j < 8; j++) b[i][j] = a[i][j]; }",
     "a[n,8] | b[n,8]"},
    {"#include <string.h>\nvoid zero(const float *x, float *y, int n, int m) { memset(y, 0, n * m "
     "* "
     "sizeof(*y)); for (int i = 0; i < n; i++) y[i * m] = x[i]; }",
     "x[n] | y[n,m]"},
    /* what data point to: as long as the fill in front, where sizeof says that it counts elements */
    {"#include <string.h>\nvoid hist(const unsigned char *x, int n, int *b) { memset(b, 0, 256 * "
     "sizeof(int)); for (int i = 0; i < n; i++) __atomic_fetch_add(&b[x[i]], 1, 0); }",
     "x[n] | b[256]"},
    {"#include <string.h>\nvoid hist(const unsigned char *x, int n, int *b) { memset(b, 0, 1024); "
     "for (int i = 0; i < n; i++) __atomic_fetch_add(&b[x[i]], 1, 0); }",
     "x[n] | b[n]"},
    /* numbers: a byte to look for, a shift; an integer of a loop is a size */
    {"long find(const char *s, long n, char c, int shift) { long k = 0; for (long i = 0; i < n; "
     "i++) k += s[i] == c; return k << shift; }",
     "s[n] | result[]"},
    {"void mandel(float x0, float y0, int w, int h, int *out) { for (int y = 0; y < h; y++) for "
     "(int "
     "x = 0; x < w; x++) out[y * w + x] = (int)(x0 * x + y0 * y); }",
     "x0[] y0[] | out[h,w]"},
    /* what indexes name is as large as the integer that is for nothing else */
    {CSR_MATMUL,
     "ptr[nrow + 1]=offsets:nnz idx[nnz]=index:ncol val[nnz] X[ncol,nvec] | Y[nrow,nvec]"},
    {"#include <string.h>\nvoid embed(const int *ids, const float *table, float *out, int n, int "
     "d, "
     "int vocab) { for (int i = 0; i < n; i++) memcpy(out + i * d, table + ids[i] * d, d * "
     "sizeof(float)); }",
     "ids[n]=index:vocab table[vocab,d] | out[n,d]"},
    {"void bsr(int nb, int bs, int ncb, const int *ptr, const int *idx, const double *v, const "
     "double *x, double *y) { for (int r = 0; r < nb; r++) for (int i = 0; i < bs; i++) { double s "
     "= 0; for (int p = ptr[r]; p < ptr[r + 1]; p++) for (int j = 0; j < bs; j++) s += v[(p * bs + "
     "i) * bs + j] * x[idx[p] * bs + j]; y[r * bs + i] = s; } }",
     "ptr[nb + 1]=offsets:nnz idx[nnz]=index:ncb v[nnz,bs,bs] x[ncb,bs] | y[nb,bs]"},
    /* rows as a pointer and a length: both together end where the last row does */
    {"static double dot(int len, const int *c, const double *v, const double *x) { double s = 0; "
     "for (int k = 0; k < len; k++) s += v[k] * x[c[k]]; return s; }\nvoid spmv(int n, int ncol, "
     "const int *ptr, const int *idx, const double *v, const double *x, double *y) { for (int r = "
     "0; r < n; r++) y[r] = dot(ptr[r + 1] - ptr[r], idx + ptr[r], v + ptr[r], x); }",
     "ptr[n + 1]=offsets:nnz idx[nnz]=index:ncol v[nnz] x[ncol] | y[n]"},
    {"void spmv(int n, int ncol, const int *ptr, const int *idx, const double *z, const double *x, "
     "double *y) { for (int r = 0; r < n; r++) { const int *c = &idx[ptr[r]]; int b = ptr[r], len "
     "= ptr[r + 1] - ptr[r]; double s = 0; for (int k = 0; k < len; k++) s += z[2 * b + 2 * k] * "
     "z[2 * b + 2 * k + 1] * x[c[k]]; y[r] = s; } }",
     "ptr[n + 1]=offsets:nnz idx[nnz]=index:ncol z[nnz,2] x[ncol] | y[n]"},
    /* a window at every place where it fits; a macro puts its array into brackets */
    {"#define PIX(img, w, y, x) ((img)[(y) * (w) + (x)])\nvoid match(const float *image, int iw, "
     "int ih, const float *templ, int tw, int th, float *score) { const int ow = iw - tw + 1, oh = "
     "ih - th + 1; for (int y = 0; y < oh; y++) for (int x = 0; x < ow; x++) { float dot = 0; for "
     "(int v = 0; v < th; v++) for (int u = 0; u < tw; u++) dot += PIX(image, iw, y + v, x + u) * "
     "PIX(templ, tw, v, u); PIX(score, ow, y, x) = dot; } }",
     "image[ih,iw] templ[th,tw] | score[ih - th + 1,iw - tw + 1] | ih >= th | iw >= tw"},
    {"void fir(const double *x, const double *taps, double *y, int n, int k) { for (int i = 0; i "
     "<= "
     "n - k; i++) { double s = 0; for (int j = 0; j < k; j++) s += x[i + j] * taps[j]; y[i] = s; } "
     "}",
     "x[n] taps[k] | y[n - k + 1] | n >= k"},
};

START_TEST(shapes_are_told)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        const char *got = NULL;
        int code = make(rows[i].source, pool, &got, &err);
        if (!rows[i].want) {
            ck_assert_int_lt(code, 0);
            continue;
        }
        ck_assert_msg(code == 0, "%s\n%s %s", rows[i].source, err.path, err.message);
        ck_assert_msg(strcmp(got, rows[i].want) == 0, "%s\ngives %s", rows[i].source, got);
    }
}
END_TEST

/* What is not told is asked for, never guessed between two sizes. */
START_TEST(the_rest_is_asked_for)
{
    static const struct {
        const char *source, *want;
    } asked[] = {
        {"int words(const char *s) { int n = 0; for (; *s; s++) n++; return n; }",
         "gets no size: give it the length"},
        {"void f(const float *x, float *y, int n, int m) { int k = 0; while (x[k] > 0) { y[k] = "
         "x[k]; k *= 2; } }",
         "--shape 'x[M,K]'"},
        {"void g(int n, int m, const int *c, const float *x, float *y) { for (int i = 0; i < n; "
         "i++) for (int j = 0; j < m; j++) y[i * m + j] = x[c[i]]; }",
         "--role c=index:M"},
        /* all at once */
        {"void warp(const float *img, const int *v, const int *u, float *o, int n, int h, int w) { "
         "for "
         "(int i = 0; i < n; i++) o[i] = img[v[i] * w + u[i]]; }",
         "(n, h, w) or a new name: --role v=index:M, and --role u=index:M"},
        {"void two(const float *x, float *y, int n, int m) { int k = 0; while (x[k] > 0) { y[k] = "
         "x[k]; k *= 2; } }",
         "formulas, and --shape 'y[M,K]'"},
        {"void h(int n, const float *x, float *y) { extern void other(const float *, float *); "
         "other(x, y); }\nint m;",
         NULL},
        {"int sieve(int n, unsigned char *out) { for (int i = 0; i < n; i++) out[i] = 1; return 0; "
         "}",
         "what never changes can be stored"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(asked); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        const char *got = NULL;
        int code = make(asked[i].source, pool, &got, &err);
        ck_assert_msg((code < 0) == (asked[i].want != NULL), "%s", asked[i].source);
        if (asked[i].want)
            ck_assert_msg(strstr(err.message, asked[i].want), "%s: %s", asked[i].source,
                          err.message);
    }
}
END_TEST

/* What --role says of an array's values says how far its subscripts reach. */
START_TEST(roles_bound_subscripts)
{
    static const char warp[] =
        "void warp(const float *img, const int *v, const int *u, float *o, int "
        "n, int h, int w) { for (int i = 0; i < n; i++) o[i] = img[v[i] * w "
        "+ u[i]]; }";
    static const struct {
        const char *source, *roles[2], *want;
    } table[] = {
        {CSR_MATMUL,
         {"idx=index:ncol", "ptr=offsets:entries"},
         "ptr[nrow + 1]=offsets:entries idx[entries]=index:ncol val[entries] X[ncol,nvec] | "
         "Y[nrow,nvec]"},
        {warp, {"v=index:h", "u=index:w"}, "img[h,w] v[n]=index:h u[n]=index:w | o[n]"},
        {"void g(int n, int m, const int *c, const float *x, float *y) { for (int i = 0; i < n; "
         "i++) for (int j = 0; j < m; j++) y[i * m + j] = x[c[i] * m + j]; }",
         {"c=index:M", NULL},
         "c[n]=index:M x[M,m] | y[n,m]"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        const char *got = NULL, *roles[] = {table[i].roles[0], table[i].roles[1]};
        const struct hone_task_new_options options = {.source = table[i].source,
                                                      .roles = {roles, roles[1] ? 2 : 1}};
        ck_assert_msg(make_with(options, pool, &got, &err) == 0, "%s", err.message);
        ck_assert_str_eq(got, table[i].want);
    }
}
END_TEST

/* The entries of a sparse matrix, which no parameter tells, follow its rows; other sizes do not. */
START_TEST(sizes_that_lack_are_told)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char root[] = "/tmp/hone-shape-test-XXXXXX";
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task_new made;
    struct hone_task *task = NULL;
    ck_assert_ptr_nonnull(mkdtemp(root));
    const char *sizes[] = {"nrow=400,ncol=300,nvec=8"};
    struct hone_task_new_options options = {
        .source = CSR_MATMUL, .sizes = {sizes, 1}, .dir = hone_pool_printf(pool, "%s/pack", root)};
    ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_task_load(options.dir, &task, &err), 0);
    for (size_t a = 0; a < task->n_axes; a++)
        if (strcmp(task->axes[a].name, "nnz") == 0)
            ck_assert_int_eq(task->workloads[0].axes[a], 6400);
    hone_task_free(task);
    sizes[0] = "nrow=400,nvec=8";
    options.dir = hone_pool_printf(pool, "%s/other", root);
    ck_assert_int_eq(hone_task_new(&options, pool, &made, &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "--size nrow=400,nvec=8,nnz=6400,ncol=1000"));
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

/* A loop in a loop over two strings: neither the guessed sizes nor those that the judge draws may
 * cost minutes, so sizes and operations follow the loops. */
START_TEST(sizes_can_be_borne)
{
    char root[] = "/tmp/hone-shape-test-XXXXXX";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_task_new made;
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_ptr_nonnull(mkdtemp(root));
    const struct hone_task_new_options options = {
        .source =
            "int same(const char *a, int n, const char *b, int m) { int k = 0; for (int i = 1; "
            "i <= n; i++) for (int j = 1; j <= m; j++) k += a[i - 1] == b[j - 1]; return k; }",
        .dir = hone_pool_printf(pool, "%s/pack", root)};
    ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_task_load(options.dir, &task, &err), 0);
    for (size_t i = 0; i < task->n_workloads; i++) {
        double flops = 0,
               rounds = (double)(task->workloads[i].axes[0] * task->workloads[i].axes[1]);
        ck_assert(rounds > 1e6 && rounds < 1e7);
        ck_assert_int_eq(hone_task_eval(task, task->flops, &task->workloads[i], &flops, &err), 0);
        ck_assert(flops > rounds / 65 && flops < rounds / 60);
    }
    hone_task_free(task);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

/* Macros that make each other large, and subscripts that go round in circles, end. */
START_TEST(hostile_sources_end)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_c_tokens tokens;
    const char *source = "#define A0 x x x x x x x x x x\n", *empty = "#define E0\n";
    for (int i = 1; i < 14; i++) {
        source = hone_pool_printf(pool, "%s#define A%d A%d A%d A%d A%d A%d A%d\n", source, i, i - 1,
                                  i - 1, i - 1, i - 1, i - 1, i - 1);
        empty = hone_pool_printf(pool, "%s#define E%d E%d E%d E%d E%d E%d E%d\n", empty, i, i - 1,
                                 i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    ck_assert_int_eq(hone_c_expand(hone_pool_printf(pool, "%sA13", source), pool, &tokens, &err),
                     HONE_E_LIMIT);
    ck_assert_int_eq(hone_c_expand(hone_pool_printf(pool, "%sE13", empty), pool, &tokens, &err),
                     HONE_E_LIMIT);
    ck_assert_int_eq(
        hone_c_expand("#define f(a, b) b a\n#define g g\nf(1, (2, 3)) g f", pool, &tokens, &err),
        0);
    ck_assert_uint_eq(tokens.n, 8);
    const char *got = NULL;
    ck_assert_int_lt(make("void f(const float *x, float *y, int n, int m) { int a = b, b = a; for "
                          "(int i = 0; i < j; i++) for (int j = 0; j < i; j++) y[a] = x[i + b]; }",
                          pool, &got, &err),
                     0);
    static const char *const torn[] = {"void f(const float *x, float *y, int n) { y[x[",
                                       "void f(const float *x, float *y, int n) { y = x + }",
                                       "void f(const float *x, float *y, int n) { for (y[ }",
                                       "void f(const float *x, float *y, int n) { while y[n-- }"};
    for (size_t i = 0; i < HONE_COUNTOF(torn); i++)
        make(torn[i], pool, &got, &err);
}
END_TEST

START_TEST(polynomials)
{
    struct hone_poly n = hone_poly_name(0), m = hone_poly_name(1), one = hone_poly_number(1);
    struct hone_poly nm = hone_poly_multiply(&n, &m), mn = hone_poly_multiply(&m, &n);
    ck_assert(hone_poly_equal(&nm, &mn));
    struct hone_poly less = hone_poly_add(&nm, &one, -1), zero = hone_poly_add(&nm, &mn, -1);
    int64_t value = 1;
    ck_assert(hone_poly_is_number(&zero, &value) && value == 0);
    ck_assert(!hone_poly_is_number(&less, &value));
    ck_assert(hone_poly_covers(&nm, &less) && !hone_poly_covers(&less, &nm));
    ck_assert(!hone_poly_covers(&n, &m) && !hone_poly_covers(&m, &n));
    struct hone_poly large = hone_poly_number(INT64_MAX), p = n;
    ck_assert(!hone_poly_multiply(&large, &large).is_known);
    ck_assert(!hone_poly_add(&large, &one, 1).is_known);
    for (int i = 1; i < HONE_POLY_DEGREE; i++)
        p = hone_poly_multiply(&p, &n);
    ck_assert(p.is_known && !hone_poly_multiply(&p, &n).is_known);
    p = hone_poly_number(0);
    for (int i = 0; i < HONE_POLY_TERMS; i++) {
        m = hone_poly_name(i);
        p = hone_poly_add(&p, &m, 1);
    }
    ck_assert(p.is_known && !hone_poly_add(&p, &one, 1).is_known);
}
END_TEST

/* Operations are told where the loops tell them exactly, and nowhere else. */
START_TEST(operations_are_counted)
{
    static const struct {
        const char *source, *want;
    } table[] = {
        {"void axpy(float *y, const float *x, float a, int n) { for (int i = 0; i < n; i++) y[i] = "
         "y[i] + a * x[i]; }",
         "2*n"},
        {"void mm(const double *a, const double *b, double *c, int n, int m, int k) { for (int i = "
         "0; i < n; i++) for (int j = 0; j < m; j++) { double s = 0; for (int t = 0; t < k; t++) s "
         "+= a[i * k + t] * b[t * m + j]; c[i * m + j] = s; } }",
         "2*n*m*k"},
        {"static float sq(float v) { return v * v; }\nvoid norm(const float *x, const int *w, "
         "float "
         "*y, int n) { for (int i = 1; i < n; i++) { int k = w[i] * 3 + 1; y[i] = sqrtf(sq(x[i]) + "
         "sq(x[i - 1])) * (float)k; } }",
         "5*n - 5"},
        {"void tri(const float *a, float *y, int n) { for (int i = 0; i < n; i++) { float s = 0; "
         "for "
         "(int j = 0; j < i; j++) s += a[i * n + j]; y[i] = s; } }",
         NULL}, /* half of n*n */
        {"void relu(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] > 0 "
         "? 2 * x[i] : 0; }",
         NULL},
        {"#include <math.h>\nvoid ex(const float *x, float *y, int n) { for (int i = 0; i < n; "
         "i++) "
         "y[i] = expf(x[i]) + 1; }",
         NULL}, /* many instructions */
        {"void add(const int *x, int *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + 1; }",
         NULL}, /* integers */
        {"typedef float real;\nvoid mix(const real *x, float *y, int n) { for (int i = 0; i < n; "
         "i++) y[i] = x[i] * x[i] + 1.5f; }",
         NULL},
        {"void csr(const int *p, const double *v, double *y, int n) { for (int i = 0; i < n; i++) "
         "{ "
         "double s = 0; for (int k = p[i]; k < p[i + 1]; k++) s += v[k]; y[i] = s; } }",
         NULL},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        struct hone_prototype *proto = hone_pool_alloc(pool, sizeof(*proto));
        const char *names[HONE_LIMIT_AXES + HONE_LIMIT_TENSORS];
        struct hone_extent *x;
        ck_assert_int_eq(hone_prototype_parse(table[i].source, NULL, pool, proto, &err), 0);
        for (size_t p = 0; p < proto->n_params; p++)
            names[p] = proto->params[p].name;
        ck_assert_int_eq(hone_extent_open(table[i].source, proto, names, pool, &x, &err), 0);
        const char *got = hone_extent_operations(x);
        ck_assert_msg((!got && !table[i].want) ||
                          (got && table[i].want && strcmp(got, table[i].want) == 0),
                      "row %zu: %s", i, got ? got : "none");
    }
}
END_TEST

UNIT_MAIN("task_shape", operations_are_counted, shapes_are_told, sizes_can_be_borne,
          roles_bound_subscripts, sizes_that_lack_are_told, the_rest_is_asked_for,
          hostile_sources_end, polynomials)

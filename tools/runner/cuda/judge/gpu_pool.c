/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/gpu_pool.h"

#include <stdlib.h>
#include <string.h>

struct hone_gpu_pool {
    struct hone_gpu_pool_spec spec; /* strings and stamp owned below */
    char *rung;
    unsigned char *stamp;
    struct hone_gpu_arm *spares[HONE_GPU_MAX_SPARES]; /* oldest first */
    size_t n;
};

static struct hone_gpu_arm *remove_at(struct hone_gpu_pool *pool, size_t i)
{
    struct hone_gpu_arm *arm = pool->spares[i];
    pool->n--;
    memmove(&pool->spares[i], &pool->spares[i + 1], (pool->n - i) * sizeof(pool->spares[0]));
    return arm;
}

static int add_spare(struct hone_gpu_pool *pool, struct hone_err *err)
{
    int code = hone_gpu_arm_start(&pool->spec.arm, &pool->spares[pool->n], err);
    if (code == 0)
        pool->n++;
    return code;
}

void hone_gpu_pool_refill(struct hone_gpu_pool *pool)
{
    for (size_t i = pool->n; i-- > 0;) {
        if (!hone_gpu_arm_is_alive(pool->spares[i]))
            hone_gpu_arm_free(remove_at(pool, i));
    }
    while (pool->n < (size_t)pool->spec.n_spares) {
        struct hone_err err = HONE_ERR_INIT;
        if (add_spare(pool, &err) < 0)
            return;
    }
}

int hone_gpu_pool_new(const struct hone_gpu_pool_spec *spec, struct hone_gpu_pool **ret,
                      struct hone_err *err)
{
    if (spec->n_spares < 0 || spec->n_spares > HONE_GPU_MAX_SPARES)
        return hone_fail(err, HONE_E_LIMIT, "%lld spare arenas; 0 to %d are possible",
                         (long long)spec->n_spares, HONE_GPU_MAX_SPARES);
    struct hone_gpu_pool *pool = hone_calloc(1, sizeof *pool);
    pool->spec = *spec;
    pool->rung = hone_strdup(spec->arm.rung != NULL ? spec->arm.rung : "auto");
    pool->spec.arm.rung = pool->rung;
    if (spec->arm.stamp != NULL) {
        pool->stamp = hone_malloc(spec->arm.stamp_len + 1);
        memcpy(pool->stamp, spec->arm.stamp, spec->arm.stamp_len);
        pool->spec.arm.stamp = pool->stamp;
    }
    hone_gpu_pool_refill(pool);
    *ret = pool;
    return 0;
}

/* The first spare whose context is there, else the oldest. */
static size_t choose(struct hone_gpu_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++) {
        if (hone_gpu_arm_is_ready(pool->spares[i]))
            return i;
    }
    return 0;
}

int hone_gpu_pool_take(struct hone_gpu_pool *pool, int64_t deadline_ns, struct hone_gpu_arm **ret,
                       struct hone_err *err)
{
    int code = pool->n == 0 ? add_spare(pool, err) : 0;
    if (code < 0)
        return code;
    struct hone_gpu_arm *arm = remove_at(pool, choose(pool));
    code = hone_gpu_arm_wait(arm, deadline_ns, err);
    if (code < 0) {
        hone_gpu_arm_free(arm);
        return code;
    }
    hone_gpu_pool_refill(pool);
    *ret = arm;
    return 0;
}

void hone_gpu_pool_give(struct hone_gpu_pool *pool, struct hone_gpu_arm *arm)
{
    if (arm == NULL)
        return;
    bool is_used_up =
        pool->spec.max_modules > 0 && hone_gpu_arm_n_modules(arm) >= pool->spec.max_modules;
    if (!hone_gpu_arm_is_alive(arm) || is_used_up || pool->n == HONE_GPU_MAX_SPARES ||
        pool->n > (size_t)pool->spec.n_spares) {
        hone_gpu_arm_free(arm);
        return;
    }
    memmove(&pool->spares[1], &pool->spares[0], pool->n * sizeof(pool->spares[0]));
    pool->spares[0] = arm;
    pool->n++;
}

void hone_gpu_pool_retire(struct hone_gpu_pool *pool)
{
    for (size_t i = pool->n; i-- > 0;) {
        if (hone_gpu_arm_n_modules(pool->spares[i]) > 0)
            hone_gpu_arm_free(remove_at(pool, i));
    }
    hone_gpu_pool_refill(pool);
}

int64_t hone_gpu_pool_n_spares(const struct hone_gpu_pool *pool)
{
    return (int64_t)pool->n;
}

void hone_gpu_pool_free(struct hone_gpu_pool *pool)
{
    if (pool == NULL)
        return;
    while (pool->n > 0)
        hone_gpu_arm_free(remove_at(pool, pool->n - 1));
    free(pool->rung);
    free(pool->stamp);
    free(pool);
}

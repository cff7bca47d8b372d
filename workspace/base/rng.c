/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/rng.h"

#include <string.h>

enum { N_ROUNDS = 10, LANES = 16 };
#define MULTIPLIER_0 0xD2511F53u
#define MULTIPLIER_1 0xCD9E8D57u
#define WEYL_0       0x9E3779B9u
#define WEYL_1       0xBB67AE85u

#ifdef __clang__ /* vectorises at -O2 and does not know the attribute */
#define RNG_O3
#else
#define RNG_O3 __attribute__((optimize("O3")))
#endif

void hone_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t ret[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < N_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0, p1 = (uint64_t)MULTIPLIER_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    ret[0] = c0;
    ret[1] = c1;
    ret[2] = c2;
    ret[3] = c3;
}

struct setup {
    uint32_t key[2];
    uint32_t high[2]; /* counter words 2 and 3 */
};

static struct setup set_up(const uint8_t key[16], uint64_t stream)
{
    struct setup s;
    memcpy(s.key, key, 8);
    memcpy(s.high, key + 8, 8);
    s.high[0] ^= (uint32_t)stream;
    s.high[1] ^= (uint32_t)(stream >> 32);
    return s;
}

static void one_block(const struct setup *s, uint64_t block, uint64_t ret[2])
{
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), s->high[0], s->high[1]};
    uint32_t words[4];
    hone_philox4x32(counter, s->key, words);
    ret[0] = words[0] | (uint64_t)words[1] << 32;
    ret[1] = words[2] | (uint64_t)words[3] << 32;
}

uint64_t hone_rng_u64(const uint8_t key[16], uint64_t stream, uint64_t counter)
{
    struct setup s = set_up(key, stream);
    uint64_t pair[2];
    one_block(&s, counter / 2, pair);
    return pair[counter % 2];
}

/* LANES blocks side by side. Words sit in the low halves of 64-bit lanes: that is where the vector
 * multiply (pmuludq) wants them, so no lane is moved between rounds. */
__attribute__((always_inline)) static inline void many_blocks(const struct setup *s, uint64_t block,
                                                              uint64_t *restrict out)
{
    uint64_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
    const uint64_t low = 0xFFFFFFFFu;
    for (int i = 0; i < LANES; i++) {
        c0[i] = (block + (uint64_t)i) & low;
        c1[i] = (block + (uint64_t)i) >> 32;
        c2[i] = s->high[0];
        c3[i] = s->high[1];
    }
    uint32_t k0 = s->key[0], k1 = s->key[1];
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t p0 = MULTIPLIER_0 * (c0[i] & low), p1 = MULTIPLIER_1 * (c2[i] & low);
            c0[i] = (p1 >> 32) ^ c1[i] ^ k0;
            c2[i] = (p0 >> 32) ^ c3[i] ^ k1;
            c1[i] = p1 & low;
            c3[i] = p0 & low;
        }
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    for (int i = 0; i < LANES; i++) {
        out[2 * i] = c0[i] | c1[i] << 32;
        out[2 * i + 1] = c2[i] | c3[i] << 32;
    }
}

/* The same loop for two machines; the sanitizers do not like ifuncs, so the choice is made by hand.
 */
RNG_O3 static void fill_plain(const struct setup *s, uint64_t block, uint64_t *out, size_t n_groups)
{
    for (size_t g = 0; g < n_groups; g++)
        many_blocks(s, block + g * LANES, out + g * 2 * LANES);
}

#if defined(__x86_64__)
RNG_O3 __attribute__((target("avx2"))) static void fill_avx2(const struct setup *s, uint64_t block,
                                                             uint64_t *out, size_t n_groups)
{
    for (size_t g = 0; g < n_groups; g++)
        many_blocks(s, block + g * LANES, out + g * 2 * LANES);
}
#endif

static void fill_groups(const struct setup *s, uint64_t block, uint64_t *out, size_t n_groups)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        fill_avx2(s, block, out, n_groups);
        return;
    }
#endif
    fill_plain(s, block, out, n_groups);
}

void hone_rng_fill(const uint8_t key[16], uint64_t stream, uint64_t first, uint64_t *out, size_t n)
{
    struct setup s = set_up(key, stream);
    uint64_t pair[2];
    size_t done = 0;
    if (n > 0 && first % 2 == 1) {
        one_block(&s, first / 2, pair);
        out[done++] = pair[1];
    }
    size_t n_groups = (n - done) / (size_t)(2 * LANES);
    fill_groups(&s, (first + done) / 2, out + done, n_groups);
    done += n_groups * (size_t)(2 * LANES);
    for (; done < n; done++) {
        if ((first + done) % 2 == 0 || done == 0)
            one_block(&s, (first + done) / 2, pair);
        out[done] = pair[(first + done) % 2];
    }
}

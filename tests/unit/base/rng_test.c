/* SPDX-License-Identifier: Apache-2.0 */
/* Philox against the known answers that its authors publish, and the bulk fill against the single
 * number. */
#include "tests/unit/unit.h"
#include "workspace/base/rng.h"

START_TEST(known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } table[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        uint32_t got[4];
        hone_philox4x32(table[i].counter, table[i].key, got);
        for (int w = 0; w < 4; w++)
            ck_assert_uint_eq(got[w], table[i].want[w]);
    }
}
END_TEST

START_TEST(fill_equals_single)
{
    static const uint8_t key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint64_t firsts[] = {0, 1, 31, 32, (1ull << 33) - 3, UINT64_MAX - 200};
    uint64_t out[131];
    for (size_t f = 0; f < HONE_COUNTOF(firsts); f++) {
        for (size_t n = 0; n <= HONE_COUNTOF(out); n++) {
            hone_rng_fill(key, 42, firsts[f], out, n);
            for (size_t i = 0; i < n; i++)
                ck_assert_uint_eq(out[i], hone_rng_u64(key, 42, firsts[f] + i));
        }
    }
}
END_TEST

START_TEST(every_key_byte_and_stream_bit_matters)
{
    uint8_t key[16] = {0};
    uint64_t plain = hone_rng_u64(key, 0, 5);
    for (int b = 0; b < 16; b++) {
        key[b] = 1;
        ck_assert_uint_ne(hone_rng_u64(key, 0, 5), plain);
        key[b] = 0;
    }
    for (int b = 0; b < 64; b++)
        ck_assert_uint_ne(hone_rng_u64(key, 1ull << b, 5), plain);
}
END_TEST

START_TEST(unit_is_in_range)
{
    ck_assert(hone_rng_unit(0) == 0);
    ck_assert(hone_rng_unit(UINT64_MAX) < 1);
}
END_TEST

UNIT_MAIN("rng", known_answers, fill_equals_single, every_key_byte_and_stream_bit_matters,
          unit_is_in_range)

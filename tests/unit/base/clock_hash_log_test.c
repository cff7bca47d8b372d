/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/json.h"
#include "workspace/base/log.h"

START_TEST(deadlines)
{
    int64_t before = hone_now_ns();
    int64_t soon = hone_deadline_in_ms(100000);
    ck_assert_int_ge(soon, before + 100 * HONE_NS_PER_S);
    int left = hone_ms_until(soon);
    ck_assert_int_gt(left, 90000);
    ck_assert_int_le(left, 100000);
    ck_assert_int_eq(hone_ms_until(before), 0);
    ck_assert_int_eq(hone_ms_until(0), 0);
    ck_assert_int_eq(hone_ms_until(HONE_NO_DEADLINE), -1);
    ck_assert_int_eq(hone_ms_until(HONE_NO_DEADLINE - 1), INT_MAX);
    ck_assert(hone_deadline_in_ms(INT64_MAX) == HONE_NO_DEADLINE);
    ck_assert(hone_deadline_in_ms(INT64_MAX / HONE_NS_PER_MS) == HONE_NO_DEADLINE);
    ck_assert_int_eq(hone_deadline_in_ms(INT64_MIN), 0);
    int most =
        0; /* rounds up, so that poll() does not spin; several tries, as the machine may be busy */
    for (int i = 0; i < 100 && most < 2; i++)
        most = hone_ms_until(hone_now_ns() + HONE_NS_PER_MS * 3 / 2);
    ck_assert_int_eq(most, 2);
}
END_TEST

START_TEST(wall)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {1795216500123, "2026-11-20T23:15:00.123Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
    };
    char text[32];
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        hone_wall_text(rows[i].ms, text);
        ck_assert_str_eq(text, rows[i].text);
    }
    hone_wall_text(INT64_MAX, text); /* out of any calendar: still a terminated text */
    ck_assert_uint_lt(strlen(text), 32);
    ck_assert_int_gt(hone_wall_ms(), 1700000000000);
}
END_TEST

START_TEST(hashes)
{
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[HONE_HASH_TEXT_BYTES];
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        hone_hash(rows[i].text, strlen(rows[i].text), hex);
        ck_assert_str_eq(hex, rows[i].hex);
    }
}
END_TEST

/* RFC 4231, cases 1 and 2, and a key of all bytes that there may be. */
START_TEST(macs)
{
    static const char key[] =
        "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"
        "\x0b\x0b";
    static const char question[] = "what do ya want for nothing?";
    char mac[HONE_HASH_TEXT_BYTES], other[HONE_HASH_TEXT_BYTES], longest[HONE_MAC_KEY_BYTES] = {1};
    hone_mac(key, 20, "Hi There", 8, mac);
    ck_assert_str_eq(mac, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hone_mac("Jefe", 4, question, strlen(question), other);
    ck_assert_str_eq(other, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    ck_assert(hone_mac_is_equal(mac, mac));
    ck_assert(!hone_mac_is_equal(mac, other));
    hone_mac(longest, sizeof(longest), NULL, 0, other);
    memcpy(mac, other, sizeof(mac));
    mac[63] = mac[63] == '0' ? '1' : '0';
    ck_assert(!hone_mac_is_equal(mac, other));
}
END_TEST

static void hash_two(const char *a, const char *b, char hex[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher h;
    hone_hasher_init(&h);
    hone_hasher_str(&h, a);
    hone_hasher_part(&h, b, b ? strlen(b) : 0);
    hone_hasher_end(&h, hex);
}

START_TEST(parts_are_framed)
{
    char one[HONE_HASH_TEXT_BYTES], two[HONE_HASH_TEXT_BYTES];
    hash_two("ab", "c", one);
    hash_two("ab", "c", two);
    ck_assert_str_eq(one, two);
    hash_two("a", "bc", two);
    ck_assert_str_ne(one, two);
    hash_two(NULL, "abc", one);
    hash_two("", "abc", two);
    ck_assert_str_eq(one, two);
    hash_two("abc", NULL, two);
    ck_assert_str_ne(one, two);
}
END_TEST

START_TEST(randomness)
{
    char one[201], two[201];
    hone_random_hex(one, 100);
    hone_random_hex(two, 100);
    ck_assert_uint_eq(strlen(one), 200);
    ck_assert_uint_eq(strspn(one, "0123456789abcdef"), 200);
    ck_assert_str_ne(one, two);
    hone_random_hex(one, 0);
    ck_assert_str_eq(one, "");
}
END_TEST

/* Runs fn with stderr in a file and returns what was written. */
static char *stderr_of(void (*fn)(void))
{
    char path[] = "/tmp/hone-log-XXXXXX";
    int fd = mkstemp(path), saved = dup(STDERR_FILENO);
    ck_assert_int_ge(fd, 0);
    dup2(fd, STDERR_FILENO);
    fn();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(fd);
    char *text = NULL;
    ck_assert_int_eq(hone_file_read(path, 1 << 20, &text, NULL, NULL), 0);
    unlink(path);
    return text;
}

static void log_some(void)
{
    hone_log(HONE_LOG_ERROR, "code=%d", 1);
    hone_log(HONE_LOG_WARN, "two\nlines");
    hone_log(HONE_LOG_INFO, "not shown");
}

static void log_long(void)
{
    hone_log(HONE_LOG_ERROR, "%*d", 5000, 1);
}

START_TEST(log_lines)
{
    unsetenv("HONE_LOG");
    HONE_AUTOFREE char *text = stderr_of(log_some);
    ck_assert_str_eq(text, "hone: error code=1\nhone: warn two lines\n");
    HONE_AUTOFREE char *cut = stderr_of(log_long);
    ck_assert_uint_lt(strlen(cut), 2049);
    ck_assert_int_eq(cut[strlen(cut) - 1], '\n');
    hone_log_set_level(HONE_LOG_INFO);
    HONE_AUTOFREE char *more = stderr_of(log_some);
    ck_assert_ptr_nonnull(strstr(more, "hone: info not shown\n"));
}
END_TEST

START_TEST(log_level_from_environment)
{
    setenv("HONE_LOG", "error", 1);
    HONE_AUTOFREE char *text = stderr_of(log_some);
    ck_assert_str_eq(text, "hone: error code=1\n");
}
END_TEST

START_TEST(trace_writes_lines)
{
    char path[] = "/tmp/hone-trace-XXXXXX";
    int fd = mkstemp(path);
    close(fd);
    unsetenv("HONE_TRACE");
    hone_trace("nowhere", NULL);
    setenv("HONE_TRACE", path, 1);
    HONE_AUTOJSON struct hone_json *fields = hone_json_new_object();
    hone_json_set_str(fields, "call", "c1");
    hone_trace("call.begin", fields);
    hone_trace("call.end", NULL);
    HONE_AUTOFREE char *text = NULL;
    ck_assert_int_eq(hone_file_read(path, 1 << 20, &text, NULL, NULL), 0);
    unlink(path);
    char *second = strchr(text, '\n');
    ck_assert_ptr_nonnull(second);
    *second++ = '\0';
    HONE_AUTOJSON struct hone_json *line = NULL;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &line, NULL), 0);
    ck_assert_str_eq(hone_json_get_str(line, "event", ""), "call.begin");
    ck_assert_str_eq(hone_json_get_str(line, "call", ""), "c1");
    ck_assert_int_gt(hone_json_get_i64(line, "t", 0), 0);
    ck_assert_ptr_nonnull(strstr(second, "\"call.end\""));
}
END_TEST

UNIT_MAIN("clock hash log", deadlines, wall, hashes, macs, parts_are_framed, randomness, log_lines,
          log_level_from_environment, trace_writes_lines)

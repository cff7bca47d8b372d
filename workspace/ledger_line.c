/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/ledger_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CRC-32C (Castagnoli), reflected, four bits at a time: a table that can be checked by eye, and
 * fast enough beside an fsync. A ledger of a night is read whole, at some gigabytes a second where
 * the processor has the instruction. */
static const uint32_t crc_nibble[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_words(uint32_t crc, const unsigned char *at,
                                                            size_t n_words)
{
    unsigned long long sum = crc, word;
    for (size_t i = 0; i < n_words; i++) {
        memcpy(&word, at + 8 * i, sizeof(word));
        sum = __builtin_ia32_crc32di(sum, word);
    }
    return (uint32_t)sum;
}
#endif

uint32_t hone_crc32c(uint32_t crc, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    crc = ~crc;
#if defined(__x86_64__)
    if (len >= 8 && __builtin_cpu_supports("sse4.2")) {
        crc = crc_words(crc, at, len / 8);
        at += len / 8 * 8;
        len %= 8;
    }
#endif
    for (size_t i = 0; i < len; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ crc_nibble[crc & 15];
        crc = (crc >> 4) ^ crc_nibble[crc & 15];
    }
    return ~crc;
}

bool hone_ledger_is_type(const char *type)
{
    size_t len = strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    return len > 0 && len < HONE_LEDGER_TYPE_BYTES && type[len] == '\0';
}

void hone_ledger_line_print(struct hone_buf *out, uint64_t n, int64_t wall_ms, const char *type,
                            const char *data)
{
    char head[HONE_LEDGER_HEAD_BYTES];
    int len = snprintf(head, sizeof(head), "{\"n\":%" PRIu64 ",\"t\":%" PRId64 ",\"type\":\"%s\"",
                       n, wall_ms, type);
    HONE_BUG_ON(len < 0 || (size_t)len >= sizeof(head));
    size_t data_len = strlen(data);
    uint32_t sum = hone_crc32c(hone_crc32c(0, head, (size_t)len), data, data_len);
    hone_buf_add(out, head, (size_t)len);
    hone_buf_printf(out, ",\"sum\":\"%08" PRIx32 "\",\"data\":", sum);
    hone_buf_add(out, data, data_len);
    hone_buf_str(out, "}\n");
}

/* Moves *at behind text; false when something else is there. */
static bool skip(const char **at, const char *end, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

static bool number(const char **at, const char *end, uint64_t *ret)
{
    const char *start = *at;
    uint64_t value = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *at - start < 19)
        value = value * 10 + (uint64_t)(*(*at)++ - '0');
    *ret = value;
    return *at > start;
}

uint64_t hone_ledger_line_number(const char *line, size_t len)
{
    const char *at = line;
    uint64_t n = 0;
    bool is_number = skip(&at, line + len, "{\"n\":") && number(&at, line + len, &n) &&
                     at < line + len && *at == ',';
    return is_number ? n : 0;
}

bool hone_ledger_line_parse(const char *line, size_t len, struct hone_ledger_line *ret)
{
    const char *at = line;
    const char *end = line + len;
    uint64_t wall_ms = 0;
    if (!skip(&at, end, "{\"n\":") || !number(&at, end, &ret->n) || !skip(&at, end, ",\"t\":") ||
        !number(&at, end, &wall_ms) || !skip(&at, end, ",\"type\":\""))
        return false;
    const char *quote = memchr(at, '"', (size_t)(end - at));
    if (!quote || (size_t)(quote - at) >= sizeof(ret->type))
        return false;
    memcpy(ret->type, at, (size_t)(quote - at));
    ret->type[quote - at] = '\0';
    ret->wall_ms = (int64_t)wall_ms;
    at = quote + 1;
    uint32_t sum = hone_crc32c(0, line, (size_t)(at - line));
    char want[32];
    int want_len = 0;
    if (end - at < 26 || end[-1] != '}')
        return false;
    ret->data = at + 25; /* behind ,"sum":"12345678","data": */
    ret->data_len = (size_t)(end - 1 - ret->data);
    sum = hone_crc32c(sum, ret->data, ret->data_len);
    want_len = snprintf(want, sizeof(want), ",\"sum\":\"%08" PRIx32 "\",\"data\":", sum);
    return want_len == 25 && memcmp(at, want, 25) == 0;
}

int hone_ledger_depth(const char *data)
{
    int depth = 0;
    int most = 0;
    bool is_text = false;
    for (const char *at = data; *at; at++) {
        if (is_text) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == '"')
                is_text = false;
            continue;
        }
        is_text = *at == '"';
        if (*at == '{' || *at == '[')
            most = ++depth > most ? depth : most;
        else if (*at == '}' || *at == ']')
            depth--;
    }
    return most;
}

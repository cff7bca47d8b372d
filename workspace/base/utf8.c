/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/utf8.h"

#include <string.h>

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

size_t hone_utf8_char(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    if (len == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF)
        return len >= 2 && is_tail(s[1]) ? 2 : 0;
    if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        if (len < 3 || !is_tail(s[1]) || !is_tail(s[2]))
            return 0;
        if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))
            return 0;
        return 3;
    }
    if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        if (len < 4 || !is_tail(s[1]) || !is_tail(s[2]) || !is_tail(s[3]))
            return 0;
        if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
            return 0;
        return 4;
    }
    return 0;
}

size_t hone_utf8_valid_prefix(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len) {
        size_t n = text[i] > 0 ? 1 : hone_utf8_char(text + i, len - i); /* most bytes are ASCII */
        if (n == 0)
            return i;
        i += n;
    }
    return len;
}

size_t hone_utf8_cut(const char *text, size_t max)
{
    size_t n = max;
    while (n > 0 && max - n < 4 && is_tail((unsigned char)text[n]))
        n--;
    return n;
}

/* Lines and directions: U+2028 to U+202E, U+2066 to U+2069. */
static bool is_mischief(const unsigned char *s, size_t n)
{
    if (n == 0)
        return true;
    if (n == 1)
        return (s[0] < 0x20 && s[0] != '\n' && s[0] != '\t') || s[0] == 0x7F;
    if (n == 2)
        return s[0] == 0xC2 && s[1] < 0xA0;
    if (n != 3 || s[0] != 0xE2)
        return false;
    return (s[1] == 0x80 && s[2] >= 0xA8 && s[2] <= 0xAE) ||
           (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9);
}

void hone_utf8_defuse(char *text, char mark)
{
    char *to = text;
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        size_t n = hone_utf8_char(text + i, len - i);
        if (is_mischief((const unsigned char *)text + i, n)) {
            *to++ = mark;
        } else {
            memmove(to, text + i, n);
            to += n;
        }
        i += n > 0 ? n : 1;
    }
    *to = '\0';
}

/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: strict as RFC 3629 (no overlong forms, no surrogates, at most U+10FFFF). Thread safe. */
#ifndef HONE_BASE_UTF8_H
#define HONE_BASE_UTF8_H

#include "workspace/base/base.h"

/* Bytes (1-4) of the valid character at text[0..len), or 0 when there is none. */
size_t hone_utf8_char(const char *text, size_t len);
/* Offset of the first byte that is not valid UTF-8; len when all is. */
size_t hone_utf8_valid_prefix(const char *text, size_t len);
/* The greatest n <= max at which a character of text (valid up to there) ends: where to cut. */
size_t hone_utf8_cut(const char *text, size_t max);

/* Makes text safe to show on a terminal and in one log: control characters (C0 except newline and
 * tab, DEL, C1), marks that change the direction or the line of what follows, and bytes that are
 * not UTF-8 become `mark`, one for each. In place; the text never grows. */
void hone_utf8_defuse(char *text, char mark);

#endif

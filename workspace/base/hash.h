/* SPDX-License-Identifier: Apache-2.0 */
/* Content hashes: SHA-256 (libmd) for identity, printed as 64 hex digits; with a key
 * HMAC-SHA-256, for what comes back from outside. Random bytes from the system.
 *
 *     struct hone_hasher h;
 *     char hex[HONE_HASH_TEXT_BYTES];
 *     hone_hasher_init(&h);
 *     hone_hasher_str(&h, name);
 *     hone_hasher_part(&h, bytes, len);
 *     hone_hasher_end(&h, hex);            nothing has to be freed
 *
 * Nothing fails. Any thread; a hasher belongs to one. */
#ifndef HONE_BASE_HASH_H
#define HONE_BASE_HASH_H

#include "workspace/base/err.h"

#define HONE_HASH_TEXT_BYTES 65 /* 64 hex digits and NUL */

void hone_hash(const void *bytes, size_t len, char ret_hex[HONE_HASH_TEXT_BYTES]);
/* The same number as it is. */
#define HONE_HASH_BYTES 32
void hone_hash_bytes(const void *bytes, size_t len, unsigned char ret[HONE_HASH_BYTES]);

/* Incremental: parts are framed (length then bytes), so that ("ab","c") and ("a","bc") differ. */
struct hone_hasher {
    _Alignas(16) unsigned char state[256];
};
void hone_hasher_init(struct hone_hasher *h);
void hone_hasher_part(struct hone_hasher *h, const void *bytes, size_t len);
void hone_hasher_str(struct hone_hasher *h, const char *text); /* NULL counts as "" */
void hone_hasher_end(struct hone_hasher *h, char ret_hex[HONE_HASH_TEXT_BYTES]);

/* HMAC-SHA-256 (RFC 2104). A key has at most HONE_MAC_KEY_BYTES. */
#define HONE_MAC_KEY_BYTES 64
void hone_mac(const void *key, size_t key_len, const void *bytes, size_t len,
              char ret_hex[HONE_HASH_TEXT_BYTES]);
/* Looks at each byte, wherever the first difference lies. */
bool hone_mac_is_equal(const char a_hex[HONE_HASH_TEXT_BYTES],
                       const char b_hex[HONE_HASH_TEXT_BYTES]);

/* Cryptographically random bytes (getrandom). Aborts if the system has none. */
void hone_random(void *ret_bytes, size_t len);
/* n_bytes of randomness as 2 * n_bytes hex digits plus NUL. */
void hone_random_hex(char *ret_text, size_t n_bytes);

#endif

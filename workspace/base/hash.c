/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/hash.h"

#include <errno.h>
#include <sha2.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(sizeof(SHA2_CTX) <= sizeof(((struct hone_hasher *)0)->state),
               "state holds SHA2_CTX");
_Static_assert(SHA256_DIGEST_LENGTH == HONE_HASH_BYTES, "libmd's digest is a hash");
_Static_assert(_Alignof(SHA2_CTX) <= 16, "state is aligned for SHA2_CTX");

static void to_hex(char *text, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * n] = '\0';
}

void hone_hash_bytes(const void *bytes, size_t len, unsigned char ret[HONE_HASH_BYTES])
{
    SHA2_CTX ctx;
    SHA256Init(&ctx);
    SHA256Update(&ctx, len ? bytes : (const void *)"", len);
    SHA256Final(ret, &ctx);
}

void hone_hash(const void *bytes, size_t len, char ret_hex[HONE_HASH_TEXT_BYTES])
{
    unsigned char digest[HONE_HASH_BYTES];
    hone_hash_bytes(bytes, len, digest);
    to_hex(ret_hex, digest, sizeof(digest));
}

static SHA2_CTX *ctx_of(struct hone_hasher *h)
{
    return (SHA2_CTX *)(void *)h->state;
}

void hone_hasher_init(struct hone_hasher *h)
{
    memset(h, 0, sizeof(*h));
    SHA256Init(ctx_of(h));
}

void hone_hasher_part(struct hone_hasher *h, const void *bytes, size_t len)
{
    unsigned char frame[8];
    for (size_t i = 0; i < sizeof(frame); i++)
        frame[i] = (unsigned char)((uint64_t)len >> (8 * i));
    SHA256Update(ctx_of(h), frame, sizeof(frame));
    if (len > 0)
        SHA256Update(ctx_of(h), bytes, len);
}

void hone_hasher_str(struct hone_hasher *h, const char *text)
{
    if (text == NULL)
        text = "";
    hone_hasher_part(h, text, strlen(text));
}

void hone_hasher_end(struct hone_hasher *h, char ret_hex[HONE_HASH_TEXT_BYTES])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256Final(digest, ctx_of(h));
    to_hex(ret_hex, digest, sizeof(digest));
}

void hone_mac(const void *key, size_t key_len, const void *bytes, size_t len,
              char ret_hex[HONE_HASH_TEXT_BYTES])
{
    SHA2_CTX ctx;
    unsigned char inner[HONE_MAC_KEY_BYTES] = {0}, outer[HONE_MAC_KEY_BYTES] = {0};
    unsigned char digest[SHA256_DIGEST_LENGTH];
    HONE_BUG_ON(key_len > sizeof(inner));
    memcpy(inner, key, key_len);
    memcpy(outer, key, key_len);
    for (size_t i = 0; i < sizeof(inner); i++) {
        inner[i] ^= 0x36;
        outer[i] ^= 0x5c;
    }
    SHA256Init(&ctx);
    SHA256Update(&ctx, inner, sizeof(inner));
    SHA256Update(&ctx, len > 0 ? bytes : (const void *)"", len);
    SHA256Final(digest, &ctx);
    SHA256Init(&ctx);
    SHA256Update(&ctx, outer, sizeof(outer));
    SHA256Update(&ctx, digest, sizeof(digest));
    SHA256Final(digest, &ctx);
    to_hex(ret_hex, digest, sizeof(digest));
}

bool hone_mac_is_equal(const char a_hex[HONE_HASH_TEXT_BYTES],
                       const char b_hex[HONE_HASH_TEXT_BYTES])
{
    unsigned difference = 0;
    for (size_t i = 0; i < HONE_HASH_TEXT_BYTES; i++)
        difference |= (unsigned)(unsigned char)a_hex[i] ^ (unsigned)(unsigned char)b_hex[i];
    return difference == 0;
}

void hone_random(void *ret_bytes, size_t len)
{
    unsigned char *at = ret_bytes;
    while (len > 0) {
        ssize_t n = getrandom(at, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        HONE_BUG_ON(n <= 0);
        at += n;
        len -= (size_t)n;
    }
}

void hone_random_hex(char *ret_text, size_t n_bytes)
{
    unsigned char bytes[64];
    while (n_bytes > 0) {
        size_t n = n_bytes < sizeof(bytes) ? n_bytes : sizeof(bytes);
        hone_random(bytes, n);
        to_hex(ret_text, bytes, n);
        ret_text += 2 * n;
        n_bytes -= n;
    }
    *ret_text = '\0';
}

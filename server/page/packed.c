/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "workspace/base/buf.h"

enum { GZIP = 15 + 16, MEMORY = 9 };

static char *base64(const uint8_t *data, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = hone_calloc(1, (len + 2) / 3 * 4 + 1), *to = out;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t b1 = i + 1 < len ? data[i + 1] : 0, b2 = i + 2 < len ? data[i + 2] : 0;
        uint32_t three = (uint32_t)data[i] << 16 | b1 << 8 | b2;
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < len ? digits[three >> 6 & 63] : '=';
        *to++ = i + 2 < len ? digits[three & 63] : '=';
    }
    *to = '\0';
    return out;
}

char *hone_packed(const char *text, size_t len)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)len};
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* no memory, as everywhere */
    size_t most = deflateBound(&z, (uLong)len);
    uint8_t *small = hone_calloc(1, most);
    z.next_out = small;
    z.avail_out = (uInt)most;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort(); /* the bound is the most it takes */
    char *ret = base64(small, z.total_out);
    deflateEnd(&z);
    free(small);
    return ret;
}

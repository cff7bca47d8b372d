/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes on an upgraded connection: frames and what is none. The server lives on. */
#include "tests/fuzz/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] =
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: mcp\r\nAuthorization: Bearer " HONE_FUZZ_TOKEN "\r\n\r\n";
    char answer[13] = "";
    struct pollfd polled = {.fd = hone_fuzz_connect(), .events = POLLIN};
    HONE_BUG_ON(send(polled.fd, head, sizeof(head) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(head) - 1);
    HONE_BUG_ON(poll(&polled, 1, 10000) != 1 || recv(polled.fd, answer, 12, 0) != 12 ||
                strcmp(answer, "HTTP/1.1 101") != 0);
    hone_fuzz_talk(polled.fd, data, size);
    return 0;
}

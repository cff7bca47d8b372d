# SPDX-License-Identifier: Apache-2.0
# What an evaluation costs through each executor, in turns in one run: executors.py HONE CALLS NAME=EXECUTOR...
# Each is a `hone mcp` of its own; the calls verify the same kernel with another comment, so that nothing is taken from a cache.
import json
import statistics
import subprocess
import sys
import tempfile
import time

AXES = {"M": 64, "N": 64}  # one small size: what is asked is what an executor adds, not what a kernel costs
SOURCE = """#include <stdint.h>
void transpose(const float *A, float *B, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            B[j * M + i] = A[i * N + j]; /* %d %d */
}
"""


class Server:
    def __init__(self, hone, executor):
        folder = tempfile.mkdtemp(prefix="hone-bench-")
        subprocess.run([hone, "init", folder + "/ws"], check=True, capture_output=True)
        self.child = subprocess.Popen([hone, "mcp", "--workspace", folder + "/ws", "--executor", executor],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.n = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})

    def ask(self, method, params):
        self.n += 1
        request = {"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}
        self.child.stdin.write((json.dumps(request) + "\n").encode())
        self.child.stdin.flush()
        while True:
            line = self.child.stdout.readline()
            if not line:
                sys.exit("the server ended")
            answer = json.loads(line)
            if answer.get("id") == self.n:
                return answer

    def verify(self, number):
        begin = time.perf_counter()
        answer = self.ask("tools/call", {"name": "kernel_verify", "arguments": {"task": "transpose", "source": SOURCE % (number, self.n), "axes": AXES}})
        ms = (time.perf_counter() - begin) * 1000
        if '"correct"' not in json.dumps(answer).replace("\\", ""):
            sys.exit("no verdict: %s" % json.dumps(answer)[:500])
        return ms


def main():
    hone, calls = sys.argv[1], int(sys.argv[2])
    servers = {name: Server(hone, executor) for name, executor in (a.split("=", 1) for a in sys.argv[3:])}
    times = {name: [] for name in servers}
    for i in range(calls + 2):
        for name, server in servers.items():
            ms = server.verify(i)
            if i >= 2:
                times[name].append(ms)
    first = next(iter(times))
    for name, all_ms in times.items():
        more = [a - b for a, b in zip(all_ms, times[first])]
        print("%-8s median %7.1f ms, least %7.1f; beside %s in the same turn: %+7.1f ms (quartiles %+.1f, %+.1f)" % (
            name, statistics.median(all_ms), min(all_ms), first, statistics.median(more),
            *(statistics.quantiles(more, n=4)[::2])))
    for server in servers.values():
        server.child.stdin.close()
        server.child.wait(30)


main()

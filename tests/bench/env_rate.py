#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Episodes an hour of `hone env` with real evaluations: lanes are processes on one workspace.

An episode is a reset of `sum` and four steps by sources that differ, so that no answer comes from
the cache. Standard library alone.

usage: tests/bench/env_rate.py [LANES [SECONDS]]     HONE_BUILD=build TARGET=cpu|cuda
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

HONE = os.path.join(os.environ.get("HONE_BUILD", "build"), "hone")
TARGET = os.environ.get("TARGET", "cpu")
STEPS = 4


def ask(process, **request):
    process.stdin.write(json.dumps(request) + "\n")
    return json.loads(process.stdout.readline())


def run(workspace, lane, until, counts):
    with subprocess.Popen([HONE, "env", "--workspace", workspace, "--steps", str(STEPS)], text=True, bufsize=1,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while time.monotonic() < until:
            reset = ask(process, op="reset", task="sum", target=TARGET)
            source = reset["observation"]["source"]
            for _ in range(STEPS):
                counts["n"] += 1
                answer = ask(process, op="step", episode=reset["episode"],
                             source=f"static const int unused_{lane}_{counts['n']} = {counts['n']};\n{source}")
                counts[answer["observation"]["verdict"]] = counts.get(answer["observation"]["verdict"], 0) + 1
            counts["episodes"] += 1
        process.stdin.close()


def main():
    lanes, seconds = (int(a) for a in (sys.argv[1:] + ["1", "60"][len(sys.argv) - 1:])[:2])
    with tempfile.TemporaryDirectory() as workspace:
        subprocess.run([HONE, "init", workspace], check=True, capture_output=True)
        begin, counts = time.monotonic(), [{"n": 0, "episodes": 0} for _ in range(lanes)]
        threads = [threading.Thread(target=run, args=(workspace, i, begin + seconds, counts[i])) for i in range(lanes)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        took, n = time.monotonic() - begin, sum(c["episodes"] for c in counts)
    print(f"{TARGET}, {lanes} lanes: {n} episodes of {STEPS} steps in {took:.0f} s, {n / took * 3600:.0f} an hour; {counts}")


main()

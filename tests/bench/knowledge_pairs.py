#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one task's search is worth to a search of another task of its family.

usage: tests/bench/knowledge_pairs.py HONE OUT [option...]

Of each pair FIRST:SECOND of kernels (tests/relatives/cpu) FIRST is searched once. SECOND is then
searched with each seed and each arm: none, gains (--knowledge). Lanes run side by side, each on
cores of its own with a timing lease of its own. OUT gets know.json (what the records say) and the
rows that each FIRST taught; the figures are printed."""
import argparse
import collections
import glob
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

PAIRS = "mm2:mm3,syrk:syr2k,atax:bicg,covariance:correlation,heat3d:fdtd2d,conv2d:boxblur"
FLAGS = {"none": [], "gains": ["--knowledge"]}
NEAR = math.log2(0.95)
LOOKS = (2, 3, 4, 6, 8, 12)
KEPT = "kind step parent node evaluations value look is_gain rewrite variant words verdict".split()


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("hone")
    p.add_argument("out")
    p.add_argument("--pairs", default=PAIRS)
    p.add_argument("--arms", default="none,gains")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--lanes", type=int, default=8)
    p.add_argument("--cap", type=int, default=16, help="evaluations of a search of SECOND")
    p.add_argument("--first", default="50s", help="--budget-wall of a search of FIRST")
    p.add_argument("--most", type=float, default=42, help="seconds of a search of SECOND")
    p.add_argument("--seconds", type=float, default=470, help="of everything; no search begins late")
    p.add_argument("--kernels", default="tests/relatives/cpu")
    p.add_argument("--read", help="a know.json: its figures alone")
    return p.parse_args()


# ---- searches ----

class Bench:
    def __init__(self, args):
        self.args, self.began, self.lock, self.results = args, time.time(), threading.Lock(), []
        self.pairs = [p.split(":") for p in args.pairs.split(",")]
        self.taught = {first: threading.Event() for first, _ in self.pairs}
        self.root = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"know-{os.getpid()}")
        os.makedirs(self.root)
        os.makedirs(args.out, exist_ok=True)

    def env(self, lane, store):
        out = dict(os.environ, HONE_OBJECTS=f"{self.root}/objects", XDG_DATA_HOME=f"{self.root}/{store}")
        for name in ("XDG_RUNTIME_DIR", "TMPDIR"):
            out[name] = f"{self.root}/{lane}"
        for name in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME"):
            os.makedirs(out[name], exist_ok=True)
        return out

    def hone(self, lane, store, *words):
        return subprocess.run([self.args.hone, *words], env=self.env(lane, store), capture_output=True, text=True)

    def make_task(self, kernel, family):
        source, workspace = f"{self.args.kernels}/{kernel}.c", f"{self.root}/task-{kernel}"
        options = re.search(r"/\* new: (.*) \*/", open(source).read()).group(1)
        options = re.sub(r"--index \w+", "", options).split()
        self.hone("make-" + kernel, "none", "init", workspace)
        made = self.hone("make-" + kernel, "none", "task", "new", source, *options, "--no-lint",
                         "--op-type", family, "--workspace", workspace)
        if made.returncode:
            print(f"{kernel}: no task: {made.stderr[-200:]}", file=sys.stderr)

    def search(self, lane, first, kernel, arm, seed):
        args, is_first = self.args, kernel == first
        workspace = f"{self.root}/{kernel}-{arm}-{seed}"
        shutil.copytree(f"{self.root}/task-{kernel}", workspace, symlinks=True)
        each = os.cpu_count() // args.lanes
        cap = ["--budget-wall", args.first] if is_first else ["--budget-evaluations", str(args.cap)]
        command = ["taskset", "-c", f"{lane * each}-{lane * each + each - 1}", args.hone, "search", kernel,
                   "--workspace", workspace, "--seed", str(seed), *cap, *FLAGS[arm]]
        process = subprocess.Popen(command, env=self.env(lane, "none" if is_first else "of-" + first),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        limit = threading.Timer(120 if is_first else args.most, process.kill)
        limit.start()
        for line in process.stderr:
            if not is_first and " s  confirm " in line:  # all versions are there
                process.kill()
        process.wait()
        limit.cancel()
        self.keep(lane, first, kernel, arm, seed, records_of(workspace))
        if is_first:
            rows = f"{args.out}/rows-{first}.jsonl"
            self.hone(lane, "none", "knowledge", "export", rows, "--workspace", workspace, "--workspace-only")
            self.hone(lane, "of-" + first, "knowledge", "import", rows, "--workspace", workspace)
            self.taught[first].set()
        shutil.rmtree(workspace, ignore_errors=True)

    def keep(self, lane, first, kernel, arm, seed, records):
        with self.lock:
            self.results.append({"first": first, "kernel": kernel, "arm": arm, "seed": seed, "records": records})
            with open(self.args.out + "/know.json", "w") as f:
                json.dump(self.results, f)
            n = max([r["evaluations"] or 0 for r in records] + [0])
            print(f"[{time.time() - self.began:.0f} s] {kernel} {arm} {seed}: {n} evaluations", flush=True)

    def work(self, lane, jobs):
        last = self.args.seconds - 0.8 * self.args.most
        while time.time() - self.began < last:
            with self.lock:
                may = [j for j in jobs if j[2] == "none" or self.taught[j[0]].is_set()]
                if may:
                    jobs.remove(may[0])
                elif not jobs:
                    return
            if may:
                self.search(lane, *may[0])
            else:
                time.sleep(0.5)

    def run(self):
        jobs = [(first, first, "none", 1) for first, _ in self.pairs]
        for seed in range(1, self.args.seeds + 1):
            jobs += [(a, b, arm, seed) for arm in self.args.arms.split(",") for a, b in self.pairs]
        threads = [threading.Thread(target=self.make_task, args=(k, "like-" + p[0])) for p in self.pairs for k in p]
        start_and_wait(threads)
        start_and_wait([threading.Thread(target=self.work, args=(i, jobs)) for i in range(self.args.lanes)])
        shutil.rmtree(self.root, ignore_errors=True)
        return self.results


def start_and_wait(threads):
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def records_of(workspace):
    out = []
    for path in sorted(glob.glob(workspace + "/.hone/ledger/*")):
        for line in open(path, errors="replace"):
            at = line.find("{")
            try:
                record = json.loads(line[at:])
            except ValueError:
                continue
            if record.get("type") == "search.result":
                out.append({k: record["data"].get(k) for k in KEPT})
    return out


# ---- figures ----

def versions_of(records):
    """By number: when it was made, by which steps, and what was last measured. None that was refuted."""
    out, refuted = {}, set()
    for r in records:
        n = r["node"]
        if n is None or n < 0 or r["value"] is None:
            continue
        if n not in out:
            way = out[r["parent"]]["way"] if r["parent"] in out else ()
            step = (r["rewrite"], r["variant"]) if r["kind"] == "expand" else (r["kind"], r["words"])
            out[n] = {"at": r["evaluations"], "way": way + (step,) if n else ()}
        out[n]["value"] = r["value"]
        if r["kind"] in ("decide", "confirm"):
            (refuted.discard if r["is_gain"] else refuted.add)(n)
    return out, refuted


def interval(values):
    draw = random.Random(1)
    means = sorted(statistics.mean(draw.choice(values) for _ in values) for _ in range(4000))
    return means[100], means[3899]


def program_of(version):
    way = version["way"]
    return frozenset(way) if len(set(way)) == len(way) else way


def tell(results, count, arms, cap):
    """count(first, kernel, arm, versions, refuted): evaluations, or None where it was not reached."""
    rows = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in results:
        if r["kernel"] != r["first"]:
            n = count(r["kernel"], *versions_of(r["records"]))
            rows[r["kernel"]][r["arm"]].append(cap + 1 if n is None else n)
    for kernel, row in rows.items():
        print(f"{kernel:12}", *[f"{arm} {statistics.mean(row[arm]):.1f} {row[arm]}" for arm in arms if row[arm]])
    for arm in arms[1:]:
        both = [(statistics.mean(r["none"]), statistics.mean(r[arm])) for r in rows.values() if r["none"] and r[arm]]
        saved = [a - b for a, b in both]
        print("mean: none %.1f, %s %.1f, saved %.2f (%.2f to %.2f), half or less in %d" % (
            statistics.mean(a for a, _ in both), arm, statistics.mean(b for _, b in both),
            statistics.mean(saved), *interval(saved), sum(b <= a / 2 for a, b in both)))


def tell_lack(results, truth, arms):
    """What the best program made so far lacks to the best of all, by arm, mean over the kernels."""
    for most in LOOKS:
        lack = collections.defaultdict(lambda: collections.defaultdict(list))
        for r in results:
            if r["kernel"] != r["first"] and truth[r["kernel"]]:
                known = truth[r["kernel"]]
                made = [known.get(program_of(v), 0) for v in versions_of(r["records"])[0].values() if v["at"] <= most]
                lack[r["arm"]][r["kernel"]].append(max(known.values()) - max(made + [0]))
        print(f"{most:2}", *["%s %.3f" % (arm, statistics.mean(map(statistics.mean, lack[arm].values())))
                              for arm in arms if lack[arm]])


def figures(results, arms, cap):
    """By what each search measured, and by the median of what all searches measured of a program."""
    best, pooled = collections.defaultdict(list), collections.defaultdict(lambda: collections.defaultdict(list))
    for r in results:
        versions, refuted = versions_of(r["records"])
        alive = [v["value"] for n, v in versions.items() if n not in refuted]
        if r["arm"] == "none" and alive:
            best[r["kernel"]].append(max(alive))
        for v in versions.values():
            pooled[r["kernel"]][program_of(v)].append(v["value"])

    def by_own(kernel, versions, refuted):
        goal = statistics.median(best[kernel]) + NEAR
        return min((v["at"] for n, v in versions.items() if n not in refuted and v["value"] >= goal), default=None)

    truth = {kernel: {p: statistics.median(v) for p, v in programs.items() if len(v) >= 3}
             for kernel, programs in pooled.items()}

    def by_program(kernel, versions, _refuted):
        known = truth[kernel]
        goal = max(known.values(), default=math.inf) + NEAR
        return min((v["at"] for v in versions.values() if known.get(program_of(v), -math.inf) >= goal), default=None)

    print("within 5 % of the median best of searches without, as each search measured:")
    tell(results, by_own, arms, cap)
    print("a program within 5 % of the best, medians over all searches that made it (three at least):")
    tell(results, by_program, arms, cap)
    print("log2 that the best program made after so many evaluations lacks to the best of all:")
    tell_lack(results, truth, arms)


def main():
    args = arguments()
    results = json.load(open(args.read)) if args.read else Bench(args).run()
    figures(results, args.arms.split(","), args.cap)


if __name__ == "__main__":
    main()

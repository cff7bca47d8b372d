#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small policy trained through `hone env --lattices`, against the catalogue's order.

For each kernel a linear model of a step's gain is trained on the kernels of other families of its
target, by epsilon-greedy episodes and stochastic gradient steps. It starts as the catalogue's
guess. Then both play the kernel that was left out: the untried strategy of the highest score at the
best version so far. Standard library alone; deterministic but for the time that it prints.

usage: tests/bench/env_policy.py [EPISODES [SEEDS]]     HONE_BUILD=build
"""
import glob
import json
import math
import os
import random
import subprocess
import sys
import time

LATTICES = "agents/offline/lattices"
STEPS, EPSILON, RATE, DECAY = 8, 0.3, 0.05, 1e-3
SHARED = ["guess", "guess x room", "room", "guess x threaded", "one"]


class Env:
    def __init__(self):
        hone = os.path.join(os.environ.get("HONE_BUILD", "build"), "hone")
        self.process = subprocess.Popen([hone, "env", "--lattices", LATTICES, "--steps", "1000"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


class Version:
    def __init__(self, commit, value, seen):
        self.commit, self.value, self.features = commit, value, seen["features"]
        self.left = {s["strategy"]: s["expected_log2"] for s in seen["strategies"]}


def terms(version, strategy):
    """What the model sees of a step, by name."""
    guess = version.left[strategy]
    room = math.log2(100 / max(0.01, min(100, version.features.get("percent_of_bound", 100)))) / 4
    shared = [guess, guess * room, room, guess * (version.features.get("is_threaded", 0) > 0), 1]
    return dict(zip(SHARED, shared), **{strategy: 1})


class Linear:
    def __init__(self):
        self.weights = {"guess": 1.0}

    def score(self, version, strategy):
        return sum(self.weights.get(k, 0) * x for k, x in terms(version, strategy).items())

    def learn(self, version, strategy, gain):
        off = max(-3, min(3, gain - self.score(version, strategy)))
        for k, x in terms(version, strategy).items():
            start = 1.0 if k == "guess" else 0.0
            w = self.weights.get(k, 0)
            self.weights[k] = w + RATE * off * x - DECAY * (w - start)


class Catalogue:
    def score(self, version, strategy):
        return version.left[strategy]

    def learn(self, *_):
        pass


def play(env, kernel, policy, seed, epsilon=0.0, rng=None):
    """One episode; the best log2 after each step, and learns from what it saw."""
    reset = env.ask(op="reset", task=kernel["task"], target=kernel["target"], seed=seed)
    episode, best = reset["episode"], Version("lattice-0", 0.0, reset["observation"])
    versions, way = [best], []
    for _ in range(STEPS):
        at = max((v for v in versions if v.left), key=lambda v: v.value, default=None)
        if at is None:
            break
        choices = sorted(at.left)
        pick = rng.choice(choices) if rng and rng.random() < epsilon else max(
            choices, key=lambda s: (policy.score(at, s), s))
        answer = env.ask(op="step", episode=episode, strategy=pick, commit=at.commit)
        right = answer["parts"]["is_right"]
        if rng:
            policy.learn(at, pick, answer["parts"]["log2_speedup"] - at.value if right else -1)
        del at.left[pick]
        seen = answer["observation"]
        if right and all(v.commit != seen["commit"] for v in versions):
            versions.append(Version(seen["commit"], answer["parts"]["log2_speedup"], seen))
        way.append(max(v.value for v in versions))
    env.ask(op="close", episode=episode)
    return way + way[-1:] * (STEPS - len(way))


def interval(values, rng):
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(4000))
    return means[100], means[-101]


def main():
    episodes, seeds = (int(a) for a in (sys.argv[1:] + ["1000", "20"][len(sys.argv) - 1:])[:2])
    kernels = []
    for path in sorted(glob.glob(LATTICES + "/*.json")):
        with open(path, encoding="utf-8") as f:
            kernels.append({k: v for k, v in json.load(f).items() if k in ("task", "target", "family")})
    env, begin, n_played, less = Env(), time.monotonic(), 0, {4: [], 8: []}
    print(f"{'kernel':24} {'policy 4':>9} {'order 4':>9} {'policy 8':>9} {'order 8':>9}   best log2, mean of {seeds}")
    for held in kernels:
        others = [k for k in kernels if k["target"] == held["target"] and k["family"] != held["family"]]
        policy, rng = Linear(), random.Random(1)
        for i in range(episodes):
            play(env, others[i % len(others)], policy, i + 1000, EPSILON, rng)
        n_played += episodes
        row = []
        for steps in (4, 8):
            means = [sum(play(env, held, p, s)[steps - 1] for s in range(1, seeds + 1)) / seeds for p in (policy, Catalogue())]
            n_played += 2 * seeds
            less[steps].append(means[0] - means[1])
            row += means
        print(f"{held['task'] + ' ' + held['target']:24} " + " ".join(f"{x:9.3f}" for x in row))
    took = time.monotonic() - begin
    rng = random.Random(1)
    for steps, values in less.items():
        low, high = interval(values, rng)
        print(f"policy less order at {steps}: {sum(values) / len(values):+.3f} log2, 95 % interval over kernels {low:+.3f} to {high:+.3f}")
    print(f"{n_played} episodes in {took:.1f} s: {n_played / took * 3600:.0f} an hour, one lane")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One kernel of tests/bench/by_hand.sh: a row of its table. Standard library alone.

Every version is a shared object of its own, called by ctypes on the same arrays, whose shapes and
sizes the first lines of tests/relatives/cpu/NAME.c give. The outputs are compared with the naive
kernel's first; what differs says `wrong` and is not timed. Then all are timed in turns, the order
shifted in each round: a sample is as many calls as last 2 ms, what a call changed is put back
before the next one outside the time, and the median of the samples counts.

usage: tests/bench/by_hand.py EXPORTS NAME WORK       WORK: a folder for what is built; BLAS=FLAGS
"""
import ctypes
import os
import re
import shlex
import statistics
import subprocess
import sys
import time

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BY_HAND = os.path.join(TREE, "tests", "bench", "by_hand")
HELPER = r"""
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#define FILL(type, value) \
    void fill_##type(type *p, int64_t n, double shift, int64_t modulo, uint64_t seed) \
    { \
        uint64_t z = seed * 0x9e3779b97f4a7c15u + 1; \
        for (int64_t i = 0; i < n; i++) { \
            z ^= z << 13, z ^= z >> 7, z ^= z << 17; \
            p[i] = (type)(value); \
        } \
        (void)shift, (void)modulo; \
    } \
    double worst_##type(const type *right, const type *p, int64_t n) \
    { \
        double squares = 0, worst = 0; \
        for (int64_t i = 0; i < n; i++) { \
            const double a = (double)right[i], off = fabs(a - (double)p[i]); \
            squares += a * a; \
            worst = off <= worst ? worst : off; /* not a number stays */ \
        } \
        return worst == 0 ? 0 : squares > 0 && isfinite(worst) ? worst / sqrt(squares / (double)n) : INFINITY; \
    }
FILL(double, shift + (double)(z >> 11) * 0x1p-52 - 1)
FILL(float, shift + (double)(z >> 11) * 0x1p-52 - 1)
FILL(int32_t, (int64_t)((z >> 33) % (uint64_t)modulo))
void *blank(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
void diagonal(double *p, int64_t n, double more)
{
    for (int64_t i = 0; i < n; i++)
        p[i * n + i] += more;
}
"""
C_TYPES = {"double": ctypes.c_double, "float": ctypes.c_float, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64}
TOLERANCES = {"double": 1e-9, "float": 1e-3, "int32_t": 0}
MODULO = {"nussinov": 4}  # of the numbers in an int32_t array
SCALAR = 0.7              # what a number that is no size is
SAMPLE, ROUNDS, SECONDS = 0.002, 15, 1.0


def build(work, label, command, source, blas=()):
    """The path of the shared object, or None. The object gets the command's flags, the link none of them:
    with -ffast-math it would change the arithmetic of the whole process."""
    made = os.path.join(work, label)
    folder = os.path.dirname(source)
    compiled = subprocess.run([*command, "-w", "-fPIC", "-fno-semantic-interposition", "-I", folder, "-c", source,
                               "-o", made + ".o"], cwd=folder, check=False)
    if compiled.returncode:
        return None
    linked = subprocess.run(["gcc", "-shared", "-fopenmp", made + ".o", "-o", made + ".so", *blas, "-lm"], check=False)
    return None if linked.returncode else made + ".so"


def command_of(path):
    """The compile command in the first line of what was exported, up to its -c."""
    with open(path, encoding="utf-8") as file:
        words = shlex.split(file.readline().strip().removeprefix("/*"))
    return words[:words.index("-c")]


class Array:
    def __init__(self, helper, kernel, name, c_type, shape, sizes, constant, kept, shift, seed):
        self.name, self.type, self.constant, self.kept = name, c_type, constant, kept
        self.count = 1
        for axis in shape.split(","):
            self.count *= int(eval(axis, {"__builtins__": {}}, dict(sizes)))
        self.bytes = self.count * ctypes.sizeof(C_TYPES[c_type])
        self.at, self.first, self.right = (helper.blank(self.bytes) for _ in range(3))
        getattr(helper, "fill_" + c_type)(ctypes.c_void_p(self.first), ctypes.c_int64(self.count), ctypes.c_double(shift),
                                          ctypes.c_int64(MODULO.get(kernel, 1000)), ctypes.c_uint64(seed))
        if kernel == "lu":  # the diagonal has to dominate
            helper.diagonal(ctypes.c_void_p(self.first), ctypes.c_int64(sizes["N"]), ctypes.c_double(4 * sizes["N"]))
        self.poison()

    def poison(self):
        """What a call finds; an output that it does not read is far from any result."""
        if self.constant or self.kept:
            ctypes.memmove(self.at, self.first, self.bytes)
        else:
            ctypes.memset(self.at, 0x7b, self.bytes)

    def restore(self):
        if self.kept:
            ctypes.memmove(self.at, self.first, self.bytes)

    def is_right(self, helper):
        worst = getattr(helper, "worst_" + self.type)
        worst.restype = ctypes.c_double
        right = self.first if self.constant else self.right
        off = worst(ctypes.c_void_p(right), ctypes.c_void_p(self.at), ctypes.c_int64(self.count))
        return off <= (0 if self.constant else TOLERANCES[self.type])


def parameters(helper, kernel, text):
    """The arrays, and what a call gets."""
    options = re.search(r"/\* new: (.*) \*/", text).group(1)
    shapes = dict(re.findall(r"--shape (\w+)\[([^\]]*)\]", options))
    sizes = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", re.search(r"--size (\S+)", options).group(1))}
    kept = re.findall(r"--inout (\w+)", options)
    shifts = dict(re.findall(r"--shift (\w+)=(\S+)", options))
    arrays, passed = [], []
    for part in re.search(rf"\bvoid {kernel}\(([^)]*)\)", text).group(1).split(","):
        constant, c_type, star, name = re.fullmatch(r"\s*(const )?(\w+) (\*?)(\w+)\s*", part).groups()
        if star:
            arrays.append(Array(helper, kernel, name, c_type, shapes[name], sizes, bool(constant), name in kept,
                                float(shifts.get(name, 0)), len(arrays) + 1))
            passed.append(ctypes.c_void_p(arrays[-1].at))
        else:
            passed.append(C_TYPES[c_type](sizes.get(name, SCALAR)))
    return arrays, passed


def once(function, arrays, passed, calls):
    took = 0
    for _ in range(calls):
        for array in arrays:
            array.restore()
        begin = time.perf_counter_ns()
        function(*passed)
        took += time.perf_counter_ns() - begin
    return took / calls / 1e9


def medians(functions, arrays, passed):
    calls, samples, begin = {}, {label: [] for label in functions}, time.monotonic()
    for label, function in functions.items():
        once(function, arrays, passed, 1)
        calls[label] = 1 + int(SAMPLE / once(function, arrays, passed, 1))
    order, n = list(functions), 0
    while n < ROUNDS or time.monotonic() - begin < SECONDS:
        for label in order[n % len(order):] + order[:n % len(order)]:
            samples[label].append(once(functions[label], arrays, passed, calls[label]))
        n += 1
    return {label: statistics.median(found) for label, found in samples.items()}


def main():
    exports, kernel, work = sys.argv[1:]
    naive = os.path.join(TREE, "tests", "relatives", "cpu", kernel + ".c")
    hand = os.path.join(BY_HAND, kernel + ".c")
    exported = os.path.join(os.path.abspath(exports), kernel, kernel + ".c")
    with open(os.path.join(work, "helper.c"), "w", encoding="utf-8") as file:
        file.write(HELPER)
    helper = ctypes.CDLL(build(work, "helper", ["gcc", "-O2"], os.path.join(work, "helper.c")))
    helper.blank.restype, helper.blank.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    with open(naive, encoding="utf-8") as file:
        arrays, passed = parameters(helper, kernel, file.read())
    with open(hand, encoding="utf-8") as file:
        defined = re.findall(rf"^void {kernel}_(by_hand|blas)\(", file.read(), re.M)

    states, functions = {"exported": "-", "by_hand": "-", "blas": "-"}, {}
    fast = ["gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp"]
    versions = [("naive", kernel, build(work, "naive", ["gcc", "-O3", "-march=native"], naive))]
    if os.path.exists(exported):
        versions.append(("exported", kernel, build(work, "exported", command_of(exported), exported)))
    made = build(work, "hand", fast, hand, shlex.split(os.environ.get("BLAS", "-lopenblas")))
    versions += [(label, f"{kernel}_{label}", made) for label in defined]
    for label, symbol, path in versions:
        if path is None:
            states[label] = "unbuilt"
            continue
        function = getattr(ctypes.CDLL(path), symbol)
        function.restype = None
        for array in arrays:
            array.poison()
        function(*passed)
        if label == "naive":
            for array in arrays:
                ctypes.memmove(array.right, array.at, array.bytes)
        elif not all([array.is_right(helper) for array in arrays]):
            states[label] = "wrong"
            continue
        functions[label] = function

    for array in arrays:
        array.poison()
    took = medians(functions, arrays, passed)
    for label in states:
        if label in took:
            states[label] = f"{took['naive'] / took[label]:.2f}x"
    best = min((took[label] for label in ("by_hand", "blas") if label in took), default=None)
    ratio = f"{best / took['exported']:.3f}" if best and "exported" in took else "-"
    print(f"{kernel:<12} {took['naive'] * 1e6:>10.1f} {states['exported']:>9} {states['by_hand']:>9} "
          f"{states['blas']:>9} {ratio:>9}", flush=True)


main()

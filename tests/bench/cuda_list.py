#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the built-in rules make of the CUDA kernels of tests/relatives/cuda: one search each, rules
only, then the best version beside the kernel as it stands and beside torch, in turn.

usage: tests/bench/cuda_list.py BUDGET LANES [NAME...]     HONE_BUILD=build, OUT=folder for reports

BUDGET is a search's time (60s), LANES how many searches run beside each other. Needs a GPU, nvcc
and torch. TF32 is off. A ratio is the median of the ratios of rounds."""
import ctypes, os, re, subprocess, sys, tempfile, threading, time
import torch
import torch.nn.functional as F

HONE = os.path.join(os.environ.get("HONE_BUILD", "build"), "hone")
OUT = os.environ.get("OUT") or tempfile.mkdtemp()
os.makedirs(OUT, exist_ok=True)
WS = tempfile.mkdtemp(prefix="hone-cuda-list.")
FOLDER = "tests/relatives/cuda"
f32, bf16, dev = torch.float32, torch.bfloat16, "cuda"


def r(*shape, dtype=f32, scale=1.0):
    return (torch.randn(shape, device=dev) * scale).to(dtype)


def e(*shape, dtype=f32):
    return torch.empty(shape, dtype=dtype, device=dev)


def product(M, N, K, nt, dtype):
    a, b, c = r(M, K, dtype=dtype), r(*((N, K) if nt else (K, N)), dtype=dtype), e(M, N, dtype=dtype)
    return [a, b, c, M, N, K], (lambda: a @ b.T) if nt else (lambda: a @ b), c


def gelu(n=1 << 24):
    x, y = r(n), e(n)
    return [x, y, n], lambda: F.gelu(x, approximate="tanh"), y


def attention(B=1, H=16, G=4, T=2048, D=128, dtype=f32):
    q, o = r(B, H, T, D, dtype=dtype), e(B, H, T, D, dtype=dtype)
    k, v = r(B, G, T, D, dtype=dtype), r(B, G, T, D, dtype=dtype)
    return [q, k, v, o, B, H, G, T], lambda: F.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True), o


def conv3x3(N=8, C=64, O=64, H=56, W=56):
    x, w, y = r(N, C, H, W), r(O, C, 3, 3), e(N, O, H, W)
    return [x, w, y, N, C, O, H, W], lambda: F.conv2d(x, w, padding=1), y


def histogram(n=1 << 26):
    x, y = torch.randint(256, (n,), dtype=torch.uint8, device=dev), e(256, dtype=torch.int32)
    return [x, y, n], lambda: torch.bincount(x, minlength=256), y


def topk(rows=4096, cols=4096):
    x, y = r(rows, cols), e(rows, 8)
    return [x, y, rows, cols], lambda: torch.topk(x, 8)[0], y


def silu_mul(rows=4096, cols=5504):
    x, y = r(rows, 2 * cols, dtype=bf16), e(rows, cols, dtype=bf16)
    return [x, y, rows, cols], lambda: F.silu(x[:, :cols]) * x[:, cols:], y


def add_layernorm(rows=8192, cols=2048):
    x, s, w, b, y = r(rows, cols), r(rows, cols), r(cols), r(cols), e(rows, cols)
    return [x, s, w, b, y, rows, cols], lambda: F.layer_norm(x + s, (cols,), w, b), y


def cross_entropy(rows=2048, vocab=32000):
    x, t, y = r(rows, vocab), torch.randint(vocab, (rows,), dtype=torch.int32, device=dev), e(rows)
    t64 = t.long()
    return [x, t, y, rows, vocab], lambda: F.cross_entropy(x, t64, reduction="none"), y


def log_softmax(rows=1024, n=50257):
    x, y = r(rows, n), e(rows, n)
    return [x, y, rows, n], lambda: F.log_softmax(x, 1), y


def transpose_bf16(B=32, R=1024, C=1024):
    x, y = r(B, R, C, dtype=bf16), e(B, C, R, dtype=bf16)
    return [x, y, B, R, C], lambda: x.transpose(1, 2).contiguous(), y


def nbody(n=16384):
    p, a = r(n, 4), e(n, 3)

    def f():
        d = p[None, :, :3] - p[:, None, :3]
        s = p[None, :, 3].abs() * torch.rsqrt((d * d).sum(2) + 0.01) ** 3
        return (d * s[:, :, None]).sum(1)

    return [p, a, n], f, a


def stencil3d(X=256, Y=256, Z=256):
    x, y = r(Z, Y, X), e(Z, Y, X)
    w = torch.zeros(3, 3, 3, device=dev)
    w[1, 1, 1] = 0.4
    w[0, 1, 1] = w[2, 1, 1] = w[1, 0, 1] = w[1, 2, 1] = w[1, 1, 0] = w[1, 1, 2] = 0.1

    def f():
        out, c = x.clone(), slice(1, -1)
        out[c, c, c] = 0.4 * x[c, c, c] + 0.1 * (x[c, c, :-2] + x[c, c, 2:] + x[c, :-2, c]
                                                 + x[c, 2:, c] + x[:-2, c, c] + x[2:, c, c])
        return out

    return [x, y, X, Y, Z], f, y


def jacobi2d_steps(H=4096, W=4096, T=20):
    x, y = r(H, W), e(H, W)

    def f():
        u = x
        for _ in range(T):
            v = u.clone()
            v[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1]
                                   + u[2:, 1:-1])
            u = v
        return u

    return [x, y, H, W, T], f, y


def embedding_bag(bags=8192, dim=128, vocab=200000, nnz=262144):
    t, i = r(vocab, dim), torch.randint(vocab, (nnz,), dtype=torch.int32, device=dev)
    o = torch.sort(torch.randint(nnz + 1, (bags + 1,), dtype=torch.int32, device=dev))[0]
    o[0], o[-1] = 0, nnz
    y = e(bags, dim)
    return [t, i, o, y, bags, dim], lambda: F.embedding_bag(
        i, t, o, mode="sum", include_last_offset=True), y


def int8_product(M=4096, N=4096, K=4096):
    a, b = (torch.randint(-128, 128, s, dtype=torch.int8, device=dev) for s in ((M, K), (N, K)))
    c = e(M, N, dtype=torch.int32)
    return [a, b, c, M, N, K], lambda: torch._int_mm(a, b.T), c


# kernel: (case, its sizes, is torch.compile another program there?)
LIST = {
    "gemm_nt": [(lambda n=n: product(n, n, n, True, bf16), str(n), False) for n in (4096, 8192)],
    "gemm_nn": [(lambda n=n: product(n, n, n, False, bf16), str(n), False) for n in (4096, 8192)],
    "sgemm": [(lambda s=s: product(*s, False, f32), "x".join(map(str, s)), False)
              for s in ((4096, 4096, 4096), (4095, 4097, 4093))],
    "attention": [(attention, "1x16/4x2048x128", False)],
    "attention_bf16": [(lambda T=T: attention(T=T, dtype=bf16), "1x16/4x%dx128" % T, False)
                       for T in (2048, 4096)],
    "conv3x3": [(conv3x3, "8x64x56x56", False)],
    "nbody": [(nbody, "16384", True)],
    "int8_product": [(int8_product, "4096", False)],
    "topk": [(topk, "4096x4096", True)],
    "log_softmax": [(log_softmax, "1024x50257", True)],
    "cross_entropy": [(cross_entropy, "2048x32000", True)],
    "add_layernorm": [(add_layernorm, "8192x2048", True)],
    "stencil3d": [(stencil3d, "256", True)],
    "jacobi2d_steps": [(jacobi2d_steps, "4096x4096x20", True)],
    "embedding_bag": [(embedding_bag, "8192x128", False)],
    "transpose_bf16": [(transpose_bf16, "32x1024x1024", True)],
    "silu_mul": [(silu_mul, "4096x5504", True)],
    "histogram": [(histogram, "67108864", False)],
    "gelu": [(gelu, "16777216", True)],
}


def say(command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return p.returncode, p.stdout


def library(source, name, where):
    """A launcher of C that nvcc makes, or None."""
    rc, said = say(["nvcc", "-std=c++17", "-O3", "-arch=sm_90a", "-shared", "-Xcompiler", "-fPIC",
                    "-o", where, source])
    if rc:
        print("# %s: %s" % (source, said.strip()[-300:]), flush=True)
        return None
    return getattr(ctypes.CDLL(where), name)


def search(name, budget):
    """Verdict, and the best version's launcher."""
    words = re.search(r"/\* new: (.*?)\*/", open("%s/%s.cu" % (FOLDER, name)).read(), re.S).group(1)
    options = [w.strip("'") for w in re.findall(r"'[^']*'|[^\s*'](?:\S*)", words)]
    rc, said = say([HONE, "task", "new", "%s/%s.cu" % (FOLDER, name), *options, "--no-lint",
                    "--workspace", WS])
    if rc:
        return "no task: " + said.strip().splitlines()[-1], None
    _, said = say([HONE, "search", name, "--workspace", WS, "--budget-wall", budget])
    open("%s/%s.txt" % (OUT, name), "w").write(said)
    found = dict(re.findall(r"^(speedup|verdict|not confirmed|no gain|evaluations|stopped) +(.*)", said, re.M))
    about = (re.findall(r"best about (\S+)", said) or [""])[-1]
    words = "%s %s, about %s, %s" % (found.get("verdict") or found.get("not confirmed") or found.get("no gain"),
                                     found.get("speedup", "").split(" ")[0], about,
                                     found.get("evaluations", "").split(" ")[0])
    to = "%s/%s" % (OUT, name)
    say([HONE, "export", "search/" + name, "--as", "cuda", "--no-test", "--force", "-o", to, "--workspace", WS])
    sources = [f for f in os.listdir(to) if f.endswith(".cu")] if os.path.isdir(to) else []
    return words, library(to + "/" + sources[0], name, "%s/%s.so" % (WS, name)) if sources else None


def call(launcher, arguments):
    def words():
        for a in arguments:
            yield ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else ctypes.c_int(a)

    args = list(words()) + [ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)]
    return lambda: launcher(*args)


def once(f, n):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    for _ in range(n):
        f()
    b.record()
    b.synchronize()
    return a.elapsed_time(b) / n * 1e3


def times(arms, rounds):
    """Microseconds of each arm in each round, in turn."""
    counts = {}
    for k, f in arms.items():
        once(f, 1)
        counts[k] = max(1, min(50, int(5e3 / once(f, 1))))
    rows = [{k: once(f, counts[k]) for k, f in arms.items()} for _ in range(rounds)]
    return {k: [row[k] for row in rows] for k in arms}


def median(v):
    return sorted(v)[len(v) // 2]


def compare(name, naive, best):
    for case, size, can_compile in LIST[name]:
        torch.cuda.empty_cache()
        arguments, f, out = case()
        arms = {"naive": call(naive, arguments), "torch": f}
        arms["naive"]()
        want, note = out.double() if out.numel() < 1 << 28 else None, ""
        if best:
            out.zero_()
            arms["hone"] = call(best, arguments)
            arms["hone"]()
            if want is not None:
                note = " off %.1e" % ((out.double() - want).norm() / want.norm()).item()
        if can_compile:
            try:
                arms["compile"] = torch.compile(f, dynamic=False)
                arms["compile"]()
            except Exception as x:
                del arms["compile"]
                note += " compile: %s" % repr(x)[:60]
        slow = once(arms["naive"], 1) > 5e4
        t = times(arms, 5 if slow else 15)
        ratio = lambda k: "%8.3f" % median([a / b for a, b in zip(t[k], t["hone"])]) if best and k in t else "       -"
        print("%-14s %-20s %10.1f %9s %9.1f %9s %s %s %s%s" % (
            name, size, median(t["naive"]), "%.1f" % median(t["hone"]) if best else "-", median(t["torch"]),
            "%.1f" % median(t["compile"]) if "compile" in t else "-", ratio("naive"), ratio("torch"), ratio("compile"), note), flush=True)


def main():
    budget, lanes, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:] or list(LIST)
    start, queue, lock, found, naive = time.time(), list(names), threading.Lock(), {}, {}
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    say([HONE, "init", WS])

    def lane():
        while True:
            with lock:
                if not queue:
                    return
                name = queue.pop(0)
            words, best = search(name, budget)
            naive[name] = library("%s/%s.cu" % (FOLDER, name), name, "%s/%s.naive.so" % (WS, name))
            found[name] = best
            print("[%3.0f s] %-14s %s" % (time.time() - start, name, words), flush=True)

    threads = [threading.Thread(target=lane) for _ in range(lanes)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("\n%-14s %-20s %10s %9s %9s %9s %8s %8s %8s" % (
        "kernel", "size", "naive us", "hone", "torch", "compile", "/naive", "/torch", "/compile"), flush=True)
    for name in names:
        try:
            compare(name, naive[name], found[name])
        except Exception as x:
            print("%-14s %s" % (name, repr(x)[:300]), flush=True)
    print("[%3.0f s]" % (time.time() - start))


if __name__ == "__main__":
    main()

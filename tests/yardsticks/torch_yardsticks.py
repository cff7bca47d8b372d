"""What torch takes for the shipped tasks at their cuda sizes, eager and compiled: one JSON line each.

    python3 torch_yardsticks.py PACKS [SECONDS]

A measuring yardstick only; hone itself needs no Python. Each call works on the next of several input sets that together are
more than five times the L2 cache; pairs of events around each call, median. The queue is filled behind a sleeping kernel, so
that what is timed is the device and not Python. torch.compile is tried on the largest size of the tasks where it can fuse
something, after all eager lines, as long as there is time. Every result is compared with float64 on a small size first.
"""
import json
import math
import sys
import time

START = time.monotonic()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
PACKS = sys.argv[1]
LIMIT = float(sys.argv[2]) if len(sys.argv) > 2 else 90
L2 = torch.cuda.get_device_properties(0).L2_cache_size


def late(margin=0.0):
    return time.monotonic() - START > LIMIT - margin


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def csr(w):
    m, n, nnz = w["M"], w["N"], w["NNZ"]
    at = torch.cumsum(-torch.log(torch.rand(m, device="cuda", dtype=torch.float64).clamp_min(1e-300)), 0)
    offsets = torch.zeros(m + 1, device="cuda", dtype=torch.int32)
    offsets[1:] = (nnz * at / at[-1]).to(torch.int32)
    offsets[-1] = nnz
    columns = torch.randint(n, (nnz,), device="cuda", dtype=torch.int32)
    return torch.sparse_csr_tensor(offsets, columns, rand(nnz), size=(m, n), check_invariants=False), rand(n)


def qkv(w):
    return tuple(rand(w["B"], w["H"], w["T"], w["D"]) for _ in range(3))


def rmsnorm(x, g):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * g


def step(u):
    v = u.clone()
    v[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    return v


def steps(one_step):
    def run(u, n):
        for _ in range(n):
            u = one_step(u)
        return u

    return run


def attention(q, k, v):
    t = q.shape[-2]
    mask = torch.ones(t, t, dtype=torch.bool, device=q.device).tril()
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ v


def sdpa(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


# task, algorithm, precision, inputs of a workload, function, the same compiled (None: not tried)
ROWS = [
    ("softmax", "torch.softmax", "float32", lambda w: (rand(w["M"], w["N"]),),
     lambda x: torch.softmax(x, -1), True),
    ("rmsnorm", "torch.nn.functional.rms_norm", "float32", lambda w: (rand(w["M"], w["N"]), rand(w["N"])),
     lambda x, g: F.rms_norm(x, (x.shape[-1],), g, 1e-6), None),
    ("rmsnorm", "explicit", "float32", lambda w: (rand(w["M"], w["N"]), rand(w["N"])), rmsnorm, True),
    ("transpose", "x.t().contiguous()", "float32", lambda w: (rand(w["M"], w["N"]),),
     lambda x: x.t().contiguous(), True),
    ("sum", "torch.sum", "float32", lambda w: (rand(w["N"]),), torch.sum, True),
    ("jacobi2d", "slices, one step a call", "float32", lambda w: (rand(w["H"], w["W"]), w["T"]), steps(step), "step"),
    ("matmul", "torch.mm", "float32", lambda w: (rand(w["M"], w["K"]), rand(w["K"], w["N"])), torch.mm, None),
    ("matmul_bf16", "torch.mm", "bfloat16",
     lambda w: (rand(w["M"], w["K"], dtype=torch.bfloat16), rand(w["K"], w["N"], dtype=torch.bfloat16)), torch.mm, None),
    ("attention_causal", "scaled_dot_product_attention", "float32", qkv, sdpa, None),
    ("attention_causal", "explicit", "float32", qkv, attention, True),
    ("spmv_csr", "sparse_csr_tensor @ x", "float32", csr, lambda a, x: a @ x, None),
]


def workloads(task):
    with open(f"{PACKS}/{task}/workloads.jsonl") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if row.get("target", "cuda") == "cuda"]


def nbytes(args):
    total = 0
    for a in args:
        if isinstance(a, torch.Tensor):
            parts = (a.crow_indices(), a.col_indices(), a.values()) if a.layout == torch.sparse_csr else (a,)
            total += sum(p.numel() * p.element_size() for p in parts)
    return total


def measure(function, make, w, seconds=0.3):
    sets = [make(w)]
    while len(sets) < 2 or (sum(map(nbytes, sets)) < 5 * L2 and len(sets) < 512):
        sets.append(make(w))
    for i in range(2):
        function(*sets[i])
    torch.cuda.synchronize()
    before = time.monotonic()
    for i in range(3):
        function(*sets[i % len(sets)])
    torch.cuda.synchronize()
    one = max((time.monotonic() - before) / 3, 2e-6)
    n = int(min(200, max(7, seconds / one)))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2 * n)]
    for first in range(0, n, 20):
        torch.cuda._sleep(4_000_000)  # about two milliseconds to fill the queue
        for i in range(first, min(n, first + 20)):
            events[2 * i].record()
            function(*sets[i % len(sets)])
            events[2 * i + 1].record()
    torch.cuda.synchronize()
    us = sorted(1e3 * events[2 * i].elapsed_time(events[2 * i + 1]) for i in range(n))
    return us[n // 2], n


def report(task, workload, library, algorithm, precision, us, n):
    print(json.dumps({"task": task, "workload": workload["id"], "library": library, "algorithm": algorithm,
                      "precision": precision, "median_us": round(us, 3), "n": n}), flush=True)


def check():
    x, g = rand(33, 257), rand(257)
    u, (q, k, v) = rand(40, 50), qkv({"B": 1, "H": 2, "T": 65, "D": 16})
    a, b = csr({"M": 100, "N": 70, "NNZ": 800})
    double = tuple(t.double() for t in (q, k, v))
    inner = F.conv2d(u.double()[None, None], torch.tensor([[[[0, .2, 0], [.2, .2, .2], [0, .2, 0]]]], device="cuda").double())
    for got, want in [
        (F.rms_norm(x, (257,), g, 1e-6), rmsnorm(x.double(), g.double())),
        (step(u)[1:-1, 1:-1], inner[0, 0]),
        (attention(q, k, v), attention(*double)),
        (sdpa(q, k, v), attention(*double)),
        (a @ b, a.to_dense().double() @ b.double()),
    ]:
        assert torch.allclose(got.double(), want, rtol=1e-4, atol=1e-4), (got, want)


def eager():
    for task, algorithm, precision, make, function, _ in ROWS:
        for w in workloads(task):
            if late():
                return
            try:
                report(task, w, "torch eager", algorithm, precision, *measure(function, make, w["axes"]))
            except torch.cuda.OutOfMemoryError:
                print(f"{task} {w['id']} {algorithm}: out of memory", file=sys.stderr)
            torch.cuda.empty_cache()


def compiled():
    for task, algorithm, precision, make, function, how in ROWS:
        if not how or late(20):
            continue
        w = max(workloads(task), key=lambda row: math.prod(row["axes"].values()))
        fast = steps(torch.compile(step, dynamic=False)) if how == "step" else torch.compile(function, dynamic=False)
        try:
            report(task, w, "torch.compile", algorithm, precision, *measure(fast, make, w["axes"]))
        except Exception as error:  # a compiler that is not there is no reason to lose the other lines
            print(f"{task} {w['id']} torch.compile: {str(error)[:200]}", file=sys.stderr)
        torch.cuda.empty_cache()


with torch.no_grad():
    check()
    eager()
    compiled()
if late():
    print("the time given was too short: some lines are missing", file=sys.stderr)

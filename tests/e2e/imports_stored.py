# SPDX-License-Identifier: Apache-2.0
# Writes a set of definitions in FlashInfer-Bench's form, with workloads and stored inputs, for imports_stored_test.sh:
#   imports_stored.py FOLDER         FOLDER/set (thirteen that are good) and FOLDER/bad (each wrong in one way)
# Standard library alone.
import json
import os
import random
import struct
import sys

WORDS = {"float32": "F32", "bfloat16": "BF16", "int32": "I32", "int64": "I64"}
CODES = {"float32": "f", "int32": "i", "int64": "q"}


def as_bytes(dtype, values):
    if dtype == "bfloat16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack("<%d%s" % (len(values), CODES[dtype]), *values)


def safetensors(path, tensors, header_bytes=None):
    """tensors: {name: (dtype, shape, values)}"""
    head, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        part = as_bytes(dtype, values)
        head[name] = {"dtype": WORDS[dtype], "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(head).encode()
    text += b" " * ((header_bytes or 0) - len(text))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def count(shape, axes):
    n = 1
    for s in shape:
        n *= axes[s]
    return n


class Set:
    def __init__(self, root):
        self.root, self.chance = root, random.Random(7)

    def drawn(self, dtype, n):
        return [self.chance.gauss(0, 1) for _ in range(n)]

    def add(self, name, axes, inputs, outputs, reference, sizes, integers, constraints=(), scalars=(), wrong=None,
            fixed=()):
        """axes: {name: value, or None for one that varies}; inputs: {name: (dtype, shape, description)}; sizes: of one workload;
        integers: {name: values}. wrong(tensors) changes what is stored; it gives the workload's path, or None. fixed: more inputs, not stored and optional. A
        scalar without a value has its description's."""
        known = {**{a: v for a, v in axes.items() if v}, **sizes}
        tensors = {n: (d, [known[s] for s in shape], integers[n] if n in integers else self.drawn(d, count(shape, known)))
                   for n, (d, shape, _) in inputs.items()}
        path = "blob/%s/one.safetensors" % name
        options = (wrong(tensors) if wrong else None) or {}
        safetensors(os.path.join(self.root, path), tensors, options.get("header_bytes"))
        path = options.get("path", path)
        definition = {
            "name": name, "op_type": "test", "description": "Written by tests/e2e/imports_stored.py.",
            "axes": {a: {"type": "const", "value": v} if v else {"type": "var"} for a, v in axes.items()},
            "constraints": list(constraints),
            "inputs": {**{n: {"shape": shape, "dtype": d, "description": words} for n, (d, shape, words) in inputs.items()},
                       **{n: {"shape": shape, "dtype": d, "optional": True} for n, (d, shape) in dict(fixed).items()},
                       **{n: {"shape": None, "dtype": "float32", "description": "Default is (1/sqrt(dim))."} for n, _ in scalars}},
            "outputs": {n: {"shape": shape, "dtype": d} for n, (d, shape) in outputs.items()},
            "reference": reference}
        row = {"definition": name, "workload": {"uuid": name, "axes": sizes, "inputs": {
            **{n: {"type": "safetensors", "path": path, "tensor_key": n} for n in inputs},
            **{n: {"type": "scalar", "value": v} for n, v in scalars if v}}}}
        empty = {"workload": {"axes": {**sizes, min(sizes): 0}, "inputs": {}}}  # such a row is left out
        for kind, text in (("definitions", json.dumps(definition, indent=1)), ("workloads", json.dumps(empty) + "\n" + json.dumps(row))):
            place = os.path.join(self.root, kind, "test", name + (".json" if kind == "definitions" else ".jsonl"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w") as file:
                file.write(text + "\n")


RAGGED = """import math
import torch

def run(q, k, v, qo_indptr, kv_indptr, sm_scale):
    total_q, heads, dim = q.shape
    assert total_q == qo_indptr[-1].item()
    output = torch.zeros((total_q, heads, dim), dtype=torch.bfloat16, device=q.device)
    lse = torch.full((total_q, heads), -float("inf"), dtype=torch.float32, device=q.device)
    ratio = heads // k.shape[1]
    for b in range(qo_indptr.shape[0] - 1):
        qs, qe = int(qo_indptr[b].item()), int(qo_indptr[b + 1].item())
        ks, ke = int(kv_indptr[b].item()), int(kv_indptr[b + 1].item())
        if qs >= qe or ks >= ke:
            continue
        q_b = q[qs:qe].to(torch.float32)
        k_b = k[ks:ke].to(torch.float32).repeat_interleave(ratio, dim=1)
        v_b = v[ks:ke].to(torch.float32).repeat_interleave(ratio, dim=1)
        logits = torch.einsum("qhd,khd->qhk", q_b, k_b) * sm_scale
        seen = torch.arange(ke - ks)[None, :] < torch.arange(qe - qs)[:, None] + 1 + (ke - ks) - (qe - qs)
        logits = logits.masked_fill(~seen[:, None, :], float("-inf"))
        lse[qs:qe] = torch.logsumexp(logits, dim=-1) / math.log(2.0)
        output[qs:qe] = torch.einsum("qhk,khd->qhd", torch.softmax(logits, dim=-1), v_b).to(torch.bfloat16)
    return output, lse
"""
DECODE = """import math
import torch

def run(q, k_cache, v_cache, kv_indptr, kv_indices, sm_scale):
    batch, heads, dim = q.shape
    _, page_size, kv_heads, _ = k_cache.shape
    output = torch.zeros((batch, heads, dim), dtype=torch.float32)
    lse = torch.full((batch, heads), -float("inf"), dtype=torch.float32)
    ratio = heads // kv_heads
    for b in range(batch):
        start, end = int(kv_indptr[b].item()), int(kv_indptr[b + 1].item())
        if start >= end:
            output[b].zero_()
            continue
        pages = kv_indices[start:end].to(torch.long)
        k = k_cache.squeeze(1)[pages].permute(1, 0, 2).repeat_interleave(ratio, dim=0)
        v = v_cache.squeeze(1)[pages].permute(1, 0, 2).repeat_interleave(ratio, dim=0)
        logits = torch.bmm(q[b].unsqueeze(1), k.transpose(1, 2)).squeeze(1) * sm_scale
        lse[b] = torch.logsumexp(logits, dim=-1) / math.log(2.0)
        output[b] = torch.bmm(torch.softmax(logits, dim=-1).unsqueeze(1), v).squeeze(1)
    return output, lse
"""
PAGES = """import torch

def run(q, k_cache, v_cache, kv_indptr, kv_indices, kv_last_page_len, sm_scale):
    batch, heads, dim = q.shape
    kv_heads = k_cache.shape[2]
    output = torch.zeros((batch, heads, dim), dtype=torch.float32)
    for b in range(batch):
        start, end = int(kv_indptr[b].item()), int(kv_indptr[b + 1].item())
        last = int(kv_last_page_len[b].item())
        if start >= end:
            continue
        pages = kv_indices[start:end].to(torch.long)
        full = len(pages) - 1
        if full > 0:
            k_full = k_cache[pages[:full]].reshape(-1, kv_heads, dim)
            v_full = v_cache[pages[:full]].reshape(-1, kv_heads, dim)
        else:
            k_full = torch.empty(0, kv_heads, dim)
            v_full = torch.empty(0, kv_heads, dim)
        k = torch.cat([k_full, k_cache[pages[-1], :last]], dim=0)
        v = torch.cat([v_full, v_cache[pages[-1], :last]], dim=0)
        k = k.permute(1, 0, 2).repeat_interleave(heads // kv_heads, dim=0)
        v = v.permute(1, 0, 2).repeat_interleave(heads // kv_heads, dim=0)
        logits = torch.einsum("hd,hkd->hk", q[b], k) * sm_scale
        output[b] = torch.einsum("hk,hkd->hd", torch.softmax(logits, dim=-1), v)
    return output
"""
LATENT = """import torch

def run(q_nope, q_pe, ckv_cache, kpe_cache, kv_indptr, kv_indices, sm_scale):
    batch = q_nope.shape[0]
    output = torch.zeros(q_nope.shape[0], q_nope.shape[1], q_nope.shape[2], dtype=torch.float32)
    for b in range(batch):
        start, end = int(kv_indptr[b].item()), int(kv_indptr[b + 1].item())
        if start >= end:
            continue
        pages = kv_indices[start:end].to(torch.long)
        kc, kp = ckv_cache[pages], kpe_cache[pages]
        attn = torch.softmax((q_nope[b] @ kc.T + q_pe[b] @ kp.T) * sm_scale, dim=-1)
        output[b] = attn @ kc
    return output
"""
GROUPED = """import torch

def run(x, w, expert_offsets, token_ids):
    out = torch.zeros(token_ids.shape[0], w.shape[1], dtype=torch.float32)
    rows = x[token_ids]
    for e in range(w.shape[0]):
        first, end = int(expert_offsets[e]), int(expert_offsets[e + 1])
        if first < end:
            out[first:end] = rows[first:end] @ w[e].t()
    return out
"""
SCAN = """import torch

def run(x, decay, cu_seqlens, rows=None):
    out = torch.zeros_like(x)
    gate = torch.sigmoid(decay)
    for s in range(cu_seqlens.size(0) - 1):
        state = torch.zeros(x.shape[1], dtype=torch.float32)
        for t in range(int(cu_seqlens[s].item()), int(cu_seqlens[s + 1].item())):
            state = gate * state + x[t]
            out[t] = state
    return out
"""
NORM = """import torch

def run(hidden_states, weight):
    x = hidden_states.to(torch.float32)
    return (x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5) * weight.to(torch.float32)).to(hidden_states.dtype)
"""
ADDED = """import torch

def run(hidden_states, residual, weight):
    x = hidden_states.to(torch.float32) + residual.to(torch.float32)
    y = x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5) * weight.to(torch.float32)
    return y.to(hidden_states.dtype), x.to(residual.dtype)
"""
GEMM = """import torch

def run(A, B):
    return torch.matmul(A, B.T)
"""
INFINITE = """import torch

def run(A, B):
    return torch.cat((torch.log(torch.zeros_like(B[:, :1]).T), A @ B.T), dim=0)
"""
ROPE = """import torch

def run(q, cos_sin_cache, positions):
    cos, sin = cos_sin_cache[positions].chunk(2, dim=-1)
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    a, b = torch.chunk(q, 2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
"""
ACTIVE = """import torch

def run(x):
    a, b = x.chunk(2, dim=-1)
    return torch.nn.functional.silu(a) * b
"""
STATE = """import torch

def run(state, x, A, slots):
    new_state = state.clone()
    out = torch.zeros_like(x)
    for b in range(x.shape[0]):
        slot = int(slots[b])
        s = new_state[slot] * torch.sigmoid(A) + x[b]
        new_state[slot] = s
        out[b] = s * 0.5
    return out, new_state
"""
SCAN_DOWN = """import torch

def run(x):
    y = x.clone()
    for i in range(x.shape[0] - 1, 0, -1):
        y[i] = y[i] + y[i - 1]
    return y
"""
OFFSETS, NUMBERS = "Offsets of each row.", "Page IDs for lookups."
SCALE = (("sm_scale", 0.25),)


def ragged(s, name, **more):
    s.add(name, {"heads": 4, "kv_heads": 2, "dim": 16, "len_indptr": None, "total_q": None, "total_kv": None},
          {"q": ("bfloat16", ["total_q", "heads", "dim"], ""), "k": ("bfloat16", ["total_kv", "kv_heads", "dim"], ""),
           "v": ("bfloat16", ["total_kv", "kv_heads", "dim"], ""), "qo_indptr": ("int32", ["len_indptr"], OFFSETS),
           "kv_indptr": ("int32", ["len_indptr"], OFFSETS)},
          {"output": ("bfloat16", ["total_q", "heads", "dim"]), "lse": ("float32", ["total_q", "heads"])}, RAGGED,
          {"len_indptr": 5, "total_q": 24, "total_kv": 40},
          {"qo_indptr": [0, 6, 6, 17, 24], "kv_indptr": [0, 9, 12, 30, 40]},
          ["total_q == qo_indptr[-1].item()", "total_kv == kv_indptr[-1].item()"], SCALE, **more)


def decode(s, name, sizes=(), **more):
    s.add(name, {"batch_size": None, "heads": 4, "kv_heads": 2, "dim": 16, "page_size": 1, "num_pages": None, "len_indptr": None,
                 "num_kv_indices": None},
          {"q": ("float32", ["batch_size", "heads", "dim"], ""),
           "k_cache": ("float32", ["num_pages", "page_size", "kv_heads", "dim"], ""),
           "v_cache": ("float32", ["num_pages", "page_size", "kv_heads", "dim"], ""),
           "kv_indptr": ("int32", ["len_indptr"], OFFSETS), "kv_indices": ("int32", ["num_kv_indices"], NUMBERS)},
          {"output": ("float32", ["batch_size", "heads", "dim"]), "lse": ("float32", ["batch_size", "heads"])}, DECODE,
          {"batch_size": 4, "num_pages": 20, "len_indptr": 5, "num_kv_indices": 30, **dict(sizes)},
          {"kv_indptr": [0, 7, 7, 18, 30], "kv_indices": [(7 * i) % 20 for i in range(30)]},
          ["len_indptr == batch_size + 1", "num_kv_indices == kv_indptr[-1].item()"], SCALE, **more)


def good(root):
    s = Set(root)
    ragged(s, "ragged_h4_kv2_d16")
    decode(s, "decode_h4_kv2_d16_ps1")
    s.add("decode_h2_d16_ps4", {"batch_size": None, "heads": 2, "kv": 1, "dim": 16, "page_size": 4, "num_pages": None, "len_indptr": None,
                                "num_kv_indices": None},
          {"q": ("float32", ["batch_size", "heads", "dim"], ""), "k_cache": ("float32", ["num_pages", "page_size", "kv", "dim"], ""),
           "v_cache": ("float32", ["num_pages", "page_size", "kv", "dim"], ""), "kv_indptr": ("int32", ["len_indptr"], OFFSETS),
           "kv_indices": ("int32", ["num_kv_indices"], NUMBERS),
           "kv_last_page_len": ("int32", ["batch_size"], "Number of valid tokens in the last page of each sequence.")},
          {"output": ("float32", ["batch_size", "heads", "dim"])}, PAGES,
          {"batch_size": 3, "num_pages": 9, "len_indptr": 4, "num_kv_indices": 8},
          {"kv_indptr": [0, 3, 4, 8], "kv_indices": [8, 1, 0, 5, 2, 2, 7, 4], "kv_last_page_len": [4, 1, 2]},
          ["len_indptr == batch_size + 1", "kv_indptr[0] == 0", "kv_indptr[-1].item() == num_kv_indices"], (("sm_scale", None),))
    s.add("latent_h4_c16_p8", {"batch_size": None, "heads": 4, "c": 16, "p": 8, "num_pages": None, "len_indptr": None, "n_indices": None},
          {"q_nope": ("float32", ["batch_size", "heads", "c"], ""), "q_pe": ("float32", ["batch_size", "heads", "p"], ""),
           "ckv_cache": ("float32", ["num_pages", "c"], ""), "kpe_cache": ("float32", ["num_pages", "p"], ""),
           "kv_indptr": ("int32", ["len_indptr"], OFFSETS), "kv_indices": ("int32", ["n_indices"], NUMBERS)},
          {"output": ("float32", ["batch_size", "heads", "c"])}, LATENT,
          {"batch_size": 3, "num_pages": 12, "len_indptr": 4, "n_indices": 14},
          {"kv_indptr": [0, 5, 6, 14], "kv_indices": [(5 * i) % 12 for i in range(14)]},
          ["len_indptr == batch_size + 1", "n_indices == kv_indptr[-1]", "kv_indices.max() < num_pages"], SCALE)
    s.add("grouped_e4_k16_n12", {"experts": 4, "k": 16, "n": 12, "tokens": None, "pairs": None, "length": 5},
          {"x": ("float32", ["tokens", "k"], ""), "w": ("float32", ["experts", "n", "k"], ""),
           "expert_offsets": ("int64", ["length"], OFFSETS), "token_ids": ("int64", ["pairs"], "Which token, below tokens.")},
          {"out": ("float32", ["pairs", "n"])}, GROUPED, {"tokens": 10, "pairs": 20},
          {"expert_offsets": [0, 6, 6, 13, 20], "token_ids": [(3 * i) % 10 for i in range(20)]}, ["pairs == expert_offsets[-1].item()"])
    s.add("scan_d24", {"dim": 24, "total": None, "seqs": None, "length": None},
          {"x": ("float32", ["total", "dim"], ""), "decay": ("float32", ["dim"], ""), "cu_seqlens": ("int64", ["length"], OFFSETS)},
          {"out": ("float32", ["total", "dim"])}, SCAN, {"total": 30, "seqs": 3, "length": 4}, {"cu_seqlens": [0, 11, 12, 30]},
          ["length == seqs + 1", "total == cu_seqlens[-1].item()"], fixed={"rows": ("int32", ["total"])})
    s.add("state_d16_s8", {"batch": None, "pool": None, "dim": 16},
          {"state": ("float32", ["pool", "dim"], ""), "x": ("float32", ["batch", "dim"], ""), "A": ("float32", ["dim"], ""),
           "slots": ("int32", ["batch"], "Slot of each row.")},
          {"out": ("float32", ["batch", "dim"]), "new_state": ("float32", ["pool", "dim"])}, STATE, {"batch": 6, "pool": 12},
          {"slots": [3, 0, 11, 5, 7, 3]}, ["pool >= batch"])
    s.add("norm_h64", {"batch": None, "h": 64}, {"hidden_states": ("bfloat16", ["batch", "h"], ""), "weight": ("bfloat16", ["h"], "")},
          {"output": ("bfloat16", ["batch", "h"])}, NORM, {"batch": 24}, {})
    s.add("added_norm_h48", {"batch": None, "h": 48},
          {"hidden_states": ("bfloat16", ["batch", "h"], ""), "residual": ("bfloat16", ["batch", "h"], ""),
           "weight": ("bfloat16", ["h"], "")},
          {"output": ("bfloat16", ["batch", "h"]), "sums": ("bfloat16", ["batch", "h"])}, ADDED, {"batch": 24}, {})
    s.add("gemm_n24_k32", {"M": None, "N": 24, "K": 32}, {"A": ("float32", ["M", "K"], ""), "B": ("float32", ["N", "K"], "")},
          {"C": ("float32", ["M", "N"])}, GEMM, {"M": 40}, {})
    s.add("rope_d16", {"tokens": None, "heads": 2, "dim": 16, "half": 16, "max_len": None},
          {"q": ("float32", ["tokens", "heads", "dim"], ""), "cos_sin_cache": ("float32", ["max_len", "half"], ""),
           "positions": ("int64", ["tokens"], "Row of the cache.")},
          {"out": ("float32", ["tokens", "heads", "dim"])}, ROPE, {"tokens": 20, "max_len": 32},
          {"positions": [(11 * i) % 32 for i in range(20)]})
    s.add("silu_n48", {"rows": None, "n": 48, "half": 24}, {"x": ("float32", ["rows", "n"], "")}, {"out": ("float32", ["rows", "half"])},
          ACTIVE, {"rows": 30}, {})
    s.add("gemm_and_nothing", {"M": None, "N": 32, "K": 64}, {"A": ("float32", ["M", "K"], ""), "B": ("float32", ["N", "K"], "")},
          {"C": ("float32", ["M", "N"])}, INFINITE, {"M": 40}, {})


def put(name, dtype=None, shape=None, values=None):
    def change(tensors):
        old = tensors[name]
        tensors[name] = (dtype or old[0], shape or old[1], values or old[2])
    return change


def bad(root):
    s = Set(root)
    ragged(s, "not_the_total", wrong=put("qo_indptr", values=[0, 6, 6, 17, 23]))
    ragged(s, "falling", wrong=put("kv_indptr", values=[0, 9, 8, 30, 40]))
    ragged(s, "begins_late", wrong=put("qo_indptr", values=[1, 6, 6, 17, 24]))
    ragged(s, "wrong_dtype", wrong=put("qo_indptr", dtype="int64"))
    ragged(s, "wrong_shape", wrong=put("qo_indptr", shape=[4], values=[0, 6, 6, 24]))
    ragged(s, "turned", wrong=put("q", shape=[24, 16, 4]))
    ragged(s, "out_of_root", wrong=lambda t: {"path": "../set/blob/ragged_h4_kv2_d16/one.safetensors"})
    ragged(s, "long_header", wrong=lambda t: {"header_bytes": (1 << 20) + 1})
    ragged(s, "whole_header", wrong=lambda t: {"header_bytes": 1 << 20})  # at the limit: good
    decode(s, "beyond_pages", wrong=put("kv_indices", values=[20] + [0] * 29))
    decode(s, "before_pages", wrong=put("kv_indices", values=[0, -1] + [0] * 28))


    decode(s, "untied", sizes={"len_indptr": 5, "batch_size": 5})
    for name, n in (("fixed_at", 200 << 20), ("fixed_above", (200 << 20) + 1)):
        s.add(name, {"rows": None, "n": n}, {"x": ("float32", ["rows"], "")}, {"y": ("float32", ["rows"])}, "def other():\n    pass\n",
              {"rows": 4}, {}, fixed={"w": ("float32", ["n"])})
    s.add("counted_down", {"rows": None}, {"x": ("float32", ["rows"], "")}, {"y": ("float32", ["rows"])},
          SCAN_DOWN, {"rows": 4}, {})


good(os.path.join(sys.argv[1], "set"))
bad(os.path.join(sys.argv[1], "bad"))

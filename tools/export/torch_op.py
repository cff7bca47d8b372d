# SPDX-License-Identifier: Apache-2.0
# The kernel as a function of torch tensors: compiled when it is first needed, called through a plain C interface, so that one
# file serves every torch from 1.13 on. SPEC_TEXT stands above: what the kernel takes and gives.
import atexit
import ctypes
import hashlib
import json
import keyword
import math
import os
import platform
import shlex
import shutil
import subprocess
import tempfile

import torch


class ExportedKernel:
    C_TYPES = {"float64": ctypes.c_double, "int64": ctypes.c_int64, "int32": ctypes.c_int32, "bool": ctypes.c_bool,
               "int8": ctypes.c_int8, "uint8": ctypes.c_uint8, "int16": ctypes.c_int16}
    WORDS = {"__builtins__": {}, "min": min, "max": max, "abs": abs, "ceil": math.ceil, "floor": math.floor,
             "log2": math.log2, "sqrt": math.sqrt}

    def __init__(self, spec, folder=None):
        self.spec, self.folder, self.function = spec, folder, None
        self.name = spec["name"]
        shown = {axis for tensor in spec["inputs"].values() for axis in tensor["shape"]}
        self.free = [a for a, what in spec["axes"].items() if "min" in what and a not in shown]

    def compile(self):
        """Beside the source under a name that changes with it; else in a folder that goes with the process."""
        ending = ".cu" if self.spec["device"] == "cuda" else ".c"
        text = self.spec.get("source")
        if text is None:
            with open(os.path.join(self.folder, self.name + ending)) as file:
                text = file.read()
        key = hashlib.sha256("\0".join([self.spec["compile"], text, platform.node()]).encode()).hexdigest()[:16]
        folder = self.folder
        if folder is None or not os.access(folder, os.W_OK):
            folder = tempfile.mkdtemp(prefix=self.name + "-")
            atexit.register(shutil.rmtree, folder, True)
        library = os.path.join(folder, "%s-%s.so" % (self.name, key))
        if not os.path.exists(library):
            with tempfile.TemporaryDirectory(dir=folder) as part:
                with open(os.path.join(part, self.name + ending), "w") as file:
                    file.write(text)
                line = shlex.split(self.spec["compile"]) + ["-o", "made.so", self.name + ending, "-lm"]
                done = subprocess.run(line, cwd=part, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                if done.returncode:
                    raise RuntimeError("%s does not compile: %s" % (self.name, done.stdout.decode(errors="replace")[-2000:]))
                os.replace(os.path.join(part, "made.so"), library)
        self.function = getattr(ctypes.CDLL(library), self.name)
        self.function.restype = None

    def wrong(self, text, *words):
        raise ValueError("%s: %s" % (self.name, text % words))

    def sizes(self, tensors, free, is_fake=False):
        """The value of every axis, from the shapes; ValueError for what the kernel was not made for."""
        axes = self.spec["axes"]
        sizes = {name: what["value"] for name, what in axes.items() if "value" in what}
        sizes.update(zip(self.free, free))
        for (name, want), tensor in zip(self.spec["inputs"].items(), tensors):
            if not is_fake and tensor.device.type != self.spec["device"]:
                self.wrong("%s is on %s, not on %s", name, tensor.device.type, self.spec["device"])
            if not is_fake and tensor.device != tensors[0].device:
                self.wrong("%s is on another device than the first input", name)
            if tensor.dtype != getattr(torch, want["dtype"]):
                self.wrong("%s is of %s, not of torch.%s", name, tensor.dtype, want["dtype"])
            if not tensor.is_contiguous():
                self.wrong("%s is not contiguous", name)
            if not is_fake and tensor.data_ptr() % 64:
                self.wrong("%s does not begin at a multiple of 64 bytes, as it was verified: clone it", name)
            if tensor.dim() != len(want["shape"]):
                self.wrong("%s has %d dimensions, not %d", name, tensor.dim(), len(want["shape"]))
            for axis, size in zip(want["shape"], tensor.shape):
                if sizes.setdefault(axis, size) != size:
                    self.wrong("%s has %s = %s, not %s", name, axis, size, sizes[axis])
        for name, what in axes.items():
            if "expression" in what:
                value = eval(what["expression"], self.WORDS, sizes)
                value = int(value) if isinstance(value, float) else value
                if sizes.setdefault(name, value) != value:
                    self.wrong("%s = %s, not %s", name, sizes[name], value)
            elif "min" in what and not (what["min"] <= sizes[name] <= what["max"] and sizes[name] % what.get("multiple", 1) == 0):
                self.wrong("%s = %s is outside of what was verified: %d to %d, multiples of %d", name, sizes[name],
                           what["min"], what["max"], what.get("multiple", 1))
        for formula in self.spec["constraints"]:
            if not eval(formula, self.WORDS, sizes):
                self.wrong("the sizes do not meet %s", formula)
        return sizes

    def outputs(self, sizes, tensors):
        device = tensors[0].device if tensors else self.spec["device"]
        return [torch.empty([sizes[a] for a in want["shape"]], dtype=getattr(torch, want["dtype"]), device=device)
                for want in self.spec["outputs"].values()]

    def parts(self, arguments):
        n, s = len(self.spec["inputs"]), len(self.spec["scalars"])
        if len(arguments) != n + s + len(self.free):
            self.wrong("%d arguments, not %d", len(arguments), n + s + len(self.free))
        return arguments[:n], arguments[n:n + s], arguments[n + s:]

    @staticmethod
    def one_or_all(outputs):
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def __call__(self, *arguments):
        tensors, scalars, free = self.parts(arguments)
        sizes = self.sizes(tensors, free)
        outputs = self.outputs(sizes, tensors)
        if self.function is None:
            self.compile()
        words = [ctypes.c_void_p(t.data_ptr()) for t in list(tensors) + outputs]
        words += [self.C_TYPES.get(what["dtype"], ctypes.c_float)(value)
                  for what, value in zip(self.spec["scalars"].values(), scalars)]
        words += [ctypes.c_int64(sizes[axis]) for axis in self.spec["axes"]]
        if self.spec["device"] == "cuda":
            with torch.cuda.device(outputs[0].device):
                self.function(*words, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        else:
            self.function(*words)
        return self.one_or_all(outputs)

    def fake(self, *arguments):
        tensors, _, free = self.parts(arguments)
        return self.one_or_all(self.outputs(self.sizes(tensors, free, True), tensors))

    def schema(self):
        words = ["Tensor " + name + "_" * keyword.iskeyword(name) for name in self.spec["inputs"]]
        for name, what in self.spec["scalars"].items():
            kind = what["dtype"].rstrip("0123456789")
            words.append(("bool " if kind == "bool" else "int " if "int" in kind else "float ") + name + "_" * keyword.iskeyword(name))
        words += ["int " + axis + "_" * keyword.iskeyword(axis) for axis in self.free]
        n = len(self.spec["outputs"])
        return "%s(%s) -> %s" % (self.name, ", ".join(words), "Tensor" if n == 1 else "(%s)" % ", ".join(["Tensor"] * n))

    def register(self, namespace):
        """As torch.ops.NAMESPACE.NAME. It has no backward: a gradient that is asked of it is an error that says so."""
        library = torch.library.Library(namespace, "DEF")
        library.define(self.schema())
        library.impl(self.name, self, "CUDA" if self.spec["device"] == "cuda" else "CPU")
        whole = "%s::%s" % (namespace, self.name)
        for word in ("register_fake", "impl_abstract"):  # since torch 2.4; 2.2
            if hasattr(torch.library, word):
                getattr(torch.library, word)(whole, self.fake, lib=library)
                break
        else:
            library.impl(self.name, self.fake, "Meta")
        op = getattr(getattr(torch.ops, namespace), self.name)
        text = "%s has no backward: call it under torch.no_grad()" % self.name

        def backward(context, *gradients):
            raise RuntimeError(text)

        if hasattr(torch.library, "register_autograd"):
            torch.library.register_autograd(whole, backward, lib=library)
            return library, op

        class Call(torch.autograd.Function):
            @staticmethod
            def forward(context, *arguments):
                is_fake = any(isinstance(a, torch.Tensor) and a.is_meta for a in arguments)
                return (self.fake if is_fake else self)(*arguments)

        Call.backward = staticmethod(backward)
        library.impl(self.name, Call.apply, "Autograd")
        return library, op

# SPDX-License-Identifier: Apache-2.0
# A module as torch.fx's graph, with what torch 1.13 does not trace by itself.
import dis
import functools
import inspect
import operator

import torch
import torch.fx
from torch.fx.passes.shape_prop import ShapeProp

from worker import Refused

MADE = {name: getattr(torch, name) for name in ("tensor", "zeros", "ones", "empty", "full", "arange", "eye")}


def maker(name):
    """Of tensors that forward makes: of no traced type or device, and where a size is traced, traced too."""
    def make(*args, **more):
        more = {k: v for k, v in more.items() if not (isinstance(v, torch.fx.Proxy) and k in ("dtype", "device"))}
        seen = []
        torch.fx.node.map_aggregate((args, more), lambda v: seen.append(v) if isinstance(v, torch.fx.Proxy) else None)
        if seen and name != "tensor":
            return seen[0].tracer.create_proxy("call_function", MADE[name], args, more)
        return MADE[name](*args, **more)
    return make


def put_part(whole, index, value):
    """What forms.py makes of `whole[index] = value`."""
    changed = whole.clone()
    changed[index] = value
    return changed


def put_traced(whole, index, value):
    seen = []
    torch.fx.node.map_aggregate((whole, index, value), lambda v: seen.append(v) if isinstance(v, torch.fx.Proxy) else None)
    if seen:
        return seen[0].tracer.create_proxy("call_function", put_part, (whole, index, value), {})
    return put_part(whole, index, value)


ORIGINAL = torch.nn.Module.__call__, torch.nn.Module.__getattr__
COMPARED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.mod, operator.mul,
            operator.floordiv, operator.getitem, getattr, "size", "dim")


def whole(value):
    """int() of a size; torch.fx wants a traced value to stay one."""
    if isinstance(value, torch.fx.Proxy):
        return value.tracer.create_proxy("call_function", int, (value,), {})
    return int(value)


class Tracer(torch.fx.Tracer):
    """Buffers are read by name; tensors that forward makes may have traced sizes. A branch on sizes, types or devices is
    taken as the sample takes it: the lint holds the kernel against the module at other sizes."""
    proxy_buffer_attributes = True

    def __init__(self, arguments):
        super().__init__()
        self.arguments, self.known = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments], {}

    def value_of(self, node):
        if node not in self.known:
            args = torch.fx.node.map_arg(list(node.args), self.value_of)
            more = torch.fx.node.map_arg(dict(node.kwargs), self.value_of)
            if node.op == "placeholder":
                at = [n for n in node.graph.nodes if n.op == "placeholder"].index(node)
                value = self.arguments[at] if at < len(self.arguments) else node.args[0]
            elif node.op == "get_attr":
                value = functools.reduce(getattr, node.target.split("."), self.root)
            elif node.op == "call_module":
                value = self.root.get_submodule(node.target)(*args, **more)
            elif node.op == "call_method":
                value = getattr(args[0], node.target)(*args[1:], **more)
            else:
                value = node.target(*args, **more)
            self.known[node] = value
        return self.known[node]

    def to_bool(self, proxy):
        kind, patched = torch.nn.Module, (torch.nn.Module.__call__, torch.nn.Module.__getattr__)
        kind.__call__, kind.__getattr__ = ORIGINAL  # modules compute here, and are not traced
        try:
            value = self.value_of(proxy.node)
        finally:
            kind.__call__, kind.__getattr__ = patched
        return super().to_bool(proxy) if isinstance(value, torch.Tensor) else bool(value)

    def trace(self, root, concrete_args=None):
        for name in MADE:
            setattr(torch, name, maker(name))
        try:
            return super().trace(root, concrete_args)
        finally:
            for name, made in MADE.items():
                setattr(torch, name, made)


def unpacked(proxy):
    """a, b = x.shape: torch 1.13 does not find the unpacking in the code of Python 3.11."""
    frame = inspect.currentframe().f_back
    for line in dis.get_instructions(frame.f_code):
        if line.offset == frame.f_lasti and line.opname == "UNPACK_SEQUENCE":
            return (proxy[i] for i in range(line.argval))
    return proxy.tracer.iter(proxy)


def without_asserts(graph):
    """torch.fx compares each number that is fixed with its value; the kernel knows the value. What only led to a comparison of
    sizes goes too."""
    for node in reversed(list(graph.nodes)):
        is_check = node.target is torch._assert or getattr(node.target, "__name__", "") == "_assert_is_none"
        if is_check or not node.users and node.op in ("call_function", "call_method") and node.target in COMPARED:
            graph.erase_node(node)


def trace(trial, pack):
    fixed = {}
    code = type(trial.model).forward.__code__
    for name, a, given in zip(code.co_varnames[1:], pack.record["arguments"], trial.arguments):
        if "value" in a:
            fixed[name] = given
    for name, p in list(inspect.signature(type(trial.model).forward).parameters.items())[1 + len(trial.arguments):]:
        if p.default is not p.empty:
            fixed[name] = p.default
    torch.fx.Proxy.__iter__ = unpacked
    trial.names["int"] = whole
    if "put_part" in trial.names:
        trial.names["put_part"] = put_traced
    try:
        traced = torch.fx.GraphModule(trial.model, Tracer(trial.arguments).trace(trial.model, fixed or None))
        without_asserts(traced.graph)
        ShapeProp(traced).propagate(*trial.arguments)
    except Refused:
        raise
    except Exception as why:
        raise Refused("no naive kernel: the module cannot be traced (%s)" % str(why).split("\n")[0][:120])
    return traced

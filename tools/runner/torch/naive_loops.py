# SPDX-License-Identifier: Apache-2.0
# The naive kernel of a reference with loops: over sizes, and over what offsets and indices say (ragged and paged rows).
# torch.fx traces no such loop. Here the reference is read statement by statement. Each value has two sides: what the Writer
# calls it in C, and a sample, by which ranks and branches on sizes that a task fixes are known. A loop is read once.
#   for b in range(n)            a loop in C, as for p in x or in enumerate(x); names that it changes and that were there before are kept in slots
#   int(x[b]), x.item()          a number that the kernel reads
#   if <number>: ... [continue]  a branch in C; both sides are read
#   out[a:b] = v                 written in place
# Limits: C alone, no kernel for a device; no break, no while, no return inside a loop, nothing written through a view or into an
# input. The lint holds what is written here against the reference.
import ast
import operator

import torch

from naive import C, T, Writer, c_float, text
from naive_cuda_shapes import own
from naive_parts import NEEDS, PARTS
from worker import Refused, parse

PARTS["n_gone"] = r"""static void n_gone(struct nt *a)
{
    free(a->v);
}
#define OWN __attribute__((cleanup(n_gone)))
"""
PARTS["n_copy"] = r"""static struct nt n_copy(struct nt a)
{
    struct nt c = n_room(a.r, a.d);
    memcpy(c.v, a.v, (size_t)n_count(a) * sizeof(float));
    return c;
}
"""
PARTS["n_set"] = r"""static void n_set(struct nt *a, struct nt b)
{
    struct nt c = n_copy(b);
    free(a->v);
    *a = c;
}
"""
PARTS["n_write"] = PARTS["n_put"].replace("static struct nt n_put(", "static void n_write(").replace(
    "struct nt c = n_room(a.r, a.d), window", "struct nt window").replace(
    "    memcpy(c.v, a.v, (size_t)n_count(a) * sizeof(float));\n", "").replace("c.v[at]", "a.v[at]").replace("    return c;\n", "")
PARTS["n_chosen"] = r"""static struct nt n_chosen(struct nt a, struct nt mask) /* the rows where the mask is not 0 */
{
    struct nt c = a;
    int64_t in = 1, n = 0;
    for (int64_t i = 1; i < a.r; i++)
        in *= a.d[i];
    for (int64_t i = 0; i < a.d[0]; i++)
        n += mask.v[i] != 0;
    c.d[0] = n;
    c = n_room(c.r, c.d);
    for (int64_t i = 0, at = 0; i < a.d[0]; i++)
        if (mask.v[i] != 0)
            memcpy(c.v + at++ * in, a.v + i * in, (size_t)in * sizeof(float));
    return c;
}
"""
NEEDS.update({"n_set": ["n_copy"], "n_write": ["n_wide"]})

OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
             ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt",
             ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
KEPT = ("to", "float", "double", "long", "int", "contiguous", "detach", "type_as")  # types are the kernel's own
MAKERS = ("zeros", "ones", "empty", "full", "arange", "eye")
MOST_DEPTH = 8  # of blocks and calls in each other
MOST_LINES = 4000


class P:
    """A value that is known when the kernel runs: its name there, and a sample. level: of the block that holds its slot."""

    def __init__(self, sym, val, level=None):
        self.sym, self.val, self.level = sym, val, level


class Unset:
    """A slot whose first value says what it is: the number of its line, and its block."""

    def __init__(self, line, level):
        self.line, self.level = line, level


def sample(value):
    if isinstance(value, P):
        return value.val
    if isinstance(value, (list, tuple)):
        return type(value)(sample(v) for v in value)
    if isinstance(value, slice):
        return slice(sample(value.start), sample(value.stop), sample(value.step))
    return value


def symbol(value):
    if isinstance(value, P):
        return value.sym
    if isinstance(value, (list, tuple)):
        return type(value)(symbol(v) for v in value)
    if isinstance(value, slice):
        return slice(symbol(value.start), symbol(value.stop), symbol(value.step))
    return value


def has_symbol(value):
    if isinstance(value, (list, tuple)):
        return any(has_symbol(v) for v in value)
    if isinstance(value, slice):
        return has_symbol((value.start, value.stop, value.step))
    return isinstance(value, P)


def paired(sym, val):
    if isinstance(sym, (list, tuple)):
        return [paired(s, v) for s, v in zip(sym, val)]
    return P(sym, val) if isinstance(sym, (T, C)) else val


def is_tensor(value):
    return isinstance(value, P) and isinstance(value.sym, T)


class Loops(Writer):
    """Values live to the end of their block."""
    depth = 0

    def add(self, line, device_line=None):
        if len(self.lines) > MOST_LINES:
            raise Refused("no naive kernel: more than %d lines" % MOST_LINES)
        self.lines.append("\n".join("    " * self.depth + part for part in line.split("\n")))
        self.device_lines.append("")

    def open(self, head):
        self.add("    %s {" % head)
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise Refused("no naive kernel: more than %d blocks in each other" % MOST_DEPTH)

    def close(self):
        self.depth -= 1
        self.add("    }")

    def fresh(self, words, rank, on_device=None):
        name = "v%d" % self.n
        self.n += 1
        self.use("n_gone")
        self.add("    struct nt OWN %s = %s;" % (name, words))
        self.shapes[name] = own(name, rank)
        return T(name, rank)

    def mapped(self, expression, value):  # passes are not joined: what they read may change between them
        return self.pointwise([expression], [value], value.rank)

    def call(self, part, rank, *args):
        if part == "n_put":
            self.use("n_write")
            self.add("    n_write(%s);" % ", ".join(str(a) for a in args))
            return T(args[0], rank)
        return super().call(part, rank, *args)

    def number_of(self, words, value):
        name = "i%d" % self.n
        self.n += 1
        self.add("    %s %s = %s;" % (c_type(value), name, words))
        return P(C(name), value)


def c_type(value):
    return "float" if isinstance(value, float) else "int64_t"


def written_number(value):
    return value.text if isinstance(value, C) else c_float(value) if isinstance(value, float) else str(int(value))


def assigned(body):
    """The names that statements give values to, in order."""
    found = []
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                found.append(n.id)
            call = n.value if isinstance(n, ast.Expr) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
                found.append(call.func.value.id if call.func.attr.endswith("_") else "")
    return [name for name in dict.fromkeys(found) if name]


class Reader:
    def __init__(self, w, tree, trial):
        self.w, self.names, self.calls = w, trial.names, 0
        self.functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}

    # --- statements ---
    def block(self, body, env):
        """"continue", ("return", value), or None at its end."""
        for i, s in enumerate(body):
            handler = getattr(self, "do_" + type(s).__name__, None)
            if handler is None:
                raise Refused("no naive kernel: a %s in the reference" % type(s).__name__.lower())
            said = handler(s, env)
            if said is not None:
                return said
        return None

    def do_Pass(self, s, env):
        return None

    def do_Continue(self, s, env):
        self.w.add("    continue;")
        return "continue"

    def do_Return(self, s, env):
        return ("return", self.value(s.value, env) if s.value else None)

    def do_FunctionDef(self, s, env):
        env[s.name] = s

    def do_Assign(self, s, env):
        value = self.value(s.value, env)
        for target in s.targets:
            self.assign(target, value, env)

    def do_AugAssign(self, s, env):
        before = ast.copy_location(ast.parse(ast.unparse(s.target), mode="eval").body, s)
        self.assign(s.target, self.binary(OPERATORS.get(type(s.op)), self.value(before, env), self.value(s.value, env)), env)

    def do_Expr(self, s, env):
        call = s.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            target, name = call.func.value, call.func.attr[:-1]
            if isinstance(target, ast.Subscript) and name in ("zero", "fill"):
                return self.assign(target, 0.0 if name == "zero" else self.value(call.args[0], env), env)
            if isinstance(target, ast.Name) and name not in ("zero", "fill"):
                made = ast.Call(ast.Attribute(ast.Name(target.id, ast.Load()), name, ast.Load()), call.args, call.keywords)
                return self.assign(target, self.value(made, env), env)
        raise Refused("no naive kernel: the statement %s" % ast.unparse(s)[:60])

    def do_If(self, s, env):
        test = self.value(s.test, env)
        if not isinstance(test, P):
            return self.block(s.body if test else s.orelse, env)
        words = self.number(test).sym.text
        ends = bool(s.body) and isinstance(s.body[-1], ast.Continue)
        names = assigned(s.body + s.orelse)
        both = set(assigned(s.body)) & set(assigned(s.orelse))
        if not ends or s.orelse:
            self.keep([n for n in names if n in env], env)
            for name in names:
                if name in both and name not in env:
                    env[name] = Unset(len(self.w.lines), self.w.depth)
                    self.w.add("")
        taken = dict(env)
        self.w.open("if (%s)" % words)
        self.inside(s.body, taken)
        self.w.close()
        other = dict(env)
        for name in both:
            other[name] = taken[name]
        if s.orelse:
            self.w.open("else")
            self.inside(s.orelse, other)
            self.w.close()
        if not ends or s.orelse:
            self.join(names, env, taken if test.val else other, other)

    def inside(self, body, env):
        said = self.block(body, env)
        if isinstance(said, tuple):
            raise Refused("no naive kernel: a return inside of a loop or a branch")

    @staticmethod
    def join(names, env, seen, other):
        """What a block left in slots; the sample is that of the side that it takes."""
        for name in names:
            if name in env:
                value = seen[name] if isinstance(seen.get(name), P) else other.get(name)
                if isinstance(env[name], Unset) or isinstance(env[name], P) and env[name].level is not None:
                    env[name] = value

    def do_For(self, s, env):
        first, last, step, over = self.range_of(s, env)
        target = s.target.elts[0] if isinstance(s.target, ast.Tuple) else s.target
        names = [n for n in assigned(s.body) if n in env and n not in assigned([s.target])]
        self.keep(names, env)
        inner, i = dict(env), "i%d" % self.w.n
        self.w.n += 1
        words = [written_number(symbol(v)) for v in (first, last, step)]
        self.w.open("for (int64_t %s = %s; %s < %s; %s += %s)" % (i, words[0], i, words[1], i, words[2]))
        number = P(C(i), sample(first))
        if over is None or isinstance(s.target, ast.Tuple):
            inner[target.id] = number
        if over is not None:
            row = P(self.w.getitem(over.sym, (number.sym,)), over.val[0])
            inner[s.target.elts[1].id if isinstance(s.target, ast.Tuple) else target.id] = self.number(row) if row.sym.rank == 0 else row
        self.inside(s.body, inner)
        self.w.close()
        self.join(names, env, inner, inner)

    def range_of(self, s, env):
        """(first, end, step, None), or what a loop over a tensor's rows counts and the tensor."""
        is_call = isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name)
        name = s.iter.func.id if is_call else ""
        n_targets = len(s.target.elts) if isinstance(s.target, ast.Tuple) else 1
        known = n_targets == 1 + (name == "enumerate") and all(
            isinstance(t, ast.Name) for t in (s.target.elts if n_targets > 1 else [s.target]))
        given = [self.number(self.value(a, env)) for a in s.iter.args] if name == "range" else []
        over = None if name == "range" else self.value(s.iter.args[0] if name == "enumerate" else s.iter, env)
        if s.orelse or not known or over is not None and not is_tensor(over):
            raise Refused("no naive kernel: a loop over %s" % ast.unparse(s.iter)[:60])
        if over is not None:
            return 0, P(C("%s.d[0]" % over.sym.name), len(over.val)), 1, over
        first, last, step = [(0, given[0], 1), tuple(given) + (1,), tuple(given)][len(given) - 1]
        if sample(step) < 1:
            raise Refused("no naive kernel: a loop that counts down")
        return first, last, step, None

    def keep(self, names, env):
        """A slot for each name that a block may change: it lives outside of the block."""
        for name in names:
            value = env[name]
            if isinstance(value, Unset) or isinstance(value, P) and value.level is not None:
                continue
            if is_tensor(value):
                self.w.use("n_copy")
                kept = self.w.fresh("n_copy(%s)" % value.sym.name, value.sym.rank)
                env[name] = P(kept, value.val, self.w.depth)
            elif isinstance(value, P) or type(value) in (int, float):
                kept = self.w.number_of(written_number(symbol(value)), sample(value))
                env[name] = P(kept.sym, kept.val, self.w.depth)
            else:
                del env[name]

    def assign(self, target, value, env):
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = list(value) if isinstance(value, (list, tuple)) else None
            if parts is None or len(parts) != len(target.elts):
                raise Refused("no naive kernel: %s of one value" % ast.unparse(target)[:60])
            for t, v in zip(target.elts, parts):
                self.assign(t, v, env)
        elif isinstance(target, ast.Subscript):
            self.write(target, value, env)
        elif not isinstance(target, ast.Name):
            raise Refused("no naive kernel: %s = ..." % ast.unparse(target)[:60])
        else:
            self.name(target.id, value, env)

    def name(self, name, value, env):
        slot = env.get(name)
        if isinstance(slot, Unset):
            env[name] = self.begin(slot, value)
        elif isinstance(slot, P) and slot.level is not None and slot.level < self.w.depth:
            self.fill(slot, value)
            env[name] = P(slot.sym, sample(value), slot.level)
        else:
            env[name] = value

    def begin(self, slot, value):
        """The first value of a slot makes it a tensor or a number."""
        name, pad = "s%d" % self.w.n, "    " * (slot.level + 1)
        self.w.n += 1
        if is_tensor(value):
            self.w.use("n_gone")
            self.w.lines[slot.line] = "%sstruct nt OWN %s = {.r = 0};" % (pad, name)
            self.w.shapes[name] = own(name, value.sym.rank)
            made = P(T(name, value.sym.rank), value.val, slot.level)
        elif type(sample(value)) in (int, float, bool):
            self.w.lines[slot.line] = "%s%s %s = 0;" % (pad, c_type(sample(value)), name)
            made = P(C(name), sample(value), slot.level)
        else:
            raise Refused("no naive kernel: a branch that gives a %s" % type(value).__name__)
        self.fill(made, value)
        return made

    def fill(self, slot, value):
        if isinstance(slot.sym, T):
            if not is_tensor(value) or value.sym.rank != slot.sym.rank:
                raise Refused("no naive kernel: a name for tensors of different dimensions")
            self.w.use("n_set")
            self.w.add("    n_set(&%s, %s);" % (slot.sym.name, value.sym.name))
        elif is_tensor(value) or isinstance(sample(value), float) and not isinstance(slot.val, float):
            raise Refused("no naive kernel: a name for a number and another kind of value")
        else:
            self.w.add("    %s = %s;" % (slot.sym.text, written_number(symbol(value))))

    def write(self, target, value, env):
        base = self.value(ast.parse(ast.unparse(target.value), mode="eval").body, env)
        if not isinstance(target.value, ast.Name) or not is_tensor(base):
            raise Refused("no naive kernel: writing through %s" % ast.unparse(target.value)[:60])
        if base.sym.name.startswith("m_"):
            raise Refused("no naive kernel: the reference writes into its input %s" % target.value.id)
        index = self.index(target.slice, env)
        try:
            base.val[sample(index)] = sample(value)
        except RuntimeError:  # a branch that the sample does not take: sizes need not fit there
            pass
        self.w.put_part(base.sym, symbol(index), symbol(value) if isinstance(value, P) else float(value))

    # --- values ---
    def value(self, node, env):
        handler = getattr(self, "of_" + type(node).__name__, None)
        if handler is None:
            raise Refused("no naive kernel: the expression %s" % ast.unparse(node)[:60])
        return handler(node, env)

    def of_Constant(self, node, env):
        return node.value

    def of_Name(self, node, env):
        if node.id in env and not isinstance(env[node.id], Unset):
            return env[node.id]
        axis = self.w.pack.by_formula.get(node.id)
        if axis and node.id in self.w.pack.d.axes:
            return P(C(axis), self.w.trial.names[node.id])
        if node.id in self.functions:
            return self.functions[node.id]
        if node.id in self.names:
            return self.names[node.id]
        if node.id in ("int", "float", "len", "max", "min", "abs", "bool"):
            return node.id
        raise Refused("no naive kernel: the value of %s is not known there" % node.id)

    def of_Tuple(self, node, env):
        return tuple(self.value(e, env) for e in node.elts)

    def of_List(self, node, env):
        return [self.value(e, env) for e in node.elts]

    def of_Attribute(self, node, env):
        base = self.value(node.value, env)
        if not is_tensor(base):
            return getattr(base, node.attr)
        if node.attr == "shape":
            return paired(self.w.function("size", [base.sym], {}, -1), list(base.val.shape))
        if node.attr in ("dtype", "device", "ndim"):
            return getattr(base.val, node.attr)
        val = getattr(base.val, node.attr)
        return paired(self.w.function("getattr", [base.sym, node.attr], {}, val.dim()), val)

    def of_Subscript(self, node, env):
        base, index = self.value(node.value, env), self.index(node.slice, env)
        if not is_tensor(base):
            return base[index if len(index) > 1 else index[0]]
        val = base.val[sample(index)]
        if any(is_tensor(i) and i.val.dtype == torch.bool for i in index):
            if len(index) > 1 or index[0].sym.rank != 1:
                raise Refused("no naive kernel: elements that a mask chooses")
            return P(self.w.call("n_chosen", base.sym.rank, base.sym.name, index[0].sym.name), val)
        return paired(self.w.getitem(base.sym, symbol(index)), val)

    def index(self, node, env):
        parts = []
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(part, ast.Slice):
                ends = [self.number(self.value(e, env)) if e else None for e in (part.lower, part.upper, part.step)]
                parts.append(slice(*ends))
                continue
            value = self.value(part, env)
            if is_tensor(value) and value.sym.rank > 0 and isinstance(node, ast.Tuple):
                raise Refused("no naive kernel: an index of several tensors")
            parts.append(self.number(value) if is_tensor(value) and value.sym.rank == 0 else value)
        return tuple(parts)

    def number(self, value):
        """A tensor of one element is read."""
        if is_tensor(value):
            if value.val.numel() != 1:
                raise Refused("no naive kernel: a number of a tensor of %d elements" % value.val.numel())
            val = value.val.item()
            kind = "" if isinstance(val, float) else "(int64_t)"
            return self.w.number_of("%s%s.v[0]" % (kind, value.sym.name), val)
        return value

    def of_BinOp(self, node, env):
        return self.binary(OPERATORS.get(type(node.op)), self.value(node.left, env), self.value(node.right, env))

    def binary(self, name, a, b):
        if name is None:
            raise Refused("no naive kernel: an operator of the reference")
        compute = getattr(operator, name + "_" if name in ("and", "or") else name)
        val = compute(sample(a), sample(b))
        if not has_symbol((a, b)):
            return val
        if isinstance(val, torch.Tensor):
            return paired(self.w.function(name, [symbol(a), symbol(b)], {}, val.dim()), val)
        words = [written_number(symbol(v)) for v in (a, b)]
        if name in SIGNS:
            return P(C("(%s %s %s)" % (words[0], SIGNS[name], words[1])), val)
        if name in ("add", "sub", "mul") and all(isinstance(sample(v), (int, float)) for v in (a, b)):
            return P(C("(%s %s %s)" % (words[0], {"add": "+", "sub": "-", "mul": "*"}[name], words[1])), val)
        return P(self.w.number(name, [symbol(a), symbol(b)]), val)

    def of_UnaryOp(self, node, env):
        value = self.value(node.operand, env)
        if isinstance(node.op, ast.Not):
            return P(C("(!%s)" % self.number(value).sym.text), not sample(value)) if isinstance(value, P) else not value
        if not isinstance(value, P):
            return -value if isinstance(node.op, ast.USub) else value if isinstance(node.op, ast.UAdd) else ~value
        if is_tensor(value):
            name = "neg" if isinstance(node.op, ast.USub) else "invert"
            return paired(self.w.function(name, [value.sym], {}, value.sym.rank), getattr(operator, name)(value.val))
        return P(C("(-%s)" % value.sym.text), -value.val)

    def of_Compare(self, node, env):
        left, parts = self.value(node.left, env), []
        for op, right in zip(node.ops, [self.value(c, env) for c in node.comparators]):
            if isinstance(op, (ast.Is, ast.IsNot)):
                parts.append((left is right) == isinstance(op, ast.Is))
            else:
                parts.append(self.binary(OPERATORS.get(type(op)), left, right))
            left = right
        return parts[0] if len(parts) == 1 else self.joined("&&", parts)

    def of_BoolOp(self, node, env):
        stops = isinstance(node.op, ast.Or)
        parts = []
        for v in node.values:
            value = self.value(v, env)
            if not isinstance(value, P):
                if bool(value) == stops:
                    return value if not parts else self.joined("||" if stops else "&&", parts + [int(bool(value))])
                continue
            parts.append(self.number(value))
        return self.joined("||" if stops else "&&", parts) if parts else not stops

    @staticmethod
    def joined(sign, parts):
        if not has_symbol(parts):
            return all(parts) if sign == "&&" else any(parts)
        val = (all if sign == "&&" else any)(bool(sample(p)) for p in parts)
        return P(C("(%s)" % (" %s " % sign).join(written_number(symbol(p)) for p in parts)), val)

    def of_IfExp(self, node, env):
        test = self.value(node.test, env)
        if isinstance(test, P):
            raise Refused("no naive kernel: %s" % ast.unparse(node)[:60])
        return self.value(node.body if test else node.orelse, env)

    def of_Call(self, node, env):
        args = [self.value(a, env) for a in node.args]
        more = {k.arg: self.value(k.value, env) for k in node.keywords}
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value, env)
            if is_tensor(base):
                return self.called(node.func.attr, getattr(base.val, node.func.attr), [base] + args, more, True)
            return self.called(node.func.attr, getattr(base, node.func.attr), args, more, False)
        function = self.value(node.func, env)
        if isinstance(function, ast.FunctionDef):
            return self.inlined(function, args, more)
        if isinstance(function, str):
            return self.built_in(function, args)
        raise Refused("no naive kernel: a call of %s" % ast.unparse(node.func)[:60])

    def inlined(self, function, args, more):
        self.calls += 1
        if self.calls > MOST_DEPTH:
            raise Refused("no naive kernel: more than %d calls in each other" % MOST_DEPTH)
        words = [a.arg for a in function.args.args]
        defaults = function.args.defaults
        env = dict(zip(words[len(words) - len(defaults):], [self.value(d, {}) for d in defaults]))
        env.update(zip(words, args))
        env.update(more)
        said = self.block(function.body, env)
        self.calls -= 1
        return said[1] if isinstance(said, tuple) else None

    def built_in(self, name, args):
        if not has_symbol(args):
            return getattr(__import__("builtins"), name)(*args)
        first = args[0]
        if name == "len":
            return P(C("%s.d[0]" % first.sym.name), len(first.val)) if is_tensor(first) else len(first)
        if name in ("max", "min") and len(args) == 2:
            a, b = [self.number(v) for v in args]
            words = [written_number(symbol(v)) for v in (a, b)]
            sign = ">" if name == "max" else "<"
            return P(C("(%s %s %s ? %s : %s)" % (words[0], sign, words[1], words[0], words[1])),
                     (max if name == "max" else min)(sample(a), sample(b)))
        if name in ("int", "float") and len(args) == 1:
            value = self.number(first)
            if name == "int" and isinstance(value.val, float) or name == "float" and not isinstance(value.val, float):
                return P(C("((%s)%s)" % ("int64_t" if name == "int" else "float", value.sym.text)),
                         int(value.val) if name == "int" else float(value.val))
            return value
        raise Refused("no naive kernel: %s of these values" % name)

    def called(self, name, compute, args, more, is_method):
        """A function of torch or math, or a method of a tensor: its first argument is the tensor then."""
        given = sample(args[1:] if is_method else args)
        val = compute(*given, **{k: sample(v) for k, v in more.items()})
        x = args[0] if args else None
        more = {k: v for k, v in more.items() if k not in ("dtype", "device", "out")}
        if not is_method and name in MAKERS:
            return paired(self.w.made("zeros" if name == "empty" else name, symbol(args), symbol_of(more), val.dim()), val)
        if not has_symbol((args, list(more.values()))):
            if isinstance(val, torch.Tensor):
                return paired(self.w.constant(val), val)
            return val
        if name == "item":
            return self.number(x)
        if name == "numel":
            return P(C("n_count(%s)" % x.sym.name), val)
        if name == "clone":
            self.w.use("n_copy")
            return P(self.w.fresh("n_copy(%s)" % x.sym.name, x.sym.rank), val)
        if name in KEPT:
            return P(x.sym, val)
        if name in ("size", "dim"):
            return paired(self.w.function(name, symbol(args), {}, -1), val if isinstance(val, int) else list(val))
        if not isinstance(val, (torch.Tensor, tuple)):
            return P(self.w.number(name, [symbol(self.number(a)) for a in args]), val)
        rank = val.dim() if isinstance(val, torch.Tensor) else -1
        self.w.n_parts = len(val) if isinstance(val, tuple) else 0
        return paired(self.w.function(name, symbol(args), symbol_of(more), rank), val)


def symbol_of(more):
    return {k: symbol(v) for k, v in more.items()}


def kernels(trial, pack):
    """(C, ""): there is none for a device."""
    w, tree = Loops(trial, pack), parse(pack.d.text)
    forward = next(s for c in tree.body if isinstance(c, ast.ClassDef) for s in c.body if getattr(s, "name", "") == "forward")
    env = {}
    for a, given, spec in zip(forward.args.args[1:], trial.arguments, pack.record["arguments"]):
        if "name" not in spec:
            env[a.arg] = P(C(spec["axis"]), given) if "axis" in spec else given
        elif spec["name"] in pack.scalars:
            env[a.arg] = P(C(spec["name"]), given)
        else:
            env[a.arg] = P(T("m_" + spec["name"], given.dim()), given.clone())
    try:
        said = Reader(w, tree, trial).block(forward.body, env)
    except Refused:
        raise
    except Exception as why:
        raise Refused("no naive kernel: the loops cannot be read (%s: %s)" % (type(why).__name__, str(why).split("\n")[0][:120]))
    result = said[1] if isinstance(said, tuple) else None
    result = list(result) if isinstance(result, (list, tuple)) else [result]
    return text(w, pack, [symbol(r) for r in result]), ""

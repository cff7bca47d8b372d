# SPDX-License-Identifier: Apache-2.0
# Which passes, folds and shares of a traced module are computed together: groups, found from the calls of n_module and from what
# is known of their values (naive_cuda_shapes.py). naive_cuda_folds.py writes their kernels.
import re

from naive_cuda_shapes import broadcast, folded, seen

MOST_BASES, MOST_STEPS = 8, 32


def parts_of(shape, against, cuts):
    """Of each part of the wider sizes: are these the same (True), or one element (False)? None: neither."""
    if len(shape) > len(against):
        return None
    wide, found = ("1",) * (len(against) - len(shape)) + tuple(shape), []
    for start, end in zip((0,) + cuts, cuts + (len(against),)):
        if wide[start:end] == tuple(against[start:end]):
            found.append(True)
        elif all(s == "1" for s in wide[start:end]):
            found.append(False)
        else:
            return None
    return tuple(found)


class Lines:
    """The calls of n_module: which line makes a value, and who reads it."""

    def __init__(self, w, lines):
        self.w, self.lines, self.made, self.readers = w, lines, {}, {}
        for at, line in enumerate(lines):
            found = re.match(r"    struct nt (\w+) = (n_\w+)\(", line)
            words = set(re.findall(r"\w+", line))
            if found:
                self.made[found.group(1)] = (at, found.group(2))
                words.discard(found.group(1))
            for word in words & set(w.shapes):
                self.readers.setdefault(word, set()).add(at)
        for name, text in w.before.items():  # what stands in front of a value's line
            for word in set(re.findall(r"\w+", text)) & set(w.shapes):
                self.readers.setdefault(word, set()).add(w.made_at[name] - 0.5)
        for name in w.results:
            self.readers.setdefault(name, set()).add(len(lines))

    def op(self, name):
        """What makes it, where that is still a call of its own."""
        part = self.made.get(name, (0, ""))[1]
        found = self.w.ops.get(name)
        return found if found and (part == found.part if found.part else re.match(r"n_map\d+$", part)) else None

    def names(self):
        return sorted(self.made, key=lambda name: self.made[name][0])

    def is_read_by(self, name, members):
        return self.readers.get(name, set()) <= {self.made[m][0] for m in members}


class Group:
    """Sizes S with a run of dimensions that is folded: values are elements (E), or results, kept (K) or without it (Q)."""

    def __init__(self, known, name, op):
        w = known.w
        self.known, self.w, self.shape, self.mask = known, w, w.shapes[op.sources[0]], op.mask
        rank = len(self.shape)
        over = [i for i in range(rank) if op.mask >> i & 1]
        self.is_fit = bool(over) and over == list(range(over[0], over[-1] + 1)) and any(self.shape[i] != "1" for i in over)
        self.cuts = (over[0], over[-1] + 1) if over else (0, 0)
        self.kept, self.gone = folded(self.shape, op.mask, True), folded(self.shape, op.mask, False)
        self.is_whole = self.cuts == (0, rank)
        self.members, self.kinds = [], {}
        self.is_fit = self.is_fit and self.join(name, op)

    def kind_of(self, name, op):
        shape = self.w.shapes[name]
        if op.kind in ("lines", "norm"):
            return "E"
        if op.kind == "pick" or op.kind == "fold" and not op.keep:
            return "Q"
        if op.kind == "fold":
            return "K"
        kinds = {self.kinds[s] for s in op.sources if s in self.kinds} or {{self.shape: "E", self.kept: "K"}.get(shape, "Q")}
        if op.drops and kinds == {"K"} and op.mask == self.mask:
            return "Q" if shape == self.gone else None
        if op.drops or shape != broadcast(name, [seen(self.w, op, s) for s in op.sources]) or "Q" in kinds and len(kinds) > 1:
            return None
        kind = "E" if "E" in kinds or shape == self.shape and "Q" not in kinds else kinds.pop()
        return kind if shape == {"E": self.shape, "K": self.kept, "Q": self.gone}[kind] else None

    def place(self, name, kind):
        """(outer, folded, inner) of a tensor that elements or results read; None: it is not read like that."""
        shape, (first, last) = self.shape_of(name), self.cuts
        if kind == "Q":
            found = parts_of(shape, self.gone, (first,))
            return found and (found[0], False, found[1])
        found = parts_of(shape, self.shape if kind == "E" else self.kept, (first, last))
        return found and (found[0], found[1] and kind == "E", found[2])

    def fits_whole(self, kind, op):
        """One fold of everything, and what is made of its result."""
        return kind != "E" and op.kind == "map" if self.members else op.kind == "fold"

    def fits_part(self, op):
        if op.kind in ("fold", "lines", "norm") and self.w.shapes[op.sources[0]] != self.shape:
            return False
        return op.kind == "map" or op.mask == self.mask and (op.kind != "pick" or self.kinds.get(op.sources[0]) == "E")

    def join(self, name, op):
        """Takes the value in, with what is made for it alone; False: it does not fit, and nothing changed."""
        kind, saved = self.kind_of(name, op), (list(self.members), dict(self.kinds))
        if not kind or not (self.fits_whole(kind, op) if self.is_whole else self.fits_part(op)):
            return False
        self.members.append(name)
        self.kinds[name] = kind
        for at, source in enumerate(op.sources):
            wanted = "E" if op.kind in ("fold", "lines") or op.kind == "pick" and at == 0 else kind
            if not self.take(source, wanted):
                self.members, self.kinds = saved
                return False
        return True

    def shape_of(self, name):
        users = [self.known.op(m) for m in self.members if name in self.known.op(m).sources]
        return seen(self.w, users[0], name) if users else self.w.shapes[name]

    def is_taken(self, op):
        """May be computed here for what needs it: a pass, or the same fold of such a tensor."""
        return op.kind == "map" or op.kind == "fold" and not self.is_whole and op.mask == self.mask and (
            self.w.shapes[op.sources[0]] == self.shape)

    def take(self, source, wanted):
        if source in self.kinds:
            return True
        op = self.known.op(source)
        if op and self.is_taken(op) and len(self.members) < MOST_STEPS and self.known.is_read_by(source, self.members):
            before = list(self.members), dict(self.kinds)
            self.members.insert(0, source)
            kind = self.kind_of(source, op)
            self.kinds[source] = kind
            if (kind == wanted or (kind, wanted) == ("K", "E")) and all(self.take(s, "E" if op.kind == "fold" else kind) for s in op.sources):
                return True
            self.members, self.kinds = before
        return self.place(source, wanted) is not None

    def outputs(self):
        return [m for m in self.members if not self.known.is_read_by(m, self.members)]

    def bases(self):
        found = {}
        for m in self.members:
            found.update(dict.fromkeys(s for s in self.known.op(m).sources if s not in self.kinds))
        return list(found)

    def whole_base(self):
        return next((b for b in self.bases() if self.w.shapes[b] == self.shape), None)

    def grow(self, start):
        """Later values that need these, up to the first that something else needs in between; the longest with one output."""
        best = None
        for name in [None] + [n for n in self.known.names() if self.known.made[n][0] > start]:
            op = name and self.known.op(name)
            is_reader = name and any(self.known.made[name][0] in self.known.readers.get(m, ()) for m in self.members)
            if name and not is_reader or name in self.kinds:
                continue
            if name and (not op or not self.join(name, op)):
                break
            self.retake()
            if len(self.outputs()) == 1 and len(self.bases()) <= MOST_BASES and self.whole_base():
                best = list(self.members), dict(self.kinds)
        self.members, self.kinds = best or ([], {})
        self.members.sort(key=lambda m: self.known.made[m][0])
        return best is not None

    def retake(self):
        """What is made for these alone, now that there are more of them."""
        for base in self.bases():
            users = [m for m in self.members if base in self.known.op(m).sources]
            self.take(base, "E" if self.known.op(users[0]).kind in ("fold", "lines", "norm") else self.kinds[users[0]])


class Passes:
    """A pass over the elements and those that feed it alone. runs: dimensions that all of its tensors have or lack together."""

    def __init__(self, known, name):
        self.known, self.w, self.shape, self.members = known, known.w, known.w.shapes[name], [name]
        self.kinds = {name: "E"}
        self.runs = self.runs_of()
        for _ in range(MOST_STEPS):
            if not any(self.take(base) for base in self.bases()):
                break
        self.members.sort(key=lambda m: known.made[m][0])
        self.runs = self.runs_of()  # in the order of the tensors that there are now

    bases, shape_of = Group.bases, Group.shape_of

    def is_known(self, name):
        op = self.known.op(name)
        return not op.drops and self.w.shapes[name] == broadcast(name, [seen(self.w, op, s) for s in op.sources])

    def take(self, base):
        op = self.known.op(base)
        if not op or op.kind != "map" or self.w.shapes[base] != self.shape or not self.is_known(base) or not (
                self.known.is_read_by(base, self.members)) or len(self.members) == MOST_STEPS:
            return False
        self.members.append(base)
        self.kinds[base] = "E"
        runs = self.runs_of()
        if runs and len(self.bases()) <= MOST_BASES:
            self.runs = runs
            return True
        self.members.pop()
        del self.kinds[base]
        return False

    def has(self, base):
        """Of each dimension: does the tensor have it (True), or one element along it?"""
        shape = self.shape_of(base)
        return [s == mine for s, mine in zip(("1",) * (len(self.shape) - len(shape)) + tuple(shape), self.shape)]

    def runs_of(self):
        """[(first dimension, behind the last, who has them)], three at most; None: more, or a size that no tensor has as its own."""
        has, runs = [self.has(b) for b in self.bases()], []
        for d, own in enumerate(zip(*has)):
            if self.shape[d] == "1":
                continue
            if not any(there and d >= len(self.shape) - len(self.w.shapes[b]) for there, b in zip(own, self.bases())):
                return None
            if runs and runs[-1][2] == own:
                runs[-1] = (runs[-1][0], d + 1, own)
            else:
                runs.append((d, d + 1, own))
        return runs if 0 < len(runs) <= 3 else None

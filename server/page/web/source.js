/* SPDX-License-Identifier: Apache-2.0 */
/* Sources on the page: highlighting of C and CUDA, differences by line and within lines. Stands before
 * page.js in one file. Lines are drawn from parts [class, text]; text is set as text, never as HTML. */
"use strict";

/* ---- highlighting ---- */

const classesOf = new Map([
    ["key", "break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while " +
        "alignas auto class constexpr namespace operator template this typename using __restrict __restrict__ __inline __attribute__ _Pragma"],
    ["type", "void char short int long float double signed unsigned bool half half2 bfloat16 int2 int4 float2 float3 float4 double2 uint2 uint4 dim3 " +
        "__half __half2 __nv_bfloat16 __nv_bfloat162 __m128 __m256 __m256d __m512 __m512d"],
    ["device", "__global__ __device__ __host__ __shared__ __constant__ __forceinline__ __noinline__ __launch_bounds__ __align__ " +
        "threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_sync __shfl_xor_sync __shfl_down_sync __ldg"],
].flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind])));

/* comment, string, directive, number, word */
const tokens = /(\/\*[^]*?(?:\*\/|$(?![^]))|\/\/(?:\\\n|[^\n])*)|("(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)|(^[ \t]*#[ \t]*[a-z]+)|(\b(?:0[xX][\da-fA-F]+|\d[\d.']*(?:[eEpP][+-]?\d+)?)\w*)|([A-Za-z_]\w*)/gm;

/* The text's lines, each a list of parts [class or "", text]. */
function paint(text) {
    const lines = [[]];
    const add = (kind, words) => words.split("\n").forEach((piece, i) => {
        if (i > 0) lines.push([]);
        if (piece !== "") lines[lines.length - 1].push([kind, piece]);
    });
    let at = 0;
    for (const m of text.matchAll(tokens)) {
        const word = m[5], kind = m[1] ? "comment" : m[2] ? "string" : m[3] ? "key" : m[4] ? "figure"
            : classesOf.get(word) || (/^u?int(8|16|32|64|ptr)_t$|^p?size_t$|^ptrdiff_t$/.test(word) ? "type" : "");
        if (kind === "") continue;
        add("", text.slice(at, m.index));
        add(kind, m[0]);
        at = m.index + m[0].length;
    }
    add("", text.slice(at));
    return lines;
}

/* changed: ranges [from, to) of the line, in order, that stand out; null: none. */
function lineNodes(parts, changed) {
    const out = [];
    let at = 0, k = 0;
    for (const [kind, words] of parts || []) {
        const end = at + words.length;
        while (at < end) {
            while (changed && k < changed.length && changed[k][1] <= at) k++;
            const range = changed && changed[k], isIn = range && range[0] <= at;
            const until = Math.min(end, !range ? end : isIn ? range[1] : range[0]);
            const piece = words.slice(words.length - (end - at), words.length - (end - until));
            const span = kind ? h("span", {class: kind}, piece) : document.createTextNode(piece);
            out.push(isIn ? h("mark", {}, span) : span);
            at = until;
        }
    }
    return out;
}

/* ---- what a profile says of lines ---- */

/* Map of line to {isHot, texts}. */
function marksOf(profile) {
    const marks = new Map();
    const add = (line, isHot, text) => {
        if (!(line > 0)) return;
        const m = marks.get(line) || {isHot: false, texts: []};
        m.isHot = m.isHot || isHot;
        m.texts.push(text);
        marks.set(line, m);
    };
    for (const b of (profile && profile.bottlenecks) || []) add(b.line, true, b.class_name + ": " + b.rule);
    for (const r of (profile && profile.remarks) || []) add(r.line, false, r.kind + ": " + r.message);
    return marks;
}

/* marks: of marksOf. */
function sourceView(text, marks) {
    return h("pre", {tabindex: "0", "aria-label": "Source"}, paint(text).map((parts, i) => {
        const mark = marks.get(i + 1);
        return h("span", {class: "line" + (mark && mark.isHot ? " hot" : ""), id: "line-" + (i + 1), title: mark ? mark.texts.join("\n") : null},
            h("span", {class: "no"}, i + 1), marks.size > 0 ? h("span", {class: "sign"}, mark ? (mark.isHot ? "▲" : "·") : " ") : null, lineNodes(parts, null));
    }));
}

/* The marked lines as a list: what a mark's title says can be read without a pointer. */
function marksTable(marks) {
    const rows = [...marks].sort((a, b) => b[1].isHot - a[1].isHot || a[0] - b[0]);
    return rows.length === 0 ? null : [h("h2", {}, "What the profile says of lines"), table(["#line", "finding"], rows.map(([line, m]) =>
        [h("button", {type: "button", onclick: () => document.getElementById("line-" + line).scrollIntoView({block: "center"})}, (m.isHot ? "▲ " : "") + line),
            m.texts.map((t) => h("div", {}, t))]))];
}

/* ---- differences ---- */

/* Pairs [i, j] of equal items of two lists in order, by the longest common subsequence; null: too long. */
function commonOf(a, b, most) {
    const out = [];
    let from = 0, n = a.length, m = b.length;
    for (; from < n && from < m && a[from] === b[from]; from++) out.push([from, from]);
    const tail = [];
    while (n > from && m > from && a[n - 1] === b[m - 1]) tail.push([--n, --m]);
    if ((n - from) * (m - from) > most) return null;
    const t = Array.from({length: n - from + 1}, () => new Uint16Array(m - from + 1));
    for (let i = n - 1; i >= from; i--)
        for (let j = m - 1; j >= from; j--)
            t[i - from][j - from] = a[i] === b[j] ? t[i - from + 1][j - from + 1] + 1 : Math.max(t[i - from + 1][j - from], t[i - from][j - from + 1]);
    for (let i = from, j = from; i < n && j < m;) {
        if (a[i] === b[j]) out.push([i++, j++]);
        else if (t[i - from + 1][j - from] >= t[i - from][j - from + 1]) i++;
        else j++;
    }
    return out.concat(tail.reverse());
}

/* What changed within two lines: {share, ranges} of what they have in common, 0 to 1, and of what not. */
function within(a, b) {
    const cut = (line) => line.match(/\w+|\s+|[^\w\s]/g) || [];
    const x = cut(a), y = cut(b), common = commonOf(x, y, 40000) || [];
    const ink = (list) => list.reduce((n, word) => n + word.trim().length, 0), kept = ink(common.map(([i]) => x[i]));
    const ranges = (list, side) => {
        const same = new Set(common.map((pair) => pair[side])), out = [];
        let at = 0;
        list.forEach((word, i) => {
            const last = out[out.length - 1];
            if (!same.has(i) && last && last[1] === at) last[1] += word.length;
            else if (!same.has(i)) out.push([at, at + word.length]);
            at += word.length;
        });
        return out;
    };
    return {share: (2 * kept) / Math.max(1, ink(x) + ink(y)), ranges: [ranges(x, 0), ranges(y, 1)]};
}

/* Of removed lines a and added lines b those that are one line changed: [i, j, ranges], in order, with
 * the most in common in all. */
function pairsOf(a, b) {
    const LEAST = 0.5;
    if (a.length * b.length > 2500) return [];
    const n = a.length, m = b.length, of = a.map((x) => b.map((y) => within(x, y)));
    const t = Array.from({length: n + 1}, () => new Float64Array(m + 1));
    const worth = (i, j) => (of[i][j].share >= LEAST ? of[i][j].share + t[i + 1][j + 1] : 0);
    for (let i = n - 1; i >= 0; i--)
        for (let j = m - 1; j >= 0; j--) t[i][j] = Math.max(worth(i, j), t[i + 1][j], t[i][j + 1]);
    const out = [];
    for (let i = 0, j = 0; i < n && j < m;) {
        if (worth(i, j) > 0 && t[i][j] === worth(i, j)) { out.push([i, j, of[i][j].ranges]); i++; j++; }
        else if (t[i + 1][j] >= t[i][j + 1]) i++;
        else j++;
    }
    return out;
}

/* Rows {a, b, isChanged, ranges}: numbers of the lines that stand side by side, from 0; -1: none.
 * ranges: what changed in each, null: all of it. null: the texts are too long. */
function rowsOf(from, to) {
    const a = from.split("\n"), b = to.split("\n"), common = commonOf(a, b, 4e6), rows = [];
    if (common === null) return null;
    let i = 0, j = 0;
    /* lines up to p and q, of which none is known to belong together */
    const apart = (p, q) => {
        while (i < p || j < q) rows.push({a: i < p ? i++ : -1, b: j < q ? j++ : -1, isChanged: true, ranges: null});
    };
    for (const [p, q] of common.concat([[a.length, b.length]])) {
        const [i0, j0] = [i, j];
        for (const [x, y, ranges] of pairsOf(a.slice(i, p), b.slice(j, q))) {
            apart(i0 + x, j0 + y);
            rows.push({a: i++, b: j++, isChanged: true, ranges});
        }
        apart(p, q);
        if (p < a.length) rows.push({a: i++, b: j++, isChanged: false, ranges: null});
    }
    return rows;
}

const diffKinds = ["removed", "added"], diffSigns = ["-", "+"];

/* One line of one side (0: first, 1: second) of a row. */
function diffLine(painted, row, side) {
    const at = side === 0 ? row.a : row.b;
    if (at < 0) return h("span", {class: "line fill"});
    return h("span", {class: "line " + (row.isChanged ? diffKinds[side] : "")}, h("span", {class: "no"}, at + 1),
        h("span", {class: "diff-sign"}, row.isChanged ? diffSigns[side] : " "), lineNodes(painted[at], row.ranges && row.ranges[side]));
}

const tooLong = () => h("p", {class: "soft"}, "The texts are too long to be compared here.");

/* One below the other, with two equal lines around what changed. */
function diffView(from, to) {
    const rows = rowsOf(from, to), near = 2;
    if (rows === null) return tooLong();
    if (!rows.some((r) => r.isChanged)) return h("p", {class: "soft"}, "The same text.");
    const sides = [paint(from), paint(to)], out = [];
    let block = [], hidden = 0;
    const flush = () => {
        for (const side of [0, 1]) for (const r of block) if ((side === 0 ? r.a : r.b) >= 0) out.push(diffLine(sides[side], r, side));
        block = [];
    };
    rows.forEach((r, i) => {
        if (r.isChanged) { block.push(r); return; }
        flush();
        const isNear = rows.slice(Math.max(0, i - near), i + near + 1).some((x) => x.isChanged);
        if (!isNear) { hidden++; return; }
        if (hidden > 0) out.push(h("span", {class: "line hunk"}, "… " + hidden + " equal lines"));
        hidden = 0;
        out.push(diffLine(sides[1], r, 1));
    });
    flush();
    if (hidden > 0) out.push(h("span", {class: "line hunk"}, "… " + hidden + " equal lines"));
    return h("pre", {tabindex: "0", "aria-label": "Difference"}, out);
}

/* Two texts whose lines stand beside each other and scroll together. */
function sideBySide(from, to) {
    const rows = rowsOf(from, to);
    if (rows === null) return tooLong();
    const texts = [paint(from), paint(to)];
    const sides = [0, 1].map((side) => h("pre", {tabindex: "0", "aria-label": side ? "Second" : "First"}, rows.map((r) => diffLine(texts[side], r, side))));
    sides.forEach((pre, side) => pre.addEventListener("scroll", () => {
        const other = sides[1 - side];
        if (Math.abs(other.scrollTop - pre.scrollTop) > 1) other.scrollTop = pre.scrollTop;
        if (Math.abs(other.scrollLeft - pre.scrollLeft) > 1) other.scrollLeft = pre.scrollLeft;
    }));
    const starts = rows.flatMap((r, i) => (r.isChanged && !(i > 0 && rows[i - 1].isChanged) ? [i] : []));
    let at = -1;
    const told = h("span", {class: "soft", role: "status"}, starts.length === 0 ? "The same text." : starts.length + (starts.length === 1 ? " change" : " changes"));
    const step = (by) => () => {
        at = (at + by + starts.length) % starts.length;
        for (const pre of sides) {
            const line = pre.children[starts[at]];
            pre.scrollTop = line.offsetTop - pre.offsetTop - pre.clientHeight / 3;
        }
        told.textContent = "change " + (at + 1) + " of " + starts.length;
    };
    return [h("div", {class: "bar"}, starts.length > 1 ? [h("button", {type: "button", onclick: step(-1)}, "change before"), h("button", {type: "button", onclick: step(1)}, "next change")] : null, told),
        h("div", {class: "split even"}, sides)];
}

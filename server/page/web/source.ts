/* SPDX-License-Identifier: Apache-2.0 */
/* Sources over CodeMirror: highlighting of C and CUDA, what a profile says of lines, differences.
 *
 * Each editor stands in a shadow root: CodeMirror then uses constructed style sheets, which the page's
 * policy allows, and no style element, which it refuses. */

import {cpp} from "@codemirror/lang-cpp";
import {HighlightStyle, syntaxHighlighting} from "@codemirror/language";
import {getChunks, goToNextChunk, goToPreviousChunk, MergeView, unifiedMergeView} from "@codemirror/merge";
import {search, searchKeymap} from "@codemirror/search";
import {EditorState, RangeSet, type Extension} from "@codemirror/state";
import {Decoration, EditorView, gutter, GutterMarker, keymap, lineNumbers, MatchDecorator, ViewPlugin, type DecorationSet, type ViewUpdate} from "@codemirror/view";
import {tags} from "@lezer/highlight";
import {plainReason} from "./counters";
import {h, table} from "./dom";
import type {Profile} from "./data";

const colours = HighlightStyle.define([
    {tag: [tags.keyword, tags.controlKeyword, tags.modifier, tags.processingInstruction], color: "var(--best)", fontWeight: "600"},
    {tag: [tags.typeName, tags.standard(tags.typeName)], color: "var(--best)"},
    {tag: [tags.string, tags.character], color: "var(--good)"},
    {tag: [tags.number, tags.bool, tags.null], color: "var(--figure)"},
    {tag: [tags.lineComment, tags.blockComment], color: "var(--soft)", fontStyle: "italic"},
]);

/* What CUDA adds to C++. */
const deviceWords = new MatchDecorator({
    regexp: /\b(?:__(?:global|device|host|shared|constant|forceinline|noinline|launch_bounds|align|restrict)__|(?:thread|block)Idx|(?:block|grid)Dim|warpSize|__sync\w+|__shfl\w+|__ldg)\b/g,
    decoration: Decoration.mark({class: "device"}),
});
const device = ViewPlugin.fromClass(class {
    decorations: DecorationSet;
    constructor(view: EditorView) { this.decorations = deviceWords.createDeco(view); }
    update(u: ViewUpdate) { this.decorations = deviceWords.updateDeco(u, this.decorations); }
}, {decorations: (x) => x.decorations});

const tint = (ink: string, share: number) => `color-mix(in srgb, var(${ink}) ${share}%, transparent)`;
const theme = EditorView.theme({
    "&": {backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px", maxHeight: "70vh"},
    "&.cm-focused": {outline: "2px solid var(--best)", outlineOffset: "2px"},
    ".cm-scroller": {font: "13px/1.5 ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace", overflow: "auto"},
    ".cm-gutters": {backgroundColor: "var(--panel)", color: "var(--soft)", border: "0"},
    ".device": {color: "var(--device)", fontWeight: "600"},
    ".hot": {backgroundColor: "var(--mark)"},
    ".sign": {color: "var(--bad)"},
    ".cm-panels": {backgroundColor: "var(--panel)", color: "var(--text)"},
    "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": {backgroundColor: tint("--bad", 6)},
    "&.cm-merge-b .cm-changedLine, .cm-insertedLine": {backgroundColor: tint("--good", 6)},
    "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {background: tint("--bad", 6), borderBottom: "2px solid var(--bad)"},
    "&.cm-merge-b .cm-changedText": {background: tint("--good", 6), borderBottom: "2px solid var(--good)"},
    ".cm-deletedChunk del, .cm-deletedLine, .cm-deletedLine del": {textDecoration: "none"},
    ".cm-collapsedLines": {background: "var(--back)", color: "var(--soft)"},
    ".cm-collapsedLines::before, .cm-collapsedLines::after": {content: "'...'"},
});

/* Nothing can be typed; keys move, find and scroll. Machine code has no colours of C. */
const reading = (label: string, isC = true): Extension => [
    isC ? [cpp(), syntaxHighlighting(colours), device] : [], theme, lineNumbers(), search(), keymap.of(searchKeymap),
    EditorState.readOnly.of(true), EditorView.editable.of(false),
    EditorView.contentAttributes.of({tabindex: "0", "aria-label": label, "aria-readonly": "true"}),
];

function frame(label: string): {host: HTMLElement; root: ShadowRoot} {
    const host = h("div", {class: "source", role: "group", "aria-label": label});
    return {host, root: host.attachShadow({mode: "open"})};
}

/* ---- what a profile says of lines ---- */

interface Mark { isHot: boolean; texts: string[] }
export type Marks = Map<number, Mark>; /* by line, from 1 */

export function marksOf(profile?: Profile): Marks {
    const marks: Marks = new Map();
    const add = (line: number, isHot: boolean, text: string) => {
        if (!(line > 0)) return;
        const m = marks.get(line) || {isHot: false, texts: []};
        m.isHot = m.isHot || isHot;
        m.texts.push(text);
        marks.set(line, m);
    };
    for (const b of profile?.bottlenecks || []) add(b.line, true, b.class_name + ": " + plainReason(b.rule));
    for (const r of profile?.remarks || []) add(r.line, false, r.kind + ": " + r.message);
    return marks;
}

class Sign extends GutterMarker {
    constructor(readonly mark: Mark) { super(); }
    toDOM() { return h("span", {class: "sign", title: this.mark.texts.join("\n")}, this.mark.isHot ? "▲" : "·"); }
}

function signs(text: string, marks: Marks): Extension {
    if (marks.size === 0) return [];
    const doc = EditorState.create({doc: text}).doc, known = [...marks].filter(([line]) => line <= doc.lines).sort((a, b) => a[0] - b[0]);
    const hot = Decoration.line({class: "hot"});
    return [gutter({class: "signs", markers: () => RangeSet.of(known.map(([line, m]) => new Sign(m).range(doc.line(line).from)))}),
        EditorView.decorations.of(Decoration.set(known.filter(([, m]) => m.isHot).map(([line]) => hot.range(doc.line(line).from))))];
}

export interface Source { element: HTMLElement; goTo(line: number): void }

export function sourceView(text: string, marks: Marks, label = "Source", isC = true): Source {
    const {host, root} = frame(label);
    const view = new EditorView({state: EditorState.create({doc: text, extensions: [reading(label, isC), signs(text, marks)]}), root, parent: root});
    return {element: host, goTo(line) {
        host.scrollIntoView({block: "center"});
        view.dispatch({effects: EditorView.scrollIntoView(view.state.doc.line(Math.min(line, view.state.doc.lines)).from, {y: "center"})});
    }};
}

/* The marked lines as a list: what a mark's title says can be read without a pointer. */
export function marksTable(marks: Marks, source: Source): Node[] {
    const rows = [...marks].sort((a, b) => Number(b[1].isHot) - Number(a[1].isHot) || a[0] - b[0]);
    return rows.length === 0 ? [] : [h("h2", {}, "What the profile says of lines"), table(["#line", "finding"], rows.map(([line, m]) =>
        [h("button", {type: "button", onclick: () => source.goTo(line)}, (m.isHot ? "▲ " : "") + line), m.texts.map((t) => h("div", {}, t))]))];
}

/* ---- differences ---- */

const equal = () => h("p", {class: "soft"}, "The same text.");
const diffConfig = {scanLimit: 2000, timeout: 1000}, collapseUnchanged = {margin: 3, minSize: 6};

/* One below the other, with some equal lines around what changed. */
export function diffView(from: string, to: string): HTMLElement {
    if (from === to) return equal();
    const {host, root} = frame("Difference");
    new EditorView({state: EditorState.create({doc: to, extensions: [reading("Difference"),
        unifiedMergeView({original: from, mergeControls: false, gutter: true, diffConfig, collapseUnchanged})]}), root, parent: root});
    return host;
}

/* Two texts whose lines stand beside each other and scroll together. */
export function sideBySide(from: string, to: string): HTMLElement {
    const {host, root} = frame("First and second");
    const merge = new MergeView({a: {doc: from, extensions: [reading("First"), EditorView.lineWrapping]}, b: {doc: to, extensions: [reading("Second"), EditorView.lineWrapping]}, root, parent: root, gutter: true, diffConfig, collapseUnchanged});
    const chunks = () => getChunks(merge.b.state)?.chunks || [];
    const count = chunks().length;
    const told = h("span", {class: "soft", role: "status"}, from === to ? "The same text." : count + (count === 1 ? " change" : " changes"));
    const step = (go: typeof goToNextChunk) => () => {
        go(merge.b);
        const at = merge.b.state.selection.main.head, i = chunks().findIndex((c) => c.fromB <= at && at <= Math.max(c.fromB, c.endB));
        told.textContent = "change " + (i + 1) + " of " + chunks().length;
    };
    const move = (words: string, go: typeof goToNextChunk) => h("button", {type: "button", onclick: step(go)}, words);
    return h("div", {}, h("div", {class: "bar"}, count > 1 ? [move("change before", goToPreviousChunk), move("next change", goToNextChunk)] : null, told), host);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler made: the figures of two versions side by side, and the machine code of one. */

import {h, isNumber, messageOf, put, ratio, table, type Child} from "./dom";
import type {Build, Compiled, Kernel, Measured, Version} from "./data";
import {sourceView} from "./source";
import {resultOf, type Store} from "./store";

interface Built { build: Build; measured: Measured | null; known: Version | null }
interface Row { cells: Child[]; isChanged: boolean }

/* isCost: more of it is worse, whatever else changed. What is 0 in both has no row. */
function figureRow(what: string, x: number | undefined, y: number | undefined, unit: string, isCost = false): Row | null {
    const words = (v?: number) => (isNumber(v) ? v.toLocaleString("en", {maximumFractionDigits: 1}) + unit : "none");
    if (!x && !y) return null;
    if (!isNumber(x) || !isNumber(y)) return {cells: [what, words(x), words(y), h("b", {class: "changed"}, "≠ " + (isNumber(x) ? "the first's alone" : "the second's alone"))], isChanged: true};
    const more = y - x, ink = !isCost ? "changed" : more > 0 ? "bad" : "good";
    return {cells: [what, words(x), words(y), more === 0 ? "" : h("b", {class: ink}, (more > 0 ? "▲ " : "▼ ") + words(Math.abs(more)).replace(" %", " points") + (more > 0 ? " more" : " less") + (x > 0 && y > 0 ? ", " + ratio(y / x) : ""))], isChanged: more !== 0};
}

/* same: what is compared, where not all that is shown counts. */
function textRow(what: string, x: readonly string[], y: readonly string[], same: (line: string) => string = (line) => line): Row | null {
    const cell = (of: readonly string[]) => (of.length > 0 ? of.map((line) => h("div", {}, line)) : "none"), key = (of: readonly string[]) => of.map(same).sort().join("\n");
    if (x.length + y.length === 0) return null;
    const isChanged = key(x) !== key(y);
    return {cells: [what, cell(x), cell(y), isChanged ? h("b", {class: "changed"}, "≠ another") : ""], isChanged};
}

/* A kernel that alone has another name in each is the same one. What a report leaves out of a kernel is 0. */
function kernelRows(a: Kernel[] = [], b: Kernel[] = []): (Row | null)[] {
    const isRenamed = a.length === 1 && b.length === 1 && a[0].name !== b[0].name;
    const pairs = isRenamed ? [[a[0].name + ", " + b[0].name, a[0], b[0]] as const]
        : [...new Set([...a, ...b].map((k) => k.name))].map((name) => [name, a.find((k) => k.name === name), b.find((k) => k.name === name)] as const);
    const figures: [keyof Kernel, string, string, boolean][] = [["registers", "registers a thread", "", false], ["shared_bytes", "static shared memory a block", " bytes", false], ["spill_store_bytes", "spilled: written a thread", " bytes", true],
        ["spill_load_bytes", "spilled: read a thread", " bytes", true], ["frame_bytes", "stack a thread", " bytes", true], ["max_threads", "threads a block at most", "", false]];
    return pairs.flatMap(([name, x, y]) => figures.map(([key, words, unit, isCost]) => {
        const of = (k?: Kernel) => (k ? Number(k[key] || 0) : undefined);
        return figureRow(name + ": " + words, of(x), of(y), unit, isCost);
    }));
}

/* "smoke: tiled <<<8, 128>>>", a line an operation: a workload's launches, as counted and as they are. */
function planRows(a: string[] = [], b: string[] = []): (Row | null)[] {
    const of = (plans: string[], name: string) => plans.filter((p) => p.split(":")[0] === name), launches = (plans: string[]) => (plans.length > 0 ? plans.join("").split("<<<").length - 1 : undefined);
    return [...new Set([...a, ...b].map((p) => p.split(":")[0]))].flatMap((name) => {
        const [x, y] = [of(a, name), of(b, name)], text = (plans: string[]) => plans.map((p) => p.slice(name.length + 1).trim());
        return [figureRow("launches, " + name, launches(x), launches(y), ""), textRow("plan, " + name, text(x), text(y))];
    });
}

function profileRows(a: Built, b: Built): (Row | null)[] {
    const of = (x: Built) => x.measured?.profile || x.known?.report?.profile || {};
    const occupancy = (x: Built) => of(x).counters?.find((c) => c.name === "launch__occupancy_percent" && !c.kernel)?.value;
    const hot = (x: Built) => (of(x).bottlenecks || []).filter((l) => l.line > 0).map((l) => l.class_name + ", line " + l.line);
    const said = (x: Built, kind: string) => (of(x).remarks || []).filter((m) => m.kind === kind).map((m) => m.message + (m.line > 0 ? ", line " + m.line : ""));
    const line = (text: string) => text.replace(/, line \d+$/, ""); /* lines move with what stands above them */
    const kinds = [...new Set([a, b].flatMap((x) => (of(x).remarks || []).map((m) => m.kind)))];
    return [figureRow("occupancy allowed", occupancy(a), occupancy(b), " %"), textRow("hot lines", hot(a), hot(b), line), ...kinds.map((kind) => textRow("remarks on the hot loop: " + kind, said(a, kind), said(b, kind), line))];
}

/* What changed stands first. */
export function builtTable(known: (Version | null)[], measured: (Measured | null)[]): Node[] {
    const [a, b] = known.map((v, i): Built => ({build: v?.report?.build || {}, measured: measured[i], known: v})), text = (x?: string) => (x ? [x] : []);
    const rows = [figureRow("object", a.build.object_bytes, b.build.object_bytes, " bytes"), ...kernelRows(a.build.kernels, b.build.kernels), ...planRows(a.build.plans, b.build.plans), ...profileRows(a, b),
        textRow("compiler", text(a.build.compiler), text(b.build.compiler)), textRow("machine code", text(a.build.code), text(b.build.code))].filter((row) => row !== null);
    rows.sort((x, y) => Number(y.isChanged) - Number(x.isChanged));
    const n = rows.filter((row) => row.isChanged).length;
    return rows.length === 0 ? [] : [h("h2", {}, "What the compiler made of each"), h("div", {class: "built"}, table(["figure", "first", "second", "change"], rows.map((row) => row.cells))),
        h("p", {class: "soft"}, n === 0 ? "Nothing changed." : n + " of " + rows.length + " changed; they stand first. ▲: the second has more, ▼: less, ≠: other text. What is 0 in both is left out.")];
}

/* A button that calls kernel_compile, where the token's role may; then the instructions with their lines. */
export function machineCode(store: Store, task: string | undefined, target: string | undefined, commit: string): HTMLElement {
    const status = h("span", {role: "status", class: "soft"}), place = h("div"), which = h("select", {"aria-label": "Kernel", hidden: true});
    const button = h("button", {type: "button", onclick: async () => {
        button.disabled = true;
        status.textContent = "It is compiled.";
        try {
            const c = resultOf<Compiled>(await store.call("kernel_compile", {task, commit, target, assembly: target === "cuda" ? "sass" : "asm", detail: "full", ...(which.value ? {kernel: which.value} : {})}));
            const names = (c.kernels || []).map((k) => k.name);
            if (!which.firstChild && names.length > 1) {
                put(which, names.map((k) => h("option", {value: k, selected: k === c.assembly_of}, k)));
                which.hidden = false;
            }
            status.textContent = c.assembly ? [c.assembly_of, c.assembly_note].filter(Boolean).join(". ") : "There is no machine code: " + (c.assembly_note || c.summary || "the compiler gave none");
            put(place, c.assembly ? sourceView(c.assembly, new Map(), "Machine code", false).element : null);
        } catch (x) { status.textContent = messageOf(x); }
        button.disabled = false;
    }}, "show machine code");
    const panel = h("div", {class: "code-of"});
    store.tools().then((names) => {
        if (!store.isLive) put(panel, h("p", {class: "soft"}, "A file compiles nothing: a server's page can show machine code."));
        else if (!names.has("kernel_compile")) put(panel, h("p", {class: "soft"}, "This token may not compile: machine code takes an agent's token."));
        else if (task) put(panel, h("div", {class: "bar"}, button, which, status), place);
    });
    return panel;
}

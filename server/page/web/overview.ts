/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the workspace: its searches, and the machine. */

import {facts, h, href, isNumber, percent, put, ratio, s, table, three, time, type Child} from "./dom";
import {nameOf, type End, type Row} from "./data";
import type {Store} from "./store";

function spark(points?: [number, number][]): Child {
    const w = 120, height = 28;
    if (!points || points.length < 2) return "";
    const top = Math.max(...points.map((p) => Math.log2(p[1])), 0.5), last = points[points.length - 1][0] || 1;
    const d = points.map((p, i) => (i ? "L" : "M") + ((p[0] / last) * (w - 4) + 2).toFixed(1) + " " +
        (height - 3 - (Math.max(0, Math.log2(p[1])) / top) * (height - 6)).toFixed(1)).join("");
    return s("svg", {width: w, height, role: "img", "aria-label": "best speedup over time"}, s("path", {d, fill: "none", stroke: "currentColor"}));
}

function verdictOf(row: Row): Child {
    if (!row.end) return h("span", {class: "soft"}, "not ended");
    const word = row.end.verdict || "nothing confirmed", isFast = word === "faster";
    return h("span", {class: isFast ? "good" : "soft"}, (isFast ? "◆ " : "") + word);
}

/* The confirmed figure, else the best of short looks, which says so. */
export function bestOf(row: {end?: End; best?: [number, number][]}): Child {
    const e = row.end, best = row.best?.at(-1)?.[1];
    if (e && isNumber(e.speedup)) return ratio(e.speedup) + (e.ci?.length === 2 ? " [" + e.ci.map(three).join(", ") + "]" : "");
    return isNumber(best) ? h("span", {class: "soft"}, "about " + ratio(best) + ", unconfirmed") : "";
}

export async function overview(store: Store, view: HTMLElement): Promise<void> {
    const rows = await store.searches();
    put(view, h("h1", {}, "Searches"),
        table(["search", "task", "target", "#result, 95 %", "verdict", "#of bound", "best over time", "#evaluations", "#USD", "#tokens", "why it ended", "last heard of"],
            rows.map((r) => [h("a", {href: href("search", nameOf(r))}, nameOf(r)), r.task, r.target, bestOf(r), verdictOf(r), percent(r.end?.percent_of_bound),
                spark(r.best), r.evaluations, r.end?.cost ? three(r.end.cost) : "", r.end?.tokens || "", r.end?.why_stopped || "", time(r.last_ms)]),
            "No search yet. hone search TASK starts one."),
        store.isLive ? h("p", {}, h("a", {href: "#/machine"}, "This machine")) : null);
}

type Json = null | string | number | boolean | Json[] | {[name: string]: Json};
const words = (name: string) => name.replaceAll("_", " ");
const isPlain = (v: Json): boolean => v === null || typeof v !== "object" || (Array.isArray(v) && v.every((x) => typeof x !== "object"));

function plain(v: Json): string {
    if (v === null) return "";
    if (typeof v === "boolean") return v ? "yes" : "no";
    if (!isPlain(v)) return JSON.stringify(v);
    return Array.isArray(v) ? v.join(", ") : String(v);
}

/* An object's members: plain ones as facts, lists of objects as tables, others below their name. */
function known(o: {[name: string]: Json}): Child[] {
    const of = Object.entries(o);
    const cell = (x: Json | undefined): string => (x === undefined ? "" : isPlain(x) ? plain(x)
        : Object.entries(x as object).map(([n, w]) => words(n) + ": " + plain(w)).join(", "));
    return [facts(of.filter(([, v]) => isPlain(v)).map(([k, v]) => [words(k), plain(v)])), of.filter(([, v]) => !isPlain(v)).map(([k, v]) => {
        if (!Array.isArray(v)) return h("section", {}, h("h2", {}, words(k)), known(v as {[name: string]: Json}));
        const rows = v as {[name: string]: Json}[], keys = [...new Set(rows.flatMap((x) => Object.keys(x)))];
        return h("section", {}, h("h2", {}, words(k)), table(keys.map(words), rows.map((row) => keys.map((n) => cell(row[n])))));
    })];
}

export async function machineView(store: Store, view: HTMLElement): Promise<void> {
    const d = await store.device();
    put(view, h("h1", {}, "Machine"), d ? known({...d, next: null, status: null}) : h("p", {class: "soft"}, "A file does not know the machine."));
}

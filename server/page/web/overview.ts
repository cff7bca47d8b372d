/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the workspace: its searches, and the machine. */

import {facts, h, href, isNumber, percent, put, ratio, s, table, three, time, type Child} from "./dom";
import {nameOf, type End, type Row} from "./data";
import {claimLine, countsOf, endWords, fastMathOf} from "./claims";
import type {Store} from "./store";

function spark(points?: [number, number][]): Child {
    const w = 120, height = 28;
    if (!points || points.length < 2) return "";
    const top = Math.max(...points.map((p) => Math.log2(p[1])), 0.5), last = points[points.length - 1][0] || 1;
    const d = points.map((p, i) => (i ? "L" : "M") + ((p[0] / last) * (w - 4) + 2).toFixed(1) + " " +
        (height - 3 - (Math.max(0, Math.log2(p[1])) / top) * (height - 6)).toFixed(1)).join("");
    return s("svg", {width: w, height, role: "img", "aria-label": "best speedup over time"}, s("path", {d, fill: "none", stroke: "currentColor"}));
}

/* The way up, down to the confirmed figure where that did not bear the last short look out. */
function lookOf(row: Row): Child {
    const best = row.best || [], last = best.at(-1), high = row.end?.ci?.[1], speedup = row.end?.speedup;
    if (!last || !isNumber(high) || !isNumber(speedup) || last[1] <= high) return spark(best);
    return [spark([...best, [last[0] * 1.2, last[1]], [last[0] * 1.2, speedup]]), h("div", {class: "soft"}, "short look " + ratio(last[1]) + ", confirmed " + ratio(speedup))];
}

/* The confirmed figure, else the best of short looks, which says so. */
export function bestOf(row: {end?: End; best?: [number, number][]}): Child {
    const e = row.end, best = row.best?.at(-1)?.[1];
    if (e && isNumber(e.speedup)) {
        const words = ratio(e.speedup) + (e.ci?.length === 2 ? " [" + e.ci.map(three).join(", ") + "]" : ""), weak = fastMathOf(e);
        if (e.doubt) return h("span", {class: "soft doubted", title: e.doubt}, words + ", not to be claimed");
        return weak ? [words, h("div", {class: "soft"}, weak)] : words;
    }
    return isNumber(best) ? h("span", {class: "soft"}, "about " + ratio(best) + ", unconfirmed") : "";
}

export async function overview(store: Store, view: HTMLElement): Promise<void> {
    const rows = await store.searches();
    put(view, h("h1", {}, "Searches"), rows.length > 0 ? h("p", {class: "counts"}, countsOf(rows)) : null,
        h("div", {class: "cards"}, table(["search", "task", "target", "#result, 95 %", "verdict", "#of bound", "best over time", "#evaluations", "#USD", "#tokens", "why it ended", "last heard of"],
            rows.map((r) => [h("a", {href: href("search", nameOf(r))}, nameOf(r)), r.task, r.target, bestOf(r), claimLine(r.end), percent(r.end?.percent_of_bound),
                lookOf(r), r.evaluations, r.end?.cost ? three(r.end.cost) : "", r.end?.tokens || "", endWords(r.end?.why_stopped), time(r.last_ms)]),
            "No search yet. hone search TASK starts one.")),
        store.isLive ? h("p", {}, h("a", {href: "#/machine"}, "This machine")) : null);
}

type Json = null | string | number | boolean | Json[] | {[name: string]: Json};
const words = (name: string) => name.replaceAll("_", " ");
const isPlain = (v: Json): boolean => v === null || typeof v !== "object" || (Array.isArray(v) && v.every((x) => typeof x !== "object"));

/* "memory_bytes_per_s": 7.99e10 is 79.9 GB/s. */
function withUnit(key: string, v: Json): string {
    if (typeof v !== "number") return plain(v);
    const [by, unit] = v >= 1e12 ? [1e12, "T"] : v >= 1e9 ? [1e9, "G"] : v >= 1e6 ? [1e6, "M"] : [1, ""];
    const of = key.endsWith("bytes_per_s") ? "B/s" : key.endsWith("flops_per_s") ? "op/s" : key.endsWith("bytes") ? "B" : "";
    return of ? three(v / (by as number)) + " " + unit + of : plain(v);
}
const named = (name: string) => words(name.replace(/_?bytes_per_s$|_per_s$|_bytes$/, ""));

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
    return [facts(of.filter(([, v]) => isPlain(v)).map(([k, v]) => [named(k), withUnit(k, v)])), of.filter(([, v]) => !isPlain(v)).map(([k, v]) => {
        if (!Array.isArray(v)) return h("section", {}, h("h2", {}, words(k)), known(v as {[name: string]: Json}));
        const rows = v as {[name: string]: Json}[], keys = [...new Set(rows.flatMap((x) => Object.keys(x)))];
        return h("section", {}, h("h2", {}, words(k)), table(keys.map(words), rows.map((row) => keys.map((n) => cell(row[n])))));
    })];
}

export async function machineView(store: Store, view: HTMLElement): Promise<void> {
    const d = await store.device() as {[name: string]: Json} | null;
    const here = d && Object.fromEntries(Object.entries(d).filter(([k]) => !["next", "status", "ceilings", "probe", "devices"].includes(k)));
    const there = d && Object.fromEntries(Object.entries(d).filter(([k]) => ["ceilings", "probe", "devices"].includes(k)));
    put(view, h("h1", {}, "Machine"), d ? [h("h2", {}, "This server's"), known(here!),
        h("h2", {}, "Those that measure, as far as this server knows"), h("p", {class: "soft"}, "Ceilings were measured where a search ran, which may be another machine."), known(there!)] : h("p", {class: "soft"}, "A file does not know the machine."));
}

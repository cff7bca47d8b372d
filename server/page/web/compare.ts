/* SPDX-License-Identifier: Apache-2.0 */
/* Views of two: versions of one search, and searches. */

import {h, href, isNumber, nanoseconds, percent, put, ratio, ratioOf, seconds, short, table, three, type Child} from "./dom";
import {medianOf, nameOf, tierOf, type End, type Measured, type Report, type Row} from "./data";
import {figureOf, freshOf} from "./claims";
import {bestOf} from "./overview";
import {twoWays} from "./plots";
import {sideBySide} from "./source";
import {waysUp, wordsOf} from "./steps";
import type {Store} from "./store";
import {versionMenu} from "./version";

/* Rows [what, first, second, second over first]: times, then what else differs, the largest change first. */
function figures(m: Measured | null, o: Measured | null): Child[][] {
    const rows: Child[][] = [], change = (x: number, y: number) => (x > 0 && y > 0 ? Math.abs(Math.log(y / x)) : 0);
    for (const w of m?.workloads || []) {
        const v = o?.workloads?.find((k) => k.id === w.id), x = medianOf(w, "candidate"), y = v && medianOf(v, "candidate");
        if (v) rows.push(["time of " + w.id, nanoseconds(x), nanoseconds(y), x && y ? ratio(y / x) : ""]);
    }
    if (isNumber(m?.percent_of_bound) && isNumber(o?.percent_of_bound))
        rows.push(["share of the bound", percent(m.percent_of_bound) + " (" + tierOf(m) + ")", percent(o.percent_of_bound) + " (" + tierOf(o) + ")", m.tier === o.tier ? ratio(o.percent_of_bound / m.percent_of_bound) : "other sizes"]);
    const of = (x: Measured | null) => (x?.profile?.counters || []).filter((c) => !c.kernel);
    const both = of(m).flatMap((c) => { const k = of(o).find((x) => x.name === c.name); return k ? [[c, k] as const] : []; });
    both.sort((a, b) => change(b[0].value, b[1].value) - change(a[0].value, a[1].value));
    for (const [c, k] of both)
        rows.push([c.name.replaceAll("_", " "), three(c.value) + " " + (c.unit || ""), three(k.value) + " " + (k.unit || ""), c.value > 0 ? ratio(k.value / c.value) : ""]);
    return rows;
}

export async function compareView(store: Store, view: HTMLElement, name: string, a: string, b: string): Promise<void> {
    const r = await store.report(name), [left, right] = await Promise.all([store.source(a), store.source(b)]);
    const changed = figures(...(await Promise.all([store.measured(a), store.measured(b)])));
    const of = (commit: string) => r.steps.find((s) => s.commit === commit);
    const fresh = (commit: string) => { const s = r.steps.findLast((x) => x.kind === "confirm" && x.commit === commit); return s ? ratio(s.ratio) + ", " + s.verdict : ""; };
    const to = (p: string, q: string) => { location.hash = href("compare", name, p, q); };
    const both = (what: string, f: (commit: string) => Child): Child[] => [what, f(a), f(b)];
    put(view, h("h1", {}, short(a) + " and " + short(b)),
        h("form", {class: "bar", onsubmit: (e) => e.preventDefault()}, versionMenu(r, "first", a, (p) => to(p, b)), versionMenu(r, "second", b, (q) => to(a, q)),
            h("button", {type: "button", onclick: () => to(b, a)}, "swap")),
        table(["what", "first", "second"], [both("version", (c) => h("a", {href: href("search", name, "version", c)}, short(c))),
            both("step", (c) => { const s = of(c); return s ? wordsOf(s) : ""; }), both("against the baseline", (c) => figureOf(r.steps, of(c))),
            both("verdict", (c) => (freshOf(r.steps, c) || of(c))?.verdict || ""), both("with fresh data", fresh)]),
        changed.length > 0 ? [h("h2", {}, "What changed"), table(["figure", "#first", "#second", "#second over first"], changed)] : null,
        h("p", {class: "soft"}, "Each version was measured by itself; kernel_compare times two in one run."),
        h("h2", {}, "Source"), sideBySide(left, right));
}

/* ---- two searches ---- */

/* others: all but the search itself. */
export function searchMenu(others: Row[], name: string): HTMLElement | null {
    if (others.length === 0) return null;
    const pick = (e: Event) => { const {value} = e.target as HTMLSelectElement; if (value) location.hash = href("searches", name, value); };
    return h("p", {}, h("label", {}, "Compare with the search ", h("select", {onchange: pick}, h("option", {value: ""}, "a search"),
        [...new Set(others.map(nameOf))].slice(0, 200).map((n) => h("option", {value: n}, n)))));
}

/* Rows [strategy, gains of tries of both], the largest difference of gains first. */
function strategyRows(reports: Report[]): Child[][] {
    const rows = new Map<string, {words: string; tried: number[]; gains: number[]}>();
    reports.forEach((r, i) => {
        for (const s of r.steps) {
            if (!s.strategy || s.kind !== "expand") continue;
            const row = rows.get(s.strategy) || {words: wordsOf(s).replace(/ \(.*/, ""), tried: [0, 0], gains: [0, 0]};
            row.tried[i]++;
            row.gains[i] += s.is_gain ? 1 : 0;
            rows.set(s.strategy, row);
        }
    });
    const apart = (row: {tried: number[]; gains: number[]}) => Math.abs(row.gains[0] - row.gains[1]) + Math.abs(row.tried[0] - row.tried[1]) / 1000;
    return [...rows].sort((a, b) => apart(b[1]) - apart(a[1])).map(([id, row]) => [id + ", " + row.words, row.gains[0] + " of " + row.tried[0], row.gains[1] + " of " + row.tried[1]]);
}

export async function twoSearches(store: Store, view: HTMLElement, a: string, b: string): Promise<void> {
    const reports = [await store.report(a), await store.report(b)];
    const both = (what: string, f: (r: Report, e: End) => Child): Child[] => [what, ...reports.map((r) => f(r, r.end || {}))];
    const areApart = reports[0].task !== reports[1].task || reports[0].target !== reports[1].target;
    put(view, h("h1", {}, a + " and " + b), h("div", {class: "bar"}, h("a", {href: href("searches", b, a)}, "swap")), table(["what", "first", "second"], [
        both("search", (r) => h("a", {href: href("search", nameOf(r))}, nameOf(r))), both("task", (r) => r.task + " on " + r.target),
        both("planner, coder, seed", (r) => [r.policy, r.coder, r.seed].join(", ")), both("result, 95 %", (_, e) => bestOf({end: e}) || "nothing confirmed"),
        both("verdict", (r, e) => (r.end ? e.verdict || "nothing confirmed" : "not ended")), both("best by short looks", (r) => ratioOf(waysUp(r.steps).at(-1)?.[1])),
        both("of the bound", (_, e) => percent(e.percent_of_bound)), both("evaluations", (r) => r.spent.evaluations), both("wall", (r) => seconds(r.spent.wall_ms)),
        both("cost, USD", (r) => three(r.spent.cost)), both("tokens", (r) => r.spent.tokens), both("why it ended", (_, e) => e.why_stopped || "")]),
    areApart ? h("p", {class: "bad"}, "They are of different tasks: their ratios are not comparable.") : null,
    h("h2", {}, "Best so far"), twoWays(reports, [a, b]), h("p", {class: "soft"}, "Full line: " + a + ". Dashed: " + b + ". By short looks; each search measured by itself."),
    h("h2", {}, "What paid"), table(["strategy", "#first: gains of tries", "#second: gains of tries"], strategyRows(reports), "No step had a strategy."));
}

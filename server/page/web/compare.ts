/* SPDX-License-Identifier: Apache-2.0 */
/* Views of two: versions of one search, and searches. */

import {command, h, halfWidth, href, isNumber, nanoseconds, percent, put, ratio, ratioOf, seconds, short, table, three, type Child} from "./dom";
import {medianOf, nameOf, tierOf, waysUp, type End, type Measured, type Report, type Row, type Workload} from "./data";
import {builtTable} from "./built";
import {claimLine, endWords, figureOf, freshOf} from "./claims";
import {counterWords} from "./counters";
import {kindOf, signOf, stateWords} from "./marks";
import {bestOf} from "./overview";
import {twoWays} from "./plots";
import {diffView, sideBySide} from "./source";
import {COUNTED, gainsOf, strategyTries, wordsOf, type Tries} from "./steps";
import type {Store} from "./store";
import {versionMenu} from "./version";
import {countOf, geometricMean, sizeWords, verdictWords} from "./words";

/* How far chance alone may move the ratio of two sizes, or of many together, as a binary logarithm. */
function halfOf(pairs: readonly (readonly [Workload, Workload])[]): number | undefined {
    const of = pairs.flat().map((w) => { const x = (w.ratios || []).find((k) => k.against === "baseline"); return halfWidth(x?.low, x?.high); });
    return of.every(isNumber) ? Math.hypot(...of) : undefined;
}
const speedWords = (x: number, half?: number): string => ratio(x) + (isNumber(half) && Math.abs(Math.log2(x)) <= half ? ", within noise" : "");

/* Like with like: over the sizes that both were timed on alone. */
function commonRows(pairs: readonly (readonly [Workload, Workload])[]): Child[][] {
    const over = (w: Workload) => (w.ratios || []).find((x) => x.against === "baseline")?.ratio, common = ", the " + countOf(pairs.length) + " of both", half = halfOf(pairs);
    const row = (what: string, f: (w: Workload) => number | undefined, words: (x?: number) => string): Child[][] => {
        const [x, y] = [0, 1].map((k) => { const of = pairs.map((p) => f(p[k])); return of.every((v) => isNumber(v) && v > 0) ? geometricMean(of as number[]) : undefined; });
        return x && y ? [[what + common, words(x), words(y), speedWords(y / x, isNumber(half) ? half / pairs.length : undefined)]] : [];
    };
    return pairs.length === 0 ? [] : [...row("over the baseline", over, ratio), ...row("share of the bound", (w) => w.percent_of_bound, percent)];
}

/* Rows [what, first, second, how many times as fast the second is]: times, then all sizes of both together. */
function figures(m: Measured | null, o: Measured | null): Child[][] {
    const rows: Child[][] = [];
    /* drawn sizes have the same name and another shape in each run */
    const shape = (w: Workload) => w.id + JSON.stringify(w.axes || {});
    const pairs = (m?.workloads || []).flatMap((w) => { const v = o?.workloads?.find((k) => shape(k) === shape(w)); return v ? [[w, v] as const] : []; });
    for (const [w, v] of pairs) {
        const x = medianOf(w, "candidate"), y = medianOf(v, "candidate");
        rows.push(["time of " + sizeWords(w), nanoseconds(x), nanoseconds(y), x && y ? speedWords(x / y, halfOf([[w, v]])) : ""]);
    }
    rows.push(...commonRows(pairs));
    return rows;
}

/* Rows [counter, first, second, second over first], the largest change first. */
function counterRows(m: Measured | null, o: Measured | null): Child[][] {
    const rows: Child[][] = [], change = (x: number, y: number) => (x > 0 && y > 0 ? Math.abs(Math.log(y / x)) : 0);
    const of = (x: Measured | null) => (x?.profile?.counters || []).filter((c) => !c.kernel);
    const both = of(m).flatMap((c) => { const k = of(o).find((x) => x.name === c.name); return k ? [[c, k] as const] : []; });
    both.sort((a, b) => change(b[0].value, b[1].value) - change(a[0].value, a[1].value));
    for (const [c, k] of both)
        rows.push([h("span", {title: c.name}, counterWords(c.name)), three(c.value) + " " + (c.unit || ""), three(k.value) + " " + (k.unit || ""), c.value > 0 ? ratio(k.value / c.value) : ""]);
    return rows;
}

const NARROW = 700; /* pixels: two texts beside each other have no room */

export async function compareView(store: Store, view: HTMLElement, name: string, a: string, b: string): Promise<void> {
    const r = await store.report(name), [left, right] = await Promise.all([store.source(a), store.source(b)]);
    const [m, o] = await Promise.all([store.measured(a), store.measured(b)]), known = await Promise.all([a, b].map((c) => store.version(c).catch(() => null))), changed = figures(m, o), counted = counterRows(m, o), isTimed = changed.length > 0;
    const sizes = (x: Measured | null) => (x?.workloads?.length ? tierOf(x) + ", " + countOf(x.workloads.length) : "");
    const of = (commit: string) => r.steps.find((s) => s.commit === commit);
    const fresh = (commit: string) => { const s = r.steps.findLast((x) => x.kind === "confirm" && x.commit === commit); return s ? ratio(s.ratio) + ", " + s.verdict : ""; };
    const to = (p: string, q: string) => { location.hash = href("compare", name, p, q); };
    const both = (what: string, f: (commit: string) => Child): Child[] => [what, f(a), f(b)];
    put(view, h("h1", {}, short(a) + " and " + short(b)),
        h("form", {class: "bar", onsubmit: (e) => e.preventDefault()}, versionMenu(r, "first", a, (p) => to(p, b)), versionMenu(r, "second", b, (q) => to(a, q)),
            h("button", {type: "button", onclick: () => to(b, a)}, "swap")),
        table(["what", "first", "second"], [both("version", (c) => h("a", {href: href("search", name, "version", c)}, short(c))),
            both("step", (c) => { const s = of(c); return s ? wordsOf(s) : ""; }), ...(isTimed ? [] : [both("against the baseline", (c) => figureOf(r.steps, of(c)))]),
            ["stands on", sizes(m), sizes(o)], both("verdict", (c) => { const s = freshOf(r.steps, c); return s ? [signOf(kindOf(s)), " " + stateWords(s)] : verdictWords(of(c)?.verdict); }), ...(isTimed ? [] : [both("with fresh data", fresh)])]),
        isTimed ? [h("h2", {}, "What changed"), table(["figure", "#first", "#second", "#second's speed over first's"], changed), h("p", {class: "soft"}, "Of the sizes of both alone. Above 1x: the second is faster.")] : null,
        counted.length > 0 ? [h("h2", {}, "Counters"), table(["counter", "#first", "#second", "#second over first"], counted)] : null,
        builtTable(known, [m, o]),
        h("p", {class: "soft"}, "Each version was measured by itself. To time both in one run: ",
            command("hone call kernel_compare '" + JSON.stringify({task: r.task, commit: short(b), with: short(a), target: r.target}) + "'")),
        h("h2", {}, "Source"), innerWidth < NARROW ? diffView(left, right) : sideBySide(left, right));
}

/* ---- two searches ---- */

/* others: all but the search itself. */
export function searchMenu(others: Row[], name: string): HTMLElement | null {
    if (others.length === 0) return null;
    const pick = (e: Event) => { const {value} = e.target as HTMLSelectElement; if (value) location.hash = href("searches", name, value); };
    return h("p", {}, h("label", {}, "Compare with the search ", h("select", {onchange: pick}, h("option", {value: ""}, "a search"),
        [...new Set(others.map(nameOf))].slice(0, 200).map((n) => h("option", {value: n}, n)))));
}

/* Rows [strategy, what its tries made of their parents' speed on average], the largest factor of either first. */
function strategyRows(reports: Report[]): Child[][] {
    const of = reports.map(strategyTries), ids = [...new Set(of.flatMap((x) => [...x.keys()]))];
    const mean = (x?: Tries) => (x ? x.out / x.tries : -Infinity), most = (id: string) => Math.max(...of.map((x) => mean(x.get(id))));
    const cell = (x?: Tries) => (x ? ratioOf(mean(x)) + ", gains " + gainsOf(x) : "");
    return ids.sort((a, b) => most(b) - most(a)).map((id) => [id + ", " + of.map((x) => x.get(id)?.words).find(Boolean), ...of.map((x) => cell(x.get(id)))]);
}

export async function twoSearches(store: Store, view: HTMLElement, a: string, b: string): Promise<void> {
    const reports = [await store.report(a), await store.report(b)];
    const won = await Promise.all(reports.map((r) => (r.end?.best_commit ? store.measured(r.end.best_commit).catch(() => null) : null)));
    const both = (what: string, f: (r: Report, e: End) => Child): Child[] => [what, ...reports.map((r) => f(r, r.end || {}))];
    const rows = await store.searches(), machines = reports.map((r) => rows.find((x) => x.search === r.search)?.machine || ""), bases = reports.map((r) => r.steps.find((s) => s.node === 0)?.commit);
    const differ = [reports[0].task !== reports[1].task ? "of different tasks" : "", reports[0].target !== reports[1].target ? "on different targets (" + reports.map((r) => r.target).join(", ") + ")" : "",
        machines[0] !== machines[1] ? "measured on different machines" : "", reports[0].target === reports[1].target && bases[0] !== bases[1] ? "over different baselines" : ""].filter(Boolean);
    put(view, h("h1", {}, a + " and " + b), h("p", {class: "comparable " + (differ.length > 0 ? "bad" : "good")}, differ.length > 0 ? "They are " + differ.join(", ") + ": their ratios are not comparable." : "Same task, target, baseline and machine: their ratios are comparable."),
    h("div", {class: "bar"}, h("a", {href: href("searches", b, a)}, "swap")), table(["what", "first", "second"], [
        both("search", (r) => h("a", {href: href("search", nameOf(r))}, nameOf(r))), both("task", (r) => r.task + " on " + r.target),
        both("planner, coder, seed", (r) => [r.policy, r.coder, r.seed].join(", ")), both("result, 95 %", (_, e) => bestOf({end: e}) || "nothing confirmed"),
        ["verdict", ...reports.map((r, i) => claimLine(nameOf(r), r.end, won[i]))], both("best by its own looks", (r) => ratioOf(waysUp(r.steps).at(-1)?.[1])),
        both("of the bound", (_, e) => percent(e.percent_of_bound)), both("evaluations", (r) => r.spent.evaluations), both("wall", (r) => seconds(r.spent.wall_ms)),
        both("cost, USD", (r) => three(r.spent.cost)), both("tokens", (r) => r.spent.tokens), both("why it ended", (_, e) => endWords(e.why_stopped))]),
    h("h2", {}, "Best so far"), twoWays(reports, [a, b]), h("p", {class: "soft"}, "Full line: " + a + ". Dashed: " + b + ". By each search's own looks."),
    h("h2", {}, "What paid"), h("p", {class: "soft"}, COUNTED), table(["strategy", "#first: mean over the parents", "#second: mean over the parents"], strategyRows(reports), "No step had a strategy."));
}

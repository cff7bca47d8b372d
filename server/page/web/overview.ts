/* SPDX-License-Identifier: Apache-2.0 */
/* The view of the workspace: its searches. */

import {h, href, isNumber, percent, put, ratio, s, table, three, time, type Child} from "./dom";
import {nameOf, type End, type Row} from "./data";
import {claimLine, claimOf, countsOf, doubtWords, endWords, fastMathOf, rangeBySize, slowerAt, warningsOf, weakLine} from "./claims";
import type {Store} from "./store";

const MOST_ASKED = 40; /* rows whose warnings are asked for */

function spark(points?: [number, number][]): Child {
    const w = 120, height = 28;
    if (!points || points.length < 2) return "";
    const top = Math.max(...points.map((p) => Math.log2(p[1])), 0.5), last = points[points.length - 1][0] || 1;
    const d = points.map((p, i) => (i ? "L" : "M") + ((p[0] / last) * (w - 4) + 2).toFixed(1) + " " +
        (height - 3 - (Math.max(0, Math.log2(p[1])) / top) * (height - 6)).toFixed(1)).join("");
    return s("svg", {width: w, height, role: "img", "aria-label": "best speedup over time"}, s("path", {d, fill: "none", stroke: "currentColor"}));
}

/* The way up, on to the confirmed figure where the last short look lies outside of its interval. */
function lookOf(row: Row): Child {
    const best = row.best || [], last = best.at(-1), [low, high] = row.end?.ci || [], speedup = row.end?.speedup;
    if (!last || !isNumber(high) || !isNumber(speedup) || (last[1] <= high && last[1] >= low)) return spark(best);
    return [spark([...best, [last[0] * 1.2, last[1]], [last[0] * 1.2, speedup]]), h("div", {class: "soft"}, "short look " + ratio(last[1]) + ", measured afresh " + ratio(speedup))];
}

/* The confirmed figure, else the best of short looks, which says so. */
export function bestOf(row: {end?: End; best?: [number, number][]}): Child {
    const e = row.end, best = row.best?.at(-1)?.[1];
    if (e && isNumber(e.speedup)) {
        const words = ratio(e.speedup) + (e.ci?.length === 2 ? " [" + e.ci.map(three).join(", ") + "]" : ""), weak = weakLine(fastMathOf(e)), claim = claimOf(e);
        if (claim === "doubted" || claim === "inconclusive") return [h("span", {class: "soft doubted", title: doubtWords(e.doubt)}, words + (claim === "doubted" ? ", not to be claimed" : ", inconclusive")), weak];
        return [words, weak];
    }
    return isNumber(best) ? h("span", {class: "soft"}, "about " + ratio(best) + ", unconfirmed") : "";
}

/* The next best that were confirmed. */
function runnersOf(row: Row): Child {
    const of = row.runners_up || [];
    return of.length > 0 ? h("div", {class: "soft"}, "then ", of.map((x, i) => [i > 0 ? ", " : "", h("a", {href: href("search", nameOf(row), "version", x.commit), title: "confirmed, too"}, ratio(x.ratio))])) : null;
}

/* What a confirmation warned of stands by its figure, and all that is against it by its verdict, as soon as it is known. */
async function addWarnings(store: Store, rows: readonly Row[], places: readonly HTMLElement[], claims: readonly HTMLElement[]): Promise<void> {
    for (const [i, row] of rows.slice(0, MOST_ASKED).entries()) {
        if (!row.end?.best_commit) continue;
        const m = await store.measured(row.end.best_commit).catch(() => null), {others} = warningsOf(m), range = rangeBySize(row.end, m), slower = slowerAt(m);
        put(claims[i], claimLine(nameOf(row), row.end, m));
        put(places[i], range ? h("div", {class: "soft"}, range) : null, slower ? h("div", {class: "bad"}, slower) : null, others.length === 0 ? null : h("details", {class: "soft"}, h("summary", {}, "△ " + others.length + (others.length === 1 ? " warning" : " warnings")), others.map((w) => h("div", {}, w))));
    }
}

export async function overview(store: Store, view: HTMLElement): Promise<void> {
    const rows = await store.searches(), places = rows.map(() => h("div")), claims = rows.map((r) => h("div", {}, claimLine(nameOf(r), r.end))), hasCost = rows.some((r) => r.end?.cost || r.end?.tokens);
    put(view, h("h1", {}, "Searches"), rows.length > 0 ? h("p", {class: "counts"}, countsOf(rows)) : null,
        h("div", {class: "cards"}, table(["search", "task", "target", "#result, 95 %", "verdict", "#of bound", "best over time", "#evaluations", ...(hasCost ? ["#USD", "#tokens"] : []), "why it ended", "last heard of"],
            rows.map((r, i) => [h("a", {href: href("search", nameOf(r))}, nameOf(r)), r.task, [r.target, r.machine ? h("div", {class: "soft"}, r.machine) : null], [bestOf(r), places[i], runnersOf(r)], claims[i], percent(r.end?.percent_of_bound),
                lookOf(r), r.evaluations, ...(hasCost ? [r.end?.cost ? three(r.end.cost) : "", r.end?.tokens || ""] : []), endWords(r.end?.why_stopped), time(r.last_ms)]),
            "No search yet. hone search TASK starts one.")),
        h("p", {}, h("a", {href: "#/machine"}, "Machines")));
    addWarnings(store, rows, places, claims).catch(() => {});
}

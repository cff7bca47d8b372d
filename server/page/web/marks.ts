/* SPDX-License-Identifier: Apache-2.0 */
/* What came of each step, as a mark that chart, tree, tables and headline share. */

import {missed} from "./claims";
import {halfWidth, isNumber} from "./dom";
import type {Over, Report, Row, Step} from "./data";

const ABOUT_ONE = 1.05; /* a speed over the parent's that nobody would call a gain */

/* Both were measured over the baseline, each by itself: their intervals add up like those of independent figures. */
function overOf(s: Step, from?: Step): Over | undefined {
    if (!from || !isNumber(s.value_log2) || !isNumber(from.value_log2)) return undefined;
    const log2 = s.value_log2 - from.value_log2, halves = [s, from].map((x) => halfWidth(x.ratio_low, x.ratio_high)).filter(isNumber), half = Math.hypot(...halves);
    return halves.length > 0 ? {ratio: 2 ** log2, low: 2 ** (log2 - half), high: 2 ** (log2 + half)} : {ratio: 2 ** log2};
}

function markOf(r: Report, s: Step, isMissed: boolean): Step["mark"] {
    if (s.kind === "confirm") return s.barred || (r.end?.doubt && s.verdict === "faster" && s.commit === r.end.best_commit) ? "barred" : s.verdict === "faster" && !isMissed ? "confirmed" : "unsure";
    if (!isNumber(s.value_log2)) return s.note?.startsWith("the same text") ? "same" : "wrong";
    if (s.is_gain) return "gain";
    return s.over && (s.over.high ?? s.over.ratio) > ABOUT_ONE ? "noise" : "none";
}

/* What was found wrong after its search is doubted like what the search itself doubts. */
export function barredRows(rows: Row[]): Row[] {
    for (const row of rows) if (row.end && row.refutation) row.end.doubt = row.refutation;
    return rows;
}

/* Later looks at a version have the mark of its first one, unless they brought something. */
export function marked(r: Report): Report {
    const first = new Map<number, Step>(), over = new Set(r.steps.map((s) => missed(r, s)).filter(Boolean));
    const best = r.end?.best_commit && r.steps.findLast((s) => s.kind === "confirm" && s.commit === r.end!.best_commit);
    if (best && best.barred) r.end!.doubt = best.barred;
    for (const s of r.steps) {
        const own = s.kind === "confirm" ? undefined : first.get(s.node);
        if (!own) s.over = overOf(s, first.get(s.parent));
        s.mark = own?.mark && isNumber(s.value_log2) && !s.is_gain ? own.mark : markOf(r, s, over.has(s));
        if (s.node >= 0 && s.kind !== "confirm" && !first.has(s.node)) first.set(s.node, s);
    }
    return r;
}

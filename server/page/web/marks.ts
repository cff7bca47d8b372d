/* SPDX-License-Identifier: Apache-2.0 */
/* What came of each step, as a mark that chart, tree, tables and headline share: one sign, one ink and
 * one word for one state. */

import {h, halfWidth, isNumber} from "./dom";
import type {Over, Report, Row, Step} from "./data";

export type Kind = NonNullable<Step["mark"]>;

/* sign, ink (a variable of page.css), what it means */
export const kinds: Record<Kind, [string, string, string]> = {
    confirmed: ["◆", "--good", "confirmed with fresh data"],
    barred: ["⊘", "--soft", "measured afresh, not to be claimed"],
    unsure: ["◇", "--soft", "measured afresh, inconclusive"],
    gain: ["●", "--best", "faster than its parent, a short look"],
    noise: ["◐", "--none", "a gain is not shown (noise)"],
    none: ["○", "--none", "no gain"],
    same: ["=", "--none", "duplicate of a known version"],
    wrong: ["✕", "--bad", "no version: wrong, failed or refused"],
};

export const kindOf = (step: Step): Kind => step.mark || (isNumber(step.value_log2) ? "none" : "wrong");

/* Of a confirmation that does not show a gain: "measured afresh, inconclusive", "measured afresh, slower". */
export const freshWords = (verdict?: string): string => "measured afresh, " + (verdict || "inconclusive");

export const stateWords = (s: Step): string => (kindOf(s) === "unsure" ? freshWords(s.verdict) : kinds[kindOf(s)][2]);

/* A sign in its ink, as all views have it. */
export function signOf(kind: Kind): HTMLElement {
    const e = h("span", {class: "sign"}, kinds[kind][0]);
    e.style.color = "var(" + kinds[kind][1] + ")";
    return e;
}

const ABOUT_ONE = 1.05; /* a speed over the parent's that nobody would call a gain */

/* Both were measured over the baseline, each by itself: their intervals add up like those of independent figures. */
function overOf(s: Step, from?: Step): Over | undefined {
    if (!from || !isNumber(s.value_log2) || !isNumber(from.value_log2)) return undefined;
    const log2 = s.value_log2 - from.value_log2, halves = [s, from].map((x) => halfWidth(x.ratio_low, x.ratio_high)).filter(isNumber), half = Math.hypot(...halves);
    return halves.length > 0 ? {ratio: 2 ** log2, low: 2 ** (log2 - half), high: 2 ** (log2 + half)} : {ratio: 2 ** log2};
}

function markOf(r: Report, s: Step): Step["mark"] {
    if (s.kind === "confirm") return s.barred || (r.end?.doubt && s.verdict === "faster" && s.commit === r.end.best_commit) ? "barred" : s.verdict === "faster" ? "confirmed" : "unsure";
    if (!isNumber(s.value_log2)) return s.note?.startsWith("the same text") ? "same" : "wrong";
    if (s.is_gain) return "gain";
    return s.over && (s.over.high ?? s.over.ratio) > ABOUT_ONE ? "noise" : "none";
}

/* What was found wrong after its search is doubted like what the search itself doubts. */
export function barredRows(rows: Row[]): Row[] {
    for (const row of rows) if (row.end && row.refutation) Object.assign(row.end, {doubt: row.refutation, is_refuted: true});
    return rows;
}

/* Later looks at a version have the mark of its first one, unless they brought something. */
export function marked(r: Report): Report {
    const first = new Map<number, Step>();
    const best = r.end?.best_commit && r.steps.findLast((s) => s.kind === "confirm" && s.commit === r.end!.best_commit);
    if (best && best.barred && best.barred !== r.end!.doubt) Object.assign(r.end!, {doubt: best.barred, is_refuted: true});
    for (const s of r.steps) {
        const own = s.kind === "confirm" ? undefined : first.get(s.node);
        if (!own) s.over = overOf(s, first.get(s.parent));
        s.mark = own?.mark && isNumber(s.value_log2) && !s.is_gain ? own.mark : markOf(r, s);
        if (s.node >= 0 && s.kind !== "confirm" && !first.has(s.node)) first.set(s.node, s);
    }
    return r;
}

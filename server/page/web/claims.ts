/* SPDX-License-Identifier: Apache-2.0 */
/* What may be said of a result: whether it may be claimed and why not, what it is over the baseline
 * with fast math, and whether a confirmation bore out the short look before it. */

import {h, isNumber, ratio, ratioOf, seconds, three, type Child} from "./dom";
import {nameOf, type End, type Report, type Row, type Step} from "./data";

export type Claim = "claimed" | "doubted" | "none" | "unconfirmed" | "open";

export function claimOf(e?: End): Claim {
    if (!e) return "open";
    if (e.doubt) return "doubted";
    if (!isNumber(e.speedup)) return "unconfirmed";
    return e.verdict === "faster" ? "claimed" : "none";
}

/* "0.864x over -ffast-math" where the result does not beat that. */
export function fastMathOf(e?: End): string {
    const y = (e?.yardsticks || []).find((k) => k.name === "fast-math");
    const over = y?.ratio ?? e?.vs_fast_math;
    if (!isNumber(over) || (over > 1 && !(isNumber(y?.low) && y.low <= 1))) return "";
    return ratio(over) + (isNumber(y?.low) && isNumber(y?.high) ? " [" + three(y.low) + ", " + three(y.high) + "]" : "") + " over -ffast-math";
}

/* One line: sign and words, the reason as a title and as text. */
export function claimLine(e?: End): Child {
    const claim = claimOf(e), weak = fastMathOf(e);
    if (claim === "open") return h("span", {class: "soft"}, "not ended");
    if (claim === "doubted") return h("span", {class: "soft doubted", title: e!.doubt}, "⊘ not to be claimed: " + e!.doubt);
    if (claim === "unconfirmed") return h("span", {class: "soft", title: e!.unconfirmed}, "nothing confirmed" + (e!.unconfirmed ? ": " + e!.unconfirmed : ""));
    if (claim === "none") return h("span", {class: "soft"}, e!.verdict || "no gain");
    return weak ? h("span", {class: "soft"}, "◆ faster than the baseline; no gain shown over -ffast-math") : h("span", {class: "good"}, "◆ faster");
}

export function countsOf(rows: readonly Row[]): string {
    const of = (c: Claim) => rows.filter((r) => claimOf(r.end) === c).length;
    const claimed = of("claimed"), weak = rows.filter((r) => claimOf(r.end) === "claimed" && fastMathOf(r.end)).length;
    const more: [number, string][] = [[of("doubted"), "may not"], [of("unconfirmed"), "unconfirmed"], [of("none"), "without a gain"], [of("open"), "not ended"]];
    return claimed + (claimed === 1 ? " result" : " results") + " may be claimed" + (weak ? " (" + weak + " of them with no gain over -ffast-math)" : "") +
        more.filter(([n]) => n > 0).map(([n, words]) => ", " + n + " " + words).join("");
}

/* ---- short looks and confirmations ---- */

export const freshOf = (steps: readonly Step[], commit?: string): Step | undefined =>
    commit ? steps.findLast((s) => s.kind === "confirm" && s.commit === commit && isNumber(s.ratio)) : undefined;

/* The confirmation, where the short look lies above all that it allows. */
export function missed(r: {steps: readonly Step[]; end?: End}, s: Step): Step | undefined {
    const fresh = s.kind === "confirm" ? undefined : freshOf(r.steps, s.commit);
    if (!fresh || !isNumber(s.value_log2)) return undefined;
    const own = fresh.commit === r.end?.best_commit ? r.end?.ci?.[1] : undefined;
    return 2 ** s.value_log2 > (own ?? Math.max(fresh.ratio!, fresh.ratio_high || 0)) ? fresh : undefined;
}

/* The one figure of a version: the confirmed one, else "about" that of its short looks. */
export function figureOf(steps: readonly Step[], s?: Step): string {
    if (!s) return "";
    const fresh = s.kind === "confirm" ? s : freshOf(steps, s.commit);
    if (fresh) return ratio(fresh.ratio) + (fresh.verdict === "faster" ? " confirmed" : " " + (fresh.verdict || ""));
    return isNumber(s.value_log2) ? "about " + ratioOf(s.value_log2) : "";
}

/* ---- why it ended, what was used, how to go on ---- */

const ends: Record<string, string> = {
    plateau: "no further step promised a gain", budget_wall: "the wall time was used up", budget_evaluations: "the evaluations were used up",
    budget_device: "the device's time was used up", budget_cost: "the money was used up", budget_tokens: "the tokens were used up",
    budget_disk: "the disk's share was used up", stopped: "it was stopped", target: "the target was reached", exhausted: "no step was left to try",
    near_roof: "it is near what the machine allows", tree_full: "the tree is full", no_submissions: "nobody submitted a step",
};
export const endWords = (why?: string): string => (why ? ends[why] || why.replaceAll("_", " ") : "");

/* "65.4 s of 75 s, 38 evaluations, nothing better for 29.2 s; ended: ..." lastGain: of the way up. */
export function usedLine(r: Report, lastGain?: Step): string {
    const {wall_ms = 0, evaluations = 0} = r.spent, cap = r.budgets.budget_wall_ms, most = r.budgets.budget_evaluations;
    const idle = lastGain ? wall_ms - lastGain.elapsed_ms : 0;
    return [(seconds(wall_ms) || "0 s") + (cap ? " of " + seconds(cap) : "") + " used", evaluations + (most ? " of " + most : "") + " evaluations",
        idle > 0 ? "nothing better for the last " + seconds(idle) : ""].filter(Boolean).join(", ") + (r.end ? "; ended: " + endWords(r.end.why_stopped) : "");
}

/* The command that would confirm what was not; "" where the search does not say what it wants. */
export function confirmCommand(r: Report): string {
    const more = r.end?.unconfirmed?.match(/--budget-[a-z]+ \S+/)?.[0];
    return more ? "hone search " + r.task + (r.target === "cpu" ? "" : " --target " + r.target) + (nameOf(r) === r.task ? "" : " --name " + nameOf(r)) + " " + more : "";
}

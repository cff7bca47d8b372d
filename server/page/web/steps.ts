/* SPDX-License-Identifier: Apache-2.0 */
/* What a step came to: a colour and a sign, and what its panel says of it. */

import {facts, h, href, isNumber, put, ratio, ratioOf, seconds, short, table, three} from "./dom";
import {nameOf, type Report, type Step} from "./data";
import type {Store} from "./store";

export type Kind = "confirmed" | "unsure" | "gain" | "none" | "wrong";

/* sign, ink (a variable of page.css), what it means */
export const kinds: Record<Kind, [string, string, string]> = {
    confirmed: ["◆", "--good", "confirmed with fresh data"],
    unsure: ["◇", "--soft", "not borne out by fresh data"],
    gain: ["●", "--best", "faster than its parent, a short look"],
    none: ["○", "--none", "no gain"],
    wrong: ["✕", "--bad", "no version: wrong, failed or refused"],
};

export function kindOf(step: Step): Kind {
    if (step.kind === "confirm") return step.verdict === "faster" ? "confirmed" : "unsure";
    if (!isNumber(step.value_log2)) return "wrong";
    return step.is_gain ? "gain" : "none";
}

export const signOf = (step: Step): string => kinds[kindOf(step)][0];

/* Where a step stands: a confirmation by what it measured, everything else by what is known of the version. */
export const heightOf = (s: Step): number => (s.kind === "confirm" && s.ratio && s.ratio > 0 ? Math.log2(s.ratio) : s.value_log2 ?? NaN);

export const wordsOf = (s: Step): string => s.words || (s.parent < 0 ? "the baseline" : s.kind === "decide" ? "a longer look" : s.kind);

/* Steps that became the best so far, with that value. */
export function waysUp(steps: readonly Step[]): [Step, number][] {
    const out: [Step, number][] = [];
    let best = -Infinity;
    for (const s of steps)
        if (s.kind !== "confirm" && isNumber(s.value_log2) && s.value_log2 > best) out.push([s, (best = s.value_log2)]);
    return out;
}

export const verdictOf = (s: Step): string => (s.verdict || "") + (s.reason && s.reason !== s.verdict ? " (" + s.reason + ")" : "");

/* What the planner chose among, when it is unfolded: its beliefs about each, the chosen one marked. */
function choicesPanel(store: Store, r: Report, s: Step): HTMLElement | null {
    if (!(s.step > 0)) return null;
    const told = h("div");
    const open = async (e: Event) => {
        if (!(e.target as HTMLDetailsElement).open || told.firstChild) return;
        const c = await store.choices(nameOf(r), s.step);
        const rows = (c?.legal || []).toSorted((a, b) => b.prior - a.prior);
        put(told, rows.length === 0 ? h("p", {class: "soft"}, "Nothing is kept of this choice.")
            : table(["step", "#prior", "#can be done", "#pays", "#rule's factor", ""], rows.map((a) => [
                a.strategy + ", " + a.rewrite.replaceAll("_", " ") + (a.variant ? ", variant " + a.variant : ""),
                (100 * a.prior).toFixed(1) + " %", (100 * a.p_impl).toFixed(0) + " %", (100 * a.positive).toFixed(0) + " %", three(a.boost) + "x",
                a.rewrite === c!.rewrite && a.variant === c!.variant ? "◆ chosen" : a.is_tried ? "tried before" : ""])));
    };
    return h("details", {ontoggle: open}, h("summary", {}, "What it was chosen among"), told);
}

export function stepPanel(store: Store, r: Report, s: Step | undefined): HTMLElement {
    if (!s) return h("p", {class: "soft"}, "Point at a dot or a row.");
    const fresh = s.commit ? r.steps.findLast((x) => x.kind === "confirm" && x.commit === s.commit) : undefined;
    const kind = kinds[kindOf(fresh || s)], parent = s.parent >= 0 ? r.steps.find((x) => x.node === s.parent && isNumber(x.value_log2)) : undefined;
    const gain = parent && isNumber(s.value_log2) && s.kind !== "confirm" ? ratioOf(s.value_log2 - parent.value_log2!) + " its parent's speed; " : "";
    return h("div", {}, h("h2", {}, kind[0] + " " + wordsOf(s)), facts([
        ["what it is", kind[2]],
        ["with fresh data", fresh && fresh !== s ? ratio(fresh.ratio) + " the baseline, " + fresh.verdict : ""],
        ["strategy", s.strategy],
        ["why", s.rule],
        ["expected", isNumber(s.expected_log2) ? ratioOf(s.expected_log2) + " (" + ratioOf(s.low) + " to " + ratioOf(s.high) + ") its parent's speed" : ""],
        ["came out", isNumber(s.ratio) ? gain + ratio(s.ratio) + (s.kind === "confirm" ? " the baseline's speed" : " the baseline's in this look") : ""],
        ["as it stands", isNumber(s.value_log2) ? ratioOf(s.value_log2) + " the baseline" : ""],
        ["verdict", verdictOf(s)],
        ["note", s.note],
        ["after", s.evaluations + " evaluations, " + seconds(s.elapsed_ms)],
        ["version", s.commit ? h("a", {href: href("search", nameOf(r), "version", s.commit)}, short(s.commit)) : "none"],
    ]), choicesPanel(store, r, s));
}

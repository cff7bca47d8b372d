/* SPDX-License-Identifier: Apache-2.0 */
/* What a step came to: a colour and a sign, and what its panel says of it. */

import {facts, h, href, isNumber, put, ratio, ratioOf, seconds, short, table, three} from "./dom";
import {missed} from "./claims";
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

/* A row a strategy: what was expected of its tries and what came out (geometric means over the parents),
 * the largest miss first. */
export function missesTable(r: Report): Node[] {
    const values = new Map(r.steps.filter((s) => s.kind !== "confirm" && isNumber(s.value_log2)).map((s) => [s.node, s.value_log2!]));
    const rows = new Map<string, {words: string; expected: number; out: number; tries: number; gains: number}>();
    for (const s of r.steps) {
        const from = values.get(s.parent);
        if (s.kind !== "expand" || !s.strategy || !isNumber(s.expected_log2) || !isNumber(s.value_log2) || from === undefined) continue;
        const row = rows.get(s.strategy) || {words: wordsOf(s).replace(/ \(.*/, ""), expected: 0, out: 0, tries: 0, gains: 0};
        row.expected += s.expected_log2;
        row.out += s.value_log2 - from;
        row.tries++;
        row.gains += s.is_gain ? 1 : 0;
        rows.set(s.strategy, row);
    }
    const miss = (x: {expected: number; out: number; tries: number}) => (x.out - x.expected) / x.tries;
    return [h("h2", {}, "Expected against came out"), h("p", {class: "soft"}, "Over each step's parent, by short looks; means over the tries. The largest miss stands first."),
        table(["strategy", "#gains of tries", "#expected", "#came out", "#came out over expected"], [...rows].sort((a, b) => Math.abs(miss(b[1])) - Math.abs(miss(a[1]))).map(([id, x]) =>
            [id + ", " + x.words, x.gains + " of " + x.tries, ratioOf(x.expected / x.tries), ratioOf(x.out / x.tries), ratioOf(miss(x))]), "No step had an expectation.")];
}

export function stepPanel(store: Store, r: Report, s: Step | undefined): HTMLElement {
    if (!s) return h("p", {class: "soft"}, "Point at a dot or a row.");
    const fresh = s.commit ? r.steps.findLast((x) => x.kind === "confirm" && x.commit === s.commit) : undefined;
    const miss = missed(r, s), kind = kinds[kindOf(fresh || s)], parent = s.parent >= 0 ? r.steps.find((x) => x.node === s.parent && isNumber(x.value_log2)) : undefined;
    const gain = parent && isNumber(s.value_log2) && s.kind !== "confirm" ? ratioOf(s.value_log2 - parent.value_log2!) + " its parent's speed; " : "";
    return h("div", {}, h("h2", {}, kind[0] + " " + wordsOf(s)), facts([
        ["what it is", kind[2]],
        ["with fresh data", fresh && fresh !== s ? ratio(fresh.ratio) + " the baseline, " + fresh.verdict + (miss ? "; the short look of " + ratioOf(s.value_log2) + " was not borne out" : "") : ""],
        ["strategy", s.strategy],
        ["why", s.rule],
        ["expected", isNumber(s.expected_log2) ? ratioOf(s.expected_log2) + " (" + ratioOf(s.low) + " to " + ratioOf(s.high) + ") its parent's speed" : ""],
        ["came out", isNumber(s.ratio) ? gain + ratio(s.ratio) + (s.kind === "confirm" ? " the baseline's speed" : " the baseline's in this short look, which times few sizes") : ""],
        [fresh ? "all short looks" : "as it stands", isNumber(s.value_log2) && s.kind !== "confirm" ? ratioOf(s.value_log2) + " the baseline" : ""],
        ["verdict", verdictOf(fresh || s)],
        ["note", s.note],
        ["after", s.evaluations + " evaluations, " + seconds(s.elapsed_ms)],
        ["version", s.commit ? h("a", {href: href("search", nameOf(r), "version", s.commit)}, short(s.commit)) : "none"],
    ]), choicesPanel(store, r, s));
}

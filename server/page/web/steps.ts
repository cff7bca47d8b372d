/* SPDX-License-Identifier: Apache-2.0 */
/* What a step came to, in words: its panel, the steps to a version, and what each strategy brought. */

import {facts, h, href, isNumber, put, ratio, ratioOf, seconds, short, table, three, withInterval} from "./dom";
import {claimOf, freshOf, missed} from "./claims";
import {plainReason} from "./counters";
import {kindOf, signOf, stateWords, type Kind} from "./marks";
import {verdictWords} from "./words";
import {nameOf, type Report, type Step} from "./data";
import type {Store} from "./store";

/* Where a step stands: by what its own evaluation measured. The baseline is what all are over. */
export const heightOf = (s: Step): number => (isNumber(s.value_log2) && s.parent >= 0 && s.ratio && s.ratio > 0 ? Math.log2(s.ratio) : s.value_log2 ?? NaN);

export const wordsOf = (s: Step): string => s.words || (s.parent < 0 ? "the baseline" : s.kind === "decide" ? "a longer look" : s.kind === "sweep" ? "other values of its tunables" : s.kind);

export const verdictOf = (s: Step): string => (s.mark === "same" ? "duplicate" : verdictWords(s.verdict)) + (s.reason && s.reason !== s.verdict ? " (" + s.reason + ")" : "");

/* "2.5x [0.9, 6.9], not shown (noise)": over its parent. */
const overWords: Partial<Record<Kind, string>> = {noise: ", not shown (noise)", none: ", no gain"};
export const overParent = (s: Step): string => (s.over ? withInterval(s.over) + (overWords[kindOf(s)] || "") : "");

/* "; about as fast as its parent": behind what a version is over the baseline. */
const besideParent: Partial<Record<Kind, string>> = {gain: "; faster than its parent", noise: "; over its parent a gain is not shown (noise)", none: "; no faster than its parent"};
const parentVerdict = (s: Step): string => (s.over ? besideParent[kindOf(s)] || "" : "");

/* What the planner chose among, when it is unfolded: its beliefs about each, the chosen one marked. */
function choicesPanel(store: Store, r: Report, s: Step): HTMLElement | null {
    if (!(s.step > 0)) return null;
    const told = h("div");
    const open = async (e: Event) => {
        if (!(e.target as HTMLDetailsElement).open || told.firstChild) return;
        const c = await store.choices(nameOf(r), s.step);
        const rows = (c?.legal || []).toSorted((a, b) => b.prior - a.prior);
        put(told, rows.length === 0 ? h("p", {class: "soft"}, "Nothing is kept of this choice.")
            : table(["step", "#share of the choice", "#can be done", "#gain hoped for", "#the profile favours it", ""], rows.map((a) => [
                a.strategy + ", " + a.rewrite.replaceAll("_", " ") + (a.variant ? ", variant " + a.variant : ""),
                (100 * a.prior).toFixed(1) + " %", (100 * a.p_impl).toFixed(0) + " %", ratioOf(a.positive), three(a.boost) + "x",
                a.rewrite === c!.rewrite && a.variant === c!.variant ? h("b", {}, "chosen") : a.is_tried ? "tried before" : ""])));
    };
    return h("details", {ontoggle: open}, h("summary", {}, "What it was chosen among"), told);
}

/* From the baseline to a version: its forebears' first steps, the version last. */
export function chainOf(steps: readonly Step[], commit?: string): Step[] {
    const byNode = new Map<number, Step>(), chain: Step[] = [];
    for (const s of steps) if (s.kind !== "confirm" && s.node >= 0 && !byNode.has(s.node)) byNode.set(s.node, s);
    const own = commit ? steps.find((s) => s.commit === commit && s.kind !== "confirm") : undefined;
    for (let s = own && byNode.get(own.node); s && chain.length < steps.length; s = s.parent >= 0 ? byNode.get(s.parent) : undefined) chain.push(s);
    return chain.reverse();
}

const MOST_PATH = 30; /* rows of a path: of a longer one those that brought most */

/* Why a version is faster: what each step on its path brought over the step before, and why it was tried. */
export function pathTable(r: Report, commit?: string): Node[] {
    const fresh = freshOf(r.steps, commit), isShown = commit === r.end?.best_commit ? claimOf(r.end) === "claimed" : fresh !== undefined && kindOf(fresh) === "confirmed";
    const chain = chainOf(r.steps, commit); /* each by its first look: later ones may have timed more sizes */
    const over = (i: number) => { const x = chain[i].value_log2, y = chain[i - 1].value_log2; return isNumber(x) && isNumber(y) ? x - y : undefined; };
    const brought = (i: number) => overParent(chain[i]);
    const shown = chain.slice(1).map((_, k) => k + 1).sort((a, b) => (over(b) ?? -99) - (over(a) ?? -99)).slice(0, MOST_PATH).sort((a, b) => a - b);
    return chain.length < 2 ? [] : [h("h2", {}, isShown ? "Why it is faster: the steps to it" : "The steps to it"), h("p", {class: "soft"}, "Each over the step before, by the first short look at each: like with like." + (chain.length - 1 > MOST_PATH ? " Of " + (chain.length - 1) + " steps those that brought most." : "")),
        h("div", {class: "path cards"}, table(["#step", "what", "#brought", "why it was tried", "version"], shown.map((k) => [k, chain[k]] as const).map(([k, s]) => [k, [wordsOf(s), h("div", {class: "soft"}, s.strategy)], brought(k), plainReason(s.rule),
            s.commit ? h("a", {href: href("search", nameOf(r), "version", s.commit)}, short(s.commit)) : ""])))];
}

/* Sums of binary logarithms; expected: NaN where one of the tries had no expectation. */
export interface Tries { words: string; expected: number; out: number; tries: number; gains: number }

export const COUNTED = "Counted: steps that gave a version of their own, each over its parent by the first short look at both; a step that led to known text or known machine code is none.";

/* What each strategy's tries came to. Every table of strategies counts by this. */
export function strategyTries(r: Report): Map<string, Tries> {
    const rows = new Map<string, Tries>();
    for (const s of r.steps) {
        if (s.kind !== "expand" || !s.strategy || !s.over) continue;
        const row = rows.get(s.strategy) || {words: wordsOf(s).replace(/ \(.*/, ""), expected: 0, out: 0, tries: 0, gains: 0};
        row.expected += s.expected_log2 ?? NaN;
        row.out += Math.log2(s.over.ratio);
        row.tries++;
        row.gains += s.is_gain ? 1 : 0;
        rows.set(s.strategy, row);
    }
    return rows;
}

export const gainsOf = (x: Tries): string => x.gains + " of " + x.tries + (x.tries === 1 ? ": weak" : "");

/* A row a strategy: what was expected of its tries and what came out (geometric means over the parents),
 * the largest miss first; those of which too much was expected apart from the others. */
export function missesTable(r: Report): Node[] {
    const rows = strategyTries(r);
    const miss = (x: Tries) => (x.out - x.expected) / x.tries;
    const part = (title: string, is: (x: Tries) => boolean): Node[] => [h("h3", {}, title),
        table(["strategy", "#gains of tries", "#expected", "#came out", "#came out over expected"], [...rows].filter(([, x]) => is(x)).sort((a, b) => Math.abs(miss(b[1])) - Math.abs(miss(a[1]))).map(([id, x]) =>
            [id + ", " + x.words, gainsOf(x), ratioOf(x.expected / x.tries), ratioOf(x.out / x.tries), ratioOf(miss(x))]), "None.")];
    return [h("h2", {}, "Expected against came out"), h("p", {class: "soft"}, "Means over the tries; the largest factor stands first. " + COUNTED + " A single try is weak evidence."),
        ...part("Overrated: less came out than was expected", (a) => miss(a) < 0), ...part("Underrated: more came out than was expected", (a) => miss(a) >= 0)];
}

const MOST_RUNNERS = 5;

/* The next best versions that were confirmed, for who cannot take the best one. */
export function runnersTable(r: Report): Node[] {
    const last = new Map(r.steps.flatMap((s) => (s.kind === "confirm" && s.commit ? [[s.commit, s] as const] : []))), own = new Map<number, Step>();
    for (const s of r.steps) if (s.kind !== "confirm" && s.node >= 0 && !own.has(s.node)) own.set(s.node, s);
    const rows = [...last.values()].filter((s) => s.verdict === "faster" && !s.barred && s.commit !== r.end?.best_commit && isNumber(s.ratio)).sort((a, b) => b.ratio! - a.ratio!);
    return rows.length === 0 ? [] : [h("h2", {}, "Runners-up: confirmed, too"), h("div", {class: "runners cards"}, table(["#with fresh data, 95 %", "last step", "version"], rows.slice(0, MOST_RUNNERS).map((s) =>
        [withInterval({ratio: s.ratio, low: s.ratio_low, high: s.ratio_high}), wordsOf(own.get(s.node) || s), h("a", {href: href("search", nameOf(r), "version", s.commit!)}, short(s.commit))])))];
}

export function stepPanel(store: Store, r: Report, s: Step | undefined): HTMLElement {
    if (!s) return h("p", {class: "soft"}, "Click a dot or a row.");
    const fresh = s.commit ? r.steps.findLast((x) => x.kind === "confirm" && x.commit === s.commit) : undefined;
    const miss = missed(r, s), state = fresh || s;
    const gain = s.over && s.kind !== "confirm" ? overParent(s).replace(/^[^\s,]+( \[[^\]]*\])?/, "$& its parent's speed") + "; " : "";
    const isDecided = r.steps.some((x) => x.kind === "decide" && x.node === s.node && x.evaluations <= s.evaluations);
    const own = s.kind === "confirm" ? r.steps.find((x) => x.kind !== "confirm" && x.node === s.node) || s : s;
    return h("div", {}, h("h2", {}, signOf(kindOf(state)), " " + wordsOf(s)), facts([
        ["what it is", stateWords(state)],
        ["with fresh data", fresh && fresh !== s ? ratio(fresh.ratio) + " the baseline over all timed sizes, " + verdictWords(fresh.verdict) + (miss ? "; the short look of " + ratioOf(s.value_log2) + " was not borne out" : "") : ""],
        ["not to be claimed", fresh?.barred],
        ["strategy", s.strategy],
        ["why", s.rule ? h("span", {title: s.rule}, plainReason(s.rule)) : ""],
        ["expected", isNumber(s.expected_log2) ? ratioOf(s.expected_log2) + " (" + ratioOf(s.low) + " to " + ratioOf(s.high) + ") its parent's speed" : ""],
        ["came out", isNumber(s.ratio) ? gain + ratio(s.ratio) + (s.kind === "confirm" ? " the baseline's speed" : " the baseline's in this " + (s.kind === "decide" ? "longer look" : "short look, which times few sizes")) : ""],
        ["the search took it for", isNumber(s.value_log2) && s.kind !== "confirm" ? ratioOf(s.value_log2) + " the baseline, by " + (isDecided ? "its longer look" : "its short looks") : ""],
        ["verdict", verdictOf(fresh || s) + (fresh ? parentVerdict(own) : "")],
        ["note", s.note],
        ["after", s.evaluations + " evaluations, " + seconds(s.elapsed_ms)],
        ["version", s.commit ? h("a", {href: href("search", nameOf(r), "version", s.commit)}, short(s.commit)) : "none"],
    ]), choicesPanel(store, r, s));
}

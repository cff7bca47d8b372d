/* SPDX-License-Identifier: Apache-2.0 */
/* Plain words for what a result rests on: each part with what it means, sizes with their shapes. */

import {h, isNumber, percent, three, type Child} from "./dom";
import type {End, Measured, Workload} from "./data";

/* What a part of the line "rests on" means, by how it begins or what it holds. */
const meanings: [RegExp, string][] = [
    [/against the baseline built with/, "what the compiler alone, allowed to reorder, leaves to gain"],
    [/^fast-math/, "the source itself asks for it"],
    [/^error rms/, "against a computation in double precision; 1: as large as the task allows"],
    [/^worst .* of tolerance/, "the worst element, as a share of what the task allows; the baseline's rms and worst behind it"],
    [/of \d+ threads/, "threads that ran at a time, on average"],
    [/sizes/, "checked for correctness; timed: with a time; drawn: made up for the confirmation, so that the search never saw them"],
    [/contents/, "kinds of input data compared; left out: those that the task does not cover, such as NaN or infinities; the report's contents.left_out names them"],
    [/^bits may differ/, "two calls may give different last bits"],
    [/^same bits/, "two calls give the same bits"],
    [/^jail/, "how the candidate was shut off while it ran"],
    [/^load/, "cores that other programs used meanwhile"],
    [/^(-O|--gpu-architecture)/, "how it was compiled"],
    [/^same machine code/, "the step changed nothing that the compiler kept"],
];

export const isDrawn = (id: string): boolean => id.startsWith("hidden-");

const shapeOf = (w: Workload): string => {
    const axes = Object.entries(w.axes || {}).map(([name, n]) => name + " " + n).join(", ");
    return w.id + (axes ? " (" + axes + ")" : "");
};

/* "hidden-00 (M 511, N 577), drawn: ..." */
export const sizeWords = (w: Workload): string => shapeOf(w) + (isDrawn(w.id) ? ", drawn: the search never saw it" : "");

/* "6 sizes: a, b, c" */
export const countOf = (n: number): string => n + (n === 1 ? " size" : " sizes");

/* Which units the rate of arithmetic is of; "" in records that do not say. Older ones name the unit of the
 * bound alone. */
export function unitOf(m?: Measured | null): string {
    const bound = m?.rests_on?.bound_unit || "";
    return m?.machine?.flops_unit || (bound.startsWith("memory") ? "" : bound);
}

/* The bound that is nearest to a size, in words: "moving data", "arithmetic (float32 multiply-add units)". */
export function limitWords(by: string | undefined, m?: Measured | null): string {
    const unit = unitOf(m);
    return by === "bytes" ? "moving data" : by === "flops" ? "arithmetic (" + (unit || "its units were not recorded") + ")" : by || "";
}

/* Below this share of the nearest bound, that bound is not what limits. */
const NEAR = 20; /* percent */
export const farWords = (share?: number): string => (isNumber(share) && share < NEAR ? "far below it: something else limits" : "");

/* "70.1 %, by size from 46.8 % to 86.7 %, of moving data" */
export function boundWords(share?: number, m?: Measured | null): string {
    const of = (m?.workloads || []).map((w) => w.percent_of_bound).filter(isNumber);
    if (!isNumber(share)) return "";
    const fine = (x: number) => (x < 1 ? three(x) + " %" : percent(x)), small = farWords(share) ? "; " + farWords(share) + (share < 1 ? ", or it does more than its formulas count" : "") : "";
    const all = m?.workloads || [], limits = [...new Set(all.map((w) => w.bound_by))].filter(Boolean).map((by) =>
        limitWords(by, m) + (all.every((w) => w.bound_by === by) ? "" : " at " + countOf(all.filter((w) => w.bound_by === by).length)));
    return fine(share) + (of.length > 1 ? ", by size from " + fine(Math.min(...of)) + " to " + fine(Math.max(...of)) : "") +
        (limits.length > 0 ? ", of the nearest bound, what " + limits.join(" and ") + (limits.length > 1 ? " allow" : " allows") : "") + small;
}

/* Whole, and unfolded with what each part means. m: its line is newer than a record's, which may be cut. */
export function restsOn(e: End, m: Measured | null): Child {
    const text = m?.rests_text || e.rests_on;
    if (!text) return "";
    const parts = text.split(/, (?![^(]*\))/), why = (x: string) => meanings.find(([what]) => what.test(x))?.[1];
    return h("details", {class: "rests"}, h("summary", {}, text),
        h("ul", {class: "files"}, parts.map((x) => h("li", {}, x, why(x) ? h("span", {class: "soft"}, ": " + why(x)) : null))));
}

/* Which sizes the confirmed figure stands on. */
export function standsOn(m: Measured | null): string {
    const ids = m?.workloads || [], short = m?.looks?.find((l) => l.tier === "screen");
    if (m?.tier !== "confirm" || ids.length === 0) return "Measured with fresh data over all timed sizes. What is called a short look timed fewer sizes.";
    const drawn = ids.filter((w) => isDrawn(w.id)), list = (of: Workload[]) => of.map(shapeOf).join(", ");
    return "Measured with fresh data over " + countOf(ids.length) + ": " + list(ids.filter((w) => !isDrawn(w.id))) +
        (drawn.length > 0 ? "; and drawn for the confirmation, so that the search never saw them: " + list(drawn) : "") + "." +
        (short ? " Its short looks timed " + countOf(short.sizes.length) + " of them, so their figures are others." : "");
}

export const geometricMean = (of: number[]): number | undefined =>
    (of.length > 0 ? Math.exp(of.reduce((sum, x) => sum + Math.log(x), 0) / of.length) : undefined);

const verdicts: Record<string, string> = {faster: "faster than the baseline", slower: "slower than the baseline", screened: "correct, timed briefly", decided: "correct, timed longer"};
export const verdictWords = (v?: string): string => verdicts[v || ""] || v || "";

/* "86.6 GB/s": rates and sizes with their unit. */
export function scaled(v: number | undefined, unit: string): string {
    if (!isNumber(v)) return "";
    const [by, letter] = ([[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const).find(([least]) => v >= least) || [1, ""];
    return three(v / by) + " " + letter + unit;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What may be said of a result: whether it may be claimed and why not, what it is over the baseline
 * with fast math, and whether a confirmation bore out the short look before it. */

import {h, href, isNumber, percent, ratio, ratioOf, seconds, short, three, withInterval, type Child} from "./dom";
import {nameOf, waysUp, type End, type Measured, type Report, type Row, type Step, type Workload} from "./data";
import {freshWords, kindOf, kinds, signOf, stateWords, type Kind} from "./marks";
import {countOf, isDrawn} from "./words";

export type Claim = "claimed" | "doubted" | "inconclusive" | "none" | "unconfirmed" | "open";

export function claimOf(e?: End): Claim {
    if (!e) return "open";
    if (e.is_refuted || (e.doubt && (e.verdict === "faster" || !isNumber(e.speedup)))) return "doubted";
    if (!isNumber(e.speedup)) return "unconfirmed";
    return e.verdict === "faster" ? "claimed" : e.verdict === "inconclusive" ? "inconclusive" : "none";
}

/* Measured afresh, and no gain shown. */
export const isUnsure = (claim: Claim): boolean => claim === "inconclusive" || claim === "none";

const marks: Partial<Record<Claim, Kind>> = {claimed: "confirmed", doubted: "barred", inconclusive: "unsure", none: "unsure"};
export const signOfClaim = (claim: Claim): Child => (marks[claim] ? [signOf(marks[claim]), " "] : null);

/* Why a result may not be claimed, each whole: a search keeps the first alone, cut where it is long. */
export function reasonsOf(e: End | undefined, m: Measured | null): string[] {
    const all = m?.doubts || [], first = e?.doubt;
    if (!first || e!.is_refuted) return first ? [first, ...all.filter((d) => d !== first)] : [];
    const begin = first.replace(/\.\.\.$/, ""), whole = all.find((d) => d === first || (begin !== first && d.startsWith(begin))) || first;
    return [whole, ...all.filter((d) => d !== whole)];
}

/* The first reason, and a link to all of them in the view of its version. */
export function reasonLine(name: string, e: End, m: Measured | null): Child {
    const all = reasonsOf(e, m).map(doubtWords), isCut = all[0]?.endsWith("..."), n = all.length - 1;
    const link = e.best_commit && (n > 0 || isCut) ? h("a", {href: href("search", name, "version", e.best_commit)}, n > 0 ? "and " + n + " more" : "the whole reason") : null;
    return [all[0] || "", link ? [isCut ? " " : "; ", link] : null];
}

/* What stands before the reasons. */
export const reasonLead = (claim: Claim): string => (claim === "doubted" ? "Not to be claimed: " : "Why it may not be claimed: ");

interface Interval { ratio?: number; low?: number | null; high?: number | null }

/* Of a ratio below 1: whether chance alone may have done it. */
const howSure = (x: Interval): string => (isNumber(x.high) && x.high < 1 ? "" : ", not surely");

/* A ratio with its interval; a loss is called one, in the colour of warnings. */
export const ratioOrLoss = (x: Interval): Child => (isNumber(x.ratio) && x.ratio < 1 ? h("span", {class: "bad"}, withInterval(x) + ", slower" + howSure(x)) : withInterval(x));

/* Where the result does not beat the baseline with fast math. */
export interface Weak { words: string; isSlower: boolean }
export function fastMathOf(e?: End): Weak | null {
    const y = (e?.yardsticks || []).find((k) => k.name === "fast-math"), x: Interval = y || {ratio: e?.vs_fast_math};
    if (!isNumber(x.ratio) || (x.ratio > 1 && !(isNumber(x.low) && x.low <= 1))) return null;
    const isSlower = x.ratio < 1;
    return {isSlower, words: isSlower ? "slower than the baseline built with -ffast-math: " + withInterval(x) + howSure(x) : "no gain shown over -ffast-math: " + withInterval(x)};
}
export const weakLine = (weak: Weak | null): Child => (weak ? h("div", {class: weak.isSlower ? "bad" : "soft"}, weak.words) : null);

/* Public sizes at which the confirmed version is surely slower than the baseline. */
export function slowerAt(m: Measured | null): string {
    const over = (w: Workload) => (w.ratios || []).find((x) => x.against === "baseline");
    const of = (m?.tier === "confirm" ? m.workloads || [] : []).filter((w) => !isDrawn(w.id) && isNumber(over(w)?.high) && over(w)!.high! < 1);
    return of.length > 0 ? "slower at " + of.map((w) => w.id + " (" + withInterval(over(w)!) + ")").join(", ") : "";
}

/* One line: sign and words, the reason behind them. */
export function claimLine(name: string, e?: End, m: Measured | null = null): Child {
    const claim = claimOf(e), weak = fastMathOf(e), sign = signOfClaim(claim);
    if (claim === "open") return h("span", {class: "soft"}, "not ended");
    if (claim === "doubted") return h("span", {class: "soft doubted"}, sign, "not to be claimed: ", reasonLine(name, e!, m));
    if (claim === "unconfirmed") return h("span", {class: "soft", title: e!.unconfirmed}, "nothing confirmed" + (e!.unconfirmed ? ": " + e!.unconfirmed : ""));
    if (isUnsure(claim)) return h("span", {class: "soft doubted"}, sign, freshWords(e!.verdict), e!.doubt ? [": ", reasonLine(name, e!, m)] : null);
    return weak ? h("span", {class: "soft"}, sign, "faster than the baseline; no gain shown over -ffast-math") : h("span", {class: "good"}, sign, "faster than the baseline");
}

/* What the two programs used, in words; older records speak of arms. */
export const doubtWords = (doubt = ""): string => doubt.replace(/the arms need different numbers of (them|cores)/, "this version and the baseline use different numbers of cores: that load slowed one more than the other");

/* The confirmed sizes that lie apart by more than their intervals, and outside of that of the mean: "8.63x to 55.7x by size". */
export function rangeBySize(e: End, m: Measured | null): string {
    const of = (m?.tier === "confirm" ? m.workloads || [] : []).flatMap((w) => (w.ratios || []).filter((x) => x.against === "baseline" && x.ratio > 0)), [low, high] = e.ci || [];
    if (of.length < 2) return "";
    const least = of.reduce((a, b) => (b.ratio < a.ratio ? b : a)), most = of.reduce((a, b) => (b.ratio > a.ratio ? b : a));
    const isApart = (least.high ?? least.ratio) < (most.low ?? most.ratio) && (least.ratio < (low ?? Infinity) || most.ratio > (high ?? 0));
    return isApart ? ratio(least.ratio) + " to " + ratio(most.ratio) + " by size" : "";
}

const timedBySearch = (m: Measured | null): string[] => m?.looks?.find((l) => l.tier === "screen")?.sizes || [];
const FAR_BELOW = 0.75; /* of the least share of the bound that the search saw */

/* Confirmed sizes far below those that the search timed, which it could not know of; worst first. */
export function unseenLine(m: Measured | null): string {
    const seen = timedBySearch(m), all = (m?.tier === "confirm" ? m.workloads || [] : []).filter((w) => isNumber(w.percent_of_bound));
    const least = Math.min(...all.filter((w) => seen.includes(w.id)).map((w) => w.percent_of_bound!));
    const far = all.filter((w) => !seen.includes(w.id) && w.percent_of_bound! < FAR_BELOW * least).sort((a, b) => a.percent_of_bound! - b.percent_of_bound!);
    if (seen.length === 0 || far.length === 0) return "";
    const told = (w: Workload) => w.id + " (" + Object.entries(w.axes || {}).map(([k, n]) => k + " " + n).join(", ") + ") at " + percent(w.percent_of_bound) + " of the bound";
    return "Worst size: " + far.slice(0, 3).map(told).join(", then ") + ". The search did not time " + (far.length > 1 ? "them" : "it") + ": the sizes that it timed reach at least " + percent(least) + ", so there may be room left here.";
}

export function countsOf(rows: readonly Row[]): string {
    const of = (c: Claim) => rows.filter((r) => claimOf(r.end) === c).length;
    const claimed = of("claimed"), weak = rows.filter((r) => claimOf(r.end) === "claimed" && fastMathOf(r.end)).length;
    const more: [number, string][] = [[of("doubted"), "may not"], [of("inconclusive"), "inconclusive"], [of("unconfirmed"), "unconfirmed"], [of("none"), "without a gain"], [of("open"), "not ended"]];
    return claimed + (claimed === 1 ? " result" : " results") + " may be claimed" + (weak ? " (" + weak + " of them with no gain over -ffast-math)" : "") +
        more.filter(([n]) => n > 0).map(([n, words]) => ", " + n + " " + words).join("");
}

/* What a measurement itself warns of; hurried: that little time was left for a size. */
export function warningsOf(m: Measured | null): {others: string[]; hurried: string[]} {
    const all = m?.warnings || [], hurried = all.filter((w) => w.includes("little time was left"));
    return {others: all.filter((w) => !hurried.includes(w)), hurried};
}

/* Lines by the number. */
export function warningLines(m: Measured | null): Node[] {
    const line = (w: string) => h("p", {class: "warning"}, "△ Mind: " + w), {others, hurried} = warningsOf(m);
    return [...others.map(line), ...(hurried.length > 0 ? [h("details", {}, h("summary", {}, "△ Little time was left for " + hurried.length + (hurried.length === 1 ? " size" : " sizes") + ": fewer rounds, so wider intervals"), hurried.map(line))] : [])];
}

/* ---- short looks and confirmations ---- */

/* By list of steps, then by version: its last confirmation. Every step asks for its own. */
const confirmations = new WeakMap<readonly Step[], Map<string, Step>>();

export function freshOf(steps: readonly Step[], commit?: string): Step | undefined {
    let of = confirmations.get(steps);
    if (!of) confirmations.set(steps, of = new Map(steps.flatMap((s) => (s.kind === "confirm" && s.commit && isNumber(s.ratio) ? [[s.commit, s] as const] : []))));
    return commit ? of.get(commit) : undefined;
}

/* The confirmation, where it lies below the interval of the short look; without one, where the short look
 * lies above all that the confirmation allows. */
export function missed(r: {steps: readonly Step[]; end?: End}, s: Step): Step | undefined {
    const fresh = s.kind === "confirm" ? undefined : freshOf(r.steps, s.commit);
    if (!fresh || !isNumber(s.value_log2)) return undefined;
    if (s.ratio_low! > 0) return fresh.ratio! < s.ratio_low! ? fresh : undefined;
    const own = fresh.commit === r.end?.best_commit ? r.end?.ci?.[1] : undefined;
    return 2 ** s.value_log2 > (own ?? Math.max(fresh.ratio!, fresh.ratio_high || 0)) ? fresh : undefined;
}

/* What the line of the way up ends at, and the confirmed figure, which stands on other sizes. Words for
 * the picture and for the line below it. won: what was measured of the confirmed version. */
export interface WayEnd { line: string; point: string; words: string }
export function wayEnd(r: {steps: readonly Step[]; end?: End}, won: Measured | null): WayEnd | null {
    const e = r.end, last = waysUp(r.steps).at(-1);
    if (!e || !last) return null;
    const sizesOf = (tier: string) => won?.looks?.find((l) => l.tier === tier)?.sizes.length, sizes = sizesOf("screen"), isLong = last[0].kind === "decide";
    const looks = sizes ? "short looks of " + countOf(sizes) : "short looks of few sizes", more = last[0].commit === e.best_commit ? sizesOf("decide") : undefined;
    const look = isLong ? "a longer look" + (more ? " of " + countOf(more) : "") : looks;
    const line = ratioOf(last[1]) + ", " + look, isDown = missed(r, last[0]) !== undefined;
    const begin = "A dot is one evaluation. The line is the best version so far, as the search took it then: by " + looks + ", or by a longer look where there was one; single looks may lie above it. It " +
        (isDown ? "reaches " + line + ", and comes down to what fresh data showed. " : "ends at " + line + ". ");
    if (!isNumber(e.speedup)) return {line, point: "", words: begin + "Nothing was confirmed."};
    const fresh = freshOf(r.steps, e.best_commit), n = won?.tier === "confirm" ? won.workloads?.length ?? 0 : 0, drawn = (won?.workloads || []).filter((w) => isDrawn(w.id)).length;
    const over = n > 0 ? countOf(n) : "all timed sizes", interval = e.ci?.length === 2 ? " [" + e.ci.map(three).join(", ") + "]" : "";
    return {line: isDown ? "" : line, point: ratio(e.speedup) + " with fresh data, " + over, words: begin + "The last " + kinds[fresh ? kindOf(fresh) : "confirmed"][0] + ", " + ratio(e.speedup) + interval + ", is the confirmation of " + short(e.best_commit) +
        ": fresh data over " + over + (n > 0 && drawn > 0 ? ", " + drawn + " of them drawn" : "") + "."};
}

/* The one figure of a version: the confirmed one, else "about" that of its short looks. */
export function figureOf(steps: readonly Step[], s?: Step): string {
    if (!s) return "";
    const fresh = s.kind === "confirm" ? s : freshOf(steps, s.commit);
    if (fresh) return ratio(fresh.ratio) + (kindOf(fresh) === "confirmed" ? " confirmed" : (fresh.verdict === "faster" ? " " : ", ") + stateWords(fresh));
    return isNumber(s.value_log2) ? "about " + ratioOf(s.value_log2) : "";
}

/* ---- why it ended, what was used, how to go on ---- */

const ends: Record<string, string> = {
    plateau: "no further step promised a gain", budget_wall: "the wall time left had no room for another step", budget_evaluations: "the evaluations were used up",
    budget_device: "the device's time was used up", budget_cost: "the money was used up", budget_tokens: "the tokens were used up",
    budget_disk: "the disk's share was used up", stopped: "it was stopped", target: "the target was reached", exhausted: "no step was left to try",
    near_roof: "it is near what the machine allows", tree_full: "the tree is full", no_submissions: "nobody submitted a step",
};
export const endWords = (why?: string): string => (why ? ends[why] || why.replaceAll("_", " ") : "");

/* "65.4 s of 75 s, 38 evaluations, nothing better for 29.2 s; ended: ..." lastGain: of the way up. */
export function usedLine(r: Report, lastGain?: Step, won: Measured | null = null): string {
    const seen = timedBySearch(won), on = r.end?.why_stopped === "plateau" && seen.length > 0 ? " on the sizes that it timed (" + seen.join(", ") + ")" : "";
    const {wall_ms = 0, evaluations = 0} = r.spent, cap = r.budgets.budget_wall_ms, most = r.budgets.budget_evaluations;
    const left = r.end?.why_stopped === "budget_wall" && cap > wall_ms ? " (" + seconds(cap - wall_ms) + ")" : "";
    const idle = lastGain ? wall_ms - lastGain.elapsed_ms : 0;
    return [(seconds(wall_ms) || "0 s") + (cap ? " of " + seconds(cap) : "") + " used", evaluations + (most ? " of " + most : "") + " evaluations",
        idle > 0 ? "nothing better for the last " + seconds(idle) : ""].filter(Boolean).join(", ") + (r.end ? "; ended: " + endWords(r.end.why_stopped) + on + left : "");
}

/* The command that would confirm what was not, or confirm afresh what is doubted; "" where the search does not say what it wants. */
export function confirmCommand(r: Report): string {
    const more = r.end?.unconfirmed?.match(/--budget-[a-z]+ \S+/)?.[0] || (r.end?.doubt && r.budgets.budget_wall_ms ? "--budget-wall " + Math.ceil(r.budgets.budget_wall_ms / 1000) + "s" : "");
    return more || r.end?.doubt ? "hone search " + r.task + (r.target === "cpu" ? "" : " --target " + r.target) + (nameOf(r) === r.task ? "" : " --name " + nameOf(r)) + (more ? " " + more : "") : "";
}

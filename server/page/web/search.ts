/* SPDX-License-Identifier: Apache-2.0 */
/* The view of one search: result, way up and tree, the step in hand, steering, what was used. */

import {facts, gauge, h, href, isNumber, messageOf, nanoseconds, percent, put, ratio, ratioOf, seconds, short, table, three, time, withInterval, type Child} from "./dom";
import {searchMenu} from "./compare";
import {nameOf, type Report} from "./data";
import {wayUp} from "./plots";
import {claimOf, confirmCommand, fastMathOf, figureOf, freshOf, missed, usedLine} from "./claims";
import {kinds, missesTable, signOf, stepPanel, verdictOf, waysUp, wordsOf} from "./steps";
import {resultOf, type Store} from "./store";
import {treeList} from "./tree";
import {exportPanel, warningsOf} from "./version";

/* Comma lists as lines: each may be long. */
const restsOn = (text?: string): Child => (text ? h("ul", {class: "files"}, text.split(/, (?![^(]*\))/).map((x) => h("li", {}, x))) : "");

/* warnings: filled when they are known. */
function headOf(r: Report, warnings: HTMLElement): HTMLElement {
    const e = r.end, up = waysUp(r.steps).at(-1), claim = claimOf(e), weak = fastMathOf(e), miss = up && missed(r, up[0]);
    const best = up && up[1] > 0 ? up[0].commit : undefined, command = confirmCommand(r);
    if (!e) return h("div", {class: "panel"}, h("span", {class: "result soft"}, "No result yet"),
        h("p", {}, usedLine(r, up?.[0])), h("p", {class: "soft"}, "It runs, or was stopped before its end. Figures below are short looks, not results."));
    return h("div", {class: "panel"},
        h("span", {class: "result " + (claim === "claimed" && !weak ? "good" : "soft"), title: e.doubt}, claim === "doubted" ? "⊘ " : claim === "claimed" ? "◆ " : "",
            isNumber(e.speedup) ? ratio(e.speedup) + " the baseline" + (claim === "doubted" ? ", not to be claimed" : weak ? "; " + weak : "") : "Nothing was confirmed"),
        h("p", {}, usedLine(r, up?.[0])), warnings, claim === "doubted" ? h("p", {class: "bad"}, "Not to be claimed: " + e.doubt)
            : weak ? h("p", {}, "No gain is shown over the same baseline built with -ffast-math.") : null,
        e.unconfirmed ? h("p", {}, e.unconfirmed) : null,
        miss ? h("p", {}, "Its short look had shown " + ratioOf(up![1]) + ": the confirmation did not bear that out.") : null,
        isNumber(e.speedup) ? h("p", {class: "soft"}, "Confirmed with fresh data over all timed sizes. What is called a short look timed fewer sizes.") : null,
        facts([...(e.yardsticks || []).map((y) => ["over " + y.name, withInterval(y)] as const), ["rests on", restsOn(e.rests_on)],
            ["one call", isNumber(e.best_ns) ? nanoseconds(e.best_ns) + ", before " + nanoseconds(e.baseline_ns) : ""], ["of the bound", percent(e.percent_of_bound)],
            ["best version", e.best_commit ? h("a", {href: href("search", nameOf(r), "version", e.best_commit)}, short(e.best_commit))
                : best ? [h("a", {href: href("search", nameOf(r), "version", best)}, short(best)), " about " + ratioOf(up![1]) + ", unconfirmed"] : ""],
            ["confirm it by", command ? h("code", {}, command) : ""],
            ["take it home", e.best_commit ? h("code", {}, "hone export " + short(e.best_commit) + " -o " + r.task + "-best") : ""]]));
}

function gauges(r: Report): HTMLElement {
    const rows: [string, number, number, (v: number) => string][] = [["wall", r.spent.wall_ms, r.budgets.budget_wall_ms, seconds],
        ["evaluations", r.spent.evaluations, r.budgets.budget_evaluations, String], ["device", r.spent.device_ms, r.budgets.budget_device_ms, seconds],
        ["cost", r.spent.cost, r.budgets.budget_cost, (v) => v + " USD"], ["tokens", r.spent.tokens, r.budgets.budget_tokens, String]];
    return facts(rows.filter(([, used, cap]) => used || cap).map(([name, used, cap, f]) =>
        [name, [f(used), cap ? [" of " + f(cap) + " ", gauge((100 * used) / cap)] : ""]]));
}

/* Who was asked, what that cost, and the answers when they are unfolded. */
function modelsPanel(store: Store, r: Report): Child {
    if (!r.models || r.models.length === 0) return null;
    const text = h("pre", {tabindex: "0", "aria-label": "Answers"});
    const open = async (e: Event) => {
        if ((e.target as HTMLDetailsElement).open && !text.textContent) text.textContent = await store.answers(nameOf(r)).catch(messageOf);
    };
    return [h("h2", {}, "Models"), table(["role", "model", "#asked", "#answered", "#tokens in", "#tokens out", "#cost, USD"],
        r.models.map((m) => [m.role, m.model, m.asked, m.answered, m.tokens_in, m.tokens_out, three(m.cost)])),
    h("details", {ontoggle: open}, h("summary", {}, "What they answered"), text)];
}

/* names: tools that the token's role may call. done: called after each request. */
function steering(store: Store, r: Report, names: Set<string>, done: () => void): HTMLElement | null {
    if (!store.isLive || r.end || !names.has("search_steer")) return null;
    const status = h("span", {role: "status", class: "soft"});
    const strategy = h("input", {placeholder: "strategy, e.g. C08", "aria-label": "Strategy", size: "18"});
    const hint = h("input", {placeholder: "hint for models, one line", "aria-label": "Hint", size: "28"});
    const act = (action: string, more: () => object) => h("button", {type: "button", onclick: async () => {
        try {
            const answer = await store.call("search_steer", {search: nameOf(r), action, ...more()});
            status.textContent = answer.isError ? resultOf(answer).summary || "" : action + ": asked";
            done();
        } catch (x) { status.textContent = messageOf(x); }
    }}, action);
    return h("form", {class: "bar", onsubmit: (e) => e.preventDefault()}, ["pause", "resume", "stop"].map((a) => act(a, () => ({}))),
        strategy, ["ban", "favour", "unban"].map((a) => act(a, () => ({strategy: strategy.value.trim()}))), hint, act("hint", () => ({text: hint.value.trim()})), status);
}

/* What came last, and what was asked from outside. */
function latestPanel(r: Report, pick: (i: number) => void): Child {
    const from = Math.max(0, r.steps.length - 8), asked = (r.steering || []).slice(-8).reverse();
    return [h("h2", {}, "Latest"), table(["#after", "what", "#speedup", "verdict"], r.steps.slice(from).map((s, k) => [seconds(s.elapsed_ms) || "0 s",
        h("button", {type: "button", class: "plain", onclick: () => pick(from + k)}, signOf(s) + " " + wordsOf(s)), figureOf(r.steps, s), verdictOf(s)]).reverse()),
    asked.length === 0 ? null : [h("h2", {}, "Asked from outside"), table(["when", "by", "what", "taken in"],
        asked.map((a) => [time(a.time_ms), a.by, a.action + (a.what ? " " + a.what : ""), a.is_taken ? "yes" : r.end ? "came too late" : "not yet"]))]];
}

/* Draws the search and keeps it up to date until what it returns is called. */
export async function searchView(store: Store, view: HTMLElement, name: string): Promise<() => void> {
    const names = await store.tools();
    let r = await store.report(name), chosen = -1, isBusy = false, shown = "", taken = "";
    const warnings = h("div"), home = h("div"), now = h("p", {class: "soft"}), head = h("div"), budget = h("div", {class: "panel"}), steer = h("div");
    const panel = h("div", {class: "panel", "aria-live": "polite"}), near = h("p", {class: "soft near"}, " "), latest = h("div"), twoMenu = h("div");
    const ideas = h("div"), models = h("div");
    const pick = (i: number) => {
        chosen = i;
        plot.select(i);
        tree.select(i);
        put(panel, stepPanel(store, r, r.steps[i]));
    };
    const hover = (i: number) => {
        plot.hover(i);
        tree.hover(i);
        const s = r.steps[i];
        near.textContent = s ? [signOf(s), ratioOf(s.value_log2), wordsOf(s)].filter(Boolean).join(" ") : " ";
    };
    const plot = wayUp(pick, hover), tree = treeList(pick, hover);
    function fill(): void {
        put(head, headOf(r, warnings));
        put(budget, h("h2", {}, "Used"), gauges(r));
        if (!models.querySelector("details[open]")) put(models, modelsPanel(store, r));
        now.textContent = r.in_hand ? "Now: " + (r.in_hand.strategy || "") + ", " + (r.in_hand.rule || "") : "";
        const winner = r.end?.best_commit || "";
        if (winner && winner !== taken) store.measured(winner).then((m) => put(warnings, warningsOf(m))).catch(() => {});
        if (winner !== taken) put(home, (taken = winner) ? exportPanel(store, winner, r.target) : null);
        /* made once: what was typed and what was answered stay */
        if (r.end || !steer.firstChild) put(steer, steering(store, r, names, refresh));
        put(latest, latestPanel(r, pick));
        plot.show(r.steps, r.end);
        tree.show(r.steps);
        if (chosen < 0) put(panel, stepPanel(store, r, undefined));
        put(ideas, h("h2", {}, "What brought something"), table(["#evaluations", "#time", "#short look", "with fresh data", "step", "version"], waysUp(r.steps).map(([s]) =>
            [s.evaluations, seconds(s.elapsed_ms), ratioOf(s.value_log2), freshOf(r.steps, s.commit) ? figureOf(r.steps, s) + (missed(r, s) ? ", short look not borne out" : "") : "", wordsOf(s), s.commit ? h("a", {href: href("search", name, "version", s.commit)}, short(s.commit)) : ""])), missesTable(r));
    }
    async function refresh(): Promise<void> {
        if (isBusy || !view.contains(head)) return;
        isBusy = true;
        try {
            const next = await store.report(name), mark = next.last_ms + "/" + next.steps.length;
            if (mark !== shown) {
                r = next;
                shown = mark;
                fill();
            }
        } catch { /* the connection says so */ }
        isBusy = false;
    }
    const byTime = (e: Event) => plot.byTime((e.target as HTMLInputElement).checked);
    put(view, h("h1", {}, name), h("p", {class: "soft"}, r.task + " on " + r.target + ", " + r.policy + ", " + r.coder + ", begun " + time(r.start_ms)),
        head, now, home, steer, h("div", {class: "split"}, h("section", {}, h("h2", {}, "Way up"), plot.element, near,
            h("label", {class: "soft"}, h("input", {type: "checkbox", onchange: byTime}), " over time"),
            h("p", {class: "soft"}, Object.values(kinds).map(([sign, , means]) => sign + " " + means).join("   "), ". Drag to look closer, double click to see all.")),
        h("section", {}, h("h2", {}, "Tree"), tree.element)), panel, ideas, latest, budget, models, twoMenu);
    fill();
    store.searches().then((all) => put(twoMenu, searchMenu(all.filter((x) => x.search !== r.search), name))).catch(() => {});
    return store.watch(name, refresh);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The view of one search: result, way up and tree, the step in hand, steering, what was used. */

import {command, facts, gauge, h, href, isNumber, messageOf, nanoseconds, put, ratio, ratioOf, seconds, short, table, three, time, type Child} from "./dom";
import {searchMenu} from "./compare";
import {nameOf, waysUp, type Measured, type Report} from "./data";
import {wayUp} from "./plots";
import {claimOf, confirmCommand, isUnsure, reasonLead, reasonLine, signOfClaim, fastMathOf, figureOf, freshOf, missed, rangeBySize, ratioOrLoss, slowerAt, unseenLine, usedLine, warningLines, wayEnd, weakLine} from "./claims";
import {plainReason} from "./counters";
import {freshWords, kindOf, kinds, signOf, type Kind} from "./marks";
import {keep, keepSoon, query} from "./place";
import {missesTable, pathTable, runnersTable, stepPanel, verdictOf, wordsOf} from "./steps";
import {resultOf, type Store} from "./store";
import {treeList} from "./tree";
import {exportPanel} from "./version";
import {boundWords, restsOn, standsOn} from "./words";

/* The version that the view is about: the confirmed one, else that of the best short look. */
function bestOf(r: Report): string | undefined {
    const up = waysUp(r.steps).at(-1);
    return r.end?.best_commit || (up && up[1] > 0 ? up[0].commit : undefined);
}

/* won: what was measured of the confirmed version, when that is known. */
function headOf(r: Report, won: Measured | null): HTMLElement {
    const e = r.end, up = waysUp(r.steps).at(-1), claim = claimOf(e), weak = fastMathOf(e), look = r.steps.find((s) => s.kind !== "confirm" && s.commit === e?.best_commit), miss = look && missed(r, look);
    const best = up && up[1] > 0 ? up[0].commit : undefined, again = confirmCommand(r), range = e ? rangeBySize(e, won) : "", unseen = unseenLine(won), slower = slowerAt(won);
    if (!e) return h("div", {class: "panel"}, h("span", {class: "result soft"}, "No result yet"),
        h("p", {}, usedLine(r, up?.[0])), h("p", {class: "soft"}, "It runs, or was stopped before its end. Figures below are short looks, not results."));
    return h("div", {class: "panel"},
        h("span", {class: "result " + (claim === "claimed" && !weak ? "good" : "soft")}, signOfClaim(claim),
            isNumber(e.speedup) ? ratio(e.speedup) + " the baseline" + (range ? " on average, " + range : "") + (claim === "doubted" ? ", not to be claimed" : isUnsure(claim) ? ", " + freshWords(e.verdict) : "") : "Nothing was confirmed"),
        weakLine(weak), slower ? h("div", {class: "bad"}, slower) : null,
        h("p", {}, usedLine(r, up?.[0], won)), unseen ? h("p", {class: "unseen"}, unseen) : null, warningLines(won), e.doubt ? h("p", {class: "bad"}, reasonLead(claim), reasonLine(nameOf(r), e, won)) : null,
        e.unconfirmed ? h("p", {}, e.unconfirmed) : null,
        miss ? h("p", {}, "Its short look had shown " + ratioOf(look!.value_log2) + ": fresh data did not bear that out.") : null,
        isNumber(e.speedup) ? h("p", {class: "soft"}, standsOn(won)) : null,
        facts([...(e.yardsticks || []).map((y) => ["over " + y.name, ratioOrLoss(y)] as const), ["rests on", restsOn(e, won)],
            ["one call", isNumber(e.best_ns) ? nanoseconds(e.best_ns) + ", before " + nanoseconds(e.baseline_ns) : ""], ["of the bound", boundWords(e.percent_of_bound, won)],
            ["best version", e.best_commit ? h("a", {href: href("search", nameOf(r), "version", e.best_commit)}, short(e.best_commit))
                : best ? [h("a", {href: href("search", nameOf(r), "version", best)}, short(best)), " about " + ratioOf(up![1]) + ", unconfirmed"] : ""],
            [e.doubt ? "confirm it afresh by" : "confirm it by", again ? [command(again), e.doubt ? ", when the machine is idle" : ""] : ""],
            ["take it home", e.best_commit ? command("hone export " + short(e.best_commit) + " -o " + r.task + "-best") : ""]]));
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
    const rows = table(["#after", "what", "#speedup", "verdict"], r.steps.slice(from).map((s, k) => [seconds(s.elapsed_ms) || "0 s",
        h("button", {type: "button", class: "plain", onclick: () => pick(from + k)}, signOf(kindOf(s)), " " + wordsOf(s)), figureOf(r.steps, s), verdictOf(s)]).reverse());
    rows.classList.add("picks");
    rows.querySelectorAll("tbody tr").forEach((tr, k) => tr.addEventListener("click", (e) => { if (!(e.target as Element).closest("button")) pick(r.steps.length - 1 - k); }));
    return [h("h2", {}, "Latest"), rows, asked.length === 0 ? null : [h("h2", {}, "Asked from outside"), table(["when", "by", "what", "taken in"],
        asked.map((a) => [time(a.time_ms), a.by, a.action + (a.what ? " " + a.what : ""), a.is_taken ? "yes" : r.end ? "came too late" : "not yet"]))]];
}

const MOST_SHOWN = 320; /* pixels of a step's panel that have to be in sight */
const markOf = (r: Report): string => r.last_ms + "/" + r.steps.length;

/* Anew, with the focus on the same one of its links and buttons. */
function putKept(e: HTMLElement, ...children: Child[]): void {
    const all = () => [...e.querySelectorAll<HTMLElement>("a, button, [tabindex]")], at = all().indexOf(document.activeElement as HTMLElement);
    put(e, ...children);
    if (at >= 0) all()[at]?.focus({preventScroll: true});
}

/* Draws the search and keeps it up to date until what it returns is called. */
export async function searchView(store: Store, view: HTMLElement, name: string): Promise<() => void> {
    const [names, first] = await Promise.all([store.tools(), store.report(name)]);
    let r = first, chosen = -1, isBusy = false, shown = markOf(r), taken = "", won: Measured | null = null;
    const where = h("span"), home = h("div"), now = h("p", {class: "soft"}), head = h("div"), budget = h("div", {class: "panel"}), steer = h("div");
    const panel = h("div", {class: "panel", "aria-live": "polite"}), near = h("p", {class: "soft near"}, " "), latest = h("div"), twoMenu = h("div");
    const ideas = h("div"), ends = h("p", {class: "ends"}), models = h("div");
    const choose = (i: number) => {
        chosen = i;
        plot.select(i);
        tree.select(i);
        put(panel, stepPanel(store, r, r.steps[i]));
    };
    /* What was chosen is in sight, below the plot and the tree, and in the address. */
    const pick = (i: number) => {
        choose(i);
        keepSoon("step", String(i));
        const {top, bottom} = panel.getBoundingClientRect(), isNarrow = innerWidth <= 800;
        if (top < 0 || Math.min(bottom, top + MOST_SHOWN) > innerHeight) (isNarrow ? panel : split).scrollIntoView({block: "start"});
    };
    const hover = (i: number) => {
        plot.hover(i);
        tree.hover(i);
        const s = r.steps[i];
        put(near, s ? [signOf(kindOf(freshOf(r.steps, s.commit) || s)), " " + [figureOf(r.steps, s), wordsOf(s)].filter(Boolean).join(" ")] : " ");
    };
    const tellWhere = (machine?: string) => { if (machine && !where.textContent?.includes(machine)) put(where, ", measured on " + machine); };
    const plot = wayUp(pick, hover), tree = treeList(pick, hover, query().get("fold") || "", (fold) => keepSoon("fold", fold || null));
    /* The head, and the end of the way up, stand on what was measured of the confirmed version. */
    function tell(): void {
        const words = wayEnd(r, won);
        put(head, headOf(r, won));
        plot.tell(words);
        put(ends, words?.words);
    }
    function fill(): void {
        put(budget, h("h2", {}, "Used"), gauges(r));
        if (!models.querySelector("details[open]")) put(models, modelsPanel(store, r));
        now.textContent = r.in_hand ? "Now: " + (r.in_hand.strategy || "") + ", " + plainReason(r.in_hand.rule) : "";
        const winner = r.end?.best_commit || "";
        if (winner && winner !== taken) store.measured(winner).then((m) => { won = m; tell(); tellWhere(m?.machine?.cpu); }).catch(() => {});
        if (winner !== taken) put(home, (taken = winner) ? exportPanel(store, winner, r.target) : null);
        /* made once: what was typed and what was answered stay */
        if (r.end || !steer.firstChild) put(steer, steering(store, r, names, refresh));
        putKept(latest, latestPanel(r, pick));
        plot.show(r.steps, r.end);
        tell();
        tree.show(r.steps);
        if (chosen < 0) put(panel, stepPanel(store, r, undefined));
        putKept(ideas, runnersTable(r), pathTable(r, bestOf(r)), h("h2", {}, "What brought something"), table(["#evaluations", "#time", "#its look", "with fresh data", "step", "version"], waysUp(r.steps).filter(([s]) => s.is_gain || s.node === 0 || freshOf(r.steps, s.commit)).map(([s]) =>
            [s.evaluations, seconds(s.elapsed_ms), ratioOf(s.value_log2) + (s.kind === "decide" ? ", longer" : ""), freshOf(r.steps, s.commit) ? figureOf(r.steps, s) + (missed(r, s) ? ", short look not borne out" : "") : "", wordsOf(s), s.commit ? h("a", {href: href("search", name, "version", s.commit)}, short(s.commit)) : ""])), missesTable(r));
    }
    async function refresh(): Promise<void> {
        if (isBusy || !view.contains(head)) return;
        isBusy = true;
        try {
            const next = await store.report(name), mark = markOf(next);
            if (mark !== shown) {
                r = next;
                shown = mark;
                fill();
            }
        } catch { /* the connection says so */ }
        isBusy = false;
    }
    const isByTime = query().get("x") === "time", box = h("input", {type: "checkbox", checked: isByTime, onchange: () => {
        plot.byTime(box.checked);
        keep("x", box.checked ? "time" : null);
    }});
    const split = h("div", {class: "split"}, h("section", {}, h("h2", {}, "Way up: times the baseline's speed"), plot.element, ends, near, h("label", {class: "soft"}, box, " over time"),
        h("p", {class: "soft"}, (Object.keys(kinds) as Kind[]).map((k, i) => [i > 0 ? "   " : "", signOf(k), " " + kinds[k][2]]), ". Drag to look closer, double click to see all.")),
    h("section", {}, h("h2", {}, "Tree"), tree.element));
    put(view, h("h1", {}, name), h("p", {class: "soft"}, r.task + " on " + r.target, where, ", planner " + r.policy + ", coder " + r.coder + ", begun " + time(r.start_ms)),
        head, now, home, steer, split, panel, ideas, latest, budget, models, twoMenu);
    fill();
    if (isByTime) plot.byTime(true);
    if (r.steps[Number(query().get("step") ?? -1)]) choose(Number(query().get("step")));
    store.searches().then((all) => {
        tellWhere(all.find((x) => x.search === r.search)?.machine);
        put(twoMenu, searchMenu(all.filter((x) => x.search !== r.search), name));
    }).catch(() => {});
    return store.watch(name, refresh);
}

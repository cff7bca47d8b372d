/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of versions: rows of a list of which only those in sight exist. One stop of the Tab key; the
 * arrow keys, Home and End go from row to row. */

import {h, put, ratio, ratioOf} from "./dom";
import {kindOf, signOf} from "./marks";
import {wordsOf} from "./steps";
import type {Step} from "./data";

/* Steps by depth, each behind its parent; i: its place in the list of steps. */
function treeRows(steps: Step[]): {i: number; depth: number}[] {
    const children = new Map<number, number[]>(), roots: number[] = [], seen = new Set<number>(); /* later looks at a version have no row */
    steps.forEach((s, i) => {
        if (s.kind === "confirm" || s.kind === "decide" || (s.node >= 0 && seen.has(s.node))) return;
        seen.add(s.node);
        if (s.parent < 0) roots.push(i);
        else if (children.has(s.parent)) children.get(s.parent)!.push(i);
        else children.set(s.parent, [i]);
    });
    const out: {i: number; depth: number}[] = [], stack = roots.reverse().map((i) => ({i, depth: 0}));
    for (let at = stack.pop(); at; at = stack.pop()) {
        const {i, depth} = at, node = steps[i].node;
        out.push(at);
        const below = (node >= 0 && children.get(node)) || [];
        children.delete(node);
        for (const k of below.toReversed()) stack.push({i: k, depth: depth + 1});
    }
    return out;
}

export interface TreeList {
    element: HTMLElement;
    show(steps: Step[]): void;
    select(i: number): void;
    hover(i: number): void;
}

export function treeList(onpick: (i: number) => void, onhover: (i: number) => void): TreeList {
    const ROW = 26, inner = h("div", {role: "none"}), box = h("div", {class: "tree", role: "tree", tabindex: "0", "aria-label": "Tree of versions"}, inner);
    let steps: Step[] = [], rows: {i: number; depth: number}[] = [], chosen = -1, placeOf = new Map<number, number>(), looks = new Map<number, number>(), fresh = new Map<string, Step>();
    function draw(): void {
        const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
        const last = Math.min(rows.length, first + Math.ceil((box.clientHeight || 340) / ROW) + 10);
        inner.style.height = rows.length * ROW + "px";
        put(inner, rows.slice(first, last).map(({i, depth}, k) => {
            const s = steps[i], confirmed = s.commit ? fresh.get(s.commit) : undefined, kind = kindOf(confirmed || s);
            const speed = confirmed ? ratio(confirmed.ratio) : ratioOf(s.value_log2);
            const row = h("button", {class: "row" + (first + k === placeOf.get(chosen) ? " is-here" : ""), title: wordsOf(s), "data-step": i, type: "button",
                tabindex: "-1", role: "treeitem", id: "row-" + i, "aria-level": depth + 1, "aria-selected": first + k === placeOf.get(chosen) ? "true" : "false",
                onclick: () => onpick(i), onmouseenter: () => onhover(i), onmouseleave: () => onhover(-1)},
            signOf(kind), " ", speed && speed + "  ", wordsOf(s), (looks.get(s.node) || 0) > 1 ? ", measured " + looks.get(s.node) + " times" : "");
            row.style.top = (first + k) * ROW + "px";
            row.style.paddingLeft = 8 + Math.min(depth, 20) * 14 + "px";
            return row;
        }));
    }
    box.addEventListener("scroll", draw);
    box.addEventListener("keydown", (e) => {
        const at = placeOf.get(chosen) ?? -1, to = ({ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1} as Record<string, number>)[e.key];
        if (to === undefined || rows.length === 0) return;
        e.preventDefault();
        onpick(rows[Math.min(rows.length - 1, Math.max(0, to))].i);
    });
    return {
        element: box,
        show(list) {
            steps = list;
            rows = treeRows(list);
            const rowOf = new Map(rows.map((r, at) => [list[r.i].node, at]));
            placeOf = new Map(list.flatMap((s, i) => (s.node >= 0 && rowOf.has(s.node) ? [[i, rowOf.get(s.node)!] as const] : [])));
            rows.forEach((r, at) => placeOf.set(r.i, at));
            looks = new Map();
            for (const s of list) if (s.node >= 0) looks.set(s.node, (looks.get(s.node) || 0) + 1);
            fresh = new Map(list.flatMap((s) => (s.kind === "confirm" && s.commit ? [[s.commit, s] as const] : [])));
            draw();
        },
        select(i) {
            chosen = i;
            const at = placeOf.get(i);
            if (at !== undefined && (at * ROW < box.scrollTop || at * ROW > box.scrollTop + box.clientHeight - ROW))
                box.scrollTop = at * ROW - box.clientHeight / 2;
            draw();
            if (at !== undefined) box.setAttribute("aria-activedescendant", "row-" + rows[at].i);
        },
        hover(i) { const near = rows[placeOf.get(i) ?? -1]?.i; for (const row of inner.children) row.classList.toggle("is-near", Number((row as HTMLElement).dataset.step) === near); },
    };
}

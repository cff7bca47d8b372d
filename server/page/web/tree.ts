/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of versions: rows of a list of which only those in sight exist. One stop of the Tab key; the
 * arrow keys, Home and End go from row to row, left and right fold and unfold. */

import {h, isNumber, put, ratioOf} from "./dom";
import {kindOf, signOf} from "./marks";
import {wordsOf} from "./steps";
import type {Step} from "./data";

/* i: its place in the list of steps; up: its parent's row, or -1. Below it, at any depth: so many versions
 * and tries that gave none, and the row of the best of them, or -1. */
interface Branch { i: number; depth: number; up: number; versions: number; tries: number; best: number }

/* Steps by depth, each behind its parent. */
function treeRows(steps: Step[]): Branch[] {
    const children = new Map<number, number[]>(), roots: number[] = [], seen = new Set<number>(); /* later looks at a version have no row */
    steps.forEach((s, i) => {
        if (s.kind === "confirm" || s.kind === "decide" || (s.node >= 0 && seen.has(s.node))) return;
        seen.add(s.node);
        if (s.parent < 0) roots.push(i);
        else if (children.has(s.parent)) children.get(s.parent)!.push(i);
        else children.set(s.parent, [i]);
    });
    const of = (i: number, depth: number, up: number): Branch => ({i, depth, up, versions: 0, tries: 0, best: -1});
    const out: Branch[] = [], stack = roots.reverse().map((i) => of(i, 0, -1));
    for (let at = stack.pop(); at; at = stack.pop()) {
        const {i, depth} = at, node = steps[i].node;
        out.push(at);
        const below = (node >= 0 && children.get(node)) || [], up = out.length - 1;
        children.delete(node);
        for (const k of below.toReversed()) stack.push(of(k, depth + 1, up));
    }
    return out;
}

export interface TreeList {
    element: HTMLElement;
    show(steps: Step[]): void;
    select(i: number): void;
    hover(i: number): void;
}

/* fold: the versions whose branch is folded, "3,17"; onfold is told them anew. */
export function treeList(onpick: (i: number) => void, onhover: (i: number) => void, fold: string, onfold: (fold: string) => void): TreeList {
    const ROW = 26, inner = h("div", {role: "none"}), box = h("div", {class: "tree", role: "tree", tabindex: "0", "aria-label": "Tree of versions"}, inner);
    const folded = new Set(fold.split(",").filter(Boolean).map(Number));
    let steps: Step[] = [], rows: Branch[] = [], shown: number[] = [], placeIn: number[] = []; /* rows that no fold hides; of each row its place among them, or -1 */
    let chosen = -1, rowOf = new Map<number, number>(), looks = new Map<number, number>(), fresh = new Map<string, Step>();
    const freshOf = (s: Step) => (s.commit ? fresh.get(s.commit) : undefined);
    const speedOf = (s: Step): number | null | undefined => { const f = freshOf(s); return f ? (f.ratio ? Math.log2(f.ratio) : null) : s.value_log2; };
    const isParent = (r: Branch) => r.versions + r.tries > 0, isFolded = (r: Branch) => isParent(r) && folded.has(steps[r.i].node);
    /* The row itself, or the folded one that hides it. */
    const inSight = (at: number): number => { while (at >= 0 && placeIn[at] < 0) at = rows[at].up; return at; };
    /* From below: each row is counted in its parent's. What is wrong or barred is no best. */
    function count(): void {
        for (let at = rows.length - 1; at >= 0; at--) {
            const r = rows[at], u = rows[r.up], s = steps[r.i], speed = (k: number) => (k >= 0 ? speedOf(steps[rows[k].i]) ?? -Infinity : -Infinity);
            if (!u) continue;
            u.versions += r.versions + (s.node >= 0 ? 1 : 0);
            u.tries += r.tries + (s.node >= 0 ? 0 : 1);
            const kind = kindOf(freshOf(s) || s);
            for (const k of [r.best, kind === "wrong" || kind === "barred" ? -1 : at]) if (speed(k) > speed(u.best)) u.best = k;
        }
    }
    function lay(): void {
        shown = [];
        placeIn = new Array(rows.length).fill(-1);
        rows.forEach((r, at) => { if (r.up < 0 || (placeIn[r.up] >= 0 && !isFolded(rows[r.up]))) placeIn[at] = shown.push(at) - 1; });
    }
    function setFold(at: number, isOn: boolean): void {
        const node = steps[rows[at].i].node;
        if (isOn) folded.add(node);
        else folded.delete(node);
        lay();
        onfold([...folded].join(","));
        const own = rowOf.get(chosen) ?? -1;
        if (inSight(own) !== own) onpick(rows[at].i); /* the chosen one went out of sight */
        else draw();
    }
    function hides(r: Branch): (Node | string)[] {
        const best = r.best >= 0 ? steps[rows[r.best].i] : undefined, tries = r.tries > 0 ? r.tries + (r.tries === 1 ? " try" : " tries") + " that gave none" : "";
        const words = [r.versions > 0 ? r.versions + (r.versions === 1 ? " version" : " versions") : "", tries].filter(Boolean).join(", ");
        return ["hides " + words, ...(best ? [", best ", signOf(kindOf(freshOf(best) || best)), " " + ratioOf(speedOf(best))] : []), ": "];
    }
    function draw(): void {
        inner.style.height = shown.length * ROW + "px";
        const here = placeIn[rowOf.get(chosen) ?? -1], first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
        const last = Math.min(shown.length, first + Math.ceil((box.clientHeight || 340) / ROW) + 10);
        put(inner, shown.slice(first, last).map((at, k) => {
            const r = rows[at], {i, depth} = r, s = steps[i], kind = kindOf(freshOf(s) || s), isHere = first + k === here, indent = 24 + Math.min(depth, 20) * 14;
            const speed = speedOf(s), open = isParent(r) ? String(!isFolded(r)) : null;
            const toggle = (e: Event) => { e.stopPropagation(); box.focus({preventScroll: true}); setFold(at, !isFolded(r)); };
            const row = h("div", {class: "row" + (isHere ? " is-here" : ""), title: wordsOf(s), "data-step": i, role: "treeitem", id: "row-" + i, "aria-level": depth + 1,
                "aria-selected": isHere ? "true" : "false", "aria-expanded": open, onclick: () => onpick(i), onmouseenter: () => onhover(i), onmouseleave: () => onhover(-1)},
            open && h("button", {class: "fold", type: "button", tabindex: "-1", "aria-expanded": open, "aria-label": "versions below", title: open === "true" ? "fold" : "unfold", onclick: toggle}),
            signOf(kind), " ", isNumber(speed) && ratioOf(speed) + "  ", open === "false" && h("span", {class: "hides"}, hides(r)), wordsOf(s), (looks.get(s.node) || 0) > 1 ? ", measured " + looks.get(s.node) + " times" : "");
            row.style.top = (first + k) * ROW + "px";
            row.style.paddingLeft = indent + "px";
            if (open) (row.firstChild as HTMLElement).style.left = indent - 20 + "px";
            return row;
        }));
    }
    box.addEventListener("scroll", draw);
    box.addEventListener("keydown", (e) => {
        const at = rowOf.get(chosen) ?? -1, place = placeIn[at] ?? -1, r = rows[at];
        const go = (to: number) => onpick(rows[shown[Math.min(shown.length - 1, Math.max(0, to))]].i);
        const acts: Record<string, () => void> = {ArrowDown: () => go(place + 1), ArrowUp: () => go(place - 1), Home: () => go(0), End: () => go(shown.length - 1),
            ArrowRight: () => { if (r && isFolded(r)) setFold(at, false); else if (r && isParent(r)) go(place + 1); },
            ArrowLeft: () => { if (r && isParent(r) && !isFolded(r)) setFold(at, true); else if (r && r.up >= 0) go(placeIn[r.up]); }};
        if (!Object.hasOwn(acts, e.key) || shown.length === 0) return;
        e.preventDefault();
        acts[e.key]();
    });
    return {
        element: box,
        show(list) {
            steps = list;
            rows = treeRows(list);
            const byNode = new Map(rows.map((r, at) => [list[r.i].node, at]));
            rowOf = new Map(list.flatMap((s, i) => (s.node >= 0 && byNode.has(s.node) ? [[i, byNode.get(s.node)!] as const] : [])));
            rows.forEach((r, at) => rowOf.set(r.i, at));
            looks = new Map();
            for (const s of list) if (s.node >= 0) looks.set(s.node, (looks.get(s.node) || 0) + 1);
            fresh = new Map(list.flatMap((s) => (s.kind === "confirm" && s.commit ? [[s.commit, s] as const] : [])));
            count();
            lay();
            draw();
        },
        /* What hides it is unfolded. */
        select(i) {
            chosen = i;
            const at = rowOf.get(i) ?? -1;
            if (at >= 0 && placeIn[at] < 0) {
                for (let up = rows[at].up; up >= 0; up = rows[up].up) folded.delete(steps[rows[up].i].node);
                lay();
                inner.style.height = shown.length * ROW + "px";
                onfold([...folded].join(","));
            }
            const y = at >= 0 ? placeIn[at] * ROW : -1;
            if (y >= 0 && (y < box.scrollTop || y > box.scrollTop + box.clientHeight - ROW)) box.scrollTop = y - box.clientHeight / 2;
            draw();
            if (at >= 0) box.setAttribute("aria-activedescendant", "row-" + rows[at].i);
        },
        hover(i) { const near = rows[inSight(rowOf.get(i) ?? -1)]?.i; for (const row of inner.children) row.classList.toggle("is-near", Number((row as HTMLElement).dataset.step) === near); },
    };
}

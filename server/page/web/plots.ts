/* SPDX-License-Identifier: Apache-2.0 */
/* Plots over uPlot: the way up of one search, the best so far of two. Drag to look closer, double click
 * to see all again. */

import uPlot from "uplot";
import {css, h, isNumber, ratioOf, seconds} from "./dom";
import {kindOf, kinds, type Kind} from "./marks";
import {heightOf} from "./steps";
import {missed, type WayEnd} from "./claims";
import {waysUp, type End, type Report, type Step} from "./data";

const HEIGHT = 340;

/* Evaluations are whole; milliseconds by what clocks have. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
const CLOCK = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 36000, 86400].map((s) => 1000 * s)];

const axes = (xWords: string, xValues: (v: number) => string, isByTime = () => false): uPlot.Axis[] => {
    const look = {stroke: () => css("--soft"), grid: {stroke: () => css("--line"), width: 1}, ticks: {show: false}, font: "11px system-ui", labelFont: "11px system-ui"};
    return [{...look, label: xWords, labelSize: 18, size: 26, incrs: () => (isByTime() ? CLOCK : WHOLE), values: (_, at) => at.map(xValues)},
        {...look, size: 52, incrs: [1, 2, 3, 4, 5, 10], values: (_, at) => at.map(ratioOf)}];
};

/* Binary logarithms from lowest to highest of what is shown, at least from 1x to 2x. */
function span(values: number[]): [number, number] {
    let low = 0, high = 1;
    for (const v of values) {
        if (v < low) low = v;
        if (v > high) high = v;
    }
    return [Math.max(-3, Math.floor(low)), Math.ceil(high + 0.2)];
}

/* In its box's width, and anew where the width, the light or the dark changes. */
function fit(box: HTMLElement, plot: uPlot, height: number): void {
    new ResizeObserver(() => box.clientWidth > 0 && plot.setSize({width: box.clientWidth, height})).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw());
}

export interface WayUp {
    element: HTMLElement;
    show(steps: Step[], end?: End): void;
    tell(words: WayEnd | null): void; /* what the line and its last point are of */
    select(i: number): void;
    hover(i: number): void;
    byTime(yes: boolean): void;
}

/* A sign a step, the line of the best, whiskers of what was decided. select(i) marks a step, onpick(i)
 * tells which one was clicked, onhover(i) over which one the pointer stands (-1: none). */
export function wayUp(onpick: (i: number) => void, onhover: (i: number) => void): WayUp {
    const box = h("div", {class: "way-up", role: "img", tabindex: "0"});
    const rings = {chosen: h("i", {class: "ring chosen", hidden: true}), near: h("i", {class: "ring near-ring", hidden: true})};
    let steps: Step[] = [], ended: End | undefined, interval: number[] | null = null, told: WayEnd | null = null, chosen = -1, hovered = -1, isByTime = false, shown: [number, number] = [0, 1];
    const xOf = (s: Step) => (isByTime ? s.elapsed_ms : s.evaluations);
    const isWrong = (s: Step) => !isNumber(heightOf(s));
    /* The last dot has room on both sides. */
    const beyond = (high: number) => (steps.length > 0 && high === xOf(steps.at(-1)!) ? high * 1.03 : high);
    const options: uPlot.Options = {
        width: 600, height: HEIGHT, legend: {show: false}, padding: [10, 12, 0, 0],
        cursor: {x: false, y: false, points: {show: false}, drag: {x: true, y: false, dist: 6}},
        scales: {x: {time: false, range: (_, low, high) => [Math.max(0, low ?? 0), beyond(Math.max(1, high ?? 1))]}, y: {range: () => shown}},
        axes: axes("", (v) => (isByTime ? seconds(v) || "0" : String(v)), () => isByTime),
        series: [{}, {stroke: () => css("--best"), width: 2, paths: uPlot.paths.stepped!({align: 1}), points: {show: false}}],
        hooks: {draw: [drawSigns], setSize: [mark], setScale: [mark]},
    };
    const plot = new uPlot(options, [[0], [null]], box);
    plot.over.append(rings.chosen, rings.near);

    /* Where step i stands, in pixels of the plot's area; those that are no version stand at its foot. */
    function placeOf(i: number, isCanvas = false): [number, number] {
        const s = steps[i], foot = isCanvas ? plot.bbox.top + plot.bbox.height - 8 * devicePixelRatio : plot.over.clientHeight - 8;
        return [plot.valToPos(xOf(s), "x", isCanvas), isWrong(s) ? foot : plot.valToPos(heightOf(s), "y", isCanvas)];
    }
    /* The confirmation that the end tells of, else the last one. */
    function lastFresh(): number {
        const own = steps.findLastIndex((s) => s.kind === "confirm" && s.commit !== undefined && s.commit === ended?.best_commit);
        return own >= 0 ? own : steps.findLastIndex((s) => s.kind === "confirm");
    }
    function drawSigns(u: uPlot): void {
        const c = u.ctx, scale = devicePixelRatio, inks = {} as Record<Kind, string>, {min = 0, max = 1} = u.scales.x;
        for (const k of Object.keys(kinds) as Kind[]) inks[k] = css(kinds[k][1]);
        c.save();
        c.font = 13 * scale + "px system-ui";
        c.textAlign = "center";
        c.textBaseline = "middle";
        const whisker = (i: number, ends: number[]) => {
            const [x] = placeOf(i, true), [low, high] = ends.map((v) => u.valToPos(Math.log2(v), "y", true)), half = 3 * scale;
            c.strokeStyle = inks[kindOf(steps[i])];
            c.lineWidth = scale;
            c.beginPath();
            for (const end of [low, high]) {
                c.moveTo(x - half, end);
                c.lineTo(x + half, end);
            }
            c.moveTo(x, low);
            c.lineTo(x, high);
            c.stroke();
        };
        const last = lastFresh();
        if (told && last >= 0 && xOf(steps[last]) <= max!) drawEnd(u, last); /* below the signs */
        steps.forEach((s, i) => {
            if (xOf(s) < min! || xOf(s) > max!) return;
            const kind = kindOf(s);
            c.fillStyle = inks[kind];
            c.fillText(kinds[kind][0], ...placeOf(i, true));
            /* 95 % of what was decided, and of the confirmation */
            if (s.kind === "decide" && s.ratio_low! > 0 && kind !== "wrong") whisker(i, [s.ratio_low!, s.ratio_high!]);
            if (i === last && interval && interval[0] > 0) whisker(i, interval);
        });
        c.restore();
    }
    /* What the line's end and the last diamond are of, left of them: the higher one's words above it. */
    function drawEnd(u: uPlot, last: number): void {
        const c = u.ctx, scale = devicePixelRatio, line = u.data[1].at(-1), [x, point] = placeOf(last, true), end = isNumber(line) ? u.valToPos(line, "y", true) : point;
        const signs = steps.map((_, i) => placeOf(i, true));
        c.save();
        const write = (words: string, y: number, isAbove: boolean, ink: string) => {
            const width = c.measureText(words).width + 16 * scale, ways = [1, 2, 3, 4, 5, 6].map((n) => Math.max(u.bbox.top + 8 * scale, y + (isAbove ? -13 : 13) * n * scale));
            const isFree = (down: number) => !signs.some(([a, b]) => a > x - width && Math.abs(b - down) < 10 * scale);
            const down = ways.find(isFree) ?? ways[0];
            c.strokeStyle = css("--back");
            c.lineWidth = 4 * scale;
            c.strokeText(words, x - 8 * scale, down);
            c.fillStyle = css(ink);
            c.fillText(words, x - 8 * scale, down);
        };
        c.font = 11 * scale + "px system-ui";
        c.textAlign = "right";
        write(told!.line, end, end < point, "--best");
        write(told!.point, point, point <= end, kinds[kindOf(steps[last])][1]);
        c.restore();
    }
    /* The rings lie over the canvas: with ten thousand dots a step costs no drawing. */
    function mark(): void {
        for (const [ring, i] of [[rings.chosen, chosen], [rings.near, hovered]] as const) {
            ring.hidden = !steps[i];
            if (steps[i]) {
                const [x, y] = placeOf(i);
                ring.style.transform = `translate(${x}px, ${y}px)`;
            }
        }
    }
    function nearest(e: MouseEvent): number {
        const at = plot.over.getBoundingClientRect();
        let near = -1, least = 400;
        for (let i = 0; i < steps.length; i++) {
            const [x, y] = placeOf(i), d = (x - (e.clientX - at.left)) ** 2 + (y - (e.clientY - at.top)) ** 2;
            if (d < least) [least, near] = [d, i];
        }
        return near;
    }
    function fill(): void {
        const xs = steps.map(xOf), best: (number | null)[] = [], ups = new Map(waysUp(steps).map(([s, value]) => [s, value]));
        let now: number | null = null;
        for (const s of steps) {
            now = ups.get(s) ?? now;
            /* a short look that was not borne out: the line goes down to what was confirmed */
            if (s.kind === "confirm" && s.ratio! > 0 && steps.some((x) => x.commit === s.commit && missed({steps, end: ended}, x) === s)) now = Math.log2(s.ratio!);
            best.push(now);
        }
        shown = span([...steps.filter((s) => !isWrong(s)).map(heightOf), ...best.filter(isNumber)]);
        plot.axes[0].label = isByTime ? "time" : "evaluations";
        plot.setData([xs.length > 0 ? xs : [0], best.length > 0 ? best : [null]], true);
        mark();
    }
    plot.over.addEventListener("click", (e) => { const near = nearest(e); if (near >= 0) onpick(near); });
    plot.over.addEventListener("mousemove", (e) => { const near = nearest(e); if (near !== hovered) onhover(near); });
    plot.over.addEventListener("mouseleave", () => onhover(-1));
    box.addEventListener("keydown", (e) => {
        const by = ({ArrowRight: 1, ArrowLeft: -1} as Record<string, number>)[e.key];
        if (!by || steps.length === 0) return;
        e.preventDefault();
        onpick(Math.min(steps.length - 1, Math.max(0, chosen + by)));
    });
    fit(box, plot, HEIGHT);
    return {
        element: box,
        show(list, end) {
            steps = list;
            ended = end;
            interval = end?.ci?.length === 2 ? end.ci : null;
            box.setAttribute("aria-label", "Way up: " + list.length + " steps, best " + ratioOf(waysUp(list).at(-1)?.[1]) + ". Arrow keys go from step to step.");
            fill();
        },
        tell(words) { told = words; plot.redraw(false); },
        select(i) { chosen = i; mark(); },
        hover(i) { hovered = i; mark(); },
        byTime(yes) { isByTime = yes; fill(); },
    };
}

/* Best so far of two searches, over evaluations: the second is dashed. */
export function twoWays(reports: Report[], names: string[]): HTMLElement {
    const ways = reports.map((r) => waysUp(r.steps).map(([s, value]): [number, number] => [s.evaluations, value]));
    ways.forEach((way, i) => { if (way.length > 0) way.push([Math.max(reports[i].spent.evaluations || 0, way.at(-1)![0]), way.at(-1)![1]]); });
    const xs = [...new Set([0, ...ways.flat().map((p) => p[0])])].sort((a, b) => a - b);
    const column = (way: [number, number][]) => xs.map((x) => (way.length > 0 && x <= way.at(-1)![0] ? way.findLast((p) => p[0] <= x)?.[1] ?? null : null));
    const box = h("div", {class: "two", role: "img", "aria-label": "Best so far: " + names.map((n, i) => n + " " + (ratioOf(ways[i].at(-1)?.[1]) || "none")).join(", ")});
    const line = {width: 2, paths: uPlot.paths.stepped!({align: 1}), points: {show: false}}, shown = span(ways.flat().map((p) => p[1]));
    const plot = new uPlot({
        width: 640, height: 260, legend: {show: false}, padding: [10, 12, 0, 0], cursor: {points: {show: false}, drag: {x: true, y: false}},
        scales: {x: {time: false, range: (_, low, high) => [low ?? 0, Math.max(1, high ?? 1)]}, y: {range: () => shown}}, axes: axes("evaluations", String),
        series: [{}, {...line, stroke: () => css("--best")}, {...line, stroke: () => css("--device"), dash: [6, 4]}],
    }, [xs, column(ways[0]), column(ways[1])], box);
    fit(box, plot, 260);
    return box;
}

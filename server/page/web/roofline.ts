/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline (Williams and others, 2009): where each workload stands below what the machine can move
 * and compute. */

import {h, s, table, three} from "./dom";
import {medianOf, type Measured, type Workload} from "./data";
import {farWords, unitOf} from "./words";

interface Point { id: string; at: number; done: number; moved: number; moving: number; computing: number; balance: number; share: number }

/* Operations a byte and operations a second, of the task's formulas; the two roofs over it and the
 * balance of the machine, where they meet. Rates: a nanosecond, so G a second. */
function pointOf(w: Workload, arm: string): Point[] {
    const ns = medianOf(w, arm), {bytes_ns = 0, flops_ns = 0, least_bytes = 0, least_flops = 0} = w;
    if (!(bytes_ns > 0 && flops_ns > 0 && least_bytes > 0 && least_flops > 0 && ns && ns > 0)) return [];
    const moving = least_bytes / bytes_ns, computing = least_flops / flops_ns;
    return [{id: w.id, at: least_flops / least_bytes, done: least_flops / ns, moved: least_bytes / ns,
        moving, computing, balance: computing / moving, share: (100 * Math.max(bytes_ns, flops_ns)) / ns}];
}

const WIDTH = 560, HEIGHT = 260, EDGE = 46;

/* Powers of ten between two exponents, every other one where there are many; the ends where there are few. */
function ticks(from: number, to: number): number[] {
    const all = Array.from({length: Math.max(0, Math.floor(to) - Math.ceil(from) + 1)}, (_, i) => Math.ceil(from) + i);
    return all.length < 2 ? [10 ** from, 10 ** to] : all.filter((_, i) => all.length < 7 || i % 2 === 0).map((e) => 10 ** e);
}

/* unit: of the roof of arithmetic. */
function picture(points: Point[], befores: Point[], unit: string): SVGElement {
    const all = points.concat(befores), span = (v: number[], more: number) => [Math.log10(Math.min(...v)) - more, Math.log10(Math.max(...v)) + more];
    const [x0, x1] = span(all.flatMap((p) => [p.at, p.balance]), 0.5), [y0, y1] = span(all.flatMap((p) => [p.done, p.computing]), 0.4);
    const x = (v: number) => EDGE + ((Math.log10(v) - x0) / (x1 - x0)) * (WIDTH - 2 * EDGE);
    const y = (v: number) => HEIGHT - EDGE - ((Math.log10(v) - y0) / (y1 - y0)) * (HEIGHT - 2 * EDGE);
    const {moving, computing, balance} = points[0], left = Math.max(10 ** x0, 10 ** y0 / moving), middle = left ** 0.4 * balance ** 0.6;
    const corners = [[left, left * moving], [balance, computing], [10 ** x1, computing]].map(([a, b]) => x(a).toFixed(1) + "," + y(b).toFixed(1)).join(" ");
    const title = (p: Point, what: string) => s("title", {}, p.id + ", " + what + ": " + three(p.done) + " Gop/s at " + three(p.at) + " operations a byte");
    const words = (text: string, at: number, down: number, anchor: string) => s("text", {x: at, y: down, "text-anchor": anchor}, text);
    return s("svg", {viewBox: "0 0 " + WIDTH + " " + HEIGHT, class: "roofline", role: "img",
        "aria-label": "Roofline, arithmetic of " + unit + ": " + points.map((p) => p.id + " at " + three(p.share) + " % of its roof").join(", ")},
    s("polyline", {class: "roof", points: corners}),
    befores.map((p) => s("rect", {class: "before", x: x(p.at) - 4, y: y(p.done) - 4, width: 8, height: 8}, title(p, "the baseline"))),
    points.map((p) => s("circle", {class: "own", cx: x(p.at), cy: y(p.done), r: 5}, title(p, "this version"))),
    words("operations a byte", WIDTH / 2, HEIGHT - 8, "middle"), words("Gop/s", EDGE + 6, 16, "start"),
    ticks(x0, x1).map((v) => [s("line", {class: "tick", x1: x(v), x2: x(v), y1: HEIGHT - EDGE, y2: HEIGHT - EDGE + 5}), words(three(v), x(v), HEIGHT - EDGE + 18, "middle")]),
    ticks(y0, y1).map((v) => [s("line", {class: "tick", x1: EDGE - 5, x2: EDGE, y1: y(v), y2: y(v)}), words(v >= 1e4 ? v / 1e3 + "k" : three(v), EDGE - 8, y(v) + 4, "end")]),
    s("polyline", {class: "tick", points: EDGE + ",8 " + EDGE + "," + (HEIGHT - EDGE) + " " + (WIDTH - EDGE) + "," + (HEIGHT - EDGE)}),
    words("arithmetic, " + three(computing) + " Gop/s", WIDTH - EDGE, y(computing) - 19, "end"), words(unit, WIDTH - EDGE, y(computing) - 6, "end"),
    x(middle) > EDGE + 150 ? words("moving data, " + three(moving) + " GB/s", x(middle) - 6, y(middle * moving) - 8, "end")
        : words("moving data, " + three(moving) + " GB/s", x(middle) + 8, y(middle * moving) + 16, "start"));
}

/* A rate above that of memory is of a cache that the size fits in. */
function fromWhere(moving: number, m: Measured): string {
    const memory = (m.machine?.copy_bytes_per_s || 0) / 1e9;
    if (memory <= 0 || moving < 0.95 * memory) return "";
    return moving > 1.05 * memory ? " from the cache (memory: " + three(memory) + " GB/s)" : " from memory";
}

export function rooflinePanel(m: Measured | null): HTMLElement | null {
    if (!m || !m.workloads) return null;
    const points = m.workloads.flatMap((w) => pointOf(w, "candidate")), befores = m.workloads.flatMap((w) => pointOf(w, "baseline"));
    const unit = unitOf(m) || "units not recorded";
    if (points.length === 0)
        return h("section", {}, h("h2", {}, "Roofline"),
            h("p", {class: "soft"}, "None: the task's operations and bytes are guessed or were not measured (hone task new --flops, --bytes)."));
    return h("section", {}, h("h2", {}, "Roofline"), picture(points, befores, unit),
        h("p", {class: "soft"}, "Circles: this version. Squares: the baseline. Operations and bytes are the least that the task's formulas count; the roofs are the machine's own: arithmetic (" + unit + "; tensor cores by their width and clock, all else measured), and moving data from where they lie (memory, or the cache that they fit in)."),
        table(["workload", "#operations a byte", "#done", "#moved, by the formulas", "#of its roof", "the bound that is nearest"], points.map((p) => [p.id, three(p.at), three(p.done) + " Gop/s",
            three(p.moved) + " GB/s", three(p.share) + " %", [p.at < p.balance ? "moving data: " + three(p.moving) + " GB/s" + fromWhere(p.moving, m) : "arithmetic (" + unit + "): " + three(p.computing) + " Gop/s", farWords(p.share) ? h("div", {class: "soft"}, farWords(p.share)) : null]])));
}

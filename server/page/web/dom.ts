/* SPDX-License-Identifier: Apache-2.0 */
/* Elements and the words for figures. Foreign text is set as text here and nowhere as HTML. */

export type Child = Node | string | number | null | undefined | false | readonly Child[];
type Value = string | number | boolean | null | undefined | ((e: Event) => void);

function nodes(children: readonly Child[]): Node[] {
    const out: Node[] = [];
    for (const c of children) {
        if (c === null || c === undefined || c === false) continue;
        if (c instanceof Node) out.push(c);
        else if (typeof c === "object") out.push(...nodes(c));
        else out.push(document.createTextNode(String(c)));
    }
    return out;
}

function adorn(e: Element, props: Record<string, Value>): void {
    for (const [key, value] of Object.entries(props)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") e.addEventListener(key.slice(2), value);
        else e.setAttribute(key, value === true ? "" : String(value));
    }
}

/* h("a", {href: "#/"}, "text", child): an element. on...: listeners; null children are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Record<string, Value> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const e = document.createElement(tag);
    adorn(e, props);
    e.append(...nodes(children));
    return e;
}

/* s("line", {x1: 0}): an element of a picture. */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, props: Record<string, Value>, ...children: Child[]): SVGElementTagNameMap[K] {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    adorn(e, props);
    e.append(...nodes(children));
    return e;
}

/* The element's children anew; null ones are left out. */
export const put = (e: Element, ...children: Child[]): void => e.replaceChildren(...nodes(children));

/* Rows [name, value] of what there is something to say of. */
export function facts(pairs: readonly (readonly [string, Child])[]): HTMLElement {
    return h("dl", {class: "facts"}, pairs.filter(([, v]) => v !== null && v !== undefined && v !== "")
        .map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]));
}

/* heads: "#name" stands over numbers. empty: said where there are no rows. */
export function table(heads: readonly string[], rows: readonly (readonly Child[])[], empty?: string): HTMLElement {
    if (rows.length === 0) return h("p", {class: "soft"}, empty || "Nothing yet.");
    const kind = (head: string) => (head.startsWith("#") ? "number" : null);
    return h("div", {class: "wide", tabindex: "0"}, h("table", {},
        h("thead", {}, h("tr", {}, heads.map((t) => h("th", {scope: "col", class: kind(t)}, t.replace("#", ""))))),
        h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((c, i) => h("td", {class: kind(heads[i]), "data-head": heads[i].replace("#", "")}, c)))))));
}

/* percent: of 100; the bar is empty where there is none. */
export function gauge(percent: number): HTMLElement {
    const bar = h("i");
    bar.style.width = Math.min(100, percent) + "%";
    return h("span", {class: "gauge"}, bar);
}

/* Text or bytes as a link that saves them. */
export const fileLink = (name: string, data: string | Uint8Array<ArrayBuffer>) =>
    h("a", {download: name, href: URL.createObjectURL(new Blob([data], {type: typeof data === "string" ? "text/plain" : "application/zip"}))}, name);

/* A command, which is broken between its words alone. */
export const command = (text: string): HTMLElement => h("code", {class: "command"}, text.split(" ").map((word, i) => [i > 0 ? " " : "", h("span", {}, word)]));

export const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* ---- words for figures; "" where there is none ---- */

export const isNumber = (x: unknown): x is number => Number.isFinite(x);
/* Half of an interval, as a binary logarithm. */
export const halfWidth = (low?: number | null, high?: number | null): number | undefined => (low! > 0 && high! > 0 ? Math.log2(high! / low!) / 2 : undefined);
export const three = (x?: number | null): string => (isNumber(x) ? String(Number(x.toPrecision(3))) : "");
export const ratio = (x?: number | null): string => (isNumber(x) ? three(x) + "x" : "");
/* of a binary logarithm */
export const ratioOf = (log2?: number | null): string => (isNumber(log2) ? ratio(2 ** log2) : "");
export const percent = (x?: number | null): string => (isNumber(x) ? x.toFixed(1) + " %" : "");
export const short = (commit?: string): string => (commit || "").slice(0, 10);
export const time = (ms?: number): string => (ms ? new Date(ms).toLocaleString() : "");
export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

/* Below ten minutes to the second: beside a cap, minutes would hide what is left. */
export function seconds(ms?: number | null): string {
    if (!isNumber(ms)) return "";
    if (ms < 600000) return three(ms / 1000) + " s";
    return ms < 7200000 ? Math.round(ms / 60000) + " min" : (ms / 3600000).toFixed(1) + " h";
}

export function nanoseconds(ns?: number | null): string {
    if (!isNumber(ns)) return "";
    const [by, unit] = ns < 999.5 ? [1, "ns"] : ns < 999.5e3 ? [1e3, "us"] : ns < 999.5e6 ? [1e6, "ms"] : [1e9, "s"];
    return three(ns / (by as number)) + " " + unit;
}

interface Interval { ratio?: number; low?: number | null; high?: number | null }
export const withInterval = (x: Interval): string =>
    ratio(x.ratio) + (isNumber(x.low) && isNumber(x.high) ? " [" + three(x.low) + ", " + three(x.high) + "]" : "");

/* A view's address. */
export const href = (...parts: string[]): string => "#/" + parts.map(encodeURIComponent).join("/");

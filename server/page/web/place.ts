/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a view somebody stands. What was chosen is kept in the address ("#/search/x?step=3&x=time"),
 * how far it was scrolled in the history's entry: back, forward and a reload give both again. */

export const query = (): URLSearchParams => new URLSearchParams(location.hash.split("?")[1] || "");

/* null: taken out. No new entry of the history. */
export function keep(name: string, value: string | null): void {
    const q = query();
    if (value === null) q.delete(name);
    else q.set(name, value);
    const text = q.toString();
    history.replaceState(history.state, "", (location.hash.split("?")[0] || "#/") + (text ? "?" + text : ""));
}

/* Browsers take few changes of the address a second: of each name the last of many is kept, in a moment
 * or before the next click. */
const soon = new Map<string, string | null>();
let soonOf = ""; /* the view that they are of */
function flush(): void {
    if (location.hash.split("?")[0] === soonOf) for (const [name, value] of soon) keep(name, value);
    soon.clear();
}
export function keepSoon(name: string, value: string | null): void {
    const view = location.hash.split("?")[0];
    if (view !== soonOf) soon.clear();
    soonOf = view;
    if (soon.size === 0) setTimeout(flush, 200);
    soon.set(name, value);
}

/* Called once. */
export function rememberScroll(): void {
    let timer = 0;
    const save = () => { flush(); history.replaceState({y: scrollY}, ""); };
    history.scrollRestoration = "manual";
    addEventListener("scroll", () => { clearTimeout(timer); timer = setTimeout(save, 150); }, {passive: true});
    addEventListener("click", save, true);
}

export const scrolled = (): number => Number(history.state?.y) || 0;

/* Views grow while their parts arrive: for some time the place is held, until somebody moves. */
export function scrollBack(y: number, view: HTMLElement): void {
    scrollTo(0, y);
    if (y === 0) return;
    const hold = new ResizeObserver(() => scrollTo(0, y)), stop = () => hold.disconnect();
    hold.observe(view);
    for (const event of ["wheel", "pointerdown", "keydown"]) addEventListener(event, stop, {once: true});
    setTimeout(stop, 1500);
}

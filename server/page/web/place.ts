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

/* While a view arrives and is brought back to its place, its entry keeps the place that it had:
 * the page is scrolled to other ones meanwhile, and nobody asked for those. */
let timer = 0, isHeld = false, letGo = () => {};
function save(): void {
    clearTimeout(timer);
    flush();
    if (!isHeld) history.replaceState({y: scrollY}, "");
}

/* Called once. */
export function rememberScroll(): void {
    history.scrollRestoration = "manual";
    addEventListener("scroll", () => { clearTimeout(timer); timer = setTimeout(save, 150); }, {passive: true});
    addEventListener("click", () => { letGo(); save(); }, true);
    addEventListener("popstate", () => clearTimeout(timer)); /* a place in the view that is left */
}

/* Another view comes. Returns how far it was scrolled when it was left; scrollBack() follows. */
export function arrive(): number {
    letGo();
    clearTimeout(timer);
    isHeld = true;
    return Number(history.state?.y) || 0;
}

/* Views grow while their parts arrive, quickly or slowly: the place is held until it has been there
 * for some time, or until somebody moves. */
export function scrollBack(y: number, view: HTMLElement): void {
    let end = 0;
    const hold = () => {
        scrollTo(0, y);
        if (!end && Math.abs(scrollY - y) < 3) end = setTimeout(letGo, y ? 1500 : 0);
    };
    const sizes = new ResizeObserver(hold), moves = ["wheel", "touchstart", "pointerdown", "keydown"];
    letGo = () => {
        isHeld = false;
        clearTimeout(end);
        sizes.disconnect();
        for (const event of moves) removeEventListener(event, letGo, true);
        letGo = () => {};
    };
    for (const event of moves) addEventListener(event, letGo, true);
    hold();
    sizes.observe(view);
}

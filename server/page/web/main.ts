/* SPDX-License-Identifier: Apache-2.0 */
/* hone's page: overview, search, version, compare, machine. Every view has an address behind #, so
 * that links and "back" work. */

import {h, href, messageOf, put, short, time} from "./dom";
import {compareView, twoSearches} from "./compare";
import {machineView} from "./machine";
import {overview} from "./overview";
import {arrive, rememberScroll, scrollBack} from "./place";
import {searchView} from "./search";
import {fileStore, liveStore, tokenForm, unpack, type Store} from "./store";
import {versionView} from "./version";

const element = (id: string): HTMLElement => document.getElementById(id)!;

let store: Store, leave: () => void = () => {};

async function show(view: HTMLElement, [what, a = "", b = "", c = ""]: string[]): Promise<(() => void) | void> {
    if (what === "search" && b === "version") return versionView(store, view, a, c);
    if (what === "search" && a) return searchView(store, view, a);
    if (what === "searches") return twoSearches(store, view, a, b);
    if (what === "compare") return compareView(store, view, a, b, c);
    return what === "machine" ? machineView(store, view) : overview(store, view);
}

async function go(): Promise<void> {
    const y = arrive();
    leave();
    leave = () => {};
    const parts = location.hash.split("?")[0].replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
    const view = h("div"), main = element("view");
    put(main, view);
    put(element("path"), parts[0] === "search" ? [h("a", {href: href("search", parts[1] || "")}, parts[1] || ""),
        parts[2] === "version" ? " / " + short(parts[3]) : ""]
        : parts[0] === "compare" || parts[0] === "searches" ? [parts.slice(1, parts[0] === "compare" ? 2 : 3).map((name, i) => [i > 0 ? ", " : "", h("a", {href: href("search", name)}, name)]), " / side by side"] : parts[0] || "");
    document.title = (parts[1] ? parts[1] + ", " : "") + "hone";
    view.append(h("p", {class: "soft"}, "Loading."));
    try {
        const done = await show(view, parts);
        if (done && view.isConnected) leave = done;
        else done?.(); /* somebody went on while it loaded */
    } catch (e) {
        const isUnknown = parts[0] === "search" && parts.length === 2 && messageOf(e).includes("there is no");
        if (isUnknown) put(view, h("h1", {}, "There is no such search"), h("p", {}, "No search is called " + parts[1] + ". ", h("a", {href: "#/"}, "All searches")));
        else put(view, h("h1", {}, "That did not work"), h("p", {class: "bad"}, messageOf(e)), store.isLive ? tokenForm() : null);
    }
    if (view.isConnected && !view.contains(document.activeElement)) main.focus({preventScroll: true}); /* unless somebody is in it already */
    if (view.isConnected) scrollBack(y, view);
    performance.mark("shown");
}

async function start(): Promise<void> {
    const inlined = document.getElementById("data"), link = element("link");
    if (inlined) {
        const data = await unpack(inlined.textContent || "");
        store = fileStore(data);
        link.textContent = "a file, written " + time(data.report.last_ms);
    } else {
        store = liveStore((state, more) => put(link, state, more));
    }
    window.addEventListener("hashchange", go);
    rememberScroll();
    await go();
}

start().catch((e) => put(element("view"), h("h1", {}, "This file cannot be read"), h("p", {class: "bad"}, messageOf(e) + ". It needs a browser from 2023 or later.")));

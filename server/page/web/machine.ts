/* SPDX-License-Identifier: Apache-2.0 */
/* The machines: this server, and those that the workspace's searches were measured on, which may be
 * others. */

import {facts, h, href, put, table, three, time, type Child} from "./dom";
import {nameOf, type Measured, type Row} from "./data";
import type {Store} from "./store";
import {scaled, unitOf} from "./words";

type Json = null | string | number | boolean | Json[] | {[name: string]: Json};
type Members = {[name: string]: Json};
const words = (name: string) => name.replaceAll("_", " ");
const isPlain = (v: Json): boolean => v === null || typeof v !== "object" || (Array.isArray(v) && v.every((x) => typeof x !== "object"));

/* "memory_bytes_per_s": 7.99e10 is 79.9 GB/s. */
function withUnit(key: string, v: Json): string {
    const of = key.endsWith("bytes_per_s") ? "B/s" : key.endsWith("flops_per_s") ? "op/s" : key.endsWith("bytes") ? "B" : "";
    return typeof v === "number" && of ? scaled(v, of) : plain(v);
}
const named = (name: string) => words(name.replace(/_?bytes_per_s$|_per_s$|_bytes$/, ""));

function plain(v: Json): string {
    if (v === null) return "";
    if (typeof v === "boolean") return v ? "yes" : "no";
    if (!isPlain(v)) return JSON.stringify(v);
    if (typeof v === "number" && !Number.isInteger(v)) return three(v);
    return Array.isArray(v) ? v.map(plain).join(", ") : String(v);
}

/* An object's members: plain ones as facts, lists of objects as tables, others below their name. */
function known(o: Members): Child[] {
    const of = Object.entries(o);
    const cell = (key: string, x: Json | undefined): string => (x === undefined ? "" : isPlain(x) ? withUnit(key, x)
        : Object.entries(x as Members).map(([n, w]) => named(n) + ": " + withUnit(n, w)).join(", "));
    return [facts(of.filter(([, v]) => isPlain(v)).map(([k, v]) => [named(k), withUnit(k, v)])), of.filter(([, v]) => !isPlain(v)).map(([k, v]) => {
        if (!Array.isArray(v)) return h("section", {}, h("h3", {}, words(k)), known(v as Members));
        const rows = v as Members[], keys = [...new Set(rows.flatMap((x) => Object.keys(x)))];
        return h("section", {}, h("h3", {}, words(k)), table(keys.map(named), rows.map((row) => keys.map((n) => cell(n, row[n])))));
    })];
}

/* ---- those that measured ---- */

interface Rates { at?: number | string; memory?: number; cache?: number; arithmetic?: number; unit?: string }
interface Place { name: string; rows: Row[]; rates: Rates }

const ratesOf = (m: Measured): Rates => ({at: (m.time_s || 0) * 1000, memory: m.machine?.copy_bytes_per_s, arithmetic: m.machine?.peak_flops_per_s || m.machine?.flops_per_s, unit: unitOf(m)});

/* By the name that a search's start recorded; figures of the newest search that has a best version. */
async function placesOf(store: Store, d: Members | null): Promise<Place[]> {
    const places = new Map<string, Place>(), c = d?.ceilings as Members | undefined, own = c ? c.cpu + ", " + c.n_cores + " cores" : "";
    const placeOf = (name: string) => {
        if (!places.has(name)) places.set(name, {name, rows: [], rates: {}});
        return places.get(name)!;
    };
    for (const row of await store.searches()) placeOf(row.machine || "not recorded").rows.push(row);
    if (c) placeOf(own).rates = {at: String(c.date || ""), memory: Number(c.memory_bytes_per_s), cache: Number(c.cache_bytes_per_s), arithmetic: Number(c.flops_per_s), unit: "float32 multiply-add units"};
    for (const place of places.values())
        for (const row of place.rows.slice(0, 20)) {
            if (place.rates.arithmetic || place.name === "not recorded") break;
            const m = row.end?.best_commit ? await store.measured(row.end.best_commit).catch(() => null) : null;
            if (m?.machine) place.rates = ratesOf(m);
        }
    return [...places.values()];
}

function measuredTable(places: Place[]): HTMLElement {
    const links = (rows: Row[]) => rows.slice(0, 20).map((r, i) => [i > 0 ? ", " : "", h("a", {href: href("search", nameOf(r))}, nameOf(r))]);
    const last = (p: Place) => Math.max(0, ...p.rows.map((r) => r.last_ms));
    return h("div", {class: "cards"}, table(["machine", "searches", "last search", "#memory", "#caches", "#arithmetic", "rates measured"], places.map((p) => [p.name, links(p.rows), time(last(p)),
        scaled(p.rates.memory, "B/s"), scaled(p.rates.cache, "B/s"), [scaled(p.rates.arithmetic, "op/s"), p.rates.arithmetic ? h("div", {class: "soft"}, p.rates.unit || "units not recorded") : null], p.rates.at ? new Date(p.rates.at).toLocaleString() : "not kept"]), "No search yet."));
}

/* ---- this server ---- */

/* "pid 7 (sum, screen, call 20261127-115102-447-19d22e66)": the call's name is for logs. */
const withoutCall = (holder: string): string => holder.replace(/,? ?call [0-9a-f-]+/, "");

function serverPanel(d: Members): Child {
    const probe = (d.probe || {}) as Members, gpu = (probe.gpu || {}) as Members, devices = (gpu.devices || []) as Members[];
    const leases = ((d.devices || []) as Members[]).map((x) => {
        const lease = (x.lease || {}) as Members, holder = plain(lease.holder ?? lease.by ?? "");
        return [plain(x.name), plain(x.device), lease.held ? h("span", {title: holder}, "in use" + (holder ? ": " + withoutCall(holder) : "")) : "free", ((lease.waiting || []) as Json[]).length];
    });
    return [facts([["processor", plain(d.cpu) + ", " + plain(d.n_cores) + " cores"], ["memory", withUnit("bytes", d.memory_bytes)],
        ["load now", typeof d.load === "number" ? d.load.toFixed(1) + " programs that want a core, of " + plain(d.n_cores) + " cores" : ""],
        ["GPU", devices.length > 0 ? devices.map((x) => plain(x.name)).join(", ") : "none: " + plain(gpu.why ?? "not asked").split(" (")[0]],
        ["targets", plain(d.targets)], ["executor", plain(d.executor)], ["compilers", plain(d.compilers)]]),
    table(["device", "kind", "now", "#waiting"], leases, "No device is known."),
    h("details", {}, h("summary", {}, "Everything that it says of itself"), known(Object.fromEntries(Object.entries(d).filter(([k]) => !["next", "status", "ceilings"].includes(k)))))];
}

export async function machineView(store: Store, view: HTMLElement): Promise<void> {
    const d = await store.device() as Members | null, places = await placesOf(store, d);
    put(view, h("h1", {}, "Machines"), d ? [h("h2", {}, "This server"), serverPanel(d)] : h("p", {class: "soft"}, "A file does not know the machine that shows it."),
        h("h2", {}, "Machines measured"), h("p", {class: "soft"}, "What this workspace's searches ran on. It need not be this server: a workspace can be copied, and runners can be elsewhere."),
        measuredTable(places));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The view of one version: figures, source, difference, and taking it home. */

import {strToU8, zipSync} from "fflate";
import {facts, fileLink, gauge, h, href, isNumber, messageOf, nanoseconds, percent, put, short, table, withInterval, type Child} from "./dom";
import {medianOf, nameOf, tierOf, type Exported, type Measured, type Report} from "./data";
import {machineCode} from "./built";
import {doubtWords, figureOf, ratioOrLoss, warningLines} from "./claims";
import {keep, query} from "./place";
import {rooflinePanel} from "./roofline";
import {diffView, marksOf, marksTable, sourceView} from "./source";
import {pathTable, stepPanel, wordsOf} from "./steps";
import {resultOf, type Store} from "./store";
import {boundWords, countOf, farWords, limitWords, sizeWords, verdictWords} from "./words";

/* All files of an export in one, in a folder of its name. */
function archiveLink(name: string, files: {name: string; text: string}[]): HTMLElement {
    const inside = Object.fromEntries(files.map((f) => [name + "/" + f.name, strToU8(f.text)]));
    return fileLink(name + ".zip", zipSync(inside) as Uint8Array<ArrayBuffer>);
}

/* A button that calls version_export, where the token's role may; then the files as links. */
export function exportPanel(store: Store, version: string, target?: string): HTMLElement {
    const status = h("p", {role: "status", class: "soft"}), files = h("ul", {class: "files"}), told = h("div");
    const isCuda = target === "cuda", test = h("input", {type: "checkbox", checked: !isCuda, disabled: isCuda});
    const button = h("button", {type: "button", onclick: async () => {
        button.disabled = true;
        status.textContent = test.checked ? "The files are made and their test is run: some seconds." : "The files are made.";
        try {
            const e = resultOf<Exported>(await store.call("version_export", {version, no_test: !test.checked}));
            status.textContent = (e.files || []).length > 0 ? "The files are made. What the test says is of correctness; the speedup is the search's." : e.summary || "";
            put(files, (e.files || []).map((f) => h("li", {}, fileLink(f.name, f.text))),
                (e.files || []).length > 1 ? h("li", {class: "archive"}, archiveLink((e.name || "kernel") + "-" + short(version), e.files!), " all of them") : null);
            put(told, facts([["compile", e.compile ? h("code", {}, e.compile) : ""], ["correctness test", e.test], ["said", e.said], ["notes", (e.notes || []).map((n) => h("div", {}, n))]]));
        } catch (x) { status.textContent = messageOf(x); }
        button.disabled = false;
    }}, "take it home");
    const panel = h("div", {class: "panel", hidden: true}, h("div", {class: "bar"}, button, h("label", {}, test, isCuda ? " no test: a CUDA export is not compiled or run here" : " with a test that is run here")), status, files, told);
    store.tools().then((names) => {
        if (!store.isLive) return;
        if (!names.has("version_export")) put(panel, h("p", {class: "soft"}, "This token may read; an export runs a test and takes an agent's token."));
        panel.hidden = false;
    });
    return panel;
}

/* One row a measurement: a figure with the sizes that it stands on. */
function looksTable(m: Measured | null): HTMLElement | null {
    const looks = m?.looks || [];
    if (looks.length < 2) return null;
    return table(["measurement", "sizes that it timed", "#over the baseline, 95 %", "#of the bound", "verdict"], looks.map((l) => [tierOf(l), [countOf(l.sizes.length) + ": ", h("span", {class: "soft"}, l.sizes.join(", "))],
        withInterval(l), percent(l.percent_of_bound), verdictWords(l.verdict)]));
}

function measuredPanel(m: Measured | null): HTMLElement | null {
    if (!m || !m.workloads) return null;
    return h("section", {}, h("h2", {}, "Measured: " + tierOf(m) + ", " + countOf(m.workloads.length)), h("p", {}, m.summary || ""), warningLines(m),
        facts([["of the bound", boundWords(m.percent_of_bound, m)] as const, ...(m.ratios || []).filter((x) => x.against !== "baseline").map((x) => ["over " + x.against, ratioOrLoss(x)] as const)]),
        table(["size", "#time", "#baseline", "#ratio, 95 %", "share of the bound", "the bound that is nearest"], m.workloads.map((w) => {
            const r = (w.ratios || []).find((x) => x.against === "baseline");
            return [sizeWords(w), nanoseconds(medianOf(w, "candidate")), nanoseconds(medianOf(w, "baseline")), r ? (r.high! < 1 ? ratioOrLoss(r) : withInterval(r)) : "",
                isNumber(w.percent_of_bound) ? [percent(w.percent_of_bound) + " ", gauge(w.percent_of_bound)] : "", [limitWords(w.bound_by, m), farWords(w.percent_of_bound) ? h("div", {class: "soft"}, farWords(w.percent_of_bound)) : null]];
        })));
}

/* All that is against it, first of all. */
function reasonsPanel(m: Measured | null): Child {
    const all = [m?.refutation, ...(m?.doubts || [])].filter((d) => d);
    return all.length === 0 ? null : h("section", {class: "reasons"}, h("h2", {}, "Why it may not be claimed"), h("ul", {class: "files bad"}, all.map((d) => h("li", {}, doubtWords(d!)))));
}

/* Which kinds of input content its verification compared. */
function checkedPanel(m: Measured | null): Child {
    const {compared = [], left_out = []} = m?.contents || {};
    const list = (of: readonly Child[]) => h("ul", {class: "files"}, of.map((x) => h("li", {}, x)));
    if (compared.length === 0 && left_out.length === 0) return null;
    return h("section", {class: "checked"}, h("h2", {}, "Checked with " + compared.length + (compared.length === 1 ? " kind" : " kinds") + " of input content"),
        left_out.length > 0 ? [h("p", {}, "Left out, so that nothing is known of such inputs:"), list(left_out.map((x) => [h("b", {}, x.kind.replaceAll("_", " ")), ": " + x.reason]))] : h("p", {}, "No kind was left out."),
        h("details", {}, h("summary", {}, "Kinds that were compared"), h("p", {}, compared.map((x) => x.replaceAll("_", " ")).join(", "))));
}

/* A menu of the search's versions that brought something; null: any other by its address. */
export function versionMenu(r: Report, label: string, chosen: string | null, onpick: (commit: string) => void): HTMLElement {
    const seen = new Set<string>(), options = [h("option", {value: ""}, "a version")];
    for (const s of r.steps) {
        if (!s.commit || seen.has(s.commit) || !(s.is_gain || s.node === 0 || s.commit === chosen)) continue;
        seen.add(s.commit);
        options.push(h("option", {value: s.commit, selected: s.commit === chosen}, short(s.commit) + "  " + figureOf(r.steps, s) + "  " + wordsOf(s).slice(0, 60)));
    }
    const pick = (e: Event) => { const {value} = e.target as HTMLSelectElement; if (value) onpick(value); };
    return h("label", {}, label + " ", h("select", {onchange: pick}, options.slice(0, 400)));
}

export async function versionView(store: Store, view: HTMLElement, name: string, commit: string): Promise<void> {
    const r = name ? await store.report(name).catch(() => null) : null;
    const steps = r ? r.steps.filter((s) => s.commit === commit) : [], own = steps[0];
    const commitOf = (node: number) => r?.steps.find((s) => s.node === node && s.commit)?.commit;
    const parent = own && own.parent >= 0 ? commitOf(own.parent) : undefined, root = commitOf(0);
    const diff = h("div"), text = await store.source(commit).catch((e) => "/* " + messageOf(e) + " */");
    const open = async (other: string, what: string) => {
        try {
            put(diff, h("h2", {}, "Against " + what), diffView(await store.source(other), text));
        } catch (e) { put(diff, h("p", {class: "bad"}, messageOf(e))); }
    };
    const against = (other: string, what: string) => h("button", {type: "button", onclick: () => { keep("against", other); open(other, what); }}, "against " + what);
    const m = await store.measured(commit), marks = marksOf(m?.profile), source = sourceView(text, marks);
    const fileName = (m?.task || r?.task || "kernel") + ((m?.target || r?.target) === "cuda" ? ".cu" : ".c");
    const beside = (other: string) => href("compare", name, other, commit);
    const links: Child[] = [parent ? against(parent, "its parent") : null, root && root !== commit ? against(root, "the baseline") : null,
        parent ? h("a", {href: beside(parent)}, "side by side with its parent") : null,
        r ? versionMenu(r, "side by side with", null, (other) => { location.hash = beside(other); }) : null];
    put(view, h("h1", {}, "Version " + short(commit)), h("form", {class: "bar", onsubmit: (e) => e.preventDefault()}, links), reasonsPanel(m), diff, own && r ? h("div", {class: "panel"}, stepPanel(store, r, own)) : null,
        looksTable(m), r ? pathTable(r, commit) : null, measuredPanel(m), checkedPanel(m), rooflinePanel(m), exportPanel(store, commit, m?.target || r?.target), h("h2", {}, "Source"), h("p", {}, fileLink(fileName, text)), source.element, marksTable(marks, source),
        h("h2", {}, "Machine code"), machineCode(store, m?.task || r?.task, m?.target || r?.target, commit),
        h("p", {class: "soft"}, "In git: ", h("code", {}, "git show " + commit), r ? [" In the terminal: ", h("code", {}, "hone log " + nameOf(r) + " --graph")] : null));
    const other = query().get("against");
    if (other) await open(other, other === parent ? "its parent" : other === root ? "the baseline" : short(other));
    const more = await store.version(commit).catch(() => null);
    if (more && view.isConnected) view.append(h("details", {}, h("summary", {}, "Everything that is known"), h("pre", {tabindex: "0"}, JSON.stringify(more, null, 2))));
}

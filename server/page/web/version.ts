/* SPDX-License-Identifier: Apache-2.0 */
/* The view of one version: figures, source, difference, and taking it home. */

import {facts, fileLink, gauge, h, href, isNumber, messageOf, nanoseconds, percent, put, ratio, short, table, withInterval, type Child} from "./dom";
import {medianOf, nameOf, tierOf, type Exported, type Measured, type Report} from "./data";
import {figureOf} from "./claims";
import {rooflinePanel} from "./roofline";
import {diffView, marksOf, marksTable, sourceView} from "./source";
import {stepPanel, wordsOf} from "./steps";
import {resultOf, type Store} from "./store";

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
            put(files, (e.files || []).map((f) => h("li", {}, fileLink(f.name, f.text))));
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

/* Lines by the number: what the measurement itself warns of. */
export function warningsOf(m: Measured | null): Node[] {
    const line = (w: string) => h("p", {class: "warning"}, "Mind: " + w), all = m?.warnings || [];
    const short = all.filter((w) => w.includes("little time was left")), others = all.filter((w) => !short.includes(w));
    return [...others.map(line), ...(short.length > 0 ? [h("details", {}, h("summary", {}, "Little time was left for " + short.length + (short.length === 1 ? " workload" : " workloads")), short.map(line))] : [])];
}

function measuredPanel(m: Measured | null): HTMLElement | null {
    if (!m || !m.workloads) return null;
    return h("section", {}, h("h2", {}, "Measured: " + tierOf(m) + ", " + m.workloads.length + (m.workloads.length === 1 ? " size" : " sizes")), h("p", {}, m.summary || ""), warningsOf(m),
        facts((m.ratios || []).filter((x) => x.against !== "baseline").map((x) => ["over " + x.against, withInterval(x)])),
        table(["workload", "#time", "#baseline", "#ratio, 95 %", "share of the bound", "bound by"], m.workloads.map((w) => {
            const r = (w.ratios || []).find((x) => x.against === "baseline");
            return [w.id, nanoseconds(medianOf(w, "candidate")), nanoseconds(medianOf(w, "baseline")), r ? withInterval(r) : "",
                isNumber(w.percent_of_bound) ? [percent(w.percent_of_bound) + " ", gauge(w.percent_of_bound)] : "", w.bound_by === "flops" ? "arithmetic" : w.bound_by === "bytes" ? "moving data" : w.bound_by || ""];
        })), (m.doubts || []).map((d) => h("p", {class: "bad"}, "Not to be claimed: " + d)));
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
    const against = (other: string, what: string) => h("button", {type: "button", onclick: async () => {
        try {
            put(diff, h("h2", {}, "Against " + what), diffView(await store.source(other), text));
            diff.scrollIntoView({block: "start"});
        } catch (e) { put(diff, h("p", {class: "bad"}, messageOf(e))); }
    }}, "against " + what);
    const m = await store.measured(commit), marks = marksOf(m?.profile), source = sourceView(text, marks);
    const fileName = (m?.task || r?.task || "kernel") + ((m?.target || r?.target) === "cuda" ? ".cu" : ".c");
    const beside = (other: string) => href("compare", name, other, commit);
    const links: Child[] = [parent ? against(parent, "its parent") : null, root && root !== commit ? against(root, "the baseline") : null,
        parent ? h("a", {href: beside(parent)}, "side by side with its parent") : null,
        r ? versionMenu(r, "side by side with", null, (other) => { location.hash = beside(other); }) : null];
    put(view, h("h1", {}, "Version " + short(commit)), own && r ? h("div", {class: "panel"}, stepPanel(store, r, own)) : null,
        steps.length > 1 ? table(["look", "#ratio", "verdict"], steps.map((s) => [s.kind === "confirm" ? "confirmation, all timed sizes" : "short look", ratio(s.ratio), s.verdict === "screened" ? "correct" : s.verdict])) : null,
        measuredPanel(m), rooflinePanel(m), exportPanel(store, commit, m?.target || r?.target), h("form", {class: "bar", onsubmit: (e) => e.preventDefault()}, links),
        diff, h("h2", {}, "Source"), h("p", {}, fileLink(fileName, text)), source.element, marksTable(marks, source),
        h("p", {class: "soft"}, "In git: ", h("code", {}, "git show " + commit), r ? [" In the terminal: ", h("code", {}, "hone log " + nameOf(r) + " --graph")] : null));
    const more = await store.version(commit).catch(() => null);
    if (more && view.isConnected) view.append(h("details", {}, h("summary", {}, "Everything that is known"), h("pre", {tabindex: "0"}, JSON.stringify(more, null, 2))));
}

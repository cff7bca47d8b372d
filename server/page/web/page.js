/* SPDX-License-Identifier: Apache-2.0 */
/* hone's page: overview, search, version, compare, machine. Every view has an address behind #, so
 * that links and "back" work. Data comes over /mcp by the requests that agents use, or, in a page that
 * was written to a file, from the element #data. Foreign text is set as text, never as HTML. */
"use strict";

/* ---- small things ---- */

/* h("a", {href: "#/"}, "text", child): an element. on...: listeners; null children are left out. */
function h(tag, props, ...children) {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(props || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
        else e.setAttribute(key, value === true ? "" : String(value));
    }
    for (const c of children.flat(3))
        if (c !== null && c !== undefined && c !== false)
            e.append(c instanceof Node ? c : document.createTextNode(String(c)));
    return e;
}

/* The element's children anew; null ones are left out. */
const put = (e, ...children) => e.replaceChildren(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));

const ratio = (x) => (Number.isFinite(x) ? Number(x.toPrecision(3)) + "x" : "");
const short = (commit) => (commit || "").slice(0, 10);
const seconds = (ms) => (Number.isFinite(ms) ? (ms < 60000 ? Number((ms / 1000).toPrecision(3)) + " s"
    : ms < 7200000 ? Math.round(ms / 60000) + " min" : (ms / 3600000).toFixed(1) + " h") : "");
const time = (ms) => (ms ? new Date(ms).toLocaleString() : "");
const three = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(3))) : "");
const nanoseconds = (ns) => (!Number.isFinite(ns) ? "" : ns < 999.5 ? three(ns) + " ns"
    : ns < 999.5e3 ? three(ns / 1e3) + " us" : ns < 999.5e6 ? three(ns / 1e6) + " ms"
    : three(ns / 1e9) + " s");
const href = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

function facts(pairs) {
    return h("dl", {class: "facts"}, pairs.filter(([, v]) => v !== null && v !== undefined && v !== "")
        .map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]));
}

function table(heads, rows, empty) {
    if (rows.length === 0) return h("p", {class: "soft"}, empty || "Nothing yet.");
    return h("div", {class: "wide"}, h("table", {},
        h("thead", {}, h("tr", {}, heads.map((t) =>
            h("th", {scope: "col", class: t.startsWith("#") ? "number" : null}, t.replace("#", ""))))),
        h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((c, i) =>
            h("td", {class: heads[i].startsWith("#") ? "number" : null}, c)))))));
}

/* ---- where data comes from ---- */

function fileStore(data) {
    const name = data.report.name || data.report.search;
    return {
        isLive: false,
        searches: async () => data.searches,
        report: async (which) => {
            if (which !== name && which !== data.report.search)
                throw new Error("this file holds the search " + name + " alone");
            return data.report;
        },
        source: async (commit) => {
            if (!(commit in data.sources)) throw new Error("this file does not hold that source");
            return data.sources[commit];
        },
        version: async () => null,
        answers: async () => "This file does not hold what models answered.",
        choices: async (_, step) => (data.choices || {})[step] || null,
        measured: async (commit) => (data.measured || {})[commit] || null,
        tools: async () => new Set(),
        device: async () => null,
        call: async () => { throw new Error("a file cannot be steered"); },
        watch: () => () => {},
    };
}

/* A server that began anew does not know the cookies that it gave. */
const tokenForm = () => h("form", {class: "bar", method: "get", action: "/"},
    h("label", {}, "Token ", h("input", {name: "token", type: "password", autocomplete: "off"})), h("button", {}, "open"));

/* JSON-RPC over one WebSocket, opened again when it breaks. */
function liveStore(onState) {
    let socket = null, serial = 0, isOpen = null, wait = 500, tools = null, wantsToken = false;
    const open = new Map(), watched = new Map();

    function connect() {
        isOpen = new Promise((resolve, reject) => {
            const scheme = location.protocol === "https:" ? "wss://" : "ws://";
            socket = new WebSocket(scheme + location.host + "/mcp", ["mcp"]);
            socket.onopen = async () => {
                try {
                    await send("initialize", {protocolVersion: "2025-11-25", capabilities: {},
                        clientInfo: {name: "hone page", version: "1"}});
                    socket.send(JSON.stringify({jsonrpc: "2.0", method: "notifications/initialized"}));
                    wait = 500;
                    wantsToken = false;
                    onState("connected");
                    for (const uri of watched.keys()) send("resources/subscribe", {uri}).catch(() => {});
                    resolve();
                } catch (e) { reject(e); }
            };
            socket.onmessage = (m) => take(JSON.parse(m.data));
            socket.onclose = () => {
                reject(new Error("no connection to the server; if it wants a token, open the address "
                    + "that hone serve printed"));
                for (const [, x] of open) x.reject(new Error("the connection broke"));
                open.clear();
                /* a form that stands is left alone: somebody may be typing */
                if (!wantsToken) onState("not connected, tries again");
                fetch("/mcp").then((r) => {
                    if (r.status === 401 && !wantsToken) onState("the server wants its token again", tokenForm());
                    wantsToken = r.status === 401;
                }).catch(() => { wantsToken = false; });
                setTimeout(connect, wait);
                wait = Math.min(2 * wait, 8000);
            };
        });
        isOpen.catch(() => {});
    }
    function take(message) {
        if (message.method === "notifications/resources/updated") {
            const f = watched.get(message.params.uri);
            if (f) f();
        }
        const x = open.get(message.id);
        if (!x) return;
        open.delete(message.id);
        if (message.error) x.reject(new Error(message.error.message));
        else x.resolve(message.result);
    }
    function send(method, params) {
        return new Promise((resolve, reject) => {
            const id = ++serial;
            open.set(id, {resolve, reject});
            socket.send(JSON.stringify({jsonrpc: "2.0", id, method, params}));
        });
    }
    async function request(method, params) {
        await isOpen;
        return send(method, params);
    }
    async function read(uri) {
        const result = await request("resources/read", {uri});
        return result.contents[0].text;
    }
    const readJson = async (uri) => JSON.parse(await read(uri));
    const known = new Map(); /* reports by the name that was asked for; only what is new is asked again */
    async function readReport(name) {
        const uri = "hone://search/" + name + "/report", old = known.get(name);
        const now = await readJson(old ? uri + "?since=" + old.position : uri);
        if (now.since)
            for (const list of ["steps", "evaluations"]) now[list] = old[list].slice(0, now.since[list]).concat(now[list]);
        known.clear(); /* one at a time: the others' views are gone */
        known.set(name, now);
        return now;
    }
    /* names of the tools that the token's role may call */
    async function listTools() {
        const names = new Set();
        for (let cursor; cursor !== null;) {
            const page = await request("tools/list", cursor ? {cursor} : {});
            for (const t of page.tools) names.add(t.name);
            cursor = page.nextCursor || null;
        }
        return names;
    }
    connect();
    return {
        isLive: true,
        searches: () => readJson("hone://searches"),
        report: readReport,
        source: (commit) => read("hone://version/" + commit + "/source"),
        version: (commit) => readJson("hone://version/" + commit),
        measured: (commit) => readJson("hone://version/" + commit + "/measured").catch(() => null),
        tools: () => (tools = tools || listTools().catch(() => { tools = null; return new Set(); })),
        choices: (name, step) => readJson("hone://search/" + name + "/choices?step=" + step).catch(() => null),
        answers: (name) => read("hone://search/" + name + "/answers"),
        device: () => readJson("hone://device"),
        call: (name, args) => request("tools/call", {name, arguments: args}),
        /* told when the search has something new; polled too, since it may run in another process */
        watch(search, f) {
            const uri = "hone://search/" + search;
            watched.set(uri, f);
            request("resources/subscribe", {uri}).catch(() => {});
            const timer = setInterval(f, 4000);
            return () => {
                clearInterval(timer);
                watched.delete(uri);
                request("resources/unsubscribe", {uri}).catch(() => {});
            };
        },
    };
}

/* What a tool answered; an answer that is no JSON is its own summary. */
function resultOf(answer) {
    const text = answer.content[0].text;
    try { return JSON.parse(text); } catch { return {summary: text.slice(0, 400)}; }
}

/* ---- verdicts: a colour and a sign ---- */

function kindOf(step) {
    if (step.kind === "confirm") return step.verdict === "faster" ? "confirmed" : "unsure";
    if (!Number.isFinite(step.value_log2)) return "wrong";
    return step.is_gain ? "gain" : "none";
}
/* Where a step stands: a confirmation by what it measured, everything else by what is known of the version. */
const heightOf = (s) => (s.kind === "confirm" && s.ratio > 0 ? Math.log2(s.ratio) : s.value_log2);
const signs = {confirmed: "◆", unsure: "◇", gain: "●", none: "○", wrong: "✕"};
const colours = {confirmed: "--good", unsure: "--soft", gain: "--best", none: "--none", wrong: "--bad"};
const meanings = {confirmed: "confirmed with fresh data", unsure: "not borne out by fresh data", gain: "faster than its parent, a short look",
    none: "no gain", wrong: "no version: wrong, failed or refused"};

const wordsOf = (s) => s.words || (s.parent < 0 ? "the baseline" : s.kind === "decide" ? "a longer look" : s.kind);

/* ---- the way up ---- */

/* A canvas; select(i) marks a step, onpick(i) tells which one was clicked, onhover(i) over which one the
 * pointer stands (-1: none). */
function wayUp(onpick, onhover) {
    const canvas = h("canvas", {role: "img", tabindex: "0"});
    const base = document.createElement("canvas"); /* all but the mark of the chosen step */
    let steps = [], interval = null, chosen = -1, hovered = -1, byTime = false, places = [];
    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

    /* The chosen step's ring over what stands: with ten thousand dots a step costs no more. */
    function mark() {
        const scale = window.devicePixelRatio || 1, c = canvas.getContext("2d");
        canvas.width = base.width;
        canvas.height = base.height;
        if (base.width > 0) c.drawImage(base, 0, 0);
        c.scale(scale, scale);
        c.strokeStyle = css("--text");
        for (const [i, size] of [[chosen, 9], [hovered, 7]]) {
            if (!places[i]) continue;
            c.beginPath();
            c.arc(...places[i], size, 0, 7);
            c.stroke();
        }
    }
    function draw() {
        const w = canvas.clientWidth || 600, height = canvas.clientHeight || 340;
        const scale = window.devicePixelRatio || 1, c = base.getContext("2d");
        base.width = w * scale;
        base.height = height * scale;
        c.scale(scale, scale);
        c.clearRect(0, 0, w, height);
        const values = steps.map((s) => s.value_log2).filter(Number.isFinite);
        const low = Math.max(-3, Math.min(0, ...values.map(Math.floor).slice(0, 5000)));
        const high = Math.max(1, values.reduce((a, b) => Math.max(a, Math.ceil(b + 0.2)), 1));
        const at = (s) => (byTime ? s.elapsed_ms : s.evaluations);
        const most = Math.max(1, steps.length > 0 ? at(steps[steps.length - 1]) : 1);
        const x = (n) => 52 + (n / most) * (w - 68), y = (v) =>
            12 + ((high - Math.min(Math.max(v, low), high)) / (high - low)) * (height - 58);
        c.font = "11px system-ui";
        c.strokeStyle = css("--line");
        c.fillStyle = css("--soft");
        const step = Math.ceil((high - low) / 8);
        for (let v = low; v <= high; v += step) {
            c.beginPath();
            c.moveTo(52, y(v));
            c.lineTo(w - 16, y(v));
            c.stroke();
            c.textAlign = "right";
            c.fillText(ratio(2 ** v), 46, y(v) + 4);
        }
        c.textAlign = "center";
        for (let i = 0; i <= 4; i++) c.fillText(byTime ? seconds((most * i) / 4) || "0" : String(Math.round((most * i) / 4)), x((most * i) / 4), height - 24);
        c.fillText(byTime ? "time" : "evaluations", w / 2, height - 8);
        let best = -Infinity, hasBest = false;
        c.strokeStyle = css("--best");
        c.lineWidth = 2;
        c.beginPath();
        for (const s of steps) {
            if (!(s.value_log2 > best)) continue;
            if (best === -Infinity) c.moveTo(x(at(s)), y(s.value_log2));
            else { c.lineTo(x(at(s)), y(best)); c.lineTo(x(at(s)), y(s.value_log2)); }
            best = s.value_log2;
            hasBest = true;
        }
        if (hasBest) c.lineTo(w - 16, y(best));
        c.stroke();
        c.lineWidth = 1;
        c.textBaseline = "middle";
        c.font = "13px system-ui";
        const inks = {};
        for (const k of Object.keys(colours)) inks[k] = css(colours[k]);
        places = steps.map((s) => {
            const kind = kindOf(s), px = x(at(s)), py = kind === "wrong" ? height - 40 : y(heightOf(s));
            c.fillStyle = inks[kind];
            c.fillText(signs[kind], px, py);
            return [px, py];
        });
        const whisker = (i, low, high) => {
            c.strokeStyle = inks[kindOf(steps[i])];
            c.beginPath();
            for (const end of [y(Math.log2(low)), y(Math.log2(high))]) {
                c.moveTo(places[i][0] - 3, end);
                c.lineTo(places[i][0] + 3, end);
            }
            c.moveTo(places[i][0], y(Math.log2(low)));
            c.lineTo(places[i][0], y(Math.log2(high)));
            c.stroke();
        };
        /* 95 % of what was decided, and of the confirmation */
        steps.forEach((s, i) => { if (s.kind === "decide" && s.ratio_low > 0 && kindOf(s) !== "wrong") whisker(i, s.ratio_low, s.ratio_high); });
        const last = steps.reduce((at, s, i) => (s.kind === "confirm" ? i : at), -1);
        if (last >= 0 && interval && interval[0] > 0) whisker(last, ...interval);
        mark();
    }
    const nearest = (e) => {
        let near = -1, least = 400;
        places.forEach(([px, py], i) => {
            const d = (px - e.offsetX) ** 2 + (py - e.offsetY) ** 2;
            if (d < least) { least = d; near = i; }
        });
        return near;
    };
    canvas.addEventListener("click", (e) => { const near = nearest(e); if (near >= 0) onpick(near); });
    canvas.addEventListener("mousemove", (e) => { const near = nearest(e); if (near !== hovered) onhover(near); });
    canvas.addEventListener("mouseleave", () => onhover(-1));
    canvas.addEventListener("keydown", (e) => {
        const by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
        if (!by || steps.length === 0) return;
        e.preventDefault();
        onpick(Math.min(steps.length - 1, Math.max(0, chosen + by)));
    });
    new ResizeObserver(draw).observe(canvas);
    return {
        element: canvas,
        show(list, end) {
            steps = list;
            interval = end && end.ci && end.ci.length === 2 ? end.ci : null;
            canvas.setAttribute("aria-label", "Way up: " + list.length + " steps, best " +
                ratio(2 ** list.reduce((a, s) => (s.value_log2 > a ? s.value_log2 : a), -Infinity)) +
                ". Arrow keys go from step to step.");
            draw();
        },
        select(i) { chosen = i; mark(); },
        hover(i) { hovered = i; mark(); },
        byTime(yes) { byTime = yes; draw(); },
    };
}

/* ---- the tree: rows of a list of which only those in sight exist ---- */

function treeRows(steps) {
    const children = new Map(), roots = [];
    steps.forEach((s, i) => {
        if (s.kind === "confirm" || s.kind === "decide") return;
        if (s.parent < 0) roots.push(i);
        else if (children.has(s.parent)) children.get(s.parent).push(i);
        else children.set(s.parent, [i]);
    });
    const out = [];
    const stack = roots.reverse().map((i) => [i, 0]);
    while (stack.length > 0) {
        const [i, depth] = stack.pop();
        out.push({i, depth});
        const below = steps[i].node >= 0 ? children.get(steps[i].node) || [] : [];
        if (steps[i].node >= 0) children.delete(steps[i].node);
        for (const k of below.slice().reverse()) stack.push([k, depth + 1]);
    }
    return out;
}

function treeList(onpick, onhover) {
    const ROW = 26, inner = h("div"), box = h("div", {class: "tree", role: "group", "aria-label": "Tree of versions"}, inner);
    let steps = [], rows = [], chosen = -1, placeOf = new Map();
    function draw() {
        const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
        const last = Math.min(rows.length, first + Math.ceil((box.clientHeight || 340) / ROW) + 10);
        inner.style.height = rows.length * ROW + "px";
        put(inner, rows.slice(first, last).map(({i, depth}, k) => {
            const s = steps[i], kind = kindOf(s);
            const row = h("button", {class: "row" + (i === chosen ? " is-here" : ""), title: wordsOf(s), "data-step": i,
                onclick: () => onpick(i), onmouseenter: () => onhover(i), onmouseleave: () => onhover(-1)},
                h("span", {class: kind === "wrong" ? "bad" : kind === "gain" ? "good" : "soft"}, signs[kind] + " "),
                Number.isFinite(s.value_log2) ? ratio(2 ** s.value_log2) + "  " : "", wordsOf(s));
            row.style.top = (first + k) * ROW + "px";
            row.style.paddingLeft = 8 + Math.min(depth, 20) * 14 + "px";
            return row;
        }));
    }
    box.addEventListener("scroll", draw);
    return {
        element: box,
        show(list) { steps = list; rows = treeRows(list); placeOf = new Map(rows.map((r, at) => [r.i, at])); draw(); },
        select(i) {
            chosen = i;
            const at = placeOf.get(i);
            if (at !== undefined && (at * ROW < box.scrollTop || at * ROW > box.scrollTop + box.clientHeight - ROW))
                box.scrollTop = at * ROW - box.clientHeight / 2;
            draw();
        },
        hover(i) { for (const row of inner.children) row.classList.toggle("is-near", Number(row.dataset.step) === i); },
    };
}

/* ---- views ---- */

function spark(points) {
    const w = 120, height = 28;
    if (!points || points.length < 2) return "";
    const top = Math.max(...points.map((p) => Math.log2(p[1])), 0.5), last = points[points.length - 1][0] || 1;
    const d = points.map((p, i) => (i ? "L" : "M") + ((p[0] / last) * (w - 4) + 2).toFixed(1) + " " +
        (height - 3 - (Math.max(0, Math.log2(p[1])) / top) * (height - 6)).toFixed(1)).join("");
    const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), path = document.createElementNS(ns, "path");
    svg.setAttribute("width", w);
    svg.setAttribute("height", height);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "best speedup over time");
    path.setAttribute("d", d);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", "currentColor");
    svg.append(path);
    return svg;
}

function verdictOf(row) {
    if (!row.end) return h("span", {class: "soft"}, "not ended");
    const word = row.end.verdict || "nothing confirmed";
    return h("span", {class: word === "faster" ? "good" : "soft"}, (word === "faster" ? "◆ " : "") + word);
}

function bestOf(row) {
    const e = row.end;
    if (e && Number.isFinite(e.speedup))
        return ratio(e.speedup) + (e.ci && e.ci.length === 2 ? " [" + e.ci.map(three).join(", ") + "]" : "");
    const best = row.best && row.best.length ? row.best[row.best.length - 1][1] : NaN;
    return Number.isFinite(best) ? h("span", {class: "soft"}, "about " + ratio(best) + ", unconfirmed") : "";
}

async function overview(view) {
    const rows = await store.searches();
    put(view, h("h1", {}, "Searches"),
        table(["search", "task", "target", "#result, 95 %", "verdict", "#of bound", "best over time", "#evaluations", "#USD", "#tokens", "why it ended", "last heard of"],
            rows.map((r) => [h("a", {href: href("search", r.name || r.search)}, r.name || r.search), r.task, r.target,
                bestOf(r), verdictOf(r), r.end && Number.isFinite(r.end.percent_of_bound) ? r.end.percent_of_bound.toFixed(1) + " %" : "",
                spark(r.best), r.evaluations, r.end && r.end.cost ? three(r.end.cost) : "", r.end && r.end.tokens ? r.end.tokens : "", r.end ? r.end.why_stopped || "" : "", time(r.last_ms)]),
            "No search yet. hone search TASK starts one."),
        store.isLive ? h("p", {}, h("a", {href: "#/machine"}, "This machine")) : null);
}

const withInterval = (x) => ratio(x.ratio) + (Number.isFinite(x.low) && Number.isFinite(x.high) ? " [" + three(x.low) + ", " + three(x.high) + "]" : "");

function headOf(r) {
    const e = r.end;
    if (!e) return h("div", {class: "panel"}, h("span", {class: "result soft"}, "No result yet"),
        h("p", {class: "soft"}, "It runs, or was stopped before its end. Figures below are short looks, not results."));
    const isFast = e.verdict === "faster";
    return h("div", {class: "panel"},
        h("span", {class: "result " + (isFast ? "good" : "soft")}, Number.isFinite(e.speedup) ? ratio(e.speedup) + " the baseline" : "Nothing was confirmed"),
        h("p", {}, e.summary || ""),
        e.doubt ? h("p", {class: "bad"}, "Not to be claimed: " + e.doubt) : null,
        facts([...(e.yardsticks || []).map((y) => ["over " + y.name, withInterval(y)]), ["rests on", e.rests_on], ["one call", Number.isFinite(e.best_ns) ? nanoseconds(e.best_ns) + ", before " + nanoseconds(e.baseline_ns) : ""],
            ["of the bound", Number.isFinite(e.percent_of_bound) ? e.percent_of_bound.toFixed(1) + " %" : ""],
            ["best version", e.best_commit ? h("a", {href: href("search", r.name || r.search, "version", e.best_commit)}, short(e.best_commit)) : ""],
            ["take it home", e.best_commit ? h("code", {}, "hone export " + short(e.best_commit)) : ""]]));
}

function gauges(r) {
    const rows = [["wall", r.spent.wall_ms, r.budgets.budget_wall_ms, seconds], ["evaluations", r.spent.evaluations, r.budgets.budget_evaluations, String],
        ["device", r.spent.device_ms, r.budgets.budget_device_ms, seconds], ["cost", r.spent.cost, r.budgets.budget_cost, (v) => v + " USD"],
        ["tokens", r.spent.tokens, r.budgets.budget_tokens, String]];
    return facts(rows.filter(([, used, cap]) => used || cap).map(([name, used, cap, f]) => {
        const bar = h("i");
        bar.style.width = cap ? Math.min(100, (100 * used) / cap) + "%" : "0";
        return [name, [f(used), cap ? [" of " + f(cap) + " ", h("span", {class: "gauge"}, bar)] : ""]];
    }));
}

/* Who was asked, what that cost, and the answers when they are unfolded. */
function modelsPanel(r) {
    if (!r.models || r.models.length === 0) return null;
    const text = h("pre", {tabindex: "0", "aria-label": "Answers"});
    const open = async (e) => {
        if (e.target.open && !text.textContent) text.textContent = await store.answers(r.name || r.search).catch((x) => x.message);
    };
    return [h("h2", {}, "Models"), table(["role", "model", "#asked", "#answered", "#tokens in", "#tokens out", "#cost, USD"],
        r.models.map((m) => [m.role, m.model, m.asked, m.answered, m.tokens_in, m.tokens_out, three(m.cost)])),
    h("details", {ontoggle: open}, h("summary", {}, "What they answered"), text)];
}

function steering(r, done, names) {
    if (!store.isLive || r.end || !names.has("search_steer")) return null;
    const status = h("span", {role: "status", class: "soft"});
    const strategy = h("input", {placeholder: "strategy, e.g. C08", "aria-label": "Strategy", size: "18"});
    const hint = h("input", {placeholder: "hint for models, one line", "aria-label": "Hint", size: "28"});
    const act = (action) => async (e) => {
        e.preventDefault();
        const args = {search: r.name || r.search, action};
        if (["ban", "favour", "unban"].includes(action)) args.strategy = strategy.value.trim();
        if (action === "hint") args.text = hint.value.trim();
        try {
            const answer = await store.call("search_steer", args);
            status.textContent = answer.isError ? resultOf(answer).summary : action + ": asked";
            done();
        } catch (x) { status.textContent = x.message; }
    };
    return h("form", {class: "bar", onsubmit: (e) => e.preventDefault()},
        ["pause", "resume", "stop"].map((a) => h("button", {type: "button", onclick: act(a)}, a)), strategy,
        ["ban", "favour", "unban"].map((a) => h("button", {type: "button", onclick: act(a)}, a)), hint, h("button", {type: "button", onclick: act("hint")}, "hint"), status);
}

/* What the planner chose among, when it is unfolded: its beliefs about each, the chosen one marked. */
function choicesPanel(r, s) {
    if (!(s.step > 0)) return null;
    const told = h("div");
    const open = async (e) => {
        if (!e.target.open || told.firstChild) return;
        const c = await store.choices(r.name || r.search, s.step);
        const rows = ((c && c.legal) || []).slice().sort((a, b) => b.prior - a.prior);
        put(told, rows.length === 0 ? h("p", {class: "soft"}, "Nothing is kept of this choice.") : table(["step", "#prior", "#can be done", "#pays", "#rule's factor", ""],
            rows.map((a) => [a.strategy + ", " + a.rewrite.replaceAll("_", " ") + (a.variant ? ", variant " + a.variant : ""), (100 * a.prior).toFixed(1) + " %",
                (100 * a.p_impl).toFixed(0) + " %", (100 * a.positive).toFixed(0) + " %", three(a.boost) + "x",
                a.rewrite === c.rewrite && a.variant === c.variant ? "◆ chosen" : a.is_tried ? "tried before" : ""])));
    };
    return h("details", {ontoggle: open}, h("summary", {}, "What it was chosen among"), told);
}

function stepPanel(r, s) {
    if (!s) return h("p", {class: "soft"}, "Point at a dot or a row.");
    const fresh = s.commit ? r.steps.filter((x) => x.kind === "confirm" && x.commit === s.commit).pop() : null;
    const kind = kindOf(fresh || s);
    return h("div", {}, h("h2", {}, signs[kind] + " " + wordsOf(s)),
        facts([["what it is", meanings[kind]], ["with fresh data", fresh && fresh !== s ? ratio(fresh.ratio) + " the baseline, " + fresh.verdict : ""], ["strategy", s.strategy], ["why", s.rule],
            ["expected", Number.isFinite(s.expected_log2) ? ratio(2 ** s.expected_log2) + " (" + ratio(2 ** s.low) + " to " + ratio(2 ** s.high) + ") its parent's speed" : ""],
            ["came out", Number.isFinite(s.ratio) ? ratio(s.ratio) + (s.kind === "confirm" ? " the baseline's speed" : " in this measurement") : ""],
            ["as it stands", Number.isFinite(s.value_log2) ? ratio(2 ** s.value_log2) + " the baseline" : ""],
            ["verdict", (s.verdict || "") + (s.reason && s.reason !== s.verdict ? " (" + s.reason + ")" : "")], ["note", s.note],
            ["after", s.evaluations + " evaluations, " + seconds(s.elapsed_ms)],
            ["version", s.commit ? h("a", {href: href("search", r.name || r.search, "version", s.commit)}, short(s.commit)) : "none"]]), choicesPanel(r, s));
}

/* ---- a version's figures, and taking it home ---- */

const fileLink = (name, text) => h("a", {download: name, href: URL.createObjectURL(new Blob([text], {type: "text/plain"}))}, name);

/* A button that calls version_export, where the token's role may; then the files as links. */
function exportPanel(version) {
    const status = h("p", {role: "status", class: "soft"}), files = h("ul", {class: "files"}), told = h("div");
    const test = h("input", {type: "checkbox", checked: true});
    const button = h("button", {type: "button", onclick: async () => {
        button.disabled = true;
        status.textContent = test.checked ? "The files are made and their test is run: some seconds." : "The files are made.";
        try {
            const answer = await store.call("version_export", {version, no_test: !test.checked}), e = resultOf(answer);
            status.textContent = e.summary || "";
            put(files, (e.files || []).map((f) => h("li", {}, fileLink(f.name, f.text))));
            put(told, facts([["compile", e.compile ? h("code", {}, e.compile) : ""], ["test", e.test], ["said", e.said], ["notes", (e.notes || []).map((n) => h("div", {}, n))]]));
        } catch (x) { status.textContent = x.message; }
        button.disabled = false;
    }}, "take it home");
    const panel = h("div", {class: "panel", hidden: true}, h("div", {class: "bar"}, button, h("label", {}, test, " with a test that is run here")), status, files, told);
    store.tools().then((names) => {
        if (!store.isLive) return;
        if (!names.has("version_export")) put(panel, h("p", {class: "soft"}, "This token may read; an export runs a test and takes an agent's token."));
        panel.hidden = false;
    });
    return panel;
}

const medianOf = (workload, arm) => ((workload.times || []).find((t) => t.arm === arm) || {}).median_ns;

function shareOf(percent) {
    if (!Number.isFinite(percent)) return "";
    const bar = h("i");
    bar.style.width = Math.min(100, percent) + "%";
    return [percent.toFixed(1) + " % ", h("span", {class: "gauge"}, bar)];
}

function measuredPanel(m) {
    if (!m || !m.workloads) return null;
    const against = (w) => (w.ratios || []).find((x) => x.against === "baseline");
    return h("section", {}, h("h2", {}, "Measured, tier " + m.tier), h("p", {}, m.summary || ""),
        facts((m.ratios || []).filter((x) => x.against !== "baseline").map((x) => ["over " + x.against, withInterval(x)])),
        table(["workload", "#time", "#baseline", "#ratio, 95 %", "share of the bound", "bound by"], m.workloads.map((w) => {
            const r = against(w);
            return [w.id, nanoseconds(medianOf(w, "candidate")), nanoseconds(medianOf(w, "baseline")),
                r ? withInterval(r) : "", shareOf(w.percent_of_bound), w.bound_by || ""];
        })), (m.doubts || []).map((d) => h("p", {class: "bad"}, "Not to be claimed: " + d)));
}

/* ---- the roofline (Williams and others, 2009) ---- */

/* s("line", {x1: 0}): an element of a picture. */
function s(tag, props, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(props)) e.setAttribute(key, String(value));
    e.append(...children);
    return e;
}

/* Where a workload stands: operations a byte and operations a second, of the task's formulas; the
 * roof over it and the balance of the machine, where the two roofs meet. */
function roofOf(w, arm) {
    const ns = medianOf(w, arm);
    if (!(w.bytes_ns > 0 && w.flops_ns > 0 && w.least_bytes > 0 && w.least_flops > 0 && ns > 0)) return null;
    const moving = w.least_bytes / w.bytes_ns, computing = w.least_flops / w.flops_ns; /* a nanosecond: G a second */
    return {id: w.id, ns, at: w.least_flops / w.least_bytes, done: w.least_flops / ns, moved: w.least_bytes / ns,
        moving, computing, balance: computing / moving, share: 100 * Math.max(w.bytes_ns, w.flops_ns) / ns};
}

const WIDTH = 560, HEIGHT = 260, EDGE = 46;

function roofPicture(points, befores) {
    const all = points.concat(befores), xs = all.flatMap((p) => [p.at, p.balance]), ys = all.flatMap((p) => [p.done, p.computing]);
    const span = (v, more) => [Math.log10(Math.min(...v)) - more, Math.log10(Math.max(...v)) + more];
    const [x0, x1] = span(xs, 0.5), [y0, y1] = span(ys, 0.3);
    const x = (v) => EDGE + (Math.log10(v) - x0) / (x1 - x0) * (WIDTH - 2 * EDGE), y = (v) => HEIGHT - EDGE - (Math.log10(v) - y0) / (y1 - y0) * (HEIGHT - 2 * EDGE);
    const roof = (p) => {
        const left = Math.max(10 ** x0, 10 ** y0 / p.moving);
        return s("polyline", {class: "roof", points: [[left, left * p.moving], [p.balance, p.computing], [10 ** x1, p.computing]].map(([a, b]) => x(a).toFixed(1) + "," + y(b).toFixed(1)).join(" ")});
    };
    const dot = (p, kind) => s(kind === "own" ? "circle" : "rect", kind === "own" ? {class: "own", cx: x(p.at), cy: y(p.done), r: 5}
        : {class: "before", x: x(p.at) - 4, y: y(p.done) - 4, width: 8, height: 8}, s("title", {}, p.id + ", " + (kind === "own" ? "this version" : "the baseline") + ": " + three(p.done) + " Gop/s at " + three(p.at) + " operations a byte"));
    const start = x(Math.max(10 ** x0, 10 ** y0 / points[0].moving));
    const words = (text, at, down, anchor) => s("text", {x: at, y: down, "text-anchor": anchor || "middle"}, text);
    return s("svg", {viewBox: "0 0 " + WIDTH + " " + HEIGHT, class: "roofline", role: "img", "aria-label": "Roofline: " + points.map((p) => p.id + " at " + three(p.share) + " % of its roof").join(", ")},
        roof(points[0]), ...befores.map((p) => dot(p, "before")), ...points.map((p) => dot(p, "own")),
        words("operations a byte, " + three(10 ** x0) + " to " + three(10 ** x1), WIDTH / 2, HEIGHT - 12),
        words(three(points[0].computing) + " Gop/s", WIDTH - EDGE, y(points[0].computing) - 6, "end"),
        words(three(points[0].moving) + " GB/s", start, y(Math.max(10 ** x0, 10 ** y0 / points[0].moving) * points[0].moving) + 18, "start"));
}

function rooflinePanel(m) {
    if (!m || !m.workloads) return null;
    const points = m.workloads.map((w) => roofOf(w, "candidate")).filter(Boolean), befores = m.workloads.map((w) => roofOf(w, "baseline")).filter(Boolean);
    if (points.length === 0)
        return h("section", {}, h("h2", {}, "Roofline"), h("p", {class: "soft"}, "None: the task's operations and bytes are guessed or were not measured (hone task new --flops, --bytes)."));
    return h("section", {}, h("h2", {}, "Roofline"), roofPicture(points, befores),
        h("p", {class: "soft"}, "Circles: this version. Squares: the baseline. Operations and bytes are the least that the task's formulas count; the roofs were measured on the machine."),
        table(["workload", "#operations a byte", "#done", "#moved", "#of its roof", "limited by"], points.map((p) => [p.id, three(p.at), three(p.done) + " Gop/s", three(p.moved) + " GB/s",
            three(p.share) + " %", p.at < p.balance ? "memory: " + three(p.moving) + " GB/s" : "arithmetic: " + three(p.computing) + " Gop/s"])));
}

/* A menu of the search's versions that brought something; null: any other by its address. */
function versionMenu(r, label, chosen, onpick) {
    const seen = new Set(), options = [h("option", {value: ""}, "a version")];
    for (const s of r.steps) {
        if (!s.commit || seen.has(s.commit) || !(s.is_gain || s.node === 0 || s.commit === chosen)) continue;
        seen.add(s.commit);
        options.push(h("option", {value: s.commit, selected: s.commit === chosen}, short(s.commit) + "  " + ratio(2 ** s.value_log2) + "  " + wordsOf(s).slice(0, 60)));
    }
    return h("label", {}, label + " ", h("select", {onchange: (e) => { if (e.target.value) onpick(e.target.value); }}, options.slice(0, 400)));
}

async function searchView(view, name) {
    const names = await store.tools();
    let r = await store.report(name), chosen = -1, isBusy = false, shown = "", taken = "";
    const home = h("div"), now = h("p", {class: "soft"}), head = h("div"), budget = h("div", {class: "panel"}), steer = h("div"), panel = h("div", {class: "panel", "aria-live": "polite"});
    const pick = (i) => {
        chosen = i;
        plot.select(i);
        tree.select(i);
        put(panel, stepPanel(r, r.steps[i]));
    };
    const near = h("p", {class: "soft near"}, " "), latest = h("div"), twoMenu = h("div");
    const hover = (i) => {
        plot.hover(i);
        tree.hover(i);
        const s = r.steps[i];
        near.textContent = s ? signs[kindOf(s)] + " " + (Number.isFinite(s.value_log2) ? ratio(2 ** s.value_log2) + "  " : "") + wordsOf(s) : " ";
    };
    const plot = wayUp(pick, hover), tree = treeList(pick, hover), ideas = h("div"), models = h("div");
    function fill() {
        put(head, headOf(r));
        put(budget, h("h2", {}, "Used"), gauges(r));
        if (!models.querySelector("details[open]")) put(models, modelsPanel(r));
        now.textContent = r.in_hand ? "Now: " + (r.in_hand.strategy || "") + ", " + (r.in_hand.rule || "") : "";
        const winner = (r.end && r.end.best_commit) || "";
        if (winner !== taken) put(home, (taken = winner) ? exportPanel(winner) : null);
        /* made once: what was typed and what was answered stay */
        if (r.end || !steer.firstChild) put(steer, steering(r, refresh, names));
        put(latest, latestPanel(r, pick));
        plot.show(r.steps, r.end);
        tree.show(r.steps);
        if (chosen < 0) put(panel, stepPanel(r, null));
        let best = -Infinity;
        const ups = r.steps.filter((s) => s.kind !== "confirm" && s.value_log2 > best && ((best = s.value_log2), true));
        put(ideas, h("h2", {}, "What brought something"), table(["#evaluations", "#time", "#about", "step", "version"], ups.map((s) =>
            [s.evaluations, seconds(s.elapsed_ms), ratio(2 ** s.value_log2), wordsOf(s),
                s.commit ? h("a", {href: href("search", name, "version", s.commit)}, short(s.commit)) : ""])));
    }
    async function refresh() {
        if (isBusy || !view.contains(head)) return;
        isBusy = true;
        try {
            const now = await store.report(name), mark = now.last_ms + "/" + now.steps.length;
            if (mark !== shown) { r = now; shown = mark; fill(); }
        } catch { /* the connection says so */ }
        isBusy = false;
    }
    put(view, h("h1", {}, name), h("p", {class: "soft"}, r.task + " on " + r.target + ", " + r.policy + ", " + r.coder + ", begun " + time(r.start_ms)),
        head, now, home, steer, h("div", {class: "split"}, h("section", {}, h("h2", {}, "Way up"), plot.element, near,
            h("label", {class: "soft"}, h("input", {type: "checkbox", onchange: (e) => plot.byTime(e.target.checked)}), " over time"),
            h("p", {class: "soft"}, Object.keys(signs).map((k) => signs[k] + " " + meanings[k]).join("   "))),
        h("section", {}, h("h2", {}, "Tree"), tree.element)), panel, ideas, latest, budget, models, twoMenu);
    fill();
    store.searches().then((all) => put(twoMenu, searchMenu(all.filter((x) => x.search !== r.search), name))).catch(() => {});
    onLeave = store.watch(name, refresh);
}

async function versionView(view, name, commit) {
    const r = name ? await store.report(name).catch(() => null) : null;
    const steps = r ? r.steps.filter((s) => s.commit === commit) : [], own = steps[0];
    const parent = own && own.parent >= 0 ? (r.steps.find((s) => s.node === own.parent && s.commit) || {}).commit : null;
    const root = r ? (r.steps.find((s) => s.node === 0) || {}).commit : null;
    const diff = h("div"), source = await store.source(commit).catch((e) => "/* " + e.message + " */");
    const against = async (other, what) => {
        try {
            put(diff, h("h2", {}, "Against " + what), diffView(await store.source(other), source));
        } catch (e) { put(diff, h("p", {class: "bad"}, e.message)); }
    };
    const m = await store.measured(commit), marks = marksOf(m && m.profile);
    const fileName = ((m && m.task) || (r && r.task) || "kernel") + (((m && m.target) || (r && r.target)) === "cuda" ? ".cu" : ".c");
    put(view, h("h1", {}, "Version " + short(commit)), own ? h("div", {class: "panel"}, stepPanel(r, own)) : null,
        steps.length > 1 ? table(["look", "#ratio", "verdict"], steps.map((s) => [s.kind, ratio(s.ratio), s.verdict])) : null,
        measuredPanel(m), rooflinePanel(m), exportPanel(commit),
        h("form", {class: "bar", onsubmit: (e) => e.preventDefault()},
            parent ? h("button", {type: "button", onclick: () => against(parent, "its parent")}, "against its parent") : null,
            root && root !== commit ? h("button", {type: "button", onclick: () => against(root, "the baseline")}, "against the baseline") : null,
            parent ? h("a", {href: href("compare", name, parent, commit)}, "side by side with its parent") : null,
            r ? versionMenu(r, "side by side with", null, (other) => { location.hash = href("compare", name, other, commit); }) : null),
        diff, h("h2", {}, "Source"), h("p", {}, fileLink(fileName, source)), sourceView(source, marks), marksTable(marks),
        h("p", {class: "soft"}, "In git: ", h("code", {}, "git show " + commit)));
    const more = await store.version(commit).catch(() => null);
    if (more && view.isConnected) view.append(h("details", {}, h("summary", {}, "Everything that is known"), h("pre", {tabindex: "0"}, JSON.stringify(more, null, 2))));
}

/* Rows [what, first, second, second over first]: times, then what else differs, the largest change first. */
function figures(m, o) {
    const rows = [], change = (x, y) => (x > 0 && y > 0 ? Math.abs(Math.log(y / x)) : 0);
    for (const w of (m && m.workloads) || []) {
        const v = ((o && o.workloads) || []).find((k) => k.id === w.id);
        if (v) rows.push(["time of " + w.id, nanoseconds(medianOf(w, "candidate")), nanoseconds(medianOf(v, "candidate")), ratio(medianOf(v, "candidate") / medianOf(w, "candidate"))]);
    }
    if (m && o && Number.isFinite(m.percent_of_bound) && Number.isFinite(o.percent_of_bound))
        rows.push(["share of the bound", m.percent_of_bound.toFixed(1) + " %", o.percent_of_bound.toFixed(1) + " %", ratio(o.percent_of_bound / m.percent_of_bound)]);
    const of = (x) => ((x && x.profile && x.profile.counters) || []).filter((c) => !c.kernel);
    const both = of(m).map((c) => [c, of(o).find((k) => k.name === c.name)]).filter(([, k]) => k);
    both.sort((a, b) => change(b[0].value, b[1].value) - change(a[0].value, a[1].value));
    for (const [c, k] of both)
        rows.push([c.name.replaceAll("_", " "), three(c.value) + " " + (c.unit || ""), three(k.value) + " " + (k.unit || ""), c.value > 0 ? ratio(k.value / c.value) : ""]);
    return rows;
}

async function compareView(view, name, a, b) {
    const r = await store.report(name), left = await store.source(a), right = await store.source(b);
    const of = (commit) => r.steps.find((s) => s.commit === commit) || {};
    const x = of(a), y = of(b), changed = figures(...await Promise.all([store.measured(a), store.measured(b)]));
    const fresh = (commit) => r.steps.filter((s) => s.kind === "confirm" && s.commit === commit).map((s) => ratio(s.ratio) + ", " + s.verdict).pop() || "";
    const to = (p, q) => { location.hash = href("compare", name, p, q); };
    put(view, h("h1", {}, short(a) + " and " + short(b)),
        h("form", {class: "bar", onsubmit: (e) => e.preventDefault()}, versionMenu(r, "first", a, (p) => to(p, b)), versionMenu(r, "second", b, (q) => to(a, q)),
            h("button", {type: "button", onclick: () => to(b, a)}, "swap")),
        table(["what", "first", "second"], [["version", h("a", {href: href("search", name, "version", a)}, short(a)), h("a", {href: href("search", name, "version", b)}, short(b))],
            ["step", wordsOf(x), wordsOf(y)], ["against the baseline", ratio(2 ** x.value_log2), ratio(2 ** y.value_log2)],
            ["verdict", x.verdict || "", y.verdict || ""], ["with fresh data", fresh(a), fresh(b)]]),
        changed.length > 0 ? [h("h2", {}, "What changed"), table(["figure", "#first", "#second", "#second over first"], changed)] : null,
        h("p", {class: "soft"}, "Each version was measured by itself; kernel_compare times two in one run."),
        h("h2", {}, "Source"), sideBySide(left, right));
}

/* What came last, and what was asked from outside. */
function latestPanel(r, pick) {
    const from = Math.max(0, r.steps.length - 8), asked = (r.steering || []).slice(-8).reverse();
    return [h("h2", {}, "Latest"), table(["#after", "what", "#about", "verdict"], r.steps.slice(from).map((s, k) => [seconds(s.elapsed_ms) || "0 s",
        h("button", {type: "button", class: "plain", onclick: () => pick(from + k)}, signs[kindOf(s)] + " " + wordsOf(s)),
        ratio(2 ** s.value_log2), (s.verdict || "") + (s.reason && s.reason !== s.verdict ? " (" + s.reason + ")" : "")]).reverse()),
    asked.length === 0 ? null : [h("h2", {}, "Asked from outside"), table(["when", "by", "what", "taken in"],
        asked.map((a) => [time(a.time_ms), a.by, a.action + (a.what ? " " + a.what : ""), a.is_taken ? "yes" : "not yet"]))]];
}

/* ---- two searches ---- */

function searchMenu(others, name) {
    if (others.length === 0) return null;
    const names = [...new Set(others.map((x) => x.name || x.search))];
    return h("p", {}, h("label", {}, "Compare with the search ", h("select", {onchange: (e) => { if (e.target.value) location.hash = href("searches", name, e.target.value); }},
        h("option", {value: ""}, "a search"), names.slice(0, 200).map((n) => h("option", {value: n}, n)))));
}

/* Best so far of both, over evaluations: the second is dashed. */
function twoWays(reports) {
    const W = 640, H = 260, EDGE = 44, ns = "http://www.w3.org/2000/svg";
    const make = (tag, props, text) => {
        const e = document.createElementNS(ns, tag);
        for (const [key, value] of Object.entries(props)) e.setAttribute(key, value);
        if (text) e.textContent = text;
        return e;
    };
    const ways = reports.map((r) => {
        let best = -Infinity;
        const way = r.steps.filter((s) => s.value_log2 > best && ((best = s.value_log2), true)).map((s) => [s.evaluations, s.value_log2]);
        return way.length > 0 ? way.concat([[r.spent.evaluations || way[way.length - 1][0], best]]) : way;
    });
    const all = ways.flat(), most = Math.max(1, ...all.map((p) => p[0])), high = Math.max(1, ...all.map((p) => Math.ceil(p[1]))), low = Math.min(0, ...all.map((p) => Math.floor(p[1])));
    const x = (v) => EDGE + (v / most) * (W - EDGE - 12), y = (v) => 12 + ((high - v) / (high - low)) * (H - 56);
    const svg = make("svg", {viewBox: "0 0 " + W + " " + H, class: "two", role: "img",
        "aria-label": "Best so far: " + reports.map((r, i) => (r.name || r.search) + " " + (ways[i].length ? ratio(2 ** ways[i][ways[i].length - 1][1]) : "none")).join(", ")});
    for (let v = low; v <= high; v += Math.ceil((high - low) / 6))
        svg.append(make("line", {x1: EDGE, x2: W - 12, y1: y(v), y2: y(v), class: "grid"}), make("text", {x: EDGE - 6, y: y(v) + 4, "text-anchor": "end"}, ratio(2 ** v)));
    for (let i = 0; i <= 4; i++) svg.append(make("text", {x: x((most * i) / 4), y: H - 24, "text-anchor": "middle"}, String(Math.round((most * i) / 4))));
    svg.append(make("text", {x: W / 2, y: H - 6, "text-anchor": "middle"}, "evaluations"));
    ways.forEach((way, i) => way.length > 0 && svg.append(make("path", {class: "way" + (i + 1), fill: "none",
        d: way.map((p, k) => (k === 0 ? "M" + x(p[0]) + " " + y(p[1]) : "H" + x(p[0]) + " V" + y(p[1]))).join(" ")})));
    return svg;
}

/* Rows [strategy, tried, gains, of both], the largest difference of gains first. */
function strategyRows(reports) {
    const rows = new Map();
    reports.forEach((r, i) => {
        for (const s of r.steps) {
            if (!s.strategy || s.kind !== "expand") continue;
            const row = rows.get(s.strategy) || {words: wordsOf(s).replace(/ \(.*/, ""), tried: [0, 0], gains: [0, 0]};
            row.tried[i]++;
            row.gains[i] += s.is_gain ? 1 : 0;
            rows.set(s.strategy, row);
        }
    });
    const apart = (row) => Math.abs(row.gains[0] - row.gains[1]) + Math.abs(row.tried[0] - row.tried[1]) / 1000;
    return [...rows].sort((a, b) => apart(b[1]) - apart(a[1])).map(([id, row]) => [id + ", " + row.words, row.gains[0] + " of " + row.tried[0], row.gains[1] + " of " + row.tried[1]]);
}

async function twoSearches(view, a, b) {
    const reports = [await store.report(a), await store.report(b)], ends = reports.map((r) => r.end || {});
    const both = (what, f) => [what, ...reports.map((r, i) => f(r, ends[i]))], name = (r) => r.name || r.search;
    const rows = [both("search", (r) => h("a", {href: href("search", name(r))}, name(r))), both("task", (r) => r.task + " on " + r.target), both("planner, coder, seed", (r) => [r.policy, r.coder, r.seed].join(", ")),
        both("result, 95 %", (r, e) => bestOf({end: e, best: []}) || "nothing confirmed"), both("verdict", (r, e) => (r.end ? e.verdict || "nothing confirmed" : "not ended")),
        both("best by short looks", (r) => ratio(2 ** r.steps.reduce((m, s) => (s.value_log2 > m ? s.value_log2 : m), -Infinity))),
        both("of the bound", (r, e) => (Number.isFinite(e.percent_of_bound) ? e.percent_of_bound.toFixed(1) + " %" : "")),
        both("evaluations", (r) => r.spent.evaluations), both("wall", (r) => seconds(r.spent.wall_ms)), both("cost, USD", (r) => three(r.spent.cost)), both("tokens", (r) => r.spent.tokens),
        both("why it ended", (r, e) => e.why_stopped || "")];
    put(view, h("h1", {}, a + " and " + b), h("div", {class: "bar"}, h("a", {href: href("searches", b, a)}, "swap")), table(["what", "first", "second"], rows),
        reports[0].task !== reports[1].task || reports[0].target !== reports[1].target ? h("p", {class: "bad"}, "They are of different tasks: their ratios are not comparable.") : null,
        h("h2", {}, "Best so far"), twoWays(reports), h("p", {class: "soft"}, "Full line: " + a + ". Dashed: " + b + ". By short looks; each search measured by itself."),
        h("h2", {}, "What paid"), table(["strategy", "#first: gains of tries", "#second: gains of tries"], strategyRows(reports), "No step had a strategy."));
}

/* ---- the machine ---- */

/* An object's members: plain ones as facts, lists of objects as tables, others below their name. */
function known(o) {
    const isPlain = (v) => v === null || typeof v !== "object" || (Array.isArray(v) && v.every((x) => typeof x !== "object"));
    const words = (k) => k.replaceAll("_", " "), plain = (v) => (!isPlain(v) ? JSON.stringify(v) : Array.isArray(v) ? v.join(", ") : typeof v === "boolean" ? (v ? "yes" : "no") : v === null ? "" : String(v));
    const of = Object.entries(o), rest = of.filter(([, v]) => !isPlain(v));
    return [facts(of.filter(([, v]) => isPlain(v)).map(([k, v]) => [words(k), plain(v)])), rest.map(([k, v]) => {
        if (!Array.isArray(v)) return h("section", {}, h("h2", {}, words(k)), known(v));
        const keys = [...new Set(v.flatMap(Object.keys))];
        const cell = (x) => (x === undefined ? "" : isPlain(x) ? plain(x) : Object.entries(x).map(([n, w]) => words(n) + ": " + plain(w) || "none").join(", "));
        return h("section", {}, h("h2", {}, words(k)), table(keys.map(words), v.map((row) => keys.map((n) => cell(row[n])))));
    })];
}

async function machineView(view) {
    const d = await store.device();
    put(view, h("h1", {}, "Machine"), d ? known({...d, next: null, status: null}) : h("p", {class: "soft"}, "A file does not know the machine."));
}

/* ---- where one is ---- */

let onLeave = () => {};

async function go() {
    onLeave();
    onLeave = () => {};
    const parts = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
    const view = h("div"), main = document.getElementById("view"), path = document.getElementById("path");
    put(main, view);
    put(path, (parts[0] === "search" ? [h("a", {href: href("search", parts[1] || "")}, parts[1] || ""),
        parts[2] === "version" ? " / " + short(parts[3]) : ""] : [parts[0] || ""]));
    document.title = (parts[1] ? parts[1] + ", " : "") + "hone";
    view.append(h("p", {class: "soft"}, "Loading."));
    try {
        if (parts[0] === "search" && parts[2] === "version") await versionView(view, parts[1], parts[3] || "");
        else if (parts[0] === "search" && parts[1]) await searchView(view, parts[1]);
        else if (parts[0] === "searches") await twoSearches(view, parts[1] || "", parts[2] || "");
        else if (parts[0] === "compare") await compareView(view, parts[1] || "", parts[2] || "", parts[3] || "");
        else if (parts[0] === "machine") await machineView(view);
        else await overview(view);
    } catch (e) {
        put(view, h("h1", {}, "That did not work"), h("p", {class: "bad"}, e.message),
            store.isLive ? tokenForm() : null);
    }
    main.focus({preventScroll: true});
    performance.mark("shown");
}

/* ---- the data of a file: gzip in base64 ---- */

async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
}

let store;

async function start() {
    const inlined = document.getElementById("data"), link = document.getElementById("link");
    if (inlined) {
        const data = await unpack(inlined.textContent);
        store = fileStore(data);
        link.textContent = "a file, written " + time(data.report.last_ms);
    } else {
        store = liveStore((state, more) => put(link, state, more));
    }
    window.addEventListener("hashchange", go);
    await go();
}

start().catch((e) => put(document.getElementById("view"), h("h1", {}, "This file cannot be read"),
    h("p", {class: "bad"}, e.message + ". It needs a browser from 2023 or later.")));

/* SPDX-License-Identifier: Apache-2.0 */
/* Where data comes from: over /mcp by the requests that agents use, or, in a page that was written to
 * a file, from the element #data. */

import {h} from "./dom";
import {barredRows, marked} from "./marks";
import type {Answer, Choices, FileData, Measured, Report, Row, Version} from "./data";

export interface Store {
    isLive: boolean;
    searches(): Promise<Row[]>;
    report(name: string): Promise<Report>;
    source(commit: string): Promise<string>;
    version(commit: string): Promise<Version | null>;
    answers(name: string): Promise<string>;
    choices(name: string, step: number): Promise<Choices | null>;
    measured(commit: string): Promise<Measured | null>;
    tools(): Promise<Set<string>>; /* those that the token's role may call */
    device(): Promise<object | null>;
    call(tool: string, args: object): Promise<Answer>;
    watch(search: string, f: () => void): () => void; /* told when there is something new, until it is called */
}

export function fileStore(data: FileData): Store {
    const name = data.report.name || data.report.search;
    return {
        isLive: false,
        searches: async () => barredRows(data.searches),
        report: async (which) => {
            if (which !== name && which !== data.report.search) throw new Error("this file holds the search " + name + " alone");
            return marked(data.report);
        },
        source: async (commit) => {
            if (!(commit in data.sources)) throw new Error("this file does not hold that source");
            return data.sources[commit];
        },
        version: async () => null,
        answers: async () => "This file does not hold what models answered.",
        choices: async (_, step) => (data.choices || {})[step] || null,
        measured: async (commit) => (data.measured || {})[commit] || null,
        tools: async () => new Set<string>(),
        device: async () => null,
        call: async () => { throw new Error("a file cannot be steered"); },
        watch: () => () => {},
    };
}

/* The data of a file: gzip in base64. */
export async function unpack(text: string): Promise<FileData> {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
}

/* A server that began anew does not know the cookies that it gave. */
export const tokenForm = (): HTMLElement => h("form", {class: "bar", method: "get", action: "/"},
    h("label", {}, "Token ", h("input", {name: "token", type: "password", autocomplete: "off"})), h("button", {}, "open"));

interface Waiting { resolve(result: any): void; reject(e: Error): void }

/* JSON-RPC over one WebSocket, opened again when it breaks. onState: told how the connection stands. */
export function liveStore(onState: (words: string, more?: HTMLElement) => void): Store {
    let socket: WebSocket, serial = 0, isOpen: Promise<void>, wait = 500, wantsToken = false;
    let tools: Promise<Set<string>> | null = null;
    const open = new Map<number, Waiting>(), watched = new Map<string, () => void>();

    function connect(): void {
        isOpen = new Promise((resolve, reject) => {
            const scheme = location.protocol === "https:" ? "wss://" : "ws://";
            socket = new WebSocket(scheme + location.host + "/mcp", ["mcp"]);
            socket.onopen = async () => {
                try {
                    await send("initialize", {protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {name: "hone page", version: "1"}});
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
                reject(new Error("no connection to the server; if it wants a token, open the address that hone serve printed"));
                for (const x of open.values()) x.reject(new Error("the connection broke"));
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
    function take(message: {id?: number; method?: string; params?: any; result?: unknown; error?: {message: string}}): void {
        if (message.method === "notifications/resources/updated") watched.get(message.params.uri)?.();
        const x = message.id === undefined ? undefined : open.get(message.id);
        if (!x) return;
        open.delete(message.id!);
        if (message.error) x.reject(new Error(message.error.message));
        else x.resolve(message.result);
    }
    function send(method: string, params: object): Promise<any> {
        return new Promise((resolve, reject) => {
            const id = ++serial;
            open.set(id, {resolve, reject});
            socket.send(JSON.stringify({jsonrpc: "2.0", id, method, params}));
        });
    }
    async function request(method: string, params: object): Promise<any> {
        await isOpen;
        return send(method, params);
    }
    const read = async (uri: string): Promise<string> => (await request("resources/read", {uri})).contents[0].text;
    const readJson = async (uri: string) => JSON.parse(await read(uri));
    const known = new Map<string, Report>(); /* by the name that was asked for; only what is new is asked again */
    async function readReport(name: string): Promise<Report> {
        const uri = "hone://search/" + name + "/report", old = known.get(name);
        const now: Report = await readJson(old ? uri + "?since=" + old.position : uri);
        if (old && now.since) now.steps = old.steps.slice(0, now.since.steps).concat(now.steps);
        now.evaluations = []; /* no view shows them, and there are as many as steps */
        known.clear(); /* one at a time: the others' views are gone */
        known.set(name, now);
        return marked(now);
    }
    async function listTools(): Promise<Set<string>> {
        const names = new Set<string>();
        for (let cursor: string | null | undefined; cursor !== null;) {
            const page: {tools: {name: string}[]; nextCursor?: string} = await request("tools/list", cursor ? {cursor} : {});
            for (const t of page.tools) names.add(t.name);
            cursor = page.nextCursor || null;
        }
        return names;
    }
    connect();
    return {
        isLive: true,
        searches: async () => barredRows(await readJson("hone://searches")),
        report: readReport,
        source: (commit) => read("hone://version/" + commit + "/source"),
        version: (commit) => readJson("hone://version/" + commit),
        measured: (commit) => readJson("hone://version/" + commit + "/measured").catch(() => null),
        tools: () => (tools = tools || listTools().catch(() => { tools = null; return new Set<string>(); })),
        choices: (name, step) => readJson("hone://search/" + name + "/choices?step=" + step).catch(() => null),
        answers: (name) => read("hone://search/" + name + "/answers"),
        device: () => readJson("hone://device"),
        call: (name, args) => request("tools/call", {name, arguments: args}),
        /* polled, too: the search may run in another process */
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
export function resultOf<T>(answer: Answer): T & {summary?: string} {
    const text = answer.content[0].text;
    try { return JSON.parse(text); } catch { return {summary: text.slice(0, 400)} as T & {summary: string}; }
}

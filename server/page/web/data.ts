/* SPDX-License-Identifier: Apache-2.0 */
/* What the server's resources hold, as far as the page reads it. docs/reference has the whole. */

export interface Step {
    step: number;
    node: number;
    parent: number; /* -1: the baseline */
    kind: string; /* "expand", "confirm", "decide", ... */
    commit?: string;
    value_log2?: number | null; /* over the baseline; null: no version */
    is_gain?: boolean;
    evaluations: number;
    elapsed_ms: number;
    strategy?: string;
    rule?: string;
    words?: string;
    expected_log2?: number;
    low?: number;
    high?: number;
    ratio?: number;
    ratio_low?: number;
    ratio_high?: number;
    verdict?: string;
    reason?: string;
    note?: string;
}

export interface Yardstick { name: string; ratio: number; low?: number; high?: number }

export interface End {
    verdict?: string;
    speedup?: number;
    ci?: number[];
    summary?: string;
    doubt?: string;
    unconfirmed?: string; /* what a confirmation would have taken */
    vs_fast_math?: number;
    yardsticks?: Yardstick[];
    rests_on?: string;
    best_ns?: number;
    baseline_ns?: number;
    best_commit?: string;
    percent_of_bound?: number;
    why_stopped?: string;
    cost?: number;
    tokens?: number;
}

export interface Report {
    search: string;
    name?: string;
    task: string;
    target: string;
    policy: string;
    coder: string;
    seed: number;
    start_ms: number;
    last_ms: number;
    position?: number;
    since?: Record<"steps" | "evaluations", number>;
    steps: Step[];
    evaluations: unknown[];
    end?: End;
    in_hand?: {strategy?: string; rule?: string};
    spent: Record<string, number>;
    budgets: Record<string, number>;
    models?: {role: string; model: string; asked: number; answered: number; tokens_in: number; tokens_out: number; cost: number}[];
    steering?: {time_ms: number; by: string; action: string; what?: string; is_taken: boolean}[];
}

/* A search in the list of all. best: points [milliseconds, ratio]. */
export interface Row {
    search: string;
    name?: string;
    task: string;
    target: string;
    end?: End;
    best?: [number, number][];
    evaluations: number;
    last_ms: number;
}

export interface Workload {
    id: string;
    times?: {arm: string; median_ns: number}[];
    ratios?: {against: string; ratio: number; low?: number | null; high?: number | null}[];
    percent_of_bound?: number;
    bound_by?: string;
    bytes_ns?: number;
    flops_ns?: number;
    least_bytes?: number;
    least_flops?: number;
}

export interface Profile {
    bottlenecks?: {class_name: string; rule: string; line: number}[];
    remarks?: {kind: string; message: string; line: number}[];
    counters?: {name: string; value: number; unit?: string; kernel?: string}[];
}

export interface Measured {
    task?: string;
    target?: string;
    tier?: string;
    summary?: string;
    workloads?: Workload[];
    ratios?: {against: string; ratio: number; low?: number; high?: number}[];
    doubts?: string[];
    warnings?: string[];
    rests_on?: string;
    percent_of_bound?: number;
    profile?: Profile;
}

export interface Choice {
    strategy: string;
    rewrite: string;
    variant?: number;
    prior: number;
    p_impl: number;
    positive: number;
    boost: number;
    is_tried?: boolean;
}
export interface Choices { rewrite?: string; variant?: number; legal?: Choice[] }

export interface Answer { isError?: boolean; content: {text: string}[] }
export interface Exported {
    summary?: string;
    files?: {name: string; text: string}[];
    compile?: string;
    test?: string;
    said?: string;
    notes?: string[];
}

/* What a static file holds. */
export interface FileData {
    report: Report;
    searches: Row[];
    sources: Record<string, string>;
    choices?: Record<string, Choices>;
    measured?: Record<string, Measured>;
}

export const nameOf = (x: {search: string; name?: string}): string => x.name || x.search;

export const medianOf = (w: Workload, arm: string): number | undefined => (w.times || []).find((t) => t.arm === arm)?.median_ns;

/* "confirmation" or "short look": what the figures of a measurement are of. */
export const tierOf = (m: Measured): string => (m.tier === "confirm" ? "confirmation" : m.tier === "screen" ? "short look" : m.tier || "");

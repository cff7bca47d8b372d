/* SPDX-License-Identifier: Apache-2.0 */
/* What the server's resources hold, as far as the page reads it. docs/reference has the whole. */

/* A step's speed over its parent's, with 95 %. */
export interface Over { ratio: number; low?: number; high?: number }

export interface Step {
    mark?: "confirmed" | "barred" | "unsure" | "gain" | "noise" | "none" | "same" | "wrong"; /* marks.ts sets both */
    over?: Over;
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
    barred?: string; /* a confirmation's: why it may not be claimed */
}

export interface Yardstick { name: string; ratio: number; low?: number; high?: number }

export interface End {
    verdict?: string;
    speedup?: number;
    ci?: number[];
    summary?: string;
    doubt?: string;
    is_refuted?: boolean; /* marks.ts: the doubt is that it was found wrong */
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
    machine?: string; /* what its times were taken on */
    end?: End;
    best?: [number, number][];
    runners_up?: {commit: string; ratio: number}[]; /* confirmed, too */
    refutation?: string; /* its best version was found wrong */
    evaluations: number;
    last_ms: number;
}

export interface Workload {
    id: string;
    axes?: Record<string, number>;
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

/* One measurement of a version, and the sizes that it timed. */
export interface Look { tier: string; verdict: string; ratio?: number; low?: number; high?: number; percent_of_bound?: number; sizes: string[] }

export interface Measured {
    task?: string;
    target?: string;
    tier?: string;
    summary?: string;
    workloads?: Workload[];
    ratios?: {against: string; ratio: number; low?: number; high?: number}[];
    doubts?: string[];
    refutation?: string | null;
    contents?: {compared?: string[]; left_out?: {kind: string; reason: string}[]};
    warnings?: string[];
    rests_text?: string;
    percent_of_bound?: number;
    time_s?: number;
    machine?: {cpu: string; n_cores: number; copy_bytes_per_s?: number; flops_per_s?: number; peak_flops_per_s?: number; flops_unit?: string};
    rests_on?: {bound_unit?: string};
    looks?: Look[];
    profile?: Profile;
}

/* What the compiler made of one kernel of a version, and of the version: of its first report. */
export interface Kernel { name: string; registers?: number; shared_bytes?: number; spill_store_bytes?: number; spill_load_bytes?: number; frame_bytes?: number; max_threads?: number }
export interface Build { compiler?: string; object_bytes?: number; code?: string; kernels?: Kernel[]; plans?: string[] /* a workload */ }
export interface Version { report?: {build?: Build; profile?: Profile} }

/* What kernel_compile answers. */
export interface Compiled { summary?: string; kernels?: Kernel[]; assembly?: string; assembly_of?: string; assembly_note?: string }

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
    name?: string;
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
export const tierOf = (m: {tier?: string}): string => (m.tier === "confirm" ? "confirmation" : m.tier === "screen" ? "short look" : m.tier === "decide" ? "longer look" : m.tier || "");

/* Steps that became the best so far, with that value. */
export function waysUp(steps: readonly Step[]): [Step, number][] {
    const out: [Step, number][] = [];
    let best = -Infinity;
    for (const s of steps)
        if (s.kind !== "confirm" && Number.isFinite(s.value_log2) && s.value_log2! > best) out.push([s, (best = s.value_log2!)]);
    return out;
}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The CUDA target without a GPU: jobs through one warm hone-runner whose driver and NVRTC are the emulator's. Bad candidates get
# the right verdict, their clean twins (the same file with CHEAT 0) pass (some here; all in judge_emulated_test.sh), a fault in one job
# leaves the next unharmed; a sweep, a
# run, a profile; what works without a device. Task and wanted verdicts stand in the candidates' own heads.
# runs alone: a candidate that works ahead is told by times.
# tsan: no; confirmations do not come to their end in time.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
TMPDIR=$BUILD
export TMPDIR
. tests/e2e/lib.sh
RUNNER=$BUILD/hone-runner
needs_emulator
mkdir -p "$ROOT/calls" "$ROOT/cache"

# Sizes that a CPU can emulate.
mkdir -p "$ROOT/packs"
cp -r workspace/packs/softmax workspace/packs/sum workspace/packs/jacobi2d "$ROOT/packs/"
sed -i 's/"deterministic": false/"deterministic": true/' "$ROOT/packs/softmax/task.json"
printf '%s\n' '{"id": "s64x100", "target": "cuda", "axes": {"M": 64, "N": 100}}' \
    '{"id": "s33x257", "target": "cuda", "axes": {"M": 33, "N": 257}}' >"$ROOT/packs/softmax/workloads.jsonl"
printf '%s\n' '{"id": "s20k", "target": "cuda", "axes": {"N": 20001}}' >"$ROOT/packs/sum/workloads.jsonl"
printf '%s\n' '{"id": "s20x30t5", "target": "cuda", "axes": {"H": 20, "W": 30, "T": 5}}' >"$ROOT/packs/jacobi2d/workloads.jsonl"

job() { # job NAME TASK FILE STAGES TIER [POINTS]: its path
    call=$ROOT/calls/$1
    mkdir -p "$call/open"
    cp "$3" "$call/open/candidate.cu"
    cp "$ROOT/packs/$2/kernels/naive.cu" "$call/open/baseline.cu"
    printf '{"format":1,"id":"%s","target":"cuda","tier":"%s","stages":["%s"],"task_dir":"%s","arms":[{"name":"candidate","source":"candidate.cu","flags":[],"tunables":[]},{"name":"baseline","source":"baseline.cu","flags":[],"tunables":[]}],"points":[%s],"workloads":[],"n_hidden":%s,"n_threads":0,"budget_ms":300,"timeout_ms":120000,"call_timeout_ms":2000,"memory_bytes":0,"jail":"auto","allow_weak_jail":false,"cache_dir":"%s","machine_path":"%s","is_baseline_known_good":false}\n' \
        "$1" "$5" "$(echo "$4" | sed 's/,/","/g')" "$ROOT/packs/$2" "${6:-}" "$([ "$5" = confirm ] && echo 2 || echo 0)" \
        "$ROOT/cache" "$ROOT/machine.json" >"$call/job.json"
    echo "$call/job.json"
}

answer() { # answer NAME: verdict/reason
    echo "$(json_get verdict <"$ROOT/calls/$1/report.json")/$(json_get reason <"$ROOT/calls/$1/report.json")"
}

summary() {
    json_get summary <"$ROOT/calls/$1/report.json"
}

# A runner that stays: jobs go in by a pipe, its lines come out into a file.
mkfifo "$ROOT/jobs"
"$RUNNER" --warm <"$ROOT/jobs" >"$ROOT/lines" 2>"$ROOT/stderr" &
runner=$!
exec 7>"$ROOT/jobs"
run() { # run PATH: waits until it is done
    echo "$1" >&7
    for _ in $(seq 1200); do
        grep -F '"stage":"done"' "$ROOT/lines" 2>/dev/null | grep -qF "$1" && return 0
        kill -0 "$runner" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

is_timed() { case $1 in faster/* | same/* | slower/* | inconclusive/*) return 0 ;; *) return 1 ;; esac; }

all=build,smoke,verify,time
for task in softmax sum jacobi2d; do
    run "$(job "naive-$task" "$task" "$ROOT/packs/$task/kernels/naive.cu" $all decide)"
    is_timed "$(answer "naive-$task")"
    ok $? "$task: the naive kernel is right and timed" "$(answer "naive-$task"): $(summary "naive-$task")"
done

for name in infinite_loop reads_far nondeterministic works_ahead; do
    file=tests/adversaries/cuda/$name.cu
    want=$(sed -n 's/.*want: //p' "$file" | head -n 1)
    run "$(job "$name" softmax "$file" $all decide)"
    got=$(answer "$name")
    bad=1
    for w in $want; do [ "$got" = "$w" ] && bad=0; done
    ok $bad "$name is $want" "got $got: $(summary "$name")"
    sed 's/^#define CHEAT 1$/#define CHEAT 0/' "$file" >"$ROOT/clean.cu"
    run "$(job "$name-clean" softmax "$ROOT/clean.cu" build,smoke screen)"
    [ "$(answer "$name-clean")" = correct/correct ]
    ok $? "$name: the clean twin passes" "$(answer "$name-clean"): $(summary "$name-clean")"
done

# Of several kernels the one that crashes is named.
cat >"$ROOT/two.cu" <<'CU'
#include <stdint.h>
__global__ void first(const float *X, float *Y)
{
    Y[0] = X[0];
}
template <int AT> __global__ void second(const float *X, float *Y)
{
    Y[AT * (int64_t)(X[0] != 12345)] = 1;
}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    first<<<1, 1, 0, stream>>>(X, Y);
    second<1073741824><<<1, 1, 0, stream>>>(X, Y);
}
CU
run "$(job two softmax "$ROOT/two.cu" build,smoke screen)"
summary two | grep -q "kernel 'second<.*>' (launch 2 of 2, line 13): CUDA error 700 (an illegal memory access). fix: check bounds"
ok $? "of two kernels the one that crashes is named" "$(answer two): $(summary two)"

run "$(job screen softmax "$ROOT/packs/softmax/kernels/naive.cu" build,smoke,screen screen)"
[ "$(answer screen)" = screened/screened ]
ok $? "a screen" "$(answer screen): $(summary screen)"
run "$(job confirm softmax "$ROOT/packs/softmax/kernels/naive.cu" $all confirm)"
is_timed "$(answer confirm)"
ok $? "a confirmation with drawn sizes" "$(answer confirm): $(summary confirm)"
grep -q '"workload":"hidden-' "$ROOT/calls/confirm/report.json"
ok $? "which are checked" "$(summary confirm)"
run "$(job run softmax "$ROOT/packs/softmax/kernels/naive.cu" build,run decide)"
grep -q 'Y: 6400 elements, min' "$ROOT/calls/run/report.json"
ok $? "a run shows its outputs" "$(summary run)"
run "$(job profile softmax "$ROOT/packs/softmax/kernels/naive.cu" build,profile decide)"
grep -q '"profile":{' "$ROOT/calls/profile/report.json"
ok $? "a profile" "$(answer profile): $(summary profile)"
grep -q '"profile":{.*"workload":"s64x100"' "$ROOT/calls/profile/report.json" || grep -q '"profile":{.*"workload":"s33x257"' "$ROOT/calls/profile/report.json"
ok $? "it says which size it is of"

cat >"$ROOT/tuned.cu" <<'CU'
#pragma hone tune(ROWS: 8, 16, 32)
#include <stdint.h>
__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * ROWS + threadIdx.x;
    if (m >= M)
        return;
    float top = X[m * N], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, X[m * N + i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(X[m * N + i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = (ROWS == 16 ? 2 : 1) * expf(X[m * N + i] - top) / sum;
}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + ROWS - 1) / ROWS), ROWS, 0, stream>>>(X, Y, M, N);
}
CU
point() { printf '{"tunables":[{"name":"ROWS","value":%s}],"flags":[]}' "$1"; }
run "$(job sweep softmax "$ROOT/tuned.cu" build,smoke screen "$(point 8),$(point 16),$(point 32)")"
[ "$(answer sweep)" = correct/correct ]
ok $? "a sweep keeps a right setting" "$(answer sweep): $(summary sweep)"
grep -o '"reason":"[a-z_]*"' "$ROOT/calls/sweep/report.json" | tr '\n' ' ' >"$ROOT/reasons"
grep -q '"reason":"correct" "reason":"screened" "reason":"wrong_value" "reason":"screened"' "$ROOT/reasons"
ok $? "and tells how each setting fared" "$(cat "$ROOT/reasons")"
grep -q '"medians":\[{"workload":"s64x100","median_ns":[0-9.]*},{"workload":"s33x257"' "$ROOT/calls/sweep/report.json"
ok $? "its points have medians by workload"
grep -q '"reason":"wrong_value","detail":"Y\[' "$ROOT/calls/sweep/report.json"
ok $? "and what was wrong with one"
# Settings after the first are built ahead, in memory that goes with the next one.
sed -n 's/.*"points":\(\[.*\)/\1/p' "$ROOT/calls/sweep/report.json" | grep -o '"code":"[0-9a-f]\{16\}"' | sort -u >"$ROOT/codes"
[ "$(wc -l <"$ROOT/codes")" -eq 3 ]
ok $? "and has a word for each one's code" "$(cat "$ROOT/codes")"

exec 7>&-
wait "$runner"
ok $? "the warm runner ends with its input" "$(cat "$ROOT/stderr")"

# Without a device kernels are still compiled; what needs one says so.
mkdir -p "$ROOT/compiler"
cp "$HONE_CUDA_LIB"/libnvrtc.so.* "$ROOT/compiler/"
HONE_CUDA_LIB=$ROOT/compiler
if ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
    "$RUNNER" "$(job compiled softmax "$ROOT/packs/softmax/kernels/naive.cu" build decide)" >/dev/null 2>&1
    [ "$(answer compiled)" = built/built ]
    ok $? "without a driver a kernel can be compiled" "$(answer compiled): $(summary compiled)"
    "$RUNNER" "$(job nodevice softmax "$ROOT/packs/softmax/kernels/naive.cu" build,smoke decide)" >/dev/null 2>&1
    [ "$(answer nodevice)" = infra/infra ] && summary nodevice | grep -q 'no CUDA device.*fix:'
    ok $? "and checking one says what is missing" "$(answer nodevice): $(summary nodevice)"
fi
finish

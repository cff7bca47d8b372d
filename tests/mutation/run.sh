#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The mutation test: how many small mistakes in good kernels do the judge's correctness stages find?
#   tests/mutation/run.sh [-n COUNT] [-q] [-s SEED] [KERNEL...]
# KERNEL: workspace/packs/PACK/kernels/naive.c or .cu, or a tuned kernel tests/mutation/kernels/PACK.c or .cu; left out: all (of the
# naive ones those for the CPU). Each gives at most COUNT mutants (40), the same ones every time: operators take turns. -q: the quick part, COUNT 5.
# SEED (hex digits) changes the judge's secrets, which otherwise follow from the mutant.
# A mutant goes through build, smoke and verify of tier decide; what is alive then is equivalent when its object is the original's or
# when tests/mutation/equivalent.txt names it, else it has survived. Every original must pass. CUDA kernels run on the emulator with the sizes below.
# Last line: "N killed, N survived, N equivalent". Fails when a pack has a score below 95 %, or (not with -q, KERNEL) fewer than 30 mutants that count.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
count=40 seed=0 is_quick='' least=30
stages=$(echo "${HONE_MUTATION_STAGES:-build,smoke,verify}" | sed 's/,/","/g') # fewer: the test that this test can fail
while getopts n:qs: option; do
    case $option in
    n) count=$OPTARG ;;
    q) is_quick=1 count=5 least=0 ;;
    s) seed=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -gt 0 ]; then
    least=0
else
    set -- workspace/packs/*/kernels/naive.c tests/mutation/kernels/*.c
    [ -e "$BUILD/cuda_emulator/libcuda.so.1" ] && command -v g++ >/dev/null && set -- "$@" tests/mutation/kernels/*.cu
fi
HONE_CUDA_LIB=$BUILD/cuda_emulator
export HONE_CUDA_LIB
mkdir -p "$BUILD/mutation"
DIR=$(mktemp -d "$BUILD/mutation/run.XXXXXX") || exit 1
chmod 755 "$DIR"
trap 'rm -rf "$DIR"' EXIT
runners=
trap 'kill $runners 2>/dev/null; wait; exit 130' INT TERM
started=$(date +%s)

# CUDA sizes that a CPU can emulate; smoke and the drawn sizes follow from them.
cp -r workspace/packs "$DIR/packs"
small() { # small PACK LINE...
    pack=$1
    shift
    sed -i 's/, "draw": {"cpu": \[[0-9]*, [0-9]*\], "cuda": \[[0-9]*, [0-9]*\]}//' "$DIR/packs/$pack/task.json"
    printf '{"id": "cpu", "target": "cpu", %s}\n' "${1#*, }" >"$DIR/packs/$pack/workloads.jsonl"
    for line in "$@"; do
        printf '{"id": "%s", "target": "cuda", %s}\n' "${line%%,*}" "${line#*, }" >>"$DIR/packs/$pack/workloads.jsonl"
    done
}
cp -r "$DIR/packs" "$DIR/cuda-packs"
mv "$DIR/packs" "$DIR/cpu-packs" && mv "$DIR/cuda-packs" "$DIR/packs"
small matmul 'g64, "axes": {"M": 64, "N": 64, "K": 64}' 'g50x70x40, "axes": {"M": 50, "N": 70, "K": 40}'
small softmax 'g64x128, "axes": {"M": 64, "N": 128}' 'g33x257, "axes": {"M": 33, "N": 257}'
small rmsnorm 'g64x128, "axes": {"M": 64, "N": 128}' 'g33x257, "axes": {"M": 33, "N": 257}'
small transpose 'g64x96, "axes": {"M": 64, "N": 96}' 'g50x71, "axes": {"M": 50, "N": 71}'
small sum 'g16k, "axes": {"N": 16384}' 'g20k, "axes": {"N": 20001}'
small jacobi2d 'g32x48t4, "axes": {"H": 32, "W": 48, "T": 4}' 'g40x50t5, "axes": {"H": 40, "W": 50, "T": 5}'
mv "$DIR/packs" "$DIR/cuda-packs" && mv "$DIR/cpu-packs" "$DIR/packs"

job() { # job SOURCE NAME: a call folder; its path goes to the lists
    call=$DIR/calls/$2
    mkdir -p "$call/open"
    cp "$1" "$call/open/candidate$extension"
    cp "workspace/packs/$pack/kernels/naive$extension" "$call/open/baseline$extension"
    hex=$(printf '%s%s00000000000000000000000000000000' "$seed" "${2##*/}" | tr -dc 0-9a-f | cut -c 1-32)
    printf '{"format":1,"id":"%s","target":"%s","tier":"decide","stages":["%s"],"task_dir":"%s","arms":[{"name":"candidate","source":"candidate%s","flags":[],"tunables":[]},{"name":"baseline","source":"baseline%s","flags":[],"tunables":[]}],"points":[],"workloads":[],"n_hidden":0,"seed_hex":"%s","n_threads":0,"budget_ms":300,"timeout_ms":120000,"call_timeout_ms":%s,"memory_bytes":0,"jail":"auto","allow_weak_jail":false,"cache_dir":"%s","machine_path":"%s","is_baseline_known_good":true}\n' \
        "${2##*/}" "$target" "$stages" "$DIR/$folder/$pack" "$extension" "$extension" "$hex" "$timeout" "$DIR/cache" "$DIR/machine.json" >"$call/job.json"
    turn=$((1 - turn))
    echo "$call/job.json" >>"$DIR/jobs.$turn"
}

turn=0
: >"$DIR/mutants"
mkdir -p "$DIR/cache"
for kernel in "$@"; do
    extension=.${kernel##*.} target=cpu folder=packs timeout=3000
    [ "$extension" = .cu ] && target=cuda folder=cuda-packs timeout=15000
    pack=$(basename "$kernel" "$extension") name=tuned
    [ "$pack" = naive ] && pack=$(basename "$(dirname "$(dirname "$kernel")")") name=naive
    id=$pack/$target-$name
    mkdir -p "$DIR/sources/$id"
    "$BUILD/tests/mutation/mutate" -n "$count" "$kernel" "$DIR/sources/$id" >"$DIR/list" || exit 1
    "$BUILD/tests/mutation/mutate" -l "$kernel" | cut -d' ' -f1 >>"$DIR/known"
    job "$kernel" "$id/original"
    while read -r mutant rest; do
        job "$DIR/sources/$id/$mutant$extension" "$id/$mutant"
        echo "$pack $id $mutant $kernel $rest" >>"$DIR/mutants"
    done <"$DIR/list"
    echo "$pack $id original $kernel original" >>"$DIR/mutants"
done

# Two runners, each with every second job.
for turn in 0 1; do
    [ -e "$DIR/jobs.$turn" ] || continue
    "$BUILD/hone-runner" --warm <"$DIR/jobs.$turn" >"$DIR/lines.$turn" 2>>"$DIR/stderr" &
    runners="$runners $!"
done
wait

# The object as hone's compiler call makes it, without what names the file.
object() { # object SOURCE: its hash
    cp "$1" "$DIR/same.c"
    gcc -std=gnu17 -O3 -march=native -fPIC -fopenmp -falign-functions=64 -w -c "$DIR/same.c" -o "$DIR/same.o" || echo "$1"
    objcopy -O binary -j '.text*' -j '.rodata*' "$DIR/same.o" "$DIR/same.bin" && objdump -dr --no-show-raw-insn "$DIR/same.o" | sha256sum
    sha256sum <"$DIR/same.bin"
}

# One line a mutant: PACK KERNEL MUTANT WORD REASON OPERATOR LINE CHANGE
while read -r pack id mutant kernel rest; do
    report=$DIR/calls/$id/$mutant/report.json
    reason=$(grep -o '"reason":"[^"]*"' "$report" 2>/dev/null | head -n 1 | cut -d'"' -f4)
    stage=$(grep -o '"name":"[a-z_]*","status":"failed"' "$report" 2>/dev/null | head -n 1 | cut -d'"' -f4)
    word=$stage
    case $reason in
    compile | link | no_symbol) word=build ;;
    '' | infra | no_jail | cancelled | bad_task | bad_request) word=error ;;
    correct | built)
        word=survived
        if [ "$mutant" != original ]; then
            if grep -q "^$mutant " tests/mutation/equivalent.txt; then
                word=equivalent reason=listed
            elif [ "${kernel##*.}" = c ] && [ "$(object "$kernel")" = "$(object "$DIR/calls/$id/$mutant/open/candidate.c")" ]; then
                word=equivalent reason=same_object
            fi
        fi
        ;;
    esac
    echo "$pack $id $mutant ${word:-error} ${reason:-none} $rest"
done <"$DIR/mutants" >"$DIR/results"
cp "$DIR/results" "$BUILD/mutation/results"
bad=0
awk '$3 == "original" && $4 != "survived" { print "the original " $2 " does not pass: " $5 }' "$DIR/results"
grep -q ' original ' "$DIR/results" || bad=1
awk '$3 == "original" && $4 != "survived" { bad = 1 } END { exit bad }' "$DIR/results" || bad=1
grep -v ' original ' "$DIR/results" >"$DIR/counted"
awk '$4 == "error" { print "no verdict: " $0; bad = 1 } END { exit bad }' "$DIR/counted" || { bad=1; head -n 20 "$DIR/stderr"; }
grep ' survived ' "$DIR/counted"
if [ -z "$is_quick" ] && [ $least -gt 0 ]; then # a line for a mutant that no kernel gives any more
    grep -vE '^(#|$)' tests/mutation/equivalent.txt | while read -r mutant rest; do
        grep -qx "$mutant" "$DIR/known" || echo "equivalent.txt: no kernel has mutant $mutant any more ($rest)"
    done >"$DIR/stale"
    cat "$DIR/stale"
    [ -s "$DIR/stale" ] && bad=1
fi
awk -v least=$least '
    { n[$1]++; if ($4 == "survived" || $4 == "equivalent" || $4 == "build") c[$1 " " $4]++; else { killed[$1]++; at[$1 " " $4]++; why[$1 " " $5]++; stages[$4]; } if ($5 == "same_object") same[$1]++ }
    END {
        printf "%-18s %8s %12s %14s %8s %8s %8s %10s %7s\n", "pack", "mutants", "not compiled", "equivalent", "smoke", "verify", "other", "survived", "score"
        for (p in n) {
            alive = c[p " survived"] + 0; k = killed[p] + 0
            score = k + alive > 0 ? 100 * k / (k + alive) : 0
            smoke = at[p " smoke"] + 0; verify = at[p " verify"] + 0
            line = sprintf("%-18s %8d %12d %8d (%3d) %8d %8d %8d %10d %6.1f%%", p, n[p], c[p " build"], c[p " equivalent"], same[p], smoke, verify, k - smoke - verify, alive, score)
            print line | "sort"
            if (score < 95 || k + alive < least) bad = 1
        }
        close("sort")
        exit bad
    }' "$DIR/counted" || bad=1
awk '{ n[$4]++ } END { killed = NR - n["survived"] - n["equivalent"] - n["build"] - n["error"]
    printf "%d killed, %d survived, %d equivalent\n", killed, n["survived"], n["equivalent"] }' "$DIR/counted" >"$DIR/last"
echo "$(($(date +%s) - started)) s; each mutant's fate: $BUILD/mutation/results"
cat "$DIR/last"
exit $bad

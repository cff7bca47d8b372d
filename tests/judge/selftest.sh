#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test: every cheat below tests/adversaries must be caught with the verdict that its head names, its clean
# twin (the same file with CHEAT 0) must pass, and so must every honest kernel below tests/honest. `make check-judge`.
#
#   TARGET=cpu|cuda|all (all)   ONLY=glob of names (*)   JOBS=n at a time (processors)
#   QUICK=1: of what needs the clock only what says so (quick: yes); honest kernels are verified, not timed. QUICK=2: no subtle
#   cheat either.
#   SHARD=K/N: of N equal parts the K-th, from 0 on (0/1): for machines with many cores
#   PART=untimed|timed: only what needs no clock, or only what needs it (which takes the machine for itself)
#   KEEP=folder: job folders stay there
#
# CUDA: on the device that is there; without one on the emulator of the build tree, with sizes a CPU can emulate.
# HONE_CUDA_LIB names another driver.
#
# A candidate's head, lines of its first comment:
#   task: NAME               a pack of tests/judge/packs or workspace/packs
#   want: VERDICT/REASON[,REASON] [VERDICT/REASON...], or "not faster" (in a list: not_faster), or "harmless": it
#                            gains nothing and passes
#   cheat: NUMBER NAME       (honest: NUMBER NAME for honest kernels, which have no want)
#   strength: blatant|subtle
#   tier: confirm            decide when left out
#   workload: ID             the first one of the target when left out (QUICK, no clock: the one of tests/judge/quick_sizes);
#                            small for an emulated device
#   axes: {"N": 4000}        a size of its own
#   sizes: all               QUICK: needs the long sizes of the pack too, which the judge draws
#   never: TEXT              words of the cheat's that the report must not repeat
#   says: TEXT               words that the report must hold, and its twin's not; judged with the stage policy
#   pack: deterministic      judged with a copy of the pack that says so; also cold, lower_precision
#   needs: device            skipped on the emulator, which cannot run or show it; emulator: skipped on a device
#   open: WHY                a cheat that is known to be missed, and what stands against it; counted as missed
#   arm: parent              the file is the parent: judged is its clean twin, against the pack's naive kernel and the file.
#                            Wanted is then "parent lost" (/REASON,...: nothing is said against it, for that reason) or
#                            "parent not faster" (nothing, or not that the twin is faster); the twin's own verdict is good
#   record: yes              (arm: parent) the twin is judged alone first, and what it is found to be is the parent's record
#   quick: yes               among the few of these that run with QUICK
#   timed: yes               found only by the stage that times; such files are judged alone, with their twin. Follows
#                            from "not faster", suspicious and stateful, unless the head says "timed: no"
# A cheat that needs the clock is held against its clean twin as the baseline: what the twin's form gains or loses is not the cheat's.
# Cheats are judged without the stage "policy": one that hides from it has to be caught as well. Honest kernels go through it.
# What a file wants holds on a loaded machine too. A cheat whose comparison ended as inconclusive for the load of the machine
# gains nothing there and shows nothing: it is judged twice more, then counted as undecided.
# Prints a line for each file and last `N caught, N missed, N wrongly accused`, undecided ones before. Exit status 0: none
# missed, none accused.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")

# The heads of files: a line for each, words and values between tabs; each word's value is of the first line that has it.
heads() { # heads FILE...: FILE, kind (timed: needs the clock), then the values in the order of WORDS; empty ones are "-"
    awk -v words="$WORDS" '
        function tell(   i, row, kind) {
            kind = "untimed"
            if (value["want"] ~ /faster|suspicious|stateful/ || value["timed"] == "yes") kind = "timed"
            if (value["timed"] == "no") kind = "untimed"
            if (value["arm"] == "parent") kind = "timed"
            row = file "\t" kind
            for (i = 1; i <= n; i++) row = row "\t" (value[word[i]] == "" ? "-" : value[word[i]])
            print row
        }
        BEGIN { n = split(words, word, " ") }
        FNR == 1 { if (file != "") tell(); file = FILENAME; is_over = 0; for (i = 1; i <= n; i++) value[word[i]] = "" }
        is_over { next }
        /\*\// { is_over = 1; next }
        { for (i = 1; i <= n; i++) if (value[word[i]] == "" && match($0, ".*[ *]" word[i] ": *")) value[word[i]] = substr($0, RLENGTH + 1) }
        END { if (file != "") tell() }' "$@" </dev/null
}
WORDS='task want strength tier workload axes never says pack arm record quick timed needs open sizes'

read_head() { # read_head FILE: sets kind and a variable for each word
    IFS='	' read -r _ kind task want strength tier workload axes never says variant arm record quick timed needs open sizes <<END
$(heads "$1")
END
    for each in task want strength tier workload axes never says variant arm record quick timed needs open sizes; do
        eval "[ \"\$$each\" != - ] || $each="
    done
    task=${task%% *}
}

pack_of() { # pack_of NAME [VARIANT]: its folder
    packs=$ROOT/packs
    [ -z "${is_small:-}" ] || [ ! -e "$ROOT/small/$1" ] || packs=$ROOT/small
    case ${2:-} in
    '') echo "$packs/$1" ;;
    *)
        if [ ! -e "$packs/$1-$2/task.json" ]; then
            cp -r "$packs/$1" "$packs/$1-$2.$$"
            case $2 in
            deterministic) change='s/"deterministic": false/"deterministic": true/' ;;
            lower_precision) change='s/"allow_lower_precision": false/"allow_lower_precision": true/' ;;
            cold) change='s/"cache": "warm"/"cache": "cold"/' ;;
            *) change=unknown_variant ;;
            esac
            sed -i "$change" "$packs/$1-$2.$$/task.json"
            mv -T "$packs/$1-$2.$$" "$packs/$1-$2" 2>/dev/null || rm -rf "$packs/$1-$2.$$"
        fi
        echo "$packs/$1-$2"
        ;;
    esac
}

# judge NAME SUFFIX SOURCE TASK VARIANT TIER WORKLOAD STAGES: sets answer and took; $baseline: instead of the pack's
judge() {
    call=$ROOT/calls/$1
    pack=$(pack_of "$4" "$5")
    mkdir -p "$call/open"
    cp "$3" "$call/open/candidate.$2"
    if [ -n "$baseline" ]; then cp "$baseline" "$call/open/baseline.$2"; else cp "$pack/kernels/naive.$2" "$call/open/baseline.$2"; fi
    target=cpu
    [ "$2" = cu ] && target=cuda
    n_hidden=0
    [ "$6" = confirm ] && n_hidden=2
    workload=$7
    [ -n "$workload" ] || workload=$(awk -v target=$target '/"target"/ && $0 !~ "\"target\": *\"" target "\"" { next }
        { print }' "$pack/workloads.jsonl" | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | head -n 1)
    more=
    if [ -n "${parent:-}" ]; then
        cp "$parent" "$call/open/parent.$2"
        more=$(printf ',{"name":"parent","source":"parent.%s","flags":[],"tunables":[]%s}' "$2" "${known:-}")
    fi
    # Only what is wrong may hang. Threads of what is right wait long for one another where the cores have other work.
    patience=2000
    case $1 in *-clean | *-honest-* | *-record) patience=30000 ;; esac
    printf '{"format":1,"id":"%s","target":"%s","tier":"%s","stages":["%s"],"task_dir":"%s","arms":[{"name":"candidate","source":"candidate.%s","flags":[],"tunables":[]},{"name":"baseline","source":"baseline.%s","flags":[],"tunables":[]}%s],"points":[],"workloads":["%s"],"n_hidden":%s,"n_threads":0,"budget_ms":%s,"timeout_ms":120000,"call_timeout_ms":%s,"memory_bytes":0,"jail":"auto","allow_weak_jail":false,"cache_dir":"%s","machine_path":"%s","is_baseline_known_good":true}\n' \
        "$1" $target "$6" "$(echo "$8" | sed 's/,/","/g')" "$pack" "$2" "$2" "$more" "$workload" $n_hidden "$budget" $patience \
        "$ROOT/cache" "$ROOT/machine.json" >"$call/job.json"
    if [ $target = cuda ] && [ -n "${EMULATED:-}" ]; then sed -i 's/"call_timeout_ms":2000/"call_timeout_ms":5000/' "$call/job.json"; fi
    before=$(date +%s%N)
    if [ $target = cuda ]; then run_warm "$call/job.json"; else "$RUNNER" "$call/job.json" >/dev/null 2>"$call/stderr"; fi
    took=$((($(date +%s%N) - before) / 1000000))
    answer=none
    [ -s "$call/report.json" ] &&
        answer=$(sed -n 's/.*"reason":"\([a-z_]*\)","verdict":"\([a-z_]*\)","summary".*/\2\/\1/p' "$call/report.json")
    summary=$(json_get summary <"$call/report.json" 2>/dev/null)
    # The machine's fault says nothing about the candidate: once more.
    if [ "${answer%%/*}" = infra ] && [ "${9:-}" != again ]; then judge "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$8" again; fi
}

run_warm() { # run_warm JOB: by the runner that stays
    echo "$1" >&7
    for _ in $(seq 1500); do
        grep -F '"stage":"done"' "$LINES_OF" 2>/dev/null | grep -qF "$1" && return 0
        kill -0 "$runner" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

is_good() { case $1 in built/* | correct/* | screened/* | faster/* | same/* | slower/* | inconclusive/*) return 0 ;; *) return 1 ;; esac; }

is_wanted() { # is_wanted WANT ANSWER
    case $1 in
    "not faster") case $2 in same/* | slower/* | inconclusive/*) return 0 ;; *) return 1 ;; esac ;;
    harmless) is_good "$2" && return 0 ;;
    esac
    case $1+$2 in # wrong content that the checks happened not to have, found while timing
    *incorrect/wrong_value*+incorrect/stateful) return 0 ;;
    # and, of whoever is wrong when timed alone, the same bits from a process that starts afresh
    *incorrect/stateful*+incorrect/wrong_value) return 0 ;;
    esac
    for each in $1; do
        case $each in
        harmless) is_good "$2" && return 0 ;;
        not_faster) is_wanted "not faster" "$2" && return 0 ;;
        esac
        for reason in $(echo "${each#*/}" | tr , ' '); do
            [ "$2" = "${each%%/*}/$reason" ] && return 0
        done
    done
    return 1
}

# told_of STAGES: sets told, where it is kept that the program of the last call was found good in such a job. The report's word
# "code" stands for the program: same instructions, same constants, same imports.
told_of() {
    told=$ROOT/told/none
    code=$(json_get code <"$call/report.json" 2>/dev/null)
    [ -z "$code" ] || told=$ROOT/told/$(echo "$pack $workload ${tier:-decide} $1 $code" | tr '/ ' '+_')
}

# judge_twin NAME STAGES: like judge. With QUICK a program that was found good is not judged again in the same job: most twins
# are the textbook kernel. It is built, which tells.
judge_twin() {
    if [ -z "${QUICK:-}" ] || [ "$kind" = timed ] || [ -n "$says" ]; then
        judge "$1" "$suffix" "$twin" "$task" "$variant" "${tier:-decide}" "$workload" "$2"
        return
    fi
    judge "$1" "$suffix" "$twin" "$task" "$variant" "${tier:-decide}" "$workload" build
    is_good "$answer" || return
    told_of "$2"
    if [ -e "$told" ]; then
        read -r answer <"$told"
        return
    fi
    judge "$1" "$suffix" "$twin" "$task" "$variant" "${tier:-decide}" "$workload" "$2"
    keep_told
}

keep_told() {
    [ "$told" != "$ROOT/told/none" ] && is_good "$answer" || return 0
    echo "$answer" >"$told.$$" && mv "$told.$$" "$told"
}

parent_word() { # of the last call: what its report says of candidate against parent; lost/REASON: nothing, and why
    word=$(grep -o '"against":"parent"[^}]*"word":"[a-z]*"' "$call/report.json" 2>/dev/null | tail -n 1 | sed 's/.*"word":"//; s/"//')
    why=$(grep -o "nothing is said against arm 'parent': [a-z ]*" "$call/report.json" 2>/dev/null | head -n 1)
    case $why in
    '') echo "${word:-none}" ;;
    *'it ended with '*)
        why=$(grep -o "against arm 'parent': it ended with [a-z_]*" "$call/report.json" | head -n 1)
        echo "lost/${why##* }"
        ;;
    *) echo lost/slow ;;
    esac
}

is_parent_wanted() { # is_parent_wanted WANT WORD
    case $1+$2 in
    'parent lost+lost/'* | 'parent not faster+lost/'*) return 0 ;;
    'parent not faster+same' | 'parent not faster+slower' | 'parent not faster+inconclusive') return 0 ;;
    esac
    for reason in $(echo "${1#parent lost/}" | tr , ' '); do
        [ "$2" = "lost/$reason" ] && return 0
    done
    return 1
}

take_record() { # what the twin is found to be, alone: known
    parent='' known=''
    judge "$suffix-$name-record" "$suffix" "$twin" "$task" "$variant" "${tier:-decide}" "$workload" $stages
    device=$(sed -n 's/.*"machine":{"cpu":"\([^"]*\)".*/\1/p' "$call/report.json")
    row=$(sed -n 's/.*"workloads":\[{"id":"\([^"]*\)".*"ratios":\[{"against":"baseline",\("ratio":[^,]*,"low":[^,]*,"high":[^,]*\).*/"workload":"\1",\2/p' \
        "$call/report.json")
    threads=$(sed -n 's/.*"rests_on":{[^}]*"n_threads":\([0-9]*\).*/\1/p' "$call/report.json")
    known=$(printf ',"known_device":"%s","known_threads":%s,"known":[{%s}]' "$device" "${threads:-0}" "$row")
}

judge_parent() { # judge_parent NAME PARENT: the twin, with this file as its parent; sets said and why
    parent=$2
    judge "$1" "$suffix" "$twin" "$task" "$variant" "${tier:-decide}" "$workload" $stages
    said=$(parent_word)
    why="$summary $(grep -o "nothing is said against arm[^\"]*" "$call/report.json" | head -n 1)"
    parent=''
}

# one_parent FILE: a cheat in the parent's place, then its twin there; judged is the twin each time
one_parent() {
    stages=build,smoke,time twin=$ROOT/calls/$suffix-$name.clean baseline='' known='' word=missed first=$(date +%s%N)
    sed 's/^#define CHEAT 1$/#define CHEAT 0/' "$1" >"$twin"
    for tries in 1 2 3; do # a record as wide as the noise asks for more time
        [ "$record" != yes ] || take_record
        judge_parent "$suffix-$name" "$1"
        if is_good "$answer" && is_parent_wanted "$want" "$said"; then
            word=caught
            break
        fi
        [ "$record" = yes ] || [ "$answer" = inconclusive/loaded ] || break
        budget=$((3 * budget))
    done
    got="${answer#*/}, parent $said"
    [ "$answer" != inconclusive/loaded ] || [ $word = caught ] || word=undecided # too few calls for what comes later
    case $word in missed | undecided) line $word "$why" ;; esac
    known=''
    judge_parent "$suffix-$name-clean" "$twin"
    took=$((($(date +%s%N) - first) / 1000000))
    if cmp -s "$1" "$twin"; then said='no twin'; fi
    case $said in
    lost/* | none | 'no twin') accused=1 ;;
    *) if is_good "$answer"; then accused=''; else accused=1; fi ;;
    esac
    if [ -n "$accused" ]; then
        got="${answer#*/}, parent $said"
        line "accused (twin)" "$why"
    elif [ $word = caught ]; then
        line caught
    fi
}

line() { # line WORD SUMMARY: one row of the table
    printf '%-30s %-8s %-44s %-28s %6s  %s\n' "$name" "${strength:--}" "$want" "$got" "$took" "$1"
    echo "$1" | cut -d' ' -f1 >>"$ROOT/words"
    case $1 in caught* | passes* | skipped*) ;; *) echo "    $2" ;; esac
}

one() { # one FILE: its lines
    file=$1 is_small=
    suffix=${file##*.}
    name=$(basename "$file" ".$suffix")
    read_head "$file"
    [ -n "${EMULATED:-}" ] && [ "$suffix" = cu ] && [ -z "$axes" ] && workload=
    case $file in
    */honest/*) want='not rejected' strength=honest ;;
    */naive.*) want='not rejected' strength=honest task=$(basename "${file%/kernels/*}") name=naive_$task ;;
    esac
    if [ -n "${QUICK:-}" ] && [ "$kind$suffix" = untimedc ] && [ -z "$workload" ] && grep -q "^$task " tests/judge/quick_sizes; then
        workload=quick
        # An honest kernel is held against the long sizes as well: whom the judge accuses wrongly shows there.
        [ "$sizes" = all ] || [ "$strength" = honest ] || [ -n "$axes" ] || is_small=1
    fi
    if [ -n "$axes" ]; then # a pack of its own
        cp -r "$(pack_of "$task" "$variant")" "$ROOT/packs/$suffix-$name"
        target=cpu
        [ "$suffix" = cu ] && target=cuda
        printf '{"id": "own", "target": "%s", "axes": %s}\n' $target "$axes" >>"$ROOT/packs/$suffix-$name/workloads.jsonl"
        task=$suffix-$name variant='' workload=own
    fi
    case $strength in blatant | subtle | honest) ;; *) want= ;; esac
    if [ -z "$task" ] || [ -z "$want" ] || [ ! -d "$(pack_of "$task" "$variant")" ]; then
        got='bad head' took=0
        line missed "the head of $file lacks a task, what is wanted or its strength"
        return
    fi
    case $needs+$suffix+${EMULATED:-} in
    device+cu+1 | emulator+cu+)
        got="needs the $needs" took=0
        line skipped
        return
        ;;
    esac
    stages=build,smoke,verify,time
    if [ "$strength" = honest ]; then
        stages=build,policy,smoke,verify,time
        [ -z "${QUICK:-}" ] || stages=build,policy,smoke,verify
        [ -z "${QUICK:-}" ] || [ -z "${EMULATED:-}" ] || [ "$suffix" != cu ] || stages=build,policy,smoke
    fi
    [ -z "$says" ] || stages=build,policy,${stages#build,}
    budget=${BUDGET_MS:-1500}
    if [ "$arm" = parent ]; then
        one_parent "$file"
        return
    fi
    [ "$strength" = honest ] && budget=400
    twin=$ROOT/calls/$suffix-$name.clean
    call_name=$suffix-$name
    [ "$strength" != honest ] || call_name=$suffix-honest-$name
    sed 's/^#define CHEAT 1$/#define CHEAT 0/' "$file" >"$twin"
    baseline=
    [ "$strength" = honest ] || [ $kind = untimed ] || baseline=$twin
    judge "$call_name" "$suffix" "$file" "$task" "$variant" "${tier:-decide}" "$workload" $stages
    for tries in 1 2; do # "inconclusive" asks for more time
        if [ $kind = untimed ] || [ "$want" = "not faster" ] || [ "${answer%%/*}" != inconclusive ] || is_wanted "$want" "$answer"; then break; fi
        budget=$((3 * budget))
        judge "$call_name" "$suffix" "$file" "$task" "$variant" "${tier:-decide}" "$workload" $stages
    done
    # What is met by chance is met in most runs: the quick part, which runs with every change, looks twice.
    if [ -n "${QUICK:-}" ] && [ "$strength" = subtle ] && ! is_wanted "$want" "$answer"; then
        judge "$call_name" "$suffix" "$file" "$task" "$variant" "${tier:-decide}" "$workload" $stages
    fi
    for tries in 1 2; do # load hides what the clock would show
        if [ "$strength" = honest ] || [ "$answer" != inconclusive/loaded ] || is_wanted "$want" "$answer"; then break; fi
        judge "$call_name" "$suffix" "$file" "$task" "$variant" "${tier:-decide}" "$workload" $stages
    done
    budget=${BUDGET_MS:-1500}
    got=$answer
    if [ "$strength" = honest ]; then
        if is_good "$answer"; then line passes; else line "accused" "$summary"; fi
        told_of "$(echo $stages | sed 's/policy,//')" # a twin's stages are these without the policy
        keep_told
        return
    fi
    if is_wanted "$want" "$answer"; then word=caught; elif [ "$answer" = inconclusive/loaded ]; then word=undecided; else word=missed; fi
    why=$summary
    if [ -n "$never" ] && grep -qF "$never" "$ROOT/calls/$call_name/report.json"; then word=missed why="it says '$never': $summary"; fi
    if [ -n "$says" ] && ! grep -qF "$says" "$ROOT/calls/$call_name/report.json"; then word=missed why="it does not say '$says': $summary"; fi
    if [ -n "$says" ] || [ $kind = timed ]; then :; elif [ "$suffix" = cu ] && [ -n "${EMULATED:-}" ]; then stages=build,smoke; else stages=build,smoke,verify; fi
    first=$took baseline=
    judge_twin "$suffix-$name-clean" $stages
    took=$((first + took))
    if [ -n "$says" ] && grep -qF "$says" "$ROOT/calls/$suffix-$name-clean/report.json"; then answer=says summary="of the twin it says '$says'"; fi
    if cmp -s "$file" "$twin"; then
        answer='no twin' summary="$file has no line #define CHEAT 1"
    fi
    case $word in
    missed) line "missed${open:+ (open: $open)}" "$why" ;;
    undecided) line undecided "$why" ;;
    esac
    if ! is_good "$answer"; then
        got=$answer
        line "accused (twin)" "$summary"
    elif [ $word = caught ]; then
        line caught
    fi
}

if [ -n "${SELFTEST_ONE:-}" ]; then # what xargs below calls
    ROOT=$SELFTEST_ONE RUNNER=$BUILD/hone-runner
    json_get() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d'"' -f4; }
    one "$1" >"$ROOT/calls/$$.told"
    flock "$ROOT/words" cat "$ROOT/calls/$$.told"
    exit 0
fi

[ -w "$BUILD" ] && TMPDIR=${TMPDIR:-$BUILD} && export TMPDIR # the emulator's objects must not lie on a small /tmp
. tests/e2e/lib.sh
RUNNER=$BUILD/hone-runner
TARGET=${TARGET:-all}
ONLY=${ONLY:-*}
SHARD=${SHARD:-0/1}
[ -x "$RUNNER" ] || { echo "no $RUNNER: make first"; exit 2; }
chmod 755 "$ROOT"
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP/calls"
    ln -s "$(realpath "$KEEP/calls")" "$ROOT/calls"
fi
mkdir -p "$ROOT/calls" "$ROOT/cache" "$ROOT/packs" "$ROOT/told"
for pack in tests/judge/packs/*/ workspace/packs/*/; do
    [ -e "$pack/task.json" ] && [ ! -e "$ROOT/packs/$(basename "$pack")" ] && cp -r "$pack" "$ROOT/packs/"
done
: >"$ROOT/words"

# list TARGET SUFFIX: what is to be judged, in the lists untimed.SUFFIX and timed.SUFFIX
list() {
    : >"$ROOT/untimed.$2"
    : >"$ROOT/timed.$2"
    # Honest kernels first: what they are found to be holds for twins that are the same program.
    files=$(ls tests/honest/"$1"/*."$2" tests/judge/packs/*/kernels/naive."$2" workspace/packs/*/kernels/naive."$2" 2>/dev/null
        ls tests/adversaries/"$1"/*."$2" 2>/dev/null)
    [ -n "$files" ] || return 0
    # shellcheck disable=SC2086 # a list of names without blanks
    heads $files >"$ROOT/heads"
    while IFS='	' read -r file kind _ _ strength _ _ _ _ _ _ _ _ quick _; do
        shown=${file##*/}
        shown=${shown%."$2"}
        case $file in */naive.*) shown=${file%/kernels/*} shown=naive_${shown##*/} ;; esac
        # shellcheck disable=SC2254 # a pattern is meant
        case $shown in $ONLY) ;; *) continue ;; esac
        case $file in
        */adversaries/*)
            [ -z "${QUICK:-}" ] || [ "$kind" = untimed ] || [ "$quick" = yes ] || continue
            [ "${QUICK:-}" != 2 ] || [ "$kind" = timed ] || [ "$strength" = blatant ] || continue
            ;;
        *) if [ -n "${QUICK:-}" ]; then kind=untimed; else kind=timed; fi ;;
        esac
        case ${PART:-$kind} in "$kind") ;; *) continue ;; esac
        n_chosen=$((${n_chosen:-0} + 1))
        [ $((n_chosen % ${SHARD##*/})) = "${SHARD%%/*}" ] || continue
        echo "$file" >>"$ROOT/$kind.$2"
    done <"$ROOT/heads"
}

# with_runner NAME FILE...: one after the other, by a warm runner of its own
with_runner() {
    LINES_OF=$ROOT/workers/$1.lines
    shift
    mkfifo "$LINES_OF.jobs"
    "$RUNNER" --warm <"$LINES_OF.jobs" >"$LINES_OF" 2>"$LINES_OF.stderr" &
    runner=$!
    exec 7>"$LINES_OF.jobs"
    for file in "$@"; do
        one "$file" >"$LINES_OF.told"
        flock "$ROOT/words" cat "$LINES_OF.told"
    done
    exec 7>&-
    wait "$runner" || { echo "the warm runner ended with status $?"; echo missed >>"$ROOT/words"; }
}

started=$(date +%s)
case $TARGET in cpu | all)
    printf '== cpu, %s processors\n' "$(nproc)"
    if [ -n "${QUICK:-}" ]; then # what needs no clock needs no size that can be timed
        while read -r pack size; do echo "$size" >>"$ROOT/packs/$pack/workloads.jsonl"; done <tests/judge/quick_sizes
        mkdir "$ROOT/small" # most cheats show on any size, and the oracle takes most of a check's time
        for pack in attention_causal jacobi2d masked_scores matmul rmsnorm softmax transpose; do
            cp -r "$ROOT/packs/$pack" "$ROOT/small/"
            shrink_pack "$ROOT/small/$pack"
        done
    fi
    list cpu c
    SELFTEST_ONE=$ROOT HONE_BUILD=$BUILD xargs -r -n 1 -P "${JOBS:-$(nproc)}" "$0" <"$ROOT/untimed.c"
    while read -r file; do one "$file" </dev/null; done <"$ROOT/timed.c"
    ;;
esac

case $TARGET in cuda | all)
    EMULATED=
    if [ -z "${HONE_CUDA_LIB:-}" ] && [ ! -e /dev/nvidiactl ]; then
        HONE_CUDA_LIB=$BUILD/cuda_emulator
        export HONE_CUDA_LIB
    fi
    case ${HONE_CUDA_LIB:-} in *cuda_emulator*) EMULATED=1 ;; esac
    if [ -n "$EMULATED" ] && { [ ! -e "$HONE_CUDA_LIB/libcuda.so.1" ] || ! command -v g++ >/dev/null; }; then
        echo "== cuda: no device, and no emulator in $HONE_CUDA_LIB: skipped"
    else
        [ -z "$EMULATED" ] || export HONE_EMULATOR_PINNED=0x600000000000 # for who writes where the gate's words are
        printf '== cuda, %s\n' "$([ -n "$EMULATED" ] && echo emulated || echo "on the device")"
        if [ -n "$EMULATED" ]; then # sizes that a CPU can emulate
            while read -r pack size; do
                [ -d "$ROOT/packs/$pack" ] && echo "$size" >>"$ROOT/sizes.$pack"
            done <tests/judge/emulated_sizes
            for sizes in "$ROOT"/sizes.*; do cp "$sizes" "$ROOT/packs/${sizes##*/sizes.}/workloads.jsonl"; done
            # drawn ones and edges too
            sed -i 's/"max": 536870912/"max": 20001/; s/"max": [1-9][0-9]\{5,\}/"max": 3000/; s/\[1, [0-9]\{4,\}\]/[1, 400]/g' \
                "$ROOT"/packs/*/task.json
        fi
        mkdir "$ROOT/workers"
        list cuda cu
        n_workers=1 # one device: others' kernels would come between a wipe of shared memory and the candidate's
        [ -z "$EMULATED" ] || n_workers=${JOBS:-$(nproc)}
        for worker in $(seq "$n_workers"); do
            with_runner "$worker" $(awk -v n="$n_workers" -v k="$worker" 'NR % n == k % n' "$ROOT/untimed.cu") &
        done
        wait
        [ ! -s "$ROOT/timed.cu" ] || with_runner timed $(cat "$ROOT/timed.cu")
    fi
    ;;
esac

count() { grep -cx "$1" "$ROOT/words"; }
caught=$(count caught) missed=$(count missed) accused=$(count accused)
echo
[ "$((caught + missed + accused + $(count passes) + $(count undecided)))" -gt 0 ] || { echo "nothing was judged"; missed=1; }
echo "$(count passes) honest kernels passed; $(count skipped) skipped, which need another device; $(($(date +%s) - started)) s"
[ "$(count undecided)" = 0 ] || echo "$(count undecided) undecided: the machine was too loaded to compare times"
echo "$caught caught, $missed missed, $accused wrongly accused"
[ "$missed" = 0 ] && [ "$accused" = 0 ]

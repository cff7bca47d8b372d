#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A fixed sample of the mutation test (make check-mutation has all): small mistakes in two tuned kernels are found; a judge
# that let everything pass would be noticed; the mutator says the same every time.
# tsan: no; the kernels' calls come too late.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
TMPDIR=$BUILD
export TMPDIR
. tests/e2e/lib.sh
MUTATE=$BUILD/tests/mutation/mutate
[ -x "$MUTATE" ] || { echo "1..0 # SKIP no $MUTATE (make tests)"; exit 0; }

"$MUTATE" -l tests/mutation/kernels/matmul.c >"$ROOT/once" && "$MUTATE" -l tests/mutation/kernels/matmul.c | cmp -s - "$ROOT/once"
ok $? "the mutants of a source are always the same"
[ "$(cut -d' ' -f1 "$ROOT/once" | sort -u | wc -l)" = "$(wc -l <"$ROOT/once")" ] && [ "$(wc -l <"$ROOT/once")" -gt 100 ]
ok $? "many of them, each with a name of its own" "$(wc -l <"$ROOT/once")"
missing=
for operator in $("$MUTATE" -o | cut -d' ' -f1); do
    for kernel in workspace/packs/*/kernels/naive.c tests/mutation/kernels/*; do "$MUTATE" -l "$kernel"; done |
        cut -d' ' -f2 | grep -qx "$operator" || missing="$missing $operator"
done
[ -z "$missing" ]
ok $? "every operator has a mutant somewhere" "none of:$missing"
mkdir -p "$ROOT/some"
"$MUTATE" -n 7 tests/mutation/kernels/softmax.c "$ROOT/some" >"$ROOT/list"
[ "$(find "$ROOT/some" -name '*.c' | wc -l)" = 7 ] && [ "$(cut -d' ' -f2 "$ROOT/list" | sort -u | wc -l)" = 7 ]
ok $? "a sample takes operators in turns" "$(cat "$ROOT/list")"

HONE_BUILD=$BUILD tests/mutation/run.sh -q tests/mutation/kernels/matmul.c tests/mutation/kernels/rmsnorm.c tests/mutation/kernels/spmv_csr.c >"$ROOT/out" 2>&1
ok $? "a sample of mutants is found" "$(cat "$ROOT/out")"
tail -n 1 "$ROOT/out" | grep -qE '^1[0-9] killed, 0 survived, [0-9]+ equivalent$'
ok $? "and counted" "$(tail -n 1 "$ROOT/out")"

# The same sample when nothing is checked: the run must fail.
HONE_MUTATION_STAGES=build HONE_BUILD=$BUILD tests/mutation/run.sh -q tests/mutation/kernels/matmul.c >"$ROOT/out" 2>&1
[ $? != 0 ] && tail -n 1 "$ROOT/out" | grep -q '^0 killed, [1-9]'
ok $? "a judge that checks nothing fails the test" "$(tail -n 3 "$ROOT/out")"
finish

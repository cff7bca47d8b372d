#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The runner of tests: a test that fails, stops early, hangs or says nothing must be counted, one at a time and several.
. "$(dirname "$0")/lib.sh"
dir=$(mktemp -d "${TMPDIR:-/tmp}/hone-run.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

program() { # program NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1.sh"
    chmod +x "$dir/$1.sh"
}
program good 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
program bad 'echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1'
program short 'echo "ok 1 - a"; echo 1..2'
program silent 'exit 0'
program died 'echo "ok 1 - a"; kill -9 $$'
program hangs 'echo "ok 1 - a"; sleep 30'
program skipped 'echo "1..0 # SKIP no such device"; exit 77'
program part 'echo "# SKIP a part"; echo "# SKIP a part"; echo "ok 1 - a"; echo 1..1'
program first "# runs alone: waits for a mark that another leaves
for i in 1 2 3; do [ -e $dir/mark ] && break; sleep 0.1; done; [ -e $dir/mark ] && echo 'ok 1 - a'"
program second "sleep 0.2; touch $dir/mark; echo 'ok 1 - a'"

program long "# runs first: leaves the mark that another waits for
touch $dir/begun; echo 'ok 1 - a'"
program later "for i in \$(seq 15); do [ -e $dir/begun ] && break; sleep 0.1; done; [ -e $dir/begun ] && echo 'ok 1 - a'"

program known "touch $dir/begun; echo 'ok 1 - a'"

said() { # said WANTED STATUS OPTIONS NAME...: the last line and the exit status of a run of those programs
    want=$1 want_status=$2 options=$3
    shift 3
    for name in "$@"; do
        set -- "$@" "$dir/$name.sh"
        shift
    done
    # shellcheck disable=SC2086 # options
    out=$(HONE_BUILD=$dir RUN_TIMEOUT=2 tests/run $options "$@" 2>&1)
    status=$?
    [ "$(printf '%s\n' "$out" | tail -n 1)" = "$want" ] && [ $status -eq "$want_status" ] || printf '%s\n' "$out"
}
for options in "-j 1" "-j 3"; do
    verdict "run $options: good programs add up" "$(said '4 passed, 0 failed, 0 skipped' 0 "$options" good good)"
    verdict "run $options: a test that fails" "$(said '3 passed, 1 failed, 0 skipped' 1 "$options" good bad)"
    verdict "run $options: fewer tests than planned" "$(said '1 passed, 1 failed, 0 skipped' 1 "$options" short)"
    verdict "run $options: no test printed" "$(said '2 passed, 1 failed, 0 skipped' 1 "$options" silent good)"
    verdict "run $options: a program that dies" "$(said '1 passed, 1 failed, 0 skipped' 1 "$options" died)"
    verdict "run $options: a program that hangs" "$(said '3 passed, 1 failed, 0 skipped' 1 "$options" hangs good)"
    verdict "run $options: a program that is not there" "$(said '2 passed, 1 failed, 0 skipped' 1 "$options" absent good)"
    verdict "run $options: skips are counted" "$(said '3 passed, 0 failed, 2 skipped' 0 "$options" skipped part good)"
    verdict "run $options: nothing but skips is a failure" "$(said '0 passed, 0 failed, 1 skipped' 1 "$options" skipped)"
done
verdict "run: why it was skipped" "$(HONE_BUILD=$dir tests/run "$dir/skipped.sh" | grep -q 'skipped.sh: SKIP no such device' || echo 'not told')"
verdict "run: who runs alone comes last" "$(said '2 passed, 0 failed, 0 skipped' 0 '-j 2' first second)"
verdict "run: who runs first starts first" "$(said '3 passed, 0 failed, 0 skipped' 0 '-j 2' later later long)"
rm "$dir/begun" "$dir/test-times"
verdict "run: times are kept" "$(said '1 passed, 0 failed, 0 skipped' 0 '-j 2' known; grep -q "^[0-9]* $dir/known.sh\$" "$dir/test-times" || echo none)"
echo "900000 $dir/known.sh" >"$dir/test-times"
rm "$dir/begun"
verdict "run: who took longest last time starts first" "$(said '3 passed, 0 failed, 0 skipped' 0 '-j 2' later later known)"
finish

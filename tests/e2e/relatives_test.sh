#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every rule at every place of mechanical relatives of C kernels keeps their answer; a version that does not is seen.
# (sanitizers: no: runtime.o goes into programs that gcc builds without them.)
. "$(dirname "$0")/lib.sh"
relatives() { DIR=$ROOT tests/relatives/run.sh "$@" >"$ROOT/out" 2>&1; }
FILES= relatives -n 0
ok $? "every rule keeps the answer of what once went wrong" "$(grep -v '^1\.\.' "$ROOT/out" | sed 's/^/# /')"
FILES= relatives -n 30 -f -O0 -c 0
ok $? "and of 30 relatives" "$(grep -v '^1\.\.' "$ROOT/out" | sed 's/^/# /')"
FILES=tests/relatives/cpu/floyd.c relatives -n 0 -x -c 0
[ $? -eq 1 ] && grep -q '^# floyd: spoiled_threads *wrong' "$ROOT/out" && grep -q '^# floyd: spoiled_bound *wrong' "$ROOT/out"
ok $? "a loop threaded against its order and a bound one too far are seen" "$(tail -n 40 "$ROOT/out" | grep -v '^1\.\.' | sed 's/^/# /')"
[ "$("$HONE_BUILD/tests/relatives/relatives" -p -n 64 | cksum)" = "$("$HONE_BUILD/tests/relatives/relatives" -p -n 64 | cksum)" ]
ok $? "the same seed gives the same relatives" ""
finish

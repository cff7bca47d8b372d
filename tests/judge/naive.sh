#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How many of the CPU cheats an evaluator of the usual kind accepts (naive_check.c): one size, one public seed, one comparison within
# 1e-2, then warm repeats on the same inputs that nobody looks at. `make judge-naive`. Cheats on the machine (D3, D5, D6, D11) and those
# that read hone's own page are not run: an evaluator without a jail would not come to its end, or has no such page.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${HONE_BUILD:-build}")
. tests/e2e/lib.sh
chmod 755 "$ROOT"
n_accepted=0 n_rejected=0 n_left=0
word_of() { sed -n "/\*\//q; s/^.*[ *]$2: *//p" "$1" | head -n 1; }
build() { timeout 30 "${CC:-gcc}" -std=gnu17 -O3 -march=native -fopenmp -fPIC -shared -w -o "$2" "$1" -lm 2>/dev/null; }
for file in tests/adversaries/cpu/*.c; do
    name=$(basename "$file" .c) task=$(word_of "$file" task)
    [ -z "${ONLY:-}" ] || [ "$name" = "$ONLY" ] || continue
    [ "$(word_of "$file" arm)" != parent ] || continue # it knows no parents
    answer=
    case $(word_of "$file" cheat) in D3* | D5* | D6* | D11*) answer="not run" ;; esac
    grep -q '^struct page' "$file" && answer="not run"
    if [ -z "$answer" ]; then
        rm -rf "$ROOT/work"
        mkdir "$ROOT/work"
        pack=workspace/packs/$task
        [ -d "$pack" ] || pack=tests/judge/packs/$task
        cp -r "$pack" "$ROOT/work/pack"
        cp "$BUILD/tests/judge/naive_check" "$ROOT/work/"
        build "$pack/kernels/naive.c" "$ROOT/work/baseline.so"
        answer="rejected does not compile"
        build "$file" "$ROOT/work/candidate.so" && answer=$("$ROOT/work/naive_check" "$ROOT/work" "$task")
    fi
    case $answer in
    accepted*) n_accepted=$((n_accepted + 1)) ;;
    rejected*) n_rejected=$((n_rejected + 1)) ;;
    *) n_left=$((n_left + 1)) ;;
    esac
    printf '%-30s %-8s %s\n' "$name" "$(word_of "$file" strength)" "$answer"
done
echo
echo "$n_accepted accepted, $n_rejected rejected, $n_left not run"

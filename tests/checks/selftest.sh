#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each check must be able to fail: plants one violation at a time in a small copy of the tree and looks for its name.
. "$(dirname "$0")/lib.sh"
copy=$(mktemp -d "${TMPDIR:-/tmp}/hone-selftest.XXXXXX") || exit 1
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/workspace" "$copy/tests" "$copy/server" "$copy/build/obj/workspace/base"
cp -r workspace/base "$copy/workspace/"
cp -r tests/checks "$copy/tests/"
cp .clang-format "$copy/"
mkdir "$copy/.ci" && cp .ci/clang-format "$copy/.ci/"

p=$copy/planted
# plant CHECK FILE EXPECTED: puts $p in as FILE; the check must fail and name EXPECTED.
plant() {
    mv "$p" "$copy/$2"
    out=$(cd "$copy" && CHECK_ROOT=$copy HONE_BUILD=$copy/build sh "tests/checks/$1.sh" 2>&1)
    status=$?
    rm -f "$copy/$2"
    if [ $status -eq 77 ]; then
        n_tests=$((n_tests + 1))
        echo "ok $n_tests - $1 sees $3 # SKIP its tool is missing"
    elif [ $status -eq 0 ]; then
        verdict "$1 sees $3" "exit status 0 with $3 planted in $2"
    else
        verdict "$1 sees $3" "$(printf '%s\n' "$out" | grep -q -- "$3" || printf '%s\n' "$out")"
    fi
}
lines() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) print text }'; }

# Without a plant every check passes on the copy (its objects are planted too).
printf 'const int hone_fine = 1;\n' | gcc -x c -c - -o "$copy/build/fine.o"
for f in "$copy"/workspace/base/*.c; do cp "$copy/build/fine.o" "$copy/build/obj/workspace/base/$(basename "$f" .c).o"; done
gcc -std=gnu17 -D_GNU_SOURCE -I. -c workspace/base/log.c -o "$copy/build/obj/workspace/base/log.o" # has an allowed global
for check in layers headers lengths format banned standalone globals papers words scripts; do
    out=$(cd "$copy" && CHECK_ROOT=$copy HONE_BUILD=$copy/build sh "tests/checks/$check.sh" 2>&1)
    status=$?
    [ $status -eq 77 ] && status=0
    verdict "$check accepts a good tree" "$([ $status -eq 0 ] || printf '%s\n' "$out")"
done

printf '#include "server/rpc/app.h"\n' >"$p"; plant layers workspace/base/upward.c "upward.c"
printf '#include "json.h"\n' >"$p"; plant layers workspace/base/local.c "local.c"
printf '#include <cjson/cJSON.h>\n' >"$p"; plant layers server/foreign.c "foreign.c"
printf '#include <git2.h>\n' >"$p"; plant layers workspace/base/shown.h "shown.h"
printf 'struct stranger *hone_f(int64_t x);\n' >"$p"; plant headers workspace/base/lonely.h "lonely.h"
printf 'int hone_g(void);\n' >"$p"; plant headers workspace/base/unguarded.h "unguarded.h"
lines 801 '' >"$p"; plant lengths workspace/base/long_file.c "long_file.c"
{ printf 'void endless(void)\n{\n'; lines 99 '    ;'; printf '}\n'; } >"$p"; plant lengths workspace/base/long.c "long.c:endless"
mkdir "$copy/server/full" && for i in $(seq 45); do : >"$copy/server/full/f$i.c"; done
: >"$p"; plant lengths server/full/one_more.c "server/full holds 46"
rm -r "$copy/server/full"
printf '#!/bin/sh\n' >"$p"; plant scripts tests/started.sh "started.sh: chmod"
printf '#!/bin/sh\nif\n' >"$p"; chmod +x "$p"; plant scripts tests/cut.sh "cut.sh"
printf 'int  x;\n' >"$p"; plant format workspace/base/ugly.c "ugly.c"
printf 'int x; \n' >"$p"; plant format workspace/base/blank.c "blank.c:1"
printf 'void f(char *p) { strcpy(p, "x"); }\n' >"$p"; plant banned workspace/base/banned.c "banned.c:1"
printf 'void *f(void) { return dlopen("x", 0); }\n' >"$p"; plant banned workspace/base/loads.c "loads.c:1"
printf 'int x; // no\n' >"$p"; plant banned workspace/base/slashes.c "slashes.c:1"
printf '/* %s: later */\n' "TO""DO" >"$p"; plant standalone workspace/base/later.c "later.c:1"
printf 'see ../%s/x\n' shared >"$p"; plant standalone notes.md "notes.md:1"
printf 'key = "sk-%s-abcdefabcdefabcdef"\n' ant >"$p"; plant standalone keys.md "keys.md:1"

lines 1 "$(lines 21 'word ' | tr -d '\n')" >"$p"; plant papers wide.md "wide.md:1"
{ printf '| a | b |\n|---|---|\n| x | '; lines 61 'cell ' | tr -d '\n'; printf '|\n'; } >"$p"; plant papers cell.md "cell.md:3"
printf 'see [there](nowhere.md)\n' >"$p"; plant papers link.md "nowhere.md"
printf '# One\n\nsee [two](#two)\n' >"$p"; plant papers anchor.md "#two"
printf '/* docs/%s.md says more */\n' nothing >"$p"; plant papers workspace/base/names.c "docs/nothing.md"
{ printf '#include <stdio.h>\n'; lines 200 'int f(void);'; } >"$p"; plant papers workspace/base/headless.c "headless.c"
printf '/* one line of text that is as long as a line can be\n */\n' >"$p"; plant papers workspace/base/odd.h "odd.h:2"
printf '/* rows:\n *\n *   - one thing; - another thing; - a third\n */\n' >"$p"; plant papers workspace/base/rows.h "rows.h:3"
printf 'static int quiet_%s;\n' look >"$p"; plant words workspace/base/old.c "probe"
mkdir -p "$copy/docs"
{ printf '| word | meaning |\n|---|---|\n'; seq -f 'w%03g' 73 | sed 's/.*/| & | m |/'; } >"$p"; plant words docs/glossary.md "it has 73"
printf '| word | meaning |\n|---|---|\n| b | m |\n| a | m |\n' >"$p"; plant words docs/glossary.md "in order"
mkdir -p "$copy/agents/search"
printf '    [HONE_STOP_BORED] = "bored",\n' >"$p"; plant words agents/search/budget.c "stop reason bored"

printf 'int lonely(void);\nint lonely(void) { return 1; }\n' >"$p"
gcc -x c -c "$p" -o "$copy/build/obj/workspace/base/alone.o"
plant exports workspace/base/alone.c "alone.c: lonely has no caller"

# Objects: a static counter, a tentative definition and a function's static must show, a const table must not.
globals() { # source expected
    printf '%s\n' "$1" | gcc -x c -fPIC -c - -o "$copy/build/obj/workspace/base/global.o" || return
    printf '/* source of the object */\n' >"$p"
    plant globals workspace/base/global.c "$2"
}
globals 'static int counter; int next(void); int next(void) { return ++counter; }' "counter is writable"
globals 'int f(void); int f(void) { static int hidden = 4; return hidden++; }' "hidden is writable"
globals 'char *names[] = {"a"};' "names is writable"
printf '/* never compiled */\n' >"$p"; plant globals workspace/base/unbuilt.c "unbuilt.o: not built"
printf 'const char *const names[] = {"a"};\n' | gcc -x c -fPIC -c - -o "$copy/build/obj/workspace/base/global.o"
touch "$copy/workspace/base/global.c"
verdict "globals accepts a const table of pointers" \
    "$(cd "$copy" && CHECK_ROOT=$copy HONE_BUILD=$copy/build sh tests/checks/globals.sh | grep '^not ok' || true)"
finish

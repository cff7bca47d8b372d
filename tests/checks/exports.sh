#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A function that other files can see has a caller (or a name in a table) in another file, of the product or of the tests.
# Fix: make it static, with its comment, or remove it. And each tool is in a set.
. "$(dirname "$0")/lib.sh"
objects=${HONE_BUILD:-build}/obj
command -v nm >/dev/null || skip_all "nm is missing (package binutils)"
[ -d "$objects" ] || skip_all "nothing is built in $objects"
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-exports.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Functions that are seen from outside of hone, by their names: main, and the CUDA runtime that the recorder stands in for.
outside='^(tools/runner/cuda/record/|.*: (main|LLVMFuzzer)$)'
files 'server/*.c' 'agents/*.c' 'tools/*.c' 'workspace/*.c' | grep -v '^workspace/packs/' | while read -r f; do
    o=$objects/${f%c}o
    [ -f "$o" ] && printf '%s\n' "$o"
done >"$work/objects"
# What no other object of the product refers to.
xargs nm -A <"$work/objects" 2>/dev/null | awk -v dir="$objects/" '
    { file = $1; sub(/:.*/, "", file); sub(/o$/, "c", file); file = substr(file, length(dir) + 1) }
    $(NF - 1) == "T" { where[$NF] = file }
    $(NF - 1) == "U" { is_used[$NF] = 1 }
    END { for (name in where) if (!(name in is_used)) print where[name] ": " name }' |
    grep -vE "$outside" | sort >"$work/alone"
# Tests, and product code that was built another way, count as callers: the words of all other files.
sed 's/.*: //' "$work/alone" >"$work/names"
files 'tests/*.c' 'tests/*.h' 'tests/*.cu' 'server/*.c' 'agents/*.c' 'tools/*.c' 'tools/*.cu' 'workspace/*.c' |
    xargs grep -owHF -f "$work/names" | sort -u >"$work/words"
list=$(while IFS= read -r row; do
    file=${row%%:*} name=${row##*: }
    awk -F: -v f="$file" -v n="$name" '$2 == n && $1 != f { found = 1 } END { exit !found }' "$work/words" || printf '%s\n' "$row"
done <"$work/alone")
extra=$(printf '%s\n' "$list" | while IFS= read -r row; do
    [ -z "$row" ] || echo "$row has no caller outside its file: make it static"
done)
verdict "each exported function has a caller outside its file" "$extra"

# A tool that is in no set is data that nothing reads: no client sees it.
apart=$(files 'tools/*.c' 'agents/*.c' | xargs sed -n 's/^const struct hone_tool \(hone_tool_[a-z_]*\) =.*/\1/p' | while read -r tool; do
    grep -qE "&$tool,|&$tool\$" tools/registry.c agents/tools/tools.c || echo "$tool is in no set of tools"
done)
verdict "each tool is in a set" "$apart"
finish

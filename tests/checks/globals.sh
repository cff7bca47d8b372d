#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No writable object of static storage, except the few below. Constant tables with pointers are fine (.data.rel.ro).
. "$(dirname "$0")/lib.sh"
objects=${HONE_BUILD:-build}/obj
command -v objdump >/dev/null || skip_all "objdump is missing (package binutils)"
[ -d "$objects" ] || skip_all "nothing is built in $objects"

# object file: symbols that may be writable, and why
allowed='
workspace/base/log.o: sink_level (the log sink)
tools/runner/arena/arena.o: handler_arena (read by the handler of a fault)
tools/runner/cuda/record/record_state.o: hone_recorder (functions of the CUDA runtime have no context argument)
tools/runner/jail/stopping.o: is_stopping (set by a signal handler)
'

sources=$(files 'server/*.c' 'agents/*.c' 'tools/*.c' 'workspace/*.c' | grep -v '^workspace/packs/' | sed 's/c$/o/')
# Names with a dot are made by compiler or sanitizer, except function statics (name.number).
list=$({
    printf '%s\n' "$sources" | while read -r o; do [ -f "$objects/$o" ] || echo "$o: not built"; done
    printf '%s\n' "$sources" | while read -r o; do [ ! -f "$objects/$o" ] || echo "$objects/$o"; done |
        xargs objdump -t | awk -v skip=$((${#objects} + 2)) '
        / +file format / { o = $1; sub(/:$/, "", o); o = substr(o, skip) }
        / O \.(data|bss|tdata|tbss)/ && !/\.data\.rel\.ro/ { name = $NF; sub(/\.[0-9]+$/, "", name); print o ": " name }
        / O \*COM\*/ { print o ": " $NF }' | grep -vE ': (__asan|__ubsan|__tsan|__gcov|__odr|\.L|_?ubsan|\*\.L)'
} | sort -u)
extra=$(printf '%s\n' "$list" | while read -r row; do
    [ -z "$row" ] && continue
    case $row in
    *": not built") printf '%s\n' "$row" ;;
    *) printf '%s\n' "$allowed" | grep -qF "$row " || printf '%s\n' "$row is writable: hang it off a context struct" ;;
    esac
done)
verdict "no writable global or static outside the allow-list" "$extra"
stale=$(printf '%s\n' "$allowed" | while read -r object symbol why; do
    [ -z "$object" ] || [ ! -f "$objects/${object%:}" ] || printf '%s\n' "$list" | grep -qxF "$object $symbol" ||
        echo "$object $symbol $why is not writable any more: remove its row"
done)
verdict "the allow-list is still needed" "$stale"
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A function has at most 100 lines, a file 800, a folder of the product 45 sources. The exceptions may
# only shrink.
. "$(dirname "$0")/lib.sh"
max_function=100 max_file=800 max_folder=45

# file or file:function, and its most lines
exceptions='
'
limit_of() { # name default
    printf '%s\n' "$exceptions" | awk -v name="$1" -v limit="$2" '$1 == name { limit = $2 } END { print limit }'
}

# A lattice template is 256 versions of a kernel in one text.
sources=$(files '*.c' '*.h' | grep -v '^tests/lattices/')
long_files=$(printf '%s\n' "$sources" | xargs wc -l | awk '$2 != "total" { print $2, $1 }' | while read -r f n; do
    [ "$n" -le $max_file ] || [ "$n" -le "$(limit_of "$f" $max_file)" ] || echo "$f has $n lines, at most $max_file"
done)
verdict "no file is longer than $max_file lines" "$long_files"

full=$(files 'server/*.[ch]' 'agents/*.[ch]' 'tools/*.[ch]' 'workspace/*.[ch]' | sed 's,/[^/]*$,,' | sort | uniq -c |
    awk '$1 > '$max_folder' { print $2 " holds " $1 " sources, at most '$max_folder': make a room of a part of them" }')
verdict "no folder of the product holds more than $max_folder sources" "$full"

if ctags --version 2>/dev/null | grep -q 'Universal Ctags'; then
    long_functions=$(printf '%s\n' "$sources" | ctags -f - --languages=C --langmap=C:.c.h --kinds-C=f \
        --fields=+ne -L - 2>/dev/null | awk -F'\t' '{
            line = 0; end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) line = substr($i, 6) + 0
                if ($i ~ /^end:/) end = substr($i, 5) + 0
            }
            if (end - line + 1 > '$max_function') print $2 ":" $1, end - line + 1
        }' | while read -r f n; do
        [ "$n" -le "$(limit_of "$f" $max_function)" ] || echo "$f has $n lines, at most $max_function"
    done)
    verdict "no function is longer than $max_function lines" "$long_functions"
else
    n_tests=$((n_tests + 1))
    echo "ok $n_tests - function lengths # SKIP universal-ctags is missing"
fi

stale=$(printf '%s\n' "$exceptions" | while read -r name limit; do
    [ -z "$name" ] && continue
    [ -f "${name%%:*}" ] || { echo "$name is gone: remove it from the exceptions"; continue; }
    case $name in
    *:*) continue ;;
    esac
    n=$(wc -l <"$name")
    [ "$n" -ge "$limit" ] || echo "$name has only $n lines now: lower its exception from $limit"
done)
verdict "the exceptions are still needed" "$stale"
finish

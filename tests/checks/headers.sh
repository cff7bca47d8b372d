#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone and has an include guard.
. "$(dirname "$0")/lib.sh"
cc=${CC:-gcc}
list=$(files 'server/*.h' 'agents/*.h' 'tools/*.h' 'workspace/*.h')
bad=$(printf '%s\n' "$list" | HONE_CC=$cc xargs -r -P 2 -n 16 sh -c 'for h; do
    printf "#include \"%s\"\n" "$h" |
        $HONE_CC -std=gnu17 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -fsyntax-only -x c - 2>&1 |
        head -n 3 | sed "s,^,$h: ,"
done' headers)
verdict "each header compiles alone" "$bad"
unguarded=$(printf '%s\n' "$list" | while read -r h; do
    [ -n "$h" ] || continue
    grep -qE '^#ifndef HONE_[A-Z0-9_]+_H$' "$h" || echo "$h has no include guard HONE_..._H"
done)
verdict "each header has a guard" "$unguarded"
finish

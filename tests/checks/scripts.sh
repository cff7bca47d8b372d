#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A script that names its interpreter can be started, and the shell can read it.
. "$(dirname "$0")/lib.sh"

scripts=$(files '*.sh' '.ci/*' 'tests/run' | while read -r f; do head -c 2 "$f" | grep -q '^#!' && echo "$f"; done)
verdict "a script with an interpreter in its first line can be started" \
    "$(printf '%s\n' "$scripts" | while read -r f; do [ -z "$f" ] || [ -x "$f" ] || echo "$f: chmod +x"; done)"
verdict "sh reads each script" "$(printf '%s\n' "$scripts" | while read -r f; do
    [ -z "$f" ] || ! head -n 1 "$f" | grep -q 'bin/sh' || sh -n "$f" 2>&1
done)"
finish

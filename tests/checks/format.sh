#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The sources are as clang-format leaves them.
. "$(dirname "$0")/lib.sh"
format=.ci/clang-format
why=$($format --version 2>&1)
[ $? -ne 77 ] || skip_all "$why"
# Candidates are data: they are what an agent wrote, not our code.
bad=$(files '*.c' '*.h' | grep -vE '^(workspace/packs/|tests/adversaries/|tests/mutation/kernels/|tests/lattices/|tests/data/)' |
    xargs -P 2 -n 20 $format --dry-run -Werror --ferror-limit=1 2>&1 | grep -E 'error:' | sed 's/: error.*//' | sort -u)
verdict "all sources are formatted (make format does it)" "$bad"
spaces=$(files '*.c' '*.h' '*.sh' '*.md' Makefile | xargs grep -nE '[[:space:]]+$' /dev/null | head -n 20)
verdict "no line ends in white space" "$spaces"
finish

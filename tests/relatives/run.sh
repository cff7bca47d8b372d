#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rules against relatives: the files of found/ and FILES (those by hand), then what the arguments ask of the generator.
# What failed stays in DIR ($HONE_BUILD/relatives).
build=${HONE_BUILD:-build}
cd "$(dirname "$0")/../.." || exit 1
mkdir -p "${DIR:=$build/relatives}" && folder=$(mktemp -d "$DIR/XXXXXX") || exit 1
"$build/tests/relatives/relatives" -r "$build/obj/tests/relatives/runtime.o" -d "$folder" "$@" \
    ${FILES-tests/relatives/cpu/*.c} $(ls tests/relatives/found/*.c 2>/dev/null)
status=$?
rmdir "$folder" 2>/dev/null
exit $status

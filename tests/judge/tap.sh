#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test as TAP: tap.sh TARGET [QUICK [PART]]
table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
TARGET=$1 QUICK=${2:-} PART=${3:-} "$(dirname "$0")/selftest.sh" >"$table" 2>&1
status=$?
awk -v status=$status -v target="$1" '
    /^[0-9]+ caught, / { print "# " $0; next }
    / (caught|passes)$/ { n++; print "ok " n " - " target ": " $0; next }
    / (missed|accused|accused \(twin\))$/ { n++; bad++; print "not ok " n " - " target ": " $0; next }
    { print "# " $0 }
    END { n++; print (status == 0 || bad ? "ok " : "not ok ") n " - " target ": the self-test comes to its end (" status ")"; print "1.." n }' "$table"

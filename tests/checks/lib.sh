# SPDX-License-Identifier: Apache-2.0
# Shared by the check scripts: TAP with one line per rule. Sourced, from the root of the tree.
# shellcheck shell=sh
root=${CHECK_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root" || exit 1
n_tests=0 n_failed=0

# verdict NAME TEXT: a rule is kept when TEXT (the violations) is empty.
verdict() {
    n_tests=$((n_tests + 1))
    if [ -z "$2" ]; then
        echo "ok $n_tests - $1"
    else
        n_failed=$((n_failed + 1))
        echo "not ok $n_tests - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 77
}

finish() {
    echo "1..$n_tests"
    [ "$n_failed" -eq 0 ]
    exit
}

# Tracked and new files that git does not ignore, those that exist; outside a repository all files. A * in a
# pattern also matches a slash, both ways.
files() {
    if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$root" ]; then
        git ls-files -co --exclude-standard -- "$@"
    else
        find . -path ./.git -prune -o -path './build*' -prune -o -type f -print | sed 's,^\./,,' | while read -r f; do
            for pattern in "$@"; do
                # shellcheck disable=SC2254 # a pattern, on purpose
                case $f in
                $pattern) printf '%s\n' "$f" ;;
                esac
            done
        done
    fi | sort -u | while read -r f; do [ -f "$f" ] && printf '%s\n' "$f"; done
}

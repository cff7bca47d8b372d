#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the pages that come from the program's own tables: docs/man/*.1, docs/reference/tools.md and
# docs/reference/strategies.md.
#   docs/generate.sh BUILD_DIR OUT_DIR
set -eu
build=$1
out=$2
hone=$build/hone
mkdir -p "$out/man" "$out/reference"

roff() { sed -e 's/\\/\\e/g' -e 's/^\./\\\&./' -e "s/^'/\\\\\&'/" -e 's/-/\\-/g'; }
block() { printf '.nf\n'; roff; printf '.fi\n'; }

{
    printf '.TH HONE 1 "" "hone" "User Commands"\n.SH NAME\nhone \\- tool server and search that make compute kernels fast\n'
    printf '.SH SYNOPSIS\n.B hone\n.I VERB\n[arguments]\n.SH VERBS\n'
    "$hone" --help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1 \2/p' | while read -r verb text; do
        printf '.SS %s\n' "$verb"
        "$hone" "$verb" --help </dev/null | block
    done
    printf '.SH ENVIRONMENT\n'
    "$hone" help environment | block
    printf '.SH EXIT STATUS\n'
    printf '0 done; 1 a fault or a bad verdict; 2 bad argument; 3 not found; 4 limit; 5 time limit; 6 cancelled; '
    printf '7 the system refused (disk, permissions); 9 device, compiler or runner; 10 not available here; 11 not allowed; '
    printf '12 held by another process; 13 already there; 14 stored data is damaged.\n'
    printf '.SH SEE ALSO\n.BR hone\\-runner (1),\n.BR git\\-log (1)\n'
} >"$out/man/hone.1"

{
    printf '.TH HONE\\-RUNNER 1 "" "hone" "User Commands"\n.SH NAME\nhone\\-runner \\- judges one job of hone\n.SH SYNOPSIS\n'
    "$build/hone-runner" --help | block
    printf '.SH DESCRIPTION\nReads CALL/job.json, builds and runs what CALL/open holds in a jail, and writes CALL/report.json. '
    printf 'hone starts it; by hand it reproduces a call. SIGTERM ends it and everything that it started.\n'
    printf '.SH SEE ALSO\n.BR hone (1)\n'
} >"$out/man/hone-runner.1"

{
    printf '# Tools\n\nGenerated from the tables by `make docs`. Every result starts with the same head; bad arguments and failed work are results, not protocol errors.\n'
    "$hone" tools --json | grep -o '"name":"[a-z_]*","title"' | cut -d'"' -f4 | while read -r tool; do
        printf '\n## %s\n\n```text\n' "$tool"
        "$hone" tools "$tool" | tail -n +3
        printf '```\n'
    done
} >"$out/reference/tools.md"

{
    printf '# Strategies\n\nGenerated from the catalogue by `make docs`; `hone help strategies` prints it.\n\n'
    printf 'The gain is what the catalogue expects over the version before, a guess that a search corrects.\n'
    printf '`hone steer NAME ban ID` and `favour ID` take an id.\n[planner.md](../planner.md) says which have a rule.\n\n'
    printf '| id | target | gain | what it does |\n|---|---|---|---|\n'
    "$hone" help strategies | sed -E 's/\|/\\|/g; s/^([^ ]+) +([^ ]+) +([^ ]+)  (.*)/| \1 | \2 | \3 | \4 |/'
} >"$out/reference/strategies.md"

# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of hone task import: a workspace without packs, and what the table $said of an import says. Sourced
# after lib.sh; skips without a Python with torch.
# shellcheck shell=sh
needs_torch
export HONE_WORKSPACE=$WS
"$HONE" init "$WS" --no-packs >/dev/null 2>&1 || exit 1

imported() { # imported FORM TASK...: these stand as imported in the table $said, and the lint admits them
    form=$1
    shift
    for task; do
        echo "$said" | grep -q "^imported .* $task\$"
        ok $? "$form: $task is imported" "$(echo "$said" | grep "$task")"
        lint=$("$HONE" task lint "$task" 2>&1)
        echo "$lint" | grep -q "^$task: admitted"
        ok $? "$form: $task is admitted" "$lint"
    done
}
refused() { # refused FORM FILE TEXT: the file stands as refused in the table $said, with the text
    echo "$said" | grep -q "^refused *[^ ]*$2 .*$3"
    ok $? "$1: $2 is refused: $3" "$(echo "$said" | grep "$2")"
}

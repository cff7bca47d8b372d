# SPDX-License-Identifier: Apache-2.0
# Shared by the shell tests: HONE (binary), WS (a fresh workspace, removed at exit), TAP counters.
HONE=${HONE:-${HONE_BUILD:-build}/hone}
HONE=$(realpath "$HONE")
ROOT=$(mktemp -d "${TMPDIR:-/tmp}/hone-test.XXXXXX")
WS=$ROOT/ws
trap 'rm -rf "$ROOT"' EXIT
TAP_N=0
TAP_BAD=0

ok() { # ok STATUS NAME [DETAIL]
    TAP_N=$((TAP_N + 1))
    if [ "$1" = 0 ]; then
        echo "ok $TAP_N - $2"
    else
        TAP_BAD=$((TAP_BAD + 1))
        echo "not ok $TAP_N - $2"
        [ -n "${3:-}" ] && printf '%s\n' "$3" | sed 's/^/# /'
    fi
}

finish() {
    echo "1..$TAP_N"
    [ "$TAP_BAD" = 0 ]
}

# Skips the test where hone finds no Python with torch.
needs_torch() {
    "$HONE" doctor 2>/dev/null | grep -q '^ok *torch .*Python' && return
    echo "1..0 # SKIP no Python with torch"
    exit 77
}

# Makes the emulator the CUDA driver and NVRTC of what follows; skips the test where it is not built or cannot compile. The jail's
# user has to reach $ROOT.
needs_emulator() {
    HONE_CUDA_LIB=$(dirname "$HONE")/cuda_emulator
    export HONE_CUDA_LIB
    [ -e "$HONE_CUDA_LIB/libcuda.so.1" ] || { echo "1..0 # SKIP no emulator in $HONE_CUDA_LIB"; exit 77; }
    command -v g++ >/dev/null || { echo "1..0 # SKIP the emulator needs g++"; exit 77; }
    chmod 755 "$ROOT"
}

# The text of a file as a JSON string.
json_text() {
    awk 'BEGIN { ORS = ""; print "\"" }
         { gsub(/\\/, "&&"); gsub(/"/, "\\\""); gsub(/\t/, "\\t"); print $0 "\\n" }
         END { print "\"" }' "$@"
}

# A string member of the first object that has it: json_get NAME < one-line JSON
json_get() {
    grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d'"' -f4
}

# shrink_pack FOLDER: of a pack in tests/judge/quick_sizes. Its one size, and those that the judge draws, become cheap to
# compute: for tests whose subject is neither time nor long sizes. The oracle at the shipped sizes takes most of a check.
shrink_pack() {
    sed -n "s/^$(basename "$1") //p" "$(dirname "$0")/../judge/quick_sizes" >"$1/workloads.jsonl"
    sed -i 's/\[1, [0-9]\{4,\}\]/[1, 400]/g; s/"max": [1-9][0-9]\{3,\}\([,}]\)/"max": 3000\1/' "$1/task.json"
}

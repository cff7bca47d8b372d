#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Calls that the product does not use: unbounded, not thread safe, hidden shells, silent on errors. Tests may.
. "$(dirname "$0")/lib.sh"

# Comments and string literals out, line numbers kept: file:line:code of each file in the list.
code_only() {
    xargs awk '
    FNR == 1 { in_comment = 0 }
    {
        out = ""; line = $0
        while (in_comment || match(line, /["\047]|\/[*\/]/)) {
            if (in_comment) {
                i = index(line, "*/")
                if (i == 0) { line = ""; break }
                line = substr(line, i + 2); in_comment = 0; continue
            }
            out = out substr(line, 1, RSTART - 1); two = substr(line, RSTART, 2); q = substr(two, 1, 1)
            line = substr(line, RSTART + 1)
            if (two == "/*") { line = substr(line, 2); in_comment = 1; continue }
            if (two == "//") { out = out "<slashes>"; line = ""; break }
            while (length(line) > 0 && substr(line, 1, 1) != q) line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2); out = out q q
        }
        print FILENAME ":" FNR ":" out line
    }'
}

banned='strcpy|strcat|strncat|sprintf|vsprintf|gets|strtok|system|popen|alloca|atoi|atol|atoll|atof|strncpy|tmpnam|mktemp|tempnam|vfork|localtime|gmtime|ctime|asctime|rand|srand|scanf|pthread_cancel|sleep|usleep|getwd|readdir_r'
sources=$(files 'server/*.[ch]' 'agents/*.[ch]' 'tools/*.[ch]' 'workspace/*.[ch]' 'tests/*.[ch]' |
    grep -vE '^(workspace/packs/|tests/adversaries/|tests/mutation/kernels/|tests/data/)')
code=$(printf '%s\n' "$sources" | code_only)
calls=$(printf '%s\n' "$code" | grep -v '^tests/' | grep -E "(^|[^A-Za-z0-9_.>])($banned) *\(")
verdict "no banned call ($(echo $banned | tr '|' ' '))" "$calls"
loaders='agents/source/c_parser.c|tools/runner/arena/arena.c|tools/runner/arena/oracle_role.c|tools/runner/cuda/driver/cuda_api.c|tools/runner/cuda/driver/cupti.c|tools/runner/cuda/record/record_role.c'
loads=$(printf '%s\n' "$code" | grep -E "(^|[^A-Za-z0-9_.>])dlm?open *\(" | grep -vE "^(tests/|($loaders):)")
verdict "only roles in the jail and owners of a library call dlopen: the judge loads nothing that it built" "$loads"
slashes=$(printf '%s\n' "$code" | grep '<slashes>')
verdict "comments are written /* */" "$slashes"
finish

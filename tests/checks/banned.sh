#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Calls that the product does not use: unbounded, not thread safe, hidden shells, silent on errors. Tests may.
. "$(dirname "$0")/lib.sh"

# Comments and string literals out, line numbers kept.
code_only() {
    awk '{
        out = ""; line = $0
        while (length(line) > 0) {
            if (in_comment) {
                i = index(line, "*/")
                if (i == 0) { line = ""; break }
                line = substr(line, i + 2); in_comment = 0; continue
            }
            c = substr(line, 1, 1); two = substr(line, 1, 2)
            if (two == "/*") { in_comment = 1; line = substr(line, 3); continue }
            if (two == "//") { out = out "<slashes>"; break }
            if (c == "\"" || c == "\047") {
                q = c; line = substr(line, 2)
                while (length(line) > 0 && substr(line, 1, 1) != q) line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
                line = substr(line, 2); out = out q q; continue
            }
            out = out c; line = substr(line, 2)
        }
        print FILENAME ":" FNR ":" out
    }' "$1"
}

banned='strcpy|strcat|strncat|sprintf|vsprintf|gets|strtok|system|popen|alloca|atoi|atol|atoll|atof|strncpy|tmpnam|mktemp|tempnam|vfork|localtime|gmtime|ctime|asctime|rand|srand|scanf|pthread_cancel|sleep|usleep|getwd|readdir_r'
sources=$(files 'server/*.[ch]' 'agents/*.[ch]' 'tools/*.[ch]' 'workspace/*.[ch]' 'tests/*.[ch]' |
    grep -vE '^(workspace/packs/|tests/adversaries/|tests/mutation/kernels/|tests/data/)')
code=$(for f in $sources; do code_only "$f"; done)
calls=$(printf '%s\n' "$code" | grep -v '^tests/' | grep -E "(^|[^A-Za-z0-9_.>])($banned) *\(")
verdict "no banned call ($(echo $banned | tr '|' ' '))" "$calls"
slashes=$(printf '%s\n' "$code" | grep '<slashes>')
verdict "comments are written /* */" "$slashes"
finish

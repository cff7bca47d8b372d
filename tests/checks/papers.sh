#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages: width, tables, links and anchors. Sources: heads, lists in comments, licence lines. Prompts for models are no pages.
. "$(dirname "$0")/lib.sh"
pages=$(files '*.md' | grep -vE '^tests/data/|^agents/coder/prompts/')

# Prose, headings, lists and code blocks of a page have at most 100 characters a line. Exceptions by rule: a row of a
# table (a cell has at most 300; results are records and free), a line that is one long word or link, and the generated reference/tools.md.
wide=$(printf '%s\n' "$pages" | grep -vxF docs/reference/tools.md | LC_ALL=C xargs awk '
    { gsub(/[\200-\277]/, "") } # what remains of a character in UTF-8 is one byte
    /^ *\|/ {
        if (FILENAME ~ /^docs\/results\//) next
        n = split($0, cell, "|")
        for (i = 2; i < n; i++) if (length(cell[i]) > 300) { print FILENAME ":" FNR " has a cell of " length(cell[i]) " characters"; next }
        next
    }
    length($0) > 100 {
        text = $0
        sub(/^[ >*-]+/, "", text)
        if (text ~ / /) print FILENAME ":" FNR " has " length($0) " characters"
    }')
verdict "lines of pages have at most 100 characters, cells of tables 300" "$wide"

# Every relative link names a file that is there; every anchor a heading of that page.
# In one pass over all pages: "anchor PAGE ANCHOR" of each heading, as GitHub makes them, "link PAGE FILE ANCHOR" of each link.
links=$(printf '%s\n' "$pages" | LC_ALL=C xargs awk '
    function anchor(text,   link) {
        sub(/^#+ +/, "", text)
        text = tolower(text)
        gsub(/`/, "", text)
        while (match(text, /\[[^]]*\]\([^)]*\)/)) {
            link = substr(text, RSTART + 1, RLENGTH - 1)
            sub(/\].*/, "", link)
            text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
        }
        gsub(/[^a-z0-9 _-]/, "", text)
        gsub(/ /, "-", text)
        return text
    }
    FNR == 1 { fence = 0; folder = FILENAME; if (!sub(/\/[^\/]*$/, "", folder)) folder = "." }
    /^ *```/ { fence = !fence; next }
    fence { next }
    /^#+ / { print "anchor\t" FILENAME "\t" anchor($0) }
    {
        gsub(/`[^`]*`/, "")
        while (match($0, /\]\([^) ]+\)/)) {
            link = substr($0, RSTART + 2, RLENGTH - 3)
            $0 = substr($0, RSTART + RLENGTH)
            if (link ~ /^[a-z]+:/) continue
            at = index(link, "#")
            file = at ? substr(link, 1, at - 1) : link
            print "link\t" FILENAME "\t" (file == "" ? FILENAME : folder "/" file) "\t" (at ? substr(link, at + 1) : "") "\t" link
        }
    }')
# What "." and ".." in a target stand for, so that it can be held against the names of pages.
broken=$(printf '%s\n' "$links" | awk -F '\t' '
    function plain(path,   part, n, i, out) {
        n = split(path, part, "/")
        for (i = 1; i <= n; i++) {
            if (part[i] == ".." && out ~ /[^\/]/) sub(/\/?[^\/]*$/, "", out)
            else if (part[i] != "." && part[i] != "") out = out == "" ? part[i] : out "/" part[i]
        }
        return out
    }
    $1 == "anchor" { has[$2 "#" $3] = 1 }
    $1 == "link" { n++; page[n] = $2; to[n] = plain($3); anchor[n] = $4; link[n] = $5 }
    END {
        for (i = 1; i <= n; i++)
            print (anchor[i] == "" || (to[i] "#" anchor[i]) in has ? "file" : "heading") "\t" page[i] "\t" to[i] "\t" link[i]
    }' | sort -u | while IFS='	' read -r what page target link; do
    if [ ! -e "$target" ]; then
        echo "$page links to $link, which is not there"
    elif [ "$what" = heading ]; then
        echo "$page links to $link, which has no such heading"
    fi
done)
verdict "relative links and anchors of pages resolve" "$broken"

# A page below docs/ that a source, script or message names is there.
named=$(files '*.[ch]' '*.sh' 'Makefile' '*.cu' | grep -v '^tests/checks/' |
    xargs grep -noE '\bdocs/[a-z0-9/_-]+\.(md|sh|1)\b' /dev/null | sort -u -t: -k3 | while IFS=: read -r file line page; do
    [ -e "$page" ] || echo "$file:$line names $page, which is not there"
done)
verdict "pages that sources name are there" "$named"

# The map names every page but those of decisions, results and examples, which it names as folders.
if [ -f docs/README.md ]; then
    unlisted=$(files 'docs/*.md' | grep -vE '^docs/(README.md|decisions/|results/|examples/)' | while read -r page; do
        grep -qF "](${page#docs/})" docs/README.md || echo "$page is not in docs/README.md"
    done)
    verdict "docs/README.md lists every page" "$unlisted"
fi

# A source of the product over 200 lines begins with what it does.
sources=$(files 'server/*.[ch]' 'agents/*.[ch]' 'tools/*.[ch]' 'workspace/*.[ch]' | grep -vE '^workspace/packs/')
headless=$(printf '%s\n' "$sources" | grep '\.c$' | xargs awk '
    function tell() { if (file != "" && lines > 200 && first !~ /^\/\*/) print file }
    FNR == 1 { tell(); file = FILENAME; first = "" }
    { lines = FNR }
    first == "" && !/SPDX-License/ { first = $0 }
    END { tell() }')
verdict "a source over 200 lines begins with a comment" "$headless"

# Comments in headers: a list's row ends where its line ends. Signs of a list that was run together, and of a line
# that a formatter broke: a row "- ..." behind other text, "*/" alone below text, a backslash within a comment.
garbled=$(printf '%s\n' "$sources" | grep '\.h$' | xargs awk '
    FNR == 1 { inside = 0; was = "" }
    /^\/\*/ { inside = 1 }
    inside && /^ \*\/$/ && was !~ /^(\/\*| \*)$/ { print FILENAME ":" FNR " ends a comment on a line of its own" }
    inside && /\\$/ { print FILENAME ":" FNR " goes on with a backslash" }
    inside && /^ \* +- [^ ]+.*[;.] - [a-z]/ { print FILENAME ":" FNR " runs two rows of a list together" }
    inside && /[^ ] {4,}"?[a-z_.*]+"? {4,}[^ ].* {4,}[^ ]/ && length($0) > 96 { print FILENAME ":" FNR " runs two rows of a list together" }
    /\*\// { inside = 0 }
    { was = $0 }')
verdict "lists in headers are not run together" "$garbled"

# First lines with the licence: on for a folder once its files have them.
licensed='server agents tools workspace tests'
bare=$(for folder in $licensed; do
    files "$folder/*.[ch]" "$folder/*.sh" | grep -vE '/packs/|^tests/(adversaries|honest|mutation/kernels|lattices|launchers|data|yardsticks)/'
done | xargs awk '
    FNR == 1 { if (file != "" && !has) print file; file = FILENAME; has = 0 }
    FNR <= 2 && /SPDX-License-Identifier: Apache-2\.0/ { has = 1 }
    FNR > 2 { nextfile }
    END { if (file != "" && !has) print file }')
verdict "sources name their licence (folders: ${licensed:-none yet})" "$bare"
finish

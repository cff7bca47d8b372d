#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages: width, tables, links and anchors. Sources: heads, lists in comments, licence lines. Prompts for models are no pages.
. "$(dirname "$0")/lib.sh"
pages=$(files '*.md' | grep -vE '^tests/data/|^agents/coder/prompts/')

# Prose, headings, lists and code blocks of a page have at most 100 characters a line. Exceptions by rule: a row of a
# table (a cell has at most 300; results are records and free), a line that is one long word or link, and the generated reference/tools.md.
wide_of() { # page: its lines that are too wide
    LC_ALL=C awk '
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
        }' "$1"
}
wide=$(for page in $pages; do
    [ "$page" = docs/reference/tools.md ] || wide_of "$page"
done)
verdict "lines of pages have at most 100 characters, cells of tables 300" "$wide"

# Every relative link names a file that is there; every anchor a heading of that page.
anchors_of() { # page: the anchors of its headings, as GitHub makes them
    awk '/^```/ { fence = !fence } !fence && /^#+ / { sub(/^#+ +/, ""); print }' "$1" | tr 'A-Z' 'a-z' |
        sed -e 's/`//g' -e 's/\[\([^]]*\)\]([^)]*)/\1/g' -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}
links_of() { # page: target of each relative link, code left out
    awk '/^ *```/ { fence = !fence; next } !fence' "$1" | sed 's/`[^`]*`//g' |
        grep -oE '\]\([^) ]+\)' | sed -e 's/^](//' -e 's/)$//' | grep -vE '^[a-z]+:' | sort -u
}
broken=$(for page in $pages; do
    folder=$(dirname "$page")
    links_of "$page" | while read -r link; do
        file=${link%%#*} anchor=
        case $link in *'#'*) anchor=${link#*#} ;; esac
        target=$page
        [ -z "$file" ] || target=$folder/$file
        if [ ! -e "$target" ]; then
            echo "$page links to $link, which is not there"
        elif [ -n "$anchor" ] && ! anchors_of "$target" | grep -qxF "$anchor"; then
            echo "$page links to $link, which has no such heading"
        fi
    done
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
headless=$(printf '%s\n' "$sources" | grep '\.c$' | while read -r file; do
    [ "$(wc -l <"$file")" -le 200 ] || grep -v SPDX-License "$file" | head -n 1 | grep -q '^/\*' || echo "$file"
done)
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
    files "$folder/*.[ch]" "$folder/*.sh" | grep -vE '/packs/|^tests/(adversaries|honest|mutation/kernels|lattices|launchers|data|yardsticks)/' |
        while read -r file; do
            head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
        done
done)
verdict "sources name their licence (folders: ${licensed:-none yet})" "$bare"
finish

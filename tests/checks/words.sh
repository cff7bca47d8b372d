#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One word for one thing: docs/glossary.md has the words, this check refuses those that were replaced.
. "$(dirname "$0")/lib.sh"

# A row: pattern (extended, whole words unless it says otherwise), most files that may still hold it, what to say
# instead. 0: the word is gone and stays gone. The other numbers may only shrink: a renaming lowers them. Patterns are
# narrow on purpose: words of plain English (look, place, way, room) cannot be told from their ordinary use.
retired='
quiet_look|near_look 0 probe
agents/data/|coder_rules/|agents/coder_[a-z]+\.[ch] 0 the_rooms_of_agents/
hone_standing|standing\.[ch]|hone_node_standing 0 best_measurement
footing 0 paired_value
news 0 novelty_bonus
tally|hone_tally[a-z_]* 0 usage
story|story_[a-z]+|hone_story[a-z_]* 0 report
dice|hone_dice[a-z_]* 0 random_stream
opinion|hone_opinion[a-z_]* 0 step_order
crafted|search_craft|hone_search_craft 0 implement_step
cards|hone_cards[a-z_]* 0 strategy_guide
is_kept|hone_keep[a-z_]* 0 snapshot_of_outputs
hone_end|hone_end_[a-z_]+ 0 outcome
hone_past|hone_tried[a-z_]*|hone_way[a-z_]* 0 history_context,_lineage
take_a_nap|nap 1 wait
hone_[a-z_]*promise|puct.*promise 0 lookahead_value
whoever 50 name_who_acts
'
texts=$(files '*.c' '*.h' '*.md' '*.sh' Makefile |
    grep -vE '^docs/(decisions|results)/|^docs/glossary.md|^CHANGELOG.md|^tests/checks/(words|selftest)\.sh|^agents/coder/prompts/|^tests/(data|lattices)/')
list=$(mktemp) || exit 1
printf '%s\n' "$texts" >"$list"
over=$(printf '%s\n' "$retired" | while read -r pattern most instead; do
    [ -n "$pattern" ] || continue
    found=$(xargs grep -lwiE -- "$pattern" /dev/null <"$list")
    n=$(printf '%s' "$found" | grep -c .)
    [ "$n" -le "$most" ] && continue
    echo "$n files, at most $most, hold '$pattern': say $(echo "$instead" | tr '_' ' ')"
    printf '%s\n' "$found" | head -n 5
done)
rm -f "$list"
verdict "words that were replaced do not come back" "$over"

if [ -f docs/glossary.md ]; then
    words=$(sed -n 's/^| *\([^|]*[^| ]\) *|.*/\1/p' docs/glossary.md | grep -vE '^(word|-+)$')
    verdict "the glossary has at most 72 words" \
        "$([ "$(printf '%s\n' "$words" | grep -c .)" -le 72 ] || echo "it has $(printf '%s\n' "$words" | grep -c .)")"
    verdict "the glossary has each word once, in order" \
        "$([ "$(printf '%s\n' "$words" | LC_ALL=C sort -fu)" = "$words" ] || echo "docs/glossary.md is not sorted")"
fi

# The page says in words why a search ended; a reason without words would be shown as its name.
mute=$(sed -n 's/^ *\[HONE_STOP_[A-Z_]*\] = "\([a-z_]*\)",$/\1/p' agents/search/budget.c 2>/dev/null | while read -r reason; do
    grep -qE "(^|[ {])$reason: \"" server/page/web/claims.ts || echo "server/page/web/claims.ts has no words for the stop reason $reason"
done)
verdict "every stop reason has its words on the page" "$mute"
finish

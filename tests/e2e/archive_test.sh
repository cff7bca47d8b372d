#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hone report --archive: a search that goes on from its records loses no cell. It may take other steps than one that
# never stopped: an evaluation that was killed counts, and priors are made from all that is known by then.
. "$(dirname "$0")/lib.sh"
printf '{"match":"void","delay_ms":200}\n' >"$ROOT/fake.jsonl"
search() { # search WORKSPACE
    "$HONE" search matmul --policy archive --workspace "$1" --executor fake --fake-script "$ROOT/fake.jsonl" \
        --budget-evaluations 12 >"$ROOT/said" 2>&1
}
archive() { # archive WORKSPACE: ids of commits name the time, so they are left out
    "$HONE" report matmul --archive --json --workspace "$1" 2>"$ROOT/stderr" | sed 's/"commit":"[^"]*",//g'
}
"$HONE" init "$ROOT/whole" >/dev/null 2>&1
"$HONE" init "$ROOT/parts" >/dev/null 2>&1
search "$ROOT/whole"
ok $? "a search with second starts" "$(tail -3 "$ROOT/said")"
archive "$ROOT/whole" >"$ROOT/a"
archive "$ROOT/whole" >"$ROOT/b"
grep -q '^{"axes":\["threads","vectors","loops","passes"\],"cells":\[{"cell":"threads ' "$ROOT/a" && cmp -s "$ROOT/a" "$ROOT/b"
ok $? "its archive, the same for the same records" "$(cat "$ROOT/a" "$ROOT/stderr")"
[ "$(grep -o '"cell":"[^"]*"' "$ROOT/a" | sort -u | wc -l)" = "$(grep -o '"cell":' "$ROOT/a" | wc -l)" ] && [ "$(grep -o '"cell":' "$ROOT/a" | wc -l)" -ge 3 ]
ok $? "one version for each cell" "$(cat "$ROOT/a")"
[ "$(grep -o '"is_best":true' "$ROOT/a" | wc -l)" = 1 ]
ok $? "the best stands in one" "$(cat "$ROOT/a")"
"$HONE" search matmul --policy archive --workspace "$ROOT/parts" --executor fake --fake-script "$ROOT/fake.jsonl" \
    --budget-evaluations 12 >"$ROOT/said" 2>&1 &
pid=$!
n=0
until [ "$(cat "$ROOT"/parts/.hone/ledger/* 2>/dev/null | grep -c '"type":"search.result"')" -ge 4 ] || [ $((n += 1)) -gt 600 ]; do
    sleep 0.05
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
archive "$ROOT/parts" >"$ROOT/c"
grep -q '"cell":' "$ROOT/c" && ! cmp -s "$ROOT/a" "$ROOT/c"
ok $? "a killed search has the archive of what it had tried" "$(cat "$ROOT/c")"
search "$ROOT/parts"
archive "$ROOT/parts" >"$ROOT/d"
for f in c d; do
    grep -o '"cell":"[^"]*"' "$ROOT/$f" | sort >"$ROOT/$f.cells"
done
[ -z "$(comm -23 "$ROOT/c.cells" "$ROOT/d.cells")" ] && ! cmp -s "$ROOT/c" "$ROOT/d"
ok $? "and gone on with, has those cells and more versions" "$(diff "$ROOT/c" "$ROOT/d")"
"$HONE" report matmul --archive --workspace "$ROOT/whole" | grep -q '(best)$'
ok $? "as a table"
"$HONE" report matmul --archive --svg "$ROOT/x.svg" --workspace "$ROOT/whole" 2>"$ROOT/stderr"
[ $? = 2 ] && grep -q 'goes with --json alone' "$ROOT/stderr"
ok $? "with other forms of a report it is refused" "$(cat "$ROOT/stderr")"
finish

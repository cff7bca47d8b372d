#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A search of a pack that lies outside of the workspace: it becomes a task there, as a commit; another pack of that name is refused.
. "$(dirname "$0")/lib.sh"
PACK=$(realpath "$(dirname "$0")/../agent/packs/conv2d_same")
"$HONE" init "$WS" >/dev/null
cap=3 # counts all rounds
search() { # search TASK OPTIONS...
    task=$1
    shift
    cap=$((cap + 2))
    "$HONE" search "$task" --workspace "$WS" --executor fake --budget-evaluations "$cap" --quiet "$@" >"$ROOT/out" 2>"$ROOT/err"
}
commits() { git -C "$WS" rev-list --count main; }

before=$(commits)
search "$PACK/" --json
ok $? "a folder is searched" "$(cat "$ROOT/err")"
[ "$(json_get task <"$ROOT/out")" = conv2d_same ] && [ "$(json_get name <"$ROOT/out")" = conv2d_same ]
ok $? "under its task's name" "$(cat "$ROOT/out")"
diff -r "$PACK" "$WS/tasks/conv2d_same" >"$ROOT/diff"
ok $? "the pack is in tasks/ as it was" "$(cat "$ROOT/diff")"
[ "$(commits)" = $((before + 1)) ] && [ "$(git -C "$WS" log -1 --format=%s main)" = 'workspace: Add task conv2d_same' ] && [ -z "$(git -C "$WS" status --porcelain)" ]
ok $? "and committed" "$(git -C "$WS" log --oneline main; git -C "$WS" status --porcelain)"
search "$PACK" && search conv2d_same && (cd "$WS/tasks" && search ./conv2d_same)
ok $? "again, by its name, and where it now lies" "$(cat "$ROOT/err")"
[ "$(commits)" = $((before + 1)) ]
ok $? "nothing was committed for that"
starts=$(cat "$WS"/.hone/ledger/*.jsonl | grep '"type":"search.start"' | grep -o '"search":"[^"]*"' | sort -u | wc -l)
[ "$starts" = 1 ]
ok $? "it is one search that goes on" "$starts"

cp -r "$PACK" "$ROOT/other"
echo '/* mine */' >>"$ROOT/other/naive.c"
search "$ROOT/other"
[ $? != 0 ] && grep -q "another task 'conv2d_same'" "$ROOT/err" && grep -q -- --workspace "$ROOT/err"
ok $? "another pack of that name is refused, with what to do" "$(cat "$ROOT/err")"
diff -r "$PACK" "$WS/tasks/conv2d_same" >/dev/null && [ "$(commits)" = $((before + 1)) ]
ok $? "and nothing of it is taken"

search "$ROOT/nowhere/"
[ $? != 0 ] && grep -q 'there is no folder' "$ROOT/err"
ok $? "a folder that is not there" "$(cat "$ROOT/err")"
mkdir "$ROOT/empty"
search "$ROOT/empty"
[ $? != 0 ] && grep -q 'task.json' "$ROOT/err"
ok $? "a folder without a pack" "$(cat "$ROOT/err")"
cp -r "$PACK" "$ROOT/linked"
sed -i 's/"conv2d_same"/"linked"/' "$ROOT/linked/task.json"
ln -s /etc/passwd "$ROOT/linked/notes.txt"
search "$ROOT/linked"
[ $? != 0 ] && [ ! -e "$WS/tasks/linked" ]
ok $? "a pack with a link is refused" "$(cat "$ROOT/err")"
sed 's/"linked"/"..\/up"/' "$ROOT/linked/task.json" >"$ROOT/t" && rm "$ROOT/linked/notes.txt" && mv "$ROOT/t" "$ROOT/linked/task.json"
search "$ROOT/linked"
[ $? != 0 ] && [ ! -e "$WS/up" ]
ok $? "a name that leaves tasks/ is refused" "$(cat "$ROOT/err")"
[ ! -e "$WS/.hone/adopt" ]
ok $? "nothing half copied is left"
finish

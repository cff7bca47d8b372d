#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The repository stands alone: no machine path, no notes outside it, nothing left to do, no secret.
. "$(dirname "$0")/lib.sh"
list=$(files '*' | grep -vE '^tests/checks/(standalone|selftest)\.sh$')
paths=$(printf '%s\n' "$list" | xargs -d '\n' grep -InE '\.\./shared|(^|[^A-Za-z0-9_.])/work/(main|shared)|["= ]/root/[a-z]' /dev/null | head -n 20)
verdict "no path of one machine" "$paths"
marks=$(printf '%s\n' "$list" | xargs -d '\n' grep -InwE 'TODO|FIXME|XXX|HACK' /dev/null | head -n 20)
verdict "no mark of unfinished work" "$marks"
secrets=$(printf '%s\n' "$list" | xargs -d '\n' grep -InE '(sk-ant-|sk-proj-|ghp_|AKIA)[A-Za-z0-9]{12}|BEGIN [A-Z ]*PRIVATE KEY' /dev/null | head -n 20)
verdict "no secret" "$secrets"
built=$(printf '%s\n' "$list" | grep -E '\.(o|a|so|d|gcda|gcno|orig|rej)$')
verdict "no built or left-over file" "$built"
finish

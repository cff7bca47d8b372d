#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Includes go one way between the layers, and each foreign library has one owner file.
. "$(dirname "$0")/lib.sh"

# folder (longest match wins): folders whose headers it may include. $base and the like stand for several.
base='workspace/base'
task="workspace/task $base"
history="workspace $task"
format="tools/format $task"
launch="tools/launch $format"
tools="tools tools/launch tools/format $history"
source="agents/source $tools"
polyhedral="agents/polyhedral $source"
rewrites="agents/rewrites $polyhedral"
model="agents/model $tools"
planner="agents/planner $rewrites"
coder="agents/coder agents/model $planner"
search="agents/search $coder"
knowledge="agents/knowledge $search"
suite="agents/suite $search"
access="server/access $base"
page="server/page $search"
exchange="server/exchange $tools"
rpc="server/rpc server/exchange $access $page"
jail="tools/runner/jail $format"
binary="tools/runner/binary $jail"
builds="tools/runner/build $binary"
torch="tools/runner/torch tools/runner/cuda/compile tools/runner/cuda/driver $jail"
arena="tools/runner/arena tools/runner/torch $builds"
machine="tools/runner/machine $jail"
values="tools/runner/values $arena"
serve="tools/runner/serve tools/launch tools/runner/machine $jail"
judge="tools/runner/judge tools/runner/machine $values"
driver="tools/runner/cuda/driver $format"
split="tools/runner/cuda/split $builds"
compile="tools/runner/cuda/compile tools/runner/cuda/driver $split"
device="tools/runner/cuda/device $compile"
record="tools/runner/cuda/record $arena $compile"
module="tools/runner/cuda/module $record"
layers="
workspace/base: $base
workspace/task: $task
workspace: $history
tools/format: $format
tools/launch: $launch
tools/task: tools/task $tools
tools/import: tools/import tools/task $tools
tools/export: tools/export tools/task $tools
tools: tools/export tools/task tools/import $tools
tools/runner/jail: $jail
tools/runner/binary: $binary
tools/runner/build: $builds
tools/runner/torch: $torch
tools/runner/arena: $arena
tools/runner/machine: $machine
tools/runner/values: $values
tools/runner/serve: $serve
tools/runner/judge: $judge
tools/runner/cuda/driver: $driver
tools/runner/cuda/split: $split
tools/runner/cuda/compile: $compile
tools/runner/cuda/device: $device
tools/runner/cuda/record: $record
tools/runner/cuda/module: $module
tools/runner/cuda/arena: tools/runner/cuda/arena $device
tools/runner/cuda/judge: tools/runner/cuda/judge tools/runner/cuda/arena $module $device $judge
tools/runner: tools/runner tools/runner/torch tools/runner/cuda/record tools/runner/cuda/judge tools/runner/cuda/arena $device $judge
agents/source: $source
agents/polyhedral: $polyhedral
agents/rewrites: $rewrites
agents/rewrites/cuda: agents/rewrites/cuda $rewrites
agents/model: $model
agents/planner: $planner
agents/coder: $coder
agents/search: $search
agents/knowledge: $knowledge
agents/suite: $suite
agents/offline: agents/offline $planner
agents/tools: agents/tools $search
server/access: $access
server/page: $page
server/exchange: $exchange
server/rpc: $rpc
server: server agents/knowledge agents/suite agents/tools agents/offline tools/export tools/task tools/import $rpc
"

# beginning of a header's name: the only files that may include it (| between several)
owners='
cjson/: workspace/base/json.c
git2: workspace/git_store.c
libwebsockets: server/rpc/net_ws.c|server/rpc/net_gate.c|server/rpc/net_http.c|server/rpc/net_page.c|server/rpc/net_ws_client.c|tests/bench/ws_bench.c
uv.h: server/rpc/net_ws.c
seccomp.h: tools/runner/jail/seccomp.c
sha2.h: workspace/base/hash.c
sha256.h: workspace/base/hash.c
cuda.h: tools/runner/cuda/driver/cuda_api.c|tests/unit/runner/cuda_abi_test.c
nvrtc: tools/runner/cuda/driver/cuda_api.c|tests/unit/runner/cuda_abi_test.c
cupti_: tools/runner/cuda/driver/cupti.c
curl/: agents/model/http.c
isl/: agents/polyhedral/order_model.h|agents/polyhedral/order_model.c|agents/polyhedral/order.c|agents/polyhedral/order_loops.c|agents/polyhedral/order_pair.c|agents/polyhedral/order_print.h|agents/polyhedral/order_print.c
clang-c/: agents/source/c_parser.c
zlib.h: server/page/packed.c|tests/unit/server/page_test.c
check.h: tests/unit/unit.h
'

upward=$(files 'server/*.[ch]' 'agents/*.[ch]' 'tools/*.[ch]' 'workspace/*.[ch]' |
    while read -r f; do
        sed -n 's,^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*,\1,p' "$f" | sed "s,^,$f ,"
    done | awk -v table="$layers" '
        BEGIN {
            n = split(table, rows, "\n")
            for (i = 1; i <= n; i++) if (split(rows[i], part, ": ") == 2) may[part[1]] = " " part[2] " "
        }
        function layer(path,  best, l) {
            best = ""
            for (l in may) if (index(path, l "/") == 1 && length(l) > length(best)) best = l
            return best
        }
        {
            from = layer($1); to = layer($2)
            if ($2 !~ /\//) print $1 " includes \"" $2 "\": write the path from the root"
            else if (to == "") print $1 " includes " $2 ", which is in no layer"
            else if (index(may[from], " " to " ") == 0) print $1 " (" from ") includes " $2 " (" to ")"
        }')
verdict "includes go down only: server > agents > tools > workspace" "$upward"

foreign=$(files '*.c' '*.h' | xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' /dev/null |
    awk -v table="$owners" '
        BEGIN {
            n = split(table, rows, "\n")
            for (i = 1; i <= n; i++) if (split(rows[i], part, ": ") == 2) owner[part[1]] = part[2]
        }
        {
            file = $0; sub(/:.*/, "", file)
            header = $0; sub(/^[^<]*</, "", header); sub(/>.*/, "", header)
            for (o in owner) {
                if (index(header, o) != 1) continue
                n_files = split(owner[o], allowed, "|"); found = 0
                for (i = 1; i <= n_files; i++) if (allowed[i] == file) found = 1
                if (!found) print file " includes <" header ">; only " owner[o] " may"
            }
        }')
verdict "each foreign header is included by its owner file only" "$foreign"

headers=$(files 'server/*.h' 'agents/*.h' 'tools/*.h' 'workspace/*.h' |
    xargs grep -nE '#[[:space:]]*include[[:space:]]*<(cjson|git2|libwebsockets|uv|seccomp|curl|sha2|clang-c|zlib|isl/)' /dev/null |
    grep -vE '^agents/polyhedral/order_(model|print)\.h:') # that room's own: nobody else may include isl
verdict "no header of ours shows a foreign one" "$headers"
finish

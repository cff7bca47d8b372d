#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Our declarations of CUPTI's structs and constants agree with the toolkit's headers, where those are.
. "$(dirname "$0")/lib.sh"
cuda=${CUDA_HOME:-/usr/local/cuda}
include=
for d in "$cuda/include" "$cuda/extras/CUPTI/include"; do
    [ -f "$d/cupti_range_profiler.h" ] && include=$d
done
[ -n "$include" ] || skip_all "no CUPTI headers in $cuda"
dir=$(mktemp -d "${TMPDIR:-/tmp}/hone-abi.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
: >"$dir/string" # cupti_profiler_host.h includes the C++ header of that name and uses nothing of it

# ours, theirs, then pairs of members
{
    printf '%s\n' '#include <stddef.h>' '#include "tools/runner/cuda/driver/cupti_abi.h"' '#include <cupti_profiler_host.h>' \
        '#include <cupti_target.h>' '#include <cupti_range_profiler.h>' \
        '#define SAME(o, m, t, n) _Static_assert(offsetof(struct o, m) == offsetof(t, n) && sizeof(((struct o *)0)->m) == sizeof(((t *)0)->n), #o "." #m);' \
        '#define SIZE(o, m, s) _Static_assert(CUPTI_ABI_SIZE(struct o, m) == s, #o);'
    while read -r ours theirs members; do
        [ -n "$ours" ] || continue
        echo "SAME(cupti_abi_$ours, struct_size, CUpti_${theirs}_Params, structSize)"
        echo "SAME(cupti_abi_$ours, priv, CUpti_${theirs}_Params, pPriv)"
        last=priv
        for pair in $members; do
            last=${pair%%=*}
            echo "SAME(cupti_abi_$ours, $last, CUpti_${theirs}_Params, ${pair#*=})"
        done
        echo "SIZE(cupti_abi_$ours, $last, CUpti_${theirs}_Params_STRUCT_SIZE)"
    done <<'END'
chips Profiler_Host_GetSupportedChips n_chips=numChips chips=ppChipNames
host_init Profiler_Host_Initialize type=profilerType chip=pChipName availability=pCounterAvailabilityImage host=pHostObject
host_end Profiler_Host_Deinitialize host=pHostObject
add Profiler_Host_ConfigAddMetrics host=pHostObject names=ppMetricNames n_names=numMetrics
config_size Profiler_Host_GetConfigImageSize host=pHostObject size=configImageSize
config Profiler_Host_GetConfigImage host=pHostObject size=configImageSize image=pConfigImage
passes Profiler_Host_GetNumOfPasses size=configImageSize image=pConfigImage n_passes=numOfPasses
evaluate Profiler_Host_EvaluateToGpuValues host=pHostObject data=pCounterDataImage data_size=counterDataImageSize range=rangeIndex names=ppMetricNames n_names=numMetrics values=pMetricValues
init Profiler_Initialize
availability Profiler_GetCounterAvailability ctx=ctx size=counterAvailabilityImageSize image=pCounterAvailabilityImage
chip Device_GetChipName device=deviceIndex chip=pChipName
enable RangeProfiler_Enable ctx=ctx profiler=pRangeProfilerObject
profiler RangeProfiler_Disable profiler=pRangeProfilerObject
profiler RangeProfiler_Start profiler=pRangeProfilerObject
profiler RangeProfiler_PopRange profiler=pRangeProfilerObject
set_config RangeProfiler_SetConfig profiler=pRangeProfilerObject config_size=configSize config=pConfig data_size=counterDataImageSize data=pCounterDataImage range=range replay=replayMode max_ranges=maxRangesPerPass n_levels=numNestingLevels min_level=minNestingLevel pass=passIndex target_level=targetNestingLevel
stop RangeProfiler_Stop profiler=pRangeProfilerObject pass=passIndex target_level=targetNestingLevel is_all_submitted=isAllPassSubmitted
push RangeProfiler_PushRange profiler=pRangeProfilerObject name=pRangeName
decode RangeProfiler_DecodeData profiler=pRangeProfilerObject n_dropped=numOfRangeDropped
data_size RangeProfiler_GetCounterDataSize profiler=pRangeProfilerObject names=pMetricNames n_names=numMetrics max_ranges=maxNumOfRanges max_nodes=maxNumRangeTreeNodes size=counterDataSize
data_init RangeProfiler_CounterDataImage_Initialize profiler=pRangeProfilerObject size=counterDataSize data=pCounterData
data_info RangeProfiler_GetCounterDataInfo data=pCounterDataImage data_size=counterDataImageSize n_ranges=numTotalRanges
range_info RangeProfiler_CounterData_GetRangeInfo data=pCounterDataImage data_size=counterDataImageSize range=rangeIndex delimiter=rangeDelimiter name=rangeName
END
    while read -r ours theirs; do
        [ -n "$ours" ] && echo "_Static_assert((int)CUPTI_ABI_$ours == (int)CUPTI_$theirs, \"$ours\");"
    done <<'END'
SUCCESS SUCCESS
INVALID_PARAMETER ERROR_INVALID_PARAMETER
NOT_SUPPORTED ERROR_NOT_SUPPORTED
VIRTUALIZED ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED
INSUFFICIENT_PRIVILEGES ERROR_INSUFFICIENT_PRIVILEGES
MULTIPLE_SUBSCRIBERS ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
VIRTUALIZED_PRIVILEGES ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
CONFIDENTIAL ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
MIG ERROR_MIG_DEVICE_NOT_SUPPORTED
INVALID_CHIP ERROR_INVALID_CHIP_NAME
TYPE_RANGE_PROFILER PROFILER_TYPE_RANGE_PROFILER
USER_RANGE UserRange
USER_REPLAY UserReplay
END
} >"$dir/abi.c"
n=$(grep -c '^SAME\|^SIZE\|^_Static' "$dir/abi.c")
bad=$(${CC:-gcc} -std=gnu17 -w -I. -I"$dir" -isystem "$include" -isystem "$cuda/include" -fsyntax-only "$dir/abi.c" 2>&1 | grep -E 'error' | head -n 20)
[ "$n" -gt 100 ] || bad="only $n comparisons"
verdict "$n declarations of CUPTI agree with the headers in $include" "$bad"
finish

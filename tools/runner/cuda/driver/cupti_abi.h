/* SPDX-License-Identifier: Apache-2.0 */
/* Our own minimal declarations of CUPTI's binary interface (CUDA 13.0, stable since 12.6).
 *
 * NVIDIA's headers are not included: the library is loaded at run time where it is, and
 * cupti_profiler_host.h wants C++'s <string>. tests/checks/cupti_abi.sh compares every struct and
 * constant here with the toolkit's headers where those are. Used by cupti.c and that check only.
 *
 * Every parameter struct begins with its size and a reserved pointer; the size is that of the
 * members, without padding behind the last one. */
#ifndef HONE_RUNNER_CUDA_CUPTI_ABI_H
#define HONE_RUNNER_CUDA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { /* CUptiResult, those that we tell apart */
       CUPTI_ABI_SUCCESS = 0,
       CUPTI_ABI_INVALID_PARAMETER = 1,
       CUPTI_ABI_NOT_SUPPORTED = 27,
       CUPTI_ABI_VIRTUALIZED = 33,
       CUPTI_ABI_INSUFFICIENT_PRIVILEGES = 35,
       CUPTI_ABI_MULTIPLE_SUBSCRIBERS = 39,
       CUPTI_ABI_VIRTUALIZED_PRIVILEGES = 40,
       CUPTI_ABI_CONFIDENTIAL = 41,
       CUPTI_ABI_MIG = 43,
       CUPTI_ABI_INVALID_CHIP = 46
};
enum { CUPTI_ABI_TYPE_RANGE_PROFILER = 0 }; /* CUpti_ProfilerType */
enum { CUPTI_ABI_USER_RANGE = 2 };          /* CUpti_ProfilerRange */
enum { CUPTI_ABI_USER_REPLAY = 3 };         /* CUpti_ProfilerReplayMode */

#define CUPTI_ABI_SIZE(type_, last_) (offsetof(type_, last_) + sizeof(((type_ *)0)->last_))

struct cupti_abi_chips { /* CUpti_Profiler_Host_GetSupportedChips_Params */
    size_t struct_size;
    void *priv;
    size_t n_chips;
    const char *const *chips;
};
struct cupti_abi_host_init { /* CUpti_Profiler_Host_Initialize_Params */
    size_t struct_size;
    void *priv;
    int type;
    const char *chip;
    const uint8_t *availability;
    void *host;
};
struct cupti_abi_host_end { /* CUpti_Profiler_Host_Deinitialize_Params */
    size_t struct_size;
    void *priv;
    void *host;
};
struct cupti_abi_add { /* CUpti_Profiler_Host_ConfigAddMetrics_Params */
    size_t struct_size;
    void *priv;
    void *host;
    const char **names;
    size_t n_names;
};
struct cupti_abi_config_size { /* CUpti_Profiler_Host_GetConfigImageSize_Params */
    size_t struct_size;
    void *priv;
    void *host;
    size_t size;
};
struct cupti_abi_config { /* CUpti_Profiler_Host_GetConfigImage_Params */
    size_t struct_size;
    void *priv;
    void *host;
    size_t size;
    uint8_t *image;
};
struct cupti_abi_passes { /* CUpti_Profiler_Host_GetNumOfPasses_Params */
    size_t struct_size;
    void *priv;
    size_t size;
    uint8_t *image;
    size_t n_passes;
};
struct cupti_abi_evaluate { /* CUpti_Profiler_Host_EvaluateToGpuValues_Params */
    size_t struct_size;
    void *priv;
    void *host;
    const uint8_t *data;
    size_t data_size;
    size_t range;
    const char **names;
    size_t n_names;
    double *values;
};
struct cupti_abi_init { /* CUpti_Profiler_Initialize_Params */
    size_t struct_size;
    void *priv;
};
struct cupti_abi_availability { /* CUpti_Profiler_GetCounterAvailability_Params */
    size_t struct_size;
    void *priv;
    void *ctx;
    size_t size;
    uint8_t *image;
};
struct cupti_abi_chip { /* CUpti_Device_GetChipName_Params */
    size_t struct_size;
    void *priv;
    size_t device;
    const char *chip;
};
struct cupti_abi_enable { /* CUpti_RangeProfiler_Enable_Params */
    size_t struct_size;
    void *priv;
    void *ctx;
    void *profiler;
};
struct cupti_abi_profiler { /* CUpti_RangeProfiler_Disable, Start, PopRange _Params */
    size_t struct_size;
    void *priv;
    void *profiler;
};
struct cupti_abi_set_config { /* CUpti_RangeProfiler_SetConfig_Params */
    size_t struct_size;
    void *priv;
    void *profiler;
    size_t config_size;
    const uint8_t *config;
    size_t data_size;
    uint8_t *data;
    int range, replay;
    size_t max_ranges;
    uint16_t n_levels, min_level;
    size_t pass;
    uint16_t target_level;
};
struct cupti_abi_stop { /* CUpti_RangeProfiler_Stop_Params */
    size_t struct_size;
    void *priv;
    void *profiler;
    size_t pass, target_level;
    uint8_t is_all_submitted;
};
struct cupti_abi_push { /* CUpti_RangeProfiler_PushRange_Params */
    size_t struct_size;
    void *priv;
    void *profiler;
    const char *name;
};
struct cupti_abi_decode { /* CUpti_RangeProfiler_DecodeData_Params */
    size_t struct_size;
    void *priv;
    void *profiler;
    size_t n_dropped;
};
struct cupti_abi_data_size { /* CUpti_RangeProfiler_GetCounterDataSize_Params */
    size_t struct_size;
    void *priv;
    void *profiler;
    const char **names;
    size_t n_names;
    size_t max_ranges;
    uint32_t max_nodes;
    size_t size;
};
struct cupti_abi_data_init { /* CUpti_RangeProfiler_CounterDataImage_Initialize_Params */
    size_t struct_size;
    void *priv;
    void *profiler;
    size_t size;
    uint8_t *data;
};
struct cupti_abi_data_info { /* CUpti_RangeProfiler_GetCounterDataInfo_Params */
    size_t struct_size;
    void *priv;
    const uint8_t *data;
    size_t data_size;
    size_t n_ranges;
};
struct cupti_abi_range_info { /* CUpti_RangeProfiler_CounterData_GetRangeInfo_Params */
    size_t struct_size;
    void *priv;
    const uint8_t *data;
    size_t data_size;
    size_t range;
    const char *delimiter;
    const char *name;
};

/* member, symbol, argument */
/* clang-format off */
#define CUPTI_ABI_FUNCTIONS(F) \
    F(Chips, "cuptiProfilerHostGetSupportedChips", struct cupti_abi_chips) \
    F(HostInit, "cuptiProfilerHostInitialize", struct cupti_abi_host_init) \
    F(HostEnd, "cuptiProfilerHostDeinitialize", struct cupti_abi_host_end) \
    F(Add, "cuptiProfilerHostConfigAddMetrics", struct cupti_abi_add) \
    F(ConfigSize, "cuptiProfilerHostGetConfigImageSize", struct cupti_abi_config_size) \
    F(Config, "cuptiProfilerHostGetConfigImage", struct cupti_abi_config) \
    F(Passes, "cuptiProfilerHostGetNumOfPasses", struct cupti_abi_passes) \
    F(Evaluate, "cuptiProfilerHostEvaluateToGpuValues", struct cupti_abi_evaluate) \
    F(Init, "cuptiProfilerInitialize", struct cupti_abi_init) \
    F(Availability, "cuptiProfilerGetCounterAvailability", struct cupti_abi_availability) \
    F(Chip, "cuptiDeviceGetChipName", struct cupti_abi_chip) \
    F(Enable, "cuptiRangeProfilerEnable", struct cupti_abi_enable) \
    F(Disable, "cuptiRangeProfilerDisable", struct cupti_abi_profiler) \
    F(SetConfig, "cuptiRangeProfilerSetConfig", struct cupti_abi_set_config) \
    F(Start, "cuptiRangeProfilerStart", struct cupti_abi_profiler) \
    F(Stop, "cuptiRangeProfilerStop", struct cupti_abi_stop) \
    F(Push, "cuptiRangeProfilerPushRange", struct cupti_abi_push) \
    F(Pop, "cuptiRangeProfilerPopRange", struct cupti_abi_profiler) \
    F(Decode, "cuptiRangeProfilerDecodeData", struct cupti_abi_decode) \
    F(DataSize, "cuptiRangeProfilerGetCounterDataSize", struct cupti_abi_data_size) \
    F(DataInit, "cuptiRangeProfilerCounterDataImageInitialize", struct cupti_abi_data_init) \
    F(DataInfo, "cuptiRangeProfilerGetCounterDataInfo", struct cupti_abi_data_info) \
    F(RangeInfo, "cuptiRangeProfilerCounterDataGetRangeInfo", struct cupti_abi_range_info)
/* clang-format on */

#endif

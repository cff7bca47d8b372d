/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated CUPTI: the calls of tools/runner/cuda/driver/cupti.h in the order in which the real one
 * wants them, with made-up counters. What is out of order fails, so that tests of the profiling
 * arena mean something.
 *
 * HONE_EMULATOR_CUPTI: "refuse" counters are for administrators, "no-sass" fails when instrumented
 * instructions are asked for. One session a process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/driver/cupti_abi.h"

#define EXPORT        __attribute__((visibility("default")))
#define IMAGE_BYTES   64
#define N_PASSES      3
#define MAX_RANGES    256
#define INVALID_CALL  7 /* CUPTI_ERROR_INVALID_OPERATION */
#define INVALID_PARAM CUPTI_ABI_INVALID_PARAMETER

struct host {
    size_t n;
    int has_sass;
};
static struct {
    int is_initialized, is_enabled, is_configured, is_started, in_range;
    int has_sass;
    size_t pass, max_ranges, n_ranges, n_this_pass;
    char names[MAX_RANGES][24];
    int is_decoded;
} session;
static const char *const chips[] = {"GH100"};

static int wants(const char *word)
{
    const char *set = getenv("HONE_EMULATOR_CUPTI");
    return set != NULL && strcmp(set, word) == 0;
}

EXPORT int cuptiGetResultString(int code, const char **ret);
int cuptiGetResultString(int code, const char **ret)
{
    *ret = code == CUPTI_ABI_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                     : "CUPTI_ERROR_INVALID_OPERATION";
    return 0;
}

#define CALL(name_, type_)                                                                         \
    EXPORT int name_(type_ *p);                                                                    \
    int name_(type_ *p)
#define SIZED(type_, last_)                                                                        \
    if (p->struct_size != CUPTI_ABI_SIZE(type_, last_) || p->priv != NULL)                         \
    return INVALID_PARAM

CALL(cuptiProfilerHostGetSupportedChips, struct cupti_abi_chips)
{
    SIZED(struct cupti_abi_chips, chips);
    p->chips = chips;
    p->n_chips = 1;
    return 0;
}

CALL(cuptiProfilerHostInitialize, struct cupti_abi_host_init)
{
    SIZED(struct cupti_abi_host_init, host);
    if (strcmp(p->chip, chips[0]) != 0)
        return CUPTI_ABI_INVALID_CHIP;
    p->host = calloc(1, sizeof(struct host));
    return 0;
}

CALL(cuptiProfilerHostDeinitialize, struct cupti_abi_host_end)
{
    SIZED(struct cupti_abi_host_end, host);
    free(p->host);
    return 0;
}

CALL(cuptiProfilerHostConfigAddMetrics, struct cupti_abi_add)
{
    SIZED(struct cupti_abi_add, n_names);
    struct host *host = p->host;
    for (size_t i = 0; i < p->n_names; i++) {
        if (strstr(p->names[i], "__") == NULL)
            return INVALID_PARAM;
        host->has_sass |= strstr(p->names[i], "_sass_") != NULL;
    }
    host->n += p->n_names;
    return 0;
}

CALL(cuptiProfilerHostGetConfigImageSize, struct cupti_abi_config_size)
{
    SIZED(struct cupti_abi_config_size, size);
    p->size = IMAGE_BYTES;
    return ((const struct host *)p->host)->n > 0 ? 0 : INVALID_CALL;
}

CALL(cuptiProfilerHostGetConfigImage, struct cupti_abi_config)
{
    SIZED(struct cupti_abi_config, image);
    if (p->size != IMAGE_BYTES)
        return INVALID_PARAM;
    memset(p->image, 0, IMAGE_BYTES);
    p->image[0] = (uint8_t)((const struct host *)p->host)->has_sass;
    return 0;
}

CALL(cuptiProfilerHostGetNumOfPasses, struct cupti_abi_passes)
{
    SIZED(struct cupti_abi_passes, n_passes);
    p->n_passes = N_PASSES;
    return 0;
}

CALL(cuptiProfilerInitialize, struct cupti_abi_init)
{
    SIZED(struct cupti_abi_init, priv);
    session.is_initialized = 1;
    return 0;
}

CALL(cuptiDeviceGetChipName, struct cupti_abi_chip)
{
    SIZED(struct cupti_abi_chip, chip);
    p->chip = chips[0];
    return session.is_initialized ? 0 : INVALID_CALL;
}

CALL(cuptiProfilerGetCounterAvailability, struct cupti_abi_availability)
{
    SIZED(struct cupti_abi_availability, image);
    if (p->ctx == NULL)
        return INVALID_PARAM;
    p->size = IMAGE_BYTES;
    if (p->image != NULL)
        memset(p->image, 1, IMAGE_BYTES);
    return 0;
}

CALL(cuptiRangeProfilerEnable, struct cupti_abi_enable)
{
    SIZED(struct cupti_abi_enable, profiler);
    if (wants("refuse"))
        return CUPTI_ABI_INSUFFICIENT_PRIVILEGES;
    if (session.is_enabled || p->ctx == NULL)
        return INVALID_CALL;
    session.is_enabled = 1;
    p->profiler = &session;
    return 0;
}

CALL(cuptiRangeProfilerDisable, struct cupti_abi_profiler)
{
    SIZED(struct cupti_abi_profiler, profiler);
    memset(&session, 0, sizeof session);
    return 0;
}

CALL(cuptiRangeProfilerGetCounterDataSize, struct cupti_abi_data_size)
{
    SIZED(struct cupti_abi_data_size, size);
    if (p->profiler != &session || p->max_ranges == 0 || p->max_nodes < p->max_ranges)
        return INVALID_PARAM;
    p->size = IMAGE_BYTES * p->max_ranges;
    return 0;
}

CALL(cuptiRangeProfilerCounterDataImageInitialize, struct cupti_abi_data_init)
{
    SIZED(struct cupti_abi_data_init, data);
    memset(p->data, 0x5a, p->size);
    return 0;
}

CALL(cuptiRangeProfilerSetConfig, struct cupti_abi_set_config)
{
    SIZED(struct cupti_abi_set_config, target_level);
    if (!session.is_enabled || p->range != CUPTI_ABI_USER_RANGE ||
        p->replay != CUPTI_ABI_USER_REPLAY || p->min_level != 1 || p->n_levels != 1 ||
        p->config_size != IMAGE_BYTES || p->data[0] != 0x5a || p->max_ranges > MAX_RANGES)
        return INVALID_PARAM;
    session.is_configured = 1;
    session.pass = session.n_ranges = 0;
    session.is_decoded = 0;
    session.max_ranges = p->max_ranges;
    session.has_sass = p->config[0];
    return 0;
}

CALL(cuptiRangeProfilerStart, struct cupti_abi_profiler)
{
    SIZED(struct cupti_abi_profiler, profiler);
    if (!session.is_configured || session.is_started || session.pass == N_PASSES ||
        (session.has_sass && wants("no-sass")))
        return INVALID_CALL;
    session.is_started = 1;
    session.n_this_pass = 0;
    return 0;
}

CALL(cuptiRangeProfilerPushRange, struct cupti_abi_push)
{
    SIZED(struct cupti_abi_push, name);
    if (!session.is_started || session.in_range || session.n_this_pass == session.max_ranges)
        return INVALID_CALL;
    session.in_range = 1;
    snprintf(session.names[session.n_this_pass++], sizeof session.names[0], "%s", p->name);
    return 0;
}

CALL(cuptiRangeProfilerPopRange, struct cupti_abi_profiler)
{
    SIZED(struct cupti_abi_profiler, profiler);
    if (!session.in_range)
        return INVALID_CALL;
    session.in_range = 0;
    return 0;
}

CALL(cuptiRangeProfilerStop, struct cupti_abi_stop)
{
    SIZED(struct cupti_abi_stop, is_all_submitted);
    if (!session.is_started || session.in_range ||
        (session.pass > 0 && session.n_this_pass != session.n_ranges))
        return INVALID_CALL;
    session.is_started = 0;
    session.n_ranges = session.n_this_pass;
    p->pass = ++session.pass;
    p->is_all_submitted = session.pass == N_PASSES;
    return 0;
}

CALL(cuptiRangeProfilerDecodeData, struct cupti_abi_decode)
{
    SIZED(struct cupti_abi_decode, n_dropped);
    if (session.pass != N_PASSES || session.is_started)
        return INVALID_CALL;
    session.is_decoded = 1;
    p->n_dropped = 0;
    return 0;
}

CALL(cuptiRangeProfilerGetCounterDataInfo, struct cupti_abi_data_info)
{
    SIZED(struct cupti_abi_data_info, n_ranges);
    p->n_ranges = session.n_ranges;
    return session.is_decoded ? 0 : INVALID_CALL;
}

/* Backwards, since no order is promised. */
CALL(cuptiRangeProfilerCounterDataGetRangeInfo, struct cupti_abi_range_info)
{
    SIZED(struct cupti_abi_range_info, name);
    if (p->range >= session.n_ranges)
        return INVALID_PARAM;
    p->name = session.names[session.n_ranges - 1 - p->range];
    return 0;
}

/* 1000 ns for the first range, 2000 for the second...; everything else is 7. */
CALL(cuptiProfilerHostEvaluateToGpuValues, struct cupti_abi_evaluate)
{
    SIZED(struct cupti_abi_evaluate, values);
    if (!session.is_decoded || p->range >= session.n_ranges)
        return INVALID_CALL;
    double range = strtod(session.names[session.n_ranges - 1 - p->range], NULL);
    for (size_t i = 0; i < p->n_names; i++)
        p->values[i] = strcmp(p->names[i], "gpu__time_duration.sum") == 0 ? 1000 * (range + 1) : 7;
    return 0;
}

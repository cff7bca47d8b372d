/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/device/gpu_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/driver/cuda_api.h"
#include "tools/runner/cuda/driver/cupti.h"
#include "tools/runner/cuda/compile/nvcc_compile.h"
#include "workspace/base/file.h"

#define PARAMS_FILE  "/proc/driver/nvidia/params"
#define PARAMS_BYTES (64 << 10)

static int attribute(const struct hone_cuda *cu, hone_cu_device dev, int which)
{
    int value = 0;
    return cu->DeviceGetAttribute(&value, which, dev) == HONE_CU_SUCCESS ? value : 0;
}

static void set_uuid(struct hone_json *json, const struct hone_cuda *cu, hone_cu_device dev)
{
    struct hone_cu_uuid uuid;
    char text[2 * sizeof uuid.bytes + 1];
    if (cu->DeviceGetUuid(&uuid, dev) != HONE_CU_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)uuid.bytes[i]);
    hone_json_set_str(json, "uuid", text);
}

static struct hone_json *describe(const struct hone_cuda *cu, hone_cu_device dev)
{
    struct hone_json *json = hone_json_new_object();
    char name[128] = "unknown", arch[32];
    size_t bytes = 0;
    (void)cu->DeviceGetName(name, sizeof name, dev);
    (void)cu->DeviceTotalMem(&bytes, dev);
    snprintf(arch, sizeof arch, "sm_%d%d", attribute(cu, dev, HONE_CU_DEV_MAJOR),
             attribute(cu, dev, HONE_CU_DEV_MINOR));
    hone_json_set_str(json, "name", name);
    set_uuid(json, cu, dev);
    hone_json_set_str(json, "arch", arch);
    hone_json_set_i64(json, "sm_count", attribute(cu, dev, HONE_CU_DEV_SM_COUNT));
    hone_json_set_i64(json, "memory_bytes", (int64_t)bytes);
    hone_json_set_i64(json, "l2_bytes", attribute(cu, dev, HONE_CU_DEV_L2_BYTES));
    return json;
}

static int list_devices(const struct hone_cuda *cu, struct hone_json *json, struct hone_json *list,
                        struct hone_err *err)
{
    int version = 0, n = 0;
    char text[32];
    int code = hone_cu_check(cu, cu->Init(0), "starting the driver", err);
    if (code == 0)
        code = hone_cu_check(cu, cu->DeviceGetCount(&n), "counting devices", err);
    if (code < 0)
        return code;
    (void)cu->DriverGetVersion(&version);
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    hone_json_set_str(json, "driver", text);
    for (int i = 0; i < n; i++) {
        hone_cu_device dev;
        if (cu->DeviceGet(&dev, i) == HONE_CU_SUCCESS)
            hone_json_push(list, describe(cu, dev));
    }
    return n > 0 ? 0 : hone_fail(err, HONE_E_UNSUPPORTED, "the driver sees no device");
}

bool hone_gpu_restricts_counters(void)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    return hone_file_read(PARAMS_FILE, PARAMS_BYTES, &text, &len, NULL) == 0 &&
           strstr(text, "RmProfilingAdminOnly: 1") != NULL;
}

static void set_tools(struct hone_json *json)
{
    HONE_AUTOFREE char *cupti = hone_cupti_find_folder();
    struct hone_nvcc nvcc;
    hone_nvcc_find(&nvcc);
    if (nvcc.path[0] != '\0')
        hone_json_set_str(json, "nvcc", nvcc.version);
    if (cupti != NULL)
        hone_json_set_str(json, "cupti", cupti);
    hone_json_set_bool(json, "restricts_counters", hone_gpu_restricts_counters());
}

struct hone_json *hone_gpu_facts(void)
{
    struct hone_json *json = hone_json_new_object();
    struct hone_json *list = hone_json_new_array();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_cuda *cu = NULL;
    struct hone_nvrtc *nvrtc = NULL;
    int code = hone_cuda_open(&cu, &err);
    if (code == 0)
        code = list_devices(cu, json, list, &err);
    if (code < 0)
        hone_json_set_str(json, "why", err.message);
    hone_json_set(json, "devices", list);
    hone_cuda_close(cu);
    if (hone_nvrtc_open(&nvrtc, &err) == 0) {
        int major = 0, minor = 0;
        char text[32];
        (void)nvrtc->Version(&major, &minor);
        snprintf(text, sizeof text, "%d.%d", major, minor);
        hone_json_set_str(json, "nvrtc", text);
    } else {
        hone_json_set_str(json, "why_nvrtc", err.message);
    }
    hone_nvrtc_close(nvrtc);
    set_tools(json);
    return json;
}

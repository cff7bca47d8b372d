/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated driver: device and context. Settings come from the environment: HONE_EMULATOR_SMS,
 * _L2, _MEMORY, _GRANULARITY (bytes), _DEVICES, _THREADS (host threads of a launch), _PINNED. */
#include "tests/cuda_emulator/driver.h"

#include <stdatomic.h>
#include <stdio.h>

static atomic_bool is_initialised;
static atomic_int broken_by, n_retained;
static __thread bool has_context;
static char context; /* its address is the handle */

void __lsan_ignore_object(const void *at) __attribute__((weak));
void *emu_handle(size_t size)
{
    void *ret = calloc(1, size);
    if (ret == NULL)
        abort();
    if (__lsan_ignore_object != NULL)
        __lsan_ignore_object(ret);
    return ret;
}

uint64_t emu_setting(const char *name, uint64_t or_this)
{
    char full[64];
    snprintf(full, sizeof(full), "HONE_EMULATOR_%s", name);
    const char *text = getenv(full);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : or_this;
}

hone_cu_result emu_enter(void)
{
    if (!is_initialised)
        return EMU_NOT_INITIALIZED;
    return has_context ? broken_by : EMU_INVALID_CONTEXT;
}
void emu_break(hone_cu_result code)
{
    int none = 0;
    atomic_compare_exchange_strong(&broken_by, &none, code);
}
bool emu_is_broken(void)
{
    return broken_by != 0;
}

hone_cu_result cuInit(unsigned flags)
{
    if (flags != 0)
        return HONE_CU_INVALID_VALUE;
    if (emu_setting("DEVICES", 1) == 0)
        return HONE_CU_NO_DEVICE;
    is_initialised = true;
    return 0;
}
hone_cu_result cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"},
};

static hone_cu_result error_text(hone_cu_result code, bool is_name, const char **ret)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].code == code) {
            *ret = is_name ? errors[i].name : errors[i].text;
            return 0;
        }
    *ret = NULL;
    return HONE_CU_INVALID_VALUE;
}
hone_cu_result cuGetErrorName(hone_cu_result code, const char **ret)
{
    return error_text(code, true, ret);
}
hone_cu_result cuGetErrorString(hone_cu_result code, const char **ret)
{
    return error_text(code, false, ret);
}

/* ---- device ---- */

/* The one device that CUDA_VISIBLE_DEVICES=GPU-uuid shows; -1: all are shown. The uuid's last byte
 * is its number. */
static int shown_device(void)
{
    const char *shown = getenv("CUDA_VISIBLE_DEVICES");
    size_t len = shown != NULL ? strlen(shown) : 0;
    return len == 40 && strncmp(shown, "GPU-", 4) == 0 ? (int)strtol(shown + len - 2, NULL, 16)
                                                       : -1;
}
static int n_devices(void)
{
    return shown_device() >= 0 ? 1 : (int)emu_setting("DEVICES", 1);
}
static bool is_device(hone_cu_device dev)
{
    return dev >= 0 && dev < n_devices();
}
hone_cu_result cuDeviceGetCount(int *ret)
{
    *ret = n_devices();
    return is_initialised ? 0 : EMU_NOT_INITIALIZED;
}
hone_cu_result cuDeviceGet(hone_cu_device *ret, int ordinal)
{
    if (!is_initialised)
        return EMU_NOT_INITIALIZED;
    if (!is_device(ordinal))
        return EMU_INVALID_DEVICE;
    *ret = ordinal;
    return 0;
}
hone_cu_result cuDeviceGetName(char *name, int len, hone_cu_device dev)
{
    if (!is_device(dev) || len < 1)
        return EMU_INVALID_DEVICE;
    snprintf(name, (size_t)len, "Emulated");
    return 0;
}
hone_cu_result cuDeviceGetUuid(struct hone_cu_uuid *ret, hone_cu_device dev)
{
    if (!is_device(dev))
        return EMU_INVALID_DEVICE;
    memcpy(ret->bytes, "emulated device", 15);
    ret->bytes[15] = (char)(shown_device() >= 0 ? shown_device() : dev);
    return 0;
}
hone_cu_result cuDeviceTotalMem(size_t *ret, hone_cu_device dev)
{
    *ret = emu_setting("MEMORY", 4ull << 30);
    return is_device(dev) ? 0 : EMU_INVALID_DEVICE;
}

static const struct {
    int attribute, value;
} attributes[] = {
    {HONE_CU_DEV_MAX_THREADS_PER_BLOCK, 1024},
    {2, 1024}, /* block x, y, z */
    {3, 1024},
    {4, 64},
    {HONE_CU_DEV_MAX_GRID_X, 0x7fffffff},
    {HONE_CU_DEV_MAX_GRID_Y, 65535},
    {HONE_CU_DEV_MAX_GRID_Z, 65535},
    {HONE_CU_DEV_SHARED_PER_BLOCK, 48 << 10},
    {9, 64 << 10}, /* constant memory */
    {10, 32},      /* warp */
    {HONE_CU_DEV_REGISTERS_PER_BLOCK, 65536},
    {HONE_CU_DEV_CLOCK_KHZ, 1980000},
    {HONE_CU_DEV_MEMORY_CLOCK_KHZ, 3201000},
    {HONE_CU_DEV_BUS_WIDTH, 6144},
    {HONE_CU_DEV_THREADS_PER_SM, 2048},
    {HONE_CU_DEV_MAJOR, 9},
    {HONE_CU_DEV_MINOR, 0},
    {HONE_CU_DEV_SHARED_PER_SM, 228 << 10},
    {HONE_CU_DEV_REGISTERS_PER_SM, 65536},
    {HONE_CU_DEV_PAGEABLE_ACCESS, 0},
    {95, 1}, /* cooperative launch */
    {HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN, 227 << 10},
    {HONE_CU_DEV_VMM_SUPPORTED, 1},
    {103, 1}, /* handles as descriptors */
    {HONE_CU_DEV_BLOCKS_PER_SM, 32},
    {108, 2560 << 10}, /* persisting L2 */
    {HONE_CU_DEV_RESERVED_SHARED_PER_BLOCK, 1 << 10},
};

hone_cu_result emu_device_attribute(int attribute, int *ret)
{
    *ret = 0;
    if (attribute <= 0 || attribute > 256)
        return HONE_CU_INVALID_VALUE;
    if (attribute == HONE_CU_DEV_SM_COUNT)
        *ret = (int)emu_setting("SMS", 4);
    if (attribute == HONE_CU_DEV_L2_BYTES)
        *ret = (int)emu_setting("L2", 4 << 20);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (attributes[i].attribute == attribute)
            *ret = attributes[i].value;
    return 0;
}
hone_cu_result cuDeviceGetAttribute(int *ret, int attribute, hone_cu_device dev)
{
    return is_device(dev) ? emu_device_attribute(attribute, ret) : EMU_INVALID_DEVICE;
}

/* ---- context: one, whatever the device ---- */

hone_cu_result cuDevicePrimaryCtxRetain(hone_cu_ctx *ret, hone_cu_device dev)
{
    if (!is_initialised)
        return EMU_NOT_INITIALIZED;
    if (!is_device(dev))
        return EMU_INVALID_DEVICE;
    n_retained++;
    *ret = (hone_cu_ctx)(void *)&context;
    return 0;
}
hone_cu_result cuDevicePrimaryCtxRelease(hone_cu_device dev)
{
    if (!is_device(dev) || n_retained == 0)
        return EMU_INVALID_CONTEXT;
    n_retained--;
    return 0;
}
hone_cu_result cuDevicePrimaryCtxSetFlags(hone_cu_device dev, unsigned flags)
{
    (void)flags;
    return is_device(dev) ? 0 : EMU_INVALID_DEVICE;
}
hone_cu_result cuCtxSetCurrent(hone_cu_ctx ctx)
{
    if (ctx != NULL && (void *)ctx != (void *)&context)
        return EMU_INVALID_CONTEXT;
    has_context = ctx != NULL;
    return is_initialised ? 0 : EMU_NOT_INITIALIZED;
}
hone_cu_result cuCtxSynchronize(void)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    emu_wait_all();
    return broken_by;
}
hone_cu_result cuCtxSetLimit(int limit, size_t value)
{
    (void)value;
    hone_cu_result rc = emu_enter();
    return rc != 0 ? rc : limit < 0 || limit > 16 ? HONE_CU_INVALID_VALUE : 0;
}
hone_cu_result cuCtxResetPersistingL2Cache(void)
{
    return emu_enter();
}

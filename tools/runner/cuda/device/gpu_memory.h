/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that judge and arena share, by the driver's virtual memory API (CUDA driver API, "Virtual
 * Memory Management").
 *
 * The judge makes one physical allocation per tensor for all its sets (rounded up to granules of
 * usually 2 MiB; the sets lie at a fixed stride) and maps it for itself, readable and writable. The
 * same allocation goes as a descriptor to every arena, which maps inputs read-only and outputs
 * readable and writable. Between any two mapped ranges lies at least one unmapped granule, and the
 * last set's content ends flush with the end of its range (rounded to 256 bytes: what a kernel may
 * assume of alignment), so that an overrun of it faults. What is not content (in front, between the
 * sets, the tail below 256 bytes) is for a canary that the judge compares afterwards.
 *
 * How long the judge keeps it: gpu_held.h. Judge's thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_MEMORY_H
#define HONE_RUNNER_CUDA_GPU_MEMORY_H

#include "tools/runner/cuda/driver/cuda_api.h"
#include "workspace/base/limits.h"

#define HONE_GPU_MAX_TENSORS HONE_LIMIT_TENSORS
#define HONE_GPU_MAX_SETS    1024

/* Where the contents lie, relative to a tensor's range. The same in judge and arena. */
struct hone_gpu_layout {
    int64_t n_inputs, n_outputs, n_sets;
    int64_t bytes[HONE_GPU_MAX_TENSORS];  /* content of one set */
    int64_t first[HONE_GPU_MAX_TENSORS];  /* offset of set 0's content in the tensor's range */
    int64_t stride[HONE_GPU_MAX_TENSORS]; /* from set to set; a multiple of 256 */
    int64_t range[HONE_GPU_MAX_TENSORS];  /* mapped bytes, whole granules */
};
#define HONE_GPU_ALIGN 256 /* of every content; a power of two */
/* HONE_E_LIMIT when it cannot be. bytes: inputs, then outputs. */
int hone_gpu_layout_init(int64_t n_inputs, int64_t n_outputs, const int64_t *bytes, int64_t n_sets,
                         int64_t granule, struct hone_gpu_layout *ret, struct hone_err *err);
/* Moves every content so that the first set begins flush with its range: an
 * underrun faults then. */
void hone_gpu_layout_start_flush(struct hone_gpu_layout *layout);
static inline int64_t hone_gpu_at(const struct hone_gpu_layout *layout, int64_t set, int64_t tensor)
{
    return layout->first[tensor] + set * layout->stride[tensor];
}

struct hone_gpu_range { /* one physical allocation, mapped here */
    hone_cu_handle handle;
    hone_cu_ptr base; /* of the mapped part */
    hone_cu_ptr reserved;
    size_t size, reserved_size;
    int fd; /* exported; -1 none */
};

struct hone_gpu_device { /* facts and the context */
    const struct hone_cuda *cu;
    hone_cu_device dev;
    hone_cu_ctx ctx;
    char name[128], uuid[48];
    int sm_count, major, minor, driver_version;
    int64_t l2_bytes, memory_bytes, granule;
    int64_t clock_khz, memory_clock_khz, bus_width;
};
/* Makes the context and takes it for the calling thread. HONE_E_UNSUPPORTED without a device that
 * can share memory. */
int hone_gpu_device_open(const struct hone_cuda *cu, int ordinal, struct hone_gpu_device *ret,
                         struct hone_err *err);
void hone_gpu_device_close(struct hone_gpu_device *device);

/* Physical memory of `size` bytes (whole granules), exported, mapped with a guard granule
 * on both sides. */
int hone_gpu_range_new(const struct hone_gpu_device *device, size_t size,
                       struct hone_gpu_range *ret, struct hone_err *err);
/* Maps what came as a descriptor. The descriptor stays the caller's. */
int hone_gpu_range_import(const struct hone_gpu_device *device, int fd, size_t size,
                          bool is_read_only, struct hone_gpu_range *ret, struct hone_err *err);
void hone_gpu_range_done(const struct hone_gpu_device *device, struct hone_gpu_range *range);

#endif

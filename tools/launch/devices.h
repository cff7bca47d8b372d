/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of this machine: a runner that stays for each, and who holds their timing leases.
 *
 * A job goes to the device with the fewest jobs of this process; among equals to one whose lease is
 * free. With one device, or none that can be listed, there is one runner. Devices of another name
 * than the first's are left out: timings of different ones are never compared. Any thread. */
#ifndef HONE_LAUNCH_DEVICES_H
#define HONE_LAUNCH_DEVICES_H

#include "tools/launch/warm.h"

struct hone_devices;

struct hone_devices *hone_devices_new(const char *runner_path);
void hone_devices_free(struct hone_devices *devices); /* NULL is fine */

struct hone_device_job {                  /* borrowed for the call */
    const struct hone_launcher *launcher; /* asked once what devices there are */
    const char *path, *lease_path;        /* lease_path NULL: none */
    int64_t deadline_ns;
    hone_progress_fn *on_progress;
    void *progress_arg;
    const struct hone_cancel *cancel;
};
/* As hone_warm_run. */
int hone_devices_run(struct hone_devices *devices, const struct hone_device_job *job,
                     struct hone_launch_end *ret, struct hone_err *err);

/* What facts (hone_launch_probe) and lease files say: [{"device": "cpu", "name", "class", "cores"},
 * {"device": "cuda:0", "name", "class", "uuid", "memory_bytes"}], each with "lease": {"held", "by",
 * "waiting"}. Owned. */
struct hone_json *hone_devices_json(const struct hone_json *facts);

#endif

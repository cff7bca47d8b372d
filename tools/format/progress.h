/* SPDX-License-Identifier: Apache-2.0 */
/* How far a call is, for those who wait: from the runner's lines to terminals and clients. */
#ifndef HONE_FORMAT_PROGRESS_H
#define HONE_FORMAT_PROGRESS_H

struct hone_progress { /* all members may be empty */
    const char *message;
    double done, total;
};
typedef void hone_progress_fn(void *arg, const struct hone_progress *progress);

#endif

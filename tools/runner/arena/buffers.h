/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of a job: one file for all inputs, one for the outputs of each arm, and where each
 * tensor of each set lies in them.
 *
 * Inputs are sealed against any further writable mapping once the judge has its own, so an arena
 * can map them read-only alone. In the arena's address space every tensor lies between two unmapped
 * pages. In odd sets the content ends at the end of its room (an overrun faults), in even sets it
 * starts at the start (an underrun faults); 64-byte alignment is kept, and what lies between
 * content and room is filled with a canary. The layout is a pure function of sizes, computed alike
 * on both sides. */
#ifndef HONE_RUNNER_BUFFERS_H
#define HONE_RUNNER_BUFFERS_H

#include "workspace/base/err.h"
#include "workspace/base/limits.h"

#define HONE_BUFFERS_PAGE     4096
#define HONE_BUFFERS_MAX_SETS 1024
#define HONE_CANARY_BYTE      0xc7

struct hone_layout {
    int64_t n_inputs, n_outputs, n_sets;
    int64_t bytes[HONE_LIMIT_TENSORS];   /* inputs, then outputs */
    int64_t room[HONE_LIMIT_TENSORS];    /* bytes rounded up to pages, at least one */
    int64_t at[HONE_LIMIT_TENSORS];      /* in its set, in its file */
    int64_t input_stride, output_stride; /* file bytes of one set */
    int64_t map_at[HONE_LIMIT_TENSORS];  /* of the room, in a set of the arena's address range */
    int64_t map_stride;                  /* address bytes of one set, guard pages included */
};
/* HONE_E_LIMIT for sizes that cannot be. bytes: inputs, then outputs. */
int hone_layout_init(int64_t n_inputs, int64_t n_outputs, const int64_t *bytes, int64_t n_sets,
                     struct hone_layout *ret, struct hone_err *err);
int64_t hone_layout_file_at(const struct hone_layout *layout, int64_t set,
                            int64_t tensor); /* of the room */
int64_t hone_layout_content_at(const struct hone_layout *layout, int64_t set,
                               int64_t tensor); /* inside the room */

struct hone_shared { /* one file of shared memory, mapped by its maker */
    int fd;
    char *base;
    int64_t size;       /* that is in use */
    int64_t file_bytes; /* of the file and of the mapping: at least size */
};
#define HONE_SHARED_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }
int hone_shared_new(const char *name, int64_t size, bool is_sealed, struct hone_shared *ret,
                    struct hone_err *err);
/* The same file opened once more, for reading: whoever gets it shares no offset, no locks and no
 * signals with others that have it, so that nothing is left there from process to process. */
int hone_shared_open(const struct hone_shared *shared, int *ret_fd, struct hone_err *err);
void hone_shared_done(struct hone_shared *shared);

/* Where the content lies in the judge's mapping of the file that holds this tensor. */
void *hone_shared_tensor(const struct hone_shared *shared, const struct hone_layout *layout,
                         int64_t set, int64_t tensor);
/* The same of what lies between the rows of a content with a pitch: of each row_bytes the first
 * used_bytes are content. */
void hone_padding_fill(void *content, int64_t bytes, int64_t row_bytes, int64_t used_bytes);
bool hone_padding_is_whole(const void *content, int64_t bytes, int64_t row_bytes,
                           int64_t used_bytes);
/* Fills what is not content with the canary / says whether it still is all canary. */
void hone_canary_fill(const struct hone_shared *shared, const struct hone_layout *layout,
                      int64_t set, int64_t tensor);
bool hone_canary_is_whole(const struct hone_shared *shared, const struct hone_layout *layout,
                          int64_t set, int64_t tensor);

#endif

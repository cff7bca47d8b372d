/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that the judge keeps beyond one call, with one owner: buffers of frames, reference
 * answers, working memory, loaded oracles. A process that judges many tasks one after the other
 * must not keep what each of them needed.
 *
 * - All memory is asked for here. As long as the device has less free than is asked for and a
 *   reserve for contexts and scratch, what was used longest ago is given back.
 * - Never given back: buffers of the present frame, the answer that was asked for last, working
 *   memory that this job has used.
 * - A driver that has none after all makes everything else go, and is asked once more. Then the
 *   error (HONE_E_NOMEM) says what was wanted, who holds how much and what is free.
 * - At the end of a job at most HONE_LIMIT_GPU_HELD_PERCENT of the device stay.
 *
 * An arena that maps a buffer holds it too, so arms let go of a frame before the next is made
 * (hone_gpu_arms_unmap), and of everything at the end of a job. Judge's thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_HELD_H
#define HONE_RUNNER_CUDA_GPU_HELD_H

#include "tools/runner/cuda/judge/gpu_judge.h"

/* What is used from now on belongs to this task's job. */
void hone_gpu_held_begin_job(struct hone_gpu_session *session, const char *task);
/* Gives back down to the limit. */
void hone_gpu_held_end_job(struct hone_gpu_session *session);
/* What is used from now on is not given back before the next frame. */
void hone_gpu_held_begin_frame(struct hone_gpu_session *session);

/* Gives back until so much is free, or nothing is left to give: for memory that somebody else is
 * about to make. */
int hone_gpu_held_make_free(struct hone_gpu_session *session, int64_t bytes, struct hone_err *err);
/* An exported range in place of what the room has. */
int hone_gpu_held_room(struct hone_gpu_session *session, struct hone_gpu_room *room, int64_t bytes,
                       struct hone_err *err);
/* Plain memory; the caller's. */
int hone_gpu_held_alloc(struct hone_gpu_session *session, int64_t bytes, const char *what,
                        hone_cu_ptr *ret, struct hone_err *err);
/* Could be had for a job that needs so much: what is free and what would be given back for it. */
int64_t hone_gpu_held_to_have(struct hone_gpu_session *session);
int64_t hone_gpu_held_bytes(const struct hone_gpu_session *session);
/* Everything, when the session ends. */
void hone_gpu_held_free(struct hone_gpu_session *session);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes for learners on a recorded lattice: what a version would be judged as is read from the
 * recording, so that thousands of episodes take seconds.
 *
 *     struct hone_episode e;
 *     hone_episode_begin(lattice, seed, &e);
 *     result = hone_episode_look(&e);
 *     hone_episode_step(&e, NULL, "C08", &result, err);
 *
 * Results have the members of kernel_evaluate's that a lattice knows, so that a reward is made of
 * both alike; beside them "strategies": those that are legal next, with the catalogue's guess. A
 * version's name ("commit") is "lattice-" and its state. A time is one of the recorded repeats, by
 * seed and state: the same steps under the same seed get the same answers. Any thread. */
#ifndef HONE_AGENTS_EPISODE_H
#define HONE_AGENTS_EPISODE_H

#include "agents/offline/lattice.h"

struct hone_episode {
    const struct hone_lattice *lattice; /* borrowed */
    int64_t seed;
    unsigned state; /* of the version that the next step starts from */
};

void hone_episode_begin(const struct hone_lattice *lattice, int64_t seed, struct hone_episode *ret);
/* The version as it stands. Owned. */
struct hone_json *hone_episode_look(const struct hone_episode *episode);
/* from: an earlier version's name; NULL: the last right one. What is right is the next start.
 * HONE_E_ARG: no such version, strategy or combination. Owned result. */
int hone_episode_step(struct hone_episode *episode, const char *from, const char *strategy,
                      struct hone_json **ret, struct hone_err *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The machine in prompts: what a version is built for and timed on, in a few short lines that stay
 * the same for a search (they belong to the stable part of a request). */
#ifndef HONE_AGENTS_PROMPT_MACHINE_H
#define HONE_AGENTS_PROMPT_MACHINE_H

#include "tools/device_facts.h"

/* At most HONE_LIMIT_MACHINE_BYTES, in the pool. cpu_rates, gpu_rates: measured ceilings as the
 * judge keeps them (machine.json, machine.json.GPU-...); NULL: not measured yet. What is not known
 * is not said. */
const char *hone_prompt_machine(const char *target, const struct hone_device_facts *facts,
                                const struct hone_json *cpu_rates,
                                const struct hone_json *gpu_rates, struct hone_pool *pool);
/* What times are taken on, one line: processor and cores, or the device's name. NULL: not known. */
const char *hone_machine_name(const struct hone_executor *executor, const char *target,
                              struct hone_pool *pool);
/* Asks executor and files of the workspace, for a search; in the pool. machine_path:
 * where the judge keeps its measured ceilings. */
const char *hone_prompt_machine_of(const struct hone_executor *executor, const char *machine_path,
                                   const char *target, struct hone_pool *pool);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/task/target.h"

#include <string.h>

#define CPU_NAME  "cpu"
#define CUDA_NAME "cuda"

const struct hone_target_traits hone_targets[HONE_N_TASK_TARGETS] = {
    [HONE_TASK_CPU] = {.name = CPU_NAME,
                       .language = HONE_LANGUAGE_C,
                       .extension = "c",
                       .naive_path = "kernels/naive.c",
                       .loose_math = {"-O3", "-ffast-math", NULL}},
    [HONE_TASK_CUDA] = {.name = CUDA_NAME,
                        .language = HONE_LANGUAGE_CUDA,
                        .has_device = true,
                        .extension = "cu",
                        .naive_path = "kernels/naive.cu",
                        .loose_math = {"-use_fast_math", NULL}},
};

const char *const hone_target_words[HONE_N_TASK_TARGETS + 1] = {
    [HONE_TASK_CPU] = CPU_NAME, [HONE_TASK_CUDA] = CUDA_NAME, [HONE_N_TASK_TARGETS] = NULL};

bool hone_task_target_parse(const char *word, enum hone_task_target *ret)
{
    for (size_t i = 0; word != NULL && i < HONE_N_TASK_TARGETS; i++) {
        if (strcmp(hone_targets[i].name, word) == 0) {
            *ret = (enum hone_task_target)i;
            return true;
        }
    }
    return false;
}

const struct hone_target_traits *hone_target_traits(const char *name)
{
    enum hone_task_target target = HONE_TASK_CPU;

    hone_task_target_parse(name, &target);
    return &hone_targets[target];
}

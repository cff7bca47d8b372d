/* SPDX-License-Identifier: Apache-2.0 */
/* `hone help environment`: every variable that hone reads. Those that stand for an option come from
 * the verbs' tables; the others are named here (tests/checks/docs.sh looks that none is missing).
 *
 * `hone help strategies`: the catalogue with its guides; docs/reference/strategies.md is made of it. */
#include <math.h>
#include <string.h>

#include "agents/planner/strategy_guide.h"
#include "server/verb.h"

static const struct {
    const char *name, *text;
} variables[] = {
    {"HONE_CC", "The C compiler. Default: /usr/bin/cc."},
    {"HONE_CXX", "The C++ compiler of CUDA sources' host side. Default: /usr/bin/g++, c++."},
    {"HONE_CUDA_HOME", "Folder of the CUDA toolkit: nvcc, nvdisasm, headers."},
    {"HONE_CUDA_INCLUDE", "Folder of CUDA's headers."},
    {"HONE_CUDA_LIB", "Folder where the CUDA driver, NVRTC and CUPTI are looked for first."},
    {"HONE_CUPTI_LIB", "Folder of CUPTI, of hone-runner started by hand."},
    {"CUDA_VISIBLE_DEVICES", "GPUs that a runner may use, as NVIDIA defines it."},
    {"HONE_DEVICE_JAIL", "on: no GPU job without a jail. off: without one at once (root only)."},
    {"HONE_LIBCLANG", "The libclang library that the rules read C with."},
    {"HONE_PYTHON", "The Python interpreter that has torch. Default: the first that has it."},
    {"HONE_TORCH_SECONDS", "Time limit of a PyTorch reference. Default and most: 120."},
    {"HONE_TORCH_COMPILE", "0: no confirmation is timed against torch.compile."},
    {"HONE_TORCH_DEVICE", "cpu: large sizes of a CUDA task from PyTorch are computed on the CPU."},
    {"HONE_SLURM", "Options of srun for --executor slurm."},
    {"HONE_OBJECTS",
     "Folder of compiled objects for all workspaces. Default: .hone/objects of each."},
    {"HONE_RUNNER_DIR", "Folder of hone-runner --serve. Default: /tmp/hone-runner-UID."},
    {"HONE_DATA", "Folder of the task packs and prompts. Default: share/hone beside hone."},
    {"HONE_LOG", "error, warn (default), info or debug: what goes to stderr."},
    {"HONE_TRACE", "File that gets a JSON line for each event inside hone."},
    {"XDG_CACHE_HOME", "Holds hone's own GPU kernels, compiled. Default: ~/.cache."},
    {"XDG_CONFIG_HOME", "Holds hone/config.json. Default: ~/.config."},
    {"XDG_DATA_HOME", "Holds what hone learns across workspaces. Default: ~/.local/share."},
    {"XDG_RUNTIME_DIR", "Holds the lock of this machine's timings. Default: /tmp."},
};

static bool is_before(const struct hone_verb *verb, size_t at, const char *env)
{
    for (size_t v = 0; v < hone_n_verbs; v++)
        for (size_t i = 0; i < hone_verbs[v]->n_opts; i++) {
            if (hone_verbs[v] == verb && i == at)
                return false;
            if (hone_verbs[v]->opts[i].env && !hone_verbs[v]->opts[i].is_positional &&
                strcmp(hone_verbs[v]->opts[i].env, env) == 0)
                return true;
        }
    return false;
}

void hone_environment_text(struct hone_buf *out)
{
    for (size_t v = 0; v < hone_n_verbs; v++)
        for (size_t i = 0; i < hone_verbs[v]->n_opts; i++) {
            const struct hone_opt *opt = &hone_verbs[v]->opts[i];
            if (opt->env && !opt->is_positional && !is_before(hone_verbs[v], i, opt->env))
                hone_buf_printf(out, "  %-22s Stands for --%s.\n", opt->env, opt->name);
        }
    for (size_t i = 0; i < HONE_COUNTOF(variables); i++)
        hone_buf_printf(out, "  %-22s %s\n", variables[i].name, variables[i].text);
}

void hone_strategies_text(struct hone_buf *out)
{
    static const char *const others[][2] = {
        {HONE_STRATEGY_NEW, "written anew from the task's description, by a model"},
        {HONE_STRATEGY_FREE, "an idea of a planning model or an agent that no other id names"},
    };
    for (size_t i = 0; i < hone_n_strategies; i++) {
        const struct hone_strategy *s = &hone_strategies[i];
        const struct hone_card *card = hone_card_of(s);
        hone_buf_printf(out, "%-4s %-5s %5.2fx  %s%s%s\n", s->id, s->target, exp2(s->gain),
                        s->words, card ? ": " : "", card ? card->how : "");
    }
    for (size_t i = 0; i < HONE_COUNTOF(others); i++)
        hone_buf_printf(out, "%-4s %-5s %6s  %s\n", others[i][0], "both", "-", others[i][1]);
}

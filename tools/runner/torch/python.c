/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an interpreter with torch by asking the usual ones, and tells what a jail has to show it
 * (python.h). The worker's texts are embedded, and written into the folder that becomes /work. */
#include "tools/runner/torch/python.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/embed.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

#define ASK_MS 20000

HONE_EMBED(hone_torch_worker_text, "tools/runner/torch/worker.py");
HONE_EMBED(hone_torch_describe_text, "tools/runner/torch/describe.py");
HONE_EMBED(hone_torch_naive_text, "tools/runner/torch/naive.py");
HONE_EMBED(hone_torch_loops_text, "tools/runner/torch/naive_loops.py");
HONE_EMBED(hone_torch_losses_text, "tools/runner/torch/naive_losses.py");
HONE_EMBED(hone_torch_layers_text, "tools/runner/torch/naive_layers.py");
HONE_EMBED(hone_torch_trace_text, "tools/runner/torch/naive_trace.py");
HONE_EMBED(hone_torch_parts_text, "tools/runner/torch/naive_parts.py");
HONE_EMBED(hone_torch_cuda_text, "tools/runner/torch/naive_cuda.py");
HONE_EMBED(hone_torch_cuda_parts_text, "tools/runner/torch/naive_cuda_parts.py");
HONE_EMBED(hone_torch_cuda_conv_text, "tools/runner/torch/naive_cuda_conv.py");
HONE_EMBED(hone_torch_cuda_norms_text, "tools/runner/torch/naive_cuda_norms.py");
HONE_EMBED(hone_torch_cuda_shapes_text, "tools/runner/torch/naive_cuda_shapes.py");
HONE_EMBED(hone_torch_cuda_groups_text, "tools/runner/torch/naive_cuda_groups.py");
HONE_EMBED(hone_torch_cuda_folds_text, "tools/runner/torch/naive_cuda_folds.py");
HONE_EMBED(hone_torch_model_text, "tools/runner/torch/model.py");
HONE_EMBED(hone_torch_forms_text, "tools/runner/torch/forms.py");
HONE_EMBED(hone_torch_form_flashinfer_text, "tools/runner/torch/form_flashinfer.py");
HONE_EMBED(hone_torch_form_leetgpu_text, "tools/runner/torch/form_leetgpu.py");
HONE_EMBED(hone_torch_form_gpumode_text, "tools/runner/torch/form_gpumode.py");

static const char question[] =
    "import importlib.util as u, json, os, sys, sysconfig as c\n"
    "s = u.find_spec('torch')\n"
    "if s is None or s.origin is None: sys.exit(3)\n"
    "d = {}\n"
    "exec(open(os.path.join(os.path.dirname(s.origin), 'version.py')).read(), d)\n"
    "paths = [os.path.realpath(p) for p in sys.path if p and os.path.isdir(p)]\n"
    "real = os.path.realpath(sys.executable)\n"
    "shown = [real, c.get_path('stdlib'), c.get_path('platstdlib')] + paths\n"
    "lib = os.path.join(os.path.dirname(os.path.dirname(real)), 'lib')\n"
    "shown += [c.get_path('include'), lib, '/etc/alternatives', '/proc/cpuinfo', "
    "'/sys/devices/system/cpu']\n"
    "keep = []\n"
    "for p in shown:\n"
    "    if os.path.exists(p) and not any((p + '/').startswith(k.rstrip('/') + '/')\n"
    "            for k in keep + ['/usr/lib', '/usr/local/lib', '/lib']): keep.append(p)\n"
    "print(json.dumps({'program': real, 'version': sys.version.split()[0],\n"
    "    'torch': d.get('__version__'), 'cuda': d.get('cuda'),\n"
    "    'paths': ':'.join(paths), 'shown': keep}))\n";

/* True: this interpreter finds torch. */
static bool ask(const char *program, struct hone_json **ret)
{
    const char *const argv[] = {program, "-s", "-c", question, NULL};
    struct hone_process_spec spec = {.argv = argv, .deadline_ns = hone_deadline_in_ms(ASK_MS)};
    struct hone_process_result result;
    if (access(program, X_OK) != 0 || hone_process_run(&spec, &result, NULL) < 0)
        return false;
    bool is_good = result.exit_status == 0 &&
                   hone_json_parse(result.out, result.out_len, ret, NULL) == 0 &&
                   hone_json_get_str(*ret, "program", NULL) != NULL &&
                   hone_json_get_str(*ret, "torch", NULL) != NULL;
    hone_process_result_done(&result);
    return is_good;
}

static bool ask_usual(struct hone_json **ret)
{
    static const char *const usual[] = {"/usr/local/bin/python3", "/usr/bin/python3"};
    for (size_t i = 0; i < HONE_COUNTOF(usual); i++) {
        if (ask(usual[i], ret))
            return true;
        hone_json_free(*ret);
        *ret = NULL;
    }
    return false;
}

int hone_python_find(struct hone_pool *pool, struct hone_python *ret, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    const char *own = getenv("HONE_PYTHON");
    bool has_own = own != NULL && own[0] != '\0';
    if (has_own && !ask(own, &json))
        return hone_fail(err, HONE_E_UNSUPPORTED, "HONE_PYTHON is '%.200s', which finds no torch",
                         own);
    if (!has_own && !ask_usual(&json))
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "no python3 with torch was found; `make deps-torch` installs Debian's, or "
                         "set HONE_PYTHON to an interpreter that has it");
    const char *cuda = hone_json_get_str(json, "cuda", NULL);
    *ret = (struct hone_python){
        .program = hone_pool_strdup(pool, hone_json_get_str(json, "program", "")),
        .version = hone_pool_strdup(pool, hone_json_get_str(json, "version", "")),
        .torch = hone_pool_strdup(pool, hone_json_get_str(json, "torch", "")),
        .cuda = cuda == NULL ? NULL : hone_pool_strdup(pool, cuda),
        .paths = hone_pool_strdup(pool, hone_json_get_str(json, "paths", "")),
    };
    size_t n = 0;
    for (const struct hone_json *p = hone_json_first(hone_json_get(json, "shown")); p != NULL;
         p = hone_json_next(p)) {
        if (n == HONE_PYTHON_PATHS)
            return hone_fail(err, HONE_E_LIMIT, "'%s' looks for modules in more than %d folders",
                             ret->program, HONE_PYTHON_PATHS);
        ret->shown[n++] = hone_pool_strdup(pool, hone_json_str(p));
    }
    return 0;
}

struct hone_json *hone_python_facts(void)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_python python;
    struct hone_json *json = hone_json_new_object();
    if (hone_python_find(pool, &python, &err) < 0) {
        hone_json_set_str(json, "why", err.message);
        return json;
    }
    hone_json_set_str(json, "program", python.program);
    hone_json_set_str(json, "version", python.version);
    hone_json_set_str(json, "torch", python.torch);
    if (python.cuda != NULL)
        hone_json_set_str(json, "cuda", python.cuda);
    return json;
}

int64_t hone_torch_seconds(void)
{
    const char *given = getenv("HONE_TORCH_SECONDS");
    int64_t seconds = given != NULL ? strtoll(given, NULL, 10) : 0;
    return seconds >= 1 && seconds < HONE_LIMIT_TORCH_SECONDS ? seconds : HONE_LIMIT_TORCH_SECONDS;
}

const char *hone_python_device(const struct hone_python *python)
{
    const char *given = getenv("HONE_TORCH_DEVICE");
    if (given != NULL && strcmp(given, "cpu") == 0)
        return "cpu";
    return python->cuda != NULL ? "cuda" : NULL;
}

const char *const *hone_python_env(const struct hone_python *python, const char *device,
                                   struct hone_pool *pool)
{
    const char **env = hone_pool_alloc(pool, 12 * sizeof *env);
    size_t n = 0;
    env[n++] = "PATH=/usr/bin:/bin";
    env[n++] = "LANG=C.UTF-8";
    env[n++] = "HOME=/tmp";
    env[n++] = "PYTHONDONTWRITEBYTECODE=1";
    env[n++] = "OMP_NUM_THREADS=1";
    env[n++] = "MKL_NUM_THREADS=1";
    env[n++] = hone_pool_printf(pool, "PYTHONPATH=/work:%s", python->paths);
    env[n++] = hone_pool_printf(pool, "HONE_TORCH_SECONDS=%lld", (long long)hone_torch_seconds());
    if (device != NULL) {
        env[n++] = hone_pool_printf(pool, "HONE_TORCH_DEVICE=%s", device);
        env[n++] = hone_pool_printf(pool, "HONE_TORCH_HOST_ELEMENTS=%d", HONE_LIMIT_TORCH_ON_HOST);
    }
    env[n] = NULL;
    return env;
}

int hone_python_put_worker(const char *folder, struct hone_err *err)
{
    const struct {
        const char *name, *text;
    } files[] = {{"worker.py", hone_torch_worker_text},
                 {"describe.py", hone_torch_describe_text},
                 {"naive.py", hone_torch_naive_text},
                 {"naive_loops.py", hone_torch_loops_text},
                 {"naive_losses.py", hone_torch_losses_text},
                 {"naive_layers.py", hone_torch_layers_text},
                 {"naive_trace.py", hone_torch_trace_text},
                 {"naive_parts.py", hone_torch_parts_text},
                 {"naive_cuda.py", hone_torch_cuda_text},
                 {"naive_cuda_parts.py", hone_torch_cuda_parts_text},
                 {"naive_cuda_conv.py", hone_torch_cuda_conv_text},
                 {"naive_cuda_norms.py", hone_torch_cuda_norms_text},
                 {"naive_cuda_shapes.py", hone_torch_cuda_shapes_text},
                 {"naive_cuda_groups.py", hone_torch_cuda_groups_text},
                 {"naive_cuda_folds.py", hone_torch_cuda_folds_text},
                 {"model.py", hone_torch_model_text},
                 {"forms.py", hone_torch_forms_text},
                 {"form_leetgpu.py", hone_torch_form_leetgpu_text},
                 {"form_gpumode.py", hone_torch_form_gpumode_text},
                 {"form_flashinfer.py", hone_torch_form_flashinfer_text}};
    for (size_t i = 0; i < HONE_COUNTOF(files); i++) {
        HONE_AUTOFREE char *path = hone_path_join(folder, files[i].name, NULL);
        int code = hone_file_write(path, files[i].text, strlen(files[i].text), 0644, false, err);
        if (code < 0)
            return code;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Forms flashinfer and huggingface: the kernel behind a shim in C++ that other people's builders
 * compile.
 *
 * Both shims take tensors, read the axes from their sizes, check what the verdict rests on, and call
 * the function. They differ in a tensor's type and in how the function is made known. */
#include "tools/export/export_internal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/json.h"

struct dialect {
    const char *tensor; /* its type in C++ */
    const char *check;  /* text of the function check(t, name, rank, dtype) */
};

/* The element type is compared by kind and bits in one, by its name in the other. */
static const struct dialect ffi = {
    "tvm::ffi::TensorView",
    "static void check(tvm::ffi::TensorView t, const char *name, int rank, int code, int bits,\n"
    "                  int device)\n{\n"
    "    if (t.ndim() != rank || t.dtype().code != code || t.dtype().bits != bits ||\n"
    "        !t.IsContiguous() || t.device().device_type != device ||\n"
    "        reinterpret_cast<uintptr_t>(t.data_ptr()) % 64 != 0)\n"
    "        TVM_FFI_THROW(ValueError) << name << \": other rank, type, device or layout than the "
    "kernel takes\";\n}\n"};
static const struct dialect torch = {
    "at::Tensor",
    "static void check(const at::Tensor &t, const char *name, int rank, at::ScalarType type, bool "
    "is_cuda)\n{\n"
    "    TORCH_CHECK(t.dim() == rank && t.scalar_type() == type && t.is_contiguous() &&\n"
    "                    t.is_cuda() == is_cuda &&\n"
    "                    reinterpret_cast<uintptr_t>(t.data_ptr()) % 64 == 0,\n"
    "                name, \": other rank, type, device or layout than the kernel takes\");\n}\n"};

static const struct {
    const char *code;  /* of DLPack */
    const char *torch; /* NULL: torch has none that every version knows */
} dtypes[] = {
    [HONE_DTYPE_F16] = {"kDLFloat", "at::kHalf"},
    [HONE_DTYPE_BF16] = {"kDLBfloat", "at::kBFloat16"},
    [HONE_DTYPE_F32] = {"kDLFloat", "at::kFloat"},
    [HONE_DTYPE_F64] = {"kDLFloat", "at::kDouble"},
    [HONE_DTYPE_I8] = {"kDLInt", "at::kChar"},
    [HONE_DTYPE_I32] = {"kDLInt", "at::kInt"},
    [HONE_DTYPE_I64] = {"kDLInt", "at::kLong"},
    [HONE_DTYPE_BOOL] = {"kDLBool", "at::kBool"},
    [HONE_DTYPE_U8] = {"kDLUInt", "at::kByte"},
    [HONE_DTYPE_I16] = {"kDLInt", "at::kShort"},
    [HONE_DTYPE_U16] = {"kDLUInt", NULL},
    [HONE_DTYPE_U32] = {"kDLUInt", NULL},
    [HONE_DTYPE_U64] = {"kDLUInt", NULL},
};

struct shim {
    const struct hone_export_work *work;
    const struct dialect *dialect;
    struct hone_buf *text;
};

static const char *c_name(const struct hone_export_work *work, enum hone_dtype dtype)
{
    return work->is_cuda ? hone_dtype_cuda_name(dtype) : hone_dtype_c_name(dtype);
}

static const struct hone_tensor *tensor_at(const struct hone_task *task, size_t i)
{
    return i < task->n_inputs ? &task->inputs[i] : &task->outputs[i - task->n_inputs];
}

static void add_checks(const struct shim *s, size_t n_tensors)
{
    const struct hone_export_work *work = s->work;

    for (size_t i = 0; i < n_tensors; i++) {
        const struct hone_tensor *t = tensor_at(work->task, i);
        hone_buf_printf(s->text, "    check(%s, \"%s\", %zu, ", t->name, t->name, t->rank);
        if (s->dialect == &ffi)
            hone_buf_printf(s->text, "%s, %d, %s);\n", dtypes[t->dtype].code,
                            (int)hone_dtype_bytes(t->dtype) * 8,
                            work->is_cuda ? "kDLCUDA" : "kDLCPU");
        else
            hone_buf_printf(s->text, "%s, %s);\n", dtypes[t->dtype].torch,
                            work->is_cuda ? "true" : "false");
    }
}

/* Where a size can be read; false: in no tensor of the first n. */
static bool find_size(const struct hone_task *task, int axis, size_t n, const char **ret_tensor,
                      size_t *ret_dim)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < tensor_at(task, i)->rank; d++)
            if (tensor_at(task, i)->shape[d] == axis) {
                *ret_tensor = tensor_at(task, i)->name;
                *ret_dim = d;
                return true;
            }
    return false;
}

/* Integer arithmetic that C and the task's formulas write alike, but for the division. */
static const char *formula_of(const struct hone_export_work *work, const char *formula)
{
    char *text = hone_pool_strdup(work->pool, formula), *out = text;

    for (const char *c = text; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr(" _+-*/()", *c) == NULL)
            return NULL;
        if (strncmp(c, "**", 2) == 0 || (*c == '/' && c[1] != '/'))
            return NULL;
        *out++ = *c;
        c += *c == '/';
    }
    *out = '\0';
    return text;
}

static int add_axes(const struct shim *s, size_t n_tensors, struct hone_err *err)
{
    const struct hone_task *task = s->work->task;

    for (size_t a = 0; a < task->n_axes; a++) {
        const struct hone_axis *axis = &task->axes[a];
        const char *tensor = NULL, *formula = NULL;
        size_t dim = 0;
        if (axis->kind == HONE_AXIS_CONST)
            hone_buf_printf(s->text, "    const int64_t %s = %lld;\n", axis->name,
                            (long long)axis->value);
        else if (find_size(task, (int)a, n_tensors, &tensor, &dim))
            hone_buf_printf(s->text, "    const int64_t %s = %s.size(%zu);\n", axis->name, tensor,
                            dim);
        else if (axis->kind == HONE_AXIS_EXPR &&
                 (formula = formula_of(s->work, axis->expression)) != NULL)
            hone_buf_printf(s->text, "    const int64_t %s = %s;\n", axis->name, formula);
        else
            return hone_fail_at(err, HONE_E_ARG, "form", "no tensor tells the size %s", axis->name);
    }
    return 0;
}

/* Sizes that agree, in the range that was verified. */
static void add_sizes(const struct shim *s, size_t n_tensors)
{
    const struct hone_task *task = s->work->task;

    hone_buf_str(s->text, "    const bool is_legal = true");
    for (size_t i = 0; i < n_tensors; i++)
        for (size_t d = 0; d < tensor_at(task, i)->rank; d++)
            hone_buf_printf(s->text, " &&\n        %s.size(%zu) == %s", tensor_at(task, i)->name, d,
                            task->axes[tensor_at(task, i)->shape[d]].name);
    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR)
            hone_buf_printf(s->text, " &&\n        %s >= %lld && %s <= %lld && %s %% %lld == 0",
                            task->axes[a].name, (long long)task->axes[a].min, task->axes[a].name,
                            (long long)task->axes[a].max, task->axes[a].name,
                            (long long)hone_max_i64(task->axes[a].multiple, 1));
    hone_buf_str(s->text, ";\n");
    hone_buf_str(s->text,
                 s->dialect == &ffi
                     ? "    if (!is_legal)\n        TVM_FFI_THROW(ValueError) << \"sizes that "
                       "disagree, or that were not verified\";\n"
                     : "    TORCH_CHECK(is_legal, \"sizes that disagree, or that were not "
                       "verified\");\n");
}

static void add_call(const struct shim *s, const char *stream)
{
    const struct hone_task *task = s->work->task;

    hone_buf_printf(s->text, "    %s(", task->name);
    for (size_t i = 0; i < task->n_inputs + task->n_outputs; i++)
        hone_buf_printf(s->text, "%sstatic_cast<%s%s *>(%s.data_ptr())", i > 0 ? ",\n        " : "",
                        i < task->n_inputs ? "const " : "",
                        c_name(s->work, tensor_at(task, i)->dtype), tensor_at(task, i)->name);
    for (size_t i = 0; i < task->n_scalars; i++)
        hone_buf_printf(s->text, ", static_cast<%s>(%s)", c_name(s->work, task->scalars[i].dtype),
                        task->scalars[i].name);
    for (size_t a = 0; a < task->n_axes; a++)
        hone_buf_printf(s->text, ", %s", task->axes[a].name);
    hone_buf_printf(s->text, "%s%s);\n", s->work->is_cuda ? ", " : "",
                    s->work->is_cuda ? stream : "");
}

static const struct hone_scalar *scalar_of(const struct hone_task *task, const char *name)
{
    for (size_t i = 0; i < task->n_scalars; i++)
        if (strcmp(task->scalars[i].name, name) == 0)
            return &task->scalars[i];
    return NULL;
}

/* The definition's own order, where the record of the import tells it: scalars stand between the
 * inputs there. */
static void add_parameters(const struct shim *s, const struct hone_json *record)
{
    const struct hone_task *task = s->work->task;
    const char *between = "";

    for (const struct hone_json *a = hone_json_first(hone_json_get(record, "arguments")); a != NULL;
         a = hone_json_next(a)) {
        const char *name = hone_json_get_str(a, "name", NULL);
        if (name == NULL)
            hone_buf_printf(s->text, "%sint64_t", between);
        else
            hone_buf_printf(s->text, "%s%s %s", between,
                            scalar_of(task, name) ? "double" : s->dialect->tensor, name);
        between = ", ";
    }
    for (size_t i = 0; i < task->n_inputs && record == NULL; i++, between = ", ")
        hone_buf_printf(s->text, "%s%s %s", between, s->dialect->tensor, task->inputs[i].name);
    for (size_t i = 0; i < task->n_scalars && record == NULL; i++, between = ", ")
        hone_buf_printf(s->text, "%sdouble %s", between, task->scalars[i].name);
}

static void note_constraints(struct hone_export_work *work)
{
    if (work->task->n_constraints > 0)
        hone_export_note(work, "the shim does not check the task's constraints");
}

static const char *kernel_file(const struct hone_export_work *work)
{
    return hone_pool_printf(work->pool, "%s.%s", work->task->name, work->is_cuda ? "cu" : "c");
}

/* ---- FlashInfer-Bench ---- */

static int ffi_text(const struct hone_export_work *work, const struct hone_json *record,
                    const char **ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const struct shim s = {work, &ffi, &text};
    const struct hone_task *task = work->task;
    size_t n = task->n_inputs + task->n_outputs;

    hone_buf_printf(&text,
                    "#include <tvm/ffi/container/tensor.h>\n#include <tvm/ffi/error.h>\n"
                    "#include <tvm/ffi/extra/c_env_api.h>\n#include <tvm/ffi/function.h>\n\n"
                    "#include \"%s.h\"\n\n%s\nstatic void run(",
                    task->name, ffi.check);
    add_parameters(&s, record);
    for (size_t o = 0; o < task->n_outputs; o++)
        hone_buf_printf(&text, ", %s %s", ffi.tensor, task->outputs[o].name);
    hone_buf_str(&text, ")\n{\n");
    add_checks(&s, n);
    int rc = add_axes(&s, n, err);
    if (rc < 0)
        return rc;
    add_sizes(&s, n);
    add_call(&s, hone_pool_printf(work->pool,
                                  "static_cast<cudaStream_t>(\n        TVMFFIEnvGetStream(kDLCUDA, "
                                  "%s.device().device_id))",
                                  task->outputs[0].name));
    hone_buf_str(&text, "}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n");
    *ret = hone_pool_strdup(work->pool, text.data);
    return 0;
}

static void push_source(struct hone_json *all, const char *path, const char *content)
{
    struct hone_json *one = hone_json_new_object();

    hone_json_set_str(one, "path", path);
    hone_json_set_str(one, "content", content);
    hone_json_push(all, one);
}

static const char *device_of(const struct hone_export_work *work)
{
    const struct hone_machine_report *machine = work->report ? work->report->machine : NULL;

    if (work->is_cuda)
        return "NVIDIA GPU";
    return machine != NULL && machine->cpu != NULL ? machine->cpu : "CPU";
}

/* It was right, and so its times count. */
static bool is_right(const struct hone_report *report)
{
    static const enum hone_verdict right[] = {HONE_VERDICT_SCREENED, HONE_VERDICT_FASTER,
                                              HONE_VERDICT_SAME, HONE_VERDICT_SLOWER,
                                              HONE_VERDICT_INCONCLUSIVE};
    for (size_t i = 0; report != NULL && i < HONE_COUNTOF(right); i++)
        if (report->verdict == right[i])
            return true;
    return false;
}

static struct hone_json *solution_json(const struct hone_export_work *work, const char *shim,
                                       const char *definition, const struct hone_export *export)
{
    struct hone_json *json = hone_json_new_object(), *spec = hone_json_new_object();
    struct hone_json *sources = hone_json_new_array(), *hardware = hone_json_new_array();
    const char *entry = work->is_cuda ? "binding.cu" : "binding.cpp";

    hone_json_push(hardware, hone_json_new_str(device_of(work)));
    hone_json_set_str(spec, "language", work->is_cuda ? "cuda" : "cpp");
    hone_json_set(spec, "target_hardware", hardware);
    hone_json_set_str(spec, "entry_point", hone_pool_printf(work->pool, "%s::run", entry));
    hone_json_set(spec, "dependencies", hone_json_new_array());
    hone_json_set_bool(spec, "destination_passing_style", true);
    hone_json_set_str(spec, "binding", "tvm-ffi");
    push_source(sources, entry, shim);
    for (size_t i = 0; i < export->n_files; i++)
        push_source(sources, export->files[i].name, export->files[i].text);
    hone_json_set_str(json, "name",
                      hone_pool_printf(work->pool, "%s_hone_%.12s", work->task->name,
                                       work->commit != NULL ? work->commit : "baseline"));
    hone_json_set_str(json, "definition", definition);
    hone_json_set_str(json, "author", "hone");
    hone_json_set(json, "spec", spec);
    hone_json_set(json, "sources", sources);
    hone_json_set_str(
        json, "description",
        hone_pool_printf(work->pool, "%s; compiled by: %s", export->verdict, export->compile));
    return json;
}

static struct hone_json *workload_json(const struct hone_task *task,
                                       const struct hone_workload_report *w)
{
    struct hone_json *json = hone_json_new_object(), *axes = hone_json_new_object();
    struct hone_json *inputs = hone_json_new_object();

    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR)
            hone_json_set_i64(axes, task->axes[a].name,
                              hone_json_get_i64(w->axes, task->axes[a].name, 0));
    for (size_t i = 0; i < task->n_inputs; i++) {
        struct hone_json *one = hone_json_new_object();
        hone_json_set_str(one, "type", "random");
        hone_json_set(inputs, task->inputs[i].name, one);
    }
    for (size_t i = 0; i < task->n_scalars; i++) {
        struct hone_json *one = hone_json_new_object();
        hone_json_set_str(one, "type", "scalar");
        hone_json_set_f64(one, "value", task->scalars[i].value);
        hone_json_set(inputs, task->scalars[i].name, one);
    }
    hone_json_set(json, "axes", axes);
    hone_json_set(json, "inputs", inputs);
    hone_json_set_str(json, "uuid", w->id);
    return json;
}

static struct hone_json *evaluation_json(const struct hone_export_work *work,
                                         const struct hone_workload_report *w,
                                         const struct hone_export *export)
{
    struct hone_json *json = hone_json_new_object(), *environment = hone_json_new_object();
    struct hone_json *correctness = hone_json_new_object(), *performance = hone_json_new_object();
    const struct hone_check_report *checks = work->report->checks.v;
    double most_abs = 0, most_rel = 0, ns = hone_workload_time_ns(w, "candidate");
    double base = hone_workload_time_ns(w, "baseline");
    char when[32];

    for (size_t i = 0; i < work->report->checks.n; i++) {
        most_abs = fmax(most_abs, isnan(checks[i].max_abs_err) ? 0 : checks[i].max_abs_err);
        most_rel = fmax(most_rel, isnan(checks[i].max_rel_err) ? 0 : checks[i].max_rel_err);
    }
    hone_wall_text(work->measured_s * 1000, when);
    hone_json_set_str(environment, "hardware", device_of(work));
    hone_json_set(environment, "libs", hone_json_new_object());
    hone_json_set_f64(correctness, "max_relative_error", most_rel);
    hone_json_set_f64(correctness, "max_absolute_error", most_abs);
    hone_json_set_f64(performance, "latency_ms", ns / 1e6);
    hone_json_set_f64(performance, "reference_latency_ms", base / 1e6);
    hone_json_set_f64(performance, "speedup_factor", ns > 0 ? base / ns : 0);
    hone_json_set_str(json, "status", "PASSED");
    hone_json_set(json, "environment", environment);
    hone_json_set_str(json, "timestamp", when);
    hone_json_set_str(json, "log", export->verdict);
    hone_json_set(json, "correctness", correctness);
    hone_json_set(json, "performance", performance);
    return json;
}

/* A line for each public size that was timed. */
static const char *trace_text(const struct hone_export_work *work, const char *definition,
                              const char *solution, const struct hone_export *export)
{
    const char *all = "";
    const struct hone_workload_report *w = work->report->workloads.v;

    for (size_t i = 0; i < work->report->workloads.n; i++) {
        HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
        if (w[i].is_hidden || !(hone_workload_time_ns(&w[i], "candidate") > 0))
            continue;
        hone_json_set_str(json, "definition", definition);
        hone_json_set(json, "workload", workload_json(work->task, &w[i]));
        hone_json_set_str(json, "solution", solution);
        hone_json_set(json, "evaluation", evaluation_json(work, &w[i], export));
        HONE_AUTOFREE char *line = hone_json_print(json);
        all = hone_pool_printf(work->pool, "%s%s\n", all, line);
    }
    return all;
}

int hone_export_flashinfer(struct hone_export_work *work, struct hone_export *ret,
                           struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *record = NULL;
    const char *shim = NULL;
    int rc = hone_export_record(work, &record, err);

    if (rc == 0)
        rc = ffi_text(work, record, &shim, err);
    if (rc < 0)
        return rc;
    const char *definition = hone_json_get_str(record, "definition", work->task->name);
    HONE_AUTOJSON struct hone_json *json = solution_json(work, shim, definition, ret);
    HONE_AUTOFREE char *text = hone_json_print_pretty(json);
    const char *name = hone_json_get_str(json, "name", "");
    note_constraints(work);
    ret->n_files = 0; /* they stand in the solution */
    hone_export_add(ret, hone_pool_printf(work->pool, "%s.json", name),
                    hone_pool_printf(work->pool, "%s\n", text));
    if (is_right(work->report))
        hone_export_add(ret, hone_pool_printf(work->pool, "%s.trace.jsonl", name),
                        trace_text(work, definition, name, ret));
    else
        hone_export_note(work, "no trace: nothing was measured");
    return 0;
}

/* ---- Hugging Face's kernel-builder ---- */

static void add_empty(const struct shim *s)
{
    const struct hone_task *task = s->work->task;

    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tensor *t = &task->outputs[o];
        hone_buf_printf(s->text, "    at::Tensor %s = at::empty({", t->name);
        for (size_t d = 0; d < t->rank; d++)
            hone_buf_printf(s->text, "%s%s", d > 0 ? ", " : "", task->axes[t->shape[d]].name);
        hone_buf_printf(s->text, "}, %s.options().dtype(%s));\n", task->inputs[0].name,
                        dtypes[t->dtype].torch);
    }
}

static const char *result_of(const struct hone_export_work *work, const char *one, bool is_names)
{
    const char *all = "";

    for (size_t o = 0; o < work->task->n_outputs; o++)
        all = hone_pool_printf(work->pool, "%s%s%s", all, o > 0 ? ", " : "",
                               is_names ? work->task->outputs[o].name : one);
    return all;
}

static const char *schema_of(const struct hone_export_work *work)
{
    const struct hone_task *task = work->task;
    const char *text = hone_pool_printf(work->pool, "%s(", task->name);

    for (size_t i = 0; i < task->n_inputs + task->n_scalars; i++)
        text = hone_pool_printf(work->pool, "%s%s%s %s", text, i > 0 ? ", " : "",
                                i < task->n_inputs ? "Tensor" : "float",
                                i < task->n_inputs ? task->inputs[i].name
                                                   : task->scalars[i - task->n_inputs].name);
    return hone_pool_printf(work->pool, task->n_outputs == 1 ? "%s) -> %s" : "%s) -> (%s)", text,
                            result_of(work, "Tensor", false));
}

static int torch_text(const struct hone_export_work *work, const char **ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const struct shim s = {work, &torch, &text};
    const struct hone_task *task = work->task;
    bool is_one = task->n_outputs == 1;

    hone_buf_printf(&text,
                    "#include <torch/library.h>\n#include <ATen/ATen.h>\n%s\n"
                    "#include \"registration.h\"\n#include \"../%s/%s.h\"\n\n%s\nstatic ",
                    work->is_cuda ? "#include <ATen/cuda/CUDAContext.h>\n"
                                    "#include <c10/cuda/CUDAGuard.h>\n"
                                  : "",
                    task->name, task->name, torch.check);
    hone_buf_printf(&text, is_one ? "%s run(" : "std::tuple<%s> run(",
                    result_of(work, "at::Tensor", false));
    add_parameters(&s, NULL);
    hone_buf_str(&text, ")\n{\n");
    add_checks(&s, task->n_inputs);
    int rc = add_axes(&s, task->n_inputs, err);
    if (rc < 0)
        return rc;
    add_sizes(&s, task->n_inputs);
    if (work->is_cuda)
        hone_buf_printf(&text, "    const c10::cuda::CUDAGuard guard(%s.device());\n",
                        task->inputs[0].name);
    add_empty(&s);
    add_call(&s, "at::cuda::getCurrentCUDAStream().stream()");
    hone_buf_printf(&text, is_one ? "    return %s;\n}\n\n" : "    return {%s};\n}\n\n",
                    result_of(work, NULL, true));
    hone_buf_printf(&text,
                    "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops)\n{\n    ops.def(\"%s\");\n"
                    "    ops.impl(\"%s\", torch::%s, &run);\n}\n\n"
                    "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n",
                    schema_of(work), task->name, work->is_cuda ? "kCUDA" : "kCPU");
    *ret = hone_pool_strdup(work->pool, text.data);
    return 0;
}

int hone_export_huggingface(struct hone_export_work *work, struct hone_export *ret,
                            struct hone_err *err)
{
    struct hone_pool *pool = work->pool;
    const char *name = work->task->name, *shim = NULL, *backend = work->is_cuda ? "cuda" : "cpu";
    const char *flags = work->is_cuda ? "\"-O3\"" : "\"-O3\", \"-fopenmp\"";

    for (size_t i = 0; i < work->task->n_inputs + work->task->n_outputs; i++)
        if (dtypes[tensor_at(work->task, i)->dtype].torch == NULL)
            return hone_fail_at(err, HONE_E_ARG, "form", "'%s' has a type that torch lacks",
                                tensor_at(work->task, i)->name);
    if (work->task->n_inputs == 0)
        return hone_fail_at(err, HONE_E_ARG, "form", "no input tells the device");
    for (size_t i = 0; i < work->flags.n; i++)
        flags = hone_pool_printf(pool, "%s, \"%s\"", flags, work->flags.v[i]);
    int rc = torch_text(work, &shim, err);
    if (rc < 0)
        return rc;
    note_constraints(work);
    for (size_t i = 0; i < ret->n_files; i++)
        ret->files[i].name = hone_pool_printf(pool, "%s/%s", name, ret->files[i].name);
    hone_export_add(ret, "torch-ext/torch_binding.cpp", shim);
    hone_export_add(ret, hone_pool_printf(pool, "torch-ext/%s/__init__.py", name),
                    hone_pool_printf(pool,
                                     "from ._ops import ops\n\n%s = ops.%s\n__all__ = [\"%s\"]\n",
                                     name, name, name));
    hone_export_add(ret, "build.toml",
                    hone_pool_printf(pool,
                                     "[general]\nname = \"%s\"\nuniversal = false\n\n[torch]\n"
                                     "src = [\"torch-ext/torch_binding.cpp\"]\n\n[kernel.%s]\n"
                                     "backend = \"%s\"\ndepends = [\"torch\"]\n"
                                     "src = [\"%s/%s\", \"%s/%s.h\"]\n"
                                     "%s-flags = [%s]\n",
                                     name, name, backend, name, kernel_file(work), name, name,
                                     work->is_cuda ? "cuda" : "cxx", flags));
    hone_export_add(
        ret, "flake.nix",
        hone_pool_printf(pool,
                         "{\n  description = \"%s, exported by hone\";\n  inputs = {\n"
                         "    kernel-builder.url = \"github:huggingface/kernel-builder\";\n  };\n"
                         "  outputs = { self, kernel-builder }:\n"
                         "    kernel-builder.lib.genFlakeOutputs {\n      path = ./.;\n"
                         "      rev = self.shortRev or self.dirtyShortRev or "
                         "self.lastModifiedDate;\n    };\n}\n",
                         name));
    return 0;
}

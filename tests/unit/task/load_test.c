/* SPDX-License-Identifier: Apache-2.0 */
/* Loading: what a good pack gives, and that each kind of bad one is refused with its place. */
#include <string.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "workspace/base/file.h"
#include "workspace/base/json.h"
#include "workspace/task/task.h"

static const char good[] =
    "{\"name\":\"scale\",\"axes\":{\"N\":{\"type\":\"var\",\"max\":1000,\"multiple\":4},"
    "\"P\":{\"type\":\"expr\",\"expression\":\"N + 1\"},\"C\":{\"type\":\"const\",\"value\":3}},"
    "\"inputs\":{\"x\":{\"shape\":[\"N\",\"C\"],\"dtype\":\"float32\"}},"
    "\"outputs\":{\"y\":{\"shape\":[\"P\"],\"dtype\":\"float32\"}},"
    "\"scalars\":{\"alpha\":{\"dtype\":\"float32\",\"value\":1.5}},"
    "\"constraints\":[\"N < 900\"],"
    "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"oracle\":{\"items\":\"P\"},\"flops\":\"N\",\"bytes\":"
    "\"4*N\"}";
static const char good_loads[] =
    "{\"id\":\"a\",\"axes\":{\"N\":64}}\n\n{\"id\":\"b\",\"axes\":{\"N\":8}}\n";

static int parse(const char *task, const char *loads, struct hone_task **ret, struct hone_err *err)
{
    return hone_task_parse(task, strlen(task), loads, strlen(loads), "/nowhere", ret, err);
}

START_TEST(a_good_task)
{
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(parse(good, good_loads, &task, &err) == 0, "%s: %s", err.path, err.message);
    ck_assert_uint_eq(task->n_workloads, 2);
    ck_assert_int_eq(task->workloads[0].axes[1], 65);
    ck_assert_int_eq(task->workloads[1].axes[2], 3);
    ck_assert_int_eq(hone_tensor_elements(task, &task->inputs[0], &task->workloads[0]), 192);
    ck_assert_int_eq(task->axes[0].draw_min, 4);
    ck_assert_int_eq(task->axes[0].draw_max, 64);
    char *signature = hone_task_signature(task);
    ck_assert_str_eq(
        signature,
        "void scale(const float *x, float *y, float alpha, int64_t N, int64_t P, int64_t C)");
    free(signature);
    ck_assert_ptr_eq(hone_task_workload(task, "b"), &task->workloads[1]);
    ck_assert_ptr_null(hone_task_workload(task, "c"));
    struct hone_json *json = hone_task_describe(task);
    ck_assert_str_eq(hone_json_get_str(json, "name", ""), "scale");
    ck_assert_uint_eq(hone_json_size(hone_json_get(json, "workloads")), 2);
    hone_json_free(json);
    hone_task_free(task);
}
END_TEST

/* Each row changes one piece of the good text. */
static const struct {
    const char *from, *to, *path, *message;
} bad[] = {
    {"\"name\":\"scale\"", "\"name\":\"2x\"", "task.json: name", "identifier"},
    {"\"name\":\"scale\"", "\"name\":\"while\"", "task.json: name", "meaning in C"},
    {"\"name\":\"scale\"", "\"name\":\"exp\"", "task.json: name", "meaning in C"},
    {"\"name\":\"scale\"", "\"name\":\"../x\"", "task.json: name", "identifier"},
    {"\"name\":\"scale\"", "\"nam\":\"scale\"", "task.json", "nam"},
    {"\"name\":\"scale\"", "\"name\":\"N\"", "task.json: axes.N", "also used"},
    {"\"y\":{\"shape\"", "\"x\":{\"shape\"", "task.json: tolerance", ""},
    {"\"x\":{\"shape\"", "\"N\":{\"shape\"", "task.json: inputs.N", "also used"},
    {"\"x\":{\"shape\"", "\"hone_x\":{\"shape\"", "task.json: inputs.hone_x", "reserved"},
    {"\"x\":{\"shape\"", "\"size_t\":{\"shape\"", "task.json: inputs.size_t", "meaning in C"},
    {"[\"N\",\"C\"]", "[\"N\",\"Q\"]", "task.json: inputs.x.shape[1]", "no axis"},
    {"[\"N\",\"C\"]", "[\"N\",\"C\",\"C\",\"C\",\"C\",\"C\",\"C\"]", "task.json: inputs.x.shape",
     ""},
    {"[\"N\",\"C\"]", "null", "task.json: inputs.x.shape", ""},
    {"\"dtype\":\"float32\"}},\"outputs\"", "\"dtype\":\"float33\"}},\"outputs\"",
     "task.json: inputs.x.dtype", ""},
    {"\"dtype\":\"float32\"}},\"outputs\"", "\"dtype\":\"int32\",\"role\":\"index\"}},\"outputs\"",
     "task.json: inputs.x.bound", "needs the axis"},
    {"\"dtype\":\"float32\"}},\"outputs\"",
     "\"dtype\":\"float32\",\"role\":\"index\",\"bound\":\"N\"}},\"outputs\"",
     "task.json: inputs.x.dtype", "int32"},
    {"\"dtype\":\"float32\"}},\"outputs\"", "\"dtype\":\"float32\",\"bound\":\"N\"}},\"outputs\"",
     "task.json: inputs.x.bound", "only the roles"},
    {"\"dtype\":\"float32\"}},\"outputs\"", "\"dtype\":\"float32\",\"density\":0.3}},\"outputs\"",
     "task.json: inputs.x.density", "only the roles mask"},
    {"\"dtype\":\"float32\"}},\"outputs\"",
     "\"dtype\":\"float32\",\"role\":\"mask\",\"density\":1}},\"outputs\"",
     "task.json: inputs.x.density", "between 0 and 1"},
    {"\"dtype\":\"float32\"}},\"outputs\"",
     "\"dtype\":\"int32\",\"role\":\"additive_mask\"}},\"outputs\"", "task.json: inputs.x.role",
     "floating-point"},
    {"[\"N\",\"C\"],\"dtype\":\"float32\"}",
     "[\"N\"],\"dtype\":\"float32\",\"role\":\"triangular\"}", "task.json: inputs.x.shape",
     "two dimensions"},
    {"\"dtype\":\"float32\"}},\"outputs\"", "\"dtype\":\"float32\",\"scale\":0}},\"outputs\"",
     "task.json: inputs.x.scale", "above 0"},
    {"\"dtype\":\"float32\"}},\"outputs\"",
     "\"dtype\":\"float32\",\"scale\":1000000001}},\"outputs\"", "task.json: inputs.x.scale",
     "at most"},
    {"\"dtype\":\"float32\"}},\"outputs\"",
     "\"dtype\":\"float32\",\"shift\":-1000000001}},\"outputs\"", "task.json: inputs.x.shift",
     "between"},
    {"\"dtype\":\"float32\"}},\"outputs\"",
     "\"dtype\":\"float32\",\"role\":\"mask\",\"shift\":1}},\"outputs\"",
     "task.json: inputs.x.shift", "activation, weight and positive"},
    {"\"y\":{\"shape\":[\"P\"],", "\"y\":{\"shape\":[\"P\"],\"pitch\":\"Q\",",
     "task.json: outputs.y.pitch", "no axis"},
    {"\"y\":{\"shape\":[\"P\"],", "\"y\":{\"shape\":[],\"pitch\":\"P\",",
     "task.json: outputs.y.pitch", "one element"},
    {"\"y\":{\"shape\":[\"P\"],", "\"y\":{\"shape\":[\"P\"],\"pitch\":\"N\",", "workloads.jsonl: a",
     "less than its row of 65"},
    {"\"type\":\"var\"", "\"type\":\"vary\"", "task.json: axes.N.type", ""},
    {"\"multiple\":4", "\"multiple\":0", "task.json: axes.N.multiple", "multiple"},
    {"\"multiple\":4", "\"multiple\":4,\"min\":5,\"draw\":[1,9]", "task.json: axes.N.draw",
     "inside"},
    {"\"multiple\":4", "\"multiple\":4,\"draw\":[1,2,3]", "task.json: axes.N.draw", "inside"},
    {"\"multiple\":4", "\"multiple\":4,\"draw\":7", "task.json: axes.N.draw", "inside"},
    {"\"multiple\":4", "\"multiple\":4,\"draw\":{\"tpu\":[1,9]}", "task.json: axes.N.draw.tpu",
     "no target"},
    {"\"multiple\":4", "\"multiple\":4,\"draw\":{\"cuda\":[9,1]}", "task.json: axes.N.draw.cuda",
     "inside"},
    {"\"max\":1000", "\"max\":0", "task.json: axes.N.max", "range"},
    {"\"max\":1000", "\"max\":1000,\"value\":3", "task.json: axes.N.value", "const"},
    {"\"value\":3", "\"value\":0", "task.json: axes.C.value", "1 or more"},
    {"N + 1", "N + C", "task.json: axes.P.expression", "'C'"},
    {"N < 900", "N < ", "task.json: constraints[0]", "column"},
    {"N < 900", "N < 10", "workloads.jsonl: a", "does not hold"},
    {"\"items\":\"P\"", "\"steps\":\"P\"", "task.json: oracle.items", "formula"},
    {"\"items\":\"P\"", "\"items\":\"0\"", "workloads.jsonl: a", "oracle.items"},
    {"\"items\":\"P\"", "\"items\":\"P\",\"mode\":\"naive_double\"", "task.json: oracle.items",
     "leave both out"},
    {"\"items\":\"P\"", "\"mode\":\"naive\"", "task.json: oracle.mode", "integer outputs"},
    {"\"items\":\"P\"", "\"items\":\"P\",\"scale\":\"perturbed\"", "task.json: oracle.scale",
     "naive_double alone"},
    {"\"items\":\"P\"", "\"mode\":\"torch\",\"scale\":\"perturbed\"", "task.json: oracle.scale",
     "naive_double alone"},
    {"\"items\":\"P\"", "\"mode\":\"naive_double\",\"scale\":\"moved\"", "task.json: oracle.scale",
     "one of"},
    {"\"flops\":\"N\"", "\"flops\":\"Q\"", "task.json: flops", "'Q'"},
    {"\"bytes\":\"4*N\"", "\"bytes\":\"0\"", "workloads.jsonl: a", "bytes"},
    {"\"rtol\":1e-5", "\"rtol\":-1", "task.json: tolerance.y", "0 or more"},
    {"\"rtol\":1e-5", "\"bias\":-1", "task.json: tolerance.y", "0 or more"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"tpu\":{\"date\":\"2026-11-21\","
     "\"margin\":2,\"seeds\":8,\"outputs\":{\"y\":{\"noise\":5e-6}}}},",
     "task.json: calibration", "is no target"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"21.11.2026\","
     "\"margin\":2,\"seeds\":8,\"outputs\":{\"y\":{\"noise\":5e-6}}}},",
     "task.json: calibration.cpu.date", "a day"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"2026-11-2x\","
     "\"margin\":2,\"seeds\":8,\"outputs\":{\"y\":{\"noise\":5e-6}}}},",
     "task.json: calibration.cpu.date", "a day"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"2026-11-21\","
     "\"margin\":0.5,\"seeds\":8,\"outputs\":{\"y\":{\"noise\":5e-6}}}},",
     "task.json: calibration.cpu.margin", "1"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"2026-11-21\","
     "\"margin\":2,\"seeds\":0,\"outputs\":{\"y\":{\"noise\":5e-6}}}},",
     "task.json: calibration.cpu.seeds", "1"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"2026-11-21\","
     "\"margin\":2,\"seeds\":8,\"outputs\":{\"z\":{\"noise\":5e-6}}}},",
     "task.json: calibration.cpu.outputs", "not an output"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"2026-11-21\","
     "\"margin\":2,\"seeds\":8,\"outputs\":{\"y\":{\"noise\":1.1e-5}}}},",
     "task.json: calibration.cpu.outputs", "calibrate the task again"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":{\"cpu\":{\"date\":\"2026-11-21\","
     "\"margin\":2,\"seeds\":8,\"outputs\":{\"y\":{\"noise\":-1}}}},",
     "task.json: calibration.cpu.outputs.y.noise", "0"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},",
     "\"tolerance\":{\"y\":{\"rtol\":1e-5}},\"calibration\":[],", "task.json: calibration",
     "object"},
    {"\"tolerance\":{\"y\"", "\"tolerance\":{\"z\"", "task.json: tolerance.z", "not an output"},
    {"\"tolerance\":{\"y\":{\"rtol\":1e-5}},", "", "task.json: tolerance", "needs one"},
    {"\"value\":1.5", "\"value\":1.5,\"min\":2", "task.json: scalars.alpha.value", "min..max"},
    {"\"scalars\":{\"alpha\":{\"dtype\":\"float32\"",
     "\"scalars\":{\"alpha\":{\"dtype\":\"float16\"", "task.json: scalars.alpha.dtype", "float32"},
    {"\"flops\":\"N\"", "\"flops\":\"N\",\"special_values\":\"nan\"", "task.json: special_values",
     "a list"},
    {"\"flops\":\"N\"", "\"flops\":\"N\",\"special_values\":[\"nan\",\"minus_zero\"]",
     "task.json: special_values[1]", "one of"},
    {"\"flops\":\"N\"", "\"flops\":\"N\",\"special_values\":[7]", "task.json: special_values[0]",
     "one of"},
    {"\"flops\":\"N\"", "\"flops\":\"N\",\"special_values\":[\"inf\",\"inf\"]",
     "task.json: special_values[1]", "twice"},
    {"\"flops\":\"N\"", "\"flops\":\"N\",\"special_values\":[\"negative_zero\"]",
     "task.json: special_values", "needs denormal"},
    {"\"name\":\"scale\"", "\"format\":2,\"name\":\"scale\"", "task.json: format", ""},
};

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "%s", from);
    return hone_sprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(bad_tasks_say_where)
{
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        char *text = replaced(good, bad[i].from, bad[i].to);
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(parse(text, good_loads, &task, &err) < 0, "accepted: %s", bad[i].to);
        ck_assert_msg(strncmp(err.path, bad[i].path, strlen(bad[i].path)) == 0, "%s: path %s (%s)",
                      bad[i].to, err.path, err.message);
        ck_assert_msg(strstr(err.message, bad[i].message) != NULL, "%s: %s", bad[i].to,
                      err.message);
        ck_assert_ptr_null(task);
        ck_assert_int_lt(parse(text, good_loads, &task, NULL), 0);
        free(text);
    }
}
END_TEST

/* Scale and shift of content, at their limits. */
START_TEST(scaled_content)
{
    char *text = replaced(good, "\"dtype\":\"float32\"}},\"outputs\"",
                          "\"dtype\":\"float32\",\"scale\":1000000000,\"shift\":-1000000000}},"
                          "\"outputs\"");
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(parse(text, good_loads, &task, &err) == 0, "%s: %s", err.path, err.message);
    ck_assert_double_eq(task->inputs[0].unit, HONE_LIMIT_CONTENT_SCALE);
    ck_assert_double_eq(task->inputs[0].shift, -HONE_LIMIT_CONTENT_SCALE);
    struct hone_json *json = hone_task_describe(task);
    const struct hone_json *x = hone_json_get(hone_json_get(json, "inputs"), "x");
    ck_assert_double_eq(hone_json_get_f64(x, "scale", 0), HONE_LIMIT_CONTENT_SCALE);
    hone_json_free(json);
    hone_task_free(task);
    free(text);
}
END_TEST

/* What the scale of a reference in double is besides; `task show` tells it. */
START_TEST(perturbed_scale)
{
    static const struct {
        const char *oracle;
        bool is_integer, is_good, is_perturbed;
    } table[] = {
        {"\"mode\":\"naive_double\"", false, true, false},
        {"\"mode\":\"naive_double\",\"scale\":\"rms\"", false, true, false},
        {"\"mode\":\"naive_double\",\"scale\":\"perturbed\"", false, true, true},
        {"\"mode\":\"naive_double\",\"scale\":\"perturbed\"", true, true, true},
        {"\"mode\":\"naive\"", true, true, false},
        {"\"mode\":\"naive\",\"scale\":\"perturbed\"", true, false, false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char *floats = replaced(good, "\"items\":\"P\"", table[i].oracle);
        char *text = replaced(floats, "\"P\"],\"dtype\":\"float32\"",
                              table[i].is_integer ? "\"P\"],\"dtype\":\"int32\""
                                                  : "\"P\"],\"dtype\":\"float32\"");
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        int code = parse(text, good_loads, &task, &err);
        ck_assert_msg((code == 0) == table[i].is_good, "row %zu: %s %s", i, err.path, err.message);
        if (code == 0) {
            struct hone_json *json = hone_task_describe(task);
            const char *said = hone_json_get_str(hone_json_get(json, "oracle"), "scale", "");
            ck_assert_int_eq(task->is_scale_perturbed, table[i].is_perturbed);
            ck_assert_str_eq(said, table[i].is_perturbed ? "perturbed" : "");
            hone_json_free(json);
        } else {
            ck_assert_str_eq(err.path, "task.json: oracle.scale");
        }
        hone_task_free(task);
        free(floats);
        free(text);
    }
}
END_TEST

/* Denormals unless the task says otherwise; then what it says. */
START_TEST(special_values)
{
    static const struct {
        const char *to;
        unsigned want;
    } table[] = {
        {"\"flops\":\"N\"", HONE_SPECIAL_DENORMAL},
        {"\"flops\":\"N\",\"special_values\":[]", 0},
        {"\"flops\":\"N\",\"special_values\":[\"extreme\"]", HONE_SPECIAL_EXTREME},
        {"\"flops\":\"N\",\"special_values\":[\"inf\",\"nan\"]",
         HONE_SPECIAL_NAN | HONE_SPECIAL_INF},
        {"\"flops\":\"N\",\"special_values\":[\"nan\",\"inf\",\"denormal\",\"negative_zero\"]",
         HONE_SPECIAL_NAN | HONE_SPECIAL_INF | HONE_SPECIAL_DENORMAL | HONE_SPECIAL_NEGATIVE_ZERO},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char *text = replaced(good, "\"flops\":\"N\"", table[i].to);
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(parse(text, good_loads, &task, &err) == 0, "%s: %s", err.path, err.message);
        ck_assert_uint_eq(task->special_values, table[i].want);
        struct hone_json *json = hone_task_describe(task);
        ck_assert_uint_eq(hone_json_size(hone_json_get(json, "special_values")),
                          (size_t)__builtin_popcount(table[i].want));
        hone_json_free(json);
        hone_task_free(task);
        free(text);
    }
}
END_TEST

START_TEST(bad_workloads_say_where)
{
    static const struct {
        const char *text, *path, *message;
    } table[] = {
        {"", "workloads.jsonl", "at least one"},
        {"{\"id\":\"a\",\"axes\":{\"N\":64}}\n{", "workloads.jsonl: line 2", ""},
        {"{\"id\":\"a\",\"target\":\"tpu\",\"axes\":{\"N\":64}}", "workloads.jsonl: line 1.target",
         "cuda"},
        {"{\"id\":\"a\",\"axes\":{}}", "workloads.jsonl: line 1.axes", "'N' is missing"},
        {"{\"id\":\"a\",\"axes\":{\"N\":63}}", "workloads.jsonl: a", "multiples of 4"},
        {"{\"id\":\"a\",\"axes\":{\"N\":4000}}", "workloads.jsonl: a", "1..1000"},
        {"{\"id\":\"a\",\"axes\":{\"N\":64,\"P\":3}}", "workloads.jsonl: line 1.axes.P",
         "type var"},
        {"{\"id\":\"a\",\"axes\":{\"N\":1.5}}", "workloads.jsonl: line 1.axes.N", "integer"},
        {"{\"id\":\"../a\",\"axes\":{\"N\":64}}", "workloads.jsonl: line 1.id", "letters"},
        {"{\"id\":\"a\",\"axes\":{\"N\":64}}\n{\"id\":\"a\",\"axes\":{\"N\":8}}",
         "workloads.jsonl: a", "twice"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(parse(good, table[i].text, &task, &err) < 0, "accepted: %s", table[i].text);
        ck_assert_msg(strncmp(err.path, table[i].path, strlen(table[i].path)) == 0,
                      "%s: path %s (%s)", table[i].text, err.path, err.message);
        ck_assert_msg(strstr(err.message, table[i].message) != NULL, "%s: %s", table[i].text,
                      err.message);
    }
}
END_TEST

START_TEST(too_large_tensors_are_refused)
{
    char *text = replaced(good, "\"max\":1000", "\"max\":2147483648");
    char *more = replaced(text, "N < 900", "N > 0");
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(parse(more, "{\"id\":\"a\",\"axes\":{\"N\":1431655764}}", &task, &err),
                     HONE_E_LIMIT);
    free(text);
    free(more);
}
END_TEST

/* A pitch may be as long as the row and longer. */
START_TEST(pitch_is_told)
{
    char *text =
        replaced(good, "\"y\":{\"shape\":[\"P\"],", "\"y\":{\"shape\":[\"N\"],\"pitch\":\"P\",");
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_pitch pitch;
    ck_assert_msg(parse(text, good_loads, &task, &err) == 0, "%s: %s", err.path, err.message);
    ck_assert(hone_tensor_pitch(&task->outputs[0], &task->workloads[0], &pitch));
    ck_assert_int_eq(pitch.row, 65);
    ck_assert_int_eq(pitch.used, 64);
    ck_assert_int_eq(hone_tensor_elements(task, &task->outputs[0], &task->workloads[0]), 65);
    struct hone_json *json = hone_task_describe(task);
    const struct hone_json *y = hone_json_get(hone_json_get(json, "outputs"), "y");
    ck_assert_str_eq(hone_json_get_str(y, "pitch", ""), "P");
    hone_json_free(json);
    ck_assert(!hone_tensor_pitch(&task->inputs[0], &task->workloads[0], &pitch));
    hone_task_free(task);
    free(text);
}
END_TEST

START_TEST(tensor_limit)
{
    for (int n = HONE_LIMIT_TENSORS; n <= HONE_LIMIT_TENSORS + 1; n++) {
        struct hone_buf buf = HONE_BUF_INIT;
        for (int i = 1; i < n; i++)
            hone_buf_printf(&buf, "%s\"x%d\":{\"shape\":[\"N\"],\"dtype\":\"int8\"}",
                            i > 1 ? "," : "", i);
        char *text =
            replaced(good, "\"x\":{\"shape\":[\"N\",\"C\"],\"dtype\":\"float32\"}", buf.data);
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        int code = parse(text, good_loads, &task, &err);
        ck_assert_msg(code == (n > HONE_LIMIT_TENSORS ? HONE_E_LIMIT : 0), "%d: %s: %s", n,
                      err.path, err.message);
        hone_task_free(task);
        free(text);
        hone_buf_done(&buf);
    }
}
END_TEST

START_TEST(workload_limit)
{
    struct hone_buf buf = HONE_BUF_INIT;
    for (int i = 0; i < HONE_LIMIT_WORKLOADS; i++)
        hone_buf_printf(&buf, "{\"id\":\"w%d\",\"axes\":{\"N\":%d}}\n", i, 4 * (i + 1));
    struct hone_task *task = NULL;
    ck_assert_int_eq(parse(good, buf.data, &task, NULL), 0);
    hone_task_free(task);
    hone_buf_str(&buf, "{\"id\":\"x\",\"axes\":{\"N\":8}}\n");
    ck_assert_int_eq(parse(good, buf.data, &task, NULL), HONE_E_LIMIT);
    hone_buf_done(&buf);
}
END_TEST

static void put(const char *dir, const char *name, const char *text)
{
    char *path = hone_path_join(dir, name, NULL);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0600, false, NULL), 0);
    free(path);
}

START_TEST(the_hash_sees_every_byte_and_name)
{
    char dir[] = "/tmp/hone-load-test-XXXXXX", first[65], second[65];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    put(dir, "task.json", good);
    put(dir, "workloads.jsonl", good_loads);
    char *kernels = hone_path_join(dir, "kernels", NULL);
    ck_assert_int_eq(hone_mkdirs(kernels, 0700, NULL), 0);
    put(kernels, "naive.c", "void scale(void);");
    struct hone_task *task = NULL;
    ck_assert_int_eq(hone_task_load(dir, &task, NULL), 0);
    ck_assert_uint_eq(strlen(task->hash), 64);
    memcpy(first, task->hash, 65);
    hone_task_free(task);
    put(kernels, "naive.c", "void scale(void) ;");
    ck_assert_int_eq(hone_task_hash(dir, second, NULL), 0);
    ck_assert_str_ne(first, second);
    put(kernels, "naive.c", "void scale(void);");
    ck_assert_int_eq(hone_task_hash(dir, second, NULL), 0);
    ck_assert_str_eq(first, second);
    put(kernels, "other.c", "");
    ck_assert_int_eq(hone_task_hash(dir, second, NULL), 0);
    ck_assert_str_ne(first, second);
    char *link = hone_path_join(dir, "link", NULL);
    ck_assert_int_eq(symlink("/etc/passwd", link), 0);
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_task_load(dir, &task, &err), HONE_E_ARG);
    free(link);
    free(kernels);
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
    ck_assert_int_eq(hone_task_load(dir, &task, &err), HONE_E_NOT_FOUND);
}
END_TEST

/* A pack on disk: select looks for the kernels. */
static struct hone_task *load_targets(const char *dir, const char *loads)
{
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    put(dir, "workloads.jsonl", loads);
    ck_assert_msg(hone_task_load(dir, &task, &err) == 0, "%s: %s", err.path, err.message);
    return task;
}

static const char targets_task[] =
    "{\"name\":\"scale\",\"axes\":{\"N\":{\"type\":\"var\",\"max\":100000,\"draw\":{\"cuda\":[7,9]}"
    "}},"
    "\"inputs\":{\"x\":{\"shape\":[\"N\"],\"dtype\":\"float16\"},"
    "\"m\":{\"shape\":[\"N\"],\"dtype\":\"bool\",\"role\":\"mask\"}},"
    "\"outputs\":{\"y\":{\"shape\":[\"N\"],\"dtype\":\"bfloat16\"}},"
    "\"tolerance\":{\"y\":{\"rtol\":1e-2}},\"oracle\":{\"items\":\"N\"},"
    "\"flops\":\"N\",\"bytes\":\"4*N\"}";
static const char targets_loads[] = "{\"id\":\"c\",\"target\":\"cpu\",\"axes\":{\"N\":64}}\n"
                                    "{\"id\":\"b\",\"axes\":{\"N\":128}}\n"
                                    "{\"id\":\"g\",\"target\":\"cuda\",\"axes\":{\"N\":70000}}\n";

START_TEST(a_target_is_selected)
{
    char dir[] = "/tmp/hone-select-XXXXXX";
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    char *kernels = hone_path_join(dir, "kernels", NULL);
    ck_assert_int_eq(hone_mkdirs(kernels, 0700, NULL), 0);
    put(dir, "task.json", targets_task);
    put(kernels, "naive.c", "void scale(void);");
    struct hone_task *task = load_targets(dir, targets_loads);
    ck_assert_uint_eq(task->n_workloads, 3);
    ck_assert_ptr_null(task->target);
    ck_assert_int_eq(hone_task_select(task, "cuda", &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "naive.cu"));
    ck_assert_int_eq(hone_task_select(task, "tpu", &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "cpu or cuda"));
    ck_assert_int_eq(hone_task_select(task, "cpu", &err), 0);
    ck_assert_uint_eq(task->n_workloads, 2);
    ck_assert_str_eq(task->workloads[0].id, "c");
    ck_assert_str_eq(task->workloads[1].id, "b");
    ck_assert_int_eq(task->axes[0].draw_min, 32); /* from the cpu's public sizes */
    ck_assert_int_eq(task->axes[0].draw_max, 128);
    ck_assert_int_eq(hone_task_select(task, "cpu", &err), 0);
    ck_assert_int_eq(hone_task_select(task, "cuda", &err), HONE_E_ARG);
    hone_task_free(task);

    put(kernels, "naive.cu", "extern \"C\" void scale(void);");
    task = load_targets(dir, targets_loads);
    ck_assert_int_eq(hone_task_select(task, "cuda", &err), 0);
    ck_assert_uint_eq(task->n_workloads, 2);
    ck_assert_str_eq(task->workloads[0].id, "b");
    ck_assert_str_eq(task->workloads[1].id, "g");
    ck_assert_int_eq(task->axes[0].draw_min, 7);
    ck_assert_int_eq(task->axes[0].draw_max, 9);
    char *signature = hone_task_signature(task), *cpu = hone_task_signature_for(task, "cpu");
    ck_assert_str_eq(signature, "extern \"C\" void scale(const __half *x, const unsigned char *m, "
                                "__nv_bfloat16 *y, int64_t N, cudaStream_t stream)");
    ck_assert_str_eq(cpu,
                     "void scale(const uint16_t *x, const uint8_t *m, uint16_t *y, int64_t N)");
    free(signature);
    free(cpu);
    hone_task_free(task);

    task = load_targets(dir, "{\"id\":\"g\",\"target\":\"cuda\",\"axes\":{\"N\":70000}}\n");
    ck_assert_int_eq(hone_task_select(task, "cpu", &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "no workload for cpu"));
    hone_task_free(task);
    free(kernels);
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
}
END_TEST

UNIT_MAIN("load", perturbed_scale, scaled_content, a_good_task, a_target_is_selected,
          bad_tasks_say_where, special_values, bad_workloads_say_where,
          too_large_tensors_are_refused, pitch_is_told, tensor_limit, workload_limit,
          the_hash_sees_every_byte_and_name)

/* SPDX-License-Identifier: Apache-2.0 */
/* One compile inside the jail (compile_work.h).
 *
 * Flow: unpack the request, which is hostile; create the program with the fixed headers; add
 * the names to be lowered; compile; take log, code and names. hone_work_precompile does the
 * same for a header set. Nothing here decides about verdicts. */
#include "tools/runner/cuda/compile/compile_work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define NVRTC_OUT_OF_MEMORY 1
#define SOURCE_NAME         "hone_front.cu"

/* Under NVRTC these headers make int64_t a long long, which on the host is a long: a kernel that
 * takes one would have two names. Same length, so that nothing else of the file moves. */
static const char *const repaired[][2] = {
    {"cuda/std/cstdint", "cccl/cuda/std/cstdint"},
    {"cuda_pipeline_helpers.h", "cuda_pipeline_helpers.h"},
    {"cuda_awbarrier_helpers.h", "cuda_awbarrier_helpers.h"},
};

static char *repair(const char *include_dir, const char *file)
{
    static const char *const lines[] = {"= signed long long;", "= unsigned long long;",
                                        "typedef unsigned long long uint64_t;"};
    HONE_AUTOFREE char *path = hone_sprintf("%s/%s", include_dir, file);
    char *text = NULL;
    size_t len = 0;
    if (hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < HONE_COUNTOF(lines); i++)
        for (char *at = strstr(text, lines[i]); at != NULL; at = strstr(at, lines[i]))
            memcpy(strstr(at, "long long"), "     long", 9);
    return text;
}

void hone_work_tools_init(struct hone_work_tools *tools, const struct hone_nvrtc *nvrtc,
                          const char *include_dir)
{
    const size_t n_max = hone_device_n_headers + HONE_COUNTOF(repaired);
    *tools = (struct hone_work_tools){.nvrtc = nvrtc};
    tools->is_emulated = dlsym(nvrtc->library, "hone_emulated") != NULL;
    tools->header_names = hone_calloc(n_max, sizeof *tools->header_names);
    tools->header_texts = hone_calloc(n_max, sizeof *tools->header_texts);
    if (tools->is_emulated)
        return;
    for (size_t i = 0; i < hone_device_n_headers; i++) {
        tools->header_names[i] = hone_device_headers[i].name;
        tools->header_texts[i] = hone_device_headers[i].text;
    }
    tools->n_headers = (int)hone_device_n_headers;
    for (size_t i = 0; i < HONE_COUNTOF(repaired) && include_dir != NULL; i++) {
        const char *text = repair(include_dir, repaired[i][1]);
        if (text == NULL)
            continue;
        tools->header_names[tools->n_headers] = repaired[i][0];
        tools->header_texts[tools->n_headers++] = text;
    }
}

static const char *next_string(const char **at, const char *end)
{
    const char *text = *at;
    const char *nul = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    if (nul == NULL)
        return NULL;
    *at = nul + 1;
    return text;
}

bool hone_work_unpack(const struct hone_wire_ask *ask, const char *bytes, struct hone_work *ret)
{
    const char *end = bytes + ask->n_bytes;
    ret->ask = *ask;
    ret->text = next_string(&bytes, end);
    bool is_good = ret->text != NULL && ask->variant < HONE_N_VARIANTS;
    for (uint32_t i = 0; is_good && i < ask->n_options; i++)
        is_good = (ret->options[i] = next_string(&bytes, end)) != NULL;
    for (uint32_t i = 0; is_good && i < ask->n_names; i++)
        is_good = (ret->names[i] = next_string(&bytes, end)) != NULL;
    return is_good;
}

struct program {
    const struct hone_nvrtc *nvrtc;
    hone_nvrtc_program handle;
};

static void program_done(struct program *program)
{
    if (program->handle != NULL)
        (void)program->nvrtc->DestroyProgram(&program->handle);
}

static void take_log(const struct program *program, struct hone_buf *log)
{
    size_t size = 0;
    if (program->nvrtc->GetProgramLogSize(program->handle, &size) != 0 || size < 2)
        return;
    HONE_AUTOFREE char *text = calloc(1, size + 1); /* the source decides how long it is */
    if (text == NULL || program->nvrtc->GetProgramLog(program->handle, text) != 0)
        return;
    size_t len = strnlen(text, size);
    hone_buf_add(log, text, len < HONE_LIMIT_LOG_BYTES ? len : HONE_LIMIT_LOG_BYTES - 1);
}

bool hone_work_is_virtual(const struct hone_work *work)
{
    static const char start[] = "--gpu-architecture=compute_";
    for (uint32_t i = 0; i < work->ask.n_options; i++)
        if (strncmp(work->options[i], start, sizeof start - 1) == 0)
            return true;
    return false;
}

static enum hone_wire_outcome take_code(const struct program *program, bool is_virtual,
                                        struct hone_buf *cubin)
{
    const struct hone_nvrtc *nvrtc = program->nvrtc;
    size_t size = 0;
    int rc = is_virtual ? nvrtc->GetPTXSize(program->handle, &size)
                        : nvrtc->GetCUBINSize(program->handle, &size);
    if (rc != 0 || size == 0)
        return HONE_WIRE_REFUSED;
    if (size > HONE_LIMIT_CUBIN_BYTES)
        return HONE_WIRE_TOO_LARGE;
    HONE_AUTOFREE char *bytes = malloc(size);
    if (bytes == NULL)
        return HONE_WIRE_OOM;
    rc = is_virtual ? nvrtc->GetPTX(program->handle, bytes)
                    : nvrtc->GetCUBIN(program->handle, bytes);
    if (rc != 0)
        return HONE_WIRE_REFUSED;
    hone_buf_add(cubin, bytes, is_virtual ? strnlen(bytes, size) : size);
    return HONE_WIRE_BUILT;
}

static void take_names(const struct program *program, const struct hone_work *work,
                       struct hone_buf *names)
{
    for (uint32_t i = 0; i < work->ask.n_names; i++) {
        const char *lowered = NULL;
        if (program->nvrtc->GetLoweredName(program->handle, work->names[i], &lowered) != 0 ||
            lowered == NULL || strlen(lowered) > HONE_LIMIT_SYMBOL_BYTES ||
            names->len + strlen(lowered) + work->ask.n_names > HONE_WIRE_NAMES_BYTES)
            lowered = "";
        hone_buf_add(names, lowered, strlen(lowered) + 1);
    }
}

static enum hone_wire_outcome compile(struct program *program, const struct hone_work_tools *tools,
                                      const struct hone_work *work, const char *text,
                                      const char *pch_option, struct hone_buf *log)
{
    const struct hone_nvrtc *nvrtc = tools->nvrtc;
    const char *options[HONE_WIRE_STRINGS + 1];
    int n = 0;
    for (uint32_t i = 0; i < work->ask.n_options; i++)
        options[n++] = work->options[i];
    if (pch_option != NULL)
        options[n++] = pch_option;
    int rc = nvrtc->CreateProgram(&program->handle, text, SOURCE_NAME, tools->n_headers,
                                  tools->header_texts, tools->header_names);
    if (rc != 0) {
        hone_buf_printf(log, "nvrtcCreateProgram failed with code %d\n", rc);
        return HONE_WIRE_CRASHED;
    }
    for (uint32_t i = 0; i < work->ask.n_names; i++)
        if (nvrtc->AddNameExpression(program->handle, work->names[i]) != 0)
            hone_buf_printf(log, "the name expression %s was not accepted\n", work->names[i]);
    rc = nvrtc->CompileProgram(program->handle, n, options);
    take_log(program, log);
    if (rc == 0)
        return HONE_WIRE_BUILT;
    return rc == NVRTC_OUT_OF_MEMORY ? HONE_WIRE_OOM : HONE_WIRE_REFUSED;
}

void hone_work_run(const struct hone_work_tools *tools, const struct hone_work *work,
                   const char *pch_option, struct hone_buf *ret)
{
    int64_t start = hone_now_ns();
    HONE_CLEANUP(program_done) struct program program = {.nvrtc = tools->nvrtc};
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf log = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf cubin = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf names = HONE_BUF_INIT;
    if (!tools->is_emulated)
        hone_buf_str(&text, hone_variant_text[work->ask.variant]);
    hone_buf_str(&text, work->text);
    enum hone_wire_outcome outcome = compile(&program, tools, work, text.data, pch_option, &log);
    if (outcome == HONE_WIRE_BUILT)
        outcome = take_code(&program, hone_work_is_virtual(work), &cubin);
    if (outcome == HONE_WIRE_BUILT)
        take_names(&program, work, &names);
    struct hone_wire_say say = {.magic = HONE_WIRE_SAY,
                                .id = work->ask.id,
                                .outcome = (int32_t)outcome,
                                .cubin_len = (uint32_t)cubin.len,
                                .log_len = (uint32_t)log.len,
                                .names_len = (uint32_t)names.len,
                                .wall_ns = hone_now_ns() - start};
    hone_buf_add(ret, &say, sizeof say);
    hone_buf_add(ret, cubin.data, cubin.len);
    hone_buf_add(ret, log.data, log.len);
    hone_buf_add(ret, names.data, names.len);
}

bool hone_work_precompile(const struct hone_work_tools *tools, const struct hone_work *like,
                          const char *path)
{
    HONE_CLEANUP(program_done) struct program program = {.nvrtc = tools->nvrtc};
    HONE_CLEANUP(hone_buf_done) struct hone_buf log = HONE_BUF_INIT;
    HONE_AUTOFREE char *option = hone_sprintf("--create-pch=%s", path);
    struct hone_work work = *like;
    work.ask.n_names = 0;
    return compile(&program, tools, &work, hone_variant_text[like->ask.variant], option, &log) ==
               HONE_WIRE_BUILT &&
           hone_file_exists(path);
}

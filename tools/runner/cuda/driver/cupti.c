/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI by dlopen: scheduling without a device, counting by user replay. See cupti.h. */
#include "tools/runner/cuda/driver/cupti.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/runner/cuda/driver/cupti_abi.h"

#define MAX_IMAGE_BYTES (64 << 20)

struct hone_cupti {
#define MEMBER(name_, symbol_, type_) int (*name_)(type_ *);
    CUPTI_ABI_FUNCTIONS(MEMBER)
    int (*GetResultString)(int code, const char **ret);
    void *library;
};

struct hone_cupti_session {
    const struct hone_cupti *cupti;
    char chip[32];
    uint8_t *availability;
    void *profiler; /* NULL: not enabled */
    void *host;
    struct hone_cupti_config config;
    uint8_t *data;
    size_t data_len;
    size_t n_ranges;
};

static const char *const file_names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
static const char *const usual_folders[] = {"/usr/local/cuda/lib64",
                                            "/usr/local/cuda/extras/CUPTI/lib64"};

#define ZERO(type_, last_)                                                                         \
    {                                                                                              \
        .struct_size = CUPTI_ABI_SIZE(type_, last_)                                                \
    }

static int fail(const struct hone_cupti *cupti, int code, const char *what, struct hone_err *err)
{
    const char *name = NULL;

    if (cupti->GetResultString(code, &name) != 0 || name == NULL)
        name = "unknown";
    switch (code) {
    case CUPTI_ABI_INSUFFICIENT_PRIVILEGES:
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "hardware counters are for administrators here; fix: load the driver with "
                         "NVreg_RestrictProfilingToAdminUsers=0, or run as root with CAP_SYS_ADMIN "
                         "(%s: %s)",
                         what, name);
    case CUPTI_ABI_VIRTUALIZED:
    case CUPTI_ABI_VIRTUALIZED_PRIVILEGES:
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "this is a virtual GPU without counters; fix: enable profiling for the "
                         "virtual machine on its host (%s: %s)",
                         what, name);
    case CUPTI_ABI_MULTIPLE_SUBSCRIBERS:
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "another profiler is attached; fix: end it (%s: %s)", what, name);
    case CUPTI_ABI_CONFIDENTIAL:
    case CUPTI_ABI_MIG:
    case CUPTI_ABI_NOT_SUPPORTED:
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "this device or mode has no hardware counters (%s: %s)", what, name);
    default:
        return hone_fail(err, HONE_E_TARGET, "%s: %s (%d)", what, name, code);
    }
}

/* ---- loading ---- */

static char *path_in(const char *folder)
{
    for (size_t i = 0; folder != NULL && i < HONE_COUNTOF(file_names); i++) {
        char *path = hone_sprintf("%s/%s", folder, file_names[i]);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static char *find_path(void)
{
    char *path = path_in(getenv("HONE_CUDA_LIB"));

    if (path == NULL)
        path = path_in(getenv("HONE_CUPTI_LIB"));

    for (size_t i = 0; path == NULL && i < HONE_COUNTOF(usual_folders); i++)
        path = path_in(usual_folders[i]);
    return path;
}

char *hone_cupti_find_folder(void)
{
    HONE_AUTOFREE char *path = find_path();
    char *real = path != NULL ? realpath(path, NULL) : NULL;
    char *slash = real != NULL ? strrchr(real, '/') : NULL;

    if (slash != NULL)
        *slash = '\0';
    return real;
}

static void *load(void)
{
    static const char *const variables[] = {"HONE_CUDA_LIB", "HONE_CUPTI_LIB"};
    void *library = NULL;

    for (size_t i = 0; library == NULL && i < HONE_COUNTOF(variables); i++) {
        HONE_AUTOFREE char *path = path_in(getenv(variables[i]));
        if (path != NULL)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }

    for (size_t i = 0; library == NULL && i < HONE_COUNTOF(file_names); i++)
        library = dlopen(file_names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library == NULL && i < HONE_COUNTOF(usual_folders); i++) {
        HONE_AUTOFREE char *path = path_in(usual_folders[i]);
        if (path != NULL)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

int hone_cupti_open(struct hone_cupti **ret, struct hone_err *err)
{
    HONE_AUTOFREE struct hone_cupti *cupti = hone_calloc(1, sizeof *cupti);
    const char *missing = NULL;

    cupti->library = load();
    if (cupti->library == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "no CUPTI (libcupti.so.13) in $HONE_CUDA_LIB, the loader's folders, %s or "
                         "%s; fix: install the CUDA toolkit's profiling tools interface",
                         usual_folders[0], usual_folders[1]);
        /* POSIX: the address of a function comes as a data pointer. */
#define LOOK_UP(name_, symbol_, type_)                                                             \
    *(void **)&cupti->name_ = dlsym(cupti->library, symbol_);                                      \
    if (cupti->name_ == NULL)                                                                      \
        missing = symbol_;
    CUPTI_ABI_FUNCTIONS(LOOK_UP)
    *(void **)&cupti->GetResultString = dlsym(cupti->library, "cuptiGetResultString");
    if (missing != NULL || cupti->GetResultString == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "this CUPTI has no %s; fix: version 12.6 or newer is needed",
                         missing != NULL ? missing : "cuptiGetResultString");
    *ret = HONE_STEAL(cupti);
    return 0;
}

void hone_cupti_close(struct hone_cupti *cupti)
{
    free(cupti);
}

/* ---- scheduling ---- */

int hone_cupti_chips(const struct hone_cupti *cupti, const char *const **ret, size_t *ret_n,
                     struct hone_err *err)
{
    struct cupti_abi_chips p = ZERO(struct cupti_abi_chips, chips);
    int code = cupti->Chips(&p);

    if (code != 0)
        return fail(cupti, code, "list of chips", err);
    *ret = p.chips;
    *ret_n = p.n_chips;
    return 0;
}

static int host_new(const struct hone_cupti *cupti, const char *chip, const uint8_t *availability,
                    void **ret, struct hone_err *err)
{
    struct cupti_abi_host_init p = ZERO(struct cupti_abi_host_init, host);
    int code;

    p.type = CUPTI_ABI_TYPE_RANGE_PROFILER;
    p.chip = chip;
    p.availability = availability;
    code = cupti->HostInit(&p);
    if (code != 0)
        return fail(cupti, code, "profiler host", err);
    *ret = p.host;
    return 0;
}

static void host_free(const struct hone_cupti *cupti, void *host)
{
    struct cupti_abi_host_end p = ZERO(struct cupti_abi_host_end, host);

    p.host = host;
    if (host != NULL)
        cupti->HostEnd(&p);
}

static int host_add(const struct hone_cupti *cupti, void *host, const char **names, size_t n)
{
    struct cupti_abi_add p = ZERO(struct cupti_abi_add, n_names);

    p.host = host;
    p.names = names;
    p.n_names = n;
    return cupti->Add(&p);
}

static int host_size(const struct hone_cupti *cupti, void *host, size_t *ret)
{
    struct cupti_abi_config_size p = ZERO(struct cupti_abi_config_size, size);
    int code;

    p.host = host;
    code = cupti->ConfigSize(&p);
    *ret = p.size;
    return code;
}

static bool accepts_all(const struct hone_cupti *cupti, const char *chip,
                        const uint8_t *availability, const char **names, size_t n)
{
    void *host = NULL;
    size_t size = 0;
    bool is_good;

    if (host_new(cupti, chip, availability, &host, NULL) < 0)
        return false;
    is_good = host_add(cupti, host, names, n) == 0 && host_size(cupti, host, &size) == 0;
    host_free(cupti, host);
    return is_good;
}

bool hone_cupti_accepts(const struct hone_cupti *cupti, const char *chip,
                        const uint8_t *availability, const char *name)
{
    return accepts_all(cupti, chip, availability, &name, 1);
}

/* All first names at once; when the chip refuses that, one by one (a few ms each). */
static void choose(const struct hone_cupti *cupti, const char *chip, const uint8_t *availability,
                   enum hone_gpu_tier last, struct hone_cupti_config *ret)
{
    size_t n = hone_gpu_n_metrics(last);

    for (size_t i = 0; i < n; i++) {
        ret->names[i] = hone_gpu_metrics[i].name;
        ret->ids[i] = (enum hone_gpu_metric_id)i;
    }
    ret->n = n;
    if (accepts_all(cupti, chip, availability, ret->names, n))
        return;
    ret->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct hone_gpu_metric *metric = &hone_gpu_metrics[i];
        const char *name = metric->name;
        if (!hone_cupti_accepts(cupti, chip, availability, name))
            name = metric->instead;
        if (name == NULL ||
            (name != metric->name && !hone_cupti_accepts(cupti, chip, availability, name)))
            continue;
        ret->names[ret->n] = name;
        ret->ids[ret->n++] = (enum hone_gpu_metric_id)i;
    }
}

static int make_image(const struct hone_cupti *cupti, void *host, struct hone_cupti_config *config,
                      struct hone_err *err)
{
    struct cupti_abi_config get = ZERO(struct cupti_abi_config, image);
    struct cupti_abi_passes passes = ZERO(struct cupti_abi_passes, n_passes);
    int code = host_add(cupti, host, config->names, config->n);

    if (code == 0)
        code = host_size(cupti, host, &config->image_len);
    if (code != 0)
        return fail(cupti, code, "counter configuration", err);
    if (config->image_len > MAX_IMAGE_BYTES)
        return hone_fail(err, HONE_E_TARGET, "a counter configuration of %zu bytes is not credible",
                         config->image_len);
    config->image = hone_calloc(1, config->image_len);
    get.host = host;
    get.size = config->image_len;
    get.image = config->image;
    code = cupti->Config(&get);
    if (code == 0) {
        passes.size = config->image_len;
        passes.image = config->image;
        code = cupti->Passes(&passes);
    }
    if (code != 0)
        return fail(cupti, code, "counter configuration", err);
    config->n_passes = passes.n_passes;
    return 0;
}

int hone_cupti_schedule(const struct hone_cupti *cupti, const char *chip,
                        const uint8_t *availability, enum hone_gpu_tier last,
                        struct hone_cupti_config *ret, struct hone_err *err)
{
    struct hone_cupti_config config = {.n = 0};
    void *host = NULL;
    int rc = host_new(cupti, chip, availability, &host, err);

    if (rc < 0)
        return hone_wrap(err, "chip '%s'", chip);
    choose(cupti, chip, availability, last, &config);
    if (config.n == 0)
        rc = hone_fail(err, HONE_E_UNSUPPORTED, "chip '%s' has none of our counters", chip);
    if (rc == 0)
        rc = make_image(cupti, host, &config, err);
    host_free(cupti, host);
    if (rc < 0) {
        hone_cupti_config_done(&config);
        return rc;
    }
    *ret = config;
    return 0;
}

void hone_cupti_config_done(struct hone_cupti_config *config)
{
    free(config->image);
    *config = (struct hone_cupti_config){.n = 0};
}

/* ---- counting ---- */

static int read_availability(struct hone_cupti_session *session, void *ctx, struct hone_err *err)
{
    struct cupti_abi_availability p = ZERO(struct cupti_abi_availability, image);
    int code;

    p.ctx = ctx;
    code = session->cupti->Availability(&p);
    if (code != 0)
        return fail(session->cupti, code, "which counters the device has", err);
    if (p.size == 0 || p.size > MAX_IMAGE_BYTES)
        return hone_fail(err, HONE_E_TARGET, "a list of counters of %zu bytes is not credible",
                         p.size);
    session->availability = hone_calloc(1, p.size);
    p.image = session->availability;
    code = session->cupti->Availability(&p);
    return code == 0 ? 0 : fail(session->cupti, code, "which counters the device has", err);
}

static int enable(struct hone_cupti_session *session, void *ctx, int ordinal, struct hone_err *err)
{
    const struct hone_cupti *cupti = session->cupti;
    struct cupti_abi_init init = ZERO(struct cupti_abi_init, priv);
    struct cupti_abi_chip chip = ZERO(struct cupti_abi_chip, chip);
    struct cupti_abi_enable on = ZERO(struct cupti_abi_enable, profiler);
    int code = cupti->Init(&init);

    if (code != 0)
        return fail(cupti, code, "profiler", err);
    chip.device = (size_t)ordinal;
    code = cupti->Chip(&chip);
    if (code != 0 || chip.chip == NULL)
        return fail(cupti, code, "name of the chip", err);
    snprintf(session->chip, sizeof session->chip, "%s", chip.chip);
    if (read_availability(session, ctx, err) < 0)
        return err != NULL ? (int)err->code : HONE_E_TARGET;
    on.ctx = ctx;
    code = cupti->Enable(&on);
    if (code != 0)
        return fail(cupti, code, "range profiler", err);
    session->profiler = on.profiler;
    return 0;
}

int hone_cupti_session_open(const struct hone_cupti *cupti, void *ctx, int ordinal,
                            struct hone_cupti_session **ret, struct hone_err *err)
{
    struct hone_cupti_session *session = hone_calloc(1, sizeof *session);
    int rc;

    session->cupti = cupti;
    rc = enable(session, ctx, ordinal, err);
    if (rc < 0) {
        hone_cupti_session_close(session);
        return rc;
    }
    *ret = session;
    return 0;
}

static void drop_data(struct hone_cupti_session *session)
{
    host_free(session->cupti, HONE_STEAL(session->host));
    hone_cupti_config_done(&session->config);
    free(HONE_STEAL(session->data));
}

void hone_cupti_session_close(struct hone_cupti_session *session)
{
    struct cupti_abi_profiler off = ZERO(struct cupti_abi_profiler, profiler);

    if (session == NULL)
        return;
    off.profiler = session->profiler;
    if (session->profiler != NULL)
        session->cupti->Disable(&off);
    drop_data(session);
    free(session->availability);
    free(session);
}

const char *hone_cupti_session_chip(const struct hone_cupti_session *session)
{
    return session->chip;
}

static int make_data(struct hone_cupti_session *session, struct hone_err *err)
{
    const struct hone_cupti *cupti = session->cupti;
    struct cupti_abi_data_size size = ZERO(struct cupti_abi_data_size, size);
    struct cupti_abi_data_init init = ZERO(struct cupti_abi_data_init, data);
    int code;

    size.profiler = session->profiler;
    size.names = session->config.names;
    size.n_names = session->config.n;
    size.max_ranges = session->n_ranges;
    size.max_nodes = (uint32_t)session->n_ranges;
    code = cupti->DataSize(&size);
    if (code != 0)
        return fail(cupti, code, "room for counters", err);
    if (size.size == 0 || size.size > MAX_IMAGE_BYTES)
        return hone_fail(err, HONE_E_TARGET, "%zu bytes of counters are not credible", size.size);
    session->data_len = size.size;
    session->data = hone_calloc(1, size.size);
    init.profiler = session->profiler;
    init.size = size.size;
    init.data = session->data;
    code = cupti->DataInit(&init);
    return code == 0 ? 0 : fail(cupti, code, "room for counters", err);
}

static int set_config(struct hone_cupti_session *session, struct hone_err *err)
{
    struct cupti_abi_set_config p = ZERO(struct cupti_abi_set_config, target_level);
    int code;

    p.profiler = session->profiler;
    p.config = session->config.image;
    p.config_size = session->config.image_len;
    p.data = session->data;
    p.data_size = session->data_len;
    p.range = CUPTI_ABI_USER_RANGE;
    p.replay = CUPTI_ABI_USER_REPLAY;
    p.max_ranges = session->n_ranges;
    p.n_levels = 1;
    p.min_level = 1;
    p.target_level = 1;
    code = session->cupti->SetConfig(&p);
    return code == 0 ? 0 : fail(session->cupti, code, "set the counters", err);
}

int hone_cupti_begin(struct hone_cupti_session *session, enum hone_gpu_tier last, size_t n_ranges,
                     size_t *ret_passes, struct hone_err *err)
{
    int rc;

    HONE_BUG_ON(n_ranges == 0 || n_ranges > HONE_CUPTI_MAX_RANGES);
    drop_data(session);
    session->n_ranges = n_ranges;
    rc = hone_cupti_schedule(session->cupti, session->chip, session->availability, last,
                             &session->config, err);
    if (rc == 0) /* evaluates later */
        rc = host_new(session->cupti, session->chip, session->availability, &session->host, err);
    if (rc == 0)
        rc = make_data(session, err);
    if (rc == 0)
        rc = set_config(session, err);
    if (rc == 0)
        *ret_passes = session->config.n_passes;
    return rc;
}

int hone_cupti_pass_start(struct hone_cupti_session *session, struct hone_err *err)
{
    struct cupti_abi_profiler p = ZERO(struct cupti_abi_profiler, profiler);
    int code;

    p.profiler = session->profiler;
    code = session->cupti->Start(&p);
    return code == 0 ? 0 : fail(session->cupti, code, "start of a pass", err);
}

int hone_cupti_push(struct hone_cupti_session *session, size_t range, struct hone_err *err)
{
    struct cupti_abi_push p = ZERO(struct cupti_abi_push, name);
    char name[24];
    int code;

    snprintf(name, sizeof name, "%zu", range);
    p.profiler = session->profiler;
    p.name = name;
    code = session->cupti->Push(&p);
    return code == 0 ? 0 : fail(session->cupti, code, "start of a range", err);
}

int hone_cupti_pop(struct hone_cupti_session *session, struct hone_err *err)
{
    struct cupti_abi_profiler p = ZERO(struct cupti_abi_profiler, profiler);
    int code;

    p.profiler = session->profiler;
    code = session->cupti->Pop(&p);
    return code == 0 ? 0 : fail(session->cupti, code, "end of a range", err);
}

int hone_cupti_pass_stop(struct hone_cupti_session *session, bool *ret_is_last,
                         struct hone_err *err)
{
    struct cupti_abi_stop p = ZERO(struct cupti_abi_stop, is_all_submitted);
    int code;

    p.profiler = session->profiler;
    code = session->cupti->Stop(&p);
    if (code != 0)
        return fail(session->cupti, code, "end of a pass", err);
    *ret_is_last = p.is_all_submitted != 0;
    return 0;
}

static int evaluate(struct hone_cupti_session *session, size_t index, struct hone_gpu_values *ret,
                    size_t n_ranges, struct hone_err *err)
{
    struct cupti_abi_range_info info = ZERO(struct cupti_abi_range_info, name);
    struct cupti_abi_evaluate p = ZERO(struct cupti_abi_evaluate, values);
    double values[HONE_GPU_N_METRICS];
    int code;
    size_t range;

    info.data = session->data;
    info.data_size = session->data_len;
    info.range = index;
    info.delimiter = "/";
    code = session->cupti->RangeInfo(&info);
    if (code != 0 || info.name == NULL)
        return fail(session->cupti, code, "name of a range", err);
    range = strtoul(info.name, NULL, 10);
    if (range >= n_ranges)
        return hone_fail(err, HONE_E_TARGET, "counters of a range '%s' that there was not",
                         info.name);
    p.host = session->host;
    p.data = session->data;
    p.data_size = session->data_len;
    p.range = index;
    p.names = session->config.names;
    p.n_names = session->config.n;
    p.values = values;
    code = session->cupti->Evaluate(&p);
    if (code != 0)
        return fail(session->cupti, code, "values of the counters", err);
    for (size_t i = 0; i < session->config.n; i++)
        ret[range].v[session->config.ids[i]] = isfinite(values[i]) ? values[i] : (double)NAN;
    return 0;
}

int hone_cupti_values(struct hone_cupti_session *session, struct hone_gpu_values *ret,
                      size_t n_ranges, struct hone_err *err)
{
    struct cupti_abi_decode decode = ZERO(struct cupti_abi_decode, n_dropped);
    struct cupti_abi_data_info info = ZERO(struct cupti_abi_data_info, n_ranges);
    int code, rc = 0;

    decode.profiler = session->profiler;
    code = session->cupti->Decode(&decode);
    if (code != 0)
        return fail(session->cupti, code, "reading of the counters", err);
    if (decode.n_dropped > 0)
        return hone_fail(err, HONE_E_TARGET, "%zu ranges of counters were lost", decode.n_dropped);
    info.data = session->data;
    info.data_size = session->data_len;
    code = session->cupti->DataInfo(&info);
    if (code != 0)
        return fail(session->cupti, code, "reading of the counters", err);
    for (size_t i = 0; i < n_ranges; i++)
        hone_gpu_values_init(&ret[i]);
    for (size_t i = 0; i < info.n_ranges && rc == 0; i++)
        rc = evaluate(session, i, ret, n_ranges, err);
    return rc;
}

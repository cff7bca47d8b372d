/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated NVRTC: g++ compiles the device text for the CPU.
 *
 * Preprocess (g++ -E with the prelude) -> scan.c -> compile and link -> cubin.c. Work files lie in
 * a folder of their own in $TMPDIR, the current folder or /tmp. The prelude is embedded
 * (prelude.S). Options: -D, -I, -std, --pre-include; --ptxas-options=-v adds ptxas's lines; others
 * are ignored. */
#include "tests/cuda_emulator/cubin.h"
#include "tools/runner/cuda/driver/cuda_api.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMU_DECLARE(name_, symbol_, args_)                                                         \
    __attribute__((visibility("default"))) int nvrtc##name_ args_ __asm__(symbol_);
HONE_NVRTC_FUNCTIONS(EMU_DECLARE)
extern const char hone_emulated[] __attribute__((visibility("default")));
const char hone_emulated[] = "hone's emulator"; /* how a program tells it from NVIDIA's */

enum { /* nvrtcResult */
       SUCCESS = 0,
       OUT_OF_MEMORY = 1,
       INVALID_INPUT = 3,
       INVALID_PROGRAM = 4,
       INVALID_OPTION = 5,
       COMPILATION = 6,
       NO_NAMES_AFTER = 8,
       NO_LOWERED_BEFORE = 9,
       NAME_NOT_VALID = 10
};
enum { MAX_ARGS = 256, MAX_EXPRESSIONS = 512, MAX_HEADERS = 64 };

extern const char emulate_h[], emulate_h_end[], emulate_math_h[], emulate_math_h_end[],
    emulate_more_h[], emulate_more_h_end[], emulate_s[], emulate_s_end[], headers_txt[],
    headers_txt_end[];
extern char **environ;

struct hone_nvrtc_program_s {
    char *source, *name;
    char *headers[MAX_HEADERS], *include_names[MAX_HEADERS];
    int n_headers;
    char *expressions[MAX_EXPRESSIONS];
    const char *lowered[MAX_EXPRESSIONS];
    unsigned n_expressions;
    bool is_compiled;
    struct emu_text log, cubin;
    struct emu_object object;
    struct emu_text bytes; /* of the object */
};

static char *copy(const char *text)
{
    char *ret = strdup(text);
    if (ret == NULL)
        abort();
    return ret;
}

/* ---- files ---- */

static bool write_file(const char *folder, const char *name, const char *bytes, size_t len)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    bool is_good = file != NULL && fwrite(bytes, 1, len, file) == len;
    return file != NULL && fclose(file) == 0 && is_good;
}
static bool read_file(const char *folder, const char *name, struct emu_text *ret)
{
    char path[1024], block[65536];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    emu_append(ret, "", 0);
    if (file == NULL)
        return false;
    for (size_t n; (n = fread(block, 1, sizeof(block), file)) > 0;)
        emu_append(ret, block, n);
    fclose(file);
    return true;
}
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char path[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0)
            remove_folder(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
}

static bool make_folder(const struct hone_nvrtc_program_s *p, char folder[512])
{
    const char *tmp = getenv("TMPDIR");
    const char *const places[] = {tmp != NULL ? tmp : ".", ".", "/tmp"};
    bool is_made = false;
    for (size_t i = 0; i < 3 && !is_made; i++) {
        snprintf(folder, 512, "%s/hone-emulated-XXXXXX", places[i]);
        is_made = mkdtemp(folder) != NULL;
    }
    char include[600];
    snprintf(include, sizeof(include), "%s/include", folder);
    if (!is_made || mkdir(include, 0700) != 0)
        return false;
    bool is_good =
        write_file(include, "emulate.h", emulate_h, (size_t)(emulate_h_end - emulate_h)) &&
        write_file(include, "emulate_math.h", emulate_math_h,
                   (size_t)(emulate_math_h_end - emulate_math_h)) &&
        write_file(include, "emulate_more.h", emulate_more_h,
                   (size_t)(emulate_more_h_end - emulate_more_h)) &&
        write_file(folder, "shared.s", emulate_s, (size_t)(emulate_s_end - emulate_s));
    /* Headers that the prelude stands for: empty, one name a line. */
    for (const char *at = headers_txt; at < headers_txt_end;) {
        char name[128];
        const char *end = strchr(at, '\n');
        snprintf(name, sizeof(name), "%.*s", (int)(end - at), at);
        is_good &= write_file(include, name, "", 0);
        at = end + 1;
    }
    for (int i = 0; i < p->n_headers; i++)
        if (p->include_names[i][0] != '/' && strstr(p->include_names[i], "..") == NULL)
            is_good &=
                write_file(include, p->include_names[i], p->headers[i], strlen(p->headers[i]));
    return is_good;
}

/* ---- g++ ---- */

static int run(const char *const *args, const char *folder, const char *log_name)
{
    char log[600];
    snprintf(log, sizeof(log), "%s/%s", folder, log_name);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    char *argv[MAX_ARGS];
    size_t n = 0;
    for (; args[n] != NULL && n < MAX_ARGS - 1; n++)
        argv[n] = copy(args[n]);
    argv[n] = NULL;
    pid_t pid;
    int status = -1;
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 0);
    int rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    if (rc == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < n; i++)
        free(argv[i]);
    return rc != 0 ? -rc : status;
}

struct arguments {
    const char *at[MAX_ARGS];
    char *owned[MAX_ARGS];
    size_t n, n_owned;
};
static void add(struct arguments *args, const char *text)
{
    if (args->n < MAX_ARGS - 40)
        args->at[args->n++] = text;
}
static void add_joined(struct arguments *args, const char *a, const char *b)
{
    char *text = NULL;
    if (args->n_owned == MAX_ARGS || asprintf(&text, "%s%s", a, b) < 0)
        abort();
    args->owned[args->n_owned++] = text;
    add(args, text);
}

/* NVRTC's option in g++'s words; some take their value in the next one. */
static const struct {
    const char *name, *becomes;
} options[] = {
    {"--define-macro=", "-D"},
    {"-D", "-D"},
    {"--include-path=", "-I"},
    {"-I", "-I"},
    {"-U", "-U"},
    {"--undefine-macro=", "-U"},
    {"--std=", "-std="},
    {"-std=", "-std="},
};

static void translate(struct arguments *args, int n, const char *const *given, bool *ret_verbose)
{
    for (int i = 0; i < n; i++) {
        const char *option = given[i];
        *ret_verbose |= strstr(option, "ptxas-options") != NULL && strstr(option, "-v") != NULL;
        if (strncmp(option, "--pre-include=", 14) == 0 || strncmp(option, "-include=", 9) == 0) {
            add(args, "-include");
            add(args, strchr(option, '=') + 1);
            continue;
        }
        if ((strcmp(option, "--gpu-architecture") == 0 || strcmp(option, "-arch") == 0) &&
            i + 1 < n)
            i++;
        for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
            size_t len = strlen(options[k].name);
            if (strncmp(option, options[k].name, len) != 0)
                continue;
            const char *value = option + len;
            if (*value == '\0' && i + 1 < n)
                value = given[++i];
            add_joined(args, options[k].becomes, value);
            break;
        }
    }
}
static unsigned arch_of(int n, const char *const *given)
{
    for (int i = 0; i < n; i++) {
        const char *at = strstr(given[i], "sm_");
        at = at != NULL                     ? at + 3
             : strstr(given[i], "compute_") ? strstr(given[i], "compute_") + 8
                                            : NULL;
        if (at != NULL)
            return (unsigned)strtoul(at, NULL, 10) * 10;
    }
    return 900;
}

/* ---- the log: name:line:column: error: text becomes name(line): error: text ---- */

static void rewrite_log(const char *text, const char *folder, struct emu_text *log,
                        unsigned *ret_errors)
{
    size_t folder_len = strlen(folder);
    for (const char *line = text; *line != '\0';) {
        const char *end = strchrnul(line, '\n');
        char *copy_of = strndup(line, (size_t)(end - line));
        if (copy_of == NULL)
            abort();
        char *what = strstr(copy_of, ": error: ");
        what = what != NULL ? what : strstr(copy_of, ": fatal error: ");
        *ret_errors += what != NULL;
        what = what != NULL ? what : strstr(copy_of, ": warning: ");
        what = what != NULL ? what : strstr(copy_of, ": note: ");
        char *digits = what; /* back over :line:column */
        int n_numbers = 0;
        const char *number = NULL;
        while (digits != NULL && digits > copy_of && n_numbers < 2) {
            char *from = digits;
            while (from > copy_of && isdigit((unsigned char)from[-1]))
                from--;
            if (from == digits || from == copy_of || from[-1] != ':')
                break;
            number = from;
            digits = from - 1;
            n_numbers++;
        }
        const char *begin = copy_of;
        if (strncmp(begin, folder, folder_len) == 0)
            begin += folder_len + 1;
        if (number != NULL)
            emu_printf(log, "%.*s(%ld): %s\n", (int)(digits - begin), begin,
                       strtol(number, NULL, 10), what + (strncmp(what, ": fatal", 7) == 0 ? 8 : 2));
        else
            emu_printf(log, "%s\n", begin);
        free(copy_of);
        line = *end == '\n' ? end + 1 : end;
    }
}

static void ptxas_lines(struct hone_nvrtc_program_s *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->object.n_variables; i++)
        bytes += p->object.variables[i].bytes;
    emu_printf(&p->log, "ptxas info    : %zu bytes gmem\n", bytes);
    for (size_t i = 0; i < p->object.n_kernels; i++) {
        const struct emu_kernel *k = &p->object.kernels[i];
        if (emu_is_no_kernel(&p->object, i))
            continue;
        emu_printf(&p->log,
                   "ptxas info    : Compiling entry function '%s' for 'sm_90a'\n"
                   "ptxas info    : Function properties for %s\n"
                   "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
                   "loads\n"
                   "ptxas info    : Used 32 registers, used 1 barriers",
                   k->name, k->name);
        if (k->shared_bytes > 0)
            emu_printf(&p->log, ", %u bytes smem", k->shared_bytes);
        emu_printf(&p->log, "\nptxas info    : Compile time = 1.000 ms\n");
    }
}

/* ---- compiling ---- */

static bool preprocess(struct hone_nvrtc_program_s *p, const char *folder, int n,
                       const char *const *given, struct emu_text *ret, unsigned *ret_errors,
                       bool *ret_verbose)
{
    char include[600], in[600], out[600], arch[64];
    struct arguments args = {0};
    struct emu_text text = {0}, log = {0};
    emu_printf(&text, "#line 1 \"%s\"\n%s\n", p->name, p->source);
    snprintf(include, sizeof(include), "-I%s/include", folder);
    snprintf(in, sizeof(in), "%s/in.cu", folder);
    snprintf(out, sizeof(out), "%s/in.ii", folder);
    snprintf(arch, sizeof(arch), "-D__CUDA_ARCH__=%u", arch_of(n, given));
    const char *const first[] = {"g++", "-E",    "-xc++",    "-std=c++17", "-D__CUDACC_RTC__",
                                 arch,  include, "-include", "emulate.h"};
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        add(&args, first[i]);
    translate(&args, n, given, ret_verbose);
    add(&args, in);
    add(&args, "-o");
    add(&args, out);
    int status = write_file(folder, "in.cu", text.at, text.len) ? run(args.at, folder, "log") : -1;
    read_file(folder, "log", &log);
    rewrite_log(log.at, folder, &p->log, ret_errors);
    if (status < 0)
        emu_printf(&p->log, "%s(1): error: the emulator cannot run g++: %s\n", p->name,
                   strerror(-status));
    free(text.at);
    free(log.at);
    for (size_t i = 0; i < args.n_owned; i++)
        free(args.owned[i]);
    return read_file(folder, "in.ii", ret) && status == 0;
}

static bool compile(struct hone_nvrtc_program_s *p, const char *folder, const char *standard,
                    const struct emu_text *text, unsigned *ret_errors)
{
    char in[600], shared[600], out[600];
    struct emu_text log = {0};
    snprintf(in, sizeof(in), "%s/out.ii", folder);
    snprintf(shared, sizeof(shared), "%s/shared.s", folder);
    snprintf(out, sizeof(out), "%s/out.so", folder);
    const char *const args[] = {"g++",
                                standard,
                                "-O1",
                                "-fPIC",
                                "-shared",
                                "-nostartfiles",
                                "-fno-gnu-unique",
                                "-fno-extern-tls-init",
                                "-fno-strict-aliasing",
                                "-fwrapv",
                                "-fno-math-errno",
                                "-ffp-contract=off",
                                "-fno-exceptions",
                                "-fsanitize=alignment",
                                "-fsanitize-undefined-trap-on-error",
                                "-Wno-attributes",
                                "-Wl,-Bsymbolic",
                                "-Wl,--hash-style=gnu",
                                "-fpreprocessed",
                                "-xc++",
                                in,
                                "-xassembler",
                                shared,
                                "-o",
                                out,
                                NULL};
    int status = write_file(folder, "out.ii", text->at, text->len) ? run(args, folder, "log") : -1;
    read_file(folder, "log", &log);
    rewrite_log(log.at, folder, &p->log, ret_errors);
    free(log.at);
    return status == 0 && read_file(folder, "out.so", &p->bytes) && p->bytes.len > 0;
}

static int build(struct hone_nvrtc_program_s *p, const char *folder, int n,
                 const char *const *given)
{
    struct emu_text text = {0};
    struct emu_scan scan = {0};
    unsigned n_errors = 0;
    bool is_verbose = false;
    const char *standard = "-std=c++17";
    for (int i = 0; i < n; i++) {
        const char *at = strstr(given[i], "-std=");
        standard = at != NULL ? at : standard;
    }
    bool is_good = preprocess(p, folder, n, given, &text, &n_errors, &is_verbose);
    unsigned first_row = 0;
    if (is_good) {
        emu_scan(text.at, false, &scan);
        first_row = scan.n_rows;
        emu_printf(&scan.out, "\n# 1 \"name expressions\"\n");
        for (unsigned i = 0; i < p->n_expressions; i++)
            emu_scan_row(&scan, p->expressions[i]);
        if (scan.errors.len > 0) {
            emu_append(&p->log, scan.errors.at, scan.errors.len);
            is_good = false;
        }
    }
    is_good = is_good && compile(p, folder, standard, &scan.out, &n_errors);
    is_good = is_good && emu_object_read(p->bytes.at, p->bytes.len, &p->object);
    if (is_good) {
        for (size_t k = 0; k < p->object.n_kernels; k++)
            if (p->object.kernels[k].id >= first_row)
                p->lowered[p->object.kernels[k].id - first_row] = p->object.kernels[k].name;
        emu_cubin_write(&p->object, &p->cubin);
        if (is_verbose)
            ptxas_lines(p);
    } else {
        n_errors += n_errors == 0;
        emu_printf(&p->log, "\n%u error%s detected in the compilation of \"%s\".\n", n_errors,
                   n_errors == 1 ? "" : "s", p->name);
    }
    free(text.at);
    free(scan.out.at);
    free(scan.errors.at);
    return is_good ? SUCCESS : COMPILATION;
}

int nvrtcCompileProgram(struct hone_nvrtc_program_s *p, int n, const char *const *given)
{
    char folder[512];
    if (p == NULL || p->is_compiled)
        return INVALID_PROGRAM;
    if (n < 0 || n > MAX_ARGS - 60)
        return INVALID_OPTION;
    p->is_compiled = true;
    int rc = COMPILATION;
    if (make_folder(p, folder))
        rc = build(p, folder, n, given);
    else
        emu_printf(&p->log, "%s(1): error: the emulator has no folder to work in: %s\n", p->name,
                   strerror(errno));
    remove_folder(folder);
    return rc;
}

/* ---- the rest ---- */

int nvrtcVersion(int *ret_major, int *ret_minor)
{
    *ret_major = 13;
    *ret_minor = 0;
    return SUCCESS;
}
int nvrtcCreateProgram(struct hone_nvrtc_program_s **ret, const char *source, const char *name,
                       int n_headers, const char *const *headers, const char *const *include_names)
{
    if (source == NULL || n_headers < 0 || n_headers > MAX_HEADERS)
        return INVALID_INPUT;
    struct hone_nvrtc_program_s *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return OUT_OF_MEMORY;
    p->source = copy(source);
    p->name = copy(name != NULL && *name != '\0' ? name : "default_program");
    for (; p->n_headers < n_headers; p->n_headers++) {
        p->headers[p->n_headers] = copy(headers[p->n_headers]);
        p->include_names[p->n_headers] = copy(include_names[p->n_headers]);
    }
    emu_append(&p->log, "", 0);
    *ret = p;
    return SUCCESS;
}
int nvrtcDestroyProgram(struct hone_nvrtc_program_s **program)
{
    struct hone_nvrtc_program_s *p = program != NULL ? *program : NULL;
    if (p == NULL)
        return INVALID_PROGRAM;
    for (int i = 0; i < p->n_headers; i++) {
        free(p->headers[i]);
        free(p->include_names[i]);
    }
    for (unsigned i = 0; i < p->n_expressions; i++)
        free(p->expressions[i]);
    emu_object_done(&p->object);
    free(p->bytes.at);
    free(p->log.at);
    free(p->cubin.at);
    free(p->source);
    free(p->name);
    free(p);
    *program = NULL;
    return SUCCESS;
}
int nvrtcAddNameExpression(struct hone_nvrtc_program_s *p, const char *expression)
{
    if (p == NULL || expression == NULL)
        return INVALID_INPUT;
    if (p->is_compiled)
        return NO_NAMES_AFTER;
    if (p->n_expressions == MAX_EXPRESSIONS)
        return INVALID_INPUT;
    p->expressions[p->n_expressions++] = copy(expression);
    return SUCCESS;
}
int nvrtcGetLoweredName(struct hone_nvrtc_program_s *p, const char *expression, const char **ret)
{
    if (p == NULL || expression == NULL)
        return INVALID_INPUT;
    if (!p->is_compiled)
        return NO_LOWERED_BEFORE;
    for (unsigned i = 0; i < p->n_expressions; i++)
        if (strcmp(p->expressions[i], expression) == 0 && p->lowered[i] != NULL) {
            *ret = p->lowered[i];
            return SUCCESS;
        }
    return NAME_NOT_VALID;
}
int nvrtcGetProgramLogSize(struct hone_nvrtc_program_s *p, size_t *ret)
{
    *ret = p->log.len + 1;
    return SUCCESS;
}
int nvrtcGetProgramLog(struct hone_nvrtc_program_s *p, char *ret)
{
    memcpy(ret, p->log.at, p->log.len + 1);
    return SUCCESS;
}
int nvrtcGetCUBINSize(struct hone_nvrtc_program_s *p, size_t *ret)
{
    *ret = p->cubin.len;
    return p->cubin.len > 0 ? SUCCESS : INVALID_PROGRAM;
}
int nvrtcGetCUBIN(struct hone_nvrtc_program_s *p, char *ret)
{
    if (p->cubin.len == 0)
        return INVALID_PROGRAM;
    memcpy(ret, p->cubin.at, p->cubin.len);
    return SUCCESS;
}
static const char ptx[] = "// emulated: there is no PTX\n";
int nvrtcGetPTXSize(struct hone_nvrtc_program_s *p, size_t *ret)
{
    *ret = sizeof(ptx);
    return p->cubin.len > 0 ? SUCCESS : INVALID_PROGRAM;
}
int nvrtcGetPTX(struct hone_nvrtc_program_s *p, char *ret)
{
    if (p->cubin.len == 0)
        return INVALID_PROGRAM;
    memcpy(ret, ptx, sizeof(ptx));
    return SUCCESS;
}

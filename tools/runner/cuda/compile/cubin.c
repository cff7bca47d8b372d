/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes that are read (they have no public description; each was compared with what ptxas
 * prints, CUDA 13.0):
 *
 *   .nv.info            0x2f symbol, registers     0x11 symbol, frame bytes
 *   .nv.info.<kernel>   0x05 most threads (x, y, z)
 *                       0x17 parameter: index, ordinal, offset, size in the upper 14 bits
 *                       0x45 the same when the parameters together exceed 4 KiB: size in a word
 *                       0x19 bytes of all parameters
 *   .nv.shared.<kernel> static shared memory, 1 KiB of the system's included on new devices
 *   .nv.global, .nv.global.init, .nv.constant3: variables
 *
 * An attribute is format (1: nothing, 2: byte, 3: short, 4: length and bytes), number, value. */
#include "tools/runner/cuda/compile/cubin.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define MAX_SECTIONS   8192
#define MAX_SYMBOLS    65536
#define EM_CUDA_NUMBER 190
#define STO_ENTRY      0x10 /* of st_other: a kernel */
#define SYSTEM_SHARED  1024

enum {
    ATTR_MAX_THREADS = 0x05,
    ATTR_FRAME = 0x11,
    ATTR_PARAM = 0x17,
    ATTR_REGISTERS = 0x2f,
    ATTR_PARAM_LONG = 0x45
};

struct image {
    const unsigned char *bytes;
    size_t len;
    Elf64_Ehdr header;
    Elf64_Shdr section_names;
    Elf64_Shdr symbols, symbol_names;
    uint64_t n_symbols;
    struct hone_pool *pool;
    struct hone_cubin *out;
    bool has_system_shared;
};

/* The address of count items of size bytes at offset, or NULL when they are not all inside. */
static const unsigned char *at(const struct image *image, uint64_t offset, uint64_t count,
                               uint64_t size)
{
    if (offset > image->len || (size != 0 && count > (image->len - offset) / size))
        return NULL;
    return image->bytes + offset;
}

static const char *string_at(const struct image *image, const Elf64_Shdr *table, uint64_t offset)
{
    if (offset >= table->sh_size || at(image, table->sh_offset, table->sh_size, 1) == NULL)
        return NULL;
    const char *text = (const char *)image->bytes + table->sh_offset + offset;
    size_t room = (size_t)(table->sh_size - offset);
    return memchr(text, '\0', room) == NULL || strlen(text) > HONE_LIMIT_SYMBOL_BYTES ? NULL : text;
}

static bool read_section(const struct image *image, uint64_t number, Elf64_Shdr *ret)
{
    const unsigned char *from = number >= image->header.e_shnum
                                    ? NULL
                                    : at(image, image->header.e_shoff, number + 1, sizeof *ret);
    if (from == NULL)
        return false;
    memcpy(ret, from + number * sizeof *ret, sizeof *ret);
    return true;
}

static const char *section_name(const struct image *image, uint64_t number, Elf64_Shdr *ret)
{
    return read_section(image, number, ret) ? string_at(image, &image->section_names, ret->sh_name)
                                            : NULL;
}

static bool read_symbol(const struct image *image, uint64_t number, Elf64_Sym *ret)
{
    const unsigned char *from = number >= image->n_symbols
                                    ? NULL
                                    : at(image, image->symbols.sh_offset, number + 1, sizeof *ret);
    if (from == NULL)
        return false;
    memcpy(ret, from + number * sizeof *ret, sizeof *ret);
    return true;
}

static uint32_t u32_at(const unsigned char *from)
{
    uint32_t value = 0;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint16_t u16_at(const unsigned char *from)
{
    uint16_t value = 0;
    memcpy(&value, from, sizeof value);
    return value;
}

static struct hone_cuda_kernel *kernel_of(struct image *image, const char *name)
{
    struct hone_cuda_kernel *list = image->out->kernels.v;
    for (size_t i = 0; name != NULL && i < image->out->kernels.n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

const struct hone_cuda_kernel *hone_cubin_find(const struct hone_array *kernels, const char *name)
{
    const struct hone_cuda_kernel *list = kernels->v;
    for (size_t i = 0; i < kernels->n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

/* ---- symbols ---- */

static bool is_kernel(const struct image *image, const Elf64_Sym *symbol)
{
    unsigned char type = ELF64_ST_TYPE(symbol->st_info);
    unsigned char bind = ELF64_ST_BIND(symbol->st_info);
    if (type != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
        return false;
    if (image->out->is_emulated)
        return bind == STB_GLOBAL || bind == STB_WEAK;
    return (symbol->st_other & STO_ENTRY) != 0;
}

/* String literals of printf and assert: constants in a section of initial values. */
static bool is_literal(const char *name, const char *section)
{
    return strcmp(section, ".nv.global.init") == 0 &&
           (strncmp(name, "$str", 4) == 0 || strncmp(name, "__unnamed_", 10) == 0);
}

static bool is_variable(const struct image *image, const Elf64_Sym *symbol, const char *name)
{
    static const char *const sections[] = {".nv.global", ".nv.global.init", ".nv.constant3"};
    Elf64_Shdr section;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0)
        return false;
    const char *where = section_name(image, symbol->st_shndx, &section);
    for (size_t i = 0; where != NULL && i < HONE_COUNTOF(sections); i++)
        if (strcmp(where, sections[i]) == 0)
            return !is_literal(name, where);
    return false;
}

bool hone_cubin_is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || hone_utf8_valid_prefix(name, len) != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        if (!isalnum(c) && c < 0x80 && strchr("_$.@", c) == NULL)
            return false;
    }
    HONE_AUTOFREE char *safe = hone_strdup(name);
    hone_utf8_defuse(safe, '\n');
    return strcmp(safe, name) == 0;
}

static int check_name(const char *name, struct hone_err *err)
{
    return hone_cubin_is_name(name)
               ? 0
               : hone_fail(err, HONE_E_ARG,
                           "a kernel or device variable has a name with characters that no "
                           "identifier has. fix: no asm() label that changes it");
}

static int add_kernel(struct image *image, const char *name, struct hone_err *err)
{
    struct hone_array *list = &image->out->kernels;
    struct hone_cuda_kernel *kernels = list->v;
    if (kernel_of(image, name) != NULL)
        return 0;
    if (list->n == HONE_LIMIT_CUDA_KERNELS)
        return hone_fail(err, HONE_E_LIMIT, "more than %d kernels in one cubin",
                         HONE_LIMIT_CUDA_KERNELS);
    char pretty[200];
    hone_plan_pretty(name, pretty, sizeof pretty);
    kernels[list->n++] = (struct hone_cuda_kernel){.name = hone_pool_strdup(image->pool, name),
                                                   .pretty = hone_pool_strdup(image->pool, pretty)};
    return 0;
}

static int add_variable(struct image *image, const char *name, uint64_t size, struct hone_err *err)
{
    struct hone_array *list = &image->out->variables;
    struct hone_cuda_variable *variables = list->v;
    if (list->n == HONE_LIMIT_CUDA_VARIABLES)
        return hone_fail(err, HONE_E_LIMIT, "more than %d device variables in one cubin",
                         HONE_LIMIT_CUDA_VARIABLES);
    if (size > INT64_MAX)
        return hone_fail(err, HONE_E_ARG, "a device variable of impossible size");
    variables[list->n++] = (struct hone_cuda_variable){.name = hone_pool_strdup(image->pool, name),
                                                       .bytes = (int64_t)size};
    return 0;
}

static int read_symbols(struct image *image, struct hone_err *err)
{
    image->out->kernels.v =
        hone_pool_alloc(image->pool, HONE_LIMIT_CUDA_KERNELS * sizeof(struct hone_cuda_kernel));
    image->out->variables.v =
        hone_pool_alloc(image->pool, (size_t)image->n_symbols * sizeof(struct hone_cuda_variable));
    for (uint64_t i = 0; i < image->n_symbols; i++) {
        Elf64_Sym symbol;
        if (!read_symbol(image, i, &symbol))
            return hone_fail(err, HONE_E_ARG, "the cubin's symbols lie outside of it");
        const char *name = string_at(image, &image->symbol_names, symbol.st_name);
        int rc = 0;
        if (name == NULL || name[0] == '\0')
            continue;
        if (strcmp(name, ".nv.reservedSmem.offset0") == 0)
            image->has_system_shared = true;
        if (is_kernel(image, &symbol))
            rc = check_name(name, err) < 0 ? HONE_E_ARG : add_kernel(image, name, err);
        else if (!image->out->is_emulated && is_variable(image, &symbol, name))
            rc = check_name(name, err) < 0 ? HONE_E_ARG
                                           : add_variable(image, name, symbol.st_size, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- attributes ---- */

static const char *symbol_text(const struct image *image, uint32_t number)
{
    Elf64_Sym symbol;
    return read_symbol(image, number, &symbol)
               ? string_at(image, &image->symbol_names, symbol.st_name)
               : NULL;
}

/* Attributes of the whole file: about the kernel whose symbol they name. */
static void take_global(struct image *image, unsigned char number, const unsigned char *value,
                        size_t len)
{
    if (len < 8)
        return;
    struct hone_cuda_kernel *kernel = kernel_of(image, symbol_text(image, u32_at(value)));
    if (kernel != NULL && number == ATTR_REGISTERS)
        kernel->registers = u32_at(value + 4);
    else if (kernel != NULL && number == ATTR_FRAME)
        kernel->frame_bytes = u32_at(value + 4);
}

static int add_param(struct image *image, struct hone_cuda_kernel *kernel, int64_t ordinal,
                     int64_t offset, int64_t size, struct hone_err *err)
{
    if (ordinal >= HONE_LIMIT_CUDA_PARAMS || offset + size > HONE_LIMIT_CUDA_PARAM_BYTES)
        return hone_fail(err, HONE_E_LIMIT,
                         "kernel '%.100s' has more than %d parameters or %d bytes of them",
                         kernel->name, HONE_LIMIT_CUDA_PARAMS, HONE_LIMIT_CUDA_PARAM_BYTES);
    if (kernel->params.v == NULL)
        kernel->params.v =
            hone_pool_alloc(image->pool, HONE_LIMIT_CUDA_PARAMS * sizeof(struct hone_plan_param));
    struct hone_plan_param *params = kernel->params.v;
    kernel->param_bytes += size - params[ordinal].size;
    params[ordinal] = (struct hone_plan_param){.at = offset, .size = size};
    kernel->params.n = (size_t)hone_max_i64((int64_t)kernel->params.n, ordinal + 1);
    kernel->n_params = (int64_t)kernel->params.n;
    return 0;
}

static int take_own(struct image *image, struct hone_cuda_kernel *kernel, unsigned char number,
                    const unsigned char *value, size_t len, struct hone_err *err)
{
    if (number == ATTR_PARAM && len >= 12)
        return add_param(image, kernel, u16_at(value + 4), u16_at(value + 6),
                         u32_at(value + 8) >> 18, err);
    if (number == ATTR_PARAM_LONG && len >= 12)
        return add_param(image, kernel, u16_at(value + 4), u16_at(value + 6), u32_at(value + 8),
                         err);
    if (number == ATTR_MAX_THREADS && len >= 12)
        kernel->max_threads =
            hone_min_i64((int64_t)u32_at(value) * u16_at(value + 4), 1 << 20) * u16_at(value + 8);
    return 0;
}

static int read_attributes(struct image *image, const Elf64_Shdr *section,
                           struct hone_cuda_kernel *kernel, struct hone_err *err)
{
    const unsigned char *from = at(image, section->sh_offset, section->sh_size, 1);
    if (from == NULL)
        return hone_fail(err, HONE_E_ARG, "the cubin's attributes lie outside of it");
    for (size_t i = 0; i + 4 <= section->sh_size;) {
        unsigned char number = from[i + 1];
        bool is_long = from[i] == 4;
        size_t len = is_long ? u16_at(from + i + 2) : 2;
        const unsigned char *value = from + i + (is_long ? 4 : 2);
        size_t next = i + (is_long ? 4 + len : 4);
        if (next > section->sh_size)
            return hone_fail(err, HONE_E_ARG, "an attribute of the cubin is cut off");
        int rc = kernel == NULL ? (take_global(image, number, value, len), 0)
                                : take_own(image, kernel, number, value, len, err);
        if (rc < 0)
            return rc;
        i = next;
    }
    return 0;
}

static int read_sections(struct image *image, struct hone_err *err)
{
    for (uint64_t i = 0; i < image->header.e_shnum; i++) {
        Elf64_Shdr section;
        const char *name = section_name(image, i, &section);
        int rc = 0;
        if (name == NULL || strncmp(name, ".nv.", 4) != 0)
            continue;
        if (strcmp(name, ".nv.info") == 0)
            rc = read_attributes(image, &section, NULL, err);
        else if (strncmp(name, ".nv.info.", 9) == 0 && kernel_of(image, name + 9) != NULL)
            rc = read_attributes(image, &section, kernel_of(image, name + 9), err);
        else if (strncmp(name, ".nv.shared.", 11) == 0 && kernel_of(image, name + 11) != NULL)
            kernel_of(image, name + 11)->shared_bytes =
                hone_max_i64(0, (int64_t)(section.sh_size & INT64_MAX) -
                                    (image->has_system_shared ? SYSTEM_SHARED : 0));
        else if (strcmp(name, ".nv.constant3") == 0)
            for (size_t k = 0; k < image->out->kernels.n; k++)
                ((struct hone_cuda_kernel *)image->out->kernels.v)[k].const_bytes =
                    (int64_t)(section.sh_size & INT64_MAX);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- the file ---- */

static bool find_symbols(struct image *image)
{
    uint32_t wanted = image->out->is_emulated ? SHT_DYNSYM : SHT_SYMTAB;
    for (uint64_t i = 0; i < image->header.e_shnum; i++) {
        if (!read_section(image, i, &image->symbols))
            return false;
        if (image->symbols.sh_type != wanted)
            continue;
        image->n_symbols = image->symbols.sh_size / sizeof(Elf64_Sym);
        return image->n_symbols <= MAX_SYMBOLS &&
               read_section(image, image->symbols.sh_link, &image->symbol_names);
    }
    return false;
}

int hone_cubin_read(const void *bytes, size_t len, struct hone_pool *pool, struct hone_cubin *ret,
                    struct hone_err *err)
{
    struct hone_cubin out = {.is_emulated = false};
    struct image image = {.bytes = bytes, .len = len, .pool = pool, .out = &out};
    Elf64_Ehdr *header = &image.header;
    if (len < sizeof *header)
        return hone_fail(err, HONE_E_ARG, "%zu bytes are no cubin", len);
    memcpy(header, bytes, sizeof *header);
    out.is_emulated = header->e_machine != EM_CUDA_NUMBER;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shnum > MAX_SECTIONS || (out.is_emulated && header->e_type != ET_DYN) ||
        !read_section(&image, header->e_shstrndx, &image.section_names) || !find_symbols(&image))
        return hone_fail(err, HONE_E_ARG, "the compiler's output is no cubin that can be read");
    int rc = read_symbols(&image, err);
    if (rc == 0 && !out.is_emulated)
        rc = read_sections(&image, err);
    if (rc == 0)
        *ret = out;
    return rc;
}

/* ---- ptxas' words ---- */

/* The number in front of `what` in the line, else -1: "824 bytes stack frame". */
static int64_t number_before(const char *line, size_t len, const char *what)
{
    const char *found = memmem(line, len, what, strlen(what));
    if (found == NULL)
        return -1;
    while (found > line && found[-1] == ' ')
        found--;
    const char *first = found;
    while (first > line && isdigit((unsigned char)first[-1]))
        first--;
    return first == found ? -1 : strtoll(first, NULL, 10);
}

static void take_figure(const char *line, size_t len, const char *what, int64_t *into)
{
    int64_t value = number_before(line, len, what);
    if (value >= 0)
        *into = value;
}

static struct hone_cuda_kernel *entry_in(const char *line, size_t len, struct hone_cubin *cubin)
{
    static const char what[] = "Compiling entry function '";
    const char *from = memmem(line, len, what, sizeof what - 1);
    if (from == NULL)
        return NULL;
    from += sizeof what - 1;
    struct hone_cuda_kernel *list = cubin->kernels.v;
    size_t room = len - (size_t)(from - line);
    for (size_t i = 0; i < cubin->kernels.n; i++) {
        size_t n = strlen(list[i].name);
        if (n < room && memcmp(from, list[i].name, n) == 0 && from[n] == '\'')
            return &list[i];
    }
    return NULL;
}

/* "Used" ends an entry's lines; what follows until the next entry is about its functions. */
void hone_cubin_read_log(const char *log, struct hone_cubin *cubin)
{
    struct hone_cuda_kernel *kernel = NULL;
    while (log != NULL && *log != '\0') {
        size_t len = strcspn(log, "\n");
        struct hone_cuda_kernel *entry = entry_in(log, len, cubin);
        if (entry != NULL)
            kernel = entry;
        if (kernel != NULL && memmem(log, len, "bytes stack frame", 17) != NULL) {
            take_figure(log, len, "bytes stack frame", &kernel->frame_bytes);
            take_figure(log, len, "bytes spill stores", &kernel->spill_store_bytes);
            take_figure(log, len, "bytes spill loads", &kernel->spill_load_bytes);
        }
        if (kernel != NULL && memmem(log, len, "Used ", 5) != NULL) {
            take_figure(log, len, "registers", &kernel->registers);
            kernel->shared_bytes = 0;
            take_figure(log, len, "bytes smem", &kernel->shared_bytes);
            kernel = NULL;
        }
        log += len + (log[len] == '\n');
    }
}

/* ---- whose variables ---- */

/* Where the toolkit's headers keep their constants, some thousand of them with cooperative
 * groups: no candidate writes them. */
static const char *const toolkit_spaces[] = {"cuda",   "std",    "nv", "cooperative_groups",
                                             "nvcuda", "thrust", "cub"};

static bool is_toolkit_space(const char *name, size_t len)
{
    for (size_t i = 0; i < HONE_COUNTOF(toolkit_spaces); i++)
        if (strlen(toolkit_spaces[i]) == len && memcmp(toolkit_spaces[i], name, len) == 0)
            return true;
    return false;
}

static bool is_toolkit_name(const char *mangled)
{
    if (strncmp(mangled, "_ZN", 3) != 0)
        return false;
    const char *at = mangled + 3;
    if (strncmp(at, "St", 2) == 0)
        return true;
    for (int i = 0; i < 2 && isdigit((unsigned char)*at);
         i++) { /* an internal name may come first */
        char *name = NULL;
        unsigned long n = strtoul(at, &name, 10);
        if (n > strlen(name))
            return false;
        if (is_toolkit_space(name, n))
            return true;
        if (strncmp(name, "_INTERNAL_", 10) != 0)
            return false;
        at = name + n;
    }
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the source make words out of parts? Then what it declares cannot be seen in its text. */
static bool joins_words(const char *source)
{
    for (const char *at = strstr(source, "\\\n"); at != NULL; at = strstr(at + 2, "\\\n"))
        if (at > source && is_word(at[-1]) && is_word(at[2]))
            return true;
    return strstr(source, "##") != NULL || strstr(source, "%:%:") != NULL;
}

/* Could the source itself put a variable into such a namespace? Then all of them are its own. A
 * macro in the place of the word or of the name counts as yes. */
static bool opens_toolkit_space(const char *source)
{
    if (joins_words(source))
        return true;
    static const char word[] = "namespace";
    for (const char *at = strstr(source, word); at != NULL; at = strstr(at, word)) {
        const char *line = at;
        while (line > source && line[-1] != '\n')
            line--;
        const char *first = line + strspn(line, " \t");
        bool is_using = at - first >= 5 && strncmp(first, "using", 5) == 0;
        at += sizeof word - 1;
        const char *name = at + strspn(at, " \t\n");
        size_t n = 0;
        while (is_word(name[n]))
            n++;
        HONE_AUTOFREE char *define = hone_sprintf("define %.*s", (int)n, name);
        if (*first == '#' || (!is_using && n > 0 && n < 200 &&
                              (is_toolkit_space(name, n) || strstr(source, define) != NULL)))
            return true;
    }
    return false;
}

void hone_cubin_drop_toolkit(const char *source, struct hone_cubin *cubin)
{
    struct hone_cuda_variable *list = cubin->variables.v;
    size_t n = 0;
    if (opens_toolkit_space(source))
        return;
    for (size_t i = 0; i < cubin->variables.n; i++)
        if (!is_toolkit_name(list[i].name) || strstr(source, list[i].name) != NULL)
            list[n++] = list[i]; /* extern "C" gives any name */
    cubin->variables.n = n;
}

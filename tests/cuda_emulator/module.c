/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, kernels and launches of the emulated driver. */
#include "tests/cuda_emulator/driver.h"
#include "tests/cuda_emulator/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RESERVED_SHARED = 1 << 10, MAX_CLUSTER = 16 };

struct hone_cu_function_s {
    char *name;
    const struct hone_emu_entry *entry;
    struct hone_cu_module_s *module;
    unsigned registers, shared_bytes;
    int max_dynamic, carveout;
};
struct hone_cu_module_s {
    void *object;
    int fd;
    char *copy; /* of the host object: symbols */
    size_t copy_len;
    struct hone_cu_function_s *functions;
    size_t n_functions;
    char *(*dynamic)(void);
};

static const Elf64_Shdr *section_of(const char *image, const char *name)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)image;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(image + head->e_shoff);
    const char *names = image + sections[head->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, name) == 0)
            return &sections[i];
    return NULL;
}

/* By a memory file where /proc is there, else by a file that is deleted at once. */
static void *open_object(const char *bytes, size_t len, int *ret_fd)
{
    const char *tmp = getenv("TMPDIR");
    const char *const folders[] = {NULL, tmp != NULL ? tmp : "/tmp", ".", "/tmp", "/dev/shm"};
    char why[256] = "";
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char path[512];
        if (folders[i] != NULL)
            snprintf(path, sizeof(path), "%s/hone-emulated-XXXXXX", folders[i]);
        int fd = folders[i] == NULL ? memfd_create("emulated module", MFD_CLOEXEC)
                                    : mkostemp(path, O_CLOEXEC);
        if (fd < 0)
            continue;
        if (folders[i] == NULL)
            snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        void *object =
            write(fd, bytes, len) == (ssize_t)len ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (object == NULL)
            snprintf(why, sizeof(why), "%s", dlerror());
        if (folders[i] != NULL)
            unlink(path);
        *ret_fd = fd; /* kept open: the loader knows objects by path, and this one must not recur */
        if (object != NULL)
            return object;
        close(fd);
    }
    fprintf(stderr, "emulated device: cannot load a module: %s\n", why);
    return NULL;
}

static bool read_kernels(struct hone_cu_module_s *module, const char *text, size_t len)
{
    const struct hone_emu_entry *(*entries)(unsigned *);
    void *found = dlsym(module->object, "hone_emu_entries_of");
    memcpy(&entries, &found, sizeof(entries));
    found = dlsym(module->object, "hone_emu_dynamic_of");
    memcpy(&module->dynamic, &found, sizeof(module->dynamic));
    if (entries == NULL || found == NULL)
        return false;
    unsigned n_entries;
    const struct hone_emu_entry *table = entries(&n_entries);
    const char *end = text + len;
    for (const char *line = text; line < end;) {
        unsigned entry, registers, shared;
        const char *space = memchr(line, ' ', (size_t)(end - line));
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (space == NULL || stop == NULL ||
            sscanf(space, " entry %u registers %u shared %u", &entry, &registers, &shared) != 3 ||
            entry >= n_entries)
            return false;
        void *more =
            realloc(module->functions, (module->n_functions + 1) * sizeof(*module->functions));
        if (more == NULL)
            return false;
        module->functions = more;
        module->functions[module->n_functions++] =
            (struct hone_cu_function_s){.name = strndup(line, (size_t)(space - line)),
                                        .entry = &table[entry],
                                        .module = module,
                                        .registers = registers,
                                        .shared_bytes = shared,
                                        .max_dynamic = (48 << 10) - (int)shared,
                                        .carveout = -1};
        line = stop + 1;
    }
    return true;
}

static void note_segments(struct hone_cu_module_s *module, bool is_there)
{
    const struct link_map *map = NULL;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)module->copy;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(module->copy + head->e_phoff);
    if (dlinfo(module->object, RTLD_DI_LINKMAP, &map) != 0)
        return;
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && is_there)
            emu_memory_note(map->l_addr + segments[i].p_vaddr, segments[i].p_memsz);
        else if (segments[i].p_type == PT_LOAD)
            emu_memory_forget(map->l_addr + segments[i].p_vaddr);
}

static void module_free(struct hone_cu_module_s *module)
{
    for (size_t i = 0; i < module->n_functions; i++)
        free(module->functions[i].name);
    free(module->functions);
    if (module->object != NULL) {
        note_segments(module, false);
        dlclose(module->object);
        close(module->fd);
    }
    free(module->copy);
    free(module);
}

hone_cu_result cuModuleLoadData(hone_cu_module *ret, const void *image)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (image == NULL || memcmp(image, ELFMAG, SELFMAG) != 0)
        return HONE_CU_INVALID_IMAGE;
    const Elf64_Shdr *object = section_of(image, HONE_EMU_SECTION_OBJECT);
    const Elf64_Shdr *kernels = section_of(image, HONE_EMU_SECTION_KERNELS);
    if (object == NULL || kernels == NULL)
        return HONE_CU_NO_BINARY;
    /* Kernels find the engine's functions here, however this library was loaded. */
    Dl_info self;
    if (dladdr((void *)(uintptr_t)cuModuleLoadData, &self) != 0)
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
    struct hone_cu_module_s *module = emu_handle(sizeof(*module));
    const char *bytes = (const char *)image + object->sh_offset;
    if ((module->copy = malloc(object->sh_size)) == NULL)
        abort();
    memcpy(module->copy, bytes, object->sh_size);
    module->copy_len = object->sh_size;
    module->object = open_object(bytes, object->sh_size, &module->fd);
    if (module->object == NULL ||
        !read_kernels(module, (const char *)image + kernels->sh_offset, kernels->sh_size)) {
        module_free(module);
        return HONE_CU_INVALID_IMAGE;
    }
    note_segments(module, true);
    *ret = module;
    return 0;
}
hone_cu_result cuModuleUnload(hone_cu_module module)
{
    if (module == NULL)
        return EMU_INVALID_HANDLE;
    emu_wait_all();
    module_free(module);
    return emu_enter();
}
hone_cu_result cuModuleGetFunction(hone_cu_function *ret, hone_cu_module module, const char *name)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || module == NULL)
        return rc != 0 ? rc : EMU_INVALID_HANDLE;
    for (size_t i = 0; i < module->n_functions; i++)
        if (strcmp(module->functions[i].name, name) == 0) {
            *ret = &module->functions[i];
            return 0;
        }
    return HONE_CU_NOT_FOUND;
}
/* Statics too: from the object's own symbol table. */
hone_cu_result cuModuleGetGlobal(hone_cu_ptr *ret, size_t *ret_bytes, hone_cu_module module,
                                 const char *name)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || module == NULL || name == NULL)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    const Elf64_Shdr *table = section_of(module->copy, ".symtab");
    const Elf64_Shdr *names = section_of(module->copy, ".strtab");
    const struct link_map *map = NULL;
    if (table == NULL || names == NULL || dlinfo(module->object, RTLD_DI_LINKMAP, &map) != 0)
        return HONE_CU_NOT_FOUND;
    for (size_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
        const Elf64_Sym *symbol =
            (const Elf64_Sym *)(const void *)(module->copy + table->sh_offset) + i;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF ||
            strcmp(module->copy + names->sh_offset + symbol->st_name, name) != 0)
            continue;
        if (ret != NULL)
            *ret = map->l_addr + symbol->st_value;
        if (ret_bytes != NULL)
            *ret_bytes = symbol->st_size;
        return 0;
    }
    return HONE_CU_NOT_FOUND;
}

hone_cu_result cuFuncGetAttribute(int *ret, int attribute, hone_cu_function func)
{
    if (func == NULL)
        return EMU_INVALID_HANDLE;
    switch (attribute) {
    case HONE_CU_FUNC_MAX_THREADS:
        *ret = HONE_EMU_MAX_THREADS;
        break;
    case HONE_CU_FUNC_SHARED_BYTES:
        *ret = (int)func->shared_bytes;
        break;
    case HONE_CU_FUNC_CONST_BYTES:
    case HONE_CU_FUNC_LOCAL_BYTES:
    case HONE_CU_FUNC_NON_PORTABLE_CLUSTER:
        *ret = 0;
        break;
    case HONE_CU_FUNC_REGISTERS:
        *ret = (int)func->registers;
        break;
    case HONE_CU_FUNC_MAX_DYNAMIC_SHARED:
        *ret = func->max_dynamic;
        break;
    case HONE_CU_FUNC_SHARED_CARVEOUT:
        *ret = func->carveout;
        break;
    default:
        return HONE_CU_INVALID_VALUE;
    }
    return emu_enter();
}
hone_cu_result cuFuncSetAttribute(hone_cu_function func, int attribute, int value)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || func == NULL)
        return rc != 0 ? rc : EMU_INVALID_HANDLE;
    if (attribute == HONE_CU_FUNC_MAX_DYNAMIC_SHARED) {
        if (value < 0 || (unsigned)value + func->shared_bytes > HONE_EMU_DYNAMIC_BYTES)
            return HONE_CU_INVALID_VALUE;
        func->max_dynamic = value;
    } else if (attribute == HONE_CU_FUNC_SHARED_CARVEOUT) {
        if (value < -1 || value > 100)
            return HONE_CU_INVALID_VALUE;
        func->carveout = value;
    } else if (attribute != HONE_CU_FUNC_NON_PORTABLE_CLUSTER) {
        return HONE_CU_INVALID_VALUE;
    }
    return 0;
}

/* ---- occupancy ---- */

static int blocks_per_sm(const struct hone_cu_function_s *func, unsigned threads, size_t dynamic)
{
    unsigned warps = (threads + 31) / 32;
    size_t shared = func->shared_bytes + dynamic + RESERVED_SHARED;
    size_t n = 64 / warps;
    size_t by_registers = 65536 / (warps * 32 * func->registers);
    size_t by_shared = (228 << 10) / shared;
    n = n < 32 ? n : 32;
    n = n < by_registers ? n : by_registers;
    return (int)(n < by_shared ? n : by_shared);
}
hone_cu_result cuOccupancyMaxActiveBlocks(int *ret, hone_cu_function func, int block_size,
                                          size_t dynamic_shared)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || func == NULL || block_size < 1)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    bool fits = block_size <= HONE_EMU_MAX_THREADS &&
                dynamic_shared + func->shared_bytes <= HONE_EMU_DYNAMIC_BYTES;
    *ret = fits ? blocks_per_sm(func, (unsigned)block_size, dynamic_shared) : 0;
    return 0;
}
hone_cu_result cuOccupancyMaxActiveClusters(int *ret, hone_cu_function func,
                                            const struct hone_cu_launch_config *config)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || func == NULL)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    unsigned cluster = 1;
    for (unsigned i = 0; i < config->n_attrs; i++)
        if (config->attrs[i].id == HONE_CU_LAUNCH_CLUSTER)
            cluster = config->attrs[i].value.cluster.x * config->attrs[i].value.cluster.y *
                      config->attrs[i].value.cluster.z;
    if (cluster == 0 || cluster > MAX_CLUSTER)
        return EMU_INVALID_CLUSTER;
    int n_sms;
    emu_device_attribute(HONE_CU_DEV_SM_COUNT, &n_sms);
    unsigned threads = config->block_x * config->block_y * config->block_z;
    *ret = threads == 0 ? 0
                        : n_sms * blocks_per_sm(func, threads, config->shared_bytes) / (int)cluster;
    return 0;
}

/* ---- launches ---- */

struct emu_kernel_call {
    struct hone_emu_launch launch;
    const struct hone_cu_function_s *func;
    char *params;
};

static hone_cu_result check_shape(const struct hone_cu_launch_config *c,
                                  const struct hone_cu_function_s *func)
{
    uint64_t threads = (uint64_t)c->block_x * c->block_y * c->block_z;
    if (func == NULL)
        return EMU_INVALID_HANDLE;
    if (c->grid_x == 0 || c->grid_y == 0 || c->grid_z == 0 || c->grid_x > 0x7fffffff ||
        c->grid_y > 65535 || c->grid_z > 65535 || threads == 0 || c->block_x > 1024 ||
        c->block_y > 1024 || c->block_z > 64 || threads > HONE_EMU_MAX_THREADS ||
        c->shared_bytes > (unsigned)func->max_dynamic ||
        c->shared_bytes + func->shared_bytes > HONE_EMU_DYNAMIC_BYTES)
        return HONE_CU_INVALID_VALUE;
    return blocks_per_sm(func, (unsigned)threads, c->shared_bytes) > 0
               ? 0
               : HONE_CU_LAUNCH_OUT_OF_RESOURCES;
}

/* The parameters as void * each, or as one buffer: extra = {1, buffer, 2, &size, 0}. */
static hone_cu_result copy_params(const struct hone_emu_entry *entry, void **params, void **extra,
                                  char *to)
{
    const char *buffer = NULL;
    size_t size = 0;
    for (; extra != NULL && extra[0] != NULL; extra += 2) {
        if (extra[0] == (void *)1)
            buffer = extra[1];
        else if (extra[0] == (void *)2)
            memcpy(&size, extra[1], sizeof(size));
    }
    if (entry->n_params > 0 && params == NULL && (buffer == NULL || size < entry->param_bytes))
        return HONE_CU_INVALID_VALUE;
    if (params == NULL && buffer != NULL)
        memcpy(to, buffer, entry->param_bytes);
    for (unsigned i = 0; params != NULL && i < entry->n_params; i++) {
        if (params[i] == NULL)
            return HONE_CU_INVALID_VALUE;
        memcpy(to + entry->offset[i], params[i], entry->size[i]);
    }
    return 0;
}

hone_cu_result emu_call_new(const struct hone_cu_launch_config *config, hone_cu_function func,
                            void **params, void **extra, struct emu_kernel_call **ret)
{
    hone_cu_result rc = check_shape(config, func);
    if (rc != 0)
        return rc;
    struct emu_kernel_call *call = calloc(1, sizeof(*call));
    if (call == NULL ||
        posix_memalign((void **)&call->params, 64, func->entry->param_bytes + 64) != 0)
        abort();
    call->func = func;
    call->launch = (struct hone_emu_launch){
        .entry = func->entry,
        .params = call->params,
        .grid = {config->grid_x, config->grid_y, config->grid_z},
        .block = {config->block_x, config->block_y, config->block_z},
        .shared_bytes = config->shared_bytes,
        .dynamic = func->module->dynamic,
        .n_workers = (int)emu_setting("THREADS", 1),
    };
    rc = copy_params(func->entry, params, extra, call->params);
    for (unsigned i = 0; rc == 0 && i < config->n_attrs; i++)
        rc = emu_call_set(call, config->attrs[i].id, &config->attrs[i].value);
    if (rc != 0) {
        emu_call_free(call);
        return rc;
    }
    *ret = call;
    return 0;
}
hone_cu_result emu_call_set(struct emu_kernel_call *call, int id,
                            const union hone_cu_launch_value *value)
{
    struct hone_emu_launch *l = &call->launch;
    if (id == HONE_CU_LAUNCH_COOPERATIVE) {
        int n_sms;
        emu_device_attribute(HONE_CU_DEV_SM_COUNT, &n_sms);
        uint64_t blocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
        uint64_t room = (uint64_t)n_sms *
                        (uint64_t)blocks_per_sm(call->func, l->block.x * l->block.y * l->block.z,
                                                l->shared_bytes);
        if (value->cooperative != 0 && blocks > room)
            return HONE_CU_COOPERATIVE_TOO_LARGE;
        l->is_cooperative = value->cooperative != 0;
    } else if (id == HONE_CU_LAUNCH_CLUSTER) {
        uint64_t n = (uint64_t)value->cluster.x * value->cluster.y * value->cluster.z;
        if (n == 0 || n > MAX_CLUSTER)
            return EMU_INVALID_CLUSTER;
        if (l->grid.x % value->cluster.x != 0 || l->grid.y % value->cluster.y != 0 ||
            l->grid.z % value->cluster.z != 0)
            return HONE_CU_INVALID_VALUE;
    }
    return 0; /* others have no effect here */
}
hone_cu_result emu_call_run(void *arg)
{
    struct emu_kernel_call *call = arg;
    return hone_emu_execute(&call->launch);
}
void emu_call_free(void *arg)
{
    struct emu_kernel_call *call = arg;
    free(call->params);
    free(call);
}

hone_cu_result cuLaunchKernelEx(const struct hone_cu_launch_config *config, hone_cu_function func,
                                void **params, void **extra)
{
    hone_cu_result rc = emu_enter();
    struct emu_kernel_call *call;
    if (rc == 0)
        rc = emu_call_new(config, func, params, extra, &call);
    return rc != 0
               ? rc
               : emu_submit(config->stream, (struct emu_work){emu_call_run, emu_call_free, call});
}
hone_cu_result cuLaunchKernel(hone_cu_function func, unsigned gx, unsigned gy, unsigned gz,
                              unsigned bx, unsigned by, unsigned bz, unsigned shared,
                              hone_cu_stream stream, void **params, void **extra)
{
    struct hone_cu_launch_config config = {.grid_x = gx,
                                           .grid_y = gy,
                                           .grid_z = gz,
                                           .block_x = bx,
                                           .block_y = by,
                                           .block_z = bz,
                                           .shared_bytes = shared,
                                           .stream = stream};
    return cuLaunchKernelEx(&config, func, params, extra);
}

/* ---- tensor maps: checked and stored; nothing reads them here ---- */

hone_cu_result cuTensorMapEncodeTiled(struct hone_cu_tensor_map *ret, int dtype, unsigned rank,
                                      void *address, const unsigned long long *dims,
                                      const unsigned long long *strides, const unsigned *box,
                                      const unsigned *element_strides, int interleave, int swizzle,
                                      int l2, int fill)
{
    static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 2,
                                     4, 8, 2, 4, 4, 4}; /* by CUtensorMapDataType */
    static const unsigned spans[] = {256 * 16, 32, 64, 128};
    if (dtype < 0 || dtype > 12 || rank < 1 || rank > 5 || (uintptr_t)address % 16 != 0 ||
        interleave < 0 || interleave > 2 || swizzle < 0 || swizzle > 3 || l2 < 0 || l2 > 3 ||
        fill < 0 || fill > 1)
        return HONE_CU_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++)
        if (dims[i] == 0 || dims[i] > 1ull << 32 || box[i] == 0 || box[i] > 256 ||
            element_strides[i] == 0 || element_strides[i] > 8 ||
            (i > 0 && (strides[i - 1] % 16 != 0 || strides[i - 1] >= 1ull << 40)))
            return HONE_CU_INVALID_VALUE;
    unsigned inner = box[0] * sizes[dtype];
    if (interleave == 0 && (inner % 16 != 0 || inner > spans[swizzle]))
        return HONE_CU_INVALID_VALUE;
    memset(ret, 0, sizeof(*ret));
    ret->opaque[0] = (uintptr_t)address;
    ret->opaque[1] = (unsigned)dtype | rank << 8 | (unsigned)interleave << 16 |
                     (unsigned)swizzle << 18 | (unsigned)l2 << 20 | (unsigned)fill << 22;
    for (unsigned i = 0; i < rank; i++) {
        ret->opaque[2 + i] = dims[i];
        ret->opaque[7 + i] = i > 0 ? strides[i - 1] : 0;
        ret->opaque[12] ^= (unsigned long long)(box[i] & 0xff) << (8 * i);
        ret->opaque[13] ^= (unsigned long long)element_strides[i] << (8 * i);
    }
    return 0;
}

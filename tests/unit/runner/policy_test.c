/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy finds in binaries: instructions by their bytes, objects of the C compiler, recorded
 * cubins (tests/cubins), files that lie. */
#include "tools/runner/judge/policy_stage.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/runner/cuda/compile/policy_cubin.h"
#include "tools/runner/binary/x86_code.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static const struct {
    const char *bytes;
    size_t len;
    const char *name; /* "": no name */
} instructions[] = {
    {"\x0f\x31", 2, "rdtsc"},
    {"\x0f\x01\xf9", 3, "rdtscp"},
    {"\x0f\x33", 2, "rdpmc"},
    {"\xf3\x0f\xc7\xf8", 4, "rdpid"},
    {"\x48\x0f\xc7\xf8", 4, ""}, /* rdseed */
    {"\x0f\xae\x38", 3, "clflush"},
    {"\x66\x0f\xae\x7c\x24\x08", 6, "clflushopt"},
    {"\x66\x0f\xae\x30", 4, "clwb"},
    {"\x0f\xae\xf8", 3, ""},         /* sfence */
    {"\x0f\xae\x5c\x24\x04", 5, ""}, /* stmxcsr */
    {"\x0f\x1c\x00", 3, "cldemote"},
    {"\x0f\x09", 2, "wbinvd"},
    {"\x0f\x05", 2, "syscall"},
    {"\x0f\x34", 2, "sysenter"},
    {"\xcd\x80", 2, "int"},
    {"\xcc", 1, "int3"},
    {"\xf4", 1, "hlt"},
    {"\xc7\xf8\x00\x00\x00\x00", 6, "xbegin"},
    {"\x0f\xa2", 2, "cpuid"},
    {"\x0f\x01\xd0", 3, ""}, /* xgetbv */
    {"\x0f\x18\x08", 3, ""}, /* prefetcht0 */
    {"\x0f\xe7\x07", 3, ""}, /* movntq */
    {"\x90", 1, ""},
    {"\xc3", 1, ""},
    {"\x48\xb8\x0f\x31\x0f\x31\x0f\x31\x0f\x31", 10, ""}, /* movabs */
    {"\x66\xb8\x0f\x31", 4, ""},
    {"\xb8\x0f\x31\x90\xc3", 5, ""},
    {"\x48\x81\xc0\x0f\x31\x00\x00", 7, ""},
    {"\xf6\xc1\x01", 3, ""},
    {"\xf7\xd9", 2, ""},
    {"\x8b\x84\xcd\x0f\x31\x00\x00", 7, ""},
    {"\x8b\x04\x25\x0f\x31\x00\x00", 7, ""},
    {"\x8b\x05\x0f\x31\x00\x00", 6, ""},
    {"\xc5\xf8\x77", 3, ""},                     /* vzeroupper */
    {"\xc5\xf8\x10\x04\x0f", 5, ""},             /* vmovups */
    {"\xc4\xe3\x7d\x19\xc1\x01", 6, ""},         /* vextractf128 */
    {"\xc4\xe2\x7d\xb8\xc1", 5, ""},             /* vfmadd231ps */
    {"\x62\xf1\x7c\x48\x10\x44\x0f\x01", 8, ""}, /* vmovups zmm, disp8 */
    {"\x62\xf3\x7d\x48\x1b\xc1\x01", 7, ""},     /* vextractf32x8 */
    {"\x8f\xe8\x78\xcc\xc1\x05", 6, ""},         /* vpcomb */
    {"\x8f\x00", 2, ""},                         /* pop */
    {"\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 11, ""},
    {"\x67\xe8\x00\x00\x00\x00", 6, ""},
};

static void lengths_of_instructions_one(size_t i)
{
    struct hone_x86 x;
    hone_x86_read((const unsigned char *)instructions[i].bytes, instructions[i].len, &x);
    ck_assert_msg(x.len == instructions[i].len, "%zu: %zu bytes", i, x.len);
    ck_assert_str_eq(x.name != NULL ? x.name : "", instructions[i].name);
    hone_x86_read((const unsigned char *)instructions[i].bytes, instructions[i].len - 1, &x);
    ck_assert_msg(x.len < instructions[i].len, "%zu: read beyond its end", i);
    hone_x86_read((const unsigned char *)instructions[i].bytes, 0, &x);
    ck_assert_uint_eq(x.len, 0);
    static const char prefixes[] =
        "ffffffffffffffffffffffff"; /* 0x66, more than an instruction has */
    hone_x86_read((const unsigned char *)prefixes, sizeof prefixes - 1, &x);
    ck_assert_uint_eq(x.len, 0);
}

START_TEST(lengths_of_instructions)
{
    for (size_t i = 0; i < HONE_COUNTOF(instructions); i++)
        lengths_of_instructions_one(i);
}
END_TEST

/* ---- objects ---- */

static char folder[] = "/tmp/hone-policy-test-XXXXXX";

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void drop_folder(void)
{
    ck_assert_int_eq(hone_remove_tree(folder, NULL), 0);
}

static char *build(const char *source, const char *flags, size_t *ret_len)
{
    HONE_AUTOFREE char *file = hone_path_join(folder, "k.c", NULL);
    HONE_AUTOFREE char *object = hone_path_join(folder, "k.so", NULL);
    HONE_AUTOFREE char *command =
        hone_sprintf("cc -std=gnu17 -O2 -fPIC -shared -fopenmp -Wl,-z,noexecstack -Wl,-z,now %s -o "
                     "%s %s -lm 2>%s/log",
                     flags, object, file, folder);
    char *bytes = NULL;
    ck_assert_int_eq(hone_file_write(file, source, strlen(source), 0644, false, NULL), 0);
    ck_assert_msg(system(command) == 0, "%s", command);
    ck_assert_int_eq(hone_file_read(object, 64 << 20, &bytes, ret_len, NULL), 0);
    return bytes;
}

static struct hone_policy_facts *facts_new(struct hone_pool *pool)
{
    struct hone_policy_facts *facts = hone_pool_alloc(pool, sizeof *facts);
    *facts = (struct hone_policy_facts){.pool = pool};
    return facts;
}

/* "timers: rdtsc; globals: calls (8 bytes)" */
static const char *all_of(const struct hone_policy_facts *facts)
{
    const char *text = "";
    for (int rule = 0; rule <= HONE_N_POLICY_RULES; rule++)
        for (size_t i = 0; i < facts->of[rule].n; i++)
            text = hone_pool_printf(facts->pool, "%s%s%s: %s", text, text[0] != '\0' ? "; " : "",
                                    rule < HONE_N_POLICY_RULES
                                        ? hone_policy_row((enum hone_policy_rule)rule)->name
                                        : "refused",
                                    facts->of[rule].list[i].what);
    return text;
}

#define F(body) "void f(const float *a, float *c, long n)\n{\n" body "\n}\n"

static const struct {
    const char *name, *source, *flags, *want;
} objects[] = {
    {"clean", F("for (long i = 0; i < n; i++) c[i] = 2 * a[i];"), "", ""},
    {"threads",
     "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n" F(
         "float *s = malloc(n * 4), t = 0; memcpy(s, a, n * 4);\n"
         "#pragma omp parallel for reduction(+:t)\n"
         "for (long i = 0; i < n; i++) t += expf(s[i]);\n"
         "#pragma omp critical\nc[0] = t; free(s);"),
     "", ""},
    {"fast math", "#include <math.h>\n" F("c[0] = sinf(a[0]);"), "-Ofast", ""},
    {"tables",
     "static const float t[64] = {1, 2, 3}; static const char *const names[] = "
     "{\"a\", \"b\"};\n" F("c[0] = t[n & 63] + names[n & 1][0];"),
     "", ""},
    {"rdtsc", "#include <x86intrin.h>\n" F("c[0] = __rdtsc();"), "", "timers: rdtsc"},
    {"asm", F("asm volatile(\"rdtscp\" ::: \"eax\", \"edx\", \"ecx\"); c[0] = 1;"), "",
     "timers: rdtscp"},
    {"clock", "#include <time.h>\n" F("struct timespec t; clock_gettime(1, &t); c[0] = t.tv_nsec;"),
     "", "timers: clock_gettime"},
    {"joined name", "#include <time.h>\n#define J(a, b) a##b\n" F("c[0] = J(clo, ck)();"), "",
     "timers: clock"},
    {"omp clock", "#include <omp.h>\n" F("c[0] = omp_get_wtime();"), "", "timers: omp_get_wtime"},
    {"core", "#define _GNU_SOURCE\n#include <sched.h>\n" F("c[0] = sched_getcpu();"), "",
     "placement: sched_getcpu"},
    {"flush", "#include <emmintrin.h>\n" F("_mm_clflush(a); _mm_stream_ps(c, _mm_load_ps(a));"), "",
     "cache: clflush"},
    {"static", F("static long calls; c[0] = calls++;"), "", "globals: calls.0 (8 bytes)"},
    {"buffer", "static float packed[1024];\n" F("packed[n & 1023] = a[0]; c[0] = packed[0];"), "",
     "globals: packed (4096 bytes)"},
    {"initialised", "float scale = 2;\n" F("c[0] = scale++;"), "", "globals: scale (4 bytes)"},
    {"thread local", "_Thread_local long seen;\n" F("c[0] = seen++;"), "",
     "globals: seen (8 bytes a thread)"},
    {"unnamed section",
     F("asm volatile(\".pushsection .data,\\\"aw\\\"; .zero 100; .popsection\"); c[0] = 1;"), "",
     "globals: 108 bytes of .data"},
    {"a linker's section",
     F("asm volatile(\".pushsection .tm_clone_table,\\\"aw\\\"; .zero 100; .popsection\"); "
       "c[0] = 1;"),
     "", "globals: 104 bytes of .tm_clone_table"},
    {"constructor",
     "static float t[4]; __attribute__((constructor)) static void early(void) "
     "{ t[0] = 1; }\n" F("c[0] = t[0];"),
     "", "globals: t (16 bytes); constructors: early"},
    {"constructor with a usual name",
     "int k; __attribute__((constructor)) static void frame_dummy(void) { k = 1; }\n" F(
         "c[0] = k;"),
     "", "globals: k (4 bytes); constructors: frame_dummy"},
    {"init section",
     "void g(void);\n" F("asm volatile(\".pushsection .init,\\\"ax\\\"; call g@plt; "
                         ".popsection\"); c[0] = 1;") "void g(void) {}\n",
     "", "constructors: code in .init"},
    {"resolver",
     "static int one(void) { return 1; } static void *pick(void) { return one; }\n"
     "int g(void) __attribute__((ifunc(\"pick\")));\n" F("c[0] = g();"),
     "", "constructors: g, resolved when it is loaded"},
    {"loader", "#include <dlfcn.h>\n" F("c[0] = dlsym(dlopen(\"x\", 1), \"y\") != 0;"), "",
     "loader: dlopen; loader: dlsym"},
    {"library",
     "void cblas_sgemm(void) __attribute__((weak));\n" F("if (cblas_sgemm) "
                                                         "cblas_sgemm(); c[0] = 1;"),
     "", "libraries: cblas_sgemm"},
    {"unusual", "#include <unistd.h>\n" F("c[0] = gethostid();"), "", "imports: gethostid"},
    {"kernel", "#define _GNU_SOURCE\n#include <unistd.h>\n" F("c[0] = syscall(39);"), "",
     "syscalls: syscall"},
    {"raw call", F("asm volatile(\"syscall\" ::: \"rcx\", \"r11\"); c[0] = 1;"), "",
     "syscalls: syscall"},
    {"pages", "#include <sys/mman.h>\n" F("c[0] = mprotect(c, 4096, 7);"), "", "memory: mprotect"},
    {"runnable stack", F("c[0] = 1;"), "-Wl,-z,execstack", "segments: a stack that can be run"},
    {"runnable data",
     F("asm volatile(\".pushsection .both,\\\"awx\\\",@progbits; ret; .popsection\"); c[0] = 1;"),
     "", "segments: a segment that can be written and run*"},
    {"sleep", "#include <unistd.h>\n" F("usleep(1); c[0] = 1;"), "", "traps: usleep"},
    {"trap", F("asm volatile(\"int3\"); c[0] = 1;"), "", "traps: int3"},
    {"asks the processor",
     "#include <cpuid.h>\n" F("unsigned r[4]; __cpuid(0, r[0], r[1], r[2], r[3]); c[0] = r[1];"),
     "", "traps: cpuid"},
    {"asks through the compiler", F("c[0] = __builtin_cpu_supports(\"avx2\");"), "", ""},
    {"as it was long ago",
     "#include <cpuid.h>\n__attribute__((noinline)) static unsigned get_available_features(void) "
     "{ unsigned a, b, c, d; __cpuid(7, a, b, c, d); return a ^ b ^ c ^ d; }\n" F(
         "c[0] = get_available_features();"),
     "", ""},
    {"asks all the time under such a name",
     "void __cpu_indicator_init(void) { asm volatile(\".rept 100; cpuid; .endr\" ::: \"rax\", "
     "\"rbx\", \"rcx\", \"rdx\"); }\n" F("__cpu_indicator_init(); c[0] = 1;"),
     "", "traps: cpuid"},
    {"jump inside",
     F("asm volatile(\"jmp 1f+1; 1: .byte 0xb8, 0x0f, 0x31, 0x90, 0x90\" ::: "
       "\"eax\", \"edx\"); c[0] = 1;"),
     "", "timers: rdtsc; hidden: a jump into the middle of an instruction"},
    {"call inside",
     "__attribute__((noinline)) int k(void) { return 0x90c3310f; }\n" F(
         "c[0] = ((int (*)(void))((char *)k + (n & 1)))();"),
     "-fcf-protection=none",
     "timers: rdtsc inside of another instruction; hidden: rdtsc inside of another instruction"},
    {"system call inside",
     "__attribute__((noinline)) int k(void) { return 0x90c3050f; }\n" F(
         "c[0] = ((int (*)(void))((char *)k + (n & 1)))();"),
     "-fcf-protection=none",
     "syscalls: syscall inside of another instruction; hidden: syscall inside of another "
     "instruction"},
    {"what ends a program, inside",
     "__attribute__((noinline)) int k(void) { return 0x90c3080f; }\n" F("c[0] = k();"),
     "-fcf-protection=none", ""},
    {"what ends a program", F("if (n < 0) asm volatile(\"wbinvd\"); c[0] = 1;"), "",
     "traps: wbinvd"},
};

static void objects_of_the_compiler_one(size_t i)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = facts_new(pool);
    size_t len = 0;
    HONE_AUTOFREE char *bytes = build(objects[i].source, objects[i].flags, &len);
    hone_policy_read_object(bytes, len, facts);
    size_t n = strcspn(objects[i].want, "*"); /* and what follows from it */
    n += objects[i].want[n] == '\0';
    ck_assert_msg(strncmp(all_of(facts), objects[i].want, n) == 0, "%s: found '%s', wanted '%s'",
                  objects[i].name, all_of(facts), objects[i].want);
}

START_TEST(objects_of_the_compiler)
{
#ifdef __x86_64__
    make_folder();
    for (size_t i = 0; i < HONE_COUNTOF(objects); i++)
        objects_of_the_compiler_one(i);
    drop_folder();
#endif
}
END_TEST

START_TEST(names_of_imports_by_task)
{
    make_folder();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = facts_new(pool);
    static const char *allowed[] = {"cblas_*"}, *refused[] = {"expf"};
    const struct hone_task_policy policy = {.allow_imports = {allowed, 1},
                                            .refuse_imports = {refused, 1}};
    size_t len = 0;
    HONE_AUTOFREE char *bytes =
        build("#include <math.h>\nvoid cblas_sgemm(void) __attribute__((weak));\n" F(
                  "if (cblas_sgemm) cblas_sgemm(); c[0] = expf(a[0]);"),
              "", &len);
    facts->policy = &policy;
    hone_policy_read_object(bytes, len, facts);
    ck_assert_str_eq(all_of(facts), "refused: expf");
    drop_folder();
}
END_TEST

/* Every shorter file, and every byte of the headers changed: an answer, never a fault. */
START_TEST(damaged_objects)
{
    make_folder();
    size_t len = 0;
    HONE_AUTOFREE char *bytes =
        build("#include <time.h>\nint k; " F("static long s; c[0] = s++ + clock();"), "-g0", &len);
    for (size_t cut = 0; cut < len; cut += cut < 1024 || cut + 2048 > len ? 1 : 97) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE char *copy = hone_malloc(cut + 1);
        struct hone_policy_facts *facts = facts_new(pool);
        memcpy(copy, bytes, cut);
        hone_policy_read_object(copy, cut, facts);
        ck_assert_msg(all_of(facts)[0] != '\0', "%zu of %zu bytes: nothing was found", cut, len);
    }
    Elf64_Ehdr head;
    memcpy(&head, bytes, sizeof head);
    size_t first = (size_t)head.e_shoff;
    for (size_t i = 0; i < 1024 + (len - first); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_policy_facts *facts = facts_new(pool);
        char *at = bytes + (i < 1024 ? i : first + i - 1024), was = *at;
        *at = (char)(was ^ 0xff);
        hone_policy_read_object(bytes, len, facts);
        *at = was;
    }
    drop_folder();
}
END_TEST

static void refuses(char *bytes, size_t len, const char *what)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = facts_new(pool);
    hone_policy_read_object(bytes, len, facts);
    ck_assert_msg(strstr(all_of(facts), what) != NULL, "no '%s' in '%s'", what, all_of(facts));
}

START_TEST(lying_tables)
{
    make_folder();
    size_t len = 0;
    HONE_AUTOFREE char *bytes = build(F("c[0] = 1;"), "", &len);
    Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)bytes;
    Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(bytes + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr was = segments[i];
        if (was.p_type == PT_DYNAMIC) {
            Elf64_Dyn *dynamic = (Elf64_Dyn *)(void *)(bytes + was.p_offset);
            while (dynamic->d_tag != DT_SYMTAB)
                dynamic++;
            dynamic->d_un.d_ptr += 24; /* the loader would read other symbols */
            refuses(bytes, len, "not the one of its sections");
            dynamic->d_un.d_ptr -= 24;
            segments[i].p_vaddr = 1;
            refuses(bytes, len, "not the one of its sections");
            segments[i] = was;
        } else if (was.p_type == PT_LOAD && (was.p_flags & PF_X) != 0) {
            segments[i].p_filesz = len;
            refuses(bytes, len, "code that lies outside of the file");
            segments[i] = was;
        }
    }
    head->e_shnum = 0;
    refuses(bytes, len, "no shared object");
    drop_folder();
}
END_TEST

/* ---- cubins ---- */

static const struct {
    const char *file, *want;
} cubins[] = {
    {"clock.sm_75", "timers: %clock"},
    {"clock.sm_80", "timers: %clock"},
    {"clock.sm_90a", "timers: %clock"},
    {"clock.sm_120a", "timers: %clock"},
    {"globaltimer.sm_90a", "timers: %globaltimer"},
    {"counter.sm_90a", "timers: %pm (performance counter)"},
    {"smid.sm_90a", "placement: %smid"},
    {"warpid.sm_90a", "placement: %warpid"},
    {"last.sm_75", "cache: a load or store with evict_last"},
    {"last.sm_80", "cache: a load or store with evict_last"},
    {"last.sm_90a", "cache: a load or store with evict_last"},
    {"last.sm_120a", "cache: a load or store with evict_last"},
    {"policy.sm_80", "cache: a cache policy that keeps lines (evict_last)"},
    {"policy.sm_90a", "cache: a cache policy that keeps lines (evict_last)"},
    {"policy.sm_120a", "cache: a cache policy that keeps lines (evict_last)"},
    {"policy_number.sm_80", "cache: a cache policy that keeps lines (evict_last)"},
    {"policy_number.sm_90a", "cache: a cache policy that keeps lines (evict_last)"},
    {"policy_number.sm_120a", "cache: a cache policy that keeps lines (evict_last)"},
    {"prefetch_last.sm_90a", "cache: prefetch with evict_last"},
    {"apply.sm_90a", "cache: applypriority"},
    {"discard.sm_90a", "cache: discard.L2"},
    {"nanosleep.sm_90a", "traps: nanosleep"},
    {"trap.sm_90a", "traps: trap or breakpoint"},
    {"honest.sm_90a", ""},
};

static void recorded_cubins_one(size_t i)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = facts_new(pool);
    HONE_AUTOFREE char *file = hone_sprintf("tests/cubins/%s.cubin", cubins[i].file);
    HONE_AUTOFREE char *bytes = NULL;
    size_t len = 0;
    ck_assert_int_eq(hone_file_read(file, 1 << 20, &bytes, &len, NULL), 0);
    hone_policy_read_cubin(bytes, len, facts);
    ck_assert_msg(strcmp(all_of(facts), cubins[i].want) == 0, "%s: found '%s'", file,
                  all_of(facts));
    for (size_t cut = 0; cut < len; cut += 7) {
        HONE_AUTOFREE char *copy = hone_malloc(cut + 1);
        memcpy(copy, bytes, cut);
        hone_policy_read_cubin(copy, cut, facts_new(pool));
    }
}

START_TEST(recorded_cubins)
{
    for (size_t i = 0; i < HONE_COUNTOF(cubins); i++)
        recorded_cubins_one(i);
}
END_TEST

/* ---- the line ---- */

static const struct {
    const char *source, *word;
    int64_t want;
} lines[] = {
    {"a\nclock();\n", "clock", 2},
    {"/* clock\n */ // clock\nmy_clock clock2\n__clock\nclock", "clock", 5},
    {"asm(\"rdtsc\")", "rdtsc", 1},
    {"nothing", "clock", 0},
    {"/* open", "open", 0},
    {"", "clock", 0},
    {"x\ncblas_sgemm()", "cblas_", 2},
};

static void line_of_a_word_one(size_t i)
{
    ck_assert_int_eq(hone_policy_line_of(lines[i].source, &lines[i].word, 1), lines[i].want);
}

START_TEST(line_of_a_word)
{
    for (size_t i = 0; i < HONE_COUNTOF(lines); i++)
        line_of_a_word_one(i);
}
END_TEST

/* More kinds than are kept of one rule do not push out those of another. */
START_TEST(many_findings)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = facts_new(pool);
    for (int i = 0; i < 1000; i++) {
        HONE_AUTOFREE char *name = hone_sprintf("v%d", i);
        hone_policy_found(facts, HONE_POLICY_GLOBALS, name, NULL, NULL);
    }
    hone_policy_found(facts, HONE_POLICY_SYSCALLS, "syscall", NULL, NULL);
    hone_policy_found(facts, HONE_POLICY_SYSCALLS, "syscall", NULL, NULL);
    ck_assert_uint_eq(facts->of[HONE_POLICY_GLOBALS].n, HONE_POLICY_MAX_OF_RULE);
    ck_assert_int_eq(facts->of[HONE_POLICY_GLOBALS].n_more, 1000 - HONE_POLICY_MAX_OF_RULE);
    ck_assert_uint_eq(facts->of[HONE_POLICY_SYSCALLS].n, 1);
    ck_assert_int_eq(facts->of[HONE_POLICY_SYSCALLS].list[0].n, 2);
}
END_TEST

/* Names in an object are its author's bytes: what people read of them is printable. */
START_TEST(names_are_printable)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = facts_new(pool);
    struct hone_task task = {.name = "t"};
    struct hone_review review[HONE_LIMIT_REVIEW_ROWS];
    struct hone_judge judge = {.task = &task, .pool = pool, .review = review};
    struct hone_outcome end = HONE_OUTCOME_INIT;
    hone_policy_found(facts, HONE_POLICY_GLOBALS, "a\x1b[2J\nverdict faster", "f\rg\x80", NULL);
    hone_policy_decide(&judge, facts, "", &end);
    ck_assert_uint_eq(judge.n_review, 1);
    for (const char *at = review[0].evidence; *at != '\0'; at++)
        ck_assert_msg(*at >= ' ' && *at <= '~', "%s", review[0].evidence);
    ck_assert_ptr_nonnull(strstr(review[0].evidence, "a?[2J?verdict faster in f?g?"));
}
END_TEST

UNIT_MAIN("policy", names_are_printable, lengths_of_instructions, recorded_cubins, line_of_a_word,
          many_findings, objects_of_the_compiler, names_of_imports_by_task, damaged_objects,
          lying_tables)

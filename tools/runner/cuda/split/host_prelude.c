/* SPDX-License-Identifier: Apache-2.0 */
/* The C++ header that host text is compiled with travels inside of the program: a runner has
 * nothing to find on disk. It is a file of its own (host_prelude.hpp) because C++ in string
 * literals cannot be read or checked; the assembler puts its bytes here. */
#include "tools/runner/cuda/split/split.h"

extern const char hone_host_prelude_text[], hone_host_structs_text[], hone_host_standin_text[];

#define INCLUDE(file_) ".incbin \"" file_ "\"\n"
#define EMBED(symbol_, files_)                                                                     \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " symbol_ "\n"                                                                 \
            ".hidden " symbol_ "\n" symbol_ ":\n" files_ ".byte 0\n"                               \
            ".popsection\n")
EMBED("hone_host_prelude_text", INCLUDE("tools/runner/cuda/split/host_structs.hpp")
                                    INCLUDE("tools/runner/cuda/split/host_prelude.hpp"));
EMBED("hone_host_structs_text", INCLUDE("tools/runner/cuda/split/host_structs.hpp"));
EMBED("hone_host_standin_text", INCLUDE("tools/runner/cuda/split/host_standin.hpp"));

const char *hone_host_prelude(void)
{
    return hone_host_prelude_text;
}

const char *hone_host_structs(void)
{
    return hone_host_structs_text;
}

/* pattern: what a launcher leaves unset, padding of structs included, is the same in both
 * recordings. Bsymbolic: what a source defines itself is never taken from the program that loads
 * it. */
static const char *const flags[] = {"-std=c++17",
                                    "-O0",
                                    "-w",
                                    "-fPIC",
                                    "-shared",
                                    "-ffp-contract=off",
                                    "-ftrivial-auto-var-init=pattern",
                                    "-Wl,-Bsymbolic-functions",
                                    NULL};

const char *const *hone_host_flags(void)
{
    return flags;
}

#define SAME "#include \"cuda_runtime.h\"\n"

static const struct hone_host_standin standins[] = {
    {"cuda_runtime.h", hone_host_standin_text},
    {"cuda_runtime_api.h", SAME},
    {"cuda_fp16.h", SAME},
    {"cuda_bf16.h", SAME},
    {"cuda.h", SAME},
    {"cudaTypedefs.h", SAME},
    {"device_launch_parameters.h", SAME},
    {"vector_types.h", SAME},
    {"vector_functions.h", SAME},
    {"math_constants.h",
     SAME "#define CUDART_INF_F (__builtin_inff())\n#define CUDART_INF (__builtin_inf())\n"},
    {NULL, NULL}};

const struct hone_host_standin *hone_host_standins(void)
{
    return standins;
}

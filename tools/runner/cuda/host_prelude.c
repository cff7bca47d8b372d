/* The C++ header that host text is compiled with travels inside of the program: a runner has
 * nothing to find on disk. It is a file of its own (host_prelude.hpp) because C++ in string
 * literals cannot be read or checked; the assembler puts its bytes here. */
#include "tools/runner/cuda/split.h"

extern const char hone_host_prelude_text[];

__asm__(".pushsection .rodata\n"
        ".globl hone_host_prelude_text\n"
        ".hidden hone_host_prelude_text\n"
        "hone_host_prelude_text:\n"
        ".incbin \"tools/runner/cuda/host_prelude.hpp\"\n"
        ".byte 0\n"
        ".popsection\n");

const char *hone_host_prelude(void)
{
    return hone_host_prelude_text;
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

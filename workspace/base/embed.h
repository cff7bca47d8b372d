/* SPDX-License-Identifier: Apache-2.0 */
/* A file's text inside of this program, with a NUL behind it.
 *
 *     HONE_EMBED(hone_worker_text, "tools/runner/torch/worker.py");
 *     puts(hone_worker_text);
 *
 * At file scope; declares the array for the rest of the file, and no other file sees it. Paths are
 * from the root of the tree, where all builds run, or below a folder that the assembler is told of
 * (-Wa,-I). The Makefile names the files as prerequisites: .incbin makes no dependency. */
#ifndef HONE_BASE_EMBED_H
#define HONE_BASE_EMBED_H

#define HONE_EMBED(symbol_, path_)                                                                 \
    __asm__(".pushsection .rodata\n"                                                               \
            ".local " #symbol_ "\n" #symbol_ ":\n"                                                 \
            ".incbin \"" path_ "\"\n"                                                              \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char symbol_[] __attribute__((visibility("hidden")))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated cubin: an ELF file that looks like the real thing to whoever walks it (machine 190,
 * .text, .nv.info, .nv.shared and .nv.constant0 sections by kernel, .nv.global), and carries two
 * sections more: the host object that runs, and one line of text for each kernel. */
#ifndef HONE_TESTS_EMULATOR_IMAGE_H
#define HONE_TESTS_EMULATOR_IMAGE_H

/* A shared object for this machine; its section hone_emu_entries is an array of hone_emu_entry. */
#define HONE_EMU_SECTION_OBJECT "hone_emulated_object"
/* "<mangled name> entry <index> registers <n> shared <bytes> params <offset>:<size> ...\n" */
#define HONE_EMU_SECTION_KERNELS "hone_emulated_kernels"
#define HONE_EMU_MACHINE         190

#endif

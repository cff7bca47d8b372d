	.globl hone_emu_dynamic
	.type hone_emu_dynamic, @object
	.size hone_emu_dynamic, 232448
	.section .tbss, "awT", @nobits
	.align 1024
hone_emu_dynamic:
	.zero 232448
	.section .note.GNU-stack, "", @progbits

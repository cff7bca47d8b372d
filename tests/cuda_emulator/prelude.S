	.section .rodata
	.macro embed name, file
	.globl \name, \name\()_end
	.hidden \name, \name\()_end
\name:
	.incbin "\file"
\name\()_end:
	.byte 0
	.endm
	embed emulate_h, "tests/cuda_emulator/emulate.h"
	embed emulate_math_h, "tests/cuda_emulator/emulate_math.h"
	embed emulate_more_h, "tests/cuda_emulator/emulate_more.h"
	embed emulate_s, "tests/cuda_emulator/shared.s"
	embed headers_txt, "tests/cuda_emulator/headers.txt"
	.section .note.GNU-stack, "", @progbits

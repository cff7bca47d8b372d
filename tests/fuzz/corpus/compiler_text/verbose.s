	.file	"s.c"
# GNU C17 (Debian 12.2.0-14+deb12u1) version 12.2.0 (x86_64-linux-gnu)
#	compiled by GNU C version 12.2.0, GMP version 6.2.1, MPFR version 4.2.0, MPC version 1.3.1, isl version isl-0.25-GMP

# GGC heuristics: --param ggc-min-expand=100 --param ggc-min-heapsize=131072
# options passed: -mtune=generic -march=x86-64 -O2 -fasynchronous-unwind-tables
	.text
	.p2align 4
	.globl	sum
	.type	sum, @function
sum:
.LFB0:
	.cfi_startproc
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	testq	%rdx, %rdx	# n
	jle	.L1	#,
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	movss	(%rsi), %xmm0	# *b_11(D), _6
	leaq	(%rdi,%rdx,4), %rax	#, _1
	.p2align 4,,10
	.p2align 3
.L3:
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	addss	(%rdi), %xmm0	# MEM[(const float *)_16], _6
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	addq	$4, %rdi	#, ivtmp.9
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	movss	%xmm0, (%rsi)	# _6, *b_11(D)
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	cmpq	%rdi, %rax	# ivtmp.9, _1
	jne	.L3	#,
.L1:
# /tmp/box/s.c:1: void sum(const float*a,float*b,long n){for(long i=0;i<n;i++)b[0]+=a[i];}
	ret	
	.cfi_endproc
.LFE0:
	.size	sum, .-sum
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits

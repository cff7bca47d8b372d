#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What compilers made of a kernel, through `hone call -`: asm of a C kernel, ptx by NVRTC and by nvcc, sass by a stand-in for
# nvdisasm and without one; no GPU.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
unset HONE_CUDA_LIB HONE_CUDA_HOME
chmod 755 "$ROOT"
"$HONE" init "$WS" >/dev/null || exit 1

compile() { # compile TASK TARGET FILE MORE: the answer in $ROOT/answer
    printf '%s {"task":"%s","target":"%s"%s,"source":%s}\n' "${tool:-kernel_compile}" "$1" "$2" "$4" "$(json_text "$3")" |
        "$HONE" call - --workspace "$WS" --quiet >"$ROOT/answer" 2>"$ROOT/stderr"
}
says() { # says NAME TEXT...: the answer holds every text
    name=$1
    shift
    for text in "$@"; do
        if ! grep -qF -- "$text" "$ROOT/answer"; then
            ok 1 "$name" "no '$text' in $(cat "$ROOT/answer" "$ROOT/stderr")"
            return
        fi
    done
    ok 0 "$name"
}
lacks() { # lacks NAME TEXT: there is an answer, without it
    grep -qF '"verdict"' "$ROOT/answer" && ! grep -qF -- "$2" "$ROOT/answer"
    ok $? "$1" "$(cat "$ROOT/answer")"
}

cat >"$ROOT/sum.c" <<'END'
#include <stdint.h>
#pragma hone tune(STEP: 1, 2)
__attribute__((noinline)) static float part(const float *X, int64_t n)
{
    float s = 0;
    for (int64_t i = 0; i < n; i += STEP)
        s += X[i];
    return s;
}
void sum(const float *X, float *S, int64_t N)
{
    *S = part(X, N); /* the call */
}
END
compile sum cpu "$ROOT/sum.c" ''
lacks "nothing unless it is asked for" '"assembly'
compile sum cpu "$ROOT/sum.c" ',"assembly":"asm"'
says "asm of the function with the loop" '"verdict":"built"' '"assembly_of":"part"' 'part:\n' '# candidate.c:7: s += X[i];\n  ' 'also there, by argument kernel: sum"'
compile sum cpu "$ROOT/sum.c" ',"assembly":"asm","kernel":"sum"'
says "asm of the named function" '"assembly_of":"sum"' '# candidate.c:12: *S = part(X, N); /* the call */\n  '
compile sum cpu "$ROOT/sum.c" ',"assembly":"asm","kernel":"sums"'
says "a name that there is not" '"verdict":"built"' "no kernel 'sums' here; there are: part, sum"
compile sum cpu "$ROOT/sum.c" ',"assembly":"asm","detail":"concise"'
says "little of it for a terse answer" ' lines more\n'
[ "$(wc -c <"$ROOT/answer")" -le 1100 ]
ok $? "and under its budget" "$(cat "$ROOT/answer")"
tool=kernel_profile
compile sum cpu "$ROOT/sum.c" ',"assembly":"asm"'
says "beside a profile" '"bottlenecks":' '"assembly_of":"part"' '# candidate.c:7: s += X[i];'
tool=kernel_compile
sed 's/s += X/t += X/' "$ROOT/sum.c" >"$ROOT/bad.c"
compile sum cpu "$ROOT/bad.c" ',"assembly":"asm"'
says "what does not compile has none" '"reason":"compile"' '"line":7'
lacks "nor a note" '"assembly'
# At the limit of what is kept, and shown whole: a body of many lines.
{
    echo 'void sum(const float *X, float *S, long N) { volatile float *v = S; (void)X; (void)N;'
    for i in $(seq 4000); do echo "v[0] = $i;"; done
    echo '}'
} >"$ROOT/long.c"
compile sum cpu "$ROOT/long.c" ',"assembly":"asm","detail":"full"'
says "the end of a long text is counted" '"assembly_of":"sum"' ' lines more\n'
size=$(wc -c <"$ROOT/answer")
[ "$size" -gt 40000 ] && [ "$size" -le 60100 ]
ok $? "the rest is shown" "$size bytes"
compile sum cpu "$ROOT/long.c" ',"assembly":"asm","kernel":"sum:3990"'
says "and a line of it by its number" '# candidate.c:3990: v[0] = 3989;' 'instructions before are left out; kernel \"sum:LINE\" shows'
lacks "without what stands before" 'v[0] = 3988;'

cat >"$ROOT/copy.cu" <<'END'
template <int N> __global__ void copy(const float *in, float *out, int64_t n)
{
    int64_t i = N * (blockIdx.x * (int64_t)blockDim.x + threadIdx.x);
    for (int k = 0; k < N && i < n; k++, i++)
        out[i] = in[i];
}
__global__ void nothing() {}
extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    nothing<<<1, 1, 0, stream>>>();
    copy<4><<<(M * N + 1023) / 1024, 256, 0, stream>>>(X, Y, M * N);
}
END
if ls /usr/local/cuda/lib64/libnvrtc.so* /usr/local/cuda/include/cuda_runtime.h >/dev/null 2>&1; then
    compile softmax cuda "$ROOT/copy.cu" ',"assembly":"ptx"'
    says "ptx by NVRTC" '"lane":"nvrtc"' '"assembly_of":"copy<4>"' '.entry _Z4copyILi4EEvPKfPfl(' '// candidate.cu:5: out[i] = in[i];\n  ld.global' \
        '"assembly_note":"also there, by argument kernel: nothing"' '"object_bytes":'
    compile softmax cuda "$ROOT/copy.cu" ',"assembly":"ptx","kernel":"nothing"'
    says "of the named kernel" '"assembly_of":"nothing"' '  ret;\n}\n'
    mkdir -p "$ROOT/toolkit/bin"
    if ! [ -x /usr/local/cuda/bin/nvdisasm ] && ! [ -x /usr/bin/nvdisasm ]; then
        compile softmax cuda "$ROOT/copy.cu" ',"assembly":"sass"'
        says "no disassembler" '"verdict":"built"' '"assembly_note":"no SASS: nvdisasm was not found' 'install cuda-nvdisasm'
    fi
    cat >"$ROOT/toolkit/bin/nvdisasm" <<'END'
#!/bin/sh
head -c 4 "$3" | grep -q ELF || exit 1
cat <<'TEXT'
	.section	.text._Z4copyILi4EEvPKfPfl,"ax",@progbits
.text._Z4copyILi4EEvPKfPfl:
	//## File "candidate.cu", line 5
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0010*/                   EXIT ;
TEXT
END
    chmod 755 "$ROOT/toolkit" "$ROOT/toolkit/bin" "$ROOT/toolkit/bin/nvdisasm"
    HONE_CUDA_HOME=$ROOT/toolkit
    export HONE_CUDA_HOME
    compile softmax cuda "$ROOT/copy.cu" ',"assembly":"sass"'
    says "sass, at once when the tool is there" '"assembly_of":"copy<4>"' '// candidate.cu:5: out[i] = in[i];\n  LDG.E.128 R4, desc[UR4][R2.64] ;\n  EXIT ;\n'
    lacks "a good answer is cached, a missing tool was not" '"is_cached":true'
    compile softmax cuda "$ROOT/copy.cu" ',"assembly":"sass"'
    says "the second time from the cache" '"is_cached":true' 'LDG.E.128'
    printf '#!/bin/sh\nexit 7\n' >"$ROOT/toolkit/bin/nvdisasm"
    compile softmax cuda "$ROOT/copy.cu" ',"assembly":"sass","fresh":true'
    says "a disassembler that fails" '"verdict":"built"' '"assembly_note":"no SASS: nvdisasm ended with status 7'
    unset HONE_CUDA_HOME
    if [ -x /usr/local/cuda/bin/nvcc ]; then
        { echo '#pragma hone lane(nvcc)'; cat "$ROOT/copy.cu"; } >"$ROOT/nvcc.cu"
        compile softmax cuda "$ROOT/nvcc.cu" ',"assembly":"ptx"'
        says "ptx by nvcc" '"lane":"nvcc"' '"assembly_of":"copy<4>"' '// candidate.cu:6: out[i] = in[i];\n  ld.global'
        compile softmax cuda "$ROOT/nvcc.cu" ',"assembly":"ptx","kernel":"nothing"'
        says "and again, from the cached compile" '"assembly_of":"nothing"'
    fi
else
    echo "# SKIP ptx and sass: no CUDA toolkit"
fi
finish

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stage `policy`, from the source to the verdict: candidates that trip each rule, the same ones without, what a task can say. CPU
# objects are built and read, nothing is run; device code needs NVRTC, no GPU.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
RUNNER=$(realpath "${HONE_BUILD:-build}")/hone-runner
chmod 755 "$ROOT"
mkdir -p "$ROOT/packs" "$ROOT/calls"
cp -r workspace/packs/transpose "$ROOT/packs/usual"

pack() { # pack NAME MEMBERS: a copy of the usual pack that says more
    cp -r "$ROOT/packs/usual" "$ROOT/packs/$1"
    sed -i "1s/{/{$2,/" "$ROOT/packs/$1/task.json"
}
pack strict '"policy": {"timers": "reject", "globals": "reject", "refuse_imports": ["expf"]}'
pack loose '"policy": {"syscalls": "allow", "loader": "review", "allow_imports": ["clock_*"]}'
sed 's/"library": "allowed"/"library": "forbidden"/' "$ROOT/packs/usual/task.json" >"$ROOT/task.json"
cp -r "$ROOT/packs/usual" "$ROOT/packs/own"
cp "$ROOT/task.json" "$ROOT/packs/own/task.json"
cp -r "$ROOT/packs/usual" "$ROOT/packs/cold"
sed -i 's/"cache": "warm"/"cache": "cold"/' "$ROOT/packs/cold/task.json"

judge() { # judge PACK FILE TARGET STAGES: the report in $report
    TAP_CALL=$((${TAP_CALL:-0} + 1))
    call=$ROOT/calls/$TAP_CALL
    mkdir -p "$call/open"
    cp "$2" "$call/open/${2##*/}"
    cp "$ROOT/packs/usual/kernels/naive.c" "$call/open/baseline.c"
    printf '{"format":1,"id":"c%s","target":"%s","tier":"screen","stages":["%s"],"task_dir":"%s","arms":[{"name":"candidate","source":"%s"}],"cache_dir":"%s"}\n' \
        "$TAP_CALL" "$3" "$(echo "$4" | sed 's/,/","/g')" "$ROOT/packs/$1" "${2##*/}" "$ROOT/cache" >"$call/job.json"
    "$RUNNER" "$call/job.json" >/dev/null 2>"$call/stderr"
    report=$call/report.json
    answer=$(json_get verdict <"$report")/$(json_get reason <"$report")
    reviews=$(grep -o '"review":\[[^]]*\]' "$report" | grep -o '"rule":"[a-z]*"' | cut -d'"' -f4 | tr '\n' ' ')
}
source_of() { # source_of HEAD BODY: transpose with a statement in front
    printf '#include <stdint.h>\n%s\nvoid transpose(const float *X, float *Y, int64_t M, int64_t N)\n{\n%s\n' "$1" "$2" >"$ROOT/k.c"
    printf '    for (int64_t m = 0; m < M; m++)\n        for (int64_t n = 0; n < N; n++)\n            Y[n * M + m] = X[m * N + n];\n}\n' >>"$ROOT/k.c"
}
is() { # is NAME ANSWER REVIEWS [TEXT]
    [ "$answer" = "$2" ] && [ "$reviews" = "$3" ] && grep -qF -- "${4:-{}" "$report"
    ok $? "$1" "got $answer, review '$reviews': $(json_get summary <"$report") $(grep -o '"review":.*' "$report")"
}

for kernel in workspace/packs/*/kernels/naive.c; do
    task=$(basename "${kernel%/kernels/*}")
    cp -r "workspace/packs/$task" "$ROOT/packs/$task" 2>/dev/null
    judge "$task" "$kernel" cpu build,policy
    is "$task: nothing is found in naive.c" built/built ''
done

source_of '' ''
judge usual "$ROOT/k.c" cpu build,policy
is 'nothing is found in a clean kernel' built/built '' '"name":"policy","status":"ok"'
ns=$(grep -o '"name":"policy","status":"ok","wall_ns":[0-9]*' "$report" | grep -o '[0-9]*$')
[ "${ns:-99999999}" -lt 20000000 ]
ok $? "that takes less than 20 ms" "$ns ns"
echo "# stage policy: ${ns} ns"
judge strict "$ROOT/k.c" cpu build,policy
is 'also where much is refused' built/built ''

source_of '#include <x86intrin.h>' '    volatile uint64_t t = __rdtsc(); (void)t;'
judge usual "$ROOT/k.c" cpu build,policy
is 'a clock is reviewed' built/built 'timers ' 'rdtsc in transpose (line 5)'
judge strict "$ROOT/k.c" cpu build,policy
is 'and rejected where the task says so' failed/policy '' "rule timers: rdtsc in transpose (line 5)"
source_of '#include <time.h>' '    volatile clock_t t = clock(); struct timespec s; clock_gettime(CLOCK_MONOTONIC, &s); (void)t;'
judge usual "$ROOT/k.c" cpu build,policy
is 'clocks of the library are reviewed' built/built 'timers ' 'clock_gettime (line 5)'
judge loose "$ROOT/k.c" cpu build,policy
is 'names that the task allows are not' built/built 'timers ' '"evidence":"clock (line 5)"'
source_of '#include <sched.h>
int sched_getcpu(void);' '    volatile int core = sched_getcpu(); (void)core;'
judge usual "$ROOT/k.c" cpu build,policy
is 'asking for the core is reviewed' built/built 'placement '
source_of '#include <emmintrin.h>' '    _mm_clflush(X);'
judge usual "$ROOT/k.c" cpu build,policy
is 'dropping cache lines is rejected' failed/policy '' 'rule cache: clflush in transpose (line 5)'
source_of '#include <emmintrin.h>' '    _mm_prefetch((const char *)X, 0); _mm_sfence();'
judge usual "$ROOT/k.c" cpu build,policy
is 'prefetching is not' built/built ''
source_of 'static float packed[4096]; static _Thread_local float part[16]; static const float table[4] = {1, 2};' \
    '    packed[M & 4095] = part[N & 15] += table[N & 3]; Y[0] = packed[N & 4095];'
judge usual "$ROOT/k.c" cpu build,policy
is 'static buffers are reviewed, const tables are not' built/built 'globals ' 'packed (16384 bytes) (line 2)'
judge strict "$ROOT/k.c" cpu build,policy
is 'and rejected where the task says so (2)' failed/policy ''
source_of 'static float t[4]; __attribute__((constructor)) static void early(void) { t[0] = 1; }' '    Y[0] = t[0];'
judge usual "$ROOT/k.c" cpu build,policy
is 'constructors are reviewed' built/built 'globals constructors '
source_of 'void cblas_sgemm(void) __attribute__((weak));' '    if (cblas_sgemm) cblas_sgemm();'
judge usual "$ROOT/k.c" cpu build,policy
is 'libraries are allowed' built/built ''
judge own "$ROOT/k.c" cpu build,policy
is 'but not where the task forbids them' failed/policy '' 'rule libraries: cblas_sgemm (line 2)'
source_of '#include <dlfcn.h>' '    void *p = dlopen("libm.so.6", 1); (void)p;'
judge usual "$ROOT/k.c" cpu build,policy
is 'looking for libraries at run time is rejected' failed/policy '' 'rule loader: dlopen (line 5)'
judge loose "$ROOT/k.c" cpu build,policy
is 'and reviewed where the task says so' built/built 'loader '
source_of '' '    long r; __asm__ volatile("syscall" : "=a"(r) : "a"(39) : "rcx", "r11", "memory");'
judge usual "$ROOT/k.c" cpu build,policy
is 'asking the kernel directly is rejected' failed/policy '' 'rule syscalls: syscall in transpose'
judge loose "$ROOT/k.c" cpu build,policy
is 'and passes where the task allows it' built/built ''
source_of '#include <sys/mman.h>' '    void *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(p, 4096);'
judge usual "$ROOT/k.c" cpu build,policy
is 'mapping memory is reviewed' built/built 'memory '
source_of '' '    __asm__ volatile(".pushsection .both,\"awx\",@progbits; ret; .popsection");'
judge usual "$ROOT/k.c" cpu build,policy
[ "$answer" = failed/policy ] && grep -qF 'rule segments' "$report"
ok $? 'pages that can be written and run are rejected' "$answer: $(json_get summary <"$report")"
source_of '#include <unistd.h>' '    usleep(1);'
judge usual "$ROOT/k.c" cpu build,policy
is 'sleeping is reviewed' built/built 'traps '
source_of '#include <math.h>' '    Y[0] = expf(X[0]);'
judge usual "$ROOT/k.c" cpu build,policy
is 'arithmetic is not even looked at' built/built ''
judge strict "$ROOT/k.c" cpu build,policy
is 'a function that the task refuses' failed/policy '' 'rule imports: expf (line 5)'
source_of '#include <x86intrin.h>' '    volatile uint64_t t = __rdtsc(); (void)t;'
judge usual "$ROOT/k.c" cpu build,policy,smoke
is 'what is reviewed goes on' correct/correct 'timers '

# Code that a constructor writes, before the last filter is loaded, into memory that its process was given, and maps once more to run it.
for again in 6 'dup(6)' 'fcntl(6, F_DUPFD, 7)'; do
    source_of "#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int (*made)(void);
__attribute__((constructor)) static void early(void)
{
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 6, 0);
    if (page == MAP_FAILED)
        return;
    memcpy(page, \"\\xb8\\x2a\\x00\\x00\\x00\\xc3\", 6);
    void *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, $again, 0);
    if (code != MAP_FAILED)
        made = code;
}" '    if (made) {
        Y[0] = (float)made();
        return;
    }'
    judge usual "$ROOT/k.c" cpu build,smoke
    [ "$answer" = correct/correct ]
    ok $? "a constructor makes no code out of descriptor $again" "$answer: $(json_get summary <"$report")"
done

source_of '#include <x86intrin.h>' '    volatile uint64_t t = __rdtsc(); (void)t;'
"$HONE" init "$WS" >/dev/null || exit 1
printf '{"task":"transpose","source":%s}' "$(json_text "$ROOT/k.c")" >"$ROOT/args.json"
"$HONE" call kernel_verify "@$ROOT/args.json" --workspace "$WS" --quiet >"$ROOT/answer" 2>"$ROOT/stderr"
grep -q '"verdict":"correct"' "$ROOT/answer" && grep -qF '"review":[{"rule":"timers","evidence":"rdtsc in transpose (line 5)","line":5}]' "$ROOT/answer"
ok $? "tools show what is to be reviewed" "$(cat "$ROOT/answer" "$ROOT/stderr")"
"$HONE" call task_show '{"name":"transpose"}' --workspace "$WS" --quiet 2>&1 | grep -qF '"policy":{"reject":["cache","loader","syscalls","segments"]'
ok $? "task_show tells what is rejected"
sed -i '1s/{/{"policy": {"timers": "ignore"},/' "$ROOT/packs/usual/task.json"
judge usual "$ROOT/k.c" cpu build,policy
[ "$answer" = invalid/bad_task ] && grep -qF 'allow' "$report"
ok $? "a word that is no action is named" "$answer: $(json_get summary <"$report")"
sed -i '1s/"timers": "ignore"/"tmers": "allow"/' "$ROOT/packs/usual/task.json"
judge usual "$ROOT/k.c" cpu build,policy
[ "$answer" = invalid/bad_task ]
ok $? "a rule that does not exist too" "$answer: $(json_get summary <"$report")"
cp "$ROOT/packs/strict/task.json" "$ROOT/packs/usual/task.json"
sed -i 's/"policy": {[^}]*},//' "$ROOT/packs/usual/task.json"

if ! ls /usr/local/cuda/lib64/libnvrtc.so* /usr/local/cuda/include/cuda_runtime.h >/dev/null 2>&1; then
    echo "# no CUDA toolkit: device code is left to policy_test (unit) and its recorded cubins"
    finish
    exit
fi
unset HONE_CUDA_LIB
device() { # device BODY: transpose with a statement in its kernel
    printf '#include <cstdint>\n%s\n__global__ void flip(const float *X, float *Y, int64_t M, int64_t N)\n{\n    int64_t i = blockIdx.x * 256ll + threadIdx.x;\n%s\n    if (i < M * N)\n        Y[i %% N * M + i / N] = X[i];\n}\n' "${2:-}" "$1" >"$ROOT/k.cu"
    printf 'extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)\n{\n    flip<<<(unsigned)((M * N + 255) / 256), 256, 0, stream>>>(X, Y, M, N);\n}\n' >>"$ROOT/k.cu"
}
for kernel in workspace/packs/*/kernels/naive.cu; do
    task=$(basename "${kernel%/kernels/*}")
    judge "$task" "$kernel" cuda build,policy
    is "$task: nothing is found in naive.cu" built/built ''
done
device '    if (clock64() == 1) i = 0;'
judge usual "$ROOT/k.cu" cuda build,policy
is 'device: a clock is reviewed' built/built 'timers ' '%clock in flip (line 6)'
judge strict "$ROOT/k.cu" cuda build,policy
is 'device: and rejected where the task says so' failed/policy ''
device '    if (threadIdx.x > 1000) { long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); Y[0] = t; }'
judge usual "$ROOT/k.cu" cuda build,policy
is 'device: a timer in assembly' built/built 'timers ' '%globaltimer in flip (line 6)'
device '    unsigned s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); if (s > 1000) i = 0;'
judge usual "$ROOT/k.cu" cuda build,policy
is 'device: asking for the multiprocessor is reviewed' built/built 'placement '
keep='    float v; asm volatile("{ .reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; ld.global.L2::cache_hint.f32 %0, [%1], p; }" : "=f"(v) : "l"(X)); if (v == 1e30f) i = 0;'
device "$keep"
judge usual "$ROOT/k.cu" cuda build,policy
is 'device: keeping lines is reviewed' built/built 'cache ' 'evict_last) in flip (line 6)'
judge cold "$ROOT/k.cu" cuda build,policy
is 'device: and rejected where caches are cold' failed/policy ''
device "$(echo "$keep" | sed 's/evict_last/evict_first/')"
judge cold "$ROOT/k.cu" cuda build,policy
is 'device: letting them go first is not' built/built ''
device '    if (i > 1ll << 40) __trap(); __nanosleep(20);'
judge usual "$ROOT/k.cu" cuda build,policy
is 'device: traps and sleeps are reviewed' built/built 'traps '
device '    if (threadIdx.x == 0) count++;' '__device__ int count;'
judge usual "$ROOT/k.cu" cuda build,policy
is 'device: variables are put back, not reviewed' built/built ''
judge strict "$ROOT/k.cu" cuda build,policy
is 'device: and rejected where the task says so (2)' failed/policy ''
finish

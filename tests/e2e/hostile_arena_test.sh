#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Helpers that lie to the judge on the page and the socket that they share with it: candidates that write over the page all the
# time, flood the socket or close it, and an oracle that claims more answers than there is room for. The judge gives a typed
# answer and stays alive.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
"$HONE" init "$WS" >/dev/null || exit 1
# What the jail and the judge do is asked here, not what a look at the binary says.
sed -i '1s/{/{"policy": {"syscalls": "review", "memory": "review", "imports": "review"},/' "$WS"/tasks/*/task.json

head_text='#include <stdint.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/mman.h>
static char *page(void)
{
    static char *at;
    if (at == NULL)
        at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
    return at == MAP_FAILED ? NULL : at;
}
static void *scribble(void *arg)
{
    char *at = page();
    for (unsigned char byte = 1; at != NULL; byte += 37)
        memset(at, byte, 8192);
    return arg;
}
void sum(const float *x, float *y, int64_t N)
{
    static int n;
    double all = 0;
    n++;
    for (int64_t i = 0; i < N; i++)
        all += x[i];
    *y = (float)all;
'
say() { printf '%s%s\n}\n' "$head_text" "$1" >"$ROOT/candidate.c"; }

judge() { # judge TASK FILE: verdict/reason, summary
    printf '{"task":"%s","tier":"decide","budget_ms":200,"call_timeout_ms":1500,"source":%s}' "$1" "$(json_text "$2")" >"$ROOT/args.json"
    timeout 900 "$HONE" call --workspace "$WS" kernel_evaluate "@$ROOT/args.json" >"$ROOT/answer" 2>"$ROOT/stderr"
    answer=$(json_get verdict <"$ROOT/answer")/$(json_get reason <"$ROOT/answer")
    summary=$(json_get summary <"$ROOT/answer")
}

# The judge ended by itself, and what it says is no praise.
blamed() { # blamed NAME
    bad=1
    case $answer in failed/* | incorrect/* | suspicious/* | invalid/*) bad=0 ;; esac
    case $summary in *"no usable report"* | *"killed by signal"*) bad=1 ;; esac
    ok $bad "$1: a typed answer" "$answer $summary $(cat "$ROOT/stderr")"
    echo "# $1: $answer $summary"
}

say 'if (n == 1) { pthread_t t; pthread_create(&t, NULL, scribble, NULL); usleep(2000); }'
judge sum "$ROOT/candidate.c"
blamed "the page is written over all the time"

say 'if (n == 2 && page() != NULL) memset(page(), 0xff, 8192);'
judge sum "$ROOT/candidate.c"
case $answer in infra/* | /) bad=1 ;; *) bad=0 ;; esac
ok $bad "the page is full of ones, once: nobody reads it then" "$answer $summary"

say 'static char many[65536]; memset(many, 100, sizeof many); if (n == 2) (void)!write(4, many, 16384);'
judge sum "$ROOT/candidate.c"
blamed "the socket is full of answers"

say 'if (n == 2) for (int fd = 3; fd < 8; fd++) close(fd);'
judge sum "$ROOT/candidate.c"
blamed "every descriptor is closed"

say 'if (n == 2) { dup2(4, 5); dup2(4, 6); dup2(4, 3); }'
judge sum "$ROOT/candidate.c"
case $answer in infra/*) bad=1 ;; *) bad=0 ;; esac
ok $bad "descriptors are mixed up: not our fault" "$answer $summary"

# What a process leaves at a file that all of them read.
say 'if (n == 1 && lseek(5, 8, SEEK_CUR) != 8) *y = 0;'
judge sum "$ROOT/candidate.c"
case $answer in faster/* | same/* | slower/* | inconclusive/*) bad=0 ;; *) bad=1 ;; esac
ok $bad "every process finds the file of inputs where it begins" "$answer $summary"

say 'if (n == 2) kill_me();'
sed -i 's/^void sum/#include <signal.h>\nstatic void kill_me(void) { kill(getpid(), SIGKILL); }\nvoid sum/' "$ROOT/candidate.c"
judge sum "$ROOT/candidate.c"
blamed "it kills itself, as if somebody else had"

# An oracle is trusted to be right, not to be well-behaved.
head_lie='extern void *mmap(void *, unsigned long, int, int, int, long);
static long *page(void)
{
    static long *at;
    if (at == (long *)0)
        at = mmap((void *)0, 8192, 3, 1, 3, 0);
    return at == (long *)-1 ? (long *)0 : at;
}'
# The number of elements, which the judge put there last: more than the memory of any machine.
elements='static void lie(long n)
{
    static long *place;
    long *at = page();
    for (int i = 1023; at != (long *)0 && place == (long *)0 && i >= 0; i--)
        if (at[i] == n)
            place = &at[i];
    if (place != (long *)0)
        *place = 1l << 50;
}'
# Every word.
words='static void lie(long n)
{
    long *at = page();
    for (int i = 0; at != (long *)0 && i < 1024; i++)
        at[i] = (1l << 60) + n;
}'
lying() { # lying TASK TEXT EDIT
    cp "$WS/tasks/$1/oracle.c" "$ROOT/oracle.c"
    { printf '%s\n%s\n' "$head_lie" "$2"; sed "$3" "$ROOT/oracle.c"; } >"$WS/tasks/$1/oracle.c"
    judge "$1" "$WS/tasks/$1/kernels/naive.c"
    case $summary in *"no usable report"* | *"killed by signal"*) bad=1 ;; *) bad=0 ;; esac
    case $answer in faster/* | /) bad=1 ;; esac
    ok $bad "an oracle that lies about its answers ($1)" "$answer $summary $(cat "$ROOT/stderr")"
    echo "# $1: $answer $summary"
    cp "$ROOT/oracle.c" "$WS/tasks/$1/oracle.c"
}
lying jacobi2d "$elements" 's/^    int64_t y = /    lie(H * W);\n&/'
lying sum "$words" 's/^{$/{\n    lie(0);/'

# And all is well again.
judge sum "$WS/tasks/sum/kernels/naive.c"
case $answer in faster/* | same/* | slower/* | inconclusive/*) bad=0 ;; *) bad=1 ;; esac
ok $bad "an honest kernel passes" "$answer $summary"
finish

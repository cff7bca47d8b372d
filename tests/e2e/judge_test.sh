#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test (tests/judge/selftest.sh), the quick part on the CPU: every cheat that needs no clock, with its clean
# twin, and the honest kernels. With the clock: judge_timed_test.sh. All of it: make check-judge.
# runs first: it is the longest.
# sanitizers: no; the same programs, and nearly every time is too noisy to tell anything from it.
cd "$(dirname "$0")/../.." || exit 1
tests/judge/tap.sh cpu 1 untimed

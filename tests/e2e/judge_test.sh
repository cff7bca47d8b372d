#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test (tests/judge/selftest.sh), the quick part: on the CPU what needs no clock and some that do, on the
# emulated GPU the blatant ones of them. All of it: make check-judge.
# runs alone: a cheat on the clock is told from an honest candidate by times.
# sanitizers: no; the same programs, and nearly every time is too noisy to tell anything from it.
cd "$(dirname "$0")/../.." || exit 1
tests/judge/tap.sh cpu 1
tests/judge/tap.sh cuda 2

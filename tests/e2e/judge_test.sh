#!/bin/sh
# The judge's self-test (tests/judge/selftest.sh): on the CPU all of it, on the emulated GPU what needs no clock.
# runs alone: a cheat on the clock is told from an honest candidate by times.
# sanitizers: no; the same programs, and nearly every time is too noisy to tell anything from it.
cd "$(dirname "$0")/../.." || exit 1
tests/judge/tap.sh cpu
tests/judge/tap.sh cuda 1

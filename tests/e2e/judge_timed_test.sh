#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's self-test, the quick part: cheats that are found by the clock, on the CPU and on the emulated GPU.
# runs alone: a cheat on the clock is told from an honest candidate by times.
# sanitizers: no; the same programs, and nearly every time is too noisy to tell anything from it.
cd "$(dirname "$0")/../.." || exit 1
tests/judge/tap.sh cpu 1 timed
tests/judge/tap.sh cuda 2 timed

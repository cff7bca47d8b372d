#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs, builds and tests hone in bare roots of Debian: the README's promise, on systems other than this one.
#   tests/systems/run.sh [SUITE...]            bookworm and trixie when none is named
# HONE_SYSTEMS_DIR  folder for the roots (default: a new one below TMPDIR, removed at the end; a named one is kept, and a
#                   root that is there is used again)
# HONE_SYSTEMS_RUN  what to run in the root, from the clone, after `.ci/deps` and `make all tests` (default: checks, unit
#                   tests, fuzz replays); "make check" runs all, "make demo" the demo
# MIRROR            http://deb.debian.org/debian
# The last commit is tested, from a clone without a remote. Exit 77 without root, debootstrap or the mirror.
set -u
cd "$(dirname "$0")/../.." || exit 1
mirror=${MIRROR:-http://deb.debian.org/debian}
default_run='HONE_BUILD=/src/build tests/run $(ls tests/checks/*.sh | grep -v /lib.sh) build/tests/unit/*/*_test build/tests/fuzz/*_replay'
run=${HONE_SYSTEMS_RUN:-$default_run}
[ $# -gt 0 ] || set -- bookworm trixie

skip() {
    echo "1..0 # SKIP $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "debootstrap and chroot want root"
command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is missing"

roots=${HONE_SYSTEMS_DIR:-}
[ -n "$roots" ] || roots=$(mktemp -d "${TMPDIR:-/tmp}/hone-systems.XXXXXX") || exit 1
mkdir -p "$roots" || exit 1

unmount_all() { # children first; nothing of the host is removed while it is mounted in a root
    awk -v at="$roots/" 'index($2, at) == 1 { print $2 }' /proc/mounts | sort -r | while read -r at; do umount -l "$at"; done
}
leave() {
    unmount_all
    [ -n "${HONE_SYSTEMS_DIR:-}" ] || rm -rf --one-file-system "$roots"
}
trap leave EXIT
trap 'exit 1' INT TERM

prepare() { # prepare ROOT SUITE: a bare root with what the README's first line installs, and a clone in /src
    if [ ! -e "$1/etc/debian_version" ]; then
        debootstrap --variant=minbase "$2" "$1" "$mirror" >"$1.log" 2>&1 || return 77
    fi
    [ -e "$1/proc/self" ] || mount -t proc proc "$1/proc" || return 1
    for at in dev sys; do
        awk -v at="$1/$at" '$2 == at { found = 1 } END { exit !found }' /proc/mounts && continue
        mount --rbind "/$at" "$1/$at" && mount --make-rslave "$1/$at" || return 1
    done
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    chroot "$1" sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y git make' >>"$1.log" 2>&1 || return 77
    rm -rf --one-file-system "$1/src"
    git clone -q --no-local . "$1/src" && git -C "$1/src" remote remove origin && chown -R 0:0 "$1/src"
}

one() { # one SUITE
    root=$roots/$1
    prepare "$root" "$1"
    status=$?
    if [ $status -ne 0 ]; then
        echo "# $1: no root (see $root.log): $(tail -n 1 "$root.log" 2>/dev/null)"
        return $status
    fi
    echo "# $1: Debian $(cat "$root/etc/debian_version")"
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -c \
        "cd /src && .ci/deps && make -j$(nproc) all tests DEVELOPER=1 >/build.log 2>&1 || { tail -n 20 /build.log; exit 1; }; $run"
}

n=0 n_failed=0 n_skipped=0
for suite in "$@"; do
    n=$((n + 1))
    one "$suite"
    case $? in
    0) echo "ok $n - $suite" ;;
    77) n_skipped=$((n_skipped + 1)) && echo "ok $n - $suite # SKIP no root could be made" ;;
    *) n_failed=$((n_failed + 1)) && echo "not ok $n - $suite" ;;
    esac
done
echo "1..$n"
[ $n_failed -eq 0 ] || exit 1
[ $n_skipped -lt $n ] || exit 77

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the README's two commands as a newcomer would, in bare roots of Debian.
#   tests/systems/run.sh [SUITE...]            bookworm and trixie when none is named
# HONE_SYSTEMS_RUN  the commands, with ";" between them (default: "make demo; make check")
# HONE_SYSTEMS_USER a user to run them as, who is made and may use sudo (default: root)
# HONE_SYSTEMS_DIR  folder for the roots and logs (default: a new one below TMPDIR, removed at the end; a named one is kept,
#                   and a root that is there is used again: it is no longer bare)
# MIRROR            http://deb.debian.org/debian
# Warnings are errors (DEVELOPER=1). The last commit is tested, from a clone without a remote. Each suite has a mount and a
# process namespace of its own: when it ends, no mount and no process of it is left. Exit 77 without root, debootstrap or the
# mirror. DIR/SUITE.log has all that was printed, this script prints each command with its last line and its seconds.
set -u

# ---- inside of the namespaces and, from the second step on, of the root ----

case ${1:-} in
--enter) # --enter ROOT USER COMMANDS: makes ROOT the root, as a container does (a chroot would forbid user namespaces)
    mount --bind "$2" "$2" && cd "$2" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys || exit 77
    pivot_root . . && umount -l . || exit 77
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh /src/tests/systems/run.sh --inside "$3" "$4"
    ;;
--inside) # --inside USER COMMANDS
    user=$2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y git make ${user:+sudo} || exit 77
    as=
    if [ -n "$user" ]; then
        id "$user" >/dev/null 2>&1 || useradd -m "$user" || exit 1
        echo "$user ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/newcomer
        chown -R "$user:" /src
        as="setpriv --reuid=$user --regid=$user --init-groups env HOME=/home/$user"
    fi
    cd /src || exit 1
    status=0 left="$3;"
    while [ -n "$left" ]; do
        command=${left%%;*} left=${left#*;}
        begun=$(date +%s)
        # shellcheck disable=SC2086 # $as is a command with arguments
        { $as env DEVELOPER=1 sh -c "$command" 2>&1 </dev/null; echo $? >/exit_status; } | tee /command.log
        exit_status=$(cat /exit_status)
        [ "$exit_status" -eq 0 ] || status=1
        told=$(grep -E '^([0-9]+ passed, |speedup |verdict )' /command.log || tail -n 1 /command.log)
        echo "# ${user:-root}: ${command# }: exit $exit_status, $(($(date +%s) - begun)) s:" $told | tee -a /results
    done
    echo "# Debian $(cat /etc/debian_version), gcc $(gcc -dumpfullversion), libgit2 $(pkg-config --modversion libgit2)," \
        "libwebsockets $(pkg-config --modversion libwebsockets), libclang $(ls -d /usr/lib/llvm-* | sed 's/.*-//' | paste -sd' ')" >>/results
    exit $status
    ;;
esac

# ---- outside ----

cd "$(dirname "$0")/../.." || exit 1
mirror=${MIRROR:-http://deb.debian.org/debian}
commands=${HONE_SYSTEMS_RUN:-make demo; make check}
[ $# -gt 0 ] || set -- bookworm trixie

skip() {
    echo "1..0 # SKIP $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "debootstrap and mounts want root"
command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is missing"

roots=${HONE_SYSTEMS_DIR:-}
[ -n "$roots" ] || {
    roots=$(mktemp -d "${TMPDIR:-/tmp}/hone-systems.XXXXXX") || exit 1
    trap 'rm -rf --one-file-system "$roots"' EXIT
    trap 'exit 1' INT TERM
}
mkdir -p "$roots" || exit 1

one() { # one SUITE
    root=$roots/$1
    : >"$root.log"
    if [ ! -e "$root/etc/debian_version" ]; then
        debootstrap --variant=minbase "$1" "$root" "$mirror" >"$root.log" 2>&1 || return 77
    fi
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    rm -rf --one-file-system "$root/src" "$root/results"
    git clone -q --no-local . "$root/src" && git -C "$root/src" remote remove origin && chown -R 0:0 "$root/src" || return 1
    unshare --mount --pid --fork --kill-child --propagation private \
        sh tests/systems/run.sh --enter "$root" "${HONE_SYSTEMS_USER:-}" "$commands" >>"$root.log" 2>&1
}

n=0 n_failed=0 n_skipped=0
for suite in "$@"; do
    n=$((n + 1))
    one "$suite"
    status=$?
    cat "$roots/$suite/results" 2>/dev/null
    case $status in
    0) echo "ok $n - $suite" ;;
    77) n_skipped=$((n_skipped + 1)) && echo "ok $n - $suite # SKIP no root could be made: $(tail -n 1 "$roots/$suite.log")" ;;
    *)
        n_failed=$((n_failed + 1))
        grep -A 20 '^FAIL' "$roots/$suite.log" || tail -n 30 "$roots/$suite.log"
        echo "not ok $n - $suite"
        ;;
    esac
done
echo "1..$n"
[ $n_failed -eq 0 ] || exit 1
[ $n_skipped -lt $n ] || exit 77

/* SPDX-License-Identifier: Apache-2.0 */
/* The circumstances that sandbox_test.c tries: what is done to a process before it starts hone's
 * jails. Each is a child of its own that ends by executing a copy of the test in a folder that
 * everybody can reach. */
#ifndef HONE_TESTS_SANDBOX_PLACES_H
#define HONE_TESTS_SANDBOX_PLACES_H

#include <link.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define NOBODY      65534
#define N_RUNGS     3
#define MAX_ATTACKS 160
#define CANNOT      96 /* exit status: the circumstance cannot be made here */

static const char *const rung_names[N_RUNGS] = {"userns", "root", "weak"};

enum cell { CELL_NONE, CELL_HELD, CELL_KILLED, CELL_LIMIT, CELL_OPEN, CELL_THROUGH };

enum {
    PLACE_ROOT,
    PLACE_USER,
    PLACE_CHROOT,
    PLACE_NESTED,
    PLACE_NESTED_USER,
    PLACE_FILTERED,
    N_PLACES
};

struct results {
    bool was_tried[N_PLACES];
    bool works[N_PLACES][N_RUNGS];
    char why[N_PLACES][N_RUNGS][200];
    char not_tried[N_PLACES][200];
    unsigned char cells[N_PLACES][N_RUNGS][MAX_ATTACKS]; /* enum cell */
};

struct place {
    const char *name;
    void (*enter)(const char *folder); /* in the child; NULL: nothing to do */
    bool needs_root;
    size_t least_rungs;
};

static void fail_place(const char *what)
{
    (void)fprintf(stderr, "# %s: %s\n", what, strerror(errno));
    _exit(CANNOT);
}

static void become(uid_t uid)
{
    if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
        fail_place("becoming an ordinary user");
}

static void write_text(const char *path, const char *text)
{
    HONE_AUTOCLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        fail_place(path);
}

/* ---- an ordinary user ---- */

static void enter_user(const char *folder)
{
    (void)folder;
    if (geteuid() == 0)
        become(NOBODY);
}

/* ---- root of a chroot that holds only what is needed ---- */

static void copy_into(const char *root, const char *path)
{
    char to[4096];
    struct stat info;
    (void)snprintf(to, sizeof(to), "%s%s", root, path);
    char *slash = strrchr(to, '/');
    *slash = '\0';
    (void)hone_mkdirs(to, 0755, NULL);
    *slash = '/';
    if (stat(path, &info) < 0 || lstat(to, &info) == 0)
        return;
    if (hone_file_copy(path, to, HONE_LIMIT_FILE_BYTES, NULL) < 0 || chmod(to, 0755) < 0)
        fail_place(path);
}

/* /lib -> usr/lib and its like, as on the host. */
static void copy_links(const char *root)
{
    static const char *const links[] = {"/lib", "/lib64", "/bin"};
    char text[256], to[5000];
    for (size_t i = 0; i < HONE_COUNTOF(links); i++) {
        ssize_t n = readlink(links[i], text, sizeof(text) - 1);
        if (n <= 0)
            continue;
        text[n] = '\0';
        (void)snprintf(to, sizeof(to), "%s/%s", root, text);
        (void)hone_mkdirs(to, 0755, NULL);
        (void)snprintf(to, sizeof(to), "%s%s", root, links[i]);
        if (symlink(text, to) < 0)
            fail_place(to);
    }
}

static int copy_one_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    if (info->dlpi_name[0] == '/')
        copy_into(arg, info->dlpi_name);
    return 0;
}

/* What this process has loaded, and its loader under the name that programs ask for. */
static void copy_libraries(char *root)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    uintptr_t base = 0;
    (void)dl_iterate_phdr(copy_one_library, root);
    for (size_t i = 0; i < getauxval(AT_PHNUM); i++)
        if (header[i].p_type == PT_PHDR)
            base = (uintptr_t)header - header[i].p_vaddr;
    for (size_t i = 0; i < getauxval(AT_PHNUM); i++)
        if (header[i].p_type == PT_INTERP)
            copy_into(root, (const char *)(base + header[i].p_vaddr));
}

static void make_node(const char *root, const char *name, unsigned minor_number)
{
    char to[4096];
    (void)snprintf(to, sizeof(to), "%s/dev/%s", root, name);
    if (mknod(to, S_IFCHR | 0666, makedev(1, minor_number)) < 0 || chmod(to, 0666) < 0)
        fail_place("device nodes for the chroot");
}

static void enter_chroot(const char *folder)
{
    static const char *const folders[] = {"proc", "dev", "tmp", "etc", "run", "usr/bin"};
    char root[4096], path[5000];
    (void)snprintf(root, sizeof(root), "%s/root", folder);
    for (size_t i = 0; i < HONE_COUNTOF(folders); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
        if (hone_mkdirs(path, 0755, NULL) < 0)
            fail_place(path);
    }
    copy_links(root);
    copy_libraries(root);
    copy_into(root, "/usr/bin/true");
    copy_into(root, "/etc/ld.so.cache");
    (void)snprintf(path, sizeof(path), "%s%s", root, folder);
    (void)hone_mkdirs(path, 0755, NULL);
    (void)snprintf(path, sizeof(path), "%s/sandbox_test", folder);
    copy_into(root, path);
    make_node(root, "null", 3);
    make_node(root, "zero", 5);
    make_node(root, "urandom", 9);
    (void)snprintf(path, sizeof(path), "%s/tmp", root);
    (void)chmod(path, 01777);
    (void)snprintf(path, sizeof(path), "%s/proc", root);
    if (unshare(CLONE_NEWNS) < 0 || mount("proc", path, "proc", 0, NULL) < 0)
        fail_place("/proc for the chroot");
    /* Jails there are told from those of the tests beside it, which may fill their own user. */
    (void)snprintf(path, sizeof(path), "%s/run/hone", root);
    if (hone_mkdirs("/run/hone/slots", 0700, NULL) < 0 || hone_mkdirs(path, 0755, NULL) < 0 ||
        mount("/run/hone", path, NULL, MS_BIND, NULL) < 0)
        fail_place("slots for the chroot");
    if (chroot(root) < 0 || chdir("/") < 0)
        fail_place("chroot");
}

/* ---- a container whose user namespaces are used up ---- */

/* A user namespace with 65536 ids, root inside, in which no further one may be made. */
static void enter_nested(const char *folder)
{
    int ready[2], go[2];
    char byte;
    (void)folder;
    if (pipe(ready) < 0 || pipe(go) < 0)
        fail_place("pipes");
    pid_t parent = getpid();
    pid_t helper = fork(); /* outside, where the maps may be written */
    if (helper == 0) {
        char path[64];
        if (read(ready[0], &byte, 1) != 1)
            _exit(1);
        (void)snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)parent);
        write_text(path, "0 300000 65536");
        (void)snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)parent);
        write_text(path, "0 300000 65536");
        (void)!write(go[1], "g", 1);
        _exit(0);
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        fail_place("a user namespace for the container");
    (void)prctl(PR_SET_DUMPABLE, 1);
    (void)!write(ready[1], "r", 1);
    (void)close(go[1]);
    if (read(go[0], &byte, 1) != 1)
        fail_place("the container's id map");
    (void)waitpid(helper, NULL, 0);
    if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0 || setgroups(0, NULL) < 0)
        fail_place("root of the container");
    write_text("/proc/sys/user/max_user_namespaces", "0");
}

static void enter_nested_user(const char *folder)
{
    enter_nested(folder);
    become(1000);
}

/* ---- a container that refuses namespaces and mounts by a filter, as is common ---- */

#define REFUSE(number, code)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define NAMESPACE_FLAGS 0x7e020000u

static void enter_filtered(const char *folder)
{
    static const unsigned long dropped[] = {CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SYS_RESOURCE,
                                            CAP_SYS_NICE,  CAP_SYS_MODULE, CAP_DAC_READ_SEARCH};
    const struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_clone3, ENOSYS),
        REFUSE(SYS_unshare, EPERM),
        REFUSE(SYS_setns, EPERM),
        REFUSE(SYS_mount, EPERM),
        REFUSE(SYS_pivot_root, EPERM),
        REFUSE(SYS_open_tree, EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACE_FLAGS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = HONE_COUNTOF(filter),
                                       .filter = (struct sock_filter *)(uintptr_t)filter};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    (void)folder;
    for (size_t i = 0; i < HONE_COUNTOF(dropped); i++)
        if (prctl(PR_CAPBSET_DROP, dropped[i]) < 0)
            fail_place("dropping capabilities");
    if (syscall(SYS_capget, &header, caps) < 0)
        fail_place("capget");
    for (size_t i = 0; i < HONE_COUNTOF(dropped); i++) {
        uint32_t bit = ~(1u << (dropped[i] & 31));
        caps[dropped[i] / 32].effective &= bit;
        caps[dropped[i] / 32].permitted &= bit;
        caps[dropped[i] / 32].inheritable &= bit;
    }
    if (syscall(SYS_capset, &header, caps) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        fail_place("the container's filter");
}

static const struct place places[N_PLACES] = {
    [PLACE_ROOT] = {"root", NULL, true, 2},
    [PLACE_USER] = {"user", enter_user, false, 1},
    [PLACE_CHROOT] = {"chroot", enter_chroot, true, 1},
    [PLACE_NESTED] = {"no-userns", enter_nested, true, 1},
    [PLACE_NESTED_USER] = {"no-userns-user", enter_nested_user, true, 1},
    [PLACE_FILTERED] = {"filtered", enter_filtered, true, 1},
};

/* ---- running them ---- */

static struct results *results_map(int fd)
{
    void *at = mmap(NULL, sizeof(struct results), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        fail_place("results");
    return at;
}

static void try_place(size_t i, const char *folder, struct results *results, int fd,
                      const char *only)
{
    char program[4096], number[16], results_fd[16];
    (void)snprintf(program, sizeof(program), "%s/sandbox_test", folder);
    (void)snprintf(number, sizeof(number), "%zu", i);
    (void)snprintf(results_fd, sizeof(results_fd), "%d", fd);
    if (places[i].needs_root && geteuid() != 0) {
        (void)snprintf(results->not_tried[i], sizeof(results->not_tried[i]),
                       "only root can make it");
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (places[i].enter != NULL)
            places[i].enter(folder);
        (void)execl(program, program, "place", number, results_fd, only, (char *)NULL);
        fail_place(program);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    if (!results->was_tried[i])
        (void)snprintf(results->not_tried[i], sizeof(results->not_tried[i]),
                       "it cannot be made here (see above)");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        results->works[i][0] = results->works[i][1] = results->works[i][2] = false;
}

/* NULL: not even the folder could be made. */
static struct results *try_all_places(const char *only)
{
    char self[4096], folder[] = "/tmp/hone-sandbox-places-XXXXXX", copy[4200];
    int fd = memfd_create("results", 0);
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0 || fd < 0 || ftruncate(fd, sizeof(struct results)) < 0 || mkdtemp(folder) == NULL ||
        chmod(folder, 0755) < 0)
        return NULL;
    self[n] = '\0';
    (void)snprintf(copy, sizeof(copy), "%s/sandbox_test", folder);
    if (hone_file_copy(self, copy, HONE_LIMIT_FILE_BYTES, NULL) < 0 || chmod(copy, 0755) < 0)
        return NULL;
    struct results *results = results_map(fd);
    for (size_t i = 0; i < N_PLACES; i++)
        try_place(i, folder, results, fd, only);
    (void)hone_remove_tree(folder, NULL);
    return results;
}

#endif

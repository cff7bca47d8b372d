/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

/* A fresh folder as working directory; left behind is what a failed test made. */
static char dir[] = "/tmp/hone-file-XXXXXX";

static void enter(void)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
}

static void leave(void)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_msg(hone_remove_tree(dir, &err) == 0, "%s", err.message);
    ck_assert(!hone_file_exists(dir));
}

static void put(const char *path, const char *text)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_file_write(path, text, strlen(text), 0644, false, &err) == 0, "%s",
                  err.message);
}

static void expect(const char *path, const char *want)
{
    HONE_AUTOFREE char *text = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_file_read(path, 1 << 20, &text, NULL, &err) == 0, "%s", err.message);
    ck_assert_str_eq(text, want);
}

START_TEST(reads)
{
    enter();
    HONE_AUTOFREE char *text = NULL;
    size_t len = 99;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_file_write("f", "a\0b", 3, 0640, true, &err), 0);
    ck_assert_int_eq(hone_file_read("f", 3, &text, &len, &err), 0);
    ck_assert(len == 3 && memcmp(text, "a\0b", 4) == 0);
    HONE_AUTOFREE char *other = NULL;
    ck_assert_int_eq(hone_file_read("f", 2, &other, &len, &err), HONE_E_LIMIT);
    ck_assert_str_eq(err.message, "file 'f' is larger than the 2 bytes accepted");
    ck_assert_int_eq(hone_file_read("f", 0, &other, &len, &err), HONE_E_LIMIT);
    ck_assert_int_eq(hone_file_read("none", 9, &other, &len, &err), HONE_E_NOT_FOUND);
    ck_assert_int_eq(hone_file_read("f/below", 9, &other, &len, &err), HONE_E_NOT_FOUND);
    ck_assert_int_eq(hone_file_read(".", 9, &other, &len, &err), HONE_E_ARG);
    ck_assert_ptr_null(other);
    ck_assert_uint_eq(len, 3); /* untouched by failures */
    put("empty", "");
    ck_assert_int_eq(hone_file_read("empty", 0, &other, &len, &err), 0);
    ck_assert_str_eq(other, "");
    HONE_AUTOFREE char *proc = NULL; /* size 0 in its inode, yet full of text */
    ck_assert_int_eq(hone_file_read("/proc/self/status", 1 << 20, &proc, &len, &err), 0);
    ck_assert_uint_gt(len, 100);
    leave();
}
END_TEST

START_TEST(fifo_does_not_hang)
{
    enter();
    HONE_AUTOFREE char *text = NULL;
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    ck_assert_int_eq(hone_file_read("fifo", 9, &text, NULL, NULL), HONE_E_ARG);
    leave();
}
END_TEST

/* /dev/null as an output once became a file. */
START_TEST(devices_stay)
{
    enter();
    struct stat st;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(symlink("pipe", "link"), 0);
    ck_assert_int_eq(hone_file_write("pipe", "x", 1, 0600, false, &err), HONE_E_IO);
    ck_assert_int_eq(hone_file_write("link", "x", 1, 0600, false, &err), HONE_E_IO);
    ck_assert_int_eq(hone_file_write(".", "x", 1, 0600, false, &err), HONE_E_IO);
    ck_assert_int_eq(lstat("pipe", &st), 0);
    ck_assert(S_ISFIFO(st.st_mode));
    ck_assert_int_eq(lstat("link", &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    leave();
}
END_TEST

START_TEST(read_at_refuses_links)
{
    enter();
    HONE_AUTOFREE char *text = NULL, *other = NULL;
    size_t len;
    put("f", "x");
    ck_assert_int_eq(symlink("f", "link"), 0);
    HONE_AUTOCLOSE int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(hone_file_read_at(fd, "f", 9, &text, &len, NULL), 0);
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_file_read_at(fd, "link", 9, &other, &len, &err), HONE_E_IO);
    ck_assert_int_eq(err.native, ELOOP);
    expect("link", "x");
    leave();
}
END_TEST

START_TEST(writes_whole_or_not)
{
    enter();
    struct stat st;
    put("f", "old");
    ck_assert_int_eq(hone_file_write("f", "new text", 8, 0600, true, NULL), 0);
    expect("f", "new text");
    ck_assert_int_eq(stat("f", &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_file_write("nowhere/f", "x", 1, 0600, false, &err), HONE_E_IO);
    ck_assert_int_eq(err.native, ENOENT);
    ck_assert_int_eq(mkdir("d", 0755), 0);
    put("d/in", "x");
    ck_assert_int_eq(hone_file_write("d", "x", 1, 0600, false, &err), HONE_E_IO); /* rename fails */
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names;
    size_t n;
    ck_assert_int_eq(hone_list_dir(".", pool, &names, &n, NULL), 0);
    ck_assert_uint_eq(n, 2); /* no temporary left */
    leave();
}
END_TEST

/* One process rewrites a file; every read sees one whole version. */
START_TEST(readers_never_see_a_part)
{
    enter();
    enum { N = 200000 };
    HONE_AUTOFREE char *a = hone_malloc(N), *b = hone_malloc(N / 2);
    memset(a, 'a', N);
    memset(b, 'b', N / 2);
    ck_assert_int_eq(hone_file_write("f", a, N, 0600, false, NULL), 0);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 150; i++)
            hone_file_write("f", i % 2 ? a : b, i % 2 ? N : N / 2, 0600, false, NULL);
        _exit(0);
    }
    for (int i = 0; i < 150; i++) {
        HONE_AUTOFREE char *text = NULL;
        size_t len;
        ck_assert_int_eq(hone_file_read("f", N, &text, &len, NULL), 0);
        ck_assert(len == (text[0] == 'a' ? N : N / 2));
        ck_assert_int_eq(text[len - 1], text[0]);
    }
    ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
    leave();
}
END_TEST

START_TEST(copies)
{
    enter();
    struct stat st;
    put("f", "text");
    ck_assert_int_eq(chmod("f", 0755), 0);
    ck_assert_int_eq(hone_file_copy("f", "g", 4, NULL), 0);
    expect("g", "text");
    ck_assert_int_eq(stat("g", &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0755);
    ck_assert_int_eq(hone_file_copy("f", "h", 3, NULL), HONE_E_LIMIT);
    ck_assert(!hone_file_exists("h"));
    leave();
}
END_TEST

START_TEST(folders)
{
    enter();
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_mkdirs("a/b/c", 0755, &err), 0);
    ck_assert_int_eq(hone_mkdirs("a/b/c", 0755, &err), 0);
    ck_assert_int_eq(hone_mkdirs("a//b/d/", 0755, &err), 0);
    ck_assert(hone_file_exists("a/b/c") && hone_file_exists("a/b/d"));
    put("a/f", "x");
    ck_assert_int_eq(hone_mkdirs("a/f", 0755, &err), HONE_E_IO);
    ck_assert_int_eq(hone_mkdirs("a/f/g", 0755, &err), HONE_E_IO);
    ck_assert_int_eq(hone_mkdirs("", 0755, &err), HONE_E_ARG);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names;
    size_t n;
    put("a/.hidden", "");
    put("a/Z", "");
    ck_assert_int_eq(hone_list_dir("a", pool, &names, &n, &err), 0);
    ck_assert_uint_eq(n, 4);
    ck_assert_str_eq(names[0], ".hidden");
    ck_assert_str_eq(names[1], "Z");
    ck_assert_str_eq(names[2], "b");
    ck_assert_int_eq(hone_list_dir("none", pool, &names, &n, &err), HONE_E_NOT_FOUND);
    leave();
}
END_TEST

START_TEST(remove_does_not_follow_links)
{
    enter();
    ck_assert_int_eq(hone_mkdirs("outside/deep", 0755, NULL), 0);
    put("outside/keep", "x");
    put("outside/deep/keep", "x");
    ck_assert_int_eq(hone_mkdirs("tree/sub", 0755, NULL), 0);
    put("tree/sub/f", "x");
    ck_assert_int_eq(symlink("../outside", "tree/to_folder"), 0);
    ck_assert_int_eq(symlink("../../outside/keep", "tree/sub/to_file"), 0);
    ck_assert_int_eq(symlink("nowhere", "tree/dangling"), 0);
    ck_assert_int_eq(symlink("outside", "top"), 0);
    ck_assert_int_eq(hone_remove_tree("tree", NULL), 0);
    ck_assert_int_eq(hone_remove_tree("top", NULL), 0); /* the link itself */
    ck_assert(!hone_file_exists("tree") && !hone_file_exists("top"));
    expect("outside/keep", "x");
    expect("outside/deep/keep", "x");
    ck_assert_int_eq(hone_remove_tree("none", NULL), 0);
    ck_assert_int_eq(hone_remove_tree("outside/keep", NULL), 0);
    ck_assert(!hone_file_exists("outside/keep"));
    leave();
}
END_TEST

START_TEST(remove_very_deep_and_closed_folders)
{
    enter();
    ck_assert_int_eq(mkdir("deep", 0755), 0);
    HONE_AUTOCLOSE int at = open("deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(mkdirat(at, "d", 0755), 0);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(next, 0);
        close(at);
        at = next;
    }
    ck_assert_int_eq(mkdir("deep/closed", 0755), 0);
    put("deep/closed/f", "x");
    ck_assert_int_eq(chmod("deep/closed", 0), 0);
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_remove_tree("deep", &err) == 0, "%s", err.message);
    ck_assert(!hone_file_exists("deep"));
    leave();
}
END_TEST

START_TEST(copy_tree)
{
    enter();
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_mkdirs("from/sub", 0755, NULL), 0);
    put("from/a", "1");
    put("from/sub/b", "2");
    ck_assert_int_eq(hone_copy_tree("from", "to", 3, &err), 0);
    expect("to/a", "1");
    expect("to/sub/b", "2");
    ck_assert_int_eq(hone_copy_tree("from", "few", 2, &err), HONE_E_LIMIT);
    ck_assert_int_eq(symlink("a", "from/link"), 0);
    ck_assert_int_eq(hone_copy_tree("from", "links", 9, &err), HONE_E_ARG);
    ck_assert_int_eq(hone_copy_tree("none", "x", 9, &err), HONE_E_NOT_FOUND);
    leave();
}
END_TEST

START_TEST(file_limit_of_copy_tree)
{
    enter();
    ck_assert_int_eq(mkdir("from", 0755), 0);
    put("from/f", "");
    ck_assert_int_eq(truncate("from/f", HONE_LIMIT_FILE_BYTES), 0);
    ck_assert_int_eq(hone_copy_tree("from", "to", 1, NULL), 0);
    ck_assert_int_eq(truncate("from/f", HONE_LIMIT_FILE_BYTES + 1ll), 0);
    ck_assert_int_eq(hone_copy_tree("from", "to", 1, NULL), HONE_E_LIMIT);
    leave();
}
END_TEST

START_TEST(locks)
{
    enter();
    int fd = -1, other = -1;
    struct hone_err err = HONE_ERR_INIT;
    struct stat st;
    ck_assert_int_eq(hone_lock_file("lock", 0, &fd, &err), 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    ck_assert_int_eq(hone_lock_file("lock", 0, &other, &err), HONE_E_BUSY);
    ck_assert_int_eq(other, -1);
    int64_t before = hone_now_ns();
    ck_assert_int_eq(hone_lock_file("lock", hone_deadline_in_ms(60), &other, &err), HONE_E_BUSY);
    ck_assert_int_ge(hone_now_ns() - before, 55 * HONE_NS_PER_MS);
    close(fd);
    ck_assert_int_eq(hone_lock_file("lock", 0, &other, &err), 0);
    close(other);
    ck_assert_int_eq(hone_lock_file("none/lock", 0, &other, &err), HONE_E_IO);
    leave();
}
END_TEST

START_TEST(lock_is_waited_for_and_dies_with_its_holder)
{
    enter();
    int ready[2], fd = -1;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t holder = fork();
    if (holder == 0) {
        int held = -1;
        if (hone_lock_file("lock", 0, &held, NULL) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char c;
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    ck_assert_int_eq(hone_lock_file("lock", 0, &fd, NULL), HONE_E_BUSY);
    kill(holder, SIGKILL);
    ck_assert_int_eq(hone_lock_file("lock", hone_deadline_in_ms(20000), &fd, NULL), 0);
    close(fd);
    ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
    leave();
}
END_TEST

START_TEST(names_and_paths)
{
    char longest[HONE_LIMIT_NAME_BYTES + 2];
    memset(longest, 'a', sizeof(longest));
    longest[HONE_LIMIT_NAME_BYTES] = '\0';
    ck_assert(hone_is_safe_name(longest));
    longest[HONE_LIMIT_NAME_BYTES] = 'a';
    longest[HONE_LIMIT_NAME_BYTES + 1] = '\0';
    ck_assert(!hone_is_safe_name(longest));
    static const char *const good[] = {"a", "A.b-c_9", "9", "_x", "a.b.c", "a.locks", "alock"};
    static const char *const bad[] = {"",    ".",        "..",   ".a",  "-a",   "a/b", "a b",
                                      "a\n", "\xC3\xA9", "a\\b", "a:b", "a..b", "a.",  "a.lock"};
    for (size_t i = 0; i < HONE_COUNTOF(good); i++)
        ck_assert_msg(hone_is_safe_name(good[i]), "%s", good[i]);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++)
        ck_assert_msg(!hone_is_safe_name(bad[i]), "%s", bad[i]);
    ck_assert(!hone_is_safe_name(NULL));
    static const struct {
        const char *a, *b, *c, *want;
    } joins[] = {
        {"a", "b", NULL, "a/b"}, {"a/", "b", NULL, "a/b"}, {"a", "/b", NULL, "a/b"},
        {"/", "b", NULL, "/b"},  {"a", "b", "c", "a/b/c"}, {"", "b", NULL, "b"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(joins); i++) {
        HONE_AUTOFREE char *path = hone_path_join(joins[i].a, joins[i].b, joins[i].c, NULL);
        ck_assert_str_eq(path, joins[i].want);
    }
    HONE_AUTOFREE char *exe = hone_exe_dir();
    ck_assert_ptr_nonnull(exe);
    ck_assert_int_eq(exe[0], '/');
    HONE_AUTOFREE char *self = hone_path_join(exe, "file_test", NULL);
    ck_assert(hone_file_exists(self));
}
END_TEST

UNIT_MAIN("file", reads, fifo_does_not_hang, devices_stay, read_at_refuses_links,
          writes_whole_or_not, readers_never_see_a_part, copies, folders,
          remove_does_not_follow_links, remove_very_deep_and_closed_folders, copy_tree,
          file_limit_of_copy_tree, locks, lock_is_waited_for_and_dies_with_its_holder,
          names_and_paths)

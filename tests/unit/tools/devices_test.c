/* SPDX-License-Identifier: Apache-2.0 */
/* The list of devices: a lease each, who has it, who waits; nothing is said of another machine's. */
#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

#include "tools/devices/devices.h"
#include "tools/format/lease_file.h"
#include "tools/launch/launch.h"
#include "workspace/base/file.h"

#define FACTS                                                                                      \
    "{\"cpu\":\"A\",\"n_cores\":2,\"gpu\":{\"devices\":[{\"name\":\"B\",\"uuid\":\"01\"},"         \
    "{\"name\":\"B\",\"uuid\":\"02\"}]}}"

struct place {
    char dir[64];
    struct hone_pool *pool;
    struct hone_json *facts;
};

static void open_place(struct place *p)
{
    strcpy(p->dir, "/tmp/hone-devices-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(p->dir));
    setenv("XDG_RUNTIME_DIR", p->dir, 1);
    p->pool = hone_pool_new();
    ck_assert_int_eq(hone_json_parse(FACTS, strlen(FACTS), &p->facts, NULL), 0);
}

static void close_place(struct place *p)
{
    hone_json_free(p->facts);
    hone_pool_free(p->pool);
    ck_assert_int_eq(hone_remove_tree(p->dir, NULL), 0);
}

static const struct hone_device *list(struct place *p, const char *executor, size_t n)
{
    const struct hone_executor x = {.name = executor};
    struct hone_array ret;
    hone_devices_list(&x, p->facts, p->pool, &ret);
    ck_assert_uint_eq(ret.n, n);
    return ret.v;
}

START_TEST(each_device_is_free_or_held)
{
    const struct hone_job job = {.id = "7", .tier = HONE_TIER_SCREEN};
    struct place p;
    int fd = -1;
    open_place(&p);
    const char *base = hone_timing_lock_path(p.pool);
    const char *path = hone_lease_path(base, "02", p.pool);
    ck_assert_int_eq(hone_lock_file(path, 0, &fd, NULL), 0);
    hone_lease_sign(fd, &job, "sum");
    int queue = hone_lease_join_queue(base, &job, "max");
    ck_assert_int_ge(queue, 0);
    const struct hone_device *v = list(&p, "local", 3);
    static const char *const want[] = {"free", "free", "held"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(v[i].target, i == 0 ? "cpu" : "cuda");
        ck_assert_str_eq(v[i].lease, want[i]);
        ck_assert_str_eq(v[i].class, i == 0 ? "A, 2 cores" : "A, 2 cores, B");
        ck_assert_uint_eq(v[i].holder.n, i == 2);
        ck_assert_uint_eq(v[i].waiters.n, i == 0);
    }
    const struct hone_device_user *holder = v[2].holder.v, *waiter = v[0].waiters.v;
    ck_assert_int_eq(holder->pid, getpid());
    ck_assert_str_eq(holder->what, "sum, screen, call 7");
    ck_assert_str_eq(waiter->what, "max, screen, call 7");
    hone_lease_leave_queue(base, queue);
    close(fd);
    v = list(&p, "local", 3);
    ck_assert_str_eq(v[2].lease, "free");
    ck_assert_uint_eq(v[0].waiters.n, 0);
    close_place(&p);
}
END_TEST

START_TEST(of_another_machine_no_lease_is_told)
{
    struct place p;
    int fd = -1;
    open_place(&p);
    ck_assert_int_eq(hone_lock_file(hone_timing_lock_path(p.pool), 0, &fd, NULL), 0);
    const struct hone_device *v = list(&p, "command:x", 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(v[i].lease, "elsewhere");
        ck_assert_uint_eq(v[i].holder.n, 0);
    }
    hone_json_free(p.facts);
    p.facts = NULL; /* the probe failed */
    v = list(&p, "local", 1);
    ck_assert_str_eq(v[0].lease, "held");
    close(fd);
    close_place(&p);
}
END_TEST

UNIT_MAIN("devices", each_device_is_free_or_held, of_another_machine_no_lease_is_told)

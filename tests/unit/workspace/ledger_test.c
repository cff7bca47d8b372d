/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/workspace/store_util.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "workspace/ledger_line.h"

#define SEGMENT "/.hone/ledger/000001.jsonl"

struct seen {
    size_t n;
    uint64_t numbers[1000];
    char last_type[80];
    int64_t sum;
};

static int see(void *arg, uint64_t n, int64_t wall_ms, const char *type,
               const struct hone_json *data, struct hone_err *err HONE_UNUSED)
{
    struct seen *seen = arg;
    ck_assert(wall_ms > 0);
    seen->numbers[seen->n++ % 1000] = n;
    snprintf(seen->last_type, sizeof(seen->last_type), "%s", type);
    seen->sum += hone_json_get_i64(data, "i", 0);
    return 0;
}

static uint64_t add(struct hone_ledger *ledger, int64_t i)
{
    uint64_t n = 0;
    struct hone_json *data HONE_AUTOJSON = hone_json_new_object();
    hone_json_set_i64(data, "i", i);
    hone_json_set_str(data, "text", "a \"quoted\" line\nand \\ more");
    OK(hone_ledger_append(ledger, "search.step", data, &n, err));
    return n;
}

static char *segment_path(const char *dir)
{
    return hone_sprintf("%s" SEGMENT, dir);
}

static void append_bytes(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(crc_is_castagnoli)
{
    ck_assert_uint_eq(hone_crc32c(0, "123456789", 9), 0xe3069283u);
    ck_assert_uint_eq(hone_crc32c(hone_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}
END_TEST

START_TEST(records_come_back_in_order_and_numbers_go_on)
{
    char *dir SCRATCH = scratch();
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    for (int i = 1; i <= 10; i++)
        ck_assert_uint_eq(add(ledger, i), (uint64_t)i);
    OK(hone_ledger_sync(ledger, err));
    hone_ledger_close_ptr(&ledger);
    OK(hone_ledger_open(dir, &ledger, err));
    ck_assert_uint_eq(hone_ledger_last(ledger), 10);
    ck_assert_uint_eq(add(ledger, 11), 11);
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, 11);
    ck_assert_int_eq(seen.sum, 66);
    ck_assert_str_eq(seen.last_type, "search.step");
    for (size_t i = 0; i < seen.n; i++)
        ck_assert_uint_eq(seen.numbers[i], i + 1);
    seen = (struct seen){.n = 0};
    OK(hone_ledger_scan(ledger, 9, see, &seen, err));
    ck_assert_uint_eq(seen.n, 3);
    FAILS(HONE_E_ARG, "record type", hone_ledger_append(ledger, "Bad\"", NULL, NULL, err));
}
END_TEST

/* The others' data is not read, their checksums are. */
START_TEST(a_scan_for_one_type_reads_that_and_tells_of_all_damage)
{
    char *dir SCRATCH = scratch();
    char *path HONE_AUTOFREE = segment_path(dir);
    char *text HONE_AUTOFREE = NULL;
    size_t len;
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct hone_json *data HONE_AUTOJSON = hone_json_new_object();
    hone_json_set_str(data, "what", "damaged");
    OK(hone_ledger_open(dir, &ledger, err));
    add(ledger, 1);
    OK(hone_ledger_append(ledger, "model.ask", data, NULL, err));
    add(ledger, 3);
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan_type(ledger, "search.", see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_uint_eq(seen.numbers[1], 3);
    OK(hone_file_read(path, 1 << 20, &text, &len, err));
    *strstr(text, "damaged") = 'D';
    OK(hone_file_write(path, text, len, 0600, false, err));
    seen = (struct seen){.n = 0};
    FAILS(HONE_E_CORRUPT, "line 2", hone_ledger_scan_type(ledger, "search.", see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
}
END_TEST

START_TEST(torn_tail_is_cut_at_open)
{
    static const char *const tails[] = {"{\"n\":4,\"t\":17", "x", "{\"n\":4}"};
    for (size_t i = 0; i < HONE_COUNTOF(tails); i++) {
        char *dir SCRATCH = scratch();
        char *path HONE_AUTOFREE = segment_path(dir);
        struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
        OK(hone_ledger_open(dir, &ledger, err));
        for (int k = 0; k < 3; k++)
            add(ledger, k);
        hone_ledger_close_ptr(&ledger);
        append_bytes(path, tails[i]);
        OK(hone_ledger_open(dir, &ledger, err));
        ck_assert_uint_eq(add(ledger, 9), 4);
        struct seen seen = {.n = 0};
        OK(hone_ledger_scan(ledger, 1, see, &seen, err));
        ck_assert_uint_eq(seen.n, 4);
    }
}
END_TEST

START_TEST(torn_tail_of_a_killed_neighbour_is_cut_at_append)
{
    char *dir SCRATCH = scratch();
    char *path HONE_AUTOFREE = segment_path(dir);
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    add(ledger, 1);
    append_bytes(path, "{\"n\":2,\"t\"");
    ck_assert_uint_eq(add(ledger, 2), 2);
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
}
END_TEST

/* Every byte of a line counts: number, time, type, data. */
START_TEST(damaged_line_is_reported_and_the_rest_read)
{
    static const char *const spots[] = {"\"n\":2", "\"t\":", "search.step", "quoted"};
    for (size_t i = 0; i < HONE_COUNTOF(spots); i++) {
        char *dir SCRATCH = scratch();
        char *path HONE_AUTOFREE = segment_path(dir);
        char *text HONE_AUTOFREE = NULL;
        size_t len = 0;
        struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
        OK(hone_ledger_open(dir, &ledger, err));
        for (int k = 1; k <= 4; k++)
            add(ledger, k);
        hone_ledger_close_ptr(&ledger);
        OK(hone_file_read(path, 1 << 20, &text, &len, err));
        char *line = strchr(text, '\n') + 1;
        char *spot = strstr(line, spots[i]);
        spot[strlen(spots[i]) - 1] ^= 1;
        OK(hone_file_write(path, text, len, 0600, false, err));
        OK(hone_ledger_open(dir, &ledger, err));
        struct seen seen = {.n = 0};
        FAILS(HONE_E_CORRUPT, "000001.jsonl line 2", hone_ledger_scan(ledger, 1, see, &seen, err));
        ck_assert_uint_eq(seen.n, 3);
        ck_assert_int_eq(seen.sum, 1 + 3 + 4);
        ck_assert_uint_eq(add(ledger, 5), 5);
    }
}
END_TEST

START_TEST(damaged_last_line_keeps_its_number)
{
    char *dir SCRATCH = scratch();
    char *path HONE_AUTOFREE = segment_path(dir);
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    add(ledger, 1);
    hone_ledger_close_ptr(&ledger);
    append_bytes(path, "garbage\n");
    OK(hone_ledger_open(dir, &ledger, err));
    ck_assert_uint_eq(add(ledger, 3), 3);
    struct seen seen = {.n = 0};
    FAILS(HONE_E_CORRUPT, "line 2", hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
    FAILS(HONE_E_CORRUPT, "line 2", hone_ledger_scan(ledger, 3, see, &seen, err));
    ck_assert_uint_eq(add(ledger, 4), 4);
    seen = (struct seen){.n = 0};
    OK(hone_ledger_scan(ledger, 4, see, &seen, err)); /* what lies before is not told again */
    ck_assert_uint_eq(seen.n, 1);
}
END_TEST

START_TEST(processes_share_the_numbers)
{
    enum { WRITERS = 4, EACH = 60 };
    char *dir SCRATCH = scratch();
    pid_t pids[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        pids[w] = fork();
        if (pids[w] == 0) {
            struct hone_ledger *ledger = NULL;
            if (hone_ledger_open(dir, &ledger, NULL) < 0)
                _exit(1);
            for (int i = 0; i < EACH; i++)
                add(ledger, 1);
            _exit(hone_ledger_sync(ledger, NULL) < 0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = 0;
        waitpid(pids[w], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, WRITERS * EACH);
    for (size_t i = 0; i < seen.n; i++)
        ck_assert_uint_eq(seen.numbers[i], i + 1);
}
END_TEST

struct writer {
    struct hone_ledger *ledger;
    pthread_t thread;
};

static void *write_some(void *arg)
{
    struct writer *writer = arg;
    for (int i = 0; i < 25; i++) {
        add(writer->ledger, 1);
        if (hone_ledger_sync(writer->ledger, NULL) < 0)
            return arg;
    }
    return NULL;
}

START_TEST(threads_share_a_ledger)
{
    char *dir SCRATCH = scratch();
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    struct writer writers[4];
    for (size_t i = 0; i < 4; i++) {
        writers[i].ledger = ledger;
        ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_some, &writers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(writers[i].thread, &failed);
        ck_assert_ptr_null(failed);
    }
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, 100);
}
END_TEST

/* A write that stops half-way: what the file size limit does, a full disk does too. */
START_TEST(full_disk_leaves_no_torn_record)
{
    char *dir SCRATCH = scratch();
    char *path HONE_AUTOFREE = segment_path(dir);
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct stat before, after;
    OK(hone_ledger_open(dir, &ledger, err));
    add(ledger, 1);
    ck_assert_int_eq(stat(path, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit old = {RLIM_INFINITY, RLIM_INFINITY};
    const struct rlimit small = {(rlim_t)before.st_size + 20, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct hone_json *data HONE_AUTOJSON = hone_json_new_object();
    FAILS(HONE_E_IO, "nothing was added", hone_ledger_append(ledger, "x", data, NULL, err));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_int_eq(after.st_size, before.st_size);
    ck_assert_uint_eq(add(ledger, 2), 2);
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
}
END_TEST

static struct hone_json *text_of(size_t len)
{
    char *text HONE_AUTOFREE = malloc(len + 1);
    memset(text, 'x', len);
    text[len] = '\0';
    struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "s", text); /* {"s":"..."}: 8 bytes around it */
    return data;
}

START_TEST(record_limits)
{
    char *dir SCRATCH = scratch();
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    struct hone_json *at HONE_AUTOJSON = text_of(HONE_LIMIT_RECORD_BYTES - 8);
    struct hone_json *above HONE_AUTOJSON = text_of(HONE_LIMIT_RECORD_BYTES - 7);
    OK(hone_ledger_append(ledger, "x", at, NULL, err));
    FAILS(HONE_E_LIMIT, "at most", hone_ledger_append(ledger, "x", above, NULL, err));
    struct hone_json *deep HONE_AUTOJSON = hone_json_new_object();
    for (int depth = 2; depth <= HONE_LIMIT_JSON_DEPTH; depth++) {
        struct hone_json *outer = hone_json_new_object();
        hone_json_set(outer, "[", HONE_STEAL(deep)); /* a bracket in a name is no nesting */
        deep = outer;
    }
    OK(hone_ledger_append(ledger, "x", deep, NULL, err));
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 1, see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
    struct hone_json *deeper HONE_AUTOJSON = hone_json_new_array();
    hone_json_push(deeper, HONE_STEAL(deep));
    FAILS(HONE_E_LIMIT, "deeper", hone_ledger_append(ledger, "x", deeper, NULL, err));
}
END_TEST

START_TEST(segments_roll)
{
    char *dir SCRATCH = scratch();
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct hone_ledger *other HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    OK(hone_ledger_open(dir, &ledger, err));
    OK(hone_ledger_open(dir, &other, err));
    struct hone_json *data HONE_AUTOJSON = text_of(8u << 20);
    for (int i = 0; i < 9; i++)
        OK(hone_ledger_append(ledger, "x", data, NULL, err));
    char *second HONE_AUTOFREE = hone_path_join(dir, ".hone/ledger/000002.jsonl", NULL);
    ck_assert(hone_file_exists(second));
    ck_assert_uint_eq(add(other, 1), 10); /* follows what the first one did */
    ck_assert_uint_eq(add(ledger, 1), 11);
    OK(hone_ledger_sync(ledger, err));
    struct seen seen = {.n = 0};
    OK(hone_ledger_scan(ledger, 9, see, &seen, err));
    ck_assert_uint_eq(seen.n, 3);
    hone_ledger_close_ptr(&other);
    ck_assert_int_eq(truncate(second, 0), 0); /* rolled, then killed */
    OK(hone_ledger_open(dir, &other, err));
    ck_assert_uint_eq(add(other, 1), 9);
}
END_TEST

START_TEST(several_types_are_read_and_no_other)
{
    static const char *const types[] = {"search.", "commit", NULL};
    char *dir SCRATCH = scratch();
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct hone_ledger_place place = {.segment = 0};
    struct hone_json *data HONE_AUTOJSON = hone_json_new_object();
    OK(hone_ledger_open(dir, &ledger, err));
    add(ledger, 1);
    OK(hone_ledger_append(ledger, "test.report", data, NULL, err));
    OK(hone_ledger_append(ledger, "commit", data, NULL, err));
    OK(hone_ledger_append(ledger, "model.ask", data, NULL, err));
    add(ledger, 5);
    struct seen seen = {.n = 0}, followed = {.n = 0};
    OK(hone_ledger_scan_types(ledger, types, see, &seen, err));
    OK(hone_ledger_follow_types(ledger, types, &place, see, &followed, err));
    const struct seen *both[] = {&seen, &followed};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(both[i]->n, 3);
        ck_assert_uint_eq(both[i]->numbers[1], 3);
        ck_assert_uint_eq(both[i]->numbers[2], 5);
    }
    OK(hone_ledger_follow_types(ledger, types, &place, see, &followed, err));
    ck_assert_uint_eq(followed.n, 3);
}
END_TEST

START_TEST(a_follower_sees_each_record_once)
{
    char *dir SCRATCH = scratch();
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct hone_ledger *other HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct hone_ledger_place place = {.segment = 0};
    struct seen seen = {.n = 0};
    OK(hone_ledger_open(dir, &ledger, err));
    OK(hone_ledger_follow(ledger, "search.", &place, see, &seen, err));
    ck_assert_uint_eq(seen.n, 0);
    OK(hone_ledger_open(dir, &other, err));
    struct hone_json *big HONE_AUTOJSON = text_of(12u << 20);
    add(other, 1);
    OK(hone_ledger_append(other, "searching", big, NULL, err)); /* another type */
    add(ledger, 2);
    OK(hone_ledger_follow(ledger, "search.", &place, see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_int_eq(seen.sum, 3);
    OK(hone_ledger_follow(ledger, "search.", &place, see, &seen, err));
    ck_assert_uint_eq(seen.n, 2);
    for (int i = 0; i < 6; i++) /* into the next segment */
        OK(hone_ledger_append(other, "x", big, NULL, err));
    add(other, 4);
    char *path HONE_AUTOFREE = hone_path_join(dir, ".hone/ledger/000002.jsonl", NULL);
    ck_assert(hone_file_exists(path));
    append_bytes(path,
                 "{\"n\":99,\"t\":1,\"type\":\"search.step\",\"half"); /* not yet written out */
    OK(hone_ledger_follow(ledger, "search.", &place, see, &seen, err));
    ck_assert_uint_eq(seen.n, 3);
    ck_assert_int_eq(seen.sum, 7);
    add(ledger, 8); /* cuts the unfinished line off */
    append_bytes(path, "no record at all\n");
    add(ledger, 16);
    OK(hone_ledger_follow(ledger, "search.", &place, see, &seen, err));
    ck_assert_uint_eq(seen.n, 5);
    ck_assert_int_eq(seen.sum, 31);
}
END_TEST

UNIT_MAIN("ledger", a_scan_for_one_type_reads_that_and_tells_of_all_damage, crc_is_castagnoli,
          records_come_back_in_order_and_numbers_go_on, torn_tail_is_cut_at_open,
          torn_tail_of_a_killed_neighbour_is_cut_at_append,
          damaged_line_is_reported_and_the_rest_read, damaged_last_line_keeps_its_number,
          processes_share_the_numbers, threads_share_a_ledger, full_disk_leaves_no_torn_record,
          record_limits, segments_roll, several_types_are_read_and_no_other,
          a_follower_sees_each_record_once)

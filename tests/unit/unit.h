/* SPDX-License-Identifier: Apache-2.0 */
/* The few lines that every unit test program shares: Check, one suite, TAP on stdout.
 *
 * UNIT_MAIN("name", a_test, b_test, ...) runs each in a process of its own. CK_FORK=no for the
 * debugger. */
#ifndef HONE_TESTS_UNIT_H
#define HONE_TESTS_UNIT_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <check.h>
#pragma GCC diagnostic pop
#include <stdio.h>
#include <stdlib.h>

/* Each assertion that holds tells Check its place by a write to a file, for the report of a crash. Of a
 * line that asserts time and again, in a loop over elements, the first time is enough: these writes were
 * most of what such tests cost. */
static inline void unit_mark(const char *file, int line)
{
    static _Thread_local int last_line;
    static _Thread_local const char *last_file;
    if (line == last_line && file == last_file)
        return;
    last_line = line;
    last_file = file;
    _mark_point(file, line);
}
#define _mark_point unit_mark

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_HAS_SANITIZER 1
#else
#define UNIT_HAS_SANITIZER 0
#endif

#define UNIT_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        Suite *suite = suite_create(name);                                                         \
        TCase *tcase = tcase_create(name);                                                         \
        tcase_set_timeout(tcase, 2400);                                                            \
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                              \
            tcase_add_test(tcase, tests[i]);                                                       \
        suite_add_tcase(suite, tcase);                                                             \
        SRunner *runner = srunner_create(suite);                                                   \
        setvbuf(stdout, NULL, _IOLBF, 0); /* a forked test must not inherit half a line */         \
        srunner_set_tap(runner, "-");                                                              \
        srunner_run_all(runner, CK_SILENT);                                                        \
        int failed = srunner_ntests_failed(runner);                                                \
        srunner_free(runner);                                                                      \
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                                          \
    }

#endif

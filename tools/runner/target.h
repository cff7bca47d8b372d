/* What differs between targets: how a source becomes an object, and its compiler options. A table;
 * cuda comes as a row. */
#ifndef HONE_RUNNER_TARGET_H
#define HONE_RUNNER_TARGET_H

#include "tools/runner/runner.h"

struct hone_target {
    const char *name;
    /* Compiles text (with prologue in front) so that it exports symbol. Outcome in ret->reason. */
    int (*build)(struct hone_judge *judge, struct hone_build_request *req, struct hone_build *ret,
                 struct hone_err *err);
    const char *const *oracle_flags; /* NULL-terminated, besides the standard ones */
};
const struct hone_target *hone_target_find(const char *name); /* NULL: unknown */

#endif

#include "tools/runner/runner.h"
int hone_stage_profile(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    (void)judge;
    (void)ret;
    (void)err;
    return 0;
}

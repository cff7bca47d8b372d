/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of this folder, one a file; registry.c makes the set of them. */
#ifndef HONE_TOOLS_TOOLS_H
#define HONE_TOOLS_TOOLS_H

#include "tools/tool.h"

extern const struct hone_tool hone_tool_device_info;
extern const struct hone_tool hone_tool_history_show;
extern const struct hone_tool hone_tool_job_wait;
extern const struct hone_tool hone_tool_kernel_compare;
extern const struct hone_tool hone_tool_kernel_compile;
extern const struct hone_tool hone_tool_kernel_diff;
extern const struct hone_tool hone_tool_kernel_evaluate;
extern const struct hone_tool hone_tool_kernel_profile;
extern const struct hone_tool hone_tool_kernel_run;
extern const struct hone_tool hone_tool_kernel_tune;
extern const struct hone_tool hone_tool_kernel_verify;
extern const struct hone_tool hone_tool_task_import; /* torch/ */
extern const struct hone_tool hone_tool_task_new;
extern const struct hone_tool hone_tool_task_show;
extern const struct hone_tool hone_tool_version_export;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the judge's kernels, inside this program: the .cu files stay files of their own,
 * which any CUDA compiler can read behind each other. */
#include <string.h>

#include "tools/runner/cuda/judge/gpu_judge.h"
#include "workspace/base/embed.h"

HONE_EMBED(hone_gpu_shape_text, "tools/runner/values/gen_shape.h");
HONE_EMBED(hone_gpu_roles_text, "tools/runner/values/gen_roles.h");
HONE_EMBED(hone_gpu_abi_text, "tools/runner/cuda/judge/gpu_kernels_abi.h");
HONE_EMBED(hone_gpu_cuda_text, "tools/runner/cuda/judge/gpu_kernels.cu");
HONE_EMBED(hone_gpu_content_text, "tools/runner/cuda/judge/gpu_content.cu");

char *hone_gpu_kernels_text(void)
{
    return hone_sprintf("#define HONE_SHAPE_FN static __device__ __forceinline__\n"
                        "#line 1 \"gen_shape.h\"\n%s\n#line 1 \"gen_roles.h\"\n%s\n"
                        "#line 1 \"gpu_kernels_abi.h\"\n%s\n"
                        "#line 1 \"gpu_kernels.cu\"\n%s\n#line 1 \"gpu_content.cu\"\n%s",
                        hone_gpu_shape_text, hone_gpu_roles_text, hone_gpu_abi_text,
                        hone_gpu_cuda_text, hone_gpu_content_text);
}

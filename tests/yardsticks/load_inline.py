"""What the same edit costs through torch's load_inline: rows "name value", milliseconds.

A measuring yardstick only; hone itself needs no Python. An edited softmax is compiled and run three times; the import of
torch is told apart.
"""
import os
import tempfile
import time

os.environ["TORCH_EXTENSIONS_DIR"] = tempfile.mkdtemp(prefix="hone-load-inline.")  # nothing built before
start = time.perf_counter()
import torch  # noqa: E402
from torch.utils.cpp_extension import load_inline  # noqa: E402

print(f"load_inline_import_torch_ms {1e3 * (time.perf_counter() - start):.0f}")
SOURCE = r"""
#include <torch/extension.h>
__global__ void softmax_kernel(const float *x, float *y, int m, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m)
        return;
    float top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        top = fmaxf(top, x[(size_t)row * n + i]);
    for (int i = 0; i < n; i++)
        sum += expf(x[(size_t)row * n + i] - top);
    for (int i = 0; i < n; i++)
        y[(size_t)row * n + i] = expf(x[(size_t)row * n + i] - top) / sum;
}
__device__ int edit() { return EDIT; }
torch::Tensor softmax_naive(torch::Tensor x)
{
    auto y = torch::empty_like(x);
    softmax_kernel<<<(x.size(0) + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
    return y;
}
"""
for edit in range(2):
    start = time.perf_counter()
    module = load_inline(
        name=f"softmax_edit_{edit}",
        cpp_sources="torch::Tensor softmax_naive(torch::Tensor x);",
        cuda_sources=SOURCE.replace("EDIT", str(edit)),
        functions=["softmax_naive"],
        extra_cuda_cflags=["-arch=sm_90a"],
    )
    x = torch.randn(1024, 1024, device="cuda")
    y = module.softmax_naive(x)
    torch.cuda.synchronize()
    assert torch.allclose(y, torch.softmax(x, -1), atol=1e-5)
    print(f"load_inline_edit_{edit}_ms {1e3 * (time.perf_counter() - start):.0f}", flush=True)

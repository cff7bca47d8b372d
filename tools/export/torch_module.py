# SPDX-License-Identifier: Apache-2.0
# As an operator of torch: torch.ops.hone_NAME.NAME, or `from NAME_torch import op`.
kernel = ExportedKernel(json.loads(SPEC_TEXT), os.path.dirname(os.path.abspath(__file__)))
library, op = kernel.register("hone_" + kernel.name)

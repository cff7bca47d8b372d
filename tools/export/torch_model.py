# SPDX-License-Identifier: Apache-2.0


class ModelNew(Model):
    """The same constructor and state as Model, in eval mode; forward is the kernel. No gradients."""

    kernel = ExportedKernel(json.loads(SPEC_TEXT))

    def forward(self, *given):
        spec, values = self.kernel.spec, {name: what["value"] for name, what in self.kernel.spec["scalars"].items()}
        record = spec["record"]
        values.update({a["name"]: g for a, g in zip(record["arguments"], given) if "name" in a})
        state = self.state_dict(keep_vars=True)
        for name, key in record["state"].items():  # a list: one input stands for several tensors
            values[name] = state[key] if isinstance(key, str) else torch.cat([state[k].reshape(-1) for k in key])
        free = [globals()[record["axes"][axis]] for axis in self.kernel.free]
        tensors = [values[name].detach().contiguous() for name in spec["inputs"]]
        tensors = [t.clone() if t.data_ptr() % 64 else t for t in tensors]
        return self.kernel(*tensors,
                           *[values[name] for name in spec["scalars"]], *free)


if __name__ == "__main__":
    torch.manual_seed(1)
    mine = ModelNew(*get_init_inputs()).eval()
    torch.manual_seed(1)
    theirs = Model(*get_init_inputs()).eval()
    given = get_inputs()
    if mine.kernel.spec["device"] == "cuda":
        mine, theirs = mine.cuda(), theirs.cuda()
        given = [g.cuda() if isinstance(g, torch.Tensor) else g for g in given]
    with torch.no_grad():
        got, want = mine(*given), theirs(*given)
    pairs = zip(got, want) if isinstance(got, tuple) else [(got, want)]
    is_right = all(torch.allclose(g.double(), w.double(), rtol=1e-3, atol=1e-4) for g, w in pairs)
    print("ModelNew and Model %s" % ("agree" if is_right else "differ"))
    raise SystemExit(0 if is_right else 1)

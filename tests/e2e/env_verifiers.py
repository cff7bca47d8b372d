#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/examples/verifiers/hone_kernels.py against a stub of verifiers, for env_adapters_test.sh; TAP on stdout.

verifiers is not here to be tested with. The stub has what the adapter uses, with the names, parameters and order
of calls of PrimeIntellect-ai/verifiers at a60a606 (docs/decisions/0100-adapters.md): the loop of a rollout, stop
conditions and handlers by decorator, State, Rubric, Dataset. A change over there is not seen here.

usage: tests/e2e/env_verifiers.py HONE WORKSPACE FAKE_SCRIPT LATTICES
"""
import asyncio
import atexit
import inspect
import json
import os
import sys
import types


# ---- the stub ----

class Error(Exception):
    pass


class Message:
    """As the typed messages: members by name and by key."""

    def __init__(self, role, content):
        self.role, self.content = role, content

    def __getitem__(self, key):
        return getattr(self, key)


def typed(messages):
    return [m if isinstance(m, Message) else Message(m["role"], m["content"]) for m in messages]


def mark(name):
    def decorator(func=None, priority=0, **_):
        def put(f):
            setattr(f, name, True)
            setattr(f, name + "_priority", priority)
            return f
        return put if func is None else put(func)
    return decorator


stop, cleanup, teardown = mark("stop"), mark("cleanup"), mark("teardown")


def marked(owner, name):
    found = [m for _, m in inspect.getmembers(owner, inspect.ismethod) if hasattr(m, name)]
    return sorted(found, key=lambda m: (-getattr(m, name + "_priority"), m.__name__))


class State(dict):
    INPUT = ("prompt", "answer", "info", "example_id")

    def __getitem__(self, key):
        given = super().get("input", {})
        return given[key] if key in self.INPUT and key in given else super().__getitem__(key)

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default


class Rubric:
    def __init__(self, funcs=None, weights=None, parser=None):
        self.funcs, self.weights = funcs or [], weights or [1.0] * len(funcs or [])
        if len(self.funcs) != len(self.weights):
            raise ValueError("weights")

    async def score_rollout(self, state):
        known = {"prompt": state["prompt"], "completion": state["completion"], "answer": state.get("answer", ""),
                 "state": state, "info": state.get("info", {})}
        values = [float(await f(**{k: v for k, v in known.items() if k in inspect.signature(f).parameters}))
                  for f in self.funcs]
        state["reward"] = sum(v * w for v, w in zip(values, self.weights))
        state["metrics"] = {f.__name__: v for f, v in zip(self.funcs, values)}


class Dataset:
    def __init__(self, rows):
        self.rows, self.column_names = rows, list(rows[0]) if rows else []

    @classmethod
    def from_list(cls, rows):
        return cls(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class MultiTurnEnv:
    def __init__(self, max_turns=-1, timeout_seconds=None, dataset=None, eval_dataset=None, system_prompt=None,
                 rubric=None, **kwargs):
        if dataset is None and eval_dataset is None:
            raise ValueError("Either dataset or eval_dataset must be provided")
        self.max_turns, self.rubric = max_turns, rubric or Rubric()
        self.dataset, self.eval_dataset = dataset, eval_dataset
        for key, value in kwargs.items():
            setattr(self, key, value)
        self.stops, self.cleanups, self.teardowns = (marked(self, n) for n in ("stop", "cleanup", "teardown"))
        atexit.register(lambda: asyncio.run(self.end()))

    async def end(self):
        for handler in self.teardowns:
            await handler()

    @stop(priority=100)
    async def has_error(self, state, **kwargs):
        return state.get("error") is not None

    @stop
    async def max_turns_reached(self, state):
        return 0 < self.max_turns <= len(state["trajectory"])

    @stop
    async def has_final_env_response(self, state):
        return state.get("final_env_response") is not None

    async def setup_state(self, state):
        return state

    async def is_completed(self, state):
        for condition in self.stops:
            if await condition(state):
                state["stop_condition"] = condition.__name__
                return True
        return False

    async def get_prompt_messages(self, state):
        if not state["trajectory"]:
            return state["prompt"]
        last = state["trajectory"][-1]
        messages = [*last["prompt"], *last["completion"]]
        return [*messages, *typed(await self.env_response(messages, state))]

    async def rollout(self, row, model):
        given = dict(row)
        given["info"] = json.loads(given["info"]) if isinstance(given["info"], str) else given["info"]
        if not isinstance(given["info"].get("task", {}), dict):
            raise ValueError("task in info is verifiers' own")
        given["prompt"] = typed(given["prompt"])
        state = State(input=given, trajectory=[], error=None, final_env_response=None, completion=None)
        try:
            try:
                state = await self.setup_state(state) or state
            except Error as e:
                state["error"] = e
            while not await self.is_completed(state):
                try:
                    prompt = typed(await self.get_prompt_messages(state))
                    if state.get("final_env_response") is not None:
                        continue
                    state["trajectory"].append({"prompt": prompt, "completion": [Message("assistant", model(prompt))]})
                except Error as e:
                    state["error"] = e
        finally:
            for handler in self.cleanups:
                await handler(state)
        state["completion"] = [m for turn in state["trajectory"] for m in turn["completion"]]
        await self.rubric.score_rollout(state)
        return state


vf = types.ModuleType("verifiers")
vf.Error, vf.MultiTurnEnv, vf.Rubric, vf.State = Error, MultiTurnEnv, Rubric, State
vf.stop, vf.cleanup, vf.teardown = stop, cleanup, teardown
datasets = types.ModuleType("datasets")
datasets.Dataset = Dataset
sys.modules.update(verifiers=vf, datasets=datasets)


# ---- the test ----

def script(*answers):
    """A model that says one after the other, and then the last again."""
    said = list(answers)
    return lambda prompt: said.pop(0) if len(said) > 1 else said[0]


def fenced(source):
    return f"I try this:\n```c\n{source}\n```\n"


counts = {"n": 0, "bad": 0}


def ok(holds, name, detail=""):
    counts["n"] += 1
    counts["bad"] += not holds
    print(f"{'ok' if holds else 'not ok'} {counts['n']} - {name}")
    if not holds:
        print("# " + str(detail).replace("\n", "\n# "))


async def play(env, row, *answers):
    return await env.rollout(env.dataset[row], script(*answers))


async def on_sources(adapter, hone, workspace, fake):
    fakes = ("--executor", "fake", "--fake-script", fake)
    env = adapter.load_environment(workspace=workspace, tasks=["sum", "matmul"], seeds=1000, turns=3, hone=hone,
                                   options=fakes)
    first = env.dataset[0]
    ok(len(env.dataset) == 2000 and len(env.eval_dataset) == 10, "a row for each task and seed", len(env.dataset))
    ok([m["role"] for m in first["prompt"]] == ["system", "user"] and "void sum(" in first["prompt"][1]["content"]
       and json.loads(first["info"])["hone"]["seed"] == 1
       and json.loads(env.eval_dataset[0]["info"])["hone"]["seed"] == 1001,
       "a row has the task's words, and evaluation has seeds of its own", first)
    state = await play(env, 0, "<rewrite>accumulators</rewrite>", fenced("int wrong_one;"), fenced("int fast_one;"))
    rewards = state["hone_rewards"]
    ok(len(rewards) == 3 and rewards[1:] == [-1, 3], "the last answer is judged too", (rewards, state["error"]))
    ok(state["reward"] == 3 and state["metrics"]["judged_steps"] == 3
       and state["stop_condition"] == "has_final_env_response",
       "the reward is the best of hone's", state)
    second, third = (state["trajectory"][i]["prompt"][-1]["content"] for i in (1, 2))
    ok("void sum(" in second and third.startswith("Verdict incorrect, reward -1.000"),
       "the verdict is the next message, with what a rewrite made", (second, third))
    state = await play(env, 0, "no code at all", "<rewrite>no_such</rewrite>", "<done/>")
    ok(state["reward"] == -1 and state["hone_rewards"] == []
       and "Refused: " in state["trajectory"][2]["prompt"][-1]["content"],
       "answers that cannot be judged are turns, and no more", state["trajectory"][-1])
    state = await play(env, 0, fenced("int fast_one;") + "<done/>")
    ok(state["reward"] == 3 and len(state["trajectory"]) == 1, "a model may end early", state)
    state = await play(env, 0, fenced("int broken_machine;"))
    ok(isinstance(state["error"], Error), "a machine's fault is an error, not a reward", state)
    states = await asyncio.gather(*(play(env, i, fenced(f"int a{i};"), fenced(f"int b{i};"), "<done/>")
                                    for i in range(70)))
    ok(all(len(s["hone_rewards"]) == 2 for s in states) and len(env.lanes.lanes) == 2 and env.lanes.lanes[0].n_open == 0,
       "more rollouts at a time than one hone env has episodes", [len(s["hone_rewards"]) for s in states])
    children = [lane.process for lane in env.lanes.lanes]
    await env.end()
    ok(all(child.returncode == 0 for child in children), "the children end with the environment", children)


async def on_lattices(adapter, hone, lattices):
    env = adapter.load_environment(lattices=lattices, tasks=["matmul"], seeds=3, turns=2, hone=hone)
    ok('"strategy": "C02"' in env.dataset[0]["prompt"][1]["content"], "a lattice's row lists its strategies", env.dataset[0])
    states = [await play(env, 2, "<strategy>C02</strategy>", "<strategy>C04</strategy><commit>lattice-0</commit>")
              for _ in range(2)]
    ok(states[0]["reward"] > 4 and states[0]["hone_rewards"] == states[1]["hone_rewards"],
       "the same row and answers give the same rewards", [s["hone_rewards"] for s in states])
    child = env.lanes.lanes[0].process
    child.kill()
    child.wait()  # so that the request meets a closed pipe each time
    ok(isinstance((await play(env, 0, "<done/>"))["error"], Error), "a child that died is an error")
    await env.end()
    ok(child.stdin.closed, "and its environment ends as any other")


def main():
    hone, workspace, fake, lattices = sys.argv[1:]
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../docs/examples/verifiers"))
    import hone_kernels as adapter
    asyncio.run(on_sources(adapter, hone, workspace, fake))
    asyncio.run(on_lattices(adapter, hone, lattices))
    print(f"1..{counts['n']}")
    sys.exit(counts["bad"] > 0)


main()

# SPDX-License-Identifier: Apache-2.0
"""hone as an environment of Prime Intellect's verifiers: `load_environment` for its classic MultiTurnEnv.

A rollout is an episode of `hone env` (docs/guides/learning.md): the task as the first messages, a
source, rewrite or strategy in each answer, hone's verdict as the next message. The reward is hone's.
Needs hone, verifiers and what verifiers itself needs (datasets), nothing else.

    env = load_environment(workspace="ws", tasks=["sum"], seeds=1000, turns=8)
    env = load_environment(lattices="agents/offline/lattices")           # runs nothing
"""
import asyncio
import glob
import json
import os
import re
import subprocess
import threading

import verifiers as vf
from datasets import Dataset

OPEN_EPISODES = 64  # of one `hone env`
SYSTEM = "You make compute kernels fast. A judge compiles, checks and times what you answer, after every answer."
# What an answer may hold: name of the request's member, pattern. The last match counts.
SOURCE = [("source", re.compile(r"```[\w+]*[ \t]*\n(.*?)```", re.S)),
          ("rewrite", re.compile(r"<rewrite>\s*([\w-]+)\s*</rewrite>"))]
STRATEGY = [("strategy", re.compile(r"<strategy>\s*([\w-]+)\s*</strategy>"))]
COMMIT = re.compile(r"<commit>\s*([\w-]+)\s*</commit>")
DONE = re.compile(r"<done\s*/?>")
HOW = {
    False: "Answer with the whole file in one ```c block, or <rewrite>NAME</rewrite> for a rewrite of hone's.",
    True: "Answer with one <strategy>ID</strategy> of those that are listed.",
}
MORE = "<commit>ID</commit> goes on from an earlier version, <done/> ends."


class Lane:
    """One `hone env`; a request at a time."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.n_open = 0

    def ask(self, **request):
        with self.lock:
            try:
                self.process.stdin.write(json.dumps(request) + "\n")
                line = self.process.stdout.readline()
            except (OSError, ValueError) as e:
                raise vf.Error(f"hone env has ended: {e}") from e
        if not line:
            raise vf.Error(f"hone env has ended with status {self.process.wait()}")
        return json.loads(line)

    def end(self):
        try:
            self.process.stdin.close()
        except OSError:  # a child that died left a request unread
            pass
        self.process.wait()


class Lanes:
    """As many `hone env` as asked for, and more where all episodes of those are open."""

    def __init__(self, command, n):
        self.command, self.n, self.lanes, self.lock = command, n, [], threading.Lock()

    def take(self):
        with self.lock:
            free = min(range(len(self.lanes)), key=lambda i: self.lanes[i].n_open, default=None)
            if free is None or len(self.lanes) < self.n or self.lanes[free].n_open == OPEN_EPISODES:
                self.lanes.append(Lane(self.command))
                free = len(self.lanes) - 1
            self.lanes[free].n_open += 1
            return free

    def give(self, i):
        with self.lock:
            self.lanes[i].n_open -= 1

    def end(self):
        with self.lock:
            while self.lanes:
                self.lanes.pop().end()


def text_of(message):
    content = message["content"] or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def action_of(text, forms):
    """The request's members that an answer asks for; None: none."""
    found = [(m.start(), name, m.group(1)) for name, pattern in forms for m in pattern.finditer(text)]
    if not found:
        return None
    _, name, value = max(found)
    commits = COMMIT.findall(text)
    return {name: value, **({"commit": commits[-1]} if commits else {})}


def task_text(task, target, observation, is_recorded):
    parts = [f"Task {task}, target {target}."]
    if is_recorded:
        parts.append(json.dumps(observation))
    else:
        parts += [observation["description"], f"The file defines\n```c\n{observation['signature']}\n```",
                  f"The baseline:\n```c\n{observation['source']}\n```"]
    return "\n\n".join(parts + [HOW[is_recorded], MORE])


def answer_text(answer):
    if "error" in answer:
        return f"Refused: {answer['error']}"
    seen = dict(answer["observation"])
    source = seen.pop("source", None)
    head = f"Verdict {seen.pop('verdict', '?')}, reward {answer['reward']:.3f}, best so far {answer['best_log2']:.3f}."
    lines = [head, seen.pop("summary", ""), json.dumps(seen)]
    return "\n\n".join(line for line in lines + ([f"```c\n{source}\n```"] if source else []) if line)


class HoneEnv(vf.MultiTurnEnv):
    def __init__(self, lanes, forms, turns, **kwargs):
        # No max_turns: that would end a rollout before its last answer is judged.
        super().__init__(max_turns=-1, **kwargs)
        self.lanes, self.forms, self.turns = lanes, forms, turns

    async def setup_state(self, state):
        asked = state["info"]["hone"]
        state["hone_turn"], state["hone_rewards"] = 0, []
        state["hone_lane"], state["hone_episode"] = await asyncio.to_thread(self.lanes.take), None
        answer = await asyncio.to_thread(self.lanes.lanes[state["hone_lane"]].ask, op="reset", **asked)
        if "error" in answer:
            raise vf.Error(f"hone refuses {asked}: {answer['error']}")
        state["hone_episode"] = answer["episode"]
        return state

    async def env_response(self, messages, state, **kwargs):
        text = text_of(messages[-1])
        action = action_of(text, self.forms)
        state["hone_turn"] += 1
        is_done = state["hone_turn"] >= self.turns
        if action is not None:
            answer = await asyncio.to_thread(self.lanes.lanes[state["hone_lane"]].ask, op="step",
                                             episode=state["hone_episode"], **action)
            if answer.get("observation", {}).get("verdict") == "infra":
                raise vf.Error(f"no verdict, so no reward: {answer['observation'].get('summary', '')}")
            if "reward" in answer:
                state["hone_rewards"].append(answer["reward"])
            is_done = is_done or answer.get("done", False)
            said = answer_text(answer)
        else:
            said = "The end." if DONE.search(text) else f"Nothing to judge. {HOW[self.forms is STRATEGY]}"
        response = [{"role": "user", "content": said}]
        if is_done or DONE.search(text):
            state["final_env_response"] = response
        return response

    @vf.cleanup
    async def close_episode(self, state):
        lane, episode = state.get("hone_lane"), state.get("hone_episode")
        state["hone_lane"] = state["hone_episode"] = None
        if lane is None:
            return
        try:
            if episode is not None:  # one that is done is closed: then this is refused, which does no harm
                await asyncio.to_thread(self.lanes.lanes[lane].ask, op="close", episode=episode)
        except vf.Error:
            pass
        finally:
            self.lanes.give(lane)

    @vf.teardown
    async def end_lanes(self):
        self.lanes.end()  # verifiers calls this at exit too, when no thread can be started any more


async def best_reward(state):
    """The best step's reward; -1, as for a wrong version, where nothing was judged."""
    return max(state.get("hone_rewards") or [-1.0])


async def last_reward(state):
    return (state.get("hone_rewards") or [-1.0])[-1]


async def judged_steps(state):
    return float(len(state.get("hone_rewards") or []))


def known_tasks(hone, workspace, lattices, target):
    if lattices is None:
        listed = subprocess.run([hone, "task", "list", "--json", "--workspace", workspace], check=True,
                                stdout=subprocess.PIPE, text=True)
        return [task["name"] for task in json.loads(listed.stdout)]
    names = []
    for path in sorted(glob.glob(os.path.join(lattices, "*.json"))):
        with open(path, encoding="utf-8") as f:
            lattice = json.load(f)
        names += [lattice["task"]] if lattice["target"] == target else []
    return names


def rows_of(command, tasks, target, seeds, is_recorded):
    """A row for each task and seed. Only a lattice's start depends on the seed. "task" in info would be verifiers' own."""
    lane, rows = Lane(command), []
    for task in tasks:
        text = None
        for seed in seeds:
            asked = {"task": task, "target": target, "seed": seed}
            if text is None or is_recorded:
                answer = lane.ask(op="reset", **asked)
                if "error" in answer:
                    raise ValueError(answer["error"])
                lane.ask(op="close", episode=answer["episode"])
                text = task_text(task, target, answer["observation"], is_recorded)
            prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
            rows.append({"prompt": prompt, "answer": "", "info": json.dumps({"hone": asked})})
    lane.end()
    return rows


def load_environment(workspace=".", lattices=None, tasks=None, target="cpu", seeds=100, eval_seeds=5, turns=8,
                     tier="screen", lanes=1, hone="hone", options=(), **kwargs):
    """seeds, eval_seeds: rows of each task for training and, beyond those, for evaluation. turns: answers of a
    rollout. tier: how long a version is looked at. lanes: `hone env` at a time. options: more words for `hone env`."""
    command = [hone, "env", "--steps", str(turns), *options]
    command += ["--lattices", lattices] if lattices else ["--workspace", workspace, "--tier", tier]
    tasks = list(tasks or known_tasks(hone, workspace, lattices, target))
    train, held = range(1, seeds + 1), range(seeds + 1, seeds + eval_seeds + 1)
    data = [Dataset.from_list(rows_of(command, tasks, target, part, bool(lattices))) if part else None
            for part in (train, held)]
    rubric = vf.Rubric(funcs=[best_reward, last_reward, judged_steps], weights=[1.0, 0.0, 0.0])
    return HoneEnv(Lanes(command, lanes), STRATEGY if lattices else SOURCE, turns, dataset=data[0],
                   eval_dataset=data[1], rubric=rubric, **kwargs)

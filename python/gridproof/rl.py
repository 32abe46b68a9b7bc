"""Environments for learning to schedule (Gymnasium): ``gridproof/Order-v0``, ``gridproof/Backfill-v0``, ``gridproof/RLScheduler-v0``.

>>> import gymnasium, gridproof as gp, gridproof.rl
>>> env = gymnasium.make("gridproof/Order-v0", log=gp.lublin(procs=64, jobs=300, seed=1), window=100)
>>> observation, info = env.reset(seed=0)
>>> observation.shape, int(info["action_mask"].sum())
((64, 8), 1)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from . import Log, _gridproof, read

__all__ = ["HEURISTICS", "Environment", "as_policy", "evaluate", "rlscheduler_tasks", "tasks"]

FEATURES = 8


def _header(log: Log, key: str) -> int | None:
    """A number of the log's header."""
    import gzip

    data = log.path.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    found = re.search(rf"^; *{key}: *(\d+)", text.decode("utf-8", "replace"), re.MULTILINE)
    return int(found[1]) if found else None


def tasks(log: Log, procs: int) -> list[tuple[int, int, int, int, int]]:
    """Jobs ``(submit, run, requested, processors, user)`` that ran and fit: cut at their requests, as ``simulate`` does."""
    table = log.table()
    width = np.where(table["processors"] > 0, table["processors"], table["requested_processors"])
    run = np.where(table["requested"] > 0, np.minimum(table["run"], table["requested"]), table["run"])
    kept = (run > 0) & (width > 0) & (width <= procs)
    columns = (table["submit"], run, table["requested"], width, table["user"])
    found = [tuple(map(int, row)) for row in zip(*(column[kept] for column in columns))]
    return sorted(found, key=lambda task: task[0])


def rlscheduler_tasks(log: Log, procs: int, nodes: int | None = None) -> list[tuple[int, int, int, int, int]]:
    """Jobs by the rules of RLScheduler (Zhang et al., SC'20): a negative run time is 10 s, 0 is skipped, a missing request is the run
    time of the record, processors are the larger of allocated and requested, rounded up to whole nodes; nothing is cut."""
    table = log.table()
    each = procs // (nodes or procs)
    found = []
    for submit, run, used, asked, requested, user in zip(
        *(table[name] for name in ("submit", "run", "processors", "requested_processors", "requested", "user"))
    ):
        if run == 0:
            continue
        width = math.ceil(max(used, asked) / each) * each
        found.append(
            (
                int(submit),
                int(run if run > 0 else 10),
                int(run if requested == -1 else requested),
                int(width),
                int(user),
            )
        )
    return found


class Environment(gymnasium.Env):
    """Scheduling decisions on a window of a log, on a machine that is idle at first.

    Observation: ``(slots, 8)`` numbers from 0 to 1 for the jobs that have waited longest: present, wait, requested time (both as
    t / (t + 1 h)), processors, fits now, idle processors, place in the queue, length of the queue. ``info["action_mask"]`` is true
    for the actions that are allowed. Reward: 0 until the last job has started, then minus a metric (a column of ``summary.csv``)
    over the window; plus, if a larger value is better.

    ``rules``: ``order`` (the action is the next job; it starts as soon as it fits), ``backfill`` (the queue is first come first
    served; the action is a job that passes its head without delaying it, or ``slots`` for none), ``rlscheduler`` (``order`` with the
    order of events of RLScheduler). ``behind``: what starts behind a job that does not fit: ``none``, ``easy``, or ``bound``
    (RLScheduler's backfilling). ``nodes`` is the number of nodes, which ``rlscheduler`` allots whole; the header's MaxNodes if not
    given.
    """

    metadata: ClassVar = {"render_modes": []}

    def __init__(
        self,
        log: Log | str,
        procs: int | None = None,
        *,
        rules: str = "order",
        behind: str = "none",
        slots: int = 64,
        window: int = 256,
        reward: str = "bounded_slowdown_mean",
        nodes: int | None = None,
    ) -> None:
        log = log if isinstance(log, Log) else read(log)
        self.procs = procs or log.procs or _header(log, "MaxProcs")
        if not self.procs:
            raise ValueError(f"{log.path}: the log does not say how many processors there are; give procs")
        nodes = nodes or _header(log, "MaxNodes")
        self.jobs = rlscheduler_tasks(log, self.procs, nodes) if rules == "rlscheduler" else tasks(log, self.procs)
        if window > len(self.jobs):
            raise ValueError(f"window: the log has {len(self.jobs)} jobs, fewer than {window}")
        self.core = _gridproof.Environment(self.jobs, self.procs, slots, rules, behind)
        self.slots, self.window, self.reward_metric = slots, window, reward
        self.sign = 1.0 if reward in ("utilization", "user_jain") else -1.0
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (slots, FEATURES), np.float32)
        self.action_space = gymnasium.spaces.Discrete(self.core.actions())

    def _seen(self) -> tuple[np.ndarray, dict[str, Any]]:
        seen, mask = self.core.observe()
        observation = np.frombuffer(seen, np.float32).reshape(self.slots, FEATURES)
        return observation, {"action_mask": np.frombuffer(mask, np.bool_)}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode at a random job of the log, or at ``options["first"]``."""
        super().reset(seed=seed)
        first = (options or {}).get("first")
        if first is None:
            first = int(self.np_random.integers(len(self.jobs) - self.window + 1))
        self.first = int(first)
        self.core.reset(self.first, self.window)
        return self._seen()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Takes a decision. One that the mask forbids is replaced by the first that is allowed, and ``info["replaced"]`` says so."""
        replaced = False
        _, mask = self.core.observe()
        if not mask[int(action)]:
            action, replaced = mask.find(1), True
        terminated = action < 0 or not self.core.step(int(action))
        observation, info = self._seen()
        info["replaced"] = replaced
        reward = 0.0
        if terminated:
            info["value"] = self.core.value(self.reward_metric)
            reward = self.sign * (info["value"] or 0.0)
        return observation, reward, terminated, False, info

    def fork(self) -> Environment:
        """A copy that goes its own way from here, for tree search."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.core = self.core.fork()
        return copy


#: Rules that :func:`evaluate` compares with. ``wfp3-as-run`` and ``unicep-as-run`` are what RLScheduler ran under these names.
HEURISTICS = ("fcfs", "sjf", "f1", "wfp3", "unicep", "wfp3-as-run", "unicep-as-run")


def _episode(env: Environment, agent: Any, first: int) -> float:
    """The metric over the window that begins at ``first``, under a rule or an agent ``(observation, mask) -> action``."""
    if isinstance(agent, str):
        env.core.play(first, env.window, agent)
        return env.core.value(env.reward_metric)
    observation, info = env.reset(options={"first": first})
    terminated = False
    while not terminated:
        observation, _, terminated, _, info = env.step(int(agent(observation, info["action_mask"])))
    return info["value"]


def evaluate(
    agent: Any,
    env: gymnasium.Env,
    against: Sequence[str] = ("fcfs", "sjf", "f1"),
    firsts: Sequence[int] | None = None,
    seed: int = 0,
    episodes: int = 20,
) -> dict[str, dict[str, float]]:
    """Compares an agent ``(observation, mask) -> action`` with heuristics on the same windows.

    Returns for each heuristic its mean, the agent's mean, and their difference with a 95 % interval over the windows (Student's t,
    paired). Windows that overlap are not independent: give ``firsts`` that lie a window apart.
    """
    env = env.unwrapped
    if firsts is None:
        firsts = np.random.default_rng(seed).integers(len(env.jobs) - env.window + 1, size=episodes).tolist()
    ours = [_episode(env, agent, first) for first in firsts]
    found = {}
    for name in against:
        theirs = [_episode(env, name, first) for first in firsts]
        mean, low, high = _gridproof.paired(ours, theirs)
        found[name] = {
            "agent": float(np.mean(ours)),
            name: float(np.mean(theirs)),
            "difference": mean,
            "ci_low": low,
            "ci_high": high,
        }
    return found


def as_policy(agent: Callable[[np.ndarray, np.ndarray], int], slots: int = 64, name: str = "agent") -> type:
    """A policy class for :func:`gridproof.compare` that decides as ``gridproof/Order-v0`` does: the agent's job is committed, and
    starts as soon as it fits; nothing passes it."""

    class Agent:
        def __init__(self) -> None:
            self.pick: int | None = None

        def schedule(self, view: Any) -> list[int]:
            queue, free, starts = list(view.queue), view.free[0], []
            while queue:
                if self.pick is None:
                    seen = np.zeros((slots, FEATURES), np.float32)
                    for place, job in enumerate(queue[:slots]):
                        wait = view.now - job.submit
                        request = 1.0 if job.requested is None else job.requested / (job.requested + 3600)
                        width = job.processors / view.processors[0]
                        seen[place] = (
                            1,
                            wait / (wait + 3600),
                            request,
                            width,
                            job.processors <= free,
                            free / view.processors[0],
                            place / len(queue),
                            len(queue) / (len(queue) + slots),
                        )
                    mask = np.arange(slots) < len(queue)
                    self.pick = queue[int(agent(seen, mask))].id
                at = next(place for place, job in enumerate(queue) if job.id == self.pick)
                if queue[at].processors > free:
                    break
                free -= queue[at].processors
                starts.append(queue.pop(at).id)
                self.pick = None
            return starts

    Agent.__name__ = name
    return Agent


def _register() -> None:
    for identity, rules in (("Order", "order"), ("Backfill", "backfill"), ("RLScheduler", "rlscheduler")):
        name = f"gridproof/{identity}-v0"
        if name not in gymnasium.registry:
            defaults = {"slots": 128, "window": 1024} if rules == "rlscheduler" else {}
            gymnasium.register(name, "gridproof.rl:Environment", kwargs={"rules": rules, **defaults})


_register()

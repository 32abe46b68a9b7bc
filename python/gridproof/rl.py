"""Environments for learning to schedule (Gymnasium): ``gridproof/Order-v0``, ``gridproof/Backfill-v0``, ``gridproof/RLScheduler-v0``.

>>> import gymnasium, gridproof as gp, gridproof.rl
>>> env = gymnasium.make("gridproof/Order-v0", log=gp.lublin(procs=64, jobs=300, seed=1), window=100)
>>> observation, info = env.reset(seed=0)
>>> observation.shape, int(info["action_mask"].sum())
((64, 8), 1)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

try:
    import gymnasium
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError('gridproof.rl needs Gymnasium: pip install "gridproof[rl]"') from error

from . import Log, _gridproof, _raising, lublin, read

__all__ = ["HEURISTICS", "Environment", "VectorEnvironment", "as_policy", "evaluate", "rlscheduler_tasks", "tasks"]

FEATURES = 8

#: A log, several, or a function of a seed that draws one. Each episode takes one of several, or draws another. With ``None`` it is a log
#: of the model of Lublin and Feitelson.
Logs = Log | str | Sequence[Log | str] | Callable[[int], Log] | None

#: A function ``(observation, mask) -> action``, or a model with ``predict``, as those of stable-baselines3.
Agent = Any


def _decider(agent: Agent) -> Callable[[np.ndarray, np.ndarray], int]:
    """The agent as a function of observation and mask."""
    if hasattr(agent, "predict"):
        takes_masks = "action_masks" in inspect.signature(agent.predict).parameters

        def predict(seen: np.ndarray, mask: np.ndarray) -> int:
            masks = {"action_masks": mask} if takes_masks else {}
            return int(np.asarray(agent.predict(seen, deterministic=True, **masks)[0]).item())

        return predict
    if not callable(agent):
        raise TypeError(f"an agent is a function (observation, mask) -> action, or has predict; found {agent!r}")
    return agent


def tasks(log: Log, procs: int) -> np.ndarray:
    """Jobs ``submit, run, requested, processors, user`` (int64) that ran and fit, by the rules of ``simulate``; −1 for unknown."""
    return _raising(_gridproof.episode_jobs, str(log.path), procs)


def rlscheduler_tasks(log: Log, procs: int, nodes: int | None = None) -> np.ndarray:
    """Jobs by the rules of RLScheduler (Zhang et al., SC'20): a negative run time is 10 s, 0 is skipped, a missing request is the run
    time of the record, processors are the larger of allocated and requested, rounded up to whole nodes; nothing is cut."""
    return _raising(_gridproof.episode_jobs, str(log.path), procs, nodes or procs)


class _Workload:
    """The jobs that episodes are cut from."""

    def __init__(self, logs: Logs, procs: int | None, nodes: int | None, window: int, warm: int, rules: str) -> None:
        self.draw = logs if callable(logs) else None
        if logs is None:
            logs = lublin(procs=procs or 256, jobs=10_000, seed=1, estimates="tsafrir")
        given = (
            [logs(0)]
            if callable(logs)
            else list(logs)
            if isinstance(logs, Sequence) and not isinstance(logs, str)
            else [logs]
        )
        held = [log if isinstance(log, Log) else read(log) for log in given]
        procs = procs or held[0].procs or held[0].max_procs
        if not procs:
            raise ValueError(f"{held[0].path}: the log does not say how many processors there are; give procs")
        self.procs, self.window, self.warm, self.rules = procs, window, warm, rules
        self.nodes = nodes or held[0].max_nodes
        self.rows = [self.read(log) for log in held]

    def read(self, log: Log) -> np.ndarray:
        is_theirs = self.rules == "rlscheduler"
        rows = rlscheduler_tasks(log, self.procs, self.nodes) if is_theirs else tasks(log, self.procs)
        if self.window + self.warm > len(rows):
            raise ValueError(f"window: the log has {len(rows)} jobs, fewer than {self.warm} + {self.window}")
        return rows

    def choose(self, random: np.random.Generator) -> np.ndarray:
        """The jobs of the next episode."""
        if self.draw:
            return self.read(self.draw(int(random.integers(2**31))))
        return self.rows[int(random.integers(len(self.rows)))] if len(self.rows) > 1 else self.rows[0]

    def first(self, random: np.random.Generator, rows: np.ndarray) -> int:
        """A window's first job."""
        return int(random.integers(self.warm, len(rows) - self.window + 1))


class Environment(gymnasium.Env):
    """Scheduling decisions on a window of a log, on a machine that is idle at first.

    Observation: ``(slots, 8)`` numbers from 0 to 1 for the jobs that have waited longest: present, wait, requested time (both as
    t / (t + 1 h)), processors, fits now, idle processors, place in the queue, length of the queue. ``info["action_mask"]`` is true
    for the actions that are allowed. Reward: 0 until the last job has started, then minus a metric (a column of ``summary.csv``)
    over the window; plus, if a larger value is better.

    ``log``: a log, several of one machine, or a function of a seed that draws one: each episode takes one of several, or draws
    another. ``warm``: the number of jobs before the window that are scheduled first, in order of arrival, so that the window begins
    on a machine with running and waiting jobs; they do not count.

    ``rules``: ``order`` (the action is the next job; it starts as soon as it fits), ``backfill`` (the queue is first come first
    served; the action is a job that passes its head without delaying it, or ``slots`` for none), ``rlscheduler`` (``order`` with the
    order of events of RLScheduler). ``behind``: what starts behind a job that does not fit: ``none``, ``easy``, or ``bound``
    (RLScheduler's backfilling). ``nodes`` is the number of nodes, which ``rlscheduler`` allots whole; the header's MaxNodes if not
    given.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        log: Logs = None,
        procs: int | None = None,
        *,
        rules: str = "order",
        behind: str = "none",
        slots: int = 64,
        window: int = 256,
        warm: int = 0,
        reward: str = "bounded_slowdown_mean",
        nodes: int | None = None,
    ) -> None:
        self.workload = _Workload(log, procs, nodes, window, warm, rules)
        self.procs, self.window, self.warm, self.slots = self.workload.procs, window, warm, slots
        self.jobs = self.workload.rows[0]
        self.core = _gridproof.Environment(self.jobs, self.procs, slots, rules, behind)
        self.core.value(reward)
        self.reward_metric, self.sign = reward, 1.0 if reward in ("utilization", "user_jain") else -1.0
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (slots, FEATURES), np.float32)
        self.action_space = gymnasium.spaces.Discrete(self.core.actions())

    def action_masks(self) -> np.ndarray:
        """The mask of actions, under the name by which MaskablePPO asks for it."""
        return self._mask

    def _take(self, rows: np.ndarray) -> None:
        if rows is not self.jobs:
            self.jobs = rows
            self.core.set_jobs(rows)

    def _seen(self) -> tuple[np.ndarray, dict[str, Any]]:
        observation, self._mask = self.core.observe()
        return observation, {"action_mask": self._mask}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode at a random job of the log, or at ``options["first"]``."""
        super().reset(seed=seed)
        first = (options or {}).get("first")
        self._take(self.workload.choose(self.np_random))
        self.first = self.workload.first(self.np_random, self.jobs) if first is None else int(first)
        self.core.reset(self.warm, self.first, self.window)
        return self._seen()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Takes a decision. A forbidden action is replaced by the first allowed one, and ``info["replaced"]`` is true."""
        replaced = not self._mask[action]
        if replaced:
            action = int(self._mask.argmax())
        terminated = not self.core.step(int(action))
        observation, info = self._seen()
        info["replaced"] = replaced
        reward = 0.0
        if terminated:
            info["value"] = self.core.value(self.reward_metric)
            reward = self.sign * (info["value"] or 0.0)
        return observation, reward, terminated, False, info

    def fork(self) -> Environment:
        """An independent copy, for tree search."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.core = self.core.fork()
        return copy


class VectorEnvironment(gymnasium.vector.VectorEnv):
    """Environments that are stepped together, in threads of Rust; keywords of :class:`Environment`.

    An environment whose episode ends is reset in the same step (``SAME_STEP``): the observation is that of the next episode, and
    ``info["value"]`` holds the metric where ``terminated``. ``info["action_mask"]`` is ``(num_envs, actions)``. Actions that the mask
    forbids are replaced by the first that is allowed. Results do not depend on the number of threads. Observations and masks are
    views of arrays that the next step overwrites; copy what is kept.
    """

    def __init__(self, log: Logs = None, num_envs: int = 1, *, threads: int = 1, **options: Any) -> None:
        one = Environment(log, **options)
        self.workload, self.sign, self.num_envs = one.workload, one.sign, num_envs
        self.rows = [one.jobs] * num_envs
        self.core = _gridproof.Environments([one.core] * num_envs, one.reward_metric, threads)
        self.metadata = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
        self.single_observation_space, self.single_action_space = one.observation_space, one.action_space
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.action_space = batch_space(one.action_space, num_envs)
        self._seen = np.zeros((num_envs, one.slots, FEATURES), np.float32)
        self._mask = np.zeros((num_envs, one.core.actions()), np.bool_)
        self._values, self._ended = np.zeros(num_envs), np.zeros(num_envs, np.bool_)
        self._random: list[np.random.Generator] = []

    def _begin(self, index: int, first: int | None = None) -> None:
        random = self._random[index]
        rows = self.workload.choose(random)
        if rows is not self.rows[index]:
            self.rows[index] = rows
            self.core.set_jobs(index, rows)
        first = self.workload.first(random, rows) if first is None else int(first)
        self.core.reset(index, self.workload.warm, first, self.workload.window)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins all episodes. Environment ``i`` draws as one :class:`Environment` with seed ``seed + i``; ``options["first"]`` gives
        the first jobs."""
        firsts = (options or {}).get("first") or [None] * self.num_envs
        if seed is not None or not self._random:
            seeds: Sequence[int | None] = [None] * self.num_envs
            if seed is not None:
                seeds = [seed + index for index in range(self.num_envs)] if isinstance(seed, int) else seed
            self._random = [gymnasium.utils.seeding.np_random(one)[0] for one in seeds]
        for index, first in enumerate(firsts):
            self._begin(index, first)
        self.core.observe(self._seen, self._mask)
        return self._seen, {"action_mask": self._mask}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Takes a decision in each environment."""
        self.core.step(np.ascontiguousarray(actions, np.int64), self._seen, self._mask, self._values, self._ended)
        rewards, ended = self.sign * self._values, self._ended.copy()
        info: dict[str, Any] = {"action_mask": self._mask}
        if ended.any():
            info["value"] = self._values.copy()
            for index in np.flatnonzero(ended):
                self._begin(int(index))
            self.core.observe(self._seen, self._mask)
        return self._seen, rewards, ended, np.zeros(self.num_envs, np.bool_), info


#: Rules that :func:`evaluate` compares with. ``wfp3-as-run`` and ``unicep-as-run`` are what RLScheduler ran under these names.
HEURISTICS = ("fcfs", "sjf", "f1", "wfp3", "unicep", "wfp3-as-run", "unicep-as-run")

#: Policies with backfilling that :func:`evaluate` compares with: rules of an environment, jobs behind, and the heuristic.
_BACKFILLING = {
    "easy": ("order", "easy", "fcfs"),
    "easy-sjbf": ("backfill", "none", "sjf"),
    **{f"easy-{name}": ("order", "easy", name) for name in ("sjf", "f1", "wfp3", "unicep")},
}


def _episode(env: Environment, agent: Agent, rows: np.ndarray, first: int) -> float:
    """The metric over the window that begins at ``first``, under a rule or an agent."""
    core = env.core
    if isinstance(agent, str):
        if agent in _BACKFILLING:
            rules, behind, agent = _BACKFILLING[agent]
            core = _gridproof.Environment(rows, env.procs, len(rows), rules, behind)
        core.play(env.warm, first, env.window, agent)
        return _metric(core, env.reward_metric)
    env.core.reset(env.warm, first, env.window)
    is_due = True
    while is_due:
        observation, mask = env.core.observe()
        action = int(agent(observation, mask))
        is_due = env.core.step(action if mask[action] else int(mask.argmax()))
    return _metric(core, env.reward_metric)


def _metric(core: _gridproof.Environment, metric: str) -> float:
    value = core.value(metric)
    if value is None:
        raise ValueError(f"a window has no {metric}")
    return value


def evaluate(
    agent: Agent,
    env: gymnasium.Env,
    against: Sequence[str] | Mapping[str, Agent] = ("fcfs", "sjf", "f1"),
    firsts: Sequence[int] | None = None,
    seed: int = 0,
    episodes: int = 20,
    logs: Sequence[Log] | None = None,
) -> dict[str, dict[str, float | None]]:
    """Compares an agent with rules on the same windows.

    ``agent``: a function ``(observation, mask) -> action``, or a model with ``predict``, as those of stable-baselines3. ``against``:
    :data:`HEURISTICS`, ``easy``, ``easy-sjbf``, ``easy-sjf``, ``easy-f1``, ``easy-wfp3``, ``easy-unicep``; or a mapping of names to these
    and to other agents. With ``logs``, each log gives one
    window; else the windows begin at ``firsts``, or are ``episodes`` windows of the environment's workload, which do not overlap if the
    log is long enough.

    Returns for each rule its mean, the agent's mean, and their difference with a 95 % interval over the windows (Student's t,
    paired). Windows that overlap are not independent: give ``firsts`` that lie a window apart, or independent ``logs``.
    """
    env = cast(Environment, env.unwrapped).fork()  # The episode of the caller's environment goes on.
    work, random = env.workload, np.random.default_rng(seed)
    if logs is not None:
        windows = [(rows, work.first(random, rows)) for rows in map(work.read, logs)]
    elif firsts is not None:
        windows = [(env.jobs, int(first)) for first in firsts]
    elif work.draw or len(work.rows) > 1:
        windows = [(rows, work.first(random, rows)) for rows in (work.choose(random) for _ in range(episodes))]
    else:
        apart = np.arange(env.warm, len(env.jobs) - env.window + 1, env.window)
        is_long = len(apart) >= episodes
        chosen = (
            random.choice(apart, episodes, replace=False)
            if is_long
            else [work.first(random, env.jobs) for _ in range(episodes)]
        )
        windows = [(env.jobs, int(first)) for first in chosen]
    given = {"agent": agent, **(against if isinstance(against, Mapping) else {name: name for name in against})}
    players = {name: one if isinstance(one, str) else _decider(one) for name, one in given.items()}
    values: dict[str, list[float]] = {name: [] for name in players}
    for rows, first in windows:
        env._take(rows)
        for name, found in values.items():
            found.append(_episode(env, players[name], rows, first))
    results: dict[str, dict[str, float | None]] = {}
    for name in against:
        mean, low, high = _gridproof.paired(values["agent"], values[name])
        means: dict[str, float | None] = {"agent": float(np.mean(values["agent"])), name: float(np.mean(values[name]))}
        results[name] = {**means, "difference": mean, "ci_low": low, "ci_high": high}
    return results


class _Pass:
    """One call of ``schedule``: the jobs that wait, the idle processors, and the starts so far."""

    def __init__(self, view: Any, slots: int) -> None:
        self.view, self.slots, self.now = view, slots, view.now
        self.queue, self.free = list(view.queue), sum(view.free)
        self.starts: list[int] = []
        self.ends: list[tuple[float, int]] | None = None

    def seen(self) -> tuple[np.ndarray, np.ndarray]:
        return self.view.observe(self.slots, self.starts)

    def end(self, job: Any) -> float:
        return math.inf if job.requested is None else self.now + job.requested

    def start(self, job: Any) -> None:
        self.queue.remove(job)
        self.free -= job.processors
        self.starts.append(job.id)
        if self.ends is not None:
            self.ends.append((self.end(job), job.processors))

    def passing(self, head: Any) -> list[Any]:
        """Jobs that may start before ``head``, which does not fit, without delaying it: EASY's rule."""
        if all(job is head or job.processors > self.free for job in self.queue):
            return []
        if self.ends is None:
            started = set(self.starts)
            ends = [
                (math.inf if job.expected_end is None else job.expected_end, job.processors)
                for job in self.view.running
            ]
            own = [(self.end(job), job.processors) for job in self.view.queue if job.id in started]
            self.ends = ends + own
        shadow, later = math.inf, self.free
        for end, processors in sorted(self.ends):
            if end > shadow:
                break
            later += processors
            if later >= head.processors:
                shadow = end  # Releases of this instant count together.
        extra = later - head.processors
        fits = lambda job: job is not head and job.processors <= self.free
        in_time = lambda job: job.requested is not None and self.end(job) <= shadow
        return [job for job in self.queue if fits(job) and (in_time(job) or job.processors <= extra)]


def as_policy(
    agent: Agent, slots: int | None = None, name: str = "agent", *, rules: str = "order", behind: str = "none"
) -> type:
    """A policy class for :func:`gridproof.simulate`, :func:`gridproof.compare` and experiments that decides as an environment does.

    ``rules="order"``: the agent's job is committed, and starts as soon as it fits; ``behind="easy"`` lets others pass it that do not
    delay it. ``rules="backfill"``: the agent chooses among the jobs that may pass the head of the queue. ``slots`` is that of the
    environment; if not given, that of a model with an ``observation_space``, else 64. One machine is assumed.
    """
    if (rules, behind) not in {("order", "none"), ("order", "easy"), ("backfill", "none")}:
        raise ValueError(f"rules {rules!r} with behind {behind!r}: expected order with none or easy, or backfill")
    decide = _decider(agent)
    shape = getattr(getattr(agent, "observation_space", None), "shape", (64,))
    places: int = slots or shape[0]

    class Policy:
        def __init__(self) -> None:
            self.pick: int | None = None

        def schedule(self, view: Any) -> list[int]:
            now = _Pass(view, places)
            (self.order if rules == "order" else self.backfill)(now)
            return now.starts

        def order(self, now: _Pass) -> None:
            while now.queue:
                if self.pick is None:
                    self.pick = now.queue[self.allowed(*now.seen())].id
                job = next(job for job in now.queue if job.id == self.pick)
                if job.processors > now.free:
                    while behind == "easy" and (others := now.passing(job)):
                        now.start(others[0])
                    return
                now.start(job)
                self.pick = None

        def backfill(self, now: _Pass) -> None:
            while now.queue:
                head, others = now.queue[0], []
                if head.processors > now.free:
                    passing = {job.id for job in now.passing(head)}
                    others = [place for place, job in enumerate(now.queue[:places]) if job.id in passing]
                    if not others:
                        return
                    mask = np.zeros(places + 1, np.bool_)
                    mask[[*others, places]] = True
                    action = self.allowed(now.seen()[0], mask)
                    if action == places:
                        return
                    head = now.queue[action]
                now.start(head)

        @staticmethod
        def allowed(seen: np.ndarray, mask: np.ndarray) -> int:
            action = int(decide(seen, mask))
            return action if mask[action] else int(mask.argmax())

    Policy.__name__ = name
    return Policy


def _register() -> None:
    for identity, rules in (("Order", "order"), ("Backfill", "backfill"), ("RLScheduler", "rlscheduler")):
        name = f"gridproof/{identity}-v0"
        if name not in gymnasium.registry:
            defaults = {"slots": 128, "window": 1024} if rules == "rlscheduler" else {}
            kwargs = {"rules": rules, **defaults}
            entries = ("gridproof.rl:Environment", "gridproof.rl:VectorEnvironment")
            gymnasium.register(name, entries[0], vector_entry_point=entries[1], kwargs=kwargs)


_register()

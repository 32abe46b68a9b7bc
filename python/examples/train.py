"""A policy gradient in numpy that learns in which order jobs start, with EASY backfilling behind the job that is next.

``python train.py [LOG.swf.gz] [--updates 150] [--quick]`` trains on a log, and judges the agent on others. A window is played
eight times; an action of a play whose bounded slowdown is below that of the others becomes more likely (Williams, Machine Learning
8, 1992, with the mean over the plays as baseline).
"""

import argparse

import numpy as np

import gridproof as gp
from gridproof import rl

SLOTS, WINDOW, PLAYS, WINDOWS, HIDDEN = 32, 128, 8, 8, 24


class Agent:
    """Scores each waiting job by the same small network; the job with the largest score is next."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.weights = [random.normal(0, 0.3, (rl.FEATURES, HIDDEN)), np.zeros(HIDDEN), random.normal(0, 0.1, HIDDEN)]
        self.moments = [[np.zeros_like(one), np.zeros_like(one)] for one in self.weights]
        self.updates = 0

    def probabilities(self, seen: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each slot, and the hidden values."""
        first, offset, last = self.weights
        hidden = np.tanh(seen @ first + offset)
        scores = np.where(mask, hidden @ last, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True), hidden

    def __call__(self, seen: np.ndarray, mask: np.ndarray) -> int:
        return int(self.probabilities(seen, mask)[0].argmax())

    def learn(self, seen: np.ndarray, mask: np.ndarray, actions: np.ndarray, gains: np.ndarray, rate: float) -> None:
        """One step of Adam towards the actions with a positive gain."""
        chances, hidden = self.probabilities(seen, mask)
        slope = -chances
        slope[np.arange(len(actions)), actions] += 1
        slope *= gains[:, None] / len(actions)
        back = slope[:, :, None] * self.weights[2] * (1 - hidden**2)
        gradients = [np.einsum("nsf,nsh->fh", seen, back), back.sum(axis=(0, 1)), np.einsum("ns,nsh->h", slope, hidden)]
        self.updates += 1
        for weight, moment, gradient in zip(self.weights, self.moments, gradients):
            moment[0] = 0.9 * moment[0] + 0.1 * gradient
            moment[1] = 0.999 * moment[1] + 0.001 * gradient**2
            mean, square = moment[0] / (1 - 0.9**self.updates), moment[1] / (1 - 0.999**self.updates)
            weight += rate * mean / (np.sqrt(square) + 1e-8)


def play(agent: Agent, envs: rl.VectorEnvironment, random: np.random.Generator) -> None:
    """Plays windows, each several times, and learns from the differences."""
    first = np.repeat(random.integers(0, len(envs.rows[0]) - WINDOW, WINDOWS), PLAYS)
    seen, info = envs.reset(options={"first": first.tolist()})
    lasts, values, steps = np.zeros(len(first), bool), np.zeros(len(first)), []
    while not lasts.all():
        mask = info["action_mask"].copy()
        noise = random.gumbel(size=mask.shape)
        chances = agent.probabilities(seen, mask)[0]
        actions = np.where(mask, np.log(chances + 1e-12) + noise, -np.inf).argmax(axis=1)
        places = np.flatnonzero(~lasts & (mask.sum(axis=1) > 1))
        steps.append((seen[places].copy(), mask[places], actions[places], places))
        seen, _, ended, _, info = envs.step(actions)
        values = np.where(ended & ~lasts, info.get("value", values), values)
        lasts |= ended
    logs = np.log(values).reshape(WINDOWS, PLAYS)
    gains = -(logs - logs.mean(axis=1, keepdims=True)) / (logs.std(axis=1, keepdims=True) + 1e-3)
    parts = [np.concatenate(part) for part in zip(*steps)]
    agent.learn(*parts[:3], gains.ravel()[parts[3]], rate=0.01)


def firsts(envs: rl.VectorEnvironment) -> list[int]:
    """First jobs of as many windows as there are environments, over the whole log."""
    apart = (len(envs.rows[0]) - WINDOW) // envs.num_envs
    return [apart * place for place in range(envs.num_envs)]


def judge(agent: Agent, envs: rl.VectorEnvironment) -> float:
    """The mean over fixed windows, of which each environment plays one, always by the largest score."""
    seen, info = envs.reset(options={"first": firsts(envs)})
    lasts, values = np.zeros(envs.num_envs, bool), np.zeros(envs.num_envs)
    while not lasts.all():
        seen, _, ended, _, info = envs.step(agent.probabilities(seen, info["action_mask"])[0].argmax(axis=1))
        values = np.where(ended & ~lasts, info.get("value", values), values)
        lasts |= ended
    return float(values.mean())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("log", nargs="?")
    options.add_argument("--updates", type=int, default=150)
    options.add_argument("--quick", action="store_true", help="some seconds, to see that it runs")
    options = options.parse_args()
    jobs, tests = (600, 4) if options.quick else (4000, 40)
    draw = lambda seed: gp.lublin(procs=256, jobs=jobs, seed=seed, estimates="tsafrir")
    if options.log:
        draw = lambda seed, log=gp.read(options.log): log.resample(seed=seed, users=1.0)
    options_of = {"threads": 2, "slots": SLOTS, "window": WINDOW, "behind": "easy"}
    envs = rl.VectorEnvironment([draw(1)], PLAYS * WINDOWS, **options_of)
    others = rl.VectorEnvironment([draw(2)], 64, **options_of)
    agent, random = Agent(0), np.random.default_rng(0)
    for _ in range(2 if options.quick else options.updates):
        if agent.updates % 20 == 0:
            print(f"update {agent.updates:4}: bounded slowdown on another log {judge(agent, others):8.1f}", flush=True)
        play(agent, envs, random)
    env = rl.Environment(draw(1), slots=SLOTS, window=WINDOW if options.quick else 1024, behind="easy")
    rules = {name: name for name in ("easy", "easy-sjbf", "sjf", "f1")} | {"untrained": Agent(0)}
    found = rl.evaluate(agent, env, against=rules, logs=[draw(100 + seed) for seed in range(tests)])
    print(f"{tests} other logs, one window each; {agent.updates} updates; differences agent - rule with 95 % intervals")
    for name, row in found.items():
        bounds = "refused" if row["ci_low"] is None else f"[{row['ci_low']:8.1f}, {row['ci_high']:8.1f}]"
        print(f"{name:10} {row[name]:8.1f}  agent {row['agent']:8.1f}  difference {row['difference']:8.1f} {bounds}")


if __name__ == "__main__":
    main()

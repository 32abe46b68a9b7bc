"""Environments: Gymnasium's own checks, forks, and the published cells of RLScheduler."""

import os
import pathlib

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import gridproof as gp
from gridproof import rl

TRACES = os.environ.get("GRID_TRACES")
NAMES = ["gridproof/Order-v0", "gridproof/Backfill-v0", "gridproof/RLScheduler-v0"]


@pytest.fixture(scope="module")
def log():
    return gp.lublin(procs=64, jobs=600, seed=1, estimates="tsafrir")


def make(name, log, **options):
    return gymnasium.make(name, log=log, disable_env_checker=True, **{"window": 100, "slots": 16, **options})


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_accepts_the_environment(name, log):
    check_env(make(name, log).unwrapped, skip_render_check=True)


def play(env, seed):
    observation, info = env.reset(seed=seed)
    random, seen, terminated = np.random.default_rng(seed), [observation], False
    while not terminated:
        observation, reward, terminated, _, info = env.step(random.choice(np.flatnonzero(info["action_mask"])))
        seen.append(observation)
    return np.array(seen), reward


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_and_actions_make_an_episode(name, log):
    env = make(name, log)
    first, again = play(env, 3), play(env, 3)
    assert first[1] == again[1] and (first[0] == again[0]).all()
    assert first[0].min() >= 0 and first[0].max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_fork_goes_its_own_way(name, log):
    env = make(name, log).unwrapped
    env.reset(seed=5)
    for _ in range(20):
        env.step(env._seen()[1]["action_mask"].argmax())
    fork = env.fork()
    ends = []
    for one in (fork, env):
        terminated = False
        while not terminated:
            *_, terminated, _, info = one.step(one._seen()[1]["action_mask"].argmax())
        ends.append((info["value"], one.core.starts.tolist()))
    assert ends[0] == ends[1]


def test_no_processor_is_used_twice(log):
    for name in NAMES:
        env = make(name, log, behind="easy" if "Order" in name else "none").unwrapped
        play(env, 8)
        starts = env.core.starts
        jobs = env.jobs[env.first : env.first + env.window]
        events = sorted(
            [(start, 1, job[3]) for start, job in zip(starts, jobs)]
            + [(start + job[1], 0, -job[3]) for start, job in zip(starts, jobs)]
        )
        assert np.cumsum([change for _, _, change in events]).max() <= env.procs
        assert all(start >= job[0] for start, job in zip(starts, jobs))


def test_order_by_arrival_with_easy_behind_is_easy(log):
    """On a whole log, from an idle machine, Order-v0 by arrival with EASY behind it starts each job when the policy easy does."""
    env = make("gridproof/Order-v0", log, window=len(rl.tasks(log, 64)), behind="easy").unwrapped
    env.core.play(0, 0, env.window, "fcfs")
    run = gp.simulate(log, "easy")
    zero = env.jobs[0][0]
    np.testing.assert_array_equal(np.array(env.core.starts) - zero, run["start"])


def test_an_agent_is_a_policy(log):
    shortest = lambda seen, mask: int(np.where(mask, seen[:, 2], np.inf).argmin())
    run = gp.simulate(log, rl.as_policy(shortest, slots=16, name="shortest"))
    assert len(run["job"]) == 600
    found = rl.evaluate(shortest, make("gridproof/Order-v0", log), against=["fcfs"], firsts=[0, 100, 200])
    assert found["fcfs"]["ci_low"] <= found["fcfs"]["difference"] <= found["fcfs"]["ci_high"]


class First:
    """A model as those of stable-baselines3: the job that has waited longest."""

    observation_space = gymnasium.spaces.Box(0, 1, (600, rl.FEATURES))

    def predict(self, observation, state=None, episode_start=None, deterministic=False, action_masks=None):
        assert deterministic and len(action_masks) == 600
        return np.array(0), None


def test_a_model_is_a_policy_and_with_easy_behind_it_is_easy(log, tmp_path):
    """By arrival, with EASY behind it, or overtaken by the first job that may pass: both are EASY."""
    first_passing = lambda seen, mask: int(mask.argmax())
    mine = [
        rl.as_policy(First(), name="first", behind="easy"),
        rl.as_policy(first_passing, 600, "passing", rules="backfill"),
    ]
    runs = gp.compare(log, ["easy", "fcfs", *mine, rl.as_policy(First(), name="alone")]).runs
    for name, like in [("first", "easy"), ("passing", "easy"), ("alone", "fcfs")]:
        np.testing.assert_array_equal(runs[name]["start"], runs[like]["start"], err_msg=name)
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\npolicies = ["easy", "first"]\nbaseline = "easy"\nmetrics = ["wait_mean"]\n'
        '[[log]]\nmodel = "lublin"\nprocs = 64\ncount = 200\nload = 0.8\n[replicate]\nmethod = "seeds"\ncount = 3\n'
    )
    found = gp.Experiment.load(tmp_path / "mine.toml").run(policies=mine[:1])
    assert all(row["mean"] == 0 for row in found.rows("differences"))
    with pytest.raises(ValueError, match="behind"):
        rl.as_policy(first_passing, behind="bound")


def test_an_agent_in_an_environment_is_the_same_as_a_policy(log):
    widest = lambda seen, mask: int(np.where(mask, seen[:, 3], -1).argmax())
    for options in ({}, {"behind": "easy"}):
        env = make("gridproof/Order-v0", log, window=len(rl.tasks(log, 64)), **options).unwrapped
        observation, info = env.reset()
        terminated = False
        while not terminated:
            observation, _, terminated, _, info = env.step(widest(observation, info["action_mask"]))
        run = gp.simulate(log, rl.as_policy(widest, slots=16, **options))
        np.testing.assert_array_equal(env.core.starts - env.jobs[0][0], run["start"])


def test_models_are_evaluated_and_the_environment_goes_on(log):
    env = make("gridproof/Order-v0", log, slots=600, window=50)
    env.reset(seed=1, options={"first": 7})
    before = env.unwrapped.core.queue
    assert (env.unwrapped.action_masks() == env.unwrapped._mask).all()
    found = gp.rl.evaluate(First(), env, against=["fcfs", "easy", "sjf", "f1"], episodes=8)
    assert found["fcfs"]["difference"] == 0 and found["easy"]["ci_low"] <= found["easy"]["ci_high"]
    assert env.unwrapped.core.queue == before
    drawn = make("gridproof/Order-v0", lambda seed: gp.lublin(procs=64, jobs=60, seed=seed), slots=600, window=50)
    assert gp.rl.evaluate(First(), drawn, against=["fcfs"], episodes=3)["fcfs"]["difference"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_environments_are_made_by_name_alone_and_as_vectors(name, log):
    env = gymnasium.make(name)
    assert env.reset(seed=0)[0].shape == (env.unwrapped.slots, 8)
    options = {"log": log, "window": 50, "slots": 16}
    for mode in ("sync", "vector_entry_point"):
        vector = gymnasium.make_vec(name, num_envs=3, vectorization_mode=mode, **options)
        assert vector.reset(seed=0)[0].shape == (3, 16, 8) and len(vector.step(np.zeros(3, int))) == 5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_is_its_environments_on_any_number_of_threads(name, threads, log):
    options = {"log": [log, log.resample(shake="600s", seed=2)], "window": 60, "slots": 16, "warm": 30}
    options |= gymnasium.registry[name].kwargs | {"window": 60, "slots": 16}
    vector = rl.VectorEnvironment(num_envs=5, threads=threads, **options)
    singles = [rl.Environment(**options) for _ in range(5)]
    seen, info = vector.reset(seed=11)
    alone = [one.reset(seed=11 + place) for place, one in enumerate(singles)]
    random, episodes = np.random.default_rng(0), 0
    for _ in range(400):
        for place, (observation, about) in enumerate(alone):
            assert (seen[place] == observation).all() and (info["action_mask"][place] == about["action_mask"]).all()
        actions = np.array([random.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in info["action_mask"]])
        seen, rewards, ended, truncated, info = vector.step(actions)
        for place, one in enumerate(singles):
            observation, reward, terminated, _, about = one.step(int(actions[place]))
            assert (reward, terminated, False) == (rewards[place], ended[place], truncated[place])
            alone[place] = one.reset() if terminated else (observation, about)
            episodes += terminated
    assert episodes >= 5


def test_a_warm_machine_has_jobs_and_they_do_not_count(log):
    cold, warm = (make("gridproof/Order-v0", log, warm=warm, window=50).unwrapped for warm in (0, 200))
    for env in (cold, warm):
        env.reset(options={"first": 300})
        assert len(env.core.starts) == 50
    busy = lambda env: 1 - env.core.observe()[0][0, 5]
    assert warm._mask.any() and busy(warm) > 0 and busy(cold) <= busy(warm)


def test_workloads_are_drawn_by_the_seed():
    env = make("gridproof/Order-v0", lambda seed: gp.lublin(procs=64, jobs=120, seed=seed))
    first, again, other = play(env, 3), play(env, 3), play(env, 4)
    assert first[1] == again[1] != other[1]


def test_rules_with_backfilling_and_independent_logs(log):
    logs = [log.resample(shake="600s", seed=seed) for seed in range(3)]
    env = make("gridproof/Order-v0", log, behind="easy", window=300)
    found = rl.evaluate("fcfs", env, against=["easy", "easy-sjbf", "sjf"], logs=logs)
    assert found["easy"]["difference"] == 0
    assert found["easy-sjbf"]["agent"] == found["easy"]["easy"] != found["easy-sjbf"]["easy-sjbf"]


def test_memory_is_flat_over_episodes(log):
    resource = pytest.importorskip("resource")
    env = make("gridproof/Order-v0", log, window=10).unwrapped
    used = []
    for episode in range(10_000):
        env.reset(seed=episode if episode == 0 else None)
        while env.core.step(0):
            pass
        if episode in (2_000, 9_999):
            used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert used[1] - used[0] < 4_096  # KiB


# Zhang et al., SC'20, table V: without and with backfilling. Those of HPC2N are computed here, and not compared with the article.
CELLS = {
    "lublin_256.swf.gz": {
        "fcfs": (7273.77, 235.82),
        "wfp3-as-run": (19753.53, 133.87),
        "unicep-as-run": (22274.74, 307.23),
        "sjf": (277.35, 73.31),
        "f1": (258.37, 75.07),
        "wfp3": (337.34, 126.50),
        "unicep": (381.71, 103.10),
    },
    "SDSC-SP2-1998-4.2-cln.swf.gz": {
        "fcfs": (1727.54, 1595.12),
        "wfp3-as-run": (3000.88, 1083.12),
        "unicep-as-run": (1848.45, 548.01),
        "sjf": (2680.55, 2167.84),
        "f1": (1232.06, 1098.22),
        "wfp3": (1205.96, 675.49),
        "unicep": (1699.00, 1517.21),
    },
    "HPC2N-2002-2.2-cln.swf.gz": {
        "fcfs": (297.18, 127.38),
        "wfp3-as-run": (426.99, 97.39),
        "unicep-as-run": (609.77, 175.12),
        "sjf": (157.71, 122.04),
        "f1": (118.01, 71.95),
        "wfp3": (213.14, 143.36),
        "unicep": (113.86, 82.45),
    },
}
FIRSTS = [1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085]


@pytest.mark.skipif(not TRACES, reason="GRID_TRACES is not set")
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("column, behind", [(0, "none"), (1, "bound")])
def test_the_published_cells_of_rlscheduler_are_met(name, column, behind):
    env = make(
        "gridproof/RLScheduler-v0",
        gp.read(pathlib.Path(TRACES) / name, procs=256 if "256" in name else None),
        window=1024,
        slots=1024,
        behind=behind,
    ).unwrapped
    found = {}
    for rule in CELLS[name]:
        values = []
        for first in FIRSTS:
            env.core.play(0, first, 1024, rule)
            values.append(env.core.value("bounded_slowdown_mean"))
        found[rule] = round(float(np.mean(values)), 2)
    assert found == {rule: cells[column] for rule, cells in CELLS[name].items()}

"""The package as its users call it. Real logs are read where GRID_TRACES names their folder."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gridproof as gp

TRACES = os.environ.get("GRID_TRACES")
needs_traces = pytest.mark.skipif(not TRACES, reason="GRID_TRACES is not set")


@pytest.fixture(scope="module")
def log():
    return gp.lublin(procs=64, jobs=1000, seed=1, estimates="tsafrir")


@pytest.fixture
def ctrl_c():
    """SIGINT raises KeyboardInterrupt, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Easy:
    """EASY backfilling as its authors describe it."""

    def schedule(self, view):
        free, starts, queue = view.free[0], [], list(view.queue)
        while queue and queue[0].processors <= free:
            job = queue.pop(0)
            free -= job.processors
            starts.append(job)
        if not queue:
            return starts
        head, later, shadow, extra = queue[0], free, None, 0
        ends = sorted(
            [(job.expected_end, job.processors) for job in view.running]
            + [(view.now + job.requested, job.processors) for job in starts]
        )
        for place, (end, processors) in enumerate(ends):
            later += processors
            if later >= head.processors and (place + 1 == len(ends) or ends[place + 1][0] > end):
                shadow, extra = end, later - head.processors
                break
        for job in queue[1:]:
            if job.processors <= free and (view.now + job.requested <= shadow or job.processors <= extra):
                if view.now + job.requested > shadow:
                    extra -= job.processors
                free -= job.processors
                starts.append(job)
        return starts


def test_easy_in_python_starts_each_job_when_easy_does(log):
    result = gp.compare(log, ["easy", Easy])
    np.testing.assert_array_equal(result.runs["easy"]["start"], result.runs["Easy"]["start"])
    assert result.baseline == "easy"


@pytest.mark.parametrize("policy", ["fcfs", "easy", "cons", "easy+order=wfp3", "flex", "eg-edf", "best-gap"])
def test_write_gives_the_bytes_of_the_command(log, policy, tmp_path):
    run = gp.simulate(log, policy)
    run.write(tmp_path / "python")
    command = [
        sys.executable,
        "-c",
        "import gridproof; gridproof._main()",
        "simulate",
        "--trace",
        str(log.path),
        "--procs",
        "64",
    ]
    subprocess.run(
        [*command, "--policy", policy, "--quiet", "--no-report", "--out", tmp_path / "shell"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    for name in [f"{policy}/jobs.csv", "summary.csv", f"{policy}/schedule.swf"]:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "shell" / name).read_bytes(), name


def test_metrics_of_ones_own_have_differences(log):
    p95 = lambda jobs: float(np.quantile(jobs["start"] - jobs["submit"], 0.95))
    result = gp.compare(log, ["easy", "fcfs"], metrics={"p95": p95})
    waits = result.runs["easy"].wait
    assert result.summary[0]["p95"] == pytest.approx(np.quantile(waits, 0.95))
    assert {row["policy"] for row in result.differences("wait_mean")} == {"fcfs"}


def test_a_frame_is_a_log():
    frame = {"submit": [0, 0, 5], "run": [10, 10, 1], "processors": [2, 2, 1], "requested": [20, 20, 1]}
    run = gp.simulate(gp.from_frame(frame, procs=3), "easy")
    starts = dict(zip(run["job"].tolist(), run["start"].tolist()))
    assert starts == {1: 0, 2: 10, 3: 5} and run.summary["jobs"] == 3


def test_check_and_explain_agree_with_the_run(log):
    run = gp.simulate(log, "easy")
    assert gp.check(log, run, policy="easy")
    found = gp.check(log, run, policy="fcfs")
    assert not found and found.feasible and found.findings
    wrong = {"job": run["job"], "start": np.zeros(len(run["job"]))}
    assert not gp.check(log, wrong).feasible
    waited = int(run["job"][run.wait.argmax()])
    assert gp.explain(log, "easy", waited)[0]["wait"] == run.wait.max()


def test_a_paper_is_judged():
    verdicts = gp.reproduce("multi-site", quick=True).verdicts
    assert len(verdicts) == 35 and {row["verdict"] for row in verdicts} <= {
        "reproduced",
        "contradicted",
        "inconclusive",
    }


def test_an_experiment_runs_with_a_policy_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\npolicies = ["easy", "Easy"]\nbaseline = "easy"\nmetrics = ["wait_mean"]\n'
        '[[log]]\nmodel = "lublin"\nprocs = 64\ncount = 300\nload = 0.8\n[replicate]\nmethod = "seeds"\ncount = 3\n'
    )
    result = gp.Experiment.load(tmp_path / "mine.toml").run(policies=[Easy])
    assert all(row["mean"] == 0 for row in result.rows("differences"))


class TestErrors:
    def test_a_missing_log(self, tmp_path):
        with pytest.raises(OSError, match="nothing.swf"):
            gp.simulate(tmp_path / "nothing.swf", "easy")

    def test_a_broken_log_leads_to_its_line(self, tmp_path):
        (tmp_path / "broken.swf").write_text("; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 x -1 1 1 1 -1 -1 -1 -1 -1\n")
        with pytest.raises(gp.InputError, match="requested time") as error:
            gp.simulate(tmp_path / "broken.swf", "easy")
        assert error.value.line == 2 and error.value.path.endswith("broken.swf")

    def test_a_policy_that_does_not_exist(self, log):
        with pytest.raises(gp.InputError, match="eazy"):
            gp.simulate(log, "eazy")

    def test_the_exception_of_a_policy_comes_out_as_itself(self, log):
        class Raises:
            def schedule(self, view):
                raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="mine"):
            gp.simulate(log, Raises)

    @pytest.mark.parametrize("answer", [[10**9], ["a"], [0, 0], 7])
    def test_nonsense_is_refused(self, log, answer):
        class Nonsense:
            def schedule(self, view):
                return answer

        with pytest.raises((ValueError, TypeError, OverflowError)):
            gp.simulate(log, Nonsense)

    def test_the_next_call_works(self, log):
        assert gp.simulate(log, "easy").summary["jobs"] > 900

    @pytest.mark.skipif(os.name != "posix", reason="signals")
    @pytest.mark.parametrize("seconds", [0.02, 60])
    def test_ctrl_c_ends_a_policy_that_is_slow_or_does_not_answer(self, seconds, ctrl_c):
        class Slow:
            def schedule(self, view):
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    pass
                return []

        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            gp.simulate(gp.lublin(procs=64, jobs=5000, seed=2), Slow)
        assert time.monotonic() - began < 10


@needs_traces
def test_easy_on_a_real_log_is_that_of_the_command(tmp_path):
    run = gp.simulate(pathlib.Path(TRACES) / "KTH-SP2-1996-2.1-cln.swf.gz", "easy")
    assert len(run["job"]) == 28467 and round(run.summary["wait_mean"], 2) == 6890.58

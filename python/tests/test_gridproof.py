"""The package as its users call it. Real logs are read where GRID_TRACES names their folder."""

import concurrent.futures
import gc
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import types
import weakref

import numpy as np
import pytest

import gridproof as gp

TRACES = os.environ.get("GRID_TRACES")
TREE = pathlib.Path(__file__).parents[2] / "workloads" / "trees" / "universities.toml"
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


def names():
    """Every name and setting that the help of ``simulate`` lists."""
    text = gp.policies()
    block = lambda first, last: text.split(first, 1)[1].split(last, 1)[0]
    entries = lambda block: re.findall(r"(?m)^  (\S+)(?: |$)", block)
    bases = entries(block("(docs/policies.md has sources and costs):", "Settings of policies:"))
    orders = entries(block("w the wait so far in seconds:", "A name is BASE"))
    aliases = entries(block("Other names:", "Orders of a queue."))
    assert {"fcfs", "easy", "sg", "eg-edf-tabu"} <= set(bases) and {"wfp3", "f4"} <= set(orders) and "EASY++" in aliases
    values = {"reserve": ["0", "8", "all"], "threshold": ["2h"], "compress": ["reserved"]}
    values["predict"] = ["requested", "clairvoyant", "tsafrir", "mean-of-user=3", "double-requested"]
    ours = [name for name in bases if not name.startswith("exec+")]
    found = ours + [f"{base}+order={order}" for base in ("fcfs", "easy", "cons") for order in orders if order != "fcfs"]
    found += [f"easy+backfill={order}" for order in orders if order != "fcfs"]
    found += [f"easy+{key}={value}" for key in ("reserve", "threshold", "predict") for value in values[key]]
    found += [f"easy+predict=tsafrir+correct={how}" for how in ("requested", "doubling", "none")]
    found += ["cons+compress=reserved", "flex+reserve=8", "fcfs+predict=tsafrir", "cons+predict=tsafrir"]
    return [*found, "EASY++"]


def shell(*args):
    command = [sys.executable, "-c", "import gridproof; gridproof._main()", *map(str, args), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def same_files(ours, theirs):
    """All files have the same bytes, but for the timings of the manifest."""
    files = lambda folder: {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert files(ours) == files(theirs)
    for name in files(ours):
        if name.name == "manifest.json":
            manifests = [json.loads((folder / name).read_text()) for folder in (ours, theirs)]
            assert all(one.pop("timings") for one in manifests) and manifests[0] == manifests[1]
        else:
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name


def test_write_gives_the_bytes_of_the_command_under_every_name(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.toml").write_text("[[nodes]]\ncount = 16\ncpus = 4\n")
    every = [name.replace("FILE", "nodes.toml") for name in names()]
    gp.compare(log, every, max_jobs=300, no_report=True).write(tmp_path / "python")
    options = ["--procs", 64, "--max-jobs", 300, "--no-report", "--out", tmp_path / "shell"]
    shell("simulate", "--trace", log.path, "--policy", ",".join(every), *options)
    same_files(tmp_path / "python", tmp_path / "shell")


def test_write_gives_the_page_and_tables_of_other_worlds_too(log, tmp_path):
    for place, (policies, options) in enumerate(
        [
            (["easy", "cons"], {"procs": 64, "max_jobs": 400}),
            (
                ["easy", "cons"],
                {"procs": 64, "tables": "jobs,summary", "deadlines": "factor:3"},
            ),
            (["p2p", "hybrid+trees=2"], {"model": "hier-grid", "tree": str(TREE), "max_jobs": 100}),
        ]
    ):
        ours, theirs = tmp_path / f"python{place}", tmp_path / f"shell{place}"
        gp.compare(gp.Log(log.path), policies, **options).write(ours)
        flags = [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), value)]
        shell("simulate", "--trace", log.path, "--policy", ",".join(policies), *flags, "--out", theirs)
        same_files(ours, theirs)


def test_arrays_are_the_columns_of_the_file(log, tmp_path):
    import pandas

    run = gp.simulate(log, "easy", estimates="f-model:3")
    run.write(tmp_path)
    file = pandas.read_csv(tmp_path / "easy" / "jobs.csv").sort_values("job", ignore_index=True)
    for name in ("job", "submit", "start", "finish", "processors", "user", "requested", "run"):
        np.testing.assert_array_equal(run[name], file[name], err_msg=name)
    assert list(run["state"]) == list(file["state"]) and list(run["site"]) == list(file["site"])
    assert [str(one) for one in run["allocated"]] == [str(one) for one in file["allocated"]]
    assert np.isnan(run["deadline"]).all() and set(run) == set(file)
    assert len(run.to_pandas()) == len(run.to_polars()) == 1000


def test_a_policy_of_a_call_does_not_outlive_it(log):
    class Short:
        def schedule(self, view):
            return [job for job in view.queue if job.processors <= view.free[0]][:1]

    run, short = gp.simulate(log, Short), weakref.ref(Short)
    del Short, run
    gc.collect()
    assert short() is None


def test_progress_is_shown_by_tqdm(log, monkeypatch):
    counts, totals = [], []

    class Bar:
        n, total = 0, None

        def __init__(self, **_):
            pass

        def reset(self, total):
            self.n, self.total = 0, total
            totals.append(total)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, jobs):
            self.n += jobs
            counts.append(self.n)

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)

    class Slow:
        def schedule(self, view):
            time.sleep(0.0005)
            return [job for job in view.queue if job.processors <= view.free[0]][:1]

    gp.simulate(log, Slow)
    assert counts == sorted(counts) and 0 < counts[-1] <= 1000
    shown = len(counts)
    gp.simulate(log, Slow, progress=False)
    gp.reproduce("multi-site", quick=True, progress=False)
    assert (len(counts), totals) == (shown, [])
    gp.reproduce("multi-site", quick=True)
    assert totals[-1] > 0 and 0 < max(counts[shown:]) <= totals[-1]


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_two_calls_at_once_on_any_number_of_threads(log, threads):
    p95 = lambda jobs: float(np.quantile(jobs["start"] - jobs["submit"], 0.95))
    summary = lambda name, **options: gp.compare(log, [name, Easy], metrics={"p95": p95}, **options).summary
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda name: summary(name, threads=threads), ("fcfs", "cons")))
    assert found == [summary("fcfs"), summary("cons")]


def test_metrics_of_ones_own_have_differences(log):
    p95 = lambda jobs: float(np.quantile(jobs["start"] - jobs["submit"], 0.95))
    result = gp.compare(log, ["easy", "fcfs"], metrics={"p95": p95})
    waits = result.runs["easy"].wait
    assert result.summary[0]["p95"] == pytest.approx(np.quantile(waits, 0.95))
    assert {row["policy"] for row in result.differences("wait_mean")} == {"fcfs"}


def test_metrics_of_ones_own_are_compared_without_an_interval(log):
    seen = []
    own = {"late": (lambda run: seen.append(set(run)) or float(run["wait"].max()), "late", False)}
    result = gp.compare(log, ["easy", "fcfs", "cons"], metrics=own)
    assert seen[0] == {"submit", "start", "finish", "wait", "run", "requested", "processors", "user"}
    late = {name: run["wait"].max() for name, run in result.runs.items()}
    rows = result.differences("late")
    assert [(row["policy"], row["baseline"]) for row in rows] == [("fcfs", "easy"), ("cons", "easy"), ("cons", "fcfs")]
    assert all(row["mean"] == late[row["policy"]] - late[row["baseline"]] and row["refused"] for row in rows)
    assert result.best("late") == [name for name in late if late[name] == max(late.values())]
    for ask in (result.differences, result.best):
        with pytest.raises(gp.InputError, match="did you mean wait_mean"):
            ask("wait_men")


def test_notebooks_show_tables_figures_and_words(log):
    result = gp.compare(log, ["easy", "fcfs"])
    shown = [result, result.summary, result.differences("wait_mean"), result.runs["easy"], result.figures]
    shown += [gp.check(log, result["easy"], policy="fcfs"), gp.explain(log, "easy", job=[7, 8])]
    for one, word in zip(shown, ["fcfs", "wait_p95", "ci_low", "easy", "<svg", "fcfs", "job 7"]):
        assert word in one._repr_html_(), type(one)
    assert result.differences("wait_mean").to_pandas()["policy"].tolist() == ["fcfs"]
    assert next(iter(result["easy"].figures.values()))._repr_svg_().startswith("<svg")


def test_a_view_is_a_sequence_of_jobs_that_stay_the_same(log):
    class Looks(Easy):
        seen = {}

        def schedule(self, view):
            queue = list(view.queue)
            assert len(view.queue) == len(queue) and view.queue[0] is queue[0] and view.queue[-1] is queue[-1]
            assert view.queue[1:] == queue[1:] and view.queue[::-2] == queue[::-2] and not view.queue[:0]
            assert all(self.seen.setdefault(job.id, job) is job for job in queue)
            with pytest.raises(IndexError):
                view.queue[len(queue)]
            return super().schedule(view)

    np.testing.assert_array_equal(gp.simulate(log, Looks)["start"], gp.simulate(log, "easy")["start"])


def test_a_frame_has_other_names_gaps_and_numbers(log):
    import pandas
    import polars

    frame = pandas.DataFrame(
        {"job_id": [30, 10, 20], "submit_time": pandas.to_datetime(["2020-01-02", "2020-01-01", "2020-01-01"])}
    ).assign(runtime=[10.5, 10, 1], procs=[2, 2, 1], walltime=[np.nan, 20, 20], user=["a", None, "b"])
    table = gp.from_frame(frame, procs=3).table()
    assert table["job"].tolist() == [10, 20, 30] and table["run"].tolist() == [10, 1, 10.5]
    assert table["requested"].tolist() == [20, 20, -1] and np.diff(table["submit"]).tolist() == [0, 86_400]
    same = polars.DataFrame({name: [one if one == one else None for one in frame[name]] for name in frame})
    assert all((gp.from_frame(same, procs=3).table()[name] == column).all() for name, column in table.items())
    run = gp.simulate(log, "easy")
    for same in (run.to_pandas(), run.to_polars()):
        assert gp.check(gp.from_frame(same, procs=64), schedule=same, policy="easy")
    with pytest.raises(gp.InputError, match="row 0"):
        gp.from_frame({"submit": [0], "run": [np.inf], "processors": [1]}, procs=4)


def test_output_of_sacct_is_a_log(tmp_path):
    row = "{0}|u{0}|2024-03-01T10:0{0}:00|2024-03-01T11:00:00|2024-03-01T12:00:00|01:00:00|02:00:00|{0}|{0}|COMPLETED\n"
    head = "JobID|User|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|ReqCPUS|State\n"
    (tmp_path / "jobs.txt").write_text(head + "".join(map(row.format, (1, 2, 3))))
    log = gp.read(tmp_path / "jobs.txt", procs=4, zone="UTC")
    run = gp.simulate(log, "fcfs")
    assert run["user"].tolist() == ["u1", "u2", "u3"] and run["start"].tolist() == [0, 60, 3660]
    assert log.table()["requested"].tolist() == [7200] * 3


def test_a_frame_is_a_log():
    frame = {"submit": [0, 0, 5], "run": [10, 10, 1], "processors": [2, 2, 1], "requested": [20, 20, 1]}
    run = gp.simulate(gp.from_frame(frame, procs=3), "easy")
    starts = dict(zip(run["job"].tolist(), run["start"].tolist()))
    assert starts == {1: 0, 2: 10, 3: 5} and run.summary["jobs"] == 3


def test_check_and_explain_agree_with_the_run(log):
    jobs = log.table()
    thirds = gp.from_frame(jobs | {"submit": jobs["submit"] * 4 / 3 + 1e7}, procs=64)
    assert gp.check(thirds, gp.simulate(thirds, "easy"), policy="easy")  # A float does not hold every nanosecond.
    run = gp.simulate(log, "easy")
    assert gp.check(log, run, policy="easy")
    found = gp.check(log, run, policy="fcfs")
    assert not found and found.feasible and found.findings
    wrong = {"job": run["job"], "start": np.zeros(len(run["job"]))}
    assert not gp.check(log, wrong).feasible
    waited = int(run["job"][run.wait.argmax()])
    assert gp.explain(log, "easy", waited)[0]["wait"] == run.wait.max()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_papers_run_side_by_side_and_the_process_stays_as_it_was(capfd, ctrl_c):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first, other = pool.map(lambda _: gp.reproduce("multi-site", quick=True, progress=False), range(2))
    assert len(first.verdicts) == 35 and first.verdicts == other.verdicts and first.notes == other.notes
    assert {row["verdict"] for row in first.verdicts} <= {"reproduced", "contradicted", "inconclusive"}
    assert capfd.readouterr() == ("", "")
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def experiment(folder, policy, metric="wait_mean"):
    """An experiment of EASY and another policy."""
    (folder / "mine.toml").write_text(
        f'name = "mine"\npolicies = ["easy", "{policy}"]\nbaseline = "easy"\nmetrics = ["{metric}"]\n'
        '[[log]]\nmodel = "lublin"\nprocs = 64\ncount = 300\nload = 0.8\n[replicate]\nmethod = "seeds"\ncount = 3\n'
    )
    return gp.Experiment.load(folder / "mine.toml")


def test_an_experiment_runs_with_a_policy_of_ones_own(tmp_path):
    result = experiment(tmp_path, "Easy").run(policies=[Easy])
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

    def test_a_log_that_is_no_log(self, tmp_path):
        (tmp_path / "cut.swf.gz").write_bytes(
            gzip.compress(b"1 0 -1 10 2 -1 -1 2 9 -1 1 1 1 -1 -1 -1 -1 -1\n" * 1000)[:-20]
        )
        (tmp_path / "long.swf").write_text("; MaxProcs: 4\n" + "9" * 10_000_000 + "\n")
        (tmp_path / "wide.swf").write_text(f"; MaxProcs: 4\n1 0 -1 {10**30} 2 -1 -1 2 9 -1 1 1 1 -1 -1 -1 -1 -1\n")
        (tmp_path / "none.swf").write_text("; no size\n1 0 -1 10 2 -1 -1 2 9 -1 1 1 1 -1 -1 -1 -1 -1\n")
        for name, words, line in [
            ("cut", "gz", None),
            ("long", "line", 2),
            ("wide", "run time", 2),
            ("none", "--procs", None),
        ]:
            path = next(tmp_path.glob(f"{name}.*"))
            with pytest.raises((gp.InputError, OSError), match=words) as error:
                gp.simulate(path, "easy")
            assert line is None or error.value.line == line, name
        with pytest.raises((gp.InputError, OSError)):
            gp.simulate(tmp_path, "easy")

    def test_options_and_experiments_that_are_wrong(self, log, tmp_path):
        with pytest.raises(gp.InputError, match=r"^unexpected argument '--nonsense' found$"):
            gp.simulate(log, "easy", nonsense=3)
        (tmp_path / "mine.toml").write_text('name = "mine"\npolicies = ["easy"]\n[[log]]\nmodel = "lublin"\n')
        with pytest.raises(gp.InputError, match="baseline") as error:
            gp.Experiment.load(tmp_path / "mine.toml").run()
        assert error.value.path.endswith("mine.toml") and error.value.field == "baseline"

    def test_a_policy_that_does_not_exist(self, log):
        with pytest.raises(gp.InputError, match="eazy"):
            gp.simulate(log, "eazy")

    def test_the_exception_of_a_policy_comes_out_as_itself(self, log, tmp_path):
        class Raises(Easy):
            def schedule(self, view):
                raise ZeroDivisionError("mine")

        class Hears(Easy):
            def on_completion(self, job, view):
                if view.now > 0 and not view.queue and not view.running:
                    raise ZeroDivisionError("mine")

        runs = [lambda one=one: gp.simulate(log, one) for one in (Raises, Hears)]
        for run in [*runs, lambda: experiment(tmp_path, "Raises").run(policies=[Raises])]:
            with pytest.raises(ZeroDivisionError, match="mine"):
                run()

    @pytest.mark.parametrize("answer", [[10**9], [-1], [0.5], ["a"], "a", [None], [0, 0], 7, [(0, 5)], [[0]]])
    def test_nonsense_is_refused(self, log, answer):
        class Nonsense:
            def schedule(self, view):
                return answer

        with pytest.raises(gp.InputError, match=r"schedule\(\) answered"):
            gp.simulate(log, Nonsense)

    @pytest.mark.parametrize(
        "answer, left", [(None, 1000), (lambda view: view.queue[:1] if view.free[0] == 64 else [], 0)]
    )
    def test_jobs_that_never_start_are_counted(self, log, answer, left, recwarn):
        class Waits:
            def schedule(self, view):
                return answer and answer(view)

        run = gp.simulate(log, Waits)
        words = [f"Waits never started {left} jobs; the run does not have them"] * (left > 0)
        assert [str(one.message) for one in recwarn] == words == run.notes[len(run.notes) - len(words) :]
        assert len(run["start"]) == 1000 - left

    @pytest.mark.parametrize("given", [7, None, object()])
    def test_what_is_no_policy_is_refused(self, log, given):
        with pytest.raises(gp.InputError, match="a policy is"):
            gp.simulate(log, given)

    def test_a_policy_that_does_not_answer_in_time(self, log):
        class Hangs:
            def schedule(self, view):
                while True:
                    pass

        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"more than 0.3 s"):
            gp.simulate(log, Hangs, policy_timeout=0.3)
        assert time.monotonic() - began < 10

    def test_a_policy_that_cannot_be_made_and_a_metric_that_fails(self, log, tmp_path):
        class Needs:
            def __init__(self, argument):
                pass

        with pytest.raises(TypeError, match="argument"):
            gp.simulate(log, Needs)
        wrong = {"mine": lambda jobs: jobs["nothing"]}
        with pytest.raises(KeyError, match="nothing"):
            gp.compare(log, ["easy"], metrics=wrong)
        mine = experiment(tmp_path, "fcfs", "mine")
        with pytest.raises(KeyError, match="nothing"):
            mine.run(out=tmp_path / "out", metrics=wrong)
        again = mine.run(out=tmp_path / "out", metrics={"mine": lambda jobs: 7})
        assert [row["mean"] for row in again.rows("results") if row["metric"] == "mine"] == [7, 7]

    @pytest.mark.skipif(os.name != "posix", reason="signals")
    def test_ctrl_c_ends_a_long_run(self, ctrl_c):
        many = gp.lublin(procs=256, jobs=200_000, seed=1)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                gp.simulate(many, "cons")
        assert time.monotonic() - began < 5

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

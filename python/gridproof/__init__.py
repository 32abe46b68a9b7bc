"""Job scheduling policies on logs and in papers: simulate, compare, check, explain, reproduce.

Every function is that of a command of Gridproof, in this process. A keyword is an option of that command: ``max_jobs=1000`` is
``--max-jobs 1000``, ``no_report=True`` is ``--no-report``, and a list is joined by commas. ``gridproof simulate --help`` in a
shell explains each. Times are in seconds.

>>> import gridproof as gp
>>> log = gp.lublin(procs=64, jobs=200, seed=1)
>>> run = gp.simulate(log, "easy")
>>> run["start"][:2].tolist()
[0.0, 17.0]
"""

from __future__ import annotations

import contextlib
import csv
import functools
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _gridproof

__all__ = [
    "Comparison",
    "Experiment",
    "InputError",
    "Log",
    "Plots",
    "Reproduction",
    "Results",
    "Run",
    "check",
    "compare",
    "explain",
    "from_frame",
    "generate",
    "lublin",
    "policies",
    "read",
    "reproduce",
    "simulate",
]


class InputError(ValueError):
    """Bad input or usage. ``path``, ``line`` and ``field`` lead to the place, where the message names them."""

    path: str | None
    line: int | None
    field: str | None

    def __init__(self, message: str) -> None:
        super().__init__(message)
        place = re.match(r"(?P<path>[^:\n]+):(?P<line>\d+): (?:field (?P<field>\d+ \([^)]*\)))?", message)
        self.path = place["path"] if place else None
        self.line = int(place["line"]) if place else None
        self.field = place["field"] if place else None


def _options(options: Mapping[str, Any]) -> list[str]:
    args = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            args.append(flag)
        elif isinstance(value, (list, tuple)):
            args += [flag, ",".join(map(str, value))]
        else:
            args += [flag, str(value)]
    return args


def _strings(args: Sequence[Any]) -> list[str]:
    return [str(arg) for arg in args]


def _raising(call: Callable, *args: Any) -> Any:
    """Calls Rust; its ``ValueError`` becomes an :class:`InputError`; exceptions of a policy are raised unchanged."""
    try:
        return call(*args)
    except ValueError as error:
        if type(error) is ValueError and error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise InputError(str(error)) from None
        raise


def _call(
    args: Sequence[Any],
    policies: Sequence[tuple[str, Callable]] = (),
    metrics: Sequence[tuple] = (),
    progress: bool = False,
) -> tuple[bool, str, list[str]]:
    with _progress(progress, {"bar_format": "{l_bar}{bar}| {elapsed}<{remaining}"}) as report:
        return _raising(_gridproof.run, _strings(args), list(policies), list(metrics), report)


@contextlib.contextmanager
def _progress(is_shown: bool, form: Mapping[str, Any]) -> Iterator[Callable[..., None] | None]:
    """A bar of tqdm, if that is installed, that appears after a second."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        is_shown = False
    if not is_shown:
        yield None
        return
    with tqdm(delay=1, leave=False, **form) as bar:

        def report(done: int, total: int | None = None) -> None:
            if total != bar.total or done < bar.n:
                bar.reset(total)  # The next stage of the work.
            bar.update(done - bar.n)

        yield report


def _rows(path: Path) -> list[dict[str, Any]]:
    def value(text: str) -> Any:
        try:
            return float(text) if text else None
        except ValueError:
            return text

    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _html(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    from html import escape

    names = list(columns or (rows[0] if rows else []))

    def show(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        return "" if value is None else escape(str(value))

    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{show(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class _Folder:
    """A temporary folder that lives as long as what is read from it."""

    def __init__(self) -> None:
        self._held = tempfile.TemporaryDirectory(prefix="gridproof-")
        self.path = Path(self._held.name)


class Log:
    """A log of jobs in the Standard Workload Format. ``procs`` is the size of the machine; ``None`` leaves it to the header."""

    def __init__(self, path: str | os.PathLike, procs: int | None = None, _folder: _Folder | None = None) -> None:
        self.path, self.procs, self._folder = Path(path), procs, _folder

    def __repr__(self) -> str:
        return f"Log({str(self.path)!r}" + (f", procs={self.procs})" if self.procs else ")")

    def resample(self, **options: Any) -> Log:
        """Another log like this one; keywords of ``workload resample``: ``seed``, ``weeks``, ``users``, ``shake``."""
        return _drawn(["workload", "resample", str(self.path)], {"procs": self.procs, **options}, self.procs)

    def _read(self) -> tuple[dict[str, np.ndarray], int | None, int | None]:
        return _raising(_gridproof.read_log, str(self.path))

    def table(self) -> dict[str, np.ndarray]:
        """The records: ``job, submit, wait, run, processors, requested_processors, requested, user``; −1 for unknown."""
        return self._read()[0]

    @property
    def max_procs(self) -> int | None:
        """``MaxProcs`` of the header."""
        return self._read()[1]

    @property
    def max_nodes(self) -> int | None:
        """``MaxNodes`` of the header."""
        return self._read()[2]


def read(path: str | os.PathLike, procs: int | None = None, **options: Any) -> Log:
    """Reads a log: SWF as it is, Grid Workload Format and output of sacct converted (keywords of ``workload convert``)."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if re.search(r"\.swf(\.gz)?$", path.name):
        return Log(path, procs)
    return _drawn(["workload", "convert", str(path)], {"to": "swf", **options}, procs)


def from_frame(frame: Any, procs: int) -> Log:
    """A log from columns ``submit, run, processors`` and perhaps ``requested`` and ``user`` (a data frame or a mapping of arrays)."""
    column = lambda name: np.asarray(frame[name]) if name in frame else None
    submit, run, processors = column("submit"), column("run"), column("processors")
    for name, values in {"submit": submit, "run": run, "processors": processors}.items():
        if values is None:
            raise InputError(f"a log needs a column {name}; found {', '.join(map(str, frame))}")
    requested = run if (given := column("requested")) is None else given
    users = np.full(len(submit), -1) if (given := column("user")) is None else np.unique(given, return_inverse=True)[1]
    folder = _Folder()
    path = folder.path / "frame.swf"
    order = np.argsort(submit, kind="stable")
    with path.open("w", encoding="utf-8") as file:
        file.write(f"; MaxProcs: {procs}\n")
        for number, at in enumerate(order, 1):
            each = (submit[at], run[at], requested[at])
            if not all(np.isfinite(each)) or any(value != int(value) for value in each):
                raise InputError(f"row {at}: submit, run and requested are whole seconds, found {each}")
            width = int(processors[at])
            file.write(
                f"{number} {int(submit[at])} -1 {int(run[at])} {width} -1 -1 {width} {int(requested[at])} -1 1 {int(users[at])} -1 -1 -1 -1 -1 -1\n"
            )
    return Log(path, procs, folder)


def generate(model: str, procs: int, jobs: int, **options: Any) -> Log:
    """Draws a log from a model (keywords of ``workload generate``): ``lublin``, ``jann``, ``downey``, …"""
    return _drawn(["workload", "generate", model], {"procs": procs, "count": jobs, **options}, procs)


def lublin(procs: int, jobs: int, seed: int = 0, **options: Any) -> Log:
    """Draws a log from the model of Lublin and Feitelson (JPDC 2003)."""
    return generate("lublin", procs, jobs, seed=seed, **options)


def _drawn(args: list[str], options: Mapping[str, Any], procs: int | None) -> Log:
    folder = _Folder()
    path = folder.path / "log.swf"
    _call([*args, *_options(options), "--quiet", "--out", str(path)])
    return Log(path, procs, folder)


class Run(Mapping):
    """The schedule of one policy: columns of ``jobs.csv`` as numpy arrays, by submission, ``summary``, and ``notes`` on what was repaired or
    ignored."""

    def __init__(self, simulation: Any, place: int) -> None:
        self._simulation, self._place = simulation, place
        self._columns: dict[str, np.ndarray] = {}
        self.name, self.notes = simulation.policies[place], simulation.notes
        self.summary: dict[str, Any] = {"policy": self.name, **simulation.metrics(place)}

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self._columns:
            values = self._simulation.column(self._place, column)
            self._columns[column] = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._simulation.COLUMNS)

    def __len__(self) -> int:
        return len(self._simulation.COLUMNS)

    @property
    def wait(self) -> np.ndarray:
        """Start − submit."""
        return self["start"] - self["submit"]

    def to_pandas(self) -> Any:
        """The jobs as a data frame."""
        import pandas

        return pandas.DataFrame(dict(self))

    def to_polars(self) -> Any:
        """The jobs as a data frame of polars."""
        import polars

        return polars.DataFrame({name: column.tolist() for name, column in self.items()})

    def write(self, out: str | os.PathLike) -> None:
        """Writes what the command ``simulate`` writes for this log, policies and options."""
        _raising(self._simulation.write, str(out))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.summary['jobs']} jobs, mean wait {self.summary['wait_mean'] or 0:,.0f} s>"

    def _repr_html_(self) -> str:
        shown = ["policy", "jobs", "wait_mean", "bounded_slowdown_mean", "utilization", "makespan"]
        return _html([self.summary], [name for name in shown if name in self.summary])


class Figure:
    """A figure of a report. ``svg`` is its source; notebooks draw it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


class Results:
    """What a command wrote: tables by name of their file, figures by id."""

    def __init__(self, folder: Path, held: _Folder | None, notes: list[str]) -> None:
        self.folder, self.notes, self._held = folder, notes, held

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of ``TABLE.csv``; numbers are floats, an empty field is ``None``."""
        return _rows(self.folder / f"{table}.csv")

    def to_pandas(self, table: str) -> Any:
        """``TABLE.csv`` as a data frame."""
        import pandas

        return pandas.read_csv(self.folder / f"{table}.csv")

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures, by id."""
        found = sorted(self.folder.glob("figures/*.svg"))
        return {path.stem: Figure(path.read_text(encoding="utf-8")) for path in found}

    def write(self, out: str | os.PathLike) -> None:
        """Copies all files to ``out``."""
        shutil.copytree(self.folder, out, dirs_exist_ok=True)


class Plots:
    """Figures of a comparison by matplotlib. Each draws into ``ax``, or into a new figure, and returns the axes."""

    def __init__(self, comparison: Comparison) -> None:
        self._of = comparison

    def gantt(self, policy: str | None = None, ax: Any = None, jobs: int = 200) -> Any:
        """The first jobs of a schedule as bars over their processors; of the baseline's if no policy is named."""
        from matplotlib import pyplot

        ax = ax or pyplot.subplots(figsize=(9, 4))[1]
        run = self._of.runs[policy or self._of.baseline]
        for at in np.argsort(run["start"], kind="stable")[:jobs]:
            for block in str(run["allocated"][at]).split(","):
                first, _, last = block.partition("-")
                low, high = int(first), int(last or first)
                span = (run["start"][at] / 3600, (run["finish"][at] - run["start"][at]) / 3600)
                ax.broken_barh([span], (low, high - low + 1), facecolor=f"C{run['job'][at] % 10}", edgecolor="white", linewidth=0.3)
        ax.set(xlabel="time (h)", ylabel="processor", title=policy or self._of.baseline)
        return ax

    def differences(self, metric: str = "wait_mean", ax: Any = None) -> Any:
        """Each policy's difference from the baseline with its 95 % interval. A refused interval is
        marked."""
        from matplotlib import pyplot

        rows = [row for row in self._of.differences(metric) if row["baseline"] == self._of.baseline]
        ax = ax or pyplot.subplots(figsize=(7, 0.6 + 0.4 * len(rows)))[1]
        for place, row in enumerate(rows):
            bounds = [row["ci_low"], row["ci_high"]]
            if None not in bounds:
                ax.plot(bounds, [place, place], color="C0")
            else:
                ax.annotate("  no interval", (row["mean"], place), va="center", color="0.4")
            ax.plot(row["mean"], place, "o", color="C0")
        ax.axvline(0, color="0.6", linewidth=1)
        ax.set(xlabel=f"{metric.replace('_', ' ')}, difference from {self._of.baseline}", yticks=range(len(rows)))
        ax.set_yticklabels([row["policy"] for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        return ax


class Comparison:
    """Policies on one log: ``runs`` by name, differences with confidence intervals, and the best; ``notes`` on what was repaired or
    ignored."""

    def __init__(self, simulation: Any) -> None:
        self._simulation, self.notes = simulation, simulation.notes
        self.runs = {name: Run(simulation, place) for place, name in enumerate(simulation.policies)}
        self.baseline: str = simulation.policies[simulation.baseline]

    @property
    def summary(self) -> list[dict[str, Any]]:
        """One row for each policy."""
        return [run.summary for run in self.runs.values()]

    def differences(self, metric: str) -> list[dict[str, Any]]:
        """All pairs: policy − baseline, 95 % interval over independent blocks of the log; bounds are ``None`` where it is ``refused``."""
        return [row for row in self._simulation.differences() if row["metric"] == metric]

    def best(self, metric: str) -> list[str]:
        """The policies that may be the best by a metric: no other is significantly better. Empty without intervals."""
        return [row["policy"] for row in self._simulation.best() if row["metric"] == metric and row["may_be_best"]]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of ``summary``, ``differences`` or ``best``."""
        tables = {
            "summary": lambda: self.summary,
            "differences": self._simulation.differences,
            "best": self._simulation.best,
        }
        if table not in tables:
            raise KeyError(f"{table}: the tables are {', '.join(tables)}")
        return tables[table]()

    def to_pandas(self, table: str) -> Any:
        """``summary``, ``differences`` or ``best`` as a data frame."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    @functools.cached_property
    def figures(self) -> dict[str, Figure]:
        """The figures of the page, by id."""
        return {name: Figure(svg) for name, svg in self._simulation.figures()}

    def write(self, out: str | os.PathLike) -> None:
        """Writes what the command ``simulate`` writes for this log, policies and options."""
        _raising(self._simulation.write, str(out))

    @property
    def plot(self) -> Plots:
        """Figures by matplotlib."""
        return Plots(self)

    def _repr_html_(self) -> str:
        shown = ["policy", "jobs", "wait_mean", "bounded_slowdown_mean", "utilization", "makespan"]
        return _html(self.summary, shown)


Policy = str | type | Callable[[], Any]


def _named(policy: Policy) -> tuple[str, Callable[[], Any] | None]:
    if isinstance(policy, str):
        return policy, None
    if isinstance(policy, type) or callable(policy) and not hasattr(policy, "schedule"):
        name, make = policy.__name__, policy
    else:
        name, make = type(policy).__name__, lambda: policy
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-"), make


def _metric(name: str, given: Any) -> tuple[str, str, bool, Callable[[dict[str, np.ndarray]], float]]:
    value, label, smaller = given if isinstance(given, tuple) else (given, name.replace("_", " "), True)
    return name, label, smaller, lambda columns: float(value(columns))


def compare(
    log: Log | str | os.PathLike,
    policies: Sequence[Policy],
    metrics: Mapping[str, Any] | None = None,
    *,
    progress: bool = True,
    policy_timeout: float | None = None,
    **options: Any,
) -> Comparison:
    """Replays a log under several policies, in memory; keywords of ``simulate``, such as ``baseline="cons"``.

    A policy is a name (``gridproof simulate --help`` lists them) or a class with ``schedule(self, view)``, which returns the jobs to
    start. It may take ``policy_timeout`` seconds for an answer, as long as it likes if none is given. A metric is a function of the
    columns ``submit, start, finish, processors, user`` of all finished jobs, or a tuple ``(function, label, smaller_is_better)``.
    ``progress`` shows a bar where tqdm is installed.
    """
    log = log if isinstance(log, Log) else read(log)
    named = [_named(policy) for policy in policies]
    args = ["simulate", "--trace", log.path, "--policy", ",".join(name for name, _ in named)]
    has_program = any(name.startswith("exec+") for name, _ in named)
    given = {"procs": None if "machines" in options else log.procs, **options}
    given["policy_timeout"] = policy_timeout if has_program else None
    own = [(name, make) for name, make in named if make is not None]
    added = [_metric(name, value) for name, value in (metrics or {}).items()]
    with _progress(progress, {"unit": " jobs", "unit_scale": True}) as report:
        call = (_strings([*args, *_options(given)]), own, added, policy_timeout, report)
        return Comparison(_raising(_gridproof.simulate, *call))


def simulate(log: Log | str | os.PathLike, policy: Policy, **options: Any) -> Run:
    """Replays a log under one policy; see :func:`compare`."""
    return next(iter(compare(log, [policy], **options).runs.values()))


class Checked(Results):
    """Outcome of a check: ``feasible``, ``findings`` and ``differences`` (``None`` if no policy was named)."""

    feasible: bool
    agrees: bool
    findings: list[dict[str, Any]]
    differences: dict[str, Any] | None

    def __bool__(self) -> bool:
        return self.agrees


def _cell(value: Any) -> Any:
    """A value as a field of a CSV file: whole numbers without a fraction, an empty field for not a number."""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else int(value) if value == int(value) else value
    return value


def check(log: Log | str | os.PathLike, schedule: Any, policy: str | None = None, **options: Any) -> Checked:
    """Checks a schedule (a file, a :class:`Run` or a data frame with ``job`` and ``start``): its feasibility, and its agreement with a policy."""
    log = log if isinstance(log, Log) else read(log)
    held = _Folder()
    if isinstance(schedule, (str, os.PathLike)):
        path = Path(schedule)
    else:
        path = held.path / "schedule.csv"
        names = list(schedule)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows([_cell(value) for value in row] for row in zip(*(schedule[name] for name in names)))
    options = {"procs": log.procs, "policy": policy, **options}
    agrees, text, notes = _call(
        ["check", "--trace", str(log.path), "--schedule", str(path), "--json", *_options(options)]
    )
    found = json.loads(text)
    result = Checked(held.path, held, notes)
    result.agrees, result.feasible = agrees, found["feasible"]
    result.findings, result.differences = found["findings"], found["differences"]
    return result


def explain(
    log: Log | str | os.PathLike, policy: str, job: int | Sequence[int], **options: Any
) -> list[dict[str, Any]]:
    """Explains the starts of jobs: one explanation for each, with its ``history``."""
    log = log if isinstance(log, Log) else read(log)
    jobs = ",".join(map(str, job)) if isinstance(job, Sequence) else str(job)
    args = ["explain", "--trace", str(log.path), "--policy", policy, "--job", jobs, "--json"]
    _, text, _ = _call([*args, *_options({"procs": log.procs, **options})])
    return json.loads(text)["explanations"]


class Reproduction(Results):
    """A paper's figures and the verdicts on its claims."""

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """One row for each claim: ``id, statement, expected, observed, ci_low, ci_high, verdict``."""
        return self.rows("claims")

    def _repr_html_(self) -> str:
        return _html(self.verdicts, ["id", "statement", "expected", "observed", "verdict"])


def reproduce(
    paper: str, *, out: str | os.PathLike | None = None, progress: bool = True, **options: Any
) -> Reproduction:
    """Simulates a paper, redraws its figures and judges its claims; keywords of ``reproduce``: ``quick``, ``reps``, ``seed``, ``traces``, …

    ``progress`` shows a bar where tqdm is installed.
    """
    held = None if out else _Folder()
    folder = Path(out) if out else held.path / paper
    _, _, notes = _call(["reproduce", paper, "--quiet", "--out", str(folder), *_options(options)], progress=progress)
    return Reproduction(folder, held, notes)


class Experiment:
    """An experiment: logs × policies × settings × replications, described by a TOML file."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Experiment:
        """The experiment of a file; ``gridproof experiment init`` prints a first one."""
        return cls(path)

    def run(
        self,
        *,
        out: str | os.PathLike | None = None,
        policies: Sequence[Policy] = (),
        metrics: Mapping[str, Any] | None = None,
        progress: bool = True,
        **options: Any,
    ) -> Results:
        """Runs it. ``policies`` are classes that the file names. ``progress`` shows a bar where tqdm is installed.

        Tables: ``results``, ``differences``, ``ranks``, ``best``, ``claims``, ``runs``."""
        held = None if out else _Folder()
        folder = Path(out) if out else held.path / "results"
        own = [(name, make) for name, make in map(_named, policies) if make is not None]
        added = [_metric(name, given) for name, given in (metrics or {}).items()]
        _, _, notes = _call(
            ["experiment", str(self.path), "--quiet", "--out", str(folder), *_options(options)], own, added, progress
        )
        return Results(folder, held, notes)


def policies() -> str:
    """The names of all policies and their settings, as ``gridproof simulate --help`` lists them."""
    try:
        _call(["simulate", "--help"])
    except InputError as help_text:
        return str(help_text)
    return ""


def _main() -> None:
    sys.exit(_gridproof.main(sys.argv[1:]))

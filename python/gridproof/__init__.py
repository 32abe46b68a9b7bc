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
import difflib
import functools
import importlib
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _gridproof

if TYPE_CHECKING:
    from . import rl as rl

__all__ = [
    "Comparison",
    "Experiment",
    "Explanations",
    "Figure",
    "InputError",
    "Log",
    "Plots",
    "Reproduction",
    "Results",
    "Run",
    "Table",
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


def __getattr__(name: str) -> Any:
    """``gridproof.rl``, which needs Gymnasium."""
    if name == "rl":
        return importlib.import_module("gridproof.rl")
    raise AttributeError(f"module 'gridproof' has no attribute {name!r}")


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
        key = re.search(r"(?:missing|unknown) field `([^`]+)`", message)
        self.field = place and place["field"] or (key[1] if key else None)


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # In a notebook without ipywidgets the bar is one of text.
            from tqdm.auto import tqdm
    except ImportError:
        is_shown = False
    if not is_shown:
        yield None
        return
    with tqdm(delay=1, mininterval=0.5, leave=False, **form) as bar:

        def report(done: int, total: int | None = None) -> None:
            if total != bar.total or done < bar.n:
                bar.reset(total)  # The next stage of the work.
            bar.update(done - bar.n)

        yield report


class Table(list):
    """Rows of a table: a list of mappings, which a notebook shows as a table."""

    def to_pandas(self) -> Any:
        """The rows as a data frame."""
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        return _html(self)


def _rows(path: Path) -> Table:
    def value(text: str) -> Any:
        try:
            return float(text) if text else None
        except ValueError:
            return text

    if not path.exists():
        return Table()
    with path.open(newline="", encoding="utf-8") as file:
        return Table({name: value(text) for name, text in row.items()} for row in csv.DictReader(file))


def _html(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None, most: int = 100) -> str:
    from html import escape

    names = list(columns or (rows[0] if rows else []))

    def show(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        return "" if value is None else escape(str(value))

    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{show(row.get(name))}</td>" for name in names) + "</tr>" for row in rows[:most]
    )
    more = f"<p>{len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


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

    @functools.cached_property
    def _read(self) -> tuple[dict[str, np.ndarray], int | None, int | None]:
        return _raising(_gridproof.read_log, str(self.path))

    def table(self) -> dict[str, np.ndarray]:
        """The records: ``job, submit, wait, run, processors, requested_processors, requested, user``; −1 for unknown."""
        return dict(self._read[0])

    def to_pandas(self) -> Any:
        """The records as a data frame."""
        import pandas

        return pandas.DataFrame(self.table())

    def __len__(self) -> int:
        return len(self._read[0]["job"])

    @property
    def max_procs(self) -> int | None:
        """``MaxProcs`` of the header."""
        return self._read[1]

    @property
    def max_nodes(self) -> int | None:
        """``MaxNodes`` of the header."""
        return self._read[2]


def read(path: str | os.PathLike, procs: int | None = None, **options: Any) -> Log:
    """Reads a log: SWF as it is, the output of sacct converted (keywords of ``workload convert``)."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if re.search(r"\.swf(\.gz)?$", path.name):
        return Log(path, procs)
    return _drawn(["workload", "convert", str(path)], {"to": "swf", **options}, procs)


#: Columns of a data frame, and other names that they often have.
_FRAME = {
    "submit": ("submit_time", "arrival"),
    "run": ("runtime", "run_time", "duration"),
    "processors": ("procs", "cores", "size"),
    "requested": ("requested_time", "estimate", "walltime"),
    "user": ("user_id", "uid"),
    "job": ("job_id", "id"),
}


def _columns(frame: Any) -> list[str]:
    """Names of the columns of a data frame of pandas or polars, or of a mapping."""
    return list(getattr(frame, "columns", frame))


def _seconds(values: Any) -> np.ndarray:
    """Times in seconds, −1 where they are missing; instants and durations of numpy and pandas count from 0."""
    values = np.asarray(values)
    if values.dtype.kind in "mM":
        values = np.where(np.isnat(values), np.nan, values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64) / 1e9)
    values = values.astype(float)
    return np.where(np.isnan(values), -1, values)


def _users(values: Any) -> np.ndarray:
    """Numbers of users, −1 where they are missing; names are numbered."""
    values = np.asarray(values, dtype=object)
    known = np.array([value is not None and value == value for value in values], bool)
    users = np.full(len(values), -1)
    try:
        users[known] = values[known].astype(np.int64)
    except ValueError:
        users[known] = np.unique(values[known].astype(str), return_inverse=True)[1]
    return users


def from_frame(frame: Any, procs: int) -> Log:
    """A log from columns ``submit, run, processors`` and perhaps ``requested``, ``user`` and ``job`` (a data frame or a mapping of arrays).

    Common other names, such as ``runtime`` and ``walltime``, are understood.
    """
    found = {
        name: next((frame[one] for one in (name, *others) if one in frame), None) for name, others in _FRAME.items()
    }
    for name in ("submit", "run", "processors"):
        if found[name] is None:
            raise InputError(f"a log needs a column {name}; found {', '.join(map(str, _columns(frame)))}")
    submit, run = _seconds(found["submit"]), _seconds(found["run"])
    processors = _seconds(found["processors"])
    requested = run if found["requested"] is None else _seconds(found["requested"])
    users = np.full(len(submit), -1) if found["user"] is None else _users(found["user"])
    jobs = np.arange(1, len(submit) + 1)
    order = np.argsort(submit, kind="stable")
    if found["job"] is None:
        jobs[order] = jobs.copy()
    else:
        jobs = np.asarray(found["job"])
    for row, values in enumerate(zip(submit, run, processors, requested)):
        if not np.isfinite(values).all() or values[0] < 0:
            raise InputError(
                f"row {row}: expected finite numbers and a submission from 0 on, found {[float(one) for one in values]}"
            )
    folder = _Folder()
    path = folder.path / "frame.swf"
    with path.open("w", encoding="utf-8") as file:
        file.write(f"; MaxProcs: {procs}\n")
        for at in order:
            when, length, width, limit = (
                f"{one[at]:.9f}".rstrip("0").rstrip(".") for one in (submit, run, processors, requested)
            )
            file.write(
                f"{jobs[at]} {when} -1 {length} {width} -1 -1 {width} {limit} -1 1 {users[at]} -1 -1 -1 -1 -1 -1\n"
            )
    return Log(path, procs, folder)


def generate(model: str, procs: int, jobs: int, **options: Any) -> Log:
    """Draws a log from a model (keywords of ``workload generate``): ``lublin``, ``wagap-like``, …"""
    return _drawn(["workload", "generate", model], {"procs": procs, "count": jobs, **options}, procs)


def lublin(procs: int, jobs: int, seed: int = 0, **options: Any) -> Log:
    """Draws a log from the model of Lublin and Feitelson (JPDC 2003)."""
    return generate("lublin", procs, jobs, seed=seed, **options)


def _drawn(args: list[str], options: Mapping[str, Any], procs: int | None) -> Log:
    folder = _Folder()
    path = folder.path / "log.swf"
    _call([*args, *_options(options), "--quiet", "--out", str(path)])
    return Log(path, procs, folder)


#: Columns of a summary that notebooks show, before metrics of one's own.
_SHOWN = ["policy", "jobs", "wait_mean", "bounded_slowdown_mean", "utilization", "makespan"]


class Run(Mapping):
    """The schedule of one policy: columns of ``jobs.csv`` (and ``wait``) as numpy arrays, by submission, ``summary``, and ``notes`` on
    what was repaired or ignored."""

    def __init__(self, simulation: Any, place: int, notes: list[str]) -> None:
        self._simulation, self._place = simulation, place
        self._columns: dict[str, np.ndarray] = {}
        self.name, self.notes = simulation.policies[place], notes
        self.summary: dict[str, Any] = {"policy": self.name, **simulation.metrics(place)}

    def __getitem__(self, column: str) -> np.ndarray:
        if column == "wait":
            return self.wait
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

    @functools.cached_property
    def figures(self) -> Figures:
        """The figures of the page, by id."""
        return Figures((name, Figure(svg)) for name, svg in self._simulation.figures())

    def write(self, out: str | os.PathLike) -> None:
        """Writes what the command ``simulate`` writes for this log, policies and options."""
        _raising(self._simulation.write, str(out))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.summary['jobs']} jobs, mean wait {self.summary['wait_mean'] or 0:,.0f} s>"

    def _repr_html_(self) -> str:
        return _html([self.summary], _SHOWN)


class Figure:
    """A figure of a report. ``svg`` is its source; notebooks draw it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


#: Columns of verdicts that notebooks show.
_JUDGED = ["id", "statement", "expected", "observed", "verdict"]


class Figures(dict):
    """Figures by id. A notebook draws all of them."""

    def _repr_html_(self) -> str:
        return "".join(figure.svg for figure in self.values())


class Results:
    """What a command wrote: tables by name of their file, figures by id."""

    def __init__(self, folder: Path, held: _Folder, notes: list[str]) -> None:
        self.folder, self.notes, self._held = folder, notes, held

    def rows(self, table: str) -> Table:
        """The rows of ``TABLE.csv``; numbers are floats, an empty field is ``None``."""
        return _rows(self.folder / f"{table}.csv")

    @property
    def verdicts(self) -> Table:
        """One row for each claim: ``id, statement, expected, observed, ci_low, ci_high, verdict``."""
        return self.rows("claims")

    def to_pandas(self, table: str) -> Any:
        """``TABLE.csv`` as a data frame."""
        import pandas

        return pandas.read_csv(self.folder / f"{table}.csv")

    @property
    def figures(self) -> Figures:
        """The figures, by id."""
        found = sorted(self.folder.glob("figures/*.svg"))
        return Figures((path.stem, Figure(path.read_text(encoding="utf-8"))) for path in found)

    def write(self, out: str | os.PathLike) -> None:
        """Copies all files to ``out``."""
        shutil.copytree(self.folder, out, dirs_exist_ok=True)

    def _repr_html_(self) -> str:
        return _html(self.rows("results")) + (_html(self.verdicts, _JUDGED) if self.verdicts else "")


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
                ax.broken_barh(
                    [span], (low, high - low + 1), facecolor=f"C{run['job'][at] % 10}", edgecolor="white", linewidth=0.3
                )
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

    def __init__(self, simulation: Any, own: Sequence[str]) -> None:
        self._simulation, self.notes, self._own = simulation, simulation.notes, own
        for policy, jobs in simulation.waiting:
            self.notes.append(f"{policy} never started {jobs} jobs; the run does not have them")
            warnings.warn(self.notes[-1], stacklevel=3)
        self.runs = {name: Run(simulation, place, self.notes) for place, name in enumerate(simulation.policies)}
        self.baseline: str = simulation.policies[simulation.baseline]

    @property
    def summary(self) -> Table:
        """One row for each policy."""
        return Table(run.summary for run in self.runs.values())

    def _value(self, policy: str, metric: str) -> float | None:
        values = self.runs[policy].summary
        if metric not in values or metric == "policy":
            near = difflib.get_close_matches(metric, values, 1)
            raise InputError(f"no metric is called {metric!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return values[metric]

    def differences(self, metric: str = "wait_mean") -> Table:
        """All pairs: policy − baseline, 95 % interval over independent blocks of the log; bounds are ``None`` where it is ``refused``.

        Metrics that are no means over blocks, such as those of one's own, have no interval."""
        values = {name: value for name in self.runs if (value := self._value(name, metric)) is not None}
        found = Table(row for row in self._simulation.differences() if row["metric"] == metric)
        if not found:
            names = [self.baseline, *(name for name in self.runs if name != self.baseline)]
            blank = {
                "ci_low": None,
                "ci_high": None,
                "blocks": None,
                "correlation": None,
                "refused": "no mean over blocks of the log",
            }
            for base, policy in itertools.combinations((name for name in names if name in values), 2):
                pair = {"metric": metric, "policy": policy, "baseline": base, "mean": values[policy] - values[base]}
                found.append(pair | blank)
        return found

    def best(self, metric: str = "wait_mean") -> list[str]:
        """The policies that may be the best by a metric: no other is significantly better. Without intervals, those with the best value."""
        values = {name: value for name in self.runs if (value := self._value(name, metric)) is not None}
        found = [row["policy"] for row in self._simulation.best() if row["metric"] == metric and row["may_be_best"]]
        if not found and values:
            best = min(values.values()) if self._simulation.smaller_is_better(metric) else max(values.values())
            found = [name for name, value in values.items() if value == best]
        return found

    def rows(self, table: str) -> Table:
        """The rows of ``summary``, ``differences`` or ``best``."""
        tables = {
            "summary": lambda: self.summary,
            "differences": self._simulation.differences,
            "best": self._simulation.best,
        }
        if table not in tables:
            raise KeyError(f"{table}: the tables are {', '.join(tables)}")
        return Table(tables[table]())

    def to_pandas(self, table: str = "summary") -> Any:
        """``summary``, ``differences`` or ``best`` as a data frame."""
        return self.rows(table).to_pandas()

    @property
    def figures(self) -> Figures:
        """The figures of the page, by id."""
        return next(iter(self.runs.values())).figures

    def write(self, out: str | os.PathLike) -> None:
        """Writes what the command ``simulate`` writes for this log, policies and options."""
        _raising(self._simulation.write, str(out))

    @property
    def plot(self) -> Plots:
        """Figures by matplotlib."""
        return Plots(self)

    def __getitem__(self, policy: str) -> Run:
        return self.runs[policy]

    def __repr__(self) -> str:
        return f"<{len(self.runs)} policies: {', '.join(self.runs)}>"

    def _repr_html_(self) -> str:
        return _html(self.summary, [*_SHOWN, *self._own])


Policy = str | type | Callable[[], Any]


def _named(policy: Policy) -> tuple[str, Callable[[], Any] | None]:
    if isinstance(policy, str):
        return policy, None
    if isinstance(policy, type) or callable(policy) and not hasattr(policy, "schedule"):
        name, make = policy.__name__, policy
    elif hasattr(policy, "schedule"):
        name, make = type(policy).__name__, lambda: policy
    else:
        raise InputError(f"a policy is a name or a class with schedule(self, view), and not {policy!r}")
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-"), make


def _metric(name: str, given: Any) -> tuple[str, str, bool, Callable[[dict[str, np.ndarray]], float]]:
    value, label, smaller = given if isinstance(given, tuple) else (given, name.replace("_", " "), True)
    return name, label, smaller, lambda columns: float(value(columns))


def compare(
    log: Log | str | os.PathLike,
    policies: Policy | Sequence[Policy],
    metrics: Mapping[str, Any] | None = None,
    *,
    progress: bool = True,
    policy_timeout: float | None = None,
    **options: Any,
) -> Comparison:
    """Replays a log under several policies, in memory; keywords of ``simulate``, such as ``baseline="cons"``.

    A policy is a name (``gridproof simulate --help`` lists them) or a class with ``schedule(self, view)``, which returns the jobs to
    start. It may take ``policy_timeout`` seconds for an answer, as long as it likes if none is given. A metric is a function of the
    columns ``submit, start, finish, wait, run, requested, processors, user`` of all finished jobs, or a tuple ``(function, label,
    smaller_is_better)``.
    ``progress`` shows a bar where tqdm is installed.
    """
    log = log if isinstance(log, Log) else read(log)
    several = policies if isinstance(policies, (list, tuple)) else [cast(Policy, policies)]
    named = [_named(policy) for policy in several]
    args = ["simulate", "--trace", log.path, "--policy", ",".join(name for name, _ in named)]
    has_program = any(name.startswith("exec+") for name, _ in named)
    given = {"procs": None if "machines" in options else log.procs, **options}
    given["policy_timeout"] = policy_timeout if has_program else None
    own = [(name, make) for name, make in named if make is not None]
    added = [_metric(name, value) for name, value in (metrics or {}).items()]
    with _progress(progress, {"unit": " jobs", "unit_scale": True}) as report:
        call = (_strings([*args, *_options(given)]), own, added, policy_timeout, report)
        return Comparison(_raising(_gridproof.simulate, *call), list(metrics or ()))


def simulate(log: Log | str | os.PathLike, policy: Policy, **options: Any) -> Run:
    """Replays a log under one policy; see :func:`compare`."""
    return next(iter(compare(log, [policy], **options).runs.values()))


class Checked(Results):
    """Outcome of a check: ``text``, ``feasible``, ``findings`` and ``differences`` (``None`` if no policy was named)."""

    text: str
    feasible: bool
    agrees: bool
    findings: list[dict[str, Any]]
    differences: dict[str, Any] | None

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _pre(self.text)


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
    elif isinstance(schedule, Run):
        path = held.path / "schedule.csv"
        _raising(schedule._simulation.write_jobs, schedule._place, str(path))
    else:
        path = held.path / "schedule.csv"
        names = _columns(schedule)
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
    result.text, result.agrees, result.feasible = found["text"], agrees, found["feasible"]
    result.findings, result.differences = found["findings"], found["differences"]
    return result


def _pre(text: str) -> str:
    from html import escape

    return f"<pre>{escape(text)}</pre>"


class Explanations(list):
    """One explanation for each job: a mapping with its ``history``. ``text`` is all of them in words, which a notebook shows."""

    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _pre(self.text)


def explain(log: Log | str | os.PathLike, policy: str, job: int | Sequence[int], **options: Any) -> Explanations:
    """Explains the starts of jobs."""
    log = log if isinstance(log, Log) else read(log)
    jobs = ",".join(map(str, job)) if isinstance(job, Sequence) else str(job)
    args = ["explain", "--trace", str(log.path), "--policy", policy, "--job", jobs, "--json"]
    _, text, _ = _call([*args, *_options({"procs": log.procs, **options})])
    found = json.loads(text)
    result = Explanations(found["explanations"])
    result.text = found["text"]
    return result


class Reproduction(Results):
    """A paper's figures and the verdicts on its claims."""

    def _repr_html_(self) -> str:
        return _html(self.verdicts, _JUDGED)


def reproduce(
    paper: str, *, out: str | os.PathLike | None = None, progress: bool = True, **options: Any
) -> Reproduction:
    """Simulates a paper, redraws its figures and judges its claims; keywords of ``reproduce``: ``quick``, ``reps``, ``seed``, ``traces``, …

    ``progress`` shows a bar where tqdm is installed.
    """
    held = _Folder()
    folder = Path(out) if out else held.path / paper
    _, _, notes = _call(["reproduce", paper, "--quiet", "--out", str(folder), *_options(options)], progress=progress)
    return Reproduction(folder, held, notes)


class Experiment:
    """An experiment: logs × policies × settings × replications, described by a TOML file."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise FileNotFoundError(f"{path}: no such file")

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
        held = _Folder()
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

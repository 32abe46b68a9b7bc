from collections.abc import Callable, Iterable, Sequence
from typing import Any

def run(
    args: Sequence[str],
    policies: Sequence[tuple[str, Callable[[], Any]]],
    metrics: Sequence[tuple[str, str, bool, Callable[[dict[str, bytes]], float]]],
) -> tuple[bool, str, list[str]]: ...
def main(args: Sequence[str]) -> int: ...
def paired(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float | None, float | None]: ...
def read_table(path: str) -> dict[str, bytes | list[str]]: ...

class Job:
    id: int
    processors: int
    requested: float | None
    submit: float
    user: int | None

class Running:
    id: int | None
    processors: int
    expected_end: float | None
    start: float
    user: int | None
    machine: int

class View:
    now: float
    processors: list[int]
    free: list[int]
    queue: list[Job]
    running: list[Running]

class Environment:
    def __init__(
        self, tasks: Iterable[tuple[int, int, int, int, int]], processors: int, slots: int, rules: str, behind: str
    ) -> None: ...
    def reset(self, first: int, count: int) -> bool: ...
    def step(self, action: int) -> bool: ...
    def play(self, first: int, count: int, rule: str) -> None: ...
    def observe(self) -> tuple[bytes, bytes]: ...
    def actions(self) -> int: ...
    def value(self, metric: str) -> float | None: ...
    def fork(self) -> Environment: ...
    now: int
    queue: list[tuple[int, int, int, int]]
    starts: list[int]

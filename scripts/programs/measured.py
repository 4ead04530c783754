"""The latencies that a program reports itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Latency:
    """The latencies of one kind of operation, as the program measured them."""

    what: str
    count: int
    p50_us: float | None
    p99_us: float | None
    """None where the program does not say it."""
    max_us: float | None

    @staticmethod
    def of(what: str, found_us: Sequence[float]) -> "Latency":
        """From each one of them."""
        ranked = sorted(found_us)
        if not ranked:
            raise RuntimeError(f"{what}: nothing was measured")
        return Latency(what, len(ranked), _at(ranked, 0.5), _at(ranked, 0.99), ranked[-1])


def _at(ranked: Sequence[float], share: float) -> float:
    """The smallest value that this share is not above."""
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)]


@dataclass(frozen=True)
class Load:
    """The amount of work of a program."""

    seconds: float
    """The duration of its main part, on the clock of the machine."""
    is_short: bool
    """Whether it only has to work: for tests."""

    def size(self, count: int) -> int:
        """A number of rows, fewer in the short form."""
        return max(1, count // 20) if self.is_short else count


@dataclass(frozen=True)
class Program:
    """A program that runs on a filesystem on a served drive, and checks its data at the end."""

    name: str
    title: str
    needs: tuple[str, ...]
    """Files that have to exist."""
    version: Callable[[], str]
    load: Callable[[Path, Load], list[Latency]]
    """Runs in a folder on the drive; an error where its own check finds its data damaged."""
    does: str
    """Its work, for the record."""

    def missing(self) -> list[str]:
        """The missing installations."""
        return [name for name in self.needs if not Path(name).exists()]

"""Runs the tests against a mutant, the fast ones first, until one of them fails."""

import os
import re
import resource
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ASIDE = ("tidy::", "own_scheme::")
"""Tests of the sources, which a mutant does not change, and not of the engine."""
FIRST = ("timelines::", "timeline_page::", "histories")
# The second history of seed 1 collects three million pages, and its stories need more memory than
# a mutant may have.
HISTORIES = ["--seed", "2", "--count", "150"]
LONG = ("block_blocking::", "preemption::", "sub_blocks::")
"""Tests whose long form takes minutes and not hours."""
FAILED = re.compile(rb"^test (\S+) \.\.\. FAILED|^(found): ", re.MULTILINE)
"""The output of a test program at a failure; random histories would continue and shrink theirs."""
TOGETHER_S = (0.1, 1.0)
"""Tests that take less than this run in one process."""
FACTOR = 3
LEAST_S = 3
MEMORY_BYTES = 4 << 30


@dataclass
class Test:
    """A test, or the random histories, without a mutant."""

    program: str
    name: str
    cpu_s: float = 0.0
    reached: set[int] = field(default_factory=set)

    @property
    def is_early(self) -> bool:
        """Whether it is among the first tests, as it catches much."""
        return self.name.startswith(FIRST)


@dataclass
class Done:
    """The end of a process."""

    status: str
    """`passed`, `failed` or `timeout`."""
    cpu_s: float
    by: str = ""
    """The test that failed."""


class Programs:
    """The test programs, with a folder in which they run."""

    def __init__(self, paths: dict[str, Path], work: Path) -> None:
        self.paths = paths
        self.folders = dict.fromkeys(("unit", "model", "all"), work / "crates/flashgc")
        self.folders["remembered"] = work / "crates/flashgc-histories"
        self.folders["histories"] = work

    def listed(self) -> list[Test]:
        """All tests that a mutant can fail."""
        found = [Test("histories", "histories")]
        for program in ("unit", "model", "all", "remembered"):
            told = subprocess.run([self.paths[program], "--list"], cwd=self.folders[program],
                                  capture_output=True, check=True).stdout.decode()  # fmt: skip
            names = (line.removesuffix(": test") for line in told.splitlines()
                     if line.endswith(": test"))  # fmt: skip
            found += [Test(program, name) for name in names if not name.startswith(ASIDE)]
        return found

    def measure(self, test: Test) -> None:
        """Notes the time of a test, and the mutants that it reaches."""
        with tempfile.NamedTemporaryFile("r") as told:
            done = self.run([test], {"FLASHGC_MUTANTS_REACHED": told.name}, 600)
            assert done.status == "passed", f"{test.name} fails without a mutant"
            test.cpu_s = done.cpu_s
            test.reached = {int(line) for line in told}

    def run(self, tests: Sequence[Test], env: dict[str, str], limit_s: float) -> Done:
        """Runs tests of one program, until one fails or their time is over."""
        program = tests[0].program
        words = ["--test-threads", "1", "--exact", *(test.name for test in tests)]
        child = subprocess.Popen(
            [self.paths[program], *(HISTORIES if program == "histories" else words)],
            cwd=self.folders[program],
            env={**os.environ, "RUST_BACKTRACE": "0", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: _limit(limit_s),  # noqa: PLW1509, no threads
        )
        # Time of the processor, since other programs may use it too; the wall clock ends a test
        # that sleeps.
        by = _first_failure(child, until=time.monotonic() + 20 * limit_s)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        cpu_s = used.ru_utime + used.ru_stime
        if by:
            return Done("failed", cpu_s, by)
        if child.returncode == 0:
            return Done("passed", cpu_s)
        is_late = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        return Done("timeout" if is_late else "failed", cpu_s, tests[0].name)


def _limit(seconds: float) -> None:
    whole = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _first_failure(child: subprocess.Popen[bytes], until: float) -> str:
    """Waits for the end of a process, or for a failed test, whose name it returns."""
    assert child.stdout is not None
    last = b""
    with child.stdout, selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while time.monotonic() < until:
            if not selector.select(timeout=1):
                continue
            chunk = os.read(child.stdout.fileno(), 65536)
            if not chunk:
                return ""
            last += chunk
            if failed := FAILED.search(last):
                os.killpg(child.pid, signal.SIGKILL)
                return failed[1].decode() if failed[1] else "histories"
            last = last[last.rfind(b"\n") + 1 :]
    os.killpg(child.pid, signal.SIGKILL)
    return ""


def together(tests: list[Test]) -> list[list[Test]]:
    """The tests by process: early and fast ones first, slow ones alone."""
    parts: dict[tuple[int, str], list[Test]] = {}
    for test in sorted(tests, key=lambda test: test.cpu_s):
        order = 0 if test.is_early else sum(test.cpu_s >= limit for limit in TOGETHER_S)
        alone = "" if order < len(TOGETHER_S) else test.name
        parts.setdefault((order, test.program + alone), []).append(test)
    return [part for _, part in sorted(parts.items(), key=lambda one: one[0][0])]


def trial(programs: Programs, number: int, tests: list[Test]) -> Done:
    """Runs the tests that reach a mutant."""
    env, cpu_s = {"FLASHGC_MUTANT": str(number)}, 0.0
    for part in together([test for test in tests if number in test.reached]):
        done = programs.run(part, env, FACTOR * sum(test.cpu_s for test in part) + LEAST_S)
        cpu_s += done.cpu_s
        if done.status != "passed":
            return Done(done.status, cpu_s, done.by)
    return Done("passed", cpu_s)


def long_trial(programs: Programs, number: int, tests: list[Test]) -> Done:
    """Runs the long forms of the tests that reach a mutant."""
    env = {"FLASHGC_MUTANT": str(number), "FLASHGC_LONG": "1"}
    for test in tests:
        if test.program == "all" and test.name.startswith(LONG) and number in test.reached:
            done = programs.run([test], env, 600)
            if done.status != "passed":
                return done
    return Done("passed", 0.0)

"""A drive in SimPy, whose reads, writes, trims and flushes are events."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from flashgc._engine import ConfigError, RunError
from flashgc.components.component import Completion, Component
from flashgc.files.arguments import shown
from flashgc.machine import extras

if TYPE_CHECKING:
    import simpy as library

    from flashgc.reports.report import Report
    from flashgc.running import building

_NS = 1e9


class Drive:
    """A drive on the clock of a SimPy environment.

    :meth:`read`, :meth:`write`, :meth:`trim` and :meth:`flush` return SimPy events, whose value is
    the :class:`flashgc.Completion`. A drive takes as many requests at a time as its `depth` says;
    the others wait here for their turn, and their latency begins when it has come. A wrong request
    raises its RunError at once, or, where it had to wait, in the process that yields its event.

    The present of the environment is 0 of the drive. Requests that come at one instant of the
    environment come after everything that ends at it.

    Args:
        env: the environment.
        config: as for :class:`flashgc.Component`, such as the name of a device preset, or a
            component at its beginning.
        ns: the nanoseconds of one unit of the environment's time: 1e9 where it counts seconds.
        **options: those of :class:`flashgc.Component`; a component has its own already.

    Raises:
        ConfigError: options for a component that is made already, or `ns` that is not above 0.

    >>> import simpy
    >>> import flashgc.simpy
    >>> env = simpy.Environment()
    >>> small = {"device.blocks_per_plane": 64}
    >>> drive = flashgc.simpy.Drive(env, "slc-msr", set=small)
    >>> def client():
    ...     done = yield drive.write(0, 4096)
    ...     print(done.op, round(env.now * 1e6), "us", done.parts["service_ns"] == done.latency_ns)
    >>> process = env.process(client())
    >>> env.run()
    write 306 us True

    """

    def __init__(
        self,
        env: library.Environment,
        config: building.Config | Component,
        *,
        ns: float = _NS,
        **options: Any,  # noqa: ANN401 - those of a component
    ) -> None:
        extras.library("simpy", "a drive in SimPy needs")
        _check(env, config, ns, options)
        self.env = env
        self.component = config if isinstance(config, Component) else Component(config, **options)
        self._ns = ns
        self._begun = env.now
        self._asked: dict[int, library.Event] = {}
        self._waiting: deque[tuple[int, str, int, int, dict[str, Any]]] = deque()
        self._number = 0
        self._alarm: Any = None
        self._alarm_ns: int | None = None

    def __repr__(self) -> str:
        return f"Drive({self.component!r}, {self.waiting:,} waiting)"

    def read(self, offset: int, bytes: int, **marks: Any) -> library.Event:  # noqa: ANN401
        """Reads bytes; the marks are those of :meth:`flashgc.Component.submit`."""
        return self._ask("read", offset, bytes, marks)

    def write(self, offset: int, bytes: int, **marks: Any) -> library.Event:  # noqa: ANN401
        """Writes bytes; with `fua=True` it is done when they survive a loss of power."""
        return self._ask("write", offset, bytes, marks)

    def trim(self, offset: int, bytes: int, **marks: Any) -> library.Event:  # noqa: ANN401
        """Discards bytes."""
        return self._ask("trim", offset, bytes, marks)

    def flush(self, **marks: Any) -> library.Event:  # noqa: ANN401
        """When it is done, the data written before it survives a loss of power."""
        return self._ask("flush", 0, 0, marks)

    @property
    def waiting(self) -> int:
        """Requests that wait for a place in the drive."""
        return len(self._waiting)

    def finish(self) -> Report:
        """The report; see :meth:`flashgc.Component.finish`.

        Requests that are under way or wait for a place are served first: each event comes at the
        end of its request, after the present time of the environment.
        """
        self._catch_up()
        self._alarm = None
        while self._asked and (next_ns := self.component.next_event()) is not None:
            self._tell(self.component.advance(next_ns), later=True)
        return self.component.finish()

    def _now_ns(self) -> int:
        return round((self.env.now - self._begun) * self._ns)

    def _ask(self, op: str, offset: int, bytes: int, marks: dict[str, Any]) -> library.Event:
        """The event of a request that comes now."""
        self._catch_up()
        event = self.env.event()
        number, self._number = self._number, self._number + 1
        one = (number, op, offset, bytes, marks)
        if self._waiting or not self._submit(one):
            self._waiting.append(one)
        self._asked[number] = event
        self._set_alarm()
        return event

    def _submit(self, one: tuple[int, str, int, int, dict[str, Any]]) -> bool:
        number, op, offset, size, marks = one
        return self.component.submit(self.component.now_ns, op, offset, size, number, **marks)

    def _catch_up(self) -> None:
        """Time of the drive advances to that of the environment."""
        now_ns = max(self._now_ns(), self.component.now_ns)
        self._tell(self.component.advance(now_ns))

    def _tell(self, done: Iterable[Completion], *, later: bool = False) -> None:
        for one in done:
            event = self._asked.pop(one.tag)
            if later:
                self._succeed_later(event, one)
            else:
                event.succeed(one)
        while self._waiting and self._is_served(self._waiting[0]):
            self._waiting.popleft()

    def _succeed_later(self, event: library.Event, one: Completion) -> None:
        """The event comes when the environment is at the end of its request."""

        def ends(_: object) -> None:
            event.succeed(one)

        self.env.timeout(self._wait_until(one.at_ns)).callbacks.append(ends)

    def _wait_until(self, ns: int) -> float:
        return max(0.0, (ns / self._ns + self._begun) - self.env.now)

    def _is_served(self, one: tuple[int, str, int, int, dict[str, Any]]) -> bool:
        """Whether a request need not wait any longer; the event of a wrong one has its error."""
        try:
            return self._submit(one)
        except (RunError, TypeError) as error:
            self._asked.pop(one[0]).fail(error)
            return True

    def _set_alarm(self) -> None:
        """The environment looks again at the next instant at which something may be done."""
        next_ns = self.component.next_event()
        if next_ns is None or (self._alarm_ns is not None and self._alarm_ns <= next_ns):
            return
        self._alarm_ns = next_ns
        self._alarm = alarm = self.env.timeout(self._wait_until(next_ns))
        alarm.callbacks.append(self._wakes)

    def _wakes(self, alarm: Any) -> None:  # noqa: ANN401 - a timeout of SimPy
        if alarm is not self._alarm:
            return
        woken_ns, self._alarm_ns = self._alarm_ns, None
        # The clock of the environment is a float: the instant itself is exact here.
        self._tell(self.component.advance(max(woken_ns or 0, self.component.now_ns)))
        self._set_alarm()


def _check(env: object, config: object, ns: float, options: Mapping[str, object]) -> None:
    """Refuses arguments that would have no effect, and a unit of time that is none."""
    if not all(hasattr(env, name) for name in ("now", "timeout", "event")):
        raise ConfigError(
            f"error: `env` must be a simpy.Environment, got {shown(env)}\n"
            "  = help: drive = Drive(simpy.Environment(), CONFIG)"
        )
    if isinstance(config, Component) and options:
        raise ConfigError(
            f"error: {', '.join(options)} cannot be set: the component is made already\n"
            "  = help: give these options to flashgc.Component(), or pass a configuration here"
        )
    if isinstance(ns, bool) or not isinstance(ns, Real) or not 0 < ns < math.inf:
        raise ConfigError(
            f"error: `ns` must be a finite number above 0, got {ns!r}\n"
            "  = help: give the nanoseconds of one unit of env.now: 1e9 for seconds, 1 for ns"
        )

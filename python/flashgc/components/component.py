"""A drive that has its requests from outside, one by one or in arrays."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn, SupportsIndex, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

import flashgc._engine as engine
from flashgc._engine import RunError
from flashgc.components import calls, closed_loop, columns
from flashgc.components.closed_loop import Loop
from flashgc.files import arguments
from flashgc.formatting import units
from flashgc.reports.report import Report, of_outcome
from flashgc.running import building, builtin_presets, executing, inputs

PARTS: Final = engine.PARTS
"""The names of the parts of a latency, as in blame."""
OPERATIONS: Final = engine.OPERATIONS
"""The names of operations; the place of each is its number in arrays."""

_NUMBERS: Final = {name: number for number, name in enumerate(OPERATIONS)}
_ANY: Final[dict[str, object]] = {}
"""The configuration of a device by its name alone."""


class Completion(NamedTuple):
    """A request that is done."""

    tag: int
    """The submitter's number for the request."""
    op: str
    """Its operation."""
    at_ns: int
    """The time of its end, in ns."""
    latency_ns: int
    """From its arrival until then, in ns."""
    is_refused: bool
    """Whether it is a write or a trim that came when the drive was read-only."""
    parts: Mapping[str, int] | None
    """The parts of the latency, in ns, where latencies are split; trims and flushes have none."""


class Completions:
    """Requests that are done, in order of time: as arrays, or one by one."""

    def __init__(self, done: engine.Completions | columns.Kept, has_parts: bool = True) -> None:
        self._done = done
        self._has_parts = has_parts
        self._columns: list[NDArray[np.uint64]] | None = None

    def __reduce__(self) -> tuple[type[Completions], tuple[object, bool]]:
        parts = [self._done.part(at) for at in range(len(PARTS))] if self._has_parts else []
        kept = columns.Kept(self._done.columns(), parts, self._done.rows())
        return Completions, (kept, self._has_parts)

    def __len__(self) -> int:
        return len(self._done)

    def __repr__(self) -> str:
        return f"Completions({units.counted(len(self), 'request')})"

    def __iter__(self) -> Iterator[Completion]:
        for tag, op, at_ns, latency_ns, is_refused, parts in self._done.rows():
            named = None if parts is None else dict(zip(PARTS, parts, strict=True))
            yield Completion(tag, OPERATIONS[op], at_ns, latency_ns, is_refused, named)

    @property
    def tag(self) -> NDArray[np.uint64]:
        """The tags."""
        return self._column(0)

    @property
    def op(self) -> NDArray[np.uint64]:
        """The operations: 0 is a read, 1 a write, 2 a trim, and 3 a flush."""
        return self._column(1)

    @property
    def at_ns(self) -> NDArray[np.uint64]:
        """The times of their ends, in ns."""
        return self._column(2)

    @property
    def latency_ns(self) -> NDArray[np.uint64]:
        """From arrival until then, in ns."""
        return self._column(3)

    @property
    def is_refused(self) -> NDArray[np.bool_]:
        """A mask of the writes and trims that came when the drive was read-only."""
        return self._column(4).astype(np.bool_)

    @property
    def parts(self) -> dict[str, NDArray[np.uint64]]:
        """The parts of the latencies, in ns: an array for each part; 0 for trims and flushes.

        A RunError where the component does not split latencies.
        """
        if not self._has_parts:
            raise RunError(
                "error: latencies are not split into parts here\n"
                "  = help: make the component with parts=True"
            )
        return {name: _array(self._done.part(at)) for at, name in enumerate(PARTS)}

    def _column(self, at: int) -> NDArray[np.uint64]:
        if self._columns is None:
            self._columns = [_array(column) for column in self._done.columns()]
        return self._columns[at]


class Component:
    """A drive on the clock of another simulator.

    Time is 0 when it is made, in ns, and advances by :meth:`advance`. Requests are submitted for
    instants that are not before the present, and come back as completions.

    Args:
        config: as for :func:`flashgc.run`, with its workload ignored; or the name of a
            device preset.
        scheme: the name of a scheme, a path to a file with one, or a scheme in Python.
        device: the name of a device; it replaces the configuration's whole device.
        set: settings over all else, as for :func:`flashgc.run`.
        unset: keys that are taken out of the configuration.
        seed: over the configuration's seed.
        drive: a file of :func:`flashgc.drive.save` in place of preconditioning.
        depth: the most requests that it has at a time; without it there is no bound.
        parts: whether latencies are split into their parts.
        verify: whether the checkers watch every operation (slower).
        progress: called with a :class:`flashgc.Progress` while the drive is preconditioned.

    Raises:
        ConfigError: with every mistake of the configuration, or why it cannot have its requests
            from outside.
        RunError: wrong use, such as a time before the present.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "precondition.overwrite": 1}
    >>> drive = flashgc.Component("slc-msr", set=small)
    >>> drive.submit(0, "write", 0, 4096, tag=7)
    True
    >>> [(done.tag, done.op) for done in drive.advance(2_000_000)]
    [(7, 'write')]
    >>> drive.finish().requests["write"]
    1

    """

    def __init__(
        self,
        config: building.Config,
        *,
        scheme: building.AnyScheme | None = None,
        device: building.PathLike | None = None,
        set: building.Settings | None = None,
        unset: Iterable[str] | None = None,
        seed: int | None = None,
        drive: building.PathLike | None = None,
        depth: int | None = None,
        parts: bool = True,
        verify: bool = False,
        progress: executing.ProgressCallback | None = None,
    ) -> None:
        given: building.Config = config
        if device is None and is_device(config):
            given, device = _ANY, config
        request = building.request(given, None, scheme, device, set, seed, None, unset)
        arguments.check_paths(drive=drive)
        parts = arguments.switch("parts", parts)
        verify = arguments.switch("verify", verify)
        own = None if drive is None else os.fspath(drive)
        most = None if depth is None else inputs.whole("depth", depth, 1)
        told = executing.callback(progress)
        self._engine = engine.Component(request, own, most, parts, verify, told)
        self._parts = parts

    def __repr__(self) -> str:
        try:
            count, now_ns, size = self.under_way, self.now_ns, units.size(self.bytes)
        except RunError:  # another thread uses it
            return "Component(...)"
        return f"Component({size}, at {now_ns:,} ns, {units.counted(count, 'request')} under way)"

    def __reduce__(self) -> NoReturn:
        """A component is neither copied nor pickled."""
        raise RunError(
            "error: a component cannot be copied or pickled\n"
            "  = help: snapshot() and restore() go back to an instant; a saved drive "
            "(flashgc.drive.save) is a beginning for several components"
        )

    @property
    def now_ns(self) -> int:
        """The present, in ns."""
        return self._engine.now_ns

    @property
    def under_way(self) -> int:
        """Requests that were submitted and are not done."""
        return self._engine.under_way

    @property
    def bytes(self) -> int:
        """The bytes that the drive has for its host."""
        return self._engine.bytes

    @property
    def page_bytes(self) -> int:
        """The bytes of the unit that it maps: smaller writes read the rest of theirs first."""
        return self._engine.page_bytes

    @property
    def tenants(self) -> list[str]:
        """The names of the tenants in `[[workload.tenants]]`, by their numbers."""
        return self._engine.tenants

    def _tenant(self, given: int | str) -> int:
        """The number of a tenant."""
        if isinstance(given, str):
            names = self.tenants
            if given in names:
                return names.index(given)
            known = ", ".join(f'"{name}"' for name in names)
            remedy = f"give one of {known}" if names else "add it to [[workload.tenants]]"
            raise RunError(f"error: no tenant has the name {given!r}\n  = help: {remedy}")
        if not isinstance(given, SupportsIndex) or not 0 <= operator.index(given) < 1 << 16:
            raise RunError(
                f"error: no tenant has the number {given}\n"
                "  = help: give its place in [[workload.tenants]], from 0"
            )
        return operator.index(given)

    @property
    def is_read_only(self) -> bool:
        """Whether it takes no further write, since too many of its blocks are bad."""
        return self._engine.is_read_only

    def submit(
        self,
        at_ns: int,
        op: str,
        offset: int = 0,
        bytes: int = 0,
        tag: int = 0,
        *,
        hint: int = 0,
        high: bool = False,
        fua: bool = False,
        tenant: int | str = 0,
    ) -> bool:
        """Submits a request for an instant that is not before the present; nothing happens yet.

        Args:
            at_ns: when it comes, in ns.
            op: `read`, `write`, `trim` or `flush`; a flush has neither offset nor bytes.
            offset: the first byte.
            bytes: the number of bytes.
            tag: a number by which the caller knows the request.
            hint: the placement hint of a write; 0 is none.
            high: whether it is of high priority.
            fua: whether a write is done only when its data survives a loss of power.
            tenant: the name or the number of its tenant in `[[workload.tenants]]`.

        Returns:
            Whether it was accepted. The drive is full otherwise: submit it again after the next
            completion.

        """
        number = calls.operation(_NUMBERS, op)
        own = self._tenant(tenant)
        try:
            return self._engine.submit(at_ns, number, offset, bytes, tag, hint, high, fua, own)
        except (OverflowError, TypeError):
            calls.check_numbers(at_ns=at_ns, offset=offset, bytes=bytes, tag=tag, hint=hint)
            calls.check_switches(high=high, fua=fua)
            raise

    def submit_all(
        self,
        at_ns: ArrayLike,
        op: ArrayLike | str,
        offset: ArrayLike,
        bytes: ArrayLike,
        tag: ArrayLike | None = None,
        *,
        hint: ArrayLike | None = None,
        tenant: ArrayLike | str | None = None,
    ) -> int:
        """Submits many requests, as arrays of one length or single values for all of them.

        `op` has numbers, in the order of `read`, `write`, `trim`, `flush`, or is a name; the tags
        are 0, 1, 2 and so on by default. Tenants are numbers, in the order of
        `[[workload.tenants]]`, or a name. Returns how many were accepted: those before the first
        one that found the drive full. An error has the index of the first wrong request, such as a
        flush with an offset; those before it were submitted.
        """
        times = columns.column(at_ns, "at_ns")
        count = times.size
        ops = calls.operation(_NUMBERS, op) if isinstance(op, str) else op
        given = {"op": ops, "offset": offset, "bytes": bytes,
                 "tag": np.arange(count, dtype=np.uint64) if tag is None else tag}  # fmt: skip
        ops_, offsets, sizes, tags = (
            columns.spread(value, count, name) for name, value in given.items()
        )
        hints = None if hint is None else columns.spread(hint, count, "hint")
        own = self._tenant(tenant) if isinstance(tenant, str) else tenant
        owners = None if own is None else columns.spread(own, count, "tenant")
        before = self.under_way
        try:
            return self._engine.submit_all(times, ops_, offsets, sizes, tags, hints, owners)
        except (RunError, ValueError) as error:
            at = self.under_way - before
            raise _at(at, int(ops_[at]), error) from None

    def next_event(self) -> int | None:
        """The next instant at which a request may be done, in ns; `None` while there is none.

        The owner of the clock advances to it at the latest.
        """
        return self._engine.next_event()

    def advance(self, to_ns: int) -> Completions:
        """Lets time advance to this instant, and returns the requests that were done until then.

        Requests that are submitted for this instant now come after everything that ended at it, as
        those of a trace.
        """
        try:
            return Completions(self._engine.advance(to_ns), self._parts)
        except (OverflowError, TypeError):
            calls.check_numbers(to_ns=to_ns)
            raise

    def advance_to_completion(self, limit_ns: int | None = None) -> Completions:
        """Lets time advance until a request is done, and at most to `limit_ns`.

        Requests that are submitted for this very instant come before anything else that happens at
        it, as those of a closed loop.
        """
        limit = calls.NUMBER_MAX if limit_ns is None else limit_ns
        try:
            return Completions(self._engine.advance_to_completion(limit), self._parts)
        except (OverflowError, TypeError):
            calls.check_numbers(limit_ns=limit)
            raise

    def drain(self) -> Completions:
        """Lets time advance until every request that was submitted is done."""
        return Completions(self._engine.drain(), self._parts)

    def closed_loop(
        self,
        *,
        depth: int,
        bytes: int,
        length_ns: int | None = None,
        requests: int | None = None,
        read_share: float = 0.0,
        span: int | None = None,
        next_offset: int | None = None,
        seed: int = 1,
        stream: str = "",
        part_ns: int | None = None,
        tenant: int | str = 0,
        progress: executing.ProgressCallback | None = None,
    ) -> Loop:
        """Issues requests one after the other, `depth` at a time, until the last one is done.

        It is the loop over :meth:`advance_to_completion` in the engine, without a call for each
        request.

        Args:
            depth: requests at a time.
            bytes: the size of each request; places are multiples of it.
            length_ns: requests are issued for this long, in ns.
            requests: the most that are issued.
            read_share: the share of reads; the others are writes.
            span: the bytes from the start of the drive on that are used; by default all.
            next_offset: the first place of requests that follow each other; by default places are
                drawn.
            seed: of the draws.
            stream: a name; other streams have other draws under the same seed.
            part_ns: the length of the parts that are counted by themselves, in ns.
            tenant: the name or the number of the tenant of its requests.
            progress: called with a :class:`flashgc.Progress`, whose phase is `loop`.

        Returns:
            Counts and latencies of its requests.

        """
        if length_ns is None and requests is None:
            raise RunError(
                "error: a closed loop needs an end\n  = help: give length_ns or requests"
            )
        if self.under_way:
            raise RunError(
                f"error: {units.counted(self.under_way, 'request is', 'requests are')} under way\n"
                "  = help: drain() first"
            )
        size = inputs.whole("bytes", bytes, 1)
        return Loop(self._engine.closed_loop({
            "depth": closed_loop.depth(depth), "size": size,
            "span": self._places(size, span),
            "read_share": closed_loop.checked_share("read_share", read_share),
            "next": closed_loop.optional("next_offset", next_offset, 0),
            "seed": closed_loop.whole("seed", seed, 0), "stream": closed_loop.name(stream),
            "length_ns": closed_loop.optional("length_ns", length_ns, 1),
            "requests": closed_loop.optional("requests", requests, 1),
            "part_ns": closed_loop.part("part_ns", part_ns, length_ns),
            "tenant": self._tenant(tenant),
        }, executing.callback(progress)))  # fmt: skip

    def _places(self, size: int, span: int | None) -> int:
        """The bytes of the drive that requests of this size use."""
        room = self.bytes if span is None else inputs.whole("span", span, 1)
        if not size <= room <= self.bytes:
            raise RunError(
                f"error: requests of {size} bytes in the first {room} bytes of a drive of "
                f"{self.bytes}\n  = help: give `bytes` at most `span`, and `span` at most the drive"
            )
        return room // size * size

    def rest(self) -> None:
        """Lets the drive do now what it does until the present while it is idle.

        It counts from then on, also if no further request comes: the result is no longer that of a
        run, which ends with its last request.
        """
        self._engine.rest()

    def snapshot(self) -> engine.Snapshot:
        """A copy of the present state, with the requests under way and to come."""
        return self._engine.snapshot()

    def restore(self, snapshot: engine.Snapshot) -> None:
        """Goes back, or forward, to a snapshot of this component, any number of times."""
        calls.check_snapshot(snapshot)
        self._engine.restore(snapshot)

    def statistics(self) -> Report:
        """The report on everything until now; it has no `result_hash`."""
        return of_outcome(self._engine.statistics())

    def finish(self) -> Report:
        """No further request comes: those that were submitted are served.

        The report is that of :func:`flashgc.run` with the same requests in a trace. The component
        cannot be used after that.
        """
        return of_outcome(self._engine.finish())


def is_device(given: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this names a device, and no configuration."""
    return (isinstance(given, str) and given in _devices()) or inputs.is_device_file(given)


def _devices() -> frozenset[str]:
    return frozenset(device["name"] for device in builtin_presets.devices())


def _array(column: Any) -> NDArray[np.uint64]:  # noqa: ANN401 - packed bytes
    return np.frombuffer(column, dtype="<u8")


def _at(index: int, op: int, error: Exception) -> RunError:
    """The error of one request among many, with its index."""
    what = str(error).removeprefix("error: ")
    if op >= len(OPERATIONS):
        numbers = ", ".join(f"{number} ({name})" for number, name in enumerate(OPERATIONS))
        what = f"no operation has the number {op}\n  = help: give one of {numbers}"
    return RunError(f"error: the request at index {index}: {what}")

"""The keys of an explanation: attributes, types and the JSON Schema come from here.

docs/explain.md defines each of them.
"""

from __future__ import annotations

from typing import Annotated

from flashgc.schema.section import Only, Section


class Parts(Section):
    """The parts of a latency, which add up to it."""

    service_ns: int
    host_ns: int
    copies_ns: int
    erase_ns: int
    bus_ns: int
    switch_ns: int
    blocked_ns: int
    space_ns: int
    buffer_ns: int


class Step(Section):
    """A step of a request."""

    at_ns: int
    step: str
    unit: Annotated[int, Only("in a step `queued`")]


class Work(Section):
    """An operation of a unit."""

    unit: int
    from_ns: int
    to_ns: int
    operation: str
    pages: int
    gc: bool
    collection: int | None
    bus_wait_ns: int
    gc_bus_wait_ns: int
    plane: Annotated[int, Only("of a read with `device.independent_plane_reads`")]
    operations: Annotated[int, Only("of an operation `left_out`")]
    gc_ns: Annotated[int, Only("of an operation `left_out`")]


class Block(Section):
    """A block of a collection."""

    block: int
    valid: int


class Collection(Section):
    """A collection."""

    number: int
    unit: int
    plane: int
    blocks: list[Block]
    selected_ns: int
    end_ns: int | None


class StoryKeys(Section):
    """The story of one request."""

    request: int
    job: int
    kind: str
    offset_bytes: int
    size_bytes: int
    pages: int
    arrival_ns: int
    start_ns: int
    end_ns: int
    latency_ns: int
    parts: Parts | None
    steps: list[Step]
    work: list[Work]
    collections: list[Collection]


class ExplanationKeys(Section):
    """The stories of some requests of a run."""

    scheme: str
    device: str
    seed: int
    version: str
    config_hash: str
    result_hash: str
    requests: int
    stories: list[StoryKeys]

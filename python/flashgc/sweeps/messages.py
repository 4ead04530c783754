"""Messages between a sweep and its workers: a length in 8 bytes, and a pickle."""

from __future__ import annotations

import pickle
from typing import IO, Any


def send(stream: IO[bytes], what: object) -> None:
    """Writes one message."""
    data = pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:  # noqa: ANN401 - of any type
    """Reads one message; an EOFError at the end."""
    size = int.from_bytes(_exactly(stream, 8), "little")
    return pickle.loads(_exactly(stream, size))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data

"""Names of sweeps and of searches, which are folders of their results."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def of_file(stem: str, default: str) -> str:
    """The name that a file gives, with a dash in place of each character that no name has.

    >>> from flashgc.axes import naming
    >>> naming.of_file("my sweep", "sweep"), naming.of_file("...", "sweep")
    ('my-sweep', 'sweep')
    """
    return re.sub(r"[^A-Za-z0-9._-]", "-", stem).lstrip("._-") or default

"""Schemes of a comparison that cannot run: why, and the settings that let each run."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flashgc._engine as engine
from flashgc._engine import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashgc._engine_types import Request

PathLike = str | os.PathLike[str]

_HELP = re.compile(r"^\s*= help: (.+)$", re.MULTILINE)
_SETTINGS_MAX = 8
"""A scheme that lacks more than this does not belong on the device."""


@dataclass(frozen=True)
class Refusal:
    """A scheme that was skipped in a comparison.

    >>> import flashgc
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> found = flashgc.compare("oltp", ["greedy", "fpgc"], set=small)
    >>> [refused.scheme for refused in found.refused], found.refused[0].settings
    (['fpgc'], ('device.suspend.suspend=20 us',))
    """

    scheme: str
    """Its name."""
    reason: str
    """The reason why it cannot run, in one sentence."""
    text: str
    """The whole message, with its place and advice."""
    settings: tuple[str, ...]
    """Settings `key=value` with which it runs (for `set`), together with :attr:`unset`; where there
    is a :attr:`then` they do not suffice. Both are empty where nothing is known to help."""
    unset: tuple[str, ...]
    """Keys to take out (for `unset`)."""
    then: str | None
    """The reason that is left with these settings; None where it runs."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON: `scheme`, `refused` (the reason), `settings`, `then` and `text`."""
        return {
            "scheme": self.scheme, "refused": self.reason, "settings": list(self.settings),
            "unset": list(self.unset), "then": self.then, "text": self.text,
        }  # fmt: skip

    @property
    def advice(self) -> str:
        """The options to type; where none are known, the help of the message, if it has one."""
        words = [f"--unset {key}" for key in self.unset]
        words += [f"--set {_quoted(setting)}" for setting in self.settings]
        if not words:
            found = _HELP.search(self.text)
            return "no setting that would let it run is known" if found is None else found[1]
        typed = " ".join(words)
        if self.then is not None:
            return f"{typed} leads to: {self.then}"
        return f"it runs with {typed}"


def of(request: Request, name: object, drive: PathLike | None) -> Refusal | None:
    """Why a scheme cannot run, where it cannot.

    A ConfigError where its name is unknown, or a key of the scheme is missing, unknown or wrong by
    itself: such a scheme runs on no device.
    """
    found = _problems(request, drive)
    if not found:
        return None
    if any(map(_is_of_scheme, found)):
        raise ConfigError("\n\n".join(problem["text"] for problem in found))
    text = "\n\n".join(problem["text"] for problem in found)
    settings: list[str] = []
    left = found
    while left and len(settings) < _SETTINGS_MAX:
        step = _step(request, drive, settings, left)
        if step is None:
            break
        settings.append(step[0])
        left = step[1]
    then = left[0]["message"] if left and settings else None
    sets, unsets = (tuple(one for one in settings if ("=" in one) is is_set)
                    for is_set in (True, False))  # fmt: skip
    return Refusal(str(name), found[0]["message"], text, sets, unsets, then)


def _is_of_scheme(problem: dict[str, Any]) -> bool:
    key = problem["key"] or ""
    return bool(key == "gc.scheme" or (key.startswith("gc.") and problem["is_form"]))


def check_any(refused: Sequence[Refusal], asked: int) -> None:
    """A ConfigError where every scheme was refused: of one mistake in all, or with all reasons."""
    if len(refused) < asked:
        return
    texts = {one.text for one in refused}
    if len(texts) == 1:
        raise ConfigError(texts.pop())
    lines = [f"\n  | {one.scheme}: {one.reason}; {one.advice}" for one in refused]
    raise ConfigError(f"error: none of these schemes can run{''.join(lines)}")


def _step(
    request: Request, drive: PathLike | None, settings: Sequence[str], left: list[dict[str, Any]]
) -> tuple[str, list[dict[str, Any]]] | None:
    """The first remedy that removes a mistake, with the mistakes that are left then."""
    for problem in left:
        for remedy in problem["remedies"]:
            then = _problems(request, drive, [*settings, remedy])
            if _kind(problem) not in map(_kind, then):
                return remedy, then
    return None


def _kind(problem: dict[str, Any]) -> str:
    """The key, and the message without its numbers, which identify the kind of mistake."""
    message = re.sub(r"\d+", "", problem["message"])
    return f"{problem['key']}: {message}"


def _problems(
    request: Request, drive: PathLike | None, settings: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The mistakes of a configuration; none where it can run."""
    sets = [one for one in settings if "=" in one]
    unsets = [one for one in settings if "=" not in one]
    asked: Request = {
        **request, "sets": [*request["sets"], *sets], "unsets": [*request["unsets"], *unsets],
    }  # fmt: skip
    found: list[dict[str, Any]] = json.loads(
        engine.problems(asked, None if drive is None else os.fspath(drive))
    )
    return found


def _quoted(setting: str) -> str:
    """The form for a shell."""
    key, _, value = setting.partition("=")
    return f'{key}="{value}"' if " " in value or "%" in value else setting


__all__ = ["Refusal", "check_any", "of"]

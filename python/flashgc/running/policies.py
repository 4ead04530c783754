"""Policies written in Python: victim, placement and pacing, to prototype a scheme."""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import flashgc._engine as engine
from flashgc._engine import ConfigError
from flashgc.files import arguments
from flashgc.files.reading import printable
from flashgc.running import inputs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from flashgc._engine_types import Functions

PathLike = str | os.PathLike[str]
_WITH_SLICES = "gftl"
"""The base of a pacing function: the preset with time slices and nothing else of its own."""
_CLASSES_MAX = 64
SLOTS = ("victim", "placement", "pacing")
"""The slots that a function can have."""


class Candidates(NamedTuple):
    """The sealed blocks of a plane, as a victim function reads them: an entry of each array is one.

    Blocks come in order of number. The arrays cannot be changed.
    """

    plane: int
    """The plane, by number."""
    now_ns: int
    """The present, on the clock that also runs while a drive is preconditioned."""
    pages_per_block: int
    """Pages of a block that hold data."""
    random: int
    """A number from 0 to 2^63 - 1, drawn from the stream of the victim policy: the only source of
    chance with which equal seeds give equal results."""
    block: NDArray[np.int64]
    """Number of the block in its plane."""
    valid: NDArray[np.int64]
    """Valid pages."""
    invalid: NDArray[np.int64]
    """Invalid pages."""
    age_ns: NDArray[np.int64]
    """Time since the block was sealed."""
    erases: NDArray[np.int64]
    """Erases of the block since the drive was made."""


class Page(NamedTuple):
    """A page that a placement function names the class of."""

    lpn: int
    """Logical page number."""
    is_update: bool
    """Whether it held data before."""
    is_copy: bool
    """Whether a collection moves it; else the host writes it."""
    job: int
    """The concurrent job that writes it; 0 without jobs and for copies."""
    hint: int = 0
    """The placement hint of the write; 0 without any and for copies."""


class NextStep(NamedTuple):
    """The next operation of a collection, for a pacing function."""

    unit: int
    """The unit, by number."""
    now_ns: int
    """The present."""
    slice_ns: int
    """Length of the present time slice so far."""
    step_ns: int
    """Length of the operation if nothing makes it wait."""
    waiting: int
    """Page operations of the host that wait at the unit."""
    free_pages: int
    """The fewest erased pages of a plane of the unit."""


@dataclass(frozen=True, repr=False)
class Scheme:
    """A preset with functions in some of its slots; goes wherever a scheme is named."""

    name: str
    """Its name in reports."""
    base: PathLike
    """The preset, or the file, with the choices of all other slots."""
    victim: Callable[[Candidates], int | None] | None = None
    placement: Callable[[Page], int] | None = None
    classes: int = 1
    """Classes of pages of the placement."""
    pacing: Callable[[NextStep], object] | None = None

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"flashgc.scheme({self.name!r})"


def victim(function: Callable[[Candidates], int | None]) -> Scheme:
    """A scheme with this function as its victim policy; everything else is that of `greedy`.

    The function is called with the :class:`Candidates` of a plane that needs space, and returns the
    number of one, or None if none is worth collecting now. A class in place of a function is
    instantiated for each drive, and its instances are called.

    >>> import flashgc
    >>> @flashgc.victim
    ... def fewest_valid(candidates):
    ...     return candidates.block[candidates.valid.argmin()]
    >>> small = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
    >>> own = flashgc.run("oltp", scheme=fewest_valid, set=small)
    >>> own.result_hash == flashgc.run("oltp", scheme="greedy", set=small).result_hash
    True
    """
    return scheme(victim=function)


def placement(classes: int) -> Callable[[Callable[[Page], int]], Scheme]:
    """A scheme with this function as its placement; everything else is that of `greedy`.

    The function is called with each :class:`Page` that is written or copied, and returns its class,
    from 0 to `classes` - 1. Each class has an open block of its own in every plane.

    >>> import flashgc
    >>> @flashgc.placement(classes=2)
    ... def copies_apart(page):
    ...     return int(page.is_copy)
    >>> copies_apart.name, copies_apart.classes
    ('copies_apart', 2)
    """
    given = None if callable(classes) else classes  # a function: the parentheses are missing
    checked = _classes(placement, given)
    return lambda function: scheme(placement=function, classes=checked)


def pacing(function: Callable[[NextStep], object]) -> Scheme:
    """A scheme whose collections pause when this function says so; everything else is `gftl`'s.

    The function is called before each operation of a collection in a time slice with a
    :class:`NextStep`, and returns whether the time slice continues with it.

    >>> import flashgc
    >>> @flashgc.pacing
    ... def while_nobody_waits(step):
    ...     return step.waiting == 0
    >>> while_nobody_waits.base
    'gftl'
    """
    return scheme(pacing=function)


def scheme(
    name: str | None = None,
    *,
    base: PathLike | None = None,
    victim: Callable[[Candidates], int | None] | Scheme | None = None,
    placement: Callable[[Page], int] | Scheme | None = None,
    classes: int | None = None,
    pacing: Callable[[NextStep], object] | Scheme | None = None,
) -> Scheme:
    """A scheme of several functions, or on another base.

    Args:
        name: its name in reports; by default that of its first function.
        base: the preset, or the file of a scheme, with the choices of all other slots; by default
            `greedy`, and `gftl` with a pacing function.
        victim: a function, or a scheme made by :func:`victim`.
        placement: a function together with `classes`, or a scheme made by :func:`placement`.
        classes: classes of pages of the placement.
        pacing: a function, or a scheme made by :func:`pacing`; the base must have time slices.

    Raises:
        ConfigError: no function at all, something that is not a function, or a wrong number of
            classes.

    """
    arguments.check_texts(name=name)
    _check_base(base)
    if isinstance(placement, Scheme):
        classes = placement.classes if classes is None else classes
    functions = {
        slot: _function(slot, given)
        for slot, given in zip(SLOTS, (victim, placement, pacing), strict=True)
    }
    first = next((one for one in functions.values() if one is not None), None)
    if first is None:
        raise ConfigError(
            "error: a scheme in Python needs a function\n"
            "  = help: give victim, placement or pacing; a preset is used by its name"
        )
    return Scheme(
        name=_name(name, first), base=base or _own_base(functions),
        victim=functions["victim"], placement=functions["placement"],
        classes=_classes(functions["placement"], classes), pacing=functions["pacing"],
    )  # fmt: skip


def _check_base(given: object) -> None:
    """Refuses a base that is neither a name nor a path; None is the default."""
    if isinstance(given, Scheme):
        slots = [slot for slot in SLOTS if getattr(given, slot) is not None]
        raise ConfigError(
            f"error: base must be the name of a preset or a file, got {given}, a scheme in Python\n"
            f"  = help: give its functions to their slots ({', '.join(slots)}), which take schemes "
            f"as well, and its own base: base={os.fspath(given.base)!r}"
        )
    arguments.check_paths(base=given)


def _own_base(functions: Mapping[str, object]) -> str:
    return "greedy" if functions["pacing"] is None else _WITH_SLICES


def _function(slot: str, given: object) -> Callable[..., Any] | None:
    found = getattr(given, slot) if isinstance(given, Scheme) else given
    if found is not None and not callable(found):
        raise ConfigError(f"error: {slot} must be a function, got {arguments.shown(found)}")
    return found


def _classes(function: object, given: int | None) -> int:
    if function is None:
        return 1
    if given is None:
        raise ConfigError(
            "error: a placement needs its number of classes\n"
            "  = help: add classes=2, or use @flashgc.placement(classes=2)"
        )
    classes = inputs.whole("classes", given, 1)
    if classes > _CLASSES_MAX:
        raise ConfigError(f"error: classes must be at most {_CLASSES_MAX}, got {classes}")
    return classes


def _name(given: str | None, function: object) -> str:
    name = given if given is not None else getattr(function, "__name__", "")
    return re.sub(r"[^\w.-]+", "-", str(name)).strip("-") or "python"


def listed(given: object) -> list[Any]:
    """Schemes to compare, one or several; each is checked where its run is made."""
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike, Scheme)):
        return [given]
    no_list = isinstance(given, (bytes, Mapping)) or arguments.is_table(given)
    if not isinstance(given, Iterable) or no_list:
        raise ConfigError(
            f"error: schemes must be a list of names or paths, got {arguments.shown(given)}"
        )
    return list(given)


def check_once(given: Iterable[object]) -> None:
    """Refuses a scheme that is given twice: a name, a file or a scheme in Python."""
    seen: set[object] = set()
    for one in given:
        if isinstance(one, (str, os.PathLike)):
            arguments.check_path("scheme", one)
            same: object = Path(one).absolute() if inputs.is_file(one) else one
        elif isinstance(one, Scheme):
            same = one
        else:
            continue  # it is refused where its run is made
        if same in seen:
            raise ConfigError(
                f"error: the scheme {printable(str(one))} is given twice\n"
                "  = help: give each scheme once"
            )
        seen.add(same)


def check_named(given: object, who: str) -> None:
    """Refuses a scheme without a name that other processes and commands know."""
    if isinstance(given, Scheme):
        raise ConfigError(
            f"error: {who} cannot run the scheme in Python `{given.name}`\n"
            "  = help: flashgc.compare runs it next to others"
        )
    arguments.check_path("scheme", given)


def source(given: Scheme) -> tuple[str, str | None]:
    """The name and the text of the base, as the engine takes a scheme."""
    name, text = inputs.preset(given.base) or ("", None)
    if text is None:
        presets = {one["name"]: one["text"] for one in json.loads(engine.schemes())["schemes"]}
        if name not in presets:
            # The engine says which presets there are.
            return name, None
        text = presets[name]
    return given.name, text


def settings(given: Scheme) -> list[str]:
    """The settings that put the functions into their slots."""
    slots = [slot for slot in ("victim", "placement") if getattr(given, slot) is not None]
    return [f'gc.{slot}.use="given"' for slot in slots]


def functions(given: Scheme) -> Functions:
    """The functions for the engine: a name and a maker for each."""
    found: Functions = {"victim": None, "placement": None, "pacing": None}
    if given.victim is not None:
        found["victim"] = (_name(None, given.victim), _maker(given.victim, _picks))
    if given.placement is not None:
        found["placement"] = (
            _name(None, given.placement), _maker(given.placement, _places), given.classes,
        )  # fmt: skip
    if given.pacing is not None:
        found["pacing"] = (_name(None, given.pacing), _maker(given.pacing, _paces))
    return found


def _maker(
    function: Callable[..., Any], adapted: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[[], Callable[..., Any]]:
    """Makes a function for the engine on one drive: a class gets an instance of its own."""
    if isinstance(function, type):
        return lambda: adapted(function())
    return lambda: adapted(function)


def _picks(function: Callable[[Candidates], object]) -> Callable[..., int | None]:
    import numpy as np

    def pick(
        plane: int, now_ns: int, pages: int, random: int, columns: Mapping[str, bytes]
    ) -> int | None:
        arrays = {name: np.frombuffer(packed, dtype="<i8") for name, packed in columns.items()}
        answer = function(Candidates(plane, now_ns, pages, random, **arrays))
        if isinstance(answer, bool):  # of a comparison, and not block 0 or 1
            raise _wrong("victim", answer, "return a block of `candidates.block`, or None")
        return None if answer is None else _whole("victim", answer)

    return pick


def _places(function: Callable[[Page], object]) -> Callable[..., int]:
    def place(lpn: int, is_update: bool, is_copy: bool, job: int, hint: int) -> int:
        return _whole("placement", function(Page(lpn, is_update, is_copy, job, hint)))

    return place


def _paces(function: Callable[[NextStep], object]) -> Callable[..., bool]:
    import numpy as np

    def paces(*step: Any) -> bool:  # noqa: ANN401
        answer = function(NextStep(*step))
        if isinstance(answer, bool | np.bool_):
            return bool(answer)
        raise _wrong("pacing", answer, "return True, where the time slice continues, or False")

    return paces


def _wrong(slot: str, answer: object, remedy: str) -> ConfigError:
    return ConfigError(f"error: the {slot} function returned {arguments.shown(answer)}\n"
                       f"  = help: {remedy}")  # fmt: skip


def _whole(slot: str, answer: Any) -> int:  # noqa: ANN401
    try:
        number = operator.index(answer)
    except TypeError:
        number = -1
    if not 0 <= number < 2**32:
        raise _wrong(slot, answer, "return a whole number from 0")
    return number

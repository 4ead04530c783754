"""The statements of a paper, claim by claim, read from its claims.toml."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flashgc.reproduction import checks
from flashgc.reproduction.experiment import ANY, WAYS, Experiment, Point, Where
from flashgc.reproduction.read import Reader, parse
from flashgc.reproduction.results import PERCENT, TAKE, Quantity, changes

KINDS = ("value", "order", "check")


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of a value: a share of the claimed one, or in its unit."""

    met: float
    near: float
    relative: bool


@dataclass(frozen=True)
class Tie:
    """A difference that counts for nothing: a share of the second value, or in its unit."""

    amount: float
    relative: bool

    def of(self, figure: float) -> float:
        """In the unit of the value."""
        return self.amount * abs(figure) if self.relative else self.amount


@dataclass(frozen=True)
class Value:
    """A number that the paper states."""

    quantity: Quantity
    point: Point
    minus: Mapping[str, str]
    """The run whose value is subtracted; empty: none."""
    tolerance: Tolerance


@dataclass(frozen=True)
class Order:
    """A statement on which value is larger, at every one of several runs."""

    quantity: Quantity
    other: Quantity
    points: tuple[Point, ...]
    word: str
    """`below`, `above`, `equal`, or `rising` along an axis."""
    than: tuple[Mapping[str, str], ...]
    bound: float | None
    along: str | None
    choices: tuple[str, ...]
    tie: Tie | None = None
    """The largest difference of values that count as equal, and so in order; None: zero."""
    most: bool = False
    """Whether it is about most places: it is met if it holds at more than half of them."""


@dataclass(frozen=True)
class Check:
    """A check that must hold in every run."""

    name: str


@dataclass(frozen=True)
class Remark:
    """A note on some of the values of a claim, or on some of the places of an order."""

    at: Where
    note: str
    why_not: str | None

    @classmethod
    def read(cls, experiment: Experiment, reader: Reader) -> Remark:
        """From one of the `remarks` of a claim."""
        remark = cls(
            experiment.change(reader, "at"), reader.text("note", ""), reader.optional("why_not")
        )
        reader.done()
        return remark

    def fits(self, names: Mapping[str, str]) -> bool:
        """Whether it is on these choices."""
        return all(names.get(axis) in wanted for axis, wanted in self.at.items())


@dataclass(frozen=True)
class Claim:
    """One statement with its place, and how it is tested."""

    parts: tuple[str, ...]
    place: str
    what: str
    unit: str
    source: str
    claimed: float | str
    test: Value | Order | Check
    note: str
    why_not: str | None
    """Why it cannot be met, where that is known."""
    any_load: bool = False
    """Whether it is also about loads that the drive cannot serve."""
    any_workload: bool = False
    """Whether no workload decides it, so that a synthetic workload is as good as the paper's."""
    remarks: tuple[Remark, ...] = ()
    """Of an order: why it cannot hold at some of its places."""

    def runs(self, experiment: Experiment) -> list[Point]:
        """The runs that it needs; a check needs none of its own."""
        match self.test:
            case Value(quantity, point, minus):
                other = [experiment.moved(point, minus)] if minus else []
                return [run for each in (point, *other) for run in quantity.runs(experiment, each)]
            case Order() as order:
                return list(_order_runs(experiment, order))
        return []

    def belongs(self, items: Sequence[str]) -> bool:
        """Whether it belongs to one of the given figures or tables."""
        return ANY in self.parts or any(part in items for part in self.parts)


def _order_runs(experiment: Experiment, order: Order) -> Iterator[Point]:
    for point in order.points:
        for pair in pairs(experiment, order, point):
            yield from order.quantity.runs(experiment, pair[0])
            if pair[1] is not None:
                yield from order.other.runs(experiment, pair[1])


def pairs(experiment: Experiment, order: Order, point: Point) -> list[tuple[Point, Point | None]]:
    """The pairs of runs that are compared, the smaller first where values are to rise."""
    if order.along is not None:
        steps = [experiment.moved(point, {order.along: name}) for name in order.choices]
        return list(itertools.pairwise(steps))
    if order.bound is not None:
        return [(point, None)]
    return [(point, experiment.moved(point, change)) for change in order.than]


def load(text: str, where: str, experiment: Experiment) -> list[Claim]:
    """The claims of a text, or an error that describes its problem."""
    return read(parse(text, where), experiment)


def read(reader: Reader, experiment: Experiment) -> list[Claim]:
    """The claims of a table."""
    tolerance = _tolerance(reader.table("tolerance"), None)
    found: list[Claim] = []
    for inner in reader.tables("claims"):
        found += _claims(experiment, inner, tolerance)
    reader.done()
    places = [(claim.place, claim.what, claim.source) for claim in found]
    for place in places:
        if places.count(place) > 1:
            reader.wrong(f"there are two claims on {place[1]} at {place[0]}")
    return found


def _tolerance(reader: Reader, default: Tolerance | None) -> Tolerance:
    if default is not None and not (reader.has("met") or reader.has("near")):
        reader.done()
        return default
    found = [reader.raw(key, (str, int, float), '"5 %" or a number') for key in ("met", "near")]
    shares = [isinstance(item, str) for item in found]
    try:
        values = [float(str(item).removesuffix(PERCENT)) for item in found]
    except ValueError:
        reader.wrong('`met` and `near` are shares as "5 %", or numbers in the unit of the claim')
    if shares[0] != shares[1] or not 0 <= values[0] <= values[1]:
        reader.wrong("`met` and `near` are of one kind, and `near` is the larger")
    reader.done()
    factor = 0.01 if shares[0] else 1.0
    return Tolerance(values[0] * factor, values[1] * factor, shares[0])


def _claims(experiment: Experiment, reader: Reader, tolerance: Tolerance) -> list[Claim]:
    kind = reader.word("kind", KINDS, "value")
    parts = reader.texts("in")
    known = [item.id for item in experiment.items]
    for part in parts:
        if part not in known and part != ANY:
            reader.wrong(f'`in`: there is no "{part}", only {", ".join(known)}')
    if not parts:
        reader.wrong("`in` must name a figure or table")
    common: dict[str, Any] = {
        "parts": tuple(parts),
        "what": reader.text("what"),
        "unit": reader.text("unit", ""),
        "source": reader.text("source", "paper"),
        "any_load": reader.flag("any_load"),
        "any_workload": reader.flag("any_workload"),
    }
    place = reader.text("place")
    if kind == "value":
        made = list(_values(experiment, reader, tolerance, place, common))
    else:
        test = _order(experiment, reader, common["unit"]) if kind == "order" else _check(reader)
        claimed = reader.text("claimed")
        note, why_not = reader.text("note", ""), reader.optional("why_not")
        remarks = _remarks(experiment, reader, test) if isinstance(test, Order) else ()
        made = [Claim(place=place, claimed=claimed, test=test, note=note, why_not=why_not,
                      remarks=remarks, **common)]  # fmt: skip
    reader.done()
    return made


def _remarks(experiment: Experiment, reader: Reader, order: Order) -> tuple[Remark, ...]:
    """The remarks of an order, each of which is on one of its places."""
    found = tuple(Remark.read(experiment, inner) for inner in reader.tables("remarks"))
    places = [
        dict(zip(experiment.axes, left, strict=True))
        for point in order.points
        for left, _ in pairs(experiment, order, point)
    ]
    for remark in found:
        if remark.why_not is None:
            reader.wrong("one of the `remarks` of an order has no `why_not`")
        if not any(remark.fits(place) for place in places):
            reader.wrong("one of the `remarks` is on no place of the order")
    return found


def _check(reader: Reader) -> Check:
    return Check(reader.word("check", checks.CHECKS, ""))


def _quantity(experiment: Experiment, reader: Reader, at: Where, unit: str) -> Quantity:
    measure = _measure(experiment, reader, "measure")
    against = experiment.change(reader, "against")
    way = reader.word("as", WAYS, "value")
    if (way == "value") != (not against):
        reader.wrong("`against` and `as` (ratio, reduction or factor) go together")
    over = reader.one_or_more("over")
    for axis in over:
        if axis not in experiment.axes:
            reader.wrong(f'`over`: there is no axis "{axis}", only {", ".join(experiment.axes)}')
    take = reader.word("take", TAKE, "mean")
    beside = tuple(changes(against)) if against else ()
    return Quantity(measure, way, beside, {axis: at[axis] for axis in over}, take,
                    unit == PERCENT)  # fmt: skip


def _measure(experiment: Experiment, reader: Reader, key: str) -> str:
    name = reader.text(key)
    if name not in experiment.measures:
        reader.wrong(f'there is no measure "{name}", only {", ".join(experiment.measures)}')
    return name


def _collapsed(experiment: Experiment, at: Where, over: Iterable[str]) -> list[Point]:
    """The runs at these choices, with the first choice of the axes that values are taken over."""
    one = {axis: (names[:1] if axis in over else names) for axis, names in at.items()}
    return experiment.points(one)


def _values(
    experiment: Experiment, reader: Reader, tolerance: Tolerance, place: str,
    common: Mapping[str, Any],
) -> Iterator[Claim]:  # fmt: skip
    by = reader.texts("by")
    for axis in by:
        if axis not in experiment.axes:
            reader.wrong(f'`by`: there is no axis "{axis}", only {", ".join(experiment.axes)}')
    at = experiment.where(_with_any(reader, by), "at")
    quantity = _quantity(experiment, reader, at, common["unit"])
    minus = experiment.single(reader, "minus")
    allowed = _tolerance(reader.table("tolerance"), tolerance)
    note, why_not = reader.text("note", ""), reader.optional("why_not")
    remarks = [Remark.read(experiment, inner) for inner in reader.tables("remarks")]
    stated = _stated(reader, by)
    for names, claimed in stated:
        own = {axis: at[axis] for axis in at} | {axis: [name] for axis, name in names.items()}
        for axis, name in names.items():
            if name not in at[axis]:
                reader.wrong(f"`values`: {name} is none of `at.{axis}`")
        points = _collapsed(experiment, own, quantity.over)
        if len(points) != 1:
            reader.wrong("`at` must name one choice of each axis that is not in `by` or `over`")
        test = Value(quantity, points[0], minus, allowed)
        labels = {axis: experiment.axes[axis][name].label for axis, name in names.items()}
        fits = [remark for remark in remarks if remark.fits(names)]
        notes = " ".join(filter(None, [note, *(remark.note for remark in fits)]))
        reasons = [text for text in (why_not, *(remark.why_not for remark in fits)) if text]
        yield Claim(place=_filled(reader, place, labels), claimed=claimed, test=test, note=notes,
                    why_not=" ".join(reasons) or None, **common)  # fmt: skip
    for remark in remarks:
        if not any(remark.fits(names) for names, _ in stated):
            reader.wrong("one of the `remarks` is on no value")


def _with_any(reader: Reader, by: Sequence[str]) -> Reader:
    """Axes that the values go along need not be named again."""
    given = reader.mapping("at")
    return Reader({"at": {**dict.fromkeys(by, ANY), **given}}, reader.where)


def _stated(reader: Reader, by: Sequence[str]) -> list[tuple[dict[str, str], float]]:
    if not by:
        return [({}, float(reader.raw("claimed", (int, float), "a number")))]
    return list(_nested(reader, reader.mapping("values"), by, {}))


def _nested(
    reader: Reader, values: Mapping[str, Any], by: Sequence[str], names: dict[str, str]
) -> Iterator[tuple[dict[str, str], float]]:
    for name, inner in values.items():
        deeper = {**names, by[0]: name}
        number = isinstance(inner, int | float) and not isinstance(inner, bool)
        if len(by) > 1 and isinstance(inner, dict):
            yield from _nested(reader, inner, by[1:], deeper)
        elif len(by) == 1 and number:
            yield deeper, float(inner)
        else:
            reader.wrong(f"`values` must have numbers below {', '.join(by)}")


def _filled(reader: Reader, place: str, labels: Mapping[str, str]) -> str:
    try:
        return place.format(**labels)
    except (KeyError, IndexError, ValueError):
        reader.wrong(f"`place` may name the axes of `by` in braces, not as in {place!r}")


def _order(experiment: Experiment, reader: Reader, unit: str) -> Order:
    at = experiment.where(reader, "at")
    quantity = _quantity(experiment, reader, at, unit)
    word = reader.word("is", ("below", "above", "equal", "rising"), "below")
    than = experiment.change(reader, "than")
    other = quantity
    if reader.has("than_measure"):
        measure = _measure(experiment, reader, "than_measure")
        other = replace(other, measure=measure)
    if reader.has("than_against"):
        if not quantity.against:
            reader.wrong("`than_against` replaces `against`, which is not given")
        other = replace(other, against=(experiment.single(reader, "than_against"),))
    has_bound = reader.has("bound")
    bound = float(reader.raw("bound", (int, float), "a number")) if has_bound else None
    along = reader.optional("along")
    if along is not None and along not in experiment.axes:
        reader.wrong(f'`along`: there is no axis "{along}", only {", ".join(experiment.axes)}')
    against_what = [bool(than) or other is not quantity, bound is not None, along is not None]
    if against_what.count(True) != 1 or (word == "rising") != (along is not None):
        reader.wrong('one of `than` (or `than_measure`), `bound`, or `along` with is = "rising"')
    points = _collapsed(experiment, at, quantity.over)
    if along is not None:
        points = _collapsed(experiment, {**at, along: at[along][:1]}, quantity.over)
    choices = tuple(at[along]) if along is not None else ()
    tie = _tie(reader)
    if word == "equal" and tie is None:
        reader.wrong('is = "equal" needs `tie`, which says how far apart the figures may be')
    return Order(quantity, other, tuple(points), word, tuple(changes(than)), bound, along, choices,
                 tie, reader.flag("most"))  # fmt: skip


def _tie(reader: Reader) -> Tie | None:
    if not reader.has("tie"):
        return None
    given = reader.raw("tie", (str, int, float), '"1 %" or a number')
    try:
        amount = float(str(given).removesuffix(PERCENT))
    except ValueError:
        reader.wrong('`tie` is a share as "1 %", or a number in the unit of the claim')
    if amount < 0:
        reader.wrong("`tie` is not below 0")
    return Tie(0.01 * amount, True) if isinstance(given, str) else Tie(amount, False)

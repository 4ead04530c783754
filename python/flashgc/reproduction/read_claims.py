"""Reads a claims.toml: its tables by their models, then their references to the experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flashgc.files.forms import File, near, shown
from flashgc.reproduction.claims import (
    Check,
    Claim,
    Order,
    Remark,
    Tie,
    Tolerance,
    Value,
    pairs,
)
from flashgc.reproduction.claims_form import (
    AnyClaim,
    ClaimForm,
    ClaimsForm,
    FileToleranceForm,
    MeasuredForm,
    OrderForm,
    RemarkForm,
    ToleranceForm,
    ValueForm,
)
from flashgc.reproduction.experiment import ANY, Experiment, Point, Where
from flashgc.reproduction.read_experiment import axis_of, change, listed, single, where
from flashgc.reproduction.results import PERCENT, Quantity, changes

_WIDEST = (0.25, 0.5)
"""The most that a tolerance in the unit of a number may be, as shares of the number."""


def load(text: str, name: str, experiment: Experiment) -> list[Claim]:
    """The claims of a text, or an error that describes its problem."""
    return read(File.of(text, name).form(ClaimsForm), experiment)


def read(form: ClaimsForm, experiment: Experiment) -> list[Claim]:
    """The claims of a file."""
    tolerance = _tolerance(form.tolerance)
    found: list[Claim] = []
    places: set[tuple[str, str, str]] = set()
    for one in form.claims:
        _backed(experiment, one)
        for claim in _claims(experiment, one, tolerance, form.tolerance):
            place = (claim.place, claim.what, claim.source)
            if place in places:
                one.wrong(f"there are two claims on {claim.what} at {claim.place}", "place")
            places.add(place)
            found.append(claim)
    return found


def _tolerance(form: ToleranceForm) -> Tolerance:
    (met, share), (near_, near_share) = form.met, form.near
    if share != near_share or met > near_:
        form.wrong("`met` and `near` must be of one kind, and `near` is the larger", "near")
    return Tolerance(met, near_, share)


def _backed(experiment: Experiment, form: ClaimForm) -> None:
    """Every figure or table that is to back a reason is one, and has a reason to back."""
    known = [item.id for item in experiment.items]
    tables: list[ClaimForm | RemarkForm] = [form]
    tables += form.remarks if isinstance(form, MeasuredForm) else []
    for table in tables:
        if table.backed_by and table.why_not is None:
            table.wrong("`backed_by` backs a reason, and there is no `why_not`", "backed_by")
        for at, item in enumerate(table.backed_by):
            if item not in known:
                hint = near(item, known, "figures and tables")
                table.wrong(f'`backed_by`: there is no "{item}"\n{hint}', "backed_by", at)


def _claims(
    experiment: Experiment, form: AnyClaim, tolerance: Tolerance, usual: FileToleranceForm
) -> list[Claim]:
    known = [item.id for item in experiment.items]
    for at, part in enumerate(form.parts):
        if part not in known and part != ANY:
            hint = near(part, known, "figures and tables")
            form.wrong(f'`in`: there is no "{part}"\n{hint}', "in", at)
    if isinstance(form, ValueForm):
        return list(_values(experiment, form, tolerance))
    if isinstance(form, OrderForm):
        order = _order(experiment, form, usual)
        return [Claim(place=form.place, claimed=form.claimed, test=order, note=form.note,
                      why_not=form.why_not, remarks=_remarks(experiment, form, order),
                      **_common(form))]  # fmt: skip
    return [Claim(place=form.place, claimed=form.claimed, test=Check(form.check), note=form.note,
                  why_not=form.why_not, **_common(form))]  # fmt: skip


def _common(form: ClaimForm) -> dict[str, Any]:
    return {"parts": tuple(form.parts), "what": form.what, "unit": form.unit,
            "source": form.source, "any_load": form.any_load,
            "any_workload": form.any_workload, "backed_by": tuple(form.backed_by)}  # fmt: skip


def _remark(experiment: Experiment, form: RemarkForm) -> Remark:
    return Remark(change(form, experiment, form.at, "at"), form.note, form.why_not,
                  tuple(form.backed_by), form.fitted_to)  # fmt: skip


def _remarks(experiment: Experiment, form: OrderForm, order: Order) -> tuple[Remark, ...]:
    """The remarks of an order, each of which is on one of its places."""
    found = []
    places = [
        dict(zip(experiment.axes, left, strict=True))
        for point in order.points
        for left, _ in pairs(experiment, order, point)
    ]
    for one in form.remarks:
        remark = _remark(experiment, one)
        if remark.why_not is None:
            one.wrong("one of the `remarks` of an order has no `why_not`")
        if not any(remark.fits(place) for place in places):
            one.wrong("one of the `remarks` is on no place of the order", "at")
        found.append(remark)
    return tuple(found)


def _quantity(experiment: Experiment, form: MeasuredForm, at: Where) -> Quantity:
    measure = _measure(experiment, form, form.measure, "measure")
    against = change(form, experiment, form.against, "against")
    if (form.way == "value") != (not against):
        form.wrong("`against` and `as` (ratio, reduction or factor) go together",
                   "against" if against else "as")  # fmt: skip
    over = [axis_of(form, experiment, axis, "over") for axis in listed(form.over)]
    beside = tuple(changes(against)) if against else ()
    return Quantity(measure, form.way, beside, {axis: at[axis] for axis in over}, form.take,
                    form.unit == PERCENT)  # fmt: skip


def _measure(experiment: Experiment, form: MeasuredForm, name: str, key: str) -> str:
    if name not in experiment.measures:
        hint = near(name, list(experiment.measures), "measures")
        form.wrong(f'there is no measure "{name}"\n{hint}', key)
    return name


def _collapsed(experiment: Experiment, at: Where, over: Iterable[str]) -> list[Point]:
    """The runs at these choices, with the first choice of the axes that values are taken over."""
    one = {axis: (names[:1] if axis in over else names) for axis, names in at.items()}
    return experiment.points(one)


def _values(experiment: Experiment, form: ValueForm, tolerance: Tolerance) -> Iterator[Claim]:
    for index, axis in enumerate(form.by):
        axis_of(form, experiment, axis, "by", index)
    # Axes that the values go along need not be named again.
    at = where(form, experiment, {**dict.fromkeys(form.by, ANY), **form.at})
    quantity = _quantity(experiment, form, at)
    minus = single(form, experiment, form.minus, "minus")
    allowed = tolerance if form.tolerance is None else _tolerance(form.tolerance)
    remarks = [_remark(experiment, one) for one in form.remarks]
    stated = _stated(form)
    for names, claimed in stated:
        for axis, name in names.items():
            if name not in at[axis]:
                form.wrong(f"`values`: {name} is none of `at.{axis}`", "values", *names.values())
        own = {**at, **{axis: [name] for axis, name in names.items()}}
        points = _collapsed(experiment, own, quantity.over)
        if len(points) != 1:
            form.wrong("`at` must name one choice of each axis that is not in `by` or `over`", "at")
        labels = {axis: experiment.axes[axis][name].label for axis, name in names.items()}
        fits = [remark for remark in remarks if remark.fits(names)]
        notes = " ".join(filter(None, [form.note, *(remark.note for remark in fits)]))
        reasons = [text for text in (form.why_not, *(one.why_not for one in fits)) if text]
        yield Claim(place=_filled(form, labels), claimed=claimed,
                    test=Value(quantity, points[0], minus, _narrowed(form, claimed, allowed)),
                    note=notes,
                    why_not=" ".join(reasons) or None,
                    fitted_to=form.fitted_to or any(one.fitted_to for one in fits),
                    **_common(form) | {"backed_by": _backing(form, fits)})  # fmt: skip
    for one, remark in zip(form.remarks, remarks, strict=True):
        if not any(remark.fits(names) for names, _ in stated):
            one.wrong("one of the `remarks` is on no value", "at")


def _backing(form: ValueForm, remarks: Sequence[Remark]) -> tuple[str, ...]:
    named = [*form.backed_by, *(item for one in remarks for item in one.backed_by)]
    return tuple(dict.fromkeys(named))


def _narrowed(form: ValueForm, claimed: float, allowed: Tolerance) -> Tolerance:
    """A tolerance that does not reach from a number to zero: no effect is not a small one."""
    if allowed.relative and not claimed:
        form.wrong("a claim of 0 needs a tolerance in its unit, not a share", "tolerance")
    if allowed.relative or not claimed:
        return allowed
    met, near = (share * abs(claimed) for share in _WIDEST)
    return replace(allowed, met=min(allowed.met, met), near=min(allowed.near, near))


def _stated(form: ValueForm) -> list[tuple[dict[str, str], float]]:
    """The numbers of a claim, each with its choices of the axes that they go along."""
    if form.by:
        if form.values is None:
            form.wrong("`values` is missing; a table of numbers is needed for `by`")
        if form.claimed is not None:
            form.wrong("`claimed` is not a valid key here, since `values` has the numbers of `by`",
                       "claimed")  # fmt: skip
        return list(_nested(form, form.values, form.by, {}))
    if form.values is not None:
        form.wrong("`values` is not a valid key here without `by`, the axes that they go along",
                   "values")  # fmt: skip
    if form.claimed is None:
        form.wrong("`claimed` is missing; a number is needed")
    return [({}, form.claimed)]


def _nested(
    form: ValueForm, values: Mapping[str, Any], by: Sequence[str], names: dict[str, str]
) -> Iterator[tuple[dict[str, str], float]]:
    for name, inner in values.items():
        deeper = {**names, by[0]: name}
        number = isinstance(inner, int | float) and not isinstance(inner, bool)
        if len(by) > 1 and isinstance(inner, dict):
            yield from _nested(form, inner, by[1:], deeper)
        elif len(by) == 1 and number:
            yield deeper, float(inner)
        else:
            what = "a number" if len(by) == 1 else f"a table with numbers by {', '.join(by[1:])}"
            path = ".".join(("values", *deeper.values()))
            form.wrong(f"`{path}` must be {what}, got {shown(inner)}", "values", *deeper.values())


def _filled(form: ValueForm, labels: Mapping[str, str]) -> str:
    try:
        return form.place.format(**labels)
    except (LookupError, ValueError, AttributeError):
        form.wrong("`place` may name the axes of `by` in braces, not as in "
                   f"{shown(form.place)}", "place")  # fmt: skip


def _order(experiment: Experiment, form: OrderForm, usual: FileToleranceForm) -> Order:
    at = where(form, experiment, form.at)
    quantity = _quantity(experiment, form, at)
    than = change(form, experiment, form.than, "than")
    other = quantity
    if form.than_measure is not None:
        other = replace(
            other, measure=_measure(experiment, form, form.than_measure, "than_measure")
        )
    if form.than_against is not None:
        if not quantity.against:
            form.wrong("`than_against` replaces `against`, which is not given", "than_against")
        beside = single(form, experiment, form.than_against, "than_against")
        other = replace(other, against=(beside,))
    along = form.along
    if along is not None:
        axis_of(form, experiment, along, "along")
    against_what = [bool(than) or other is not quantity, form.bound is not None, along is not None]
    if against_what.count(True) != 1 or (form.word == "rising") != (along is not None):
        form.wrong('one of `than` (or `than_measure`), `bound`, or `along` with is = "rising", '
                   "must be given", "is")  # fmt: skip
    firsts = at if along is None else {**at, along: at[along][:1]}
    points = _collapsed(experiment, firsts, quantity.over)
    choices = tuple(at[along]) if along is not None else ()
    if form.word == "equal" and form.tie is None:
        form.wrong('is = "equal" needs `tie`, which says how far apart the figures may be', "is")
    tie = None if form.tie is None else Tie(*form.tie)
    margin = Tie(*(usual.margin if form.margin is None else form.margin))
    if tie is not None and form.margin is not None:
        form.wrong("`margin` is a least difference and `tie` a largest one; give one of them",
                   "margin")  # fmt: skip
    return Order(quantity, other, tuple(points), form.word, tuple(changes(than)), form.bound, along,
                 choices, tie, form.most, margin)  # fmt: skip

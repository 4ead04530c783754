"""Every claim that stays not met has a reason that a figure or table of the reproduction shows.

The values on record say which claims these are, with each set of traces that is on record.
"""

from dataclasses import replace

import pytest

from conftest import ROOT, WHOLE
from flashgc.reproduction import orders, papers, pins, verdict
from flashgc.reproduction.claims import Order, Value
from flashgc.reproduction.plan import Planner
from flashgc.reproduction.results import Results


def planner(known, section, folder):
    """The choices of sources with the traces of a section, of which only the names matter."""
    folder.mkdir()
    for name in [] if section == pins.NO_TRACE else section.split(", "):
        (folder / name).write_text("")
    return Planner(known.experiment, folder, quick=False)


def is_missed(known, claim, pin, plan):
    """Whether the recorded value of a claim is neither near it nor without a verdict."""
    if isinstance(claim.test, Order):
        if len(pin) == 1:
            return False
        held, total = (int(part) for part in pin[0].split(" of "))
        wrong = total - held
        most = claim.test.most and wrong < total / 2
        return wrong > orders.NEAR_SHARE * total and not most
    runs = claim.runs(known.experiment)
    basis = {run: plan.basis(run) for run in runs}
    results = Results(known.experiment, {}, {run: differs for run, (differs, _) in basis.items()})
    fitted = any(fitted for _, fitted in basis.values())
    alike = claim.any_workload or not results.why_different(runs)
    if not alike or (fitted and claim.fitted_to) or isinstance(pin, list):
        return False
    assert isinstance(claim.test, Value)
    whole = verdict._whole(claim.test)
    return verdict.compared(pin, claim.claimed, claim.test.tolerance, whole) == verdict.NOT_MET


def missed(known, folder):
    """The claims that are not met or not predicted, with any of the traces on record."""
    found = {}
    for index, (section, recorded) in enumerate(known.pins.sections.items()):
        if section.startswith(pins.QUICK):
            continue
        plan = planner(known, section, folder / str(index))
        for claim in known.claims:
            pin = recorded.get(pins.key(claim))
            if pin is not None and is_missed(known, claim, pin, plan):
                found[pins.key(claim)] = claim
    return found


def unbacked(known, claims):
    """The claims whose reason no figure or table of a reproduction shows."""
    made = {item.id for item in known.items(None)}
    shown = {
        key: {*claim.backed_by, *(item for one in claim.remarks for item in one.backed_by)}
        for key, claim in claims.items()
    }
    return [key for key, items in shown.items() if not items or not items <= made]


@pytest.mark.parametrize("name", WHOLE)
def test_a_claim_that_is_not_met_names_the_experiment_that_shows_why(name, tmp_path):
    known = papers.load(str(ROOT / "papers" / name))
    found = missed(known, tmp_path)
    assert found
    assert unbacked(known, found) == []


def test_a_reason_that_no_experiment_shows_is_found(tmp_path):
    known = papers.load(str(ROOT / "papers/parallel-gc"))
    found = missed(known, tmp_path)
    key = "Table 4, FIN 1, 10 %: valid page migrations of IPPBE / existing"
    order = next(key for key, claim in found.items() if isinstance(claim.test, Order))
    for one in (key, order):
        bare = replace(found[one], backed_by=(), remarks=())
        assert unbacked(known, {**found, one: bare}) == [one]
        other = replace(bare, backed_by=("table-9",))  # of another paper
        assert unbacked(known, {**found, one: other}) == [one]

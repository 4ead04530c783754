"""A sample of the values of two examples that run for a minute and more; `FLASHGC_LONG=1` runs all
of them in test_docs.py."""

import re
import tomllib

import pytest

import flashgc
from conftest import ROOT
from test_docs import FILE

PAGE = (ROOT / "docs/placement.md").read_text()
SPARES = {15: 0.85, 7: 0.93}


def tables():
    """Write amplification of each placement under each workload: mean and half the range."""
    found = {}
    for spare in SPARES:
        head, *rows = PAGE.split(f"| {spare}% spare | ")[1].splitlines()
        names = head.rstrip(" |").split(" | ")
        for row in rows:
            if not (parts := re.match(r"\| `([\w-]+)` \| (.*) \|$", row)):
                break
            for name, cell in zip(names, parts[2].split(" | "), strict=True):
                found[spare, name, parts[1]] = [float(part) for part in cell.split(" ± ")]
    return found


def axes():
    return tomllib.loads(dict(FILE.findall(PAGE))["placement.toml"])["axes"]


def test_the_table_has_each_cell_of_the_sweep():
    swept = axes()
    cells = {(spare, name, word) for spare in SPARES for name in swept["workload"]
             for word in swept["gc.placement.use"]}  # fmt: skip
    assert tables().keys() == cells
    assert swept["device.exported"] == list(SPARES.values())


# Each placement twice, under another workload and with another spare.
@pytest.mark.parametrize("at", range(22))
def test_a_cell_is_that_of_its_runs(at, tmp_path):
    workloads, placements = axes()["workload"], axes()["gc.placement.use"]
    spare, name, word = [*SPARES][at % 2], [*workloads][at % 5], placements[at % 11]
    (tmp_path / "log.toml").write_text(dict(FILE.findall(PAGE))["log.toml"])
    keys = {"gc.placement.use": word, "device.exported": SPARES[spare], "seed": 1}
    found = flashgc.run(tmp_path / "log.toml", set=workloads[name]["set"] | keys)
    mean, half = tables()[spare, name, word]
    # No seed is farther from the mean than all are from each other; both are rounded.
    assert found.write_amplification == pytest.approx(mean, abs=2 * half + 0.015)


# A placement is the lowest by much, and one frontier where nothing is.
@pytest.mark.parametrize(("exported", "zipf"), [(0.72, 1.2), (0.93, 0.2)])
def test_the_lowest_of_a_skew_is_that_of_its_runs(exported, zipf, tmp_path):
    files = dict(FILE.findall(PAGE))
    (tmp_path / "log.toml").write_text(files["log.toml"])
    axes = tomllib.loads(files["skew.toml"])["axes"]
    assert exported in axes["device.exported"]
    keys = {"device.exported": exported, "workload.synthetic.address.zipf": zipf}
    found = {
        name: flashgc.run(tmp_path / "log.toml", set=keys | {"gc.placement.use": name})
        .write_amplification for name in axes["gc.placement.use"]
    }  # fmt: skip
    lowest = min(found, key=found.get)
    [row] = re.findall(rf"^\| {1 - exported:.0%} \| (`.*) \|$", PAGE, re.MULTILINE)
    shown = row.split(" | ")[axes["workload.synthetic.address.zipf"].index(zipf)]
    assert shown == f"`{lowest}` {found[lowest]:.2f} / {found['one-frontier']:.2f}"

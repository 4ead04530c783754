"""The traces of real programs that come with the package.

`FLASHGC_BLESS=1` writes the results of the engine into their descriptions, and these into the
manual.
"""

import json
import os
import re
from pathlib import Path

import pytest

import flashgc
from conftest import ROOT
from flashgc.formatting import units
from flashgc.running import inputs

KNOWN = {known["name"]: known for known in flashgc.trace.captures()}
BLESS = os.environ.get("FLASHGC_BLESS") == "1"
MOST_BYTES = 4 << 20


def test_there_is_one_of_each_program():
    assert set(KNOWN) == {"sqlite", "postgresql", "rocksdb", "mariadb", "dbench"}
    folder = Path(flashgc.__file__).parent / "captures"
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{end}" for name in KNOWN for end in ("fgt", "toml")
    }
    assert sum(known["file_bytes"] for known in KNOWN.values()) < MOST_BYTES
    for name, known in KNOWN.items():
        assert f"--programs {name} " in known["command"]
        assert re.search(r"\d", known["program"]), "a version"


@pytest.mark.parametrize("name", KNOWN)
def test_each_has_what_it_says(name):
    about = flashgc.trace.info(name)
    counts = KNOWN[name]["counts"]
    assert counts == {key: about.get(key, 0) for key in counts}
    assert counts["writes"] > 1000
    assert counts["flushes"] + counts["fua"] > 10
    assert counts["duration_s"] > 10


@pytest.mark.parametrize("name", KNOWN)
def test_each_runs_on_the_drive_of_its_programs(name):
    report = flashgc.run("real-programs", name)
    if BLESS:
        path = inputs.captures()[name].with_suffix(".toml")
        path.write_text(path.read_text().replace(KNOWN[name]["result_hash"], report.result_hash))
    else:
        assert report.result_hash == KNOWN[name]["result_hash"], "FLASHGC_BLESS=1 if it is due"
    counts = KNOWN[name]["counts"]
    asked = (report.requests.read, report.requests.write, report.requests.trim)
    assert asked == (counts["reads"], counts["writes"], counts["trims"])
    assert report.flush.requests == counts["flushes"]
    assert report.gc.count > 100


def test_the_command_lists_them(flashgc):
    shown = flashgc("trace", "list").out
    assert all(name in shown for name in KNOWN)
    assert flashgc("trace", "list", "--json").json == list(KNOWN.values())


def test_a_trace_by_name_is_used_wherever_a_file_is(flashgc, tmp_path):
    about = flashgc("trace", "info", "sqlite", "--json").json
    assert about["writes"] == KNOWN["sqlite"]["counts"]["writes"]
    flashgc("trace", "cut", "sqlite", "part.fgt", "--rows", "500")
    small = flashgc(
        "run", "replay", "--trace", "sqlite", "--json", "--set", "workload.trace.rows=500"
    )
    cut = flashgc("run", "replay", "--trace", "part.fgt", "--json")
    assert small.json["result_hash"] == cut.json["result_hash"]
    told = flashgc("run", "replay", "--trace", "sqlit", code=2).err
    assert "did you mean the built-in trace `sqlite`?" in told


def test_a_file_comes_before_a_trace_of_its_name(flashgc, tmp_path):
    (tmp_path / "sqlite").write_text("0,0,4096,w,0.5\n")
    about = json.loads(flashgc("trace", "info", "sqlite", "--json", "--format", "spc").out)
    assert about["rows"] == 1


def row(known):
    """The row of a trace in the manual."""
    counts = known["counts"]
    kinds = " | ".join(f"{counts[kind]:,}" for kind in ("reads", "writes", "flushes"))
    written = units.size(counts["written_bytes"])
    about = f"{known['program']}: {known['does']}"
    return f"| `{known['name']}` | {about} | {kinds} | {counts['duration_s']:.0f} s | {written} |"


def test_the_manual_has_them_all():
    page = ROOT / "docs" / "real-programs.md"
    lines = page.read_text().splitlines()
    for name, known in KNOWN.items():
        [at] = [at for at, line in enumerate(lines) if line.startswith(f"| `{name}` |")]
        if BLESS:
            lines[at] = row(known)
        assert lines[at] == row(known), "FLASHGC_BLESS=1 if it is due"
    if BLESS:
        page.write_text("\n".join(lines) + "\n")

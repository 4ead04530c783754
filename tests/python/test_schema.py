"""The schema of a report: every key of every report, and no other."""

import json
import subprocess
import sys
from functools import cache

import pytest

import flashgc
from conftest import REPLAY, ROOT, SMALL, SPC
from flashgc.results import refusal
from flashgc.running import building

WORDS = {
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
DECLARE = "declare it in python/flashgc/schema/report_keys.py, or in the file of its section there"
SCHEMES = [scheme["name"] for scheme in flashgc.schemes()]


@cache
def whole():
    return flashgc.report_schema()


def mistakes(value, schema, path="", defined=None):
    """The parts of a value that the schema does not allow, for the keywords of our schemas."""
    if "$ref" in schema:
        schema = {**(defined or whole()["$defs"])[schema["$ref"].removeprefix("#/$defs/")]}
    if "anyOf" in schema:
        found = [mistakes(value, part, path, defined) for part in schema["anyOf"]]
        return [] if [] in found else found[0]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(WORDS[kind](value) for kind in kinds):
        return [f"{path}: {value!r} is not of type {' or '.join(kinds)}"]
    if isinstance(value, list):
        items = (mistakes(item, schema["items"], f"{path}[]", defined) for item in value)
        return [one for found in items for one in found]
    if not isinstance(value, dict):
        return []
    keys, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    found = [f"{path}.{key} is missing" for key in schema.get("required", []) if key not in value]
    for key, inner in value.items():
        if key in keys:
            found += mistakes(inner, keys[key], f"{path}.{key}", defined)
        elif others is False:
            found.append(f"{path}.{key} is unknown: {DECLARE}")
        elif others is not True:
            found += mistakes(inner, others, f"{path}.{key}", defined)
    return found


def check(report):
    assert mistakes(report.to_dict(), whole()) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_report_of_every_scheme_is_as_the_schema_says(scheme):
    sets = ["workload.synthetic.requests=2000", "device.write_buffer.size=64 KiB",
            "device.host_link.transfer=1 ns/B"]  # fmt: skip
    if scheme in {"dac", "sfs", "multilog", "fadac"}:
        # The reserve of six classes is larger than half of this drive's spare space.
        sets.append(f"gc.placement.{scheme}.classes=3")
    found = refusal.of(building.bare_request(SMALL, None, scheme, None, sets, None), scheme, None)
    if found is not None:
        assert found.then is None, found
        sets += found.settings
    unset = [] if found is None else list(found.unset)
    check(flashgc.run(SMALL, scheme=scheme, set=sets, unset=unset))
    both_ways = [*sets, "device.host_link.duplex=full"]
    check(flashgc.run(SMALL, scheme=scheme, set=both_ways, unset=unset))
    bare = [one for one in sets if "write_buffer" not in one and "host_link" not in one]
    check(flashgc.run(SMALL, scheme=scheme, set=bare, unset=unset))


def test_other_reports_are_as_the_schema_says(tmp_path):
    few = {"workload.synthetic.requests": 2000}
    check(flashgc.run_seeds(SMALL, 2, set=few))
    check(flashgc.run_seeds(SMALL, 1, set=few))
    check(flashgc.run(SMALL, set={**few, "workload.synthetic.read_share": 1.0}))
    check(flashgc.run(SMALL, set={**few, "precondition.until": "steady"}))
    file = tmp_path / "small.drive"
    flashgc.drive.save(SMALL, file)
    check(flashgc.run(SMALL, set=few, drive=file, scheme="parallel"))
    trace = tmp_path / "requests.spc"
    trace.write_text(SPC)
    check(flashgc.run(REPLAY, trace))
    check(flashgc.run(REPLAY, trace, set={"precondition.fill": "trace"}))
    aged = {"precondition.fill": "aged", "precondition.aged_ratio": 0.2,
            "precondition.reads": "mapped"}  # fmt: skip
    check(flashgc.run(REPLAY, trace, set=aged))


def test_a_key_that_is_not_declared_is_found():
    report = flashgc.run(SMALL, set={"workload.synthetic.requests": 2000}).to_dict()
    report["gc"]["new"] = 1
    del report["wear"]["mean"]
    report["erases"] = "none"
    assert sorted(mistakes(report, whole())) == [
        ".erases: 'none' is not of type integer",
        f".gc.new is unknown: {DECLARE}",
        ".wear.mean is missing",
    ]


def test_every_key_of_the_schema_is_defined_in_the_manual():
    text = (ROOT / "docs/definitions.md").read_text()
    for key in whole()["properties"]:
        if key != "seeds":  # docs/cli/run.md
            assert f"`{key}" in text, key


def test_the_schema_is_printed(flashgc):
    assert flashgc("schema").json == whole()


TYPED = """
import flashgc
report = flashgc.run("oltp")
tail: float | None = report.latency_ns.all.p99_9
jobs: int = report.gc.count
seeds: float = report.seeds.metrics["gc.count"].mean
one: flashgc.Report = flashgc.compare("oltp", ["greedy"])["greedy"]
reasons: list[str] = [refused.reason for refused in flashgc.compare("oltp", ["greedy"]).refused]
"""
WRONG = {
    "report.latency_ns.all.p99_99_9": '"Latency" has no attribute "p99_99_9"',
    "report.latencies": '"Report" has no attribute "latencies"',
    "report.latency_ns.all.p99 + 1": 'Unsupported operand types for + ("None" and "int")',
    "report.gc.count.x": '"int" has no attribute "x"',
}


def test_the_attributes_of_a_report_are_typed(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "typed.py"
    file.write_text(TYPED + "".join(f"{line}\n" for line in WRONG))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", "",
         "--cache-dir", str(ROOT / ".mypy_cache/typed"), str(file)],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    told = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(told) == len(WRONG), done.stdout + done.stderr
    for line, message in zip(told, WRONG.values(), strict=True):
        assert message in line


def test_sections_are_of_their_declared_classes():
    from flashgc.schema import collection_keys, request_keys, section

    report = flashgc.run(SMALL, set={"workload.synthetic.requests": 2000})
    assert type(report.latency_ns.all) is request_keys.Latency
    assert type(report["gc"]) is collection_keys.Gc
    assert type(report.config.device) is section.Open
    assert type(report.config.device.shape).__name__ == "Section"
    assert json.loads(report.to_json()) == report.to_dict()

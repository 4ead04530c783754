"""Explanations: the stories of single requests, as lines, on a page and on the command line."""

import json
import xml.etree.ElementTree as ET

import pytest

import flashgc as package
import pages
from flashgc.explaining import lines, words
from test_schema import mistakes

FEW = {"workload.synthetic.requests": 20_000, "device.blocks_per_plane": 64}
SUSPEND = {"device.suspend.suspend": "20 us"}
SCHEMA = package.explanation_schema()
CASES = {
    "greedy": {},
    "fpgc": {"scheme": "fpgc", "set": SUSPEND},
    "pgc-both": {"scheme": "pgc-both", "set": SUSPEND},
    "programs": {"set": {**SUSPEND, "device.suspend.host_programs": True}},
    "pregc-gftl": {"scheme": "pregc-gftl"},
    "parallel": {"scheme": "parallel"},
    "buffer": {"set": {"device.write_buffer.size": "1 MiB"}},
    "link": {"set": {"device.host_link.transfer": "1 ns/B"}},
    "full-duplex link": {
        "set": {"device.host_link.transfer": "1 ns/B", "device.host_link.duplex": "full"}
    },
    "when-idle": {"set": {"device.allocation": "when-idle"}},
    "ssdsim": {"device": "ssdsim"},
}


def explain(request=None, slowest=None, kind=None, **case):
    case = {**case, "set": {**FEW, **case.get("set", {})}}
    return package.explain("oltp", request=request, slowest=slowest, kind=kind, **case)


def covered(story):
    """The lines of a story, which cover its latency without a gap."""
    told = lines.lines(story)
    at = 0
    for line in sorted(told):
        assert line.from_ns <= at, (story["request"], told)
        at = max(at, line.to_ns)
    assert at >= story["latency_ns"]
    return told


@pytest.fixture(scope="module")
def found():
    return explain(slowest=4)


@pytest.mark.parametrize("name", CASES)
def test_lines_cover_the_latency_without_a_gap(name):
    done = explain(slowest=50, **CASES[name])
    assert mistakes(done.to_dict(), SCHEMA, defined=SCHEMA["$defs"]) == []
    for story in done.to_dict()["stories"]:
        covered(story)
        assert sum(story["parts"].values()) == story["latency_ns"]
        rows = words.rows(story)
        assert 2 <= len(rows) <= words.MOST_ROWS + 2
        assert all(row[-1] for row in rows[1:])


def test_a_long_wait_has_a_bounded_story_without_a_gap():
    """A drive that thrashes made a story of three million steps, which took all memory."""
    waits = {"workload.synthetic.interarrival": {"fixed": "1 us"}, "device.channels": 1,
             "device.chips_per_channel": 1, "workload.synthetic.requests": 12_000}  # fmt: skip
    done = explain(slowest=2, scheme="random", set=waits)
    assert mistakes(done.to_dict(), SCHEMA, defined=SCHEMA["$defs"]) == []
    for story in done.to_dict()["stories"]:
        assert len(story["work"]) <= 8193
        told = covered(story)
        left_out = [line for line in told if "operations left out, with" in line.text]
        assert 1 <= len(left_out) <= 8
        assert {line.kind for line in left_out} == {"left out"}
        left_out_ns = sum(line.to_ns - line.from_ns for line in left_out)
        assert left_out_ns > story["latency_ns"] / 2
    assert "<p>Grey, from " in done._repr_html_()


def test_the_slowest_are_those_of_the_report(found):
    latencies = [story.latency_ns for story in found.stories]
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] == found.report.latency_ns.all.max
    assert found.result_hash == package.run("oltp", set=FEW).result_hash
    writes = explain(slowest=2, kind="write")
    assert {story.kind for story in writes.stories} == {"write"}
    assert writes.stories[0].latency_ns == writes.report.latency_ns.write.max


def test_a_request_has_the_same_story_by_its_number(found):
    number = found.stories[2].request
    assert explain(request=number).stories == [found.stories[2]]
    assert [one.request for one in explain(request=[7, 5, 7]).stories] == [5, 7]


def test_a_run_without_requests_of_the_kind_has_no_story(flashgc, tmp_path):
    reads = {"set": {"workload.synthetic.read_share": 1.0}}
    none = explain(kind="write", **reads)
    assert none.stories == []
    assert words.NOTHING in none.save(tmp_path / "none.html").read_text()
    sets = [part for key, value in {**FEW, **reads["set"]}.items()
            for part in ("--set", f"{key}={value}")]  # fmt: skip
    assert words.NOTHING in flashgc("explain", "oltp", "--kind", "write", *sets).out


def test_work_before_the_request_and_its_collections_are_told(found):
    story = found.to_dict()["stories"][0]
    told = lines.lines(story)
    assert any(line.kind == lines.COLLECTION and "erase" in line.text for line in told)
    assert any("copies" in line.text for line in told)
    assert told[-1].text == f"its own {story['kind']}"
    erase_ns = sum(min(line.to_ns, story["latency_ns"]) - max(line.from_ns, 0)
                   for line in told if line.text.endswith(": erase"))  # fmt: skip
    assert erase_ns == story["parts"]["erase_ns"]


def test_a_program_that_is_suspended_is_told_to_the_read_and_to_the_write():
    load = {"requests": 2_000, "size": "16 KiB", "interarrival": {"exponential": "20 us"}}
    config = {"workload": {"synthetic": {**load, "read_share": 0.7}},
              "precondition": {"fill": "sequential"}}  # fmt: skip
    drive = {"device.blocks_per_plane": 64, "device.suspend.host_programs": True, **SUSPEND}
    told = {}
    for kind in ("read", "write"):
        found = package.explain(config, slowest=400, kind=kind, device="enterprise-tlc", set=drive)
        stories = found.to_dict()["stories"]
        told[kind] = {tuple(line.text for line in lines.lines(story)) for story in stories}
    assert ("a program is suspended", "its own read") in told["read"]
    between = "a program is suspended, 1 read of other requests"
    assert ("its own write", between, "its own write") in told["write"]


def test_the_page_is_whole_and_has_every_story(found, tmp_path):
    page = found.save(tmp_path / "why.html").read_text()
    assert pages.addresses(page) == []
    for story in found.to_dict()["stories"]:
        assert words.title(story) in page
    bars = [part.partition("</div>")[0] for part in page.split('<div class="story">')[1:]]
    assert len(bars) == len(found.stories)
    for bar in bars:
        pieces = list(ET.fromstring(f"<p>{bar}</p>"))
        assert len(pieces) > 2
    assert json.loads(found.save(tmp_path / "why.json").read_text()) == found.to_dict()
    with pytest.raises(package.OutputError, match=r"must end in \.json or \.html"):
        found.save(tmp_path / "why.txt")
    assert words.title(found.to_dict()["stories"][0]) in str(found)


def test_printed_lines_have_80_columns():
    """Those of collections of two blocks had up to 90."""
    done = explain(slowest=20, scheme="ippbe")
    assert max(map(len, str(done).splitlines())) <= 80
    for story in done.to_dict()["stories"]:
        told = " ".join(words.text(story).split())
        assert all(" ".join(row).strip() in told for row in words.rows(story)[1:])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"request": 20_000}, "there is no request 20,000: the run had 20,000 requests"),
        ({"request": 10**30}, "there is no request 1,000,000,000"),
        ({"request": []}, "request must be a number or a list"),
        ({"request": -1}, "request"),
        ({"request": 1, "slowest": 2}, "give either"),
        ({"slowest": 0}, "slowest"),
        ({"slowest": 1001}, "at most 1,000 stories"),
        ({"kind": "trim"}, 'kind is "read" or "write", not "trim"'),
    ],
)
def test_what_cannot_be_told_is_an_error(given, message):
    with pytest.raises(package.ConfigError, match=message):
        explain(**given)


def test_the_command_prints_and_saves_it(flashgc, tmp_path):
    sets = [part for key, value in FEW.items() for part in ("--set", f"{key}={value}")]
    out = tmp_path / "out"
    done = flashgc("explain", "oltp", "--slowest", "1", *sets, "--out", str(out),
                   env={"COLUMNS": "80"})  # fmt: skip
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert "its own" in done.out
    saved = json.loads((out / "explanation.json").read_text())
    assert (out / "explanation.html").is_file()
    printed = json.loads(flashgc("explain", "oltp", "--slowest", "1", *sets, "--json").out)
    assert printed == saved
    refused = flashgc("explain", "oltp", "--slowest", "1", "--request", "1", code=2)
    assert "cannot be combined" in " ".join(refused.err.split())
    missing = flashgc("explain", "oltp", "--request", "20000", *sets, code=2)
    assert "give a number from 0 to 19,999" in missing.err

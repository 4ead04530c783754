"""No table loses a character, whatever the width: on a terminal, and through a pipe."""

import itertools
import json
import random
import re
import sys
from collections import Counter

import pytest

import flashgc as package
import terminal
from conftest import LONG
from flashgc.cli import layout, show
from flashgc.cli.app import app
from flashgc.reports.report import Comparison, Report
from flashgc.results import compared, run_facts, summary
from flashgc.traces import trace_summary

WIDTHS = (40, 60, 80, 120, 200) if LONG else (40, 80, 200)
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HELP = ["", "run", "compare", "advise", "tune", "calibrate", "explain", "animate", "pts",
        "report", "serve", "drive", "drive save",
        "drive info", "trace", "trace info",
        "trace convert", "trace cut", "trace merge", "trace generate", "trace fit", "schemes",
        "devices", "workloads", "sweep", "sweep status", "reproduce", "convert"]  # fmt: skip


def lines_of(text):
    return CONTROL.sub("", text).replace("\r\n", "\n").split("\n")


def check(text, width, cells=()):
    """No blanks at the ends, nothing too wide that could break, and all these cells."""
    lines = lines_of(text)
    for line in lines:
        assert line == line.rstrip(), f"ends in blanks: {line!r}"
        assert len(line) <= width, f"wider than {width}: {line!r}"
        assert "…" not in line
    words = Counter(word for line in lines for word in line.split())
    expected = Counter(word for cell in cells for word in str(cell).split())
    missing = {word: count for word, count in expected.items() if words[word] < count}
    assert not missing, text


def cells(rows):
    return [cell for row in rows for cell in row]


@pytest.fixture
def shown(monkeypatch, capsys):
    """The output of a function of `show` through a pipe of a given number of columns."""

    def run(function, of, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        function(of)
        return capsys.readouterr().out

    return run


@pytest.fixture
def said(monkeypatch, capsys, tmp_path):
    """The output of a command through a pipe of a given number of columns, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*command, columns=400):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys, "argv", ["flashgc", *command])
        capsys.readouterr()
        app(list(command), prog_name="flashgc", standalone_mode=False)
        return capsys.readouterr().out

    return run


@pytest.fixture
def schemes(tmp_path):
    """The names of a given number of schemes: greedy, and files with its text."""
    text = next(one["text"] for one in package.schemes() if one["name"] == "greedy")

    def made(count):
        names = [f"{'own-' * (at % 4)}greedy-{at}.toml" for at in range(count)]
        for name in names:
            (tmp_path / name).write_text(text)
        return ["greedy", *names[1:]]

    return made


@pytest.mark.parametrize("count", [2, 6, 12, 33])
def test_a_comparison_of_any_number_of_schemes(shown, schemes, small, tmp_path, monkeypatch, count):
    monkeypatch.chdir(tmp_path)
    small.write_text(small.read_text().replace("20_000", "2_000"))
    reports = package.compare("small.toml", schemes(count))
    expected = cells(compared.comparison(reports))
    for width in WIDTHS:
        check(shown(show.comparison, reports, width), width, expected)


def test_a_comparison_as_a_command(flashgc, schemes, small, tmp_path):
    command = ["compare", "small.toml", "--schemes", ",".join(schemes(6))]
    printed = flashgc(*command, "--json").out
    expected = cells(compared.comparison(Comparison(map(Report, json.loads(printed)))))
    for columns in ("", "0", "-5", "wide"):
        check(flashgc(*command, env={"COLUMNS": columns}).out, 80, expected)
    check(flashgc(*command, env={"COLUMNS": "200"}).out, 200, expected)
    for width in (60, 80, 120):
        seen = terminal.flashgc(command, tmp_path, width)
        drawn = CONTROL.sub("", seen.screen)
        assert all(word in drawn for cell in expected for word in cell.split()), drawn
        assert all(len(line) <= width for line in re.split(r"[\r\n]+", drawn)), drawn


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_run(shown, small, seeds):
    report = package.run_seeds(small, seeds) if seeds > 1 else package.run(small)
    expected = cells(
        summary.latency(report) + summary.seeds(report) + list(map(list, run_facts.facts(report)))
    )
    for width in WIDTHS:
        check(shown(show.report, report, width), width, expected)


@pytest.mark.parametrize("command", [
    ["schemes"], ["schemes", "--slots"], ["devices"], ["devices", "slc-msr", "--worst-case"],
    ["devices", "slc-msr", "--registers", "4"], ["workloads"], ["reproduce"],
], ids=" ".join)  # fmt: skip
def test_lists(said, command):
    widest = said(*command)
    lines = lines_of(widest)
    # Records have no head.
    if len(lines) > 2 and "───" in lines[2]:
        lines = lines[3:]
    expected = cells(line.split() for line in lines if "───" not in line)
    for width in WIDTHS:
        text = said(*command, columns=width)
        # Each paper repeats the head of its list, which records do not.
        skipped = ("figure", "what", "it", "shows") if command == ["reproduce"] else ()
        check(text, width, [word for word in expected if word not in skipped])


def test_a_fitted_workload(said):
    command = ["workloads", "financial-like", "--set", "workload.synthetic.requests=20000"]
    widest = said(*command)
    expected = [word for line in lines_of(widest) if "───" not in line for word in line.split()]
    notes = ("note", "chosen", "target", "achieved", "off")
    for width in WIDTHS:
        text = said(*command, columns=width)
        check(text, width, [word for word in expected if word not in notes])


def test_a_trace_and_its_fitted_workload(said, spc):
    info = ["trace", "info", "requests.spc", "--format", "spc"]
    about = json.loads(said(*info, "--json"))
    tables = [trace_summary.spreads, trace_summary.common_sizes, trace_summary.bursts]
    expected = cells(trace_summary.facts(about)) + cells(
        cells(table(about)) for table in tables
    )  # fmt: skip
    expected = [cell for cell in expected if isinstance(cell, str)]
    fit = ["trace", "fit", "requests.spc", "--format", "spc", "--check"]
    checked = json.loads(said(*fit, "--json"))
    for width in WIDTHS:
        check(said(*info, columns=width), width, expected)
        text = said(*fit, columns=width)
        check(text, width, cells(trace_summary.checked(checked)))


def test_a_drive(said, small):
    said("drive", "save", "small.toml", "small.drive")
    widest = said("drive", "info", "small.drive")
    for width in WIDTHS:
        text = said("drive", "info", "small.drive", columns=width)
        check(text, width, widest.split())


def test_a_reproduction(flashgc, paper):
    command = ["reproduce", "own-paper"]
    widest = flashgc(*command, env={"COLUMNS": "400"}, code=1).out
    expected = [word for line in lines_of(widest) if "───" not in line for word in line.split()]
    heads = ("place", "what", "paper", "measured", "verdict")
    for width in (60, 200):
        text = flashgc(*command, env={"COLUMNS": str(width)}, code=1).out
        check(text, width, [word for word in expected if word not in heads])


@pytest.mark.parametrize("name", HELP)
def test_help(said, name):
    known = re.findall(r"--[a-z-]+", said(*name.split(), "--help"))
    for width in WIDTHS:
        text = said(*name.split(), "--help", columns=width)
        check(text, width)
        assert set(re.findall(r"--[a-z-]+", text)) == set(known)


def test_tables_of_any_form():
    draw = random.Random(5)
    for _ in range(400):
        columns, rows = draw.randint(1, 9), draw.randint(1, 9)
        table = [[word(draw, at) for at in range(columns)] for _ in range(rows + 1)]
        width = draw.randint(20, 160)
        wraps = [at for at in range(columns) if draw.random() < 0.3]
        found = layout.Table(table, range(1, columns), wraps, {}, draw.random() < 0.5)
        lines = ["".join(text for text, _ in line) for line in found.lines(width)]
        check("\n".join(lines), max(width, 46), cells(table[1:]))


def word(draw, at):
    if not at:
        return draw.choice(["greedy", "most erases of a block", "p99.9"])
    return draw.choice(["12.3 ms", "1,234,567", "-", "99.0 us to 101 us", "yes"])


def test_words_and_numbers_stay_whole():
    assert layout.wrapped("it takes 25.0 us at most", 10) == ["it takes", "25.0 us at", "most"]
    assert layout.wrapped("a-name-that-is-long", 5) == ["a-name-that-is-long"]
    assert layout.wrapped("", 5) == [""]


def test_a_name_wider_than_the_screen_is_kept():
    name = "a-scheme-with-a-name-of-its-own-" * 3
    for turns, width in itertools.product((True, False), (20, 60, 80)):
        table = layout.Table([["", name], ["p50", "12.3 ms"]], [1], (), {}, turns)
        text = "\n".join("".join(part for part, _ in line) for line in table.lines(width))
        assert name in text
        assert "12.3 ms" in text

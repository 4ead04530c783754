"""Errors of traces: numbers in rows, names of files that contradict the format, options."""

import re

import pytest

import flashgc as package

NAMED = "csv:time:s, op, offset, size"
RANGE = "a time is a number from 0 to 18446744073, in s, such as 12.5"


@pytest.mark.parametrize(
    ("time", "told"),
    [
        ("1e+20", f"it has an exponent; write it with digits alone; {RANGE}"),
        ("20000000000", f"it is too large; {RANGE}"),
        ("-1", f"it is negative; {RANGE}"),
        ("2026-11-30 12:00", RANGE),
        ("nan", RANGE),
    ],
)
def test_a_wrong_time_has_its_range_and_unit(time, told, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(f"{time},r,0,4096\n")
    with pytest.raises(package.TraceError) as error:
        package.trace.info(file, format=NAMED)
    assert str(error.value).splitlines()[-1] == f"  = help: {told}"


def test_a_whole_number_with_an_exponent_is_told_as_one(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("0,r,1e6,4096\n")
    with pytest.raises(package.TraceError, match="it has an exponent; write it with digits alone"):
        package.trace.info(file, format=NAMED)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["convert", "a.spc", "o.fgt", "--to", "csv"], "o.csv"),
        (["convert", "a.spc", "o.fgt.gz", "--to", "csv"], "o.csv"),
        (["convert", "a.spc", "o.csv.zst", "--to", "fgt"], "o.fgt"),
        (["cut", "a.fgt", "o.csv"], "o.fgt"),
        (["cut", "a.spc", "o.fgt.zst"], "o.spc"),
        (["merge", "a.fgt", "a.fgt", "o.csv"], "o.fgt"),
        (["generate", "oltp", "o.fgt", "--format", "msr"], "o.msr"),
        (["generate", "oltp", "o.csv", "--format", "fgt"], "o.fgt"),
    ],
)
def test_a_name_that_contradicts_the_format_is_refused(words, named, flashgc, tmp_path):
    (tmp_path / "a.spc").write_text("0,8,8192,W,0.5\n0,32,4096,R,0.6\n")
    package.trace.convert(tmp_path / "a.spc", tmp_path / "a.fgt")
    done = flashgc("trace", *words, code=2)
    target = next(word for word in words if word.startswith("o."))
    assert done.err.startswith(f"error: {target} ends in .{target.split('.')[1]}, and the format")
    assert f"name it {named}, or name another format" in done.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] == "o") == []


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", "replay", "--trace", "sqlite", "--sort-window", "5"], "--sort-window"),
        (["trace", "info", "sqlite", "--sort-window", "5"], "--sort-window"),
        (["trace", "cut", "sqlite", "o.fgt", "--start", "5"], "--start"),
        (["trace", "cut", "sqlite", "o.fgt", "--length", "5"], "--length"),
        (["run", "replay", "--trace", "sqlite", "--format", "nonsense"], "--format"),
        (["trace", "info", "sqlite", "--format", "csv:time, op"], "--format"),
        (["run", "replay", "--trace", "sqlite", "--fit", "x"], "--fit"),
        (["run", "replay", "--trace", "sqlite", "--fit", "120%"], "--fit"),
        (["run", "replay", "--trace", "sqlite", "--fit", "0%"], "--fit"),
        (["run", "oltp", "--series", "s.csv", "--series-interval", "5"], "--series-interval"),
        (["run", "oltp", "--timeline", "t", "--timeline-window", "5"], "--timeline-window"),
        (["run", "oltp", "--timeline", "t", "--timeline-units", "x"], "--timeline-units"),
        (["animate", "oltp", "--out", "a.html", "--window", "5"], "--window"),
        (["animate", "oltp", "--out", "a.html", "--units", "x"], "--units"),
        (["trace", "convert", "sqlite", "o.csv", "--to", "nonsense"], "--to"),
        (["trace", "merge", "sqlite", "o.csv", "--to", "auto"], "--to"),
        (["trace", "generate", "oltp", "o.csv", "--format", "nonsense"], "--format"),
    ],
)
def test_an_error_names_the_option_as_it_is_typed(words, option, flashgc):
    done = flashgc(*words, code=2)
    told = " ".join(re.sub("[│╭╮╰╯─]", "", done.err).split())
    assert f"Invalid value for '{option}': " in told
    assert "sort_window" not in told
    assert "workload.trace" not in told


@pytest.mark.parametrize(
    ("name", "ending", "other"),
    [
        ("o.csv", "csv", "o.load"),
        ("o.spc.gz", "spc", "o.load"),
        ("my o.msr.zst", "msr", "my o.load"),
    ],
)
def test_a_generated_trace_needs_the_format_that_its_name_ends_in(name, ending, other, flashgc):
    """It was written as blkreplay, under a name that says another format."""
    few = ["--set", "workload.synthetic.requests=3"]
    said = flashgc("trace", "generate", "oltp", name, *few, code=2).err
    assert said.startswith(f"error: {name} ends in .{ending}, and the format to write is blkreplay")
    assert f"name the format, {ending}, or another file, such as {other}" in said
    flashgc("trace", "generate", "oltp", name, *few, "--format", ending)


def test_written_columns_say_how_they_are_read(flashgc, tmp_path):
    (tmp_path / "a.spc").write_text("0,8,8192,W,0.5\n0,32,4096,R,0.6\n")
    for words in (["convert", "a.spc", "o.csv", "--to", "csv"],
                  ["cut", "a.spc", "o.csv", "--to", "csv"],
                  ["merge", "a.spc", "a.spc", "p.csv", "--to", "csv"]):  # fmt: skip
        assert "it is read with --format csv" in flashgc("trace", *words).err
        assert flashgc("trace", "info", words[-3], "--format", "csv", "--json").json["reads"] > 0
    own = "csv:time:us, op, offset, size; read=R; write=W"
    for words in (["convert", "a.spc", "q.csv", "--to", own],
                  ["cut", "q.csv", "r.csv", "--format", own],
                  ["generate", "oltp", "s.csv", "--format", own,
                   "--set", "workload.synthetic.requests=9"]):  # fmt: skip
        assert flashgc("trace", *words).err.endswith(f"it is read with --format '{own}'\n")
        assert flashgc("trace", "info", words[2], "--format", own, "--json").json["reads"] > 0


def test_a_plot_replaces_no_trace(flashgc, tmp_path):
    (tmp_path / "a.svg").write_text("0,8,8192,W,0.5\n")
    said = flashgc("trace", "info", "a.svg", "--plot", "./a.svg", code=2).err
    assert said.startswith("error: a.svg is read, and would be replaced")
    assert (tmp_path / "a.svg").read_text() == "0,8,8192,W,0.5\n"


def test_a_fit_counts_its_request(flashgc, tmp_path):
    (tmp_path / "a.spc").write_text("0,8,8192,W,0.5\n")
    assert "a trace with 1 request, made" in flashgc("trace", "fit", "a.spc").out

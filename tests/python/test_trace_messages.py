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

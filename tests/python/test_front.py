"""Faults of the front that users met: each has a test of its own, named for it."""

import re
import shutil

import pytest

import flashgc
from conftest import ROOT

SMALL = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 2000}
SETS = [f"--set={key}={value}" for key, value in SMALL.items()]
OLTP = (ROOT / "python/flashgc/configs/oltp.toml").read_text("utf-8")


@pytest.fixture
def flashgc_cmd(flashgc):
    """The command; the name of its fixture is that of the package here."""
    return flashgc


def one_line(text):
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("name", ["a=b.toml", "seed=1", "a=b.fio"])
def test_a_file_whose_name_has_an_equals_sign_is_a_file(flashgc_cmd, tmp_path, name):
    fio = "[one]\nrw=randwrite\nsize=1M\nnumber_ios=50\n"
    (tmp_path / name).write_text(fio if name.endswith(".fio") else OLTP)
    done = flashgc_cmd("run", name, "--json", *([] if name.endswith(".fio") else SETS))
    expected = 50 if name.endswith(".fio") else 2000
    assert sum(done.json["requests"].values()) == expected
    missing = flashgc_cmd("run", "no=such.toml", code=2)
    assert missing.err.startswith("error: no=such.toml: there is no such file")
    # Text of one line without such a file is still text.
    with pytest.raises(flashgc.ConfigError, match="no workload is configured"):
        flashgc.run("seed=1" if name != "seed=1" else "seed = 1")


@pytest.mark.parametrize(
    ("key", "written", "number"),
    [
        ("device.over_provisioning", ".5", 0.5),
        ("workload.synthetic.read_share", "70%", 0.7),
        ("workload.synthetic.read_share", ".7", 0.7),
        ("workload.synthetic.footprint", "50%", 0.5),
        ("workload.synthetic.address.hot_cold", '{ f = "20%", r = "80%" }', {"f": 0.2, "r": 0.8}),
        ("workload.synthetic.hints.regions", '["25%", 0.75]', [0.25, 0.75]),
    ],
)
def test_shares_are_numbers_or_percentages_wherever_the_manual_says_share(key, written, number):
    sets = [f"{key_}={value}" for key_, value in SMALL.items()]
    found = flashgc.run("oltp", set=[*sets, f"{key}={written}"])
    same = flashgc.run("oltp", set={**SMALL, key: number})
    assert found.result_hash == same.result_hash


def test_every_share_of_the_manual_takes_a_percentage():
    """Keys whose row says share and gives 0 to 1: none refuses text as such."""
    rows = (ROOT / "docs/configuration.md").read_text("utf-8").splitlines()
    keys = [row.split("`")[1] for row in rows
            if row.startswith("| `") and "| 0 to 1 |" in row and "share" in row]  # fmt: skip
    assert len(keys) > 30
    for key in keys:
        if ".job." in key or ".groups." in key or ".phases." in key or "fitted" in key:
            continue  # keys of lists cannot be set by a path
        told = ""
        try:
            flashgc.run("oltp", set={**SMALL, key: "170%"})  # a choice that is not in use
        except flashgc.ConfigError as error:
            told = str(error)
        assert "is not a number" not in told, told


def test_a_scheme_file_of_one_line_is_a_mistake_and_not_skipped(flashgc_cmd, tmp_path):
    (tmp_path / "own.toml").write_text('victim.use = "fifo"\n')
    done = flashgc_cmd("compare", "oltp", "--schemes", "greedy,./own.toml", *SETS, code=2)
    assert "missing key `gc.trigger.use`" in done.err
    assert 'begin the scheme\'s file with `base = "greedy"`' in one_line(done.err)
    (tmp_path / "own.toml").write_text('victim.use = "fifo"\nvictm.d = 3\nbase = "greedy"\n')
    done = flashgc_cmd("compare", "oltp", "--schemes", "greedy,./own.toml", *SETS, code=2)
    assert "unknown key `victm`" in done.err
    # A scheme that does not fit the device is still skipped.
    (tmp_path / "own.toml").write_text('base = "fpgc"\n')
    done = flashgc_cmd("compare", "oltp", "--schemes", "greedy,./own.toml", *SETS, "--json")
    assert [one["scheme"] for one in done.json if "refused" in one] == ["./own.toml"]


def test_a_scheme_file_names_the_preset_below_it_with_base(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('base = "greedy"\nvictim.use = "fifo"\n')
    found = flashgc.run("oltp", scheme=own, set=SMALL)
    assert found.config["gc"]["slots"]["victim"] == "fifo"
    same = flashgc.run("oltp", scheme="greedy", set={**SMALL, "gc.victim.use": "fifo"})
    assert found.result_hash == same.result_hash
    own.write_text('base = "greedy"\n')
    assert (
        flashgc.run("oltp", scheme=own, set=SMALL).result_hash
        == flashgc.run("oltp", scheme="greedy", set=SMALL).result_hash
    )
    own.write_text('base = "gready"\n')
    with pytest.raises(flashgc.ConfigError, match='did you mean "greedy"') as caught:
        flashgc.compare("oltp", ["greedy", own], set=SMALL)
    assert "own.toml:1:8" in str(caught.value)


def test_a_changed_scheme_is_not_printed_as_its_preset(flashgc_cmd, tmp_path):
    fifo = ["--set", "gc.victim.use=fifo"]
    told = one_line(flashgc_cmd("run", "oltp", *SETS, *fifo, "--out", "out").out)
    assert "scheme greedy (victim.use=fifo), seed 1" in told
    assert "<td>greedy (victim.use=fifo)</td>" in (tmp_path / "out/report.html").read_text()
    told = one_line(flashgc_cmd("run", "oltp", *SETS).out)
    assert "scheme greedy, seed 1" in told
    told = one_line(flashgc_cmd("compare", "oltp", "--schemes", "greedy,fifo", *SETS, *fifo).out)
    assert "note greedy: not as the preset, but victim.use=fifo" in told
    both = flashgc.compare("oltp", ["greedy", "pgc"], set={**SMALL, "gc.pacing.use": "at-once"},
                           unset=["gc.trigger.watermark.batch"])  # fmt: skip
    assert [one.scheme_changes for one in both] == [["no trigger.watermark.batch"]] * 2


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("run", []), ("compare", ["--schemes", "greedy"]), ("explain", ["--slowest", "1"]),
        ("advise", ["--schemes", "greedy,fifo"]), ("tune", ["--trials", "4"]),
    ],
)  # fmt: skip
def test_out_promises_the_files_that_are_written(flashgc_cmd, tmp_path, command, more):
    told = one_line(flashgc_cmd(command, "--help").out)
    promised = re.search(r"--out DIR Save (.*?) in this folder", told)[1]
    searched = "oltp"
    if command == "tune":
        pytest.importorskip("optuna")
        # All schemes would take 20 s.
        space = '[base]\nconfig = "oltp"\n[space]\nscheme = ["greedy", "pgc"]\n'
        (tmp_path / (searched := "two.toml")).write_text(space)
    flashgc_cmd(command, searched, *more, *SETS, "--out", "here")
    written = {path.name for path in (tmp_path / "here").iterdir()}
    assert written == set(re.findall(r"\w+\.(?:html|json|toml|svg)", promised))


def test_a_folder_of_another_command_says_what_to_do_instead(flashgc_cmd, tmp_path):
    flashgc_cmd("run", "oltp", *SETS, "--out", "ran")
    flashgc_cmd("explain", "oltp", *SETS, "--slowest", "1", "--out", "why")
    told = flashgc_cmd("explain", "ran", code=2).err
    assert "ran is a result of `flashgc run` or `flashgc compare`, not a configuration" in told
    assert "`flashgc report ran --out DIR` shows it again" in told
    assert f"its command was: flashgc run oltp {' '.join(SETS)}" in told
    told = flashgc_cmd("report", "why", "--out", "page", code=2).err
    assert "why is a result of `flashgc explain`" in told
    assert "open why/explanation.html" in told
    for command in ("run", "advise", "explain"):
        told = flashgc_cmd(command, "why/explanation.json", code=2).err
        assert "open why/explanation.html" in told
    (tmp_path / "empty").mkdir()
    told = flashgc_cmd("report", "empty", "--out", "page", code=2).err
    assert "empty has no report.json" in told
    assert not (tmp_path / "page").exists()


def test_settings_of_a_trace_without_a_trace_are_named(flashgc_cmd):
    told = flashgc_cmd("run", "oltp", "--fit", "90%", code=2).err
    assert (
        "`workload.trace.fit` needs a trace, but the requests are those of [workload.synthetic]"
        in (told)
    )
    assert "remove `workload.trace.fit` (option `--fit`)" in told
    told = flashgc_cmd("run", "oltp", "--on-bad-line", "skip", code=2).err
    assert "(option `--on-bad-line`)" in told


NUMBER = "must be a whole number from 0 to 18446744073709551615"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["run", "oltp", "--seed", "abc"], "'--seed': must be a whole number from 0, got abc"),
        (["run", "oltp", "--seed", "-1"], "'--seed': must be a whole number from 0, got -1"),
        (["run", "oltp", "--seed", "1" * 30], f"'--seed': {NUMBER}, got 1111"),
        (["trace", "info", "sqlite", "--first-row", "1" * 30], f"'--first-row': {NUMBER}, got 11"),
        (["trace", "info", "sqlite", "--rows", "1" * 30], "'--rows': must be a whole number"),
        (
            ["compare", "oltp", "--schemes", "fifo", "--seeds", "20000"],
            "'--seeds': must be a whole number from 1 to 10000, got 20000",
        ),
        (
            ["tune", "oltp", "--jobs", "2000"],
            "--jobs must be a whole number from 1 to 1024, got 2000",
        ),
        (
            ["explain", "oltp", "--slowest", "5000"],
            "'--slowest': must be a whole number from 1 to 1000, got 5000",
        ),
        (["explain", "oltp", "--request", "x"], "must be a whole number from 0, got x"),
        (["explain", "oltp", "--kind", "trim"], "'--kind': must be read or write, got trim"),
    ],
)
def test_wrong_values_of_options_are_told_in_our_words(flashgc_cmd, typed, told):
    assert told in one_line(flashgc_cmd(*typed, code=2).err)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_help_of_sweep_lists_status(flashgc_cmd, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    told = one_line(flashgc_cmd("sweep", "--help").out)
    assert "Command: flashgc sweep status Show the sweeps of a folder" in told
    assert "Command:" not in one_line(flashgc_cmd("sweep", "status", "--help").out)


def test_python_takes_the_format_of_a_trace(tmp_path):
    trace = tmp_path / "five.txt"
    rows = (f"{at * 1_000_000} 0 {at * 37 % 4000 * 8} 8 {at % 2}" for at in range(300))
    trace.write_text("\n".join(rows) + "\n")
    with pytest.raises(flashgc.TraceError, match="pass `--format`"):
        flashgc.run("replay", trace)
    report = flashgc.run("replay", trace, format="mqsim")
    assert report.requests.to_dict() == {"read": 150, "write": 150, "trim": 0}
    both = flashgc.compare("replay", ["greedy", "fifo"], trace, format="mqsim")
    assert both["greedy"].result_hash == report.result_hash
    assert flashgc.run_seeds("replay", 2, trace, format="mqsim").seeds["count"] == 2
    told = flashgc.explain("replay", trace, request=3, format="mqsim", fit="none")
    assert told.stories[0].request == 3


def test_a_clock_that_wraps_at_32_bits_is_named(flashgc_cmd, tmp_path):
    rows = ["4294967290,0,w,0,4096", "4294967295,0,w,4096,4096", "4,0,w,8192,4096"]
    (tmp_path / "wrapped.csv").write_text("\n".join([*rows, "10,0,w,12288,4096"]) + "\n")
    told = one_line(flashgc_cmd("trace", "info", "wrapped.csv", "--format", "csv").out)
    assert "1 row, by 4.29 s at most; a 32-bit clock in ns seems to wrap (1 time)" in told
    done = flashgc_cmd("trace", "info", "wrapped.csv", "--format", "csv", "--json")
    assert (done.json["clock_wraps"], done.json["clock_unit"]) == (1, "ns")
    run = ["run", "replay", "--trace", "wrapped.csv", "--format", "csv"]
    for more in ([], ["--sort-window", "1 us"]):
        told = one_line(flashgc_cmd(*run, *more, code=2).err)
        assert "this is what a 32-bit clock in ns does when it wraps: add 4294967296" in told


def test_a_flipped_bit_in_the_store_of_a_sweep_is_found(tmp_path):
    """One bit of every byte that holds data: a value is never silently another."""
    base = {"config": "oltp", "set": SMALL}
    sweep = {"base": base, "axes": {"seed": [1, 2, 3]}}
    store = tmp_path / "store"
    flashgc.sweep(sweep, store=store, jobs=1)
    [file] = (store / "results").glob("*.parquet")
    whole = file.read_bytes()
    before = flashgc.sweep(sweep, store=store, jobs=1).to_arrow().to_pylist()
    found = 0
    places = range(4, len(whole), max(len(whole) // 60, 1))
    for at in places:
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            rows, told = flashgc.sweep(sweep, store=store, jobs=1).to_arrow().to_pylist(), ""
        except flashgc.OutputError as error:
            rows, told = before, str(error)
        assert rows == before
        found += "remove the damaged file" in told
    assert found > len(places) / 2
    shutil.rmtree(store)


def test_counts_of_the_readme_are_those_of_the_program():
    told = (ROOT / "README.md").read_text("utf-8")
    [schemes] = re.findall(r"under any of (\d+)\s+GC schemes", told)
    assert int(schemes) == len(flashgc.schemes())


def test_a_verified_run_says_so(flashgc):
    small = ["--set", "workload.synthetic.requests=500", "--set", "device.blocks_per_plane=64"]
    told = "checked every operation and the whole drive at the end"
    assert told in flashgc("run", "oltp", *small, "--verify").err
    assert told not in flashgc("run", "oltp", *small).err
    assert told in flashgc("compare", "oltp", "--schemes", "greedy,fifo", *small, "--verify").err


def test_a_quick_reproduction_says_why_nothing_is_comparable(flashgc, tmp_path):
    done = flashgc("reproduce", "parallel-gc/table-5", "--quick", "--out", str(tmp_path / "out"))
    assert "not comparable" in done.out
    assert "a quick run has small drives and few requests" in done.err

"""Mistakes of users: status 2, a helpful message, and no half-written file."""

import os
import resource
import subprocess

import pytest

import packing
from conftest import COMMAND, SPC


def test_a_misspelt_key_gets_the_nearest_valid_one(flashgc, small):
    small.write_text(small.read_text().replace("planes_per_die", "plane_per_die"))
    done = flashgc("run", small, code=2)
    assert "did you mean `planes_per_die`?" in done.err
    assert "small.toml:7:1" in done.err
    assert "plane_per_die = 2" in done.err
    assert done.out == ""


def test_all_mistakes_are_told_at_once(flashgc, small):
    text = small.read_text().replace('unit = "die"', 'unit = "dice"')
    small.write_text(text.replace('read = "25 us"', 'read = "25 hours"'))
    done = flashgc("run", small, "--set", "gc.triger.x=1", code=2)
    for word in ("dice", "25 hours", "triger"):
        assert word in done.err


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ('device.page_size="0 B"', "page_size"),
        ("device.exported=0.999", "exported"),
        ('gc.trigger.watermark.soft="60 blocks"', "soft"),
        ("workload.synthetic.requests=0", "requests"),
        ("nonsense", "="),
        ('gc.scheme="gredy"', "greedy"),
        ('device.preset="slc-mrs"', "slc-msr"),
    ],
)
def test_settings_that_cannot_be(flashgc, small, setting, word):
    done = flashgc("run", small, "--json", "--set", setting, code=2)
    assert word in done.err
    assert done.err.startswith("error: ")
    assert done.out == ""


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["run", "missing.toml"], ["missing.toml", "no such file", "oltp"]),
        (["run", "oltpp"], ["did you mean `oltp`?"]),
        (["run", "."], ["directory"]),
        (["run", "binary"], ["UTF-8"]),
        (["run", "/dev/zero"], ["4 MiB"]),
        (["run", "oltp", "--scheme", "missing.toml"], ["missing.toml", "no such file"]),
        (["run", "oltp", "--scheme", "gredy"], ["greedy"]),
        (["run", "oltp", "--device", "slc"], ["slc-msr"]),
        (["run", "oltp", "--trace", "missing"], ["missing", "no such file"]),
        (["run", "oltp", "--trace", "."], ["directory"]),
        (["run", "oltp", "--trace", "/dev/zero"], ["device"]),
        (["run", "replay"], ["--trace"]),
        (["run", "oltp", "--seed", "-1"], ["--seed"]),
        (["run", "oltp", "--sed", "1"], ["--seed"]),
        (["run"], ["CONFIG"]),
        (["runn"], ["run"]),
        (["compare", "oltp", "--schemes", ","], ["scheme"]),
        (["compare", "oltp", "--schemes", "greedy,gredy"], ["greedy"]),
        (["trace", "info", "missing"], ["missing", "no such file"]),
        (["trace", "info", "."], ["directory"]),
        (["trace", "info", "binary", "--format", "spcc"], ["spc"]),
        (
            ["trace", "convert", "ok.spc", "out", "--to", "nothing"],
            ["nothing", "can be written", "blkreplay"],
        ),
        (["trace", "convert", "ok.spc", ".", "--to", "csv"], ["directory"]),
        (["trace", "convert", "ok.spc", "no/such/folder", "--to", "csv"], ["no/such/folder"]),
        (["trace", "convert", "ok.spc", "out", "--to", "csv", "--start", "3 hours"], ["hours"]),
        (["trace", "generate", "replay", "out"], ["synthetic"]),
        (["schemes", "gredy"], ["did you mean `greedy`?"]),
        (["devices", "nothing-like-it"], ["slc-msr"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_not_there(flashgc, tmp_path, args, words):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x80" * 100)
    (tmp_path / "ok.spc").write_text(SPC)
    before = sorted(tmp_path.iterdir())
    done = flashgc(*args, code=2)
    for word in words:
        assert word in done.err
    assert done.out == ""
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "typed",
    [
        ["run", "small.toml", "--gc-log", "small.toml"],
        ["run", "small.toml", "--series", "./small.toml"],
        ["run", "small.toml", "--timeline", "same.toml"],
        ["run", "replay.toml", "--trace", "requests.spc", "--gc-log", "requests.spc"],
        ["drive", "save", "small.toml", "small.toml"],
        ["trace", "generate", "small.toml", "small.toml"],
        ["trace", "fit", "requests.spc", "--out", "requests.spc"],
        ["trace", "convert", "requests.spc", "requests.spc", "--to", "csv"],
        ["trace", "cut", "requests.spc", "requests.spc", "--rows", "5"],
        ["trace", "merge", "requests.spc", "requests.spc"],
    ],
    ids=" ".join,
)
def test_no_result_replaces_what_it_was_made_from(flashgc, tmp_path, small, replay, spc, typed):
    (tmp_path / "same.toml").symlink_to("small.toml")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    said = flashgc(*typed, code=2).err
    assert "toml is read, and would be rep" in said or "spc is read, and would be rep" in said
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_malformed_line_stops_or_is_skipped(flashgc, replay, spc):
    lines = spc.read_text().splitlines()
    lines[41] = "0,what,4096,w,0.041"
    spc.write_text("\n".join(lines) + "\n")
    for command in (["run", replay, "--trace", spc], ["trace", "info", spc]):
        done = flashgc(*command, "--json", code=2)
        assert "requests.spc:42:3" in done.err
        assert "0,what,4096,w,0.041" in done.err
        assert done.out == ""
        report = flashgc(*command, "--json", "--on-bad-line", "skip").json
        assert report["bad_rows"] == 1


def test_traces_that_are_empty_or_cut(flashgc, replay, tmp_path):
    cases = {
        "empty": (b"", "empty"),
        "comments": (b"# nothing\n", "comments"),
        "cut.zst": (packing.zstd(SPC)[:-2000], "too early"),
        "cut.gz": (packing.gzip(SPC)[:-2000], "too early"),
        "bzip2": (b"BZh91AY&SY", "bunzip2"),
    }
    for name, (data, word) in cases.items():
        (tmp_path / name).write_bytes(data)
        for command in (["trace", "info", name], ["run", replay, "--trace", name]):
            done = flashgc(*command, code=2)
            assert word in done.err, name
            assert done.err.startswith("error: ")


def test_an_address_beyond_the_drive(flashgc, replay, tmp_path):
    (tmp_path / "far.spc").write_text("0,8,4096,w,0.1\n0,900000000,4096,w,0.2\n")
    reject = ["--set", "workload.trace.address=reject"]
    done = flashgc("run", replay, "--trace", "far.spc", *reject, code=2)
    assert "address" in done.err
    assert "wrap" in done.err
    assert "wrapped" in flashgc("run", replay, "--trace", "far.spc").out


def test_a_folder_for_results_that_cannot_be(flashgc, small):
    for out in (small, small / "below", "/proc/nowhere"):
        done = flashgc("run", small, "--out", out, code=2)
        assert str(out) in done.err


@pytest.mark.parametrize(
    "args",
    [
        ["run", "small.toml", "--gc-log", "/dev/full"],
        ["trace", "convert", "requests.spc", "/dev/full", "--to", "csv"],
        ["trace", "generate", "small.toml", "/dev/full"],
    ],
    ids=lambda args: args[0] + " " + args[1],
)
def test_a_full_disk(flashgc, small, spc, args):
    assert "no space left" in flashgc(*args, code=2).err
    assert not os.path.isfile("/dev/full")


def test_a_full_disk_on_standard_output(small, spc):
    for args in (["run", small, "--json"], ["trace", "convert", spc, "-", "--to", "csv"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, *args], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2
        assert b"no space left" in done.stderr
        assert b"Traceback" not in done.stderr


def test_results_appear_whole_or_not_at_all(flashgc, small, spc, tmp_path):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    (tmp_path / "saved").mkdir()
    (tmp_path / "saved/report.html").write_text("of yesterday")
    for args in (
        ["run", small, "--out", "saved"],
        ["run", small, "--gc-log", "saved/gc.csv"],
        ["run", small, "--series", "saved/over-time.csv"],
        ["trace", "convert", spc, "saved/a.csv", "--to", "csv"],
    ):
        done = flashgc(*args, code=2, preexec_fn=little_room)
        assert "too large" in done.err
        assert [path.name for path in (tmp_path / "saved").iterdir()] == ["report.html"]
        assert (tmp_path / "saved/report.html").read_text() == "of yesterday"


def test_a_reader_that_has_had_enough_is_no_error(small, spc):
    for args in (["run", small, "--json"], ["trace", "convert", spc, "-", "--to", "csv"]):
        with subprocess.Popen(
            [COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            child.stdout.close()
            assert b"rror" not in child.stderr.read()
            assert child.wait() == 0

"""Saved drives, as a user makes them and begins with them."""

import json
import os
import signal
import subprocess
import time

import pytest

import flashgc as package
from conftest import COMMAND, ENDLESS, SMALL

METRICS = ("requests", "pages", "write_amplification", "erases", "gc", "latency_ns", "wear",
           "simulated_ns", "free_pages_min")  # fmt: skip


def figures(report):
    return {name: report[name] for name in METRICS}


def test_a_run_on_a_saved_drive_gives_the_same_figures(flashgc, small, tmp_path):
    done = flashgc("drive", "save", small, "my.drive")
    assert done.out == ""
    assert "saved my.drive" in done.err
    saved, plain = (flashgc("run", small, "--json", *more).json
                    for more in (["--drive", "my.drive"], []))  # fmt: skip
    assert figures(saved) == figures(plain)
    assert saved["precondition"]["drive"]["file"] == "my.drive"
    assert plain["precondition"]["drive"] is None
    assert saved["config"]["precondition"]["scheme"] == "greedy"
    assert saved["notes"] == []
    named = ["--set", "precondition.scheme=greedy"]
    ways = (["--drive", "my.drive"], ["--drive", "my.drive", "--verify"], [])
    reports = [flashgc("run", small, "--json", *named, *more).json for more in ways]
    hashes = {report["result_hash"] for report in reports}
    assert len(hashes) == 1
    assert os.listdir(tmp_path).count("my.drive") == 1
    assert "drive" in flashgc("run", small, "--drive", "my.drive").out


def test_info_says_what_made_it(flashgc, small):
    flashgc("drive", "save", small, "my.drive", "--scheme", "fifo", "--seed", 3)
    about = flashgc("drive", "info", "my.drive", "--json").json
    assert about["made_from"]["seed"] == 3
    assert about["made_from"]["gc"]["scheme"] == about["precondition"]["scheme"] == "fifo"
    assert about["made_from"]["device"]["blocks_per_plane"] == 64
    assert about["precondition"]["drive_writes"] == 1.0
    text = flashgc("drive", "info", "my.drive").out
    for word in (about["key"], "fifo", "256 blocks of 32 pages of 4", "sequential"):
        assert word in text


def test_all_schemes_begin_with_one_drive(flashgc, small):
    flashgc("drive", "save", small, "my.drive")
    names = "ideal,greedy,fifo"
    reports = flashgc("compare", small, "--schemes", names, "--drive", "my.drive", "--json").json
    assert [report["scheme"] for report in reports] == names.split(",")
    keys = {report["precondition"]["drive"]["key"] for report in reports}
    assert len(keys) == 1
    assert {report["precondition"]["scheme"] for report in reports} == {"greedy"}
    shown = flashgc("compare", small, "--schemes", names, "--drive", "my.drive").out
    assert "should be equal" not in shown
    # Without it each scheme preconditions its own.
    own = flashgc("compare", small, "--schemes", names, "--json").json
    assert figures(own[1]) == figures(reports[1])
    assert figures(own[2]) != figures(reports[2])


def test_from_python(tmp_path):
    file = tmp_path / "my.drive"
    seen = []
    about = package.drive.save(SMALL, file, progress=seen.append)
    assert about == package.drive.info(file)
    assert seen[-1].phase == "run"
    plain, saved = package.run(SMALL), package.run(SMALL, drive=file)
    assert figures(plain) == figures(saved)
    seeds = package.run_seeds(SMALL, 2, drive=file)
    assert seeds.precondition.drive.key == about["key"]


def test_a_trace_fills_a_drive(flashgc, replay, spc):
    settings = ["--set", "precondition.fill=trace", "--trace", spc]
    flashgc("drive", "save", replay, "my.drive", *settings)
    saved, plain = (flashgc("run", replay, "--json", *settings, *more).json
                    for more in (["--drive", "my.drive"], []))  # fmt: skip
    assert figures(saved) == figures(plain)
    filled = plain["precondition"]["trace_fill"]
    assert filled["read_pages"] > 0
    assert filled["shifted_pages"] > 0
    assert saved["precondition"]["trace_fill"] == filled


def test_a_drive_of_another_device_names_what_differs(flashgc, small):
    flashgc("drive", "save", small, "my.drive")
    settings = ["--set", "device.blocks_per_plane=128", "--set", "device.exported=0.7"]
    done = flashgc("run", small, "--drive", "my.drive", *settings, code=2)
    for part in ("made with another device", "device.blocks_per_plane: 64 in the drive, 128",
                 "device.exported: 1638 pages of each plane", "my.drive"):  # fmt: skip
        assert part in done.err
    with pytest.raises(package.DriveError):
        package.run(SMALL, drive="missing.drive")


def test_a_drive_that_is_not_the_configurations_is_noted(flashgc, small):
    flashgc("drive", "save", small, "my.drive", "--set", "precondition.overwrite=0.5")
    report = flashgc("run", small, "--drive", "my.drive", "--json").json
    assert report["precondition"]["drive_writes"] == 0.5
    assert "has no effect" in report["notes"][0]


@pytest.mark.parametrize(
    ("name", "spoil", "words"),
    [
        ("cut", lambda data: data[:-100], "truncated"),
        ("longer", lambda data: data + b"x", "after its end"),
        ("empty", lambda data: b"", "not a saved drive"),
        ("text", lambda data: b"[device]\n" * 1000, "not a saved drive"),
        ("newer", lambda data: data[:8] + b"\x09" + data[9:], "format version 9"),
        ("header", lambda data: data[:40] + b"#" + data[41:], "checksum of its header"),
        ("table", lambda data: data[:-20] + b"#" + data[-19:], "cannot be decompressed"),
    ],
)
def test_a_damaged_file_is_refused(flashgc, small, tmp_path, name, spoil, words):
    flashgc("drive", "save", small, "my.drive")
    bad = tmp_path / f"{name}.drive"
    bad.write_bytes(spoil((tmp_path / "my.drive").read_bytes()))
    done = flashgc("run", small, "--drive", bad, code=2)
    assert done.err.startswith("error: ")
    assert words in done.err
    assert bad.name in done.err
    assert done.out == ""
    if name != "table":
        assert "error: " in flashgc("drive", "info", bad, code=2).err


def test_files_that_cannot_be(flashgc, small):
    for path, words in (
        ("missing", "no such file"),
        (".", "directory"),
        ("/dev/zero", "not a saved"),
    ):
        assert words in flashgc("run", small, "--drive", path, code=2).err
    missing = flashgc("drive", "save", small, "no/such/folder", code=2).err
    assert "there is no folder no/such" in missing
    assert "directory" in flashgc("drive", "save", small, ".", code=2).err


def test_a_drive_appears_whole_or_not_at_all(small, tmp_path):
    small.write_text(ENDLESS.replace("overwrite = 1.0", "overwrite = 10000.0"))
    command = [COMMAND, "drive", "save", str(small), "my.drive"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob(".my.drive*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=30) == 130
    running.stderr.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.toml"]


def test_the_report_is_json_throughout(flashgc, small):
    settings = ["--set", "precondition.fill=aged", "--set", "precondition.aged_ratio=0.4"]
    report = flashgc("run", small, "--json", *settings, "--set", "precondition.overwrite=0.0").json
    assert json.dumps(report, allow_nan=False)
    assert report["precondition"]["aged_pages"] > 0

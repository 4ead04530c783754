"""Drives in gem5: the page agrees with the sources everywhere, and with runs where GEM5 is given.

`make gem5 GEM5=folder` builds gem5 with the drive inside, and runs all of it.
"""

import ast
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import flashgc
from conftest import ROOT

PAGE = (ROOT / "docs/gem5.md").read_text()
SOURCES = ROOT / "integrations/gem5"
FOLDER = Path(os.environ.get("GEM5", "/nowhere"))
PROGRAM = FOLDER / "build/NULL/gem5.opt"
GEM5 = pytest.mark.skipif(
    not PROGRAM.exists(),
    reason="no gem5 with the drive inside: make gem5 GEM5=folder of its source",
)
FLASH = ("device.channels=2", "device.chips_per_channel=1", "device.blocks_per_plane=160",
         "device.pages_per_block=48", "precondition.overwrite=2")  # fmt: skip
"""The flash of the page's drives; settings of `flashgc run`."""
SMALL = (*FLASH, "device.exported=0.93")
SUSPENDING = (*SMALL, "device.suspend.suspend=20 us")


def columns(heading):
    """The names in the first column of the table under a heading of the page."""
    _, _, section = PAGE.partition(f"## {heading}\n")
    assert section, heading
    table = section.partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def parameters():
    tree = ast.parse((SOURCES / "FlashDrive.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)
             and isinstance(node.value, ast.Call)]  # fmt: skip
    return [target.id for call in calls for target in call.targets if isinstance(target, ast.Name)]


def test_the_page_has_every_parameter():
    shown = columns("The drive")
    assert shown == ["range", *(name for name in parameters() if name != "port")]


def test_the_page_has_every_statistic():
    source = (SOURCES / "flash_drive.cc").read_text()
    own = set(re.findall(r"ADD_STAT\((\w+)", source))
    for kind in re.findall(r'^ +(?:reads|writes)\(\*this, "(\w+)"\)', source, re.MULTILINE):
        own |= {f"{kind}s"} | {kind + end for end in re.findall(r'\(name \+ "(\w{2,})"\)', source)}
    assert own >= {"reads", "writeLatencyP99_9", "amplification"}
    assert set(columns("Statistics")) == own


def test_the_build_has_every_file():
    script = (SOURCES / "SConscript").read_text()
    named = set(re.findall(r'(?:SimObject|Source)\("([^"]+)"', script))
    assert named == {"FlashDrive.py", "flash_drive.cc"}
    headers = re.findall(r'#include "([a-z_]+\.hh)"', (SOURCES / "flash_drive.hh").read_text())
    assert all((SOURCES / name).is_file() for name in {*named, *headers, "defconfig"})
    assert 'cxx_header = "flash_drive.hh"' in (SOURCES / "FlashDrive.py").read_text()


def test_options_of_the_page_are_those_of_the_script():
    known = set(re.findall(r'"(--[a-z]+)"', (SOURCES / "drive.py").read_text()))
    commands = re.findall(r"drive\.py(.*)", PAGE)
    used = {word for command in commands for word in re.findall(r"--[a-z]+", command)}
    assert used
    assert used <= known


def test_the_command_names_a_folder_that_is_not_gem5():
    done = subprocess.run([ROOT / "scripts/gem5", "/nowhere"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "`/nowhere` has no source of gem5" in done.stderr
    assert "make gem5 GEM5=" in done.stderr


def version():
    return re.search(r'"([\d.]+)"', (FOLDER / "src/base/version.cc").read_text())[1]


def run(folder, script, *words):
    """Output, errors and status of a script in gem5."""
    command = [PROGRAM, "--outdir", folder, script, *words]
    return subprocess.run(command, capture_output=True, text=True)


def settings(sets):
    return [word for one in sets for word in ("--set", one)]


def keys(sets):
    """The settings of `flashgc run` as those of `flashgc.run`."""
    pairs = (one.split("=") for one in sets)
    return {key: json.loads(value) if re.fullmatch(r"[\d.]+", value) else value
            for key, value in pairs}  # fmt: skip


def drive(folder, *words, sets=SMALL):
    """What drive.py printed, once it has ended well."""
    done = run(folder, SOURCES / "drive.py", *words, *settings(sets))
    assert done.returncode == 0, done.stderr
    return done.stdout


def statistics(folder):
    """The numbers of the last part of stats.txt, by name."""
    text = (folder / "stats.txt").read_text()
    rows = re.findall(r"^(\S+) +(\S+)", text.rpartition("Begin Simulation")[2], re.MULTILINE)
    return {name: float(value) for name, value in rows if re.fullmatch(r"[\d.]+|nan", value)}


def report(folder):
    return json.loads((folder / "system.drive.json").read_text())


@GEM5
def test_outputs_of_the_page(tmp_path):
    assert f"gem5 {version()}" in PAGE, "the page is of another version of gem5: run its commands"
    shown = re.findall(r"\$ build/NULL/gem5.opt .*?drive\.py (.*)\n((?:[^$`].*\n)+)", PAGE)
    assert len(shown) == 3
    for words, output in shown:
        own = drive(
            tmp_path, *shlex.split(words.replace("$FLASH", " ".join(settings(FLASH)))), sets=()
        )
        assert own[own.index("reads: ") :] == output


@GEM5
@pytest.mark.parametrize(
    ("scheme", "sets", "words"),
    [
        ("greedy", SMALL, []),
        ("fpgc", SUSPENDING, []),
        ("greedy", SMALL, ["--depth", "4", "--gap", "300us"]),
        ("greedy", (*SMALL, "device.write_buffer.size=1 MiB"), ["--block", "512"]),
    ],
)
def test_the_result_is_that_of_a_run_with_the_same_requests(tmp_path, scheme, sets, words):
    more = ["--scheme", scheme, "--requests", "5000", "--record", "requests.csv", *words]
    drive(tmp_path, *more, sets=sets)
    replay = {"workload": {"trace": {"address": "reject"}}}
    trace = tmp_path / "requests.csv"
    whole = flashgc.run(replay, trace, device="enterprise-tlc", scheme=scheme, format="csv",
                        set={**keys(sets), "precondition.overwrite_with": "uniform"})  # fmt: skip
    assert report(tmp_path)["requests"]["read"] + report(tmp_path)["requests"]["write"] == 5000
    assert whole.result_hash == report(tmp_path)["result_hash"]
    assert ("--depth" in words) == (statistics(tmp_path)["system.drive.retries"] > 0)


@GEM5
def test_statistics_are_those_of_the_report(tmp_path):
    drive(tmp_path, "--requests", "5000")
    found, whole = statistics(tmp_path), report(tmp_path)
    for kind in ("read", "write"):
        own = {name.partition(f"drive.{kind}")[2]: value for name, value in found.items()
               if name.startswith(f"system.drive.{kind}")}  # fmt: skip
        latency = whole["latency_ns"][kind]
        assert own["s"] == own["Latency::samples"] == latency["count"]
        assert own["LatencyP50"] == 1000 * latency["p50"]
        assert own["LatencyP99"] == 1000 * latency["p99"]
        assert own["LatencyP99_9"] == 1000 * latency["p99_9"]
        assert own["Latency::mean"] == pytest.approx(1000 * latency["mean"], rel=1e-6)
        total = own["Latency::mean"] * own["s"]
        assert own["LatencyParts::total"] == pytest.approx(total, rel=1e-6)
        mean = whole["blame"][kind]["mean"]
        copies = 1000 * mean["collection"]["copies_ns"] * own["s"]
        assert own["LatencyParts::copies"] == pytest.approx(copies, rel=1e-6)
    assert found["system.drive.collections"] == whole["gc"]["count"]
    assert found["system.drive.erases"] == whole["erases"]
    assert found["system.drive.moved"] == whole["pages"]["gc_moved"]
    amplification = pytest.approx(whole["write_amplification"], abs=1e-6)
    assert found["system.drive.amplification"] == amplification


@GEM5
def test_a_write_to_a_read_only_drive_ends_the_simulation(tmp_path):
    failing = (*FLASH[:-1], "precondition.overwrite=0.2", "device.exported=0.9",
               "device.failures.erase=0.05")  # fmt: skip
    done = run(tmp_path, SOURCES / "drive.py", *settings(failing))
    assert done.returncode != 0
    assert "a write, and the drive is read-only" in done.stderr


SYSTEM = """
import m5
from m5.objects import *
system = System(mem_mode="{mode}", mem_ranges=[AddrRange("{size}")])
system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
system.bus = IOXBar()
system.system_port = system.bus.cpu_side_ports
system.drive = FlashDrive(range=AddrRange("{size}"), device="enterprise-tlc", sets={sets},
                          depth={depth})
system.drive.port = system.bus.mem_side_ports
root = Root(full_system=False, system=system)
"""
TESTER = """
system.tester = MemTest(max_loads=2000, size=4096, progress_check=10**12)
system.tester.port = system.bus.cpu_side_ports
"""
BEGUN = f"{TESTER}m5.instantiate()\nm5.simulate(10**7)\n"
FINISHED = "m5.instantiate()\nsystem.drive.finish()\n"


def own_script(folder, text, mode="timing", size="680MiB", sets=SMALL, depth=0):
    """A run of a script behind that of a system with a drive."""
    script = folder / "own.py"
    script.write_text(SYSTEM.format(mode=mode, size=size, sets=list(sets), depth=depth) + text)
    return run(folder, script)


@GEM5
@pytest.mark.parametrize("depth", [0, 3])
def test_reads_return_what_was_written(tmp_path, depth):
    text = f"{TESTER}m5.instantiate()\nprint(m5.simulate().getCause())\n"
    done = own_script(tmp_path, text, depth=depth)
    assert "maximum number of loads reached" in done.stdout, done.stderr
    found = statistics(tmp_path)
    assert found["system.drive.reads"] > 500
    assert (depth > 0) == (found["system.drive.retries"] > 0)


@GEM5
def test_a_drive_is_the_same_by_each_parameter(tmp_path):
    file, saved = tmp_path / "own.toml", tmp_path / "own.drive"
    file.write_text('device = { preset = "enterprise-tlc" }\n[gc]\nscheme = "greedy"\n')
    given = {**keys(SMALL), "precondition.overwrite_with": "uniform"}
    flashgc.drive.save("oltp", saved, device="enterprise-tlc", scheme="greedy", set=given)
    test = TESTER.replace("2000", "200") + "m5.instantiate()\nm5.simulate()\n"
    hashes = []
    for text in (
        "",
        f'system.drive.device = ""\nsystem.drive.config = "{file}"\n',
        f'system.drive.saved = "{saved}"\n',
        "system.drive.verify = True\n",
    ):
        done = own_script(tmp_path, text + test)
        assert done.returncode == 0, done.stderr
        hashes.append(report(tmp_path)["result_hash"])
    assert len(set(hashes)) == 1


@GEM5
def test_interleaved_ranges_are_stripes_of_drives(tmp_path):
    text = f"""
stripes = [AddrRange(0, size="512MiB", intlvHighBit=12, intlvBits=1, intlvMatch=n) for n in (0, 1)]
system.cache_line_size = 4096
system.drive.range = stripes[0]
system.drive.record = "even.csv"
system.other = FlashDrive(range=stripes[1], device="enterprise-tlc", sets={list(SMALL)},
                          record="odd.csv")
system.other.port = system.bus.mem_side_ports
system.tester = MemTest(max_loads=200, size=65536, progress_check=10**12)
system.tester.port = system.bus.cpu_side_ports
m5.instantiate()
m5.simulate()
"""
    done = own_script(tmp_path, text)
    assert done.returncode == 0, done.stderr
    bases = [0x100000 // 2, 0x400000 // 2, 0x800000 // 2]
    for name in ("even.csv", "odd.csv"):
        rows = (tmp_path / name).read_text().splitlines()
        offsets = {int(row.split(",")[3]) for row in rows}
        assert offsets == {base + 4096 * block for base in bases for block in range(8)}


@GEM5
def test_statistics_count_from_their_reset(tmp_path):
    text = (
        f"{TESTER}m5.instantiate()\nm5.simulate(10**12)\nm5.stats.dump()\nm5.stats.reset()\n"
        "m5.simulate(10**11)\nm5.stats.dump()\n"
    )
    done = own_script(tmp_path, text)
    assert done.returncode == 0, done.stderr
    parts = (tmp_path / "stats.txt").read_text().split("Begin Simulation")[1:]
    counts = [int(re.search(r"system\.drive\.writes +(\d+)", part)[1]) for part in parts]
    assert 0 < counts[1] < counts[0] / 2
    written = [int(re.search(r"system\.drive\.written +(\d+)", part)[1]) for part in parts]
    assert 0 < written[1] < written[0] / 2


@GEM5
@pytest.mark.parametrize(
    ("told", "text", "more"),
    [
        ("unknown key `foo` in [device]", "m5.instantiate()", {"sets": ["device.foo=1"]}),
        ("use AddrRange(0, size=", "m5.instantiate()", {"size": "8GiB"}),
        ('use mem_mode = "timing"', f"{TESTER}m5.instantiate()\nm5.simulate()", {"mode": "atomic"}),
        ("a checkpoint cannot hold a drive",
         "m5.instantiate()\nm5.checkpoint(m5.options.outdir + '/here')", {}),
        ("cannot read the configuration `/nowhere.toml`",
         "system.drive.config = '/nowhere.toml'\nm5.instantiate()", {}),
        ("call m5.drain() first", f"{BEGUN}system.drive.finish()", {}),
        ("report() after finish()", f"{FINISHED}system.drive.report()", {}),
    ],
)  # fmt: skip
def test_wrong_words_are_an_error(tmp_path, told, text, more):
    done = own_script(tmp_path, text, **more)
    assert done.returncode != 0
    assert told in done.stderr

"""The same requests in C, C++, Python and SimPy have the result of a run: 20 configurations."""

import json
import shutil
import subprocess

import numpy as np
import pytest

import fgt_writer
import flashgc
import flashgc.simpy
from conftest import ROOT
from flashgc import native
from test_native import LIBRARY, built

EXAMPLES = ROOT / "crates/flashgc-c/examples"
SMALL = {"device.blocks_per_plane": 48, "device.pages_per_block": 32, "precondition.overwrite": 1,
         "precondition.overwrite_with": "uniform"}  # fmt: skip
COUNT, PAGES = 1200, 8000
TENANTS = {"workload.tenants": [{"name": "a"}, {"name": "b"}]}
BUS = {"gc.copy.use": "bus", "device.timing.transfer": "5 ns/B"}
MORE_SPARE = {"device.exported": 0.7, "gc.trigger.watermark.soft": "8 blocks"}
DRIVES = {
    "greedy": ("slc-msr", "greedy", {}),
    "pgc": ("slc-msr", "pgc", {}),
    "fpgc": ("slc-msr", "fpgc", {"device.suspend.suspend": "20 us"}),
    "idle": ("slc-msr", "idle", {}),
    "idle-pgc": ("slc-msr", "idle-pgc", {"device.write_buffer.size": "64 KiB"}),
    "pregc": ("slc-msr", "pregc", {}),
    "cost-benefit": ("slc-msr", "cost-benefit", {"device.allocation": "dynamic"}),
    "wear-aware": ("slc-msr", "wear-aware", {}),
    "parallel": ("slc-msr", "parallel", {"device.registers": 2}),
    "tokens": ("slc-msr", "tokens", {}),
    "bus": ("slc-msr", "greedy", BUS),
    "channel": ("slc-msr", "greedy", {**BUS, "gc.blocking.use": "channel"}),
    "sepbit": ("slc-msr", "sepbit", MORE_SPARE),
    "hints": ("slc-msr", "fdp", MORE_SPARE),
    "buffer": ("slc-msr", "greedy", {"device.write_buffer.size": "64 KiB"}),
    "flushes": ("slc-msr", "greedy", {"device.write_buffer.size": "64 KiB",
                                      "device.write_buffer.power_loss_protection": False}),
    "link": ("slc-msr", "greedy", {"device.host_link.transfer": "1 ns/B"}),
    "full-duplex link": ("slc-msr", "greedy", {
        "device.host_link.transfer": "1 ns/B", "device.host_link.duplex": "full"}),
    "slots": ("slc-msr", "greedy", {"device.mapping_unit": "2 KiB",
                                    "device.allocation": "dynamic"}),
    "time-slices": ("slc-msr", "greedy", {"gc.pacing.use": "time-slices"}),
    "enterprise": ("enterprise-tlc", "greedy", {"device.blocks_per_plane": 48}),
}  # fmt: skip


def requests():
    """Rows of times in ns, operations, offsets, sizes, hints and tenants."""
    draw = np.random.default_rng(11)
    gaps = draw.choice([0, 5_000, 60_000, 400_000, 8_000_000], COUNT, p=[0.2, 0.2, 0.3, 0.28, 0.02])
    gaps[0] = 0
    op = draw.choice([0, 1, 2, 3], COUNT, p=[0.25, 0.66, 0.05, 0.04])
    offset = draw.integers(0, PAGES * 8, COUNT) * 512
    size = draw.integers(1, 25, COUNT) * 512
    offset[op == 3] = size[op == 3] = 0
    hint = np.where(op == 1, draw.integers(0, 3, COUNT), 0)
    tenant = draw.integers(0, 2, COUNT)
    columns = [column.tolist() for column in (np.cumsum(gaps), op, offset, size, hint, tenant)]
    return list(zip(*columns, strict=True))


ROWS = requests()


def text(value):
    """A value as TOML has it."""
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {text(own)}" for key, own in value.items()) + "}"
    return json.dumps(value)


def texts(sets):
    """The settings as the command line has them."""
    return [f"{key}={text(value)}" for key, value in sets.items()]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder with the requests as a trace and as text, and the programs."""
    folder = tmp_path_factory.mktemp("everywhere")
    fgt_writer.write(folder / "requests.fgt", [row[:5] for row in ROWS])
    lines = "\n".join(" ".join(map(str, row)) for row in ROWS)
    (folder / "requests.txt").write_text(lines + "\n")
    return folder


@pytest.fixture(scope="module")
def programs(files):
    flags = native.cflags() + native.libs()
    for compiler, standard, name in [
        ("cc", "-std=c11", "replay.c"),
        ("c++", "-std=c++17", "replay.cpp"),
    ]:
        strict = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
        built([compiler, standard, *strict, EXAMPLES / name, *flags,
               "-o", name.replace(".", "_")], files)  # fmt: skip
    return files


def expected(files, name):
    device, scheme, more = DRIVES[name]
    replay = {"workload": {"trace": {"address": "reject"}}}
    report = flashgc.run(replay, files / "requests.fgt", device=device, scheme=scheme,
                         set={**SMALL, **more})  # fmt: skip
    assert sum(report.requests.values()) == sum(row[1] != 3 for row in ROWS)
    assert report["gc"]["count"] > 0
    return report["result_hash"]


def component(name):
    device, scheme, more = DRIVES[name]
    return device, {"scheme": scheme, "set": {**SMALL, **more, **TENANTS}}


def in_python(name):
    device, options = component(name)
    drive = flashgc.Component(device, **options)
    at_ns, op, offset, size, hint, tenant = zip(*ROWS, strict=True)
    assert drive.submit_all(at_ns, op, offset, size, hint=hint, tenant=tenant) == COUNT
    assert len(drive.drain()) == COUNT
    return drive.finish()


def in_simpy(name):
    simpy = pytest.importorskip("simpy")
    device, options = component(name)
    env = simpy.Environment()
    drive = flashgc.simpy.Drive(env, device, ns=1, **options)

    def host():
        for at_ns, op, offset, size, hint, tenant in ROWS:
            if at_ns > env.now:
                yield env.timeout(at_ns - env.now)
            match op:
                case 0:
                    drive.read(offset, size, tenant=tenant)
                case 1:
                    drive.write(offset, size, hint=hint, tenant=tenant)
                case 2:
                    drive.trim(offset, size, tenant=tenant)
                case _:
                    drive.flush(tenant=tenant)

    env.process(host())
    env.run()
    return drive.finish()


def rows_add_up(report):
    """Every request is in the row of its tenant."""
    for number, row in enumerate(report["jobs"]):
        own = [one for one in ROWS if one[5] == number]
        assert row["name"] == "ab"[number]
        for op, kind in enumerate(("read", "write", "trim")):
            assert row["requests"][kind] == sum(one[1] == op for one in own)
            assert row["bytes"][kind] == sum(one[3] for one in own if one[1] == op)
        assert row["flush"]["requests"] == sum(one[1] == 3 for one in own)


@pytest.mark.parametrize("name", DRIVES)
def test_python_and_simpy_have_the_result_of_a_run(files, name):
    wanted = expected(files, name)
    for report in (in_python(name), in_simpy(name)):
        assert report["result_hash"] == wanted
        rows_add_up(report)


@LIBRARY
@pytest.mark.skipif(shutil.which("c++") is None, reason="a compiler for C++ is missing")
@pytest.mark.parametrize("name", DRIVES)
def test_c_and_cpp_have_the_result_of_a_run(programs, name):
    device, scheme, more = DRIVES[name]
    line = f"{COUNT} requests, result {expected(programs, name)}\n"
    for program in ("replay_c", "replay_cpp"):
        words = [programs / program, "requests.txt", device, scheme]
        assert built([*words, *texts({**SMALL, **more, **TENANTS})], programs) == line


@LIBRARY
def test_wrong_use_of_the_programs_has_a_message(programs):
    def failed(*words):
        done = subprocess.run([programs / "replay_c", *words], cwd=programs, capture_output=True,
                              text=True)  # fmt: skip
        return done.returncode, done.stderr

    assert failed() == (2, "usage: replay REQUESTS DEVICE SCHEME [SETTING...]\n")
    assert failed("nowhere", "slc-msr", "greedy")[0] == 1
    code, told = failed("requests.txt", "slc-msr", "greedy", "device.blocks_per_plane=48")
    assert code == 1
    assert "a request of tenant 1, and the configuration has no tenants" in told


def test_tenants_of_python_have_messages():
    drive = flashgc.Component("slc-msr", set={**SMALL, **TENANTS})
    assert drive.tenants == ["a", "b"]
    for call, words in [
        (
            lambda: drive.submit(0, "read", 0, 512, tenant="c"),
            'no tenant has the name .c.*"a", "b"',
        ),
        (lambda: drive.submit(0, "read", 0, 512, tenant=2), "tenant 2, .* has tenants 0 to 1"),
        (lambda: drive.submit(0, "read", 0, 512, tenant=-1), "no tenant has the number -1"),
        (lambda: drive.submit_all([0], "read", 0, 512, tenant=[70_000]), "the number 70000"),
        (lambda: drive.closed_loop(depth=1, bytes=512, requests=1, tenant="c"), "name .c."),
    ]:
        with pytest.raises(flashgc.RunError, match=f"(?s){words}"):
            call()
    with pytest.raises(flashgc.ConfigError, match="tenants issue the requests of a component"):
        flashgc.run("oltp", set=TENANTS)


def test_statistics_have_rows_of_tenants():
    drive = flashgc.Component("slc-msr", set={**SMALL, **TENANTS})
    drive.closed_loop(depth=4, bytes=4096, requests=30, tenant="b")
    now = drive.statistics()["jobs"]
    assert [row["requests"]["write"] for row in now] == [0, 30]
    assert now[1]["in_flight_max"] == 4
    assert now[1]["blame"]["write"]["mean"]["latency_ns"] == now[1]["latency_mean_ns"]["write"]
    assert now[0]["iops"] == {"read": None, "write": None, "trim": None}
    assert drive.finish()["jobs"] == now

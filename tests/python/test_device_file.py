"""A device in a file, for every command and function that takes the name of one."""

import inspect
import json
import subprocess

import pytest

import flashgc
from conftest import COMMAND, SMALL

KEYS = """
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 32
pages_per_block = 32
page_size = "4 KiB"
exported = 0.7
unit = "die"

[timing]
read = "30 us"
program = "250 us"
erase = "1.5 ms"
transfer = "25 ns/B"

[about]
title = "of mine"
"""
READ_NS = 30_000 + 4096 * 25
CONFIG = SMALL.replace("20_000", "300")
ONE_READ = {"workload.synthetic.read_share": 1.0}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(KEYS)
    return path


def takes_one(folder, file):
    """Each function with a device, called with a file; returns the shortest read, in ns."""
    (folder / "config.toml").write_text(CONFIG)
    config = folder / "config.toml"
    text = {"device": file, "set": ONE_READ}

    def sweep():
        axes = {"device": [file.name, "slc-msr"]}
        table = {"base": {"config": "config.toml", "set": ONE_READ}, "axes": axes}
        (folder / "sweep.toml").write_text(flashgc.files.toml.dumps(table))
        found = flashgc.sweep(folder / "sweep.toml", store=folder / "store")
        return found.report(device=file.name).latency_ns.read.min

    def component():
        drive = flashgc.Component(config, device=file)
        drive.submit(0, "read", 0, 4096, 1)
        return drive.advance(10**9).latency_ns[0]

    return {
        "run": lambda: flashgc.run(config, **text).latency_ns.read.min,
        "compare": lambda: flashgc.compare(config, ["fifo"], **text)["fifo"].latency_ns.read.min,
        "run_seeds": lambda: flashgc.run_seeds(config, 3, **text).latency_ns.read.min,
        "explain": lambda: flashgc.explain(config, request=0, **text).stories[0].latency_ns,
        "animate": lambda: flashgc.animate(config, **text).report.latency_ns.read.min,
        "plan": lambda: flashgc.plan(config, **text).device,
        "device_facts": lambda: flashgc.device_facts(file).read_ns,
        "sweep": sweep,
        "Component of it": lambda: flashgc.Component(file).statistics().device,
        "pts": lambda: flashgc.pts(file, tests=["tp"], round="2 ms", rounds=5).device,
        "Component": component,
    }


def test_a_file_is_a_device_everywhere(tmp_path, file):
    for name, call in takes_one(tmp_path, file).items():
        found = call()
        assert found in (READ_NS, "mine"), (name, found)


def test_its_name_is_that_of_the_file(file):
    report = flashgc.run(CONFIG, device=file)
    assert report.device == "mine"
    assert report.result_hash == flashgc.run(CONFIG, device=str(file)).result_hash


def test_the_table_of_a_whole_configuration_is_a_device(tmp_path, file):
    whole = tmp_path / "whole.toml"
    whole.write_text(CONFIG)
    other = CONFIG.replace('read = "25 us"', 'read = "1 ms"')
    assert flashgc.run(other, device=whole).result_hash == flashgc.run(CONFIG).result_hash


def test_a_file_may_begin_with_a_preset(file):
    file.write_text('preset = "slc-msr"\nblocks_per_plane = 64\n')
    report = flashgc.run(CONFIG, device=file)
    assert report.capacity.physical_bytes == 64 * 64 * 64 * 4096
    assert report.device == "mine"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("channels = \n", r"mine\.toml"),
        ("chanels = 2\n", "unknown key `chanels`"),
        ('preset = "slc"\n', "there is no device"),
        ('{"device": {}}', "is JSON, not a device or a scheme"),
        (None, "there is no such file"),
    ],
)
def test_mistakes_name_the_file(file, text, told):
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(flashgc.ConfigError, match=told):
        flashgc.run(CONFIG, device=file)


@pytest.mark.parametrize(
    ("name", "told"),
    [("pts.json", "a result of `flashgc pts`"), ("own.json", "JSON")],
)
def test_json_is_not_a_device(tmp_path, flashgc, name, told):
    (tmp_path / name).write_text('{"tests": []}\n')
    for words in (["devices", f"./{name}"], ["run", "oltp", "--device", f"./{name}"],
                  ["run", "oltp", "--scheme", f"./{name}"]):  # fmt: skip
        said = flashgc(*words, code=2).err
        assert f"error: {name} is {told}, not a device or a scheme" in said
        assert 'as in `preset = "slc-msr"`' in said


def test_the_commands_take_it(tmp_path, file):
    (tmp_path / "config.toml").write_text(CONFIG)
    (tmp_path / "job.fio").write_text("[a]\nrw=randread\nbs=4k\nsize=1m\nnumber_ios=50\n")
    for words in (
        ["run", "config.toml", "--set", "workload.synthetic.read_share=1.0"],
        ["run", "job.fio"],
    ):
        command = [COMMAND, *words, "--device", file.name, "--json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["latency_ns"]["read"]["min"] == READ_NS, words
    command = [COMMAND, "fio", "job.fio", "--output-format=json", "--device", file.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["jobs"][0]["read"]["clat_ns"]["min"] == READ_NS


def test_every_function_with_a_device_takes_a_file():
    known = set()
    for name in flashgc.__all__:
        function = getattr(flashgc, name)
        if not inspect.isfunction(function) and function is not flashgc.Component:
            continue
        parameter = inspect.signature(function).parameters.get("device")
        if parameter is not None:
            known.add(name)
            # Two take the settings of a device and run nothing.
            is_of_keys = name in {"register_cost", "worst_case_wait"}
            assert is_of_keys or "PathLike" in str(parameter.annotation), name
    assert {"run", "compare", "run_seeds", "explain", "plan", "device_facts", "Component"} <= known


def test_a_name_in_a_file_that_is_no_text_is_one_error(tmp_path):
    """What the preset would give is not missed as well, and the file has its own name."""
    files = {"device": "preset = 5\n", "scheme": "base = 5\n"}
    for option, text in files.items():
        path = tmp_path / f"{option}.conf"
        path.write_text(text)
        with pytest.raises(flashgc.ConfigError) as raised:
            flashgc.run("oltp", **{option: path})
        shown = str(raised.value)
        assert shown.count("error: ") == 1
        assert "is not a string: 5" in shown
        assert f"{path}:1:" in shown

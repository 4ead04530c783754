"""The facts of a device file, and the plan of a run: without a run."""

import numpy as np
import polars as pl
import pytest

import flashgc
from flashgc.cli import presets
from flashgc.files import toml

FILE = """
preset = "enterprise-tlc-1dwpd"
user_capacity = "960 GB"
over_provisioning = "15%"

[about]
title = "of mine"
"""


def test_a_capacity_of_a_data_sheet_sizes_the_flash(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    facts = flashgc.device_facts(path)
    # Whole pages of 4 KiB in each of 64 planes, and whole blocks of 33 MiB.
    assert 0 <= 960e9 - facts.user_bytes < 64 * 4096
    assert 0.15 <= facts.over_provisioning < 0.15 + 64 * (33 << 20) / 960e9
    assert facts.planes * facts.blocks_per_plane * (33 << 20) == facts.physical_bytes
    whole = tmp_path / "whole.toml"
    keys = FILE.split("[about]", maxsplit=1)[0]
    whole.write_text(f"[device]\n{keys}\n[workload.synthetic]\nrequests = 5\nqueue_depth = 1\n")
    assert flashgc.device_facts(whole) == facts


def test_times_and_rates_are_those_of_the_arrays():
    facts = flashgc.device_facts("slc-msr")
    assert (facts.read_ns, facts.write_ns) == (25_000 + 105_600, 200_000 + 105_600)
    assert facts.units == 8
    assert facts.program_rate == pytest.approx(8 * 4096 / 200e-6)
    assert facts.bus_rate == pytest.approx(8 * 4096 / 105.6e-6)
    tlc = flashgc.device_facts("enterprise-tlc-1dwpd")
    assert tlc.program_bytes == 3 * 16384
    assert tlc.program_rate == pytest.approx(64 * 3 * 16384 / 2.25e-3)


@pytest.mark.parametrize(
    ("keys", "reads", "programs"),
    [({}, 8, 8), ({"multi_plane": 4}, 32, 32), ({"independent_plane_reads": True}, 64, 8)],
)
def test_no_drive_exceeds_the_rates_of_its_arrays(keys, reads, programs):
    own = {"preset": "slc-msr", "timing": {"transfer": "0 ns/B"}, "blocks_per_plane": 64, **keys}
    facts = flashgc.device_facts(own)
    assert facts.read_rate == pytest.approx(reads * 4096 / 25e-6)
    assert facts.program_rate == pytest.approx(programs * 4096 / 200e-6)
    assert facts.program_bytes == 4096 * programs // 8
    for share, rate in ((1.0, facts.read_rate), (0.0, facts.program_rate)):
        load = {"requests": 4000, "read_share": share, "queue_depth": 256, "sequential_share": 1.0}
        source = {"device": own, "gc": {"scheme": "greedy"}, "workload": {"synthetic": load}}
        report = flashgc.run(
            {**source, "precondition": {"fill": "sequential" if share else "none"}}
        )
        assert 0.8 * rate < report.throughput.bytes_per_s <= rate


def test_the_link_says_whether_both_directions_transfer_at_once(capsys):
    assert flashgc.device_facts("slc-msr").link_rate is None
    half = flashgc.device_facts("mqsim")
    assert (half.link_rate, half.link_duplex) == (pytest.approx(4e9), "half")
    full = flashgc.device_facts({"preset": "mqsim", "host_link": {"duplex": "full"}})
    assert (full.link_rate, full.link_duplex) == (half.link_rate, "full")
    none = flashgc.device_facts({"preset": "mqsim", "host_link": {"transfer": "0 ns/B"}})
    assert (none.link_rate, none.link_duplex) == (None, None)
    presets._facts("mqsim", json=False)
    assert "4,000 MB/s, one direction at a time" in capsys.readouterr().out


def test_unloaded_times_have_no_jitter(tmp_path, capsys):
    stages = {"firmware": {"command": "5 us"}, "host_link": {"transfer": "1 ns/B"}}
    plain = flashgc.device_facts({"preset": "slc-msr", **stages})
    assert not plain.has_jitter
    stages["firmware"]["jitter"] = {"lognormal": {"mean": "9 us", "stddev": "9 us"}}
    stages["host_link"]["jitter"] = {"exponential": "40 us"}
    jitter = flashgc.device_facts({"preset": "slc-msr", **stages})
    assert jitter == plain._replace(has_jitter=True)
    file = tmp_path / "own.toml"
    file.write_text("preset = 'slc-msr'\n[firmware]\ncommand = '5 us'\njitter.fixed = '1 us'\n")
    presets._facts(str(file), json=False)
    assert "for 4.00 KiB, without jitter" in capsys.readouterr().out


@pytest.mark.parametrize("name", [device["name"] for device in flashgc.devices()])
def test_every_device_has_facts(name):
    facts = flashgc.device_facts(name)
    assert facts.physical_bytes > facts.user_bytes > 0
    assert facts.read_ns > 0


def test_mistakes_are_told(tmp_path):
    with pytest.raises(flashgc.ConfigError, match="there is no device"):
        flashgc.device_facts("slc")
    path = tmp_path / "both.toml"
    path.write_text(FILE + "\n[device]\n")
    with pytest.raises(flashgc.ConfigError, match=r"no device|required|channels"):
        flashgc.device_facts(path)
    path.write_text("channels = \n")
    with pytest.raises(flashgc.ConfigError, match=r"both\.toml"):
        flashgc.device_facts(path)
    path.write_text('preset = "slc-msr"\nblocks_per_plane = 9\nuser_capacity = "1 GB"\n')
    with pytest.raises(flashgc.ConfigError, match="cannot be combined"):
        flashgc.device_facts(path)


def test_the_plan_of_a_run():
    small = {"device.blocks_per_plane": 64}
    plan = flashgc.plan("oltp", set=small, scheme="fifo")
    assert (plan.device, plan.scheme, plan.workload) == ("slc-msr", "fifo", "synthetic")
    assert plan.requests == 5_000_000
    assert plan.precondition_pages == pytest.approx(3 * plan.user_bytes / 4096, abs=2)
    steady = flashgc.plan("oltp", set={**small, "precondition.until": "steady"})
    assert steady.precondition_pages is None
    assert steady.precondition == "sequential fill, then overwritten until steady"
    replay = flashgc.plan("replay", "dbench", seed=3, fit="90%")
    assert (replay.requests, replay.precondition_pages) == (None, None)
    assert "workload.trace.fit" in replay.notes[-1]
    assert flashgc.plan("oltp", set={**small, "precondition.overwrite": 1}).precondition == (
        "sequential fill, then 1 drive write"
    )
    with pytest.raises(flashgc.ConfigError, match="chanels"):
        flashgc.plan("oltp", set={"device.chanels": 2})


def test_the_plan_of_a_run_that_keeps_its_size_says_nothing_of_another():
    kept = flashgc.plan("replay", "dbench", fit="none")
    assert kept.precondition_pages == pytest.approx(2 * kept.user_bytes / 4096, abs=2)
    oltp = flashgc.plan("oltp", "dbench")
    assert (oltp.requests, oltp.precondition_pages) == (None, None)
    for plan in (kept, oltp):
        assert plan.notes[-1] == (
            "the trace is not read, so that the number of its requests is unknown"
        )


def test_the_plan_of_a_run_without_its_trace_is_the_error_of_the_run(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('[device]\npreset = "slc-msr"\n[workload.trace]\nfile = "gone.spc"\n')
    for arguments in (["replay", "missing.spc"], ["replay"], [own]):
        refused = []
        for call in (flashgc.plan, flashgc.run):
            with pytest.raises((flashgc.RunError, flashgc.TraceError)) as raised:
                call(*arguments)
            refused.append((raised.type, str(raised.value)))
        assert refused[0] == refused[1]


def test_the_commands_print_the_same(flashgc, tmp_path):
    from flashgc.estimates.device_facts import device_facts

    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    assert flashgc("devices", path, "--json").json == device_facts(path)._asdict()
    assert "960.0 GB" in flashgc("devices", path).out
    assert "user capacity" in flashgc("devices", "slc-msr", "--facts").out
    small = ("run", "oltp", "--plan", "--set", "device.blocks_per_plane=64")
    assert "5,000,000 requests" in flashgc(*small).out
    assert flashgc(*small, "--json").json["requests"] == 5_000_000


@pytest.mark.parametrize(
    "option", ["--drive=x", "--out=x", "--seeds=2", "--request-log=x.csv", "--series=x.csv"]
)
def test_a_plan_refuses_what_only_a_run_has(flashgc, option, tmp_path):
    said = flashgc("run", "oltp", "--plan", option, code=2).err
    assert option.partition("=")[0] in said
    assert "--plan runs nothing" in " ".join(said.split())
    assert list(tmp_path.iterdir()) == []


def test_too_many_seeds_are_refused_at_once(flashgc):
    for many in (10_001, 10**20):
        said = flashgc("run", "oltp", "--seeds", many, code=2).err
        assert "'--seeds': must be a whole number from 1 to 10000" in " ".join(said.split())


def test_seeds_end_with_the_largest():
    with pytest.raises(flashgc.ConfigError, match="2\\^64"):
        flashgc.run_seeds("oltp", 2, set={"seed": 2**64 - 1})


def test_arrays_of_numpy_are_settings():
    def small(service):
        return {"device.blocks_per_plane": 64, "device.service": service, "seed": np.int64(2)}

    words = ["reads", "gc", "writes"]
    plans = [flashgc.plan("oltp", set=small(one)) for one in (np.array(words), words)]
    assert plans[0] == plans[1]


@pytest.mark.parametrize("words", [["reads", "gc", "writes"], ["reads"]])
def test_a_series_of_polars_is_a_list_in_settings(words):
    assert toml.value(pl.Series(words), "device.service") == toml.value(words, "device.service")


@pytest.mark.parametrize(
    ("blocks", "shown"), [(2048, "29.2 GB (27.2 GiB)"), (64, "912.5 MB (870 MiB)")]
)
def test_the_capacity_of_a_small_drive_is_in_a_smaller_unit(flashgc, tmp_path, blocks, shown):
    path = tmp_path / "mine.toml"
    path.write_text(f'preset = "slc-msr"\nblocks_per_plane = {blocks}\n')
    assert f"user capacity   {shown}" in flashgc("devices", path).out

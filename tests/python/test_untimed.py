"""Runs without a clock: every count, and no metric of time."""

import json

import jsonschema
import pytest

import flashgc

SMALL = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 3000}
OF_TIME = ("latency_ns", "throughput", "utilisation", "simulated_ns", "saturated")


def untimed(**given):
    return flashgc.run("oltp", set={**SMALL, **given.pop("set", {})}, untimed=True, **given)


def test_no_metric_of_time_is_there():
    report = untimed().to_dict()
    assert not any(key in report for key in OF_TIME)
    assert not [key for key in report["gc"] if key.endswith("_ns")]
    assert report["untimed"] is True
    jsonschema.validate(report, flashgc.report_schema())


def test_the_key_is_the_argument():
    by_key = flashgc.run("oltp", set={**SMALL, "engine.timing": "none"})
    assert by_key.result_hash == untimed().result_hash
    assert by_key.config_hash != flashgc.run("oltp", set=SMALL).config_hash


@pytest.mark.parametrize("scheme", ["greedy", "sepbit", "dac"])
def test_a_trace_gives_the_counts_of_its_timed_replay(tmp_path, scheme):
    """A request a second, the last of which is a read that comes after the last collection."""
    trace = tmp_path / "apart.csv"
    rows = [f"{at * 1000},w,{at * at % 193 * 4096},4096" for at in range(4000)]
    trace.write_text("\n".join([*rows, "9000000,r,0,4096"]))
    given = {"workload.trace.format": "csv:time:ms, op, offset, size",
             "device.channels": 2, "device.planes_per_die": 2, "device.blocks_per_plane": 32,
             "device.pages_per_block": 8, "device.exported": 0.4,
             "workload.trace.fit": "none", "precondition.overwrite": 1,
             "precondition.overwrite_with": "uniform",
             "gc.trigger.watermark.soft": "8 blocks",
             "gc.victim.cost-benefit.form": "sqrt-age"}  # fmt: skip
    timed, bare = (
        flashgc.run("replay", trace, scheme=scheme, set=given, untimed=how).to_dict()
        for how in (False, True)
    )
    assert timed["gc"]["count"] > 100
    for key in ("requests", "pages", "write_amplification", "erases", "wear", "free_pages_min"):
        assert bare[key] == timed[key], key
    assert bare.get("placement") == timed.get("placement")
    for key in bare["gc"]:
        assert bare["gc"][key] == timed["gc"][key], key


def test_a_drive_is_saved_and_continued_either_way(tmp_path):
    drives = {}
    for name, more in (("timed", {}), ("bare", {"engine.timing": "none"})):
        drives[name] = tmp_path / f"{name}.drive"
        flashgc.drive.save("oltp", drives[name], set={**SMALL, **more})
    hashes = {untimed(drive=file).result_hash for file in drives.values()}
    assert hashes == {untimed().result_hash}
    hashes = {flashgc.run("oltp", set=SMALL, drive=file).result_hash for file in drives.values()}
    assert hashes == {flashgc.run("oltp", set=SMALL).result_hash}


def test_pages_and_comparisons_say_that_there_is_no_time(tmp_path):
    both = flashgc.compare("oltp", ["greedy", "fifo"], set={**SMALL, "engine.timing": "none"},
                           over_time=None)  # fmt: skip
    for result in (untimed(over_time=None), both):
        page = result.save(tmp_path / "page.html").read_text()
        assert "engine.timing" in page
        assert "write amplification" in page
    assert both["greedy"].over_time is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("device.allocation", "dynamic"),
        ("gc.preemption.use", "between-copies"),
        ("gc.background.use", "pre-migration"),
        ("gc.victim.use", "invalidation-rate"),
        ("gc.victim.use", "cost-benefit"),
        ("gc.trigger.watermark.idle_units", False),
        ("workload.until", "steady"),
        ("device.write_buffer.size", "1 MiB"),
    ],
)
def test_what_needs_a_clock_is_refused(key, value):
    with pytest.raises(flashgc.ConfigError, match=r'engine\.timing = "none": '):
        untimed(set={key: value})


@pytest.mark.parametrize(("key", "value"), [("mapping_unit", "1 KiB"), ("pages_per_program", 2)])
def test_the_key_that_joins_pages_is_named(key, value):
    """Such a device has a write buffer and dynamic allocation, which are not what to remove."""
    sets = {f"device.{key}": value, "device.allocation": "dynamic"}
    with pytest.raises(flashgc.ConfigError, match=f"remove device.{key}, or remove engine.timing"):
        untimed(set=sets)


def test_a_policy_of_time_runs_with_ages_in_pages():
    form = {"gc.victim.use": "cost-benefit", "gc.victim.cost-benefit.form": "sqrt-age"}
    assert untimed(set=form).erases > 0


def test_watchers_of_time_are_refused(tmp_path):
    for given in ({"blame": True}, {"gc_log": tmp_path / "a.csv"}, {"series": tmp_path / "b.csv"}):
        with pytest.raises(flashgc.ConfigError, match="the run has no clock"):
            untimed(**given)
    with pytest.raises(ValueError, match="the run has no times"):
        untimed().distribution()
    assert json.loads(untimed().to_json())["erases"] > 0


def test_over_time_is_refused_in_python_too():
    told = r"nothing can be shown over time\n  = help: remove .*, or over_time"
    for given in ({"set": {**SMALL, "engine.timing": "none"}}, {"untimed": True, "set": SMALL}):
        with pytest.raises(flashgc.ConfigError, match=told):
            flashgc.run("oltp", over_time=True, **given)
        assert flashgc.run("oltp", over_time=None, **given).over_time is None
    with pytest.raises(flashgc.ConfigError, match=told):
        flashgc.compare("oltp", ["greedy"], over_time=True, set={**SMALL, "engine.timing": "none"})
    assert flashgc.run("oltp", over_time=None, set=SMALL).over_time is not None


@pytest.mark.parametrize("command", [["run"], ["compare", "--schemes", "greedy,fifo"]])
def test_over_time_is_refused_where_a_setting_takes_the_clock(flashgc, tmp_path, command):
    given = [*command, "oltp", "--out", "page", "--set", "workload.synthetic.requests=500"]
    refused = flashgc(*given, "--set", "engine.timing=none", "--over-time", code=2).err
    assert 'no clock (engine.timing = "none"): nothing can be shown over time' in refused
    assert not (tmp_path / "page").exists()
    flashgc(*given, "--set", "engine.timing=none", "--set", "device.blocks_per_plane=64")
    assert (tmp_path / "page" / "report.html").exists()

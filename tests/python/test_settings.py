"""Settings over a configuration: replaced keys, and keys that are removed."""

import pytest

import flashgc
from conftest import SMALL

FEW = ["workload.synthetic.requests=500"]
OPEN = SMALL.replace("queue_depth = 8", 'interarrival = { exponential = "1 ms" }\nrate = 2.0')
STREAMS = SMALL.replace("queue_depth = 8", 'read_interarrival = { fixed = "1 ms" }\n'
                        'write_interarrival = { fixed = "1 ms" }').replace(
    "read_share = 0.5\n", "")  # fmt: skip
TWO_PHASES = SMALL.replace("queue_depth = 8", (
    'phases = [{ share = 0.5, interarrival = { fixed = "1 ms" } }, '
    '{ share = 0.5, interarrival = { fixed = "2 ms" } }]'
))  # fmt: skip
S = "workload.synthetic"


def workload(config, *sets, unset=()):
    report = flashgc.run(config, set=[*FEW, *sets], unset=unset)
    return report.to_dict()["config"]["workload"]["synthetic"]


def wrong(config, *sets, unset=()):
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.run(config, set=[*FEW, *sets], unset=unset)
    return str(error.value)


@pytest.mark.parametrize("config", [OPEN, STREAMS, TWO_PHASES], ids=["open", "streams", "phases"])
def test_a_queue_depth_takes_the_place_of_an_open_loop(config):
    assert workload(config, f"{S}.queue_depth=4")["arrivals"] == {"closed": 4}


@pytest.mark.parametrize(
    "gap",
    [f'{S}.interarrival={{ exponential = "1 ms" }}', f"{S}.interarrival.exponential=1 ms"],
)
@pytest.mark.parametrize("config", [SMALL, OPEN], ids=["closed", "open"])
def test_a_gap_takes_the_place_of_a_closed_loop(config, gap):
    assert workload(config, gap)["arrivals"] == "open"


def test_another_kind_of_gap_takes_the_place_of_the_first():
    fixed = workload(OPEN, f"{S}.interarrival.fixed=2 ms")
    assert "fixed" in str(fixed)
    assert "exponential" not in str(fixed).lower()
    one = workload(STREAMS, f"{S}.interarrival.fixed=2 ms", f"{S}.read_share=0.5")
    assert one["arrivals"] == "open"
    two = workload(OPEN, f"{S}.read_interarrival.fixed=2 ms", f"{S}.write_interarrival.fixed=2 ms")
    assert "streams" in str(two).lower()


def test_two_kinds_in_one_layer_stay_an_error():
    both = wrong(OPEN, f"{S}.queue_depth=4", f"{S}.interarrival.fixed=1 ms")
    assert "must be given in exactly one way" in both
    in_file = SMALL.replace("queue_depth = 8", 'queue_depth = 8\ninterarrival = { fixed = "1 s" }')
    assert "exactly one" in wrong(in_file)
    assert "exactly one" in wrong(
        OPEN, f"{S}.interarrival.fixed=1 ms", f"{S}.interarrival.uniform=1 ms"
    )


@pytest.mark.parametrize(
    ("setting", "path", "shown"),
    [
        (f"{S}.address.zipf=0.9", None, "zipf"),
        (f"{S}.size.exponential=8 KiB", None, "exponential"),
        ("device.exported.reserved_blocks=15%", None, ""),
        ("precondition.until=steady", None, ""),
    ],
)
def test_a_table_takes_the_place_of_a_value(setting, path, shown):
    assert shown in str(workload(SMALL, setting)).lower()


def test_other_alternatives():
    zipf = SMALL.replace('address = "uniform"', "address = { zipf = 0.9 }")
    assert "hot" in str(workload(zipf, f"{S}.address.hot_cold={{ f = 0.2, r = 0.8 }}")).lower()
    steady = SMALL.replace("overwrite = 1.0", 'until = "steady"\nat_most = 5.0')
    report = flashgc.run(steady, set=[*FEW, "precondition.overwrite=0.5"])
    assert report.precondition.drive_writes == 0.5
    own = {f"{S}.requests": 500, f"{S}.queue_depth": 2}
    like = flashgc.run("financial-like", set={**own, "device.blocks_per_plane": 64})
    assert like.requests.read + like.requests.write == 500


def test_a_key_is_unset():
    assert workload(OPEN, f"{S}.queue_depth=4", unset=[f"{S}.interarrival"])["arrivals"]
    report = flashgc.run(SMALL, set=FEW, unset=["precondition", "seed"])
    assert report.config.precondition["overwrite"] == 0
    # A key of a preset, and a table that has no other key.
    sets = [*FEW, "device.suspend.suspend=20 us"]
    assert flashgc.run(SMALL, scheme="fpgc", set=sets, unset="device.suspend").scheme == "fpgc"
    plain, bare = (
        flashgc.run(SMALL, scheme="pgc-both", set=FEW, unset=unset)
        for unset in ([], ["gc.trigger.watermark.hard"])
    )
    assert plain.config.gc["trigger"] != bare.config.gc["trigger"] or plain != bare


def test_unset_leaves_no_way_to_run_without_what_is_required():
    assert "must be given in exactly one way" in wrong(SMALL, unset=[f"{S}.queue_depth"])
    assert "missing key `device.channels`" in wrong(SMALL, unset=["device.channels"])


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (f"{S}.queue_dept", f"did you mean `{S}.queue_depth`?"),
        ("workload.sinthetic.queue_depth", "did you mean `workload.synthetic`?"),
        ("devise", "did you mean `device`?"),
        ("gc.trigger.watermark.sotf", "did you mean `gc.trigger.watermark.soft`?"),
        ("seed=3", "`--set KEY=VALUE` sets a value"),
        ("device..unit", "a part of the key is empty"),
        ("", "a part of the key is empty"),
    ],
)
def test_an_unknown_key_to_unset_is_an_error(key, told):
    error = wrong(SMALL, unset=[key])
    assert told in error
    assert "--> --unset:1:" in error


def test_a_valid_key_that_is_not_there_may_be_unset():
    assert workload(SMALL, unset=[f"{S}.rate"])["arrivals"] == {"closed": 8}


def test_every_command_that_sets_also_unsets(flashgc, small, tmp_path):
    gaps = ["--set", f'{S}.interarrival={{ exponential = "1 ms" }}', "--set", FEW[0]]
    drop = ["--unset", f"{S}.queue_depth"]
    flashgc("run", small, "--json", *gaps, *drop)
    flashgc("compare", small, "--schemes", "greedy", "--json", *gaps, *drop)
    flashgc("drive", "save", small, "a.drive", *gaps, *drop)
    flashgc("trace", "generate", small, "a.load", *gaps, *drop)
    flashgc("workloads", small, "--json", *gaps, *drop)
    for command in (["run", small], ["drive", "save", small, "b.drive"],
                    ["compare", small, "--schemes", "greedy"], ["workloads", small],
                    ["trace", "generate", small, "b.load"]):  # fmt: skip
        assert "did you mean `seed`?" in flashgc(*command, "--unset", "sed", code=2).err

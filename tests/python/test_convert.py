"""Configurations of MQSim, SSDSim and DiskSim become configurations of flashgc."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flashgc
from conftest import ROOT
from flashgc.results import conversion_notes

DATA = ROOT / "tests/python/conversion"
DEVICE, WORKLOAD = DATA / "ssdconfig.xml", DATA / "workload.xml"
SSDSIM, DISKSIM = DATA / "page.parameters", DATA / "ssd.parv"
TRACE = "".join(f"{at * 300} 0 {at * 24 % 30000} 8 {at % 2}\n" for at in range(400))
SOURCES = {
    "mqsim": (DEVICE,), "mqsim-workload": (DEVICE, WORKLOAD), "ssdsim": (SSDSIM,),
    "disksim": (DISKSIM,),
}  # fmt: skip


@pytest.fixture
def files(tmp_path):
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "short.trace").write_text(TRACE)
    return tmp_path


def keys_of(path):
    """The keys of a file, counted by other means than the converter's."""
    text = path.read_text()
    if path.suffix == ".xml":
        tree = ElementTree.fromstring(text)
        return [node.tag for node in tree.iter() if not len(node)]
    bare = re.sub(r"#.*", "", text)
    if path.suffix == ".parv":
        values = re.findall(r"[\w /.-]+?=\s*(\[\s*\w+\s*\{|\w+\s*\{|\[|[^\s,}])", bare)
        return [value for value in values if not value.endswith("{")]
    return [line for line in bare.splitlines() if "=" in line]


def keys_in(made):
    return [one.key for one in (*made.mapped, *made.differs, *made.not_mapped)]


@pytest.mark.parametrize("name", SOURCES)
def test_every_key_is_in_exactly_one_list(name):
    made = flashgc.convert(*SOURCES[name])
    found = [(key.file, key.line, key.part, key.name) for key in keys_in(made)]
    assert len(found) == len(set(found)) == sum(len(keys_of(path)) for path in SOURCES[name])
    assert made.refusal() is None
    assert all(one.why for one in (*made.differs, *made.not_mapped, *made.chosen))


@pytest.mark.parametrize("name", SOURCES)
def test_every_setting_has_a_source_or_a_reason(name):
    made = flashgc.convert(*SOURCES[name])
    said = {ours for one in (*made.mapped, *made.differs) for ours in one.ours.split(", ")}
    said |= {one.ours for one in made.chosen}
    config = tomllib.loads(made.text)
    assert config.pop("about")["converted"]["files"] == [path.name for path in SOURCES[name]]
    assert config == made.config

    def leaves(table, path=""):
        for key, value in table.items():
            at = f"{path}{key}"
            if at not in said and isinstance(value, dict):
                yield from leaves(value, f"{at}.")
            else:
                yield at

    assert set(leaves(config)) <= said


RUNS = {
    "mqsim": (["ssdconfig.xml"], ["--trace", "short.trace"], "MQSim"),
    "mqsim-synthetic": (["ssdconfig.xml", "--workload", "workload.xml"], [], "MQSim"),
    "mqsim-second-flow": (
        ["ssdconfig.xml", "--workload", "workload.xml", "--flow", "2"], [], "MQSim",
    ),
    "mqsim-trace": (
        ["ssdconfig.xml", "--workload", "workload.xml", "--scenario", "2"], [], "MQSim",
    ),
    "ssdsim": (["page.parameters"], ["--trace", "short.trace"], "SSDSim"),
    "disksim": (["ssd.parv"], [], "DiskSim"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_converted_configuration_runs_and_says_what_is_missing(flashgc, files, name):
    source, more, program = RUNS[name]
    flashgc("convert", *source, "--out", "made.toml")
    if not more and "trace" not in name:
        more = ["--set", "workload.synthetic.requests=1500"]
    done = flashgc("run", "made.toml", *more, "--verify", "--out", "saved", env={"COLUMNS": "80"})
    report = json.loads((files / "saved/report.json").read_text())
    assert report["requests"]["read"] + report["requests"]["write"] > 0
    assert report["converted"]["program"] == program
    assert report["converted"]["files"][0] == source[0]
    count = len(report["converted"]["not_mapped"])
    assert count > 5
    page = (files / "saved/report.html").read_text()
    for text in (re.sub(r"\s+", " ", done.out), page):
        assert re.search(rf"keys of {source[0]}.* have no counterpart: ", text)
        assert "see the head of made.toml" in text
    for line in (files / "made.toml").read_text().splitlines():
        assert len(line) <= 80 or not line.startswith("#"), line


def test_a_comparison_says_it_once(flashgc, files):
    flashgc("convert", "ssd.parv", "--out", "made.toml")
    done = flashgc("compare", "made.toml", "--schemes", "greedy,fifo",
                   "--set", "workload.synthetic.requests=500")  # fmt: skip
    assert done.out.count("have no counterpart") == 1


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("mqsim", "device.order", ["plane", "chip", "channel", "die"]),
        ("mqsim", "device.timing.read", "60 us"),
        ("mqsim", "device.timing.transfer", "200 MB/s"),
        ("mqsim", "device.exported", 0.7),
        ("mqsim", "device.write_buffer.size", "64 KiB"),
        ("mqsim", "device.write_buffer.access", "666 ns"),
        ("mqsim", "device.suspend.suspend", "50 us"),
        ("mqsim", "gc.scheme", "pgc-se"),
        ("mqsim", "gc.trigger.watermark.soft", "12 blocks"),
        ("mqsim", "gc.trigger.watermark.hard", "3 blocks"),
        ("mqsim-workload", "workload.synthetic.footprint", 0.4),
        ("mqsim-workload", "workload.synthetic.address", {"hot_cold": {"f": 0.2, "r": 0.8}}),
        ("mqsim-workload", "workload.synthetic.queue_depth", 4),
        ("mqsim-workload", "workload.synthetic.requests", 5000),
        ("mqsim-workload", "precondition.until", "steady"),
        ("ssdsim", "device.order", ["channel", "plane", "chip", "die"]),
        ("ssdsim", "device.timing.transfer", "22 ns/B"),
        ("ssdsim", "gc.trigger.watermark.soft", "15% of pages"),
        ("ssdsim", "gc.copy.copyback.parity", True),
        ("ssdsim", "precondition.aged_ratio", 0.5),
        ("disksim", "device.dies_per_chip", 2),
        ("disksim", "device.planes_per_die", 2),
        ("disksim", "device.host_link.transfer", "0.5859375 ns/B"),
        ("disksim", "device.exported.reserved_blocks", "25%"),
        ("disksim", "gc.victim.use", "wear-aware"),
        ("disksim", "workload.synthetic.size", {"4 KiB": 1.0, "8 KiB": 1.0}),
        ("disksim", "workload.synthetic.interarrival", {"exponential": "2 ms"}),
        ("disksim", "workload.synthetic.footprint", "20000 KiB"),
    ],
)
def test_values(name, key, value):
    found = flashgc.convert(*SOURCES[name]).config
    for part in key.split("."):
        found = found[part]
    assert found == value


@pytest.mark.parametrize(
    ("support", "preemptible", "suspend", "of", "scheme"),
    [
        ("ERASE", True, {"suspend": "50 us"}, "erase", "pgc-se"),
        ("PROGRAM_ERASE", True, {"suspend": "50 us", "host_programs": True}, "any", "fpgc"),
        ("PROGRAM", True, {"suspend": "20 us", "host_programs": True}, None, "pgc"),
        ("PROGRAM_ERASE", False, {"suspend": "20 us", "host_programs": True}, None, "greedy"),
        ("ERASE", False, None, None, "greedy"),
        ("NONE", True, None, None, "pgc"),
    ],
)
def test_reads_suspend_the_programs_that_mqsim_names(
    tmp_path, support, preemptible, suspend, of, scheme
):
    text = (DATA / "ssdconfig.xml").read_text().replace(">ERASE</CMD", f">{support}</CMD")
    for was in ("true", "false"):
        text = text.replace(f">{was}</Preemptible", f">{str(preemptible).lower()}</Preemptible")
    (tmp_path / "ssdconfig.xml").write_text(text)
    found = flashgc.convert(tmp_path / "ssdconfig.xml").config
    assert found["device"].get("suspend") == suspend
    assert found["gc"]["scheme"] == scheme
    assert found["gc"].get("preemption", {}).get("suspend", {}).get("of") == of
    found = {**found, "workload": {"synthetic": {"requests": 500, "queue_depth": 4}}}
    done = flashgc.run(found).requests
    assert done.read + done.write == 500


@pytest.mark.parametrize(("dynamic", "pool"), [(0, "device"), (1, "channel")])
def test_writes_of_ssdsim_find_their_plane_as_in_the_program(tmp_path, dynamic, pool):
    """Like the preset ssdsim, which is compared with the program's own means."""
    text = SSDSIM.read_text().replace("\nallocation = 1", "\nallocation = 0")
    text = text.replace("dynamic_allocation = 0", f"dynamic_allocation = {dynamic}")
    (tmp_path / "page.parameters").write_text(text.replace("queue_length = 8;", ""))
    config = flashgc.convert(tmp_path / "page.parameters").config
    device = config["device"]
    preset = tomllib.loads((ROOT / "devices/ssdsim.toml").read_text())
    for key in ("allocation", "write_completion", "queue_length", "order", "service"):
        assert device[key] == preset[key]
    assert device["pool"] == pool
    assert (device["bus_order"], device["completions"]) == ("commands-first", "together")
    assert config["gc"]["blocking"] == {"channel": {"collections": "one"}}
    assert flashgc.convert(SSDSIM).config["device"]["queue_length"] == 8


def test_the_default_device_of_the_extension_is_our_preset():
    """The keys from which the preset disksim-msr was written."""
    text = DISKSIM.read_text()
    for key, value in (
        ("Flash chip elements", 8), ("Planes per package", 8), ("Blocks per plane", 2048),
        ("Blocks per element", 16384), ("Pages per block", 64), ("Number of parallel units", 1),
        ("Reserve pages percentage", 15), ("Page read latency", 0.025),
        ("Page write latency", 0.2), ("Block erase latency", 1.5), ("Chip xfer latency", 0.000025),
    ):  # fmt: skip
        text = re.sub(rf"(  {key} =) [\d.]+", rf"\1 {value}", text)
    for way in ("Read", "Write"):
        text = re.sub(rf"({way} block transfer time =) 0.000\d", r"\1 0.0002384", text)
    made = convert_text(text, "ssd.parv")
    preset = next(one for one in flashgc.devices() if one["name"] == "disksim-msr")["keys"]
    assert made.config["device"] == {**preset, "timing": {**preset["timing"]}} | {
        "timing": {key: value for key, value in preset["timing"].items() if key != "command"}
    }


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


def convert_text(text, name, **more):
    import tempfile

    with tempfile.TemporaryDirectory() as here:
        path = Path(here, name)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return flashgc.convert(path, **more)


def wrong(text, name="file", **more):
    with pytest.raises(flashgc.ConfigError) as error:
        convert_text(text, name, **more)
    said = str(error.value)
    assert said.startswith("error: ")
    return said


def attempt(text, name, **more):
    """The conversion, or None where it is refused with a message."""
    try:
        return convert_text(text, name, **more)
    except flashgc.ConfigError as error:
        said = str(error)
    assert said.startswith("error: ")
    return None


def changed(path, before, after):
    text = path.read_text()
    assert before in text
    return text.replace(before, after)


@pytest.mark.parametrize(
    ("path", "before", "after", "word"),
    [
        (DEVICE, ">0.3<", ">1.3<", "`Overprovisioning_Ratio` is `1.3`"),
        (DEVICE, ">PWCD<", ">PWCC<", "`Plane_Allocation_Scheme` is `PWCC`"),
        (DEVICE, ">TLC<", "><", "must be one of SLC, MLC, TLC"),
        (DEVICE, "<Seed>7</Seed>", "<Seed>7", "not well-formed XML"),
        (DEVICE, "<Seed>", "<Seed a='1'>", "attribute"),
        (DEVICE, "Execution_Parameter_Set>", "Else>", "`Execution_Parameter_Set`"),
        (SSDSIM, "die number = 2;", "die number = two;", "`die number` is `two`"),
        (SSDSIM, "die number = 2;", "", "there is no `die number`"),
        (SSDSIM, "chip number[0] = 1", "chip number[0] = 2", "same number of chips"),
        (SSDSIM, "die number = 2;", "die number;", "`key = value;`"),
        (SSDSIM, "static_allocation = 2", "static_allocation = 6", "orders 0 to 5"),
        (DISKSIM, "Page size = 8", "Page size = 0", "`DRIVE.Page size` is `0`"),
        (DISKSIM, "ssdmodel_ssd DRIVE {", "disksim_disk DRIVE {", "ssdmodel_ssd"),
        (DISKSIM, "Write policy = 2,", "Write policy 2,", "`=` is expected"),
        (DISKSIM, "Load {", "Load {{", "is expected"),
        (DISKSIM, "exponential, 0.0, 2.0", "2.0", "must be a distribution"),
    ],
)
def test_wrong_values_are_told_with_their_lines(path, before, after, word):
    text = path.read_text()
    line = text[: text.index(before)].count("\n") + 1
    said = wrong(changed(path, before, after), path.name)
    assert word in said
    whole_file = after == "" or "no `ssdmodel_ssd`" in said or "not well-formed" in said
    assert whole_file or f"{path.name}:{line}: " in said


def test_all_wrong_values_are_told_at_once():
    text = changed(DEVICE, ">4096<", ">none<").replace(">TLC<", ">XLC<")
    said = wrong(text, "ssdconfig.xml")
    assert "Page_Capacity" in said
    assert "Flash_Technology" in said
    assert said.count("error: ") >= 2


BOMB = """<?xml version="1.0"?>
<!DOCTYPE bomb [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<Execution_Parameter_Set>&b;</Execution_Parameter_Set>
"""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("nonsense\n", "not recognised"),
        (b"\xff\xfe\x00\x00", "not recognised"),
        (BOMB, "DOCTYPE"),
        ("<a>" * 100, "nested deeper"),
        ("<a><b>1</b>text</a>", "stands between"),
        ("<?xml version='1.0' encoding='none'?><a/>", ""),
        ("disksim_global Global { A =" + "[" * 100, "nested deeper"),
        ("disksim_global Global { A = 1", "end"),
        ("disksim_bus BUS {}\nsource other.parv\n", "source"),
        ("x" * (5 << 20), "larger than 4 MiB"),
        (WORKLOAD.read_bytes(), "is a workload file of MQSim"),
    ],
)
def test_nonsense_gives_plain_messages(text, word):
    assert word in wrong(text)


def test_names_that_mqsim_does_not_know_are_listed_with_the_nearest_one():
    made = convert_text(changed(DEVICE, "Flash_Channel_Width>", "Flash_Chanel_Width>"), "a.xml")
    [one] = [one for one in made.not_mapped if one.key.name == "Flash_Chanel_Width"]
    assert one.why == "MQSim has no such key here; did you mean `Flash_Channel_Width`?"
    text = changed(DEVICE, "<Seed>7</Seed>", "<Seed>7</Seed><Seed>8</Seed>")
    made = convert_text(text, "a.xml")
    assert made.config["seed"] == 8
    assert any("given again on line" in one.why for one in made.not_mapped)


def test_thresholds_that_a_full_drive_cannot_reach_are_lowered():
    made = convert_text(changed(SSDSIM, "gc hard threshold = 0.15", "gc hard threshold = 0.5"), "p")
    [one] = [one for one in made.differs if one.key.name == "gc hard threshold"]
    assert "cannot reach" in one.why
    assert made.refusal() is None
    made = convert_text(
        changed(DEVICE, "<GC_Exec_Threshold>0.2", "<GC_Exec_Threshold>0.9"), "a.xml"
    )
    assert made.config["gc"]["trigger"]["watermark"]["soft"] == "9 blocks"
    assert made.refusal() is None


def test_a_flow_without_a_buffer_has_no_buffer():
    made = flashgc.convert(DEVICE, WORKLOAD, flow=2)
    assert "write_buffer" not in made.config["device"]
    reasons = {one.key.name: one.why for one in made.not_mapped}
    assert "TURNED_OFF" in reasons["Data_Cache_Capacity"]
    assert made.config["workload"]["synthetic"]["interarrival"] == {"exponential": "1 ms"}
    assert made.config["workload"]["synthetic"]["requests"] == 2000
    sizes = made.config["workload"]["synthetic"]["size"]
    assert sum(sizes.values()) == pytest.approx(1, abs=1e-3)


def test_a_trace_based_flow(files):
    made = flashgc.convert(files / "ssdconfig.xml", files / "workload.xml", scenario=2,
                           out=files / "made.toml")  # fmt: skip
    trace = made.config["workload"]["trace"]
    assert trace["file"] == "short.trace"
    assert trace["format"] == "mqsim-us"
    assert trace["rows"] == 200
    assert "loops" not in trace
    report = flashgc.run(files / "made.toml")
    assert report.requests.read + report.requests.write == 200
    assert report.converted.program == "MQSim"


def test_a_trace_is_replayed_as_often_as_mqsim_does(files):
    workload = files / "workload.xml"
    count = "<Relay_Count>{}</Relay_Count>"
    workload.write_text(workload.read_text().replace(count.format(1), count.format(3)))
    made = flashgc.convert(files / "ssdconfig.xml", workload, scenario=2, out=files / "made.toml")
    assert made.config["workload"]["trace"]["loops"] == 3
    (how,) = [one.why for one in made.differs if one.key.name == "Relay_Count"]
    assert "by the time of the first row" in how
    report = flashgc.run(files / "made.toml")
    rows = len(TRACE.splitlines())
    assert report.requests.read + report.requests.write == 3 * rows


@pytest.mark.parametrize(("more", "word"), [
    ({"scenario": 3}, "no scenario 3\n.*1 to 2"),
    ({"flow": 9}, "no flow 9 in scenario 1\n.*1 to 2"),
])  # fmt: skip
def test_scenarios_and_flows_that_are_not_there(more, word):
    with pytest.raises(flashgc.ConfigError, match=word):
        flashgc.convert(DEVICE, WORKLOAD, **more)


def test_a_workload_goes_with_mqsim_only():
    with pytest.raises(flashgc.ConfigError, match="goes with MQSim"):
        flashgc.convert(SSDSIM, WORKLOAD)
    with pytest.raises(flashgc.ConfigError, match="no converter for `simplessd`"):
        flashgc.convert(SSDSIM, program="simplessd")


def test_the_command(flashgc, files):
    text = flashgc("convert", "page.parameters").out
    assert tomllib.loads(text)["about"]["converted"]["program"] == "SSDSim"
    done = flashgc("convert", "page.parameters", "--out", "made.toml", env={"COLUMNS": "80"})
    assert (files / "made.toml").read_text() == text
    assert max(map(len, done.out.splitlines())) <= 80
    assert done.err == "saved made.toml\n"
    told = flashgc("convert", "ssd.parv", "--json").json
    assert {one["source"] for one in told["mapped"]} >= {"DRIVE.Page size"}
    before = (files / "ssd.parv").read_text()
    done = flashgc("convert", "ssd.parv", "--out", "ssd.parv", code=2)
    assert "is a file that is converted" in done.err
    assert (files / "ssd.parv").read_text() == before
    assert "there is no such file" in flashgc("convert", "none.xml", code=2).err
    assert "is a directory" in flashgc("convert", ".", code=2).err
    done = flashgc("convert", "ssd.parv", "--from", "ssdsim", code=2)
    assert "key = value" in done.err


def test_signs_that_steer_a_terminal_are_not_printed(flashgc, files):
    path = files / "odd.parameters"
    path.write_text(SSDSIM.read_text() + "odd\x1b[31mkey = 1;\n")
    done = flashgc("convert", "odd.parameters", "--out", "made.toml")
    assert "\x1b" not in done.out + (files / "made.toml").read_text()
    assert "odd?[31mkey" in done.out


@pytest.mark.parametrize(
    "table",
    [
        "converted = 1",
        "[about.converted]\nprogram = 1",
        '[about.converted]\nprogram = "x"\nmapped = 3',
        '[about.converted]\nprogram = "x"\nnot_mapped = [1, "a: b"]',
    ],
)
def test_a_table_of_another_form_does_no_harm(table):
    found = conversion_notes.of(table if "[" in table else f"[about]\n{table}")
    assert found is None or all(isinstance(one, str) for one in found["not_mapped"])


TOKENS = st.sampled_from([
    "<", ">", "/", "{", "}", "[", "]", "=", ",", ";", "#", "\n", " ", "1", "0.5", "-1", "1e99",
    "Flash_Channel_Count", "Execution_Parameter_Set", "ssdmodel_ssd SSD {", "disksim_bus B {",
    "Page size", "die number = 2;", "page number = 64;", "chip number[0] = 1;", "topology", "as",
    "instantiate", "<?xml?>", "\x00", "é",
])  # fmt: skip


@settings(max_examples=300)
@given(st.lists(TOKENS, max_size=40).map("".join), st.sampled_from([None, *("mqsim", "ssdsim",
       "disksim")]))  # fmt: skip
def test_any_text_is_converted_or_refused(text, program):
    made = attempt(text, "file", program=program)
    assert made is None or tomllib.loads(made.text)


LINES = {path: path.read_text().splitlines() for path in (DEVICE, SSDSIM, DISKSIM)}


@settings(max_examples=300)
@given(st.data())
def test_a_file_with_another_value_is_converted_or_refused(data):
    path = data.draw(st.sampled_from(list(LINES)))
    lines = list(LINES[path])
    at = data.draw(st.integers(0, len(lines) - 1))
    value = data.draw(st.sampled_from(["0", "1", "2", "-1", "7", "1000000", "0.5", "1e9", "x", ""]))
    lines[at] = re.sub(r"(?<=[>=] )[\w.]+|(?<=>)[\w.]+(?=<)", value, lines[at], count=1)
    made = attempt("\n".join(lines), path.name)
    if made is None:
        return
    found = [id(key) for key in keys_in(made)]
    assert len(found) == len(set(found))
    tomllib.loads(made.text)
    made.refusal()


@pytest.mark.parametrize("name", ["Flash_Channel_Count", "Plane_No_Per_Die"])
def test_a_number_of_parts_beyond_all_memory_is_converted_at_once(tmp_path, name):
    """The names of all channels were made before they were compared."""
    own = (Path(__file__).parent / "conversion/ssdconfig.xml").read_text()
    text, count = re.subn(f"<{name}>\\d+<", f"<{name}>2147483648<", own)
    assert count == 1
    (tmp_path / "big.xml").write_text(text)
    workload = Path(__file__).parent / "conversion/workload.xml"
    found = flashgc.convert(tmp_path / "big.xml", workload=workload)
    assert "2147483648" in found.listing()

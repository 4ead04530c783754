"""The timeline for Perfetto: its file, read with Perfetto's own schema, against the report."""

from collections import defaultdict

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

import flashgc as package
from conftest import SMALL, interrupted_while_writing

UNITS, BUSES = 2, 2
REQUESTS = 1500
FEW = {"workload.synthetic.requests": REQUESTS}
VARIANTS = {
    "greedy": {},
    "open": {"workload.synthetic.interarrival": {"exponential": "400 us"}},
    "link-and-buffer": {
        "device.host_link.transfer": "1 ns/B", "device.write_buffer.size": "64 KiB",
        "workload.synthetic.size": "10 KiB",
    },
    "full-duplex-link": {
        "device.host_link.transfer": "1 ns/B", "device.host_link.duplex": "full",
        "workload.synthetic.size": "10 KiB",
    },
    "fpgc": {"gc.scheme": "fpgc", "device.suspend.suspend": "20 us"},
    "parallel": {"gc.scheme": "parallel"},
}  # fmt: skip


class Slices:
    """The slices, counters and links of a file, checked by the rules of Perfetto."""

    def __init__(self, path):
        trace = Trace()
        trace.ParseFromString(path.read_bytes())
        self.names, self.above = {}, {}
        self.slices, self.counts = defaultdict(list), defaultdict(list)
        self.links = defaultdict(list)
        self._read(trace)

    def _read(self, trace):
        names, categories, properties = {}, {}, {}
        opened = defaultdict(list)
        events = []
        for at, packet in enumerate(trace.packet):
            assert not UnknownFieldSet(packet)
            assert not UnknownFieldSet(packet.track_event)
            assert not UnknownFieldSet(packet.track_descriptor)
            assert packet.trusted_packet_sequence_id == 1
            assert packet.sequence_flags == (1 if at == 0 else 2)
            for known, new in (
                (names, packet.interned_data.event_names),
                (categories, packet.interned_data.event_categories),
                (properties, packet.interned_data.debug_annotation_names),
            ):
                for one in new:
                    assert known.setdefault(one.iid, one.name) == one.name
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                assert track.uuid not in self.names
                self.names[track.uuid] = track.name
                self.above[track.uuid] = track.parent_uuid
                continue
            events.append((packet.timestamp, packet.track_event))
        # Perfetto sorts by time, and keeps the order of the file among equal times.
        for at_ns, event in sorted(events, key=lambda event: event[0]):
            track = event.track_uuid
            assert track in self.names
            if event.type == TrackEvent.TYPE_COUNTER:
                self.counts[self.names[track]].append((at_ns, event.double_counter_value))
            elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
                found = {properties[one.name_iid]: one.string_value or one.uint_value
                         for one in event.debug_annotations}  # fmt: skip
                [category] = event.category_iids
                opened[track].append((names[event.name_iid], categories[category], at_ns, found))
                for link in event.flow_ids:
                    self.links[link].append((self.names[track], at_ns))
            else:
                assert event.type == TrackEvent.TYPE_SLICE_END
                name, category, from_ns, found = opened[track].pop()
                depth = len(opened[track])
                own = (name, category, from_ns, at_ns, found, depth)
                self.slices[self.names[track]].append(own)
        assert not any(opened.values())

    def spent_ns(self, tracks, category):
        return sum(
            to_ns - from_ns
            for track in tracks
            for _, own, from_ns, to_ns, _, _ in self.slices[track]
            if own == category
        )


def record(tmp_path, sets, **options):
    path = tmp_path / "run.pftrace"
    report = package.run(SMALL, set={**FEW, **sets}, timeline=path, **options)
    return report, Slices(path)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_slices_are_the_busy_times(tmp_path, variant):
    sets = VARIANTS[variant]
    unset = ["workload.synthetic.queue_depth"] if variant == "open" else None
    plain = package.run(SMALL, set={**FEW, **sets}, unset=unset)
    report, slices = record(tmp_path, sets, unset=unset)
    assert report.result_hash == plain.result_hash
    arrays = [f"unit {unit} array" for unit in range(UNITS)]
    assert slices.spent_ns(arrays, "gc") == report.gc.total_busy_ns
    for category in ("host", "gc"):
        on_units = slices.spent_ns([f"unit {unit}" for unit in range(UNITS)], category)
        assert on_units / (UNITS * report.simulated_ns) == report.utilisation.unit[category]
        on_buses = slices.spent_ns([f"bus {bus}" for bus in range(BUSES)], category)
        assert on_buses / (BUSES * report.simulated_ns) == report.utilisation.bus[category]
        registers = [f"unit {unit} register" for unit in range(UNITS)]
        assert slices.spent_ns(registers, category) == on_buses
    for track, key in (("host link", "host_link"), ("host link in", "host_link_in"),
                       ("host link out", "host_link_out")):  # fmt: skip
        if key in report.utilisation:
            on_link = slices.spent_ns([track], "host")
            assert 0 < on_link / report.simulated_ns == report.utilisation[key].host
    collections = [
        one for unit in range(UNITS) for one in slices.slices[f"unit {unit} collections"]
    ]
    done = [found for *_, found, _ in collections if "moved_pages" in found]
    assert len(done) == report.gc.count
    requests = [one for one in slices.slices["requests"] if one[-1] == 0]
    assert sorted(one[4]["request"] for one in requests) == list(range(REQUESTS))
    for name in ("read", "write"):
        latencies = [to_ns - from_ns for own, _, from_ns, to_ns, _, _ in requests if own == name]
        assert sum(latencies) / len(latencies) == pytest.approx(report.latency_ns[name].mean)
    assert slices.counts["requests under way"][-1][1] == 0


def test_the_steps_of_a_request_are_its_time(tmp_path):
    _, slices = record(tmp_path, VARIANTS["link-and-buffer"])
    steps = [one for one in slices.slices["requests"] if one[-1] == 1]
    requests = [one for one in slices.slices["requests"] if one[-1] == 0]
    told = {one[0] for one in steps}
    assert {"on the host link", "in the write buffer", "served by its unit"} <= told
    spent = sum(to_ns - from_ns for _, _, from_ns, to_ns, _, _ in steps)
    assert spent == sum(to_ns - from_ns for _, _, from_ns, to_ns, _, _ in requests)


def test_links_join_requests_with_their_units(tmp_path):
    _, slices = record(tmp_path, {})
    assert len(slices.links) > REQUESTS
    joined = set()
    for link, ends in slices.links.items():
        tracks = sorted(name.split()[-1] for name, _ in ends)
        assert len(ends) == 2, (link, ends)
        assert tracks[1] == "requests", ends
        joined.add("collections" if tracks[0] == "collections" else "unit")
    assert joined == {"collections", "unit"}


def test_blame_gives_requests_their_parts(tmp_path):
    _, slices = record(tmp_path, {}, blame=True)
    for name, _, from_ns, to_ns, found, depth in slices.slices["requests"]:
        if depth == 0 and name != "trim":
            own = ("service_ns", "host_ns", "copies_ns", "erase_ns", "bus_ns", "switch_ns",
                   "blocked_ns", "space_ns", "buffer_ns")  # fmt: skip
            assert sum(found[part] for part in own) == to_ns - from_ns == found["latency_ns"]


def test_a_window_and_units(tmp_path):
    window = (200_000_000, 250_000_000)
    _, slices = record(tmp_path, {}, timeline_window="200 ms..250 ms", timeline_units="1")
    spans = [
        (from_ns, to_ns) for own in slices.slices.values() for _, _, from_ns, to_ns, _, _ in own
    ]
    # The steps of a request that overlaps the window may lie outside.
    assert min(to_ns for _, to_ns in spans) >= window[0] - 50_000_000
    assert max(from_ns for from_ns, _ in spans) < window[1] + 50_000_000
    for _, _, from_ns, to_ns, _, _ in slices.slices["unit 1"]:
        assert to_ns >= window[0]
        assert from_ns < window[1]
    assert "unit 0" not in slices.names.values()
    assert "bus 0" not in slices.names.values()
    assert slices.slices["unit 1"]
    assert slices.counts["free blocks"][0][0] == window[0]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--timeline", "no/a"], "the timeline cannot be written: no/a: there is no folder no"),
        (["--timeline", "folder"], "folder is a directory"),
        (["--timeline", "full"], "the timeline cannot be written: full: no space"),
        (["--timeline", "a", "--gc-log", "./a"], "the timeline and the log of collections cannot"),
        (["--timeline", "a", "--series", "a"], "the timeline and the series cannot be the same"),
        (["--timeline", "a.json"], "the timeline is written as pftrace alone"),
        (["--timeline", "b/a.CSV"], "is written as pftrace alone\n  = help: name it b/a.pftrace"),
        (["--timeline", "a", "--seeds", "2"], "--timeline records one run"),
        (["--timeline-window", "1s.."], "the timeline window `1s..` has no effect without"),
        (["--timeline-units", "0"], "the timeline units `0` have no effect without"),
        (["--timeline", "a", "--timeline-window", "1 s"], "`..` between two times is missing"),
        (["--timeline", "a", "--timeline-window", "2s..1s"], "it must end after its beginning"),
        (
            ["--timeline", "a", "--timeline-window", "x..1s"],
            "'--timeline-window': the window `x..1s`: ",
        ),
        (
            ["--timeline", "a", "--timeline-units", "0,2"],
            "cannot show unit 2: the device has units",
        ),
        (["--timeline", "a", "--timeline-units", "0-x"], "`0-x` is not a number"),
        (["--timeline", "a", "--timeline-units", "3-1"], "`3-1` ends before it begins"),
    ],
)
def test_a_timeline_that_cannot_be(flashgc, small, tmp_path, args, why):
    (tmp_path / "folder").mkdir()
    (tmp_path / "full").symlink_to("/dev/full")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = flashgc("run", small, *args, code=2, env={"COLUMNS": "200"})
    assert why in done.err
    assert "Traceback" not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_the_command_names_its_file(flashgc, small):
    shown = flashgc("run", small, "--timeline", "a.pftrace", "--timeline-window", "..1 ms")
    assert "saved a.pftrace" in shown.out + shown.err


def test_ctrl_c_leaves_nothing(tmp_path):
    interrupted_while_writing(tmp_path, "--timeline", "a.pftrace")

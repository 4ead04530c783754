"""fio with checksums on the served drive of every preset."""

import contextlib
import functools
import json
import re
import subprocess

import pytest

import flashgc
from conftest import LONG, ROOT
from flashgc import ConfigError
from flashgc.drives import serving
from nbd_client import Client
from test_serve import BUILT, needs

COMMON = ROOT / "crates" / "flashgc-block" / "tests" / "all" / "common.rs"
BASE = re.search(r'BASE: &str = r#"(.*?)"#', COMMON.read_text(), re.DOTALL)[1]
"""8 planes of 5 MiB together for the clients: what the tests of the crate run every preset on."""

SLOTS = {
    "device.page_size": "16 KiB", "device.mapping_unit": "4 KiB", "device.allocation": "dynamic",
    "device.pages_per_block": 4, "device.layers": 4, "device.sub_blocks": 1,
    "device.registers": 1, "device.blocks_per_plane": 24, "device.write_buffer.size": "256 KiB",
}  # fmt: skip
SHAPES = {
    "planes": {},
    "dies": {"device.unit": "die", "device.multi_plane": 2, "device.allocation": "dynamic"},
    "slots": SLOTS,
}
"""In the long form every preset has every shape that it takes, and else the first of them."""

PRESETS = [entry["name"] for entry in flashgc.schemes()]


@functools.cache
def shapes_of(preset):
    """The shapes that the preset runs on."""
    found = []
    for name, sets in SHAPES.items():
        with contextlib.suppress(ConfigError):
            serving._request(BASE, preset, None, sets, None, None)
            found.append(name)
    return found


CASES = [
    (preset, shape) for preset in PRESETS for shape in shapes_of(preset)[: None if LONG else 1]
]


def test_every_preset_has_a_shape():
    assert {preset for preset, _ in CASES} == set(PRESETS)
    assert len(CASES) == len(set(CASES))


@BUILT
@needs("fio")
@pytest.mark.parametrize(("preset", "shape"), CASES)
def test_fio_finds_what_it_wrote(tmp_path, preset, shape):
    """Random writes, 16 deep, of several times the capacity, each read again and compared.

    The second time overwrites every page, so that each preset has collected.
    """
    times = 20 if LONG else 2
    socket = tmp_path / "drive.sock"
    with serving.served(BASE, socket, scheme=preset, set=SHAPES[shape], time="off") as server:
        with Client(socket) as client:
            size = client.bytes
        done = subprocess.run(
            ["fio", "--name=job", "--ioengine=nbd", f"--uri={server.uri}", "--rw=randwrite",
             "--bs=4k", "--iodepth=16", f"--size={size}", f"--loops={times}", "--verify=crc32c",
             "--verify_fatal=1", "--output-format=json"],
            cwd=tmp_path, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        report = server.end()
    [job] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert job["error"] == 0
    assert job["read"]["io_bytes"] >= times * size, "everything was read again"
    assert report.requests.write >= times * size // 4096
    assert report.gc.count > 0, "nothing was collected"

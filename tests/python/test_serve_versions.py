"""Stores that earlier versions have made open, with their data, and continue in their form.

Those in `stores` were made by the plugin before version 3, from the drive of this test: each page
was written with its number, and every third one again. One was stopped, and the other one killed
with pages in its protected write buffer.
"""

import gzip
from pathlib import Path

import pytest

import flashgc
from flashgc.drives import serving
from nbd_client import FLUSH, READ, WRITE, Client
from test_serve import BUILT

DRIVE = """
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 24
pages_per_block = 8
page_size = "512 B"
exported = 0.5
unit = "die"
write_buffer = { size = "4 KiB" }

[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "5 ns/B"
command = "0 ns"
"""
PAGE = 512
STORES = Path(__file__).with_name("stores")


def content(page):
    return b"%08d" % (page + (1000 if page % 3 == 0 else 0)) * (PAGE // 8)


def fill(client):
    pages = client.bytes // PAGE
    for page in range(pages):
        assert client.ask(WRITE, page * PAGE, PAGE, b"%08d" % page * (PAGE // 8))[0] == 0
    for page in range(0, pages, 3):
        assert client.ask(WRITE, page * PAGE, PAGE, content(page))[0] == 0


def holds(client):
    for page in range(client.bytes // PAGE):
        assert client.ask(READ, page * PAGE, PAGE) == (0, content(page)), page


def served(tmp_path):
    (tmp_path / "drive.toml").write_text(DRIVE)
    words = {"store": tmp_path / "drive.data", "time": "off"}
    return serving.served(tmp_path / "drive.toml", tmp_path / "s", **words)


def stored(tmp_path, name):
    data = bytearray(gzip.decompress((STORES / f"{name}.gz").read_bytes()))
    assert data[8] == 2
    return data


@BUILT
@pytest.mark.parametrize("name", ["stopped", "killed"])
@pytest.mark.parametrize("version", [1, 2])
def test_a_store_of_an_earlier_version_opens_and_continues(tmp_path, name, version):
    data = stored(tmp_path, name)
    # Version 1 had no mark of a read-only drive, and was the same otherwise.
    data[8] = version
    (tmp_path / "drive.data").write_bytes(data)
    for turn in range(3):
        with served(tmp_path) as server, Client(tmp_path / "s") as client:
            was = "stopped before" if turn or name == "stopped" else "cut off before"
            assert was in server.found
            holds(client)
            for page in range(0, 60, 3):
                assert client.ask(WRITE, page * PAGE, PAGE, content(page))[0] == 0
            assert client.ask(FLUSH, 0, 0)[0] == 0
            server.end()
    # Version 4 has the same form, and data at any place.
    assert (tmp_path / "drive.data").read_bytes()[8] == 4


@BUILT
def test_damaged_data_of_an_earlier_store_is_an_error(tmp_path):
    data = stored(tmp_path, "stopped")
    at = data.index(content(50))
    data[at + 100] ^= 4
    (tmp_path / "drive.data").write_bytes(data)
    with served(tmp_path) as server, Client(tmp_path / "s") as client:
        assert client.ask(READ, 50 * PAGE, PAGE)[0] == 5
        assert client.ask(READ, 49 * PAGE, PAGE) == (0, content(49))
        assert (
            f"is damaged and cannot be read: {tmp_path / 'drive.data'}, bytes"
            in (server._folder / "log").read_text()
        )
        server.end()


@BUILT
def test_a_store_that_was_cut_is_refused_with_the_way_out(tmp_path):
    data = stored(tmp_path, "stopped")
    (tmp_path / "drive.data").write_bytes(data[:-1])
    with (
        pytest.raises(flashgc.RunError, match="the file has been cut: it has") as refused,
        served(tmp_path),
    ):
        pass
    assert "= help: restore the file from a copy, or name another one" in str(refused.value)
    assert "make space" not in str(refused.value)

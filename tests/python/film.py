"""A second reader of recordings, by the description in the engine (session/recording.rs)."""

import json
import re
import zlib
from base64 import b64decode
from dataclasses import dataclass, field, replace

WORKS = ["idle", "read", "write", "copy", "erase", "switch", "background"]
PLACES = ["rest", "bus", "array"]


@dataclass
class Unit:
    """A unit in a picture."""

    work: str = "idle"
    place: str = "rest"
    since_ns: int | None = 0
    serves_ns: int | None = None
    queue: list = field(default_factory=list)
    collection: dict | None = None


@dataclass
class Picture:
    """A picture: its blocks as lists of the state, the valid and the written pages."""

    now_ns: int
    done: list
    blocks: list
    units: list


class Reader:
    """The pictures of a recording, one after the other."""

    def __init__(self, head, packed):
        self.head, self.bytes, self.at = head, zlib.decompress(packed), 0

    def __iter__(self):
        head = self.head
        blocks = [(0, 0, 0)] * (len(head["planes"]) * head["blocks_per_plane"])
        picture = Picture(0, [0] * 4, blocks, [Unit() for _ in head["units"]])
        for _ in range(head["pictures"]):
            picture = self.after(picture)
            yield picture
        assert self.at == len(self.bytes)

    def after(self, before):
        now_ns = before.now_ns + self.number()
        done = [count + self.signed() for count in before.done]
        blocks, units = list(before.blocks), list(before.units)
        for at in self.changed():
            state = self.byte()
            blocks[at] = (state, blocks[at][1] + self.signed(), blocks[at][2] + self.signed())
        for at in self.changed():
            units[at] = self.unit(units[at], now_ns)
        return Picture(now_ns, done, blocks, units)

    def changed(self):
        at = -1
        for _ in range(self.number()):
            at += 1 + self.number()
            yield at

    def unit(self, before, now_ns):
        bits = self.byte()
        unit = replace(before, work=WORKS[bits & 7], place=PLACES[bits >> 3 & 3],
                       since_ns=self.ago(now_ns), serves_ns=self.ago(now_ns))  # fmt: skip
        if bits & 32:
            first, last, between = self.number(), self.number(), self.number()
            came = []
            for _ in range(between):
                both = self.number()
                came.append((both % 2 == 1, now_ns - both // 2 + 1 if both > 1 else None))
            old = before.queue
            unit.queue = [*old[:first], *came, *old[len(old) - last :]]
        if bits & 64:
            bits = self.number()
            names = ("plane", "moved", "left")
            unit.collection = {name: self.number() for name in names} if bits else None
            if bits:
                unit.collection |= {"since_ns": self.ago(now_ns), "erases": bits & 2 > 0,
                                    "is_suspended": bits & 4 > 0}  # fmt: skip
        return unit

    def ago(self, now_ns):
        ago = self.number()
        return now_ns - ago + 1 if ago else None

    def byte(self):
        self.at += 1
        return self.bytes[self.at - 1]

    def signed(self):
        number = self.number()
        return -(number + 1) // 2 if number % 2 else number // 2

    def number(self):
        number, shift = 0, 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7


def of_page(text):
    """The extent and the pictures of a page."""
    head = re.search(r'<script type="application/json" id="head">(.*?)</script>', text)[1]
    film = re.search(r'<script type="text/plain" id="film">(.*?)</script>', text)[1]
    found = json.loads(head)
    return found, list(Reader(found, b64decode(film)))

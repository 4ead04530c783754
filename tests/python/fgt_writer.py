"""A second writer of flashgc's own traces, from the description in docs/formats/fgt.md alone."""

import json
import struct
import zlib

import pyarrow as pa

MAGIC = b"\x89FGT\r\n\x1a\n"
FLUSH = 3 + 2048


def column(values):
    """Kind 0, base 0, unit 1, numbers of 8 bytes."""
    return struct.pack("<BBQQ", 0, 8, 0, 1) + struct.pack(f"<{len(values)}Q", *values)


def checked(head):
    return struct.pack("<I", zlib.crc32(head)) + head


def write(path, rows):
    """Writes rows of (time in ns, operation, offset, bytes, hint); operation 3 is a flush."""
    origin = json.dumps({"origin": "a test", "made_by": "fgt_writer.py"}).encode()
    start = MAGIC + struct.pack("<II", 1, len(origin)) + origin
    data = start + struct.pack("<I", zlib.crc32(start))
    for first in range(0, len(rows), 8192):
        part = rows[first : first + 8192]
        times, ops, offsets, sizes, hints = (list(values) for values in zip(*part, strict=True))
        codes = [FLUSH if op == 3 else op + 8 * hint for op, hint in zip(ops, hints, strict=True)]
        plain = b"".join(map(column, (times, [0] * len(part), codes, offsets, sizes)))
        packed = pa.Codec("zstd").compress(plain, asbytes=True)
        sizes_of = struct.pack("<IIIQQQ", len(part), len(packed), len(plain), first,
                               min(times), max(times))  # fmt: skip
        data += checked(sizes_of) + packed
    times = [row[0] for row in rows]
    data += checked(struct.pack("<IIIQQQ", 0, 0, 0, len(rows), min(times), max(times)))
    path.write_bytes(data)

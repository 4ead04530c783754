"""A client of the network block device protocol, small enough to break its rules."""

import socket
import struct

OPTIONS, OPTION_REPLY = b"IHAVEOPT", 0x3E889045565A9
REQUEST, REPLY = 0x25609513, 0x67446698
READ, WRITE, DISCONNECT, FLUSH, TRIM, ZERO = 0, 1, 2, 3, 4, 6
GO, INFO_EXPORT, ACK = 7, 0, 1


class Client:
    """A connection after its handshake."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        assert self.take(16) == b"NBDMAGIC" + OPTIONS
        self.take(2)
        self.socket.sendall(struct.pack(">I", 3))
        self.socket.sendall(OPTIONS + struct.pack(">IIIH", GO, 6, 0, 0))
        self.bytes = None
        while True:
            magic, option, kind, length = struct.unpack(">QIII", self.take(20))
            assert (magic, option) == (OPTION_REPLY, GO)
            body = self.take(length)
            if kind == ACK:
                return
            if kind >> 31:
                self.socket.close()
                raise ConnectionRefusedError(body.decode())
            if struct.unpack(">H", body[:2])[0] == INFO_EXPORT:
                self.bytes = struct.unpack(">Q", body[2:10])[0]

    def take(self, count):
        found = b""
        while len(found) < count:
            more = self.socket.recv(count - len(found))
            if not more:
                raise ConnectionError("the server has closed the connection")
            found += more
        return found

    def send(self, kind, offset, length, data=b"", flags=0):
        header = struct.pack(">IHHQQI", REQUEST, flags, kind, 7, offset, length)
        self.socket.sendall(header + data)

    def ask(self, kind, offset, length, data=b"", flags=0):
        """Sends a request; returns the error of its answer, and its data."""
        self.send(kind, offset, length, data, flags)
        error = self.answer()
        return error, self.take(length) if kind == READ and error == 0 else b""

    def answer(self):
        """The error of the next answer."""
        magic, error, handle = struct.unpack(">IIQ", self.take(16))
        assert (magic, handle) == (REPLY, 7)
        return error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

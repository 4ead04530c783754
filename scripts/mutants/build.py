"""A copy of the sources with all mutants of a sample, and its test programs."""

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemata import SWITCH, Mutant, Source, UnknownPlaceError, blamed

LIBS = {
    "crates/flashgc-model/src/lib.rs": SWITCH,
    "crates/flashgc/src/lib.rs": "\n#[doc(hidden)]\npub use flashgc_model::mutant;\n",
}
"""The roots of the crates with mutants, and what each gets: one switch serves them all."""
PACKAGES = [word for name in ("flashgc", "flashgc-model", "flashgc-tests", "flashgc-histories")
            for word in ("-p", name)]  # fmt: skip
CONST = {"E0015", "E0658"}
"""The errors of a choice in a constant."""


@dataclass
class Copy:
    """The copy, in the build folder."""

    root: Path
    mutants: list[Mutant]
    dropped: dict[int, str] = field(default_factory=dict)
    """Mutants without a branch, with the reason."""

    @property
    def work(self) -> Path:
        """The folder of the copy."""
        return self.root / "target/mutants/sources"

    def make(self) -> dict[str, Path]:
        """Makes the copy, and returns its test programs by name."""
        self._copy()
        while True:
            rendered = self._write()
            faulty = self._faulty(rendered)
            if not faulty:
                break
            self.dropped |= faulty
        self._classify()
        self._write()
        return self._programs()

    def _copy(self) -> None:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=self.root, capture_output=True,
                                check=True).stdout.decode()  # fmt: skip
        changed = {mutant.file for mutant in self.mutants} | set(LIBS)
        names = [name for name in listed.split("\0") if name and (self.root / name).is_file()]
        for name in names:
            if name not in changed:
                _write(self.work / name, (self.root / name).read_bytes())
        for path in (self.work / "crates").rglob("*"):
            if path.is_file() and str(path.relative_to(self.work)) not in names:
                path.unlink()
        shared = self.work.parent / "shared"  # real traces, if they are there
        if not shared.is_symlink():
            shared.symlink_to(self.root.parent / "shared")

    def _write(self) -> dict[str, str]:
        """Writes the files with mutants: the text of each."""
        by_file: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in self.mutants:
            by_file[mutant.file].append(mutant)
        rendered = {}
        for name, mutants in by_file.items():
            source = Source((self.root / name).read_bytes())
            for mutant in mutants:
                if mutant.number in self.dropped:
                    continue
                try:
                    source.add(mutant)
                except UnknownPlaceError:
                    self.dropped[mutant.number] = "no branch"
            rendered[name] = source.rendered()
            _write(self.work / name, rendered[name].encode())
        for name, added in LIBS.items():
            text = rendered.get(name) or (self.root / name).read_text()
            counted = added.replace("COUNT", str(len(self.mutants)))
            _write(self.work / name, (text + counted).encode())
        return rendered

    def _faulty(self, rendered: dict[str, str]) -> dict[int, str]:
        """Mutants that the compiler does not accept."""
        faulty: dict[int, str] = {}
        for message in self._check():
            for number in _blamed(message, rendered):
                code = (message.get("code") or {}).get("code", "")
                reason = "in a constant" if code in CONST else f"{code} {message['message']}"
                faulty.setdefault(number, reason)
        return faulty

    def _check(self) -> list[dict[str, Any]]:
        """The errors of the compiler."""
        done = self._cargo(["check", "--profile", "tests", "-p", "flashgc", "--lib"])
        messages = [line["message"] for line in map(json.loads, done.stdout.splitlines())
                    if line["reason"] == "compiler-message"]  # fmt: skip
        errors = [message for message in messages if message["level"] == "error"]
        assert not done.returncode or errors, done.stderr.decode()
        return errors

    def _classify(self) -> None:
        """Separates mutants that cannot be compiled from those that do not fit a branch."""
        for mutant in self.mutants:
            if mutant.number not in self.dropped:
                continue
            source = Source((self.root / mutant.file).read_bytes())
            path = self.work / mutant.file
            kept = path.read_bytes()
            # Without other mutants, and so without calls of what the copy adds.
            _write(path, source.plain(mutant))
            compiles = not self._check()
            _write(path, kept)
            why = self.dropped[mutant.number]
            self.dropped[mutant.number] = f"not switchable: {why}" if compiles else "unviable"

    def _programs(self) -> dict[str, Path]:
        done = self._cargo(["test", "--no-run", "--profile", "tests", *PACKAGES, "--lib", "--bins",
                            "--tests"])  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        built = [line for line in map(json.loads, done.stdout.splitlines())
                 if line["reason"] == "compiler-artifact" and line.get("executable")]  # fmt: skip

        def of(package: str, name: str, is_test: bool) -> Path:
            (one,) = (Path(line["executable"]) for line in built
                      if f"/{package}#" in line["package_id"] and line["target"]["name"] == name
                      and line["profile"]["test"] == is_test)  # fmt: skip
            return one

        return {
            "unit": of("flashgc", "flashgc", True),
            "model": of("flashgc-model", "flashgc_model", True),
            "all": of("flashgc-tests", "all", True),
            "remembered": of("flashgc-histories", "remembered", True),
            "histories": of("flashgc-histories", "flashgc-histories", False),
        }

    def _cargo(self, words: list[str]) -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, "CARGO_TARGET_DIR": str(self.work.parent / "build"),
               "RUSTFLAGS": "--cap-lints allow", "CARGO_PROFILE_TESTS_DEBUG": "0"}  # fmt: skip
        return subprocess.run(["cargo", *words, "--message-format", "json"], cwd=self.work, env=env,
                              capture_output=True, check=False)  # fmt: skip


def _blamed(message: dict[str, Any], rendered: dict[str, str]) -> set[int]:
    places = defaultdict(list)
    for span in _spans(message):
        places[span["file_name"]].append((span["byte_start"], span["byte_end"]))
    found: set[int] = set()
    for name, spans in places.items():
        if name in rendered:
            text = rendered[name].encode().decode("latin-1")  # offsets of bytes
            found |= blamed(text, spans)
    # A message such as "aborting due to 3 errors" has no place.
    assert found or not places, json.dumps(message, indent=1)
    return found


def _spans(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from message["spans"]
    for child in message["children"]:
        yield from _spans(child)


def _write(path: Path, content: bytes) -> None:
    """Writes a file that differs, so that nothing is compiled again without need."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

#!/usr/bin/env python3
"""Looks for values that the compiler has lost: `scripts/lost_definitions.py [CRATE...]`.

rustc removes the definition of a truth value that is used twice (rust-lang/rust#158206):

    #[inline]
    fn is_three(x: u8, count: &mut u64) -> bool {
        let found = x == 3;
        *count += u64::from(found); // counts whatever was there before
        found
    }

where this is inlined into an `if`, the comparison becomes part of the branch, and its result is
gone, though the count reads it. A crate is free of the fault where no function of its optimised MIR
reads a local that nothing writes. That is checked here for every crate of the workspace whose code
is in a result, in the profile that people run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

CRATES = (
    *("flashgc", "flashgc-model", "flashgc-workload", "flashgc-setup", "flashgc-watch"),
    *("flashgc-trace", "flashgc-config", "flashgc-drive", "flashgc-timeline"),
)
HEAD = re.compile(r"^(?:fn|const|static|promoted|[a-z<].*\{$)")
ARGUMENT = re.compile(r"\b_(\d+):")
LOCAL = re.compile(r"let (?:mut )?_(\d+): (.*);")
WRITTEN = re.compile(r"[(*]*_(\d+)\b")
READ = re.compile(r"(?:copy|move|discriminant\(|Len\(|&(?:mut |raw \w+ )?)\s*[(*]*_(\d+)\b")
SILENT = ("debug ", "scope ", "StorageLive", "StorageDead", "//")


def lost(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Functions of a text of MIR that read a local which nothing writes, each with the line.

    Closures that capture nothing have no value to write, and are passed by.
    """
    name, written, read, empty = "", set(), {}, set()
    for line in lines:
        if line.startswith("}"):
            yield from ((name, at) for local, at in read.items() if local not in written | empty)
            name = ""
        elif HEAD.match(line):
            name, written = line.strip(), {"0", *ARGUMENT.findall(line)}
            read, empty = {}, set()
        elif name:
            text = line.strip()
            if found := LOCAL.fullmatch(text):
                empty |= {found[1]} if found[2].startswith("{closure@") else set()
            elif not text.startswith(SILENT):
                target, is_write, value = text.partition(" = ")
                if is_write and (found := WRITTEN.match(target)):
                    written.add(found[1])
                for local in READ.findall(value if is_write else text):
                    read.setdefault(local, text)


def mir_of(crate: str) -> Path:
    """The optimised MIR of a crate of the workspace."""
    command = ["cargo", "rustc", "--locked", "--quiet", "--profile", "people", "--lib", "-p", crate]
    subprocess.run([*command, "--", "--emit", "mir"], check=True)
    made = Path("target/people/deps").glob(f"{crate.replace('-', '_')}-*.mir")
    return max(made, key=lambda path: path.stat().st_mtime)


def main(crates: Iterable[str]) -> int:
    """Prints the lost values of each crate; returns 1 if there are any."""
    count = 0
    for crate in crates:
        lines = mir_of(crate).read_text(errors="replace").splitlines()
        found = list(lost(lines))
        functions = sum(line.startswith("fn ") for line in lines)
        print(f"{crate}: {functions} functions, {len(found)} with a lost value")
        for name, at in found:
            print(f"  {name}\n    {at}")
        count += len(found)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or CRATES))

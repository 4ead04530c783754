"""The mutants of the engine, and a sample of them, by cargo-mutants."""

import json
import os
import random
import subprocess
from pathlib import Path

from schemata import Mutant

VERSION = "27.1.0"
RUNNING = ("sim", "store", "collect", "operation", "background", "arbiter", "host")
TABLES = ("gc", "ftl", "flash", "allocation")
FOLDERS = [f"flashgc/src/{room}" for room in RUNNING] + [
    f"flashgc-model/src/{room}" for room in TABLES
]
"""The folders of the engine's sources with the course of a run."""


def _tool(root: Path) -> Path:
    """The program of cargo-mutants, installed into the build folder if need be."""
    tools = root / "target/tools"
    program = tools / "bin/cargo-mutants"
    if program.exists():
        told = subprocess.run([program, "mutants", "--version"], capture_output=True, check=True)
        if VERSION in told.stdout.decode():
            return program
    print(f"installing cargo-mutants {VERSION} into target/tools", flush=True)
    subprocess.run(["cargo", "install", "--quiet", "--locked", "--root", tools,
                    f"cargo-mutants@{VERSION}"], check=True)  # fmt: skip
    return program


def drawn(root: Path, size: int, seed: int, only: str) -> tuple[list[Mutant], int]:
    """A random sample, the same for the same sources and seed, and the number of all mutants."""
    chosen = [word for folder in FOLDERS for word in ("-f", f"crates/{folder}/**")]
    listed = subprocess.run([_tool(root), "mutants", "--list", "--json", *chosen], cwd=root,
                            stdout=subprocess.PIPE, check=True,
                            env={**os.environ, "CARGO_TERM_QUIET": "true"}).stdout  # fmt: skip
    mutants = sorted(json.loads(listed), key=lambda mutant: mutant["name"])
    mutants = [mutant for mutant in mutants if only in mutant["name"]]
    places = sorted(random.Random(seed).sample(range(len(mutants)), min(size, len(mutants))))
    sample = [Mutant.of(number, mutants[at]) for number, at in enumerate(places)]
    return sample, len(mutants)

"""The captures that come with the package: a trace of each program, and its content."""

import json
from pathlib import Path

from measured import Program

import flashgc

FOLDER = Path(flashgc.__file__).parent / "captures"
SCHEME = "ideal"
"""Collection takes no time under it, so no scheme has left its mark in the times of a trace."""
CONFIG = "real-programs"


def ship(program: Program, seconds: float, time: str) -> None:
    """Describes a new capture of the folder, in `NAME.toml` beside it."""
    trace = FOLDER / f"{program.name}.fgt"
    about = flashgc.trace.info(trace)
    command = f"python scripts/programs --programs {program.name} --seconds {seconds:g} --ship"
    if time != "real":
        command += f" --time {time}"
    texts = {
        "title": program.title,
        "program": program.version(),
        "does": program.does,
        "command": command,
        "result_hash": flashgc.run(CONFIG, trace).result_hash,
    }
    counts = {
        key: about[key]
        for key in ("rows", "reads", "writes", "trims", "read_bytes", "written_bytes",
                    "footprint_bytes", "duration_s")
    }  # fmt: skip
    counts["flushes"], counts["fua"] = about.get("flushes", 0), about.get("fua", 0)
    # A string of JSON is one of TOML.
    lines = [f"{key} = {json.dumps(text)}" for key, text in texts.items()]
    lines += ["", "[counts]", *(f"{key} = {value}" for key, value in counts.items())]
    trace.with_suffix(".toml").write_text("\n".join(lines) + "\n", "utf-8")

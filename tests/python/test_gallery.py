"""The gallery of the manual: each picture is there, and each command below it can be typed."""

import importlib.util
import re
import shlex
import subprocess

import pytest
import typer.main

from conftest import ROOT
from flashgc.cli.app import app

IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000
"""The most bytes of a picture."""


def script():
    """The script that draws the pictures."""
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "scripts" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ENTRIES = script().entries()
COMMANDS = sorted({line for lines, _ in ENTRIES.values() for line in lines})


def parse(group, words):
    """Reads the words as the command line does, and runs nothing."""
    context = group.make_context("flashgc", list(words))
    name, command, rest = group.resolve_command(context, context._protected_args + context.args)
    if hasattr(command, "resolve_command"):
        return parse(command, rest)
    return command.make_context(name, rest, parent=context).params


def test_every_picture_of_the_manual_is_in_the_gallery_and_small():
    assert set(ENTRIES) == {path.relative_to(IMAGES).as_posix() for path in IMAGES.rglob("*.svg")}
    for name in ENTRIES:
        assert (IMAGES / name).stat().st_size <= LARGEST, name


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_can_be_typed(line):
    program, *words = shlex.split(line)
    if program == "flashgc":
        parse(typer.main.get_command(app), words)
    elif program == "make":
        subprocess.run(["make", "-n", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    else:
        assert program == "python", line
        assert (ROOT / words[0]).is_file(), line


def test_what_a_command_saves_is_named_below_it():
    for lines, made in ENTRIES.values():
        saves = any(re.search(r" (--figures|--plot|--out) ", line) for line in lines)
        assert saves == (made is not None)
        folders = re.findall(r" (?:--figures|--plot|--out) (\S+)", " ".join(lines))
        assert made is None or any(made.startswith(folder) for folder in folders), made

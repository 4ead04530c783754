"""The rooms of the Python package: few files at its root, and no import that runs back up.

The order is the table in ARCHITECTURE.md: each line may import the lines above it, and itself.
"""

import ast
import re
from pathlib import Path

import pytest

from conftest import ROOT
from test_imports import imports, modules

SOURCE = ROOT / "python"
PACKAGE = SOURCE / "flashgc"
FACE = "flashgc"
"""`flashgc/__init__.py`: the public names, which nothing inside imports."""


def table():
    """The lines of the table: a file at the root or a room, and its first sentence."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = text.partition("## The Python package\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([\w.]+)/?` \| (.+) \|$", part, re.MULTILINE))


def first_sentence(path):
    """The first sentence of a module's docstring, on one line; empty where there is none."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(told.split()))[0]


def place(module):
    """The file at the root, or the room, in which a module is."""
    return ".".join(module.split(".")[:2])


def back_up(imported, order):
    """Imports of a place that comes later in the order, of the face, or by a place without one."""
    heights = {name: height for height, name in enumerate(order)}
    found = []
    for module, targets in imported.items():
        own = heights.get(place(module))
        for target in targets:
            if own is None or heights.get(place(target), len(order)) > own:
                found.append(f"{module} imports {target}")
    return sorted(found)


def order():
    """The places in the order of the table; the face is the last."""
    stems = [name.partition(".")[0] for name in table()]
    inner = [f"{FACE}.{stem}" for stem in stems if stem not in {"__init__", "__main__"}]
    return [*inner, FACE, f"{FACE}.__main__"]


def test_at_most_ten_files_stand_at_the_root():
    files = [path.name for path in PACKAGE.iterdir() if path.is_file() and path.suffix != ".so"]
    assert len(files) <= 10, sorted(files)


def test_every_place_has_a_line_in_the_table_with_its_first_sentence():
    places = {path.name: path for path in PACKAGE.iterdir() if path.suffix in {".py", ".pyi"}}
    places |= {path.parent.name: path for path in PACKAGE.glob("*/__init__.py")}
    with_code = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")}
    assert with_code <= places.keys()
    told = {name: first_sentence(path) for name, path in places.items()}
    assert not [name for name, sentence in told.items() if not sentence.endswith(".")]
    assert told == table()


def test_no_import_runs_back_up():
    imported = imports(SOURCE)
    assert len({place(module) for module in imported}) > 25
    assert back_up(imported, order()) == []


@pytest.mark.parametrize("text", [
    "from flashgc.high import later",
    "from flashgc.high.inner import later",
    "from flashgc import high",
    "import flashgc.high.inner as inner",
    "from .. import high",
    "from ..high import inner",
    "def f():\n    from flashgc.high import inner",
    "def f():\n    from ..high.inner import later",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from flashgc import high",
    "from flashgc import run",
    "def f():\n    import flashgc",
])  # fmt: skip
def test_an_import_that_runs_back_up_is_found(tmp_path: Path, text):
    for room in ("low", "high"):
        folder = tmp_path / "flashgc" / room
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text('"""A room."""\n')
    (tmp_path / "flashgc" / "__init__.py").write_text("from flashgc.high.inner import later\n")
    (tmp_path / "flashgc/high/inner.py").write_text("from flashgc.low import leaf\n")
    leaf = tmp_path / "flashgc/low/leaf.py"
    leaf.write_text("import ast\n")
    rooms = ["flashgc.low", "flashgc.high", "flashgc"]
    assert back_up(imports(tmp_path), rooms) == []
    leaf.write_text(text)
    assert len(back_up(imports(tmp_path), rooms)) == 1


def test_a_room_without_a_place_in_the_order_is_found(tmp_path: Path):
    (tmp_path / "flashgc" / "new").mkdir(parents=True)
    (tmp_path / "flashgc/__init__.py").write_text("")
    (tmp_path / "flashgc/low.py").write_text("")
    (tmp_path / "flashgc/new/__init__.py").write_text("from flashgc import low\n")
    assert set(modules(tmp_path)) == {"flashgc", "flashgc.low", "flashgc.new"}
    assert back_up(imports(tmp_path), ["flashgc.low", "flashgc"]) == [
        "flashgc.new imports flashgc.low"
    ]

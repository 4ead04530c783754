"""No module of the package or of the binding imports itself, by whatever way.

Every import counts: at the head of a file, inside a function, and for the type checker alone. And
no module uses a private name of another, or a private attribute of its classes.
"""

import ast
import graphlib
import re
from pathlib import Path

import pytest

from conftest import ROOT

SOURCE = ROOT / "python"
BELOW = """
import flashgc.low
def later():
    from flashgc import low as lower, __version__
"""


def modules(source):
    """The files of a package by the names of their modules; the engine is known by its stub."""
    found = {}
    for path in sorted([*source.rglob("*.py"), *source.rglob("*.pyi")]):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def targets(node, module, is_package):
    """The dotted names that a statement imports, the most exact first."""
    if isinstance(node, ast.Import):
        return [[alias.name] for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        parts = module.split(".")
        parts = parts[: len(parts) - node.level + is_package]
        base = ".".join([*parts, *filter(None, [node.module])])
    return [[f"{base}.{alias.name}", base] for alias in node.names]


def imports(source):
    """The modules of a package that each of its modules imports."""
    known = modules(source)
    found = {name: set() for name in known}
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for names in targets(node, name, path.stem == "__init__"):
                found[name] |= set([one for one in names if one in known][:1])
    return found


def circle(imported):
    """The modules of a circle, the first one at its end too; empty where there is none."""
    try:
        graphlib.TopologicalSorter(imported).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


def test_no_module_imports_itself_by_whatever_way():
    imported = imports(SOURCE)
    assert len(imported) > 100
    assert sum(map(len, imported.values())) > 300
    assert circle(imported) == []


@pytest.mark.parametrize("text", [
    "from flashgc import high",
    "from flashgc.high import later",
    "import flashgc.high",
    "from . import high",
    "from .high import later",
    "def f():\n    from flashgc.high import later",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from flashgc import high",
])  # fmt: skip
def test_a_circle_is_found(tmp_path: Path, text):
    package = tmp_path / "flashgc"
    package.mkdir()
    (package / "__init__.py").write_text("from flashgc.high import later\n__version__ = '1'\n")
    (package / "high.py").write_text(BELOW.replace(", __version__", ""))
    (package / "low.py").write_text("import ast\n")
    assert circle(imports(tmp_path)) == []
    (package / "low.py").write_text(text)
    assert sorted(set(circle(imports(tmp_path)))) == ["flashgc.high", "flashgc.low"]


def test_a_module_that_imports_its_own_package_is_a_circle(tmp_path: Path):
    package = tmp_path / "flashgc"
    package.mkdir()
    (package / "__init__.py").write_text("from flashgc import high\n")
    (package / "high.py").write_text(BELOW)
    (package / "low.py").write_text("")
    assert sorted(set(circle(imports(tmp_path)))) == ["flashgc", "flashgc.high"]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_names(path, name, known):
    """The private names of other modules that a file uses, as `module.name`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    local, found = {}, set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        named = zip(node.names, targets(node, name, path.stem == "__init__"), strict=True)
        for alias, places in named:
            if places[0] in known:
                local[alias.asname or alias.name] = places[0]
            elif places[-1] in known and is_private(alias.name):
                found.add(f"{places[-1]}.{alias.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            module = local.get(ast.unparse(node.value))
            if module is not None and f"{module}.{node.attr}" not in known:
                found.add(f"{module}.{node.attr}")
    return found


def test_no_module_uses_a_private_name_of_another():
    known = modules(SOURCE)
    files = {**known, **{path.stem: path for path in (ROOT / "scripts").rglob("*.py")}}
    found = {name: private_names(path, name, known) for name, path in files.items()}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("text", [
    "from flashgc import high\nhigh._inner()",
    "from flashgc import high as other\ndef f():\n    other._inner()",
    "from flashgc.high import _inner",
    "import flashgc.high\nflashgc.high._inner()",
    "from . import high\nhigh._inner()",
])  # fmt: skip
def test_the_use_of_a_private_name_is_found(tmp_path: Path, text):
    file = tmp_path / "low.py"
    known = {"flashgc": file, "flashgc.high": file, "flashgc.low": file, "flashgc._engine": file}
    file.write_text("import flashgc\nfrom flashgc import high, _engine\n"
                    "flashgc._engine\nhigh.inner()\nhigh.__name__\n")  # fmt: skip
    assert private_names(file, "flashgc.low", known) == set()
    file.write_text(text)
    assert private_names(file, "flashgc.low", known) == {"flashgc.high._inner"}


def own_attributes(tree):
    """The private attributes that the classes of a file have or inherit."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                names = [part.target] if isinstance(part, ast.AnnAssign) else \
                    getattr(part, "targets", [])  # fmt: skip
                found |= {getattr(part, "name", "")} | {getattr(one, "id", "") for one in names}
        elif is_of_self(node):
            found.add(node.attr)
    return {name for name in found if is_private(name)}


def is_of_self(node):
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls", "super()")


def used_attributes(tree):
    """The private attributes that a file takes from other objects than those of its methods."""
    return {node.attr for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and is_private(node.attr)
            and not is_of_self(node)}  # fmt: skip


def test_no_module_uses_a_private_attribute_of_a_class_of_another():
    paths = {**modules(SOURCE), **{path.stem: path for path in (ROOT / "scripts").rglob("*.py")}}
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in paths.items()}
    owned = {name: own_attributes(tree) for name, tree in trees.items()}
    every = set().union(*owned.values())
    assert {"_values", "_origin", "_over_time"} <= every
    found = {name: used_attributes(tree) & every - owned[name] for name, tree in trees.items()}
    assert {name: names for name, names in found.items() if names} == {}


def test_the_use_of_a_private_attribute_is_found():
    owner = ast.parse(
        "class A:\n    _b: int\n    _c = 1\n    def _d(self):\n        self._e = super()._f"
    )
    assert own_attributes(owner) == {"_b", "_c", "_d", "_e", "_f"}
    assert used_attributes(owner) == set()
    assert used_attributes(ast.parse("a._b\ndef f(one):\n    one.two._e = a.f()._d")) == {
        "_b", "_d", "_e"
    }  # fmt: skip


def rust_imports(source):
    """The modules of a crate that each of its modules names by a path from the crate's root."""
    known = {path.stem: path for path in sorted(source.glob("*.rs")) if path.stem != "lib"}
    found = {}
    for name, path in known.items():
        code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        named = set(re.findall(r"\bcrate::(\w+)", code))
        for group in re.findall(r"\bcrate::\{(.*?)\};", code, re.DOTALL):
            named |= set(re.findall(r"(?:^|,)\s*(\w+)", group))
        found[name] = named & known.keys() - {name}
    return found


def test_no_file_of_the_binding_uses_itself_by_whatever_way():
    used = rust_imports(ROOT / "crates/flashgc-py/src")
    assert len(used) >= 15
    assert sum(map(len, used.values())) > 25
    assert circle(used) == []


@pytest.mark.parametrize("text", [
    "use crate::high;",
    "use crate::high::{self, Name};",
    "use crate::{other, high::Name};",
    "fn f() { crate::high::g() }",
])  # fmt: skip
def test_a_circle_of_a_crate_is_found(tmp_path: Path, text):
    (tmp_path / "lib.rs").write_text("mod high;\nmod low;\nuse crate::high::Name;\n")
    (tmp_path / "high.rs").write_text("use crate::low;\n")
    (tmp_path / "low.rs").write_text("// crate::high\nuse crate::low::inside;\n")
    assert circle(rust_imports(tmp_path)) == []
    (tmp_path / "low.rs").write_text(text)
    assert sorted(set(circle(rust_imports(tmp_path)))) == ["high", "low"]

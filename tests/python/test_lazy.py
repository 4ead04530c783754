"""Names of the package are imported when they are used."""

import ast
import subprocess
import sys

import pytest

import flashgc
from conftest import ROOT

SLOW = ("flashgc.running.runs", "flashgc.reproduction", "flashgc.sweeps", "flashgc.conversion",
        "flashgc.charts", "rich", "pydantic", "polars", "pyarrow", "altair",
        "vl_convert")  # fmt: skip


def loaded(code):
    """The modules that a program has loaded at its end."""
    code = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("code", ["import flashgc", "import flashgc.cli.app"])
def test_what_starts_a_command_loads_nothing_slow(code):
    assert not [name for name in loaded(code) if name in SLOW]


def test_the_package_loads_none_of_its_rooms():
    names = loaded("import flashgc")
    assert [name for name in names if name.startswith("flashgc.")] == ["flashgc._start"]


def test_the_version_needs_no_commands():
    code = "sys.argv = ['flashgc', '--version']\nfrom flashgc.cli import main\ntry:\n    main()"
    names = loaded(f"{code}\nexcept SystemExit:\n    pass")
    assert names[:2] == ["flashgc", flashgc.__version__]
    assert not {"typer", "flashgc.cli.app", *SLOW} & set(names)
    assert {name.split(".")[1] for name in names if name.startswith("flashgc.")} == {
        "_engine", "_start", "cli"
    }  # fmt: skip


RUN = ("run", "oltp", "--set", "workload.synthetic.requests=10", "--set",
       "precondition.overwrite=0", "--set", "precondition.fill=none", "--seed", "7")  # fmt: skip


def test_a_run_converts_its_words_without_pydantic():
    code = f"sys.argv = ['flashgc', *{[*RUN[:-2], '--json']}]\nfrom flashgc.cli import main"
    names = loaded(f"{code}\ntry:\n    main()\nexcept SystemExit:\n    pass")
    assert "flashgc.running.runs" in names
    assert "pydantic" not in names


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([*RUN[:-1], "seven"], "Invalid value for '--seed'"),
        ([*RUN, "--seeds", "0"], "Invalid value for '--seeds'"),
        ([*RUN, "--on-bad-line", "look"], "Invalid value for '--on-bad-line'"),
        (["compere", "oltp"], "No such command 'compere'"),
    ],
)
def test_other_words_are_converted_and_checked(flashgc, words, told):
    done = flashgc(*words, code=2)
    assert told in " ".join(done.err.replace("│", " ").split())


def test_every_public_name_is_found_and_has_a_type():
    tree = ast.parse((ROOT / "python/flashgc/__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    typed = [alias.asname or alias.name for node in block.body for alias in node.names]
    assert sorted(typed) == sorted(flashgc.__all__)
    for name in flashgc.__all__:
        assert getattr(flashgc, name) is not None


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'flashgc' has no attribute 'compere'"):
        flashgc.compere  # noqa: B018
    with pytest.raises(ImportError):
        from flashgc import compere  # noqa: F401

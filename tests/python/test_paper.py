"""The tool paper: it has four pages, its numbers are those of the repository, and its code runs."""

import importlib.util
import re
import subprocess
import sys
import tomllib

import pytest

from conftest import ROOT

FOLDER = ROOT / "docs" / "paper"
TEXT = (FOLDER / "flashgc.typ").read_text()
BODY = TEXT[TEXT.index("= Problem") :]
SOURCES = tomllib.loads((FOLDER / "sources.toml").read_text())
CODE = re.compile(r"```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMES = ("99.9th", "Fig. 6a", "page 9", "page 2", "7450 MAX", "4~KiB")
"""Names with a digit."""

needs_typst = pytest.mark.skipif(
    importlib.util.find_spec("typst") is None,
    reason="requirements-docs.txt is not installed; `make docs-check` installs it",
)


def flat(text):
    return " ".join(text.split())


@needs_typst
def test_it_has_four_pages(tmp_path):
    import typst

    done = subprocess.run(
        [sys.executable, "scripts/site/paper.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    built = (ROOT / done.stdout.strip()).read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", built)) == 4
    assert typst.__version__ in (ROOT / "requirements-docs.txt").read_text()


def test_every_reference_is_cited():
    listed = set(
        re.findall(r"^@\w+\{(\w+),", (FOLDER / "references.bib").read_text(), re.MULTILINE)
    )
    labels = set(re.findall(r"<(\w+)>", TEXT))
    cited = set(re.findall(r"(?<!\w)@(\w+)", CODE.sub("", BODY)))
    assert len(listed) > 10
    assert cited - labels == listed
    assert labels == cited & labels


@pytest.mark.parametrize("key", [key for key, one in SOURCES.items() if "count" not in one])
def test_each_number_is_in_its_file(key):
    one = SOURCES[key]
    assert one["says"] in flat((ROOT / one["file"]).read_text()), one["file"]
    figure = one.get("figure", one["value"])
    assert figure in one["says"]
    if "figure" in one:
        shown = float(one["value"].split()[0])
        digits = len(one["value"].split()[0].partition(".")[2])
        assert round(float(figure), digits) == shown


def test_each_count_is_that_of_the_manual():
    for one in (one for one in SOURCES.values() if "count" in one):
        assert list(ROOT.glob(one["count"])), one
    readme = flat((ROOT / "README.md").read_text())
    assert f"any of {len(list(ROOT.glob('schemes/*.toml')))} GC schemes" in readme


def test_every_number_has_a_source_and_every_source_is_used():
    used = set(re.findall(r'#n\("([\w-]+)"\)', TEXT))
    assert used == set(SOURCES)


def test_no_number_is_typed_into_the_text():
    prose = CODE.sub("", BODY)
    prose = re.sub(r"`[^`]*`|#n\([^)]*\)|image\([^)]*\)|\"[^\"]*\"|//.*", "", prose)
    prose = re.sub(
        r"lines-of\(\s*\([^)]*\)|[\w-]+: [\d.]+(?:pt|em|fr|%)|\.slice\(\d\)|code-of\([^)]*\)",
        "",
        prose,
    )
    for name in NAMES:
        prose = prose.replace(name, "")
    found = [line.strip() for line in prose.splitlines() if re.search(r"(?<![A-Za-z])\d", line)]
    assert found == []


def test_its_code_runs_and_has_the_numbers_of_the_text(capsys):
    import flashgc

    names = {"flashgc": flashgc}
    blocks = [text for kind, text in CODE.findall(BODY) if kind == "python"]
    assert len(blocks) == 2
    for text in blocks:
        exec(compile(text, "flashgc.typ", "exec"), names)
    found = [f"{report.write_amplification:.3f}" for report in names["both"]]
    assert found == [SOURCES["own-greedy"]["value"], SOURCES["own-victim"]["value"]]
    assert capsys.readouterr().out.startswith("7 ")
    assert names["report"].requests["write"] == 1

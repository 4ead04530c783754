"""The notebooks run from start to end, and show what they print."""

import os

import pytest

import notebooks
from in_process import apart

BLESS = bool(os.environ.get("FLASHGC_BLESS"))


@apart
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    done = notebooks.run(path, tmp_path)
    if BLESS:
        notebooks.write(done, path)
    assert notebooks.texts(done) == notebooks.texts(notebooks.read(path))


def test_there_are_three_and_the_page_lists_them():
    page = (notebooks.FOLDER / "README.md").read_text()
    assert len(notebooks.NOTEBOOKS) == 3
    for path in notebooks.NOTEBOOKS:
        assert f"]({path.name})" in page


def test_each_chart_has_its_picture():
    for path in notebooks.NOTEBOOKS:
        outputs = [one for cell in notebooks.read(path)["cells"] for one in cell.get("outputs", [])]
        charts = [one["data"] for one in outputs if "Chart(" in str(one.get("data", ""))]
        assert charts or path.stem == "own-scheme", path
        assert all("image/png" in data for data in charts)

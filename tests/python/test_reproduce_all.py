"""`flashgc reproduce --all`: every paper in turn, and the page that leads to all of them."""

import json
import re

import pytest

import flashgc as package
import in_process
from conftest import PAPERS
from flashgc.reproduction import outcome, papers, together
from own_paper import CLAIMS
from pages import addresses, charts, rows


@pytest.fixture
def three(paper, no_figures, tmp_path, monkeypatch):
    """In place of the papers of the package: two that run, and one that cannot."""
    known = {"one": paper, "two": paper, "wrong": tmp_path / "wrong"}
    original = outcome.reproduce

    def reproduce(name, *given, **named):
        return original(str(known[name]), *given, **named)

    monkeypatch.setattr(papers, "names", lambda: list(known))
    monkeypatch.setattr(outcome, "reproduce", reproduce)
    return paper


def test_a_paper_that_cannot_run_stops_no_other(three, tmp_path):
    steps = []
    done = package.reproduce_all(out=tmp_path / "all", quick=True, progress=steps.append)
    assert list(done.papers) == ["one", "two"]
    assert "there is no paper" in done.errors["wrong"]
    assert [row[0] for row in done.rows()] == ["paper", "one", "two"]
    found = json.loads((tmp_path / "all/index.json").read_text())
    assert [one["paper"] for one in found] == ["own-paper", "own-paper", "wrong"]
    assert found[0]["fails"] == 0
    assert "error" in found[2]
    for name in ("one", "two"):
        assert (tmp_path / "all" / name / "report.html").is_file()
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert steps[-1].label.startswith("two: ")


def test_the_index_leads_to_all_pages(three, tmp_path):
    done = package.reproduce_all(out=tmp_path / "all", quick=True)
    text = (tmp_path / "all/index.html").read_text()
    body = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    links = set(re.findall(r'href="([^"]*)"', body))
    assert links == {"one/report.html", "two/report.html"}
    assert [one for one in addresses(text) if not one.startswith("href=")] == []
    assert "there is no paper" in text
    counts = rows(charts(text)["verdicts"])
    assert sum(row["claims"] for row in counts) == len(done.claims)


def test_claims_that_fail_are_at_its_head(three, tmp_path, monkeypatch):
    (three / "claims.toml").write_text(CLAIMS.replace("low = 1.5", "low = 100.0"))
    done = package.reproduce_all(out=tmp_path / "all")
    text = (tmp_path / "all/index.html").read_text()
    assert len(done.failed) > 1
    assert text.index(f"{len(done.failed)} claims fail") < text.index("Verdicts by paper")


def test_the_status_is_that_of_one(three, flashgc, monkeypatch):
    if in_process.has_drawn():
        pytest.skip("this process has drawn a figure: a command of its own has other papers")
    assert "no paper" in flashgc("reproduce", "--all", "--quick", code=2).err
    monkeypatch.setattr(papers, "names", lambda: ["one"])
    told = flashgc("reproduce", "--all", "--quick")
    assert "index.html" in told.err
    (three / "claims.toml").write_text(CLAIMS.replace("low = 1.5", "low = 100.0"))
    assert "not met without a known reason" in flashgc("reproduce", "--all", code=1).err


def test_all_papers_are_those_of_the_package():
    assert papers.names() == PAPERS
    assert together.papers is papers

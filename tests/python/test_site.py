"""The manual as a site: it builds without a warning, search finds words, and nothing is remote."""

import base64
import html
import importlib.util
import json
import re
import subprocess
import sys
import zlib

import pytest

from conftest import BROWSER, ROOT

PARTS = ("zensical", "griffe", "pymdownx")
REMOTE = re.compile(
    r"""(?:<(?:script|img|iframe|source)\b[^>]*\bsrc|<link\b(?![^>]*canonical)[^>]*\bhref)="?(?:https?:)?//"""
)


def installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


pytestmark = pytest.mark.skipif(
    not all(map(installed, PARTS)),
    reason="requirements-docs.txt is not installed; `make docs-check` installs it",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    done = subprocess.run(
        [sys.executable, "scripts/site/generate.py", "--out", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return folder


def index(site):
    """The search index, from the script that browsers load."""
    text = (site / "search.js").read_text()
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def test_every_page_of_the_manual_is_there(site):
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html")
        if name.name == "README.html":
            name = name.with_name("index.html")
        assert (site / name).is_file(), name


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("copyback", "schemes/"),
        ("gc.trigger.watermark.soft", "configuration.html"),
        ("suspension", "timelines/suspension.html"),
        ("slc-msr", "devices/slc-msr.html"),
        ("run_seeds", "api/runs.html"),
        ("Percentile", "definitions.html"),
    ],
)
def test_search_finds(site, word, page):
    found = [entry["location"] for entry in index(site)["items"]
             if word.lower() in (entry["title"] + entry["text"]).lower()]  # fmt: skip
    assert any(place.startswith(page) for place in found), found[:10]


def test_the_generator_reads_plain_markdown(site):
    manual = site.parent / "manual"
    settings = (manual / "mkdocs.yml").read_text()
    assert "hooks" not in settings
    assert re.search(
        r"^      - fpgc: schemes/fpgc\.md$|^    - fpgc: schemes/fpgc\.md$", settings, re.M
    )
    for page in (manual / "docs").rglob("*.md"):
        text = page.read_text()
        assert text.startswith("# "), page
        assert not re.search(r"^::: ", text, re.MULTILINE), page


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a id="here"></a><a href="b/c.html#there">c</a>')
    (tmp_path / "b").mkdir()
    (tmp_path / "b/c.html").write_text(
        '<a href="../a.html#here">a</a><a href="../gone.html">g</a><img src="gone.svg">'
        '<a href="https://example.org/">e</a>'
    )
    done = subprocess.run(
        [sys.executable, "scripts/site/links.py", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "broken link: a.html: b/c.html#there",
        "broken link: b/c.html: ../gone.html",
        "broken link: b/c.html: gone.svg",
    ]


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_pages_opened_as_files_have_search_and_dark_colours(site, browser):
    asked, wrong = [], []
    tab = browser.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(f"file://{site}/timelines/preemption.html")
    tab.locator(".md-code__button, [data-md-type=copy]").first.wait_for(state="attached")
    before = tab.locator("body").get_attribute("data-md-color-scheme")
    tab.locator("form[data-md-component=palette] label:visible").first.click()
    assert tab.locator("body").get_attribute("data-md-color-scheme") != before
    assert tab.locator(".md-tabs__link").all_inner_texts()[:3] == ["Start", "Learn", "How to"]
    tab.locator(".md-search__button:visible").click()
    field = tab.locator("input:visible")
    # Letter by letter: a field that is drawn again in between must keep them.
    field.press_sequentially("copyback", delay=60)
    tab.get_by_text("The same by copyback").wait_for()
    assert field.input_value() == "copyback"
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked
    assert wrong == []
    tab.close()


def test_nothing_comes_from_another_host(site):
    for page in site.rglob("*.html"):
        assert not REMOTE.search(page.read_text()), page.relative_to(site)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", sheet.read_text()), sheet.name


def test_blocks_of_a_timeline_are_titled(site):
    page = (site / "timelines/preemption.html").read_text()
    for title in ("requests", "timeline", "latency", "counts"):
        assert f'<span class="filename">{title}</span>' in page


def test_lists_and_tables_are_read_as_such(site):
    timelines = (site / "timelines/index.html").read_text()
    assert "<li><code>toml</code>" in timelines
    for page in site.rglob("*.html"):
        assert "<p>|" not in page.read_text(), page.relative_to(site)


def test_every_name_of_the_package_is_on_a_page(site):
    import flashgc

    reference = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    for name in flashgc.__all__:
        assert name == "__version__" or f'id="flashgc.{name}"' in reference, name


def test_a_table_breaks_no_value_and_no_option(site):
    page = (site / "real-programs.html").read_text()
    assert re.search(r"<td>[\d.]+(&nbsp;|\xa0)ms</td>", page)
    assert not re.search(r"<td>[\d.]+ (ms|us|s|%|MiB)</td>", page)
    assert '<span class="whole">--heapallindexed</span>' in page


def test_the_playground_is_there_where_it_was_built(site):
    built = (ROOT / "target" / "playground" / "playground.html").exists()
    assert (site / "playground" / "index.html").exists() == built
    assert ("Open the playground" in (site / "playground.html").read_text()) == built


def test_the_examples_of_the_timelines_are_played_where_they_were_recorded(site):
    built = ROOT / "target" / "films.json"
    assert (site / "assets/films.js").is_file()
    if not built.exists():
        pytest.skip("`scripts/films` records the examples")
    pages = json.loads(built.read_text())
    whole = 0
    for name, films in pages.items():
        page = (site / "timelines" / name).with_suffix(".html").read_text()
        found = re.findall(r'<div class="film" data-head="([^"]*)" data-film="([^"]*)">', page)
        assert len(found) == len(films), name
        assert not films or '<script src="../assets/films.js" defer>' in page
        for (head, packed), film in zip(found, films, strict=True):
            extent = json.loads(html.unescape(head))
            assert extent == film["head"]
            assert zlib.decompress(base64.b64decode(packed)).hex() == film["film"]
            whole += len(head) + len(packed)
    assert sum(map(len, pages.values())) > 100
    assert whole < 500_000


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1400, 400])
def test_an_example_is_played(browser, site, width):
    if not (ROOT / "target" / "films.json").exists():
        pytest.skip("`scripts/films` records the examples")
    wrong = []
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.on("console", lambda said: wrong.append(said.text))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(f"file://{site}/timelines/preemption.html")
    first = tab.locator(".film").first
    first.locator("summary").click()
    first.locator(".step").click()
    assert first.locator(".clock").inner_text().endswith("event 1 of 12")
    for _ in range(20):
        first.locator(".step").click()
    assert "3 requests done, 2 pages programmed" in first.locator(".counted").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []
    tab.close()

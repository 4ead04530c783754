"""Every page that code, data and manual cite exists, with the heading that they name.

A link of a Markdown page is relative to the page; a citation in a comment or a claim is a path from
the root of the repository. Nothing cites a page outside of the repository.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$", re.MULTILINE)
LINK = re.compile(r"\]\(<?([^)\s>]+)")
CITED = re.compile(r"(?<![\w/.-])((?:docs|papers)/[\w./-]+\.md)(?:#([\w-]+))?")
# A file of the engine by its room, or a file of any crate.
MODEL, WATCH = ("device", "drive", "ftl", "gc"), ("stats", "verify")
ROOM = "|".join((*MODEL, *WATCH, "session", "sim"))
CODE = re.compile(rf"`((?:{ROOM}|crates)/[\w/-]+\.rs)`")
# The readers of docs/schemes/own-scheme.md and own-placement.md write these.
TO_WRITE = tuple(
    f"crates/flashgc-model/src/gc/{name}.rs"
    for name in ("victim/oldest_of_emptiest", "placement/generations")
)
# The site makes this page of the list of papers.
MADE_BY_THE_SITE = "papers/README.md"
OUTSIDE = {
    "a page outside of the repository": re.compile(r"\bSEMANTICS\b"),
    # The default folder of traces is a folder, not a page.
    "a file outside of the repository": re.compile(r"(?<![./\w])\.\./shared\b(?!/traces\b(?!/))"),
}


def files() -> list[Path]:
    """The text files of the repository, those that are not yet added included, but this one."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    paths = (ROOT / name for name in sorted(set(listed.split("\0"))))
    found = [path for path in paths if path.suffix in (".md", ".py", ".rs", ".toml")]
    return [path for path in found if path.is_file() and path != Path(__file__).resolve()]


def slugs(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        again = (f"{slug}-{count}" for count in range(1, len(found) + 1))
        found.add(slug if slug not in found else next(one for one in again if one not in found))
    return found


@cache
def anchors(page: Path) -> set[str]:
    return slugs(page.read_text())


def broken(page: Path, anchor: str | None) -> str | None:
    """The problem of a citation of this page and heading, if there is one."""
    if not page.exists():
        return "there is no such file"
    if anchor and page.suffix == ".md" and anchor not in anchors(page):
        return f"the page has no heading #{anchor}; it has {', '.join(sorted(anchors(page)))}"
    return None


def links(path: Path, text: str) -> Iterator[tuple[str, Path, str | None]]:
    """The links of a Markdown page: as written, where they lead, and the heading."""
    for target in LINK.findall(FENCED.sub("", text)):
        if "://" not in target and not target.startswith("mailto:"):
            name, _, anchor = target.partition("#")
            yield target, path.parent / name if name else path, anchor or None


def place(name: str) -> str:
    """The path of a file of code: of any crate, or of the engine by its room."""
    if name.startswith("crates/"):
        return name
    if name.startswith(WATCH):
        return f"crates/flashgc-watch/src/{name}"
    return f"crates/flashgc{'-model' if name.startswith(MODEL) else ''}/src/{name}"


def complaints(path: Path, text: str) -> list[str]:
    found = [f"{name}: {hit[0]}" for name, one in OUTSIDE.items() for hit in one.finditer(text)]
    hits = (hit for hit in CITED.finditer(text) if hit[0] != MADE_BY_THE_SITE)
    cited = [(hit[0], ROOT / hit[1], hit[2]) for hit in hits]
    code = map(place, CODE.findall(text))
    cited += [(name, ROOT / name, None) for name in code if name not in TO_WRITE]
    if path.suffix == ".md":
        cited += links(path, text)
    reasons = ((written, broken(page, anchor)) for written, page, anchor in cited)
    found += [f"{written}: {reason}" for written, reason in reasons if reason]
    return [f"{path.relative_to(ROOT)}: {one}" for one in found]


def test_every_citation_leads_to_a_heading_that_exists() -> None:
    paths = files()
    assert len(paths) > 500
    assert sum(len(CITED.findall(path.read_text())) for path in paths) > 50
    assert sum(len(LINK.findall(path.read_text())) for path in paths) > 500
    found = [one for path in paths for one in complaints(path, path.read_text())]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.rs", "//! docs/schemes/gftl.md#the-time-slice", "no heading #the-time-slice"),
        ("a.rs", "/// See docs/schemes/gtfl.md.", "no such file"),
        ("a.toml", 'place = "papers/pre-gc/README.md#rules"', "no heading #rules"),
        ("a.py", "# docs/reserves.md says why", "no such file"),
        ("docs/a.md", "`next_at_b` (`sim/enters.rs`)", "no such file"),
        ("docs/a.md", "run by `crates/flashgc/tests/timelines.rs`", "no such file"),
        ("docs/a.md", "the [reserve](reserves.md)", "no such file"),
        ("docs/a.md", "the [FIFO model](models.md#fifos)", "no heading #fifos"),
        ("docs/a.md", "from SEMANTICS d", "outside of the repository"),
        ("a.rs", "/// The rows of `../shared/traces/README.md`.", "outside of the repository"),
    ],
)
def test_a_citation_that_leads_nowhere_is_found(name: str, text: str, reason: str) -> None:
    (found,) = complaints(ROOT / name, text)
    assert reason in found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", "//! docs/schemes/gftl.md#the-time-slices"),
        ("docs/a.md", "the [FIFO model](models.md#fifo), [paper](../papers/pre-gc/README.md)"),
        ("docs/a.md", "```toml\nx = 1  # [not a link](nowhere.md)\n```"),
        ("a.py", 'TRACES = "../shared/traces"'),
        ("a.rs", 'format!("docs/schemes/{name}.md")'),
    ],
)
def test_a_good_citation_is_let_through(name: str, text: str) -> None:
    assert complaints(ROOT / name, text) == []


def test_anchors_are_those_of_github() -> None:
    page = "# A b\n## `gc.x`, and *y*\n## [Link](x.md)\n```sh\n# comment\n```\n## A b\n### A-b: c_d"
    assert slugs(page) == {"a-b", "gcx-and-y", "link", "a-b-1", "a-b-c_d"}

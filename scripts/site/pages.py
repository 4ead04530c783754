"""The pages of the manual as plain Markdown: those of docs/, those from elsewhere, and made ones.

The manual is written to be read in the repository. Its links go to files of the repository, some
of them outside docs/. In the site a folder's page is `index.md`, which every generator knows.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import films
import house
import paper
import reference
from markup import for_site

import notebooks

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DOCS = ROOT / "docs"
PICTURE = re.compile(r"(!\[[^\]]*\]\()docs/")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
ASSETS = ("site.css", "iframe-worker.js")
PLAYGROUND = ROOT / "target" / "playground" / "playground.html"
PLAYGROUND_PLACE = "playground/index.html"


def outside() -> dict[str, Path]:
    """Pages that are not in docs/: where the site has them, and where they lie."""
    found = {name: ROOT / name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")}
    for page in sorted(ROOT.glob("papers/*/README.md")):
        found[f"papers/{page.parent.name}.md"] = page
    for page in sorted(ROOT.glob("docs/notebooks/*.ipynb")):
        found[f"notebooks/{page.stem}.md"] = page
    return found


def written() -> dict[str, Path]:
    """Every page that somebody wrote: its place on the site, and its file."""
    inside = {named(path.relative_to(DOCS).as_posix()): path for path in sorted(DOCS.rglob("*.md"))}
    both = inside.keys() & outside().keys()
    if both:
        raise LookupError(f"docs/ has pages of a name that the site makes: {', '.join(both)}")
    return inside | outside()


def named(name: str) -> str:
    """The place of a page: the README of a folder is its index."""
    return re.sub(r"(^|/)README\.md$", r"\1index.md", name)


def text_of(path: Path) -> str:
    """A page as Markdown."""
    return notebooks.page(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")


def papers_index() -> str:
    """The page that lists the reproduced papers by their titles."""
    rows = []
    for name, path in outside().items():
        if name.startswith("papers/"):
            title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            rows.append(f"- [{title}]({PurePosixPath(name).name})")
    return "\n".join(["# Papers", "", "What each paper ran, and what was chosen:", "", *rows, ""])


def relinked(text: str, name: str, source: Path, places: dict[Path, str]) -> str:
    """Links to files of the repository, as links of the site; others become plain words."""
    up = "../" * len(PurePosixPath(name).parent.parts)

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target or target.startswith("mailto:"):
            return match.group(0)
        path = (source.parent / target).resolve()
        if path in places:
            return f"[{words}]({up}{places[path]}{anchor})"
        if path.is_relative_to(ROOT) and path.exists():
            return words if words.startswith("`") else f"{words} (`{path.relative_to(ROOT)}`)"
        return match.group(0)

    # Pictures lie in docs/, which a page from outside it has to name.
    return LINK.sub(link, PICTURE.sub(r"\1", text))


def opened_by(text: str, words: str, place: str) -> str:
    """The page that describes what was built, with a link to it behind the title."""
    title, rest = text.split("\n", 1)
    return f"{title}\n\n**[{words}]({place})**\n{rest}"


def manual() -> dict[str, str]:
    """Every page of the site, as plain Markdown."""
    sources = written()
    places = {path: name for name, path in sources.items()}
    places |= {path: name for name, path in attached().items()}
    pages = {}
    for name, path in sources.items():
        text = text_of(path)
        if name == "playground.md" and PLAYGROUND.exists():
            text = opened_by(text, "Open the playground", PLAYGROUND_PLACE)
        if path == paper.PAGE:
            text = opened_by(text, "Read the paper", paper.PDF.name)
        text = films.with_films(text, name)
        pages[name] = for_site(relinked(text, name, path, places))
    papers = {named("papers/README.md"): papers_index()}
    return pages | papers | reference.pages(ROOT / "python")


def attached() -> dict[str, Path]:
    """The files of docs/ that are not pages: pictures, patches, notebooks to download."""
    return {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*"))
            if path.is_file() and path.suffix != ".md" and path != house.PICTURE}  # fmt: skip


def files() -> dict[str, Path | str]:
    """Every other file of the site: where it lies, or its text."""
    # The site has a new version of the picture in the repository, from the code as it is.
    found: dict[str, Path | str] = {"images/house.svg": house.svg(), **attached()}
    found |= {f"assets/{name}": HERE / name for name in ASSETS}
    paper.build()
    found[f"paper/{paper.PDF.name}"] = paper.PDF
    found |= {films.SCRIPT: films.script(), films.STYLE: films.style()}
    if PLAYGROUND.exists():
        found[PLAYGROUND_PLACE] = PLAYGROUND
    return found

"""Hooks of MkDocs: pages from outside docs/, navigation by folder, and Markdown as it is read here.

The manual is written to be read in the repository. Its links go to files of the repository, some
of them outside docs/; the order of a folder's pages is the order in which its README lists them.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

import house
import reference
from markup import for_site
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

import notebooks

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PICTURE = re.compile(r"(!\[[^\]]*\]\()docs/")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
ASSETS = ("site.css", "worker.js")
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


def generated() -> dict[str, str]:
    """Every page that is not a file of docs/, as text."""
    pages = {name: text_of(path) for name, path in outside().items()}
    try:
        api = reference.pages(ROOT / "python")
    except LookupError as error:
        raise PluginError(str(error)) from None
    return pages | {"papers/README.md": papers_index()} | api


def site_path(path: Path) -> str | None:
    """The place on the site of this file of the repository; None if there is none."""
    elsewhere = {where: name for name, where in outside().items()}
    if path in elsewhere:
        return elsewhere[path]
    if path.is_relative_to(ROOT / "docs") and path.is_file():
        return path.relative_to(ROOT / "docs").as_posix()
    return None


def repository_path(name: str) -> Path:
    """The file that a page of the site was made from."""
    return outside().get(name, ROOT / "docs" / name)


def relinked(text: str, name: str) -> str:
    """Links to files of the repository, as links of the site; others become plain words."""
    folder = repository_path(name).parent
    here = PurePosixPath(name).parent

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target or target.startswith("mailto:"):
            return match.group(0)
        path = (folder / target).resolve()
        place = site_path(path)
        if place is not None:
            up = "../" * len(here.parts)
            return f"[{words}]({up}{place}{anchor})"
        if path.is_relative_to(ROOT) and path.exists():
            return words if words.startswith("`") else f"{words} (`{path.relative_to(ROOT)}`)"
        return match.group(0)

    # Pictures lie in docs/, which a page from outside it has to name.
    return LINK.sub(link, PICTURE.sub(r"\1", text))


def with_playground(text: str) -> str:
    """The page that describes the playground, with a link to it behind the title."""
    title, rest = text.split("\n", 1)
    return f"{title}\n\n**[Open the playground]({PLAYGROUND_PLACE})**\n{rest}"


def listed(folder: str, files: dict[str, str]) -> list[str]:
    """The pages of a folder: its README, the pages that this links to, in order, then the rest."""
    inside = [name for name in files if name.startswith(folder) and name.count("/") == 1]
    head = f"{folder}README.md"
    if head not in inside:
        inside.sort()
        return inside
    order = [head]
    for match in LINK.finditer(files[head]):
        name = folder + match.group(2)
        if name in inside and name not in order:
            order.append(name)
    return order + sorted(set(inside) - set(order))


def expanded(entry: Any, files: dict[str, str]) -> Any:  # noqa: ANN401 - what YAML gives
    """An entry of the navigation with folders replaced by their pages."""
    if isinstance(entry, list):
        return [expanded(inner, files) for inner in entry]
    if isinstance(entry, dict):
        return {title: expanded(inner, files) for title, inner in entry.items()}
    return listed(entry, files) if entry.endswith("/") else entry


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fills the navigation, and makes anchors as the hosts of repositories do."""
    docs = ROOT / "docs"
    files = {path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8")
             for path in sorted(docs.rglob("*.md"))} | generated()  # fmt: skip
    config.nav = expanded(config.nav, files)
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    # The theme would load this script from another host.
    config.extra["polyfills"] = ["assets/worker.js"]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages from outside docs/, the reference, and the site's own style and script."""
    for name, text in generated().items():
        if files.get_file_from_path(name) is not None:
            raise PluginError(f"docs/{name} is in the way of a page that is made")
        files.append(File.generated(config, name, content=text))
    # The site has a new version of the picture in the repository, from the code as it is.
    picture = files.get_file_from_path("images/house.svg")
    if picture is not None:
        files.remove(picture)
    files.append(File.generated(config, "images/house.svg", content=house.svg()))
    for name in ASSETS:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(HERE / name)))
    if PLAYGROUND.exists():
        page = File.generated(config, PLAYGROUND_PLACE, abs_src_path=str(PLAYGROUND))
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page, with links of the site and in the Markdown that MkDocs reads."""
    name = page.file.src_uri
    if name.startswith("api/") or name == "papers/README.md":
        return markdown
    if name == "playground.md" and PLAYGROUND.exists():
        markdown = with_playground(markdown)
    return for_site(relinked(markdown, name))

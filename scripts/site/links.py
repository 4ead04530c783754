"""Checks every link and every anchor of the site, in the pages as they were built.

Links to other hosts are not followed. `python scripts/site/links.py target/site` prints each broken
link with its page, and fails if there is one.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

TAG = re.compile(r"<[a-z][^<>]*>")
ATTRIBUTE = re.compile(r'\s(id|name|href|src)="([^"]*)"')


class Page:
    """The anchors of a page, and what it links to."""

    def __init__(self, text: str) -> None:
        self.anchors: set[str] = set()
        self.links: list[str] = []
        for tag in TAG.findall(text):
            for key, value in ATTRIBUTE.findall(tag):
                if key in ("href", "src"):
                    self.links.append(html.unescape(value))
                else:
                    self.anchors.add(html.unescape(value))


def target(link: str, page: str) -> str:
    """The place on the site that a link of this page leads to."""
    path = unquote(urlsplit(link).path)
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page


def broken(site: Path) -> list[str]:
    """Each broken link, as `page: link`."""
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    pages = {name: Page((site / name).read_text(encoding="utf-8"))
             for name in sorted(files) if name.endswith(".html")}  # fmt: skip
    pages.pop("404.html", None)  # Any address may show it, so that its links are from the root.
    wrong = []
    for name, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = target(link, name)
            anchor = unquote(parts.fragment)
            missing = bool(anchor) and place in pages and anchor not in pages[place].anchors
            if missing or place not in files:
                wrong.append(f"{name}: {link}")
    return wrong


def main() -> int:
    """Prints the broken links of the site that the command names."""
    wrong = broken(Path(sys.argv[1]))
    for line in wrong:
        sys.stderr.write(f"broken link: {line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

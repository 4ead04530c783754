"""Markdown of a paper's folder as HTML, within a page that has nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

_ANCHOR = "about-"
_DEEPEST = 6


def html(text: str, deeper: int = 1) -> str:
    r"""Markdown as HTML: headings `deeper` levels down, and no links to files of elsewhere.

    >>> from flashgc.reproduction import prose
    >>> prose.html("## A *b*\n\n[c](d.md) and <e>")
    '<h3 id="about-a-b">A <em>b</em></h3>\n<p><span>c</span> and &lt;e&gt;</p>\n'
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for at, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + deeper, _DEEPEST)}"
        if token.type == "heading_open":
            token.attrSet("id", _ANCHOR + _slug(tokens[at + 1].content))
        if token.children:
            _links(token.children)
    made: str = reader.renderer.render(tokens, reader.options, {})
    return made.replace("<table>", '<div class="wide prose"><table class="facts">').replace(
        "</table>", "</table></div>"
    )


def _links(tokens: Sequence[Token]) -> None:
    """Links inside the text and to the web stay; others become plain, as pictures do."""
    opened: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            kept = target.startswith(("#", "https://", "http://"))
            opened.append(kept)
            if target.startswith("#"):
                token.attrSet("href", f"#{_ANCHOR}{target[1:]}")
            if not kept:
                token.tag, token.attrs = "span", {}
        elif token.type == "link_close" and opened and not opened.pop():
            token.tag = "span"
        elif token.type == "image":
            token.type, token.tag, token.children = "text", "", None


def _slug(text: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    bare = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*_]", r"\1", text)
    return re.sub(r"[^\w\- ]", "", bare.lower()).replace(" ", "-")

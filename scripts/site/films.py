"""The recordings of the timelines' examples, in front of the first output of each."""

from __future__ import annotations

import base64
import html
import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
FOUND = ROOT / "target" / "films.json"
SHARED = ROOT / "python" / "flashgc" / "pages"
SCRIPTS = (SHARED / "units.js", SHARED / "drive.js", SHARED / "film.js",
           SHARED / "animation.js", HERE / "films.js")  # fmt: skip
FOLDER = "timelines/"
SCRIPT, STYLE = "assets/films.js", "assets/films.css"
STRICT = '"use strict";\n'


def script() -> str:
    """What plays them, as one script with no name for others."""
    texts = (path.read_text(encoding="utf-8").removeprefix(STRICT) for path in SCRIPTS)
    return f"{STRICT}(() => {{\n{''.join(texts)}}})();\n"


def style() -> str:
    """Their style, for the theme of the site."""
    return (HERE / "films.css").read_text(encoding="utf-8")


@cache
def _all() -> dict[str, list[dict[str, Any]]]:
    """The recordings of each page; none where `scripts/films` has not been run."""
    if not FOUND.exists():
        return {}
    pages: dict[str, list[dict[str, Any]]] = json.loads(FOUND.read_text(encoding="utf-8"))
    return pages


def with_films(markdown: str, name: str) -> str:
    """A page of the timelines with its recordings; any other page as it is."""
    films = _all().get(name.removeprefix(FOLDER), []) if name.startswith(FOLDER) else []
    if not films:
        return markdown
    lines = markdown.splitlines()
    for film in sorted(films, key=lambda film: -film["line"]):
        at = film["line"] - 1
        if at >= len(lines) or not lines[at].startswith("```"):
            raise LookupError(f"{name} has changed since its recordings: run scripts/films")
        lines[at:at] = ["", _element(film), ""]
    up = "../" * FOLDER.count("/")
    return "\n".join([*lines, "", f'<script src="{up}{SCRIPT}" defer></script>', ""])


def _element(film: dict[str, Any]) -> str:
    head = html.escape(json.dumps(film["head"], separators=(",", ":")))
    packed = base64.b64encode(zlib.compress(bytes.fromhex(film["film"]), 9)).decode()
    return f'<div class="film" data-head="{head}" data-film="{packed}"></div>'

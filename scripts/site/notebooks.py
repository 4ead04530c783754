"""Notebooks as pages of the site: their cells, each with its output and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_PICTURE = "image/png"


def page(path: Path) -> str:
    """The Markdown of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [part for cell in cells for part in _cell(cell)]
    return "\n\n".join(parts) + "\n"


def _cell(cell: dict[str, Any]) -> list[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        # A notebook is a page of the site, as any other.
        return [text.replace(".ipynb)", ".md)")]
    return [_fenced("python", text), *(_output(one) for one in cell["outputs"])]


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if _PICTURE in data:
        encoded = "".join(data[_PICTURE]).replace("\n", "")
        return f'<img alt="chart" src="data:{_PICTURE};base64,{encoded}">'
    return _fenced("text", "".join(output.get("text") or data.get("text/plain") or ""))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"

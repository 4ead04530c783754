"""The page of an animation: the recording, the scripts that play it, and the run below it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from flashgc.formatting import units
from flashgc.pages import page, provenance
from flashgc.reports.report import Report
from flashgc.results import metrics

SCRIPTS = ("units.js", "drive.js", "film.js", "animation.js", "play.js")
STYLES = ("drive.css", "animation.css")


def whole(head: Mapping[str, Any], packed: bytes, report: Report) -> str:
    """The page."""
    title = f"{report.scheme} on {report.device}"
    script = joined(SCRIPTS)
    return "\n".join([
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">', _policy(script),
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>flashgc: {html.escape(title)}</title>",
        f"<style>{_style()}</style></head>",
        f"<body><h1>flashgc: {html.escape(title)}</h1>",
        f"<p>{html.escape(_extent(head, report))}</p>",
        '<noscript><p class="note">The picture needs JavaScript.</p></noscript>',
        '<p id="wrong" class="note" role="alert" hidden></p>',
        '<main id="animation" data-title="The drive"></main>',
        f"<p>{_KEYS}</p>",
        "<h2>The run</h2>", _run(report),
        page.details(report.scheme, report),
        f'<script type="application/json" id="head">{_json(head)}</script>',
        f'<script type="text/plain" id="film">{base64.b64encode(packed).decode()}</script>',
        f"<script>{script}</script>", "</body></html>\n",
    ])  # fmt: skip


def framed(text: str) -> str:
    """The page inside another, such as a notebook: its styles and scripts reach nothing else."""
    style = "width: 100%; height: 44rem; border: 1px solid #8884;"
    return (
        f'<iframe title="The drive" sandbox="allow-scripts" style="{style}" '
        f'srcdoc="{html.escape(text)}"></iframe>'
    )


_KEYS = (
    "<kbd>Space</kbd> plays and pauses, the arrow keys <kbd>&larr;</kbd> and <kbd>&rarr;</kbd> go "
    "to the event before and to the next one, <kbd>Home</kbd> and <kbd>End</kbd> to the first and "
    "to the last."
)


def _extent(head: Mapping[str, Any], report: Report) -> str:
    """The part of the run that is recorded, as a sentence."""
    done = sum(report.requests.to_dict().values())
    shown, last = len(head["units"]), head["units"][-1]["number"]
    some = "" if shown == last + 1 else f" Units that are drawn: {shown}."
    return (
        f"{units.time(head['from_ns'])} to {units.time(head['to_ns'])} of the measured part, in "
        f"which {units.count(head['requests'])} of its {units.counted(done, 'request')} are done."
        f"{some} The results below are those of the whole run."
    )


def _run(report: Report) -> str:
    again = metrics.again(report)
    facts = [*provenance.facts(report), ("hash of the result", report.result_hash)]
    return provenance.drawn(facts, again)


def joined(names: tuple[str, ...]) -> str:
    """Scripts as one."""
    first = '"use strict";\n'
    return first + "".join(_source(name).removeprefix(first) for name in names)


def _style() -> str:
    return page.STYLE + "".join(map(_source, STYLES))


@cache
def _source(name: str) -> str:
    return (resources.files("flashgc.pages") / name).read_text("utf-8")


def _policy(script: str) -> str:
    """The tag by which a browser runs this script alone, and sends no request whatever."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


def _json(value: Mapping[str, Any]) -> str:
    """JSON inside a page: no text of it ends the element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")

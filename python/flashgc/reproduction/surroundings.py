"""The last sections of the page: workloads, environment, and the hashes of runs and traces."""

from __future__ import annotations

import html

from flashgc.formatting import units
from flashgc.formatting.markup import table
from flashgc.pages import page as pages
from flashgc.reproduction import environment
from flashgc.reproduction.written import Page, predicts


def sections(made: Page) -> list[str]:
    """All of them."""
    return [*_workloads(made), *_environment(made), _runs(made)]


def _workloads(made: Page) -> list[str]:
    rows = [["workload", "source", "compared with the paper"]]
    rows += [[one.label, one.text(), one.differs or predicts(one)] for one in made.sources]
    facts = [["", ""], *([name, text] for name, text in made.facts())]
    listed = [pages.wide(table(rows, "facts prose"))] if made.sources else []
    return ['<h2 id="workloads">Workloads and drives</h2>', table(facts, "facts"), *listed]


def _environment(made: Page) -> list[str]:
    """Versions, packages and traces."""
    packages = ", ".join(f"{name} {version}" for name, version in environment.packages().items())
    facts = [["", ""], *([name, text] for name, text in environment.facts().items()),
             ["Python packages", packages]]  # fmt: skip
    parts = ['<h2 id="environment">Environment</h2>', table(facts, "facts"),
             "<p>No result depends on the machine.</p>"]  # fmt: skip
    if made.traces:
        rows = [["trace", "size", "SHA-256", "origin"]]
        rows += [[one.name, units.size(one.size_bytes), one.sha256, one.what]
                 for one in made.traces]  # fmt: skip
        parts.append(pages.wide(table(rows, "facts")))
    else:
        parts.append("<p>No trace was read: all workloads are synthetic.</p>")
    return parts


def _runs(made: Page) -> str:
    """The hashes by which another reproduction can be compared with this one."""
    rows = [["run", "hash of the configuration", "hash of the result"]]
    rows += [[one.label, one.config_hash, one.result_hash] for one in made.runs]
    title = f"{units.counted(len(made.runs), 'run')} with the hashes of configuration and result"
    return (
        f"<details><summary>{html.escape(title)}</summary>"
        f"<p>The complete report of each run is in the folder runs.</p>"
        f"{pages.wide(table(rows, 'facts'))}</details>"
    )

"""The metadata of an RO-Crate 1.2: which file is what, made of what, by what.

It is one JSON file with fixed terms, written here: the package `rocrate` would add five packages
and the present time.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from typing import Any

NAME = "ro-crate-metadata.json"
_SPEC = "https://w3id.org/ro/crate/1.2"
_LICENSE = "https://www.apache.org/licenses/LICENSE-2.0"
_UNDATED = "1980-01-01"
_TYPES = {
    ".html": "text/html", ".json": "application/json", ".md": "text/markdown",
    ".svg": "image/svg+xml", ".toml": "application/toml", ".txt": "text/plain",
}  # fmt: skip

Entity = dict[str, Any]


def metadata(described: Mapping[str, Any], files: Mapping[str, bytes]) -> Entity:
    """The metadata of a bundle, from its list of papers and its files."""
    listed = described["papers"]
    traces = {trace["sha256"]: trace for paper in listed for trace in paper["traces"]}
    graph = [
        {"@id": NAME, "@type": "CreativeWork", "conformsTo": _at(_SPEC), "about": _at("./")},
        _root(listed, files),
        {"@id": _LICENSE, "@type": "CreativeWork", "name": "Apache License 2.0",
         "identifier": "Apache-2.0"},
        *_software(described),
        *(entity for paper in listed for entity in _paper(paper, files)),
        *(_trace(traces[sha256]) for sha256 in sorted(traces)),
        *(_file(name, files[name]) for name in sorted(files)),
    ]  # fmt: skip
    return {"@context": f"{_SPEC}/context", "@graph": graph}


def _at(name: str) -> Entity:
    return {"@id": name}


def _root(listed: Sequence[Mapping[str, Any]], files: Mapping[str, bytes]) -> Entity:
    names = ", ".join(paper["paper"] for paper in listed)
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Reproductions by flashgc: {names}",
        "description": "Simulated experiments of papers on garbage collection in SSDs, compared "
                       "with what the papers state. README.md tells how to run them again.",
        "datePublished": _date(),
        "license": _at(_LICENSE),
        "hasPart": [_at(name) for name in sorted(files)],
        "mentions": [_at(_action(paper)) for paper in listed],
    }  # fmt: skip


def _date() -> str:
    """The day that SOURCE_DATE_EPOCH names, so that equal content gives equal bytes."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given.isdecimal():
        return _UNDATED
    seconds = min(int(given), 253_402_300_799)
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()


def _software(described: Mapping[str, Any]) -> list[Entity]:
    known = described["environment"]
    return [
        {"@id": "#flashgc", "@type": "SoftwareApplication", "name": "flashgc",
         "version": described["flashgc"], "license": _at(_LICENSE),
         "operatingSystem": known["platform"],
         "softwareRequirements": [_at("#python"), _at("environment/requirements.txt")]},
        {"@id": "#python", "@type": "ComputerLanguage", "name": "Python",
         "version": known["Python"]},
    ]  # fmt: skip


def _action(paper: Mapping[str, Any]) -> str:
    return f"#reproduction-{paper['paper']}"


def _paper(paper: Mapping[str, Any], files: Mapping[str, bytes]) -> list[Entity]:
    """The paper, and its reproduction as an action with inputs and outputs."""
    name = paper["paper"]
    has_url = paper["url"].startswith(("https://", "http://"))
    article = paper["url"] if has_url else f"#paper-{name}"
    went_in = [file for file in sorted(files) if file.startswith(f"papers/{name}/")]
    came_out = [file for file in sorted(files) if file.startswith(f"results/{name}/")]
    traces = [_trace_id(trace) for trace in paper["traces"]]
    return [
        {"@id": article, "@type": "ScholarlyArticle", "name": paper["citation"]},
        {"@id": _action(paper), "@type": "CreateAction", "name": f"Reproduction of {name}",
         "description": f"{paper['summary']} Command: {paper['command']}",
         "instrument": _at("#flashgc"), "about": _at(article),
         "object": [_at(one) for one in [*went_in, *traces]],
         "result": [_at(one) for one in came_out]},
    ]  # fmt: skip


def _trace_id(trace: Mapping[str, Any]) -> str:
    return f"#trace-{trace['sha256'][:16]}"


def _trace(trace: Mapping[str, Any]) -> Entity:
    """A trace, which is not in the archive."""
    about = f" {trace['what']}." if trace["what"] else ""
    return {"@id": _trace_id(trace), "@type": "CreativeWork", "name": trace["name"],
            "description": f"A trace that is not in this archive.{about}",
            "identifier": f"sha256:{trace['sha256']}",
            "size": f"{trace['size_bytes']} B"}  # fmt: skip


def _file(name: str, data: bytes) -> Entity:
    ending = name[name.rfind(".") :]
    return {"@id": name, "@type": "File", "name": name.rpartition("/")[2],
            "encodingFormat": _TYPES.get(ending, "application/octet-stream"),
            "contentSize": str(len(data))}  # fmt: skip

"""One version, the workspace's, everywhere that it is shown."""

import importlib.metadata
import json
import re
import tomllib

import flashgc
from conftest import ROOT


def workspace():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]


def test_the_module_and_the_package_have_the_version_of_the_workspace():
    version = workspace()["version"]
    assert flashgc.__version__ == version
    assert importlib.metadata.version("flashgc") == version


def test_the_command_has_it(flashgc):
    assert flashgc("--version").out == f"flashgc {workspace()['version']}\n"


def test_the_citation_has_it():
    text = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [workspace()["version"]]


def citation():
    """The fields of CITATION.cff, each as text or as a list of texts."""
    text = (ROOT / "CITATION.cff").read_text()
    found = dict(re.findall(r'^([\w-]+): "?([^"\n>]+)"?$', text, re.MULTILINE))
    found["abstract"] = " ".join(re.search(r"^abstract: >-\n((?:  .*\n)+)", text, re.M)[1].split())
    found["authors"] = re.findall(r"^  - name: (.*)$", text, re.MULTILINE)
    found["keywords"] = re.findall(r"^  - (?!name:)(.*)$", text, re.MULTILINE)
    return found


def test_the_archive_is_told_what_the_citation_says():
    told = json.loads((ROOT / ".zenodo.json").read_text())
    cited = citation()
    for here, there in (("title", "title"), ("version", "version"), ("license", "license"),
                        ("description", "abstract"), ("keywords", "keywords")):  # fmt: skip
        assert told[here] == cited[there], here
    assert [creator["name"] for creator in told["creators"]] == cited["authors"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [author["name"] for author in project["authors"]] == cited["authors"]
    assert project["license"] == cited["license"]


def test_the_citation_has_the_date_of_the_release():
    cited = citation()
    heading = f"## {cited['version']} - {cited['date-released']}"
    assert heading in (ROOT / "CHANGELOG.md").read_text().splitlines()


def test_no_other_file_says_a_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        package = tomllib.loads(manifest.read_text())["package"]
        assert package["version"] == {"workspace": True}, manifest.parent.name


def test_the_licence_is_the_one_that_is_declared():
    assert workspace()["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text()
    assert re.search(r"Apache License\s+Version 2\.0, January 2004", text)
    assert "license: Apache-2.0" in (ROOT / "CITATION.cff").read_text()


def test_the_compiler_is_named_exactly_and_is_not_older_than_the_oldest():
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]
    assert list(toolchain) == ["channel"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", toolchain["channel"])
    channel, oldest = (
        tuple(map(int, version.split(".")))
        for version in (toolchain["channel"], workspace()["rust-version"])
    )
    assert channel[:2] >= oldest[:2]

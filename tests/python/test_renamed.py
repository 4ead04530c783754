"""The words that the field does not use are gone: keys, report fields, types and file names."""

import re

import pytest

from conftest import ROOT
from test_citations import files

# Files with old names on purpose: the list of changes, and the messages that name the new key.
ALLOWED = {
    "CHANGELOG.md",
    "crates/flashgc-setup/src/renamed.rs",
    "crates/flashgc/tests/all/renamed_keys.rs",
    "tests/python/test_renamed.py",
    # The list of words that the prose check refuses.
    "scripts/prose.toml",
}
OLD = {
    "keys of the configuration": r"\bgc\.(enter|hold|pace|assist)\b|\bwatermark\.background\b"
    r"|\bidle\.mark\b|\bworkload\.alike\b|^\[(gc\.)?(enter|hold|pace|assist)\b"
    r"|^(enter|hold|pace|assist)\.(use|[a-z-]+\.)",
    "choices": r"[\"`]quanta[\"`]|\.quanta\b",
    "fields of a report": r"\bassist_(moved|calls|victims|wasted|busy_ns)\b|\bassist\.\w+_ns\b"
    r"|\b(gc_)?hold_ns\b|\bidle_jobs\b|\bgc\.turns\b|\bseeds\.figures\b",
    "types": r"\b(Enter|Entering|HoldChoice|Pace|Quanta|QuantaKeys|Assist|AssistSlot|Inbound"
    r"|Alike|AlikePlan|AlikeOverwrites)\b",
    "files": r"\b(enter|hold|pace|assist|turns|alike)\.rs\b"
    r"|\b(hard-mark|look-alikes|turns|hold)\.md\b"
    r"|\blook_alikes\.py\b",
    "workloads": r"\b[Ll]ook[- _]alikes?\b(?! (each|one|to))",
}


@pytest.mark.parametrize("kind", OLD)
def test_no_old_name_is_left(kind):
    pattern = re.compile(OLD[kind], re.MULTILINE)
    left = []
    for path in files():
        name = str(path.relative_to(ROOT))
        if name in ALLOWED:
            continue
        left += [f"{name}: {hit[0]}" for hit in pattern.finditer(path.read_text())]
        left += [f"{name}: the file's name" for _ in pattern.finditer(name)]
    assert not left, "\n".join(left)


def test_the_pattern_list_finds_old_names():
    for kind, sample in {
        "keys of the configuration": 'gc.enter.use = "never"',
        "choices": 'use = "quanta"',
        "fields of a report": "pages.assist_moved",
        "types": "pub struct Enter {",
        "files": "the page hard-mark.md",
        "workloads": "a look-alike",
    }.items():
        assert re.search(OLD[kind], sample, re.MULTILINE), kind

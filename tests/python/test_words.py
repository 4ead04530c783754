"""What users read is plain English: patterns that have crept in before are kept out.

The check is scripts/prose.py, and its patterns are in scripts/prose.toml.
"""

import re
import subprocess
import sys

import pytest

from conftest import ROOT, script_of

prose = script_of("prose")
LISTS, RULES = prose.settings()
BAD = "requests get in between copies"


def found(path, comments=False):
    return [(one.line, one.words) for one in prose.check(path, RULES, comments)]


def test_what_users_read_is_plain_english():
    done = subprocess.run(
        [sys.executable, "scripts/prose.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_passed_over():
    checked = prose.files(LISTS["pages"] + LISTS["messages"])
    assert {path.suffix for path in checked} == {".md", ".rs", ".py", ".toml"}
    shown = "".join(prose.prose(path, path.read_text()) for path in checked)
    assert len(shown.replace(".", "").split()) > 50_000
    for patterns in LISTS.values():
        assert all(prose.files([pattern]) for pattern in patterns)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_every_rule_finds_its_example_and_not_its_advice(rule):
    assert rule.pattern.search(rule.example)
    assert rule.instead
    assert not rule.pattern.search(rule.instead)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("page.md", f"# A page\n\n```\ncode\n```\nHere {BAD}.\n", 6),
        ("page.md", f"First\n\n{BAD.replace(' get ', chr(10) + 'get ')}\n", 4),
        ("page.md", f"| a | b |\n|---|---|\n| x | {BAD} |\n", 3),
        ("CHANGELOG.md", f"# C\n\n## New\n{BAD}\n\n## Old\n{BAD}\n", 4),
        ("code.rs", f'fn f() {{\n    // {BAD}\n    g("{BAD}");\n}}\n', 3),
        ("code.rs", 'fn f() {\n    g("requests get \\\n        in between");\n}\n', 2),
        ("code.py", f'"""{BAD}."""\n# {BAD}\nx = f"{BAD} {{y}}"\n', 3),
        ("code.py", 'x = (\n    "requests get "\n    "in between"\n)\n', 2),
        ("preset.toml", f'[about]\nnotes = """\nOne.\n{BAD}"""\n[gc]\nuse = "{BAD}"\n', 4),
        ("preset.toml", f"[gc]\nuse = 1 # {BAD}\n", 2),
    ],
)
def test_old_wording_is_found_with_its_line(tmp_path, name, text, line):
    path = tmp_path / name
    path.write_text(text)
    assert found(path) == [(line, "get in")]


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("code.rs", f'/// {BAD}\n///\n/// get\n/// in\nfn f() {{ g("{BAD}") }}\n', [1, 3]),
        ("code.rs", f"#[cfg(test)]\nmod tests {{\n    // {BAD}\n}}\n", [3]),
        ("code.py", f'"""One.\n\n{BAD}.\n"""\nx = "{BAD}"  # {BAD}\n', [3, 5]),
    ],
)
def test_comments_are_checked_apart(tmp_path, name, text, lines):
    path = tmp_path / name
    path.write_text(text)
    assert found(path, comments=True) == [(line, "get in") for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        f"```sh\n{BAD}\n```\n",
        f"`{BAD}`\n",
        "[a page](get in)\n",
        "They get\n\nin\n",
        "- they get\n- in\n",
    ],
)
def test_code_and_separate_texts_are_not_prose(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    assert found(path) == []


def test_the_command_names_the_place_and_the_better_wording(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"First.\n{BAD}\n")
    done = subprocess.run(
        [sys.executable, "scripts/prose.py", str(path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f'{path}:2: "get in": use "preempts" or "is served"'


def test_the_table_of_words_names_keys_that_exist():
    manual = (ROOT / "docs/configuration.md").read_text()
    report = (ROOT / "docs/definitions.md").read_text()
    rows = [row.split(" | ") for row in (ROOT / "docs/words.md").read_text().splitlines()]
    keys = [key for row in rows if len(row) == 4 for key in re.findall("`([^`]+)`", row[2])]
    assert len(keys) > 100
    for key in keys:
        name, _, value = key.partition(" = ")
        ends = (f"`{name}", f"`.{name.split('.')[-1]}`", f"`{name.split('.')[-1]}`")
        texts = (manual, report)
        assert name.startswith(("flashgc ", ".")) or any(e in t for e in ends for t in texts), key
        assert value in manual, key

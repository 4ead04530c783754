"""What all commands have: help, examples, completion, and lists of presets."""

import pytest

COMMANDS = [
    [], ["run"], ["compare"], ["advise"], ["tune"], ["calibrate"], ["explain"], ["animate"],
    ["pts"], ["report"], ["serve"], ["drive"], ["drive", "save"],
    ["drive", "info"],
    ["trace"],    ["trace", "info"], ["trace", "convert"], ["trace", "cut"], ["trace", "merge"],
    ["trace", "generate"], ["schema"], ["sweep"], ["schemes"], ["devices"], ["workloads"],
    ["convert"], ["sweep", "status"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_shows_an_example(flashgc, command):
    text = flashgc(*command, "--help").out
    assert "Example:" in text
    assert "flashgc " + " ".join(command) in text


@pytest.mark.parametrize("command", [[], ["drive"], ["sweep"], ["trace"]], ids=" ".join)
def test_a_group_without_arguments_prints_its_help(flashgc, command):
    found = flashgc(*command, code=2).out
    assert " ".join(["flashgc", *command, "[OPTIONS] COMMAND"]) in found
    assert "Example:" in found


@pytest.mark.parametrize("command", [["run"], ["drive"], ["compare"]], ids=" ".join)
def test_the_help_of_a_flag_names_no_type(flashgc, command):
    assert "bool" not in flashgc(*command, "--help").out


@pytest.mark.parametrize("kind", ["schemes", "devices"])
def test_presets_are_listed_and_printed(flashgc, kind):
    listed = flashgc(kind, "--json").json
    table = flashgc(kind).out
    for entry in listed:
        assert entry["name"] in table
        assert entry["source"]
    name = listed[0]["name"]
    assert flashgc(kind, name).out.strip() == listed[0]["text"].strip()
    assert flashgc(kind, name, "--json").json == listed[0]


def test_the_choices_of_every_slot_are_listed(flashgc):
    slots = flashgc("schemes", "--slots", "--json").json
    assert [slot["name"] for slot in slots] == [
        "trigger", "erase", "victim", "copy", "placement", "blocking", "preemption", "pacing",
        "background",
    ]  # fmt: skip
    text = " ".join(flashgc("schemes", "--slots").out.split())
    for slot in slots:
        assert slot["question"] in text
        assert all(choice["about"] in text for choice in slot["choices"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("flashgc run ol", "oltp"),
        ("flashgc run oltp --scheme wear-a", "wear-aware"),
        ("flashgc run oltp --device slc-m", "slc-msr"),
        ("flashgc compare oltp --schemes greedy,fi", "greedy,fifo"),
        ("flashgc trace convert a b --to blkr", "blkreplay"),
        ("flashgc trace convert a b --to di", "disksim"),
        ("flashgc schemes cost", "cost-benefit"),
        ("flashgc reproduce par", "parallel-gc"),
        ("flashgc reproduce parallel-gc/table-3,5a,table-5", "parallel-gc/table-3,5a,table-5"),
    ],
)
def test_the_shell_completes_names(flashgc, words, expected):
    asked = {
        "_FLASHGC_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    assert flashgc(env=asked).out.split() == [expected]


def test_completion_can_be_shown(flashgc):
    # The shell is named: a test runner may have none among its parents.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = flashgc("--show-completion", "bash", env=named).out
    assert "_FLASHGC_COMPLETE=complete_bash" in shown


@pytest.mark.parametrize("area", ["inf", "nan", "0"])
def test_the_area_of_a_die_is_above_zero_and_finite(flashgc, area):
    refused = flashgc("devices", "client-tlc", "--registers", "4", "--die-mm2", area, code=2)
    assert "die" in refused.err


@pytest.mark.parametrize("more", ["--worst-case", "--facts"])
def test_options_that_print_another_table_each_exclude_each_other(flashgc, more):
    refused = flashgc("devices", "slc-msr", "--registers", "4", more, code=2).err
    assert "--registers" in refused
    assert more in refused
    assert "exclude each other" in refused

"""Every option of fio has an outcome, and the manual has the outcomes of the code."""

import shutil
import subprocess

import pytest

import table
from flashgc.conversion import fio_keys


def test_no_option_of_fios_manual_is_forgotten():
    names = table.manual()
    assert len(names) == len(set(names)) > 350
    assert [name for name in names if name not in fio_keys.KNOWN] == []


def test_every_option_is_known_in_one_way():
    assert len(fio_keys.KNOWN) == len(set(fio_keys.KNOWN))
    assert set(fio_keys.ALIASES.values()) <= set(fio_keys.KNOWN) - set(fio_keys.ALIASES)


def test_the_table_of_the_manual_is_that_of_the_code():
    """`python tests/fio/table.py` writes it."""
    assert table.of_page(table.PAGE.read_text()) == table.text()


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_no_option_of_the_installed_fio_is_forgotten():
    done = subprocess.run(["fio", "--cmdhelp"], capture_output=True, text=True, check=True,
                          timeout=60)  # fmt: skip
    names = [line.split(":")[0].strip() for line in done.stdout.splitlines() if ":" in line]
    assert len(names) > 100
    assert [name for name in names if name not in fio_keys.KNOWN] == []

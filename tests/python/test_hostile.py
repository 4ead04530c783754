"""Faults of shells, terminals and file systems: the command never prints a traceback."""

import os
import re
import stat
import subprocess
import sys

import pytest

import flashgc as package
from conftest import COMMAND, LONG, ROOT, SMALL


def shell(folder, text, **env):
    """A line for the shell, in which `flashgc` is the command: status, output and errors."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; flashgc() {{ '{COMMAND}' \"$@\"; }}; {text}"],
        cwd=folder,
        capture_output=True,
        env={**os.environ, **env},
        timeout=120,
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def words_of(text):
    """The words of a line of the shell behind `flashgc`, as bash gives them to a program."""
    split = subprocess.run(["bash", "-c", f"flashgc() {{ printf '%s\\0' \"$@\"; }}; {text}"],
                           capture_output=True, check=True).stdout  # fmt: skip
    return [os.fsdecode(word) for word in split.split(b"\0")[:-1]]


@pytest.mark.parametrize(
    ("text", "status", "word"),
    [
        ("flashgc run small.toml >&-", 2, "standard output is closed"),
        ("flashgc run small.toml --json >&-", 2, "standard output is closed"),
        ("flashgc --version >&-", 2, "standard output is closed"),
        ("flashgc trace convert r.spc - --to csv >&-", 2, "standard output is closed"),
        ("flashgc trace convert r.spc out.csv --to csv >&-", 0, "3,000 rows"),
        ("flashgc run small.toml 2>&-", 0, ""),
        ("flashgc run nothing.toml 2>&-", 2, ""),
        ("flashgc run --nothing 2>&-", 2, ""),
        ("flashgc run small.toml <&-", 0, ""),
        ("flashgc trace info - <&-", 2, "empty"),
        ("flashgc run small.toml <&- >&- 2>&-", 2, ""),
        ("flashgc run small.toml > /dev/full", 2, "no space left"),
        ("flashgc --help > /dev/full", 2, "no space left"),
        ("flashgc run nothing.toml 2> /dev/full", 2, ""),
        ("flashgc run --nothing 2> /dev/full", 2, ""),
        ("flashgc run small.toml | true", 0, ""),
        ("flashgc run --help | true", 0, ""),
        ("flashgc schemes | true", 0, ""),
        ("flashgc schemes --json | head -1 > first", 0, ""),
    ],
)
def test_streams_that_are_closed_full_or_not_read(tmp_path, small, spc, text, status, word):
    spc.rename(tmp_path / "r.spc")
    code, _, err = shell(tmp_path, text)
    assert (code, word in err) == (status, True), err


def test_an_error_does_not_move_to_standard_output_when_its_own_is_closed(tmp_path):
    assert shell(tmp_path, "flashgc run nothing.toml 2>&-") == (2, "", "")


@pytest.mark.parametrize(
    "text",
    [
        "flashgc run small.toml --json --gc-log /dev/stdout",
        "flashgc run small.toml --json --series /dev/fd/1 | cat",
        "flashgc run small.toml --json --timeline /proc/self/fd/1",
        "flashgc run small.toml --json --request-log named.csv",
        "flashgc run small.toml --json --gc-log shown > shown",
        "flashgc convert page.parameters --json --out /dev/stdout",
    ],
)
def test_json_has_standard_output_for_itself(tmp_path, small, text):
    (tmp_path / "named.csv").symlink_to("/dev/stdout")
    code, out, err = shell(tmp_path, text)
    assert (code, out) == (2, "")
    assert "is the same file; give --" in " ".join(re.sub("[│╭╰─╮╯]", "", err).split())


def test_the_null_device_takes_both(tmp_path, small):
    assert shell(tmp_path, "flashgc run small.toml --json --gc-log /dev/null > /dev/null")[0] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run small.toml --out ''", "the name is empty; give one"),
        ("report ran '' --out again", "the name of a result is empty"),
        ("sweep ''", "the name is empty; give one"),
        ("tune ''", "the name of the configuration is empty"),
        ("run ''", "the name of the configuration is empty"),
        ("run small.toml --trace ''", "the name of the trace is empty"),
        ("calibrate '' --device slc-msr", "the name is empty; give one"),
        ("trace fit r.spc --json", "add --check, or omit them"),
        ("trace fit r.spc --seeds 2", "add --check, or omit them"),
        ("trace merge r.spc r.spc", "r.spc is read, and would be replaced by the result"),
        ("run small.toml --plan --blame", "cannot be combined with --blame"),
        ("run small.toml --plan --untimed", "cannot be combined with --untimed"),
        ("run small.toml --plan --over-time --out o", "cannot be combined with --"),
        ("schemes greedy --slots", "cannot be combined with a name; omit one of them"),
        ("devices slc-msr --die-mm2 5", "add --registers N, or omit it"),
        ("devices slc-msr --registers 2 --die-mm2 0", "must be a number from 0.1, got 0"),
        ("sweep status --store r.spc", "r.spc is a file, not a folder of results"),
        ("top nothing", "'nothing': no drive answers there: no such file or directory"),
        ("reproduce parallel-gc --traces r.spc", "error: r.spc is not a folder"),
    ],
)
def test_what_has_no_effect_or_no_name_is_refused(flashgc, tmp_path, small, spc, text, words):
    spc.rename(tmp_path / "r.spc")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    said = re.sub("[│╭╰─╮╯]", "", flashgc(*words_of(f"flashgc {text}"), code=2).err)
    assert words in " ".join(said.split())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("trace cut r.spc x.bz2 --rows 10", "x or x.gz or x.zst"),
        ("trace convert r.spc x.csv.xz --to csv", "x.csv or x.csv.gz or x.csv.zst"),
        ("trace convert r.spc x.csv.GZ --to csv", "x.csv or x.csv.gz or x.csv.zst"),
        ("trace merge r.spc r.spc x.zip --to csv", "x or x.gz or x.zst"),
        ("trace generate small.toml x.lz4", "x or x.gz or x.zst"),
        ("run small.toml --gc-log x.csv.gz", "x.csv"),
        ("run small.toml --series x.csv.zst", "x.csv"),
        ("run small.toml --timeline x.pftrace.bz2", "x.pftrace"),
    ],
)
def test_an_ending_of_a_compressed_file_is_kept_or_refused(
    flashgc, tmp_path, small, spc, text, names
):
    spc.rename(tmp_path / "r.spc")
    before = sorted(tmp_path.iterdir())
    said = flashgc(*text.split(), code=2).err
    assert f"  = help: name it {names}\n" in said
    assert sorted(tmp_path.iterdir()) == before


DRAWN = (
    "compare small.toml --schemes greedy,fifo",
    "schemes",
    "workloads",
    "run --help",
    "run small.toml --seeds 2",
)
"""Commands whose tables and help depend on the terminal."""


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "nonsense"},
    ],
    ids=str,
)
def test_odd_locales(tmp_path, small, env):
    # Python reads these at its start, which takes longer than the commands: tables, and help.
    for text in (DRAWN[0], "run --help"):
        code, out, err = shell(tmp_path, f"flashgc {text}", **env)
        assert code == 0, err
        assert out


@pytest.mark.parametrize(
    "env",
    [
        {"COLUMNS": "0"},
        {"COLUMNS": "1"},
        {"COLUMNS": "-5"},
        {"COLUMNS": "wide"},
        {"TERM": ""},
        {"TERM": "nonsense"},
    ],
    ids=str,
)
def test_odd_terminals(flashgc, small, env):
    for text in DRAWN:
        assert flashgc(*text.split(), env=env).out


@pytest.mark.parametrize(
    "text",
    [
        "flashgc run $'\\xff\\xfe.toml'",
        "flashgc run $(printf 'x%.0s' {1..5000})",
        "flashgc run ''",
        "flashgc run empty",
        "flashgc run small.toml --scheme ''",
        "flashgc run small.toml --scheme ./",
        "flashgc run small.toml --device $'\\xff'",
        "flashgc run small.toml --set $'seed=\\xff'",
        "flashgc run small.toml --set =",
        "flashgc run small.toml --set seed",
        "flashgc run small.toml --drive empty",
        "flashgc run small.toml --drive junk",
        "flashgc run small.toml --drive .",
        "flashgc run small.toml --gc-log ''",
        "flashgc run small.toml --gc-log /",
        "flashgc run small.toml --gc-log loop",
        "flashgc run small.toml --request-log ''",
        "flashgc run small.toml --request-log /",
        "flashgc run small.toml --request-log junk",
        "flashgc run small.toml --request-log loop.csv",
        "flashgc run small.toml --timeline ''",
        "flashgc run small.toml --timeline /",
        "flashgc run small.toml --timeline loop",
        "flashgc run small.toml --timeline a.pftrace --timeline-window ''",
        "flashgc run small.toml --timeline a.pftrace --timeline-window many",
        "flashgc run small.toml --timeline a.pftrace --timeline-window 2s..1s",
        "flashgc run small.toml --timeline a.pftrace --timeline-units ''",
        "flashgc run small.toml --timeline a.pftrace --timeline-units 9999999999",
        "flashgc run small.toml --timeline a.pftrace --timeline-units 7",
        "flashgc run small.toml --timeline-units 0",
        "flashgc run small.toml --out loop",
        "flashgc run small.toml --series a.csv --series-interval ''",
        "flashgc run replay.toml --trace junk",
        "flashgc run replay.toml --trace empty",
        "flashgc run replay.toml --trace r.spc --sort-window many",
        "flashgc run replay.toml --trace $'\\xff'",
        "flashgc trace info junk",
        "flashgc trace convert r.spc '' --to csv",
        "flashgc trace convert r.spc $'no/\\xff' --to csv",
        "flashgc trace merge r.spc loop --to csv",
        "flashgc drive info junk",
        "flashgc drive save small.toml /",
        "flashgc reproduce nothing --out loop",
        "flashgc reproduce ''",
        "flashgc schemes $'\\xff'",
        "flashgc workloads ''",
        "flashgc trace fit junk",
        "flashgc compare small.toml --schemes $'\\xff'",
        "flashgc run small.toml --seed 99999999999999999999999999",
        "flashgc run small.toml --set seed=3.7",
        "flashgc run small.toml --set seed=1e3",
        "flashgc run small.toml --set seed=nan",
        "flashgc run small.toml --set seed=true",
        "flashgc run small.toml --jobs 0",
    ],
)
def test_nonsense_has_status_2_and_leaves_nothing(flashgc, tmp_path, small, replay, spc, text):
    spc.rename(tmp_path / "r.spc")
    (tmp_path / "empty").touch()
    (tmp_path / "junk").write_bytes(bytes(range(256)) * 300)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    before = sorted(tmp_path.iterdir())
    done = flashgc(*words_of(text), code=2)
    if text != "flashgc run empty":
        assert "flashgc itself" not in done.err
    assert done.out == ""
    assert done.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("value", [3.7, 3.0, True, -1, float("nan"), "7", 1 << 70, None.__class__])
def test_a_seed_that_is_no_whole_number_is_refused(value):
    with pytest.raises(package.ConfigError, match="seed"):
        package.run(SMALL, seed=value)
    with pytest.raises(package.ConfigError, match="seed"):
        package.run(SMALL, set={"seed": value})


@pytest.mark.parametrize("value", [2.5, True, 0, -1, "2"])
def test_counts_that_are_no_whole_numbers_are_refused(value):
    with pytest.raises(package.ConfigError, match="seeds must be a whole number from 1"):
        package.run_seeds(SMALL, value)
    with pytest.raises(package.ConfigError, match="jobs must be a whole number from 1"):
        package.compare(SMALL, ["greedy"], jobs=value)


def test_outputs_are_written_through_links_and_keep_their_permissions(
    flashgc, tmp_path, small, spc
):
    (tmp_path / "there").mkdir()
    (tmp_path / "o").mkdir()
    outputs = {
        "gc.csv": ["run", small, "--gc-log"],
        "series.csv": ["run", small, "--series"],
        "requests.csv": ["run", small, "--request-log"],
        "requests.parquet": ["run", small, "--request-log"],
        "run.pftrace": ["run", small, "--timeline"],
        "t.csv": ["trace", "convert", spc, "--to", "csv"],
        "made.load": ["trace", "generate", small],
        "d.drive": ["drive", "save", small],
    }
    for name, command in outputs.items():
        target = tmp_path / "there" / name
        target.write_text("of yesterday")
        target.chmod(0o640)
        (tmp_path / name).symlink_to(f"there/{name}")
        flashgc(*command, name)
        assert (tmp_path / name).is_symlink(), name
        assert target.read_bytes() != b"of yesterday", name
        assert stat.S_IMODE(target.stat().st_mode) == 0o640, name
    (tmp_path / "o/report.json").symlink_to("../there/report.json")
    flashgc("run", small, "--out", "o")
    assert (tmp_path / "o/report.json").is_symlink()
    assert (tmp_path / "there/report.json").is_file()
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(flashgc, tmp_path, small):
    target = tmp_path / "gc.csv"
    target.write_text("of yesterday")
    target.chmod(0o400)
    assert "permission denied" in flashgc("run", small, "--gc-log", target, code=2).err
    assert target.read_text() == "of yesterday"


def test_two_runs_into_one_folder(tmp_path, small):
    command = [COMMAND, "run", small, "--out", "o", "--gc-log", "gc.csv"]
    both = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [child.wait() for child in both] == [0, 0]
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"small.toml", "gc.csv", "report.html", "report.json", "curves.json"}


def test_zstd_is_written_with_a_checksum_and_damage_is_found(flashgc, tmp_path, spc):
    flashgc("trace", "convert", spc, "t.csv.zst", "--to", "csv")
    data = bytearray((tmp_path / "t.csv.zst").read_bytes())
    assert data[4] & 4, "the frame's header says that there is a checksum"
    flashgc("trace", "info", "t.csv.zst", "--format", "csv")
    data[-1] ^= 1
    (tmp_path / "t.csv.zst").write_bytes(data)
    done = flashgc("trace", "info", "t.csv.zst", "--format", "csv", code=2)
    assert "the zstd stream cannot be decompressed" in done.err


def test_an_interval_that_would_fill_the_disk_is_refused(flashgc, tmp_path, small):
    done = flashgc("run", small, "--series", "s.csv", "--series-interval", "1 ns", code=2)
    assert "`1 ns` gives more than 1000000 rows" in done.err
    assert (done.out, list(tmp_path.iterdir())) == ("", [small])
    least = re.search(r"give at least `(.+)`", done.err).group(1)
    if LONG:  # a million rows
        flashgc("run", small, "--series", "s.csv", "--series-interval", least)


def test_a_request_larger_than_the_drive_is_refused_or_counted(flashgc, replay, tmp_path):
    (tmp_path / "far.spc").write_text("0,8,4096,w,0.1\n0,0,1000000000000,w,0.2\n0,8,4096,w,0.3\n")
    done = flashgc("run", replay, "--trace", "far.spc", code=2)
    for part in ("far.spc:2", "1000000000000 bytes", "on-bad-line skip"):
        assert part in done.err
    skip = ("--on-bad-line", "skip", "--json")
    report = flashgc("run", replay, "--trace", "far.spc", *skip).json
    assert (report["bad_rows"], report["requests"]["write"]) == (1, 2)


def test_run_sorts_rows_as_its_message_advises(flashgc, replay, tmp_path):
    (tmp_path / "late.spc").write_text("0,8,4096,w,0.2\n0,8,4096,w,0.1\n")
    done = flashgc("run", replay, "--trace", "late.spc", code=2)
    window = re.search(r'--sort-window "(.+?)"', done.err).group(1)
    for command in (["run"], ["compare", "--schemes", "greedy,fifo"]):
        flashgc(*command, replay, "--trace", "late.spc", "--sort-window", window)
    flashgc("drive", "save", replay, "d", "--trace", "late.spc", "--sort-window", window)


FAULT = """
import sys
sys.argv = ["flashgc", "run", "small.toml", "--seed", "7"]
import flashgc._engine as engine
def run(*_):
    {0}
engine.run = run
from flashgc.cli import main
main()
"""


@pytest.mark.parametrize(
    "line", ["engine.fail_as_a_fault_does()", "raise KeyError('run')"], ids=["engine", "package"]
)
def test_a_fault_of_flashgc_has_status_70_and_says_what_to_report(tmp_path, small, line):
    clean = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    done = subprocess.run(
        [sys.executable, "-c", FAULT.format(line)], cwd=tmp_path, capture_output=True, env=clean
    )
    err = done.stderr.decode()
    assert done.returncode == 70, err
    assert err.startswith("error: flashgc itself has failed: ")
    for word in (package.__version__, "flashgc run small.toml --seed 7", "configuration", "seed"):
        assert word in err
    assert "Traceback" not in err
    assert "stack backtrace" not in err


def test_a_fault_of_the_engine_is_no_error_of_the_configuration():
    with pytest.raises(package.InternalError, match="a fault that a test asked for") as caught:
        package._engine.fail_as_a_fault_does()
    assert isinstance(caught.value, package.FlashgcError)
    assert not isinstance(caught.value, (package.ConfigError, package.RunError))


ELSEWHERE = {
    "--format": "all that read traces",
    "--to": "trace convert",
    "--schemes": "compare",
    "--traces": "reproduce",
    "--out": "run",
    "--trace": "run",
    "--fresh": "reproduce",
    "--registers": "devices",
    "--worst-case": "devices",
    "--check": "trace fit",
    "--check-wait": "run",
    "--seeds": "run",
    "--gc-log": "run",
    "--series": "run",
    "--request-log": "run",
    "--timeline": "run",
    "--timeline-window": "run",
    "--timeline-units": "run",
    "--requests": "animate",
    "--window": "animate",
    "--units": "animate",
    "--device": "run",
    "--scheme": "run",
    "--set": "run",
    "--unset": "run",
    "--over-time": "run",
    "--slots": "schemes",
}
"""Options that are advised only by the command that has them, or that say which one it is."""


OTHERS = {"--version", "--exit-with-parent"}
"""Options of every command, and of a program that the package starts."""


def advised():
    """The options and keys that texts of the package advise, with where they do."""
    sources = [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/flashgc/**/*.py")]
    for path in sources:
        # The random histories are a program of their own.
        if "flashgc-histories" in path.parts:
            continue
        # The options of fio's command line are fio's, and `python -m flashgc.native` has its own.
        if path.parent.name in {"fio", "native"}:
            continue
        text = path.read_text()
        text = re.split(r"\n#\[cfg\(test\)\]\nmod tests", text)[0]
        lines = [line for line in text.splitlines() if not line.strip().startswith(("//", "#"))]
        for found in re.finditer(r"(?:\s|`|\"|\\n)(--[a-z][a-z-]+)\b", "\n".join(lines)):
            yield path, found.group(1)


def printing(source):
    """The commands that print the messages of a source."""
    if {"flashgc-block", "flashgc-nbdkit"} & set(source.parts):
        return ["serve"]
    # Each command that runs a configuration prints the messages of the engine.
    return ["run", "compare", "drive save"]


def test_every_option_that_is_advised_exists_where_it_is_advised(flashgc):
    commands = ["run", "compare", "advise", "tune", "calibrate", "explain", "animate", "pts",
                "report", "serve", "top", "drive save", "reproduce", "devices", "workloads",
                "schemes", "trace info", "trace convert", "trace fit", "trace merge", "convert",
                "sweep", "fio"]  # fmt: skip
    helps = {name: flashgc(*name.split(), "--help").out for name in commands}
    everywhere = "".join(helps.values())
    for source, option in advised():
        assert re.search(rf"{option}\b", everywhere) or option in OTHERS, (source, option)
        if source.suffix == ".rs" and option not in ELSEWHERE:
            for name in printing(source):
                assert re.search(rf"{option}\b", helps[name]), (source, option, name)


def test_every_key_that_is_advised_is_in_the_manual():
    manual = (ROOT / "docs/configuration.md").read_text()
    tables = "device|gc|workload|precondition|engine"
    for path in ROOT.glob("crates/*/src/**/*.rs"):
        text = re.split(r"\n#\[cfg\(test\)\]\nmod tests", path.read_text())[0]
        lines = [line for line in text.splitlines() if not line.strip().startswith("//")]
        for found in re.finditer(rf"`((?:{tables})\.[a-z_.]+[a-z])[`=]", "\n".join(lines)):
            assert found.group(1) in manual, (path.name, found.group(1))

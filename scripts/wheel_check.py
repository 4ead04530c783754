"""Installs a wheel in an empty environment, away from the source, and runs it.

    scripts/wheel_check.py target/wheels/flashgc-*.whl [--same-as .venv/bin/flashgc]

Prints the result hash of each of a few small runs, whether the drive of a wheel for Linux can be
served, where nbdkit is installed, and whether a program in C builds with its library, where a
compiler is. With --same-as the runs of another command must have the same hashes.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SMALL = ("--set", "device.blocks_per_plane=64", "--set", "workload.synthetic.requests=50000")
RUNS = {
    "greedy": ("oltp",),
    "fpgc": ("oltp", "--scheme", "fpgc", "--device", "preemptible-gc-slc"),
    "pregc": ("oltp", "--scheme", "pregc", "--seed", "7"),
}
"""Bursty gaps and Zipf addresses in all three; collection at once, suspended, and in advance."""

PROGRAM = """#include <flashgc.h>
#include <stdio.h>
int main(void) {
  flashgc_options options = {.size = sizeof options, .device = "slc-msr", .config = "seed = 1"};
  flashgc_component drive;
  flashgc_info info;
  if (flashgc_open(&options, &drive) < 0) return puts(flashgc_error()), 1;
  if (flashgc_get_info(drive, &info) < 0) return puts(flashgc_error()), 1;
  return printf("%s, %d MiB\\n", flashgc_version(), (int)(info.bytes >> 20)) < 0;
}
"""
"""A program that opens a drive."""


class FailedError(Exception):
    """The problem of the wheel, as a message for a person."""


def outside() -> dict[str, str]:
    """The environment of a command that does not see the source tree."""
    return {key: value for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "VIRTUAL_ENV", "CONDA"))}  # fmt: skip


def run(command: list[str], folder: Path) -> str:
    """The output of a command that does not see the source tree."""
    done = subprocess.run(
        command, cwd=folder, env=outside(), capture_output=True, text=True, timeout=900,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise FailedError(
            f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def hashes(command: Path, folder: Path) -> dict[str, str]:
    """The result hash of each run."""
    found = {}
    for name, words in RUNS.items():
        report = json.loads(run([str(command), "run", *words, *SMALL, "--json"], folder))
        done = report["requests"]["read"] + report["requests"]["write"]
        if done != 50000:
            raise FailedError(f"{name}: {done} requests are in the report, not 50000")
        found[name] = report["result_hash"]
    return found


def serve(command: Path, folder: Path) -> str:
    """Serves a drive to a client, and ends it: what to say of it."""
    if not sys.platform.startswith("linux"):
        return "skipped: a drive can be served on Linux only"
    if shutil.which("nbdkit") is None:
        return "skipped: nbdkit is missing (apt-get install nbdkit)"
    words = [str(command), "serve", "oltp", *SMALL, "--socket", "s", "--time", "off", "--json"]
    with subprocess.Popen(
        words, cwd=folder, env=outside(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        told = server.stderr.readline() if server.stderr is not None else ""
        greeting = b""
        if told.startswith("serving "):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(60)
                client.connect(os.path.relpath(folder / "s"))
                greeting = client.recv(8)
            server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=120)
    if greeting != b"NBDMAGIC" or server.returncode != 0:
        raise FailedError(f"{' '.join(words)}: status {server.returncode}\n{told}{err}")
    return f"served a drive of {json.loads(out)['capacity']['exported_bytes'] >> 20:,} MiB"


def compile_c(python: Path, folder: Path) -> str:
    """Builds a program in C with the library of the package, by each of its ways, and runs it."""
    if not sys.platform.startswith("linux"):
        return "skipped: the package has the library on Linux only"
    compiler = shutil.which("cc")
    if compiler is None:
        return "skipped: cc is missing (apt-get install gcc)"
    (folder / "drive.c").write_text(PROGRAM, encoding="utf-8")
    told = set()
    for words in (["--libs"], ["--libs", "--static"]):
        asked = [str(python), "-m", "flashgc.native", "--cflags", *words]
        flags = shlex.split(run(asked, folder))
        run([compiler, "drive.c", *flags, "-o", "drive"], folder)
        told.add(run([str(folder / "drive")], folder).strip())
    if len(told) != 1:
        raise FailedError(f"the shared library and the static one differ: {sorted(told)}")
    return f"a program in C opens a drive of flashgc {told.pop()}"


def install(wheel: Path, folder: Path) -> Path:
    """A new environment with the wheel and its dependencies; the path of its command."""
    venv.create(folder / "env", with_pip=True)
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet"]
    run([*pip, "--disable-pip-version-check", "--only-binary", ":all:", str(wheel)], folder)
    return scripts / "flashgc"


def installed(wheel: Path, folder: Path) -> Path:
    """The command of a wheel in a new environment; an error where it is not the wheel's."""
    command = install(wheel, folder)
    told = run([str(command), "--version"], folder).strip()
    version = wheel.name.split("-")[1]
    if told != f"flashgc {version}":
        raise FailedError(f"the wheel is of {version}, its command says {told}")
    place = "import flashgc; print(flashgc.__file__)"
    module = Path(run([str(command.with_name("python")), "-c", place], folder).strip())
    if not module.resolve().is_relative_to(folder.resolve()):
        raise FailedError(f"the module that was run is {module}, not that of the wheel")
    return command


def check(options: argparse.Namespace) -> None:
    """Prints the hashes; raises FailedError where the wheel does not do its work."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.command is not None:
            subject, command = options.command, options.command.absolute()
        else:
            subject, command = options.wheel.name, installed(options.wheel.resolve(), folder)
        found = hashes(command, folder)
        print(subject)
        for run_name, value in found.items():
            print(f"  {run_name:8} {value}")
        if options.command is None:
            print(f"  {'serve':8} {serve(command, folder)}")
            print(f"  {'C':8} {compile_c(command.with_name('python'), folder)}")
        if options.same_as is not None:
            other = hashes(options.same_as.absolute(), folder)
            if other != found:
                raise FailedError(f"{options.same_as} has other hashes: {other}")
            print(f"  {options.same_as} has the same")


def main() -> int:
    """Reads the options and checks the wheel."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    subject = parser.add_mutually_exclusive_group(required=True)
    subject.add_argument("wheel", type=Path, nargs="?")
    subject.add_argument("--command", type=Path, help="a command that is installed already")
    parser.add_argument("--same-as", type=Path, help="a command that must give the same results")
    options = parser.parse_args()
    for file in (options.wheel, options.command, options.same_as):
        if file is not None and not file.is_file():
            print(f"{file} is not a file; `make wheel` builds a wheel into target/wheels",
                  file=sys.stderr)  # fmt: skip
            return 2
    try:
        check(options)
    except FailedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A filesystem on a served drive, through nbdfuse and a loop device, and its removal."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

PROGRAMS = ("nbdfuse", "fusermount3", "losetup", "mkfs.ext4", "mount", "umount")
_STARTS_WITHIN = 20.0
_LEAVES_WITHIN = 20.0


def why_not() -> str | None:
    """The missing requirements of a mount on this machine, or None."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} missing"
    if os.geteuid() != 0:
        return "only root mounts a filesystem"
    devices = [path for path in ("/dev/fuse", "/dev/loop-control") if not _opens(path)]
    return f"no {', '.join(devices)}" if devices else None


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError:
        return False
    return True


def run(*words: object, **more: object) -> str:
    """Runs a command, and returns what it prints; its messages are in the error."""
    command = [str(word) for word in words]
    done = subprocess.run(  # type: ignore[call-overload]
        command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more
    )
    if done.returncode != 0:
        said = f"{done.stdout}{done.stderr}".strip()
        raise RuntimeError(f"{' '.join(command)} has failed ({done.returncode})\n{said}")
    return str(done.stdout)


def version(name: str, command: object, *words: object) -> str:
    """The name of a program with the first version that its command prints."""
    found = re.search(r"\d+(\.\d+)+", run(command, *words))
    return f"{name} {found[0]}" if found else name


def packaged(name: str, package: str) -> str:
    """The version from its package, where a program does not print it."""
    if shutil.which("dpkg-query") is None:
        return name
    return version(name, "dpkg-query", "--show", "--showformat=${Version}", package)


@contextlib.contextmanager
def mounted(uri: str) -> Iterator[Path]:
    """The folder of an ext4 filesystem on the drive at `uri`, which any user may enter.

    mkfs leaves the pages of the drive as they are: a drive that is full stays full. What is
    deleted later is trimmed.
    """
    with contextlib.ExitStack() as undo:
        place = Path(tempfile.mkdtemp(prefix="flashgc-mount-"))
        undo.callback(shutil.rmtree, place, ignore_errors=True)
        place.chmod(0o711)
        device = undo.enter_context(_loop(undo.enter_context(_file(uri, place / "fuse"))))
        run("mkfs.ext4", "-q", "-b", 4096, "-E", "nodiscard", device)
        files = place / "files"
        files.mkdir()
        run("mount", "-o", "discard,noatime", device, files)
        undo.callback(_unmount, files)
        files.chmod(0o755)
        yield files


@contextlib.contextmanager
def _file(uri: str, folder: Path) -> Iterator[Path]:
    """The drive as a file."""
    folder.mkdir()
    drive = folder / "drive"
    # Ctrl-C in the terminal is not for nbdfuse: the filesystem has to be unmounted before it ends.
    with subprocess.Popen(
        ["nbdfuse", drive, uri], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            until = monotonic() + _STARTS_WITHIN
            while not drive.exists():
                if process.poll() is not None or monotonic() > until:
                    process.kill()
                    raise RuntimeError(f"nbdfuse has failed\n{process.communicate()[1]}")
                sleep(0.01)
            yield drive
        finally:
            subprocess.run(["fusermount3", "-u", "-z", folder], check=False, capture_output=True)
            try:
                process.wait(_LEAVES_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()


@contextlib.contextmanager
def _loop(file: Path) -> Iterator[str]:
    """A loop device on the file."""
    device = run("losetup", "--find", "--show", "--direct-io=on", file).strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)


def _unmount(folder: Path) -> None:
    """Unmounts, and waits for programs that still leave."""
    until = monotonic() + _LEAVES_WITHIN
    while subprocess.run(["umount", folder], check=False, capture_output=True).returncode != 0:
        if monotonic() > until:
            subprocess.run(["umount", "--lazy", folder], check=False, capture_output=True)
            return
        sleep(0.2)

"""The command `flashgc`."""

import sys


def main() -> None:
    """Runs the command and ends with its status.

    0 done, 1 not met, 2 an error of the user's, 70 a fault of flashgc, 128 and more a signal.
    """
    import flashgc._start as start

    if not start.is_command():
        start.prepare()
    from flashgc.cli import guard, version

    try:
        if version.is_all(sys.argv[1:]):
            version.say()
            sys.exit(0)
        from flashgc.cli.app import app

        app.only(sys.argv[1:])()
    except SystemExit as end:
        sys.exit(guard.flushed(end.code))
    except BaseException as error:
        sys.exit(guard.flushed(guard.status_of(error)))

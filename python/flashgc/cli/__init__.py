"""The command `flashgc`."""


def main() -> None:
    """Runs the command; the status is 0 done, 1 not met, 2 an error of the user's, 130 Ctrl-C."""
    from flashgc.cli.app import app

    app()

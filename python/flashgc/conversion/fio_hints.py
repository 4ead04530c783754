"""The placement hints of a job of fio: data placement directives, and lifetimes of writes."""

from __future__ import annotations

from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_job import Job
from flashgc.conversion.fio_values import WrongError

HINTS_MAX = 255

DIRECTIVES = ("fdp", "streams")
"""Values of `dataplacement` that give writes an identifier."""

SELECTIONS = {"roundrobin": "round-robin", "random": "random"}
"""Values of `plid_select`."""

LIFETIMES = {"none": 0, "short": 2, "medium": 3, "long": 4, "extreme": 5}
"""Values of `write_hint`, with their numbers in Linux; `none` is the absence of a hint."""


class Hints(Job):
    """Options that give writes a placement identifier or a lifetime."""

    def _hints(self) -> None:
        directive = self._directive()
        if directive:
            self._identifiers(directive)
        for name in ("plids", "plid_select"):
            key = self.options.get(name)
            if key is not None and not directive:
                self.drop(key, "ignored: it needs dataplacement=fdp or fdp=1")
        key = self.options.get("write_hint")
        if key is not None and directive:
            self.drop(key, "ignored: writes have a placement identifier")
        else:
            self.take("write_hint", self._lifetime)

    def _directive(self) -> str:
        """The directive in use; the empty string without any."""
        found: list[str] = []

        def fdp(key: Key) -> None:
            self._note(key, found, "fdp" if values.flag(key.text) else "none")

        def placement(key: Key) -> None:
            if key.text not in {"none", *DIRECTIVES}:
                raise WrongError(f"it must be one of none, {', '.join(DIRECTIVES)}")
            self._note(key, found, key.text)

        self.take("fdp", fdp)
        self.take("dataplacement", placement)
        return found[-1] if found else ""

    def _note(self, key: Key, found: list[str], directive: str) -> None:
        if directive == "none":
            return self.said(key, "", "no hints")
        found.append(directive)
        return self.said(key, "", "the writes of the job have placement hints")

    def _identifiers(self, directive: str) -> None:
        if "plids" not in self.options:
            key = self.options.get("dataplacement") or self.options["fdp"]
            self.wrong(key, "without `plids` (or `fdp_pli`) fio cycles through all identifiers of "
                            "the drive, which a job file does not tell: list them, as in "
                            "plids=0,1,2")  # fmt: skip
            return
        self.take("plids", self._plids)
        self.take("plid_select", self._select)
        if directive == "streams" and 0 in self.job.get("hints", []):
            self.wrong(self.options["plids"], "a stream has a number above 0")

    def _plids(self, key: Key) -> None:
        hints: list[int] = []
        for part in key.text.split(","):
            first, dash, last = part.strip().partition("-")
            low = values.integer(first, 0, HINTS_MAX)
            high = values.integer(last, 0, HINTS_MAX) if dash else low
            if high < low:
                raise WrongError(f"`{part.strip()}` ends before it begins")
            hints.extend(range(low, high + 1))
        self.set(key, "hints", hints)

    def _select(self, key: Key) -> None:
        if key.text not in SELECTIONS:
            why = "a file of regions is not modelled; run it with gc.placement.fdp.shares"
            raise WrongError(why if key.text == "scheme" else "it must be roundrobin or random")
        self.set(key, "hint_select", SELECTIONS[key.text])

    def _lifetime(self, key: Key) -> None:
        if key.text not in LIFETIMES:
            raise WrongError(f"it must be one of {', '.join(LIFETIMES)}")
        hint = LIFETIMES[key.text]
        if hint:
            self.set(key, "hints", [hint])
        else:
            self.said(key, "", "no hints")
